/* pld_part.c - the privacy loss of one use of a mechanism: picture and grid.
 *
 * A profile is delta as a function of epsilon of a pair of distributions that
 * dominates every pair of neighbours; such pairs compose (Zhu, Dong and Wang, Optimal
 * Accounting of Differential Privacy via Characteristic Function, AISTATS 2022,
 * Theorem 10). Worst-case data sets need not (Lebeda, Regehr, Kamath and Steinke,
 * Avoiding Pitfalls for Privacy Accounting of Subsampled Mechanisms under Composition,
 * 2024), which is why none are composed here. */
#include "privacy/pld_internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

void dp__points_add(struct dp__points *s, double x, double weight, double end)
{
	if (s->n == DP__POINTS_MAX || weight < 1e-290 || fabs(x) > end)
		return;
	s->x[s->n] = x;
	s->log_w[s->n++] = log(weight);
	s->rest -= weight;
}

void dp__points_fill(struct dp__points *s, const struct dp_privacy_part *p, enum dp__direction d,
		     double end)
{
	s->n = 0;
	s->rest = 1;
	p->kind->picture(s, p, d, end);
}

/* The log of the greatest term of the sum of all points under the tilt. */
static double points_top(const struct dp__points *s, double tilt)
{
	double top = s->rest > 1e-12 ? log(s->rest) : -INFINITY;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i] + s->log_w[i]);
	return top;
}

void dp__points_cumulants(const struct dp__points *s, double tilt, int order, double k[3])
{
	double top = points_top(s, tilt), m[3] = { s->rest * exp(-top), 0, 0 }, sum;

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

double dp__points_spread(const struct dp__points *s, double tilt, double h)
{
	double top = points_top(s, tilt), sum = s->rest * exp(-top), added = 0;

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

/* Connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): the pair
 * whose profile is linear in exp(x) between the grid's points dominates. Its mass at
 * x_i, i > 0, from second differences; returns the mass at infinity. */
static double one_side(struct dp__grid *g, double *mass, size_t n, const struct dp_privacy_part *p,
		       enum dp__direction d, double *slack)
{
	double eh = exp(g->h), step = expm1(g->h), d0, d1, d2 = 0, s0, s1, s2 = 0;

	d0 = p->kind->profile(p, d, 0, &s0);
	d1 = p->kind->profile(p, d, g->h, &s1);
	for (size_t i = 1; i <= n; i++) {
		double m;

		if (i < n) {
			d2 = p->kind->profile(p, d, (double)(i + 1) * g->h, &s2);
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

/* exp(slope i - offset) for i = 1, 2, ...: a product that starts anew every 16 entries,
 * so that it is off by less than 48 roundings of a number near one. */
struct powers {
	double slope, offset, ratio, value;
};

static struct powers powers_of(double slope, double offset)
{
	return (struct powers){ slope, offset, exp(slope), 0 };
}

static double power_at(struct powers *p, size_t i)
{
	if (i % 16 == 1)
		p->value = exp(p->slope * (double)i - p->offset);
	else
		p->value *= p->ratio;
	return p->value;
}

void dp__grid_mirror(struct dp__grid *g)
{
	struct powers image = powers_of(-g->h, 0);

	if (g->nb > g->na)
		g->nb = g->na;
	for (size_t i = 1; i <= g->na; i++) {
		size_t at = i < g->nb ? i : g->nb;
		double e = power_at(&image, i);

		g->b[at] += g->a[i] * e;
		g->slack_b[at] += g->slack_a[i] * e + 64 * DBL_EPSILON * g->a[i] * e;
	}
}

static void cells_by_profile(const struct dp_privacy_part *p, enum dp__direction d,
			     struct dp__grid *g)
{
	enum dp__direction other = d == DP__ADD ? DP__REMOVE : DP__ADD;

	g->infinite = one_side(g, g->a, g->na, p, d, g->slack_a);
	if (!p->kind->sided) {
		dp__grid_mirror(g);
		return;
	}
	one_side(g, g->b, g->nb, p, other, g->slack_b);
	for (size_t i = 1; i <= g->nb; i++) {
		double e = exp(-(double)i * g->h);

		g->slack_b[i] = g->slack_b[i] * e + 4 * DBL_EPSILON * g->b[i] * e;
		g->b[i] *= e;
	}
}

/* Sums over the grid. Thousands of steps multiply their errors, hence the digits. */
struct sums {
	long double mass, tilted;
	double raised, slack, loose;
};

/* Tilts n entries of one side. */
static void tilt_side(const struct dp__grid *g, double sign, size_t n, double theta,
		      double about_shift, double about_chernoff, struct sums *s)
{
	double *mass = sign > 0 ? g->a : g->b;
	const double *slack = sign > 0 ? g->slack_a : g->slack_b;

	struct powers tilted = powers_of(sign * g->tilt * g->h, about_shift);
	struct powers raised = powers_of(sign * (g->tilt + theta) * g->h, about_chernoff);

	for (size_t i = 1; i <= n; i++) {
		double t = power_at(&tilted, i), m = mass[i];
		double e = g->tilt * (double)i * g->h;

		s->mass += m;
		s->loose += slack[i];
		s->raised += m * power_at(&raised, i);
		mass[i] = m * t;
		s->tilted += mass[i];
		s->slack += slack[i] * t + mass[i] * DBL_EPSILON * (64 + 4 * e + fabs(about_shift));
	}
}

void dp__grid_fill(struct dp__grid *g, const struct dp_privacy_part *p, enum dp__direction d,
		   double theta, double about_shift, double about_chernoff)
{
	struct sums s = { 0 };
	double zero;

	memset(g->a, 0, (g->na + 1) * sizeof *g->a);
	memset(g->b, 0, (g->nb + 1) * sizeof *g->b);
	memset(g->slack_a, 0, (g->na + 1) * sizeof *g->slack_a);
	memset(g->slack_b, 0, (g->nb + 1) * sizeof *g->slack_b);
	(p->kind->cells ? p->kind->cells : cells_by_profile)(p, d, g);
	tilt_side(g, -1, g->nb, theta, about_shift, about_chernoff, &s);
	tilt_side(g, 1, g->na, theta, about_shift, about_chernoff, &s);
	zero = fmax((double)(1 - s.mass - g->infinite), 0);
	g->a[0] = zero * exp(-about_shift);
	s.tilted += g->a[0];
	s.raised += zero * exp(-about_chernoff);
	s.slack += (s.loose + (4 + fabs(about_shift)) * DBL_EPSILON) * exp(-about_shift);
	g->slack = (double)(s.slack / s.tilted) + 4 * DBL_EPSILON;
	g->shift = about_shift + (double)logl(s.tilted);
	g->chernoff = about_chernoff + log(s.raised) - g->shift;
	for (size_t i = 0; i <= g->na; i++)
		g->a[i] /= (double)s.tilted;
	for (size_t i = 1; i <= g->nb; i++)
		g->b[i] /= (double)s.tilted;
}
