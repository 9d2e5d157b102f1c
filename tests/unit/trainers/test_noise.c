/* test_noise.c - the AES streams against FIPS-197 and openssl, normals against the
 * transform in double precision, and their distribution and independence. Seeds are
 * fixed: what passes once passes always. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainers/noise/noise_internal.h"

enum {
	MANY = 20 * 1000 * 1000, /* draws for moments and tails */
	CHUNK = 4096,
	MILLION = 1000 * 1000,
};

static const char *const path_names[] = { "vaes512", "vaes256", "aesni", "portable" };

static void on_every_path(void (*check)(const struct noise_backend *path))
{
	const char *own = noise_backend_name();
	int ran = 0;

	for (size_t i = 0; i < DP_COUNT(path_names); i++)
		if (noise_backend_use(path_names[i])) {
			assert_string_equal(noise_backend_name(), path_names[i]);
			check(noise_backend_find(path_names[i]));
			ran++;
		}
	assert_true(ran >= 1);
	assert_true(noise_backend_use(own));
}

/* ---- words ---- */

static void hex(const char *text, uint8_t out[16])
{
	char digits[3] = "";

	for (int i = 0; i < 16; i++) {
		memcpy(digits, text + 2 * i, 2);
		out[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

static void known_cipher(const char *key, const char *plain, const char *cipher)
{
	uint8_t k[16], in[16], want[16], got[16], round_key[11][16];

	hex(key, k);
	hex(plain, in);
	hex(cipher, want);
	aes128_expand_key(round_key, k);
	aes128_encrypt_block((const uint8_t(*)[16])round_key, in, got);
	assert_memory_equal(got, want, 16);
}

static void fips_197(void **state)
{
	uint8_t key[16], last[16], round_key[11][16];

	(void)state;
	hex("2b7e151628aed2a6abf7158809cf4f3c", key); /* appendix A.1 */
	hex("d014f9a8c9ee2589e13f0cc8b6630ca6", last);
	aes128_expand_key(round_key, key);
	assert_memory_equal(round_key[10], last, 16);
	/* appendix B */
	known_cipher("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
		     "3925841d02dc09fbdc118597196a0b32");
	/* appendix C.1 */
	known_cipher("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
		     "69c4e0d86a7b0430d8cdb78070b4c55a");
}

/* Made by openssl 3: B is the seed and use in hexadecimal, 16 digits each;
 *   B in bytes | openssl enc -aes-128-ecb -nopad -K 445061... ("DPareto noise v1")
 * xor B is the key K, and the words are od -tx4 (of a machine with the least
 * significant byte first) of
 *   512 zero bytes | openssl enc -aes-128-ctr -K K -iv STREAM,COUNTER */
static const struct known {
	uint64_t seed;
	enum noise_purpose use;
	const char *key;
	uint64_t stream, counter;
	uint32_t word[8]; /* words 0, 1, 2, 3, 7, 63, 64 and 127 */
} knowns[] = {
	{ 1,
	  NOISE_GRADIENT,
	  "abf14449a3b513c15bbbe8f580056199",
	  0,
	  0,
	  { 0xd208b22c, 0x9e4fa488, 0xa1266309, 0x2f92be2d, 0xf855adcb, 0x7b950dba, 0xad8fd35f,
	    0x906b3f69 } },
	{ 0x0123456789abcdef,
	  NOISE_LOTS,
	  "6e52d1af163004c7607eca2bce3d9a53",
	  0,
	  0xfffffff0, /* the second batch carries into the fifth byte */
	  { 0x0e73a976, 0xf75d23cb, 0xf84e71da, 0x30b62d86, 0x88b8128c, 0x06727f93, 0xbb67e9ea,
	    0x6f763f7c } },
	{ 42,
	  NOISE_GRADIENT,
	  "2ea717e59128fcf7d47ee3766598362e",
	  0x0102030405060708,
	  16,
	  { 0x1638e262, 0x1765acc3, 0x425c832c, 0x72ee9c52, 0xd2a9ba58, 0x697b2a43, 0x8e78fb50,
	    0xf4ce5edf } },
};

static void check_known_words(const struct noise_backend *path)
{
	static const int at[8] = { 0, 1, 2, 3, 7, 63, 64, 127 };

	(void)path;
	for (size_t i = 0; i < DP_COUNT(knowns); i++) {
		const struct known *k = &knowns[i];
		uint32_t word[128];
		uint8_t key[16];
		struct noise_stream n;

		hex(k->key, key);
		noise_stream_init_seeded(&n, k->seed, k->use);
		assert_memory_equal(n.round_key[0], key, 16);
		assert_int_equal(n.stream_id, 0);
		assert_int_equal(n.counter, 0);
		n.stream_id = k->stream;
		n.counter = k->counter;
		noise_fill_words(&n, word, 128);
		for (int j = 0; j < 8; j++)
			assert_int_equal(word[at[j]], k->word[j]);
		assert_int_equal(n.counter, k->counter + 32);
	}
}

static void words_as_openssl_makes_them(void **state)
{
	(void)state;
	on_every_path(check_known_words);
}

/* Any count takes whole batches and writes not one word more. */
static void check_counts(const struct noise_backend *path)
{
	static const size_t counts[] = { 0, 1, 63, 64, 65, 127, 128, 1000 };
	uint32_t all[1024], word[1025];

	(void)path;
	for (size_t i = 0; i < DP_COUNT(counts); i++) {
		struct noise_stream n, m;

		noise_stream_init_seeded(&n, 3, NOISE_LOTS);
		m = n;
		m.counter = n.counter = 160;
		noise_fill_words(&m, all, 1024);
		memset(word, 0xa5, sizeof word);
		noise_fill_words(&n, word, counts[i]);
		assert_memory_equal(word, all, counts[i] * sizeof *word);
		assert_int_equal(word[counts[i]], 0xa5a5a5a5);
		assert_int_equal(n.counter, 160 + (counts[i] + 63) / 64 * 16);
		noise_fill_words(&n, word, 1);
		if (counts[i] < 960)
			assert_int_equal(word[0], all[(counts[i] + 63) / 64 * 64]);
	}
}

static void counts_of_any_size(void **state)
{
	(void)state;
	on_every_path(check_counts);
}

static void same_seed_same_numbers(void **state)
{
	struct noise_stream a, b;
	float x[100], y[100];

	(void)state;
	noise_stream_init_seeded(&a, 7, NOISE_INIT_WEIGHTS);
	noise_stream_init_seeded(&b, 7, NOISE_INIT_WEIGHTS);
	noise_fill_normals(&a, x, 100);
	noise_fill_normals(&b, y, 100);
	assert_memory_equal(x, y, sizeof x);
	noise_stream_init_seeded(&b, 7, NOISE_SPLIT);
	noise_fill_normals(&b, y, 100);
	assert_memory_not_equal(x, y, sizeof x);
}

static void secure_streams_differ(void **state)
{
	struct noise_stream a, b;
	struct dp_err err;
	uint32_t x[8], y[8];

	(void)state;
	assert_int_equal(noise_stream_init_secure(&a, &err), DP_OK);
	assert_int_equal(noise_stream_init_secure(&b, &err), DP_OK);
	noise_fill_words(&a, x, 8);
	noise_fill_words(&b, y, 8);
	assert_memory_not_equal(x, y, sizeof x);
	assert_int_equal(a.counter, 16);
}

static void unknown_paths(void **state)
{
	const char *own = noise_backend_name();

	(void)state;
	assert_false(noise_backend_use("enigma"));
	assert_false(noise_backend_use(""));
	assert_string_equal(noise_backend_name(), own);
	assert_true(noise_backend_use("portable"));
	assert_true(noise_backend_use(own));
}

/* ---- normals of given words ---- */

/* The transform as box_muller.h describes it, in double precision. */
static void exact_pair(uint32_t radius, uint32_t further, uint32_t angle, double z[2])
{
	uint32_t v = radius & 0x7fffffff;
	double distance = v | 1, minus_ln_u, r, theta;

	if (v < 1 << 20)
		distance = (v & ~UINT32_C(1)) + ((further & 0x7fffffff) | 1) * 0x1p-30;
	distance *= 0x1p-32;
	minus_ln_u = radius >> 31 ? -log(distance) : -log1p(-distance);
	r = sqrt(2 * minus_ln_u) * (angle & 1 ? -1 : 1);
	theta = (int32_t)(angle | 1) * (M_PI / 2 * 0x1p-31);
	z[0] = r * cos(theta);
	z[1] = r * sin(theta);
}

/* Largest error of a batch in units of 1e-6 standard deviations or, where a normal is
 * larger than 1, of 1e-6 of it. */
static double batch_error(const uint32_t *word, const uint32_t *further, const float *z)
{
	double worst = 0, want[2];

	for (int j = 0; j < NOISE_BATCH_PAIRS; j++) {
		exact_pair(word[j], further[j], word[NOISE_BATCH_PAIRS + j], want);
		for (int i = 0; i < 2; i++) {
			double error = fabs(z[NOISE_BATCH_PAIRS * i + j] - want[i]) /
				       fmax(1, fabs(want[i]));

			worst = fmax(worst, error * 1e6);
			if (isnan(z[NOISE_BATCH_PAIRS * i + j]))
				return INFINITY;
		}
	}
	return worst;
}

/* Normals made in one call, `batches` of them from a counter of stream 11 on, against
 * the transform of the stream's words. */
static void assert_exact_from(uint64_t counter, size_t batches)
{
	enum {
		MOST = 1000
	};
	static uint32_t word[MOST * NOISE_BATCH_WORDS], further[MOST * NOISE_BATCH_WORDS];
	static float z[MOST * NOISE_BATCH_WORDS];
	struct noise_stream n, m;

	assert_true(batches <= MOST);
	noise_stream_init_seeded(&n, 11, NOISE_GRADIENT);
	n.counter = counter;
	m = n;
	noise_fill_words(&m, word, batches * NOISE_BATCH_WORDS);
	m = n;
	m.stream_id ^= UINT64_C(1) << 63;
	noise_fill_words(&m, further, batches * NOISE_BATCH_WORDS);
	noise_fill_normals(&n, z, batches * NOISE_BATCH_WORDS);
	for (size_t i = 0; i < batches * NOISE_BATCH_WORDS; i += NOISE_BATCH_WORDS)
		assert_true(batch_error(word + i, further + i, z + i) < 1);
}

/* Few batches have a word so small that without the further word the error would show;
 * these were searched for: u is about 2^-32 in one, 1 - u about 2^-28 in the other. */
static void check_against_exact(const struct noise_backend *path)
{
	static const uint64_t rare[] = { 30122512, 55374192 };

	(void)path;
	assert_exact_from(0, 1000);
	for (size_t i = 0; i < DP_COUNT(rare); i++) {
		assert_exact_from(rare[i], 1);
		assert_exact_from(rare[i] - 2 * NOISE_BATCH_BLOCKS, 3);
		assert_exact_from(rare[i] - 2 * NOISE_BATCH_BLOCKS, 5);
	}
}

static void normals_are_the_transform_of_words(void **state)
{
	(void)state;
	on_every_path(check_against_exact);
}

static const uint32_t edges[] = {
	0,          0x00000001, 0x000ffffe, 0x000fffff, 0x00100000, 0x00100001,
	0x00ffffff, 0x3fffffff, 0x40000000, 0x7ffffffe, 0x7fffffff, 0x80000000,
	0x80000001, 0x80000002, 0x800ffffe, 0x800fffff, 0x80100000, 0x80100001,
	0x80ffffff, 0xbfffffff, 0xc0000000, 0xfffffffe, 0xffffffff, 0x55555555,
};

/* Radius and angle at every pair of edges, with the smallest and largest further
 * words. */
static void check_edges(const struct noise_backend *path)
{
	static const uint32_t furthers[] = { 0, 1, 0x40000000, 0x7fffffff, 0xffffffff };
	uint32_t word[NOISE_BATCH_WORDS] = { 0 }, more[NOISE_BATCH_WORDS];
	float z[NOISE_BATCH_WORDS];

	for (size_t f = 0; f < DP_COUNT(furthers); f++)
		for (size_t a = 0; a < DP_COUNT(edges); a++) {
			for (size_t j = 0; j < NOISE_BATCH_PAIRS; j++) {
				word[j] = edges[j % DP_COUNT(edges)];
				word[NOISE_BATCH_PAIRS + j] = edges[a];
				more[j] = more[NOISE_BATCH_PAIRS + j] = furthers[f];
			}
			path->transform(word, more, z);
			assert_true(batch_error(word, more, z) < 1);
		}
}

/* Near u = 1 a float shows whether the further word was used. */
static void check_limit(const struct noise_backend *path)
{
	uint32_t word[NOISE_BATCH_WORDS], low[NOISE_BATCH_WORDS] = { 0 }, high[NOISE_BATCH_WORDS];
	float a[NOISE_BATCH_WORDS], b[NOISE_BATCH_WORDS];

	for (int j = 0; j < NOISE_BATCH_WORDS; j++) {
		word[j] = j % 2 ? 0x00100000 : 0x000ffffe;
		high[j] = 0x7fffffff;
	}
	path->transform(word, low, a);
	path->transform(word, high, b);
	for (int j = 0; j < NOISE_BATCH_PAIRS; j++)
		assert_true(j % 2 ? a[j] == b[j] : a[j] < b[j]);
}

static void further_words_below_the_limit(void **state)
{
	(void)state;
	on_every_path(check_limit);
}

static void edges_of_the_transform(void **state)
{
	(void)state;
	on_every_path(check_edges);
}

/* The chance of u < 2^-50 is 2^-50 and gives 8.3; the further words are what reaches
 * it: the smallest u is 2^-62, the words without them end at 6.6. */
static void check_far_tail(const struct noise_backend *path)
{
	uint32_t word[NOISE_BATCH_WORDS] = { 0 }, more[NOISE_BATCH_WORDS] = { 0 };
	float z[NOISE_BATCH_WORDS];

	word[0] = word[1] = word[2] = 0x80000000;
	more[1] = 1 << 12; /* u = 2^-50 */
	more[2] = 0x7fffffff;
	word[NOISE_BATCH_PAIRS + 1] = 1; /* negated */
	path->transform(word, more, z);
	assert_true(fabs(z[0] - sqrt(2 * 62 * M_LN2)) < 1e-5);
	assert_true(fabs(z[1] + sqrt(2 * 50 * M_LN2)) < 1e-3);
	assert_true(fabs(z[2] - sqrt(2 * 31 * M_LN2)) < 1e-5);
}

static void tails_reach_beyond_eight(void **state)
{
	(void)state;
	on_every_path(check_far_tail);
}

/* noise_add_normals() adds what noise_fill_normals() gives, whatever the count. */
static void check_add(const struct noise_backend *path)
{
	static const size_t counts[] = { 0, 1, 63, 64, 65, 1000, 8192 };
	bool fma = strcmp(path->name, "portable") != 0;
	float z[8192], w[8193], zero[8192];

	for (size_t i = 0; i < DP_COUNT(counts); i++) {
		size_t count = counts[i];
		struct noise_stream a, b, c;

		noise_stream_init_seeded(&a, 5, NOISE_GRADIENT);
		c = b = a;
		for (size_t j = 0; j <= count; j++)
			w[j] = (float)j / 7 - 3;
		memset(zero, 0, sizeof zero);
		noise_fill_normals(&a, z, count);
		noise_add_normals(&b, 0.37f, w, count);
		noise_add_normals(&c, 1, zero, count);
		assert_memory_equal(zero, z, count * sizeof *z);
		for (size_t j = 0; j < count; j++) {
			float old = (float)j / 7 - 3, want = fmaf(0.37f, z[j], old);

			assert_true(fma ? w[j] == want
					: fabsf(w[j] - want) <= 1e-6f * fabsf(old) + 1e-6f);
		}
		assert_true(w[count] == (float)count / 7 - 3);
		assert_int_equal(a.counter, b.counter);
	}
}

static void add_is_normals_added(void **state)
{
	(void)state;
	on_every_path(check_add);
}

/* ---- distribution ---- */

/* P(abs z > k). */
static double two_tails(double k)
{
	return erfc(k / M_SQRT2);
}

/* Moments 1 to 6 and the numbers beyond 1 to 5 standard deviations, each within four of
 * its own standard errors. */
static void moments_and_tails(void **state)
{
	static const double moment[13] = { 1, 0, 1, 0, 3, 0, 15, 0, 105, 0, 945, 0, 10395 };
	double sum[7] = { 0 }, beyond[7] = { 0 }, score;
	float z[CHUNK];
	struct noise_stream n;
	double count = 0;

	(void)state;
	noise_stream_init_seeded(&n, 2024, NOISE_GRADIENT);
	for (; count < MANY; count += CHUNK) {
		noise_fill_normals(&n, z, CHUNK);
		for (int i = 0; i < CHUNK; i++) {
			double x = z[i], x2 = x * x;

			sum[1] += x;
			sum[2] += x2;
			sum[3] += x * x2;
			sum[4] += x2 * x2;
			sum[5] += x * x2 * x2;
			sum[6] += x2 * x2 * x2;
			if (x2 > 1)
				beyond[(int)fmin(sqrt(x2), 6)]++;
		}
	}
	for (int p = 1; p <= 6; p++) {
		double sd = sqrt(moment[2 * p] - moment[p] * moment[p]);

		score = (sum[p] / count - moment[p]) / sd * sqrt(count);
		assert_true(fabs(score) < 4);
	}
	for (int k = 5; k >= 1; k--) {
		double want = two_tails(k) * count;

		beyond[k] += beyond[k + 1];
		score = (beyond[k] - want) / sqrt(want * (1 - two_tails(k)));
		assert_true(fabs(score) < 4);
	}
	assert_true(beyond[5] > 0);
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance of a million; 1.95 is passed in one of a thousand. */
static void kolmogorov_smirnov(void **state)
{
	float *z = malloc(MILLION * sizeof *z);
	double worst = 0;
	struct noise_stream n;

	(void)state;
	assert_non_null(z);
	noise_stream_init_seeded(&n, 99, NOISE_GRADIENT);
	noise_fill_normals(&n, z, MILLION);
	qsort(z, MILLION, sizeof *z, by_value);
	for (int i = 0; i < MILLION; i++) {
		double p = erfc(-z[i] / M_SQRT2) / 2;

		worst = fmax(worst, fmax(p - i / 1e6, (i + 1) / 1e6 - p));
	}
	free(z);
	assert_true(worst * sqrt(MILLION) < 1.95);
}

/* ---- independence ---- */

/* Correlations of x with y, and of x^2 with y^2, over a million pairs, in standard
 * errors. */
static void assert_unrelated(const float *x, const float *y)
{
	double xy = 0, squares = 0;

	for (int i = 0; i < MILLION; i++) {
		double a = x[i], b = y[i];

		xy += a * b;
		squares += (a * a - 1) * (b * b - 1) / 2;
	}
	assert_true(fabs(xy) / sqrt(MILLION) < 4);
	assert_true(fabs(squares) / sqrt(MILLION) < 4);
}

static float *million_of(uint64_t seed, enum noise_purpose use)
{
	float *z = malloc((MILLION + NOISE_BATCH_WORDS) * sizeof *z);
	struct noise_stream n;

	assert_non_null(z);
	noise_stream_init_seeded(&n, seed, use);
	noise_fill_normals(&n, z, MILLION + NOISE_BATCH_WORDS);
	return z;
}

static void streams_are_independent(void **state)
{
	float *z = million_of(1, NOISE_GRADIENT), *other;

	(void)state;
	other = million_of(2, NOISE_GRADIENT);
	assert_unrelated(z, other);
	free(other);
	other = million_of(1, NOISE_INIT_WEIGHTS);
	assert_unrelated(z, other);
	free(other);
	/* the seed and use change places */
	other = million_of(2, NOISE_LOTS);
	assert_unrelated(z, other);
	free(other);
	free(z);
}

/* Neighbours, the two of a pair (half of those at a distance of 32), and batches. */
static void normals_of_a_stream_are_independent(void **state)
{
	static const int lags[] = { 1, 2, 4, 8, 16, 32, 64 };
	float *z = million_of(3, NOISE_GRADIENT);

	(void)state;
	for (size_t i = 0; i < DP_COUNT(lags); i++)
		assert_unrelated(z, z + lags[i]);
	free(z);
}

/* The angle of a pair is uniform, for small and large radii alike: chi-squared with 2 x
 * 63 degrees of freedom stays below 185 in 999 of 1000 cases. */
static void angles_are_uniform(void **state)
{
	enum {
		SECTORS = 64
	};
	double count[2][SECTORS] = { { 0 } }, total[2] = { 0 }, chi2 = 0;
	float *z = million_of(4, NOISE_GRADIENT);

	(void)state;
	for (int i = 0; i < MILLION / NOISE_BATCH_WORDS * NOISE_BATCH_WORDS; i++) {
		double x = z[i], y = z[i + NOISE_BATCH_PAIRS], turn;
		int large = x * x + y * y > 2 * M_LN2;

		if (i % NOISE_BATCH_WORDS >= NOISE_BATCH_PAIRS)
			continue;
		turn = atan2(y, x) / (2 * M_PI) + 0.5;
		count[large][(int)(turn * SECTORS) % SECTORS]++;
		total[large]++;
	}
	free(z);
	for (int large = 0; large < 2; large++)
		for (int s = 0; s < SECTORS; s++) {
			double want = total[large] / SECTORS;

			chi2 += pow(count[large][s] - want, 2) / want;
		}
	assert_true(chi2 < 185);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fips_197),
		cmocka_unit_test(words_as_openssl_makes_them),
		cmocka_unit_test(counts_of_any_size),
		cmocka_unit_test(same_seed_same_numbers),
		cmocka_unit_test(secure_streams_differ),
		cmocka_unit_test(unknown_paths),
		cmocka_unit_test(normals_are_the_transform_of_words),
		cmocka_unit_test(edges_of_the_transform),
		cmocka_unit_test(further_words_below_the_limit),
		cmocka_unit_test(tails_reach_beyond_eight),
		cmocka_unit_test(add_is_normals_added),
		cmocka_unit_test(moments_and_tails),
		cmocka_unit_test(kolmogorov_smirnov),
		cmocka_unit_test(streams_are_independent),
		cmocka_unit_test(normals_of_a_stream_are_independent),
		cmocka_unit_test(angles_are_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
