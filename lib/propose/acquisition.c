/* acquisition.c - how much a point is worth, each way one const entry.
 *
 * The region that the front does not dominate is cut into boxes (lib/front/cells.c).
 * With independent objectives every acquisition here is a sum over boxes of a product
 * over objectives of F(upper side) - F(lower side), with a function F of its own:
 *   poi    F(t) = P(f < t)         the probability to enter the region;
 *   ehvi   F(t) = E max(0, t - f)  the integral of P(f < t), so that the sum is the
 *          expected volume gained (Emmerich, Deutz & Klinkenberg 2011), in natural
 *          units: f is the transformed-back normal variable;
 *   hvpoi  poi times the volume that the predicted value itself would gain, F(t) =
 *          max(0, t - value) (Couckuyt, Deschrijver & Dhaene 2014; the paper's eq. 3).
 *          The value is the transformed-back mean, which is the median.
 * Logarithms are returned: they keep a slope where the value is tiny. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double dp__phi(double x)
{
	return exp(-0.5 * x * x) * 0.3989422804014327;
}

double dp__Phi(double x)
{
	return x > 8.3 ? 1 : x < -38 ? 0 : 0.5 * erfc(-x * M_SQRT1_2);
}

/* F and its derivatives by mean and sd at each side. */
struct row {
	double *f, *m, *s; /* (n) */
};

typedef void side_fn(const struct dp__side *side, const struct dp__quadrature *q,
		     const struct dp__normal *x, struct row *out);

static void row_set(struct row *r, size_t i, double f, double m, double s)
{
	r->f[i] = f;
	r->m[i] = m;
	r->s[i] = s;
}

/* ---- P(f < t) ---- */

static void side_probability(const struct dp__side *side, const struct dp__quadrature *q,
			     const struct dp__normal *x, struct row *out)
{
	(void)q;
	for (size_t i = 0; i < side->n; i++) {
		double a = (side->zt[i] - x->m) / x->s, d;

		if (x->s == 0 || isinf(a)) {
			/* an exact value on a side belongs to the cell below it */
			row_set(out, i, x->m < side->zt[i] ? 1 : 0, 0, 0);
			continue;
		}
		d = dp__phi(a) / x->s;
		row_set(out, i, dp__Phi(a), -d, -d * a);
	}
}

/* ---- max(0, t - value): what the median would gain ---- */

static void side_gain(const struct dp__side *side, const struct dp__quadrature *q,
		      const struct dp__normal *x, struct row *out)
{
	double value = dp__shape_value(side->shape, x->m);
	double slope = dp__shape_slope(side->shape, x->m);

	(void)q;
	for (size_t i = 0; i < side->n; i++) {
		bool in = value < side->t[i];

		row_set(out, i, in ? side->t[i] - value : 0, in ? -slope : 0, 0);
	}
}

static void side_gain_model(const struct dp__side *side, const struct dp__quadrature *q,
			    const struct dp__normal *x, struct row *out)
{
	(void)q;
	for (size_t i = 0; i < side->n; i++) {
		bool in = x->m < side->zt[i];

		row_set(out, i, in ? side->zt[i] - x->m : 0, in ? -1 : 0, 0);
	}
}

/* ---- E max(0, t - f) ---- */

enum {
	PANELS = 15,
	NODES = 6,
	POINTS = PANELS * NODES
};
static const double panel_from = -7.5, panel_width = 1;
/* Gauss-Legendre on -1..1 */
static const double node_at[NODES] = { -0.932469514203152, -0.6612093864662645, -0.2386191860831969,
				       0.2386191860831969, 0.6612093864662645,  0.932469514203152 };
static const double node_weight[NODES] = { 0.17132449237917036, 0.3607615730481386,
					   0.467913934572691,   0.467913934572691,
					   0.3607615730481386,  0.17132449237917036 };

struct dp__quadrature {
	double x[POINTS], w[POINTS]; /* w includes the normal density */
};

static struct dp__quadrature *quadrature_new(void)
{
	struct dp__quadrature *q = malloc(sizeof *q);

	for (size_t i = 0; q && i < POINTS; i++) {
		double mid = panel_from + ((double)(i / NODES) + 0.5) * panel_width;

		q->x[i] = mid + node_at[i % NODES] * panel_width / 2;
		q->w[i] = node_weight[i % NODES] * panel_width / 2 * dp__phi(q->x[i]);
	}
	return q;
}

