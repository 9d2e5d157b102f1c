/* test_private_selection.c - private selection: what its files may say, the worst setting of a
 * prior, what is shown of it, its course, and an attack on all of it together. */
#include "policy/policy.h"
#include "state/state_json.h"
#include "optimize/propose/proposer.h"
#include "tests/unit/support/propose_once.h"

#include "tests/unit/support/attack.h"
#include "tests/unit/support/policy_requests.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/private_selection.h"
#include "study/space.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- files ---- */

#define GAUSSIAN "{mechanism: gaussian, sigma: sigma, delta: 1e-5}"
#define RELEASE  "release: {records: 1000, sigma: 0.01}"

/* Parts of a study file; NULL: as in `plain`. */
struct file {
	const char *top, *trainer, *parameters, *privacy, *utility, *search;
};

static const struct file plain = {
	.top = "",
	.trainer = "",
	.parameters = "x: {type: float, range: [0, 1]}, sigma: {fixed: 5}",
	.privacy = GAUSSIAN,
	.utility = "metric: a, goal: maximize, " RELEASE,
	.search = "rounds: {logarithmic: 20}",
};

static const char *file_text(const struct file *f)
{
	static char text[2000];
#define OR_PLAIN(member) (f->member ? f->member : plain.member)

	snprintf(text, sizeof text,
		 "study: s\ntrainer: {command: [x]%s}\nparameters: {%s}\nobjectives: {e: "
		 "{privacy: %s}, u: {%s}}\nanti_ideal: {e: 10, u: 0}\nsearch: {method: "
		 "select, %s}\n%s",
		 OR_PLAIN(trainer), OR_PLAIN(parameters), OR_PLAIN(privacy), OR_PLAIN(utility),
		 OR_PLAIN(search), OR_PLAIN(top));
#undef OR_PLAIN
	return text;
}

/* NULL with the first mistake in `why`. */
static struct dp_study *file_read(const struct file *f, char why[600])
{
	const char *text = file_text(f);
	struct dp_diagnostics problems = { 0 };
	struct dp_study *s = NULL;
	struct dp_err err;

	why[0] = '\0';
	if (dp_study_parse(text, strlen(text), "f", "/", &s, &problems, &err) != DP_OK) {
		snprintf(why, 600, "%s", err.msg);
		s = NULL;
	}
	dp_diagnostics_free(&problems);
	return s;
}

static struct dp_study *file_good(const struct file *f)
{
	char why[600];
	struct dp_study *s = file_read(f, why);

	if (!s)
		fail_msg("%s\n%s", why, file_text(f));
	return s;
}

static void slurm_config_key_error(struct file f, const char *with)
{
	char why[600];
	struct dp_study *s = file_read(&f, why);

	dp_study_free(s);
	if (s || !strstr(why, with))
		fail_msg("'%s' is not '%s' of\n%s", why, with, file_text(&f));
}

/* Whatever would break a condition of the theorems is refused. */
static void conditions_are_enforced(void **state)
{
	const char *law = "rounds: {geometric: 5}, ";
	static const char *const search[][2] = {
		{ "evaluations: 5", "'evaluations' is not possible" },
		{ "max_time: 1h", "'max_time' is not possible" },
		{ "cost: none", "'cost' is not possible" },
		{ "budget: {epsilon: 1, delta: 1e-5}", "'budget' is not possible" },
		{ "front: denoised", "'front' is not possible" },
		{ "initial_from: t", "'initial_from' " },
	};
	static const char *const trainer[][2] = {
		{ ", timeout: 1h", "'timeout' is not possible" },
		{ ", stall: 1h", "'stall' is not possible" },
		{ ", memory: 1G", "'memory' is not possible" },
		{ ", max_failures: 3", "'max_failures' is not possible" },
		{ ", retries: 1", "tries no failed training again" },
	};
	char text[200];
	struct dp_study *s;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(search); i++) {
		snprintf(text, sizeof text, "%s%s", law, search[i][0]);
		slurm_config_key_error((struct file){ .search = text }, search[i][1]);
	}
	for (size_t i = 0; i < DP_COUNT(trainer); i++)
		slurm_config_key_error((struct file){ .trainer = trainer[i][0] }, trainer[i][1]);
	slurm_config_key_error((struct file){ .top = "seed: 7\n" }, "a 'seed' has no say");
	slurm_config_key_error((struct file){ .top = "seeds: fixed\n" }, "'seeds: fixed' is not");
	slurm_config_key_error((struct file){ .top = "constraints: {a: \">= 0.5\"}\n" },
			       "'constraints' are not");
	slurm_config_key_error((struct file){ .utility = "metric: a" },
			       "needs 'release' on objective 'u'");
	slurm_config_key_error((struct file){ .privacy = "{mechanism: laplace, scale: sigma}" },
			       "which is 0 here");
	slurm_config_key_error((struct file){ .privacy = "{command: [x], delta: 1e-5}" },
			       "does not tell");
	s = file_good(&(struct file){ .trainer = ", retries: 0" });
	dp_study_free(s);
	s = file_good(&plain);
	assert_int_equal(s->trainer.retries, 0); /* not the default of others */
	dp_study_free(s);
}

