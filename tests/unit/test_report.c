/* test_report.c - the facts of a report against hand computations, and what a public one
 * leaves out. */
#include "base/fs.h"
#include "base/json.h"
#include "privacy/privacy.h"
#include "reports/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED "987654321"

#define STUDY(objective, more)                                                           \
	"study: s\nseed: " SEED "\ntrainer: {command: [x], runs: 3}\n"                   \
	"parameters: {sigma: {type: float, range: [0.1, 100]}}\n"                        \
	"objectives:\n  epsilon: {privacy: {" objective "}}\n"                           \
	"  error: {metric: accuracy, of: \"1 - accuracy\"}\n"                            \
	"anti_ideal: {epsilon: 10, error: 1}\n"                                          \
	"search: {method: random, evaluations: 10}\n" more

static const char gaussian[] =
	STUDY("mechanism: gaussian, sigma: sigma, delta: 1e-5", "");
static const char persons[] =
	STUDY("mechanism: gaussian, sigma: sigma, delta: 1e-5, group: 3", "");
static const char svt[] = STUDY("mechanism: svt, cutoff: 1, scale: sigma", "");
static const char sgd[] = STUDY(
	"mechanism: dp-sgd, sampling: poisson, records: 10000, lot: 100, epochs: 2, "
	"noise_multiplier: sigma, delta: 1e-5, accountant: rdp",
	"data: public\n");

static const char pipeline[] =
	STUDY("compose: [{mechanism: gaussian, sigma: 20, times: 3}, {mechanism: dp-sgd, "
	      "sampling: without-replacement, records: 10000, lot: 100, steps: 200, "
	      "noise_multiplier: sigma}], delta: 1e-5",
	      "");
static const char program[] = STUDY("command: [./accountant, -q], delta: 1e-5", "");

/* Every training is a path over epochs. */
static const char walk[] =
	"study: s\nseed: " SEED "\n"
	"trainer: {command: [x], runs: 3, path: {parameter: epochs, points: 6}}\n"
	"parameters: {epochs: {type: int, range: [1, 64]}}\n"
	"objectives:\n"
	"  epsilon: {privacy: {mechanism: dp-sgd, sampling: poisson, records: 10000,\n"
	"    lot: 100, epochs: epochs, noise_multiplier: 4, delta: 1e-5,\n"
	"    accountant: rdp}}\n"
	"  error: {metric: accuracy, of: \"1 - accuracy\"}\n"
	"anti_ideal: {epsilon: 10, error: 1}\n"
	"search: {method: random, evaluations: 10, front: observed, max_cost: 300}\n";

/* ---- a journal made by hand ---- */

static char folder[4096];
static struct dp_journal *journal;
static uint32_t seq;
static struct report report;
static struct facts facts;
static const char *study_text;
static struct dp_study *spec;

static void wake(void *arg)
{
	(void)arg;
}

static void put(struct dp_event e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e.seq = seq;
	e.time = 1700000000000000 + seq * 1000;
	assert_int_equal(dp_event_encode(&e, &bytes, &err), DP_OK);
	assert_true(dp_journal_append(journal, 1, seq++, bytes.data, bytes.len) > 0);
	dp_buf_free(&bytes);
}

static void begin(const char *text)
{
	struct dp_journal_options options = { 0 };
	struct dp_problems problems = { 0 };
	struct dp_err err;

	snprintf(folder, sizeof folder, "%s/dpareto-XXXXXX",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(folder));
	seq = 0;
	study_text = text;
	assert_int_equal(
		dp_study_parse(text, strlen(text), "f", "/", &spec, &problems, &err),
		DP_OK);
	dp_problems_free(&problems);
	assert_int_equal(dp_journal_open(folder, &options, &journal, &err), DP_OK);
	assert_int_equal(dp_journal_start(journal, wake, NULL, &err), DP_OK);
	put((struct dp_event){ .type = DP_EV_STUDY_CREATED,
			       .name = spec->name,
			       .text = text,
			       .path = "/secret/" SEED ".yaml",
			       .dir = "/" });
}

