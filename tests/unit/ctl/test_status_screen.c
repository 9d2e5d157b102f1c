/* test_status_screen.c - studies, trials and fronts of the protocol on the screen and in CSV.
 */
#include "ctl/ui/follow_study.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"
#include "tests/unit/support/ctl_run.h"
#include "ctl/study_status.h"

#include <setjmp.h>
#include <time.h>

#include <cmocka.h>

static json_t *read_json(const char *text)
{
	json_error_t why;
	json_t *value = json_loads(text, JSON_DECODE_ANY, &why);

	if (!value)
		fail_msg("%s: %s", why.text, text);
	return value;
}

/* What the protocol says of a study: half done, one front of two points. */
static json_t *half_done(void)
{
	return read_json("{\"study\":{\"name\":\"adult\",\"id\":4,\"method\":\"random\","
			 "\"priority\":-2,"
			 "\"state\":\"running\",\"reason\":null,\"ended\":5,\"evaluations\":10,"
			 "\"eta\":125,\"ok\":3,\"diverged\":1,\"failed\":1,\"running\":2,"
			 "\"parallel\":4,\"waiting\":\"all 2 slots are taken\","
			 "\"objectives\":[\"epsilon\",\"error\"],\"transforms\":[\"log\",\"none\"]"
			 ","
			 "\"goals\":[\"minimize\",\"minimize\"],\"privacy\":[\"epsilon\"],"
			 "\"anti_ideal\":{\"epsilon\":10,\"error\":1},\"hypervolume\":3.14159265,"
			 "\"elapsed\":61,\"created\":\"2026-03-01T12:00:03.000000Z\","
			 "\"updated\":null,\"directory\":\"/state/studies/adult\"},"
			 "\"front\":[{\"objectives\":{\"epsilon\":0.5,\"error\":0.25}},"
			 "{\"objectives\":{\"epsilon\":2,\"error\":0.125}}],"
			 "\"running\":[{\"trial\":5,\"attempt\":0,\"run\":null,\"progress\":0.5,"
			 "\"seconds\":3,\"parameters\":{\"C\":3}},"
			 "{\"trial\":6,\"attempt\":2,\"run\":1,\"progress\":null,\"seconds\":9,"
			 "\"parameters\":{\"C\":4}}],"
			 "\"failures\":[{\"trial\":2,\"end\":\"exit\",\"time\":null,"
			 "\"message\":\"no \\u001b[31m such file\"}]}");
}

/* Five digits, and never less than it is. */
static void test_bounds_are_rounded_up(void **state)
{
	static const struct {
		double value;
		const char *shown;
	} cases[] = { { 1.93083723, "1.9309" },
		      { 1.000001, "1.0001" },
		      { 3.14159265, "3.1416" },
		      { 3.14151, "3.1416" },
		      { 0.5, "0.5" },
		      { 99999.1, "1e+05" },
		      { 0.000123451, "0.00012346" },
		      { 0, "0" } };
	char text[CTL_TEXT_LEN];

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		json_t *value = json_real(cases[i].value);

		assert_string_equal(ctl_format_upper_bound(value, text), cases[i].shown);
		json_decref(value);
	}
	assert_string_equal(ctl_format_upper_bound(json_null(), text), "-");
}

static void view_is(const json_t *status, struct ctl_screen screen, const char *want)
{
	struct dp_buf out = DP_BUF_INIT;

	ctl_render_status(&out, status, &screen);
	assert_string_equal(dp_buf_text(&out), want);
	dp_buf_free(&out);
}

/* Both views of a study on a screen of this size, the one after the other. */
static char *views_of(const json_t *status, int columns, int rows, bool color, bool utf8)
{
	struct ctl_screen screen = { columns, rows, color, utf8 };
	struct dp_buf out = DP_BUF_INIT;

	ctl_render_status(&out, status, &screen);
	ctl_render_watch(&out, status, &screen);
	return dp_buf_detach(&out);
}

