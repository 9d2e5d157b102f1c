/* cost_model.c - predicts the cost of a training run (search.cost), which divides its gain.
 *
 * path:    the value of trainer.path's parameter.
 * seconds: learned from the durations of runs. A duration is close to a product of powers of the
 *          parameters, so that its logarithm is nearly linear in the encoded parameters. The model
 *          is a Gaussian process with a linear and a smaller Matern covariance. Its scales are
 *          fixed, because exponents are of the order of 1 for any trainer. The noise of each
 *          result follows from how badly the others predict it (as for Student's t), so that an
 *          outlier has no effect.
 * privacy: the share of search.budget (proposal_budget.c) and of the remaining evaluations.
 * A point that does not fit the budget costs infinity in any case. The model is fitted anew for
 * each history, so that a reused proposer answers like a new one. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"
#include "study/learning_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMES_MIN = 4,   /* with fewer, only the median is used */
	TIMES_MAX = 128, /* newest durations that are used */
	REWEIGHT_ROUNDS = 6
};
static const double least_seconds = 1e-3; /* shorter durations are not spent on training */
static const double constant_variance = 1, category_variance = 0.5, bend_variance = 0.1;
static const double bend_length = 0.7;
static const double slope_of_other = 2; /* sd over the range of an input that is not logarithmic */
static const double noise_sd = 0.2, noise_least = 0.03, noise_most = 1;
static const double t_degrees_of_freedom = 3;
static const double costly_share = 0.5; /* of the total cost, for expensive runs */

/* ---- the covariance ---- */

/* Slope of the linear part in an input. */
static double time_slope(const struct dp__input *in)
{
	if (in->kind == DP__INPUT_CATEGORY)
		return 0;
	return in->is_log ? in->log_range : slope_of_other;
}

