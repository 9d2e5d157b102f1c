/* level_query.c - scores a point for a recommendation query. */
#include "optimize/recommend/recommend_internal.h"
#include "study/calibrated_params.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dp__scored_point_is_better(const struct dp__scored_point *a, const struct dp__scored_point *b)
{
	if (a->violation != b->violation)
		return a->violation < b->violation;
	if (a->reaches_level != b->reaches_level)
		return a->reaches_level;
	return a->score < b->score;
}

int dp__compare_result_distance(const void *a, const void *b)
{
	const struct dp__result_distance *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->result < y->result ? -1 : 1;
}

bool dp__query_uses_accountant(const struct dp__query *q, size_t o)
{
	const struct dp_proposer *p = q->p;

	if (p->output[o].is_exact && !p->output[o].is_costly)
		return true;
	/* also with privacy_model: gp, because a recommendation reports the exact value */
	return dp_output_is_computed(p->study, o) &&
	       (q->use_exact ||
		dp_objective_accounting_cost(p->study, o) != DP_PRIVACY_COST_EXPENSIVE);
}

static double accountant_value_at(const struct dp__query *q, size_t o, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 }, z;

	dp__encoding_decode(&q->p->encoding, u, x);
	z = dp__exact_objective_value(q->p, o, x);
	return isnan(z) ? INFINITY : z;
}

double dp__query_output_value(const struct dp__query *q, size_t o, const double *u)
{
	return dp__query_uses_accountant(q, o) ? accountant_value_at(q, o, u)
					       : dp__predict_mean(q->p, o, u);
}

/* Cost of one aim. Several aims are combined as minus the logarithm of the hypervolume between the
 * point and the reference point, continued linearly where the point is beyond it. */
static double aim_cost(const struct dp__query *q, size_t i, double z, double *slope)
{
	const struct dp_objective *o = &q->p->study->objectives[q->aims[i]];
	enum dp__distribution shape;
	double gap, least = q->aim_tolerance[i];

	*slope = 1;
	if (q->n_aims == 1)
		return z;
	shape = dp__objective_distribution(o);
	gap = dp__objective_to_min(o, o->anti_ideal) - dp__distribution_to_min(shape, z);
	*slope = dp__distribution_to_min_slope(shape, z) / fmax(gap, least);
	return gap > least ? -log(gap) : (least - gap) / least - log(least);
}

/* 0 for the surrogate of an accountant: the accountant decides in the end. */
static double get_sd_penalty(const struct dp__query *q, size_t o)
{
	return dp_output_is_computed(q->p->study, o) ? 0 : q->sd_penalty;
}

static double penalised_value(const struct dp__query *q, size_t o, const struct dp__normal *f)
{
	return f->mean + get_sd_penalty(q, o) * f->sd;
}

static void score_point(const struct dp__query *q, const struct dp__normal *f,
			struct dp__scored_point *s)
{
	double slope;

	s->score = s->violation = 0;
	for (size_t i = 0; i < q->n_aims; i++)
		s->score += aim_cost(q, i, penalised_value(q, q->aims[i], &f[q->aims[i]]), &slope);
	for (size_t i = 0; i < q->n_limits; i++) {
		const struct dp__limit *l = &q->limits[i];
		double scale = q->p->output[l->output].scale;

		s->violation += fmax(0, penalised_value(q, l->output, &f[l->output]) - l->max) /
				(scale > 0 ? scale : 1);
	}
	s->reaches_level =
		!q->can_calibrate || f[q->held_output].mean >= q->held_max - q->reach_tolerance;
	if (!isfinite(s->score) || isnan(s->violation))
		s->violation = INFINITY; /* the accountant rejects the point */
}

void dp__query_score_points(struct dp__query *q, const double *u, size_t ldu, size_t m,
			    struct dp__scored_point *out)
{
	struct dp_proposer *p = q->p;
	size_t count = p->n_outputs;
	struct dp__normal *f = dp_calloc(m * count + 1, sizeof *f);

	dp__predict_outputs(p, u, ldu, m, true, q->use_exact, f, NULL);
	for (size_t i = 0; i < m; i++) {
		dp__encoding_get_column(&p->encoding, u + i, ldu, out[i].u);
		for (size_t o = 0; o < count; o++) {
			struct dp__normal *one = &f[i * count + o];

			if (dp__query_uses_accountant(q, o) && !p->output[o].is_exact)
				*one = (struct dp__normal){ accountant_value_at(q, o, out[i].u),
							    0 };
			if (isnan(one->mean))
				one->mean = INFINITY;
		}
		score_point(q, f + i * count, &out[i]);
	}
	q->n_evaluated += m;
	free(f);
}

/* Penalised value of an output at u, with its gradient. */
static double penalised_gradient(struct dp__query *q, size_t o, const double *u, double *by)
{
	size_t d = q->p->spec.d;
	double ds[DP_PARAMS_MAX];
	struct dp__normal f;

	if (dp__query_uses_accountant(q, o))
		return dp__point_fn_gradient(q->p, dp__exact_objective_value, o, u, by);
	f = dp__output_predict_gradient(q->p, o, u, by, ds);
	for (size_t k = 0; k < d; k++)
		by[k] += get_sd_penalty(q, o) * ds[k];
	return penalised_value(q, o, &f);
}

double dp__query_gradient(struct dp__query *q, const double *u, double *by_u, double *beyond,
			  double *beyond_by_u)
{
	size_t d = q->p->spec.d;
	double by[DP_PARAMS_MAX], score = 0, slope;

	memset(by_u, 0, d * sizeof *by_u);
	for (size_t i = 0; i < q->n_aims; i++) {
		score += aim_cost(q, i, penalised_gradient(q, q->aims[i], u, by), &slope);
		for (size_t k = 0; k < d; k++)
			by_u[k] += slope * by[k];
	}
	for (size_t i = 0; i < q->n_limits; i++) {
		const struct dp__limit *l = &q->limits[i];

		beyond[i] = penalised_gradient(q, l->output, u, beyond_by_u + i * d) - l->max;
	}
	q->n_evaluated++;
	return score;
}
