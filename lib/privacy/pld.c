/* pld.c - accounting by privacy loss distributions: upper bounds of epsilon.
 *
 * The loss of one use is discretised pessimistically (pld_part.c), composed with
 * itself by the fast Fourier transform and read off at delta. Two things differ from
 * the textbook. The loss is tilted by exp(tilt x) first, so that the composed loss lies
 * where epsilon is and rounding errors are small against delta, however small delta is.
 * And everything cut off or rounded is bounded and added to delta:
 *   - losses beyond the grid count as infinite (dp__grid.infinite);
 *   - what lies above the window of the transform, by a Chernoff bound on the grid's
 *     own moments; what wraps round only adds;
 *   - rounding of the grid (dp__grid.slack): at worst all of it lies where it weighs
 *     most;
 *   - rounding of the transforms, by their norm-wise error bound (Higham, Accuracy and
 *     Stability, Theorem 24.2): going there no entry is off by more than the norm;
 *     coming back the norms of errors and weights bound their sum.
 * So epsilon is an upper bound, and where a number is not finite there is none. How far
 * it is above the true value is estimated from a grid twice as wide. */
#include "privacy/pld_internal.h"

#include <complex.h>
#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	SOFT_CELLS = 1 << 16,          /* a finer grid than GOOD is not worth more than this */
	HARD_CELLS = 1 << 21,          /* of one grid: half a second and a hundred megabytes */
	ALL_CELLS = 3 * HARD_CELLS,    /* of all grids of removing a record */
	ADD_CELLS = 5 * HARD_CELLS / 2 /* of adding one, which hardly ever decides */
};
#define FINE  4e-5 /* relative error of epsilon aimed at */
#define GOOD  1e-4 /* good enough to stop at SOFT_CELLS */
#define LIMIT 1e-3 /* refine while the estimate is above this */
#define NOISY 1e-3 /* share of delta that rounding may take before it is tilted anew */
/* Below it, single losses would leave the range of numbers with all their digits. */
#define LEAST_DELTA 1e-200
#define LEAST_TILT  1e-7 /* there is no telling losses apart with less */
#define TRUNCATED   1e-6 /* share of delta spent on losses beyond the grid */

/* FFTW's planner keeps tables of its own and is not thread-safe; executing plans is.
 * Estimated plans depend on nothing but the size, so answers repeat bit for bit. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

struct dp__loss {
	struct dp__points *points; /* one a part */
	size_t npoints;
	fftw_complex *cells, *product; /* the transform's window */
	size_t ncells;
	double *grid; /* one part's grid, and its slacks */
	size_t ngrid;
	double share; /* of the cells that a question may take; 0: all of them */
	double work;  /* of all questions */
	bool limited; /* since the share was set it made a grid coarser */
};

/* What is fixed before the transform. */
struct plan {
	const struct dp_privacy_part *parts;
	size_t nparts;
	enum dp__direction direction;
	double delta;
	double tilt, theta;
	double about;   /* epsilon by the saddle point */
	double spread;  /* standard deviation of the tilted composed loss */
	double lo, hi;  /* window */
	double log_mgf; /* of the composed loss at the tilt, by the picture */
	double spent;   /* cells so far */
	double budget;  /* and in all */
	double drop;    /* log of the mass beyond the window, negated */
	double share;   /* how much of delta went to rounding; 1: the window was too small
			 */
	double end[2][DP__PARTS_MAX];
};

struct dp__loss *dp__loss_new(void)
{
	return calloc(1, sizeof(struct dp__loss));
}

void dp__loss_free(struct dp__loss *w)
{
	if (!w)
		return;
	free(w->points);
	fftw_free(w->cells);
	fftw_free(w->product);
	free(w->grid);
	free(w);
}

void dp__loss_limit(struct dp__loss *w, double share)
{
	w->share = share;
	w->limited = false;
}

bool dp__loss_limited(const struct dp__loss *w)
{
	return w->limited;
}

double dp__loss_work(const struct dp__loss *w)
{
	return w->work;
}