static void propose(uint32_t trial, double sigma)
{
	put((struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
			       .trial = trial,
			       .source = "random",
			       .params = &sigma,
			       .nparams = 1 });
}

static double epsilon_at(double sigma);

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
		epsilon[i] = epsilon_at(at[i]);
	e->waypoints = at;
	e->nwaypoints = 2;
	e->ways = all;
	e->nways = 12;
	e->way_privacy = epsilon;
	e->nway_privacy = 2;
}

/* An attempt that makes all three runs; `accuracy` NULL: it reports nothing, of `ways`:
 * nothing on its way. */
static void attempt_on_way(uint32_t trial, uint32_t number, enum dp_end end,
			   const double *accuracy, const double *ways,
			   const char *message)
{
	static const char *const names[] = { "accuracy", "test_records" };
	static const uint32_t runs[] = { 0, 1, 2 };
	double metrics[6], all[12];
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED,
			      .trial = trial,
			      .run = DP_RUN_ALL,
			      .attempt = number,
			      .end = end,
			      .counted = true,
			      .reason = message,
			      .exit = { .kind = DP_EXIT_CODE,
					.start = 1.7e9,
					.end = 1.7e9 + 2,
					.cpu = 1.5 } };

	put((struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
			       .trial = trial,
			       .run = DP_RUN_ALL,
			       .attempt = number });
	for (int i = 0; (accuracy || ways) && i < 3; i++) {
		metrics[2 * i] = accuracy ? accuracy[i] : NAN;
		metrics[2 * i + 1] = 400;
		e.metric_names = names;
		e.nmetrics = 2;
		e.runs = runs;
		e.nruns = 3;
		e.metrics = metrics;
	}
	if (ways)
		attempt_ways(&e, ways, all);
	put(e);
}

static void attempt(uint32_t trial, uint32_t number, enum dp_end end,
		    const double *accuracy, const char *message)
{
	attempt_on_way(trial, number, end, accuracy, NULL, message);
}

static double epsilon_at(double sigma)
{
	struct dp_epsilon e;

	assert_int_equal(dp_objective_privacy(spec, 0, &sigma, &e, NULL), DP_OK);
	return e.epsilon;
}

static void ended(uint32_t trial, const char *state, double epsilon, double error)
{
	double y[] = { epsilon, error };

	put((struct dp_event){ .type = DP_EV_TRIAL_ENDED,
			       .trial = trial,
			       .state = state,
			       .objectives = y,
			       .nobjectives = isnan(epsilon) ? 0 : 2 });
}

/* A trial with one good attempt. */
static void evaluate(uint32_t trial, double sigma, double a, double b, double c)
{
	double accuracy[] = { a, b, c };

	propose(trial, sigma);
	attempt(trial, 0, DP_END_OK, accuracy, NULL);
	ended(trial, "ok", epsilon_at(sigma), 1 - (a + b + c) / 3);
}

static void load(bool public)
{
	const char *const studies[] = { "s" };
	struct dp_err err;

	put((struct dp_event){ .type = DP_EV_STUDY_MOVED, .state = "finished" });
	dp_journal_close(journal);
	journal = NULL;
	report.public = public;
	assert_int_equal(report_load(&report, folder, studies, 1, &err), DP_OK);
}

static int finish(void **state)
{
	(void)state;
	if (journal)
		dp_journal_close(journal);
	journal = NULL;
	facts_free(&facts);
	report_free(&report);
	memset(&report, 0, sizeof report);
	dp_study_free(spec);
	spec = NULL;
	return folder[0] ? dp_remove_tree(folder, NULL) : 0;
}

static void assert_near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.17g is not %.17g", a, b);
}

