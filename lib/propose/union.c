/* union.c - what a whole training is worth: the expected gain of all points of its path
 * together.
 *
 * The points of a path dominate much of the same, so that their gains cannot be added.
 * Along a path epsilon rises, and the error falls or falls and then rises: what a point
 * of the region is dominated by is then one stretch of the path. The number of points of
 * a stretch less the number of its neighbouring pairs is 1, so
 *   |union of all A_k| = sum |A_k| - sum |A_k and A_(k + 1)|,
 * A_k being what the k-th point dominates. What two points both dominate is what the
 * worse of both in each objective dominates. Of an exact objective that is the larger
 * value, of a modelled one the larger of two correlated normal variables, which is taken
 * for a normal variable with its mean and variance (Clark 1961). So each term is an
 * acquisition as that of one point, with its slopes; it works with any of them and any
 * number of objectives. A pair's overlap never counts for more than its second point, and
 * a union is never less than the path up to there is worth. The sums up to each point are
 * what a training that stops there is worth: all stops for the price of one.
 *
 * Approximations beside Clark's: where a sampled path would wind, a region that it enters
 * twice counts twice; where noise takes away from an sd (dp__learnable()) the correlation
 * stays; of constraints, both points of a pair hold theirs as probably as the less likely
 * one; of hvpoi the product is treated like a volume. */
#include "linalg/linalg.h"
#include "propose/propose_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	OUTPUTS = DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX,
	STEPS = DP_WAYPOINTS_MAX + 1, /* points of a path, its end included */
	COLUMNS = 256                 /* in one prediction */
};

bool dp__walks(const struct dp_proposer *p)
{
	return p->inputs.nwaypoints > 0;
}

/* ---- the larger of two ---- */

struct dp__worse dp__worse(const struct dp__normal *a, const struct dp__normal *b, double rho)
{
	double apart = a->m - b->m;
	double square = a->s * a->s + b->s * b->s - 2 * rho * a->s * b->s;
	double t = sqrt(fmax(square, 0)), at, c, d, mean, second, variance;
	struct dp__worse w = { 0 };

	if (!(t > 1e-7 * (a->s + b->s)) || fabs(apart) > 30 * t) {
		bool first = apart > 0 || (apart == 0 && a->s >= b->s);

		w.f = first ? *a : *b;
		w.m_by[first ? 0 : 1] = w.s_by[first ? 2 : 3] = 1;
		return w;
	}
	/* moments around the second's mean */
	at = apart / t;
	c = dp__Phi(at);
	d = dp__phi(at);
	mean = apart * c + t * d;
	second = (apart * apart + a->s * a->s) * c + b->s * b->s * (1 - c) + apart * t * d;
	variance = fmax(second - mean * mean, 1e-12 * (a->s * a->s + b->s * b->s));
	w.f = (struct dp__normal){ b->m + mean, sqrt(variance) };
	w.m_by[0] = c;
	w.m_by[1] = 1 - c;
	for (int i = 2; i < 5; i++) { /* by the sds and rho, of which t is made */
		double dt = i == 2   ? (a->s - rho * b->s) / t
			    : i == 3 ? (b->s - rho * a->s) / t
				     : -a->s * b->s / t;
		double own = i == 2 ? 2 * a->s * c : i == 3 ? 2 * b->s * (1 - c) : 0;

		w.m_by[i] = d * dt;
		w.s_by[i] = own + dt * d * (apart - at / t * (a->s * a->s - b->s * b->s)) -
			    2 * mean * w.m_by[i];
	}
	for (int i = 0; i < 2; i++) { /* by the means: only their difference counts */
		double sign = i == 0 ? 1 : -1;
		double by = 2 * apart * c + t * d + (a->s * a->s - b->s * b->s) * d / t;

		w.s_by[i] = sign * (by - 2 * mean * c);
	}
	for (int i = 0; i < 5; i++)
		w.s_by[i] /= 2 * w.f.s;
	return w;
}

/* ---- the terms ---- */

/* Derivatives of the log of a term by mean and sd of each output of its first and second
 * point, and by their covariance. */
struct term_by {
	double m[2][OUTPUTS], s[2][OUTPUTS], c[OUTPUTS];
};

static bool union_finite(const struct dp_proposer *p, const struct dp__normal *f)
{
	for (size_t o = 0; o < p->noutputs; o++)
		if (!isfinite(f[o].m) || !isfinite(f[o].s))
			return false;
	return true;
}