static void laws_are_read(void **state)
{
	static const struct {
		const char *text;
		enum dp_selection_law law;
		double mean, eta;
	} laws[] = {
		{ "poisson: 0.5", DP_SELECTION_POISSON, 0.5, NAN },
		{ "geometric: 3", DP_SELECTION_NEGATIVE_BINOMIAL, 3, 1 },
		{ "logarithmic: 7", DP_SELECTION_NEGATIVE_BINOMIAL, 7, 0 },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(laws); i++) {
		struct dp_selection law;
		struct dp_study *s;
		struct dp_err err;
		char text[100];

		snprintf(text, sizeof text, "rounds: {%s}", laws[i].text);
		s = file_good(&(struct file){ .search = text });
		assert_int_equal(dp_select_rounds_law(s, &law, &err), DP_OK);
		assert_true(law.law == laws[i].law && law.mean == laws[i].mean);
		assert_true(isnan(laws[i].eta) || law.eta == laws[i].eta);
		dp_study_free(s);
	}
	slurm_config_key_error((struct file){ .search = "parallel: 2" },
			       "'search.rounds' is missing");
	slurm_config_key_error((struct file){ .search = "rounds: {geometric: 3, poisson: 3}" },
			       "needs one law");
	slurm_config_key_error((struct file){ .search = "rounds: {geometric: 1}" }, "above 1");
	slurm_config_key_error((struct file){ .search = "rounds: {uniform: 3}" }, "unknown key");
}

/* ---- the worst setting ---- */

#define SGD                                                                                        \
	"{mechanism: dp-sgd, sampling: without-replacement, records: 2000, lot: lot, "             \
	"epochs: epochs, noise_multiplier: noise, delta: 1e-5}"
#define SPACE                                                                                      \
	"lot: {type: int, range: [30, 45]}, epochs: {type: int, range: [1, 9]}, noise: "           \
	"{type: float, range: [0.8, 3]}"

static const double orders[] = { 1.5, 2, 3, 5, 9, 17, 40 };

/* The curve of any one setting that can be drawn lies below; that of the worst corner
 * does not by much. */
static void curve_is_the_largest(void **state)
{
	struct dp_study *s = file_good(&(struct file){ .parameters = SPACE, .privacy = SGD });
	struct dp_renyi_cache *m = dp_renyi_cache_new();
	double worst[DP_COUNT(orders)], k[DP_COUNT(orders)], x[3];
	bool touched[DP_COUNT(orders)] = { false };
	struct dp_composition_items uses;
	struct dp_err err;
	size_t settings;

	(void)state;
	assert_non_null(m);
	assert_int_equal(
		dp_select_worst_case_renyi(s, orders, DP_COUNT(orders), worst, &settings, &err),
		DP_OK);
	assert_int_equal(settings, 16); /* of lots; epochs and noise have a worst end */
	for (uint32_t i = 0; i < 100 + 16; i++) {
		dp_space_sample(s, i, false, x);
		if (i >= 100) {
			x[0] = 30 + (double)(i - 100);
			x[1] = 9;
			x[2] = 0.8;
		}
		assert_int_equal(dp_accounting_items(s, 0, x, NAN, &uses, &err), DP_OK);
		assert_int_equal(dp_privacy_renyi_curve(m, uses.items, uses.n, orders,
							DP_COUNT(orders), k, &err),
				 DP_OK);
		for (size_t j = 0; j < DP_COUNT(orders); j++) {
			assert_true(k[j] <= worst[j]);
			touched[j] |= k[j] == worst[j];
		}
	}
	for (size_t j = 0; j < DP_COUNT(orders); j++)
		assert_true(touched[j]);
	dp_renyi_cache_free(m);
	dp_study_free(s);
}

