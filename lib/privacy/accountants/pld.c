/* pld.c - accounting by privacy loss distributions: upper bounds of epsilon.
 *
 * Discretises the loss of one use pessimistically (pld_grid.c), composes it with itself by fast
 * Fourier transform and reads epsilon off at delta. Two things differ from the textbook. The loss
 * is first tilted by exp(tilt x), so that the composed loss lies where epsilon is and rounding
 * errors are small against delta, however small delta is. And everything truncated or rounded is
 * bounded and added to delta:
 *   - losses beyond the grid count as infinite (dp__loss_grid.infinite_mass);
 *   - losses above the window of the transform, by a Chernoff bound on the grid's own moments;
 *     wrap-around only adds;
 *   - rounding of the grid (dp__loss_grid.slack): at worst all of it lies where it weighs most;
 *   - rounding of the transforms, by their norm-wise error bound (Higham, Accuracy and Stability,
 *     Theorem 24.2): after the forward transform no entry is off by more than the norm; after the
 *     inverse, the norms of errors and weights bound their sum.
 * So epsilon is an upper bound; a non-finite number means that there is none. A grid twice as wide
 * gives the estimate of how far it is above the true value. */
#include "privacy/accountants/pld_internal.h"

#include <complex.h>
#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	GRID_CELLS_SOFT_MAX = 1 << 16, /* limit for refining beyond ERROR_GOOD */
	GRID_CELLS_MAX = 1 << 21,      /* of one grid: half a second and a hundred megabytes */
	REMOVE_CELLS_MAX = 3 * GRID_CELLS_MAX, /* of all grids for removing a record */
	ADD_CELLS_MAX = 5 * GRID_CELLS_MAX / 2 /* for adding one, which rarely decides */
};
#define ERROR_GOAL 4e-5 /* target of the relative error of epsilon */
#define ERROR_GOOD 1e-4 /* good enough at GRID_CELLS_SOFT_MAX */
#define ERROR_MAX  1e-3 /* refine while the estimate is larger */
/* Reduce the tilt if rounding takes a larger share of delta. */
#define ROUNDING_SHARE_MAX 1e-3
/* Below it, single losses would lose digits to underflow. */
#define DELTA_MIN       1e-200
#define TILT_MIN        1e-7 /* a smaller tilt does not separate losses */
#define TRUNCATED_SHARE 1e-6 /* share of delta for losses beyond the grid */

/* FFTW's planner has global state and is not thread-safe; executing plans is. Estimated plans
 * depend only on the size, so answers repeat bit for bit. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

struct dp__pld {
	struct dp__loss_points *points; /* one per component */
	size_t npoints;
	fftw_complex *cells, *product; /* the window of the transform */
	size_t ncells;
	double *grid; /* one component's grid and slacks */
	size_t ngrid;
	double share; /* of the cells that one evaluation may take; 0: all */
	double work;  /* of all evaluations */
	bool limited; /* the share made a grid coarser since it was set */
};

/* Decided before the transform. */
struct pld_plan {
	const struct dp_privacy_component *components;
	size_t n_components;
	enum dp__direction direction;
	double delta;
	double tilt, theta;
	double epsilon_guess;  /* epsilon by the saddle point */
	double spread;         /* standard deviation of the tilted composed loss */
	double lo, hi;         /* window */
	double log_mgf;        /* of the composed loss at the tilt, by the loss points */
	double cells_spent;    /* cells so far */
	double cells_max;      /* limit of all cells */
	double log_drop;       /* -log of the mass beyond the window */
	double rounding_share; /* share of delta lost to rounding; 1: the window was too small */
	double ends[2][DP__COMPONENTS_MAX];
};

struct dp__pld *dp__pld_new(void)
{
	return dp_calloc(1, sizeof(struct dp__pld));
}

void dp__pld_free(struct dp__pld *w)
{
	if (!w)
		return;
	free(w->points);
	fftw_free(w->cells);
	fftw_free(w->product);
	free(w->grid);
	free(w);
}

void dp__loss_limit(struct dp__pld *w, double share)
{
	w->share = share;
	w->limited = false;
}

bool dp__loss_limited(const struct dp__pld *w)
{
	return w->limited;
}