/* All facts, without figures; freed by finish(). */
static const struct facts *find_facts(void)
{
	struct dp_err err = { .msg = "" };

	facts_free(&facts);
	if (report_facts(&report, NULL, 0, &facts, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return &facts;
}

/* Trial 0 is on its way and at its end on the front, trial 1 is only on its way, because
 * it ran out of time. */
static const struct facts *walk_facts(void)
{
	static const double first[] = { 0.6, 0.5, 0.7, 0.8, 0.8, 0.8 };
	static const double second[] = { 0.5, 0.5, 0.5, 0.84, 0.85, 0.86 };
	static const double end[] = { 0.9, 0.9, 0.9 };

	begin(walk);
	propose(0, 64);
	attempt_on_way(0, 0, DP_END_OK, end, first, NULL);
	ended(0, "ok", epsilon_at(64), 0.1);
	propose(1, 32);
	attempt_on_way(1, 0, DP_END_TIMEOUT, NULL, second, "too long");
	ended(1, "failed", NAN, NAN);
	load(false);
	return find_facts();
}

/* ---- numbers ---- */

static void test_headline(void **state)
{
	const struct fact_headlines *h;

	(void)state;
	begin(gaussian);
	evaluate(0, 50, 0.5, 0.5, 0.5);   /* epsilon below 0.1 */
	evaluate(1, 8, 0.7, 0.8, 0.9);    /* about 0.5 */
	evaluate(2, 7, 0.6, 0.6, 0.6);    /* more epsilon, less accuracy */
	evaluate(3, 2, 0.85, 0.85, 0.85); /* about 2 */
	evaluate(4, 0.2, 1, 1, 1);        /* beyond 10 */
	load(false);
	h = &find_facts()->study.headline;
	assert_int_equal(h->n, 6);
	assert_near(h->list[0].epsilon, 0.1, 0);
	assert_int_equal(h->list[0].trial, 0);
	assert_int_equal(h->list[2].trial, 1); /* at most 1 */
	assert_near(h->list[2].value, 0.2, 1e-12);
	assert_near(h->list[2].spent, epsilon_at(8), 0);
	assert_int_equal(h->list[5].trial, 3); /* at most 10 */
}

static void test_nothing_that_private(void **state)
{
	const struct fact_headline *first;
	json_t *json, *row;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.5, 0.5, 0.5);
	load(false);
	first = &find_facts()->study.headline.list[0];
	assert_true(first->trial < 0 && isnan(first->value) && !first->runs);
	json = facts_json(&facts);
	row = json_array_get(json_object_get(json, "headline"), 0);
	assert_true(json_is_null(json_object_get(row, "trial")));
	assert_null(json_object_get(row, "value"));
	json_decref(json);
}

static void test_spread(void **state)
{
	const struct fact_spread *runs;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.7, 0.8);
	load(false);
	runs = find_facts()->front[0].of[1].runs;
	assert_string_equal(facts.front[0].of[1].name, "error");
	assert_near(runs->least, 0.1, 1e-12);
	assert_near(runs->most, 0.3, 1e-12);
	assert_near(runs->mean, 0.2, 1e-12);
	assert_near(runs->sd, 0.1, 1e-12);
	assert_near(runs->standard_error, 0.1 / sqrt(3), 1e-12);
}

static void test_waypoints(void **state)
{
	const struct facts *f = walk_facts();
	static const struct {
		int64_t trial, at;
		double error;
	} front[] = { { 0, 1, 0.4 }, { 1, 4, 0.15 }, { 0, -1, 0.1 } };
	const struct fact_spread *runs;

	(void)state;
	assert_int_equal(f->nfront, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct fact_point *p = &f->front[i];
		double at = front[i].at < 0 ? 64 : (double)front[i].at;

		assert_int_equal(p->trial, front[i].trial);
		assert_int_equal(p->at, front[i].at);
		assert_near(p->of[0].value, epsilon_at(at), 0);
		assert_true(p->of[0].check->holds);
		assert_near(p->of[0].check->rdp_improved, epsilon_at(at), 1e-12);
		assert_near(p->of[1].value, front[i].error, 1e-12);
		assert_near(json_number_value(json_object_get(p->parameters, "epochs")),
			    at, 0);
	}
	runs = f->front[0].of[1].runs; /* 0.6, 0.5, 0.7: only mean and sd are kept */
	assert_true(isnan(runs->least) && isnan(runs->most));
	assert_near(runs->mean, 0.4, 1e-12);
	assert_near(runs->sd, 0.1, 1e-12);
	assert_near(runs->standard_error, 0.1 / sqrt(3), 1e-12);
	assert_int_equal(f->optimism.chosen_from, 5);
	assert_int_equal(f->optimism.trials, 2);
	assert_int_equal(f->failures.waypoints_kept, 2);
	assert_near(f->spent.walked, 96, 0);
	assert_string_equal(f->settings.path->parameter, "epochs");
	assert_int_equal(f->settings.path->points, 6);
	assert_string_equal(f->settings.cost, "path");
	assert_near(f->settings.max_cost, 300, 0);
}

