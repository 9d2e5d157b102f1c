/* composed.c - what all trainings of a study cost together. */
#include "reports/facts.h"

#include "privacy/privacy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PURE_DELTA 1e-6 /* a total delta for studies that have none of their own */

double facts_trainings(const struct subject *s, const struct dp_trial *t)
{
	double count = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end != DP_END_NOT_STARTED)
			count += t->attempts[i].run == DP_RUN_ALL
					 ? s->s->spec->trainer.runs
					 : 1;
	return count;
}

struct whole {
	struct dp_privacy_item *items; /* (n) */
	double *values;                /* (n x DP_PRIVACY_KEYS_MAX) */
	size_t n;
	int64_t evaluations;
	double trainings;
	uint32_t attempts, not_started;
};

static int whole_open(struct whole *w, const struct subject *s, size_t objective,
		      struct dp_err *err)
{
	size_t n = s->s->ntrials * s->s->spec->objectives[objective].privacy->nuses + 1;

	w->items = calloc(n, sizeof *w->items);
	w->values = calloc(n * DP_PRIVACY_KEYS_MAX, sizeof *w->values);
	return w->items && w->values
		       ? DP_OK
		       : dp_fail(err, DP_E_NOMEM, "no memory for the composition");
}

/* All of one trial's trainings, each in full: what it was on its way is not added. */
static int add_trial(struct whole *w, const struct subject *s, uint32_t trial,
		     size_t objective, double times, struct dp_err *err)
{
	struct dp_point whole = { trial, DP_OWN };
	struct dp_uses uses;
	int code = facts_uses(s, whole, objective, &uses, err);

	for (size_t i = 0; code == DP_OK && i < uses.n; i++) {
		double *v = w->values + w->n * DP_PRIVACY_KEYS_MAX;

		memcpy(v, uses.values[i], sizeof uses.values[i]);
		w->items[w->n++] = (struct dp_privacy_item){ uses.item[i].mechanism, v,
							     uses.item[i].times * times };
	}
	return code;
}

static int collect_trainings(const struct subject *s, size_t objective, struct whole *w,
			     struct dp_err *err)
{
	const struct dp_study_state *st = s->s;
	int code = whole_open(w, s, objective, err);

	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];
		double times = facts_trainings(s, t);

		w->attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			w->not_started += t->attempts[k].end == DP_END_NOT_STARTED;
		if (times == 0)
			continue;
		w->evaluations++;
		w->trainings += times;
		if (code != DP_OK)
			continue;
		code = add_trial(w, s, i, objective, times, err);
		if (code != DP_OK)
			dp_err_prefix(err, "trial %u", i);
	}
	return code;
}

/* What it costs at this total delta, or why that is unknown. */
static struct fact_total total_at(const struct whole *w, double delta,
				  struct facts_memory *m)
{
	struct dp_epsilon e;
	struct dp_err err;

	if (dp_privacy_compose(w->items, w->n, delta, false, &e, &err) == DP_OK)
		return (struct fact_total){ delta, e.epsilon, e.accountant, e.order,
					    NULL };
	return (struct fact_total){ delta, NAN, NULL, NAN, facts_text(m, err.msg) };
}

void facts_composed(const struct subject *s, size_t objective, struct facts_memory *m,
		    struct fact_composed *out)
{
	double delta = dp_oracle_delta(s->s->spec->objectives[objective].privacy);
	struct whole w = { 0 };
	struct dp_err err;
	int code = collect_trainings(s, objective, &w, &err);

	*out = (struct fact_composed){
		.evaluations = w.evaluations,
		.trainings = (int64_t)w.trainings,
		.attempts = w.attempts,
		.not_started = w.not_started,
		.imported = s->s->nimported,
		.totals = facts_room(m, 2, sizeof *out->totals),
	};
	if (out->totals && code != DP_OK) {
		out->totals[out->ntotals++] =
			(struct fact_total){ delta, NAN, NULL, NAN,
					     facts_text(m, err.msg) };
	} else if (out->totals && w.n > 0) {
		if (!isnan(delta))
			out->totals[out->ntotals++] = total_at(&w, delta, m);
		if (!(delta > 0)) /* pure, or set by a parameter */
			out->totals[out->ntotals++] = total_at(&w, PURE_DELTA, m);
	}
	free(w.items);
	free(w.values);
}
