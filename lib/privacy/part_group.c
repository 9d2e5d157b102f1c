/* part_group.c - Gaussian noise on sampled lots where one person has several records.
 *
 * Poisson, add or remove all k records of a person: j of them are in the lot with
 * binomial probability w_j and move the sum by j L at most, so the pair is a mixture of
 * normals N(v_S, s^2) over the subsets S against N(0, s^2), |v_S| <= j. Its likelihood
 * ratio is a mean of exp(X_S - Var(X_S) / 2) over S with normal X_S of covariances
 * <v_S, v_T> / s^2, at most what they are if all v_S point the same way with full length;
 * a mean of any convex function of it is then largest (Kahane's convexity inequality,
 * 1985), and both directions' divergences are such means. So the mixture of N(j, s^2)
 * with weights w_j and N(0, s^2) dominate, each way round (Ganesh, Tight Group-Level DP
 * Guarantees for DP-SGD with Sampling via Mixture of Gaussians Mechanisms, 2024).
 *
 * Without replacement, replace all k records: j of them are in the lot with
 * hypergeometric probability w_j. Let e = 1 - w_0. As for one record (part_gaussian.c),
 * advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorem 2) gives, for
 * x >= 0, e times a mean of divergences at log(1 + (exp(x) - 1) / e) between lots that
 * differ in j records; each is at most that of N(2 j L) and N(0), by joint convexity:
 *   delta(x) = sum over j >= 1 of w_j delta_G(j mu; log(1 + (exp(x) - 1) / e)).
 * The mirror image below zero, and the seam is convex: with c the mean of Phi(-j mu / 2)
 * over j >= 1 its slopes are -1 + e (1 - 2c) + c <= -c.
 *
 * mu is that of one record; group the k, weight the w_j. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>

#define LOG_SQRT_2PI 0.91893853320467274178
#define ROUNDING     (16 * DBL_EPSILON)

/* The probability that any of the person's records is in the lot, without 1 - w_0. */
static double group_any(const struct dp_privacy_part *p)
{
	double sum = 0;

	for (int j = (int)p->group; j > 0; j--)
		sum += p->weight[j];
	return sum;
}

static double normal_tail(double z)
{
	return dp__normal_cdf(-z);
}

/* ---- Poisson: where the likelihood ratio is exp(target) ---- */

/* Log of the likelihood ratio at z noise deviations, and its slope. */
static double mixture_ratio(const struct dp_privacy_part *p, double z, double *slope)
{
	double top = -INFINITY, sum = 0, moved = 0, e[DP__GROUP_MAX + 1];

	for (int j = 0; j <= (int)p->group; j++) {
		e[j] = log(p->weight[j]) + j * p->mu * (z - 0.5 * j * p->mu);
		top = fmax(top, e[j]);
	}
	for (int j = 0; j <= (int)p->group; j++) {
		double w = exp(e[j] - top);

		sum += w;
		moved += j * p->mu * w;
	}
	*slope = moved / sum;
	return top + log(sum);
}

/* It is convex and grows: Newton's steps from above stay above. Every single term is a
 * bound from below, so where the first of them reaches the target is above. The target
 * is above log w_0. */
static double mixture_mark(const struct dp_privacy_part *p, double target)
{
	double z = INFINITY, slope;

	for (int j = 1; j <= (int)p->group; j++)
		if (p->weight[j] > 0)
			z = fmin(z, (target - log(p->weight[j])) / (j * p->mu) +
					    0.5 * j * p->mu);
	for (int i = 0; i < 60; i++) {
		double step = (mixture_ratio(p, z, &slope) - target) / slope;

		if (!(step > 1e-13 * (1 + fabs(z))))
			break;
		z -= step;
	}
	return z;
}

/* The mixture against N(0). Any z gives no more than the best, which is flat there. */
static double removed_profile(const struct dp_privacy_part *p, double x, double *slack)
{
	double any = group_any(p), z = mixture_mark(p, x), in = 0, density = 0, out;

	for (int j = 1; j <= (int)p->group; j++) {
		double d = z - j * p->mu;

		in += p->weight[j] * normal_tail(d);
		density += p->weight[j] * exp(-0.5 * d * d - LOG_SQRT_2PI);
	}
	/* (exp(x) - w_0) (1 - Phi(z)); exp(x) is the likelihood ratio at z */
	out = x < 500 ? (expm1(x) + any) * normal_tail(z) : density * dp__mills(z);
	*slack = ROUNDING * (2 + x + z * z) * in;
	return fmax(in - out, 0);
}

