/* curve_acquisition.c - expected gain of a training run with all its checkpoints.
 *
 * The points of a curve dominate overlapping regions, so that their gains cannot be added. Along
 * the curve epsilon rises, and the error falls or falls and then rises. The points that dominate a
 * given point of the region are then a contiguous part of the curve, where the number of points
 * minus the number of neighbouring pairs is 1. With A_k the region that point k dominates,
 *   |union of all A_k| = sum |A_k| - sum |A_k and A_(k + 1)|.
 * Two points both dominate what the worse of the two in each objective dominates. For an exact
 * objective that is the larger value. For a modelled one it is the maximum of two correlated normal
 * variables, approximated by a normal variable with the same mean and variance (Clark 1961). So
 * each term is the acquisition of a single point, with its gradient, for any acquisition and any
 * number of objectives. The overlap of a pair counts at most as much as its second point, so that
 * partial sums never fall. They are the gains of runs that stop there: one pass yields all stops.
 *
 * Further approximations: a region that a sampled curve enters twice counts twice; where noise
 * reduces an sd (dp__compute_learnable_sd()), the correlation stays; both points of a pair meet the
 * constraints with the probability of the less likely one; the product of hvpoi is treated like a
 * volume. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CURVE_OUTPUTS_MAX = DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX,
	CURVE_POINTS_MAX = DP_CHECKPOINTS_MAX + 1, /* points of a curve, its end included */
	BLOCK_COLUMNS = 256                        /* points in one prediction */
};

bool dp__has_learning_curve(const struct dp_proposer *p)
{
	return p->encoding.n_checkpoints > 0;
}

/* ---- maximum of two normal variables ---- */

struct dp__normal_max dp__normal_max_moments(const struct dp__normal *a, const struct dp__normal *b,
					     double rho)
{
	double apart = a->mean - b->mean;
	double square = a->sd * a->sd + b->sd * b->sd - 2 * rho * a->sd * b->sd;
	double t = sqrt(fmax(square, 0)), at, c, d, mean, second, variance;
	struct dp__normal_max w = { 0 };

	if (!(t > 1e-7 * (a->sd + b->sd)) || fabs(apart) > 30 * t) {
		bool first = apart > 0 || (apart == 0 && a->sd >= b->sd);

		w.normal = first ? *a : *b;
		w.mean_by[first ? 0 : 1] = w.sd_by[first ? 2 : 3] = 1;
		return w;
	}
	/* moments around b->mean */
	at = apart / t;
	c = dp__std_normal_cdf(at);
	d = dp__std_normal_pdf(at);
	mean = apart * c + t * d;
	second = (apart * apart + a->sd * a->sd) * c + b->sd * b->sd * (1 - c) + apart * t * d;
	variance = fmax(second - mean * mean, 1e-12 * (a->sd * a->sd + b->sd * b->sd));
	w.normal = (struct dp__normal){ b->mean + mean, sqrt(variance) };
	w.mean_by[0] = c;
	w.mean_by[1] = 1 - c;
	for (int i = 2; i < 5; i++) { /* by the sds and rho, through t */
		double dt = i == 2   ? (a->sd - rho * b->sd) / t
			    : i == 3 ? (b->sd - rho * a->sd) / t
				     : -a->sd * b->sd / t;
		double own = i == 2 ? 2 * a->sd * c : i == 3 ? 2 * b->sd * (1 - c) : 0;

		w.mean_by[i] = d * dt;
		w.sd_by[i] = own + dt * d * (apart - at / t * (a->sd * a->sd - b->sd * b->sd)) -
			     2 * mean * w.mean_by[i];
	}
	for (int i = 0; i < 2; i++) { /* by the means: only their difference counts */
		double sign = i == 0 ? 1 : -1;
		double by = 2 * apart * c + t * d + (a->sd * a->sd - b->sd * b->sd) * d / t;

		w.sd_by[i] = sign * (by - 2 * mean * c);
	}
	for (int i = 0; i < 5; i++)
		w.sd_by[i] /= 2 * w.normal.sd;
	return w;
}

/* ---- terms of the sum ---- */

/* Derivatives of a log term by mean and sd of each output of both points, and by their
 * covariance. */
struct term_gradient {
	double by_mean[2][CURVE_OUTPUTS_MAX], by_sd[2][CURVE_OUTPUTS_MAX],
		by_cov[CURVE_OUTPUTS_MAX];
};

