/* budget.c - what search.budget buys: the hypervolume of a search whose trainings all
 * together keep within an epsilon, on a known problem with a real accountant.
 *
 *   budget [-f FIRST-SEED] [-s SEEDS] [-E EPSILON] [-D DELTA] [-i INITIAL] [-k WAYPOINTS]
 *          [-n TRAININGS] [-c COST] [-t]
 *
 * Each row is a search: without a budget (TRAININGS trainings), with it and no cost, by
 * path, or by privacy; where WAYPOINTS is above 0, each training is a path whose
 * waypoints are free. -c makes one row alone: of this cost, or `unlimited`. Retries are
 * none. What a training is worth is the problem's formula (dplike of bench/problems.c).
 */
#include "bench/clock.h"
#include "bench/problems.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/search_budget.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MOST_TRAININGS = 400
};

struct options {
	int first, seeds, initial, waypoints, trainings;
	double epsilon, delta;
	const char *cost;
	bool each;
};

static const struct bench_problem *problem;

static struct dp_study *make_study(const struct options *o, int seed, const char *search)
{
	char text[4096], walk[80] = "";
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *study = NULL;
	struct dp_err err;
	int len;

	if (o->waypoints)
		snprintf(walk, sizeof walk, ", path: {parameter: epochs, points: %d}",
			 o->waypoints);
	len = snprintf(text, sizeof text,
		       "study: budget\nseed: %d\ndata: public\ntrainer: {command: [none], "
		       "retries: 0%s}\n"
		       "parameters:\n%sobjectives:\n"
		       "  e: {privacy: {mechanism: dp-sgd, sampling: without-replacement, "
		       "records: 32561, lot: lot, epochs: epochs, noise_variance: v, "
		       "delta: 1e-6}}\n"
		       "  u: {metric: u, transform: logit}\nanti_ideal: {e: 10, u: 1}\n"
		       "search: {method: dpareto, evaluations: %d, initial: %d%s}\n",
		       seed, walk, problem->params, MOST_TRAININGS, o->initial, search);
	if (dp_study_parse(text, (size_t)len, "budget", "/", &study, &wrong, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	dp_diagnostics_free(&wrong);
	return study;
}

/* One search. */
struct course {
	struct dp_study *study;
	struct dp_observation *known;
	size_t n;
	struct dp_filter filter; /* all 0 without a budget */
	struct dp_renyi_cache *memory;
	double spent, volume, cpu;
	int trainings;
};

static void measure(struct course *c, const double *x, double at, struct dp_observation *k)
{
	double metric[BENCH_CONSTRAINTS], y[BENCH_OBJECTIVES], end[DP_PARAMS_MAX];
	struct dp_epsilon e;

	memcpy(end, x, sizeof end);
	if (!isnan(at))
		end[0] = at;
	problem->eval(end, y, metric);
	if (dp_objective_epsilon(c->study, 0, end, &e, NULL) != DP_OK)
		exit(1);
	memset(k, 0, sizeof *k);
	memcpy(k->x, end, sizeof end);
	k->trial = (uint32_t)c->trainings;
	k->checkpoint = isnan(at) ? 0 : at;
	k->y[0] = e.epsilon;
	k->y[1] = y[1];
	k->var[0] = k->var[1] = NAN;
}

static void train(struct course *c, const double *x)
{
	double at[DP_CHECKPOINTS_MAX], k;
	size_t n = dp_learning_curve_checkpoints(c->study, x, at);

	for (size_t i = 0; i < n; i++)
		measure(c, x, at[i], &c->known[c->n++]);
	measure(c, x, NAN, &c->known[c->n++]);
	c->trainings++;
	if (!(c->filter.limit > 0))
		return;
	if (dp_study_training_renyi(c->study, c->memory, 0, x, NAN, &c->filter.order, 1, &k,
				    NULL) != DP_OK ||
	    !dp_filter_allows(&c->filter, c->spent, 0, k)) {
		fprintf(stderr, "a training was proposed that does not fit\n");
		exit(1);
	}
	c->spent = dp_renyi_add(c->spent, k);
}

static double volume(const struct course *c)
{
	static const double ref[2] = { 10, 1 };
	double *y = calloc(2 * c->n + 1, sizeof *y), v;

	for (size_t i = 0; i < c->n; i++)
		memcpy(y + 2 * i, c->known[i].y, 2 * sizeof *y);
	v = dp_hypervolume(y, c->n, 2, ref);
	free(y);
	return v;
}

/* Until nothing fits any more, or TRAININGS without a budget. */
static void run(struct course *c, const struct options *o, int seed, const char *search)
{
	struct dp_proposer *p;
	struct dp_odometer odometer;
	struct dp_proposal next;
	struct dp_err err;
	int most = MOST_TRAININGS;
	double before;

	*c = (struct course){ .study = make_study(o, seed, search),
			      .memory = dp_renyi_cache_new() };
	c->known = calloc((size_t)MOST_TRAININGS * (DP_CHECKPOINTS_MAX + 1), sizeof *c->known);
	p = dp_proposer_new(c->study);
	dp_odometer_init_default(&odometer);
	if (c->study->search.budget.epsilon == 0)
		most = o->trainings;
	else if (dp_budget_filter(c->study, &odometer, &c->filter, &err) != DP_OK)
		exit(1);
	before = bench_cpu();
	while (c->trainings < most) {
		struct dp_history h = { .observations = c->known,
					.n = c->n,
					.budget_order = c->filter.order,
					.budget_remaining =
						dp_filter_remaining(&c->filter, c->spent, 0) *
						(1 - 1e-12) };

		if (dp_proposer_propose(p, &h, (uint32_t)c->trainings, NULL, &next, &err) != DP_OK)
			break;
		train(c, next.x);
		if (o->each)
			fprintf(stderr,
				"%d: epochs %g lot %g rate %.3g v %.3g e %.3g: spent "
				"%.3f, volume %.4f %s\n",
				c->trainings, next.x[0], next.x[1], next.x[2], next.x[3],
				c->known[c->n - 1].y[0],
				c->filter.limit > 0 ? c->spent / c->filter.limit : 0, volume(c),
				next.note);
	}
	c->cpu = bench_cpu() - before;
	c->volume = volume(c);
	dp_proposer_free(p);
	dp_renyi_cache_free(c->memory);
	free(c->known);
	dp_study_free(c->study);
}

static void row(const struct options *o, const char *name, const char *search)
{
	double sum[4] = { 0 }, least = INFINITY, order = 0;
	struct course c;

	for (int s = 0; s < o->seeds; s++) {
		run(&c, o, o->first + s, search);
		sum[0] += c.volume / o->seeds;
		sum[1] += (double)c.trainings / o->seeds;
		sum[2] += c.filter.limit > 0 ? c.spent / c.filter.limit / o->seeds : 0;
		sum[3] += c.cpu / c.trainings / o->seeds;
		least = fmin(least, c.volume);
		order = c.filter.order;
	}
	printf("{\"search\":\"%s\",\"waypoints\":%d,\"seeds\":%d,\"hypervolume\":%.4f,"
	       "\"least\":%.4f,\"trainings\":%.1f,\"order\":%g,\"spent\":%.3f,"
	       "\"ms_a_proposal\":%.1f}\n",
	       name, o->waypoints, o->seeds, sum[0], least, sum[1], order, sum[2], 1e3 * sum[3]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options o = { .seeds = 5,
			     .initial = 4,
			     .waypoints = 12,
			     .trainings = 24,
			     .epsilon = 4,
			     .delta = 1e-5 };
	static const char *const costs[] = { "unlimited", "none", "path", "privacy" };
	char budget[100], with[160];
	int c;

	dp_linalg_set_single_thread();
	while ((c = getopt(argc, argv, "f:s:E:D:i:k:n:c:t")) != -1) {
		switch (c) {
		case 'f':
			o.first = atoi(optarg);
			break;
		case 's':
			o.seeds = atoi(optarg);
			break;
		case 'E':
			o.epsilon = atof(optarg);
			break;
		case 'D':
			o.delta = atof(optarg);
			break;
		case 'i':
			o.initial = atoi(optarg);
			break;
		case 'k':
			o.waypoints = atoi(optarg);
			break;
		case 'n':
			o.trainings = atoi(optarg);
			break;
		case 'c':
			o.cost = optarg;
			break;
		case 't':
			o.each = true;
			break;
		default:
			return 2;
		}
	}
	for (size_t i = 0; i < bench_nproblems; i++)
		if (strcmp(bench_problems[i].name, "dplike") == 0)
			problem = &bench_problems[i];
	snprintf(budget, sizeof budget, ", budget: {epsilon: %g, delta: %.17g}", o.epsilon,
		 o.delta);
	for (size_t i = 0; i < DP_COUNT(costs); i++) {
		bool unlimited = i == 0;

		if ((o.cost && strcmp(o.cost, costs[i]) != 0) ||
		    (strcmp(costs[i], "path") == 0 && o.waypoints == 0))
			continue;
		snprintf(with, sizeof with, "%s, cost: %s", unlimited ? "" : budget,
			 unlimited ? "none" : costs[i]);
		row(&o, costs[i], with);
	}
	return 0;
}