/* Each training in full, also the one that ran out of time, and nothing twice. */
static void test_waypoints_are_free(void **state)
{
	const struct fact_composed *all = &walk_facts()->privacy[0].composed;
	double x[] = { 64, 32 }, v[2][DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_item items[2];
	struct dp_epsilon e;

	(void)state;
	for (int i = 0; i < 2; i++) {
		dp_use_values(spec, spec->objectives[0].privacy->uses, &x[i], NAN, v[i]);
		items[i] = (struct dp_privacy_item){
			spec->objectives[0].privacy->uses->mechanism, v[i], 3
		};
	}
	assert_int_equal(dp_privacy_compose(items, 2, 1e-5, false, &e, NULL), DP_OK);
	assert_int_equal(all->evaluations, 2);
	assert_int_equal(all->trainings, 6);
	assert_near(all->if_fixed, e.epsilon, 1e-9);
	assert_true(all->kind == DP_WHOLE_ODOMETER && all->epsilon > all->if_fixed);
}

static bool every_trial_has_at(const json_t *v)
{
	bool good = !json_object_get(v, "trial") || json_object_get(v, "at");
	const char *name;
	json_t *part;
	size_t i;

	json_object_foreach ((json_t *)v, name, part)
		good = good && every_trial_has_at(part);
	json_array_foreach (v, i, part)
		good = good && every_trial_has_at(part);
	return good;
}

static void test_sampling_error(void **state)
{
	const struct fact_sampling *sampling;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.8, 0.8, 0.8);
	load(false);
	sampling = find_facts()->optimism.objectives[0].sampling;
	assert_near(sampling->records, 400, 0);
	assert_near(sampling->error, 0.4 / 20, 1e-12);
	assert_near(sampling->error_at_10000, 0.4 / 100, 1e-12);
}

/* Everything that may have looked at the records counts, with all its runs. */
static void test_composition_counts(void **state)
{
	static const double bad[] = { NAN, 0.5, 0.5 };
	struct dp_privacy_item items[4];
	double values[4][DP_PRIVACY_KEYS_MAX];
	static const double sigma[] = { 2, 3, 4, 5 }, times[] = { 3, 9, 3, 3 };
	const struct fact_composed *composed;
	struct dp_epsilon expected;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	propose(1, 3); /* two retries, then failed */
	attempt(1, 0, DP_END_SIGNAL, NULL, "a");
	attempt(1, 1, DP_END_LOST, NULL, "b");
	attempt(1, 2, DP_END_EXIT_CODE, NULL, "c");
	ended(1, "failed", NAN, NAN);
	propose(2, 4);
	attempt(2, 0, DP_END_DIVERGED, bad, NULL);
	ended(2, "diverged", epsilon_at(4), NAN);
	evaluate(3, 5, 0.1, 0.1, 0.1);
	propose(4, 6); /* could not even start */
	attempt(4, 0, DP_END_NOT_STARTED, NULL, "d");
	load(false);
	composed = &find_facts()->privacy[0].composed;
	assert_int_equal(composed->trainings, 18);
	assert_int_equal(composed->evaluations, 4);
	assert_int_equal(composed->not_started, 1);
	for (int i = 0; i < 4; i++) {
		dp_use_values(spec, spec->objectives[0].privacy->uses, &sigma[i], NAN,
			      values[i]);
		items[i] = (struct dp_privacy_item){
			spec->objectives[0].privacy->uses->mechanism, values[i], times[i]
		};
	}
	assert_int_equal(dp_privacy_compose(items, 4, 1e-5, false, &expected, NULL),
			 DP_OK);
	assert_near(composed->if_fixed, expected.epsilon, 1e-12);
	assert_near(composed->delta, 1e-5, 0);
	/* a retry is nothing that was fixed beforehand */
	assert_string_equal(composed->proof, "odometer");
	assert_true(composed->epsilon > composed->if_fixed);
	/* no less than the exact Gaussian of all that noise */
	double all = 1 / sqrt(3 / 4. + 9 / 9. + 3 / 16. + 3 / 25.);
	assert_true(composed->if_fixed >= epsilon_at(all));
	assert_true(composed->if_fixed < 1.2 * epsilon_at(all));
}

