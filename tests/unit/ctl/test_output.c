/* test_output.c - data, talk and errors on their streams; tables; CSV; terminals. */
#include "base/units.h"
#include "ctl/ui/table.h"
#include "ctl/client/daemon_call.h"
#include "ctl/text_format.h"
#include "tests/unit/support/ctl_run.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- streams ---- */

static void test_streams(void **state)
{
	struct ctl_run r;
	json_t *value = json_pack("{s:f, s:[i,i]}", "x", 0.1, "list", 1, 2);
	struct dp_buf text = DP_BUF_INIT;

	(void)state;
	ctl_run_begin(&r);
	ctl_printf(&r.ctl, "%d%%\n", 7);
	ctl_print_bytes(&r.ctl, "a\0b", 3); /* bytes as they are */
	dp_buf_puts(&text, "\n");
	ctl_print_buf(&r.ctl, &text);
	assert_null(text.data);
	/* no terminal: one line, whichever way */
	ctl_print_json(&r.ctl, value);
	ctl_print_json_line(&r.ctl, value);
	ctl_print_message(&r.ctl, "trial %d\nsaid \033[2J", 3);
	r.ctl.quiet = true;
	ctl_print_message(&r.ctl, "not heard");
	ctl_run_end(&r);
	assert_int_equal(r.out_len, 3 + 3 + 1 + 2 * strlen("{\"x\":0.1,\"list\":[1,2]}\n"));
	assert_memory_equal(r.out, "7%\na\0b\n", 7);
	assert_string_equal(r.out + 7, "{\"x\":0.1,\"list\":[1,2]}\n"
				       "{\"x\":0.1,\"list\":[1,2]}\n");
	assert_string_equal(r.talk, "trial 3?said ?[2J\n");
	ctl_run_free(&r);
	json_decref(value);
}

/* Both streams end in one pipe, as in `dparetoctl front s 2>&1 | less`: more than any
 * buffer holds, with messages in between. Every line must be whole and in its place. */
static void test_streams_in_one_pipe(void **state)
{
	char line[200], wanted[200];
	int ends[2], rows = 0, said = 0;
	struct ctl ctl = { 0 };
	FILE *both;
	struct dp_err err;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) >= 1 << 20);
	both = fdopen(ends[0], "r");
	ctl.out = fdopen(ends[1], "w");
	ctl.err_stream = fdopen(dup(ends[1]), "w");
	setvbuf(ctl.err_stream, NULL, _IONBF, 0); /* as standard error is */
	for (int i = 0; i < 2000; i++) {
		ctl_printf(&ctl, "row %04d %080d\n", i, i);
		if (i % 500 == 499)
			ctl_print_message(&ctl, "said %d", i);
		if (i % 1000 == 999)
			ctl_print_stderr(&ctl, "foreign\n");
	}
	dp_fail(&err, DP_E_FAILED, "the end");
	ctl_print_error(&ctl, &err);
	assert_int_equal(ctl_flush(&ctl, &err), DP_OK);
	fclose(ctl.out);
	fclose(ctl.err_stream);
	while (fgets(line, sizeof line, both)) {
		if (strncmp(line, "row", 3) == 0) {
			snprintf(wanted, sizeof wanted, "row %04d %080d\n", rows, rows);
			assert_string_equal(line, wanted);
			rows++;
		} else if (strncmp(line, "said", 4) == 0) {
			said += 500;
			assert_int_equal(rows, said);
		} else {
			assert_true(strcmp(line, "foreign\n") == 0 ||
				    strcmp(line, "dparetoctl: the end\n") == 0);
			assert_int_equal(rows % 1000, 0);
		}
	}
	assert_int_equal(rows, 2000);
	assert_int_equal(said, 2000);
	fclose(both);
}

