/* cost.c - what a training costs (search.cost), for proposals: its gain is divided by it.
 *
 * With `path` that is the value of trainer.path's parameter. With `seconds` it is learned
 * from what trainings took: the time of a training is close to a product of powers of its
 * parameters, so the logarithm of the seconds is linear in the parameters' places, where
 * these are logarithms, and bends a little. That is a Gaussian process whose covariance
 * is the sum of a linear part and a smaller Matern one; its scales are fixed, because
 * exponents are of the order of 1 whatever is trained. Each result's noise follows from
 * how badly the others predict it (as if it were Student's t), so that a machine that
 * hiccuped once does not matter. With `privacy` it is what the training takes of
 * search.budget (budget.c) and of the evaluations that are left, and whatever costs are,
 * what no longer fits is out of the question. Made anew for each history: a proposer that
 * was asked before says the same as a new one. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMES_MIN = 4,   /* fewer tell their median only */
	TIMES_MAX = 128, /* the newest so many tell enough */
	NOISE_ROUNDS = 6
};
static const double least_seconds = 1e-3; /* below it is not the training that takes them */
static const double constant_variance = 1, category_variance = 0.5, bend_variance = 0.1;
static const double bend_length = 0.7;
static const double slope_of_other = 2; /* sd over the range of what has no logarithm */
static const double noise_sd = 0.2, noise_least = 0.03, noise_most = 1;
static const double freedom = 3;      /* of the t distribution */
static const double dear_share = 0.5; /* of what is spent, for dear trainings */

/* ---- the covariance ---- */

/* What the linear part multiplies the place of an input by. */
static double time_slope(const struct dp__input *in)
{
	if (in->kind == DP__CATEGORY)
		return 0;
	return in->log ? in->ln_ratio : slope_of_other;
}

/* Covariance of the log seconds at a and b; by_a (d, may be NULL) gets its derivatives.
 */
static double time_covariance(const struct dp__inputs *in, const double *a, const double *b,
			      double *by_a)
{
	double sum = constant_variance, r2 = 0, r, decay, slope;

	for (size_t k = 0; k < in->d; k++) {
		double s = time_slope(&in->in[k]), apart = (a[k] - b[k]) / bend_length;

		if (in->in[k].kind == DP__CATEGORY) {
			sum += a[k] == b[k] ? category_variance : 0;
			r2 += a[k] == b[k] ? 0 : 1;
			continue;
		}
		sum += s * s * (a[k] - 0.5) * (b[k] - 0.5);
		r2 += apart * apart;
	}
	r = sqrt(5 * r2);
	decay = bend_variance * exp(-r);
	slope = -5.0 / 6 * (1 + r) * decay; /* by r2 */
	for (size_t k = 0; by_a && k < in->d; k++) {
		double s = time_slope(&in->in[k]);

		by_a[k] = in->in[k].kind == DP__CATEGORY
				  ? 0
				  : s * s * (b[k] - 0.5) +
					    slope * 2 * (a[k] - b[k]) / (bend_length * bend_length);
	}
	return sum + (1 + r + 5.0 / 3 * r2) * decay;
}

/* ---- learning ---- */

static bool has_seconds(const struct dp_known *k)
{
	return dp__is_result(k) && k->at == 0 && k->seconds > 0;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts x (n > 0). */
static double sorted_median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, by_size);
	return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* The newest results with known seconds: places, and (y) the logarithms. */
static void times_take(struct dp_proposer *p, const struct dp_history *h, double *y)
{
	struct dp__times *t = &p->times;
	double sorted[TIMES_MAX];

	t->n = 0;
	for (size_t i = h->n; i-- > 0 && t->n < TIMES_MAX;) {
		if (!has_seconds(&h->known[i]))
			continue;
		dp__to_u(&p->inputs, h->known[i].x, t->u + t->n * p->inputs.d);
		y[t->n] = sorted[t->n] = log(fmax(h->known[i].seconds, least_seconds));
		t->n++;
	}
	t->shift = t->n ? sorted_median(sorted, t->n) : 0;
	for (size_t i = 0; i < t->n; i++)
		y[i] -= t->shift;
}

/* One round: alpha from the noise of each, then the noise anew from how far each is from
 * what the others predict. l: (n x n) workspace. */
static int times_round(struct dp_proposer *p, const double *y, double *noise, double *sd, double *l)
{
	struct dp__times *t = &p->times;
	double diag[TIMES_MAX], off[TIMES_MAX], jitter;
	size_t n = t->n, d = p->inputs.d;
	int code;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			l[i * n + j] =
				time_covariance(&p->inputs, t->u + i * d, t->u + j * d, NULL) +
				(i == j ? noise[i] : 0);
	code = dp_chol(l, n, n, diag, &jitter);
	if (code != DP_OK)
		return code;
	memcpy(t->alpha, y, n * sizeof *y);
	dp_chol_forward(l, n, n, t->alpha);
	dp_chol_backward(l, n, n, t->alpha);
	code = dp_chol_inverse(l, n, n);
	for (size_t i = 0; i < n && code == DP_OK; i++) {
		double variance = 1 / l[i * n + i], residual = t->alpha[i] * variance;

		off[i] = diag[i] = residual * residual / (fmax(variance - noise[i], 0) + *sd * *sd);
	}
	if (code != DP_OK)
		return code;
	/* the median of the square of a normal variable is 0.455 */
	*sd = fmin(fmax(*sd * sqrt(sorted_median(diag, n) / 0.455), noise_least), noise_most);
	for (size_t i = 0; i < n; i++)
		noise[i] = *sd * *sd * (freedom + off[i]) / (freedom + 1);
	return DP_OK;
}