static bool need_cells(struct dp__loss *w, size_t n)
{
	if (n <= w->ncells)
		return true;
	fftw_free(w->cells);
	fftw_free(w->product);
	w->cells = fftw_malloc(n * sizeof *w->cells);
	w->product = fftw_malloc(n * sizeof *w->product);
	w->ncells = w->cells && w->product ? n : 0;
	return w->ncells != 0;
}

static bool need_grid(struct dp__loss *w, size_t n)
{
	if (n <= w->ngrid)
		return true;
	free(w->grid);
	w->grid = malloc(n * sizeof *w->grid);
	w->ngrid = w->grid ? n : 0;
	return w->grid;
}

static bool need_points(struct dp__loss *w, size_t n)
{
	if (n <= w->npoints)
		return true;
	free(w->points);
	w->points = malloc(n * sizeof *w->points);
	w->npoints = w->points ? n : 0;
	return w->points;
}

/* ---- steering: tilt, window and grid from the picture ---- */

struct steer {
	const struct dp__loss *w;
	const struct plan *p;
};

static void composed_cumulants(const struct steer *s, double tilt, int order, double k[3])
{
	double one[3];

	memset(k, 0, 3 * sizeof *k);
	for (size_t i = 0; i < s->p->nparts; i++) {
		dp__points_cumulants(&s->w->points[i], tilt, order, one);
		for (int j = 0; j <= order; j++)
			k[j] += s->p->parts[i].count * one[j];
	}
}

/* E[exp(-c y); y > 0] for y normal with mean 0 and standard deviation s. */
static double half_line(double c, double s)
{
	return 1 / sqrt(2 * M_PI) * dp__mills(c * s);
}

/* Log of delta at the mean of the loss tilted by `tilt`: the saddle-point formula. */
static double log_delta_tilted(const struct steer *s, double tilt)
{
	double k[3], spread;

	composed_cumulants(s, tilt, 2, k);
	spread = sqrt(fmax(k[2], 1e-300));
	return k[0] - tilt * k[1] + log(half_line(tilt, spread) - half_line(tilt + 1, spread));
}

struct tilt_search {
	struct steer s;
	double log_delta;
};

static double tilt_miss(void *ctx, double log_tilt)
{
	const struct tilt_search *t = ctx;
	double v = log_delta_tilted(&t->s, exp(log_tilt)) - t->log_delta;

	return isfinite(v) ? v : v > 0 ? 700 : -700;
}

/* The tilt whose mean is epsilon; at the ends of what makes sense if there is none. */
static double find_tilt(const struct steer *s, double delta)
{
	struct tilt_search t = { .s = *s, .log_delta = log(delta) };
	const double least = log(LEAST_TILT), most = log(1e13);
	double lo = 0, hi = 0;

	if (tilt_miss(&t, 0) > 0) {
		while (hi < most && tilt_miss(&t, hi += 1.5) > 0)
			lo = hi;
		if (hi >= most)
			return exp(most);
	} else {
		while (lo > least && tilt_miss(&t, lo -= 1.5) <= 0)
			hi = lo;
		if (lo <= least)
			return LEAST_TILT;
	}
	return exp(dp__root(tilt_miss, &t, lo, hi));
}

/* Chernoff: how far from zero, on one side (sign), is all but exp(-drop) of the tilted
 * composed loss? The best exponent goes to *theta. The bound falls, then rises. */
static double window_reach(const struct steer *s, const struct plan *p, double k0, double sign,
			   double *theta)
{
	double best = INFINITY, k[3], t = 0.1 * sqrt(2 * p->drop) / p->spread;

	for (size_t i = 0; i < p->nparts; i++)
		t = fmin(t, 0.5 / fmax(p->end[0][i], p->end[1][i]));
	for (int i = 0; i < 200; i++, t *= 1.4) {
		double x;

		composed_cumulants(s, p->tilt + sign * t, 0, k);
		x = (k[0] - k0 + p->drop) / t;
		/* a picture ends somewhere: near its end no exponent is large enough */
		if (best == INFINITY || x < best - 1e-3 * fabs(best)) {
			best = x;
			*theta = t;
		} else if (x - best > 0.5 * fabs(best)) {
			break;
		}
	}
	return best;
}

