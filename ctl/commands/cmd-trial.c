/* cmd-trial.c - `trial`: shows one trial with its parameters, objectives, runs and attempts. */
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

static void print_attempts(struct ctl *ctl, const json_t *attempts)
{
	struct ctl_table *t = ctl_table_new("ATTEMPT>|RUN>|END|STARTED|CPU>|MEMORY>|MESSAGE*");
	char text[CTL_TEXT_LEN], size[DP_NUM_LEN];
	const json_t *a;
	size_t i;

	json_array_foreach (attempts, i, a) {
		const char *end = dp_json_str(a, "end", "running");
		const char *message = dp_json_str(a, "message", "");
		const char *job = dp_json_str(a, "job", NULL);
		const json_t *run = json_object_get(a, "run");
		int64_t memory = dp_json_int(a, "peak_memory", -1);

		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(a, "attempt", 0));
		ctl_table_add_text(t, json_is_integer(run) ? ctl_format_value(run, text) : "all");
		ctl_table_add_cell(t, strcmp(end, "ok") == 0 ? CTL_GOOD : CTL_NORMAL, "%s", end);
		ctl_table_add_text(t, ctl_format_local_time(dp_json_str(a, "started", NULL), text));
		ctl_table_add_text(t, ctl_format_duration(json_object_get(a, "cpu_seconds"), text));
		ctl_table_add_text(t, memory < 0 ? "-" : dp_size_text((uint64_t)memory, size));
		if (job && !strstr(message, job))
			ctl_table_add_cell(t, CTL_NORMAL, "%s%sSlurm job %s", message,
					   *message ? "; " : "", job);
		else
			ctl_table_add_text(t, message);
	}
	ctl_table_print(ctl, t);
}

static void print_runs(struct ctl *ctl, const json_t *runs)
{
	struct ctl_table *t = ctl_table_new("RUN>|SEED>|METRICS*");
	struct dp_buf pairs = DP_BUF_INIT;
	const json_t *r;
	size_t i;

	json_array_foreach (runs, i, r) {
		dp_buf_clear(&pairs);
		ctl_format_pairs(json_object_get(r, "metrics"), &pairs);
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(r, "run", 0));
		ctl_table_add_value(t, json_object_get(r, "seed"));
		ctl_table_add_text(t, pairs.len ? dp_buf_text(&pairs) : "-");
	}
	dp_buf_free(&pairs);
	ctl_table_print(ctl, t);
}

static void print_checkpoints(struct ctl *ctl, const json_t *waypoints)
{
	struct ctl_table *t = ctl_table_new("AT>|OBJECTIVES|MEAN METRICS*");
	struct dp_buf pairs = DP_BUF_INIT;
	const json_t *w;
	size_t i;

	json_array_foreach (waypoints, i, w) {
		bool dropped = dp_json_bool(w, "dropped", false);

		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(w, "at", 0));
		dp_buf_clear(&pairs);
		ctl_format_objectives(w, json_object_get(w, "objectives"), &pairs);
		ctl_table_add_text(t, dropped ? "dropped: not finite, or not told by every run"
					      : dp_buf_text(&pairs));
		dp_buf_clear(&pairs);
		ctl_format_pairs(json_object_get(w, "metrics"), &pairs);
		ctl_table_add_text(t, dp_buf_text(&pairs));
	}
	dp_buf_free(&pairs);
	ctl_table_print(ctl, t);
}

static void print_name_values(struct ctl *ctl, const char *label, const json_t *values)
{
	struct dp_buf pairs = DP_BUF_INIT;

	ctl_format_pairs(values, &pairs);
	ctl_printf(ctl, "  %-10s  %s\n", label, pairs.len ? dp_buf_text(&pairs) : "-");
	dp_buf_free(&pairs);
}

/* Prints a line of objectives, epsilon rounded up. Without any, prints nothing or a dash. */
static void print_objectives(struct ctl *ctl, const json_t *trial, const char *label,
			     const json_t *values, bool dash)
{
	struct dp_buf pairs = DP_BUF_INIT;

	ctl_format_objectives(trial, values, &pairs);
	if (pairs.len || dash)
		ctl_printf(ctl, "  %-10s  %s\n", label, pairs.len ? dp_buf_text(&pairs) : "-");
	dp_buf_free(&pairs);
}

/* Prints what trials and checkpoints share: id, state, parameters, objectives. */
static void print_result_summary(struct ctl *ctl, const char *study, const json_t *trial)
{
	const char *reason = dp_json_str(trial, "reason", NULL);
	struct dp_buf why = DP_BUF_INIT;
	char name[CTL_TEXT_LEN];

	if (reason) {
		dp_buf_puts(&why, ": ");
		ctl_text_sanitize(&why, reason); /* may quote the trainer */
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

static void print_run_spread(struct ctl *ctl, const json_t *spread)
{
	struct ctl_table *t = ctl_table_new("OBJECTIVE|RUNS>|SD>|95% FROM>|TO>");
	const char *name;
	json_t *s;

	json_object_foreach ((json_t *)spread, name, s) {
		ctl_table_add_text(t, name);
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(s, "runs", 0));
		ctl_table_add_value(t, json_object_get(s, "sd"));
		ctl_table_add_value(t, json_object_get(s, "low"));
		ctl_table_add_value(t, json_object_get(s, "high"));
	}
	if (ctl_table_count_rows(t) == 0) {
		ctl_table_free(t);
		return;
	}
	ctl_printf(ctl, "\n");
	ctl_table_print(ctl, t);
}

static void print_trial(struct ctl *ctl, const json_t *trial)
{
	const json_t *attempts = json_object_get(trial, "attempts");
	size_t n = json_array_size(attempts);
	char took[CTL_TEXT_LEN];

	ctl_printf(ctl, "  proposed by %s, took %s\n", dp_json_str(trial, "source", "?"),
		   ctl_format_duration(json_object_get(trial, "seconds"), took));
	if (n > 0)
		ctl_printf(ctl, "  folder      %s\n",
			   dp_json_str(json_array_get(attempts, n - 1), "directory", "-"));
	print_run_spread(ctl, json_object_get(trial, "spread"));
	if (n > 0) {
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
	const char *study = ctl->argv[0];
	json_t *trial;
	int64_t number;
	int code = ctl_query_trial(ctl, study, ctl->argv[1], &trial, err);

	if (code != DP_OK)
		return code;
	number = dp_json_int(trial, "trial", 0);
	if (ctl->format == CTL_JSON) {
		ctl_print_json(ctl, trial);
	} else if (strchr(ctl->argv[1], '@')) {
		print_result_summary(ctl, study, trial);
		print_name_values(ctl, "metrics", json_object_get(trial, "metrics"));
		ctl_printf(ctl,
			   "  on the way of trial %" PRId64 ": 'dparetoctl trial %s %" PRId64
			   "' shows its attempts\n",
			   number, study, number);
		print_run_spread(ctl, json_object_get(trial, "spread"));
	} else {
		print_result_summary(ctl, study, trial);
		print_trial(ctl, trial);
	}
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