static void test_view(void **state)
{
	json_t *status = half_done();

	(void)state;
	view_is(status, (struct ctl_screen){ .utf8 = true },
		"study        adult (number 4, random search, priority -2)\n"
		"state        running\n"
		"progress     ████████████████████░░░░░░░░░░░░░░░░░░░░  5 of 10 (50%), "
		"2m05s left\n"
		"trials       3 ok, 1 diverged, 1 failed; 2 running (at most 4)\n"
		"waiting      all 2 slots are taken\n"
		"hypervolume  3.1416 (anti-ideal: epsilon 10, error 1)\n"
		"front        2 points: epsilon 0.5 to 2, error 0.125 to 0.25\n"
		"time         1m01s so far; submitted 2026-03-01 12:00:03, last change "
		"-\n"
		"folder       /state/studies/adult\n"
		"\n"
		"running\n"
		"  trial 5    ██████░░░░░░  50%    3.0s  C=3\n"
		"  trial 6    running              9.0s  run 1  attempt 2  C=4\n"
		"\n"
		"failures\n"
		/* a trainer's message cannot steer the terminal */
		"  trial 2    exit, -: no ?[31m such file\n");
	json_decref(status);
}

/* How many lines, none of which is wider than so many columns. */
static int count_narrow_lines(const char *text, int columns)
{
	int lines = 0;

	for (; *text; lines++) {
		size_t n = strcspn(text, "\n");
		char *line = strndup(text, n);

		if (ctl_text_width(line) > columns)
			fail_msg("wider than %d: %s", columns, line);
		free(line);
		text += n + 1;
	}
	return lines;
}

/* More is running than a screen has rows, on a front of many points, with results. */
static json_t *crowded(void)
{
	json_t *status = half_done(), *running = json_object_get(status, "running"),
	       *front = json_object_get(status, "front"), *latest = json_array();

	for (int i = 0; i < 40; i++)
		json_array_append(running, json_array_get(running, 0));
	for (int i = 0; i < 10; i++)
		json_array_append_new(latest, json_pack("{s:i, s:s, s:n, s:{s:f, s:f}, s:{s:{}}}",
							"trial", 4 - i, "state", "ok", "ended",
							"objectives", "epsilon", 1.93083723,
							"error", 0.25, "spread", "error"));
	for (int i = 0; i < 30; i++)
		json_array_append_new(front, json_pack("{s:{s:f, s:f}}", "objectives", "epsilon",
						       0.1 + i / 3.0, "error", 1 / (2.0 + i)));
	json_object_set_new(status, "latest", latest);
	return status;
}

/* Whatever the size: no line is too long, and a watched study fits and says what matters
 * most. */
static void test_view_of_any_size(void **state)
{
	static const int sizes[][2] = { { 60, 15 }, { 80, 24 }, { 200, 60 }, { 20, 5 },
					{ 50, 20 }, { 10, 1 },  { 1, 1 },    { 3, 3 },
					{ 39, 9 },  { 40, 9 },  { 120, 6 },  { 24, 80 } };
	static const char *const matters[] = { "adult", "running", "5 of 10", "3.1416",
					       "all 2 slots are taken" };
	json_t *status = crowded();

	(void)state;
	for (size_t i = 0; i < DP_COUNT(sizes); i++) {
		for (int utf8 = 0; utf8 < 2; utf8++) {
			struct ctl_screen screen = { sizes[i][0], sizes[i][1], false, utf8 };
			struct dp_buf out = DP_BUF_INIT;

			ctl_render_status(&out, status, &screen);
			count_narrow_lines(dp_buf_text(&out), screen.columns);
			dp_buf_clear(&out);
			ctl_render_watch(&out, status, &screen);
			assert_true(count_narrow_lines(dp_buf_text(&out), screen.columns) <=
				    screen.rows);
			for (int k = 0;
			     screen.columns >= 50 && k < screen.rows && k < (int)DP_COUNT(matters);
			     k++)
				if (!strstr(dp_buf_text(&out), matters[k]))
					fail_msg("%d x %d has no '%s':\n%s", screen.columns,
						 screen.rows, matters[k], dp_buf_text(&out));
			dp_buf_free(&out);
		}
	}
	json_decref(status);
}