static bool predictions_are_finite(const struct dp_proposer *p, const struct dp__normal *f)
{
	for (size_t o = 0; o < p->n_outputs; o++)
		if (!isfinite(f[o].mean) || !isfinite(f[o].sd))
			return false;
	return true;
}

static double log_point_gain(struct dp_proposer *p, const struct dp__normal *f,
			     struct term_gradient *by)
{
	size_t np = p->study->nobjectives;
	struct dp__normal gain[DP_OBJECTIVES_MAX];
	struct dp__learnable_sd left[DP_OBJECTIVES_MAX];
	double slope[2 * DP_OBJECTIVES_MAX], value;

	if (!predictions_are_finite(p, f))
		return -INFINITY;
	for (size_t o = 0; o < np; o++) {
		left[o] = dp__compute_learnable_sd(p, o, &f[o]);
		gain[o] = (struct dp__normal){ f[o].mean, left[o].sd };
	}
	value = dp__acquisition_get(p->study)->log_value(&p->partitioning, gain, by ? slope : NULL);
	value += dp__log_feasibility(p, f, by ? by->by_mean[0] : NULL, by ? by->by_sd[0] : NULL);
	for (size_t o = 0; by && o < np; o++) {
		by->by_mean[0][o] = slope[o] + slope[np + o] * left[o].by_mean;
		by->by_sd[0][o] = slope[np + o] * left[o].by_sd;
	}
	return isnan(value) ? -INFINITY : value;
}

/* One objective of a pair: the worse of both, and its derivatives. */
struct point_pair_max {
	struct dp__learnable_sd learnable[2];
	struct dp__normal_max max;
	double rho;
	bool is_rho_fixed; /* the correlation has no derivative */
};

static void point_pair_max_init(const struct dp_proposer *p, size_t o, const struct dp__normal *a,
				const struct dp__normal *b, double covariance,
				struct point_pair_max *side)
{
	struct dp__normal one, two;

	side->learnable[0] = dp__compute_learnable_sd(p, o, a);
	side->learnable[1] = dp__compute_learnable_sd(p, o, b);
	one = (struct dp__normal){ a->mean, side->learnable[0].sd };
	two = (struct dp__normal){ b->mean, side->learnable[1].sd };
	side->is_rho_fixed = !(a->sd > 0 && b->sd > 0);
	side->rho = side->is_rho_fixed ? 0 : covariance / (a->sd * b->sd);
	if (!(fabs(side->rho) <= 1)) {
		side->rho = side->rho < 0 ? -1 : 1;
		side->is_rho_fixed = true;
	}
	side->max = dp__normal_max_moments(&one, &two, side->rho);
}

static void point_pair_max_gradient(const struct point_pair_max *side, size_t o,
				    const struct dp__normal *a, const struct dp__normal *b,
				    double by_m, double by_s, struct term_gradient *by)
{
	const struct dp__normal_max *w = &side->max;
	double by_rho = by_m * w->mean_by[4] + by_s * w->sd_by[4];

	by->by_cov[o] = 0;
	for (int i = 0; i < 2; i++) {
		const struct dp__normal *f = i == 0 ? a : b;
		double sd = by_m * w->mean_by[2 + i] + by_s * w->sd_by[2 + i];

		by->by_mean[i][o] =
			by_m * w->mean_by[i] + by_s * w->sd_by[i] + sd * side->learnable[i].by_mean;
		by->by_sd[i][o] = sd * side->learnable[i].by_sd;
		if (!side->is_rho_fixed)
			by->by_sd[i][o] -= by_rho * side->rho / f->sd;
	}
	if (!side->is_rho_fixed)
		by->by_cov[o] = by_rho / (a->sd * b->sd);
}

/* Log gain that two points share; next (n_outputs): their covariances. */
static double log_pair_gain(struct dp_proposer *p, const struct dp__normal *a,
			    const struct dp__normal *b, const double *next,
			    struct term_gradient *by)
{
	size_t np = p->study->nobjectives;
	struct point_pair_max side[DP_OBJECTIVES_MAX];
	struct dp__normal worse[DP_OBJECTIVES_MAX];
	double slope[2 * DP_OBJECTIVES_MAX], value, first, second;
	size_t less;

