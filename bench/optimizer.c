/* optimizer.c - the search on known problems: hypervolume reached and CPU time spent.
 *
 *   optimizer [-p PROBLEM] [-f FIRST-SEED] [-s SEEDS] [-n EVALUATIONS] [-a ACQUISITION]
 * [-q PARALLEL]
 *             [-g gain: model] [-r reference: front] [-S design: sobol]
 *             [-c cold: no memory] [-t times]
 *   optimizer -N RESULTS    cost of one proposal when so many results are known
 *
 * Prints one JSON object a problem. Problems are minimised; hypervolumes are in the
 * natural units of the objectives. Results arrive in the order of the trials, each
 * PARALLEL - 1 proposals late. */
#include "bench/clock.h"
#include "base/rng.h"
#include "front/front.h"
#include "linalg/linalg.h"
#include "propose/propose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct problem {
	const char *name, *params, *objectives, *anti_ideal;
	size_t p;
	double ref[4], best;
	void (*eval)(const double *x, struct dp_rng *rng, int runs, double *y);
	bool noisy;
	unsigned exact;
};

/* ---- the problems ---- */

static double svt_problem_f1(double C, double b, int runs, struct dp_rng *rng)
{
	double b1 = b / (1 + cbrt(2 * C)), b2 = b - b1, sum = 0;

	for (int r = 0; r < runs; r++) {
		double level = 0.5 + b1 * dp_rng_laplace(rng);
		int ones = 10, left = 100, tp = 0, positive = 0;

		for (; left > 0 && positive < C; left--) {
			int q = dp_rng_below(rng, (uint64_t)left) < (uint64_t)ones;

			ones -= q;
			if (q + b2 * dp_rng_laplace(rng) < level)
				continue;
			positive++;
			tp += q;
		}
		sum += 2.0 * tp / (positive + 10);
	}
	return sum / runs;
}

static void svt_problem(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double C = x[0], b = x[1];

	y[0] = (1 + cbrt(2 * C)) * (1 + pow(2 * C, 2.0 / 3)) / b;
	y[1] = 1 - svt_problem_f1(C, b, runs, rng);
}

static void dplike(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double e = x[0], m = x[1], lr = x[2], v = x[3], c = x[4];
	double q = m / 32561, T = e / q, mu = q * sqrt(T * expm1(1 / v));
	double U = 1 / (1 + lr * T * c / (1 + c) / 2);
	double r = lr * sqrt(v) * c * sqrt(T * 100) / m, W = r / (1 + r);
	double h = log10(lr) + 2 - 0.5 * log10(m / 64), V = 0.08 * h * h / (1 + h * h);

	(void)rng;
	(void)runs;
	y[0] = mu * mu / 2 + mu * sqrt(2 * log(1e6));
	y[1] = 0.15 + 0.35 * (1 - (1 - U) * (1 - W)) + V;
}

static double zdt_g(const double *x)
{
	return 1 + 9 * (x[1] + x[2] + x[3] + x[4] + x[5]) / 5;
}

