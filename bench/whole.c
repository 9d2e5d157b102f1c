/* whole.c - what a whole search costs: 272 evaluations of Adult, LogReg+Adam, by every
 * way of accounting, and what a decision of the filter takes. */
#include "privacy/privacy.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	EVALUATIONS = 272,
	/* loss distributions: of one setting each; and of groups by noise, then lot */
	ALONE = 32,
	NOISES = 6,
	LOTS = 5
};
#define DELTA   1e-5
#define RECORDS 30956

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A point of the space in examples/paper/adult-logreg-adam-*.yaml. */
struct setting {
	double lot, steps, variance;
};

struct search {
	const struct dp_mechanism *m;
	struct dp_renyi_cache *memory;
	struct dp_odometer odometer;
	struct setting setting[EVALUATIONS];
	double epsilon[EVALUATIONS];                 /* of one training */
	double k[EVALUATIONS * DP_RENYI_ORDERS_MAX]; /* of one training, by order */
	double sum[DP_RENYI_ORDERS_MAX];
};

static void put(const struct dp_mechanism *m, double *values, const char *key, double x)
{
	values[dp_privacy_key_index(m, dp_privacy_key_find(m, key))] = x;
}

static void values_of(const struct dp_mechanism *m, const struct setting *s, double *v)
{
	for (size_t j = 0; j < m->nkeys; j++)
		v[j] = NAN;
	put(m, v, "sampling", 0); /* without replacement */
	put(m, v, "records", RECORDS);
	put(m, v, "lot", s->lot);
	put(m, v, "steps", s->steps);
	put(m, v, "noise_variance", s->variance);
	put(m, v, "delta", DELTA);
}

static struct setting random_setting(struct dp_rng *r)
{
	double lot = 8 + (double)dp_rng_below(r, 505);
	double epochs = 1 + (double)dp_rng_below(r, 64);

	return (struct setting){ lot, epochs * rint(RECORDS / lot),
				 0.1 + 15.9 * dp_rng_uniform(r) };
}

/* Random points whose own epsilon is at most `most`. */
static int draw(struct search *s, double most, struct dp_err *err)
{
	const struct dp_odometer *o = &s->odometer;
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item item = { s->m, v, 1 };
	struct dp_epsilon e;
	struct dp_rng r;
	int code = DP_OK;

	memset(s->sum, 0, sizeof s->sum);
	dp_rng_init(&r, 1, DP_RNG_SAMPLE, 0, 0);
	for (size_t i = 0; code == DP_OK && i < EVALUATIONS;) {
		s->setting[i] = random_setting(&r);
		values_of(s->m, &s->setting[i], v);
		code = dp_privacy_epsilon(s->m, v, &e, err);
		if (code != DP_OK || e.epsilon > most)
			continue;
		s->epsilon[i] = e.epsilon;
		code = dp_privacy_renyi_curve(s->memory, &item, 1, o->order, o->n, &s->k[i * o->n],
					      err);
		for (size_t j = 0; j < o->n; j++)
			s->sum[j] = dp_renyi_add(s->sum[j], s->k[i * o->n + j]);
		i++;
	}
	return code;
}

/* ---- the search as a whole ---- */

static int by_noise(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;

	return (x->variance > y->variance) - (x->variance < y->variance);
}

static int by_lot(const void *a, const void *b)
{
	const struct setting *x = a, *y = b;

	return (x->lot > y->lot) - (x->lot < y->lot);
}

/* One setting that is never more private than all of these together: their largest lot,
 * their least noise, all their steps. */
static struct setting worst_of(const struct setting *t, size_t n)
{
	struct setting worst = t[0];

	for (size_t i = 1; i < n; i++) {
		worst.lot = fmax(worst.lot, t[i].lot);
		worst.variance = fmin(worst.variance, t[i].variance);
		worst.steps += t[i].steps;
	}
	return worst;
}

/* No more than 64 loss distributions are convolved. The settings with the least noise
 * have one each, the others share theirs with settings like them. */
static int convolved(const struct search *s, double *epsilon, struct dp_err *err)
{
	static struct setting sorted[EVALUATIONS];
	static double v[ALONE + NOISES * LOTS][DP_PRIVACY_KEYS_MAX];
	struct dp_composition_item item[ALONE + NOISES * LOTS];
	size_t n = 0, each = (EVALUATIONS - ALONE) / NOISES / LOTS;
	struct dp_epsilon e;
	int code;

	memcpy(sorted, s->setting, sizeof sorted);
	qsort(sorted, EVALUATIONS, sizeof *sorted, by_noise);
	for (size_t i = 0; i < EVALUATIONS; n++) {
		size_t size = i < ALONE ? 1 : each;
		struct setting worst;

		if (i >= ALONE && (i - ALONE) % (each * LOTS) == 0)
			qsort(&sorted[i], each * LOTS, sizeof *sorted, by_lot);
		worst = worst_of(&sorted[i], size);
		values_of(s->m, &worst, v[n]);
		item[n] = (struct dp_composition_item){ s->m, v[n], 1 };
		i += size;
	}
	code = dp_privacy_compose(item, n, DELTA, true, &e, err);
	*epsilon = e.epsilon;
	return code;
}

