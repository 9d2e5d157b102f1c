/* composed.c - what all trainings of a study cost together. */
#include "reports/facts.h"

/* How much work there was; how many of these trials were begun. */
static int64_t count_attempts(struct dp_trial *const *trials, uint32_t n, struct fact_composed *out)
{
	int64_t begun = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct dp_trial *t = trials[i];

		out->attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			out->not_started += !dp_attempt_began(&t->attempts[k]);
		begun += dp_trial_trainings(t) > 0;
	}
	return begun;
}

void facts_composed(const struct subject *s, size_t objective, struct facts_memory *m,
		    struct fact_composed *out)
{
	struct dp_whole whole;
	struct dp_err err;

	*out = (struct fact_composed){ .imported = s->s->nimported };
	out->evaluations = count_attempts(s->s->trials, s->s->ntrials, out);
	out->measured_again =
		count_attempts(s->s->measured.trials, s->s->measured.ntrials, out) > 0;
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
