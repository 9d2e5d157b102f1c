/* walk.c - does a search get further when each training is a path? On known problems.
 *
 *   walk [-p PROBLEM[,PROBLEM]] [-f FIRST-SEED] [-s SEEDS] [-n TRAININGS] [-k WAYPOINTS]
 *        [-E EPOCHS] [-R RUNS -G SHARE] [-a ACQUISITION] [-i INITIAL] [-q PARALLEL] [-t]
 *
 * A plain search makes TRAININGS of which it sees the ends; one with paths sees WAYPOINTS
 * of each as well and may train as many epochs in all as the plain one did, or EPOCHS.
 * The privacy objective is exact in both. With -R the error is measured by so many runs;
 * the deviation of a run, of sd SHARE times the error, goes on along its path: two places
 * on it correlate by the ratio of their epochs. What counts is the hypervolume, without
 * the noise, of the points of the observed front, at several numbers of epochs; and how
 * many epochs the paths need for what the plain search has in the end. */
#include "bench/clock.h"
#include "bench/problems.h"
#include "base/rng.h"
#include "optimize/pareto/pareto.h"
#include "linalg/linalg.h"
#include "optimize/propose/proposer.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	MARKS = 7,
	MOST_TRAININGS = 2000,
	MOST_RUNS = 64
};
static const double marks[MARKS] = { 64, 128, 256, 350, 512, 1024, 1536 };

struct options {
	const char *problem, *acquisition;
	int first, seeds, trainings, waypoints, runs, initial, parallel;
	double epochs, share;
	bool times;
};

static struct dp_study *make_study(const struct bench_problem *p, const struct options *o, int seed,
				   bool path)
{
	char text[8192], walk[80] = "";
	struct dp_diagnostics wrong = { 0 };
	struct dp_study *study = NULL;
	struct dp_err err;
	int len;

	if (path)
		snprintf(walk, sizeof walk, ", path: {parameter: epochs, points: %d}",
			 o->waypoints);
	len = snprintf(text, sizeof text,
		       "study: %s\nseed: %d\ndata: public\ntrainer: {command: [none], "
		       "runs: %d%s}\n"
		       "parameters:\n%sobjectives:\n%santi_ideal: %s\n"
		       "search: {method: dpareto, evaluations: %d, acquisition: %s, "
		       "initial: %d}\n",
		       p->name, seed, o->runs > 0 ? o->runs : 1, walk, p->params, p->objectives,
		       p->anti_ideal, MOST_TRAININGS, o->acquisition,
		       path && o->initial ? o->initial : 16);
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

	(void)objective;
	p->eval(x, y, metric);
	return y[0];
}

/* One study under way. */
struct course {
	const struct bench_problem *p;
	const struct options *o;
	struct dp_study *study;
	struct dp_proposer *proposer;
	struct dp_observation *known; /* by training, then along its path */
	double *clean;                /* (n x 2) without the noise */
	size_t n, from[MOST_TRAININGS + 1];
	double epochs, at[MARKS], volume, cpu;
	int trainings;
};

static double front_volume(const struct course *c, size_t n)
{
	double *y = calloc(2 * n + 1, sizeof *y), v;
	size_t *index = calloc(n + 1, sizeof *index), count;

	for (size_t i = 0; i < n; i++)
		memcpy(y + 2 * i, c->known[i].y, 2 * sizeof *y);
	count = dp_pareto_find_front(y, n, 2, index);
	for (size_t i = 0; i < count; i++)
		memcpy(y + 2 * i, c->clean + 2 * index[i], 2 * sizeof *y);
	v = dp_hypervolume(y, count, 2, c->p->ref);
	free(y);
	free(index);
	return v;
}

/* The mean of the runs at a point of the path; deviation (runs) walks along with it. */
static void measure(const struct course *c, double clean, double step, double *deviation,
		    struct dp_rng *rng, struct dp_observation *k)
{
	double sum = 0, square = 0, stays = exp(-step);
	int runs = c->o->runs;

