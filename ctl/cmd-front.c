/* cmd-front.c - the best trade-offs found so far, and questions to them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/look.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/text.h"
#include "ctl/trials.h"
#include "ctl/view.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value that put the point on the front: the models', where they chose it. */
static double objective_of(const json_t *point, const char *name)
{
	const json_t *values = json_object_get(point, "denoised");
	double x = NAN;

	if (!values)
		values = json_object_get(point, "objectives");
	return dp_json_to_real(json_object_get(values, name), &x) ? x : NAN;
}

/* Checks that the study has this objective. */
static int check_objective(const json_t *front, const char *name, struct dp_err *err)
{
	const char *names[64] = { 0 }, *near, *key;
	struct dp_buf all = DP_BUF_INIT;
	json_t *value;
	size_t n = 0;

	json_object_foreach (json_object_get(front, "anti_ideal"), key, value) {
		if (strcmp(key, name) == 0) {
			dp_buf_free(&all);
			return DP_OK;
		}
		if (n + 1 < DP_COUNT(names))
			names[n++] = key;
		dp_buf_printf(&all, "%s%s", all.len ? ", " : "", key);
	}
	near = dp_nearest(name, names);
	dp_fail(err, DP_E_USAGE, "study '%s' has no objective '%s'%s%s%s",
		dp_json_str(front, "study", "?"), name, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
	dp_hint(err, "its objectives are %s", dp_buf_text(&all));
	dp_buf_free(&all);
	return DP_E_USAGE;
}

/* Removes the points that a --max or --min leaves out. */
static int front_filter(json_t *front, const struct ctl_given *given, struct dp_err *err)
{
	bool max = strcmp(given->option->name, "max") == 0;
	const char *equals = strchr(given->value, '=');
	json_t *points = json_object_get(front, "front");
	char name[DP_NAME_MAX + 1];
	double bound, x;
	int code;

	snprintf(name, sizeof name, "%.*s", (int)strcspn(given->value, "="),
		 given->value);
	if (!equals || !dp_num_parse(equals + 1, &bound))
		return dp_fail(
			err, DP_E_USAGE,
			"--%s takes OBJECTIVE=NUMBER, as in --%s epsilon=1, not '%s'",
			given->option->name, given->option->name, given->value);
	code = check_objective(front, name, err);
	if (code != DP_OK)
		return code;
	for (size_t i = json_array_size(points); i > 0; i--) {
		x = objective_of(json_array_get(points, i - 1), name);
		if (max ? !(x <= bound) : !(x >= bound))
			json_array_remove(points, i - 1);
	}
	return DP_OK;
}

/* Is an objective to be maximized? A front is sorted by the first objective, the
 * best first; with two objectives the second then gets better from row to row. So
 * for those the rows tell; for more the daemon must. */
static int is_maximized(const json_t *front, const json_t *summary, const char *name,
			bool *maximized, struct dp_err *err)
{
	const json_t *goals = json_object_get(summary, "goals");
	const json_t *points = json_object_get(front, "front");
	const json_t *first = json_array_get(points, 0);
	const json_t *last = json_array_get(points, json_array_size(points) - 1);
	json_t *names = ctl_keys(json_object_get(front, "anti_ideal"));
	size_t count = json_array_size(names), k = 0;
	double a = objective_of(first, name), b = objective_of(last, name);
	const char *goal;

	while (k < count &&
	       strcmp(json_string_value(json_array_get(names, k)), name) != 0)
		k++;
	json_decref(names);
	goal = json_string_value(json_array_get(goals, k));
	if (goal)
		*maximized = strcmp(goal, "maximize") == 0;
	else if (k == 0)
		*maximized = a > b;
	else if (count == 2)
		*maximized = b > a;
	else
		return dp_fail(err, DP_E_FAILED,
			       "this daemon does not tell whether '%s' is to be large or "
			       "small; use --max or --min",
			       name);
	return DP_OK;
}

/* The same; the daemon has the goals. */
static int ask_maximized(struct ctl *ctl, const json_t *front, const char *name,
			 bool *maximized, struct dp_err *err)
{
	json_t *status;
	int code = ctl_call_study(ctl, "status", dp_json_str(front, "study", ""), &status,
				  err);

	if (code != DP_OK)
		return code;
	code = is_maximized(front, json_object_get(status, "study"), name, maximized,
			    err);
	json_decref(status);
	return code;
}

/* Keeps the point that is best in one objective. */
static int keep_best(struct ctl *ctl, json_t *front, const char *name, struct dp_err *err)
{
	json_t *points = json_object_get(front, "front"), *best, *one;
	bool maximized = false;
	int code = check_objective(front, name, err);

	if (code != DP_OK || json_array_size(points) < 2)
		return code;
	code = ask_maximized(ctl, front, name, &maximized, err);
	if (code != DP_OK)
		return code;
	best = json_array_get(points, 0);
	for (size_t i = 1; i < json_array_size(points); i++) {
		double x = objective_of(json_array_get(points, i), name);
		double y = objective_of(best, name);

		if (maximized ? x > y : x < y)
			best = json_array_get(points, i);
	}
	one = json_array();
	json_array_append(one, best);
	json_object_set_new(front, "front", one);
	return DP_OK;
}

/* `all` points, in words, were there before questions took some out. */
static void front_people(struct ctl *ctl, const json_t *front, size_t all,
			 const char *words, const struct ctl_columns *cols)
{
	size_t shown = json_array_size(json_object_get(front, "front"));
	struct dp_buf volume = DP_BUF_INIT;
	char ended[CTL_TEXT_LEN];

	if (shown > 0)
		ctl_front_table(ctl, front, cols);
	else if (all > 0)
		ctl_say(ctl, "none of the %s on the front is within these limits", words);
	else
		ctl_say(ctl, "the front is empty: %s", ctl_front_empty(front));
	if (ctl_selection(json_object_get(front, "selection"), &volume))
		ctl_say(ctl, "%s", dp_buf_text(&volume));
	dp_buf_clear(&volume);
	ctl_front_volume(front, &volume);
	ctl_say(ctl, "study '%s' is %s; %s trials ended, %s on the front; %s",
		dp_json_str(front, "study", "?"), dp_json_str(front, "state", "?"),
		ctl_is_hidden(front)
			? "a secret number of"
			: ctl_value(json_object_get(front, "evaluations"), ended),
		words, dp_buf_text(&volume));
	dp_buf_free(&volume);
}

/* Which front the options ask for: NULL for the study's own. */
static int front_choice(struct ctl *ctl, const char **choice, struct dp_err *err)
{
	bool denoised = ctl_flag(ctl, "denoised"), observed = ctl_flag(ctl, "observed");

	*choice = denoised ? "denoised" : observed ? "observed" : NULL;
	if (denoised && observed)
		return dp_fail(err, DP_E_USAGE,
			       "--denoised and --observed ask for two "
			       "different fronts; give one of them");
	return DP_OK;
}

static int front_questions(struct ctl *ctl, json_t *front, struct dp_err *err)
{
	const char *best = ctl_opt(ctl, "best");
	int code = DP_OK;

	for (size_t i = 0; i < ctl->ngiven && code == DP_OK; i++) {
		const char *option = ctl->given[i].option->name;

		if (strcmp(option, "max") == 0 || strcmp(option, "min") == 0)
			code = front_filter(front, &ctl->given[i], err);
	}
	return code == DP_OK && best ? keep_best(ctl, front, best, err) : code;
}

static int front_run(struct ctl *ctl, struct dp_err *err)
{
	const char *choice;
	json_t *front;
	struct ctl_columns cols;
	struct dp_buf words = DP_BUF_INIT;
	size_t all;
	int code = front_choice(ctl, &choice, err);

	if (code == DP_OK)
		code = ctl_call_front(ctl, ctl->argv[0], choice, &front, err);
	if (code != DP_OK)
		return code;
	all = json_array_size(json_object_get(front, "front"));
	ctl_point_count(json_object_get(front, "front"), &words);
	ctl_front_columns(front, &cols);
	code = front_questions(ctl, front, err);
	if (code == DP_OK) {
		if (ctl->format == CTL_JSON)
			ctl_put_json(ctl, front);
		else if (ctl->format == CTL_CSV)
			ctl_front_csv(ctl, front, &cols);
		else
			front_people(ctl, front, all, dp_buf_text(&words), &cols);
	}
	dp_buf_free(&words);
	ctl_columns_clear(&cols);
	json_decref(front);
	return code;
}

static const struct ctl_option options[] = {
	{ "max", 0, "OBJECTIVE=X", "only points where the objective is at most X" },
	{ "min", 0, "OBJECTIVE=X", "only points where the objective is at least X" },
	{ "best", 0, "OBJECTIVE",
	  "of these, the one point that is best in this objective" },
	{ "denoised", 0, NULL,
	  "the front of the models' values, whatever the study's search.front is" },
	{ "observed", 0, NULL, "the front of the observed means, likewise" },
	CTL_LOOK_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_front = {
	.name = "front",
	.summary = "show the best trade-offs found so far",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN | CTL_HAS(CSV),
	.options = options,
	.help = "The front holds every trial that no other beats in all objectives, with "
		"the parameters behind it. --max and --min can be given several "
		"times. Where trainings are paths (trainer.path), 7@4 is what trial 7 "
		"was on its way, at 4: settings like any other, which 'dparetoctl trial "
		"STUDY 7@4' shows.\n\n"
		"A front of observed means is a front of lucky runs. So with "
		"search.front: "
		"denoised, the default of method dpareto, models of all results choose "
		"it, "
		"and each point is shown with both: what was observed, and without the "
		"noise, which is what --max, --min, --best and the order go by. Trials "
		"with the same parameters are one point then, under the first number. Of "
		"more than 600 results the models see the observed front and others at "
		"even steps. `list`, `status` and `watch` always go by observed means.",
	.examples = "dparetoctl front adult\n"
		    "dparetoctl front adult --max epsilon=1 --best error\n"
		    "  what do I get at epsilon 1?\n"
		    "dparetoctl front adult -o csv > front.csv",
	.run = front_run,
};