static void normal_expected(const struct dp__side *side, const struct dp__normal *x,
			    struct row *out)
{
	for (size_t i = 0; i < side->n; i++) {
		double a = (side->t[i] - x->m) / x->s, c = dp__Phi(a), d = dp__phi(a);

		row_set(out, i, fmax(0, x->s * (a * c + d)), -c, d);
	}
}

/* Closed forms of a log-normal variable (a put option's, and a call's). */
static void log_expected(const struct dp__side *side, const struct dp__normal *x, struct row *out)
{
	double sign = side->shape == DP__LOG ? 1 : -1, s = fmin(x->s, 12);
	double mean = exp(fmin(600, sign * x->m + s * s / 2));

	for (size_t i = 0; i < side->n; i++) {
		double a = (side->zt[i] - x->m) / s, b = a - sign * s;
		double c = dp__Phi(a), e = dp__Phi(b), f;

		if (c == 0 && e == 0) {
			row_set(out, i, 0, 0, 0);
			continue;
		}
		f = side->t[i] * c - sign * mean * e;
		row_set(out, i, fmax(0, f), -mean * e, mean * (dp__phi(b) - sign * s * e));
	}
}

/* Integrals up to some x of s(z) phi(x), s'(z) phi(x), x s'(z) phi(x), z = m + sd x,
 * s the logistic function. */
struct logistic {
	double a, b, c;
};

static void logistic_add(struct logistic *o, double x, double w, double e)
{
	double v = 1 / (1 + e), d = e * v * v;

	o->a += w * v;
	o->b += w * d;
	o->c += w * x * d;
}

/* For a small sd the logistic function is its Taylor polynomial of order 4; what is
 * left are incomplete moments of the normal distribution. */
static struct logistic logistic_series(const struct dp__normal *x, double a)
{
	double v = dp__shape_value(DP__LOGIT, x->m), d1 = v * (1 - v), r = 1 - 2 * v;
	double d2 = d1 * r, d3 = d1 * (1 - 6 * d1), d4 = d1 * r * (1 - 12 * d1);
	double P = dp__Phi(a), p = isinf(a) ? 0 : dp__phi(a), s = x->s;
	double q = p == 0 ? 0 : a * p; /* a p(a) goes to 0 */
	double m1 = -p, m2 = P - q, m3 = -2 * p - a * q, m4;
	struct logistic o;

	if (p == 0)
		m3 = 0;
	m4 = 3 * P - 3 * q - (p == 0 ? 0 : a * a * q);
	o.a = v * P + s * (d1 * m1 + s * (d2 / 2 * m2 + s * (d3 / 6 * m3 + s * d4 / 24 * m4)));
	o.b = d1 * P + s * (d2 * m1 + s * (d3 / 2 * m2 + s * d4 / 6 * m3));
	o.c = d1 * m1 + s * (d2 * m2 + s * (d3 / 2 * m3 + s * d4 / 6 * m4));
	return o;
}

static void logistic_panels(const struct dp__quadrature *q, const struct dp__normal *x,
			    struct logistic total[PANELS + 1])
{
	double e[POINTS];

	for (size_t i = 0; i < POINTS; i++)
		e[i] = fmin(700, -(x->m + x->s * q->x[i]));
	dp_vec_exp(e, e, POINTS);
	memset(total, 0, sizeof total[0]);
	for (size_t k = 0; k < PANELS; k++) {
		total[k + 1] = total[k];
		for (size_t i = k * NODES; i < (k + 1) * NODES; i++)
			logistic_add(&total[k + 1], q->x[i], q->w[i], e[i]);
	}
}

/* Whole panels, then Gauss-Legendre over what is left of the last one. */
static struct logistic logistic_upto(const struct dp__normal *x, double a,
				     const struct logistic total[PANELS + 1])
{
	double at = (a - panel_from) / panel_width, from, half;
	struct logistic o;
	size_t k;

	if (at >= PANELS)
		return total[PANELS];
	if (!(at > 0))
		return total[0];
	k = (size_t)at;
	from = panel_from + (double)k * panel_width;
	half = (a - from) / 2;
	o = total[k];
	for (size_t i = 0; i < NODES; i++) {
		double v = from + half * (1 + node_at[i]);

		logistic_add(&o, v, node_weight[i] * half * dp__phi(v),
			     exp(fmin(700, -(x->m + x->s * v))));
	}
	return o;
}

