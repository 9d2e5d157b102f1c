/* study.c - from the text of a file to a checked study, and its end. */
#include "study/study_internal.h"

#include <stdlib.h>
#include <string.h>

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static void oracle_free(struct dp_oracle *o)
{
	if (!o)
		return;
	free(o->uses);
	free_list(o->argv);
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
	free_list(s->trainer.argv);
	free_list(s->trainer.env);
	free(s->trainer.cwd);
	free_list(s->trainer.slurm.options);
	for (size_t i = 0; i < s->nparams; i++) {
		free(s->params[i].name);
		json_decref(s->params[i].values);
		free(s->params[i].calibrate);
	}
	free(s->params);
	for (size_t i = 0; i < s->nobjectives; i++) {
		free(s->objectives[i].name);
		free(s->objectives[i].metric);
		oracle_free(s->objectives[i].privacy);
	}
	free(s->objectives);
	for (size_t i = 0; i < s->nconstraints; i++)
		free(s->constraints[i].metric);
	free(s->constraints);
	free(s->search.initial_from);
	free(s);
}

bool dp_study_denoises(const struct dp_study *s)
{
	return s->search.front == DP_FRONT_DEFAULT ? s->search.method == DP_METHOD_DPARETO
						   : s->search.front == DP_FRONT_DENOISED;
}

static void read_file(struct dp__read *r)
{
	const struct dp__node *top = dp__tree(r);

	if (!top)
		return;
	if (top->kind != DP__MAP) {
		dp__problem(r, top->pos, "keys such as study, trainer and parameters",
			    "a study file is a map of keys at the top, not a %s",
			    top->kind == DP__LIST ? "list" : "single value");
		return;
	}
	dp__read_section(r, DP__TOP, top->pos, top, r->s);
	dp__check_calibrated(r);
	dp__check_objectives(r);
	dp__check_search(r);
	dp__check_walk(r);
	dp__check_cost(r);
	dp__check_release(r);
	dp__check_select(r);
	dp__check_budget(r);
	dp__check_seeds(r, top);
}

/* One sentence for those who show only one. */
static int problems_summary(const struct dp_problems *p, const char *path, struct dp_err *err)
{
	const struct dp_problem *first = p->list;

	while (first->warning)
		first++;
	if (first->line)
		dp_fail(err, DP_E_INVALID, "%s:%d:%d: %s", path, first->line, first->column,
			first->message);
	else
		dp_fail(err, DP_E_INVALID, "%s: %s", path, first->message);
	if (p->errors > 1)
		dp_hint(err,
			"there are %zu mistakes in all; `dparetoctl validate` shows "
			"every one",
			p->errors);
	else
		dp_hint(err, "`dparetoctl validate` shows the line, `dparetoctl explain` "
			     "every key");
	return DP_E_INVALID;
}

int dp_study_parse(const char *text, size_t len, const char *path, const char *dir,
		   struct dp_study **out, struct dp_problems *problems, struct dp_err *err)
{
	struct dp__read r = { .text = text, .len = len, .dir = dir, .problems = problems };
	int code = DP_OK;

	memset(problems, 0, sizeof *problems);
	r.s = calloc(1, sizeof *r.s);
	if (r.s)
		read_file(&r);
	dp__tree_free(&r);
	dp__problems_sort(problems);
	if (!r.s || r.nomem) {
		dp_problems_free(problems); /* may be none: what was read is not whole */
		code = dp_fail(err, DP_E_NOMEM, "%s: no memory to read the study", path);
	} else if (problems->errors) {
		code = problems_summary(problems, path, err);
	}
	if (code == DP_OK)
		*out = r.s;
	else
		dp_study_free(r.s);
	return code;
}