/* N(0) against the mixture: what lies below z. */
static double joined_profile(const struct dp_privacy_part *p, double x, double *slack)
{
	double any = group_any(p), left = any - p->weight[0] * expm1(x), z, in, out = 0;

	*slack = 0;
	if (!(left > 0))
		return 0;
	z = mixture_mark(p, -x);
	in = left * dp__normal_cdf(z); /* 1 - exp(x) w_0 */
	for (int j = 1; j <= (int)p->group; j++)
		out += p->weight[j] * dp__normal_cdf(z - j * p->mu);
	*slack = ROUNDING * (2 + x + z * z) * (in + any * dp__normal_cdf(z));
	return fmax(in - exp(x) * out, 0);
}

static double poisson_group_profile(const struct dp_privacy_part *p, enum dp__direction d,
				    double x, double *slack)
{
	return d == DP__ADD ? joined_profile(p, x, slack) : removed_profile(p, x, slack);
}

/* ---- without replacement ---- */

/* The loss before sampling that sampling makes x of, and back. */
static double unsampled_loss(double any, double x)
{
	return x > 600 ? x - log(any) : log1p(expm1(x) / any);
}

static double sampled_loss(double any, double e)
{
	return e > 600 ? e + log(any) : log1p(any * expm1(e));
}

static double wor_group_profile(const struct dp_privacy_part *p, enum dp__direction d,
				double x, double *slack)
{
	double e = unsampled_loss(group_any(p), x), v = 0;

	(void)d;
	*slack = 0;
	for (int j = 1; j <= (int)p->group; j++) {
		double mu = j * p->mu;

		v += p->weight[j] * dp__gaussian_delta(mu, e);
		*slack += ROUNDING * (2 + e) * p->weight[j] *
			  dp__normal_cdf(0.5 * mu - e / mu);
	}
	return v;
}

/* ---- both ---- */

/* All k records are never less than j of them: e delta_G(k mu) bounds either profile. */
static double group_end(const struct dp_privacy_part *p, enum dp__direction d,
			double log_tail)
{
	double any = group_any(p);
	double e = dp__gaussian_epsilon(p->group * p->mu, fmin(log_tail - log(any), 0));

	if (p->kind->sided && d == DP__ADD)
		return -log(p->weight[0]);
	return sampled_loss(any, e);
}

static double group_most(const struct dp_privacy_part *p, enum dp__direction d)
{
	return p->kind->sided && d == DP__ADD ? -log(p->weight[0]) : INFINITY;
}

static double group_size(const struct dp_privacy_part *p)
{
	return p->group * p->group * p->mu * p->mu;
}

static double group_alone(const struct dp_privacy_part *p, double delta)
{
	(void)p;
	(void)delta;
	return NAN;
}

static void poisson_group_picture(struct dp__points *s, const struct dp_privacy_part *p,
				  enum dp__direction d, double end)
{
	const double reach = 11, points = 1600;
	double to = p->group * p->mu + reach, step = (to + reach) / points, slope;

	for (double z = -reach; z < to; z += step) {
		double x = mixture_ratio(p, z, &slope);
		double none = exp(-0.5 * z * z - LOG_SQRT_2PI) * step;

		if (d == DP__ADD)
			dp__points_add(s, -x, none, end);
		else
			dp__points_add(s, x, none * exp(fmin(x, 700)), end);
	}
}

/* As for one record, each j with its share: losses above zero and their mirror images. */
static void wor_group_picture(struct dp__points *s, const struct dp_privacy_part *p,
			      enum dp__direction d, double end)
{
	double any = group_any(p), points = 800 / p->group;

	(void)d;
	for (int j = 1; j <= (int)p->group; j++) {
		double mu = j * p->mu, step = (0.5 * mu + 11) / points;
		double share = p->weight[j] / any;

		for (double z = 0.5 * (mu + step); z < mu + 11; z += step) {
			double u = mu * (z - 0.5 * mu);
			double n0 = exp(-0.5 * z * z - LOG_SQRT_2PI) * step;
			double n1 = exp(-0.5 * (z - mu) * (z - mu) - LOG_SQRT_2PI) * step;
			double x = sampled_loss(any, u);

			dp__points_add(s, x, share * ((1 - any) * n0 + any * n1), end);
			dp__points_add(s, -x, share * n0, end);
		}
	}
}

/* ---- Renyi, from the profile ---- */

/* Whatever the sampler: exp K is 1 + an f-divergence and so jointly convex. */
static double convex_cgf(const struct dp_privacy_part *p, double order)
{
	double log_sum = log(p->weight[0]);

	for (int j = 1; j <= (int)p->group; j++)
		log_sum = dp__log_add(log_sum,
				      log(p->weight[j]) + 0.5 * order * (order - 1) * j *
								  j * p->mu * p->mu);
	return log_sum;
}

/* The integral of exp(c t) over a cell of width h. */
static double cell_integral(double c, double h)
{
	return c == 0 ? h : expm1(c * h) / c;
}

/* Log of the integral over x in a cell of exp(c x) delta(x), delta being convex in exp(x)
 * and so below the chord between the cell's ends. */
