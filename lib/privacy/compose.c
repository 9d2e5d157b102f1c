/* compose.c - several mechanisms on the same data.
 *
 * Renyi divergences add up (Mironov 2017, Proposition 1); privacy losses of dominating
 * pairs convolve (Zhu, Dong and Wang 2022, Theorem 10); pure epsilons add up (Dwork et
 * al. 2006). All three hold for mechanisms chosen adaptively. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mix {
	size_t n;
	struct dp__part *parts; /* (n) */
	struct dp__wor **wor;   /* (n) for parts that need one */
	bool *tight;            /* (n) */
};

/* With less noise than that, epsilon is in the thousands, and its integrals would take a
 * second. */
#define ORDERS_MATTER 30.0 /* sensitivity / noise std */

/* Mironov 2017, Table II. */
static double laplace_cgf(double mu, double order)
{
	return dp__log_add(log(order / (2 * order - 1)) + (order - 1) * mu,
			   log((order - 1) / (2 * order - 1)) - order * mu);
}

/* Randomised response, which dominates every pure mechanism. */
static double pure_cgf(double epsilon, double order)
{
	double yes = -log1p(exp(-epsilon));

	return dp__log_add(yes + (order - 1) * epsilon, yes - order * epsilon);
}

/* Whatever the sampler: exp K is 1 + an f-divergence and so jointly convex, and the
 * record is in the lot with probability q. Best for little noise and orders near 1. */
static double sampled_cgf(const struct dp__part *p, double order)
{
	double whole = 0.5 * order * (order - 1) * p->mu * p->mu;

	return whole < 1 ? log1p(p->q * expm1(whole))
			 : dp__log_add(log1p(-p->q), log(p->q) + whole);
}

/* `wor` has the tables of this part, where it needs any. */
static double part_cgf(const struct dp__part *p, struct dp__wor *wor, double order)
{
	struct dp__poisson poisson = { p->q, 1 / p->mu };

	switch (p->kind) {
	case DP__PART_POISSON:
		return p->mu > ORDERS_MATTER ? sampled_cgf(p, order)
					     : dp__poisson_cgf(&poisson, order);
	case DP__PART_WOR:
		return p->q < 1 ? fmin(dp__wor_cgf(wor, p->q, order),
				       sampled_cgf(p, order))
				: 0.5 * order * (order - 1) * p->mu * p->mu;
	case DP__PART_LAPLACE:
		return laplace_cgf(p->mu, order);
	case DP__PART_PURE:
		return pure_cgf(p->mu, order);
	}
	return INFINITY;
}

static double cgf(void *ctx, double order)
{
	const struct mix *m = ctx;
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += m->parts[i].count * part_cgf(&m->parts[i], m->wor[i], order);
	return sum;
}

static bool needs_tables(const struct dp__part *p)
{
	return p->kind == DP__PART_WOR && p->q < 1;
}

/* ---- many parts ----
 *
 * The tables of ten thousand parts would take a hundred megabytes, so their curves are
 * added up one after the other at fixed orders, a few orders at a time and only as far
 * as the search goes. Between two orders the chord is used: K is convex, so that it
 * bounds the sum from above. */

enum {
	BELOW_TWO = 30, /* orders 1 + 2^-30 ... 1 + 2^-1 */
	EVERY = 24,     /* then 2, 3, ... 24 */
	ABOVE = 52,     /* then each larger by a tenth: up to about 3,000 */
	BLOCK = 10,     /* so many are added up together */
	TABLE = BELOW_TWO + EVERY - 1 + ABOVE
};

struct summed {
	const struct mix *mix;
	struct dp__wor *wor;             /* of the part that is being added */
	double order[TABLE], sum[TABLE]; /* NaN: not asked for yet */
	bool no_memory;
};

/* Fills the block that holds place i; without memory by what is no answer. */
static void fill_block(struct summed *t, size_t i)
{
	size_t from = i - i % BLOCK;
	size_t to = from + BLOCK < TABLE ? from + BLOCK : TABLE;

	for (size_t k = from; k < to; k++)
		t->sum[k] = 0;
	for (size_t j = 0; j < t->mix->n; j++) {
		const struct dp__part *p = &t->mix->parts[j];
		bool ok = !needs_tables(p) ||
			  dp__wor_set(t->wor, 1 / p->mu, t->mix->tight[j]);

		t->no_memory |= !ok;
		for (size_t k = from; k < to; k++)
			t->sum[k] += ok ? p->count * part_cgf(p, t->wor, t->order[k])
					: INFINITY;
	}
}

static double summed_at(struct summed *t, size_t i)
{
	if (isnan(t->sum[i]))
		fill_block(t, i);
	return t->sum[i];
}

