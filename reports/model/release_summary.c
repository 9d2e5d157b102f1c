/* release.c - what a report says of noise on utilities: the records that they were
 * measured on. */
#include "reports/text/report_format.h"

#include "optimize/history/release_cost.h"

#include <math.h>

void report_model_release_cost(const struct study_data *s, struct report_arena *arena,
			       struct report_release_cost **out)
{
	const struct dp_study *spec = s->state->spec;
	struct report_release_cost *f;
	struct dp_release_cost r;

	*out = NULL;
	if (!dp_release_cost_compute(s->state, &r))
		return;
	f = report_arena_alloc(arena, 1, sizeof *f);
	if (!f)
		return;
	*f = (struct report_release_cost){
		.points = (int64_t)r.released_results,
		.most = isinf(r.max_results) ? NAN : r.max_results,
		.delta = r.delta,
		.epsilon = r.epsilon,
		.proof = r.proof == DP_RELEASE_COST_FIXED ? "composition" : "odometer",
		.metrics = report_arena_alloc(arena, spec->nobjectives, sizeof *f->metrics),
	};
	for (size_t i = 0; f->metrics && i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];

		if (o->release.records > 0)
			f->metrics[f->nmetrics++] = (struct report_release_metric){
				o->name, o->metric, o->release.records, o->release.sigma
			};
	}
	*out = f;
}

void write_release_cost(struct doc *d, const struct report_release_cost *f)
{
	char e[FORMAT_LEN], t[FORMAT_LEN], u[FORMAT_LEN];

	for (size_t i = 0; i < f->nmetrics; i++)
		doc_item(d,
			 "%s: Gaussian noise of standard deviation %s on metric '%s', a "
			 "share of %s records.",
			 f->metrics[i].objective, format_short(f->metrics[i].sigma, t),
			 f->metrics[i].metric, format_short(f->metrics[i].records, u));
	if (!isnan(f->most))
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the "
			      "records that they are measured on are covered, too: all %.0f "
			      "releases that the study file allows, of which there were %lld, "
			      "are together epsilon %s at delta %s when one of these records "
			      "is replaced (Dong, Roth and Su 2022, Corollary 3.3).",
			      f->most, (long long)f->points, format_rounded_up(f->epsilon, e),
			      format_short(f->delta, t));
	else
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the "
			      "records that they are measured on are covered, too: with "
			      "probability 1 - %s the loss of all %lld releases together is at "
			      "most epsilon %s when one of these records is replaced "
			      "(odometer).",
			      format_short(f->delta, t), (long long)f->points,
			      format_rounded_up(f->epsilon, e));
	doc_paragraph(d, "With a fixed split a record is either trained on or measured "
			 "on: what holds for it is the larger of both epsilons. A study "
			 "that is made again, or another one on the same records, "
			 "releases anew, and all of it counts together.");
}
