/* component_group.c - Gaussian noise on sampled lots where one person has several records.
 *
 * Poisson, add or remove all k records of a person: j of them are in the lot with binomial
 * probability w_j and move the sum by j L at most, so the pair is a mixture of normals N(v_S, s^2)
 * over the subsets S against N(0, s^2), |v_S| <= j. Its likelihood ratio is a mean of exp(X_S -
 * Var(X_S) / 2) over S with normal X_S of covariances <v_S, v_T> / s^2, at most what they are if
 * all v_S point the same way with full length; a mean of any convex function of it is then largest
 * (Kahane's convexity inequality, 1985), and both directions' divergences are such means. So the
 * mixture of N(j, s^2) with weights w_j and N(0, s^2) dominate, in both directions (Ganesh, Tight
 * Group-Level DP Guarantees for DP-SGD with Sampling via Mixture of Gaussians Mechanisms, 2024).
 *
 * Without replacement, replace all k records: j of them are in the lot with hypergeometric
 * probability w_j. Let e = 1 - w_0. As for one record (component_gaussian.c), advanced joint
 * convexity (Balle, Barthe and Gaboardi 2018, Theorem 2) gives, for x >= 0, e times a mean of
 * divergences at log(1 + (exp(x) - 1) / e) between lots that differ in j records; each is at most
 * that of N(2 j L) and N(0), by joint convexity:
 *   delta(x) = sum over j >= 1 of w_j delta_G(j mu; log(1 + (exp(x) - 1) / e)).
 * Below zero it is the mirror image, and the seam is convex: with c the mean of Phi(-j mu / 2) over
 * j >= 1 its slopes are -1 + e (1 - 2c) + c <= -c.
 *
 * mu is that of one record; group_size is k, weight[j] is w_j. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178
#define ROUNDING     (16 * DBL_EPSILON)

/* The probability that any of the person's records is in the lot, without computing 1 - w_0. */
static double group_inclusion_probability(const struct dp_privacy_component *p)
{
	double sum = 0;

	for (int j = (int)p->group_size; j > 0; j--)
		sum += p->weight[j];
	return sum;
}

static double normal_tail(double z)
{
	return dp__normal_cdf(-z);
}

/* ---- Poisson: where the likelihood ratio is exp(target) ---- */

/* Log of the likelihood ratio at z noise deviations, and its slope. Near one, adds up the change by
 * each term: the weights sum to one, so no digit is lost for any noise. */
static double mixture_log_ratio(const struct dp_privacy_component *p, double z, double *slope)
{
	double top = -INFINITY, sum = 0, moved = 0, e[DP__GROUP_MAX + 1];
	int k = (int)p->group_size;
	bool close = k * p->mu * (fabs(z) + 0.5 * k * p->mu) < 0.25;

	for (int j = 0; j <= k; j++) {
		e[j] = j * p->mu * (z - 0.5 * j * p->mu);
		if (!close)
			e[j] += p->log_weight[j];
		top = e[j] > top ? e[j] : top;
	}
	for (int j = 0; close && j <= k; j++) {
		double w = p->weight[j] * expm1(e[j]);

		sum += w;
		moved += j * (p->weight[j] + w);
	}
	if (close) {
		*slope = p->mu * moved / (1 + sum);
		return log1p(sum);
	}
	for (int j = 0; j <= k; j++) {
		double w;

		if (e[j] < top - 40)
			continue;
		w = exp(e[j] - top);
		sum += w;
		moved += j * w;
	}
	*slope = p->mu * moved / sum;
	return top + log(sum);
}

/* The function is convex and increasing: Newton steps from above stay above. Every single term is a
 * lower bound, so the point where the first of them reaches the target is above. The target is
 * above log w_0. Skips a step that is rounding error. */
