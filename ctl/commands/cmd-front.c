/* cmd-front.c - the best trade-offs found so far, and questions to them. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/support/front_filter.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/client/readonly_daemon.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* "; 10 runs each" where the table has points with a spread, and what comes next. */
static void front_format_run_count(const json_t *front, const struct ctl_result_columns *cols,
				   struct dp_buf *out)
{
	const json_t *point = json_array_get(json_object_get(front, "front"), 0),
		     *name = json_array_get(cols->metric_objectives, 0);
	int64_t runs = dp_json_int(
		json_object_get(json_object_get(point, "spread"), json_string_value(name)), "runs",
		0);

	dp_buf_puts(out, "; ");
	if (runs > 0)
		dp_buf_printf(out, "%" PRId64 " run%s each; ", runs, runs == 1 ? "" : "s");
}

/* Of a metric there is no model: on a front without the noise it is what was observed. */
static void front_note_observed_metric(struct ctl *ctl, const struct ctl_result_columns *cols)
{
	const json_t *name = json_array_get(cols->metrics, 0);

	if (cols->with_smoothed && name)
		ctl_print_message(ctl,
				  "%s goes by what was observed, luck included; limits on "
				  "objectives "
				  "go by what is denoised",
				  json_string_value(name));
}

/* `all` points, in words, were there before questions took some out. */
static void front_print_text(struct ctl *ctl, const json_t *front, size_t all, const char *words,
			     const struct ctl_result_columns *cols)
{
	size_t shown = json_array_size(json_object_get(front, "front"));
	struct dp_buf volume = DP_BUF_INIT;
	char ended[DP_PLURAL_LEN];

	if (shown > 0)
		ctl_front_print_table(ctl, front, cols);
	else if (all > 0)
		ctl_print_message(ctl, "none of the %s on the front is within %s", words,
				  ctl_has_option(ctl, "knee")
					  ? "these limits and the anti-ideal box"
					  : "these limits");
	else
		ctl_print_message(ctl, "the front is empty: %s", ctl_front_empty_reason(front));
	front_note_observed_metric(ctl, cols);
	if (ctl_format_selection_cost(json_object_get(front, "selection"), &volume))
		ctl_print_message(ctl, "%s", dp_buf_text(&volume));
	dp_buf_clear(&volume);
	front_format_run_count(front, cols, &volume);
	dp_buf_puts(&volume, "hypervolume ");
	ctl_format_hypervolume(front, &volume);
	ctl_print_message(ctl, "study '%s' is %s; %s ended, %s on the front%s",
			  dp_json_str(front, "study", "?"), dp_json_str(front, "state", "?"),
			  ctl_study_hides_trials(front)
				  ? "a secret number of trials"
				  : ctl_format_count(front, "evaluations", "trial", ended),
			  words, dp_buf_text(&volume));
	dp_buf_free(&volume);
}

/* Which front the options ask for: NULL for the study's own. */
static int front_parse_kind(struct ctl *ctl, const char **choice, struct dp_err *err)
{
	bool denoised = ctl_has_option(ctl, "denoised"), observed = ctl_has_option(ctl, "observed");

	*choice = denoised ? "denoised" : observed ? "observed" : NULL;
	if (denoised && observed)
		return dp_fail(err, DP_E_USAGE,
			       "--denoised and --observed ask for two "
			       "different fronts; give one of them");
	return DP_OK;
}

/* The summary only if a question needs it, else NULL. */
static int front_fetch(struct ctl *ctl, const char *choice, json_t **front, json_t **summary,
		       struct dp_err *err)
{
	json_t *status;
	int code = ctl_call_front(ctl, ctl->argv[0], choice, front, err);

	if (code != DP_OK || !ctl_front_filter_requested(ctl))
		return code;
	code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);
	if (code != DP_OK) {
		json_decref(*front);
		return code;
	}
	*summary = json_incref(json_object_get(status, "study"));
	json_decref(status);
	return DP_OK;
}

/* Metrics that nobody asked for are not shown. */
static void front_drop_metrics(json_t *front)
{
	json_t *point;
	size_t i;

	json_array_foreach (json_object_get(front, "front"), i, point)
		json_object_del(point, "metrics");
}