static void test_view_narrow(void **state)
{
	json_t *status = crowded();
	char *shown = views_of(status, 50, 20, false, false);

	(void)state;
	/* fewer rows than there is to tell: trials give way, in words */
	assert_non_null(strstr(shown, "and 37 more\n"));
	assert_non_null(strstr(shown, "[")); /* a bar of plain characters */
	assert_null(strstr(shown, "epsilon (log)"));
	free(shown);
	/* where there is room: last results, and a picture of the front */
	shown = views_of(status, 100, 60, false, true);
	assert_non_null(strstr(shown, "\nlatest\n  trial 4    ok, -: epsilon=1.9309 "
				      "error=0.25\n"));
	assert_non_null(strstr(shown, "└───"));
	free(shown);
	json_decref(status);
}

/* The hypervolume that models leave, and of how much, unless of all. */
static void test_view_volume(void **state)
{
	json_t *status = half_done(), *s = json_object_get(status, "study");
	char *shown;

	(void)state;
	json_object_set_new(s, "hypervolume_denoised", json_real(3));
	json_object_set_new(s, "denoised_results", json_integer(4));
	json_object_set_new(s, "denoised_current", json_false());
	shown = views_of(status, 0, 0, false, true);
	assert_non_null(strstr(shown, "hypervolume  3.1416 as observed, 3 denoised after "
				      "4 results (anti-ideal: epsilon 10, error 1)\n"));
	free(shown);
	json_object_set_new(s, "denoised_current", json_true());
	shown = views_of(status, 0, 0, false, true);
	assert_non_null(strstr(shown, "3 denoised (anti-ideal"));
	free(shown);
	json_decref(status);
}

static void test_view_color(void **state)
{
	json_t *status = read_json("{\"study\":{\"state\":\"failed\",\"reason\":\"failed: too "
				   "often\"}}");
	char *shown = views_of(status, 80, 0, true, true);

	(void)state;
	/* a study of which little is known: nothing is missing but what is not there */
	/* "failed: failed: ..." would be said twice */
	assert_non_null(strstr(shown, "\033[2mstate        \033[0m\033[31mfailed: too "
				      "often\033[0m\n"));
	assert_non_null(strstr(shown, "0 of 0 (0%)"));
	assert_non_null(strstr(shown, "0 points"));
	assert_null(strstr(shown, "waiting"));
	free(shown);
	json_decref(status);
}

/* The end of a reason says what to do: on a terminal it is wrapped, not cut. */
static void test_view_reason(void **state)
{
	json_t *status =
		read_json("{\"study\":{\"state\":\"paused\",\"reason\":\"the first "
			  "trials failed; /a/path/that/is/longer/than/a/line/is/wide; then "
			  "'retry'\"}}");
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	ctl_render_watch(&out, status, &(struct ctl_screen){ 40, 20, false, false });
	assert_non_null(strstr(dp_buf_text(&out), "state        paused: the first trials\n"
						  "             failed;\n"
						  "             /a/path/that/is/longer/than\n"
						  "             /a/line/is/wide; then\n"
						  "             'retry'\n"
						  "progress     "));
	dp_buf_clear(&out);
	/* half of a small screen, and the cut shows */
	ctl_render_watch(&out, status, &(struct ctl_screen){ 40, 4, false, false });
	assert_non_null(strstr(dp_buf_text(&out), "state        paused: the first trials\n"
						  "             failed; /a/path/that/is/...\n"
						  "progress     "));
	dp_buf_free(&out);
	json_decref(status);
}

