/* cmd-front.c - `front`: shows and filters the best trade-offs found so far. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/support/front_filter.h"
#include "ctl/support/study_queries.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"
#include "ctl/study_status.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* all: the points before filters. */
static void front_print_text(struct ctl *ctl, const json_t *front, const json_t *all,
			     const struct ctl_result_columns *cols)
{
	const json_t *points = json_object_get(front, "front"),
		     *name = json_array_get(cols->metric_objectives, 0),
		     *metric = json_array_get(cols->metrics, 0);
	int64_t runs =
		dp_json_int(json_object_get(json_object_get(json_array_get(points, 0), "spread"),
					    json_string_value(name)),
			    "runs", 0);
	size_t again = ctl_count_reevaluated(all);
	struct dp_buf words = DP_BUF_INIT, text = DP_BUF_INIT;
	char ended[DP_PLURAL_LEN];

	ctl_format_point_count(all, &words);
	if (again > 0 && again < json_array_size(all)) /* the hypervolume is of these */
		dp_buf_printf(&words, " (%zu measured again)", again);
	if (json_array_size(points) > 0)
		ctl_front_print_table(ctl, front, cols);
	else if (json_array_size(all) > 0)
		ctl_print_message(
			ctl, "none of the %s on the front is within %s", dp_buf_text(&words),
			ctl_has_option(ctl, "knee") ? "these limits and the anti-ideal box"
						    : "these limits");
	else
		ctl_print_message(ctl, "the front is empty: %s", ctl_front_empty_reason(front));
	/* metrics have no model */
	if (cols->with_smoothed && metric)
		ctl_print_message(ctl,
				  "%s goes by what was observed, luck included; limits on "
				  "objectives go by what is denoised",
				  json_string_value(metric));
	if (ctl_format_selection_cost(json_object_get(front, "selection"), &text))
		ctl_print_message(ctl, "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (runs > 0)
		dp_buf_printf(&text, "%" PRId64 " run%s each; ", runs, runs == 1 ? "" : "s");
	dp_buf_puts(&text, "hypervolume ");
	ctl_format_hypervolume(front, &text);
	ctl_print_message(ctl, "study '%s' is %s; %s ended, %s on the front; %s",
			  dp_json_str(front, "study", "?"), dp_json_str(front, "state", "?"),
			  ctl_study_hides_trials(front)
				  ? "a secret number of trials"
				  : ctl_format_count(front, "evaluations", "trial", ended),
			  dp_buf_text(&words), dp_buf_text(&text));
	dp_buf_free(&words);
	dp_buf_free(&text);
}

static int cmd_front_run(struct ctl *ctl, struct dp_err *err)
{
	struct ctl_result_columns cols;
	json_t *front, *all;
	int code = ctl_query_front(ctl, ctl->argv[0], &front, &all, err);

	if (code != DP_OK)
		return code;
	ctl_result_columns_from_front(front, all, &cols);
	cols.metrics = ctl_front_filter_metrics(ctl, front);
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, front);
	else if (ctl->format == CTL_CSV)
		ctl_front_print_csv(ctl, front, &cols);
	else
		front_print_text(ctl, front, all, &cols);
	ctl_result_columns_clear(&cols);
	json_decref(front);
	json_decref(all);
	return DP_OK;
}

static const struct ctl_option options[] = {
	{ "max", 0, "NAME=X", "only points where this objective or metric is at most X" },
	{ "min", 0, "NAME=X", "only points where this objective or metric is at least X" },
	{ "best", 0, "NAME", "of these, the one point that is best in this objective or metric" },
	{ "knee", 0, NULL, "of these, the one farthest below the line between the front's ends" },
	{ "one-se", 0, NULL,
	  "of these, the best in the first objective within one standard error of the best" },
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
	.help = "The front holds every trial that no other beats in all objectives, with the "
		"parameters behind it, and beside what was measured how far the truth may be "
		"from it: 95 % of the mean of the runs, by Student's t. Where trainings are "
		"paths (trainer.path), 7@4 is what trial 7 was on its way, at 4: settings like "
		"any other, which 'dparetoctl trial STUDY 7@4' shows.\n\n"
		"--max and --min can be given several times, also of a metric that trainers "
		"report: its mean counts. Of what these leave, one point: --best is the best in "
		"one objective. --knee is the one farthest below the line between the ends of "
		"the front inside the anti-ideal box, the objectives on the scales of their "
		"transforms (of more than two objectives, below the plane; where nothing is "
		"below, the first end). --one-se is the best in the first objective, the least "
		"epsilon, of those that are within one standard error of the best in the second, "
		"or in the one that --best names: what cannot be told from the best, at the "
		"least price.\n\n"
		"A front of observed means is a front of lucky runs. So with search.front: "
		"denoised, the default of method dpareto, models of all results choose it, and "
		"each point is shown with both: what was observed, and without the noise, which "
		"is what the questions, the interval and the order go by. Trials with the same "
		"parameters are one point then, under the first number. Of more than 600 results "
		"the models see the observed front and others at even steps. `list`, `status` "
		"and `watch` always go by observed means.",
	.examples = "dparetoctl front adult\n"
		    "dparetoctl front adult --max epsilon=1 --best error\n"
		    "  what do I get at epsilon 1?\n"
		    "dparetoctl front adult --min accuracy=0.8 --best epsilon\n"
		    "dparetoctl front adult --knee\n"
		    "dparetoctl front adult -o csv > front.csv",
	.run = cmd_front_run,
};
