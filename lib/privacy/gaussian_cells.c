/* gaussian_cells.c - the loss of Gaussian noise on a sampled lot, on a grid.
 *
 * What lies in a cell goes to its two ends so that both distributions of the pair keep
 * their mass: connect the dots (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022).
 * Differences of the profile would give the same, but with errors in proportion to the
 * whole tail beyond the cell. Here both shares are integrals of positive functions over
 * the cell, so that their errors are in proportion to the cell itself. Nothing is left
 * to rounding:
 *   - the ends of a cell are moved so that losses there are no greater than the grid
 *     says; a loss that is rounded up only makes the pair easier to tell apart;
 *   - the share of the upper end is raised by as much as that may have lowered it;
 *   - what is left are relative errors, and they are bounded entry by entry (slack).
 * With sensitivity mu and noise of standard deviation one, z is the noisy sum:
 * remove: (1-q) N(0,1) + q N(mu,1) against N(0,1); add: the other way round. */
#include "privacy/pld_internal.h"

#include <float.h>
#include <math.h>

#define CUT     40.0                   /* standard deviations: exp(-800) beyond */
#define DENSITY 0.39894228040143267794 /* 1 / sqrt(2 pi) */

struct pair {
	double q, mu;
	bool add;
};

/* The z at which the loss is x. */
struct edge {
	double z;
	double fuzz;  /* how far below x the loss at z may be */
	bool clamped; /* there is no such z, or none that counts */
};

static double clamp(double x, double lo, double hi)
{
	return fmin(fmax(x, lo), hi);
}

static struct edge find_edge(const struct pair *p, double x)
{
	double lo = -CUT, hi = p->mu + CUT, s = p->add ? -x : x;
	double y = expm1(s) / p->q, u, off, z;
	struct edge e = { .z = lo, .clamped = true };

	if (!(y > -1))
		return e;
	/* the error of the logarithm is that of its argument over it, and its own */
	u = s > 600 ? s - log(p->q) : log1p(y);
	off = 4 * DBL_EPSILON * (fabs(u) + (s > 600 ? 1 : fabs(y) / (1 + y)));
	z = u / p->mu + 0.5 * p->mu;
	off = off / p->mu + 2 * DBL_EPSILON * (fabs(u) / p->mu + p->mu + fabs(z));
	e.z = clamp(p->add ? z + off : z - off, lo, hi);
	e.clamped = e.z == lo || e.z == hi;
	/* d loss / d z is mu times the odds that the record was in the lot, and exp(s) is
	 * 1 + q y */
	if (!e.clamped)
		e.fuzz = 2 * off * p->mu * (s > 600 ? 1 : p->q * (1 + y) / (1 + p->q * y));
	return e;
}

/* Integrals over a cell, and what their errors come to in units of rounding. */
struct cell {
	double mass, up; /* its probability; what its upper end gets, times 1-exp(-h) */
	double mass_error, up_error;
	double x;     /* of the grid, at its lower end */
	bool open;    /* there is no z for that x */
	double floor; /* then, with remove: 1 - q - exp(x) or zero, at least */
};

/* One node: z, its distance t from the end with the lower loss, and its weight. The share
 * of the upper end is one density minus exp(x) times the other, where exp(x) is their
 * ratio at the lower end. */
static void remove_node(const struct pair *p, struct cell *c, double z, double t, double weight)
{
	double z1 = z - p->mu, e0 = 0.5 * z * z, e1 = 0.5 * z1 * z1;
	double n0 = weight * exp(-e0), n1 = p->q * weight * exp(-e1);
	double k0 = 16 + 2 * e0, k1 = 16 + 2 * e1 + fabs(z * z1);
	double up = c->open ? c->floor * n0 + n1 : n1 * -expm1(-p->mu * t);

	c->mass += (1 - p->q) * n0 + n1;
	c->mass_error += (1 - p->q) * n0 * k0 + n1 * k1;
	c->up += up;
	c->up_error += c->open ? c->floor * n0 * k0 + n1 * k1 : up * k1;
}

