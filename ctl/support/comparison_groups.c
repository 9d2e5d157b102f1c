/* comparison_groups.c - reads the groups of studies, and their results, for `compare`. */
#include "ctl/support/comparison_groups.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"
#include "ctl/study_status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A study and its results in trial order. */
struct ctl_study_results {
	json_t *summary;
	double *y;
	uint32_t *trial;
	size_t capacity;
	struct dp_compare_study results;
};

static const char *study_results_name(const struct ctl_study_results *r)
{
	return r->results.name;
}

void ctl_groups_clear(struct ctl_groups *g)
{
	for (size_t i = 0; i < g->n_studies; i++) {
		json_decref(g->studies[i].summary);
		free(g->studies[i].y);
		free(g->studies[i].trial);
	}
	free(g->studies);
	dp_comparison_free(&g->contest);
	memset(g, 0, sizeof *g);
}

bool ctl_groups_objective_is_privacy(const struct ctl_groups *g, size_t objective)
{
	return json_object_get(json_object_get(g->studies[0].summary, "deltas"),
			       g->contest.objectives[objective]) != NULL;
}

static int groups_set_objectives(struct dp_comparison *c, const json_t *summary, struct dp_err *err)
{
	const json_t *names = json_object_get(summary, "objectives");
	const json_t *goals = json_object_get(summary, "goals");
	const json_t *box = json_object_get(summary, "anti_ideal");

	while (c->nobjectives < json_array_size(names) && c->nobjectives < DP_OBJECTIVES_MAX) {
		size_t i = c->nobjectives;
		const char *name = json_string_value(json_array_get(names, i));
		const char *goal = json_string_value(json_array_get(goals, i));

		if (!name || !goal ||
		    !dp_json_to_real(json_object_get(box, name), &c->reference_point[i]))
			break;
		c->objectives[c->nobjectives++] = dp_strdup(name);
		c->sign[i] = strcmp(goal, "maximize") == 0 ? -1 : 1;
	}
	if (c->nobjectives > 0 && c->nobjectives == json_array_size(names))
		return DP_OK;
	return dp_fail(err, DP_E_PROTOCOL,
		       "the daemon does not tell what study '%s' is to minimise and "
		       "maximise, and by which anti-ideal",
		       dp_json_str(summary, "name", "?"));
}

/* "minimize epsilon, maximize f1" */
static void format_objective_goals(const json_t *summary, struct dp_buf *out)
{
	const json_t *name;
	size_t i;

	json_array_foreach (json_object_get(summary, "objectives"), i, name)
		dp_buf_printf(
			out, "%s%s %s", i ? ", " : "",
			json_string_value(json_array_get(json_object_get(summary, "goals"), i)),
			json_string_value(name));
}

/* Fails because two studies differ in what `show` formats. */
static int fail_studies_differ(const json_t *first, const json_t *other, const char *what,
			       void (*show)(const json_t *summary, struct dp_buf *out),
			       struct dp_err *err)
{
	struct dp_buf mine = DP_BUF_INIT, its = DP_BUF_INIT;
	int code;

	show(first, &mine);
	show(other, &its);
	code = dp_fail(err, DP_E_INVALID,
		       "'%s' and '%s' cannot be compared: their %s differ (%s; %s)",
		       dp_json_str(first, "name", "?"), dp_json_str(other, "name", "?"), what,
		       dp_buf_text(&mine), dp_buf_text(&its));
	dp_buf_free(&mine);
	dp_buf_free(&its);
	return code;
}

/* Checks that studies are comparable. With --anti-ideal, their reference points may differ. */
static int check_studies_comparable(struct ctl *ctl, const json_t *first, const json_t *other,
				    struct dp_err *err)
{
	const json_t *its = json_object_get(other, "deltas");
	const char *name;
	json_t *value;
	double a, b;

	if (!json_equal(json_object_get(first, "objectives"),
			json_object_get(other, "objectives")) ||
	    !json_equal(json_object_get(first, "goals"), json_object_get(other, "goals")))
		return fail_studies_differ(first, other, "objectives", format_objective_goals, err);
	if (!ctl_get_option(ctl, "anti-ideal") &&
	    !json_equal(json_object_get(first, "anti_ideal"),
			json_object_get(other, "anti_ideal"))) {
		fail_studies_differ(first, other, "anti-ideals", ctl_format_reference_point, err);
		return dp_hint(err, "--anti-ideal NAME=V,NAME=V gives one to all");
	}
	/* epsilons are comparable only at the same delta, if both are known */
	json_object_foreach (json_object_get(first, "deltas"), name, value)
		if (dp_json_to_real(value, &a) && dp_json_to_real(json_object_get(its, name), &b) &&
		    a != b)
			return dp_fail(err, DP_E_INVALID,
				       "'%s' and '%s' cannot be compared: their %s is at "
				       "delta %g and %g",
				       dp_json_str(first, "name", "?"),
				       dp_json_str(other, "name", "?"), name, a, b);
	return DP_OK;
}