#define CALIBRATED(target)                                                                         \
	"lot: {type: int, range: [30, 33]}, epochs: {fixed: 3}, e0: {type: float, "                \
	"range: [0.5, 1]}, noise: {calibrate: {epsilon: " target ", mechanism: dp-sgd, "           \
	"sampling: without-replacement, records: 2000, lot: lot, epochs: epochs, "                 \
	"delta: "                                                                                  \
	"1e-5}}"

/* A target that varies is worst where it is largest; what noise makes up for is tried. */
static void calibrated_noise_is_followed(void **state)
{
	double k[2][DP_COUNT(orders)];
	size_t settings[2];
	struct dp_err err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct dp_study *s = file_good(&(struct file){
			.parameters = i ? CALIBRATED("1") : CALIBRATED("e0"), .privacy = SGD });

		assert_int_equal(dp_select_worst_case_renyi(s, orders, DP_COUNT(orders), k[i],
							    &settings[i], &err),
				 DP_OK);
		assert_int_equal(settings[i], 4);
		dp_study_free(s);
	}
	/* a little more, since solved noise follows targets no more evenly than that */
	for (size_t j = 0; j < DP_COUNT(orders); j++)
		assert_true(k[0][j] > k[1][j] && k[0][j] < 1.02 * k[1][j]);
}

/* What nobody could find the largest of is refused. */
static void unknown_worst_is_refused(void **state)
{
	struct file f = { .parameters =
				  "lot: {type: int, range: [1, 2000]}, epochs: {fixed: 3}, noise: "
				  "{fixed: 1}",
			  .privacy = SGD };

	(void)state;
	slurm_config_key_error(f, "among more than 1024 settings");
	f.parameters = "d: {type: float, range: [1e-9, 1e-5]}, sigma: {fixed: 5}";
	f.privacy = "{mechanism: gaussian, sigma: sigma, delta: d}";
	slurm_config_key_error(f, "must not be a parameter");
	f.parameters = "q: {type: float, range: [1, 9]}";
	f.privacy = "{compose: [{mechanism: gaussian, sigma: q}, {mechanism: gaussian, "
		    "sigma: 9, sensitivity: q}], delta: 1e-5}";
	slurm_config_key_error(f, "neither end of it is worst");
}

/* The figures of issue and paper: mu = 0.2, delta 1e-5. */
static void costs_what_the_paper_says(void **state)
{
	struct dp_study *s = file_good(&plain);
	struct dp_select_cost c;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_select_compute_cost(s, &c, &err), DP_OK);
	assert_true(fabs(c.training_epsilon - 0.79) < 0.01 &&
		    fabs(c.train_data_epsilon - 1.51) < 0.01 &&
		    fabs(c.composed_epsilon - 4.16) < 0.05);
	assert_true(c.epsilon == fmax(c.train_data_epsilon, c.eval_data_epsilon) &&
		    c.eval_data_epsilon > 0);
	assert_string_equal(c.theorem, "Papernot and Steinke 2022, Theorem 2");
	dp_study_free(s);
	/* twice the runs are two trainings */
	s = file_good(&(struct file){ .trainer = ", runs: 4" });
	assert_int_equal(dp_select_compute_cost(s, &c, &err), DP_OK);
	assert_true(c.training_epsilon > 1.6 && c.training_epsilon < 1.8); /* mu = 0.4 */
	dp_study_free(s);
	s = file_good(&(struct file){ .search = "rounds: {poisson: 20}" });
	assert_int_equal(dp_select_compute_cost(s, &c, &err), DP_OK);
	assert_string_equal(c.theorem, "Papernot and Steinke 2022, Theorem 6");
	assert_true(c.training_epsilon < c.train_data_epsilon &&
		    c.train_data_epsilon < c.composed_epsilon);
	dp_study_free(s);
}

/* ---- a whole study ---- */