double dp__loss_work(const struct dp__pld *w)
{
	return w->work;
}

static void pld_reserve_cells(struct dp__pld *w, size_t n)
{
	if (n <= w->ncells)
		return;
	fftw_free(w->cells);
	fftw_free(w->product);
	w->cells = fftw_malloc(n * sizeof *w->cells);
	w->product = fftw_malloc(n * sizeof *w->product);
	if (!w->cells || !w->product)
		dp_out_of_memory();
	w->ncells = n;
}

static void pld_reserve_grid(struct dp__pld *w, size_t n)
{
	if (n <= w->ngrid)
		return;
	free(w->grid);
	w->grid = dp_malloc(n * sizeof *w->grid);
	w->ngrid = n;
}

static void pld_reserve_points(struct dp__pld *w, size_t n)
{
	if (n <= w->npoints)
		return;
	free(w->points);
	w->points = dp_malloc(n * sizeof *w->points);
	w->npoints = n;
}

/* ---- choice of tilt, window and grid from the loss points ---- */

struct pld_plan_ctx {
	const struct dp__pld *w;
	const struct pld_plan *p;
};

static void composed_cumulants(const struct pld_plan_ctx *s, double tilt, int order, double k[3])
{
	double one[3];

	memset(k, 0, 3 * sizeof *k);
	for (size_t i = 0; i < s->p->n_components; i++) {
		dp__loss_points_cumulants(&s->w->points[i], tilt, order, one);
		for (int j = 0; j <= order; j++)
			k[j] += s->p->components[i].count * one[j];
	}
}

/* E[exp(-c y); y > 0] for y normal with mean 0 and standard deviation s. */
static double half_line_expectation(double c, double s)
{
	return 1 / sqrt(2 * M_PI) * dp__mills_ratio(c * s);
}

/* Log of delta at the mean of the loss tilted by `tilt`, by the saddle-point formula. */
static double saddle_point_log_delta(const struct pld_plan_ctx *s, double tilt)
{
	double k[3], spread;

	composed_cumulants(s, tilt, 2, k);
	spread = sqrt(fmax(k[2], 1e-300));
	return k[0] - tilt * k[1] +
	       log(half_line_expectation(tilt, spread) - half_line_expectation(tilt + 1, spread));
}

struct tilt_search {
	struct pld_plan_ctx s;
	double log_delta;
};

static double tilt_log_delta_error(void *ctx, double log_tilt)
{
	const struct tilt_search *t = ctx;
	double v = saddle_point_log_delta(&t->s, exp(log_tilt)) - t->log_delta;

	return isfinite(v) ? v : v > 0 ? 700 : -700;
}

/* The tilt whose mean is epsilon, clamped to a sensible range. */
static double find_tilt(const struct pld_plan_ctx *s, double delta)
{
	struct tilt_search t = { .s = *s, .log_delta = log(delta) };
	const double least = log(TILT_MIN), most = log(1e13);
	double lo = 0, hi = 0;

	if (tilt_log_delta_error(&t, 0) > 0) {
		while (hi < most && tilt_log_delta_error(&t, hi += 1.5) > 0)
			lo = hi;
		if (hi >= most)
			return exp(most);
	} else {
		while (lo > least && tilt_log_delta_error(&t, lo -= 1.5) <= 0)
			hi = lo;
		if (lo <= least)
			return TILT_MIN;
	}
	return exp(dp__find_root(tilt_log_delta_error, &t, lo, hi));
}

/* Chernoff: the distance from zero, on one side (sign), that holds all but exp(-drop) of the tilted
 * composed loss. *theta gets the best exponent. The bound falls, then rises. */
static double chernoff_reach(const struct pld_plan_ctx *s, const struct pld_plan *p, double k0,
			     double sign, double *theta)
{
	double best = INFINITY, k[3], t = 0.1 * sqrt(2 * p->log_drop) / p->spread;

	for (size_t i = 0; i < p->n_components; i++)
		t = fmin(t, 0.5 / fmax(p->ends[0][i], p->ends[1][i]));
	for (int i = 0; i < 200; i++, t *= 1.4) {
		double x;

		composed_cumulants(s, p->tilt + sign * t, 0, k);
		x = (k[0] - k0 + p->log_drop) / t;
		/* loss points end somewhere: near the end no exponent is large enough */
		if (best == INFINITY || x < best - 1e-3 * fabs(best)) {
			best = x;
			*theta = t;
		} else if (x - best > 0.5 * fabs(best)) {
			break;
		}
	}
	return best;
}

