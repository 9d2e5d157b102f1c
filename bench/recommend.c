/* recommend.c - how good recommendations are on known problems, and how long they take.
 *
 *   recommend [-p PROBLEM[,PROBLEM]] [-f FIRST-SEED] [-s SEEDS] [-n EVALUATIONS]
 *             [-R RUNS] [-V SD | -G SHARE] [-v]
 *
 * A study of each seed searches; then settings are asked for at five epsilons of the
 * first objective. Prints one JSON object a problem: the share of 95 % intervals that
 * hold the noise-free value, how far that is off in standard deviations (root mean
 * square), the share of recommendations that are at least as good, without noise, as the
 * best tested point, by how much they are better on average, the least of epsilon over
 * its target, and milliseconds of fit and search. */
#include "base/rng.h"
#include "bench/clock.h"
#include "bench/problems.h"
#include "linalg/linalg.h"
#include "optimize/recommend/recommend.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *problem;
	int first, seeds, evaluations;
	bool verbose;
	struct bench_noise noise;
};

struct tally {
	int asked, covered, level, trusted;
	double gain, least, most, fit, search;
	double off; /* squares of how far predictions were off, in standard deviations */
};

static const double targets[] = { 0.1, 0.5, 1, 2, 5 };
/* what 200 runs on Adult could not tell apart */
static const double equal = 2e-4;

static struct dp_study *make_study(const struct bench_problem *p, const struct options *o, int seed)
{
	char text[8192];
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *study = NULL;
	struct dp_err err;
	int len = snprintf(text, sizeof text,
			   "study: %s\nseed: %d\ndata: public\ntrainer: {command: "
			   "[none], runs: %d}\n"
			   "parameters:\n%sobjectives:\n%santi_ideal: %s\n"
			   "search: {method: dpareto, evaluations: %d}\n",
			   p->name, seed, o->noise.runs > 0 ? o->noise.runs : 1, p->params,
			   p->objectives, p->anti_ideal, o->evaluations);