static void test_errors(void **state)
{
	struct ctl_run r;
	struct dp_err err;
	json_t *object, *told;

	(void)state;
	dp_fail(&err, DP_E_NOT_FOUND, "no study '%s'", "a\033b");
	dp_hint(&err, "'dparetoctl list' names them");
	ctl_run_begin(&r);
	r.ctl.quiet = true; /* errors are told all the same */
	ctl_print_error(&r.ctl, &err);
	ctl_run_end(&r);
	assert_string_equal(r.talk, "dparetoctl: no study 'a?b'\n"
				    "hint: 'dparetoctl list' names them\n");
	assert_string_equal(r.out, "");
	ctl_run_free(&r);

	/* for programs: the object of the contract, on standard output */
	ctl_run_begin(&r);
	r.ctl.format = CTL_JSONL;
	ctl_print_error(&r.ctl, &err);
	ctl_run_end(&r);
	assert_string_equal(r.talk, "");
	object = json_loads(r.out, 0, NULL);
	told = json_object_get(object, "error");
	assert_int_equal(json_integer_value(json_object_get(told, "code")), 5);
	assert_string_equal(json_string_value(json_object_get(told, "kind")), "not-found");
	assert_string_equal(json_string_value(json_object_get(told, "message")),
			    "no study 'a\033b'");
	json_decref(object);
	ctl_run_free(&r);

	/* mistakes of a configuration file, with the lines they are in */
	dp_fail(&err, DP_E_INVALID, "d.yaml:1:1: error\n   1 | a\033\n     | ^");
	ctl_run_begin(&r);
	ctl_print_error(&r.ctl, &err);
	ctl_run_end(&r);
	assert_string_equal(r.talk, "dparetoctl: d.yaml:1:1: error\n   1 | a?\n     | ^\n");
	ctl_run_free(&r);

	/* without a sentence there are the words of the code */
	ctl_run_begin(&r);
	ctl_print_error(&r.ctl, &(struct dp_err){ .code = DP_E_TIMEOUT });
	ctl_run_end(&r);
	assert_string_equal(r.talk, "dparetoctl: timed out\n");
	ctl_run_free(&r);
}

static void test_flush(void **state)
{
	struct ctl ctl = { .out = fopen("/dev/full", "w") };
	struct dp_err err;
	int ends[2];

	(void)state;
	ctl_printf(&ctl, "lost");
	assert_int_equal(ctl_flush(&ctl, &err), DP_E_IO);
	assert_string_equal(err.msg, "cannot write to standard output: No space left on device");
	fclose(ctl.out);

	/* a reader that went away is no failure, and nothing is written any more */
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	ctl = (struct ctl){ .out = fdopen(ends[1], "w") };
	ctl_printf(&ctl, "lost");
	assert_false(ctl.out_closed);
	assert_int_equal(ctl_flush(&ctl, &err), DP_OK);
	assert_true(ctl.out_closed);
	ctl_printf(&ctl, "not tried");
	assert_int_equal(ctl_flush(&ctl, &err), DP_OK);
	fclose(ctl.out);
}

/* ---- terminals ---- */

/* A terminal of so many columns; its far end is *master. */
static FILE *terminal(int *master, int columns)
{
	struct winsize size = { .ws_row = 30, .ws_col = (unsigned short)columns };
	int slave;

	*master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_int_equal(grantpt(*master), 0);
	assert_int_equal(unlockpt(*master), 0);
	slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	return fdopen(slave, "w");
}