/* Where each part's grid ends, and the picture of its loss. */
static void make_pictures(struct dp__loss *w, struct plan *p)
{
	double log_tail = log(TRUNCATED) + log(p->delta) - log((double)p->nparts);

	for (size_t i = 0; i < p->nparts; i++) {
		const struct dp_privacy_part *part = &p->parts[i];
		double tail = log_tail - log(part->count);

		p->end[0][i] = p->end[1][i] = part->kind->end(part, p->direction, tail);
		if (part->kind->sided)
			p->end[1][i] = part->kind->end(part, !p->direction, tail);
		dp__points_fill(&w->points[i], part, p->direction,
				fmax(p->end[0][i], p->end[1][i]));
	}
}

/* Tilt, window and ends. `epsilon` is what a tilt that was too noisy gave, or NaN. */
static void set_plan(struct dp__loss *w, struct plan *p, double epsilon)
{
	struct steer s = { w, p };
	double k[3], below, unused;

	make_pictures(w, p);
	p->tilt = isnan(epsilon) ? find_tilt(&s, p->delta) : p->tilt / 3;
	composed_cumulants(&s, p->tilt, 2, k);
	p->about = isnan(epsilon) ? fmax(k[1], 0) : epsilon;
	p->spread = sqrt(fmax(k[2], 1e-300));
	p->log_mgf = k[0];
	/* what lies beyond the window must be small against delta in tilted terms */
	p->drop = 12 + fmax(2, k[0] - log(p->delta) - p->tilt * p->about);
	p->hi = window_reach(&s, p, k[0], 1, &p->theta);
	below = window_reach(&s, p, k[0], -1, &unused);
	/* what wraps round from below only adds to delta, and single deep losses vanish
	 * under the tilt: no need to follow them */
	p->lo = fmax(-below, fmin(k[1], p->about) - 15 * p->spread - 45 / (p->tilt + 1));
	/* One loss above twice the window leaves it for good: call it infinite. Losses
	 * so far below zero that the tilt makes them vanish are rounded up. */
	for (size_t i = 0; i < p->nparts; i++) {
		p->end[0][i] = fmin(p->end[0][i], fmax(p->hi, 0) + 2 * (p->hi - p->lo));
		p->end[1][i] = fmin(p->end[1][i], 40 / (p->tilt + 1));
	}
}

/* What a grid of width h takes: every part's own and its transforms. */
static double cells_at(const struct plan *p, double h)
{
	double cells = (p->hi - p->lo) / h * (1 + (double)p->nparts) / 2;

	for (size_t i = 0; i < p->nparts; i++) {
		const struct dp_privacy_part *part = &p->parts[i];
		double work = part->kind->work ? part->kind->work(part) : 1;

		cells += (p->end[0][i] + p->end[1][i]) / h / 2 * work;
	}
	return cells;
}

/* Expected relative excess of epsilon on a grid of width h: the grid raises the mean of
 * the tilted loss and widens it. */
static double grid_excess(const struct dp__loss *w, const struct plan *p, double h)
{
	double added = 0;

	for (size_t i = 0; i < p->nparts; i++)
		added += p->parts[i].count * dp__points_spread(&w->points[i], p->tilt, h);
	added *= (1 + 1 / ((p->tilt + 1) * fmax(p->spread, p->about))) / p->tilt;
	return added / fmax(p->about, 0.1 * p->spread);
}

/* The widest grid, in powers of 0.8 of the spread, whose excess is below `goal`. */
static double width_for(const struct dp__loss *w, const struct plan *p, double goal, double least)
{
	double h = p->spread;

	while (h > least && grid_excess(w, p, h) > goal)
		h *= 0.8;
	return fmax(h, least);
}

/* Sizes that transform fast, at most a quarter apart. */
static size_t fast_size(double n)
{
	size_t size = 64;

	while ((double)size < n)
		size *= 2;
	for (size_t i = 5; i < 8; i++)
		if ((double)(size / 8 * i) >= n)
			return size / 8 * i;
	return size;
}

/* Rounded up to so few digits that every multiple on a grid is exact. */
static double short_width(double h)
{
	int power;
	double m = frexp(h, &power);

	return ldexp(ceil(ldexp(m, 28)), power - 28);
}

