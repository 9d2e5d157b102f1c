/* cmd-export.c - `export`: writes all trials of a study to one file. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/support/study_queries.h"
#include "ctl/ui/result_table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct export
{
	bool csv;
	struct ctl_result_columns cols;
	json_t *front_points; /* see ctl_fetch_smoothed_front() */
	struct dp_buf out;
	size_t n_rows;
	size_t n_trials; /* rows that are trials, not checkpoints */
};

static int export_add_trial(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct export *e = arg;

	(void)ctl;
	(void)err;
	ctl_trial_set_on_front((json_t *)trial, e->front_points);
	if (e->csv) {
		if (e->n_rows == 0) {
			e->cols.parameters = ctl_json_keys(json_object_get(trial, "parameters"));
			ctl_trial_csv_header(&e->cols, &e->out);
		}
		ctl_trial_csv_row(trial, &e->cols, &e->out);
	} else {
		dp_buf_puts(&e->out, e->n_rows ? ",\n" : "\n");
		dp_json_dump(&e->out, trial, 0);
	}
	e->n_rows++;
	e->n_trials += !json_is_integer(json_object_get(trial, "at"));
	return DP_OK;
}

static int export_collect(struct ctl *ctl, struct export *e, struct dp_err *err)
{
	struct ctl_trial_query which = { .full = !e->csv,
					 .own_results_only = ctl_has_option(ctl, "own") };
	json_t *status, *summary, *front, *measured, *volume, *row;
	struct dp_err ignored;
	size_t i;
	int code = e->csv ? ctl_call_study(ctl, "status", ctl->argv[0], &status, err)
			  : ctl_call_complete_status(ctl, ctl->argv[0], &status, err);

	if (code != DP_OK)
		return code;
	summary = json_object_get(status, "study");
	which.study = dp_json_str(summary, "name", "");
	ctl_result_columns_from_study(summary, &e->cols);
	code = ctl_fetch_smoothed_front(ctl, summary, &e->front_points, err);
	e->cols.with_smoothed = e->front_points != NULL;
	if (code == DP_OK && !e->csv) {
		/* the hypervolume of re-evaluated points is only part of the front */
		code = ctl_call_front(ctl, which.study, NULL, &front, err);
		if (code == DP_OK) {
			volume = json_object_get(front, "hypervolume_remeasured");
			json_object_set(summary, "hypervolume_remeasured",
					volume ? volume : json_null());
			json_decref(front);
		}
		dp_buf_puts(&e->out, "{\"version\":1,\"study\":");
		dp_json_dump(&e->out, summary, 0);
		dp_buf_puts(&e->out, ",\"trials\":[");
	} else if (code == DP_OK &&
		   ctl_call_study(ctl, "measures", which.study, &measured, &ignored) == DP_OK) {
		json_array_foreach (json_object_get(measured, "measures"), i, row) {
			const json_t *low = json_object_get(row, "low");

			if (!e->cols.reevaluated && json_is_object(low) &&
			    json_is_integer(json_object_get(row, "trial")))
				e->cols.reevaluated = ctl_json_keys(low);
		}
		json_decref(measured);
	}
	if (code == DP_OK)
		code = ctl_for_each_trial(ctl, &which, export_add_trial, e, err);
	if (code == DP_OK && e->csv && e->n_rows == 0)
		ctl_trial_csv_header(&e->cols, &e->out);
	if (!e->csv)
		dp_buf_puts(&e->out, "]}\n");
	json_decref(status);
	return code;
}

static int cmd_export_run(struct ctl *ctl, struct dp_err *err)
{
	const char *format = ctl_get_option(ctl, "format"), *path = ctl_get_option(ctl, "file");
	struct export e = { .csv = ctl->format != CTL_JSON };
	char count[DP_PLURAL_LEN];
	int code;

	if (format)
		e.csv = strcmp(format, "csv") == 0;
	code = export_collect(ctl, &e, err);
	if (code == DP_OK && path) {
		code = dp_write_file(path, dp_buf_text(&e.out), e.out.len, true, err);
		if (code == DP_OK)
			ctl_print_message(ctl, "%s%s written to %s",
					  dp_plural_text(e.n_trials, "trial", count),
					  e.n_rows > e.n_trials ? " and their waypoints" : "",
					  path);
	} else if (code == DP_OK) {
		ctl_print_bytes(ctl, dp_buf_text(&e.out), e.out.len);
	}
	dp_buf_free(&e.out);
	json_decref(e.front_points);
	ctl_result_columns_clear(&e.cols);
	return code;
}

static const struct ctl_option options[] = {
	{ "format", 0, "csv|json", "csv has a row for each result, json also runs and attempts" },
	{ "own", 0, NULL, "only trials' own results, not their waypoints" },
	{ "file", 0, "FILE", "write to FILE, whole or not at all" },
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_export = {
	.name = "export",
	.summary = "write all trials of a study as CSV or JSON",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(CSV),
	.options = options,
	.help = "CSV: a row for each trial with its state, objectives and parameters; where "
		"trainings are paths (trainer.path), also one for each waypoint, before its "
		"trial's own. Column `at` has the waypoint's value and is empty for a trial's "
		"own. JSON: one object with the study and, for each trial, also every run with "
		"its seed (null if it is secret) and metrics and every attempt. Without "
		"--format, -o json asks for JSON; otherwise it is CSV. Numbers read back bit for "
		"bit. With search.front: denoised on_front goes by the models, whose values at "
		"these trials are there too. What 'remeasure' has measured again has columns "
		"remeasured.NAME, with its runs and 95 % interval.",
	.examples = "dparetoctl export adult --file adult.csv\n"
		    "dparetoctl export adult --own --file trainings.csv\n"
		    "dparetoctl export adult --format json | jq '.trials[0].runs'",
	.run = cmd_export_run,
};