struct play {
	struct dp_state state;
	struct dp_study_state *s;
	uint32_t seq;
	/* how a training goes: its class, and what it would release */
	enum dp_end_class (*train)(struct play *p, uint32_t trial, double *utility);
	struct dp_rng noise;
	double data;         /* of the toy data set */
	double result[4000]; /* of each training, by number */
};

static void play_apply(struct play *p, struct dp_event e)
{
	struct dp_err err;

	e.study = 1;
	e.seq = p->seq++;
	e.time_us = 1000000 + p->seq;
	if (dp_state_apply(&p->state, &e, &err) != DP_OK)
		fail_msg("%s: %s", dp_event_type_name(e.type), err.msg);
}

static void play_submit(struct play *p, const char *text, uint64_t number)
{
	char secret[65];

	snprintf(secret, sizeof secret, "%064llx", (unsigned long long)number + 1);
	p->seq = 0;
	play_apply(p, (struct dp_event){ .type = DP_EV_STUDY_CREATED,
					 .study_created = { .name = "s",
							    .text = text,
							    .path = "f",
							    .dir = "/",
							    .secret = secret } });
	p->s = dp_state_get_study(&p->state, 1);
}

static void play_propose(struct play *p)
{
	struct dp_history none = { 0 };
	struct dp_proposal found;
	double y[2] = { 0.5, NAN };
	struct dp_err err;

	if (p->s->ntrials == 0)
		assert_int_equal(propose_once(p->s->spec, &none, 0, NULL, &found, &err), DP_OK);
	else
		dp_space_sample(p->s->spec, p->s->ntrials, false, found.x);
	play_apply(p,
		   (struct dp_event){
			   .type = DP_EV_TRIAL_PROPOSED,
			   .trial = p->s->ntrials,
			   .trial_proposed = { .point = { .source = "select",
							  .params = found.x,
							  .nparams = (uint32_t)p->s->spec->nparams,
							  .privacy = y,
							  .nprivacy = 2 } } });
}

static void play_train(struct play *p, struct dp_event e)
{
	static const char *const names[] = { "a" };
	const uint32_t run = 0;
	double utility = NAN;

	play_apply(p, e);
	e.type = DP_EV_ATTEMPT_ENDED;
	e.attempt_ended.end_class = p->train(p, e.trial, &utility);
	e.attempt_ended.charged = true;
	e.reason = e.attempt_ended.end_class == DP_END_OK ? NULL : "because";
	e.attempt_ended.metric_names = names;
	e.attempt_ended.nmetrics = 1;
	e.attempt_ended.runs = &run;
	e.attempt_ended.nruns = 1;
	e.attempt_ended.metrics = &utility;
	play_apply(p, e);
}

/* Goes on until nothing is left to do. */
static void play_on(struct play *p)
{
	for (;;) {
		struct dp_step step;

		dp_policy_next_step(p->s, 2000000000, &step);
		if (step.kind == DP_STEP_RECORD)
			play_apply(p, dp_step_event(&step));
		else if (step.kind == DP_STEP_PROPOSE)
			play_propose(p);
		else if (step.kind == DP_STEP_ATTEMPT)
			play_train(p, dp_step_event(&step));
		else
			return;
	}
}

static void play_end(struct play *p)
{
	dp_state_free(&p->state);
}

/* The 3rd of every four works, and better ones come later. */
static enum dp_end_class train_some(struct play *p, uint32_t trial, double *utility)
{
	(void)p;
	*utility = 0.5 + trial * 1e-5;
	return trial % 4 == 0   ? DP_END_OK
	       : trial % 4 == 1 ? DP_END_DIVERGED
	       : trial % 4 == 2 ? DP_END_SIGNAL
				: DP_END_EXIT_CODE;
}

static enum dp_end_class train_none(struct play *p, uint32_t trial, double *utility)
{
	(void)p;
	(void)utility;
	return trial % 2 ? DP_END_DIVERGED : DP_END_EXIT_CODE;
}

static void law_is_drawn(void **state)
{
	struct play *p = calloc(1, sizeof *p);
	double sum = 0, first[2];
	uint32_t once = 0;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		play_submit(p, file_text(&(struct file){ .search = "rounds: {geometric: 4}" }), i);
		assert_true(p->s->evaluations >= 1);
		sum += p->s->evaluations;
		once += p->s->evaluations == 1;
		dp_space_sample(p->s->spec, 0, false, first);
		assert_true(p->s->spec->seed != 0);
		play_end(p);
	}
	/* mean 4 with a standard deviation of 3.5, once with probability 1/4 */
	assert_true(fabs(sum / 1000 - 4) < 0.5 && once > 190 && once < 310);
	free(p);
}