static double cell_bound(double c, double x, double h, double d0, double d1)
{
	double one = (cell_integral(c + 1, h) - cell_integral(c, h)) / expm1(h);
	double zero = cell_integral(c, h) - one;

	return c * x + log(fmax(zero, 0) * d0 + fmax(one, 0) * d1);
}

/* exp K = 1 + order (order - 1) times the integral over x >= 0 of exp((order - 1) x)
 * delta(x) + exp(-order x) delta'(x), delta' being that of the other direction. */
static double integral_cgf(const struct dp_privacy_part *p, enum dp__direction d,
			   double order, double end, int cells)
{
	enum dp__direction other = d == DP__ADD ? DP__REMOVE : DP__ADD;
	double any = group_any(p), log_sum = -INFINITY, d0 = 0, o0 = 0, x0 = 0, s, excess;

	for (int i = 0; i <= cells; i++) {
		double x = sampled_loss(any, end * i / cells);
		double d1 = p->kind->profile(p, d, x, &s), o1 = d1;

		d1 += s;
		o1 = d1;
		if (p->kind->sided)
			o1 = p->kind->profile(p, other, x, &s) + s;
		if (i > 0) {
			log_sum = dp__log_add(log_sum,
					      cell_bound(order - 1, x0, x - x0, d0, d1));
			log_sum = dp__log_add(log_sum,
					      cell_bound(-order, x0, x - x0, o0, o1));
		}
		x0 = x, d0 = d1, o0 = o1;
	}
	excess = log_sum + log(order * (order - 1));
	return excess > 36 ? excess : log1p(exp(excess));
}

/* The integral ends 12 deviations beyond the last hill, that of all k records, so what is
 * left out is less than 1e-30 of it. Where the profile would underflow before that, joint
 * convexity has to do. */
static double group_cgf(const struct dp_privacy_part *p, struct dp__wor *tables,
			double order)
{
	double all = p->group * p->mu, end = all * (all * (order - 0.5) + 12);
	double far = end / all - 0.5 * all, convex = convex_cgf(p, order), k;
	int cells = (int)fmin(fmax(end / (0.04 * fmin(p->mu, 1)), 200), 4000);

	(void)tables;
	if (!(far < 36))
		return convex;
	k = integral_cgf(p, DP__REMOVE, order, end, cells);
	if (p->kind->sided)
		k = fmax(k, integral_cgf(p, DP__ADD, order, end, cells));
	return fmin(k * (1 + 1e-9), convex);
}

static const struct dp__part_kind poisson_group = {
	.cgf = group_cgf,
	.profile = poisson_group_profile,
	.end = group_end,
	.picture = poisson_group_picture,
	.most = group_most,
	.size = group_size,
	.alone = group_alone,
	.sided = true,
};

static const struct dp__part_kind wor_group = {
	.cgf = group_cgf,
	.profile = wor_group_profile,
	.end = group_end,
	.picture = wor_group_picture,
	.most = group_most,
	.size = group_size,
	.alone = group_alone,
};

/* ---- weights ---- */

static void binomial_weights(struct dp_privacy_part *p)
{
	double k = p->group, w = exp(k * log1p(-p->q));

	for (int j = 0; j <= (int)k; j++) {
		p->weight[j] = w;
		w *= (k - j) / (j + 1) * (p->q / (1 - p->q));
	}
}

/* C(k, j) C(n - k, lot - j) / C(n, lot), from w_0 on. */
static void hypergeometric_weights(struct dp_privacy_part *p, double records, double lot)
{
	double k = p->group, w = 1;
	int first = (int)fmax(lot + k - records, 0);

	for (double i = 0; i < k; i++) /* none of the k, if there are others enough */
		w *= first > 0 ? 1 : (records - lot - i) / (records - i);
	for (int j = 0; j <= (int)k; j++)
		p->weight[j] = 0;
	for (int j = first; j <= (int)k && j <= (int)fmin(lot, k); j++) {
		p->weight[j] = w;
		w *= (k - j) * (lot - j) / ((j + 1) * (records - k - lot + j + 1));
	}
	if (first == 0)
		return;
	w = 0; /* begun at 1: make them a distribution */
	for (int j = first; j <= (int)k; j++)
		w += p->weight[j];
	for (int j = first; j <= (int)k; j++)
		p->weight[j] /= w;
}

void dp__part_of_group(struct dp_privacy_part *p, double records, double lot)
{
	bool poisson = p->kind == &dp__part_poisson;

	/* hardly any sampling is as good as none: all of the person's records, always */
	if (p->q >= 1 || p->group * log1p(-p->q) < -400) {
		p->q = 1;
		p->mu *= p->group;
		return;
	}
	if (poisson)
		binomial_weights(p);
	else
		hypergeometric_weights(p, records, lot);
	p->kind = poisson ? &poisson_group : &wor_group;
}