static void add_node(const struct pair *p, struct cell *c, double z, double t, double weight)
{
	double z1 = z - p->mu, e0 = 0.5 * z * z, e1 = 0.5 * z1 * z1, mt = p->mu * t;
	double n0 = weight * exp(-e0), k0 = 16 + 2 * e0, up, u;

	c->mass += n0;
	c->mass_error += n0 * k0;
	if (c->open) {
		u = p->mu * (z - 0.5 * p->mu);
		up = n0 * fmax(-expm1(c->x + log1p(p->q * expm1(u))), 0);
		c->up_error += n0 * (k0 + 4 * fabs(c->x) + 4 * fabs(u));
	} else {
		up = p->q * weight * exp(c->x - e1 + mt) * -expm1(-mt);
		c->up_error += up * (16 + 2 * e1 + fabs(z * z1) + fabs(c->x) + 2 * mt);
	}
	c->up += up;
}

/* Gauss and Legendre's rules, on pieces of at most `width` over |z| + mu + 4. The n-th
 * derivative of exp(-z^2 / 2 + c z) over itself is at most |z - c| + the n-th root of the
 * n-th moment of a normal variable, to the power of n; with it the remainders are below
 * 3e-16, also where the integrand begins at zero. */
struct rule {
	int n;
	double width, node[8], weight[8];
};