static int times_learn(struct dp_proposer *p, const struct dp_history *h)
{
	struct dp__times *t = &p->times;
	double y[TIMES_MAX], noise[TIMES_MAX], sd = noise_sd, *l;
	int code = DP_OK;

	if (!t->u)
		t->u = dp_vec_new(TIMES_MAX * (p->inputs.d + 1));
	if (!t->u)
		return DP_E_NOMEM;
	t->alpha = t->u + TIMES_MAX * p->inputs.d;
	times_take(p, h, y);
	if (t->n < TIMES_MIN) {
		memset(t->alpha, 0, t->n * sizeof *t->alpha);
		return DP_OK;
	}
	l = dp_vec_new(t->n * t->n);
	for (size_t i = 0; i < t->n; i++)
		noise[i] = sd * sd;
	for (int round = 0; round < NOISE_ROUNDS && l && code == DP_OK; round++)
		code = times_round(p, y, noise, &sd, l);
	free(l);
	if (code != DP_OK) /* what is known of the time is its median */
		memset(t->alpha, 0, t->n * sizeof *t->alpha);
	return l ? DP_OK : DP_E_NOMEM;
}

int dp__cost_learn(struct dp_proposer *p, const struct dp_history *h)
{
	return dp_study_cost(p->study) == DP_COST_SECONDS ? times_learn(p, h) : DP_OK;
}

/* ---- asking ---- */

static double log_path(const struct dp_proposer *p, const double *u, double *gradient)
{
	size_t k = p->inputs.path;
	const struct dp__input *in = &p->inputs.in[k];
	double value = dp__native(in, u[k]);

	if (gradient)
		gradient[k] -= in->log ? in->ln_ratio : (in->hi - in->lo) / value;
	return log(value);
}

static double log_seconds(const struct dp_proposer *p, const double *u, double *gradient)
{
	const struct dp__times *t = &p->times;
	double sum = t->shift, by[DP_PARAMS_MAX];

	for (size_t i = 0; i < t->n; i++) {
		sum += t->alpha[i] *
		       time_covariance(&p->inputs, u, t->u + i * p->inputs.d, gradient ? by : NULL);
		for (size_t k = 0; gradient && k < p->inputs.d; k++)
			gradient[k] -= t->alpha[i] * by[k];
	}
	return sum;
}

/* A training takes of the budget, and it takes one of the evaluations: with few of these
 * left, one that costs next to nothing is not next to free. What counts is the sum of
 * both shares of what is left, here as a part of the budget. */
static double log_privacy(const struct dp_proposer *p, const double *u, double *gradient)
{
	double evaluations = p->study->search.evaluations, share, own, by[DP_PARAMS_MAX];

	if (!dp__budgeted(p))
		return 0; /* what is left to spend is not known here */
	share = p->history->budget_left / fmax(evaluations - p->trial, 1);
	own = exp(dp__budget_log(p, u, gradient ? by : NULL));
	for (size_t k = 0; gradient && k < p->inputs.d; k++)
		gradient[k] -= by[k] * own / (own + share);
	return log(own + share);
}

double dp__cost_log(struct dp_proposer *p, const double *u, double *gradient)
{
	if (dp__budgeted(p) && !(dp__budget_log(p, u, NULL) <= log(p->history->budget_left)))
		return INFINITY;
	if (p->regardless)
		return 0;
	switch (dp_study_cost(p->study)) {
	case DP_COST_PATH:
		return log_path(p, u, gradient);
	case DP_COST_SECONDS:
		return log_seconds(p, u, gradient);
	case DP_COST_PRIVACY:
		return log_privacy(p, u, gradient);
	default:
		return 0;
	}
}

/* Of one training at x; NaN: unknown. */
static double cost_of(struct dp_proposer *p, const double *x)
{
	double u[DP_PARAMS_MAX];
	enum dp_cost cost = dp_study_cost(p->study);

	if (cost == DP_COST_PATH)
		return dp_path_end(p->study, x);
	if (cost == DP_COST_PRIVACY)
		return dp__budgeted(p) ? dp__budget_k(p, x) * p->study->trainer.runs /
						 (p->history->budget_order - 1)
				       : NAN;
	if (cost == DP_COST_NONE || p->times.n == 0)
		return NAN;
	dp__to_u(&p->inputs, x, u);
	return exp(dp__cost_log(p, u, NULL));
}

/* The dearest training that is known of. */
static double cost_dearest(struct dp_proposer *p, const struct dp_history *h)
{
	double most = 0;

	if (dp_study_cost(p->study) == DP_COST_PATH)
		return p->inputs.in[p->inputs.path].hi;
	for (size_t i = 0; i < h->n; i++)
		if (h->known[i].at == 0)
			most = fmax(most, cost_of(p, h->known[i].x));
	return most;
}

bool dp__cost_regardless(struct dp_proposer *p, const struct dp_history *h)
{
	double dearest = cost_dearest(p, h), spent = 0;
	size_t dear = 0;

	for (size_t i = 0; i < h->n; i++) {
		double cost = h->known[i].at == 0 ? cost_of(p, h->known[i].x) : 0;

		spent += cost;
		dear += cost >= 0.5 * dearest;
	}
	return dearest > 0 && (double)(dear + 1) * dearest <= dear_share * spent;
}

void dp__cost_tell(struct dp_proposer *p, const struct dp_history *h, struct dp_proposal *out)
{
	out->cost = cost_of(p, out->x);
	out->pending_cost = isnan(out->cost) ? NAN : 0;
	for (size_t i = 0; i < h->n && !isnan(out->cost); i++)
		if (h->known[i].status == DP_KNOWN_PENDING && h->known[i].at == 0)
			out->pending_cost += cost_of(p, h->known[i].x);
}