static void test_terminal(void **state)
{
	struct ctl ctl = { .color = true };
	struct ctl_run r;
	int master, columns, rows;
	FILE *screen = terminal(&master, 33);

	(void)state;
	ctl_terminal_size(screen, &columns, &rows);
	assert_int_equal(columns, 33);
	assert_int_equal(rows, 30);
	assert_true(ctl_use_color(&ctl, screen));
	ctl.color = false;
	assert_false(ctl_use_color(&ctl, screen));
	fclose(screen);
	close(master);
	/* one that does not know its size, and the variables that do */
	screen = terminal(&master, 0);
	setenv("COLUMNS", "44", 1);
	ctl_terminal_size(screen, &columns, &rows);
	assert_int_equal(columns, 44);
	setenv("COLUMNS", "-3", 1);
	ctl_terminal_size(screen, &columns, &rows);
	assert_int_equal(columns, 80);
	fclose(screen);
	close(master);
	/* what is no terminal has neither size nor colour */
	ctl_run_begin(&r);
	r.ctl.color = true;
	ctl_terminal_size(r.ctl.out, &columns, &rows);
	assert_int_equal(columns, 0);
	assert_false(ctl_use_color(&r.ctl, r.ctl.out));
	ctl_run_end(&r);
	ctl_run_free(&r);
	assert_string_equal(ctl_style_on(CTL_BAD, true), "\033[31m");
	assert_string_equal(ctl_style_off(CTL_BAD, true), "\033[0m");
	assert_string_equal(ctl_style_on(CTL_BAD, false), "");
	assert_string_equal(ctl_style_on(CTL_NORMAL, true), "");
	assert_string_equal(ctl_style_off(CTL_NORMAL, true), "");
}