/* Failures pause nothing, count, and are not tried again; the best is published. */
static void course_is_unmoved(void **state)
{
	struct play *p = calloc(1, sizeof *p);
	const struct dp_trial *best;
	uint32_t n;

	(void)state;
	p->train = train_some;
	play_submit(p, file_text(&(struct file){ .search = "rounds: {poisson: 60}" }), 3);
	n = p->s->evaluations;
	play_on(p);
	assert_int_equal(p->s->status, DP_STUDY_FINISHED);
	assert_true(n > 30 && p->s->ntrials == n && !p->s->reason);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(p->s->trials[i]->nattempts, 1);
	best = dp_state_selected_trial(p->s);
	assert_int_equal(best->number, (n - 1) / 4 * 4);
	play_end(p);
	free(p);
}

/* That nothing came of it tells nothing more. */
static void nothing_selected(void **state)
{
	struct play *p = calloc(1, sizeof *p);
	char reason[500] = "";

	(void)state;
	p->train = train_none;
	for (uint64_t i = 0; i < 20; i++) {
		play_submit(p, file_text(&(struct file){ .search = "rounds: {poisson: 2}" }), i);
		play_on(p);
		assert_int_equal(p->s->status, DP_STUDY_FAILED);
		if (i > 0) /* none drawn, one failed, many failed: all the same */
			assert_string_equal(p->s->reason, reason);
		snprintf(reason, sizeof reason, "%s", p->s->reason);
		assert_int_equal(dp_state_public_view(p->s).state->ntrials, 0);
		play_end(p);
	}
	free(p);
}

/* All that can be asked for without a daemon, as one text. */
static char *shown_text(struct play *p)
{
	struct dp_public_state view = dp_state_public_view(p->s);
	const struct dp_study_state *s = view.state;
	json_t *trials = json_array(), *all;
	char *text;

	for (uint32_t i = 0; i < s->ntrials; i++)
		json_array_append_new(trials, dp_trial_json(view, s->trials[i], true, "/f"));
	all = json_pack("[o, o, o, i, i, s]", dp_state_result_json(view),
			dp_state_summary_json(view), trials, s->evaluations, s->next_seq,
			s->spec->secret || s->secret ? "secret" : "none");
	text = json_dumps(all, 0);
	json_decref(all);
	return text;
}

static void put_same(struct play *p, uint32_t trial)
{
	static const double same[] = { 0.25, 0 };

	/* where it lies and what it released are published: let them be the same */
	memcpy(p->s->trials[trial]->x, same, sizeof same);
	p->s->trials[trial]->objectives[1] = p->s->trials[trial]->metrics[0] = 0.75;
}

/* Two studies with different numbers of trainings look the same, at each stage. */
static void nothing_else_shows(void **state)
{
	struct play *p = calloc(1, sizeof *p);
	char *stage[3][2];
	uint32_t n[2];

	(void)state;
	p->train = train_some;
	for (uint64_t i = 0; i < 2; i++) {
		play_submit(p, file_text(&(struct file){ .search = "rounds: {poisson: 60}" }), i);
		n[i] = p->s->evaluations;
		stage[0][i] = shown_text(p);
		play_propose(p);
		stage[1][i] = shown_text(p);
		play_on(p);
		put_same(p, dp_state_selected_trial(p->s)->number);
		dp_state_public_view(p->s).state->front_valid = false;
		stage[2][i] = shown_text(p);
		play_end(p);
	}
	assert_true(n[0] != n[1]);
	for (int i = 0; i < 3; i++) {
		assert_string_equal(stage[i][0], stage[i][1]);
		free(stage[i][0]);
		free(stage[i][1]);
	}
	free(p);
}