static void test_pure_composition(void **state)
{
	const struct fact_composed *all;

	(void)state;
	begin(svt);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	all = &find_facts()->privacy[0].composed;
	assert_near(all->delta, 0, 0);
	assert_near(all->epsilon, 3 * (epsilon_at(2) + epsilon_at(10)), 1e-9);
}

static void test_second_accountant(void **state)
{
	const struct subject *s = &report.subjects[0];
	struct fact_check check;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	evaluate(1, 4, 0.5, 0.5, 0.5);
	load(false);
	s = &report.subjects[0];
	check = facts_check(s, (struct dp_point){ 0, DP_OWN }, 0);
	assert_true(check.holds);
	assert_near(check.rdp_improved, epsilon_at(1.2), 1e-12);
	assert_true(check.pld < check.rdp_improved);
	assert_true(check.rdp_improved < check.rdp_classic);
	s->s->trials[0]->objectives[0] *= 0.99; /* a number that is too good */
	check = facts_check(s, (struct dp_point){ 0, DP_OWN }, 0);
	assert_false(check.recomputed);
	assert_false(check.holds);
}

static void test_statement(void **state)
{
	static const char *const words[] = { "one training record",
					     "add or remove one",
					     "poisson",
					     "10000",
					     "1e-05",
					     "Theorem 4",
					     "clipping norm L",
					     "200 steps",
					     "holdout",
					     "All 3 runs" };
	const char *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	text = find_facts()->front[0].of[0].statement;
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("no '%s' in %s", words[i], text);
}

/* Whom it holds for, and that noise on utilities covers test records. */
static void test_statement_of_persons(void **state)
{
	const char *text;

	(void)state;
	begin(persons);
	evaluate(0, 50, 0.9, 0.9, 0.9);
	load(false);
	text = find_facts()->front[0].of[0].statement;
	assert_non_null(strstr(text, "Unit of privacy: all training records of one "
				     "person, up to 3.\n"));
	assert_non_null(strstr(text, "for which there is no guarantee"));
	assert_string_equal(facts.privacy[0].unit,
			    "all training records of one person, up to 3");
	report.subjects[0].s->spec->objectives[1].release =
		(struct dp_release){ .records = 100, .sigma = 0.1 };
	text = facts_statement(report.subjects, (struct dp_point){ 0, DP_OWN }, 0,
			       &facts.memory);
	assert_null(strstr(text, "no guarantee"));
	assert_non_null(strstr(text, "the noise on utilities covers"));
}

