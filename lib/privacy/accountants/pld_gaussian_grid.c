/* pld_gaussian_grid.c - the loss of Gaussian noise on a sampled lot, on a grid.
 *
 * The mass of a cell goes to its two ends so that both distributions of the pair keep their mass:
 * connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). Differences of the
 * profile would give the same, but with errors proportional to the whole tail beyond the cell. Here
 * both shares are integrals of positive functions over the cell, so errors are proportional to the
 * cell itself. All rounding is covered:
 *   - the ends of a cell are moved so that losses there are no larger than the grid says; rounding
 * a loss up only makes the pair easier to distinguish;
 *   - the share of the upper end is raised by as much as that may have lowered it;
 *   - the remaining relative errors are bounded entry by entry (slack).
 * With sensitivity mu and noise of standard deviation one, z is the noisy sum: for remove, (1-q)
 * N(0,1) + q N(mu,1) against N(0,1); for add, the reverse. */
#include "privacy/accountants/pld_internal.h"

#include <float.h>
#include <math.h>

#define TAIL_CUT            40.0                   /* standard deviations: exp(-800) beyond */
#define NORMAL_DENSITY_AT_0 0.39894228040143267794 /* 1 / sqrt(2 pi) */

struct gaussian_pair {
	double q, mu;
	bool is_add;
};

/* The z at which the loss is x. */
struct cell_edge {
	double z;
	double loss_slack; /* by how much the loss at z may be below x */
	bool clamped;      /* no such z, or a negligible one */
};

static double clamp_double(double x, double lo, double hi)
{
	return fmin(fmax(x, lo), hi);
}

static struct cell_edge cell_edge_at_loss(const struct gaussian_pair *p, double x)
{
	double lo = -TAIL_CUT, hi = p->mu + TAIL_CUT, s = p->is_add ? -x : x;
	double y = expm1(s) / p->q, u, off, z;
	struct cell_edge e = { .z = lo, .clamped = true };

	if (!(y > -1))
		return e;
	/* the relative error of the argument, and the error of the logarithm itself */
	u = s > 600 ? s - log(p->q) : log1p(y);
	off = 4 * DBL_EPSILON * (fabs(u) + (s > 600 ? 1 : fabs(y) / (1 + y)));
	z = u / p->mu + 0.5 * p->mu;
	off = off / p->mu + 2 * DBL_EPSILON * (fabs(u) / p->mu + p->mu + fabs(z));
	e.z = clamp_double(p->is_add ? z + off : z - off, lo, hi);
	e.clamped = e.z == lo || e.z == hi;
	/* d loss / d z: mu times the odds that the record was in the lot; exp(s) is 1 + q y */
	if (!e.clamped)
		e.loss_slack = 2 * off * p->mu * (s > 600 ? 1 : p->q * (1 + y) / (1 + p->q * y));
	return e;
}

/* Integrals over a cell, and their errors in units of rounding. */
struct grid_cell {
	double mass, upper_share; /* its probability; the upper end's share, times 1-exp(-h) */
	double mass_error, upper_error;
	double x;               /* of the grid, at its lower end */
	bool has_no_lower_edge; /* no z has this x */
	double floor;           /* then, with remove: lower bound of 1 - q - exp(x) or zero */
};

/* One node: z, its distance t from the end with the lower loss, and its weight. The upper end's
 * share is one density minus exp(x) times the other; exp(x) is their ratio at the lower end. */
static void integrate_remove_node(const struct gaussian_pair *p, struct grid_cell *c, double z,
				  double t, double weight)
{
	double z1 = z - p->mu, e0 = 0.5 * z * z, e1 = 0.5 * z1 * z1;
	double n0 = weight * exp(-e0), n1 = p->q * weight * exp(-e1);
	double k0 = 16 + 2 * e0, k1 = 16 + 2 * e1 + fabs(z * z1);
	double up = c->has_no_lower_edge ? c->floor * n0 + n1 : n1 * -expm1(-p->mu * t);

	c->mass += (1 - p->q) * n0 + n1;
	c->mass_error += (1 - p->q) * n0 * k0 + n1 * k1;
	c->upper_share += up;
	c->upper_error += c->has_no_lower_edge ? c->floor * n0 * k0 + n1 * k1 : up * k1;
}

static void integrate_add_node(const struct gaussian_pair *p, struct grid_cell *c, double z,
			       double t, double weight)
{
	double z1 = z - p->mu, e0 = 0.5 * z * z, e1 = 0.5 * z1 * z1, mt = p->mu * t;
	double n0 = weight * exp(-e0), k0 = 16 + 2 * e0, up, u;

	c->mass += n0;
	c->mass_error += n0 * k0;
	if (c->has_no_lower_edge) {
		u = p->mu * (z - 0.5 * p->mu);
		up = n0 * fmax(-expm1(c->x + log1p(p->q * expm1(u))), 0);
		c->upper_error += n0 * (k0 + 4 * fabs(c->x) + 4 * fabs(u));
	} else {
		up = p->q * weight * exp(c->x - e1 + mt) * -expm1(-mt);
		c->upper_error += up * (16 + 2 * e1 + fabs(z * z1) + fabs(c->x) + 2 * mt);
	}
	c->upper_share += up;
}

