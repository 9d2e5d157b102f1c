/* cmd-trials.c - all trials of a study. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/look.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/point.h"
#include "ctl/table.h"
#include "ctl/text.h"
#include "ctl/trials.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIAL_STATES "waiting|running|ok|diverged|failed|cancelled"

struct listing {
	struct ctl_columns cols;
	struct ctl_table *table;
	json_t *array;      /* with -o json, for people, who see it indented; or NULL */
	struct dp_buf json; /* with -o json else: text takes a tenth of the memory */
	json_t *marks;      /* see ctl_front_marks() */
	size_t count;
};

static void start_table(struct listing *l)
{
	const json_t *name;
	size_t i;

	l->table = ctl_table_new();
	ctl_table_column(l->table, "TRIAL", CTL_RIGHT);
	ctl_table_column(l->table, "STATE", CTL_LEFT);
	json_array_foreach (l->cols.objectives, i, name)
		ctl_table_column(l->table, json_string_value(name), CTL_RIGHT);
	ctl_table_column(l->table, "FRONT", CTL_LEFT);
	ctl_table_column(l->table, "TRIES", CTL_RIGHT);
	ctl_table_column(l->table, "TOOK", CTL_RIGHT);
	ctl_table_column(l->table, "PARAMETERS", CTL_FLEX);
	ctl_table_column(l->table, "REASON", CTL_FLEX);
}

static void add_row(struct listing *l, const json_t *trial)
{
	const char *state = dp_json_str(trial, "state", "?");
	const json_t *values = json_object_get(trial, "objectives"), *name;
	struct dp_buf pairs = DP_BUF_INIT;
	char text[CTL_TEXT_LEN];
	size_t i;

	ctl_cell(l->table, CTL_NORMAL, "%s", ctl_point_text(trial, text));
	ctl_cell(l->table, ctl_state_style(state), "%s", state);
	json_array_foreach (l->cols.objectives, i, name)
		ctl_cell(l->table, CTL_NORMAL, "%s",
			 ctl_objective(trial, json_string_value(name),
				       json_object_get(values, json_string_value(name)), text));
	ctl_cell(l->table, CTL_GOOD, "%s", dp_json_bool(trial, "on_front", false) ? "yes" : "");
	ctl_cell(l->table, CTL_NORMAL, "%s", ctl_value(json_object_get(trial, "attempts"), text));
	ctl_cell(l->table, CTL_NORMAL, "%s", ctl_seconds(json_object_get(trial, "seconds"), text));
	ctl_pairs(json_object_get(trial, "parameters"), &pairs);
	ctl_cell(l->table, CTL_NORMAL, "%s", dp_buf_text(&pairs));
	ctl_cell(l->table, CTL_NORMAL, "%s", dp_json_str(trial, "reason", ""));
	dp_buf_free(&pairs);
}

static void add_csv(struct ctl *ctl, struct listing *l, const json_t *trial)
{
	struct dp_buf out = DP_BUF_INIT;

	if (l->count == 0) {
		l->cols.parameters = ctl_keys(json_object_get(trial, "parameters"));
		ctl_trial_csv_head(&l->cols, &out);
	}
	ctl_trial_csv(trial, &l->cols, &out);
	ctl_put_buf(ctl, &out);
}

static void add_json(struct listing *l, json_t *trial)
{
	if (l->array) {
		json_array_append(l->array, trial);
		return;
	}
	dp_buf_putc(&l->json, l->count ? ',' : '[');
	dp_json_dump(&l->json, trial, 0);
}

static void put_trials_json(struct ctl *ctl, struct listing *l)
{
	if (l->array) {
		ctl_put_json(ctl, l->array);
		return;
	}
	dp_buf_puts(&l->json, l->count ? "]\n" : "[]\n");
	ctl_put_buf(ctl, &l->json);
}

static int trials_add(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err)
{
	struct listing *l = arg;
	char text[CTL_TEXT_LEN];

	(void)err;
	ctl_mark_trial((json_t *)trial, l->marks);
	switch (ctl->format) {
	case CTL_JSON:
		add_json(l, (json_t *)trial);
		break;
	case CTL_JSONL:
		ctl_put_json_line(ctl, trial);
		break;
	case CTL_CSV:
		add_csv(ctl, l, trial);
		break;
	case CTL_NAME:
		ctl_printf(ctl, "%s\n", ctl_point_text(trial, text));
		break;
	default:
		if (l->count == 0)
			start_table(l);
		add_row(l, trial);
	}
	l->count++;
	return ctl->out_closed ? DP_E_IO : DP_OK;
}

/* --state chose trials by their state once. */
static int check_folder(struct ctl *ctl, struct dp_err *err)
{
	const char *folder = ctl_opt(ctl, "state"), *at = TRIAL_STATES;
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

static int trials_run(struct ctl *ctl, struct dp_err *err)
{
	struct listing l = { .array = isatty(fileno(ctl->out)) ? json_array() : NULL };
	const char *state = ctl_opt(ctl, "status");
	struct ctl_trials which = { .state = state, .own = ctl_flag(ctl, "own") };
	const json_t *summary;
	json_t *status;
	int code = check_folder(ctl, err);

	if (code == DP_OK)
		code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);

	if (code == DP_OK) {
		summary = json_object_get(status, "study");
		ctl_study_columns(summary, &l.cols);
		which.study = dp_json_str(summary, "name", "");
		code = ctl_front_marks(ctl, summary, &l.marks, err);
		l.cols.denoised = l.marks != NULL;
		if (code == DP_OK)
			code = ctl_each_trial(ctl, &which, trials_add, &l, err);
		json_decref(status);
	}
	if (code == DP_OK && ctl->format == CTL_JSON)
		put_trials_json(ctl, &l);
	else if (code == DP_OK && l.count == 0 && ctl->format == CTL_TABLE)
		ctl_say(ctl, state ? "no trial is in state '%s'" : "no trials yet", state);
	if (l.table && code == DP_OK)
		ctl_table_print(ctl, l.table);
	else if (l.table)
		ctl_table_free(l.table);
	ctl_columns_clear(&l.cols);
	json_decref(l.array);
	dp_buf_free(&l.json);
	json_decref(l.marks);
	return ctl->out_closed ? DP_OK : code;
}

static const struct ctl_option options[] = {
	{ "status", 0, TRIAL_STATES, "only trials in this state; a waypoint is ok" },
	{ "own", 0, NULL, "only trials' own results, not their waypoints" },
	CTL_LOOK_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_trials = {
	.name = "trials",
	.summary = "list the trials of a study",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN | CTL_HAS(JSONL) | CTL_HAS(CSV) | CTL_HAS(NAME),
	.options = options,
	.help = "One row for each trial. Where trainings are paths (trainer.path), the "
		"waypoints that are results come before their trial, as 7@4: trial 7 "
		"as a training up to 4. Attempts and times are the trial's: TOOK is what "
		"came to the result, without tries before it. -o name prints their "
		"numbers only, one a line.",
	.examples = "dparetoctl trials adult --status failed\n"
		    "dparetoctl trials adult --own\n"
		    "dparetoctl trials adult -o csv > trials.csv",
	.run = trials_run,
};