static double mixture_ratio_root(const struct dp_privacy_component *p, double target)
{
	double z = INFINITY, slope;

	for (int j = 1; j <= (int)p->group_size; j++)
		if (p->weight[j] > 0)
			z = fmin(z, (target - p->log_weight[j]) / (j * p->mu) + 0.5 * j * p->mu);
	for (int i = 0; i < 60; i++) {
		double ratio = mixture_log_ratio(p, z, &slope), step = (ratio - target) / slope;

		if (!(step > 1e-13 * (1 + fabs(z)) &&
		      ratio - target > 2 * DBL_EPSILON * (fabs(ratio) + fabs(target))))
			break;
		z -= step;
	}
	return z;
}

/* An upper bound of every delta: the total variation distance, at most the mean of that of N(j mu)
 * and N(0), 2 Phi(j mu / 2) - 1 <= j mu / sqrt(2 pi). */
static double group_total_variation(const struct dp_privacy_component *p)
{
	double mean = 0;

	for (int j = 1; j <= (int)p->group_size; j++)
		mean += j * p->weight[j];
	return mean * p->mu * exp(-LOG_SQRT_2PI) * (1 + 64 * DBL_EPSILON);
}

/* With so much noise rounding exceeds every difference, and the distance is the bound. */
static bool group_shift_is_negligible(const struct dp_privacy_component *p)
{
	return p->group_size * p->mu < 1e-12;
}

/* The sum over j of w_j (Phi(z) - Phi(z - j mu)) for small j mu, by Gauss-Legendre quadrature of
 * the density. The remainder is below (j mu (|z| + 4))^10 / 1e12 of each, which is 1e-17. */
static double group_small_shift_mass(const struct dp_privacy_component *p, double z)
{
	static const double node[] = { 0.046910077030668004, 0.230765344947158454, 0.5,
				       0.769234655052841546, 0.953089922969331996 };
	static const double weight[] = { 0.118463442528094544, 0.239314335249683234,
					 0.284444444444444444, 0.239314335249683234,
					 0.118463442528094544 };
	double sum = 0;

	for (int j = 1; j <= (int)p->group_size; j++) {
		double width = j * p->mu, one = 0;

		for (size_t i = 0; i < DP_COUNT(node); i++)
			one += weight[i] * expm1(width * node[i] * (z - 0.5 * width * node[i]));
		sum += p->weight[j] * width * (1 + one);
	}
	return sum * exp(-0.5 * z * z - LOG_SQRT_2PI);
}

static bool group_shift_is_small(const struct dp_privacy_component *p, double z)
{
	return p->group_size * p->mu * (fabs(z) + 4) < 0.25;
}

/* The mixture against N(0). No z gives more than the optimum, and the function is flat there. */
static double mixture_profile_remove(const struct dp_privacy_component *p, double x, double *slack)
{
	double any = group_inclusion_probability(p), z = mixture_ratio_root(p, x), in = 0,
	       density = 0, out;

	if (group_shift_is_small(p, z)) {
		in = group_small_shift_mass(p, z);
		out = expm1(x) * normal_tail(z);
		*slack = ROUNDING * (2 + x + z * z) * (in + out);
		return fmax(in - out, 0);
	}
	for (int j = 1; j <= (int)p->group_size; j++) {
		double d = z - j * p->mu;

		if (d > 38.5) /* below 1e-320 */
			continue;
		in += p->weight[j] * normal_tail(d);
		if (x >= 500)
			density += p->weight[j] * exp(-0.5 * d * d - LOG_SQRT_2PI);
	}
	/* (exp(x) - w_0) (1 - Phi(z)); exp(x) is the likelihood ratio at z */
	out = x < 500 ? (expm1(x) + any) * normal_tail(z) : density * dp__mills_ratio(z);
	*slack = ROUNDING * (2 + x + z * z) * in;
	return fmax(in - out, 0);
}