/* Gauss-Legendre rules, on pieces of at most `width` over |z| + mu + 4. The n-th derivative of
 * exp(-z^2 / 2 + c z) over itself is at most (|z - c| + the n-th root of the n-th moment of a
 * normal variable)^n. So the remainders are below 3e-16, also where the integrand starts at
 * zero. */
struct quadrature_rule {
	int n;
	double width, node[8], weight[8];
};

static const struct quadrature_rule rules[] = {
	{ 4,
	  0.06,
	  { -0.861136311594052575224, -0.339981043584856264803, 0.339981043584856264803,
	    0.861136311594052575224 },
	  { 0.173927422568726928687, 0.326072577431273071313, 0.326072577431273071313,
	    0.173927422568726928687 } },
	{ 5,
	  0.3,
	  { -0.906179845938663992798, -0.538469310105683091036, 0, 0.538469310105683091036,
	    0.906179845938663992798 },
	  { 0.118463442528094543757, 0.239314335249683234021, 0.284444444444444444444,
	    0.239314335249683234021, 0.118463442528094543757 } },
	{ 8,
	  2,
	  { -0.960289856497536231684, -0.796666477413626739592, -0.525532409916328985818,
	    -0.183434642495649804939, 0.183434642495649804939, 0.525532409916328985818,
	    0.796666477413626739592, 0.960289856497536231684 },
	  { 0.0506142681451881295763, 0.111190517226687235272, 0.156853322938943643669,
	    0.181341891689180991483, 0.181341891689180991483, 0.156853322938943643669,
	    0.111190517226687235272, 0.0506142681451881295763 } },
};

/* expm1() for arguments up to 0.06, where nine terms suffice. */
static double expm1_small(double x)
{
	double end = 1 / 5040.0 + x * (1 / 40320.0 + x * (1 / 362880.0));
	double tail = 1 / 24.0 + x * (1 / 120.0 + x * (1 / 720.0 + x * end));

	return x * (1 + x * (0.5 + x * (1 / 6.0 + x * tail)));
}

/* A cell narrow enough for the first rule, as most are: two exponentials in all. */
static void integrate_narrow_cell(const struct gaussian_pair *p, struct grid_cell *c, double lo,
				  double hi)
{
	double w = hi - lo, z = lo + 0.5 * w, z1 = z - p->mu, e0 = 0.5 * z * z;
	double e1 = 0.5 * z1 * z1, n0 = w * NORMAL_DENSITY_AT_0 * exp(-e0), n1, tilt = z1, mass = 0;
	double up = 0, k0 = 20 + 2 * e0, k1 = 20 + 2 * e1 + fabs(z * z1);
	double mixed = p->is_add ? 0 : 1;

	if (p->is_add) {
		tilt += p->mu;
		n1 = exp(c->x - e1 + 0.5 * p->mu * w);
		k1 += fabs(c->x);
	} else {
		n1 = exp(-e1);
	}
	n1 *= p->q * w * NORMAL_DENSITY_AT_0;
	for (int k = 0; k < rules[0].n; k++) {
		double d = 0.5 * w * rules[0].node[k], weight = rules[0].weight[k];
		double t = 0.5 * w * (1 + (p->is_add ? -1 : 1) * rules[0].node[k]);
		double one = weight * n1 * (1 + expm1_small(-(tilt + 0.5 * d) * d));

		mass += weight * (1 - mixed * p->q) * n0 * (1 + expm1_small(-(z + 0.5 * d) * d)) +
			mixed * one;
		up += one * -expm1_small(-p->mu * t);
	}
	c->mass += mass;
	c->upper_share += up;
	c->mass_error += ((1 - mixed * p->q) * n0 * k0 + mixed * n1 * k1) * 1.1;
	c->upper_error += up * k1;
}

static void integrate_cell_range(const struct gaussian_pair *p, struct grid_cell *c, double lo,
				 double hi, double from, double to)
{
	double scaled = (to - from) * (fmax(fabs(from), fabs(to)) + p->mu + 4);
	const struct quadrature_rule *r = scaled <= rules[1].width ? &rules[1] : &rules[2];
	double pieces = fmax(ceil(scaled / r->width), 1), width = (to - from) / pieces;

	for (double i = 0; i < pieces; i++) {
		for (int k = 0; k < r->n; k++) {
			double in = (i + 0.5 * (1 + r->node[k])) * width;
			double weight = r->weight[k] * width * NORMAL_DENSITY_AT_0;

			if (p->is_add)
				integrate_add_node(p, c, to - in, hi - to + in, weight);
			else
				integrate_remove_node(p, c, from + in, from - lo + in, weight);
		}
	}
}

/* The distance from a peak's centre up to which a cell contributes, where the cell starts at
 * distance `near`: all but exp(-70) of the cell. */
static double density_reach(double near)
{
	return sqrt(near * near + 140);
}

