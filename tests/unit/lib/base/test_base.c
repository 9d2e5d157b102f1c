/* test_base.c - numbers as text, buffers, files, JSON, random streams. */
#include "base/base.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/json.h"
#include "base/units.h"
#include "base/rng.h"
#include "base/secret.h"
#include "base/utf8.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void doubles_read_back_bit_for_bit(void **state)
{
	struct dp_rng r;
	char text[DP_NUM_LEN];

	(void)state;
	dp_rng_init(&r, 1, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 200000; i++) {
		uint64_t bits = dp_rng_u64(&r), back;
		double x, y;

		memcpy(&x, &bits, sizeof x);
		if (isnan(x))
			continue;
		assert_true(dp_num_parse(dp_num_text(x, text), &y));
		memcpy(&back, &y, sizeof back);
		assert_int_equal(bits, back);
	}
}

static void doubles_are_short(void **state)
{
	char text[DP_NUM_LEN];

	(void)state;
	assert_string_equal(dp_num_text(0.1, text), "0.1");
	assert_string_equal(dp_num_text(5e-4, text), "0.0005");
	assert_string_equal(dp_num_text(100, text), "100");
	assert_string_equal(dp_num_text(-INFINITY, text), "-inf");
	assert_string_equal(dp_num_text(NAN, text), "nan");
	assert_string_equal(dp_num_text(0.1 + 0.2, text), "0.30000000000000004");
}

/* As printf() has it with the fewest digits from 15 on that read back. */
static void numbers_are_printed_as_ever(void **state)
{
	char text[DP_NUM_LEN], by_printf[64];
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 7, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 200000; i++) {
		double x = dp_rng_uniform(&r);

		switch (i % 5) {
		case 0:
			x = ldexp(x, (int)(dp_rng_uniform(&r) * 110) - 45);
			break;
		case 1: /* powers of ten and of two, and what is beside them */
			x = i % 2 ? pow(10, floor(40 * x) - 15) : ldexp(1, (int)(80 * x) - 25);
			x = i % 3 ? nextafter(x, i % 4 < 2 ? 0 : INFINITY) : x;
			break;
		case 2:
			x = floor(x * 1e6) / pow(10, floor(8 * dp_rng_uniform(&r)));
			break;
		case 3:
			x = -floor(x * 9007199254740992.0) / (i % 2 ? 1 : 8);
			break;
		}
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(by_printf, sizeof by_printf, "%.*g", digits, x);
			if (strtod(by_printf, NULL) == x)
				break;
		}
		assert_string_equal(dp_num_text(x, text), by_printf);
	}
}

static void numbers_are_read_strictly(void **state)
{
	static const char *const bad[] = { "",    " 1",    "1 ",   "0x10", "1e", "infinity", "1,5",
					   "--1", "1e999", "nanx", "e5",   "+",  "1_000" };
	double x;
	int64_t n;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		assert_false(dp_num_parse(bad[i], &x));
	assert_true(dp_num_parse("-1.5e-3", &x) && x == -0.0015);
	assert_true(dp_num_parse("-.inf", &x) && x == -INFINITY);
	assert_false(dp_int_parse("9223372036854775808", &n));
	assert_true(dp_int_parse("-9223372036854775808", &n) && n == INT64_MIN);
	assert_false(dp_int_parse("1.0", &n));
}

static void durations_and_sizes(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} good[] = { { "90", 90 },      { "1.5s", 1.5 }, { "250ms", 0.25 }, { "30m", 1800 },
		     { "2h30m", 9000 }, { "1d", 86400 }, { "5min", 300 },   { "0", 0 } };
	static const char *const bad[] = { "",   "h",   "5 m",  "-3s",        "2h30",
					   "1w", "nan", "1e9s", "99999999999" };
	char out[DP_NUM_LEN];
	uint64_t bytes;
	double s;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(good); i++) {
		assert_true(dp_duration_parse(good[i].text, &s));
		assert_true(s == good[i].seconds);
	}
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		assert_false(dp_duration_parse(bad[i], &s));
	assert_string_equal(dp_duration_text(0.35, out), "350ms");
	assert_string_equal(dp_duration_text(7500, out), "2h05m");
	assert_string_equal(dp_duration_text(59.96, out), "1m00s");
	assert_true(dp_size_parse("16M", &bytes) && bytes == 16 << 20);
	assert_true(dp_size_parse("1.5GiB", &bytes) && bytes == 3ull << 29);
	assert_true(dp_size_parse("512", &bytes) && bytes == 512);
	assert_false(dp_size_parse("16X", &bytes));
	assert_false(dp_size_parse("", &bytes));
	assert_string_equal(dp_size_text(1536, out), "1.5 KiB");
}

