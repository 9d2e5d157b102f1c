/* made_journal.c - a journal of one study made by hand. */
#include "base/fs.h"
#include "base/json.h"
#include "tests/unit/support/made_journal.h"
#include "reports/model/report_data.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char gaussian[] = STUDY("mechanism: gaussian, sigma: sigma, delta: 1e-5", "");
const char persons[] = STUDY("mechanism: gaussian, sigma: sigma, delta: 1e-5, group: 3", "");
const char svt[] = STUDY("mechanism: svt, cutoff: 1, scale: sigma", "");
const char sgd[] =
	STUDY("mechanism: dp-sgd, sampling: poisson, records: 10000, lot: 100, epochs: 2, "
	      "noise_multiplier: sigma, delta: 1e-5, accountant: rdp",
	      "data: public\n");

const char pipeline[] =
	STUDY("compose: [{mechanism: gaussian, sigma: 20, times: 3}, {mechanism: dp-sgd, "
	      "sampling: without-replacement, records: 10000, lot: 100, steps: 200, "
	      "noise_multiplier: sigma}], delta: 1e-5",
	      "");
const char gaussians[] =
	STUDY("compose: [{mechanism: gaussian, sigma: sigma, times: 2}], delta: 1e-5, "
	      "accountant: rdp",
	      "");
const char program[] = STUDY("command: [./accountant, -q], delta: 1e-5", "");

/* Every training is a path over epochs. */
const char walk[] = "study: s\nseed: " SEED "\n"
		    "trainer: {command: [x], runs: 3, path: {parameter: epochs, points: 6}}\n"
		    "parameters: {epochs: {type: int, range: [1, 64]}}\n"
		    "objectives:\n"
		    "  epsilon: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 10000,\n"
		    "    lot: 100, epochs: epochs, noise_multiplier: 4, delta: 1e-5,\n"
		    "    accountant: rdp}}\n"
		    "  error: {metric: accuracy, of: \"1 - accuracy\"}\n"
		    "anti_ideal: {epsilon: 10, error: 1}\n"
		    "search: {method: random, evaluations: 10, front: observed, max_cost: 300}\n";

/* Which versions up to 0.2 accepted: a larger n is more private. */
const char falling[] = "study: s\nseed: " SEED "\n"
		       "trainer: {command: [x], runs: 3, path: {parameter: n, points: 6}}\n"
		       "parameters: {n: {type: int, range: [1, 64]}}\n"
		       "objectives:\n"
		       "  epsilon: {privacy: {mechanism: gaussian, sigma: n, delta: 1e-5}}\n"
		       "  error: {metric: accuracy, of: \"1 - accuracy\"}\n"
		       "anti_ideal: {epsilon: 10, error: 1}\n"
		       "search: {method: random, evaluations: 10, front: observed}\n";

static char folder[4096];
static struct dp_journal *journal;
static uint32_t seq;
struct report_data report;
struct report_model facts;
static const char *study_text;
struct dp_study *spec;
double made_majority;

static void wake(void *arg)
{
	(void)arg;
}

void put(struct dp_event e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e.seq = seq;
	e.time_us = 1700000000000000 + seq * 1000;
	assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
	assert_true(dp_journal_append(journal, 1, seq++, bytes.data, bytes.len) > 0);
	dp_buf_free(&bytes);
}

void begin(const char *text)
{
	struct dp_journal_options options = { 0 };
	struct dp_diagnostics problems = { 0 };
	struct dp_err err;

	snprintf(folder, sizeof folder, "%s/dpareto-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	seq = 0;
	study_text = text;
	assert_int_equal(dp_study_parse(text, strlen(text), "f", "/", &spec, &problems, &err),
			 DP_OK);
	dp_diagnostics_free(&problems);
	assert_int_equal(dp_journal_open(folder, &options, &journal, &err), DP_OK);
	assert_int_equal(dp_journal_start_writer(journal, wake, NULL, &err), DP_OK);
	put((struct dp_event){ .type = DP_EV_STUDY_CREATED,
			       .study_created = { .name = spec->name,
						  .text = text,
						  .path = "/secret/" SEED ".yaml",
						  .dir = "/" } });
}

void propose(uint32_t trial, double sigma)
{
	put((struct dp_event){
		.type = DP_EV_TRIAL_PROPOSED,
		.trial = trial,
		.trial_proposed = {
			.point = { .source = "random", .params = &sigma, .nparams = 1 } } });
}

/* What the three runs were after 1 and after 4 epochs; `all` has room for it. */
static void attempt_ways(struct dp_event *e, const double accuracy[6], double *all)
{
	static const double at[] = { 1, 4 };
	static double epsilon[2];

	for (int i = 0; i < 6; i++) {
		all[2 * i] = accuracy[i];
		all[2 * i + 1] = 400;
	}
	for (int i = 0; i < 2; i++)
		epsilon[i] = epsilon_at_order(at[i]);
	e->attempt_ended.checkpoints = at;
	e->attempt_ended.ncheckpoints = 2;
	e->attempt_ended.checkpoint_metrics = all;
	e->attempt_ended.ncheckpoint_metrics = 12;
	e->attempt_ended.checkpoint_epsilons = epsilon;
	e->attempt_ended.ncheckpoint_epsilons = 2;
}

/* An attempt that makes all three runs; `accuracy` NULL: it reports nothing, of `ways`:
 * nothing on its way. */
static void attempt_on_way(uint32_t trial, uint32_t number, enum dp_end_class end,
			   const double *accuracy, const double *ways, const char *message)
{
	static const char *const names[] = { "accuracy", "test_records", "majority_accuracy" };
	int told = made_majority > 0 ? 3 : 2;
	static const uint32_t runs[] = { 0, 1, 2 };
	double metrics[9], all[12];
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = trial,
			      .run = DP_RUN_ALL,
			      .attempt = number,
			      .reason = message,
			      .attempt_ended = { .end_class = end,
						 .charged = true,
						 .exit = { .kind = DP_EXIT_CODE,
							   .start_seconds = 1.7e9,
							   .end_seconds = 1.7e9 + 2,
							   .cpu_seconds = 1.5 } } };

	put((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
			       .trial = trial,
			       .run = DP_RUN_ALL,
			       .attempt = number });
	for (int i = 0; (accuracy || ways) && i < 3; i++) {
		metrics[told * i] = accuracy ? accuracy[i] : NAN;
		metrics[told * i + 1] = 400;
		if (told > 2)
			metrics[told * i + 2] = made_majority;
		e.attempt_ended.metric_names = names;
		e.attempt_ended.nmetrics = (uint32_t)told;
		e.attempt_ended.runs = runs;
		e.attempt_ended.nruns = 3;
		e.attempt_ended.metrics = metrics;
	}
	if (ways)
		attempt_ways(&e, ways, all);
	put(e);
}