static void front_print(struct ctl *ctl, const json_t *front, size_t all, const char *words,
			const struct ctl_result_columns *cols)
{
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, front);
	else if (ctl->format == CTL_CSV)
		ctl_front_print_csv(ctl, front, cols);
	else
		front_print_text(ctl, front, all, words, cols);
}

static int cmd_front_run(struct ctl *ctl, struct dp_err *err)
{
	const char *choice;
	json_t *front, *summary = NULL;
	struct ctl_result_columns cols;
	struct dp_buf words = DP_BUF_INIT;
	size_t all, again;
	int code = front_parse_kind(ctl, &choice, err);

	if (code == DP_OK)
		code = front_fetch(ctl, choice, &front, &summary, err);
	if (code != DP_OK)
		return code;
	all = json_array_size(json_object_get(front, "front"));
	again = ctl_count_reevaluated(json_object_get(front, "front"));
	ctl_format_point_count(json_object_get(front, "front"), &words);
	if (again > 0 && again < all) /* their hypervolume is of nothing else */
		dp_buf_printf(&words, " (%zu measured again)", again);
	ctl_result_columns_from_front(front, &cols);
	cols.metrics = ctl_front_filter_metrics(ctl, front);
	if (ctl_front_filter_requested(ctl))
		code = ctl_front_filter_apply(ctl, front, summary, err);
	if (json_array_size(cols.metrics) == 0)
		front_drop_metrics(front);
	if (code == DP_OK)
		front_print(ctl, front, all, dp_buf_text(&words), &cols);
	dp_buf_free(&words);
	ctl_result_columns_clear(&cols);
	json_decref(front);
	json_decref(summary);
	return code;
}

static const struct ctl_option options[] = {
	{ "max", 0, "NAME=X", "only points where this objective or metric is at most X" },
	{ "min", 0, "NAME=X", "only points where this objective or metric is at least X" },
	{ "best", 0, "NAME", "of these, the one point that is best in this objective or metric" },
	{ "knee", 0, NULL, "of these, the one farthest below the line between the front's ends" },
	{ "one-se", 0, NULL,
	  "of these, the best in the first objective within one standard error of the "
	  "best" },
	{ "denoised", 0, NULL,
	  "the front of the models' values, whatever the study's search.front is" },
	{ "observed", 0, NULL, "the front of the observed means, likewise" },
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_front = {
	.name = "front",
	.summary = "show the best trade-offs found so far",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(CSV),
	.options = options,
	.help = "The front holds every trial that no other beats in all objectives, with "
		"the parameters behind it, and beside what was measured how far the "
		"truth may be from it: 95 % of the mean of the runs, by Student's t. "
		"Where trainings are paths (trainer.path), 7@4 is what trial 7 "
		"was on its way, at 4: settings like any other, which 'dparetoctl trial "
		"STUDY 7@4' shows.\n\n"
		"--max and --min can be given several times, also of a metric that "
		"trainers report: its mean counts. Of what these leave, one point: "
		"--best is the best in one objective. --knee is the one farthest below "
		"the line between the ends of the front inside the anti-ideal box, the "
		"objectives on the scales of their transforms (of more than two "
		"objectives, "
		"below the plane; where nothing is below, the first end). --one-se is "
		"the best in "
		"the first objective, the least epsilon, of those that are within one "
		"standard error of the best in the second, or in the one that --best "
		"names: what cannot be told from the best, at the least price.\n\n"
		"A front of observed means is a front of lucky runs. So with "
		"search.front: "
		"denoised, the default of method dpareto, models of all results choose "
		"it, "
		"and each point is shown with both: what was observed, and without the "
		"noise, which is what the questions, the interval and the order go by. "
		"Trials "
		"with the same parameters are one point then, under the first number. Of "
		"more than 600 results the models see the observed front and others at "
		"even steps. `list`, `status` and `watch` always go by observed means.",
	.examples = "dparetoctl front adult\n"
		    "dparetoctl front adult --max epsilon=1 --best error\n"
		    "  what do I get at epsilon 1?\n"
		    "dparetoctl front adult --min accuracy=0.8 --best epsilon\n"
		    "dparetoctl front adult --knee\n"
		    "dparetoctl front adult -o csv > front.csv",
	.run = cmd_front_run,
};
