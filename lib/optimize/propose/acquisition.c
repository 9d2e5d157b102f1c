/* acquisition.c - computes the acquisition functions: ehvi, poi and hvpoi.
 *
 * The region that the front does not dominate is split into boxes
 * (lib/optimize/pareto/box_decomposition.c). With independent objectives, every acquisition is a
 * sum over boxes of a product over objectives of F(upper edge) - F(lower edge):
 *   poi    F(t) = P(f < t): the probability of entering the region;
 *   ehvi   F(t) = E max(0, t - f), the integral of P(f < t): the sum is the expected hypervolume
 *          improvement (Emmerich, Deutz & Klinkenberg 2011) in natural units, f being the
 *          back-transformed normal variable;
 *   hvpoi  poi times the improvement by the predicted value itself, F(t) = max(0, t - value)
 *          (Couckuyt, Deschrijver & Dhaene 2014; the paper's eq. 3). The value is the
 *          back-transformed mean, which is the median.
 * All functions return logarithms, whose slope survives where the value is tiny. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double dp__std_normal_pdf(double x)
{
	return exp(-0.5 * x * x) * 0.3989422804014327;
}

double dp__std_normal_cdf(double x)
{
	return x > 8.3 ? 1 : x < -38 ? 0 : 0.5 * erfc(-x * M_SQRT1_2);
}

/* F at each edge, and its derivatives by mean and sd. */
struct edge_row {
	double *f, *m, *s; /* (n_edges) */
};

typedef void edge_fn(const struct dp__box_edges *side, const struct dp__quadrature *q,
		     const struct dp__normal *x, struct edge_row *out);

static void edge_row_set(struct edge_row *r, size_t i, double f, double m, double s)
{
	r->f[i] = f;
	r->m[i] = m;
	r->s[i] = s;
}

/* ---- P(f < t) ---- */

static void edge_probability(const struct dp__box_edges *side, const struct dp__quadrature *q,
			     const struct dp__normal *x, struct edge_row *out)
{
	(void)q;
	for (size_t i = 0; i < side->n_edges; i++) {
		double a = (side->model_values[i] - x->mean) / x->sd, d;

		if (x->sd == 0 || isinf(a)) {
			/* an exact value on an edge belongs to the box below it */
			edge_row_set(out, i, x->mean < side->model_values[i] ? 1 : 0, 0, 0);
			continue;
		}
		d = dp__std_normal_pdf(a) / x->sd;
		edge_row_set(out, i, dp__std_normal_cdf(a), -d, -d * a);
	}
}

/* ---- max(0, t - value): the gain of the median ---- */

static void edge_gain(const struct dp__box_edges *side, const struct dp__quadrature *q,
		      const struct dp__normal *x, struct edge_row *out)
{
	double value = dp__distribution_to_min(side->distribution, x->mean);
	double slope = dp__distribution_to_min_slope(side->distribution, x->mean);

	(void)q;
	for (size_t i = 0; i < side->n_edges; i++) {
		bool in = value < side->values[i];

		edge_row_set(out, i, in ? side->values[i] - value : 0, in ? -slope : 0, 0);
	}
}

static void edge_gain_model_space(const struct dp__box_edges *side, const struct dp__quadrature *q,
				  const struct dp__normal *x, struct edge_row *out)
{
	(void)q;
	for (size_t i = 0; i < side->n_edges; i++) {
		bool in = x->mean < side->model_values[i];

		edge_row_set(out, i, in ? side->model_values[i] - x->mean : 0, in ? -1 : 0, 0);
	}
}

/* ---- E max(0, t - f) ---- */

enum {
	PANELS = DP__QUADRATURE_PANELS,
	PANEL_NODES = DP__PANEL_NODES,
	QUADRATURE_POINTS = DP__QUADRATURE_POINTS
};
static const double panel_from = -7.5, panel_width = 1;
/* Gauss-Legendre nodes and weights on -1..1 */
static const double node_at[PANEL_NODES] = { -0.932469514203152,  -0.6612093864662645,
					     -0.2386191860831969, 0.2386191860831969,
					     0.6612093864662645,  0.932469514203152 };
static const double node_weight[PANEL_NODES] = { 0.17132449237917036, 0.3607615730481386,
						 0.467913934572691,   0.467913934572691,
						 0.3607615730481386,  0.17132449237917036 };

/* Closed forms for a log-normal variable (as for a put and a call option). */
static void expected_gain_lognormal(const struct dp__box_edges *side, const struct dp__normal *x,
				    struct edge_row *out)
{
	double sign = side->distribution == DP__DIST_LOGNORMAL ? 1 : -1, s = fmin(x->sd, 12);
	double mean = exp(fmin(600, sign * x->mean + s * s / 2));