/* Parses --anti-ideal epsilon=10,error=1. */
static int groups_parse_reference_point(struct dp_comparison *c, const char *text,
					struct dp_err *err)
{
	char *copy = dp_strdup(text), *rest = copy, *part;
	bool given[DP_OBJECTIVES_MAX] = { false };
	int code = DP_OK;

	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL) {
		char *number = strchr(part, '=');
		size_t k = 0;

		if (number)
			*number++ = '\0';
		code = dp_comparison_find_objective(c, part, &k, err);
		if (code == DP_OK &&
		    (!number || given[k] || !dp_num_parse(number, &c->reference_point[k]) ||
		     !isfinite(c->reference_point[k])))
			code = dp_fail(err, DP_E_USAGE,
				       "--anti-ideal takes each objective once with its "
				       "number, as in epsilon=10,error=1, not '%s'",
				       text);
		if (code == DP_OK)
			given[k] = true;
	}
	for (size_t k = 0; k < c->nobjectives && code == DP_OK; k++)
		if (!given[k])
			code = dp_fail(err, DP_E_USAGE, "--anti-ideal leaves out '%s'",
				       c->objectives[k]);
	free(copy);
	return code;
}

struct results_builder {
	const struct dp_comparison *contest;
	struct ctl_study_results *study;
};

static int results_add(struct results_builder *r, const json_t *values, uint32_t trial,
		       struct dp_err *err)
{
	struct ctl_study_results *of = r->study;
	size_t m = r->contest->nobjectives;
	double x;

	if (of->results.n == of->capacity) {
		of->capacity = of->capacity ? 2 * of->capacity : 256;
		of->y = dp_realloc(of->y, of->capacity * m * sizeof *of->y);
		of->trial = dp_realloc(of->trial, of->capacity * sizeof *of->trial);
		of->results.y = of->y;
		of->results.trial_numbers = of->trial;
	}
	for (size_t k = 0; k < m; k++) {
		if (!dp_json_to_real(json_object_get(values, r->contest->objectives[k]), &x))
			return dp_fail(err, DP_E_PROTOCOL,
				       "the daemon tells no %s of trial %u of study '%s'",
				       r->contest->objectives[k], trial, study_results_name(of));
		of->y[of->results.n * m + k] = r->contest->sign[k] * x;
	}
	of->trial[of->results.n++] = trial;
	return DP_OK;
}

/* Adds a row of `trials`: a trial or one of its checkpoints, which precede it. */
static int on_trial_add_result(struct ctl *ctl, const json_t *row, void *arg, struct dp_err *err)
{
	struct results_builder *r = arg;
	struct dp_compare_study *of = &r->study->results;
	const char *state = dp_json_str(row, "state", "");
	uint32_t trial = (uint32_t)dp_json_int(row, "trial", 0);

	(void)ctl;
	if (!json_is_integer(json_object_get(row, "at"))) {
		of->nended += of->nended == trial && ctl_trial_has_ended(row);
		of->ntrials = trial + 1;
	}
	if (strcmp(state, "ok") != 0 || !dp_json_bool(row, "feasible", true))
		return DP_OK;
	return results_add(r, json_object_get(row, "objectives"), trial, err);
}

/* Adds the points of a front. smoothed: the smoothed front, since no other point adds volume or is
 * best in an objective. Otherwise the re-evaluated points of the study's front. */
static int results_add_front(struct ctl *ctl, struct results_builder *r, bool smoothed,
			     struct dp_err *err)
{
	const json_t *point;
	json_t *front;
	size_t i;
	int code = ctl_call_front(ctl, study_results_name(r->study), smoothed ? "denoised" : NULL,
				  &front, err);

	if (code != DP_OK)
		return code;
	json_array_foreach (json_object_get(front, "front"), i, point) {
		const json_t *from = smoothed ? point : json_object_get(point, "remeasured"),
			     *y = smoothed ? json_object_get(point, "denoised") : NULL;

		y = y ? y : json_object_get(from, "objectives");
		if (y)
			code = results_add(r, y, (uint32_t)dp_json_int(point, "trial", 0), err);
		if (code != DP_OK)
			break;
	}
	json_decref(front);
	return code;
}

static bool compares_by(const struct ctl *ctl, const char *values)
{
	const char *by = ctl_get_option(ctl, "by");

	return strcmp(by ? by : "observed", values) == 0;
}

static int load_study_results(struct ctl *ctl, struct ctl_groups *g, struct ctl_study_results *of,
			      struct dp_err *err)
{
	struct ctl_trial_query which = { .study = study_results_name(of) };
	bool remeasured = compares_by(ctl, "remeasured");
	struct results_builder r = { &g->contest, of };
	int code;

