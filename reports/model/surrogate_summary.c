/* surrogate_summary.c - how far models are to be trusted and which parameters matter, as facts.
 */
#include "reports/model/report_model.h"

static void add_surrogate_fits(const struct study_data *s, struct report_model *report)
{
	size_t n = s->state->spec->nobjectives;

	report->models = report_arena_alloc(&report->arena, n, sizeof *report->models);
	for (size_t k = 0; report->models && k < n; k++) {
		const struct surrogate_fit *fit = &s->fit[k];

		if (!fit->has_model)
			continue;
		report->models[report->nmodels++] = (struct report_surrogate){
			.objective = s->state->spec->objectives[k].name,
			.results = (int64_t)fit->n_left_out,
			.coverage = fit->coverage,
			.explained = fit->variance_explained,
			.error = fit->rmse,
			.trusted = fit->trusted,
			.why = fit->trusted ? NULL
					    : report_arena_strdup(&report->arena, fit->reason),
		};
	}
}

static struct report_objective_importance
make_objective_importance(const struct study_data *s, size_t objective, struct report_arena *arena)
{
	const struct dp_importance *i = &s->importance[objective];
	struct report_objective_importance out = {
		.objective = s->state->spec->objectives[objective].name,
		.source = i->source == DP_IMPORTANCE_COMPUTED ? "oracle" : "model",
		.parameters = report_arena_alloc(arena, s->nranked, sizeof *out.parameters),
	};

	for (size_t k = 0; out.parameters && k < s->nranked; k++)
		out.parameters[out.nparameters++] = (struct report_sobol_indices){
			.parameter = s->state->spec->params[s->ranking[k]].name,
			.first = i->first_order[s->ranking[k]],
			.total = i->total_order[s->ranking[k]],
		};
	return out;
}

void report_model_add_surrogates(const struct study_data *s, struct report_model *report)
{
	const char **ranking = report_arena_alloc(&report->arena, s->nranked, sizeof *ranking);
	struct report_importance *out = &report->importance;
	size_t n = s->state->spec->nobjectives;

	add_surrogate_fits(s, report);
	out->objectives = report_arena_alloc(&report->arena, n, sizeof *out->objectives);
	for (size_t k = 0; ranking && k < s->nranked; k++)
		ranking[k] = s->state->spec->params[s->ranking[k]].name;
	out->ranking = ranking;
	for (size_t k = 0; out->objectives && k < n; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			out->objectives[out->nobjectives++] =
				make_objective_importance(s, k, &report->arena);
}
