/* test_seeds.c - what run seeds and drawn settings follow from, and who decides that. */
#include "state/state.h"

#include "optimize/propose/proposer.h"
#include "tests/unit/support/propose_once.h"
#include "study/diagnostics.h"
#include "study/seeds.h"
#include "study/study.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define REST                                                                                       \
	"trainer: {command: [none]}\nparameters: {x: {type: float, range: [0, 1]}, "               \
	"y: {type: float, range: [1, 2]}}\nobjectives: {a: {metric: a}, b: {metric: "              \
	"b}}\nanti_ideal: {a: 2, b: 2}\n"
#define RANDOM REST "search: {method: random, evaluations: 9}\n"
#define SOBOL  REST "search: {method: dpareto, evaluations: 9, initial: 8, design: sobol}\n"
#define SELECT                                                                                     \
	"study: s\ntrainer: {command: [none]}\nparameters: {x: {type: float, range: "              \
	"[0, 1]}}\nobjectives:\n  e: {privacy: {mechanism: gaussian, sigma: 5, delta: "            \
	"1e-5}}\n  u: {metric: a, goal: maximize, release: {records: 5000, sigma: "                \
	"1e-3}}\nanti_ideal: {e: 10, u: 0}\nsearch: {method: select, rounds: {poisson: "           \
	"20}}\n"
#define STUDY(more, rest) "study: s\nseed: 7\n" more rest

enum {
	TRIALS = 8
};