/* The end of each component's grid, and its loss points. */
static void plan_make_rough_points(struct dp__pld *w, struct pld_plan *p)
{
	double log_tail = log(TRUNCATED_SHARE) + log(p->delta) - log((double)p->n_components);

	for (size_t i = 0; i < p->n_components; i++) {
		const struct dp_privacy_component *component = &p->components[i];
		double tail = log_tail - log(component->count);

		p->ends[0][i] = p->ends[1][i] =
			component->kind->tail_cutoff(component, p->direction, tail);
		if (component->kind->is_asymmetric)
			p->ends[1][i] =
				component->kind->tail_cutoff(component, !p->direction, tail);
		dp__loss_points_fill(&w->points[i], component, p->direction,
				     fmax(p->ends[0][i], p->ends[1][i]));
	}
}

/* Chooses tilt, window and ends. `epsilon` is the result of an earlier, too noisy tilt, or NaN. */
static void plan_set_tilt_and_window(struct dp__pld *w, struct pld_plan *p, double epsilon)
{
	struct pld_plan_ctx s = { w, p };
	double k[3], below, unused;

	plan_make_rough_points(w, p);
	p->tilt = isnan(epsilon) ? find_tilt(&s, p->delta) : p->tilt / 3;
	composed_cumulants(&s, p->tilt, 2, k);
	p->epsilon_guess = isnan(epsilon) ? fmax(k[1], 0) : epsilon;
	p->spread = sqrt(fmax(k[2], 1e-300));
	p->log_mgf = k[0];
	/* mass beyond the window must be small against delta in tilted terms */
	p->log_drop = 12 + fmax(2, k[0] - log(p->delta) - p->tilt * p->epsilon_guess);
	p->hi = chernoff_reach(&s, p, k[0], 1, &p->theta);
	below = chernoff_reach(&s, p, k[0], -1, &unused);
	/* wrap-around from below only adds to delta, and single deep losses vanish under the tilt,
	 * so the window need not hold them */
	p->lo = fmax(-below, fmin(k[1], p->epsilon_guess) - 15 * p->spread - 45 / (p->tilt + 1));
	/* One loss above twice the window leaves it for good and counts as infinite. Losses so far
	 * below zero that they vanish under the tilt are rounded up. */
	for (size_t i = 0; i < p->n_components; i++) {
		p->ends[0][i] = fmin(p->ends[0][i], fmax(p->hi, 0) + 2 * (p->hi - p->lo));
		p->ends[1][i] = fmin(p->ends[1][i], 40 / (p->tilt + 1));
	}
}

/* The cells of all components' grids of width h and their transforms. */
static double plan_count_cells(const struct pld_plan *p, double h)
{
	double cells = (p->hi - p->lo) / h * (1 + (double)p->n_components) / 2;

	for (size_t i = 0; i < p->n_components; i++) {
		const struct dp_privacy_component *component = &p->components[i];
		double work = component->kind->profile_cost
				      ? component->kind->profile_cost(component)
				      : 1;

		cells += (p->ends[0][i] + p->ends[1][i]) / h / 2 * work;
	}
	return cells;
}

/* Expected relative excess of epsilon: a grid of width h raises and widens the tilted loss. */
static double plan_grid_excess(const struct dp__pld *w, const struct pld_plan *p, double h)
{
	double added = 0;

	for (size_t i = 0; i < p->n_components; i++)
		added += p->components[i].count *
			 dp__loss_points_grid_excess(&w->points[i], p->tilt, h);
	added *= (1 + 1 / ((p->tilt + 1) * fmax(p->spread, p->epsilon_guess))) / p->tilt;
	return added / fmax(p->epsilon_guess, 0.1 * p->spread);
}

/* The widest grid, in powers of 0.8 of the spread, with an excess below `goal`. */
static double plan_width_for_excess(const struct dp__pld *w, const struct pld_plan *p, double goal,
				    double least)
{
	double h = p->spread;

	while (h > least && plan_grid_excess(w, p, h) > goal)
		h *= 0.8;
	return fmax(h, least);
}

