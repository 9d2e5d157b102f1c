/* measure.c - what came of the points that were measured again. */
#include "journal/state_internal.h"

#include "base/student.h"
#include "front/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- how far it is ---- */

uint32_t dp_study_next_measuring(const struct dp_study_state *s)
{
	const struct dp_measures *m = &s->measured;

	return m->ntrials ? m->trials[m->ntrials - 1]->number + 1 : DP_MEASURING;
}

bool dp_study_measures(const struct dp_study_state *s)
{
	return s->measured.first_live < s->measured.ntrials;
}

bool dp_study_searched(const struct dp_study_state *s)
{
	const struct dp_measures *m = &s->measured;

	return m->rests || (m->end_asked && m->end_version == s->results_version &&
			    s->first_live == s->ntrials);
}

bool dp_measure_is_of(const struct dp_study_state *s, const struct dp_measure *m, struct dp_point p)
{
	double at = dp_point_at(s, p);

	return m->of == p.trial && (isnan(at) ? isnan(m->of_at) : m->of_at == at);
}

void dp_measure_runs(const struct dp_study_state *s, const struct dp_measure *m, uint32_t *done,
		     uint32_t *failed)
{
	*done = *failed = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct dp_trial *t = s->measured.trials[m->first + i];

		if (t->status == DP_TRIAL_OK)
			*done += t->runs;
		else if (t->status > DP_TRIAL_OK)
			*failed += t->runs;
	}
}

enum dp_trial_status dp_measure_status(const struct dp_study_state *s, const struct dp_measure *m,
				       const char **reason)
{
	bool begun = false, ended = true, failed = false;

	*reason = NULL;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct dp_trial *t = s->measured.trials[m->first + i];

		begun |= t->nattempts > 0;
		ended &= t->status >= DP_TRIAL_OK;
		if (t->status <= DP_TRIAL_OK)
			continue;
		if (!failed)
			*reason = t->reason;
		failed = true;
	}
	if (!ended)
		return begun ? DP_TRIAL_RUNNING : DP_TRIAL_WAITING;
	return failed ? DP_TRIAL_FAILED : DP_TRIAL_OK;
}

/* ---- its values ---- */

/* The runs of trials that are ok, one objective after the other. */
struct measure_pool {
	const struct dp_study_state *s;
	const struct dp_trial *last; /* one of them; NULL: there is none */
	uint32_t runs;
	int column; /* of the metric that is added up; < 0: none */
	double sum, scaled, mean, squares, least, most;
};

static bool pool_takes(const struct dp_trial *t)
{
	return t->status == DP_TRIAL_OK && t->objectives && t->metrics;
}

static void pool_measure(struct measure_pool *p, const struct dp_measure *m,
			 void (*add)(struct measure_pool *p, const struct dp_trial *t))
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct dp_trial *t = p->s->measured.trials[m->first + i];

		if (pool_takes(t))
			add(p, t);
	}
}

static void pool_count(struct measure_pool *p, const struct dp_trial *t)
{
	p->last = t;
	p->runs += t->runs;
}

static double pool_value(const struct measure_pool *p, const struct dp_trial *t, uint32_t run)
{
	return (uint32_t)p->column < t->nmetrics
		       ? t->metrics[(size_t)run * t->nmetrics + (uint32_t)p->column]
		       : NAN;
}

static void pool_sum(struct measure_pool *p, const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++) {
		double v = pool_value(p, t, i);

		p->sum += v;
		p->scaled += v / p->runs; /* cannot overflow where the values do not */
		p->least = fmin(p->least, v);
		p->most = fmax(p->most, v);
	}
}

static void pool_squares(struct measure_pool *p, const struct dp_trial *t)
{
	for (uint32_t i = 0; i < t->runs; i++) {
		double d = pool_value(p, t, i) - p->mean;

		p->squares += d * d;
	}
}

/* Which measurements are put together: one, or all of a result. */
struct measure_which {
	const struct dp_measure *one;
	struct dp_point of;
};

static void pool_each(struct measure_pool *p, const struct measure_which *which,
		      void (*add)(struct measure_pool *p, const struct dp_trial *t))
{
	const struct dp_measures *all = &p->s->measured;

	if (which->one) {
		pool_measure(p, which->one, add);
		return;
	}
	for (uint32_t i = 0; i < all->n; i++)
		if (dp_measure_is_of(p->s, &all->list[i], which->of))
			pool_measure(p, &all->list[i], add);
}

static void pool_objective(struct measure_pool *p, const struct measure_which *which, size_t k,
			   struct dp_measured *out)
{
	const struct dp_objective *o = &p->s->spec->objectives[k];
	double wide;

	out->sd[k] = out->low[k] = out->high[k] = NAN;
	p->column = o->metric ? dp_study_metric(p->s, o->metric) : -1;
	if (p->column < 0) {
		out->objectives[k] = p->last->objectives[k];
		return;
	}
	p->sum = p->scaled = p->squares = 0;
	p->least = p->most = NAN;
	pool_each(p, which, pool_sum);
	/* the mean of three times 0.1 is not 0.1 by adding them up */
	p->mean = p->least == p->most ? p->least : isfinite(p->sum) ? p->sum / p->runs : p->scaled;
	pool_each(p, which, pool_squares);
	out->objectives[k] = dp_objective_metric(o, p->mean);
	if (p->runs < 2)
		return;
	out->sd[k] = sqrt(p->squares / (p->runs - 1));
	wide = dp_t95(p->runs - 1) * out->sd[k] / sqrt(p->runs);
	out->low[k] = out->objectives[k] - wide;
	out->high[k] = out->objectives[k] + wide;
}

static bool pool_measured(const struct dp_study_state *s, const struct measure_which *which,
			  struct dp_measured *out)
{
	struct measure_pool p = { .s = s };

	pool_each(&p, which, pool_count);
	out->runs = p.runs;
	for (size_t k = 0; p.last && k < s->spec->nobjectives; k++)
		pool_objective(&p, which, k, out);
	return p.last != NULL;
}

bool dp_point_remeasured(const struct dp_study_state *s, struct dp_point p, struct dp_measured *out)
{
	return pool_measured(s, &(struct measure_which){ .of = p }, out);
}

bool dp_measure_value(const struct dp_study_state *s, const struct dp_measure *m,
		      struct dp_measured *out)
{
	return pool_measured(s, &(struct measure_which){ .one = m }, out);
}

/* Is the place of a point on a front of two objectives known without noise? */
static bool follows(const struct dp_study *spec)
{
	return spec->nobjectives == 2 && spec->objectives[0].privacy != NULL;
}

int dp_points_remeasured_volume(const struct dp_study_state *s, const struct dp_point *points,
				size_t n, double *volume)
{
	size_t m = s->spec->nobjectives, have = 0;
	double *y = malloc((n * m + 1) * sizeof *y), ref[DP_OBJECTIVES_MAX];
	struct dp_measured v;
	int code = DP_OK;

	*volume = NAN;
	if (!y)
		return DP_E_NOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!dp_point_remeasured(s, points[i], &v))
			continue;
		for (size_t k = 0; k < m; k++)
			y[have * m + k] = s->spec->objectives[k].maximize ? -v.objectives[k]
									  : v.objectives[k];
		have++;
	}
	for (size_t k = 0; k < m; k++)
		ref[k] = (s->spec->objectives[k].maximize ? -1 : 1) *
			 s->spec->objectives[k].anti_ideal;
	if (have && follows(s->spec))
		*volume = dp_followed(y, have, ref);
	else if (have)
		code = dp_hypervolume(y, have, m, ref, volume);
	free(y);
	return code;
}