/* A composition is explained part by part, and added up by both accountants. */
static void test_composed_objective(void **state)
{
	static const char *const words[] = { "(gaussian x 3 and dp-sgd)",
					     "Part gaussian:",
					     "Part dp-sgd:",
					     "sigma = 20",
					     "200 steps",
					     "replace",
					     "Training records: 10000",
					     "All 3 runs",
					     "to be guessed",
					     "of all parts" };
	const struct fact_mechanism *m;
	const struct facts *f;
	const struct fact_check *check;
	double sigma = 1.2;
	struct dp_uses uses;
	struct dp_epsilon e;
	const char *text;

	(void)state;
	begin(pipeline);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	f = find_facts();
	m = f->privacy;
	assert_string_equal(m->mechanism, "composition");
	assert_true(m->nparts == 2 && m->parts[0].times == 3 && m->records == 10000);
	assert_string_equal(m->parts[1].mechanism, "dp-sgd");
	check = f->front[0].of[0].check;
	assert_true(check->holds && check->recomputed &&
		    check->pld < check->rdp_improved);
	text = f->front[0].of[0].statement;
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("no '%s' in %s", words[i], text);
	assert_true(m->composed.epsilon > epsilon_at(1.2));
	/* curves of the pair that dominates lots without replacement are the tighter ones
	 */
	assert_int_equal(dp_oracle_uses(spec, 0, &sigma, NAN, &uses, NULL), DP_OK);
	for (size_t i = 0; i < uses.n; i++)
		uses.item[i].times *= 3;
	assert_int_equal(dp_privacy_compose(uses.item, uses.n, 1e-5, false, &e, NULL),
			 DP_OK);
	assert_true(m->composed.if_fixed < e.epsilon);
	assert_true(m->composed.if_fixed < m->composed.epsilon);
}

/* A program's number is its own, and nobody knows what a whole study costs by it. */
static void test_program_objective(void **state)
{
	const struct fact_mechanism *m;
	const struct facts *f;
	const char *text;

	(void)state;
	begin(program);
	propose(0, 1.2);
	attempt(0, 0, DP_END_OK, (double[]){ 0.9, 0.9, 0.9 }, NULL);
	ended(0, "ok", 0.75, 0.9);
	load(false);
	f = find_facts();
	m = f->privacy;
	assert_string_equal(m->mechanism, "program");
	assert_string_equal(m->command[1], "-q");
	assert_true(m->composed.trainings == 3 && m->composed.why);
	text = f->front[0].of[0].statement;
	assert_non_null(strstr(text, "is (0.75, 1e-05)-differentially private"));
	assert_non_null(strstr(text, "accountant"));
	assert_non_null(strstr(text, "has not checked it"));
}

static void test_rounding_is_upward(void **state)
{
	static const struct {
		double x;
		const char *text;
	} cases[] = { { 1.00001, "1.001" }, { 0.25, "0.25" },    { 0.123412, "0.1235" },
		      { 91876.5, "91880" }, { INFINITY, "inf" }, { 0, "0" },
		      { 9.9999, "10" } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_buf b = DP_BUF_INIT;

		facts_round_up(cases[i].x, 4, &b);
		assert_string_equal(dp_buf_text(&b), cases[i].text);
		dp_buf_free(&b);
	}
}

/* ---- whole reports ---- */

/* The report's text in a form, without figures. */
static char *whole(enum doc_form form)
{
	json_t *json = facts_json(find_facts());
	struct doc *d = doc_new(form);
	struct dp_buf out = DP_BUF_INIT;

	assert_non_null(json);
	report_text(d, &facts);
	doc_render(d, &out);
	dp_json_dump(&out, json, 0);
	doc_free(d);
	json_decref(json);
	return dp_buf_detach(&out);
}

/* A number that is no acquisition is told, not looked up beyond the end of the words. */
static void test_acquisition_without_a_name(void **state)
{
	struct dp_search *search;

	(void)state;
	begin(gaussian);
	load(false);
	search = &report.subjects[0].s->spec->search;
	assert_null(find_facts()->settings.acquisition); /* it takes random points */
	search->method = DP_METHOD_DPARETO;
	assert_string_equal(find_facts()->settings.acquisition, "ehvi");
	search->acquisition = DP_ACQ_RANDOM;
	assert_string_equal(find_facts()->settings.acquisition, "random");
	search->acquisition = DP_ACQ_RANDOM + 1;
	assert_string_equal(find_facts()->settings.acquisition, "one that has no name");
}

/* The names of all members of an object, in their order. */
static void list_names(json_t *o, struct dp_buf *out)
{
	const char *name;
	json_t *v;

	dp_buf_clear(out);
	json_object_foreach (o, name, v)
		dp_buf_printf(out, "%s ", name);
}