	if (!predictions_are_finite(p, a) || !predictions_are_finite(p, b))
		return -INFINITY;
	for (size_t o = 0; o < np; o++) {
		point_pair_max_init(p, o, &a[o], &b[o], next[o], &side[o]);
		worse[o] = side[o].max.normal;
	}
	value = dp__acquisition_get(p->study)->log_value(&p->partitioning, worse,
							 by ? slope : NULL);
	first = dp__log_feasibility(p, a, NULL, NULL);
	second = dp__log_feasibility(p, b, NULL, NULL);
	less = first < second ? 0 : 1;
	if (by) {
		memset(by, 0, sizeof *by);
		(void)dp__log_feasibility(p, less ? b : a, by->by_mean[less], by->by_sd[less]);
	}
	for (size_t o = 0; by && o < np; o++)
		point_pair_max_gradient(&side[o], o, &a[o], &b[o], slope[o], slope[np + o], by);
	value += fmin(first, second);
	return isnan(value) ? -INFINITY : value;
}

/* ---- all stops of many runs ---- */

/* Writes the points of a run that stops at `end` to columns. Returns their number. */
static size_t curve_expand_points(const struct dp_proposer *p, const double *u, size_t ldu,
				  double end, double *columns, size_t ld)
{
	const struct dp__encoding *in = &p->encoding;
	size_t n = 0;

	while (n < in->n_checkpoints && in->checkpoints_u[n] < end)
		n++;
	for (size_t k = 0; k < in->d; k++)
		for (size_t i = 0; i <= n; i++)
			columns[k * ld + i] = k != in->path_input ? u[k * ldu]
					      : i < n             ? in->checkpoints_u[i]
								  : end;
	return n + 1;
}

/* Returns the best stop among n points, or the last without `choose`. */
static size_t curve_find_best_stop(struct dp_proposer *p, const double *columns, size_t ld,
				   size_t n, const struct dp__normal *f, const double *next,
				   bool choose, double *score)
{
	size_t count = p->n_outputs, best = n - 1;
	double scale = -INFINITY, sum = 0, u[DP_PARAMS_MAX];

	*score = -INFINITY;
	choose &= !p->encoding.inputs[p->encoding.path_input].is_pinned;
	for (size_t k = 0; k < n; k++) {
		double own = log_point_gain(p, f + k * count, NULL), both = -INFINITY, v;

		if (k > 0 && !isinf(own))
			both = log_pair_gain(p, f + (k - 1) * count, f + k * count,
					     next + (k - 1) * count, NULL);
		if (own > scale) { /* keep sums in units of the largest term */
			sum *= exp(scale - own);
			scale = own;
		}
		if (!isinf(own))
			sum += fmax(0, exp(own - scale) - exp(both - scale));
		if (k + 1 < n && !choose)
			continue;
		v = sum > 0 ? scale + log(sum) : -INFINITY;
		dp__encoding_get_column(&p->encoding, columns + k, ld, u);
		if (!isinf(v))
			v -= dp__cost_log_at(p, u, NULL);
		if (v > *score) {
			*score = v;
			best = k;
		}
	}
	return best;
}

void dp__curve_acq_eval(struct dp_proposer *p, double *u, size_t ldu, size_t m, bool exactly,
			bool choose, double *score, struct dp__normal *f)
{
	size_t ld = BLOCK_COLUMNS + CURVE_POINTS_MAX, path = p->encoding.path_input,
	       np = p->study->nobjectives, no = p->n_outputs;
	double *columns = dp_vec_new(p->encoding.d * ld), *cov_next = dp_vec_new(ld * no);
	struct dp__normal *predictions = dp_calloc(ld * no, sizeof *predictions);

	for (size_t first = 0, next = 0; first < m; first = next) { /* one block of runs */
		size_t size[BLOCK_COLUMNS], n = 0;

		for (; next < m && n < BLOCK_COLUMNS; next++) {
			double end = choose ? 1 : u[path * ldu + next];

			size[next - first] =
				curve_expand_points(p, u + next, ldu, end, columns + n, ld);
			n += size[next - first];
		}
		dp__predict_outputs(p, columns, ld, n, true, exactly, predictions, cov_next);
		n = 0;
		for (size_t i = first; i < next; i++) {
			size_t stop =
				n + curve_find_best_stop(p, columns + n, ld, size[i - first],
							 predictions + n * no, cov_next + n * no,
							 choose, &score[i]);

			if (choose)
				u[path * ldu + i] = columns[path * ld + stop];
			if (f)
				memcpy(f + i * np, predictions + stop * no, np * sizeof *f);
			n += size[i - first];
		}
	}
	free(columns);
	free(cov_next);
	free(predictions);
}