static void names_and_near_misses(void **state)
{
	static const char *const keys[] = { "evaluations", "parallel", "initial", NULL };
	char longest[66];

	(void)state;
	memset(longest, 'a', sizeof longest);
	longest[64] = '\0';
	assert_true(dp_name_ok(longest));
	longest[64] = 'a';
	longest[65] = '\0';
	assert_false(dp_name_ok(longest));
	assert_true(dp_name_ok("_x.y-2"));
	assert_false(dp_name_ok(""));
	assert_false(dp_name_ok(".hidden"));
	assert_false(dp_name_ok("../up"));
	assert_false(dp_name_ok("two words"));
	assert_false(dp_name_ok("na\xc3\xafve"));
	assert_string_equal(dp_nearest_word("evalutions", keys), "evaluations");
	assert_string_equal(dp_nearest_word("paralell", keys), "parallel");
	assert_null(dp_nearest_word("timeout", keys));
}

static void buffers_keep_their_limit(void **state)
{
	struct dp_buf b = { .max = 10 };
	char *text;

	(void)state;
	assert_string_equal(dp_buf_text(&b), "");
	dp_buf_puts(&b, "12345");
	dp_buf_printf(&b, "%d", 67890);
	assert_false(b.over_limit);
	dp_buf_putc(&b, 'x');
	assert_true(b.over_limit);
	assert_int_equal(b.len, 10);
	dp_buf_free(&b);
	dp_buf_puts(&b, "again");
	dp_buf_consume(&b, 2);
	text = dp_buf_detach(&b);
	assert_string_equal(text, "ain");
	free(text);
}

static void text_cannot_become_markup(void **state)
{
	struct dp_buf b = DP_BUF_INIT;

	(void)state;
	dp_buf_add_xml_escaped(&b, "a<b>&\"'");
	dp_buf_add_xml_escaped(&b, "");
	dp_buf_add_xml_escaped(&b, "&#0; ]]> ö");
	assert_string_equal(dp_buf_text(&b), "a&lt;b&gt;&amp;&quot;&#39;&amp;#0; ]]&gt; ö");
	dp_buf_free(&b);
}

static void files_are_written_whole(void **state)
{
	char folder[] = "/tmp/dpareto-base-XXXXXX";
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err;
	char *deep, *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	deep = dp_path_join(folder, "a/b/c");
	file = dp_path_join(deep, "f");
	assert_int_equal(dp_mkdirs(deep, 0755, &err), DP_OK);
	assert_int_equal(dp_mkdirs(deep, 0755, &err), DP_OK);
	assert_int_equal(dp_write_file(file, "hello", 5, true, &err), DP_OK);
	assert_int_equal(dp_write_file(file, "you", 3, false, &err), DP_OK);
	assert_int_equal(dp_read_file(file, 100, &text, &err), DP_OK);
	assert_string_equal(text.data, "you");
	assert_int_equal(dp_read_file(file, 2, &text, &err), DP_E_LIMIT);
	assert_int_equal(dp_mkdirs(file, 0755, &err), DP_E_EXISTS);
	assert_int_equal(dp_read_file(deep, 100, &text, &err), DP_E_INVALID);
	assert_int_equal(dp_remove_tree(folder, &err), DP_OK);
	assert_int_equal(access(folder, F_OK), -1);
	assert_int_equal(dp_remove_tree(folder, &err), DP_OK);
	assert_int_equal(dp_read_file(file, 100, &text, &err), DP_E_NOT_FOUND);
	dp_buf_free(&text);
	free(deep);
	free(file);
}

