/* test_study_hostile.c - study files that want to do harm: sizes, YAML, bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/support/study_text.h"
#include "study/diagnostics.h"

/* ---- hostile files ---- */

static struct result parse_buf(struct dp_buf *b)
{
	struct dp_buf out = DP_BUF_INIT;
	struct result x = parse(dp_buf_text(b), b->len);

	/* whatever it is, it can be shown */
	dp_diagnostics_format(&x.problems, "t", dp_buf_text(b), b->len, &out);
	for (size_t i = 0; i < out.len; i++)
		assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n');
	assert_true(out.len < 100000);
	dp_buf_free(&out);
	json_decref(dp_diagnostics_to_json(&x.problems, dp_buf_text(b), b->len));
	return x;
}

/* Is one of the problems this one? */
static void refused(struct dp_buf *b, int line, const char *message)
{
	struct result x = parse_buf(b);
	bool found = false;

	assert_null(x.s);
	for (size_t i = 0; i < x.problems.count; i++)
		found |= x.problems.list[i].line == line &&
			 strstr(x.problems.list[i].message, message);
	if (!found)
		fail_msg("not '%s' in line %d, but %d: %s", message, line, x.problems.list[0].line,
			 x.problems.list[0].message);
	done(&x);
	dp_buf_free(b);
}

static void repeat(struct dp_buf *b, const char *s, int times)
{
	for (int i = 0; i < times; i++)
		dp_buf_puts(b, s);
}

static void test_hostile_sizes(void **state)
{
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	repeat(&b, "# ten bytes\n", 10 << 20 >> 3);
	refused(&b, 0, "too large");
	repeat(&b, "[", 100000);
	refused(&b, 1, "nested too deeply");
	repeat(&b, "{a: ", 100000);
	refused(&b, 1, "nested too deeply");
	repeat(&b, "- ", 100000);
	refused(&b, 1, "nested too deeply");
	dp_buf_puts(&b, "a: [");
	repeat(&b, "1,", 500000);
	refused(&b, 1, "too long");
	for (int i = 0; i < 100000; i++)
		dp_buf_printf(&b, "k%d: 1\n", i);
	refused(&b, 1025, "too long");
	dp_buf_puts(&b, "seed: ");
	repeat(&b, "9", 1000000);
	refused(&b, 1, "'seed' cannot be '9999");
	dp_buf_puts(&b, "study: ");
	repeat(&b, "x", 300);
	refused(&b, 1, "'study' cannot be 'xxxx");
}

static void test_hostile_yaml(void **state)
{
	struct dp_buf b = DP_BUF_INIT;
	struct result x;

	(void)state;
	/* a billion laughs */
	dp_buf_puts(&b, "a0: &a0 [lol, lol]\n");
	for (int i = 1; i < 30; i++) {
		dp_buf_printf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			dp_buf_printf(&b, "%s*a%d", k ? "," : "", i - 1);
		dp_buf_puts(&b, "]\n");
	}
	x = parse_buf(&b);
	assert_null(x.s);
	assert_true(x.problems.error_count > 300 && x.problems.count == 100);
	done(&x);
	dp_buf_free(&b);
	dp_buf_puts(&b, "<<: {study: s}\n");
	refused(&b, 1, "unknown key '<<'");
	/* more escapes than libfyaml reads without a leak by its own means */
	dp_buf_puts(&b, "seed: '");
	repeat(&b, "x''", 1000);
	dp_buf_puts(&b, "'\n");
	refused(&b, 1, "'seed' cannot be 'x'x'x'");
	dp_buf_puts(&b, "a: \"unfinished\n");
	refused(&b, 1, "not YAML");
	dp_buf_puts(&b, "constraints: {s: >= 3}\n");
	refused(&b, 1, "not YAML");
	refused(&b, 0, "empty");
	dp_buf_puts(&b, "# only a comment\n");
	refused(&b, 0, "empty");
	dp_buf_puts(&b, "- study: s\n");
	refused(&b, 1, "not a list");
	dp_buf_puts(&b, "study");
	refused(&b, 1, "not a single value");
	dp_buf_puts(&b, "*a : 1\n");
	refused(&b, 1, "aliases");
}