/* N(0) against the mixture: the mass below z. */
static double mixture_profile_add(const struct dp_privacy_component *p, double x, double *slack)
{
	double any = group_inclusion_probability(p), left = any - p->weight[0] * expm1(x), z, in,
	       out = 0;

	*slack = 0;
	if (!(left > 0))
		return 0;
	z = mixture_ratio_root(p, -x);
	if (group_shift_is_small(p, z)) {
		in = exp(x) * group_small_shift_mass(p, z);
		out = expm1(x) * dp__normal_cdf(z);
		*slack = ROUNDING * (2 + x + z * z) * (in + out);
		return fmax(in - out, 0);
	}
	in = left * dp__normal_cdf(z); /* 1 - exp(x) w_0 */
	for (int j = 1; j <= (int)p->group_size; j++)
		out += p->weight[j] * dp__normal_cdf(z - j * p->mu);
	*slack = ROUNDING * (2 + x + z * z) * (in + any * dp__normal_cdf(z));
	return fmax(in - exp(x) * out, 0);
}

static double poisson_group_profile(const struct dp_privacy_component *p, enum dp__direction d,
				    double x, double *slack)
{
	*slack = 0;
	if (group_shift_is_negligible(p))
		return group_total_variation(p);
	return d == DP__DIRECTION_ADD ? mixture_profile_add(p, x, slack)
				      : mixture_profile_remove(p, x, slack);
}

/* ---- without replacement ---- */

/* The loss before sampling that becomes x after it, and the inverse. */
static double loss_before_sampling(double any, double x)
{
	return x > 600 ? x - log(any) : log1p(expm1(x) / any);
}

static double loss_after_sampling(double any, double e)
{
	return e > 600 ? e + log(any) : log1p(any * expm1(e));
}

/* Leaves terms that change no digit to the slack: no delta_G exceeds that of all records, and none
 * exceeds Phi(mu / 2 - e / mu). */
static double wor_group_profile(const struct dp_privacy_component *p, enum dp__direction d,
				double x, double *slack)
{
	double any = group_inclusion_probability(p), e = loss_before_sampling(any, x), v = 0,
	       left = any;
	int k = (int)p->group_size;

	(void)d;
	*slack = 0;
	if (group_shift_is_negligible(p))
		return group_total_variation(p);
	for (int j = 1; j <= k; j++) {
		double mu = j * p->mu, a = 0.5 * mu - e / mu, cdf;

		if (left < 0.5 * DBL_EPSILON * v) {
			*slack += 2 * left;
			break;
		}
		left = fmax(left - p->weight[j], 0);
		if (a < -38.5) /* below 1e-320 */
			continue;
		cdf = dp__normal_cdf(a);
		v += p->weight[j] * dp__gaussian_delta(mu, e);
		*slack += ROUNDING * (2 + e) * p->weight[j] * cdf;
	}
	return v;
}

/* ---- both ---- */

/* Either profile is at most the sum over j of w_j delta_G(j mu), at the loss before sampling.
 * Beyond the cutoff each term has at most its share of the tail. */
static double group_tail_cutoff(const struct dp_privacy_component *p, enum dp__direction d,
				double log_tail)
{
	double share = log_tail - log(p->group_size), e = 0;

	if (p->kind->is_asymmetric && d == DP__DIRECTION_ADD)
		return -log(p->weight[0]);
	for (int j = 1; j <= (int)p->group_size; j++)
		if (p->log_weight[j] > share)
			e = fmax(e, dp__gaussian_epsilon(j * p->mu, share - p->log_weight[j]));
	return loss_after_sampling(group_inclusion_probability(p), e);
}

static double group_max_loss(const struct dp_privacy_component *p, enum dp__direction d)
{
	return p->kind->is_asymmetric && d == DP__DIRECTION_ADD ? -log(p->weight[0]) : INFINITY;
}

static double group_loss_scale(const struct dp_privacy_component *p)
{
	return p->group_size * p->group_size * p->mu * p->mu;
}

/* One term for each of the k records, and for Poisson lots a root of their sum. */
static double group_profile_cost(const struct dp_privacy_component *p)
{
	double terms = 0;

	for (int j = 1; j <= (int)p->group_size; j++)
		terms += p->weight[j] > 1e-40;
	return 3 + (p->kind->is_asymmetric ? 2 : 1.5) * terms;
}

static double group_exact_epsilon(const struct dp_privacy_component *p, double delta)
{
	(void)p;
	(void)delta;
	return NAN;
}

