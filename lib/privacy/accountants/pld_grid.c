/* pld_grid.c - the privacy loss of one use of a mechanism: loss points and loss grid.
 *
 * A profile is delta as a function of epsilon of a pair of distributions that dominates every pair
 * of neighbours; such pairs compose (Zhu, Dong and Wang, Optimal Accounting of Differential Privacy
 * via Characteristic Function, AISTATS 2022, Theorem 10). Worst-case data sets need not (Lebeda,
 * Regehr, Kamath and Steinke, Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms
 * under Composition, 2024), so none are composed here. */
#include "privacy/accountants/pld_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

void dp__loss_points_add(struct dp__loss_points *s, double x, double weight, double end)
{
	if (s->n == DP__LOSS_POINTS_MAX || weight < 1e-290 || fabs(x) > end)
		return;
	s->x[s->n] = x;
	s->log_w[s->n++] = log(weight);
	s->zero_mass -= weight;
}

void dp__loss_points_fill(struct dp__loss_points *s, const struct dp_privacy_component *p,
			  enum dp__direction d, double end)
{
	s->n = 0;
	s->zero_mass = 1;
	p->kind->rough_points(s, p, d, end);
}

/* The log of the largest term in the sum of all points under the tilt. */
static double loss_points_log_max(const struct dp__loss_points *s, double tilt)
{
	double top = s->zero_mass > 1e-12 ? log(s->zero_mass) : -INFINITY;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i] + s->log_w[i]);
	return top;
}

void dp__loss_points_cumulants(const struct dp__loss_points *s, double tilt, int order, double k[3])
{
	double top = loss_points_log_max(s, tilt), m[3] = { s->zero_mass * exp(-top), 0, 0 }, sum;

	for (size_t i = 0; i < s->n; i++) {
		double x = s->x[i], e = tilt * x + s->log_w[i] - top, w;

		if (e < -60)
			continue;
		w = exp(e);
		for (int j = 0; j <= order; j++, w *= x)
			m[j] += w;
	}
	sum = m[0];
	k[0] = top + log(sum);
	for (int j = 1; j <= order; j++)
		m[j] /= sum;
	k[1] = m[1];
	k[2] = m[2] - m[1] * m[1];
}

double dp__loss_points_grid_excess(const struct dp__loss_points *s, double tilt, double h)
{
	double top = loss_points_log_max(s, tilt), sum = s->zero_mass * exp(-top), added = 0;

	for (size_t i = 0; i < s->n; i++) {
		double e = tilt * s->x[i] + s->log_w[i] - top, w, part;

		if (e < -60)
			continue;
		w = exp(e);
		part = s->x[i] / h - floor(s->x[i] / h);
		sum += w;
		added += w * part * (1 - part);
	}
	return 0.5 * tilt * (tilt + 1) * h * h * added / sum;
}

/* Connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): the pair whose profile
 * is linear in exp(x) between the grid's points dominates. Sets its mass at x_i, i > 0, from second
 * differences; returns the mass at infinity. */
static double discretise_one_side(struct dp__loss_grid *g, double *mass, size_t n,
				  const struct dp_privacy_component *p, enum dp__direction d,
				  double *slack)
{
	double eh = exp(g->width), step = expm1(g->width), d0, d1, d2 = 0, s0, s1, s2 = 0;

	d0 = p->kind->profile(p, d, 0, &s0);
	d1 = p->kind->profile(p, d, g->width, &s1);
	for (size_t i = 1; i <= n; i++) {
		double m;

		if (i < n) {
			d2 = p->kind->profile(p, d, (double)(i + 1) * g->width, &s2);
			m = ((d2 - d1) - eh * (d1 - d0)) / step;
			slack[i] =
				(s2 + (1 + eh) * s1 + eh * s0) / step + 8 * DBL_EPSILON * fabs(m);
		} else {
			m = eh * (d0 - d1) / step;
			slack[i] = eh * (s0 + s1) / step + 8 * DBL_EPSILON * fabs(m);
		}
		mass[i] = fmax(m, 0);
		if (i < n) {
			d0 = d1, s0 = s1;
			d1 = d2, s1 = s2;
		}
	}
	return d1 + s1;
}

/* exp(slope i - offset) for i = 1, 2, ...: a product restarted every 16 entries, so its error is
 * below 48 roundings of a number near one. */
struct exp_sequence {
	double slope, offset, ratio, value;
};

static struct exp_sequence exp_sequence_init(double slope, double offset)
{
	return (struct exp_sequence){ slope, offset, exp(slope), 0 };
}

