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

void dp__points_add(struct dp__points *s, double x, double weight, double end)
{
	if (s->n == DP__POINTS_MAX || weight < 1e-60 || fabs(x) > end)
		return;
	s->x[s->n] = x;
	s->w[s->n++] = weight;
	s->rest -= weight;
}

void dp__points_fill(struct dp__points *s, const struct dp_privacy_part *p,
		     enum dp__direction d, double end)
{
	s->n = 0;
	s->rest = 1;
	p->kind->picture(s, p, d, end);
}

void dp__points_cumulants(const struct dp__points *s, double tilt, int order, double k[3])
{
	double top = 0, m[3] = { s->rest, 0, 0 }, sum;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i]);
	m[0] *= exp(-top);
	for (size_t i = 0; i < s->n; i++) {
		double x = s->x[i], e = tilt * x - top, w;

		if (e < -200)
			continue;
		w = s->w[i] * exp(e);
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
	double top = 0, sum, added = 0;

	for (size_t i = 0; i < s->n; i++)
		top = fmax(top, tilt * s->x[i]);
	sum = s->rest * exp(-top);
	for (size_t i = 0; i < s->n; i++) {
		double e = tilt * s->x[i] - top, w, part;

		if (e < -60)
			continue;
		w = s->w[i] * exp(e);
		part = s->x[i] / h - floor(s->x[i] / h);
		sum += w;
		added += w * part * (1 - part);
	}
	return 0.5 * tilt * (tilt + 1) * h * h * added / sum;
}

/* Connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022): the pair
 * whose profile is linear in exp(x) between the grid's points dominates. Its mass at
 * x_i, i > 0, from second differences; returns the mass at infinity. */
static double one_side(struct dp__grid *g, double *mass, size_t n,
		       const struct dp_privacy_part *p, enum dp__direction d,
		       double *slack)
{
	double eh = exp(g->h), step = expm1(g->h), d0, d1, d2 = 0, s0, s1, s2 = 0;

	d0 = p->kind->profile(p, d, 0, &s0);
	d1 = p->kind->profile(p, d, g->h, &s1);
	for (size_t i = 1; i <= n; i++) {
		double m;

		if (i < n) {
			d2 = p->kind->profile(p, d, (double)(i + 1) * g->h, &s2);
			m = ((d2 - d1) - eh * (d1 - d0)) / step;
			slack[i] = (s2 + (1 + eh) * s1 + eh * s0) / step;
		} else {
			m = eh * (d0 - d1) / step;
			slack[i] = eh * (s0 + s1) / step;
		}
		mass[i] = fmax(m, 0);
		if (i < n) {
			d0 = d1, s0 = s1;
			d1 = d2, s1 = s2;
		}
	}
	return d1;
}

void dp__grid_fill(struct dp__grid *g, const struct dp_privacy_part *p,
		   enum dp__direction d, double theta, double about_shift,
		   double about_chernoff)
{
	/* the tail of each array serves as room for the slacks */
	double *sa = g->a + g->na + 2, *sb = g->b + g->nb + 2;
	double zero = 1, sum = 0, raised = 0, slack = 0, loose = 0;
	bool twin = !p->kind->sided;

	g->infinite = one_side(g, g->a, g->na, p, d, sa);
	if (!twin)
		one_side(g, g->b, g->nb, p, d == DP__ADD ? DP__REMOVE : DP__ADD, sb);
	for (size_t i = 1; i <= g->nb; i++) {
		double x = (double)i * g->h, e = exp(-x);
		double m = (twin ? g->a[i] : g->b[i]) * e,
		       t = exp(-g->tilt * x - about_shift);
		double s = (twin ? sa[i] : sb[i]) * e;

		zero -= m;
		g->b[i] = m * t;
		sum += g->b[i];
		raised += m * exp(-(g->tilt + theta) * x - about_chernoff);
		slack += s * t;
		loose += s;
	}
	for (size_t i = 1; i <= g->na; i++) {
		double x = (double)i * g->h, m = g->a[i];
		double t = exp(g->tilt * x - about_shift);

		zero -= m;
		g->a[i] = m * t;
		sum += g->a[i];
		raised += m * exp((g->tilt + theta) * x - about_chernoff);
		slack += sa[i] * t;
		loose += sa[i];
	}
	zero = fmax(zero - g->infinite, 0);
	g->a[0] = zero * exp(-about_shift);
	sum += g->a[0];
	raised += zero * exp(-about_chernoff);
	slack += (loose + 16 * DBL_EPSILON) * exp(-about_shift);
	g->slack = slack / sum;
	g->shift = about_shift + log(sum);
	g->chernoff = about_chernoff + log(raised) - g->shift;
	for (size_t i = 0; i <= g->na; i++)
		g->a[i] /= sum;
	for (size_t i = 1; i <= g->nb; i++)
		g->b[i] /= sum;
}