/* Log of what one point is worth. */
static double union_point(struct dp_proposer *p, const struct dp__normal *f, struct term_by *by)
{
	size_t np = p->study->nobjectives;
	struct dp__normal gain[DP_OBJECTIVES_MAX];
	struct dp__learnable left[DP_OBJECTIVES_MAX];
	double slope[2 * DP_OBJECTIVES_MAX], value;

	if (!union_finite(p, f))
		return -INFINITY;
	for (size_t o = 0; o < np; o++) {
		left[o] = dp__learnable(p, o, &f[o]);
		gain[o] = (struct dp__normal){ f[o].m, left[o].s };
	}
	value = dp__acquisition(p->study)->value(&p->target, gain, by ? slope : NULL);
	value += dp__log_feasible(p, f, by ? by->m[0] : NULL, by ? by->s[0] : NULL);
	for (size_t o = 0; by && o < np; o++) {
		by->m[0][o] = slope[o] + slope[np + o] * left[o].by_m;
		by->s[0][o] = slope[np + o] * left[o].by_s;
	}
	return isnan(value) ? -INFINITY : value;
}

/* One objective of a pair: the worse of both, and how it depends on them. */
struct pair_side {
	struct dp__learnable left[2];
	struct dp__worse worse;
	double rho;
	bool certain; /* the correlation has no slope */
};

static void pair_side_make(const struct dp_proposer *p, size_t o, const struct dp__normal *a,
			   const struct dp__normal *b, double covariance, struct pair_side *side)
{
	struct dp__normal one, two;

	side->left[0] = dp__learnable(p, o, a);
	side->left[1] = dp__learnable(p, o, b);
	one = (struct dp__normal){ a->m, side->left[0].s };
	two = (struct dp__normal){ b->m, side->left[1].s };
	side->certain = !(a->s > 0 && b->s > 0);
	side->rho = side->certain ? 0 : covariance / (a->s * b->s);
	if (!(fabs(side->rho) <= 1)) {
		side->rho = side->rho < 0 ? -1 : 1;
		side->certain = true;
	}
	side->worse = dp__worse(&one, &two, side->rho);
}

static void pair_side_by(const struct pair_side *side, size_t o, const struct dp__normal *a,
			 const struct dp__normal *b, double by_m, double by_s, struct term_by *by)
{
	const struct dp__worse *w = &side->worse;
	double by_rho = by_m * w->m_by[4] + by_s * w->s_by[4];

	by->c[o] = 0;
	for (int i = 0; i < 2; i++) {
		const struct dp__normal *f = i == 0 ? a : b;
		double sd = by_m * w->m_by[2 + i] + by_s * w->s_by[2 + i];

		by->m[i][o] = by_m * w->m_by[i] + by_s * w->s_by[i] + sd * side->left[i].by_m;
		by->s[i][o] = sd * side->left[i].by_s;
		if (!side->certain)
			by->s[i][o] -= by_rho * side->rho / f->s;
	}
	if (!side->certain)
		by->c[o] = by_rho / (a->s * b->s);
}

/* Log of what two points are worth both; next (noutputs): their covariances. */
static double union_pair(struct dp_proposer *p, const struct dp__normal *a,
			 const struct dp__normal *b, const double *next, struct term_by *by)
{
	size_t np = p->study->nobjectives;
	struct pair_side side[DP_OBJECTIVES_MAX];
	struct dp__normal worse[DP_OBJECTIVES_MAX];
	double slope[2 * DP_OBJECTIVES_MAX], value, first, second;
	size_t less;

	if (!union_finite(p, a) || !union_finite(p, b))
		return -INFINITY;
	for (size_t o = 0; o < np; o++) {
		pair_side_make(p, o, &a[o], &b[o], next[o], &side[o]);
		worse[o] = side[o].worse.f;
	}
	value = dp__acquisition(p->study)->value(&p->target, worse, by ? slope : NULL);
	first = dp__log_feasible(p, a, NULL, NULL);
	second = dp__log_feasible(p, b, NULL, NULL);
	less = first < second ? 0 : 1;
	if (by) {
		memset(by, 0, sizeof *by);
		(void)dp__log_feasible(p, less ? b : a, by->m[less], by->s[less]);
	}
	for (size_t o = 0; by && o < np; o++)
		pair_side_by(&side[o], o, &a[o], &b[o], slope[o], slope[np + o], by);
	value += fmin(first, second);
	return isnan(value) ? -INFINITY : value;
}