/* Sizes with fast transforms, at most a quarter apart. */
static size_t fft_fast_size(double n)
{
	size_t size = 64;

	while ((double)size < n)
		size *= 2;
	for (size_t i = 5; i < 8; i++)
		if ((double)(size / 8 * i) >= n)
			return size / 8 * i;
	return size;
}

/* Rounds up to so few digits that every multiple on a grid is exact. */
static double round_up_grid_width(double h)
{
	int power;
	double m = frexp(h, &power);

	return ldexp(ceil(ldexp(m, 28)), power - 28);
}

/* The limit for one grid. Half of it goes to the one twice as wide that comes first. */
static double plan_next_grid_max_cells(const struct pld_plan *p)
{
	return fmin(GRID_CELLS_MAX, (p->cells_max - p->cells_spent) / 1.5);
}

static double plan_choose_width(const struct dp__pld *w, const struct pld_plan *p, double effort)
{
	double window = p->hi - p->lo, longest = window, h;

	for (size_t i = 0; i < p->n_components; i++)
		longest = fmax(longest, fmax(p->ends[0][i], p->ends[1][i]));
	h = plan_width_for_excess(w, p, ERROR_GOAL * effort, longest / GRID_CELLS_SOFT_MAX);
	if (plan_grid_excess(w, p, h) > ERROR_GOOD * effort)
		h = plan_width_for_excess(w, p, ERROR_GOOD * effort,
					  plan_count_cells(p, 1) / plan_next_grid_max_cells(p));
	/* use the rest of the transform's size for a finer grid */
	return fmax(window / ((double)fft_fast_size(window / h + 4) - 4),
		    plan_count_cells(p, 1) / plan_next_grid_max_cells(p));
}

/* ---- the transform ---- */

struct pld_totals {
	double log_mgf, chernoff, slack, log_finite;
	double error_per_cell; /* bound of the error of every cell */
	double error_norm;     /* further error of all cells together, as a vector */
};

/* In place. A complex transform of real data does twice the work, but FFTW would take ten times as
 * long to plan a real one as to execute it. */
static void fft_in_place(fftw_complex *cells, size_t n, int sign)
{
	fftw_plan plan;

	pthread_mutex_lock(&planner);
	plan = fftw_plan_dft_1d((int)n, cells, cells, sign, FFTW_ESTIMATE);
	pthread_mutex_unlock(&planner);
	if (!plan)
		dp_out_of_memory();
	fftw_execute(plan);
	pthread_mutex_lock(&planner);
	fftw_destroy_plan(plan);
	pthread_mutex_unlock(&planner);
}

static double fft_error_bound(size_t n)
{
	return 4 * DBL_EPSILON * log2((double)n);
}

/* One component's spectrum. Most of the mass often lies at loss zero or next to it. These cells are
 * left out of the transform, whose error is proportional to its input, and added afterwards. */
struct component_spectrum {
	double count;
	double less;     /* minus all transformed cells */
	double up, down; /* the cells next to zero, if left out */
	double noise;    /* bound of the error of one entry */
};

static void spectrum_exclude_near_zero(struct dp__pld *w, size_t n, struct component_spectrum *s)
{
	double square = 0, others = 0, up = creal(w->cells[1]), down = creal(w->cells[n - 1]);

	w->cells[1] = w->cells[n - 1] = 0;
	for (size_t j = 0; j < n; j++) {
		others += creal(w->cells[j]);
		square += creal(w->cells[j]) * creal(w->cells[j]);
	}
	if (up + down > others) { /* worth a sine and a cosine for each entry */
		s->up = up;
		s->down = down;
	} else {
		w->cells[1] = up;
		w->cells[n - 1] = down;
		square += up * up + down * down;
		others += up + down;
	}
	s->less = -others;
	s->noise = fft_error_bound(n) * sqrt((double)n * square) +
		   16 * DBL_EPSILON * (others + s->up + s->down);
}

