/* read_search.c - checks the search section against the parameter space. */
#include "study/parse/study_parse_internal.h"

#include "base/units.h"

#include <math.h>

void dp__read_search(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	struct dp_search *search = to;

	if (!dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX))
		return;
	r->search_node = v;
	search->initial = DP_INITIAL_DEFAULT;
	search->initial_given = dp__map_get(v, "initial") != NULL;
	dp__read_section(r, DP__SEARCH, v->key_pos, v, to);
}

static bool is_numeric_param(const struct dp_param *p)
{
	return p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT;
}

/* Every axis needs a number of points, and log axes must be positive. */
static bool check_grid_axes(struct dp__study_parser *r)
{
	size_t errors = r->diagnostics->error_count;

	for (size_t i = 0; i < r->study->nparams; i++) {
		const struct dp_param *p = &r->study->params[i];
		const struct dp__node *accept;

		if (r->param_invalid[i] || !is_numeric_param(p))
			continue;
		if (!p->grid_points && !r->study->search.grid)
			dp__report_error(r, r->param_nodes[i]->key_pos,
					 "grid: N here, or for all parameters in search",
					 "the grid has no number of points for parameter '%s'",
					 p->name);
		accept = dp__map_get(dp__map_get(r->param_nodes[i], "sample"), "accept");
		if (p->log_scale && p->accept_lo <= 0 && accept)
			dp__report_error(r, accept->pos, "two numbers above 0",
					 "a grid on a log scale cannot go through zero or below");
	}
	return r->diagnostics->error_count == errors;
}

static void check_grid_search(struct dp__study_parser *r)
{
	struct dp_search *search = &r->study->search;
	const struct dp__node *given = dp__map_get(r->search_node, "evaluations");
	double points;

	/* errors of parameters are already reported */
	for (size_t i = 0; i < r->study->nparams; i++)
		if (r->param_invalid[i])
			return;
	if (!check_grid_axes(r) || r->study->nparams == 0)
		return;
	points = dp__grid_point_count(r->study);
	if (points > DP_GRID_MAX) {
		dp__report_error(r, dp__map_get(r->search_node, "method")->pos, NULL,
				 "the grid has %.15g points, but at most %d are possible; lower "
				 "'grid' or use method random",
				 points, DP_GRID_MAX);
		return;
	}
	if (given && search->evaluations > points)
		dp__report_warning(r, given->pos, NULL,
				   "the grid has only %.0f points, so there will be no more than "
				   "%.0f evaluations",
				   points, points);
	else if (given && search->evaluations > 0 && search->evaluations < points)
		dp__report_warning(r, given->pos, NULL,
				   "only the first %u of the grid's %.0f points will be evaluated",
				   search->evaluations, points);
	if (!given || search->evaluations > points)
		search->evaluations = (uint32_t)points;
}

/* dpareto draws initial points from the intersection of accept and range. */
static void check_dpareto_search(struct dp__study_parser *r)
{
	const struct dp__node *given = dp__map_get(r->search_node, "initial");
	const struct dp_search *search = &r->study->search;
	char all[DP_PLURAL_LEN];

	if (given && given->kind == DP__NODE_SCALAR && search->initial == 0 &&
	    !search->initial_from)
		dp__report_error(r, given->pos, "a whole number from 1",
				 "'initial' can be 0 only with 'initial_from': without any "
				 "result the model has nothing to choose by");
	if (given && search->evaluations && search->initial > search->evaluations)
		dp__report_warning(r, given->pos, NULL,
				   "there are %s, all initial: the model never chooses a point",
				   dp_plural_text(search->evaluations, "evaluation", all));
	for (size_t i = 0; i < r->study->nparams; i++) {
		const struct dp_param *p = &r->study->params[i];
		const struct dp__node *sample = dp__map_get(r->param_nodes[i], "sample");
		double lo = fmax(p->lo, p->accept_lo), hi = fmin(p->hi, p->accept_hi);

		if (r->param_invalid[i] || !is_numeric_param(p) || !sample)
			continue;
		if (!(lo <= hi))
			dp__report_error(r, sample->key_pos, NULL,
					 "'accept' and 'range' of parameter '%s' have nothing in "
					 "common, but method dpareto needs points in both",
					 p->name);
		else if (!(dp__accept_probability(p, lo, hi) >= 1e-4))
			dp__report_error(r, sample->key_pos, "at least 0.0001",
					 "a draw for parameter '%s' falls into both 'accept' and "
					 "'range' with probability %.3g only",
					 p->name, dp__accept_probability(p, lo, hi));
	}
}

/* Keys that only dpareto reads. */
static void warn_unused_dpareto_keys(struct dp__study_parser *r)
{
	static const char *const keys[] = { "initial", "design",    "initial_from", "acquisition",
					    "gain",    "reference", "privacy_model" };

	for (size_t i = 0; i < DP_COUNT(keys); i++) {
		const struct dp__node *m = dp__map_get(r->search_node, keys[i]);

		if (m)
			dp__report_warning(r, m->key_pos, NULL,
					   "'%s' has a meaning only for method dpareto", keys[i]);
	}
}

void dp__check_search(struct dp__study_parser *r)
{
	const struct dp__node *method = dp__map_get(r->search_node, "method");
	struct dp_search *search = &r->study->search;
	const char *names[DP__KEY_NAMES_MAX];

	if (!r->search_node)
		return;
	dp__section_key_names(DP__SEARCH, names);
	if (search->method != DP_METHOD_GRID && search->method != DP_METHOD_SELECT && method &&
	    !dp__map_get(r->search_node, "evaluations") &&
	    !dp__map_get(r->search_node, "max_cost") && !dp__map_get(r->search_node, "budget") &&
	    !dp__is_misspelt_key(r->search_node, "evaluations", names))
		dp__report_error(r, r->search_node->key_pos, NULL,
				 "the key 'search.evaluations' is missing, for example "
				 "`evaluations: 80`");
	if (!method || method->kind != DP__NODE_SCALAR)
		return;
	if (search->method == DP_METHOD_GRID)
		check_grid_search(r);
	if (search->method == DP_METHOD_DPARETO)
		check_dpareto_search(r);
	else
		warn_unused_dpareto_keys(r);
	if (search->method == DP_METHOD_SELECT && search->reevaluate_runs)
		dp__report_error(r, dp__map_get(r->search_node, "remeasure")->key_pos, NULL,
				 "'remeasure' cannot stand beside method select: one training "
				 "is published of it, and nothing more may be learned of that");
	if (search->method != DP_METHOD_SELECT && dp__map_get(r->search_node, "rounds"))
		dp__report_warning(r, dp__map_get(r->search_node, "rounds")->key_pos, NULL,
				   "'rounds' has a meaning only for method select");
}