static void logit_expected(const struct dp__side *side, const struct dp__quadrature *q,
			   const struct dp__normal *x, struct row *out)
{
	double shift = side->shape == DP__LOGIT_MAX ? -1 : 0;
	struct logistic total[PANELS + 1];
	bool series = x->s < 0.03;

	if (!series)
		logistic_panels(q, x, total);
	for (size_t i = 0; i < side->n; i++) {
		double a = (side->zt[i] - x->m) / x->s, t = side->t[i] - shift;
		struct logistic o;

		if (a < panel_from) {
			row_set(out, i, 0, 0, 0);
			continue;
		}
		o = series ? logistic_series(x, a) : logistic_upto(x, a, total);
		row_set(out, i, fmax(0, t * dp__Phi(a) - o.a), -o.b, -o.c);
	}
}

static void side_expected(const struct dp__side *side, const struct dp__quadrature *q,
			  const struct dp__normal *x, struct row *out)
{
	if (x->s == 0)
		side_gain(side, q, x, out);
	else if (side->shape == DP__NORMAL)
		normal_expected(side, x, out);
	else if (side->shape == DP__LOG || side->shape == DP__LOG_MAX)
		log_expected(side, x, out);
	else
		logit_expected(side, q, x, out);
}

/* ---- the sum over boxes ---- */

static struct row table_row(const struct dp__target *t, size_t j)
{
	double *at = t->table + 3 * j * t->most;
	struct row r = { at, at + t->most, at + 2 * t->most };

	return r;
}

static double cell_difference(const double *v, int lower, int upper)
{
	return v[upper] - (lower < 0 ? 0 : v[lower]);
}

/* Sum over boxes; grad (2 p) gets its derivatives by means, then sds. */
static double box_sum(struct dp__target *t, const struct dp__normal *x, side_fn *side, double *grad)
{
	struct row row[DP_OBJECTIVES_MAX];
	double sum = 0;
	size_t p = t->p;

	for (size_t j = 0; j < p; j++) {
		row[j] = table_row(t, j);
		side(&t->side[j], t->quad, &x[j], &row[j]);
	}
	if (grad)
		memset(grad, 0, 2 * p * sizeof *grad);
	for (size_t c = 0; c < t->ncells; c++) {
		const int *lo = t->lower + c * p, *hi = t->upper + c * p;
		double v[DP_OBJECTIVES_MAX], product = 1;

		for (size_t j = 0; j < p && product > 0; j++)
			product *= v[j] = cell_difference(row[j].f, lo[j], hi[j]);
		if (!(product > 0))
			continue;
		sum += product;
		for (size_t j = 0; grad && j < p; j++) {
			double others = product / v[j];

			grad[j] += others * cell_difference(row[j].m, lo[j], hi[j]);
			grad[p + j] += others * cell_difference(row[j].s, lo[j], hi[j]);
		}
	}
	return sum;
}

static double log_of(double sum, size_t count, double *grad)
{
	if (!(sum > 0) || isinf(sum))
		return -INFINITY;
	for (size_t j = 0; grad && j < count; j++)
		grad[j] /= sum;
	return log(sum);
}

static double acquisition_ehvi(struct dp__target *t, const struct dp__normal *f, double *grad)
{
	return log_of(box_sum(t, f, side_expected, grad), 2 * t->p, grad);
}

static double acquisition_poi(struct dp__target *t, const struct dp__normal *f, double *grad)
{
	return log_of(box_sum(t, f, side_probability, grad), 2 * t->p, grad);
}

static double acquisition_hvpoi(struct dp__target *t, const struct dp__normal *f, double *grad)
{
	double more[2 * DP_OBJECTIVES_MAX];
	side_fn *gain = t->gain_model ? side_gain_model : side_gain;
	double a = log_of(box_sum(t, f, gain, grad), 2 * t->p, grad), b;

	if (isinf(a))
		return a;
	b = log_of(box_sum(t, f, side_probability, grad ? more : NULL), 2 * t->p,
		   grad ? more : NULL);
	for (size_t j = 0; grad && j < 2 * t->p; j++)
		grad[j] += more[j];
	return a + b;
}