static void removal_does_not_follow_links(void **state)
{
	char kept[] = "/tmp/dpareto-kept-XXXXXX", folder[] = "/tmp/dpareto-gone-XXXXXX";
	struct dp_err err;
	char *link, *file;

	(void)state;
	assert_non_null(mkdtemp(kept));
	assert_non_null(mkdtemp(folder));
	file = dp_path_join(kept, "precious");
	link = dp_path_join(folder, "link");
	assert_int_equal(dp_write_file(file, "x", 1, false, &err), DP_OK);
	assert_int_equal(symlink(kept, link), 0);
	assert_int_equal(dp_remove_tree(folder, &err), DP_OK);
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(dp_remove_tree(kept, &err), DP_OK);
	free(link);
	free(file);
}

static void json_round_trip(void **state)
{
	static const char text[] =
		"{\"z\":1,\"a\":[0.1,-5e-324,true,null],\"s\":\"q\\\"\\n\\u0001ε\"}";
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	json_t *v;
	double x;

	(void)state;
	assert_int_equal(dp_json_parse(text, strlen(text), &v, &err), DP_OK);
	dp_json_dump(&out, v, 0);
	/* 15 digits of the least double read back, so that is how it is written */
	assert_string_equal(out.data, "{\"z\":1,\"a\":[0.1,-4.94065645841247e-324,true,null],"
				      "\"s\":\"q\\\"\\n\\u0001ε\"}");
	json_decref(v);
	assert_int_equal(dp_json_parse("{\"a\":1,\"a\":2}", 13, &v, &err), DP_E_INVALID);
	v = dp_json_real(-INFINITY);
	assert_string_equal(json_string_value(v), "-inf");
	assert_true(dp_json_to_real(v, &x) && x == -INFINITY);
	json_decref(v);
	v = json_string("5");
	assert_false(dp_json_to_real(v, &x));
	json_decref(v);
	dp_buf_free(&out);
}

static void errors_travel_as_json(void **state)
{
	struct dp_err err, back;
	json_t *v;

	(void)state;
	assert_int_equal(dp_fail(&err, DP_E_NOT_FOUND, "no study '%s'", "x"), DP_E_NOT_FOUND);
	dp_hint(&err, "look at the list");
	v = dp_json_from_error(&err);
	assert_int_equal(json_integer_value(json_object_get(v, "code")), 5);
	dp_json_to_error(v, &back);
	assert_int_equal(back.code, DP_E_NOT_FOUND);
	assert_string_equal(back.msg, "no study 'x'");
	assert_string_equal(back.hint, "look at the list");
	json_decref(v);
}

/* Random123's own known answer for philox4x32, ten rounds, counter and key zero. */
static void characters_are_whole_or_not(void **state)
{
	static const char *const good[] = { "", "plain", "\303\251", "a\342\202\254b",
					    "\360\237\230\200" };
	static const char *const bad[] = { "\303",     "a\303",        "\251",
					   "\300\200", "\355\240\200", "\364\220\200\200",
					   "\342\202", "ok \377" };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(good); i++)
		assert_true(dp_utf8_is_valid(good[i]));
	for (size_t i = 0; i < DP_COUNT(bad); i++)
		assert_false(dp_utf8_is_valid(bad[i]));
}

static void counts_have_their_plural(void **state)
{
	char out[DP_PLURAL_LEN];

	(void)state;
	assert_string_equal(dp_plural_text(0, "trial", out), "0 trials");
	assert_string_equal(dp_plural_text(1, "trial", out), "1 trial");
	assert_string_equal(dp_plural_text(UINT64_MAX, "point", out),
			    "18446744073709551615 points");
	assert_string_equal(dp_plural_text(1, "study", out), "1 study");
	assert_string_equal(dp_plural_text(2, "study", out), "2 studies");
	assert_string_equal(dp_plural_text(2, "day", out), "2 days");
}