/* report.json is read by programs: what it is made of keeps its names. */
static void test_names_in_json(void **state)
{
	static const struct {
		const char *list; /* a member, of a list its first element; NULL: all */
		const char *names;
	} parts[] = {
		{ NULL,
		  "version study state reason evaluations failed diverged "
		  "hypervolume anti_ideal front hypervolume_denoised public data budget "
		  "privacy_objective utility_objective objectives headline bests "
		  "privacy declared released optimism models importance compared "
		  "baselines figures "
		  "settings "
		  "failures "
		  "spent reproduce " },
		{ "front", "trial at parameters objectives spread denoised interval runs "
			   "remeasured metrics "
			   "checks statements " },
		{ "headline", "epsilon trial at spent value runs " },
		{ "privacy",
		  "objective mechanism summary parts unit relation sampling keys "
		  "records delta delta_times_records accountant "
		  "accountant_text theorem source noise warning composed " },
		{ "optimism", "chosen_from trials runs no_models objectives " },
		{ "settings", "method acquisition front evaluations parallel cost "
			      "max_cost order runs "
			      "one_run_per_process initial initial_from max_time timeout "
			      "retries path parameters constraints " },
		{ "failures",
		  "failed diverged attempts waypoints_kept messages_left_out groups " },
		{ "spent", "evaluations attempts trainings walked elapsed_seconds "
			   "training_seconds cpu_seconds peak_memory " },
		{ "reproduce", "study_file command seed versions host path journal "
			       "created updated " },
	};
	struct dp_buf names = DP_BUF_INIT;
	json_t *json;

	(void)state;
	begin(gaussian);
	evaluate(0, 50, 0.9, 0.7, 0.8); /* epsilon below 0.1 */
	load(false);
	json = facts_json(find_facts());
	for (size_t i = 0; i < DP_COUNT(parts); i++) {
		json_t *o = parts[i].list ? json_object_get(json, parts[i].list) : json;

		list_names(json_is_array(o) ? json_array_get(o, 0) : o, &names);
		assert_string_equal(dp_buf_text(&names), parts[i].names);
	}
	dp_buf_free(&names);
	json_decref(json);
}

static void test_waypoints_in_words(void **state)
{
	static const char *const words[] = {
		"| 0@1 |",
		"| 1@4 |",
		"| 0 |",
		"trial 1@4 of study s",
		"the model at epochs = 4 of a training planned for epochs = 32",
		"covers every iterate",
		"Each training counts in full",
		"5 results of 2 trials",
		"2 waypoints of them are among the results",
		"96 epochs in all",
		"epochs, in all at most 300",
	};
	json_t *json, *row;
	char *text;

	(void)state;
	walk_facts();
	json = facts_json(&facts);
	assert_true(every_trial_has_at(json));
	row = json_array_get(json_object_get(json, "front"), 1);
	assert_int_equal(json_integer_value(json_object_get(row, "at")), 4);
	row = json_array_get(json_object_get(json, "front"), 2);
	assert_true(json_is_null(json_object_get(row, "at")));
	json_decref(json);
	text = whole(DOC_MARKDOWN);
	for (size_t i = 0; i < DP_COUNT(words); i++)
		if (!strstr(text, words[i]))
			fail_msg("not there: %s", words[i]);
	free(text);
}

/* Two of ten trainings of a random search: the odometer, which nobody journaled. */
static void test_odometer_words(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "Ville"));
	assert_non_null(strstr(text, "had all settings been fixed"));
	assert_non_null(strstr(text, "the journal of this study does not have them"));
	free(text);
}

/* Two of ten trainings were made; nothing about their sum is a matter of luck. */
static void test_pure_words(void **state)
{
	char *text;

	(void)state;
	begin(svt);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	evaluate(1, 10, 0.5, 0.5, 0.5);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "a sum: pure epsilons"));
	assert_null(strstr(text, "Ville"));
	assert_null(strstr(text, "had all settings been fixed"));
	free(text);
}