	if (strcmp(dp_json_str(of->summary, "state", ""), "running") == 0)
		ctl_print_message(ctl, "study '%s' is not over: what it has by now is compared",
				  study_results_name(of));
	g->contest.is_realised =
		remeasured && g->contest.nobjectives == 2 && ctl_groups_objective_is_privacy(g, 0);
	if (compares_by(ctl, "denoised"))
		code = results_add_front(ctl, &r, true, err);
	else if (remeasured)
		code = results_add_front(ctl, &r, false, err);
	else
		code = ctl_for_each_trial(ctl, &which, on_trial_add_result, &r, err);
	if (code != DP_OK || !remeasured || of->results.n > 0)
		return code;
	dp_fail(err, DP_E_INVALID, "nothing on the front of study '%s' was measured again",
		study_results_name(of));
	return dp_hint(err, "'dparetoctl remeasure %s' does that", study_results_name(of));
}

/* Returns the study named `text` with its results, loaded on first use. */
static int groups_find_or_load_study(struct ctl *ctl, struct ctl_groups *g, const char *text,
				     const struct ctl_study_results **out, struct dp_err *err)
{
	json_t *status, *summary;
	int code = ctl_call_study(ctl, "status", text, &status, err);

	if (code != DP_OK)
		return code;
	summary = json_incref(json_object_get(status, "study"));
	json_decref(status);
	for (size_t i = 0; i < g->n_studies; i++)
		if (strcmp(study_results_name(&g->studies[i]), dp_json_str(summary, "name", "")) ==
		    0) {
			json_decref(summary);
			*out = &g->studies[i];
			ctl_print_message(ctl,
					  "study '%s' is named twice; tests take groups for "
					  "independent of each other",
					  study_results_name(*out));
			return DP_OK;
		}
	g->studies = dp_reallocarray(g->studies, g->n_studies + 1, sizeof *g->studies);
	g->studies[g->n_studies++] =
		(struct ctl_study_results){ .summary = summary,
					    .results.name = dp_json_str(summary, "name", "?") };
	code = g->n_studies == 1
		       ? groups_set_objectives(&g->contest, summary, err)
		       : check_studies_comparable(ctl, g->studies[0].summary, summary, err);
	if (code == DP_OK)
		code = load_study_results(ctl, g, &g->studies[g->n_studies - 1], err);
	*out = &g->studies[g->n_studies - 1];
	return code;
}

/* Adds a group from "NAME=a,b/256". The default name is the list of studies. */
static int groups_add_group(struct ctl *ctl, struct ctl_groups *g, const char *text,
			    struct dp_err *err)
{
	char parts[DP_PLURAL_LEN], last[DP_PLURAL_LEN];
	struct dp_group_spec members;
	int code = dp_group_spec_parse(text, &members, err);

	if (code == DP_OK)
		code = dp_comparison_add_group(&g->contest, members.name, err);
	for (size_t i = 0; i < members.n && code == DP_OK; i++) {
		const struct dp_group_entry *m = &members.list[i];
		const struct ctl_study_results *of;
		uint32_t left = 0;

		code = groups_find_or_load_study(ctl, g, m->study, &of, err);
		if (code == DP_OK && m->part_size > 0 && !compares_by(ctl, "observed"))
			code = dp_fail(err, DP_E_USAGE,
				       "parts of a study can only be compared by observed "
				       "values: the others are of its whole front");
		if (code == DP_OK)
			code = dp_comparison_add_study(&g->contest, &of->results, m->part_size,
						       err);
		if (code == DP_OK && m->part_size > 0)
			left = dp_compare_count_leftover_trials(&of->results, m->part_size);
		if (left > 0)
			ctl_print_message(
				ctl, "study '%s': %s of %u; the last %s %s left out",
				of->results.name,
				dp_plural_text(of->results.nended / m->part_size, "part", parts),
				m->part_size, dp_plural_text(left, "trial", last),
				left == 1 ? "is" : "are");
	}
	dp_group_spec_free(&members);
	return code;
}

int ctl_groups_read(struct ctl *ctl, struct ctl_groups *g, struct dp_err *err)
{
	const char *anti_ideal = ctl_get_option(ctl, "anti-ideal");
	int code = DP_OK;

	for (int i = 0; i < ctl->argc && code == DP_OK; i++)
		code = groups_add_group(ctl, g, ctl->argv[i], err);
	for (size_t i = 0; i < ctl->n_given_options && code == DP_OK; i++)
		if (strcmp(ctl->given_options[i].option->name, "group") == 0)
			code = groups_add_group(ctl, g, ctl->given_options[i].value, err);
	if (code == DP_OK && g->contest.n == 0) {
		dp_fail(err, DP_E_USAGE, "'compare' is told too little: which studies?");
		return dp_hint(err, "usage: dparetoctl compare STUDY STUDY, or --group "
				    "dpareto=a,b,c --group random=r/256");
	}
	return code == DP_OK && anti_ideal
		       ? groups_parse_reference_point(&g->contest, anti_ideal, err)
		       : code;
}
