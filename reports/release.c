/* release.c - what a report says of noise on utilities: the records that they were
 * measured on. */
#include "reports/words.h"

#include "recall/released.h"

#include <math.h>

void facts_released(const struct subject *s, struct facts_memory *m, struct fact_released **out)
{
	const struct dp_study *spec = s->s->spec;
	struct fact_released *f;
	struct dp_released r;

	*out = NULL;
	if (!dp_released_find(s->s, &r))
		return;
	f = facts_room(m, 1, sizeof *f);
	if (!f)
		return;
	*f = (struct fact_released){
		.points = (int64_t)r.points,
		.most = isinf(r.most) ? NAN : r.most,
		.delta = r.delta,
		.epsilon = r.epsilon,
		.proof = r.proof == DP_RELEASED_FIXED ? "composition" : "odometer",
		.metrics = facts_room(m, spec->nobjectives, sizeof *f->metrics),
	};
	for (size_t i = 0; f->metrics && i < spec->nobjectives; i++) {
		const struct dp_objective *o = &spec->objectives[i];

		if (o->release.records > 0)
			f->metrics[f->nmetrics++] =
				(struct fact_release){ o->name, o->metric, o->release.records,
						       o->release.sigma };
	}
	*out = f;
}

void write_released(struct doc *d, const struct fact_released *f)
{
	char e[SHORT_LEN], t[SHORT_LEN], u[SHORT_LEN];

	for (size_t i = 0; i < f->nmetrics; i++)
		doc_item(d,
			 "%s: Gaussian noise of standard deviation %s on metric '%s', a "
			 "share of %s records.",
			 f->metrics[i].objective, short_text(f->metrics[i].sigma, t),
			 f->metrics[i].metric, short_text(f->metrics[i].records, u));
	if (!isnan(f->most))
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the "
			      "records that they are measured on are covered, too: all %.0f "
			      "releases that the study file allows, of which there were %lld, "
			      "are together epsilon %s at delta %s when one of these records "
			      "is replaced (Dong, Roth and Su 2022, Corollary 3.3).",
			      f->most, (long long)f->points, up_text(f->epsilon, e),
			      short_text(f->delta, t));
	else
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the "
			      "records that they are measured on are covered, too: with "
			      "probability 1 - %s the loss of all %lld releases together is at "
			      "most epsilon %s when one of these records is replaced "
			      "(odometer).",
			      short_text(f->delta, t), (long long)f->points,
			      up_text(f->epsilon, e));
	doc_paragraph(d, "With a fixed split a record is either trained on or measured "
			 "on: what holds for it is the larger of both epsilons. A study "
			 "that is made again, or another one on the same records, "
			 "releases anew, and all of it counts together.");
}