	k->y[1] = clean;
	for (int r = 0; r < runs; r++) {
		double v;

		deviation[r] = stays * deviation[r] + sqrt(1 - stays * stays) * dp_rng_normal(rng);
		v = fmin(fmax(clean * (1 + c->o->share * deviation[r]), 0), 1);
		sum += v;
		square += v * v;
	}
	if (runs > 0)
		k->y[1] = sum / runs;
	if (runs > 1)
		k->var[1] = fmax(0, square / runs - k->y[1] * k->y[1]) / (runs - 1);
}

/* Trains at x: waypoints, then the end. */
static void train(struct course *c, uint32_t trial, int seed, const double *x)
{
	double at[DP_CHECKPOINTS_MAX + 1], deviation[MOST_RUNS] = { 0 };
	size_t n = dp_learning_curve_checkpoints(c->study, x, at);
	struct dp_rng rng;

	dp_rng_init(&rng, (uint64_t)seed, DP_RNG_TEST, trial, 0);
	at[n] = x[0];
	c->from[trial] = c->n;
	for (size_t i = 0; i <= n; i++, c->n++) {
		struct dp_observation *k = &c->known[c->n];
		double *clean = c->clean + 2 * c->n, metric[BENCH_CONSTRAINTS];

		*k = (struct dp_observation){ .trial = trial, .checkpoint = i < n ? at[i] : 0 };
		memcpy(k->x, x, sizeof k->x);
		k->x[0] = at[i];
		k->var[0] = k->var[1] = NAN;
		c->p->eval(k->x, clean, metric);
		k->y[0] = clean[0];
		measure(c, clean[1], i == 0 ? INFINITY : log(at[i] / at[i - 1]), deviation, &rng,
			k);
	}
	c->from[trial + 1] = c->n;
	c->epochs += x[0];
}

/* Results come parallel - 1 trainings late. */
static void set_pending(struct course *c, size_t trial)
{
	size_t late = (size_t)c->o->parallel - 1, first = trial > late ? trial - late : 0;

	for (size_t i = 0; i < c->n; i++)
		c->known[i].status =
			i >= c->from[first] ? DP_OBSERVATION_PENDING : DP_OBSERVATION_OK;
}

/* Trains until so many trainings or epochs; wanted: stops when that volume is there
 * (0: never), and returns the epochs it took. */
static double run_course(struct course *c, int seed, int trainings, double epochs, double wanted)
{
	struct dp_history h = { .exact_objectives = 1,
				.exact_fn = exact_value,
				.exact_arg = (void *)c->p };
	double reached = INFINITY;

	for (uint32_t t = 0; (int)t < trainings && c->epochs < epochs; t++) {
		struct dp_proposal next;
		struct dp_err err;
		double before = bench_cpu(), spent, was = c->epochs;

		set_pending(c, t);
		h.observations = c->known;
		h.n = c->n;
		if (dp_proposer_propose(c->proposer, &h, t, NULL, &next, &err) != DP_OK) {
			fprintf(stderr, "%s\n", err.msg);
			exit(1);
		}
		spent = bench_cpu() - before;
		c->cpu += spent;
		train(c, t, seed, next.x);
		c->trainings++;
		c->volume = front_volume(c, c->n);
		if (isinf(reached) && c->volume >= wanted)
			reached = c->epochs;
		for (int m = 0; m < MARKS; m++)
			if (c->epochs <= marks[m] || was == 0)
				c->at[m] = c->volume;
		if (c->o->times)
			fprintf(stderr,
				"%u: %.1f ms, x %g %g %.3g %.3g %.3g -> %.0f epochs, "
				"%.4f %s\n",
				t, 1e3 * spent, next.x[0], next.x[1], next.x[2], next.x[3],
				next.x[4], c->epochs, c->volume, next.note);
	}
	return reached;
}