/* Of one cell of a component's grid, in units of dp__prepared_work(). */
static double component_cell_cost(const struct dp_privacy_component *p)
{
	if (p->kind->discretise) /* by quadrature */
		return 2.4;
	return p->kind->profile_cost ? p->kind->profile_cost(p) : 1;
}

/* Computes a component's grid, wraps it into the window, transforms it, and adds to the totals. */
static void component_spectrum_compute(struct dp__pld *w, const struct pld_plan *p, size_t i,
				       double h, size_t n, struct pld_totals *t,
				       struct component_spectrum *out)
{
	double about[3], raised[3];
	struct dp__loss_grid g = { .width = h, .tilt = p->tilt };
	size_t at = n;

	g.n_upper = (size_t)fmax(ceil(p->ends[0][i] / h), 1);
	g.n_lower = (size_t)fmax(ceil(p->ends[1][i] / h), 1);
	pld_reserve_grid(w, 2 * (g.n_upper + g.n_lower + 2));
	g.upper = w->grid;
	g.upper_slack = g.upper + g.n_upper + 1;
	g.lower = g.upper_slack + g.n_upper + 1;
	g.lower_slack = g.lower + g.n_lower + 1;
	dp__loss_points_cumulants(&w->points[i], p->tilt, 0, about);
	dp__loss_points_cumulants(&w->points[i], p->tilt + p->theta, 0, raised);
	dp__loss_grid_fill(&g, &p->components[i], p->direction, p->theta, about[0], raised[0]);

	memset(w->cells, 0, n * sizeof *w->cells);
	for (size_t j = 1, k = 1; j <= g.n_upper; j++, k = k + 1 == n ? 0 : k + 1)
		w->cells[k] += g.upper[j];
	for (size_t j = 1; j <= g.n_lower; j++) {
		at = at == 0 ? n - 1 : at - 1;
		w->cells[at] += g.lower[j];
	}
	*out = (struct component_spectrum){ .count = p->components[i].count };
	spectrum_exclude_near_zero(w, n, out);
	t->log_mgf += out->count * g.log_mgf;
	/* includes the rounding of its sum */
	t->chernoff += out->count *
		       (g.log_mgf_raised + DBL_EPSILON * (64 + (double)(g.n_upper + g.n_lower)));
	t->slack += out->count * g.slack;
	t->log_finite += out->count * log1p(-g.infinite_mass);
	w->work += (double)n +
		   (double)(g.n_upper + g.n_lower) * component_cell_cost(&p->components[i]);
	fft_in_place(w->cells, n, FFTW_FORWARD);
}

/* The error of r = m^count if m is off by the noise: at most (m + noise)^count - m^count. */
static double power_error_bound(double m, double r, const struct component_spectrum *s)
{
	return s->noise < m ? r * expm1(s->count * s->noise / m)
			    : exp(s->count * log(m + s->noise));
}

/* spectrum^count - base, from the entry minus one, re + i im; zero - base if it vanishes. Adds the
 * entry's error to *error. */
static fftw_complex spectrum_power(double re, double im, const struct component_spectrum *s,
				   double base, double least, double *error)
{
	double square = re * (2 + re) + im * im; /* |1 + re + i im|^2 - 1 */
	/* near 0 the entry minus one has lost its digits */
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
	/* twice, for the conjugate; the rounding of powers is that of their exponents */
	*error += 2 * power_error_bound(m, r, s) +
		  2 * DBL_EPSILON * (r * (8 + fabs(log_r)) + 8 * base);
	if (base == 0)
		return r * cos(angle) + I * (r * sin(angle));
	half = sin(0.5 * angle);
	return expm1(log_r) - 2 * r * half * half + I * (2 * r * half * cos(0.5 * angle));
}

/* product *= spectrum^count; the first component starts the product. With base 1, all powers and
 * the product are stored minus one: no digit is lost near one, where the composed loss is almost
 * always zero. */
static void spectrum_multiply_power(struct dp__pld *w, size_t n, const struct component_spectrum *s,
				    double base, bool first, double *error)
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

/* Transforms back to losses. The zero cell is the mean of the spectrum and needs no transform. */
static void spectrum_inverse(struct dp__pld *w, size_t n, double base, double error,
			     struct pld_totals *t)
{
	double mean = 0, norm = 0;

