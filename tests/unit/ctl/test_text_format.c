/* test_text_format.c - values of the protocol as people read them: widths, cuts, times,
 * numbers, bars, paragraphs. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/text_format.h"
#include "ctl/study_status.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(ctl_text_width(""), 0);
	assert_int_equal(ctl_text_width("abc"), 3);
	assert_int_equal(ctl_text_width("é"), 1);
	assert_int_equal(ctl_text_width("e\u0301"), 1); /* a combining accent */
	assert_int_equal(ctl_text_width("漢字"), 4);
	/* what must not reach a terminal is shown as one '?' each */
	assert_int_equal(ctl_text_width("\033[2J"), 4);
	assert_int_equal(ctl_text_width("\xff\xfe"), 2);
	assert_int_equal(ctl_text_width("\xe6\xbc"), 2); /* a character that breaks off */
}

static void cut_gives(const char *text, int columns, bool utf8, const char *want, int used)
{
	struct dp_buf out = DP_BUF_INIT;

	assert_int_equal(ctl_text_truncate(&out, text, columns, utf8), used);
	assert_string_equal(dp_buf_text(&out), want);
	dp_buf_free(&out);
}

static void test_cut(void **state)
{
	(void)state;
	cut_gives("abc", 3, true, "abc", 3); /* fits: no ellipsis */
	cut_gives("abcd", 3, true, "ab…", 3);
	cut_gives("abcdef", 5, false, "ab...", 5);
	cut_gives("abcdef", 3, false, "...", 3);
	cut_gives("abcdef", 2, false, "", 0); /* not even room for the dots */
	cut_gives("abc", 0, true, "", 0);
	cut_gives("", 0, true, "", 0);
	/* half of a wide character is not shown */
	cut_gives("漢字漢字", 4, true, "漢…", 3);
	cut_gives("漢字", 4, true, "漢字", 4);
	cut_gives("\033]0;x\a\n\xff", 9, true, "?]0;x???", 8);
	cut_gives("a\tb", 3, true, "a?b", 3);
}

static void test_clean(void **state)
{
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	ctl_text_sanitize(&out, "one\ntwo\033[31m é");
	assert_string_equal(dp_buf_text(&out), "one?two?[31m é");
	dp_buf_free(&out);
}

static void age_is(long seconds, const char *want)
{
	char iso[DP_NUM_LEN], out[CTL_TEXT_LEN];
	time_t now;

	do { /* until no second has passed meanwhile */
		now = time(NULL);
		dp_time_text((int64_t)(now - seconds) * 1000000, iso);
		ctl_format_age(iso, out);
	} while (time(NULL) != now);
	assert_string_equal(out, want);
}

static void test_times(void **state)
{
	char out[CTL_TEXT_LEN];

	(void)state;
	age_is(0, "now");
	age_is(-100, "now"); /* a clock that is ahead */
	age_is(59, "59s ago");
	age_is(60, "1m ago");
	age_is(3599, "59m ago");
	age_is(3600, "1h ago");
	age_is(2 * 86400 - 1, "47h ago");
	age_is(2 * 86400, "2d ago");
	assert_string_equal(ctl_format_age(NULL, out), "-");
	assert_string_equal(ctl_format_age("yesterday", out), "-");
	setenv("TZ", "UTC-2", 1);
	tzset();
	assert_string_equal(ctl_format_local_time("2026-03-01T22:00:03.123456Z", out),
			    "2026-03-02 00:00:03");
	assert_string_equal(ctl_format_local_time(NULL, out), "-");
	assert_string_equal(ctl_format_local_time("", out), "-");
}

/* Takes the reference. */
static void value_is(json_t *value, const char *brief, const char *exact)
{
	struct dp_buf out = DP_BUF_INIT;
	char text[CTL_TEXT_LEN];

	assert_string_equal(ctl_format_value(value, text), brief);
	ctl_format_exact_value(value, &out);
	assert_string_equal(dp_buf_text(&out), exact);
	dp_buf_free(&out);
	json_decref(value);
}