/* ---- all stops of many trainings ---- */

/* The points of a training that ends at the place `end`, a column each; how many. */
static size_t walk_columns(const struct dp_proposer *p, const double *u, size_t ldu, double end,
			   double *columns, size_t ld)
{
	const struct dp__inputs *in = &p->inputs;
	size_t n = 0;

	while (n < in->nwaypoints && in->waypoint_u[n] < end)
		n++;
	for (size_t k = 0; k < in->d; k++)
		for (size_t i = 0; i <= n; i++)
			columns[k * ld + i] = k != in->path ? u[k * ldu]
					      : i < n       ? in->waypoint_u[i]
							    : end;
	return n + 1;
}

/* Log worth of a training that stops at the k-th point of a path, for what it costs. */
static double stop_score(struct dp_proposer *p, const double *columns, size_t ld, size_t k,
			 double log_union)
{
	double u[DP_PARAMS_MAX];

	for (size_t i = 0; i < p->inputs.d; i++)
		u[i] = columns[i * ld + k];
	return isinf(log_union) ? log_union : log_union - dp__cost_log(p, u, NULL);
}

/* The best stop among n points, or (!choose) the last. */
static size_t best_stop(struct dp_proposer *p, const double *columns, size_t ld, size_t n,
			const struct dp__normal *f, const double *next, bool choose, double *score)
{
	size_t count = p->noutputs, best = n - 1;
	double scale = -INFINITY, sum = 0;

	*score = -INFINITY;
	choose &= !p->inputs.in[p->inputs.path].pinned;
	for (size_t k = 0; k < n; k++) {
		double own = union_point(p, f + k * count, NULL), both = -INFINITY, v;

		if (k > 0 && !isinf(own))
			both = union_pair(p, f + (k - 1) * count, f + k * count,
					  next + (k - 1) * count, NULL);
		if (own > scale) { /* sums are in units of the largest term */
			sum *= exp(scale - own);
			scale = own;
		}
		if (!isinf(own))
			sum += fmax(0, exp(own - scale) - exp(both - scale));
		if (k + 1 < n && !choose)
			continue;
		v = stop_score(p, columns, ld, k, sum > 0 ? scale + log(sum) : -INFINITY);
		if (v > *score) {
			*score = v;
			best = k;
		}
	}
	return best;
}

struct walk_block {
	double *u;            /* (d x COLUMNS + STEPS) */
	struct dp__normal *f; /* (columns x noutputs) */
	double *next;         /* (columns x noutputs) */
	size_t n;             /* columns so far */
};

static void walk_block_free(struct walk_block *b)
{
	free(b->u);
	free(b->f);
	free(b->next);
}

static bool walk_block_new(const struct dp_proposer *p, struct walk_block *b)
{
	size_t most = COLUMNS + STEPS;

	b->n = 0;
	b->u = dp_vec_new(p->inputs.d * most);
	b->f = calloc(most * p->noutputs, sizeof *b->f);
	b->next = dp_vec_new(most * p->noutputs);
	return b->u && b->f && b->next;
}

/* One block of trainings, from `from` on; *from gets the first that is left. */
static int walk_eval_block(struct dp_proposer *p, double *u, size_t ldu, size_t m, bool exactly,
			   bool choose, struct walk_block *b, size_t *from, double *score,
			   struct dp__normal *f)
{
	size_t ld = COLUMNS + STEPS, path = p->inputs.path, np = p->study->nobjectives;
	size_t size[COLUMNS], first = *from;
	int code;

	b->n = 0;
	for (; *from < m && b->n < COLUMNS; ++*from) {
		double end = choose ? 1 : u[path * ldu + *from];

		size[*from - first] = walk_columns(p, u + *from, ldu, end, b->u + b->n, ld);
		b->n += size[*from - first];
	}
	code = dp__model_predict(p, b->u, ld, b->n, true, exactly, b->f, b->next);
	b->n = 0;
	for (size_t i = first; i < *from && code == DP_OK; i++) {
		size_t stop =
			best_stop(p, b->u + b->n, ld, size[i - first], b->f + b->n * p->noutputs,
				  b->next + b->n * p->noutputs, choose, &score[i]);

		if (choose)
			u[path * ldu + i] = b->u[path * ld + b->n + stop];
		if (f)
			memcpy(f + i * np, b->f + (b->n + stop) * p->noutputs, np * sizeof *f);
		b->n += size[i - first];
	}
	return code;
}