/* The most of one grid. One that is twice as wide comes first, and takes half of it. */
static double most_cells(const struct plan *p)
{
	return fmin(HARD_CELLS, (p->budget - p->spent) / 1.5);
}

static double choose_width(const struct dp__loss *w, const struct plan *p, double effort)
{
	double window = p->hi - p->lo, longest = window, h;

	for (size_t i = 0; i < p->nparts; i++)
		longest = fmax(longest, fmax(p->end[0][i], p->end[1][i]));
	h = width_for(w, p, FINE * effort, longest / SOFT_CELLS);
	if (grid_excess(w, p, h) > GOOD * effort)
		h = width_for(w, p, GOOD * effort, cells_at(p, 1) / most_cells(p));
	/* what the transform's size leaves over makes the grid finer */
	return fmax(window / ((double)fast_size(window / h + 4) - 4),
		    cells_at(p, 1) / most_cells(p));
}

/* ---- the transform ---- */

struct totals {
	double log_mgf, chernoff, slack, log_finite;
	double each; /* error of every cell, bounded */
	double norm; /* and beyond that of all cells, as a vector */
};

/* In place. A complex transform of real data does twice the work, but planning one for
 * real data would take FFTW ten times as long as executing it. */
static bool transform_cells(fftw_complex *cells, size_t n, int sign)
{
	fftw_plan plan;

	pthread_mutex_lock(&planner);
	plan = fftw_plan_dft_1d((int)n, cells, cells, sign, FFTW_ESTIMATE);
	pthread_mutex_unlock(&planner);
	if (!plan)
		return false;
	fftw_execute(plan);
	pthread_mutex_lock(&planner);
	fftw_destroy_plan(plan);
	pthread_mutex_unlock(&planner);
	return true;
}

static double transform_error(size_t n)
{
	return 4 * DBL_EPSILON * log2((double)n);
}

/* One part's spectrum. Most of the mass often stays at loss zero or next to it: these
 * cells are left out of the transform, whose error is in proportion to what it
 * transforms, and what they contribute is added afterwards. */
struct spectrum {
	double count;
	double less;     /* minus all cells in the transform */
	double up, down; /* the cells next to zero, if left out */
	double noise;    /* error of one entry, bounded */
};

static void leave_out(struct dp__loss *w, size_t n, struct spectrum *s)
{
	double square = 0, others = 0, up = creal(w->cells[1]), down = creal(w->cells[n - 1]);

	w->cells[1] = w->cells[n - 1] = 0;
	for (size_t j = 0; j < n; j++) {
		others += creal(w->cells[j]);
		square += creal(w->cells[j]) * creal(w->cells[j]);
	}
	if (up + down > others) { /* worth a sine and a cosine an entry */
		s->up = up;
		s->down = down;
	} else {
		w->cells[1] = up;
		w->cells[n - 1] = down;
		square += up * up + down * down;
		others += up + down;
	}
	s->less = -others;
	s->noise = transform_error(n) * sqrt((double)n * square) +
		   16 * DBL_EPSILON * (others + s->up + s->down);
}

/* Of one cell of a part's grid, in units of dp__prepared_work(). */
static double cell_work(const struct dp_privacy_part *p)
{
	if (p->kind->cells) /* by quadrature */
		return 2.4;
	return p->kind->work ? p->kind->work(p) : 1;
}

/* One part's grid, laid round the window and transformed in w->cells. Adds what it
 * contributes to the totals. */
static bool part_spectrum(struct dp__loss *w, const struct plan *p, size_t i, double h, size_t n,
			  struct totals *t, struct spectrum *out)
{
	double about[3], raised[3];
	struct dp__grid g = { .h = h, .tilt = p->tilt };
	size_t at = n;

	g.na = (size_t)fmax(ceil(p->end[0][i] / h), 1);
	g.nb = (size_t)fmax(ceil(p->end[1][i] / h), 1);
	if (!need_grid(w, 2 * (g.na + g.nb + 2)))
		return false;
	g.a = w->grid;
	g.slack_a = g.a + g.na + 1;
	g.b = g.slack_a + g.na + 1;
	g.slack_b = g.b + g.nb + 1;
	dp__points_cumulants(&w->points[i], p->tilt, 0, about);
	dp__points_cumulants(&w->points[i], p->tilt + p->theta, 0, raised);
	dp__grid_fill(&g, &p->parts[i], p->direction, p->theta, about[0], raised[0]);