static void poisson_group_rough_points(struct dp__loss_points *s,
				       const struct dp_privacy_component *p, enum dp__direction d,
				       double end)
{
	const double reach = 11, points = 1600;
	double to = p->group_size * p->mu + reach, step = (to + reach) / points, slope;

	for (double z = -reach; z < to; z += step) {
		double x = mixture_log_ratio(p, z, &slope);
		double none = exp(-0.5 * z * z - LOG_SQRT_2PI) * step;

		if (d == DP__DIRECTION_ADD)
			dp__loss_points_add(s, -x, none, end);
		else
			dp__loss_points_add(s, x, none * exp(fmin(x, 700)), end);
	}
}

/* As for one record, each j with its share: losses above zero and their mirror images. */
static void wor_group_rough_points(struct dp__loss_points *s, const struct dp_privacy_component *p,
				   enum dp__direction d, double end)
{
	double any = group_inclusion_probability(p), points = 800 / p->group_size;

	(void)d;
	for (int j = 1; j <= (int)p->group_size; j++) {
		double mu = j * p->mu, step = (0.5 * mu + 11) / points;
		double share = p->weight[j] / any;

		for (double z = 0.5 * (mu + step); z < mu + 11; z += step) {
			double u = mu * (z - 0.5 * mu);
			double n0 = exp(-0.5 * z * z - LOG_SQRT_2PI) * step;
			double n1 = exp(-0.5 * (z - mu) * (z - mu) - LOG_SQRT_2PI) * step;
			double x = loss_after_sampling(any, u);

			dp__loss_points_add(s, x, share * ((1 - any) * n0 + any * n1), end);
			dp__loss_points_add(s, -x, share * n0, end);
		}
	}
}

/* ---- Renyi ---- */

/* An integral with more terms would take too long; another bound is used then. */
#define INTEGRAL_TERMS_MAX 262144.0
/* A smaller excess would lose digits to underflow. */
#define SHIFT_MIN 1e-100

/* Log of w_j (exp(order (order - 1) (j mu)^2 / 2) - 1), what j records add to exp K - 1 at most,
 * for any sampler: exp K is 1 + an f-divergence and so jointly convex. */
static double convex_log_excess(const struct dp_privacy_component *p, double order, int j)
{
	double whole = 0.5 * order * (order - 1) * j * j * p->mu * p->mu;

	return p->log_weight[j] + (whole > 40 ? whole : log(expm1(whole)));
}

static double cgf_from_log_excess(double log_excess)
{
	return log_excess > 36 ? log_excess : log1p(exp(log_excess));
}

double dp__group_convex_cgf(const struct dp_privacy_component *p, double order)
{
	double log_sum = -INFINITY;

	for (int j = 1; j <= (int)p->group_size; j++)
		if (p->weight[j] > 0)
			log_sum = dp__log_add(log_sum, convex_log_excess(p, order, j));
	return cgf_from_log_excess(log_sum);
}

/* Poisson. With L the likelihood ratio of the mixture and N(0), z its noise under N(0), exp K is
 * the mean of L^b, b = order (remove) or 1 - order (add). L has mean one, so exp K - 1 is the mean
 * of L^b - 1 - b (L - 1), which is never negative.
 *
 * Trapezoid rule. L is a polynomial in exp(mu z). That of the binomial weights has real roots, and
 * factors exp(-c j^2) keep them real (Laguerre's multipliers), so that L has no root within pi / mu
 * of the axis. There |L(x + iy)| <= L(x): in steps of at most 1/4 and 1 / (2 mu) the error is below
 * exp(-2 pi^2 / (mu step)) of the whole. For b < 0 |L(x + iy)| >= L(x) cos(mu y / 2)^k, since each
 * of the k factors 1 + exp(mu z) / r has that for k = 1. Up to y = 2 / mu and y = sqrt(25.6 / (k
 * |b|)) / mu L^b is at most exp(4) times as large, the density up to y = 2 at most exp(2) times,
 * and steps of y / 8 leave exp(-44). Peaks lie between 0 and b k mu, those of L itself between 0
 * and k mu, and are no wider than the noise: 12 deviations further the integrand vanishes. */