int dp__union_eval(struct dp_proposer *p, double *u, size_t ldu, size_t m, bool exactly,
		   bool choose, double *score, struct dp__normal *f)
{
	struct walk_block b;
	int code = walk_block_new(p, &b) ? DP_OK : DP_E_NOMEM;

	for (size_t from = 0; from < m && code == DP_OK;)
		code = walk_eval_block(p, u, ldu, m, exactly, choose, &b, &from, score, f);
	walk_block_free(&b);
	return code;
}

/* ---- one training, with slopes ---- */

/* Parts of p->walk, for n points of a path. */
struct walk_slopes {
	size_t n;
	double *u; /* (d x STEPS) */
	struct dp_gp_row row[OUTPUTS];
	double *by_m, *by_s, *by_c; /* (n x noutputs) of the union's log */
	double *work;
};

static size_t walk_room(const struct dp_proposer *p)
{
	size_t steps = p->inputs.nwaypoints + 1, d = p->inputs.d, gp = 0;

	for (size_t o = 0; o < p->noutputs; o++) {
		size_t room = dp_gp_row_room(&p->output[o].gp, steps);

		gp = room > gp ? room : gp;
	}
	return steps * d + p->noutputs * 3 * steps * (d + 2) + gp;
}

int dp__union_room(struct dp_proposer *p)
{
	size_t need = dp__walks(p) ? walk_room(p) : 0;

	if (need <= p->walk_room)
		return DP_OK;
	free(p->walk);
	p->walk = dp_vec_new(need);
	p->walk_room = p->walk ? need : 0;
	return p->walk ? DP_OK : DP_E_NOMEM;
}

static double *take(double **from, size_t n)
{
	double *at = *from;

	*from += n;
	return at;
}

static void walk_slopes_of(struct dp_proposer *p, struct walk_slopes *w)
{
	size_t steps = p->inputs.nwaypoints + 1, d = p->inputs.d;
	double *at = p->walk;

	w->u = take(&at, steps * d);
	for (size_t o = 0; o < p->noutputs; o++) {
		struct dp_gp_row *r = &w->row[o];

		r->mean = take(&at, steps);
		r->var = take(&at, steps);
		r->next = take(&at, steps);
		r->dmean = take(&at, steps * d);
		r->dvar = take(&at, steps * d);
		r->dnext = take(&at, steps * d);
	}
	w->by_m = take(&at, steps * p->noutputs);
	w->by_s = take(&at, steps * p->noutputs);
	w->by_c = take(&at, steps * p->noutputs);
	w->work = at;
}

/* An exact objective at the points of a path, as a row without variance. */
static void exact_row(const struct dp_proposer *p, size_t o, const struct walk_slopes *w,
		      const struct dp_gp_row *r)
{
	size_t d = p->inputs.d, steps = p->inputs.nwaypoints + 1;

	memset(r->var, 0, w->n * sizeof *r->var);
	memset(r->next, 0, w->n * sizeof *r->next);
	memset(r->dvar, 0, w->n * d * sizeof *r->dvar);
	memset(r->dnext, 0, w->n * d * sizeof *r->dnext);
	for (size_t i = 0; i < w->n; i++) {
		double u[DP_PARAMS_MAX];

		for (size_t k = 0; k < d; k++)
			u[k] = w->u[k * steps + i];
		r->mean[i] = dp__oracle_slope(p, o, u, r->dmean + i * d);
		if (i + 1 < w->n) /* waypoints stay where they are */
			r->dmean[i * d + p->inputs.path] = 0;
	}
}