	if (dp_study_parse(text, (size_t)len, p->name, "/", &study, &wrong, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	dp_diagnostics_free(&wrong);
	return study;
}

static double exact_value(void *arg, size_t objective, const double *x)
{
	const struct bench_problem *p = arg;
	double y[BENCH_OBJECTIVES], metric[BENCH_CONSTRAINTS];

	p->eval(x, y, metric);
	return y[objective];
}

/* The problem's values, with the study's own epsilon where it has an oracle. */
static void real_values(const struct bench_problem *p, const struct dp_study *study,
			const double *x, double *y)
{
	double metric[BENCH_CONSTRAINTS], cost[DP_OBJECTIVES_MAX];
	struct dp_err err;

	p->eval(x, y, metric);
	if (dp_objectives_epsilon(study, x, cost, &err) != DP_OK)
		exit(1);
	for (size_t i = 0; i < study->nobjectives; i++)
		y[i] = isnan(cost[i]) ? y[i] : cost[i];
}

static void search_all(const struct bench_problem *p, const struct options *o, int seed,
		       struct dp_proposer *proposer, const struct dp_study *study,
		       struct dp_history *h, struct dp_observation *known)
{
	struct dp_proposal next;
	struct dp_err err;

	for (h->n = 0; h->n < (size_t)o->evaluations; h->n++) {
		struct dp_observation *k = &known[h->n];
		struct dp_rng rng;

		if (dp_proposer_propose(proposer, h, (uint32_t)h->n, NULL, &next, &err) != DP_OK)
			exit(1);
		memcpy(k->x, next.x, sizeof k->x);
		k->trial = (uint32_t)h->n;
		k->status = DP_OBSERVATION_OK;
		real_values(p, study, k->x, k->y);
		k->var[0] = k->var[1] = NAN;
		dp_rng_init(&rng, (uint64_t)seed, DP_RNG_TEST, k->trial, 0);
		if (o->noise.runs > 0)
			bench_measure(&o->noise, k->y[1], &rng, &k->y[1], &k->var[1]);
	}
}

/* The noise-free value of the best tested point by what was observed; NaN: none. */
static double best_tested(const struct bench_problem *p, const struct dp_study *study,
			  const struct dp_history *h, double target)
{
	size_t best = h->n;
	double y[BENCH_OBJECTIVES];

	for (size_t i = 0; i < h->n; i++)
		if (h->observations[i].y[0] <= target &&
		    (best == h->n || h->observations[i].y[1] < h->observations[best].y[1]))
			best = i;
	if (best == h->n)
		return NAN;
	real_values(p, study, h->observations[best].x, y);
	return y[1];
}

static void ask_at(const struct bench_problem *p, const struct options *o,
		   const struct dp_study *study, struct dp_proposer *proposer,
		   const struct dp_history *h, double target, struct tally *t)
{
	struct dp_recommend_level level = { 0, target };
	struct dp_recommendation r;
	struct dp_err err;
	double y[BENCH_OBJECTIVES], tested = best_tested(p, study, h, target);
	double before = bench_cpu();
	const struct dp_prediction *q = &r.predicted[1];

	if (dp_recommend(proposer, &level, 0, NULL, &r, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		return;
	}
	t->search += bench_cpu() - before;
	real_values(p, study, r.x, y);
	t->asked++;
	t->covered += y[1] >= q->lo && y[1] <= q->hi;
	t->level += !(y[1] > tested + equal);
	t->trusted += r.trust.is_trusted;
	t->off += pow((y[1] - q->value) / ((q->hi - q->lo) / 3.92), 2);
	t->gain += isnan(tested) ? 0 : tested - y[1];
	t->least = fmin(t->least, y[0] / target);
	t->most = fmax(t->most, y[0] / target);
	if (o->verbose)
		fprintf(stderr,
			"at %g: epsilon %.6g, real %.5f, predicted %.5f (%.5f to %.5f), "
			"tested %.5f, %zu points, distance %.3f, loo %.5f %.2f %s\n",
			target, y[0], y[1], q->value, q->lo, q->hi, tested, r.n_evaluated,
			r.distance, r.trust.rms_error, r.trust.coverage, r.trust.reason);
}

static void run_seed(const struct bench_problem *p, const struct options *o, int seed,
		     struct tally *t)
{
	struct dp_study *study = make_study(p, o, seed);
	struct dp_proposer *searcher = dp_proposer_new(study);
	struct dp_proposer *cold = dp_proposer_new(study);
	struct dp_observation *known = calloc((size_t)o->evaluations, sizeof *known);
	struct dp_history h = { .observations = known,
				.exact_objectives = p->exact,
				.exact_fn = exact_value,
				.exact_arg = (void *)p };
	struct dp_err err;
	double before;

	search_all(p, o, seed, searcher, study, &h, known);
	before = bench_cpu();
	if (dp_surrogate_fit(cold, &h, NULL, &err) != DP_OK)
		exit(1);
	t->fit += bench_cpu() - before;
	for (size_t i = 0; i < DP_COUNT(targets); i++)
		ask_at(p, o, study, cold, &h, targets[i], t);
	dp_proposer_free(searcher);
	dp_proposer_free(cold);
	dp_study_free(study);
	free(known);
}

static void run_problem(const struct bench_problem *p, const struct options *o)
{
	struct tally t = { .least = INFINITY };

	for (int s = 0; s < o->seeds; s++)
		run_seed(p, o, o->first + s, &t);
	printf("{\"problem\":\"%s\",\"seeds\":%d,\"results\":%d,\"runs\":%d,\"noise\":%g,"
	       "\"asked\":%d,\"covered\":%.3f,\"off\":%.2f,\"as_good\":%.3f,\"gain\":%."
	       "5f,"
	       "\"trusted\":%.2f,\"epsilon_over_target\":[%.6f,%.9f],\"fit_ms\":%.1f,"
	       "\"search_ms\":%.1f}\n",
	       p->name, o->seeds, o->evaluations, o->noise.runs, o->noise.size, t.asked,
	       (double)t.covered / t.asked, sqrt(t.off / t.asked), (double)t.level / t.asked,
	       t.gain / t.asked, (double)t.trusted / t.asked, t.least, t.most,
	       1e3 * t.fit / o->seeds, 1e3 * t.search / t.asked);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options o = { .problem = "dplike-exact,dplike2-exact,dpsgd-rdp",
			     .seeds = 4,
			     .evaluations = 80,
			     .noise = { 10, 0.02, true } };
	int c;

	dp_linalg_set_single_thread();
	while ((c = getopt(argc, argv, "p:f:s:n:R:V:G:v")) != -1) {
		switch (c) {
		case 'p':
			o.problem = optarg;
			break;
		case 'f':
			o.first = atoi(optarg);
			break;
		case 's':
			o.seeds = atoi(optarg);
			break;
		case 'n':
			o.evaluations = atoi(optarg);
			break;
		case 'R':
			o.noise.runs = atoi(optarg);
			break;
		case 'V':
		case 'G':
			o.noise.size = atof(optarg);
			o.noise.growing = c == 'G';
			break;
		case 'v':
			o.verbose = true;
			break;
		default:
			return 2;
		}
	}
	for (size_t i = 0; i < bench_nproblems; i++)
		if (bench_is_listed(o.problem, bench_problems[i].name))
			run_problem(&bench_problems[i], &o);
	return 0;
}