static double summed_cgf(void *ctx, double order)
{
	struct summed *t = ctx;
	size_t i = 0;
	double lo, part;

	while (i < TABLE && t->order[i] < order)
		i++;
	if (i == TABLE)
		return INFINITY;
	if (t->order[i] == order)
		return summed_at(t, i);
	lo = i ? t->order[i - 1] : 1;
	part = (order - lo) / (t->order[i] - lo);
	return part * summed_at(t, i) +
	       (i ? (1 - part) * summed_at(t, i - 1) : 0); /* K(1) = 0 */
}

static void summed_init(struct summed *t, const struct mix *mix)
{
	t->mix = mix;
	for (int i = 0; i < TABLE; i++) {
		t->order[i] = i < BELOW_TWO               ? 1 + ldexp(1, i - BELOW_TWO)
			      : i < BELOW_TWO + EVERY - 1 ? i - BELOW_TWO + 2
							  : ceil(1.1 * t->order[i - 1]);
		t->sum[i] = NAN;
	}
}

/* ---- from items to parts ---- */

static double value(const struct dp_mechanism *m, const double *full, const char *key)
{
	return full[dp__key_index(m, key)];
}

static int add_item(struct mix *mix, const struct dp_privacy_item *item, double delta,
		    struct dp_err *err)
{
	const struct dp_mechanism *m = item->mechanism;
	struct dp__part *p = &mix->parts[mix->n];
	double v[DP_PRIVACY_KEYS_MAX], full[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon pure;
	int rc, key = dp__key_index(m, "delta");

	if (!(item->times >= 1) || item->times != floor(item->times))
		return dp_fail(err, DP_E_INVALID,
			       "'times' of %s must be a whole number, 1 or more",
			       m->name);
	memcpy(v, item->values, m->nkeys * sizeof *v);
	v[key] = m->keys[key].needed ? fmax(delta, 1e-300) : NAN;
	rc = dp_privacy_check(m, v, full, err);
	if (rc != DP_OK)
		return rc;
	*p = (struct dp__part){ .kind = DP__PART_WOR, .q = 1, .count = 1 };
	if (m == &dp__dp_sgd) {
		rc = dp__dp_sgd_part(full, p, &mix->tight[mix->n], err);
	} else if (m == &dp__gaussian) {
		p->mu = value(m, full, "sensitivity") / value(m, full, "sigma");
	} else if (m == &dp__output_perturbation) {
		p->mu = 4 / (value(m, full, "regularization") *
			     value(m, full, "records") * value(m, full, "sigma"));
	} else if (m == &dp__laplace) {
		p->kind = DP__PART_LAPLACE;
		p->mu = value(m, full, "sensitivity") / value(m, full, "scale");
	} else {
		p->kind = DP__PART_PURE;
		rc = m->epsilon(full, &pure, err);
		p->mu = rc == DP_OK ? pure.epsilon : 0;
	}
	p->count *= item->times;
	mix->n++;
	return rc;
}

/* Numbers under different relations must not be added. */
static int check_relations(const struct dp_privacy_item *items, const struct mix *mix,
			   struct dp_err *err)
{
	const char *replace = NULL, *add = NULL;

	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_mechanism *m = items[i].mechanism;

		if (mix->parts[i].kind == DP__PART_POISSON)
			add = m->name;
		else if (m == &dp__dp_sgd || m == &dp__output_perturbation)
			replace = m->name;
	}
	if (!replace || !add)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"%s with Poisson sampling (add or remove one record) and %s (replace one "
		"record) hold for different neighbouring relations",
		add, replace);
	dp_hint(err, "state both under the same relation, or report them separately");
	return DP_E_INVALID;
}

static int prepare_curves(struct mix *mix, struct dp_err *err)
{
	for (size_t i = 0; i < mix->n; i++) {
		const struct dp__part *p = &mix->parts[i];

		if (!needs_tables(p))
			continue;
		mix->wor[i] = dp__wor_new();
		if (!mix->wor[i] || !dp__wor_set(mix->wor[i], 1 / p->mu, mix->tight[i]))
			return dp_fail(err, DP_E_NOMEM,
				       "no memory for the privacy accountant");
	}
	return DP_OK;
}

/* delta = 0: only sums of pure epsilons. */
static int pure_sum(const struct mix *mix, struct dp_epsilon *out, struct dp_err *err)
{
	double sum = 0;

	for (size_t i = 0; i < mix->n; i++) {
		enum dp__part_kind kind = mix->parts[i].kind;

		if (kind != DP__PART_LAPLACE && kind != DP__PART_PURE)
			return dp_fail(err, DP_E_INVALID,
				       "'delta' must be above 0: Gaussian noise is never "
				       "purely private");
		sum += mix->parts[i].count * mix->parts[i].mu;
	}
	out->epsilon = sum;
	out->accountant = "closed-form";
	return DP_OK;
}