	memset(w->cells, 0, n * sizeof *w->cells);
	for (size_t j = 1, k = 1; j <= g.na; j++, k = k + 1 == n ? 0 : k + 1)
		w->cells[k] += g.a[j];
	for (size_t j = 1; j <= g.nb; j++) {
		at = at == 0 ? n - 1 : at - 1;
		w->cells[at] += g.b[j];
	}
	*out = (struct spectrum){ .count = p->parts[i].count };
	leave_out(w, n, out);
	t->log_mgf += out->count * g.shift;
	/* its sum's own rounding included */
	t->chernoff += out->count * (g.chernoff + DBL_EPSILON * (64 + (double)(g.na + g.nb)));
	t->slack += out->count * g.slack;
	t->log_finite += out->count * log1p(-g.infinite);
	w->work += (double)n + (double)(g.na + g.nb) * cell_work(&p->parts[i]);
	return transform_cells(w->cells, n, FFTW_FORWARD);
}

/* By how much m^count, which is r, is off where an entry's modulus m is off by the noise:
 * at most (m + noise)^count - m^count. What is no number stays none. */
static double power_off(double m, double r, const struct spectrum *s)
{
	return s->noise < m ? r * expm1(s->count * s->noise / m)
			    : exp(s->count * log(m + s->noise));
}

/* spectrum^count - base from the entry minus one, re + i im; zero - base where it
 * vanishes. Adds the entry's error to *error. */
static fftw_complex spectrum_power(double re, double im, const struct spectrum *s, double base,
				   double least, double *error)
{
	double square = re * (2 + re) + im * im; /* |1 + re + i im|^2 - 1 */
	/* one more than that has lost its digits where the entry is close to 0 */
	bool small = !(square > -0.5);
	double m = sqrt(small ? (1 + re) * (1 + re) + im * im : 1 + square);
	double angle, half, log_r, r;

	if (!(m > fmax(least, 0))) { /* exp(-50), twice; with few steps, noise alone */
		*error += m <= least ? 4e-22 : 2 * exp(s->count * log(m + s->noise));
		return -base;
	}
	angle = s->count * atan2(im, 1 + re);
	log_r = s->count * fmin(small ? log(m) : 0.5 * log1p(square), 0);
	r = exp(log_r);
	/* twice, for the conjugate; the powers' own rounding is that of their exponents
	 */
	*error += 2 * power_off(m, r, s) + 2 * DBL_EPSILON * (r * (8 + fabs(log_r)) + 8 * base);
	if (base == 0)
		return r * cos(angle) + I * (r * sin(angle));
	half = sin(0.5 * angle);
	return expm1(log_r) - 2 * r * half * half + I * (2 * r * half * cos(0.5 * angle));
}

/* product *= spectrum^count; the first part starts the product. With base 1 all powers
 * and the product are kept minus one: nothing is lost where they hardly differ from
 * one, which is where the composed loss hardly ever leaves zero. */
static void spectrum_raise(struct dp__loss *w, size_t n, const struct spectrum *s, double base,
			   bool first, double *error)
{
	double least = exp(-50 / s->count) - s->noise;

	for (size_t j = 0; j <= n / 2; j++) {
		double re = creal(w->cells[j]) + s->less, im = cimag(w->cells[j]);
		double half = M_PI * (double)j / (double)n;
		fftw_complex v, old = w->product[j];

		if (s->up + s->down > 0) {
			re -= 2 * (s->up + s->down) * sin(half) * sin(half);
			im += (s->down - s->up) * 2 * sin(half) * cos(half);
		}
		v = spectrum_power(re, im, s, base, least, error);
		if (!first)
			v = old * v + base * (old + v);
		w->product[j] = v;
		if (j > 0 && j < n / 2)
			w->product[n - j] = conj(v);
	}
}