static void ended_is(const char *summary, bool ended, int code, const char *sentence)
{
	json_t *s = read_json(summary);
	struct dp_err err = { 0 };

	assert_int_equal(ctl_study_has_ended(s), ended);
	assert_int_equal(ctl_study_check_finished(s, &err), code);
	assert_string_equal(err.msg, sentence);
	json_decref(s);
}

static void hint_is(const char *summary, const char *part)
{
	json_t *s = read_json(summary);
	struct dp_err err = { 0 };

	assert_int_equal(ctl_study_check_finished(s, &err), DP_E_STUDY);
	assert_non_null(strstr(err.hint, part));
	json_decref(s);
}

/* What is named next is something that the study's state allows. */
static void test_verdict_hint(void **state)
{
	(void)state;
	hint_is("{\"name\":\"s\",\"state\":\"failed\",\"failed\":3}",
		"then 'dparetoctl retry s --failed'");
	hint_is("{\"name\":\"s\",\"state\":\"paused\",\"failed\":3}",
		"then 'dparetoctl retry s --failed'");
	hint_is("{\"name\":\"s\",\"state\":\"failed\",\"failed\":0,\"diverged\":3}",
		"'dparetoctl trials s'");
	hint_is("{\"name\":\"s\",\"state\":\"stopped\"}", "'dparetoctl resume s'");
}

static void test_verdict(void **state)
{
	(void)state;
	ended_is("{\"name\":\"s\",\"state\":\"finished\"}", true, DP_OK, "");
	ended_is("{\"name\":\"s\",\"state\":\"failed\",\"reason\":\"too often\"}", true, DP_E_STUDY,
		 "study 's' failed: too often");
	ended_is("{\"name\":\"s\",\"state\":\"stopped\",\"running\":0}", true, DP_E_STUDY,
		 "study 's' is stopped");
	/* its trainers still end */
	ended_is("{\"name\":\"s\",\"state\":\"stopped\",\"running\":1}", false, DP_E_STUDY,
		 "study 's' is stopped");
	ended_is("{\"name\":\"s\",\"state\":\"paused\",\"by_failures\":true}", true, DP_E_STUDY,
		 "study 's' is paused");
	/* a person will resume it */
	ended_is("{\"name\":\"s\",\"state\":\"paused\",\"by_failures\":false}", false, DP_E_STUDY,
		 "study 's' is paused");
	ended_is("{\"name\":\"s\",\"state\":\"running\"}", false, DP_E_STUDY,
		 "study 's' is running");
}

static const char front_text[] =
	"{\"anti_ideal\":{\"epsilon\":10,\"error\":1},\"front\":["
	"{\"trial\":3,\"at\":4,\"objectives\":{\"epsilon\":0.1,\"error\":0."
	"30000000000000004},"
	"\"parameters\":{\"error\":7,\"state\":\"a,b\"}},"
	"{\"trial\":12,\"objectives\":{\"epsilon\":2,\"error\":0.2},"
	"\"parameters\":{\"error\":8,\"state\":null}}]}";

static void test_front(void **state)
{
	json_t *front = read_json(front_text);
	struct ctl_result_columns cols;
	struct ctl_run r;

	(void)state;
	ctl_result_columns_from_front(front, json_object_get(front, "front"), &cols);
	assert_int_equal(json_array_size(cols.objectives), 2);
	assert_int_equal(json_array_size(cols.parameters), 2);
	ctl_run_begin(&r);
	ctl_front_print_table(&r.ctl, front, &cols);
	ctl_front_print_csv(&r.ctl, front, &cols);
	ctl_run_end(&r);
	assert_string_equal(r.out, "TRIAL  epsilon  error  error  state\n"
				   "  3@4      0.1    0.3      7    a,b\n"
				   "   12        2    0.2      8      -\n"
				   /* no name stands twice; numbers bit for bit */
				   "trial,at,epsilon,error,parameter.error,parameter.state\n"
				   "3,4,0.1,0.30000000000000004,7,\"a,b\"\n"
				   "12,,2,0.2,8,\n");
	ctl_run_free(&r);
	ctl_result_columns_clear(&cols);
	json_decref(front);
	/* before anything has ended */
	front = read_json("{\"anti_ideal\":{\"epsilon\":10},\"front\":[]}");
	ctl_result_columns_from_front(front, json_object_get(front, "front"), &cols);
	assert_int_equal(json_array_size(cols.parameters), 0);
	ctl_run_begin(&r);
	ctl_front_print_csv(&r.ctl, front, &cols);
	ctl_run_end(&r);
	assert_string_equal(r.out, "trial,at,epsilon\n");
	ctl_run_free(&r);
	ctl_result_columns_clear(&cols);
	json_decref(front);
}

