/* question.c - what a point is worth to who asks for a recommendation. */
#include "propose/recommend_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dp__stands_before(const struct dp__standing *a, const struct dp__standing *b)
{
	if (a->beyond != b->beyond)
		return a->beyond < b->beyond;
	if (a->reached != b->reached)
		return a->reached;
	return a->score < b->score;
}

int dp__compare_away(const void *a, const void *b)
{
	const struct dp__away *x = a, *y = b;

	if (x->away != y->away)
		return x->away < y->away ? -1 : 1;
	return x->result < y->result ? -1 : 1;
}

bool dp__asks_oracle(const struct dp__question *q, size_t o)
{
	const struct dp_proposer *p = q->p;

	if (p->output[o].exact && !p->output[o].costly)
		return true;
	/* also where the file has privacy_model: gp: what a person is told is exact */
	return dp_output_is_computed(p->study, o) &&
	       (q->exactly || dp_objective_cost(p->study, o) != DP_PRIVACY_COSTLY);
}

static double oracle_at(const struct dp__question *q, size_t o, const double *u)
{
	double x[DP_PARAMS_MAX] = { 0 }, z;

	dp__to_x(&q->p->inputs, u, x);
	z = dp__oracle_value(q->p, o, x);
	return isnan(z) ? INFINITY : z;
}

double dp__question_value(const struct dp__question *q, size_t o, const double *u)
{
	return dp__asks_oracle(q, o) ? oracle_at(q, o, u) : dp__model_mean(q->p, o, u);
}

/* Several aims are one by the hypervolume between the point and the anti-ideal: less its
 * logarithm, which goes on as a line where the point is outside. */
static double aim_cost(const struct dp__question *q, size_t i, double z, double *slope)
{
	const struct dp_objective *o = &q->p->study->objectives[q->aim[i]];
	enum dp__shape shape;
	double gap, least = q->gap[i];

	*slope = 1;
	if (q->naims == 1)
		return z;
	shape = dp__shape_of(o);
	gap = dp__natural_min(o, o->anti_ideal) - dp__shape_value(shape, z);
	*slope = dp__shape_slope(shape, z) / fmax(gap, least);
	return gap > least ? -log(gap) : (least - gap) / least - log(least);
}

/* A model that stands in for an oracle is not doubted: the oracle decides in the end. */
static double doubt_of(const struct dp__question *q, size_t o)
{
	return dp_output_is_computed(q->p->study, o) ? 0 : q->doubt;
}

/* What counts of the prediction of an output. */
static double counted(const struct dp__question *q, size_t o, const struct dp__normal *f)
{
	return f->m + doubt_of(q, o) * f->s;
}

static double output_scale(const struct dp__question *q, size_t o)
{
	return q->p->output[o].scale > 0 ? q->p->output[o].scale : 1;
}

static void stand(const struct dp__question *q, const struct dp__normal *f, struct dp__standing *s)
{
	double slope;

	s->score = s->beyond = 0;
	for (size_t i = 0; i < q->naims; i++)
		s->score += aim_cost(q, i, counted(q, q->aim[i], &f[q->aim[i]]), &slope);
	for (size_t i = 0; i < q->nlimits; i++) {
		const struct dp__limit *l = &q->limit[i];

		s->beyond += fmax(0, counted(q, l->output, &f[l->output]) - l->most) /
			     output_scale(q, l->output);
	}
	s->reached = !q->tunes || f[q->held].m >= q->most - q->near;
	if (!isfinite(s->score) || isnan(s->beyond))
		s->beyond = INFINITY; /* an oracle refuses the point */
}

int dp__question_judge(struct dp__question *q, const double *u, size_t ldu, size_t m,
		       struct dp__standing *out)
{
	struct dp_proposer *p = q->p;
	size_t count = p->noutputs;
	struct dp__normal *f = calloc(m * count + 1, sizeof *f);
	int code = f ? dp__model_predict(p, u, ldu, m, true, q->exactly, f, NULL) : DP_E_NOMEM;

	for (size_t i = 0; i < m && code == DP_OK; i++) {
		for (size_t k = 0; k < p->spec.d; k++)
			out[i].u[k] = u[k * ldu + i];
		for (size_t o = 0; o < count; o++) {
			struct dp__normal *one = &f[i * count + o];

			if (dp__asks_oracle(q, o) && !p->output[o].exact)
				*one = (struct dp__normal){ oracle_at(q, o, out[i].u), 0 };
			if (isnan(one->m))
				one->m = INFINITY;
		}
		stand(q, f + i * count, &out[i]);
	}
	q->evaluated += m;
	free(f);
	return code;
}

/* What counts of an output at u, and its derivatives. */
static double counted_slope(struct dp__question *q, size_t o, const double *u, double *by)
{
	size_t d = q->p->spec.d;
	double ds[DP_PARAMS_MAX];
	struct dp__normal f;

	if (dp__asks_oracle(q, o))
		return dp__oracle_slope(q->p, o, u, by);
	f = dp__output_slope(q->p, o, u, by, ds);
	for (size_t k = 0; k < d; k++)
		by[k] += doubt_of(q, o) * ds[k];
	return counted(q, o, &f);
}

double dp__question_slope(struct dp__question *q, const double *u, double *by_u, double *beyond,
			  double *beyond_by_u)
{
	size_t d = q->p->spec.d;
	double by[DP_PARAMS_MAX], score = 0, slope;

	memset(by_u, 0, d * sizeof *by_u);
	for (size_t i = 0; i < q->naims; i++) {
		score += aim_cost(q, i, counted_slope(q, q->aim[i], u, by), &slope);
		for (size_t k = 0; k < d; k++)
			by_u[k] += slope * by[k];
	}
	for (size_t i = 0; i < q->nlimits; i++) {
		const struct dp__limit *l = &q->limit[i];

		beyond[i] = counted_slope(q, l->output, u, beyond_by_u + i * d) - l->most;
	}
	q->evaluated++;
	return score;
}