/* Back to losses. The zero cell is the mean of the spectrum and needs no transform. */
static bool spectrum_back(struct dp__loss *w, size_t n, double base, double error, struct totals *t)
{
	double mean = 0, norm = 0;

	for (size_t j = 0; j < n; j++)
		mean += creal(w->product[j]) / (double)n;
	for (size_t j = 0; j < n; j++) {
		w->product[j] -= mean;
		norm += creal(w->product[j] * conj(w->product[j]));
	}
	if (!transform_cells(w->product, n, FFTW_BACKWARD))
		return false;
	w->product[0] += (base + mean) * (double)n;
	w->work += 0.5 * (double)n;
	t->each = error / (double)n;
	t->norm = transform_error(n) * sqrt(norm / (double)n);
	return true;
}

/* A cell at distance d above epsilon weighs exp(-tilt d) (1 - exp(-d)). What all errors
 * together may weigh: that of every cell, that of all as a vector (by Cauchy and
 * Schwarz), and that of the grid, which may lie anywhere. */
static double weigh_errors(const struct plan *p, double h, size_t n, const struct totals *t)
{
	double a = p->tilt, cells = (double)n;
	double sum = -1 / expm1(-a * h) + 1 / expm1(-(a + 1) * h);
	double square =
		-1 / expm1(-2 * a * h) + 2 / expm1(-(2 * a + 1) * h) - 1 / expm1(-2 * (a + 1) * h);
	double most = exp(-a * log1p(1 / a)) / (a + 1);

	/* where the sums cancel, or are longer than the window, count its cells */
	sum = fmin(sum * (1 + 1e-6), cells * most);
	square = square > 1e-6 / (a * h) ? fmin(square * (1 + 1e-9), cells * most * most)
					 : cells * most * most;
	return t->each * sum + t->norm * sqrt(square) + expm1(t->slack) * most;
}

static bool totals_finite(const struct totals *t)
{
	return isfinite(t->log_mgf) && isfinite(t->slack) && isfinite(t->log_finite) &&
	       isfinite(t->each) && isfinite(t->norm) && !isnan(t->chernoff);
}

/* Epsilon between x and x + h, from delta there over the delta that is allowed: between
 * cells delta is linear in exp(epsilon), and so is the bound. */
static double interpolate(double x, double h, double below, double above)
{
	double part = (below - 1) / (below - above);

	return fmax(isfinite(below) ? x + log1p(part * expm1(h)) : x + h, 0);
}

/* Walks down from the window's upper end to where delta is reached. All sums carry the
 * factor exp(log_mgf - tilt x) of the current x.
 *   d = spill + sum of T exp(-tilt d) (1 - exp(-d)), sum = sum of T exp(-(tilt + 1) d)
 * Every comparison is written so that what is no number does not pass. */
static double read_off(const struct dp__loss *w, struct plan *p, double h, long from, size_t n,
		       const struct totals *t)
{
	double a = exp(-p->tilt * h), b = exp(-(p->tilt + 1) * h), c = -expm1(-h);
	double top = (double)(from + (long)n) * h;
	double spill = exp(fmin(t->chernoff + t->slack - p->theta * top, 0));
	double errors = weigh_errors(p, h, n, t), d = spill, sum = 0, above = INFINITY;
	double left = p->delta + expm1(t->log_finite * (1 + 8 * DBL_EPSILON)), goal;

	p->share = 1;
	if (!(left > 0) || !totals_finite(t))
		return INFINITY;
	/* the sums' own rounding, and that of exponents */
	goal = log(left) - t->log_mgf -
	       DBL_EPSILON * (8 * (double)n + 4 * fabs(t->log_mgf) +
			      4 * p->tilt * fmax(fabs(top), fabs(top - (double)n * h)));
	for (long i = from + (long)n - 1; i >= from; i--) {
		double x = (double)i * h, next, need, ratio;
		size_t at = (size_t)(((i % (long)n) + (long)n) % (long)n);

		next = a * (d + c * sum);
		need = exp(fmin(goal + p->tilt * x, 700));
		ratio = (next + errors) / need;
		if (!(ratio <= 1)) { /* between x and x + h */
			p->share = (errors + spill * exp(p->tilt * (x - top))) / need;
			if (!(-log(need) <= p->drop - 9))
				p->share = 1;
			return isfinite(above) ? interpolate(x, h, ratio, above) : INFINITY;
		}
		if (x <= 0) {
			p->share = 0;
			return 0;
		}
		above = ratio;
		d = next;
		sum = fmax(creal(w->product[at]) / (double)n, 0) + b * sum;
	}
	/* delta is met all over the window: it lies too high */
	return fmax((double)from * h, 0);
}