/* The least budget under which the filter would have let all of it through. */
static double least_budget(const struct search *s, double *order)
{
	const struct dp_odometer *o = &s->odometer;
	double lo = 0, hi = 1e6;
	struct dp_filter f;

	for (int i = 0; i < 60; i++) {
		double mid = 0.5 * (lo + hi);
		bool fits = false;

		if (dp_filter_choose_order(mid, DELTA, o->order, o->n, s->k, EVALUATIONS, &f,
					   NULL) == DP_OK)
			for (size_t j = 0; j < o->n; j++)
				fits |= o->order[j] == f.order &&
					dp_filter_allows(&f, 0, 0, s->sum[j]);
		*(fits ? &hi : &lo) = mid;
		if (fits)
			*order = f.order;
	}
	return hi;
}

static int compare_cost_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int show_whole(struct search *s, double most, struct dp_err *err)
{
	const struct dp_odometer *o = &s->odometer;
	double pld, order, filter, afterwards = INFINITY, sorted[EVALUATIONS];
	int code = draw(s, most, err);

	if (code == DP_OK)
		code = convolved(s, &pld, err);
	if (code != DP_OK)
		return code;
	memcpy(sorted, s->epsilon, sizeof sorted);
	qsort(sorted, EVALUATIONS, sizeof *sorted, compare_cost_doubles);
	for (size_t i = 0; i < o->n; i++)
		afterwards = fmin(afterwards, (s->sum[i] - log(DELTA)) / (o->order[i] - 1));
	printf("\n%d trainings of epsilon %.2g to %.3g, median %.2g (loss "
	       "distributions)\n",
	       EVALUATIONS, sorted[0], sorted[EVALUATIONS - 1], sorted[EVALUATIONS / 2]);
	printf("  fixed before: loss distributions, grouped    %9.3f\n", pld);
	printf("  fixed before: Renyi, improved conversion     %9.3f\n",
	       dp_renyi_epsilon(o->order, s->sum, o->n, DELTA, &order));
	printf("  unproved: Renyi, classic, order afterwards   %9.3f\n", afterwards);
	filter = least_budget(s, &order);
	printf("  filter: least budget that pays for all       %9.3f  (order %g)\n", filter, order);
	filter = dp_odometer_epsilon(o, s->sum, DELTA, &order);
	printf("  odometer                                     %9.3f  (order %g)\n", filter, order);
	return DP_OK;
}

/* How many of the trainings a budget pays for: in the order drawn, and cheapest first. */
static int show_budget(const struct search *s, double epsilon, struct dp_err *err)
{
	const struct dp_odometer *o = &s->odometer;
	double k[EVALUATIONS], spent = 0;
	size_t drawn = 0, cheapest = 0, place = 0;
	struct dp_filter f;
	int code =
		dp_filter_choose_order(epsilon, DELTA, o->order, o->n, s->k, EVALUATIONS, &f, err);

	if (code != DP_OK)
		return code;
	while (o->order[place] != f.order)
		place++;
	for (size_t i = 0; i < EVALUATIONS; i++) {
		k[i] = s->k[i * o->n + place];
		if (dp_filter_allows(&f, spent, 0, k[i])) {
			spent = dp_renyi_add(spent, k[i]);
			drawn++;
		}
	}
	qsort(k, EVALUATIONS, sizeof *k, compare_cost_doubles);
	for (spent = 0; cheapest < EVALUATIONS; cheapest++) {
		if (!dp_filter_allows(&f, spent, 0, k[cheapest]))
			break;
		spent = dp_renyi_add(spent, k[cheapest]);
	}
	printf("  budget %4g: order %5.4g; %3zu of them as they come and fit, %3zu "
	       "cheapest first\n",
	       epsilon, f.order, drawn, cheapest);
	return DP_OK;
}

/* ---- private selection ---- */

