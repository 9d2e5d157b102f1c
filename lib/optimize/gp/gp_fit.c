/* gp_fit.c - fits hyperparameters by maximum a posteriori with analytic gradients.
 *
 * Priors, all weak, on the unit cube and for standardised outputs:
 *   m, the mean of the log lengths ~ N(log(0.7 sqrt(d)), 0.7^2): the typical distance of two
 *     points of the cube grows with sqrt(d), and length scales tend to be short together;
 *   log length - m ~ 0.6 t4: the heavy tails of Student's t allow one input with rapid changes
 *     and another without any effect;
 *   log signal ~ N(0, 2^2): outputs have variance 1, but a smooth trend needs more;
 *   log noise ~ N(log 1e-4, 3^2): most trainers repeat well, some do not at all;
 *   noise exponent ~ N(0, 0.5^2): constant noise unless the data shows otherwise;
 *   warp ~ N(warp_prior_mean, warp_sd^2): the data must show that another scale is better;
 *   additive share ~ exp(-2 share): the data must show that the function is additive. */
#include "optimize/gp/gp_internal.h"
#include "linalg/linalg.h"

#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

static const double length_centre = 0.7, length_sd = 0.7, length_scale = 0.6;
static const double signal_sd = 2, noise_sd = 3, log_noise_mean = -9.21;
static const double noise_exponent_sd = 0.5;
static const double additive_rate = 2;
/* A start is dropped if its log posterior is this far behind its rival's, checked twice. */
static const double max_behind_first = 15, max_behind_second = 5;

static double log_length_mean(const struct dp_gp_spec *spec)
{
	return log(length_centre) + 0.5 * log((double)spec->d);
}

void dp_gp_init_hyper(const struct dp_gp_spec *spec, enum dp_gp_fit_start from,
		      struct dp_gp_hyper *h)
{
	double length = exp(log_length_mean(spec));

	memset(h, 0, sizeof *h);
	h->signal = 1;
	h->noise = 1e-4;
	h->additive_share = 0.2; /* not 0, a bound of the search */
	if (from == DP_GP_START_SHORT_LENGTHS) {
		length *= 0.3;
		h->noise = 1e-2;
		h->additive_share = 0.5;
	}
	if (from == DP_GP_START_ADDITIVE) {
		length = 0.1;
		h->additive_share = 0.95;
	}
	for (size_t i = 0; i < spec->d; i++) {
		const struct dp_gp_input *in = &spec->input[i];
		bool other = from == DP_GP_START_ALT_WARPS && in->warp_sd > 0;

		h->length[i] = length;
		h->warp[i] = other ? in->warp_alternative : in->warp_prior_mean;
	}
}

void dp__gp_fit_free(struct dp__gp_fit *f)
{
	free(f->z);
	free(f->dz_dwarp);
	free(f->k);
	free(f->dk);
	free(f->additive_diff);
	free(f->alpha);
	free(f->l_inv_ones);
	free(f->work);
	free(f->pair_weight);
	free(f->gradient_sums);
	free(f->noise);
}

void dp__gp_fit_init(struct dp__gp_fit *f, const struct dp_gp_spec *spec,
		     const struct dp_gp_data *data)
{
	size_t n = data->n, d = spec->d;

	memset(f, 0, sizeof *f);
	f->spec = spec;
	f->data = data;
	f->best_value = -INFINITY;
	f->z = dp_vec_new(3 * d * n);
	f->dz_dwarp = dp_vec_new(d * n);
	f->k = dp_vec_new(n * n);
	f->dk = dp_vec_new(n * n);
	f->additive_diff = dp_vec_new(n * n);
	f->alpha = dp_vec_new(n);
	f->l_inv_ones = dp_vec_new(n);
	f->work = dp_vec_new(n);
	f->pair_weight = dp_vec_new(n);
	f->gradient_sums = dp_vec_new((2 * d + 1) * n);
	f->noise = dp_vec_new(n);
	for (size_t i = 0; i < n; i++)
		f->has_learned_noise |= isnan(data->noise[i]);
	for (size_t i = 0; data->log_noise_scale && i < n && f->has_learned_noise; i++)
		f->has_noise_scale |= data->log_noise_scale[i] != 0;
}