static int by_renyi(struct mix *mix, double delta, struct dp_epsilon *out,
		    struct dp_err *err)
{
	struct summed table = { .wor = dp__wor_new() };
	struct dp__curve curve = { summed_cgf, &table, true };
	int rc = DP_OK;

	if (!table.wor)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	summed_init(&table, mix);
	if (mix->n <= DP_PRIVACY_ITEMS_MAX) {
		rc = prepare_curves(mix, err);
		curve = (struct dp__curve){ cgf, mix, true };
	}
	if (rc == DP_OK) {
		out->accountant = "rdp";
		out->epsilon =
			dp__curve_epsilon(&curve, DP__IMPROVED, log(delta), &out->order);
	}
	for (size_t i = 0; i < mix->n && rc == DP_OK; i++)
		if (mix->wor[i] && !dp__wor_whole(mix->wor[i]))
			rc = dp_fail(err, DP_E_NOMEM,
				     "no memory for the privacy accountant");
	if (rc == DP_OK && (!dp__wor_whole(table.wor) || table.no_memory))
		rc = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	dp__wor_free(table.wor);
	return rc;
}

/* The size of a loss: that of normal noise grows with the square of mu. */
static double size_of(const struct dp__part *p)
{
	bool normal = p->kind == DP__PART_WOR || p->kind == DP__PART_POISSON;

	return normal ? p->mu * p->mu : p->mu;
}

static bool has_noise(const struct mix *mix)
{
	for (size_t i = 0; i < mix->n; i++)
		if (!(size_of(&mix->parts[i]) * mix->parts[i].count < DP__NO_NOISE))
			return false;
	return true;
}

static bool grid_holds(const struct mix *mix)
{
	for (size_t i = 0; i < mix->n; i++)
		if (!dp__grid_holds(size_of(&mix->parts[i]), mix->parts[i].count))
			return false;
	return true;
}

static int account(struct mix *mix, double delta, bool pld, struct dp_epsilon *out,
		   struct dp_err *err)
{
	struct dp__loss_answer answer = { 0 };
	struct dp__loss *loss;
	int rc;

	if (delta == 0)
		return pure_sum(mix, out, err);
	if (!has_noise(mix)) {
		out->epsilon = INFINITY;
		out->accountant = "rdp";
		return DP_OK;
	}
	if (!pld || !grid_holds(mix))
		return by_renyi(mix, delta, out, err);
	loss = dp__loss_new();
	rc = loss ? dp__loss_epsilon(loss, mix->parts, mix->n, delta, &answer, err)
		  : dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	dp__loss_free(loss);
	out->accountant = "pld";
	out->epsilon = answer.epsilon;
	out->error = answer.error;
	out->error_proved = answer.proved;
	return rc;
}

static void mix_free(struct mix *mix)
{
	for (size_t i = 0; mix->wor && i < mix->n; i++)
		dp__wor_free(mix->wor[i]);
	free(mix->parts);
	free(mix->wor);
	free(mix->tight);
}

int dp_privacy_compose(const struct dp_privacy_item *items, size_t n, double delta,
		       bool pld, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = { .delta = delta, .order = NAN, .error_proved = true };
	struct mix mix = { 0 };
	int rc = DP_OK;

	if (n == 0)
		return dp_fail(err, DP_E_INVALID, "a composition of nothing");
	if (pld && delta > 0 && n > DP_PRIVACY_ITEMS_MAX)
		return dp_fail(err, DP_E_INVALID,
			       "loss distributions of at most %d mechanisms are "
			       "convolved, not %zu",
			       DP_PRIVACY_ITEMS_MAX, n);
	if (!(delta >= 0 && delta < 1))
		return dp_fail(err, DP_E_INVALID, "'delta' must be within [0, 1)");
	mix.parts = calloc(n, sizeof *mix.parts);
	mix.wor = calloc(n, sizeof *mix.wor);
	mix.tight = calloc(n, sizeof *mix.tight);
	if (!mix.parts || !mix.wor || !mix.tight)
		rc = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	for (size_t i = 0; rc == DP_OK && i < n; i++)
		rc = add_item(&mix, &items[i], delta, err);
	if (rc == DP_OK)
		rc = check_relations(items, &mix, err);
	if (rc == DP_OK)
		rc = account(&mix, delta, pld, &e, err);
	if (rc == DP_OK)
		*out = e;
	mix_free(&mix);
	return rc;
}