static void zdt1(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double g = zdt_g(x);

	(void)rng;
	(void)runs;
	y[0] = x[0];
	y[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double g = zdt_g(x);

	(void)rng;
	(void)runs;
	y[0] = x[0];
	y[1] = g * (1 - (x[0] / g) * (x[0] / g));
}

static void zdt3(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double g = zdt_g(x);

	(void)rng;
	(void)runs;
	y[0] = x[0];
	y[1] = g * (1 - sqrt(x[0] / g) - x[0] / g * sin(10 * M_PI * x[0]));
}

static void dtlz2(const double *x, size_t p, double *y)
{
	double g = 0;

	for (size_t i = p - 1; i < 6; i++)
		g += (x[i] - 0.5) * (x[i] - 0.5);
	for (size_t i = 0; i < p; i++) {
		y[i] = 1 + g;
		for (size_t k = 0; k < p - 1 - i; k++)
			y[i] *= cos(x[k] * M_PI / 2);
		if (i)
			y[i] *= sin(x[p - 1 - i] * M_PI / 2);
	}
}

static void dtlz2_2(const double *x, struct dp_rng *rng, int runs, double *y)
{
	(void)rng;
	(void)runs;
	dtlz2(x, 2, y);
}

static void dtlz2_3(const double *x, struct dp_rng *rng, int runs, double *y)
{
	(void)rng;
	(void)runs;
	dtlz2(x, 3, y);
}

static void dtlz2_4(const double *x, struct dp_rng *rng, int runs, double *y)
{
	(void)rng;
	(void)runs;
	dtlz2(x, 4, y);
}

static void branincurrin(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double a = 15 * x[0] - 5, b = 15 * x[1], s = x[0];
	double t = b - 5.1 / (4 * M_PI * M_PI) * a * a + 5 / M_PI * a - 6;
	double k = x[1] > 0 ? 1 - exp(-1 / (2 * x[1])) : 1;

	(void)rng;
	(void)runs;
	y[0] = t * t + 10 * (1 - 1 / (8 * M_PI)) * cos(a) + 10;
	y[1] = k * (2300 * s * s * s + 1900 * s * s + 2092 * s + 60) /
	       (100 * s * s * s + 500 * s * s + 4 * s + 20);
}

#define CUBE2 "  x0: {type: float, range: [0, 1]}\n  x1: {type: float, range: [0, 1]}\n"
#define CUBE6                                                                            \
	CUBE2 "  x2: {type: float, range: [0, 1]}\n  x3: {type: float, range: [0, 1]}\n" \
	      "  x4: {type: float, range: [0, 1]}\n  x5: {type: float, range: [0, 1]}\n"
#define DPLIKE                                                                           \
	"  epochs: {type: int, range: [1, 64]}\n  lot: {type: int, range: [8, 512]}\n"   \
	"  lr: {type: float, range: [5e-4, 5e-2], scale: log}\n"                         \
	"  v: {type: float, range: [0.1, 16]}\n  c: {type: float, range: [0.1, 4]}\n"
#define DP_OBJECTIVES                                                                    \
	"  e: {metric: e, transform: log}\n  u: {metric: u, transform: logit}\n"
/* A real oracle in the place of dplike's formula. */
#define SGD_OBJECTIVES(accountant)                                                       \
	"  e: {privacy: {mechanism: dp-sgd, sampling: without-replacement, records: "    \
	"32561, lot: lot, epochs: epochs, noise_variance: v, delta: 1e-6, "              \
	"accountant: " accountant "}}\n  u: {metric: u, transform: logit}\n"
#define PLAIN2 "  a: {metric: a}\n  b: {metric: b}\n"
#define PLAIN3 PLAIN2 "  c: {metric: c}\n"
#define PLAIN4 PLAIN3 "  d: {metric: d}\n"

static const struct problem problems[] = {
	{ "dplike",
	  DPLIKE,
	  DP_OBJECTIVES,
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  8.198229,
	  dplike,
	  false,
	  0 },
	{ "dplike-exact",
	  DPLIKE,
	  DP_OBJECTIVES,
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  8.198229,
	  dplike,
	  false,
	  1 },
	{ "svt",
	  "  C: {type: int, range: [1, 30]}\n"
	  "  b: {type: float, range: [1e-2, 1e2], scale: log}\n",
	  DP_OBJECTIVES,
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  1.547716,
	  svt_problem,
	  true,
	  0 },
	{ "svt-exact",
	  "  C: {type: int, range: [1, 30]}\n"
	  "  b: {type: float, range: [1e-2, 1e2], scale: log}\n",
	  DP_OBJECTIVES,
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  1.547716,
	  svt_problem,
	  true,
	  1 },
	{ "dpsgd-rdp",
	  DPLIKE,
	  SGD_OBJECTIVES("rdp"),
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  8.1343,
	  dplike,
	  false,
	  0 },
	{ "dpsgd-pld",
	  DPLIKE,
	  SGD_OBJECTIVES("pld"),
	  "{e: 10, u: 1}",
	  2,
	  { 10, 1 },
	  8.2033,
	  dplike,
	  false,
	  0 },
	{ "zdt1",
	  CUBE6,
	  PLAIN2,
	  "{a: 11, b: 11}",
	  2,
	  { 11, 11 },
	  120.666667,
	  zdt1,
	  false,
	  0 },
	{ "zdt2",
	  CUBE6,
	  PLAIN2,
	  "{a: 11, b: 11}",
	  2,
	  { 11, 11 },
	  120.333333,
	  zdt2,
	  false,
	  0 },
	{ "zdt3",
	  CUBE6,
	  PLAIN2,
	  "{a: 11, b: 11}",
	  2,
	  { 11, 11 },
	  128.778116,
	  zdt3,
	  false,
	  0 },
	{ "dtlz2_2",
	  CUBE6,
	  PLAIN2,
	  "{a: 1.1, b: 1.1}",
	  2,
	  { 1.1, 1.1 },
	  0.424602,
	  dtlz2_2,
	  false,
	  0 },
	{ "dtlz2_3",
	  CUBE6,
	  PLAIN3,
	  "{a: 1.1, b: 1.1, c: 1.1}",
	  3,
	  { 1.1, 1.1, 1.1 },
	  0.807401,
	  dtlz2_3,
	  false,
	  0 },
	{ "dtlz2_4",
	  CUBE6,
	  PLAIN4,
	  "{a: 1.1, b: 1.1, c: 1.1, d: 1.1}",
	  4,
	  { 1.1, 1.1, 1.1, 1.1 },
	  1.4641 - M_PI *M_PI / 32,
	  dtlz2_4,
	  false,
	  0 },
	{ "branincurrin",
	  CUBE2,
	  PLAIN2,
	  "{a: 18, b: 6}",
	  2,
	  { 18, 6 },
	  59.360119,
	  branincurrin,
	  false,
	  0 },
};

/* ---- running one ---- */

struct options {
	const char *problem, *acquisition;
	int first, seeds, evaluations, parallel;
	bool gain_model, reference_front, cold, times, sobol;
};

static struct dp_study *make_study(const struct problem *p, const struct options *o,
				   int seed)
{
	char text[4096];
	struct dp_problems wrong = { 0 };
	struct dp_study *study = NULL;
	struct dp_err err;
	bool random = !strcmp(o->acquisition, "search");
	int len;

	len = snprintf(text, sizeof text,
		       "study: %s\nseed: %d\ntrainer: {command: [none]}\nparameters:\n%s"
		       "objectives:\n%santi_ideal: %s\n"
		       "search: {method: %s, evaluations: %d%s%s%s%s%s}\n",
		       p->name, seed, p->params, p->objectives, p->anti_ideal,
		       random ? "random" : "dpareto", o->evaluations,
		       random ? "" : ", acquisition: ", random ? "" : o->acquisition,
		       o->gain_model ? ", gain: model" : "",
		       o->reference_front ? ", reference: front" : "",
		       o->sobol ? ", design: sobol" : "");
	if (dp_study_parse(text, (size_t)len, p->name, "/", &study, &wrong, &err) !=
	    DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	dp_problems_free(&wrong);
	return study;
}

static double exact_value(void *arg, size_t objective, const double *x)
{
	const struct problem *p = arg;
	double y[4];
	struct dp_rng rng;

	(void)objective;
	dp_rng_init(&rng, 0, DP_RNG_TEST, 0, 0);
	p->eval(x, &rng, 1, y);
	return y[0];
}

static double front_volume(const struct problem *p, const double *y, size_t n)
{
	double v;

	if (dp_hypervolume(y, n, p->p, p->ref, &v) != DP_OK)
		exit(1);
	return v;
}

enum {
	MARKS = 6,
	NOISE_FREE_RUNS = 1500
};
static const int marks[MARKS] = { 16, 32, 48, 80, 144, 272 };

struct outcome {
	double at[MARKS], clean, cpu;
	int distinct;
};

/* What an objective of mechanism is at x, in place of what the problem says. */
static void ask_oracles(const struct dp_study *study, const double *x, double *y)
{
	double cost[DP_OBJECTIVES_MAX];
	struct dp_err err;

	if (dp_objectives_privacy(study, x, cost, &err) != DP_OK) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	for (size_t i = 0; i < study->nobjectives; i++)
		y[i] = isnan(cost[i]) ? y[i] : cost[i];
}

static void run_seed(const struct problem *p, const struct options *o, int seed,
		     struct outcome *out)
{
	size_t n = (size_t)o->evaluations;
	struct dp_study *study = make_study(p, o, seed);
	struct dp_known *known = calloc(n, sizeof *known);
	double *y = calloc(n * 4, sizeof *y), *clean = calloc(n * 4, sizeof *clean);
	struct dp_proposer *proposer = dp_proposer_new(study);
	struct dp_history h = { known, 0, p->exact, exact_value, (void *)p };

	memset(out, 0, sizeof *out);
	for (size_t t = 0; t < n; t++) {
		struct dp_proposal next;
		struct dp_rng rng;
		struct dp_err err;
		double before = bench_cpu(), spent;
		int code;

		/* result t - parallel arrives */
		for (size_t k = 0; k < t; k++)
			known[k].status = k + (size_t)o->parallel > t ? DP_KNOWN_PENDING
								      : DP_KNOWN_OK;
		h.n = t;
		code = o->cold ? dp_propose(study, &h, (uint32_t)t, NULL, &next, &err)
			       : dp_proposer_ask(proposer, &h, (uint32_t)t, NULL, &next,
						 &err);
		if (code != DP_OK) {
			fprintf(stderr, "%s\n", err.msg);
			exit(1);
		}
		spent = bench_cpu() - before;
		out->cpu += spent;
		if (o->times)
			fprintf(stderr, "%zu %.3f ms %s\n", t, 1e3 * spent, next.note);
		dp_rng_init(&rng, (uint64_t)seed, DP_RNG_TEST, (uint32_t)t, 0);
		p->eval(next.x, &rng, 50, y + t * p->p);
		ask_oracles(study, next.x, y + t * p->p);
		if (p->noisy)
			p->eval(next.x, &rng, NOISE_FREE_RUNS, clean + t * p->p);
		known[t].trial = (uint32_t)t;
		memcpy(known[t].x, next.x, sizeof next.x);
		for (size_t j = 0; j < p->p; j++) {
			known[t].y[j] = y[t * p->p + j];
			known[t].var[j] = NAN;
		}
		for (int m = 0; m < MARKS; m++)
			if ((int)t + 1 == marks[m])
				out->at[m] = front_volume(p, y, t + 1);
	}
	out->clean = p->noisy ? front_volume(p, clean, n) : front_volume(p, y, n);
	dp_proposer_free(proposer);
	dp_study_free(study);
	free(known);
	free(y);
	free(clean);
}

static void run_problem(const struct problem *p, const struct options *o)
{
	struct outcome r, sum = { .cpu = 0 };
	double square = 0, worst = INFINITY;

	for (int s = 0; s < o->seeds; s++) {
		run_seed(p, o, o->first + s, &r);
		for (int m = 0; m < MARKS; m++)
			sum.at[m] += r.at[m] / o->seeds;
		sum.clean += r.clean / o->seeds;
		sum.cpu += r.cpu / o->seeds;
		square += r.clean * r.clean / o->seeds;
		worst = fmin(worst, r.clean);
		if (o->times)
			fprintf(stderr, "seed %d: %.5f\n", s, r.clean);
	}
	printf("{\"problem\":\"%s\",\"acquisition\":\"%s\",\"seeds\":%d,\"evaluations\":%"
	       "d,"
	       "\"parallel\":%d,\"hypervolume\":%.5f,\"sd\":%.5f,\"worst\":%.5f,"
	       "\"best_known\":%.5f,\"cpu_seconds\":%.4f,\"at\":{",
	       p->name, o->acquisition, o->seeds, o->evaluations, o->parallel, sum.clean,
	       sqrt(fmax(0, square - sum.clean * sum.clean)), worst, p->best, sum.cpu);
	for (int m = 0; m < MARKS && marks[m] <= o->evaluations; m++)
		printf("%s\"%d\":%.5f", m ? "," : "", marks[m], sum.at[m]);
	printf("}}\n");
	fflush(stdout);
}

/* CPU time of one proposal between two fits, with n results known. */
static void run_size(const struct options *o, size_t n)
{
	const struct problem *p = &problems[0];
	struct dp_study *study = make_study(p, o, 0);
	struct dp_known *known = calloc(n + 1, sizeof *known);
	struct dp_proposer *proposer = dp_proposer_new(study);
	struct dp_proposal next;
	struct dp_err err;
	double first = 0, second = 0;

	for (size_t t = 0; t <= n; t++) {
		known[t].trial = (uint32_t)t;
		dp_space_sample(study, (uint32_t)t, true, known[t].x);
		p->eval(known[t].x, NULL, 1, known[t].y);
		known[t].var[0] = known[t].var[1] = NAN;
	}
	for (size_t m = n; m <= n + 1; m++) {
		struct dp_history h = { known, m, 0, NULL, NULL };
		double before = bench_cpu();

		if (dp_proposer_ask(proposer, &h, (uint32_t)m, NULL, &next, &err) !=
		    DP_OK)
			exit(1);
		first = m == n ? bench_cpu() - before : first;
		second = bench_cpu() - before;
	}
	printf("{\"results\":%zu,\"cold_seconds\":%.3f,\"proposal_ms\":%.2f}\n", n, first,
	       1e3 * second);
	dp_proposer_free(proposer);
	dp_study_free(study);
	free(known);
}

int main(int argc, char **argv)
{
	struct options o = {
		NULL, "ehvi", 0, 20, 80, 1, false, false, false, false, false
	};
	int c;

	dp_linalg_single_thread();
	while ((c = getopt(argc, argv, "p:f:s:n:a:q:N:grctS")) != -1) {
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
			run_size(&o, (size_t)atoi(optarg));
			return 0;
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
		default:
			return 2;
		}
	}
	for (size_t i = 0; i < DP_COUNT(problems); i++)
		if (!o.problem || !strcmp(o.problem, problems[i].name))
			run_problem(&problems[i], &o);
	return 0;
}