	for (size_t i = 0; i < side->n_edges; i++) {
		double a = (side->model_values[i] - x->mean) / s, b = a - sign * s;
		double c = dp__std_normal_cdf(a), e = dp__std_normal_cdf(b), f;

		if (c == 0 && e == 0) {
			edge_row_set(out, i, 0, 0, 0);
			continue;
		}
		f = side->values[i] * c - sign * mean * e;
		edge_row_set(out, i, fmax(0, f), -mean * e,
			     mean * (dp__std_normal_pdf(b) - sign * s * e));
	}
}

/* Integrals up to some x of s(z) phi(x), s'(z) phi(x), x s'(z) phi(x); z = m + sd x, s is
 * logistic. */
struct logistic_integrals {
	double a, b, c;
};

static void logistic_integrals_add(struct logistic_integrals *o, double x, double w, double e)
{
	double v = 1 / (1 + e), d = e * v * v;

	o->a += w * v;
	o->b += w * d;
	o->c += w * x * d;
}

/* For a small sd: the logistic function as its Taylor polynomial of order 4, times incomplete
 * moments of the normal distribution. */
static struct logistic_integrals logistic_series(const struct dp__normal *x, double a)
{
	double v = dp__distribution_to_min(DP__DIST_LOGITNORMAL, x->mean), d1 = v * (1 - v),
	       r = 1 - 2 * v;
	double d2 = d1 * r, d3 = d1 * (1 - 6 * d1), d4 = d1 * r * (1 - 12 * d1);
	double P = dp__std_normal_cdf(a), p = isinf(a) ? 0 : dp__std_normal_pdf(a), s = x->sd;
	double q = p == 0 ? 0 : a * p; /* the limit of a p(a) is 0 */
	double m1 = -p, m2 = P - q, m3 = -2 * p - a * q, m4;
	struct logistic_integrals o;

	if (p == 0)
		m3 = 0;
	m4 = 3 * P - 3 * q - (p == 0 ? 0 : a * a * q);
	o.a = v * P + s * (d1 * m1 + s * (d2 / 2 * m2 + s * (d3 / 6 * m3 + s * d4 / 24 * m4)));
	o.b = d1 * P + s * (d2 * m1 + s * (d3 / 2 * m2 + s * d4 / 6 * m3));
	o.c = d1 * m1 + s * (d2 * m2 + s * (d3 / 2 * m3 + s * d4 / 6 * m4));
	return o;
}

static void logistic_panels(const struct dp__quadrature *q, const struct dp__normal *x,
			    struct logistic_integrals total[PANELS + 1])
{
	double e[QUADRATURE_POINTS];

	for (size_t i = 0; i < QUADRATURE_POINTS; i++)
		e[i] = fmin(700, -(x->mean + x->sd * q->x[i]));
	dp_vec_exp(e, e, QUADRATURE_POINTS);
	memset(total, 0, sizeof total[0]);
	for (size_t k = 0; k < PANELS; k++) {
		total[k + 1] = total[k];
		for (size_t i = k * PANEL_NODES; i < (k + 1) * PANEL_NODES; i++)
			logistic_integrals_add(&total[k + 1], q->x[i], q->w[i], e[i]);
	}
}

/* Sums whole panels, and applies Gauss-Legendre to the rest of the last one. */
static struct logistic_integrals logistic_upto(const struct dp__normal *x, double a,
					       const struct logistic_integrals total[PANELS + 1])
{
	double at = (a - panel_from) / panel_width, from, half;
	struct logistic_integrals o;
	size_t k;

	if (at >= PANELS)
		return total[PANELS];
	if (!(at > 0))
		return total[0];
	k = (size_t)at;
	from = panel_from + (double)k * panel_width;
	half = (a - from) / 2;
	o = total[k];
	for (size_t i = 0; i < PANEL_NODES; i++) {
		double v = from + half * (1 + node_at[i]);

		logistic_integrals_add(&o, v, node_weight[i] * half * dp__std_normal_pdf(v),
				       exp(fmin(700, -(x->mean + x->sd * v))));
	}
	return o;
}

static void expected_gain_logitnormal(const struct dp__box_edges *side,
				      const struct dp__quadrature *q, const struct dp__normal *x,
				      struct edge_row *out)
{
	double shift = side->distribution == DP__DIST_LOGITNORMAL_MAX ? -1 : 0;
	struct logistic_integrals total[PANELS + 1];
	bool series = x->sd < 0.03;