static void test_hostile_bytes(void **state)
{
	static const char *const bad[] = {
		"\x80",     "\xc0\xaf", "\xed\xa0\x80", "\xff",         "\xf5\x80\x80\x80",
		"\xe2\x82", "\x1b[31m", "\x7f",         "\xe0\x80\xaf", "\xc2\x9b"
	};
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		dp_buf_puts(&b, "study: s\nseed: ");
		dp_buf_puts(&b, bad[i]);
		dp_buf_puts(&b, "\n");
		refused(&b, 2, "not text");
	}
	dp_buf_add(&b, "study: s\n\0", 10);
	refused(&b, 2, "byte 0x00");
	/* a terminal's escape sequence, hidden in YAML's own escapes */
	dp_buf_puts(&b, "\"\\e[31mred\": 1\n");
	refused(&b, 1, "unknown key");
	dp_buf_puts(&b, "study: \"\\ud800\"\n");
	refused(&b, 1, "not YAML");
}

/* The mistake is far right in a long line: the excerpt is cut around it. */
static void test_long_line(void **state)
{
	struct dp_buf b = DP_BUF_INIT, out = DP_BUF_INIT;
	const char *line, *caret;
	struct result x;

	(void)state;
	dp_buf_puts(&b, "{");
	repeat(&b, " ", 5000);
	dp_buf_puts(&b, "seed: wrong");
	repeat(&b, " ", 5000);
	dp_buf_puts(&b, "}");
	x = parse(b.data, b.len);
	dp_diagnostics_format(&x.problems, "t", b.data, b.len, &out);
	line = strstr(dp_buf_text(&out), "1:5008: error: 'seed' cannot be 'wrong'");
	assert_non_null(line);
	line = strchr(line, '\n') + 1;
	caret = strchr(line, '\n') + 1;
	assert_true(caret - line < 130);
	assert_int_equal(strstr(line, "wrong") - line, strchr(caret, '^') - caret);
	done(&x);
	dp_buf_free(&b);
	dp_buf_free(&out);
}

/* A library that prints would spoil somebody's terminal or protocol: what arrives on
 * standard error during a test is shown after it, and fails it. */
static int silence(void **state)
{
	static int saved;
	int fd = memfd_create("stderr", 0);

	fflush(stderr);
	saved = dup(2);
	if (fd < 0 || saved < 0 || dup2(fd, 2) < 0)
		return -1;
	close(fd);
	*state = &saved;
	return 0;
}

static int silent(void **state)
{
	int *saved = *state;
	char text[4096];
	ssize_t n;

	fflush(stderr);
	n = pread(2, text, sizeof text, 0);
	dup2(*saved, 2);
	close(*saved);
	if (n > 0)
		fwrite(text, 1, (size_t)n, stderr);
	return n == 0 ? 0 : -1;
}

/* Each is refused for what it is, and leaves nothing behind: the sanitizers and
 * valgrind count. */
static void test_found_by_fuzzing(void **state)
{
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	dp_buf_puts(&b, "study: a\ntrainer: {command: [x]}\n"
			"parameters: {p: {values: [a, b], fixed: 3}, q: {fixed: 1, "
			"values: [a]}}\n");
	refused(&b, 3, "fixed");
	dp_buf_puts(&b, " |\n  "); /* an empty block was taken for "no memory" */
	refused(&b, 2, "");
	dp_buf_puts(&b, "study: |\n  ");
	refused(&b, 2, "'study' cannot be ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hostile_sizes, silence, silent),
		cmocka_unit_test_setup_teardown(test_hostile_yaml, silence, silent),
		cmocka_unit_test_setup_teardown(test_hostile_bytes, silence, silent),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_found_by_fuzzing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
