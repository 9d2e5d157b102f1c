/* cmd-trials.c - `trials`: lists all trials of a study. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/support/study_queries.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIAL_STATES "waiting|running|ok|diverged|failed|cancelled"

struct trial_listing {
	struct ctl_result_columns columns;
	struct ctl_table *table;
	json_t *array;        /* with -o json on a terminal, which gets indented JSON; else NULL */
	struct dp_buf json;   /* with -o json elsewhere: text takes a tenth of the memory */
	json_t *front_points; /* see ctl_fetch_smoothed_front() */
	size_t n_rows;
};

static void listing_add_row(struct trial_listing *l, const json_t *trial)
{
	const char *state = dp_json_str(trial, "state", "?");
	const json_t *values = json_object_get(trial, "objectives"), *name;
	struct dp_buf pairs = DP_BUF_INIT;
	char text[CTL_TEXT_LEN];
	size_t i;

	if (!l->table) {
		l->table = ctl_table_new("TRIAL>|STATE");
		json_array_foreach (l->columns.objectives, i, name)
			ctl_table_add_column(l->table, json_string_value(name), CTL_RIGHT);
		ctl_table_add_column(l->table, "FRONT", CTL_LEFT);
		ctl_table_add_column(l->table, "TRIES", CTL_RIGHT);
		ctl_table_add_column(l->table, "TOOK", CTL_RIGHT);
		ctl_table_add_column(l->table, "PARAMETERS", CTL_FLEX);
		ctl_table_add_column(l->table, "REASON", CTL_FLEX);
	}
	ctl_table_add_text(l->table, ctl_format_result_id(trial, text));
	ctl_table_add_cell(l->table, ctl_state_style(state), "%s", state);
	json_array_foreach (l->columns.objectives, i, name) {
		const char *key = json_string_value(name);

		ctl_table_add_text(
			l->table,
			ctl_format_objective(trial, key, json_object_get(values, key), text));
	}
	ctl_table_add_cell(l->table, CTL_GOOD, "%s",
			   dp_json_bool(trial, "on_front", false) ? "yes" : "");
	ctl_table_add_value(l->table, json_object_get(trial, "attempts"));
	ctl_table_add_text(l->table, ctl_format_duration(json_object_get(trial, "seconds"), text));
	ctl_format_pairs(json_object_get(trial, "parameters"), &pairs);
	ctl_table_add_text(l->table, dp_buf_text(&pairs));
	ctl_table_add_text(l->table, dp_json_str(trial, "reason", ""));
	dp_buf_free(&pairs);
}

static int listing_add_trial(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct trial_listing *l = arg;
	struct dp_buf row = DP_BUF_INIT;
	char text[CTL_TEXT_LEN];

	(void)err;
	ctl_trial_set_on_front((json_t *)trial, l->front_points);
	switch (ctl->format) {
	case CTL_JSON:
		if (l->array) {
			json_array_append(l->array, (json_t *)trial);
			break;
		}
		dp_buf_putc(&l->json, l->n_rows ? ',' : '[');
		dp_json_dump(&l->json, trial, 0);
		break;
	case CTL_JSONL:
		ctl_print_json_line(ctl, trial);
		break;
	case CTL_CSV:
		if (l->n_rows == 0) {
			l->columns.parameters = ctl_json_keys(json_object_get(trial, "parameters"));
			ctl_trial_csv_header(&l->columns, &row);
		}
		ctl_trial_csv_row(trial, &l->columns, &row);
		ctl_print_buf(ctl, &row);
		break;
	case CTL_NAME:
		ctl_printf(ctl, "%s\n", ctl_format_result_id(trial, text));
		break;
	default:
		listing_add_row(l, trial);
	}
	l->n_rows++;
	return ctl->out_closed ? DP_E_IO : DP_OK;
}

/* Refuses --state with a trial state, its former meaning. */
static int check_state_option(struct ctl *ctl, struct dp_err *err)
{
	const char *folder = ctl_get_option(ctl, "state"), *at = TRIAL_STATES;
	size_t len = folder ? strlen(folder) : 0;

	if (!folder || access(folder, F_OK) == 0)
		return DP_OK;
	for (; *at; at += strcspn(at, "|"), at += *at == '|') {
		if (strcspn(at, "|") != len || strncmp(at, folder, len) != 0)
			continue;
		dp_fail(err, DP_E_USAGE,
			"--state names a state folder, and there is no folder '%s'", folder);
		return dp_hint(err, "trials that are %s: --status %s", folder, folder);
	}
	return DP_OK;
}

static int cmd_trials_run(struct ctl *ctl, struct dp_err *err)
{
	struct trial_listing l = { .array = isatty(fileno(ctl->out)) ? json_array() : NULL };
	const char *state = ctl_get_option(ctl, "status");
	struct ctl_trial_query which = { .state = state,
					 .own_results_only = ctl_has_option(ctl, "own") };
	json_t *summary = NULL;
	int code = check_state_option(ctl, err);

	if (code == DP_OK)
		code = ctl_query_summary(ctl, ctl->argv[0], &summary, &l.front_points, err);
	if (code == DP_OK) {
		ctl_result_columns_from_study(summary, &l.columns);
		l.columns.with_smoothed = l.front_points != NULL;
		which.study = dp_json_str(summary, "name", "");
		code = ctl_for_each_trial(ctl, &which, listing_add_trial, &l, err);
		json_decref(summary);
	}
	if (code == DP_OK && ctl->format == CTL_JSON && l.array) {
		ctl_print_json(ctl, l.array);
	} else if (code == DP_OK && ctl->format == CTL_JSON) {
		dp_buf_puts(&l.json, l.n_rows ? "]\n" : "[]\n");
		ctl_print_buf(ctl, &l.json);
	} else if (code == DP_OK && l.n_rows == 0 && ctl->format == CTL_TABLE) {
		ctl_print_message(ctl, state ? "no trial is in state '%s'" : "no trials yet",
				  state);
	}
	if (l.table && code == DP_OK)
		ctl_table_print(ctl, l.table);
	else if (l.table)
		ctl_table_free(l.table);
	ctl_result_columns_clear(&l.columns);
	json_decref(l.array);
	dp_buf_free(&l.json);
	json_decref(l.front_points);
	return ctl->out_closed ? DP_OK : code;
}

static const struct ctl_option options[] = {
	{ "status", 0, TRIAL_STATES, "only trials in this state; a waypoint is ok" },
	{ "own", 0, NULL, "only trials' own results, not their waypoints" },
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_trials = {
	.name = "trials",
	.summary = "list the trials of a study",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(JSONL) | CTL_FORMAT_BIT(CSV) |
		   CTL_FORMAT_BIT(NAME),
	.options = options,
	.help = "One row for each trial. Where trainings are paths (trainer.path), the waypoints "
		"that are results come before their trial, as 7@4: trial 7 as a training up to "
		"4. Attempts and times are the trial's: TOOK is what came to the result, without "
		"tries before it. -o name prints their numbers only, one a line.",
	.examples = "dparetoctl trials adult --status failed\n"
		    "dparetoctl trials adult --own\n"
		    "dparetoctl trials adult -o csv > trials.csv",
	.run = cmd_trials_run,
};