static void waits_grow_up_to_a_limit(void **state)
{
	static const double expected[] = { 1, 2, 4, 5, 5 };
	double wait = 0;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(expected); i++) {
		wait = dp_backoff_next(wait, 1, 5);
		assert_true(wait == expected[i]);
	}
	assert_true(dp_backoff_next(0, 7, 5) == 5);
}

/* What somebody else has put there: its start, or the reason why not. */
static void the_start_of_a_plain_file(void **state)
{
	char dir[] = "/tmp/dpareto-base-XXXXXX", text[10000];
	struct dp_buf out = DP_BUF_INIT;
	char *file, *fifo, *link_;

	(void)state;
	assert_non_null(mkdtemp(dir));
	file = dp_path_join(dir, "file");
	fifo = dp_path_join(dir, "fifo");
	link_ = dp_path_join(dir, "link");
	memset(text, 'x', sizeof text);
	assert_int_equal(dp_write_new_file(file, text, sizeof text, NULL), DP_OK);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(file, link_), 0);
	assert_int_equal(dp_read_untrusted_head(file, 5000, &out), 0);
	assert_int_equal(out.len, 5000);
	assert_int_equal(dp_read_untrusted_head(file, 20000, &out), 0);
	assert_int_equal(out.len, sizeof text);
	assert_memory_equal(out.data, text, sizeof text);
	assert_int_equal(dp_read_untrusted_head(fifo, 10, &out), EINVAL);
	assert_int_equal(out.len, 0);
	assert_int_equal(dp_read_untrusted_head(link_, 10, &out), ELOOP);
	assert_int_equal(dp_remove_tree(dir, NULL), DP_OK);
	assert_int_equal(dp_read_untrusted_head(file, 10, &out), ENOENT);
	dp_buf_free(&out);
	free(file);
	free(fifo);
	free(link_);
}

/* A FIFO is never waited for, and is named; a pipe that is open already is read. */
static void special_files_are_refused(void **state)
{
	char dir[] = "/tmp/dpareto-base-XXXXXX", pipe_name[32];
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	char *fifo, *link_;
	int ends[2];

	(void)state;
	assert_non_null(mkdtemp(dir));
	fifo = dp_path_join(dir, "fifo");
	link_ = dp_path_join(dir, "link");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink(fifo, link_), 0);
	assert_int_equal(dp_read_file(link_, 10, &out, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "is a FIFO, not a regular file"));
	assert_int_equal(dp_read_file("/dev/null", 10, &out, &err), DP_E_INVALID);
	assert_non_null(strstr(err.msg, "is a character device"));
	assert_int_equal(dp_read_file("/proc/self/stat", 10000, &out, NULL), DP_OK);
	assert_int_equal(dp_read_regular(fifo, 10, &out, NULL), DP_E_INVALID);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "text", 4), 4);
	close(ends[1]);
	snprintf(pipe_name, sizeof pipe_name, "/dev/fd/%d", ends[0]);
	assert_int_equal(dp_read_regular(pipe_name, 10, &out, &err), DP_E_INVALID);
	assert_int_equal(dp_read_file(pipe_name, 10, &out, &err), DP_OK);
	assert_string_equal(dp_buf_text(&out), "text");
	close(ends[0]);
	assert_int_equal(dp_remove_tree(dir, NULL), DP_OK);
	dp_buf_free(&out);
	free(fifo);
	free(link_);
}

static void philox_known_answer(void **state)
{
	static const uint32_t expected[] = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 };
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 0, (enum dp_rng_purpose)0, 0, 0);
	for (size_t i = 0; i < DP_COUNT(expected); i++)
		assert_int_equal(dp_rng_u32(&r), expected[i]);
}