/* Predictions along the path in model space, f (n x noutputs), next likewise. */
static void walk_predict(struct dp_proposer *p, struct walk_slopes *w, struct dp__normal *f,
			 double *next)
{
	size_t count = p->noutputs, steps = p->inputs.nwaypoints + 1;

	for (size_t o = 0; o < count; o++) {
		const struct dp__output *out = &p->output[o];
		const struct dp_gp_row *r = &w->row[o];

		if (!dp__is_modelled(out)) {
			exact_row(p, o, w, r);
			for (size_t i = 0; i < w->n; i++) {
				f[i * count + o] = (struct dp__normal){ r->mean[i], 0 };
				next[i * count + o] = 0;
			}
			continue;
		}
		dp_gp_row_slope(&out->gp, w->u, steps, w->n, p->inputs.path, r, w->work);
		for (size_t i = 0; i < w->n; i++) {
			f[i * count + o].m = out->shift + out->scale * r->mean[i];
			f[i * count + o].s = out->scale * sqrt(r->var[i]);
			next[i * count + o] = out->scale * out->scale * r->next[i];
		}
	}
}

/* Adds `weight` times the slopes of a term to those of points i and i + 1. */
static void add_term(const struct dp_proposer *p, struct walk_slopes *w, size_t i, bool pair,
		     double weight, const struct term_by *by)
{
	size_t count = p->noutputs;

	for (size_t o = 0; o < count; o++) {
		w->by_m[i * count + o] += weight * by->m[0][o];
		w->by_s[i * count + o] += weight * by->s[0][o];
		if (!pair)
			continue;
		w->by_m[(i + 1) * count + o] += weight * by->m[1][o];
		w->by_s[(i + 1) * count + o] += weight * by->s[1][o];
		w->by_c[i * count + o] += weight * by->c[o];
	}
}

/* Log of the union and its slopes by what was predicted. */
static double walk_union(struct dp_proposer *p, struct walk_slopes *w, const struct dp__normal *f,
			 const double *next)
{
	size_t count = p->noutputs;
	double own[STEPS], scale = -INFINITY, sum = 0;
	struct term_by by = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		own[i] = union_point(p, f + i * count, NULL);
		scale = fmax(scale, own[i]);
	}
	if (isinf(scale))
		return -INFINITY;
	for (size_t i = 0; i < w->n; i++) {
		double both = -INFINITY;

		if (isinf(own[i]))
			continue;
		if (i > 0)
			both = union_pair(p, f + (i - 1) * count, f + i * count,
					  next + (i - 1) * count, &by);
		if (both >= own[i])
			continue;
		if (!isinf(both))
			add_term(p, w, i - 1, true, -exp(both - scale), &by);
		(void)union_point(p, f + i * count, &by);
		add_term(p, w, i, false, exp(own[i] - scale), &by);
		sum += exp(own[i] - scale) - exp(both - scale);
	}
	for (size_t i = 0; i < w->n * count; i++) {
		w->by_m[i] /= sum;
		w->by_s[i] /= sum;
		w->by_c[i] /= sum;
	}
	return scale + log(sum);
}

/* From slopes by what was predicted to slopes by u. */
static void walk_chain(const struct dp_proposer *p, const struct walk_slopes *w, double *gradient)
{
	size_t d = p->inputs.d, count = p->noutputs;

	for (size_t o = 0; o < count; o++) {
		bool modelled = dp__is_modelled(&p->output[o]);
		double scale = modelled ? p->output[o].scale : 1;
		const struct dp_gp_row *r = &w->row[o];

		for (size_t i = 0; i < w->n; i++) {
			double m = scale * w->by_m[i * count + o], s = 0, c = 0;

			if (modelled) {
				s = scale * w->by_s[i * count + o] / (2 * sqrt(r->var[i]));
				c = scale * scale * w->by_c[i * count + o];
			}
			for (size_t k = 0; k < d; k++)
				gradient[k] += m * r->dmean[i * d + k] + s * r->dvar[i * d + k] +
					       c * r->dnext[i * d + k];
		}
	}
}

double dp__union_slope(struct dp_proposer *p, const double *u, double *gradient)
{
	struct dp__normal f[STEPS * OUTPUTS];
	double next[STEPS * OUTPUTS], value;
	size_t steps = p->inputs.nwaypoints + 1;
	struct walk_slopes w;

	walk_slopes_of(p, &w);
	w.n = walk_columns(p, u, 1, u[p->inputs.path], w.u, steps);
	memset(w.by_m, 0, 3 * steps * p->noutputs * sizeof *w.by_m);
	memset(gradient, 0, p->inputs.d * sizeof *gradient);
	walk_predict(p, &w, f, next);
	value = walk_union(p, &w, f, next);
	if (!isfinite(value))
		return -INFINITY;
	walk_chain(p, &w, gradient);
	return value - dp__cost_log(p, u, gradient);
}