static void asking_changes_nothing(void **state)
{
	static const enum policy_request never[] = { REQUEST_RETRY,  REQUEST_RETRY_FAILED,
						     REQUEST_CANCEL, REQUEST_ENQUEUE,
						     REQUEST_IMPORT, REQUEST_REEVALUATE };
	struct play *p = calloc(1, sizeof *p);
	struct dp_ev_study_amended set = { .evaluations = 9, .parallel = NAN, .priority = NAN };
	struct dp_transition_events out;
	struct dp_err err;

	(void)state;
	p->train = train_some;
	play_submit(p, file_text(&plain), 3);
	play_propose(p);
	for (size_t i = 0; i < DP_COUNT(never); i++) {
		uint32_t trial = 0;

		assert_int_equal(policy_request(p->s, never[i], &trial, NAN, &out, &err),
				 DP_E_INVALID);
		assert_non_null(strstr(err.msg, "private selection"));
	}
	assert_int_equal(dp_policy_amend(p->s, &set, &out, &err), DP_E_INVALID);
	set.evaluations = NAN;
	set.parallel = 3;
	assert_int_equal(dp_policy_amend(p->s, &set, &out, &err), DP_OK);
	play_apply(p, (struct dp_event){ .type = DP_EV_STUDY_MOVED,
					 .study_moved = { .state = "stopped" } });
	assert_int_equal(dp_policy_resume(p->s, &out, &err), DP_E_INVALID);
	play_end(p);
	free(p);
}

/* ---- the attack ---- */

enum {
	STUDIES = 1200
};
#define SIGMA 4.0
#define DELTA 1e-2

static const struct file toy = {
	.parameters = "x: {type: float, range: [0, 1]}, sigma: {fixed: 4}",
	.privacy = "{mechanism: gaussian, sigma: sigma, delta: 1e-2}",
	.search = "rounds: {geometric: 5}",
};

/* A training on a toy data set of one record, and its score, which follows from it. */
static enum dp_end_class train_toy(struct play *p, uint32_t trial, double *utility)
{
	p->result[trial] = p->data + SIGMA * dp_rng_normal(&p->noise);
	*utility = 1 / (1 + exp(-p->result[trial]));
	return DP_END_OK;
}

static enum dp_end_class train_bare(struct play *p, uint32_t trial, double *utility)
{
	p->result[trial] = p->data;
	*utility = 0.5;
	return DP_END_OK;
}

/* A lower bound of epsilon from what is published of each study on either data set. */
static double attacked(struct play *p)
{
	static double seen[2][STUDIES];
	const char *text = file_text(&toy);

	for (int with = 0; with < 2; with++)
		for (uint64_t i = 0; i < STUDIES; i++) {
			p->data = with;
			dp_rng_init(&p->noise, i, DP_RNG_TEST, (uint32_t)with, 0);
			play_submit(p, text, 2 * i + (uint64_t)with);
			play_on(p);
			seen[with][i] = p->result[dp_state_selected_trial(p->s)->number];
			play_end(p);
		}
	return attack_epsilon(seen[1], seen[0], STUDIES, DELTA, ATTACK_SURE);
}

/* Through files, secrets, draws, journal records and the course of thousands of studies,
 * what is published stays within what is claimed. */
static void claim_holds(void **state)
{
	struct play *p = calloc(1, sizeof *p);
	struct dp_select_cost c;
	struct dp_err err;
	double found;

	(void)state;
	p->train = train_toy;
	play_submit(p, file_text(&toy), 0);
	assert_int_equal(dp_select_compute_cost(p->s->spec, &c, &err), DP_OK);
	play_end(p);
	found = attacked(p);
	print_message("claimed %.3f, one %.3f; found at least %.3f\n", c.train_data_epsilon,
		      c.training_epsilon, found);
	assert_true(found <= c.train_data_epsilon);
	/* a mutant: no noise */
	p->train = train_bare;
	found = attacked(p);
	print_message("without noise: at least %.3f\n", found);
	assert_true(found > c.train_data_epsilon);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_enforced),
		cmocka_unit_test(laws_are_read),
		cmocka_unit_test(curve_is_the_largest),
		cmocka_unit_test(calibrated_noise_is_followed),
		cmocka_unit_test(unknown_worst_is_refused),
		cmocka_unit_test(costs_what_the_paper_says),
		cmocka_unit_test(law_is_drawn),
		cmocka_unit_test(course_is_unmoved),
		cmocka_unit_test(nothing_selected),
		cmocka_unit_test(nothing_else_shows),
		cmocka_unit_test(asking_changes_nothing),
		cmocka_unit_test(claim_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
