/* declarations.c - what the trainer declared of its training, and what it did not. */
#include "reports/model/report_model.h"

#include "privacy/privacy.h"

/* Is there a mechanism that a declaration can contradict? */
static bool has_declarable_mechanism(const struct dp_study *spec)
{
	for (size_t i = 0; i < spec->nobjectives; i++) {
		const struct dp_accounting_spec *o = spec->objectives[i].privacy;

		for (size_t k = 0; o && k < o->nuses; k++)
			if (o->uses[k].mechanism->check_declaration)
				return true;
	}
	return false;
}

void report_model_declarations(const struct study_data *s, struct report_declarations *out)
{
	const struct dp_declarations *d = &s->state->declarations;

	*out = (struct report_declarations){
		.compared = has_declarable_mechanism(s->state->spec),
		.kept = !dp_study_has_metric_release(s->state->spec),
		.attempts = d->attempts,
		.sampling = d->sampling,
		.records = d->records,
		.lot = d->lot,
		.steps = d->steps,
		.noise_over_clip = d->noise_over_clip,
		.shuffled = d->shuffled,
	};
}
