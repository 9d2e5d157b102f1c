/* composed.c - what all trainings of a study cost together. */
#include "reports/facts.h"

/* How much work there was. */
static void count_attempts(const struct subject *s, struct fact_composed *out)
{
	for (uint32_t i = 0; i < s->s->ntrials; i++) {
		const struct dp_trial *t = s->s->trials[i];

		out->attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			out->not_started += !dp_attempt_began(&t->attempts[k]);
		out->evaluations += dp_trial_trainings(t) > 0;
	}
}

void facts_composed(const struct subject *s, size_t objective, struct facts_memory *m,
		    struct fact_composed *out)
{
	struct dp_whole whole;
	struct dp_err err;

	*out = (struct fact_composed){ .imported = s->s->nimported };
	count_attempts(s, out);
	if (dp_whole_find(s->s, objective, &whole, &err) != DP_OK) {
		m->failed = true; /* the one reason there is: no memory */
		return;
	}
	out->trainings = (int64_t)whole.trainings;
	out->kind = whole.proof;
	out->proof = dp_whole_text(whole.proof);
	out->epsilon = whole.epsilon;
	out->delta = whole.delta;
	out->order = whole.order;
	out->spent = whole.spent;
	out->limit = whole.limit;
	out->if_fixed = whole.if_fixed;
	out->recorded = whole.recorded;
	out->why = facts_text(m, whole.why[0] ? whole.why : NULL);
}