/* The largest K of all settings, each with the noise that makes its epsilon `target`. */
static int calibrated(const struct search *s, double target, double *k, struct dp_err *err)
{
	const struct dp_odometer *o = &s->odometer;
	double v[DP_PRIVACY_KEYS_MAX], noise, one[DP_RENYI_ORDERS_MAX];
	struct dp_composition_item item = { s->m, v, 1 };
	struct dp_epsilon e;
	int code = DP_OK;

	memset(k, 0, o->n * sizeof *k);
	for (size_t i = 0; code == DP_OK && i < 16; i++) {
		values_of(s->m, &s->setting[i], v);
		code = dp_privacy_solve_noise(s->m, v, target, &noise, &e, err);
		if (code != DP_OK)
			break;
		dp_privacy_set_value(s->m, v, s->m->noise, noise);
		code = dp_privacy_renyi_curve(s->memory, &item, 1, o->order, o->n, one, err);
		for (size_t j = 0; j < o->n; j++)
			k[j] = fmax(k[j], one[j]);
	}
	return code;
}

static int show_selection(const struct search *s, double target, double mean, struct dp_err *err)
{
	const struct dp_odometer *o = &s->odometer;
	double k[DP_RENYI_ORDERS_MAX], all[DP_RENYI_ORDERS_MAX];
	struct dp_selection law[3];
	int code = calibrated(s, target, k, err);

	if (code == DP_OK)
		code = dp_selection_init_neg_binomial(0, mean, &law[0], err);
	if (code == DP_OK)
		code = dp_selection_init_neg_binomial(1, mean, &law[1], err);
	if (code == DP_OK)
		code = dp_selection_init_poisson(mean, &law[2], err);
	if (code != DP_OK)
		return code;
	printf("  each %g (%.3f by Renyi), %g on average:", target,
	       dp_renyi_epsilon(o->order, k, o->n, DELTA, NULL), mean);
	for (size_t i = 0; i < DP_COUNT(law); i++) {
		static const char *const names[] = { "logarithmic", "geometric", "Poisson" };

		dp_selection_renyi(&law[i], o->order, k, NULL, o->n, all);
		printf(" %s %.3f", names[i], dp_renyi_epsilon(o->order, all, o->n, DELTA, NULL));
	}
	for (size_t j = 0; j < o->n; j++)
		all[j] = mean * k[j];
	printf("; all published %.3f\n", dp_renyi_epsilon(o->order, all, o->n, DELTA, NULL));
	return DP_OK;
}

/* ---- time ---- */

static int show_time(const struct search *s, double order, bool new_noise, struct dp_err *err)
{
	enum {
		ROUNDS = 20000
	};
	double v[DP_PRIVACY_KEYS_MAX], k, spent = 0, start = cpu_us();
	struct dp_composition_item item = { s->m, v, 1 };
	struct dp_filter f;
	int code = dp_filter_init(8, DELTA, order, &f, err);

	for (int i = 0; code == DP_OK && i < ROUNDS; i++) {
		struct setting t = s->setting[i % EVALUATIONS];

		t.variance = new_noise ? t.variance + 1e-4 * i : 4;
		values_of(s->m, &t, v);
		code = dp_privacy_renyi_curve(s->memory, &item, 1, &order, 1, &k, err);
		if (code == DP_OK && dp_filter_allows(&f, spent, 0, k))
			spent = dp_renyi_add(spent, k);
	}
	printf("  order %3g, %s noise %8.2f us\n", order, new_noise ? "new  " : "known",
	       (cpu_us() - start) / ROUNDS);
	return code;
}

static int show(struct search *s, struct dp_err *err)
{
	static const double budgets[] = { 1, 2, 4, 8, 20 };
	static const double orders[] = { 3, 9, 33, 129 };
	int code = show_whole(s, INFINITY, err);

	if (code == DP_OK)
		code = show_whole(s, 1, err);
	for (size_t i = 0; code == DP_OK && i < DP_COUNT(budgets); i++)
		code = show_budget(s, budgets[i], err);
	printf("\nprivate selection, every setting calibrated to one epsilon\n");
	for (int i = 0; code == DP_OK && i < 4; i++)
		code = show_selection(s, i & 1 ? 1 : 0.25, i & 2 ? EVALUATIONS : 20, err);
	printf("\na decision of the filter: curve of the setting, and does it fit\n");
	for (size_t i = 0; code == DP_OK && i < 2 * DP_COUNT(orders); i++)
		code = show_time(s, orders[i / 2], i & 1, err);
	return code;
}

int main(void)
{
	static struct search s;
	struct dp_err err = { 0 };
	int code;

	s.m = dp_mechanism_find("dp-sgd");
	s.memory = dp_renyi_cache_new();
	dp_odometer_init_default(&s.odometer);
	printf("Adult, LogReg+Adam: random points of its space, one run each, without "
	       "replacement, delta %g\n",
	       DELTA);
	code = s.memory ? show(&s, &err) : dp_fail(&err, DP_E_NOMEM, "no memory");
	if (code != DP_OK)
		fprintf(stderr, "%s\n", err.msg);
	dp_renyi_cache_free(s.memory);
	return code != DP_OK;
}