static const struct rule rules[] = {
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

/* expm1() for arguments up to 0.06, where nine terms are all that counts. */
static double tiny_expm1(double x)
{
	double end = 1 / 5040.0 + x * (1 / 40320.0 + x * (1 / 362880.0));
	double tail = 1 / 24.0 + x * (1 / 120.0 + x * (1 / 720.0 + x * end));

	return x * (1 + x * (0.5 + x * (1 / 6.0 + x * tail)));
}

/* A cell so narrow that the first rule does, as most are: two exponentials in all. */
static void cell_narrow(const struct pair *p, struct cell *c, double lo, double hi)
{
	double w = hi - lo, z = lo + 0.5 * w, z1 = z - p->mu, e0 = 0.5 * z * z;
	double e1 = 0.5 * z1 * z1, n0 = w * DENSITY * exp(-e0), n1, tilt = z1, mass = 0;
	double up = 0, k0 = 20 + 2 * e0, k1 = 20 + 2 * e1 + fabs(z * z1);
	double mixed = p->add ? 0 : 1;

	if (p->add) {
		tilt += p->mu;
		n1 = exp(c->x - e1 + 0.5 * p->mu * w);
		k1 += fabs(c->x);
	} else {
		n1 = exp(-e1);
	}
	n1 *= p->q * w * DENSITY;
	for (int k = 0; k < rules[0].n; k++) {
		double d = 0.5 * w * rules[0].node[k], weight = rules[0].weight[k];
		double t = 0.5 * w * (1 + (p->add ? -1 : 1) * rules[0].node[k]);
		double one = weight * n1 * (1 + tiny_expm1(-(tilt + 0.5 * d) * d));

		mass += weight * (1 - mixed * p->q) * n0 * (1 + tiny_expm1(-(z + 0.5 * d) * d)) +
			mixed * one;
		up += one * -tiny_expm1(-p->mu * t);
	}
	c->mass += mass;
	c->up += up;
	c->mass_error += ((1 - mixed * p->q) * n0 * k0 + mixed * n1 * k1) * 1.1;
	c->up_error += up * k1;
}

/* The part from..to of a cell lo..hi. */
static void cell_range(const struct pair *p, struct cell *c, double lo, double hi, double from,
		       double to)
{
	double scaled = (to - from) * (fmax(fabs(from), fabs(to)) + p->mu + 4);
	const struct rule *r = scaled <= rules[1].width ? &rules[1] : &rules[2];
	double pieces = fmax(ceil(scaled / r->width), 1), width = (to - from) / pieces;

	for (double i = 0; i < pieces; i++) {
		for (int k = 0; k < r->n; k++) {
			double in = (i + 0.5 * (1 + r->node[k])) * width;
			double weight = r->weight[k] * width * DENSITY;

			if (p->add)
				add_node(p, c, to - in, hi - to + in, weight);
			else
				remove_node(p, c, from + in, from - lo + in, weight);
		}
	}
}

/* How far from the middle of a hill a cell has anything to add, `near` being how far from
 * it the cell begins: all but exp(-70) of the cell. */
static double hill_reach(double near)
{
	return sqrt(near * near + 140);
}

/* Both hills, about 0 and about mu, or what they have in common. */
static void cell_integrals(const struct pair *p, struct cell *c, double lo, double hi)
{
	double r0, r1, end0, begin1;

	if ((hi - lo) * (fmax(fabs(lo), fabs(hi)) + p->mu + 4) <= rules[0].width && !c->open) {
		cell_narrow(p, c, lo, hi);
		return;
	}
	r0 = hill_reach(fmax(fmax(lo, -hi), 0));
	r1 = hill_reach(fmax(fmax(lo - p->mu, p->mu - hi), 0));
	end0 = fmin(hi, r0);
	begin1 = fmax(lo, p->mu - r1);
	if (end0 >= begin1) {
		cell_range(p, c, lo, hi, fmax(lo, fmin(-r0, p->mu - r1)),
			   fmin(hi, fmax(r0, p->mu + r1)));
		return;
	}
	cell_range(p, c, lo, hi, fmax(lo, -r0), end0);
	cell_range(p, c, lo, hi, begin1, fmin(hi, p->mu + r1));
}

static struct cell cell_between(const struct pair *p, double x, struct edge below,
				struct edge above)
{
	struct cell c = { .x = x, .open = below.clamped };

	c.floor = fmax(-(expm1(x) + p->q), 0) + 4 * DBL_EPSILON * (p->q + fabs(expm1(x)));
	if (below.z != above.z)
		cell_integrals(p, &c, fmin(below.z, above.z), fmax(below.z, above.z));
	return c;
}

static void add_mass(double *mass, double *slack, double m, double units)
{
	*mass += m;
	*slack += 2 * DBL_EPSILON * units;
}

/* Where the mass at the i-th point is added up; the point zero is nobody's. */
static void grid_add(struct dp__grid *g, long i, double m, double units)
{
	if (i > 0)
		add_mass(&g->a[i], &g->slack_a[i], m, units);
	else if (i < 0)
		add_mass(&g->b[-i], &g->slack_b[-i], m, units);
}

/* Beyond the upper end: what keeps the other distribution's mass stays there, the rest
 * counts as infinite. */
static void upper_tail(struct dp__grid *g, const struct pair *p, struct edge e)
{
	double x = (double)g->na * g->h, z = e.z, z1 = z - p->mu, other;

	if (p->add)
		other = e.clamped ? 0
				  : exp(x) * ((1 - p->q) * dp__normal_cdf(z) +
					      p->q * dp__normal_cdf(z1));
	else /* exp(x) times one density is the other */
		other = DENSITY * dp__mills(z) *
			((1 - p->q) * exp(-0.5 * z * z) + p->q * exp(-0.5 * z1 * z1));
	grid_add(g, (long)g->na, other, other * (32 + 4 * z * z + 4 * z1 * z1));
}

static void lower_tail(struct dp__grid *g, const struct pair *p, struct edge e)
{
	double lo = p->add ? e.z : -CUT, hi = p->add ? p->mu + CUT : e.z;
	struct cell c = { .open = true };

	if (lo < hi)
		cell_integrals(p, &c, lo, hi);
	grid_add(g, -(long)g->nb, c.mass, c.mass_error);
}

static void fill_cells(struct dp__grid *g, const struct pair *p, long from)
{
	struct edge below = find_edge(p, (double)from * g->h), above;

	if (from < 0)
		lower_tail(g, p, below);
	for (long i = from; i < (long)g->na; i++, below = above) {
		double x = (double)i * g->h, raise, up;
		struct cell c;

		above = find_edge(p, x + g->h);
		c = cell_between(p, x, below, above);
		raise = 2 * (below.fuzz + above.fuzz) / g->h + 16 * DBL_EPSILON;
		up = fmin((1 + raise) * c.up / -expm1(-g->h), c.mass);
		c.up_error /= -expm1(-g->h);
		grid_add(g, i + 1, up, c.up_error);
		grid_add(g, i, c.mass - up, c.mass_error + c.up_error);
	}
	upper_tail(g, p, below);
}

void dp__gaussian_cells(const struct dp_privacy_part *part, enum dp__direction d,
			struct dp__grid *g)
{
	struct pair p = { part->q, part->mu, part->kind->sided && d == DP__ADD };
	double slack;

	g->infinite = part->kind->profile(part, d, (double)g->na * g->h, &slack) + slack;
	fill_cells(g, &p, part->kind->sided ? -(long)g->nb : 0);
	if (!part->kind->sided)
		dp__grid_mirror(g);
}