/* ---- one run, with its gradient ---- */

/* Slices of p->curve_work for n points of a curve. */
struct curve_gradient {
	size_t n_points;
	double *u; /* (d x CURVE_POINTS_MAX) */
	struct dp_gp_sequence sequence[CURVE_OUTPUTS_MAX];
	double *by_mean, *by_sd, *by_cov; /* (n x n_outputs) derivatives of the log gain */
	double *work;
};

void dp__curve_acq_reserve(struct dp_proposer *p)
{
	size_t steps = p->encoding.n_checkpoints + 1, d = p->encoding.d, gp = 0, need;

	for (size_t o = 0; o < p->n_outputs; o++) {
		size_t room = dp_gp_sequence_workspace(&p->output[o].gp, steps);

		gp = room > gp ? room : gp;
	}
	need = steps * d + p->n_outputs * 3 * steps * (d + 2) + gp;
	if (!dp__has_learning_curve(p) || need <= p->curve_work_capacity)
		return;
	free(p->curve_work);
	p->curve_work = dp_vec_new(need);
	p->curve_work_capacity = need;
}

static double *take_workspace(double **from, size_t n)
{
	double *at = *from;

	*from += n;
	return at;
}

static void curve_gradient_init(struct dp_proposer *p, struct curve_gradient *w)
{
	size_t steps = p->encoding.n_checkpoints + 1, d = p->encoding.d;
	double *at = p->curve_work;

	w->u = take_workspace(&at, steps * d);
	for (size_t o = 0; o < p->n_outputs; o++) {
		struct dp_gp_sequence *r = &w->sequence[o];

		r->mean = take_workspace(&at, steps);
		r->var = take_workspace(&at, steps);
		r->cov_next = take_workspace(&at, steps);
		r->dmean = take_workspace(&at, steps * d);
		r->dvar = take_workspace(&at, steps * d);
		r->dcov_next = take_workspace(&at, steps * d);
	}
	w->by_mean = take_workspace(&at, steps * p->n_outputs);
	w->by_sd = take_workspace(&at, steps * p->n_outputs);
	w->by_cov = take_workspace(&at, steps * p->n_outputs);
	w->work = at;
}

/* Fills in an exact objective at the points of a curve, without variance. */
static void curve_fill_exact(const struct dp_proposer *p, size_t o, const struct curve_gradient *w,
			     const struct dp_gp_sequence *r)
{
	size_t d = p->encoding.d, steps = p->encoding.n_checkpoints + 1;

	memset(r->var, 0, w->n_points * sizeof *r->var);
	memset(r->cov_next, 0, w->n_points * sizeof *r->cov_next);
	memset(r->dvar, 0, w->n_points * d * sizeof *r->dvar);
	memset(r->dcov_next, 0, w->n_points * d * sizeof *r->dcov_next);
	for (size_t i = 0; i < w->n_points; i++) {
		double u[DP_PARAMS_MAX];

		dp__encoding_get_column(&p->encoding, w->u + i, steps, u);
		r->mean[i] =
			dp__point_fn_gradient(p, dp__exact_objective_value, o, u, r->dmean + i * d);
		if (i + 1 < w->n_points) /* checkpoints do not move */
			r->dmean[i * d + p->encoding.path_input] = 0;
	}
}

/* Predictions along the curve in model space: f and next (n x n_outputs). */
static void curve_predict(struct dp_proposer *p, struct curve_gradient *w, struct dp__normal *f,
			  double *next)
{
	size_t count = p->n_outputs, steps = p->encoding.n_checkpoints + 1;

	for (size_t o = 0; o < count; o++) {
		const struct dp__surrogate_output *out = &p->output[o];
		const struct dp_gp_sequence *r = &w->sequence[o];

		if (!dp__output_is_modelled(out)) {
			curve_fill_exact(p, o, w, r);
			for (size_t i = 0; i < w->n_points; i++) {
				f[i * count + o] = (struct dp__normal){ r->mean[i], 0 };
				next[i * count + o] = 0;
			}
			continue;
		}
		dp_gp_sequence_gradient(&out->gp, w->u, steps, w->n_points, p->encoding.path_input,
					r, w->work);
		for (size_t i = 0; i < w->n_points; i++) {
			f[i * count + o].mean = out->shift + out->scale * r->mean[i];
			f[i * count + o].sd = out->scale * sqrt(r->var[i]);
			next[i * count + o] = out->scale * out->scale * r->cov_next[i];
		}
	}
}

