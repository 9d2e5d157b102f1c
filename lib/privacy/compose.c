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
	struct dp__part parts[DP_PRIVACY_ITEMS_MAX];
	struct dp__wor *wor[DP_PRIVACY_ITEMS_MAX]; /* for parts that need one */
	bool tight[DP_PRIVACY_ITEMS_MAX];
};

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

static double part_cgf(const struct mix *m, size_t i, double order)
{
	const struct dp__part *p = &m->parts[i];
	struct dp__poisson poisson = { p->q, 1 / p->mu };
	double whole;

	switch (p->kind) {
	case DP__PART_POISSON:
		return dp__poisson_cgf(&poisson, order);
	case DP__PART_WOR:
		whole = 0.5 * order * (order - 1) * p->mu * p->mu;
		return p->q < 1 ? fmin(dp__wor_cgf(m->wor[i], p->q, order), whole)
				: whole;
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
		sum += m->parts[i].count * part_cgf(m, i, order);
	return sum;
}

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

		if (p->kind != DP__PART_WOR || p->q >= 1)
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

static int account(struct mix *mix, double delta, bool pld, struct dp_epsilon *out,
		   struct dp_err *err)
{
	struct dp__curve curve = { cgf, mix, true };
	struct dp__loss_answer answer = { 0 };
	struct dp__loss *loss;
	int rc;

	if (delta == 0)
		return pure_sum(mix, out, err);
	if (!pld) {
		rc = prepare_curves(mix, err);
		if (rc != DP_OK)
			return rc;
		out->accountant = "rdp";
		out->epsilon =
			dp__curve_epsilon(&curve, DP__IMPROVED, log(delta), &out->order);
		return DP_OK;
	}
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

int dp_privacy_compose(const struct dp_privacy_item *items, size_t n, double delta,
		       bool pld, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = { .delta = delta, .order = NAN, .error_proved = true };
	struct mix *mix;
	int rc = DP_OK;

	if (n == 0 || n > DP_PRIVACY_ITEMS_MAX)
		return dp_fail(err, DP_E_INVALID, "a composition has 1 to %d mechanisms",
			       DP_PRIVACY_ITEMS_MAX);
	if (!(delta >= 0 && delta < 1))
		return dp_fail(err, DP_E_INVALID, "'delta' must be within [0, 1)");
	mix = calloc(1, sizeof *mix);
	if (!mix)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	for (size_t i = 0; rc == DP_OK && i < n; i++)
		rc = add_item(mix, &items[i], delta, err);
	if (rc == DP_OK)
		rc = check_relations(items, mix, err);
	if (rc == DP_OK)
		rc = account(mix, delta, pld, &e, err);
	if (rc == DP_OK)
		*out = e;
	for (size_t i = 0; i < mix->n; i++)
		dp__wor_free(mix->wor[i]);
	free(mix);
	return rc;
}