/* Sentences are broken between words; what fits stays as it is. */
static void test_sentences(void **state)
{
	static const char expected[] = "no trial has ended\r\nyet, 3 run\r\n  fits\r\n"
				       "as data it is\r\nwrapped, too\r\n";
	struct ctl ctl = { 0 };
	char told[200] = "";
	size_t n = 0;
	int master;
	FILE *screen = terminal(&master, 18);

	(void)state;
	ctl.err_stream = ctl.out = screen;
	ctl_print_message(&ctl, "no trial has ended yet, %d run", 3);
	ctl_print_message(&ctl, "  fits");
	ctl_print_wrapped(&ctl, "as data it is wrapped, %s", "too");
	fflush(screen);
	while (n < sizeof expected - 1) {
		ssize_t got = read(master, told + n, sizeof told - 1 - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	assert_string_equal(told, expected);
	fclose(screen);
	close(master);
}

/* ---- tables ---- */

static struct ctl_table *sample(void)
{
	struct ctl_table *t = ctl_table_new("");

	ctl_table_add_column(t, "NAME", CTL_LEFT);
	ctl_table_add_column(t, "N", CTL_RIGHT);
	ctl_table_add_column(t, "WHY", CTL_FLEX);
	ctl_table_add_cell(t, CTL_BOLD, "%s", "é漢");
	ctl_table_add_cell(t, CTL_NORMAL, "%d", 1000);
	ctl_table_add_cell(t, CTL_NORMAL, "%s", "all slots are taken");
	ctl_table_add_cell(t, CTL_NORMAL, "%s", "adult-census");
	ctl_table_add_cell(t, CTL_NORMAL, "%d", 7);
	ctl_table_add_cell(t, CTL_NORMAL, "%s", "");
	return t;
}

static void table_is(const struct ctl_table *t, int columns, bool color, bool utf8,
		     const char *want)
{
	struct dp_buf out = DP_BUF_INIT;

	ctl_table_format(t, &out, columns, color, utf8);
	assert_string_equal(dp_buf_text(&out), want);
	dp_buf_free(&out);
}

static void test_table(void **state)
{
	struct ctl_table *t = sample();

	(void)state;
	assert_int_equal(ctl_table_count_rows(t), 2);
	/* columns are of characters as wide as they are, not of bytes */
	table_is(t, 0, false, true,
		 "NAME             N  WHY\n"
		 "é漢           1000  all slots are taken\n"
		 "adult-census     7  \n");
	/* the flexible column gives way first */
	table_is(t, 33, false, true,
		 "NAME             N  WHY\n"
		 "é漢           1000  all slots ar…\n"
		 "adult-census     7  \n");
	table_is(t, 33, false, false,
		 "NAME             N  WHY\n"
		 "é漢           1000  all slots ...\n"
		 "adult-census     7  \n");
	/* then whole columns go, from the right */
	table_is(t, 20, false, true,
		 "NAME             N\n"
		 "é漢           1000\n"
		 "adult-census     7\n");
	/* and the last one is cut */
	table_is(t, 5, false, true,
		 "NAME\n"
		 "é漢\n"
		 "adul…\n");
	table_is(t, 20, true, true,
		 "\033[1mNAME\033[0m             \033[1mN\033[0m\n"
		 "\033[1mé漢\033[0m           1000\n"
		 "adult-census     7\n");
	ctl_table_free(t);
}

static void test_table_edges(void **state)
{
	struct ctl_table *t = ctl_table_new("");

	(void)state;
	ctl_table_add_column(t, "ONLY", CTL_LEFT);
	table_is(t, 0, false, true, "ONLY\n");
	assert_int_equal(ctl_table_count_rows(t), 0);
	for (int i = 0; i < 1000; i++)
		ctl_table_add_cell(t, CTL_NORMAL, "%s", "x\ny\033");
	assert_int_equal(ctl_table_count_rows(t), 1000);
	ctl_table_free(t);
	t = ctl_table_new("");
	ctl_table_add_column(t, "A", CTL_LEFT);
	ctl_table_add_cell(t, CTL_NORMAL, "%s", "x\ny\033"); /* stays on its line */
	table_is(t, 0, false, true, "A\nx?y?\n");
	ctl_table_free(t);
}

static void test_table_print(void **state)
{
	struct ctl_run r;
	struct dp_buf screen = DP_BUF_INIT;
	char part[64];
	int master;
	ssize_t n;

	(void)state;
	ctl_run_begin(&r);
	ctl_table_print(&r.ctl, sample());
	ctl_run_end(&r);
	assert_non_null(strstr(r.out, "all slots are taken\n"));
	assert_string_equal(r.talk, "");
	ctl_run_free(&r);
	/* on a narrow terminal it says what is missing */
	ctl_run_begin(&r);
	fclose(r.ctl.out);
	free(r.out);
	r.out = NULL;
	r.ctl.out = terminal(&master, 14);
	ctl_table_print(&r.ctl, sample());
	ctl_run_end(&r);
	while ((n = read(master, part, sizeof part)) > 0) /* until it is closed */
		dp_buf_add(&screen, part, (size_t)n);
	close(master);
	assert_string_equal(dp_buf_text(&screen), "NAME\r\né漢\r\nadult-census\r\n");
	dp_buf_free(&screen);
	assert_string_equal(r.talk, "(2 more columns do not fit here; -o json shows all)\n");
	ctl_run_free(&r);
}

static void test_csv(void **state)
{
	struct dp_buf out = DP_BUF_INIT;

	(void)state;
	ctl_append_csv_field(&out, "plain", true);
	ctl_append_csv_field(&out, "", false);
	ctl_append_csv_field(&out, "a,b", false);
	ctl_append_csv_field(&out, "say \"so\"", false);
	ctl_append_csv_field(&out, "two\nlines\r", false);
	ctl_append_csv_field(&out, "é 漢", false);
	assert_string_equal(dp_buf_text(&out),
			    "plain,,\"a,b\",\"say \"\"so\"\"\",\"two\nlines\r\",é 漢");
	dp_buf_free(&out);
}

/* ---- foreign texts ---- */

static void see(const char *text, size_t len, bool styles, const char *shown)
{
	struct dp_buf out = DP_BUF_INIT;

	ctl_escape_controls(&out, text, len, styles);
	assert_string_equal(dp_buf_text(&out), shown);
	dp_buf_free(&out);
}

/* NUL bytes are part of it. */
#define SEE(text, styles, shown) see(text, sizeof(text) - 1, styles, shown)

static void test_visible(void **state)
{
	(void)state;
	SEE("plain\ttext\né 漢 \xf0\x9f\x98\x80", false, "plain\ttext\né 漢 \xf0\x9f\x98\x80");
	SEE("\033[2J\a\r\0\x7f", false, "^[[2J^G^M^@^?");
	SEE("\xc2\x9b"
	    "31m \xe2\x80\xae",
	    false, "<U+009B>31m <U+202E>");
	SEE("\x9b \xff\xc3( \xe6\xbc", false, "\\x9b \\xff\\xc3( \\xe6\\xbc");
	SEE("\xed\xa0\x80 \xc0\x9b", false, "\\xed\\xa0\\x80 \\xc0\\x9b");
	/* our own styles, whole, and nothing that looks like them */
	SEE("\033[31mred\033[0m\033[31", true, "\033[31mred\033[0m^[[31");
	SEE("\033[31mred", false, "^[[31mred");
	SEE("\033[41m\033]0;t\a", true, "^[[41m^[]0;t^G");
	SEE("", true, "");
}

static void test_unfinished(void **state)
{
	(void)state;
	assert_int_equal(ctl_utf8_partial_len("", 0), 0);
	assert_int_equal(ctl_utf8_partial_len("aé", 3), 0);
	assert_int_equal(ctl_utf8_partial_len("a\xc3", 2), 1);
	assert_int_equal(ctl_utf8_partial_len("\xe6\xbc", 2), 2);
	assert_int_equal(ctl_utf8_partial_len("\xe6\xbc\xa2", 3), 0);
	assert_int_equal(ctl_utf8_partial_len("a\xf0\x9f\x98", 4), 3);
	assert_int_equal(ctl_utf8_partial_len("\x80\x80\x80\x80", 4), 0);
}

/* ---- answers ---- */

/* With -o json standard output has one object: an error after it goes to standard error. */
static void test_error_after_json(void **state)
{
	struct dp_err err;
	struct ctl_run r;

	(void)state;
	ctl_run_begin(&r);
	r.ctl.format = CTL_JSON;
	r.ctl.json_printed = true;
	dp_fail(&err, DP_E_STUDY, "it failed");
	ctl_print_error(&r.ctl, &err);
	ctl_run_end(&r);
	assert_int_equal(r.ctl.format, CTL_JSON);
	assert_string_equal(r.out, "");
	assert_string_equal(r.talk, "dparetoctl: it failed\n");
	ctl_run_free(&r);
}

/* The verb says whether its answer comes in pages, not what the answer looks like. */
static void test_pages_of_verbs(void **state)
{
	static const char answer[] = "{\"v\":1,\"ok\":{\"more\":[[1,null]],\"front\":[],"
				     "\"trial\":{\"trial\":1,\"next\":2}}}\n";
	static const char page[] = "{\"v\":1,\"ok\":{\"front\":[{\"trial\":1}]}}\n";
	static const char *const verbs[] = { "pause", "front" };
	struct dp_err err;
	struct ctl_run r;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(verbs); i++) {
		int pair[2];
		json_t *ok;

		ctl_run_begin(&r);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
		assert_int_equal(write(pair[1], answer, strlen(answer)), strlen(answer));
		assert_int_equal(write(pair[1], page, strlen(page)), strlen(page));
		r.ctl.client = dp_client_from_fd(pair[0]);
		assert_int_equal(ctl_call_study(&r.ctl, verbs[i], "s", &ok, &err), DP_OK);
		assert_int_equal(json_array_size(json_object_get(ok, "more")), i == 0);
		assert_int_equal(json_array_size(json_object_get(ok, "front")), i);
		assert_non_null(json_object_get(json_object_get(ok, "trial"), "next"));
		json_decref(ok);
		ctl_run_end(&r);
		ctl_run_free(&r);
		close(pair[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_streams_in_one_pipe),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_edges),
		cmocka_unit_test(test_table_print),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_error_after_json),
		cmocka_unit_test(test_pages_of_verbs),
		cmocka_unit_test(test_visible),
		cmocka_unit_test(test_unfinished),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	unsetenv("COLUMNS");
	unsetenv("LINES");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