/* Beside what is measured stands how far the mean may be off; an epsilon is never shown
 * below what it is, and a metric that was asked for has a column. */
static void test_front_spread(void **state)
{
	json_t *front =
		read_json("{\"anti_ideal\":{\"epsilon\":10,\"error\":1},\"front\":["
			  "{\"trial\":3,\"at\":null,\"objectives\":{\"epsilon\":1.93083723,"
			  "\"error\":0.15512},\"spread\":{\"error\":{\"runs\":10,\"sd\":0.003,"
			  "\"low\":0.15302,\"high\":0.15722}},\"metrics\":{\"accuracy\":0.845},"
			  "\"parameters\":{\"C\":7}},"
			  "{\"trial\":4,\"at\":null,\"objectives\":{\"epsilon\":2,\"error\":0.1},"
			  "\"spread\":{\"error\":{\"runs\":10,\"sd\":null,\"low\":null,"
			  "\"high\":null}},\"metrics\":{\"accuracy\":0.9},"
			  "\"parameters\":{\"C\":8}}]}");
	struct ctl_result_columns cols;
	struct ctl_run r;

	(void)state;
	ctl_result_columns_from_front(front, json_object_get(front, "front"), &cols);
	cols.metrics = read_json("[\"accuracy\"]");
	ctl_run_begin(&r);
	ctl_front_print_table(&r.ctl, front, &cols);
	r.ctl.utf8 = false;
	ctl_front_print_table(&r.ctl, front, &cols);
	ctl_front_print_csv(&r.ctl, front, &cols);
	ctl_run_end(&r);
	assert_string_equal(r.out, "TRIAL  epsilon    error  95%      accuracy  C\n"
				   "    3   1.9309  0.15512  ±0.0021     0.845  7\n"
				   "    4        2      0.1  -             0.9  8\n"
				   "TRIAL  epsilon    error  95%       accuracy  C\n"
				   "    3   1.9309  0.15512  +-0.0021     0.845  7\n"
				   "    4        2      0.1  -              0.9  8\n"
				   "trial,at,epsilon,error,C,error.runs,error.sd,error.low,"
				   "error.high,metric.accuracy\n"
				   "3,,1.93083723,0.15512,7,10,0.003,0.15302,0.15722,0.845\n"
				   "4,,2,0.1,8,10,,,,0.9\n");
	ctl_run_free(&r);
	ctl_result_columns_clear(&cols);
	json_decref(front);
}