/* Point i of f->z, with the inverse squared lengths. */
static void fit_get_point(const struct dp__gp_fit *f, const struct dp_gp_hyper *h, size_t i,
			  double *z)
{
	size_t n = f->data->n, d = f->spec->d;

	for (size_t k = 0; k < 3 * d; k++)
		z[k] = f->z[k * n + i];
	for (size_t k = 0; k < d; k++)
		z[3 * d + k] = 1 / (h->length[k] * h->length[k]);
}

static double learned_noise(const struct dp__gp_fit *f, const struct dp_gp_hyper *h, size_t i)
{
	return h->noise *
	       (f->has_noise_scale ? exp(h->noise_exponent * f->data->log_noise_scale[i]) : 1);
}

/* Lower triangles of the covariance and of the kernel's derivative by r^2. */
static void fit_compute_covariance(struct dp__gp_fit *f, const struct dp_gp_hyper *h)
{
	size_t n = f->data->n, d = f->spec->d;
	double z[DP__GP_POINT_MAX], expm1_c[DP_GP_INPUTS_MAX];

	for (size_t k = 0; k < d; k++) {
		expm1_c[k] = expm1(h->warp[k]);
		z[3 * d + k] = 1 / (h->length[k] * h->length[k]);
	}
	for (size_t i = 0; i < n; i++) { /* encode all points */
		for (size_t k = 0; k < d; k++) {
			double u = f->data->u[k * f->data->ldu + i], w, by_c;

			dp__gp_warp_with_grad_c(u, h->warp[k], expm1_c[k], &w, &by_c);
			z[k] = f->spec->input[k].categorical ? u : w / h->length[k];
			f->dz_dwarp[k * n + i] = by_c / h->length[k];
		}
		dp__gp_additive_exponentials(f->spec, z);
		for (size_t k = 0; k < 3 * d; k++)
			f->z[k * n + i] = z[k];
	}
	for (size_t i = 0; i < n; i++) {
		double *row = f->k + i * n, *dk = f->dk + i * n, *more = f->additive_diff + i * n;
		double own = f->data->noise[i];

		fit_get_point(f, h, i, z);
		dp__gp_squared_distances(f->spec, f->z, n, i, z, f->work);
		dp__gp_matern52_slopes(f->work, i, row, dk);
		memset(more, 0, i * sizeof *more);
		dp__gp_add_additive_terms(f->spec, f->z, n, i, z, 1 / (double)d, more);
		dp__gp_mix_additive(h->additive_share, i, more, row, dk);
		dp__gp_vec_scale(h->signal, i, row);
		f->noise[i] = !isnan(own) ? own
			      : !f->data->known_noise
				      ? learned_noise(f, h, i)
				      : learned_noise(f, h, i) + f->data->known_noise[i];
		row[i] = h->signal + f->noise[i];
		if (f->data->noise_group)
			dp__gp_add_noise_covariances(f->data->noise_group, f->noise, i, row);
	}
}

/* Sets alpha = K^-1 (y - mean) for the best mean. Returns the log likelihood. */
static double fit_log_likelihood(struct dp__gp_fit *f)
{
	size_t n = f->data->n;
	double above = 0, below = 0, square = 0, mean;

	memcpy(f->alpha, f->data->y, n * sizeof *f->alpha);
	for (size_t i = 0; i < n; i++)
		f->l_inv_ones[i] = 1;
	dp_chol_forward(f->k, n, n, f->alpha);
	dp_chol_forward(f->k, n, n, f->l_inv_ones);
	for (size_t i = 0; i < n; i++) {
		above += f->l_inv_ones[i] * f->alpha[i];
		below += f->l_inv_ones[i] * f->l_inv_ones[i];
	}
	mean = above / below;
	for (size_t i = 0; i < n; i++) {
		f->alpha[i] -= mean * f->l_inv_ones[i];
		square += f->alpha[i] * f->alpha[i];
	}
	dp_chol_backward(f->k, n, n, f->alpha);
	return -0.5 * square - 0.5 * dp_chol_logdet(f->k, n, n);
}