	for (size_t j = 0; j < n; j++)
		mean += creal(w->product[j]) / (double)n;
	for (size_t j = 0; j < n; j++) {
		w->product[j] -= mean;
		norm += creal(w->product[j] * conj(w->product[j]));
	}
	fft_in_place(w->product, n, FFTW_BACKWARD);
	w->product[0] += (base + mean) * (double)n;
	w->work += 0.5 * (double)n;
	t->error_per_cell = error / (double)n;
	t->error_norm = fft_error_bound(n) * sqrt(norm / (double)n);
}

/* A cell at distance d above epsilon weighs exp(-tilt d) (1 - exp(-d)). Bounds the weight of all
 * errors: those of every cell, those of all cells as a vector (Cauchy-Schwarz), and those of the
 * grid, which may lie anywhere. */
static double pld_total_error(const struct pld_plan *p, double h, size_t n,
			      const struct pld_totals *t)
{
	double a = p->tilt, cells = (double)n;
	double sum = -1 / expm1(-a * h) + 1 / expm1(-(a + 1) * h);
	double square =
		-1 / expm1(-2 * a * h) + 2 / expm1(-(2 * a + 1) * h) - 1 / expm1(-2 * (a + 1) * h);
	double most = exp(-a * log1p(1 / a)) / (a + 1);

	/* where the sums cancel, or exceed the window, count its cells */
	sum = fmin(sum * (1 + 1e-6), cells * most);
	square = square > 1e-6 / (a * h) ? fmin(square * (1 + 1e-9), cells * most * most)
					 : cells * most * most;
	return t->error_per_cell * sum + t->error_norm * sqrt(square) + expm1(t->slack) * most;
}

static bool pld_totals_are_finite(const struct pld_totals *t)
{
	return isfinite(t->log_mgf) && isfinite(t->slack) && isfinite(t->log_finite) &&
	       isfinite(t->error_per_cell) && isfinite(t->error_norm) && !isnan(t->chernoff);
}

/* Epsilon between x and x + h, from delta at both over the allowed delta. Between cells delta is
 * linear in exp(epsilon), and so is the bound. */
static double interpolate_epsilon(double x, double h, double below, double above)
{
	double part = (below - 1) / (below - above);

	return fmax(isfinite(below) ? x + log1p(part * expm1(h)) : x + h, 0);
}

/* Descends from the window's upper end until delta is reached. All sums carry the factor
 * exp(log_mgf - tilt x) of the current x.
 *   d = spill + sum of T exp(-tilt d) (1 - exp(-d)), sum = sum of T exp(-(tilt + 1) d)
 * Comparisons are written so that NaN fails them. */
static double read_epsilon_at_delta(const struct dp__pld *w, struct pld_plan *p, double h,
				    long from, size_t n, const struct pld_totals *t)
{
	double a = exp(-p->tilt * h), b = exp(-(p->tilt + 1) * h), c = -expm1(-h);
	double top = (double)(from + (long)n) * h;
	double spill = exp(fmin(t->chernoff + t->slack - p->theta * top, 0));
	double errors = pld_total_error(p, h, n, t), d = spill, sum = 0, above = INFINITY;
	double left = p->delta + expm1(t->log_finite * (1 + 8 * DBL_EPSILON)), goal;

	p->rounding_share = 1;
	if (!(left > 0) || !pld_totals_are_finite(t))
		return INFINITY;
	/* rounding of the sums and of exponents */
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
			p->rounding_share = (errors + spill * exp(p->tilt * (x - top))) / need;
			if (!(-log(need) <= p->log_drop - 9))
				p->rounding_share = 1;
			return isfinite(above) ? interpolate_epsilon(x, h, ratio, above) : INFINITY;
		}
		if (x <= 0) {
			p->rounding_share = 0;
			return 0;
		}
		above = ratio;
		d = next;
		sum = fmax(creal(w->product[at]) / (double)n, 0) + b * sum;
	}
	/* delta is met all over the window: it lies too high */
	return fmax((double)from * h, 0);
}