/* Both peaks, about 0 and about mu, or their overlap. */
static void integrate_cell(const struct gaussian_pair *p, struct grid_cell *c, double lo, double hi)
{
	double r0, r1, end0, begin1;

	if ((hi - lo) * (fmax(fabs(lo), fabs(hi)) + p->mu + 4) <= rules[0].width &&
	    !c->has_no_lower_edge) {
		integrate_narrow_cell(p, c, lo, hi);
		return;
	}
	r0 = density_reach(fmax(fmax(lo, -hi), 0));
	r1 = density_reach(fmax(fmax(lo - p->mu, p->mu - hi), 0));
	end0 = fmin(hi, r0);
	begin1 = fmax(lo, p->mu - r1);
	if (end0 >= begin1) {
		integrate_cell_range(p, c, lo, hi, fmax(lo, fmin(-r0, p->mu - r1)),
				     fmin(hi, fmax(r0, p->mu + r1)));
		return;
	}
	integrate_cell_range(p, c, lo, hi, fmax(lo, -r0), end0);
	integrate_cell_range(p, c, lo, hi, begin1, fmin(hi, p->mu + r1));
}

static struct grid_cell grid_cell_between(const struct gaussian_pair *p, double x,
					  struct cell_edge below, struct cell_edge above)
{
	struct grid_cell c = { .x = x, .has_no_lower_edge = below.clamped };

	c.floor = fmax(-(expm1(x) + p->q), 0) + 4 * DBL_EPSILON * (p->q + fabs(expm1(x)));
	if (below.z != above.z)
		integrate_cell(p, &c, fmin(below.z, above.z), fmax(below.z, above.z));
	return c;
}

static void add_mass_and_slack(double *mass, double *slack, double m, double units)
{
	*mass += m;
	*slack += 2 * DBL_EPSILON * units;
}

/* Adds mass at the i-th point. The point zero is not stored. */
static void grid_add_mass(struct dp__loss_grid *g, long i, double m, double units)
{
	if (i > 0)
		add_mass_and_slack(&g->upper[i], &g->upper_slack[i], m, units);
	else if (i < 0)
		add_mass_and_slack(&g->lower[-i], &g->lower_slack[-i], m, units);
}

/* Beyond the upper end: the other distribution's mass stays there, the rest counts as infinite. */
static void grid_add_upper_tail(struct dp__loss_grid *g, const struct gaussian_pair *p,
				struct cell_edge e)
{
	double x = (double)g->n_upper * g->width, z = e.z, z1 = z - p->mu, other;

	if (p->is_add)
		other = e.clamped ? 0
				  : exp(x) * ((1 - p->q) * dp__normal_cdf(z) +
					      p->q * dp__normal_cdf(z1));
	else /* exp(x) times one density is the other */
		other = NORMAL_DENSITY_AT_0 * dp__mills_ratio(z) *
			((1 - p->q) * exp(-0.5 * z * z) + p->q * exp(-0.5 * z1 * z1));
	grid_add_mass(g, (long)g->n_upper, other, other * (32 + 4 * z * z + 4 * z1 * z1));
}

static void grid_add_lower_tail(struct dp__loss_grid *g, const struct gaussian_pair *p,
				struct cell_edge e)
{
	double lo = p->is_add ? e.z : -TAIL_CUT, hi = p->is_add ? p->mu + TAIL_CUT : e.z;
	struct grid_cell c = { .has_no_lower_edge = true };

	if (lo < hi)
		integrate_cell(p, &c, lo, hi);
	grid_add_mass(g, -(long)g->n_lower, c.mass, c.mass_error);
}

static void grid_fill_cells(struct dp__loss_grid *g, const struct gaussian_pair *p, long from)
{
	struct cell_edge below = cell_edge_at_loss(p, (double)from * g->width), above;

	if (from < 0)
		grid_add_lower_tail(g, p, below);
	for (long i = from; i < (long)g->n_upper; i++, below = above) {
		double x = (double)i * g->width, raise, up;
		struct grid_cell c;

		above = cell_edge_at_loss(p, x + g->width);
		c = grid_cell_between(p, x, below, above);
		raise = 2 * (below.loss_slack + above.loss_slack) / g->width + 16 * DBL_EPSILON;
		up = fmin((1 + raise) * c.upper_share / -expm1(-g->width), c.mass);
		c.upper_error /= -expm1(-g->width);
		grid_add_mass(g, i + 1, up, c.upper_error);
		grid_add_mass(g, i, c.mass - up, c.mass_error + c.upper_error);
	}
	grid_add_upper_tail(g, p, below);
}

void dp__gaussian_discretise(const struct dp_privacy_component *component, enum dp__direction d,
			     struct dp__loss_grid *g)
{
	struct gaussian_pair p = { component->q, component->mu,
				   component->kind->is_asymmetric && d == DP__DIRECTION_ADD };
	double slack;

	g->infinite_mass =
		component->kind->profile(component, d, (double)g->n_upper * g->width, &slack) +
		slack;
	grid_fill_cells(g, &p, component->kind->is_asymmetric ? -(long)g->n_lower : 0);
	if (!component->kind->is_asymmetric)
		dp__loss_grid_mirror(g);
}
