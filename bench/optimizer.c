/* optimizer.c - the search on known problems: hypervolume reached and CPU time spent.
 *
 *   optimizer [-p PROBLEM[,PROBLEM]] [-f FIRST-SEED] [-s SEEDS] [-n EVALUATIONS]
 *             [-a ACQUISITION] [-q PARALLEL] [-R RUNS] [-V SD | -G SHARE] [-d]
 *             [-g gain: model] [-r reference: front] [-S design: sobol]
 *             [-c cold: no memory] [-t times] [-O run times differ]
 *   optimizer -N RESULTS [-q PARALLEL]    cost of one proposal when so many results are
 *             known and PARALLEL - 1 points are pending
 *   optimizer -B [-p ...]   looks for the best hypervolume by millions of evaluations
 *
 * Prints one JSON object a problem. Problems are minimised; hypervolumes are in the
 * natural units of the objectives. Results arrive in the order of the trials, each
 * PARALLEL - 1 proposals late, or with -O as in a study with `order: asap` whose run
 * times are log-normal: some are passed by many others.
 *
 * With -R the last objective is measured by so many runs, each with an error of sd SD
 * (-V), or of SHARE of its value (-G). What counts is then the noise-free hypervolume of
 * the points that the program calls its front: by the observed means or (-d) by the
 * models' posterior means. Acquisition `search` is random search. */
#include "bench/clock.h"
#include "bench/problems.h"
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/space.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- running one ---- */

struct options {
	const char *problem, *acquisition;
	int first, seeds, evaluations, parallel;
	bool gain_model, reference_front, cold, times, sobol, denoised, asap;
	struct bench_noise noise;
};

static struct dp_study *make_study(const struct bench_problem *p, const struct options *o, int seed)
{
	char text[8192];
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *study = NULL;
	struct dp_err err;
	bool random = !strcmp(o->acquisition, "search");
	int len;