/* Covariance of the log seconds at a and b; by_a (d, may be NULL) becomes its gradient. */
static double time_covariance(const struct dp__encoding *in, const double *a, const double *b,
			      double *by_a)
{
	double sum = constant_variance, r2 = 0, r, decay, slope;

	for (size_t k = 0; k < in->d; k++) {
		double s = time_slope(&in->inputs[k]), apart = (a[k] - b[k]) / bend_length;

		if (in->inputs[k].kind == DP__INPUT_CATEGORY) {
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
		double s = time_slope(&in->inputs[k]);

		by_a[k] = in->inputs[k].kind == DP__INPUT_CATEGORY
				  ? 0
				  : s * s * (b[k] - 0.5) +
					    slope * 2 * (a[k] - b[k]) / (bend_length * bend_length);
	}
	return sum + (1 + r + 5.0 / 3 * r2) * decay;
}

/* ---- fitting ---- */

static int compare_cost_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double sort_and_get_median(double *x, size_t n)
{
	qsort(x, n, sizeof *x, compare_cost_doubles);
	return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

/* The newest results with known seconds: encoded parameters, and log seconds (y) minus their
 * median. */
static void time_model_collect_results(struct dp_proposer *p, const struct dp_history *h, double *y)
{
	struct dp__time_model *t = &p->time_model;
	double sorted[TIMES_MAX];

	t->n = 0;
	for (size_t i = h->n; i-- > 0 && t->n < TIMES_MAX;) {
		const struct dp_observation *k = &h->observations[i];

		if (!dp__observation_is_informative(k) || k->checkpoint != 0 || !(k->seconds > 0))
			continue;
		dp__encoding_encode(&p->encoding, k->x, t->u + t->n * p->encoding.d);
		y[t->n] = sorted[t->n] = log(fmax(k->seconds, least_seconds));
		t->n++;
	}
	t->log_median = t->n ? sort_and_get_median(sorted, t->n) : 0;
	for (size_t i = 0; i < t->n; i++)
		y[i] -= t->log_median;
}

/* One round: alpha, then noise variances from leave-one-out residuals. l: (n x n) workspace. */
static int time_model_reweight(struct dp_proposer *p, const double *y, double *noise, double *sd,
			       double *l)
{
	struct dp__time_model *t = &p->time_model;
	double diag[TIMES_MAX], off[TIMES_MAX], jitter;
	size_t n = t->n, d = p->encoding.d;
	int code;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			l[i * n + j] =
				time_covariance(&p->encoding, t->u + i * d, t->u + j * d, NULL) +
				(i == j ? noise[i] : 0);
	code = dp_chol_factor(l, n, n, diag, &jitter);
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
	/* the median of the square of a standard normal variable is 0.455 */
	*sd = fmin(fmax(*sd * sqrt(sort_and_get_median(diag, n) / 0.455), noise_least), noise_most);
	for (size_t i = 0; i < n; i++)
		noise[i] = *sd * *sd * (t_degrees_of_freedom + off[i]) / (t_degrees_of_freedom + 1);
	return DP_OK;
}

void dp__cost_model_fit(struct dp_proposer *p, const struct dp_history *h)
{
	struct dp__time_model *t = &p->time_model;
	double y[TIMES_MAX], noise[TIMES_MAX], sd = noise_sd, *l;
	int code;

	if (dp_study_cost(p->study) != DP_COST_SECONDS)
		return;
	if (!t->u)
		t->u = dp_vec_new(TIMES_MAX * (p->encoding.d + 1));
	t->alpha = t->u + TIMES_MAX * p->encoding.d;
	time_model_collect_results(p, h, y);
	code = t->n < TIMES_MIN ? DP_E_FAILED : DP_OK;
	l = dp_vec_new(t->n * t->n);
	for (size_t i = 0; i < t->n; i++)
		noise[i] = sd * sd;
	for (int round = 0; round < REWEIGHT_ROUNDS && code == DP_OK; round++)
		code = time_model_reweight(p, y, noise, &sd, l);
	free(l);
	if (code != DP_OK) /* use the median alone */
		memset(t->alpha, 0, t->n * sizeof *t->alpha);
}

/* ---- prediction ---- */

static double log_path_cost(const struct dp_proposer *p, const double *u, double *gradient)
{
	size_t k = p->encoding.path_input;
	const struct dp__input *in = &p->encoding.inputs[k];
	double value = dp__input_decode(in, u[k]);

	if (gradient)
		gradient[k] -= in->is_log ? in->log_range : (in->hi - in->lo) / value;
	return log(value);
}

static double log_seconds_cost(const struct dp_proposer *p, const double *u, double *gradient)
{
	const struct dp__time_model *t = &p->time_model;
	double sum = t->log_median, by[DP_PARAMS_MAX];

	for (size_t i = 0; i < t->n; i++) {
		sum += t->alpha[i] * time_covariance(&p->encoding, u, t->u + i * p->encoding.d,
						     gradient ? by : NULL);
		for (size_t k = 0; gradient && k < p->encoding.d; k++)
			gradient[k] -= t->alpha[i] * by[k];
	}
	return sum;
}

/* A run uses up budget and one evaluation: with few evaluations left, a run that spends hardly any
 * budget is not free. The cost is the sum of both shares, in units of the budget. */
static double log_privacy_cost(const struct dp_proposer *p, const double *u, double *gradient)
{
	double evaluations = p->study->search.evaluations, share, own, by[DP_PARAMS_MAX];

	if (!dp__budget_is_set(p))
		return 0; /* the remaining budget is not known here */
	share = p->history->budget_remaining / fmax(evaluations - p->trial, 1);
	own = exp(dp__budget_log_cost(p, u, gradient ? by : NULL));
	for (size_t k = 0; gradient && k < p->encoding.d; k++)
		gradient[k] -= by[k] * own / (own + share);
	return log(own + share);
}

double dp__cost_log_at(struct dp_proposer *p, const double *u, double *gradient)
{
	if (dp__budget_is_set(p) &&
	    !(dp__budget_log_cost(p, u, NULL) <= log(p->history->budget_remaining)))
		return INFINITY;
	if (p->ignores_cost)
		return 0;
	switch (dp_study_cost(p->study)) {
	case DP_COST_PATH:
		return log_path_cost(p, u, gradient);
	case DP_COST_SECONDS:
		return log_seconds_cost(p, u, gradient);
	case DP_COST_PRIVACY:
		return log_privacy_cost(p, u, gradient);
	default:
		return 0;
	}
}

/* Cost of one training run at x; NaN: unknown. */
static double compute_training_cost(struct dp_proposer *p, const double *x)
{
	double u[DP_PARAMS_MAX];
	enum dp_cost cost = dp_study_cost(p->study);

	if (cost == DP_COST_PATH)
		return dp_learning_curve_end(p->study, x);
	if (cost == DP_COST_PRIVACY)
		return dp__budget_is_set(p) ? dp__budget_renyi_cost(p, x) * p->study->trainer.runs /
						      (p->history->budget_order - 1)
					    : NAN;
	if (cost == DP_COST_NONE || p->time_model.n == 0)
		return NAN;
	dp__encoding_encode(&p->encoding, x, u);
	return exp(dp__cost_log_at(p, u, NULL));
}

bool dp__cost_is_ignored_next(struct dp_proposer *p, const struct dp_history *h)
{
	double highest = 0, spent = 0; /* highest: cost of the most expensive known run */
	size_t expensive = 0;

	if (dp_study_cost(p->study) == DP_COST_PATH)
		highest = p->encoding.inputs[p->encoding.path_input].hi;
	else
		for (size_t i = 0; i < h->n; i++)
			if (h->observations[i].checkpoint == 0)
				highest = fmax(highest,
					       compute_training_cost(p, h->observations[i].x));
	for (size_t i = 0; i < h->n; i++) {
		double cost = h->observations[i].checkpoint == 0
				      ? compute_training_cost(p, h->observations[i].x)
				      : 0;

		spent += cost;
		expensive += cost >= 0.5 * highest;
	}
	return highest > 0 && (double)(expensive + 1) * highest <= costly_share * spent;
}

void dp__cost_fill_proposal(struct dp_proposer *p, const struct dp_history *h,
			    struct dp_proposal *out)
{
	out->cost = compute_training_cost(p, out->x);
	out->pending_cost = isnan(out->cost) ? NAN : 0;
	for (size_t i = 0; i < h->n && !isnan(out->cost); i++)
		if (h->observations[i].status == DP_OBSERVATION_PENDING &&
		    h->observations[i].checkpoint == 0)
			out->pending_cost += compute_training_cost(p, h->observations[i].x);
}