static const struct dp__acquisition acquisitions[] = {
	[DP_ACQ_DEFAULT] = { "ehvi", true, acquisition_ehvi },
	[DP_ACQ_HVPOI] = { "hvpoi", false, acquisition_hvpoi },
	[DP_ACQ_EHVI] = { "ehvi", true, acquisition_ehvi },
	[DP_ACQ_POI] = { "poi", false, acquisition_poi },
	[DP_ACQ_RANDOM] = { "random", false, NULL },
};

const struct dp__acquisition *dp__acquisition(const struct dp_study *study)
{
	return &acquisitions[study->search.acquisition];
}

/* ---- the target: cells by the numbers of their sides ---- */

static int compare_values(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

static int side_index(const struct dp__side *s, double t)
{
	size_t lo = 0, hi = s->n;

	if (isinf(t) && t < 0)
		return -1;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->t[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	return (int)lo;
}

static int side_new(struct dp__side *s, enum dp__shape shape, const struct dp_cells *c, size_t j)
{
	size_t n = 0;

	s->shape = shape;
	s->t = malloc(2 * c->count * sizeof *s->t);
	s->zt = malloc(2 * c->count * sizeof *s->zt);
	if (!s->t || !s->zt)
		return DP_E_NOMEM;
	for (size_t i = 0; i < c->count; i++) {
		double lower = c->lower[i * c->p + j];

		if (!isinf(lower))
			s->t[n++] = lower;
		s->t[n++] = c->upper[i * c->p + j];
	}
	qsort(s->t, n, sizeof *s->t, compare_values);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || s->t[i] != s->t[i - 1])
			s->t[s->n++] = s->t[i];
	for (size_t i = 0; i < s->n; i++)
		s->zt[i] = dp__shape_inverse(shape, s->t[i]);
	return DP_OK;
}

enum {
	CELLS_MAX = 20000
};

/* More boxes than that: the front is thinned to every second point until it fits,
 * which overstates the region a little. */
static int cells_that_fit(const double *y, size_t n, size_t p, const double *ref,
			  struct dp_cells *out)
{
	double *some = malloc((n ? n : 1) * p * sizeof *some);
	int code = DP_E_LIMIT;

	if (!some)
		return DP_E_NOMEM;
	for (size_t step = 1; code == DP_E_LIMIT; step *= 2) {
		size_t m = 0;

		for (size_t i = 0; i < n; i += step)
			memcpy(some + p * m++, y + i * p, p * sizeof *y);
		code = dp_cells(some, m, p, ref, CELLS_MAX, out);
	}
	free(some);
	return code;
}

int dp__target_new(struct dp__target *t, size_t p, const enum dp__shape *shapes, const double *y,
		   size_t n, const double *ref, bool gain_model)
{
	struct dp_cells c;
	int code = cells_that_fit(y, n, p, ref, &c);

	memset(t, 0, sizeof *t);
	if (code != DP_OK)
		return code;
	t->p = p;
	t->gain_model = gain_model;
	t->ncells = c.count;
	t->quad = quadrature_new();
	t->lower = malloc(c.count * p * sizeof *t->lower);
	t->upper = malloc(c.count * p * sizeof *t->upper);
	code = t->quad && t->lower && t->upper ? DP_OK : DP_E_NOMEM;
	for (size_t j = 0; j < p && code == DP_OK; j++) {
		code = side_new(&t->side[j], shapes[j], &c, j);
		t->most = t->side[j].n > t->most ? t->side[j].n : t->most;
	}
	for (size_t i = 0; i < c.count * p && code == DP_OK; i++) {
		t->lower[i] = side_index(&t->side[i % p], c.lower[i]);
		t->upper[i] = side_index(&t->side[i % p], c.upper[i]);
	}
	dp_cells_free(&c);
	if (code == DP_OK && !(t->table = dp_vec_new(3 * p * t->most)))
		code = DP_E_NOMEM;
	if (code != DP_OK)
		dp__target_free(t);
	return code;
}

void dp__target_free(struct dp__target *t)
{
	for (size_t j = 0; j < t->p; j++) {
		free(t->side[j].t);
		free(t->side[j].zt);
	}
	free(t->lower);
	free(t->upper);
	free(t->table);
	free(t->quad);
	memset(t, 0, sizeof *t);
}
