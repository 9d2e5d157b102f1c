/* cmd-trial.c - one trial in full: parameters, objectives, runs, attempts. */
#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/output.h"
#include "ctl/table.h"
#include "ctl/text.h"
#include "ctl/trials.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static void print_attempts(struct ctl *ctl, const json_t *attempts)
{
	struct ctl_table *t = ctl_table_new();
	char text[CTL_TEXT_LEN], size[DP_NUM_LEN];
	const json_t *a;
	size_t i;

	ctl_table_column(t, "ATTEMPT", CTL_RIGHT);
	ctl_table_column(t, "RUN", CTL_RIGHT);
	ctl_table_column(t, "END", CTL_LEFT);
	ctl_table_column(t, "STARTED", CTL_LEFT);
	ctl_table_column(t, "CPU", CTL_RIGHT);
	ctl_table_column(t, "MEMORY", CTL_RIGHT);
	ctl_table_column(t, "MESSAGE", CTL_FLEX);
	json_array_foreach (attempts, i, a) {
		const char *end = dp_json_str(a, "end", "running");
		int64_t memory = dp_json_int(a, "peak_memory", -1);

		ctl_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(a, "attempt", 0));
		ctl_cell(t, CTL_NORMAL, "%s",
			 json_is_integer(json_object_get(a, "run"))
				 ? ctl_value(json_object_get(a, "run"), text)
				 : "all");
		ctl_cell(t, strcmp(end, "ok") == 0 ? CTL_GOOD : CTL_NORMAL, "%s", end);
		ctl_cell(t, CTL_NORMAL, "%s",
			 ctl_local_time(dp_json_str(a, "started", NULL), text));
		ctl_cell(t, CTL_NORMAL, "%s",
			 ctl_seconds(json_object_get(a, "cpu_seconds"), text));
		ctl_cell(t, CTL_NORMAL, "%s",
			 memory < 0 ? "-" : dp_size_text((uint64_t)memory, size));
		ctl_cell(t, CTL_NORMAL, "%s", dp_json_str(a, "message", ""));
	}
	ctl_table_print(ctl, t);
}

static void print_runs(struct ctl *ctl, const json_t *runs)
{
	struct ctl_table *t = ctl_table_new();
	struct dp_buf pairs = DP_BUF_INIT;
	const json_t *r;
	size_t i;

	ctl_table_column(t, "RUN", CTL_RIGHT);
	ctl_table_column(t, "SEED", CTL_RIGHT);
	ctl_table_column(t, "METRICS", CTL_FLEX);
	json_array_foreach (runs, i, r) {
		dp_buf_clear(&pairs);
		ctl_pairs(json_object_get(r, "metrics"), &pairs);
		ctl_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(r, "run", 0));
		ctl_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(r, "seed", 0));
		ctl_cell(t, CTL_NORMAL, "%s", pairs.len ? dp_buf_text(&pairs) : "-");
	}
	dp_buf_free(&pairs);
	ctl_table_print(ctl, t);
}

static void trial_people(struct ctl *ctl, const char *study, const json_t *trial)
{
	const json_t *attempts = json_object_get(trial, "attempts");
	const json_t *last = json_array_get(
		attempts, json_array_size(attempts) ? json_array_size(attempts) - 1 : 0);
	const char *reason = dp_json_str(trial, "reason", NULL);
	struct dp_buf pairs = DP_BUF_INIT, why = DP_BUF_INIT;
	char took[CTL_TEXT_LEN];

	if (reason) {
		dp_buf_puts(&why, ": ");
		ctl_clean(&why, reason); /* it may quote the trainer */
	}
	ctl_printf(ctl, "trial %" PRId64 " of '%s': %s%s%s\n",
		   dp_json_int(trial, "trial", 0), study,
		   dp_json_str(trial, "state", "?"),
		   dp_json_bool(trial, "on_front", false) ? ", on the front" : "",
		   dp_buf_text(&why));
	dp_buf_free(&why);
	ctl_pairs(json_object_get(trial, "parameters"), &pairs);
	ctl_printf(ctl, "  parameters  %s\n", dp_buf_text(&pairs));
	dp_buf_clear(&pairs);
	ctl_pairs(json_object_get(trial, "objectives"), &pairs);
	ctl_printf(ctl, "  objectives  %s\n", pairs.len ? dp_buf_text(&pairs) : "-");
	dp_buf_clear(&pairs);
	ctl_pairs(json_object_get(trial, "denoised"), &pairs);
	if (pairs.len)
		ctl_printf(ctl, "  denoised    %s\n", dp_buf_text(&pairs));
	dp_buf_free(&pairs);
	ctl_printf(ctl, "  proposed by %s, took %s\n", dp_json_str(trial, "source", "?"),
		   ctl_seconds(json_object_get(trial, "seconds"), took));
	if (last)
		ctl_printf(ctl, "  folder      %s\n",
			   dp_json_str(last, "directory", "-"));
	if (json_array_size(attempts) > 0) {
		ctl_printf(ctl, "\n");
		print_attempts(ctl, attempts);
	}
	if (json_array_size(json_object_get(trial, "runs")) > 0) {
		ctl_printf(ctl, "\n");
		print_runs(ctl, json_object_get(trial, "runs"));
	}
}

/* Is it on the front? That of the models is asked for. */
static int trial_mark(struct ctl *ctl, json_t *trial, struct dp_err *err)
{
	json_t *status, *marks;
	int code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);

	if (code != DP_OK)
		return code;
	code = ctl_front_marks(ctl, json_object_get(status, "study"), &marks, err);
	if (code == DP_OK)
		ctl_mark_trial(trial, marks);
	json_decref(marks);
	json_decref(status);
	return code;
}

static int trial_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *fields, *ok, *trial;
	int64_t number;
	int code;

	if (!dp_int_parse(ctl->argv[1], &number) || number < 0)
		return dp_fail(err, DP_E_USAGE, "'%s' is not the number of a trial",
			       ctl->argv[1]);
	code = ctl_pack(&fields, err, "{s:s, s:I}", "study", ctl->argv[0], "trial",
			(json_int_t)number);
	if (code == DP_OK)
		code = ctl_call(ctl, "trial", fields, &ok, err);
	if (code != DP_OK)
		return code;
	trial = json_object_get(ok, "trial");
	code = trial_mark(ctl, trial, err);
	if (code == DP_OK && ctl->format == CTL_JSON)
		ctl_put_json(ctl, trial);
	else if (code == DP_OK)
		trial_people(ctl, ctl->argv[0], trial);
	json_decref(ok);
	return code;
}

const struct ctl_command ctl_cmd_trial = {
	.name = "trial",
	.summary = "show one trial in full",
	.args = "STUDY TRIAL",
	.min_args = 2,
	.max_args = 2,
	.formats = CTL_PLAIN,
	.help = "Parameters, objectives, every run with its seed and metrics, every "
		"attempt "
		"with how it ended, what it used and where its files are.",
	.examples = "dparetoctl trial adult 7",
	.run = trial_run,
};
