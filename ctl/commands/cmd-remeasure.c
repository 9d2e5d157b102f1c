/* cmd-remeasure.c - `remeasure`: re-evaluates points with fresh seeds. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/reevaluation.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/ui/result_id.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parses "7,8@4" to [[7, null], [8, 4]]; "front" to NULL. */
static int parse_reevaluate_points(const char *text, json_t **pairs, struct dp_err *err)
{
	char *copy, *rest, *part;
	int code = DP_OK;

	*pairs = NULL;
	if (!text || strcmp(text, "front") == 0)
		return DP_OK;
	*pairs = json_array();
	copy = rest = dp_strdup(text);
	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL) {
		struct ctl_result_id point;
		json_t *at;

		code = ctl_result_id_parse(part, &point, err);
		if (code != DP_OK)
			break;
		at = ctl_result_id_checkpoint_json(&point);
		json_array_append_new(*pairs, json_pack("[I, o]", (json_int_t)point.trial,
							at ? at : json_null()));
	}
	if (code != DP_OK)
		dp_hint(err, "--points takes 'front', or results like 7,12,9@4");
	free(copy);
	return code;
}

/* "16 % smaller" */
static void format_relative_change(struct dp_buf *out, double from, double to)
{
	dp_buf_printf(out, "%.2g %% %s", 100 * fabs(from - to) / from,
		      to < from ? "smaller" : "larger");
}

/* Prints the selection bias of the front, known once all its points are re-evaluated. Models may
 * have chosen points other than the observed front's; then the difference to the observed
 * hypervolume is not selection bias alone. */
static void print_selection_bias(struct ctl *ctl, const json_t *front)
{
	const json_t *points = json_object_get(front, "front");
	struct dp_buf text = DP_BUF_INIT;
	double observed, denoised, again;
	size_t measured = ctl_count_reevaluated(points);

	dp_buf_puts(&text, "hypervolume ");
	ctl_format_hypervolume(front, &text);
	ctl_print_message(ctl, "%s", dp_buf_text(&text));
	dp_buf_clear(&text);
	if (measured < json_array_size(points)) {
		ctl_print_message(ctl,
				  "only %zu of the front's %zu points %s measured again: that "
				  "hypervolume is of these alone",
				  measured, json_array_size(points), measured == 1 ? "is" : "are");
	} else if (dp_json_to_real(json_object_get(front, "hypervolume"), &observed) &&
		   dp_json_to_real(json_object_get(front, "hypervolume_remeasured"), &again) &&
		   observed > 0) {
		dp_buf_puts(&text, "measured again it is ");
		format_relative_change(&text, observed, again);
		dp_buf_puts(&text, " than observed");
		if (dp_json_to_real(json_object_get(front, "hypervolume_denoised"), &denoised) &&
		    denoised > 0) {
			dp_buf_puts(&text, " and ");
			format_relative_change(&text, denoised, again);
			dp_buf_puts(&text, " than denoised");
		} else if (again < observed) {
			dp_buf_puts(&text, ": so much of it was luck");
		}
		ctl_print_message(ctl, "%s", dp_buf_text(&text));
	}
	dp_buf_free(&text);
}

static int reevaluate_and_print(struct ctl *ctl, void *fields, struct dp_err *err)
{
	const char *study = ctl->argv[0];
	json_t *ok, *rows = NULL, *front;
	int code = ctl_call(ctl, "measure", json_incref(fields), &ok, err);

	if (code != DP_OK)
		return code;
	if (dp_json_int(ok, "new", 0) == 0)
		ctl_print_message(ctl, "that is being measured already: going on with it");
	if (ctl_has_option(ctl, "no-wait")) {
		if (ctl->format == CTL_JSON)
			ctl_print_json(ctl, ok);
		else
			ctl_print_message(ctl,
					  "asked for; 'dparetoctl status %s' shows how far it "
					  "is, 'dparetoctl front %s' what came of it",
					  study, study);
		json_decref(ok);
		return DP_OK;
	}
	code = ctl_reevaluation_follow(ctl, study, json_object_get(ok, "measurements"), &rows, err);
	if (code == DP_OK)
		code = ctl_call_front(ctl, study, NULL, &front, err);
	if (code == DP_OK) {
		if (ctl->format == CTL_JSON) {
			json_object_set(front, "measures", rows);
			ctl_print_json(ctl, front);
		} else {
			ctl_reevaluation_print_table(ctl, rows);
			print_selection_bias(ctl, front);
		}
		json_decref(front);
		ctl->json_printed = true;
		code = ctl_reevaluation_check_success(rows, err);
	}
	json_decref(rows);
	json_decref(ok);
	return code;
}

static int cmd_remeasure_run(struct ctl *ctl, struct dp_err *err)
{
	const char *text = ctl_get_option(ctl, "runs");
	json_t *fields, *points;
	int64_t runs = 50;
	int code;

	if (ctl_get_option(ctl, "state") && ctl_has_option(ctl, "no-wait"))
		return dp_fail(err, DP_E_USAGE,
			       "with --state nothing goes on once this command has ended, so it "
			       "cannot be left with --no-wait");
	if (text && (!dp_int_parse(text, &runs) || runs < 1))
		return dp_fail(err, DP_E_USAGE, "--runs takes a number from 1, not '%s'", text);
	code = parse_reevaluate_points(ctl_get_option(ctl, "points"), &points, err);
	if (code != DP_OK) {
		json_decref(points);
		return code;
	}
	code = ctl_pack_fields(&fields, err, "{s:s, s:I, s:o*}", "study", ctl->argv[0], "runs",
			       (json_int_t)runs, "points", points);
	if (code != DP_OK)
		return code;
	code = ctl_reevaluation_with_daemon(ctl, reevaluate_and_print, fields, err);
	json_decref(fields);
	return code;
}

static const struct ctl_option options[] = {
	{ "runs", 0, "N", "so many runs of each point (default: 50)" },
	{ "points", 0, "POINTS",
	  "front (the default), or results: 7,12,9@4 (9@4 is trial 9's waypoint 4)" },
	{ "no-wait", 0, NULL, "ask, and leave it to the daemon" },
	{ "state", 0, "DIR",
	  "of a study in this folder, made by 'run', with a daemon of its own if none serves it" },
	CTL_PATIENCE_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_remeasure = {
	.name = "remeasure",
	.summary = "measure the front's points again, with fresh seeds",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "The best of many noisy results is an optimistic one. This trains the points of "
		"the study's front (or others) again, with seeds that the search has not used, "
		"and shows what was searched beside what came out, with the hypervolume of both. "
		"Afterwards 'front', 'export' and the report show both, too. What was searched "
		"stays as it was, and no later proposal depends on it.\n\n"
		"Works on a study in any state: one that has ended goes back there once all is "
		"measured; in one that runs they take up to half of its places. Runs are made in "
		"trials of their own, m0, m1, ..., of at most trainer.runs runs each, which "
		"'trial', 'logs', 'cancel' and 'retry' know by these names. They count in what "
		"the whole search costs and in search.budget, but not in evaluations. Asked "
		"again while it is being measured, the same goes on. Ctrl-C leaves it to the "
		"daemon; with --state it stops, and the same command goes on later. A study in "
		"DIR that had not ended goes on meanwhile.\n\n"
		"Exit status: 0 when all is measured, 6 when something of it failed.",
	.examples = "dparetoctl remeasure adult\n"
		    "dparetoctl remeasure adult --runs 200 --points 7,12@4\n"
		    "dparetoctl remeasure svt --state ~/.local/state/dpareto/run/svt",
	.run = cmd_remeasure_run,
};