static const char one[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
static const char two[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeefe";

/* A study as one record made it. */
static int create(struct dp_state *state, const char *text, const char *seeds, const char *secret,
		  struct dp_err *err)
{
	return dp_state_apply(state,
			      &(struct dp_event){ .type = DP_EV_STUDY_CREATED,
						  .study = 1,
						  .study_created = { .name = "s",
								     .text = text,
								     .path = "f",
								     .dir = "/",
								     .seeds = seeds,
								     .secret = secret } },
			      err);
}

static const struct dp_study *created(struct dp_state *state, const char *text, const char *seeds,
				      const char *secret)
{
	struct dp_err err = { 0 };

	memset(state, 0, sizeof *state);
	if (create(state, text, seeds, secret, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return dp_state_get_study(state, 1)->current_spec;
}

/* Run seeds and the first settings of a study. */
struct drawn {
	uint64_t seeds[TRIALS][2];
	double x[TRIALS][2];
};

static struct drawn drawn_by(const struct dp_study *s)
{
	struct drawn d = { 0 };

	for (uint32_t t = 0; t < TRIALS; t++) {
		struct dp_history none = { 0 };
		struct dp_proposal p;
		struct dp_err err = { 0 };

		for (uint32_t run = 0; run < 2; run++)
			d.seeds[t][run] = dp_study_run_seed(s, t, run);
		if (propose_once(s, &none, t, NULL, &p, &err) != DP_OK)
			fail_msg("%s", err.msg);
		memcpy(d.x[t], p.x, s->nparams * sizeof *p.x);
	}
	return d;
}

static struct drawn drawn(const char *text, const char *seeds, const char *secret)
{
	struct dp_state state;
	struct drawn d = drawn_by(created(&state, text, seeds, secret));

	dp_state_free(&state);
	return d;
}

static bool same(struct drawn a, struct drawn b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

/* Nothing of one study is in the other. */
static void assert_apart(struct drawn a, struct drawn b)
{
	for (int t = 0; t < TRIALS; t++)
		for (int k = 0; k < 2; k++) {
			assert_true(a.seeds[t][k] < 1ull << 53);
			assert_true(a.seeds[t][k] != b.seeds[t][k]);
			assert_true(a.x[t][k] != b.x[t][k] || a.x[t][k] == 0);
		}
}

/* Computed by another program, from the definition:
 * key = SHA-256(the secret's 64 characters and the seed's two words, 4 bytes each),
 * block = SHA-256(key, 0, run, trial, purpose), its first two words, high one first. */
static void known_answers(void **state)
{
	static const struct {
		const char *text;
		uint32_t trial, run;
		uint64_t seed;
	} runs[] = {
		{ STUDY("", RANDOM), 0, 0, 4136351266098342 },
		{ STUDY("", RANDOM), 0, 1, 938331590606674 },
		{ STUDY("", RANDOM), 1000000000, 2, 4428519574564409 },
		{ "study: s\n" RANDOM, 0, 0, 2137537440225435 },
		{ "study: s\nseed: 9007199254740991\n" RANDOM, 5, 0, 6012279392376093 },
	};
	struct dp_state s;
	struct drawn d;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(runs); i++) {
		const struct dp_study *study = created(&s, runs[i].text, "secret", one);

		assert_int_equal(dp_study_run_seed(study, runs[i].trial, runs[i].run),
				 runs[i].seed);
		dp_state_free(&s);
	}
	d = drawn(STUDY("", RANDOM), "secret", one);
	assert_true(d.x[0][0] == 0x1.3f33a68c43367p-1);
	assert_true(d.x[3][1] == 1 + 0x1.084b7f088a18fp-1);
}

static void secret_seeds_follow_from_the_secret(void **state)
{
	static const char *const texts[] = { STUDY("", RANDOM), STUDY("", SOBOL), SELECT };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		struct drawn d = drawn(texts[i], "secret", one);

		assert_true(same(d, drawn(texts[i], "secret", one)));
		assert_apart(d, drawn(texts[i], "secret", two));
	}
	/* and from the seed */
	assert_apart(drawn(STUDY("", RANDOM), "secret", one),
		     drawn("study: s\nseed: 8\n" RANDOM, "secret", one));
}

/* Whatever secret there is for other reasons. */
static void fixed_seeds_follow_from_the_seed(void **state)
{
	struct drawn d = drawn(STUDY("", RANDOM), "fixed", NULL);

	(void)state;
	for (uint32_t t = 0; t < TRIALS; t++)
		assert_int_equal(d.seeds[t][1], dp_run_seed(7, t, 1));
	assert_true(same(d, drawn(STUDY("data: public\n", RANDOM), "fixed", one)));
	assert_apart(d, drawn(STUDY("", RANDOM), "secret", one));
}

/* Of versions before 0.3: what they drew, also where the file now means secret seeds. */
static void old_records_mean_what_they_meant(void **state)
{
	struct drawn d = drawn(STUDY("", SOBOL), NULL, NULL);
	struct dp_state s;
	const struct dp_study *old;
	struct dp_rng r;
	uint64_t seed;

	(void)state;
	assert_true(same(d, drawn(STUDY("", SOBOL), "fixed", NULL)));
	old = created(&s, STUDY("", RANDOM), NULL, NULL);
	assert_true(dp_study_seed_mode(old) == DP_SEEDS_FIXED && dp_study_noise_exposed(old));
	dp_state_free(&s);

	/* a selection: settings of the secret, run seeds of a seed that is made of it */
	old = created(&s, SELECT, NULL, one);
	assert_true(dp_study_seed_mode(old) == DP_SEEDS_SECRET && !dp_study_noise_exposed(old));
	dp_rng_init_secret(&r, one, DP_RNG_SELECT, 0, 1);
	seed = dp_rng_u64(&r) >> 11;
	d = drawn_by(old);
	for (uint32_t t = 0; t < TRIALS; t++) {
		assert_int_equal(d.seeds[t][0], dp_run_seed(seed, t, 0));
		dp_rng_init_secret(&r, one, DP_RNG_SAMPLE, t, 0);
		assert_true(d.x[t][0] == dp_rng_uniform(&r));
	}
	dp_state_free(&s);
}

static void the_file_decides_then_data(void **state)
{
	static const struct {
		const char *text;
		enum dp_seed_mode seeds;
	} files[] = {
		{ STUDY("", RANDOM), DP_SEEDS_SECRET },
		{ STUDY("data: private\n", RANDOM), DP_SEEDS_SECRET },
		{ STUDY("data: public\n", RANDOM), DP_SEEDS_FIXED },
		{ STUDY("data: public\nseeds: secret\n", RANDOM), DP_SEEDS_SECRET },
		{ STUDY("seeds: fixed\n", RANDOM), DP_SEEDS_FIXED },
		{ SELECT, DP_SEEDS_SECRET },
		{ SELECT "data: public\n", DP_SEEDS_SECRET },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(files); i++) {
		struct dp_diagnostics problems = { 0 };
		struct dp_study *s;
		struct dp_err err;

		assert_int_equal(dp_study_parse(files[i].text, strlen(files[i].text), "f", "/", &s,
						&problems, &err),
				 DP_OK);
		assert_int_equal(dp_study_seed_mode(s), files[i].seeds);
		dp_diagnostics_free(&problems);
		dp_study_free(s);
	}
}

/* `data` may change while the study goes on; the mode does not. */
static void a_change_of_data_changes_no_seed(void **state)
{
	static const char *const change[] = { "data=private", "data=public" };
	static const char *const texts[] = { STUDY("data: public\n", RANDOM), STUDY("", RANDOM) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct dp_state s;
		struct drawn before = drawn_by(created(&s, texts[i], i ? "secret" : "fixed", one));
		struct dp_event e = { .type = DP_EV_STUDY_AMENDED,
				      .study = 1,
				      .seq = 1,
				      .study_amended = { .evaluations = NAN,
							 .parallel = NAN,
							 .priority = NAN,
							 .changes = &change[i],
							 .nchanges = 1 } };
		struct dp_err err = { 0 };
		const struct dp_study *now;

		assert_int_equal(dp_state_apply(&s, &e, &err), DP_OK);
		now = dp_state_get_study(&s, 1)->current_spec;
		assert_true(same(drawn_by(now), before));
		assert_true(now->public_data == (i == 1));
		assert_true(dp_study_noise_exposed(now) == (i == 0));
		dp_state_free(&s);
	}
}

static void bad_records_are_refused(void **state)
{
	static const struct {
		const char *seeds, *secret, *says;
	} bad[] = {
		{ "secret", NULL, "without the secret" },
		{ "secret", "0123", "without the secret" },
		{ "other", one, "no known kind" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(bad); i++) {
		struct dp_state s = { 0 };
		struct dp_err err = { 0 };

		assert_int_equal(create(&s, STUDY("", RANDOM), bad[i].seeds, bad[i].secret, &err),
				 DP_E_CORRUPT);
		assert_non_null(strstr(err.msg, bad[i].says));
		dp_state_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(secret_seeds_follow_from_the_secret),
		cmocka_unit_test(fixed_seeds_follow_from_the_seed),
		cmocka_unit_test(old_records_mean_what_they_meant),
		cmocka_unit_test(the_file_decides_then_data),
		cmocka_unit_test(a_change_of_data_changes_no_seed),
		cmocka_unit_test(bad_records_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