/* An upper bound of epsilon in one direction on a grid of width h; NaN: no memory. */
static double bound_at(struct dp__loss *w, struct plan *p, double h)
{
	struct totals t = { 0 };
	struct spectrum part;
	double error = 0, base = 0, epsilon;
	size_t n;
	long from;

	p->share = 1;
	if (!(h > 0) || !(cells_at(p, h) <= 1.01 * HARD_CELLS))
		return INFINITY;
	h = short_width(h);
	n = fast_size(ceil((p->hi - p->lo) / h) + 2);
	from = (long)floor(p->lo / h);
	p->spent += cells_at(p, h);
	if (!need_cells(w, n))
		return NAN;
	for (size_t i = 0; i < p->nparts; i++) {
		if (!part_spectrum(w, p, i, h, n, &t, &part))
			return NAN;
		if (i == 0 && part.count * (part.up + part.down - part.less) < 0.5)
			base = 1;
		spectrum_raise(w, n, &part, base, i == 0, &error);
	}
	if (!spectrum_back(w, n, base, error, &t))
		return NAN;
	epsilon = read_off(w, p, h, from, n, &t);
	/* the grid is not what the plan was made for: much may have wrapped round */
	if (!(t.chernoff - p->theta * (double)(from + (long)n) * h <= -0.5 * p->drop) ||
	    !(fabs(t.log_mgf - p->log_mgf) <= 1))
		p->share = 1;
	return epsilon;
}

/* ---- the accountant ---- */

/* Bounds under one tilt, on grids that get finer until it is enough, or until rounding
 * outweighs what they gain. Every grid gives a bound, so the least counts. */
static bool one_tilt(struct dp__loss *w, struct plan *p, double effort, struct dp__loss_answer *out)
{
	double h = choose_width(w, p, effort), fine, coarse = bound_at(w, p, 2 * h);

	for (;;) {
		fine = bound_at(w, p, h);
		if (isnan(fine) || isnan(coarse))
			return false;
		out->epsilon = fmin(fine, coarse);
		out->error = isinf(coarse) ? out->epsilon : fabs(coarse - fine);
		out->error = fmax(out->error, 3 * grid_excess(w, p, h) * out->epsilon);
		if (effort > 1 || p->share > NOISY ||
		    !(cells_at(p, h / 2) <= fmin(HARD_CELLS, p->budget - p->spent)))
			return true;
		if (isfinite(fine) && (fine >= coarse || out->error / 3 <= LIMIT * fine))
			return true;
		coarse = fine;
		h /= 2;
	}
}

/* The most that the loss can be in one direction; often infinite. */
static double greatest_loss(const struct dp_privacy_part *parts, size_t nparts,
			    enum dp__direction d)
{
	double sum = 0;

	for (size_t i = 0; i < nparts; i++)
		sum += parts[i].count * parts[i].kind->most(&parts[i], d);
	return sum;
}

/* Sets out->epsilon and its estimated error; effort > 1 asks for less. Where few rare
 * steps make up the loss it has a heavy tail and the saddle point misses: then delta is
 * small in tilted terms, and rounding and what wraps round are not. Tilt less. */
static bool one_direction(struct dp__loss *w, struct plan *p, double effort,
			  struct dp__loss_answer *out)
{
	struct dp__loss_answer next = { 0 };
	double share, most;