/* A front that models chose has their values, in a table only where they differ. */
static void test_front_denoised(void **state)
{
	json_t *front =
		read_json("{\"study\":\"s\",\"hypervolume\":2,\"hypervolume_denoised\":1.5,"
			  "\"anti_ideal\":{\"epsilon\":10,\"error\":1},\"front\":["
			  "{\"trial\":3,\"parameters\":{\"C\":7},\"objectives\":{\"epsilon\":0.1,"
			  "\"error\":0.3},\"spread\":{\"error\":{\"runs\":1,\"sd\":null,\"low\":"
			  "null,"
			  "\"high\":null}},\"denoised\":{\"epsilon\":0.1,\"error\":0.35},"
			  "\"denoised_low\":{\"epsilon\":0.1,\"error\":0.33},"
			  "\"denoised_high\":{\"epsilon\":0.1,\"error\":0.36}}]}");
	struct dp_buf volume = DP_BUF_INIT;
	struct ctl_result_columns cols;
	struct ctl_run r;

	(void)state;
	ctl_result_columns_from_front(front, json_object_get(front, "front"), &cols);
	ctl_run_begin(&r);
	ctl_front_print_table(&r.ctl, front, &cols);
	ctl_front_print_csv(&r.ctl, front, &cols);
	ctl_run_end(&r);
	assert_string_equal(r.out, "TRIAL  epsilon  error  denoised error  95%    C\n"
				   "    3      0.1    0.3            0.35  ±0.02  7\n"
				   "trial,at,epsilon,error,C,denoised.epsilon,denoised.error,"
				   "denoised_low.epsilon,denoised_low.error,"
				   "denoised_high.epsilon,denoised_high.error,error.runs,"
				   "error.sd,error.low,error.high\n"
				   "3,,0.1,0.3,7,0.1,0.35,0.1,0.33,0.1,0.36,1,,,\n");
	ctl_format_hypervolume(front, &volume);
	assert_string_equal(dp_buf_text(&volume),
			    "2 as observed, 1.5 denoised (anti-ideal: epsilon 10, error 1)");
	dp_buf_free(&volume);
	ctl_run_free(&r);
	ctl_result_columns_clear(&cols);
	json_decref(front);
}

static void test_trial_csv(void **state)
{
	struct ctl_result_columns cols = { .objectives = read_json("[\"seconds\",\"error\"]"),
					   .parameters = read_json("[\"error\",\"C\"]") };
	json_t *trial = read_json("{\"trial\":7,\"state\":\"failed\",\"objectives\":null,"
				  "\"parameters\":{\"C\":3,\"error\":\"x\"},\"on_front\":false,"
				  "\"source\":\"random\",\"attempts\":[{},{},{}],\"started\":null,"
				  "\"ended\":\"2026-03-01T12:00:03Z\",\"seconds\":1.5,"
				  "\"reason\":\"said \\\"no\\\"\\nand left\"}");
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	ctl_trial_csv_header(&cols, &out);
	ctl_trial_csv_row(trial, &cols, &out);
	assert_string_equal(dp_buf_text(&out),
			    "trial,at,state,objective.seconds,error,parameter.error,C,on_"
			    "front,source,"
			    "attempts,started,ended,seconds,reason\n"
			    "7,,failed,,,x,3,false,random,3,,2026-03-01T12:00:03Z,1.5,"
			    "\"said \"\"no\"\"\nand left\"\n");
	dp_buf_free(&out);
	ctl_result_columns_clear(&cols);
	json_decref(trial);
}

static void test_keys(void **state)
{
	json_t *object = read_json("{\"b\":1,\"a\":2}"), *keys = ctl_json_keys(object);

	(void)state;
	assert_int_equal(json_array_size(keys), 2);
	/* in the order they have */
	assert_string_equal(json_string_value(json_array_get(keys, 0)), "b");
	json_decref(keys);
	json_decref(object);
	keys = ctl_json_keys(NULL);
	assert_true(json_is_array(keys) && json_array_size(keys) == 0);
	json_decref(keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds_are_rounded_up),
		cmocka_unit_test(test_view),
		cmocka_unit_test(test_view_of_any_size),
		cmocka_unit_test(test_view_narrow),
		cmocka_unit_test(test_view_volume),
		cmocka_unit_test(test_view_color),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_verdict_hint),
		cmocka_unit_test(test_view_reason),
		cmocka_unit_test(test_front),
		cmocka_unit_test(test_front_spread),
		cmocka_unit_test(test_front_denoised),
		cmocka_unit_test(test_trial_csv),
		cmocka_unit_test(test_keys),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