/* Messages that are no UTF-8 do not reach JSON, and do not end it either. */
static void test_broken_texts(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	propose(0, 3);
	attempt(0, 0, DP_END_EXIT_CODE, NULL, "\xff\xfe");
	ended(0, "failed", NAN, NAN);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "trial 0: (a text that is not UTF-8)"));
	assert_non_null(strstr(text, "\"message\":\"(a text that is not UTF-8)\""));
	free(text);
}

static void test_public_has_no_seed(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	evaluate(0, 2, 0.9, 0.9, 0.9);
	propose(1, 3);
	attempt(1, 0, DP_END_EXIT_CODE, NULL, "run with seed " SEED " failed");
	ended(1, "failed", NAN, NAN);
	load(true);
	text = whole(DOC_MARKDOWN);
	assert_null(strstr(text, SEED));
	assert_non_null(strstr(text, "The seed is left out"));
	assert_non_null(strstr(text, "mechanism: gaussian")); /* the rest of the file */
	free(text);
	report.public = false;
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "seed " SEED " failed"));
	assert_non_null(strstr(text, "Keep it to yourself"));
	free(text);
}

/* The seed and the rest on one line: then nothing of the file is shown. */
static void test_public_flow_style(void **state)
{
	static const char flow[] =
		"{study: s, \"se\\x65d\": " SEED ", trainer: {command: [x], runs: 3}, "
		"parameters: {sigma: {type: float, range: [0.1, 100]}}, objectives: "
		"{epsilon: {privacy: {mechanism: gaussian, sigma: sigma, delta: 1e-5}}, "
		"error: {metric: accuracy, of: \"1 - accuracy\"}}, anti_ideal: {epsilon: "
		"10, error: 1}, search: {method: random, evaluations: 10}}\n";
	char *text;

	(void)state;
	begin(flow);
	assert_true(spec->seed == strtoull(SEED, NULL, 10));
	evaluate(0, 2, 0.9, 0.9, 0.9);
	load(true);
	text = whole(DOC_HTML);
	assert_null(strstr(text, SEED));
	assert_non_null(strstr(text, "could not be taken out"));
	free(text);
}

static void test_data_public_changes_the_words(void **state)
{
	char *text;

	(void)state;
	begin(sgd);
	evaluate(0, 1.2, 0.9, 0.9, 0.9);
	load(false);
	text = whole(DOC_MARKDOWN);
	assert_non_null(strstr(text, "declares its data public"));
	free(text);
}

static void test_nothing_and_all_failed(void **state)
{
	char *text;

	(void)state;
	begin(gaussian);
	load(false);
	text = whole(DOC_HTML);
	assert_non_null(strstr(text, "no front"));
	free(text);
	finish(state);
	begin(gaussian);
	propose(0, 3);
	attempt(0, 0, DP_END_EXIT_CODE, NULL, "it <b>broke</b>");
	ended(0, "failed", NAN, NAN);
	load(false);
	text = whole(DOC_HTML);
	assert_non_null(strstr(text, "it &lt;b&gt;broke&lt;/b&gt;"));
	free(text);
}

int main(void)
{
#define T(f) cmocka_unit_test_teardown(f, finish)
	const struct CMUnitTest tests[] = {
		T(test_headline),
		T(test_nothing_that_private),
		T(test_spread),
		T(test_waypoints),
		T(test_waypoints_are_free),
		T(test_waypoints_in_words),
		T(test_sampling_error),
		T(test_composition_counts),
		T(test_pure_composition),
		T(test_pure_words),
		T(test_odometer_words),
		T(test_second_accountant),
		T(test_statement),
		T(test_statement_of_persons),
		T(test_composed_objective),
		T(test_program_objective),
		cmocka_unit_test(test_rounding_is_upward),
		T(test_acquisition_without_a_name),
		T(test_broken_texts),
		T(test_names_in_json),
		T(test_public_has_no_seed),
		T(test_public_flow_style),
		T(test_data_public_changes_the_words),
		T(test_nothing_and_all_failed),
	};
#undef T
	return cmocka_run_group_tests(tests, NULL, NULL);
}
