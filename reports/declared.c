/* declared.c - what the trainer declared of its training, and what it did not. */
#include "reports/facts.h"

#include "privacy/privacy.h"

/* Is there a mechanism that a declaration can contradict? */
static bool can_contradict(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_oracle *o = spec->objectives[i].privacy;

		for (size_t k = 0; o && k < o->nuses; k++)
			if (o->uses[k].mechanism->declared)
				return true;
	}
	return false;
}

void facts_declared(const struct subject *s, struct fact_declared *out)
{
	const struct dp_declarations *d = &s->s->declared;

	*out = (struct fact_declared){
		.compared = can_contradict(s->s->spec),
		.kept = !dp_study_releases(s->s->spec),
		.attempts = d->attempts,
		.sampling = d->sampling,
		.records = d->records,
		.lot = d->lot,
		.steps = d->steps,
		.noise_over_clip = d->noise_over_clip,
		.shuffled = d->shuffled,
	};
}