static void test_values(void **state)
{
	char text[CTL_TEXT_LEN];
	json_t *list = json_array();
	char big[200];

	(void)state;
	value_is(json_integer(-12), "-12", "-12");
	value_is(json_integer(INT64_MAX), "9223372036854775807", "9223372036854775807");
	value_is(json_real(0.1), "0.1", "0.1");
	value_is(json_real(1 / 3.0), "0.33333", "0.3333333333333333");
	value_is(json_real(123456789.25), "1.2346e+08", "123456789.25");
	value_is(json_string("adam"), "adam", "adam");
	value_is(json_true(), "true", "true");
	value_is(json_false(), "false", "false");
	value_is(json_null(), "-", "");
	value_is(NULL, "-", "");
	assert_string_equal(ctl_format_value(list, text), "-");
	json_decref(list);
	/* a long text keeps within its room */
	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	list = json_string(big);
	assert_int_equal(strlen(ctl_format_value(list, text)), CTL_TEXT_LEN - 1);
	json_decref(list);
}

static void seconds_are(json_t *value, const char *want)
{
	char text[CTL_TEXT_LEN];

	assert_string_equal(ctl_format_duration(value, text), want);
	json_decref(value);
}

static void test_seconds(void **state)
{
	(void)state;
	seconds_are(json_real(0.35), "350ms");
	seconds_are(json_integer(7500), "2h05m");
	seconds_are(json_null(), "-");
	seconds_are(json_string("inf"), "-"); /* no duration that could be waited for */
	seconds_are(json_string("soon"), "-");
	seconds_are(NULL, "-");
}

static void test_pairs(void **state)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *object =
		json_pack("{s:f, s:i, s:s, s:n}", "epsilon", 0.5, "C", 3, "kind", "a b", "gone");

	(void)state;
	ctl_format_pairs(object, &out);
	assert_string_equal(dp_buf_text(&out), "epsilon=0.5 C=3 kind=a b gone=-");
	dp_buf_clear(&out);
	ctl_format_pairs(NULL, &out);
	assert_string_equal(dp_buf_text(&out), "");
	dp_buf_free(&out);
	json_decref(object);
}

static void bar_is(double part, int columns, bool utf8, const char *want)
{
	struct dp_buf out = DP_BUF_INIT;

	ctl_format_progress_bar(&out, part, columns, utf8);
	assert_string_equal(dp_buf_text(&out), want);
	assert_int_equal(ctl_text_width(dp_buf_text(&out)), columns);
	dp_buf_free(&out);
}

static void test_bar(void **state)
{
	(void)state;
	bar_is(0, 4, true, "░░░░");
	bar_is(1, 4, true, "████");
	bar_is(0.5, 4, true, "██░░");
	bar_is(0.5 + 1.0 / 32, 4, true, "██▏░");
	bar_is(0.5, 6, false, "[##--]");
	/* out of bounds is the nearest bound */
	bar_is(7, 4, true, "████");
	bar_is(-1, 6, false, "[----]");
	bar_is(NAN, 4, true, "░░░░");
}

static void test_styles(void **state)
{
	(void)state;
	assert_int_equal(ctl_state_style("finished"), CTL_GOOD);
	assert_int_equal(ctl_state_style("paused"), CTL_WARN);
	assert_int_equal(ctl_state_style("failed"), CTL_BAD);
	assert_int_equal(ctl_state_style("running"), CTL_NORMAL);
	assert_int_equal(ctl_state_style("never heard of"), CTL_NORMAL);
	assert_int_equal(ctl_state_style(NULL), CTL_NORMAL);
}

static void wrap_gives(const char *text, int indent, int columns, const char *want)
{
	struct dp_buf out = DP_BUF_INIT;

	ctl_text_wrap(&out, text, indent, columns);
	assert_string_equal(dp_buf_text(&out), want);
	dp_buf_free(&out);
}

