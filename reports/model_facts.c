/* model_facts.c - how far models are to be trusted and which parameters matter, as facts.
 */
#include "reports/facts.h"

static void find_models(const struct subject *s, struct facts *f)
{
	size_t n = s->s->spec->nobjectives;

	f->models = facts_room(&f->memory, n, sizeof *f->models);
	for (size_t k = 0; f->models && k < n; k++) {
		const struct model_fit *fit = &s->fit[k];

		if (!fit->modelled)
			continue;
		f->models[f->nmodels++] = (struct fact_model){
			.objective = s->s->spec->objectives[k].name,
			.results = (int64_t)fit->results,
			.coverage = fit->coverage,
			.explained = fit->explained,
			.error = fit->error,
			.trusted = fit->trusted,
			.why = fit->trusted ? NULL : facts_text(&f->memory, fit->why),
		};
	}
}

static struct fact_objective_shares shares_of(const struct subject *s, size_t objective,
					      struct facts_memory *m)
{
	const struct dp_importance *i = &s->importance[objective];
	struct fact_objective_shares out = {
		.objective = s->s->spec->objectives[objective].name,
		.source = i->source == DP_IMPORTANCE_COMPUTED ? "oracle" : "model",
		.parameters = facts_room(m, s->nrank, sizeof *out.parameters),
	};

	for (size_t k = 0; out.parameters && k < s->nrank; k++)
		out.parameters[out.nparameters++] = (struct fact_share){
			.parameter = s->s->spec->params[s->rank[k]].name,
			.first = i->first[s->rank[k]],
			.total = i->total[s->rank[k]],
		};
	return out;
}

void facts_models(const struct subject *s, struct facts *f)
{
	const char **ranking = facts_room(&f->memory, s->nrank, sizeof *ranking);
	struct fact_importance *out = &f->importance;
	size_t n = s->s->spec->nobjectives;

	find_models(s, f);
	out->objectives = facts_room(&f->memory, n, sizeof *out->objectives);
	for (size_t k = 0; ranking && k < s->nrank; k++)
		ranking[k] = s->s->spec->params[s->rank[k]].name;
	out->ranking = ranking;
	for (size_t k = 0; out->objectives && k < n; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			out->objectives[out->nobjectives++] = shares_of(s, k, &f->memory);
}