struct mixture_integrand {
	double log_c[DP__GROUP_MAX + 1]; /* of exp(j mu z) in L */
	int max_records;
	double mu, power;
};

static double integrand_log_ratio(const struct mixture_integrand *x, double z)
{
	double top = -INFINITY, sum = 0, e[DP__GROUP_MAX + 1];

	for (int j = 0; j <= x->max_records; j++) {
		e[j] = x->log_c[j] + j * x->mu * z;
		top = e[j] > top ? e[j] : top;
	}
	for (int j = 0; j <= x->max_records; j++)
		if (e[j] > top - 40)
			sum += exp(e[j] - top);
	if (fabs(top + log(sum)) > 0.5)
		return top + log(sum);
	/* near one: the weights sum to one, so add up the change by each term */
	sum = 0;
	for (int j = 1; j <= x->max_records; j++)
		sum += exp(x->log_c[j] + 0.5 * j * j * x->mu * x->mu) *
		       expm1(j * x->mu * (z - 0.5 * j * x->mu));
	return log1p(sum);
}

/* log(exp(t) - 1 - t) */
static double log_exp_remainder(double t)
{
	double sum = 1;

	if (t > 40)
		return t;
	if (fabs(t) > 1)
		return log(expm1(t) - t);
	for (int i = 20; i >= 3; i--)
		sum = 1 + t / i * sum;
	return 2 * log(fabs(t)) - M_LN2 + log(sum);
}

/* Log of L^b - 1 - b (L - 1). */
static double integrand_log_excess(const struct mixture_integrand *x, double z)
{
	double lw = integrand_log_ratio(x, z);

	if (x->power > 1)
		return dp__rdp_poisson_log_excess(lw, x->power - 1);
	return dp__log_add(log_exp_remainder(x->power * lw),
			   log(-x->power) + log_exp_remainder(lw));
}

/* Log of exp K - 1; +inf if it would take too long. */
static double mixture_log_excess(const struct dp_privacy_component *p, double b,
				 struct dp__rdp_wor *tables)
{
	struct mixture_integrand x = { .max_records = (int)p->group_size, .mu = p->mu, .power = b };
	double all = p->group_size * p->mu, top = -INFINITY, sum = 0, last = 0;
	double step = fmin(0.25, 0.5 / p->mu), from = fmin(b * all, 0) - 12;
	double nodes;

	if (b < 0)
		step = fmin(0.25, fmin(2, sqrt(25.6 / (p->group_size * -b))) / (8 * p->mu));
	nodes = ceil(((b < 0 ? 1 : b) * all + 12 - from) / step);
	if (!(nodes * (p->group_size + 1) <= INTEGRAL_TERMS_MAX) || !(all > SHIFT_MIN))
		return INFINITY;
	for (int j = 0; j <= x.max_records; j++)
		x.log_c[j] = p->log_weight[j] - 0.5 * j * j * p->mu * p->mu;
	dp__wor_worked(tables, nodes * (1 + 0.25 * p->group_size));
	for (double i = 0; i <= nodes; i++) {
		double z = from + i * step, e = integrand_log_excess(&x, z) - 0.5 * z * z;

		if (isnan(e)) /* L is one there, to the last digit */
			continue;
		last = e;
		if (e > top) {
			sum = sum * exp(top - e) + 1;
			top = e;
		} else if (e > top - 45) {
			sum += exp(e - top);
		}
	}
	/* the integral has not converged */
	return last < top - 30 ? top + log(sum) + log(step) - LOG_SQRT_2PI : INFINITY;
}

/* Without replacement. exp K - 1 is an average of the profile, which is the sum over j of w_j / e
 * times that of one record with sampling rate e and sensitivity j mu (rdp_dominating_pair.c). For y
 * >= 1, e H(1 + (y - 1) / e) <= e H(y), so j records add at most convex_log_excess(). That bound
 * replaces an integral that would change nothing or take too long. */