static void test_wrap(void **state)
{
	(void)state;
	wrap_gives("", 2, 10, "");
	wrap_gives("one two three", 0, 7, "one two\nthree\n");
	wrap_gives("one two three", 2, 9, "  one two\n  three\n");
	/* paragraphs and single line ends stay */
	wrap_gives("one\ntwo\n\nthree", 1, 40, " one\n two\n\n three\n");
	wrap_gives("a  b", 0, 40, "a b\n"); /* blanks run together */
	/* a word that is too long has a line of its own */
	wrap_gives("a extraordinarily b", 0, 6, "a\nextraordinarily\nb\n");
	/* columns, not bytes */
	wrap_gives("éé éé", 0, 5, "éé éé\n");
}

/* How far a study is: "12 of 80" by its evaluations, or by search.max_cost where that is
 * further, so that nobody waits for the ten million evaluations that it may have. */
static void ended_is(const char *study, const char *text, const char *cell, double part)
{
	json_t *s = json_loads(study, 0, NULL);
	char out[CTL_TEXT_LEN];
	double is;

	assert_non_null(s);
	assert_string_equal(ctl_format_progress(s, dp_json_int(s, "ended", 0), out), text);
	assert_string_equal(ctl_format_progress_cell(s, out), cell);
	ctl_study_progress(s, &is);
	assert_true(is == part);
	json_decref(s);
}

static void ended_says(const char *summary, const char *text)
{
	json_t *s = json_loads(summary, 0, NULL);
	struct dp_buf out = DP_BUF_INIT;

	ctl_format_progress_sentence(s, &out);
	assert_string_equal(dp_buf_text(&out), text);
	dp_buf_free(&out);
	json_decref(s);
}

static void test_ended_say(void **state)
{
	(void)state;
	ended_says("{\"ended\":12,\"evaluations\":80}", "12 of 80 trials have ended");
	ended_says("{\"ended\":1,\"evaluations\":80}", "1 of 80 trials has ended");
	ended_says("{\"ended\":0,\"evaluations\":1}", "0 of 1 trial has ended");
	ended_says("{\"ended\":1,\"evaluations\":99,\"cost\":{\"spent\":8,\"most\":20}}",
		   "1 trial has ended, cost 8 of 20");
	ended_says("{\"ended\":null,\"evaluations\":null}", "a secret number of trials have ended");
}

static void test_ended(void **state)
{
	(void)state;
	ended_is("{\"ended\":12,\"evaluations\":80,\"cost\":null}", "12 of 80", "12/80", 0.15);
	ended_is("{\"ended\":0,\"evaluations\":10000000,"
		 "\"cost\":{\"spent\":0,\"most\":20}}",
		 "0, cost 0 of 20", "0 (0%)", 0);
	ended_is("{\"ended\":2,\"evaluations\":10000000,"
		 "\"cost\":{\"spent\":8.25,\"most\":20}}",
		 "2, cost 8.25 of 20", "2 (41%)", 0.4125);
	ended_is("{\"ended\":9,\"evaluations\":10,\"cost\":{\"spent\":10,\"most\":20}}", "9 of 10",
		 "9/10", 0.9);
	ended_is("{\"ended\":4,\"evaluations\":4,\"cost\":{\"spent\":82,\"most\":100}}", "4 of 4",
		 "4/4", 1);
	ended_is("{\"ended\":2,\"evaluations\":5,\"cost\":{\"spent\":21,\"most\":20}}",
		 "2, cost 21 of 20", "2 (100%)", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),  cmocka_unit_test(test_cut),
		cmocka_unit_test(test_clean),  cmocka_unit_test(test_times),
		cmocka_unit_test(test_values), cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_pairs),  cmocka_unit_test(test_bar),
		cmocka_unit_test(test_styles), cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_ended),  cmocka_unit_test(test_ended_say),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
