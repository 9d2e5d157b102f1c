/* check.c - the search section: what must hold between its keys and the space. */
#include "study/study_internal.h"

#include "base/num.h"

#include <math.h>

void dp__read_search(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	struct dp_search *search = to;

	if (!dp__is_map(r, v, k->name, k->doc->type, SIZE_MAX))
		return;
	r->search = v;
	search->initial = DP_INITIAL;
	search->initial_given = dp__get(v, "initial") != NULL;
	dp__read_section(r, DP__SEARCH, v->key_pos, v, to);
}

static bool is_number(const struct dp_param *p)
{
	return p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT;
}

/* Every axis has its number of points, and log axes lie above zero. */
static bool check_axes(struct dp__read *r)
{
	size_t errors = r->problems->errors;

	for (size_t i = 0; i < r->s->nparams; i++) {
		const struct dp_param *p = &r->s->params[i];
		const struct dp__node *accept;

		if (r->param_bad[i] || !is_number(p))
			continue;
		if (!p->grid && !r->s->search.grid)
			dp__problem(r, r->param[i]->key_pos,
				    "grid: N here, or for all parameters in search",
				    "the grid has no number of points for parameter '%s'", p->name);
		accept = dp__get(dp__get(r->param[i], "sample"), "accept");
		if (p->log && p->accept_lo <= 0 && accept)
			dp__problem(r, accept->pos, "two numbers above 0",
				    "a grid on a log scale cannot go through zero or below");
	}
	return r->problems->errors == errors;
}

static void check_grid(struct dp__read *r)
{
	struct dp_search *search = &r->s->search;
	const struct dp__node *given = dp__get(r->search, "evaluations");
	double points;

	/* what is wrong with a parameter is told already */
	for (size_t i = 0; i < r->s->nparams; i++)
		if (r->param_bad[i])
			return;
	if (!check_axes(r) || r->s->nparams == 0)
		return;
	points = dp__grid_points(r->s);
	if (points > DP_GRID_MAX) {
		dp__problem(r, dp__get(r->search, "method")->pos, NULL,
			    "the grid has %.15g points, but at most %d are possible; lower "
			    "'grid' or use method random",
			    points, DP_GRID_MAX);
		return;
	}
	if (given && search->evaluations > points)
		dp__warning(r, given->pos, NULL,
			    "the grid has only %.0f points, so there will be no more than "
			    "%.0f evaluations",
			    points, points);
	else if (given && search->evaluations > 0 && search->evaluations < points)
		dp__warning(r, given->pos, NULL,
			    "only the first %u of the grid's %.0f points will be evaluated",
			    search->evaluations, points);
	if (!given || search->evaluations > points)
		search->evaluations = (uint32_t)points;
}

/* dpareto draws its initial points from accept and range together. */
static void check_dpareto(struct dp__read *r)
{
	const struct dp__node *given = dp__get(r->search, "initial");
	const struct dp_search *search = &r->s->search;
	char all[DP_COUNT_LEN];

	if (given && given->kind == DP__SCALAR && search->initial == 0 && !search->initial_from)
		dp__problem(r, given->pos, "a whole number from 1",
			    "'initial' can be 0 only with 'initial_from': without any "
			    "result the model has nothing to choose by");
	if (given && search->evaluations && search->initial > search->evaluations)
		dp__warning(r, given->pos, NULL,
			    "there are %s, all initial: the model never chooses a point",
			    dp_count_text(search->evaluations, "evaluation", all));
	for (size_t i = 0; i < r->s->nparams; i++) {
		const struct dp_param *p = &r->s->params[i];
		const struct dp__node *sample = dp__get(r->param[i], "sample");
		double lo = fmax(p->lo, p->accept_lo), hi = fmin(p->hi, p->accept_hi);

		if (r->param_bad[i] || !is_number(p) || !sample)
			continue;
		if (!(lo <= hi))
			dp__problem(r, sample->key_pos, NULL,
				    "'accept' and 'range' of parameter '%s' have nothing in "
				    "common, but method dpareto needs points in both",
				    p->name);
		else if (!(dp__accept_probability(p, lo, hi) >= 1e-4))
			dp__problem(r, sample->key_pos, "at least 0.0001",
				    "a draw for parameter '%s' falls into both 'accept' and "
				    "'range' with probability %.3g only",
				    p->name, dp__accept_probability(p, lo, hi));
	}
}

/* Keys that only dpareto reads. */
static void warn_unused(struct dp__read *r)
{
	static const char *const keys[] = { "initial", "design",    "initial_from", "acquisition",
					    "gain",    "reference", "privacy_model" };

	for (size_t i = 0; i < DP_COUNT(keys); i++) {
		const struct dp__node *m = dp__get(r->search, keys[i]);

		if (m)
			dp__warning(r, m->key_pos, NULL,
				    "'%s' has a meaning only for method dpareto", keys[i]);
	}
}

void dp__check_search(struct dp__read *r)
{
	const struct dp__node *method = dp__get(r->search, "method");
	struct dp_search *search = &r->s->search;
	const char *names[DP__NAMES];

	if (!r->search)
		return;
	dp__section_names(DP__SEARCH, names);
	if (search->method != DP_METHOD_GRID && search->method != DP_METHOD_SELECT && method &&
	    !dp__get(r->search, "evaluations") && !dp__get(r->search, "max_cost") &&
	    !dp__get(r->search, "budget") && !dp__misspelt(r->search, "evaluations", names))
		dp__problem(r, r->search->key_pos, NULL,
			    "the key 'search.evaluations' is missing, for example "
			    "`evaluations: 80`");
	if (!method || method->kind != DP__SCALAR)
		return;
	if (search->method == DP_METHOD_GRID)
		check_grid(r);
	if (search->method == DP_METHOD_DPARETO)
		check_dpareto(r);
	else
		warn_unused(r);
	if (search->method == DP_METHOD_SELECT && search->remeasure)
		dp__problem(r, dp__get(r->search, "remeasure")->key_pos, NULL,
			    "'remeasure' cannot stand beside method select: one training "
			    "is published of it, and nothing more may be learned of that");
	if (search->method != DP_METHOD_SELECT && dp__get(r->search, "rounds"))
		dp__warning(r, dp__get(r->search, "rounds")->key_pos, NULL,
			    "'rounds' has a meaning only for method select");
}