	if (!series)
		logistic_panels(q, x, total);
	for (size_t i = 0; i < side->n_edges; i++) {
		double a = (side->model_values[i] - x->mean) / x->sd, t = side->values[i] - shift;
		struct logistic_integrals o;

		if (a < panel_from) {
			edge_row_set(out, i, 0, 0, 0);
			continue;
		}
		o = series ? logistic_series(x, a) : logistic_upto(x, a, total);
		edge_row_set(out, i, fmax(0, t * dp__std_normal_cdf(a) - o.a), -o.b, -o.c);
	}
}

static void edge_expected_gain(const struct dp__box_edges *side, const struct dp__quadrature *q,
			       const struct dp__normal *x, struct edge_row *out)
{
	if (x->sd == 0)
		edge_gain(side, q, x, out);
	else if (side->distribution == DP__DIST_NORMAL)
		for (size_t i = 0; i < side->n_edges; i++) {
			double a = (side->values[i] - x->mean) / x->sd, c = dp__std_normal_cdf(a),
			       d = dp__std_normal_pdf(a);

			edge_row_set(out, i, fmax(0, x->sd * (a * c + d)), -c, d);
		}
	else if (side->distribution == DP__DIST_LOGNORMAL ||
		 side->distribution == DP__DIST_LOGNORMAL_MAX)
		expected_gain_lognormal(side, x, out);
	else
		expected_gain_logitnormal(side, q, x, out);
}

/* ---- the sum over boxes ---- */

static double box_edge_difference(const double *v, int lower, int upper)
{
	return v[upper] - (lower < 0 ? 0 : v[lower]);
}

/* Sum over boxes; grad (2 p) becomes its derivatives by means, then sds. */
static double partitioning_sum_boxes(struct dp__box_partitioning *t, const struct dp__normal *x,
				     edge_fn *side, double *grad)
{
	struct edge_row row[DP_OBJECTIVES_MAX];
	double sum = 0;
	size_t p = t->n_objectives;

	for (size_t j = 0; j < p; j++) {
		double *at = t->work + 3 * j * t->max_edges;

		row[j] = (struct edge_row){ at, at + t->max_edges, at + 2 * t->max_edges };
		side(&t->edges[j], &t->quadrature, &x[j], &row[j]);
	}
	if (grad)
		memset(grad, 0, 2 * p * sizeof *grad);
	for (size_t c = 0; c < t->n_boxes; c++) {
		const int *lo = t->lower + c * p, *hi = t->upper + c * p;
		double v[DP_OBJECTIVES_MAX], product = 1;

		for (size_t j = 0; j < p && product > 0; j++)
			product *= v[j] = box_edge_difference(row[j].f, lo[j], hi[j]);
		if (!(product > 0))
			continue;
		sum += product;
		for (size_t j = 0; grad && j < p; j++) {
			double others = product / v[j];

			grad[j] += others * box_edge_difference(row[j].m, lo[j], hi[j]);
			grad[p + j] += others * box_edge_difference(row[j].s, lo[j], hi[j]);
		}
	}
	return sum;
}

/* The logarithm of that sum, with its derivatives. */
static double log_sum_boxes(struct dp__box_partitioning *t, const struct dp__normal *x,
			    edge_fn *side, double *grad)
{
	double sum = partitioning_sum_boxes(t, x, side, grad);

	if (!(sum > 0) || isinf(sum))
		return -INFINITY;
	for (size_t j = 0; grad && j < 2 * t->n_objectives; j++)
		grad[j] /= sum;
	return log(sum);
}

static double acquisition_ehvi(struct dp__box_partitioning *t, const struct dp__normal *f,
			       double *grad)
{
	return log_sum_boxes(t, f, edge_expected_gain, grad);
}

static double acquisition_poi(struct dp__box_partitioning *t, const struct dp__normal *f,
			      double *grad)
{
	return log_sum_boxes(t, f, edge_probability, grad);
}

static double acquisition_hvpoi(struct dp__box_partitioning *t, const struct dp__normal *f,
				double *grad)
{
	double more[2 * DP_OBJECTIVES_MAX];
	edge_fn *gain = t->gain_in_model_space ? edge_gain_model_space : edge_gain;
	double a = log_sum_boxes(t, f, gain, grad), b;

	if (isinf(a))
		return a;
	b = log_sum_boxes(t, f, edge_probability, grad ? more : NULL);
	for (size_t j = 0; grad && j < 2 * t->n_objectives; j++)
		grad[j] += more[j];
	return a + b;
}