/* An upper bound of epsilon in one direction on a grid of width h. */
static double pld_bound_at_width(struct dp__pld *w, struct pld_plan *p, double h)
{
	struct pld_totals t = { 0 };
	struct component_spectrum part;
	double error = 0, base = 0, epsilon;
	size_t n;
	long from;

	p->rounding_share = 1;
	if (!(h > 0) || !(plan_count_cells(p, h) <= 1.01 * GRID_CELLS_MAX))
		return INFINITY;
	h = round_up_grid_width(h);
	n = fft_fast_size(ceil((p->hi - p->lo) / h) + 2);
	from = (long)floor(p->lo / h);
	p->cells_spent += plan_count_cells(p, h);
	pld_reserve_cells(w, n);
	for (size_t i = 0; i < p->n_components; i++) {
		component_spectrum_compute(w, p, i, h, n, &t, &part);
		if (i == 0 && part.count * (part.up + part.down - part.less) < 0.5)
			base = 1;
		spectrum_multiply_power(w, n, &part, base, i == 0, &error);
	}
	spectrum_inverse(w, n, base, error, &t);
	epsilon = read_epsilon_at_delta(w, p, h, from, n, &t);
	/* the grid is not the planned one: much may have wrapped around */
	if (!(t.chernoff - p->theta * (double)(from + (long)n) * h <= -0.5 * p->log_drop) ||
	    !(fabs(t.log_mgf - p->log_mgf) <= 1))
		p->rounding_share = 1;
	return epsilon;
}

/* ---- the accountant ---- */

/* Bounds under one tilt, on ever finer grids, until the error is small enough or rounding exceeds
 * the gain. Every grid gives a bound, so the smallest counts. */
static void pld_bound_with_tilt(struct dp__pld *w, struct pld_plan *p, double effort,
				struct dp__pld_bound *out)
{
	double h = plan_choose_width(w, p, effort), fine, coarse = pld_bound_at_width(w, p, 2 * h);

	for (;;) {
		fine = pld_bound_at_width(w, p, h);
		out->epsilon = fmin(fine, coarse);
		out->error = isinf(coarse) ? out->epsilon : fabs(coarse - fine);
		out->error = fmax(out->error, 3 * plan_grid_excess(w, p, h) * out->epsilon);
		if (effort > 1 || p->rounding_share > ROUNDING_SHARE_MAX ||
		    !(plan_count_cells(p, h / 2) <=
		      fmin(GRID_CELLS_MAX, p->cells_max - p->cells_spent)))
			return;
		if (isfinite(fine) && (fine >= coarse || out->error / 3 <= ERROR_MAX * fine))
			return;
		coarse = fine;
		h /= 2;
	}
}

/* The largest composed loss in one direction; often infinite. */
static double max_composed_loss(const struct dp_privacy_component *components, size_t n_components,
				enum dp__direction d)
{
	double sum = 0;

	for (size_t i = 0; i < n_components; i++)
		sum += components[i].count * components[i].kind->max_loss(&components[i], d);
	return sum;
}

/* Sets out->epsilon and its estimated error; effort > 1 asks for a smaller one. If a few rare steps
 * make up the loss, it has a heavy tail and the saddle point fails: delta is then small in tilted
 * terms, but rounding and wrap-around are not. Tilts less in that case. */
static void pld_bound_direction(struct dp__pld *w, struct pld_plan *p, double effort,
				struct dp__pld_bound *out)
{
	struct dp__pld_bound next = { 0 };
	double share, most;

	p->rounding_share = 0;
	plan_set_tilt_and_window(w, p, NAN);
	pld_bound_with_tilt(w, p, effort, out);
	share = p->rounding_share;
	for (int idle = 0; idle < 2 && p->rounding_share > ROUNDING_SHARE_MAX &&
			   p->cells_spent < 0.5 * p->cells_max &&
			   (p->tilt > TILT_MIN || isfinite(out->epsilon));) {
		p->rounding_share = 0;
		plan_set_tilt_and_window(w, p,
					 isfinite(out->epsilon) ? out->epsilon : p->epsilon_guess);
		pld_bound_with_tilt(w, p, effort, &next);
		idle = next.epsilon < out->epsilon ? 0 : idle + 1;
		/* agreement with a less noisy tilt confirms the result */
		if (next.epsilon < out->epsilon ||
		    (p->rounding_share < share && next.epsilon < out->epsilon * (1 + ERROR_MAX))) {
			next.error = fmax(next.error, next.epsilon - out->epsilon);
			next.epsilon = fmin(next.epsilon, out->epsilon);
			*out = next;
			share = p->rounding_share;
		}
		if (p->tilt < 10 * TILT_MIN)
			break;
	}
	if (share > ROUNDING_SHARE_MAX) /* two grids may agree and both be far off */
		out->error = fmax(out->error, fmin(share, 1) * out->epsilon);
	most = max_composed_loss(p->components, p->n_components, p->direction);
	if (most < out->epsilon) { /* a bound without a grid */
		out->error = fmin(out->error, most);
		out->epsilon = most;
	}
	if (!isfinite(out->epsilon))
		out->error = 0;
}

