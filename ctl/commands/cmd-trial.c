/* cmd-trial.c - one trial in full: parameters, objectives, runs, attempts. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/support/study_queries.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

/* Why it ended so, and which job of a cluster it was. */
static void add_attempt_message_cell(struct ctl_table *t, const json_t *attempt)
{
	const char *message = dp_json_str(attempt, "message", ""),
		   *job = dp_json_str(attempt, "job", NULL);

	if (job && !strstr(message, job))
		ctl_table_add_cell(t, CTL_NORMAL, "%s%sSlurm job %s", message, *message ? "; " : "",
				   job);
	else
		ctl_table_add_cell(t, CTL_NORMAL, "%s", message);
}

static void print_attempts(struct ctl *ctl, const json_t *attempts)
{
	struct ctl_table *t = ctl_table_new();
	char text[CTL_TEXT_LEN], size[DP_NUM_LEN];
	const json_t *a;
	size_t i;

	ctl_table_add_column(t, "ATTEMPT", CTL_RIGHT);
	ctl_table_add_column(t, "RUN", CTL_RIGHT);
	ctl_table_add_column(t, "END", CTL_LEFT);
	ctl_table_add_column(t, "STARTED", CTL_LEFT);
	ctl_table_add_column(t, "CPU", CTL_RIGHT);
	ctl_table_add_column(t, "MEMORY", CTL_RIGHT);
	ctl_table_add_column(t, "MESSAGE", CTL_FLEX);
	json_array_foreach (attempts, i, a) {
		const char *end = dp_json_str(a, "end", "running");
		int64_t memory = dp_json_int(a, "peak_memory", -1);

		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(a, "attempt", 0));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   json_is_integer(json_object_get(a, "run"))
					   ? ctl_format_value(json_object_get(a, "run"), text)
					   : "all");
		ctl_table_add_cell(t, strcmp(end, "ok") == 0 ? CTL_GOOD : CTL_NORMAL, "%s", end);
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_local_time(dp_json_str(a, "started", NULL), text));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_duration(json_object_get(a, "cpu_seconds"), text));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   memory < 0 ? "-" : dp_size_text((uint64_t)memory, size));
		add_attempt_message_cell(t, a);
	}
	ctl_table_print(ctl, t);
}

static void print_runs(struct ctl *ctl, const json_t *runs)
{
	struct ctl_table *t = ctl_table_new();
	struct dp_buf pairs = DP_BUF_INIT;
	char seed[CTL_TEXT_LEN];
	const json_t *r;
	size_t i;

	ctl_table_add_column(t, "RUN", CTL_RIGHT);
	ctl_table_add_column(t, "SEED", CTL_RIGHT);
	ctl_table_add_column(t, "METRICS", CTL_FLEX);
	json_array_foreach (runs, i, r) {
		dp_buf_clear(&pairs);
		ctl_format_pairs(json_object_get(r, "metrics"), &pairs);
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(r, "run", 0));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_value(json_object_get(r, "seed"), seed));
		ctl_table_add_cell(t, CTL_NORMAL, "%s", pairs.len ? dp_buf_text(&pairs) : "-");
	}
	dp_buf_free(&pairs);
	ctl_table_print(ctl, t);
}

/* What the training was on its way. */
static void print_checkpoints(struct ctl *ctl, const json_t *waypoints)
{
	struct ctl_table *t = ctl_table_new();
	struct dp_buf pairs = DP_BUF_INIT;
	const json_t *w;
	size_t i;

	ctl_table_add_column(t, "AT", CTL_RIGHT);
	ctl_table_add_column(t, "OBJECTIVES", CTL_LEFT);
	ctl_table_add_column(t, "MEAN METRICS", CTL_FLEX);
	json_array_foreach (waypoints, i, w) {
		bool dropped = dp_json_bool(w, "dropped", false);

		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(w, "at", 0));
		dp_buf_clear(&pairs);
		ctl_format_objectives(w, json_object_get(w, "objectives"), &pairs);
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   dropped ? "dropped: not finite, or not told by every run"
					   : dp_buf_text(&pairs));
		dp_buf_clear(&pairs);
		ctl_format_pairs(json_object_get(w, "metrics"), &pairs);
		ctl_table_add_cell(t, CTL_NORMAL, "%s", dp_buf_text(&pairs));
	}
	dp_buf_free(&pairs);
	ctl_table_print(ctl, t);
}

/* A line of named values. */
static void print_name_values(struct ctl *ctl, const char *label, const json_t *values)
{
	struct dp_buf pairs = DP_BUF_INIT;

	ctl_format_pairs(values, &pairs);
	ctl_printf(ctl, "  %-10s  %s\n", label, pairs.len ? dp_buf_text(&pairs) : "-");
	dp_buf_free(&pairs);
}

/* The same of objectives, where an epsilon is rounded up; nothing, or a dash, where there
 * are none. */
static void print_objectives(struct ctl *ctl, const json_t *trial, const char *label,
			     const json_t *values, bool dash)
{
	struct dp_buf pairs = DP_BUF_INIT;

	ctl_format_objectives(trial, values, &pairs);
	if (pairs.len || dash)
		ctl_printf(ctl, "  %-10s  %s\n", label, pairs.len ? dp_buf_text(&pairs) : "-");
	dp_buf_free(&pairs);
}