	p->share = 0;
	set_plan(w, p, NAN);
	if (!one_tilt(w, p, effort, out))
		return false;
	share = p->share;
	for (int idle = 0; idle < 2 && p->share > NOISY && p->spent < 0.5 * p->budget &&
			   (p->tilt > LEAST_TILT || isfinite(out->epsilon));) {
		p->share = 0;
		set_plan(w, p, isfinite(out->epsilon) ? out->epsilon : p->about);
		if (!one_tilt(w, p, effort, &next))
			return false;
		idle = next.epsilon < out->epsilon ? 0 : idle + 1;
		/* a quieter tilt that says the same confirms it */
		if (next.epsilon < out->epsilon ||
		    (p->share < share && next.epsilon < out->epsilon * (1 + LIMIT))) {
			next.error = fmax(next.error, next.epsilon - out->epsilon);
			next.epsilon = fmin(next.epsilon, out->epsilon);
			*out = next;
			share = p->share;
		}
		if (p->tilt < 10 * LEAST_TILT)
			break;
	}
	if (share > NOISY) /* two grids may agree and yet both be far off */
		out->error = fmax(out->error, fmin(share, 1) * out->epsilon);
	most = greatest_loss(p->parts, p->nparts, p->direction);
	if (most < out->epsilon) { /* a bound that needs no grid */
		out->error = fmin(out->error, most);
		out->epsilon = most;
	}
	if (!isfinite(out->epsilon))
		out->error = 0;
	return true;
}

/* Was the budget of a direction felt? Every decision about grids compares cells with at
 * least 0.46 of a budget of which nothing is spent, so where less than 0.3 of it is, a
 * larger one gives the same answer. */
static void note_limit(struct dp__loss *w, const struct plan *p)
{
	w->limited |= p->spent > 0.3 * p->budget;
}

/* Is delta enough for epsilon zero? Total variation distances add up at most. */
static bool nothing_lost(const struct dp_privacy_part *parts, size_t nparts, double delta)
{
	double sum = 0, slack;

	for (size_t i = 0; i < nparts; i++) {
		sum += parts[i].count * parts[i].kind->profile(&parts[i], DP__REMOVE, 0, &slack);
		sum += parts[i].count * slack;
	}
	return sum <= delta;
}

/* Where no grid is needed. */
static bool exact_epsilon(const struct dp_privacy_part *parts, size_t nparts, double delta,
			  struct dp__loss_answer *out)
{
	out->error = 0;
	out->proved = true;
	if (nothing_lost(parts, nparts, delta))
		out->epsilon = 0;
	else
		out->epsilon = nparts == 1 ? parts->kind->alone(parts, delta) : NAN;
	return !isnan(out->epsilon);
}

struct dp_epsilon dp__loss_worded(const struct dp__loss_answer *a, double delta)
{
	return (struct dp_epsilon){
		.epsilon = isnan(a->epsilon) ? INFINITY : a->epsilon,
		.delta = delta,
		.order = NAN,
		.accountant = dp_privacy_accountants[DP_PRIVACY_PLD],
		.error = a->error,
		.error_proved = a->proved,
	};
}

int dp__loss_epsilon(struct dp__loss *w, const struct dp_privacy_part *parts, size_t nparts,
		     double delta, struct dp__loss_answer *out, struct dp_err *err)
{
	struct plan plan = {
		.parts = parts, .nparts = nparts, .delta = delta, .budget = ALL_CELLS
	};
	double share = w->share > 0 ? w->share : 1;
	struct dp__loss_answer other = { .epsilon = INFINITY }, next = { 0 };
	bool sided = false;

	if (exact_epsilon(parts, nparts, delta, out))
		return DP_OK;
	if (!(delta >= LEAST_DELTA)) {
		out->epsilon = INFINITY;
		return DP_OK;
	}
	for (size_t i = 0; i < nparts; i++)
		sided |= parts[i].kind->sided;
	out->proved = false;
	plan.budget *= share;
	if (!need_points(w, nparts) || !one_direction(w, &plan, 1, out))
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	note_limit(w, &plan);
	if (!sided || greatest_loss(parts, nparts, DP__ADD) <= out->epsilon)
		return DP_OK;
	/* a rough bound usually shows that adding a record costs less */
	plan.direction = DP__ADD;
	plan.budget = ADD_CELLS * share;
	plan.spent = 0;
	for (double effort = 64; effort >= 1 && plan.spent < 0.6 * plan.budget; effort /= 8) {
		if (!one_direction(w, &plan, effort, &next))
			return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
		if (next.epsilon <= other.epsilon)
			other = next;
		if (next.epsilon <= out->epsilon)
			break;
	}
	note_limit(w, &plan);
	if (!(next.epsilon <= out->epsilon))
		*out = other;
	return DP_OK;
}