/* Records whether the cell limit of a direction had an effect. Every decision about grids compares
 * cells with at least 0.46 of an unspent budget. So below 0.3 a larger budget gives the same
 * answer. */
static void note_limit(struct dp__pld *w, const struct pld_plan *p)
{
	w->limited |= p->cells_spent > 0.3 * p->cells_max;
}

/* True if delta covers epsilon zero. Total variation distances add up at most. */
static bool delta_covers_total_variation(const struct dp_privacy_component *components,
					 size_t n_components, double delta)
{
	double sum = 0, slack;

	for (size_t i = 0; i < n_components; i++) {
		sum += components[i].count *
		       components[i].kind->profile(&components[i], DP__DIRECTION_REMOVE, 0, &slack);
		sum += components[i].count * slack;
	}
	return sum <= delta;
}

/* Cases without a grid. */
static bool pld_exact_epsilon(const struct dp_privacy_component *components, size_t n_components,
			      double delta, struct dp__pld_bound *out)
{
	out->error = 0;
	out->error_is_proved = true;
	if (delta_covers_total_variation(components, n_components, delta))
		out->epsilon = 0;
	else
		out->epsilon = n_components == 1
				       ? components->kind->exact_epsilon(components, delta)
				       : NAN;
	return !isnan(out->epsilon);
}

struct dp_epsilon dp__pld_bound_to_epsilon(const struct dp__pld_bound *a, double delta)
{
	return (struct dp_epsilon){
		.epsilon = isnan(a->epsilon) ? INFINITY : a->epsilon,
		.delta = delta,
		.order = NAN,
		.accountant = dp_privacy_accountants[DP_PRIVACY_PLD],
		.error = a->error,
		.error_is_proved = a->error_is_proved,
	};
}

struct dp__pld_bound dp__pld_epsilon(struct dp__pld *w,
				     const struct dp_privacy_component *components,
				     size_t n_components, double delta)
{
	struct pld_plan plan = { .components = components,
				 .n_components = n_components,
				 .delta = delta,
				 .cells_max = REMOVE_CELLS_MAX };
	double share = w->share > 0 ? w->share : 1;
	struct dp__pld_bound out = { 0 }, other = { .epsilon = INFINITY }, next = { 0 };
	bool sided = false;

	if (pld_exact_epsilon(components, n_components, delta, &out))
		return out;
	if (!(delta >= DELTA_MIN)) {
		out.epsilon = INFINITY;
		return out;
	}
	for (size_t i = 0; i < n_components; i++)
		sided |= components[i].kind->is_asymmetric;
	out.error_is_proved = false;
	plan.cells_max *= share;
	pld_reserve_points(w, n_components);
	pld_bound_direction(w, &plan, 1, &out);
	note_limit(w, &plan);
	if (!sided || max_composed_loss(components, n_components, DP__DIRECTION_ADD) <= out.epsilon)
		return out;
	/* a rough bound usually shows that adding a record costs less */
	plan.direction = DP__DIRECTION_ADD;
	plan.cells_max = ADD_CELLS_MAX * share;
	plan.cells_spent = 0;
	for (double effort = 64; effort >= 1 && plan.cells_spent < 0.6 * plan.cells_max;
	     effort /= 8) {
		pld_bound_direction(w, &plan, effort, &next);
		if (next.epsilon <= other.epsilon)
			other = next;
		if (next.epsilon <= out.epsilon)
			break;
	}
	note_limit(w, &plan);
	return next.epsilon <= out.epsilon ? out : other;
}