static double sum_vector(const double *v, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

/* Adds the contributions of the pairs (i, j), j < i, to the gradient sums. */
static void add_pair_gradients(struct dp__gp_fit *f, const struct dp_gp_hyper *h, size_t i)
{
	size_t n = f->data->n, d = f->spec->d;
	double *share = f->gradient_sums + 2 * d * n, at[DP__GP_POINT_MAX];

	fit_get_point(f, h, i, at);
	dp__gp_gradient_weights(f->alpha[i], f->alpha, f->k + i * n, i, f->pair_weight);
	dp__gp_vec_multiply(f->pair_weight, f->additive_diff + i * n, i, f->work);
	for (size_t j = 0; j < i; j++)
		share[j] += f->work[j];
	for (size_t k = 0; k < d; k++) {
		const struct dp_gp_input *in = &f->spec->input[k];
		const double *z = f->z + k * n, *e = f->dz_dwarp + k * n;

		memcpy(f->work, f->dk + i * n, i * sizeof *f->work);
		if (h->additive_share > 0)
			dp__gp_add_additive_slope(f->spec, k, f->z, n, i, at,
						  h->additive_share / (double)d, f->work);
		dp__gp_vec_multiply(f->pair_weight, f->work, i, f->work);
		dp__gp_add_squared_diffs(in->categorical, z, z[i], f->work, i,
					 f->gradient_sums + k * n);
		if (in->warp_sd > 0)
			dp__gp_add_diff_products(z, z[i], e, e[i], f->work, i,
						 f->gradient_sums + (d + k) * n);
	}
}

/* Adds the contributions of correlated noise to twice the derivatives by log signal, log noise and
 * noise exponent. A noise covariance is proportional to the square root of both variances. */
static void add_noise_cov_gradients(const struct dp__gp_fit *f, double *signal, double *noise,
				    double *lean)
{
	const double *own = f->data->noise, *leans = f->data->log_noise_scale;
	size_t n = f->data->n;

	for (size_t i = 0; f->data->noise_group && i < n; i++)
		for (size_t j = 0; j < i; j++) {
			double a = f->alpha[i] * f->alpha[j] - f->k[i * n + j];
			double both =
				a * dp__gp_noise_covariance(f->data->noise_group, f->noise, i, j);
			double by_i = isnan(own[i]) ? both : 0;
			double by_j = isnan(own[j]) ? both : 0;

			*signal -= 2 * both;
			*noise += by_i + by_j;
			*lean += f->has_noise_scale ? by_i * leans[i] + by_j * leans[j] : 0;
		}
}

/* d log p / d theta = 1/2 tr((alpha alpha' - K^-1) dK / dtheta); R&W eq. 5.9. f->k holds K^-1. Sums
 * over pairs stay separate per column until the end, so that no inner loop carries a sum. */
static void likelihood_gradient(struct dp__gp_fit *f, const struct dp_gp_hyper *h, double *g)
{
	size_t n = f->data->n, d = f->spec->d;
	double signal = 0, noise = 0, lean = 0;

	memset(f->gradient_sums, 0, (2 * d + 1) * n * sizeof *f->gradient_sums);
	for (size_t i = 1; i < n; i++)
		add_pair_gradients(f, h, i);
	for (size_t k = 0; k < d; k++) {
		bool cat = f->spec->input[k].categorical;
		double each = cat ? 1 / (h->length[k] * h->length[k]) : 1;

		g[k] = -2 * h->signal * each * sum_vector(f->gradient_sums + k * n, n);
		g[d + k] = 2 * h->signal * sum_vector(f->gradient_sums + (d + k) * n, n);
	}
	/* K = signal C + N: alpha' signal C alpha = alpha'(y - mean) - alpha'N alpha, tr(K^-1
	 * signal C) = n - tr(K^-1 N). */
	for (size_t i = 0; i < n; i++) {
		double a = f->alpha[i] * f->alpha[i] - f->k[i * n + i];

		signal += f->alpha[i] * f->data->y[i] - 1 - a * (f->noise[i] + f->jitter);
		if (isnan(f->data->noise[i])) {
			double own = a * learned_noise(f, h, i);

			noise += own;
			lean += f->has_noise_scale ? own * f->data->log_noise_scale[i] : 0;
		}
	}
	add_noise_cov_gradients(f, &signal, &noise, &lean);
	g[2 * d] = 0.5 * signal;
	g[2 * d + 1] = 0.5 * noise;
	g[2 * d + 2] = h->signal * sum_vector(f->gradient_sums + 2 * d * n, n);
	g[2 * d + 3] = 0.5 * lean;
}

/* Log density of a normal up to a constant; adds its derivative by x to *g. */
static double normal_prior(double x, double mean, double sd, double *g)
{
	double z = (x - mean) / sd;

	*g -= z / sd;
	return -0.5 * z * z;
}

static double add_priors(const struct dp__gp_fit *f, const struct dp_gp_hyper *h, double *g)
{
	size_t d = f->spec->d;
	double x[DP_GP_INPUTS_MAX], mean = 0, by_mean = 0, value;

	for (size_t k = 0; k < d; k++) {
		x[k] = log(h->length[k]);
		mean += x[k] / (double)d;
	}
	value = normal_prior(mean, log_length_mean(f->spec), length_sd, &by_mean);
	for (size_t k = 0; k < d; k++) {
		/* Student's t with 4 degrees of freedom: a narrow core with heavy tails */
		double z = (x[k] - mean) / length_scale;
		double by_own = -(5 * z / (length_scale * (4 + z * z)));

		value += -2.5 * log1p(z * z / 4);
		g[k] += by_own;
		by_mean -= by_own; /* the mean enters z with the opposite sign */
	}
	for (size_t k = 0; k < d; k++)
		g[k] += by_mean / (double)d;
	for (size_t k = 0; k < d; k++) {
		const struct dp_gp_input *in = &f->spec->input[k];

		if (in->warp_sd > 0)
			value += normal_prior(h->warp[k], in->warp_prior_mean, in->warp_sd,
					      &g[d + k]);
		else
			g[d + k] = 0;
	}
	value += normal_prior(log(h->signal), 0, signal_sd, &g[2 * d]);
	if (f->has_learned_noise)
		value += normal_prior(log(h->noise), log_noise_mean, noise_sd, &g[2 * d + 1]);
	if (f->has_noise_scale)
		value += normal_prior(h->noise_exponent, 0, noise_exponent_sd, &g[2 * d + 3]);
	g[2 * d + 2] -= additive_rate;
	return value - additive_rate * h->additive_share;
}

double dp__gp_log_posterior(struct dp__gp_fit *f, const struct dp_gp_hyper *h, double *g)
{
	size_t n = f->data->n, d = f->spec->d;
	double value;

	memset(g, 0, (2 * d + 4) * sizeof *g);
	fit_compute_covariance(f, h);
	if (dp_chol_factor(f->k, n, n, f->work, &f->jitter) != DP_OK)
		return -INFINITY;
	value = fit_log_likelihood(f);
	if (dp_chol_inverse(f->k, n, n) != DP_OK)
		return -INFINITY;
	likelihood_gradient(f, h, g);
	value += add_priors(f, h, g);
	return isfinite(value) ? value : -INFINITY;
}

/* ---- the search, over the variables of dp__gp_log_posterior()'s gradient ---- */

enum {
	FIT_VARIABLES_MAX = 2 * DP_GP_INPUTS_MAX + 4
};

static void fit_set_bounds(const struct dp__gp_fit *f, double *lo, double *hi, double *x,
			   const struct dp_gp_hyper *h)
{
	size_t d = f->spec->d;

	for (size_t k = 0; k < d; k++) {
		const struct dp_gp_input *in = &f->spec->input[k];

		lo[k] = log(0.01);
		hi[k] = log(100);
		x[k] = log(h->length[k]);
		lo[d + k] = in->warp_sd > 0 ? in->warp_lo : h->warp[k];
		hi[d + k] = in->warp_sd > 0 ? in->warp_hi : h->warp[k];
		x[d + k] = h->warp[k];
	}
	lo[2 * d] = log(1e-2);
	hi[2 * d] = log(1e4);
	x[2 * d] = log(h->signal);
	lo[2 * d + 1] = log(f->has_learned_noise ? 1e-8 : h->noise);
	hi[2 * d + 1] = log(f->has_learned_noise ? 0.5 : h->noise);
	x[2 * d + 1] = log(h->noise);
	lo[2 * d + 2] = 0;
	hi[2 * d + 2] = d > 1 ? 1 : 0; /* with one input both parts are the same */
	x[2 * d + 2] = h->additive_share;
	lo[2 * d + 3] = f->has_noise_scale ? -0.5 : h->noise_exponent;
	hi[2 * d + 3] = f->has_noise_scale ? 1.5 : h->noise_exponent;
	x[2 * d + 3] = h->noise_exponent;
	for (size_t k = 0; k < 2 * d + 4; k++)
		x[k] = fmin(fmax(x[k], lo[k]), hi[k]);
}

static double fit_objective(unsigned count, const double *x, double *g, void *arg)
{
	struct dp__gp_fit *f = arg;
	size_t d = f->spec->d;
	int steps = d < 12 ? (int)d + 4
			   : 16; /* evaluations before the first comparison with the rival */
	double gradient[FIT_VARIABLES_MAX], value, behind;
	struct dp_gp_hyper h = { .signal = exp(x[2 * d]),
				 .noise = exp(x[2 * d + 1]),
				 .additive_share = x[2 * d + 2],
				 .noise_exponent = x[2 * d + 3] };

	for (size_t k = 0; k < d; k++) {
		h.length[k] = exp(x[k]);
		h.warp[k] = x[d + k];
	}
	if (f->options->cancel && atomic_load(f->options->cancel))
		nlopt_force_stop(f->opt);
	value = dp__gp_log_posterior(f, &h, gradient);
	f->n_evaluations++;
	if (value > f->best_value) {
		f->best_value = value;
		f->best_hyper = h;
	}
	behind = f->options->rival_value - f->best_value;
	if (f->options->has_rival &&
	    ((f->n_evaluations == steps && behind > max_behind_first) ||
	     (f->n_evaluations == 2 * steps && behind > max_behind_second)))
		nlopt_force_stop(f->opt);
	if (g)
		memcpy(g, gradient, count * sizeof *g);
	return isfinite(value) ? value : -1e30;
}

int dp_gp_fit(const struct dp_gp_spec *spec, const struct dp_gp_data *data,
	      const struct dp_gp_fit_options *effort, struct dp_gp_hyper *h, double *value)
{
	size_t count = 2 * spec->d + 4;
	double lo[FIT_VARIABLES_MAX], hi[FIT_VARIABLES_MAX];
	double x[FIT_VARIABLES_MAX], reached;
	struct dp__gp_fit f;

	dp__gp_fit_init(&f, spec, data);
	f.options = effort;
	fit_set_bounds(&f, lo, hi, x, h);
	f.opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)count);
	if (!f.opt)
		dp_out_of_memory();
	nlopt_set_max_objective(f.opt, fit_objective, &f);
	nlopt_set_lower_bounds(f.opt, lo);
	nlopt_set_upper_bounds(f.opt, hi);
	nlopt_set_maxeval(f.opt, effort->max_evaluations);
	nlopt_set_ftol_rel(f.opt, 1e-6);
	nlopt_set_ftol_abs(f.opt, 1e-4);
	nlopt_set_vector_storage(f.opt, 12);
	/* the best point met counts, whatever ended the search */
	(void)nlopt_optimize(f.opt, x, &reached);
	nlopt_destroy(f.opt);
	dp__gp_fit_free(&f);
	if (effort->cancel && atomic_load(effort->cancel))
		return DP_E_INTERRUPTED;
	if (!isfinite(f.best_value))
		return DP_E_FAILED;
	*h = f.best_hyper;
	*value = f.best_value;
	return DP_OK;
}