static void streams_differ_in_every_part(void **state)
{
	struct dp_rng r[5];
	uint64_t first[5];

	(void)state;
	dp_rng_init(&r[0], 1, DP_RNG_SAMPLE, 2, 3);
	dp_rng_init(&r[1], 2, DP_RNG_SAMPLE, 2, 3);
	dp_rng_init(&r[2], 1, DP_RNG_TRAIN, 2, 3);
	dp_rng_init(&r[3], 1, DP_RNG_SAMPLE, 3, 3);
	dp_rng_init(&r[4], 1, DP_RNG_SAMPLE, 2, 4);
	for (int i = 0; i < 5; i++) {
		first[i] = dp_rng_u64(&r[i]);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(first[i], first[k]);
	}
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

enum {
	DRAWS = 40000
};

/* Kolmogorov-Smirnov distance to a distribution function; 1.95 / sqrt(n) is passed
 * by a right generator with probability 0.999. */
static double ks(double (*draw)(struct dp_rng *), double (*cdf)(double))
{
	static double x[DRAWS];
	struct dp_rng r;
	double worst = 0;

	dp_rng_init(&r, 42, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < DRAWS; i++)
		x[i] = draw(&r);
	qsort(x, DRAWS, sizeof x[0], ascending);
	for (int i = 0; i < DRAWS; i++) {
		double f = cdf(x[i]);

		worst = fmax(worst,
			     fmax(fabs(f - (double)i / DRAWS), fabs(f - (double)(i + 1) / DRAWS)));
	}
	return worst * sqrt(DRAWS);
}

static double cdf_uniform(double x)
{
	return x;
}

static double cdf_normal(double x)
{
	return 0.5 * erfc(-x / sqrt(2));
}

static double cdf_exponential(double x)
{
	return -expm1(-x);
}

static double cdf_laplace(double x)
{
	return x < 0 ? 0.5 * exp(x) : 1 - 0.5 * exp(-x);
}

static void distributions(void **state)
{
	(void)state;
	assert_true(ks(dp_rng_uniform, cdf_uniform) < 1.95);
	assert_true(ks(dp_rng_normal, cdf_normal) < 1.95);
	assert_true(ks(dp_rng_exponential, cdf_exponential) < 1.95);
	assert_true(ks(dp_rng_laplace, cdf_laplace) < 1.95);
}

static void below_is_uniform(void **state)
{
	int count[7] = { 0 };
	double chi2 = 0;
	struct dp_rng r;

	(void)state;
	dp_rng_init(&r, 3, DP_RNG_TEST, 0, 0);
	for (int i = 0; i < 70000; i++)
		count[dp_rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		chi2 += (count[i] - 10000.0) * (count[i] - 10000.0) / 10000.0;
	assert_true(chi2 < 22.5); /* 6 degrees of freedom, 0.999 */
}

static void run_seeds(void **state)
{
	(void)state;
	assert_int_equal(dp_run_seed(7, 3, 0), dp_run_seed(7, 3, 0));
	assert_int_not_equal(dp_run_seed(7, 3, 0), dp_run_seed(7, 3, 1));
	assert_int_not_equal(dp_run_seed(7, 3, 0), dp_run_seed(7, 4, 0));
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(dp_run_seed(1, i, 0) < 1ull << 53);
}

static const char secret_text[] =
	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/* SHA-256 of (SHA-256 of the secret's letters, a word each; block, run, trial, purpose),
 * of which half is taken, as Python's hashlib and struct say. */
static void secret_stream_known_answer(void **state)
{
	static const uint32_t expected[] = { 0x8c94dfb7, 0x3e5cd4cc, 0x96c13247, 0x5ed0cf9a,
					     0xd1f3b304, 0xc20198a4, 0xe1a61a7d, 0xcf44b09e };
	struct dp_rng r;

	(void)state;
	dp_rng_init_secret(&r, secret_text, DP_RNG_TEST, 2, 3);
	for (size_t i = 0; i < DP_COUNT(expected); i++)
		assert_int_equal(dp_rng_u32(&r), expected[i]);
}

static void secret_streams_differ(void **state)
{
	char other[] = "00112233445566778899aabbccddeeff"
		       "00112233445566778899aabbccddeefe";
	struct dp_rng r[5];
	uint64_t first[5];

	(void)state;
	dp_rng_init_secret(&r[0], secret_text, DP_RNG_TEST, 2, 3);
	dp_rng_init_secret(&r[1], other, DP_RNG_TEST, 2, 3);
	dp_rng_init_secret(&r[2], secret_text, DP_RNG_RELEASE, 2, 3);
	dp_rng_init_secret(&r[3], secret_text, DP_RNG_TEST, 3, 3);
	dp_rng_init_secret(&r[4], secret_text, DP_RNG_TEST, 2, 4);
	for (int i = 0; i < 5; i++) {
		first[i] = dp_rng_u64(&r[i]);
		for (int k = 0; k < i; k++)
			assert_true(first[i] != first[k]);
	}
}

static void secrets_are_drawn_anew(void **state)
{
	char one[DP_SECRET_SIZE], two[DP_SECRET_SIZE];
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_secret_generate(one, &err), DP_OK);
	assert_int_equal(dp_secret_generate(two, &err), DP_OK);
	assert_string_not_equal(one, two);
	assert_true(dp_secret_ok(one) && dp_secret_ok(two));
	assert_false(dp_secret_ok(one + 1));
	one[5] = 'G';
	assert_false(dp_secret_ok(one));
}

/* The examples of FIPS 180-4 and others, as sha256sum(1) says, however they come. */
static void digests_are_sha256(void **state)
{
	static const struct {
		const char *text, *digest;
	} known[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char text[DP_SHA256_HEX_SIZE], block[1000];
	struct dp_sha256 s;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(known); i++) {
		dp_sha256_init(&s);
		for (const char *p = known[i].text; *p; p++)
			dp_sha256_update(&s, p, 1);
		dp_sha256_hex(&s, text);
		assert_string_equal(text, known[i].digest);
	}
	memset(block, 'a', sizeof block);
	dp_sha256_init(&s);
	for (int i = 0; i < 1000; i++) {
		dp_sha256_update(&s, block, sizeof block);
		dp_sha256_hex(&s, text); /* takes nothing from what goes on */
	}
	assert_string_equal(text,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* What may pass is tried again; what somebody did is not. */
static void errors_that_pass(void **state)
{
	static const int pass[] = { EMFILE, ENFILE, ENOMEM, EAGAIN, ENOSPC,
				    EDQUOT, EINTR,  EIO,    ESTALE, EROFS };
	static const int stay[] = {
		0, ENOENT, EACCES, EINVAL, ELOOP, EISDIR, E2BIG, EFBIG, ENOTDIR
	};
	struct dp_err err;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(pass); i++) {
		assert_true(dp_errno_is_transient(pass[i]));
		assert_true(dp_fail_errno(&err, pass[i], "x") ==
			    (pass[i] == ENOMEM ? DP_E_NOMEM : DP_E_IO));
	}
	for (size_t i = 0; i < DP_COUNT(stay); i++)
		assert_false(dp_errno_is_transient(stay[i]));
	assert_int_equal(dp_fail_errno(&err, E2BIG, "x"), DP_E_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_sha256),
		cmocka_unit_test(errors_that_pass),
		cmocka_unit_test(doubles_read_back_bit_for_bit),
		cmocka_unit_test(doubles_are_short),
		cmocka_unit_test(numbers_are_printed_as_ever),
		cmocka_unit_test(numbers_are_read_strictly),
		cmocka_unit_test(durations_and_sizes),
		cmocka_unit_test(names_and_near_misses),
		cmocka_unit_test(buffers_keep_their_limit),
		cmocka_unit_test(text_cannot_become_markup),
		cmocka_unit_test(files_are_written_whole),
		cmocka_unit_test(removal_does_not_follow_links),
		cmocka_unit_test(json_round_trip),
		cmocka_unit_test(errors_travel_as_json),
		cmocka_unit_test(characters_are_whole_or_not),
		cmocka_unit_test(counts_have_their_plural),
		cmocka_unit_test(waits_grow_up_to_a_limit),
		cmocka_unit_test(the_start_of_a_plain_file),
		cmocka_unit_test(special_files_are_refused),
		cmocka_unit_test(philox_known_answer),
		cmocka_unit_test(secret_stream_known_answer),
		cmocka_unit_test(secret_streams_differ),
		cmocka_unit_test(secrets_are_drawn_anew),
		cmocka_unit_test(streams_differ_in_every_part),
		cmocka_unit_test(distributions),
		cmocka_unit_test(below_is_uniform),
		cmocka_unit_test(run_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