static double wor_group_log_excess(const struct dp_privacy_component *p, double order,
				   struct dp__rdp_wor *tables)
{
	double any = group_inclusion_probability(p), log_sum = -INFINITY;

	for (int j = 1; j <= (int)p->group_size; j++) {
		double one = INFINITY, most;

		if (!(p->weight[j] > 0))
			continue;
		most = convex_log_excess(p, order, j);
		if (most > log_sum - 40)
			one = dp__rdp_dominating_log_excess(any, 1 / (j * p->mu), order, tables) +
			      p->log_weight[j] - log(any);
		log_sum = dp__log_add(log_sum, one < most ? one : most);
	}
	return log_sum;
}

/* Raised by more than quadratures ever differ. */
static double group_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
			double order)
{
	double convex = dp__group_convex_cgf(p, order), e;

	if (!p->kind->is_asymmetric)
		e = wor_group_log_excess(p, order, tables);
	else
		e = fmax(mixture_log_excess(p, order, tables),
			 mixture_log_excess(p, 1 - order, tables));
	return fmin(cgf_from_log_excess(e) * (1 + 1e-9), convex);
}

static const struct dp__component_kind poisson_group = {
	.cgf = group_cgf,
	.profile = poisson_group_profile,
	.tail_cutoff = group_tail_cutoff,
	.rough_points = poisson_group_rough_points,
	.max_loss = group_max_loss,
	.loss_scale = group_loss_scale,
	.exact_epsilon = group_exact_epsilon,
	.profile_cost = group_profile_cost,
	.is_asymmetric = true,
};

static const struct dp__component_kind wor_group = {
	.cgf = group_cgf,
	.profile = wor_group_profile,
	.tail_cutoff = group_tail_cutoff,
	.rough_points = wor_group_rough_points,
	.max_loss = group_max_loss,
	.loss_scale = group_loss_scale,
	.exact_epsilon = group_exact_epsilon,
	.profile_cost = group_profile_cost,
};

/* ---- weights ---- */

static void set_binomial_weights(struct dp_privacy_component *p)
{
	double k = p->group_size, w = exp(k * log1p(-p->q));

	for (int j = 0; j <= (int)k; j++) {
		p->weight[j] = w;
		w *= (k - j) / (j + 1) * (p->q / (1 - p->q));
	}
}

/* C(k, j) C(n - k, lot - j) / C(n, lot), from w_0 on. */
static void set_hypergeometric_weights(struct dp_privacy_component *p, double records, double lot)
{
	double k = p->group_size, w = 1;
	int first = (int)fmax(lot + k - records, 0);

	for (double i = 0; i < k; i++) /* none of the k, if enough others exist */
		w *= first > 0 ? 1 : (records - lot - i) / (records - i);
	for (int j = 0; j <= (int)k; j++)
		p->weight[j] = 0;
	for (int j = first; j <= (int)k && j <= (int)fmin(lot, k); j++) {
		p->weight[j] = w;
		w *= (k - j) * (lot - j) / ((j + 1) * (records - k - lot + j + 1));
	}
	if (first == 0)
		return;
	w = 0; /* started at 1: normalise */
	for (int j = first; j <= (int)k; j++)
		w += p->weight[j];
	for (int j = first; j <= (int)k; j++)
		p->weight[j] /= w;
}

void dp__component_set_group(struct dp_privacy_component *p, double records, double lot)
{
	bool poisson = p->kind == &dp__component_poisson;

	/* hardly any sampling amounts to none: all of the person's records in every lot */
	if (p->q >= 1 || p->group_size * log1p(-p->q) < -400) {
		p->q = 1;
		p->mu *= p->group_size;
		return;
	}
	if (poisson)
		set_binomial_weights(p);
	else
		set_hypergeometric_weights(p, records, lot);
	for (int j = 0; j <= (int)p->group_size; j++)
		p->log_weight[j] = log(p->weight[j]);
	p->kind = poisson ? &poisson_group : &wor_group;
}