/* What trials and waypoints have: which it is, where it stands, parameters, objectives. */
static void print_result_summary(struct ctl *ctl, const char *study, const json_t *trial)
{
	const char *reason = dp_json_str(trial, "reason", NULL);
	struct dp_buf why = DP_BUF_INIT;
	char name[CTL_TEXT_LEN];

	if (reason) {
		dp_buf_puts(&why, ": ");
		ctl_text_sanitize(&why, reason); /* it may quote the trainer */
	}
	ctl_printf(ctl, "%s %s of '%s': %s%s%s\n",
		   json_is_integer(json_object_get(trial, "at")) ? "waypoint" : "trial",
		   ctl_format_result_id(trial, name), study, dp_json_str(trial, "state", "?"),
		   dp_json_bool(trial, "on_front", false) ? ", on the front" : "",
		   dp_buf_text(&why));
	dp_buf_free(&why);
	print_name_values(ctl, "parameters", json_object_get(trial, "parameters"));
	print_objectives(ctl, trial, "objectives", json_object_get(trial, "objectives"), true);
	print_objectives(ctl, trial, "denoised", json_object_get(trial, "denoised"), false);
	print_objectives(ctl, trial, "remeasured",
			 json_object_get(json_object_get(trial, "remeasured"), "objectives"),
			 false);
}

/* How far the runs lie apart, if that is known of any objective. */
static void print_run_spread(struct ctl *ctl, const json_t *spread)
{
	struct ctl_table *t = ctl_table_new();
	char text[CTL_TEXT_LEN];
	const char *name;
	json_t *s;

	ctl_table_add_column(t, "OBJECTIVE", CTL_LEFT);
	ctl_table_add_column(t, "RUNS", CTL_RIGHT);
	ctl_table_add_column(t, "SD", CTL_RIGHT);
	ctl_table_add_column(t, "95% FROM", CTL_RIGHT);
	ctl_table_add_column(t, "TO", CTL_RIGHT);
	json_object_foreach ((json_t *)spread, name, s) {
		ctl_table_add_cell(t, CTL_NORMAL, "%s", name);
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(s, "runs", 0));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_value(json_object_get(s, "sd"), text));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_value(json_object_get(s, "low"), text));
		ctl_table_add_cell(t, CTL_NORMAL, "%s",
				   ctl_format_value(json_object_get(s, "high"), text));
	}
	if (ctl_table_count_rows(t) == 0) {
		ctl_table_free(t);
		return;
	}
	ctl_printf(ctl, "\n");
	ctl_table_print(ctl, t);
}

static void print_checkpoint_result(struct ctl *ctl, const char *study, const json_t *way)
{
	print_result_summary(ctl, study, way);
	print_name_values(ctl, "metrics", json_object_get(way, "metrics"));
	ctl_printf(ctl,
		   "  on the way of trial %" PRId64 ": 'dparetoctl trial %s %" PRId64
		   "' shows its attempts\n",
		   dp_json_int(way, "trial", 0), study, dp_json_int(way, "trial", 0));
	print_run_spread(ctl, json_object_get(way, "spread"));
}

static void print_trial_details(struct ctl *ctl, const char *study, const json_t *trial)
{
	const json_t *attempts = json_object_get(trial, "attempts");
	const json_t *last = json_array_get(
		attempts, json_array_size(attempts) ? json_array_size(attempts) - 1 : 0);
	char took[CTL_TEXT_LEN];

	print_result_summary(ctl, study, trial);
	ctl_printf(ctl, "  proposed by %s, took %s\n", dp_json_str(trial, "source", "?"),
		   ctl_format_duration(json_object_get(trial, "seconds"), took));
	if (last)
		ctl_printf(ctl, "  folder      %s\n", dp_json_str(last, "directory", "-"));
	print_run_spread(ctl, json_object_get(trial, "spread"));
	if (json_array_size(attempts) > 0) {
		ctl_printf(ctl, "\n");
		print_attempts(ctl, attempts);
	}
	if (json_array_size(json_object_get(trial, "runs")) > 0) {
		ctl_printf(ctl, "\n");
		print_runs(ctl, json_object_get(trial, "runs"));
	}
	if (json_array_size(json_object_get(trial, "waypoints")) > 0) {
		ctl_printf(ctl, "\n");
		print_checkpoints(ctl, json_object_get(trial, "waypoints"));
	}
}

static int cmd_trial_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *trial;
	int code = ctl_query_trial(ctl, ctl->argv[0], ctl->argv[1], &trial, err);

	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, trial);
	else if (strchr(ctl->argv[1], '@'))
		print_checkpoint_result(ctl, ctl->argv[0], trial);
	else
		print_trial_details(ctl, ctl->argv[0], trial);
	json_decref(trial);
	return DP_OK;
}

static const struct ctl_option options[] = {
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_trial = {
	.name = "trial",
	.summary = "show one trial in full",
	.args = "STUDY TRIAL[@AT]",
	.min_args = 2,
	.max_args = 2,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Parameters, objectives, every run with its seed (if it is not secret) and "
		"metrics, every attempt with how it ended, what it used and where its files are; "
		"where trainings are paths (trainer.path), also its waypoints. 7@4 is the "
		"waypoint 4 of trial 7, shown by itself: the parameters and objectives of a "
		"training that ends there, and how far its runs lie apart. m3 is the trial that "
		"'remeasure' calls so.",
	.examples = "dparetoctl trial adult 7\n"
		    "dparetoctl trial adult 7@4",
	.run = cmd_trial_run,
};