static void course_new(struct course *c, const struct bench_problem *p, const struct options *o,
		       int seed, bool path)
{
	size_t room = (size_t)MOST_TRAININGS * (path ? (size_t)o->waypoints + 1 : 1);

	memset(c, 0, sizeof *c);
	c->p = p;
	c->o = o;
	c->study = make_study(p, o, seed, path);
	c->known = calloc(room, sizeof *c->known);
	c->clean = calloc(2 * room, sizeof *c->clean);
	c->proposer = dp_proposer_new(c->study);
}

static void course_free(struct course *c)
{
	dp_proposer_free(c->proposer);
	dp_study_free(c->study);
	free(c->known);
	free(c->clean);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void show_marks(const char *name, const double *at)
{
	printf("\"%s\":{", name);
	for (int m = 0; m < MARKS; m++)
		printf("%s\"%.0f\":%.4f", m ? "," : "", marks[m], at[m]);
	printf("},");
}

static void run_problem(const struct bench_problem *p, const struct options *o)
{
	double plain[MARKS] = { 0 }, path[MARKS] = { 0 }, reached[1000], sum[7] = { 0 };
	static struct course a, b;

	for (int s = 0; s < o->seeds; s++) {
		int seed = o->first + s;
		double each = 1.0 / o->seeds;

		course_new(&a, p, o, seed, false);
		course_new(&b, p, o, seed, true);
		run_course(&a, seed, o->trainings, INFINITY, 0);
		reached[s] = run_course(&b, seed, MOST_TRAININGS,
					o->epochs > 0 ? o->epochs : a.epochs, a.volume) /
			     a.epochs;
		for (int m = 0; m < MARKS; m++) {
			plain[m] += each * a.at[m];
			path[m] += each * b.at[m];
		}
		sum[0] += each * a.epochs;
		sum[1] += each * a.volume;
		sum[2] += each * b.epochs;
		sum[3] += each * b.volume;
		sum[4] += each * b.trainings;
		sum[5] += each * a.cpu;
		sum[6] += each * b.cpu;
		course_free(&a);
		course_free(&b);
	}
	qsort(reached, (size_t)o->seeds, sizeof *reached, by_value);
	printf("{\"problem\":\"%s\",\"seeds\":%d,\"runs\":%d,\"share\":%g,", p->name, o->seeds,
	       o->runs, o->share);
	show_marks("plain_at", plain);
	show_marks("path_at", path);
	printf("\"plain_epochs\":%.0f,\"plain\":%.5f,\"path_epochs\":%.0f,\"path\":%.5f,"
	       "\"path_trainings\":%.1f,\"plain_cpu\":%.2f,\"path_cpu\":%.2f,"
	       "\"epochs_needed\":{\"median\":%.3f,\"most\":%.3f}}\n",
	       sum[0], sum[1], sum[2], sum[3], sum[4], sum[5], sum[6], reached[o->seeds / 2],
	       reached[o->seeds - 1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct options o = { .problem = "dplike,dplike2,dplike3",
			     .acquisition = "ehvi",
			     .seeds = 20,
			     .trainings = 48,
			     .waypoints = 12,
			     .parallel = 1 };
	int c;

	dp_linalg_set_single_thread();
	while ((c = getopt(argc, argv, "p:f:s:n:k:E:R:G:a:i:q:t")) != -1) {
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
			o.trainings = atoi(optarg);
			break;
		case 'k':
			o.waypoints = atoi(optarg);
			break;
		case 'E':
			o.epochs = atof(optarg);
			break;
		case 'R':
			o.runs = atoi(optarg);
			break;
		case 'G':
			o.share = atof(optarg);
			break;
		case 'a':
			o.acquisition = optarg;
			break;
		case 'i':
			o.initial = atoi(optarg);
			break;
		case 'q':
			o.parallel = atoi(optarg);
			break;
		case 't':
			o.times = true;
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