/* Adds `weight` times the derivatives of a term to those of points i and i + 1. */
static void curve_add_term_gradient(const struct dp_proposer *p, struct curve_gradient *w, size_t i,
				    bool pair, double weight, const struct term_gradient *by)
{
	size_t count = p->n_outputs;

	for (size_t o = 0; o < count; o++) {
		w->by_mean[i * count + o] += weight * by->by_mean[0][o];
		w->by_sd[i * count + o] += weight * by->by_sd[0][o];
		if (!pair)
			continue;
		w->by_mean[(i + 1) * count + o] += weight * by->by_mean[1][o];
		w->by_sd[(i + 1) * count + o] += weight * by->by_sd[1][o];
		w->by_cov[i * count + o] += weight * by->by_cov[o];
	}
}

/* Log gain of the curve, and its derivatives by the predictions. */
static double curve_log_gain(struct dp_proposer *p, struct curve_gradient *w,
			     const struct dp__normal *f, const double *next)
{
	size_t count = p->n_outputs;
	double own[CURVE_POINTS_MAX], scale = -INFINITY, sum = 0;
	struct term_gradient by = { 0 };

	for (size_t i = 0; i < w->n_points; i++) {
		own[i] = log_point_gain(p, f + i * count, NULL);
		scale = fmax(scale, own[i]);
	}
	if (isinf(scale))
		return -INFINITY;
	for (size_t i = 0; i < w->n_points; i++) {
		double both = -INFINITY;

		if (isinf(own[i]))
			continue;
		if (i > 0)
			both = log_pair_gain(p, f + (i - 1) * count, f + i * count,
					     next + (i - 1) * count, &by);
		if (both >= own[i])
			continue;
		if (!isinf(both))
			curve_add_term_gradient(p, w, i - 1, true, -exp(both - scale), &by);
		(void)log_point_gain(p, f + i * count, &by);
		curve_add_term_gradient(p, w, i, false, exp(own[i] - scale), &by);
		sum += exp(own[i] - scale) - exp(both - scale);
	}
	for (size_t i = 0; i < w->n_points * count; i++) {
		w->by_mean[i] /= sum;
		w->by_sd[i] /= sum;
		w->by_cov[i] /= sum;
	}
	return scale + log(sum);
}

/* Chain rule: from derivatives by the predictions to derivatives by u. */
static void curve_chain_gradient(const struct dp_proposer *p, const struct curve_gradient *w,
				 double *gradient)
{
	size_t d = p->encoding.d, count = p->n_outputs;

	for (size_t o = 0; o < count; o++) {
		bool modelled = dp__output_is_modelled(&p->output[o]);
		double scale = modelled ? p->output[o].scale : 1;
		const struct dp_gp_sequence *r = &w->sequence[o];

		for (size_t i = 0; i < w->n_points; i++) {
			double m = scale * w->by_mean[i * count + o], s = 0, c = 0;

			if (modelled) {
				s = scale * w->by_sd[i * count + o] / (2 * sqrt(r->var[i]));
				c = scale * scale * w->by_cov[i * count + o];
			}
			for (size_t k = 0; k < d; k++)
				gradient[k] += m * r->dmean[i * d + k] + s * r->dvar[i * d + k] +
					       c * r->dcov_next[i * d + k];
		}
	}
}

double dp__curve_acq_gradient(struct dp_proposer *p, const double *u, double *gradient)
{
	struct dp__normal f[CURVE_POINTS_MAX * CURVE_OUTPUTS_MAX];
	double next[CURVE_POINTS_MAX * CURVE_OUTPUTS_MAX], value;
	size_t steps = p->encoding.n_checkpoints + 1;
	struct curve_gradient w;

	curve_gradient_init(p, &w);
	w.n_points = curve_expand_points(p, u, 1, u[p->encoding.path_input], w.u, steps);
	memset(w.by_mean, 0, 3 * steps * p->n_outputs * sizeof *w.by_mean);
	memset(gradient, 0, p->encoding.d * sizeof *gradient);
	curve_predict(p, &w, f, next);
	value = curve_log_gain(p, &w, f, next);
	if (!isfinite(value))
		return -INFINITY;
	curve_chain_gradient(p, &w, gradient);
	return value - dp__cost_log_at(p, u, gradient);
}
