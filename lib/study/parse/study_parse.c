/* study_parse.c - parses a study file into a checked study, and frees it. */
#include "study/parse/study_parse_internal.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <stdlib.h>
#include <string.h>

static void free_string_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static void accounting_free(struct dp_accounting_spec *o)
{
	if (!o)
		return;
	free(o->uses);
	free_string_list(o->argv);
	free(o);
}

void dp_study_free(struct dp_study *s)
{
	if (!s)
		return;
	free(s->name);
	if (s->secret)
		explicit_bzero(s->secret, strlen(s->secret));
	free(s->secret);
	free_string_list(s->trainer.argv);
	free_string_list(s->trainer.env);
	free(s->trainer.cwd);
	free_string_list(s->trainer.slurm.options);
	for (size_t i = 0; i < s->nparams; i++) {
		free(s->params[i].name);
		json_decref(s->params[i].values);
		free(s->params[i].calibrate);
	}
	free(s->params);
	for (size_t i = 0; i < s->nobjectives; i++) {
		free(s->objectives[i].name);
		free(s->objectives[i].metric);
		accounting_free(s->objectives[i].privacy);
	}
	free(s->objectives);
	for (size_t i = 0; i < s->nconstraints; i++)
		free(s->constraints[i].metric);
	free(s->constraints);
	free(s->search.initial_from);
	free(s);
}

bool dp_study_uses_smoothed_front(const struct dp_study *s)
{
	return s->search.front == DP_FRONT_DEFAULT ? s->search.method == DP_METHOD_DPARETO
						   : s->search.front == DP_FRONT_SMOOTHED;
}

static void read_study_tree(struct dp__study_parser *r)
{
	const struct dp__node *top = dp__tree_parse(r);

	if (!top)
		return;
	if (top->kind != DP__NODE_MAP) {
		dp__report_error(r, top->pos, "keys such as study, trainer and parameters",
				 "a study file is a map of keys at the top, not a %s",
				 top->kind == DP__NODE_LIST ? "list" : "single value");
		return;
	}
	dp__read_section(r, DP__TOP, top->pos, top, r->study);
	dp__check_calibrations(r);
	dp__check_objectives(r);
	dp__check_search(r);
	dp__check_learning_curve(r);
	dp__check_cost(r);
	dp__check_release(r);
	dp__check_selection(r);
	dp__check_budget(r);
	dp__check_seeds(r, top);
}

/* One sentence for callers that show only one. */
static int summarize_diagnostics(const struct dp_diagnostics *p, const char *path,
				 struct dp_err *err)
{
	const struct dp_diagnostic *first = p->list;

	while (first->is_warning)
		first++;
	if (first->line)
		dp_fail(err, DP_E_INVALID, "%s:%d:%d: %s", path, first->line, first->column,
			first->message);
	else
		dp_fail(err, DP_E_INVALID, "%s: %s", path, first->message);
	if (p->error_count > 1)
		dp_hint(err,
			"there are %zu mistakes in all; `dparetoctl validate` shows "
			"every one",
			p->error_count);
	else
		dp_hint(err, "`dparetoctl validate` shows the line, `dparetoctl explain` "
			     "every key");
	return DP_E_INVALID;
}

int dp_study_parse(const char *text, size_t len, const char *path, const char *dir,
		   struct dp_study **out, struct dp_diagnostics *diagnostics, struct dp_err *err)
{
	struct dp__study_parser r = {
		.text = text, .len = len, .dir = dir, .diagnostics = diagnostics
	};
	int code = DP_OK;

	memset(diagnostics, 0, sizeof *diagnostics);
	r.study = dp_calloc(1, sizeof *r.study);
	read_study_tree(&r);
	dp__tree_free(&r);
	dp__diagnostics_sort(diagnostics);
	if (diagnostics->error_count)
		code = summarize_diagnostics(diagnostics, path, err);
	if (code == DP_OK)
		*out = r.study;
	else
		dp_study_free(r.study);
	return code;
}