static double exp_sequence_at(struct exp_sequence *p, size_t i)
{
	if (i % 16 == 1)
		p->value = exp(p->slope * (double)i - p->offset);
	else
		p->value *= p->ratio;
	return p->value;
}

void dp__loss_grid_mirror(struct dp__loss_grid *g)
{
	struct exp_sequence image = exp_sequence_init(-g->width, 0);

	if (g->n_lower > g->n_upper)
		g->n_lower = g->n_upper;
	for (size_t i = 1; i <= g->n_upper; i++) {
		size_t at = i < g->n_lower ? i : g->n_lower;
		double e = exp_sequence_at(&image, i);

		g->lower[at] += g->upper[i] * e;
		g->lower_slack[at] += g->upper_slack[i] * e + 64 * DBL_EPSILON * g->upper[i] * e;
	}
}

static void discretise_by_profile(const struct dp_privacy_component *p, enum dp__direction d,
				  struct dp__loss_grid *g)
{
	enum dp__direction other =
		d == DP__DIRECTION_ADD ? DP__DIRECTION_REMOVE : DP__DIRECTION_ADD;

	g->infinite_mass = discretise_one_side(g, g->upper, g->n_upper, p, d, g->upper_slack);
	if (!p->kind->is_asymmetric) {
		dp__loss_grid_mirror(g);
		return;
	}
	discretise_one_side(g, g->lower, g->n_lower, p, other, g->lower_slack);
	for (size_t i = 1; i <= g->n_lower; i++) {
		double e = exp(-(double)i * g->width);

		g->lower_slack[i] = g->lower_slack[i] * e + 4 * DBL_EPSILON * g->lower[i] * e;
		g->lower[i] *= e;
	}
}

/* Sums over the grid. Thousands of steps multiply their errors, hence the extra digits. */
struct grid_sums {
	long double mass, tilted;
	double raised, slack, loose;
};

static void grid_tilt_side(const struct dp__loss_grid *g, double sign, size_t n, double theta,
			   double about_shift, double about_chernoff, struct grid_sums *s)
{
	double *mass = sign > 0 ? g->upper : g->lower;
	const double *slack = sign > 0 ? g->upper_slack : g->lower_slack;

	struct exp_sequence tilted = exp_sequence_init(sign * g->tilt * g->width, about_shift);
	struct exp_sequence raised =
		exp_sequence_init(sign * (g->tilt + theta) * g->width, about_chernoff);

	for (size_t i = 1; i <= n; i++) {
		double t = exp_sequence_at(&tilted, i), m = mass[i];
		double e = g->tilt * (double)i * g->width;

		s->mass += m;
		s->loose += slack[i];
		s->raised += m * exp_sequence_at(&raised, i);
		mass[i] = m * t;
		s->tilted += mass[i];
		s->slack += slack[i] * t + mass[i] * DBL_EPSILON * (64 + 4 * e + fabs(about_shift));
	}
}

void dp__loss_grid_fill(struct dp__loss_grid *g, const struct dp_privacy_component *p,
			enum dp__direction d, double theta, double about_shift,
			double about_chernoff)
{
	struct grid_sums s = { 0 };
	double zero;

	memset(g->upper, 0, (g->n_upper + 1) * sizeof *g->upper);
	memset(g->lower, 0, (g->n_lower + 1) * sizeof *g->lower);
	memset(g->upper_slack, 0, (g->n_upper + 1) * sizeof *g->upper_slack);
	memset(g->lower_slack, 0, (g->n_lower + 1) * sizeof *g->lower_slack);
	(p->kind->discretise ? p->kind->discretise : discretise_by_profile)(p, d, g);
	grid_tilt_side(g, -1, g->n_lower, theta, about_shift, about_chernoff, &s);
	grid_tilt_side(g, 1, g->n_upper, theta, about_shift, about_chernoff, &s);
	zero = fmax((double)(1 - s.mass - g->infinite_mass), 0);
	g->upper[0] = zero * exp(-about_shift);
	s.tilted += g->upper[0];
	s.raised += zero * exp(-about_chernoff);
	s.slack += (s.loose + (4 + fabs(about_shift)) * DBL_EPSILON) * exp(-about_shift);
	g->slack = (double)(s.slack / s.tilted) + 4 * DBL_EPSILON;
	g->log_mgf = about_shift + (double)logl(s.tilted);
	g->log_mgf_raised = about_chernoff + log(s.raised) - g->log_mgf;
	for (size_t i = 0; i <= g->n_upper; i++)
		g->upper[i] /= (double)s.tilted;
	for (size_t i = 1; i <= g->n_lower; i++)
		g->lower[i] /= (double)s.tilted;
}