	len = snprintf(
		text, sizeof text,
		"study: %s\nseed: %d\ndata: public\ntrainer: {command: [none], runs: "
		"%d}\nparameters:\n%s"
		"objectives:\n%santi_ideal: %s\n%s%s\n"
		"search: {method: %s, evaluations: %d%s%s%s%s%s}\n",
		p->name, seed, o->noise.runs > 0 ? o->noise.runs : 1, p->params, p->objectives,
		p->anti_ideal, p->constraints ? "constraints: " : "",
		p->constraints ? p->constraints : "", random ? "random" : "dpareto", o->evaluations,
		random ? "" : ", acquisition: ", random ? "" : o->acquisition,
		o->gain_model ? ", gain: model" : "",
		o->reference_front ? ", reference: front" : "", o->sobol ? ", design: sobol" : "");
	if (dp_study_parse(text, (size_t)len, p->name, "/", &study, &wrong, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	dp_diagnostics_free(&wrong);
	return study;
}

enum {
	MARKS = 6,
	DRAWN_RUNS = 50,
	NOISE_FREE_RUNS = 1500
};
static const int marks[MARKS] = { 16, 32, 48, 80, 144, 272 };

static void evaluate(const struct bench_problem *p, const double *x, struct dp_rng *rng, int runs,
		     double *y, double *metric)
{
	if (p->draw)
		p->draw(x, rng, runs, y);
	else
		p->eval(x, y, metric);
}

static double exact_value(void *arg, size_t objective, const double *x)
{
	double y[BENCH_OBJECTIVES], metric[BENCH_CONSTRAINTS];
	struct dp_rng rng;

	(void)objective;
	dp_rng_init(&rng, 0, DP_RNG_TEST, 0, 0);
	evaluate(arg, x, &rng, 1, y, metric);
	return y[0];
}

/* What an objective of mechanism is at x, in place of what the problem says. */
static void point_privacy_compute(const struct dp_study *study, const double *x, double *y)
{
	double cost[DP_OBJECTIVES_MAX];
	struct dp_err err;

	if (dp_objectives_epsilon(study, x, cost, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < study->nobjectives; i++)
		y[i] = isnan(cost[i]) ? y[i] : cost[i];
}

/* One study under way. */
struct course {
	const struct bench_problem *p;
	const struct options *o;
	struct dp_study *study;
	struct dp_proposer *proposer;
	struct dp_observation *known;
	double *clean; /* (n x p) without noise */
	double *end;   /* (n) when each trial ends, of -O */
	double now;
	struct dp_history h;
};

/* The points that the program calls its front, of the first n. */
static size_t chosen_front(struct course *c, size_t n, size_t *index)
{
	size_t count = 0, m = 0, np = c->p->p;
	double *y = calloc(n * DP_OBJECTIVES_MAX, sizeof *y);
	size_t *from = calloc(n, sizeof *from);
	struct dp_err err;

	c->h.n = n;
	if (c->o->denoised) {
		if (dp_surrogate_fit(c->proposer, &c->h, NULL, &err) != DP_OK)
			exit(1);
		count = dp_surrogate_posterior_front(c->proposer, &c->h, index, y);
	} else {
		for (size_t i = 0; i < n; i++) {
			if (!dp_observation_is_feasible(c->study, &c->known[i]))
				continue;
			memcpy(y + m * np, c->known[i].y, np * sizeof *y);
			from[m++] = i;
		}
		count = dp_pareto_find_front(y, m, np, index);
		for (size_t i = 0; i < count; i++)
			index[i] = from[index[i]];
	}
	free(y);
	free(from);
	return count;
}

static double front_volume(struct course *c, size_t n)
{
	size_t *index = calloc(n, sizeof *index), np = c->p->p, count;
	double *rows = calloc(n * np, sizeof *rows), v;

	for (size_t k = 0; k < n; k++)
		c->known[k].status = DP_OBSERVATION_OK;
	count = chosen_front(c, n, index);
	for (size_t i = 0; i < count; i++)
		memcpy(rows + i * np, c->clean + index[i] * np, np * sizeof *rows);
	v = dp_hypervolume(rows, count, np, c->p->ref);
	free(index);
	free(rows);
	return v;
}

/* What a front of all points would be worth if it were chosen without noise. */
static double found_volume(const struct course *c, size_t n)
{
	size_t np = c->p->p, m = 0;
	double *rows = calloc(n * np, sizeof *rows), v;

	for (size_t i = 0; i < n; i++)
		if (dp_observation_is_feasible(c->study, &c->known[i]))
			memcpy(rows + m++ * np, c->clean + i * np, np * sizeof *rows);
	v = dp_hypervolume(rows, m, np, c->p->ref);
	free(rows);
	return v;
}

static void measure_trial(struct course *c, size_t t, int seed, const double *x)
{
	const struct bench_problem *p = c->p;
	struct dp_observation *k = &c->known[t];
	double y[BENCH_OBJECTIVES], *clean = c->clean + t * p->p;
	struct dp_rng rng;

	dp_rng_init(&rng, (uint64_t)seed, DP_RNG_TEST, (uint32_t)t, 0);
	evaluate(p, x, &rng, DRAWN_RUNS, y, k->metrics);
	point_privacy_compute(c->study, x, y);
	memcpy(clean, y, p->p * sizeof *clean);
	if (p->draw)
		p->draw(x, &rng, NOISE_FREE_RUNS, clean);
	k->trial = (uint32_t)t;
	memcpy(k->x, x, sizeof k->x);
	for (size_t j = 0; j < p->p; j++) {
		k->y[j] = y[j];
		k->var[j] = NAN;
	}
	if (c->o->noise.runs > 0)
		bench_measure(&c->o->noise, y[p->p - 1], &rng, &k->y[p->p - 1], &k->var[p->p - 1]);
}

struct outcome {
	double at[MARKS], volume, found, cpu;
};

static const double run_spread = 0.5; /* of the logarithm of a run time */

/* A place is free once trial t can be proposed: what is known by then. */
static void results_arrive(struct course *c, size_t t, int seed)
{
	size_t parallel = (size_t)c->o->parallel;
	double next = INFINITY;
	struct dp_rng rng;

	for (size_t k = 0; k < t; k++)
		if (c->end[k] > c->now)
			next = fmin(next, c->end[k]);
	if (t >= parallel)
		c->now = next;
	for (size_t k = 0; k < t; k++) {
		bool known = c->o->asap ? c->end[k] <= c->now : k + parallel <= t;

		c->known[k].status = known ? DP_OBSERVATION_OK : DP_OBSERVATION_PENDING;
	}
	dp_rng_init(&rng, (uint64_t)seed, DP_RNG_TEST, (uint32_t)t, 1);
	c->end[t] = c->now + exp(run_spread * dp_rng_normal(&rng));
}

static void run_seed(const struct bench_problem *p, const struct options *o, int seed,
		     struct outcome *out)
{
	size_t n = (size_t)o->evaluations;
	struct course c = { .p = p, .o = o, .study = make_study(p, o, seed) };

	c.known = calloc(n, sizeof *c.known);
	c.clean = calloc(n * p->p, sizeof *c.clean);
	c.end = calloc(n, sizeof *c.end);
	c.proposer = dp_proposer_new(c.study);
	c.h = (struct dp_history){ .observations = c.known,
				   .exact_objectives = p->exact,
				   .exact_fn = exact_value,
				   .exact_arg = (void *)p };
	memset(out, 0, sizeof *out);
	for (size_t t = 0; t < n; t++) {
		struct dp_proposal next;
		struct dp_err err;
		double before, spent;
		int code;

		results_arrive(&c, t, seed);
		c.h.n = t;
		before = bench_cpu();
		if (o->cold) {
			dp_proposer_free(c.proposer);
			c.proposer = dp_proposer_new(c.study);
		}
		code = dp_proposer_propose(c.proposer, &c.h, (uint32_t)t, NULL, &next, &err);
		if (code != DP_OK) {
			fprintf(stderr, "%s\n", err.msg);
			exit(1);
		}
		spent = bench_cpu() - before;
		out->cpu += spent;
		if (o->times)
			fprintf(stderr, "%zu %.3f ms %s\n", t, 1e3 * spent, next.note);
		measure_trial(&c, t, seed, next.x);
		for (int m = 0; m < MARKS; m++)
			if ((int)t + 1 == marks[m] && t + 1 < n && !o->denoised)
				out->at[m] = front_volume(&c, t + 1);
	}
	out->volume = front_volume(&c, n);
	out->found = found_volume(&c, n);
	dp_proposer_free(c.proposer);
	dp_study_free(c.study);
	free(c.known);
	free(c.clean);
	free(c.end);
}

static void run_problem(const struct bench_problem *p, const struct options *o)
{
	struct outcome r, sum = { .cpu = 0 };
	double square = 0, worst = INFINITY, regret = 0;

	for (int s = 0; s < o->seeds; s++) {
		run_seed(p, o, o->first + s, &r);
		for (int m = 0; m < MARKS; m++)
			sum.at[m] += r.at[m] / o->seeds;
		sum.volume += r.volume / o->seeds;
		sum.found += r.found / o->seeds;
		sum.cpu += r.cpu / o->seeds;
		square += r.volume * r.volume / o->seeds;
		worst = fmin(worst, r.volume);
		regret += log10(fmax(p->best - r.volume, 1e-9)) / o->seeds;
		if (o->times)
			fprintf(stderr, "seed %d: %.5f\n", o->first + s, r.volume);
	}
	printf("{\"problem\":\"%s\",\"acquisition\":\"%s\",\"seeds\":%d,\"evaluations\":%"
	       "d,\"parallel\":%d,\"runs\":%d,\"noise\":%g,\"growing\":%s,\"front\":\"%"
	       "s\","
	       "\"hypervolume\":%.5f,\"found\":%.5f,\"sd\":%.5f,\"worst\":%.5f,\"best_"
	       "known\":%.5f,"
	       "\"log10_regret\":%.3f,\"cpu_seconds\":%.4f,\"at\":{",
	       p->name, o->acquisition, o->seeds, o->evaluations, o->parallel, o->noise.runs,
	       o->noise.size, o->noise.growing ? "true" : "false",
	       o->denoised ? "denoised" : "observed", sum.volume, sum.found,
	       sqrt(fmax(0, square - sum.volume * sum.volume)), worst, p->best, regret, sum.cpu);
	for (int m = 0; m < MARKS && marks[m] < o->evaluations && !o->denoised; m++)
		printf("%s\"%d\":%.5f", m ? "," : "", marks[m], sum.at[m]);
	printf("}}\n");
	fflush(stdout);
}

/* CPU time of one proposal between two fits, with n results known and the points of all
 * other places pending. */
static void run_size(const struct options *o, size_t n)
{
	const struct bench_problem *p = &bench_problems[0];
	struct dp_study *study = make_study(p, o, 0);
	size_t pending = (size_t)o->parallel - 1, all = n + pending + 1;
	struct dp_observation *known = calloc(all, sizeof *known);
	struct dp_proposer *proposer = dp_proposer_new(study);
	struct dp_proposal next;
	struct dp_err err;
	double first = 0, second = 0;

	for (size_t t = 0; t < all; t++) {
		known[t].trial = (uint32_t)t;
		dp_space_sample(study, (uint32_t)t, true, known[t].x);
		p->eval(known[t].x, known[t].y, known[t].metrics);
		known[t].var[0] = known[t].var[1] = NAN;
		known[t].status = t < n ? DP_OBSERVATION_OK : DP_OBSERVATION_PENDING;
	}
	for (size_t m = n; m <= n + 1; m++) {
		struct dp_history h = { .observations = known, .n = m + pending };
		double before = bench_cpu();

		if (dp_proposer_propose(proposer, &h, (uint32_t)(m + pending), NULL, &next, &err) !=
		    DP_OK)
			exit(1);
		first = m == n ? bench_cpu() - before : first;
		second = bench_cpu() - before;
		known[n].status = DP_OBSERVATION_OK; /* one more is known at the second */
	}
	printf("{\"results\":%zu,\"pending\":%zu,\"cold_seconds\":%.3f,\"proposal_ms\":%"
	       ".2f}\n",
	       n, pending, first, 1e3 * second);
	dp_proposer_free(proposer);
	dp_study_free(study);
	free(known);
}

/* ---- the best there is ---- */

enum {
	ARCHIVE = 3000,
	BATCH = 3000,
	ROUNDS = 1000
};

/* A child of two points of the front. */
static void vary_point(const struct dp_study *s, const double *a, const double *b,
		       struct dp_rng *rng, double *x)
{
	double width = pow(10, -4 * dp_rng_uniform(rng)), share = dp_rng_uniform(rng);

	memcpy(x, a, s->nparams * sizeof *x);
	for (size_t k = 0; k < s->nparams; k++) {
		const struct dp_param *q = &s->params[k];
		double t = dp_rng_normal(rng) * width;

		if (dp_rng_uniform(rng) > share)
			continue;
		if (q->kind == DP_PARAM_CATEGORICAL) {
			x[k] = (double)dp_rng_below(rng, json_array_size(q->values));
			continue;
		}
		if (dp_rng_uniform(rng) < 0.3)
			x[k] += (b[k] - a[k]) * dp_rng_uniform(rng);
		else if (q->log_scale)
			x[k] *= exp(t * log(q->hi / q->lo));
		else
			x[k] += t * (q->hi - q->lo);
		x[k] = q->kind == DP_PARAM_INT ? rint(x[k]) : x[k];
		x[k] = fmin(fmax(x[k], q->lo), q->hi);
	}
}

struct crowd {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct crowd *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* Leaves those of n points that are farthest from their neighbours. */
static size_t thin_out(struct dp_observation *known, size_t n, size_t p)
{
	struct crowd *order = calloc(n, sizeof *order), *room = calloc(n, sizeof *room);
	struct dp_observation *kept = calloc(n, sizeof *kept);
	size_t drop = n > ARCHIVE ? n - ARCHIVE : 0;

	for (size_t i = 0; i < n; i++)
		room[i].index = i;
	for (size_t j = 0; j < p; j++) {
		for (size_t i = 0; i < n; i++)
			order[i] = (struct crowd){ known[i].y[j], i };
		qsort(order, n, sizeof *order, by_value);
		for (size_t i = 0; i < n; i++)
			room[order[i].index].value +=
				i == 0 || i + 1 == n
					? INFINITY
					: (order[i + 1].value - order[i - 1].value) /
						  (order[n - 1].value - order[0].value);
	}
	qsort(room, n, sizeof *room, by_value);
	/* every second of the crowded ones, so that no gap opens */
	for (size_t i = 0, gone = 0; i < n; i++)
		kept[i - gone] = known[room[i].index], gone += gone < drop && i % 2 == 0;
	memcpy(known, kept, (n - drop) * sizeof *kept);
	free(order);
	free(room);
	free(kept);
	return n - drop;
}

/* Keeps the front of the first m points, at most about ARCHIVE of them. */
static size_t keep_front(struct course *c, size_t m)
{
	size_t np = c->p->p, count = 0, n = 0, *index = calloc(m, sizeof *index);
	struct dp_observation *kept = calloc(m, sizeof *kept);
	double *y = calloc(m * np, sizeof *y);

	for (size_t i = 0; i < m; i++)
		if (dp_observation_is_feasible(c->study, &c->known[i])) {
			memcpy(y + n * np, c->known[i].y, np * sizeof *y);
			kept[n++] = c->known[i];
		}
	count = dp_pareto_find_front(y, n, np, index);
	for (size_t i = 0; i < count; i++)
		c->known[i] = kept[index[i]];
	free(index);
	free(kept);
	free(y);
	return thin_out(c->known, count, np);
}

static void run_best(const struct bench_problem *p, const struct options *o)
{
	struct course c = { .p = p, .o = o, .study = make_study(p, o, 0) };
	size_t m = 0;
	struct dp_rng rng;
	double most = 0;

	if (p->draw)
		return;
	c.known = calloc(ARCHIVE + BATCH, sizeof *c.known);
	c.clean = calloc((ARCHIVE + BATCH) * p->p, sizeof *c.clean);
	dp_rng_init(&rng, 0, DP_RNG_TEST, 0, 1);
	for (int round = 0; round < ROUNDS; round++) {
		size_t parents = m;

		for (; m < parents + BATCH; m++) {
			struct dp_observation *k = &c.known[m];

			if (parents == 0 || m % 10 == 0)
				dp_space_sample(c.study, (uint32_t)(round * BATCH + (int)m), false,
						k->x);
			else
				vary_point(c.study, c.known[dp_rng_below(&rng, parents)].x,
					   c.known[dp_rng_below(&rng, parents)].x, &rng, k->x);
			p->eval(k->x, k->y, k->metrics);
			point_privacy_compute(c.study, k->x, k->y);
		}
		m = keep_front(&c, m);
		for (size_t i = 0; i < m && round % 100 == 99; i++)
			memcpy(c.clean + i * p->p, c.known[i].y, p->p * sizeof *c.clean);
		if (round % 100 == 99)
			most = fmax(most, front_volume(&c, m));
	}
	printf("{\"problem\":\"%s\",\"best_found\":%.6f,\"points\":%zu}\n", p->name, most, m);
	fflush(stdout);
	dp_study_free(c.study);
	free(c.known);
	free(c.clean);
}

/* ---- the command line ---- */

int main(int argc, char **argv)
{
	struct options o = { .acquisition = "ehvi", .seeds = 20, .evaluations = 80, .parallel = 1 };
	bool best = false;
	int c, results = 0;

	dp_linalg_set_single_thread();
	while ((c = getopt(argc, argv, "p:f:s:n:a:q:N:R:V:G:dgrctSBO")) != -1) {
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
		case 'a':
			o.acquisition = optarg;
			break;
		case 'q':
			o.parallel = atoi(optarg);
			break;
		case 'N':
			results = atoi(optarg);
			break;
		case 'R':
			o.noise.runs = atoi(optarg);
			break;
		case 'V':
		case 'G':
			o.noise.size = atof(optarg);
			o.noise.growing = c == 'G';
			break;
		case 'd':
			o.denoised = true;
			break;
		case 'g':
			o.gain_model = true;
			break;
		case 'r':
			o.reference_front = true;
			break;
		case 'c':
			o.cold = true;
			break;
		case 't':
			o.times = true;
			break;
		case 'S':
			o.sobol = true;
			break;
		case 'O':
			o.asap = true;
			break;
		case 'B':
			best = true;
			break;
		default:
			return 2;
		}
	}
	if (results > 0) {
		run_size(&o, (size_t)results);
		return 0;
	}
	for (size_t i = 0; i < bench_nproblems; i++) {
		const struct bench_problem *p = &bench_problems[i];

		if (o.problem ? !bench_is_listed(o.problem, p->name) : p->apart)
			continue;
		if (best)
			run_best(p, &o);
		else
			run_problem(p, &o);
	}
	return 0;
}