void attempt(uint32_t trial, uint32_t number, enum dp_end_class end, const double *accuracy,
	     const char *message)
{
	attempt_on_way(trial, number, end, accuracy, NULL, message);
}

double epsilon_at_order(double sigma)
{
	struct dp_epsilon e;

	assert_int_equal(dp_objective_epsilon(spec, 0, &sigma, &e, NULL), DP_OK);
	return e.epsilon;
}

void ended(uint32_t trial, const char *state, double epsilon, double error)
{
	double y[] = { epsilon, error };

	put((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
			       .trial = trial,
			       .trial_ended = { .status = state,
						.objectives = y,
						.nobjectives = isnan(epsilon) ? 0 : 2 } });
}

void evaluate(uint32_t trial, double sigma, double a, double b, double c)
{
	double accuracy[] = { a, b, c };

	propose(trial, sigma);
	attempt(trial, 0, DP_END_OK, accuracy, NULL);
	ended(trial, "ok", epsilon_at_order(sigma), 1 - (a + b + c) / 3);
}

void load(bool public)
{
	const char *const studies[] = { "s" };
	struct dp_err err;

	put((struct dp_event){ .type = DP_EV_STUDY_MOVED, .study_moved = { .state = "finished" } });
	dp_journal_close(journal);
	journal = NULL;
	report.is_public = public;
	assert_int_equal(report_data_load(&report, folder, studies, 1, &err), DP_OK);
}

int finish(void **state)
{
	(void)state;
	if (journal)
		dp_journal_close(journal);
	journal = NULL;
	report_model_free(&facts);
	report_data_free(&report);
	memset(&report, 0, sizeof report);
	dp_study_free(spec);
	spec = NULL;
	made_majority = 0;
	return folder[0] ? dp_remove_tree(folder, NULL) : 0;
}

void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

const struct report_model *find_facts(void)
{
	struct dp_err err = { .msg = "" };

	report_model_free(&facts);
	if (report_model_build(&report, NULL, 0, &facts, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return &facts;
}

json_t *fact(const char *path)
{
	json_t *v = facts.json;

	for (const char *at = path; *at; at += strcspn(at, "/"), at += *at == '/') {
		char key[64];

		snprintf(key, sizeof key, "%.*s", (int)strcspn(at, "/"), at);
		v = json_is_array(v) ? json_array_get(v, strtoul(key, NULL, 10))
				     : json_object_get(v, key);
		if (!v)
			fail_msg("report.json has no %s", path);
	}
	return v;
}

double fact_number(const char *path)
{
	double x;

	return dp_json_to_real(fact(path), &x) ? x : NAN;
}

int64_t fact_count(const char *path)
{
	return json_is_integer(fact(path)) ? json_integer_value(fact(path)) : -1;
}

const char *fact_text(const char *path)
{
	return json_string_value(fact(path));
}

const struct report_model *walk_facts(void)
{
	static const double first[] = { 0.6, 0.5, 0.7, 0.8, 0.8, 0.8 };
	static const double second[] = { 0.5, 0.5, 0.5, 0.84, 0.85, 0.86 };
	static const double end[] = { 0.9, 0.9, 0.9 };

	begin(walk);
	propose(0, 64);
	attempt_on_way(0, 0, DP_END_OK, end, first, NULL);
	ended(0, "ok", epsilon_at_order(64), 0.1);
	propose(1, 32);
	attempt_on_way(1, 0, DP_END_TIMEOUT, NULL, second, "too long");
	ended(1, "failed", NAN, NAN);
	load(false);
	return find_facts();
}

char *whole(enum doc_format form)
{
	struct doc *d = doc_new(form);
	struct dp_buf out = DP_BUF_INIT;

	report_document_write(d, find_facts());
	doc_render(d, &out);
	dp_json_dump(&out, facts.json, 0);
	doc_free(d);
	return dp_buf_detach(&out);
}