static const struct dp__acquisition acquisitions[] = {
	[DP_ACQUISITION_DEFAULT] = { "ehvi", true, acquisition_ehvi },
	[DP_ACQUISITION_HVPOI] = { "hvpoi", false, acquisition_hvpoi },
	[DP_ACQUISITION_EHVI] = { "ehvi", true, acquisition_ehvi },
	[DP_ACQUISITION_POI] = { "poi", false, acquisition_poi },
	[DP_ACQUISITION_RANDOM] = { "random", false, NULL },
};

const struct dp__acquisition *dp__acquisition_get(const struct dp_study *study)
{
	return &acquisitions[study->search.acquisition];
}

/* ---- the region: boxes as indexes of their edges ---- */

static int compare_edge_values(const void *a, const void *b)
{
	double u = *(const double *)a, v = *(const double *)b;

	return u < v ? -1 : u > v;
}

static int find_edge_index(const struct dp__box_edges *s, double t)
{
	size_t lo = 0, hi = s->n_edges;

	if (isinf(t) && t < 0)
		return -1;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->values[mid] <= t)
			lo = mid;
		else
			hi = mid;
	}
	return (int)lo;
}

static void box_edges_init(struct dp__box_edges *s, enum dp__distribution shape,
			   const struct dp_box_decomposition *c, size_t j)
{
	size_t n = 0;

	s->distribution = shape;
	s->values = dp_malloc(2 * c->count * sizeof *s->values);
	s->model_values = dp_malloc(2 * c->count * sizeof *s->model_values);
	for (size_t i = 0; i < c->count; i++) {
		double lower = c->lower[i * c->p + j];

		if (!isinf(lower))
			s->values[n++] = lower;
		s->values[n++] = c->upper[i * c->p + j];
	}
	qsort(s->values, n, sizeof *s->values, compare_edge_values);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || s->values[i] != s->values[i - 1])
			s->values[s->n_edges++] = s->values[i];
	for (size_t i = 0; i < s->n_edges; i++)
		s->model_values[i] = dp__distribution_from_min(shape, s->values[i]);
}

enum {
	BOXES_MAX = 20000
};

void dp__box_partitioning_init(struct dp__box_partitioning *t, size_t p,
			       const enum dp__distribution *shapes, const double *y, size_t n,
			       const double *ref, bool gain_model)
{
	double *some = dp_malloc((n ? n : 1) * p * sizeof *some);
	struct dp_box_decomposition c;
	int code = DP_E_LIMIT;

	/* with too many boxes, thin the front until they fit; the region grows a little */
	for (size_t step = 1; code == DP_E_LIMIT; step *= 2) {
		size_t m = 0;

		for (size_t i = 0; i < n; i += step)
			memcpy(some + p * m++, y + i * p, p * sizeof *y);
		code = dp_box_decompose(some, m, p, ref, BOXES_MAX, &c);
	}
	free(some);
	memset(t, 0, sizeof *t);
	t->n_objectives = p;
	t->gain_in_model_space = gain_model;
	t->n_boxes = c.count;
	for (size_t i = 0; i < QUADRATURE_POINTS; i++) {
		double mid = panel_from + ((double)(i / PANEL_NODES) + 0.5) * panel_width;
		double at = mid + node_at[i % PANEL_NODES] * panel_width / 2;

		t->quadrature.x[i] = at;
		t->quadrature.w[i] =
			node_weight[i % PANEL_NODES] * panel_width / 2 * dp__std_normal_pdf(at);
	}
	t->lower = dp_malloc(c.count * p * sizeof *t->lower);
	t->upper = dp_malloc(c.count * p * sizeof *t->upper);
	for (size_t j = 0; j < p; j++) {
		box_edges_init(&t->edges[j], shapes[j], &c, j);
		t->max_edges =
			t->edges[j].n_edges > t->max_edges ? t->edges[j].n_edges : t->max_edges;
	}
	for (size_t i = 0; i < c.count * p; i++) {
		t->lower[i] = find_edge_index(&t->edges[i % p], c.lower[i]);
		t->upper[i] = find_edge_index(&t->edges[i % p], c.upper[i]);
	}
	dp_box_decomposition_free(&c);
	t->work = dp_vec_new(3 * p * t->max_edges);
}

void dp__box_partitioning_free(struct dp__box_partitioning *t)
{
	for (size_t j = 0; j < t->n_objectives; j++) {
		free(t->edges[j].values);
		free(t->edges[j].model_values);
	}
	free(t->lower);
	free(t->upper);
	free(t->work);
	memset(t, 0, sizeof *t);
}
