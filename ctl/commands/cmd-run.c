/* cmd-run.c - `run`: a private daemon runs one study to its end; prints report and front. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/study_file.h"
#include "ctl/ui/follow_study.h"
#include "ctl/ctl_output.h"
#include "ctl/client/embedded_daemon.h"
#include "ctl/text_format.h"
#include "ctl/ui/result_table.h"
#include "ctl/ui/status_screen.h"
#include "study/study.h"
#include "ctl/study_status.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns --state or the documented default below the user's state directory, also for root because
 * this is no system service. */
static int run_make_state_dir(struct ctl *ctl, const char *study, char **out, struct dp_err *err)
{
	const char *state = ctl_get_option(ctl, "state"), *base = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct dp_buf path = DP_BUF_INIT;
	char *real;
	int code;

	if (state)
		dp_buf_puts(&path, state);
	else if (base && base[0] == '/')
		dp_buf_printf(&path, "%s/dpareto/run/%s", base, study);
	else if (home && home[0])
		dp_buf_printf(&path, "%s/.local/state/dpareto/run/%s", home, study);
	else
		return dp_fail(err, DP_E_USAGE,
			       "no home folder is known; name a state folder with --state");
	code = dp_mkdirs(dp_buf_text(&path), 0700, err);
	if (code == DP_OK) {
		real = realpath(dp_buf_text(&path), NULL);
		if (real)
			*out = real;
		else
			code = dp_fail_errno(err, errno, "cannot use the folder %s",
					     dp_buf_text(&path));
	}
	dp_buf_free(&path);
	return code;
}

static int run_submit(struct ctl_embedded_daemon *p, const struct ctl_study_file *file,
		      struct dp_err *err)
{
	struct dp_buf changes = DP_BUF_INIT, ended = DP_BUF_INIT;
	const json_t *s;
	const char *state, *note;
	json_t *ok;
	int code = ctl_study_file_submit(p->ctl, file, false, &ok, err);

	if (code == DP_E_EXISTS) {
		dp_err_prefix(err, "%s", p->state_dir);
		dp_hint(err, "give the study another name, use another folder with --state, "
			     "or remove that folder to start afresh");
	}
	if (code != DP_OK)
		return code;
	s = json_object_get(ok, "study");
	state = dp_json_str(s, "state", "");
	note = dp_json_str(ok, "note", NULL);
	if (!dp_json_bool(ok, "new", true)) {
		ctl_format_changes(json_object_get(ok, "changes"), &changes);
		ctl_format_progress_sentence(s, &ended);
		if (changes.len || strcmp(state, "finished") != 0)
			ctl_print_message(p->ctl, "going on with study '%s': %s%s%s",
					  dp_json_str(s, "name", "?"), dp_buf_text(&changes),
					  changes.len ? "; " : "", dp_buf_text(&ended));
		dp_buf_free(&changes);
		dp_buf_free(&ended);
		if (note)
			ctl_print_message(p->ctl, "%s", note);
	}
	if (strcmp(state, "paused") == 0 || strcmp(state, "stopped") == 0) {
		json_decref(ok);
		code = ctl_call_study(p->ctl, "resume", file->study->name, &ok, err);
	}
	if (code == DP_OK)
		json_decref(ok);
	return code;
}

static void print_result(struct ctl_embedded_daemon *p, const json_t *front, const json_t *summary)
{
	struct ctl *ctl = p->ctl;
	const char *folder = dp_json_str(summary, "directory", p->state_dir);
	const char *report = dp_json_str(summary, "report", NULL);
	struct dp_buf volume = DP_BUF_INIT;
	char trials[DP_PLURAL_LEN];
	struct ctl_result_columns cols;

	if (ctl->format == CTL_JSON) {
		/* one line in every case: equal runs print equal bytes */
		ctl_print_json_line(ctl, front);
		return;
	}
	ctl_result_columns_from_front(front, json_object_get(front, "front"), &cols);
	dp_buf_puts(&volume, "hypervolume ");
	ctl_format_hypervolume(front, &volume);
	ctl_printf(ctl, "study '%s' is %s", dp_json_str(front, "study", "?"),
		   dp_json_str(front, "state", "?"));
	if (!ctl_study_hides_trials(front))
		ctl_printf(ctl, ": %s ended, %d failed, %d diverged",
			   ctl_format_count(front, "evaluations", "trial", trials),
			   (int)dp_json_int(front, "failed", 0),
			   (int)dp_json_int(front, "diverged", 0));
	ctl_printf(ctl, "\n%s\n\n", dp_buf_text(&volume));
	if (json_array_size(json_object_get(front, "front")) > 0)
		ctl_front_print_table(ctl, front, &cols);
	else
		ctl_printf(ctl, "the front is empty: %s\n", ctl_front_empty_reason(front));
	dp_buf_clear(&volume);
	if (ctl_format_selection_cost(json_object_get(front, "selection"), &volume))
		ctl_printf(ctl, "\n%s\n", dp_buf_text(&volume));
	dp_buf_free(&volume);
	if (report)
		ctl_printf(ctl, "\nreport   %s", report);
	ctl_printf(ctl,
		   "\nstudy    %s\ntrials   %s/trials (a folder each: request, result, "
		   "output)\njournal  %s/journal (dparetoctl journal dump --state %s)\n"
		   "again    %s\n",
		   folder, folder, p->state_dir, p->state_dir,
		   strcmp(dp_json_str(front, "state", ""), "finished") == 0
			   ? "the same command shows this again, without running anything"
			   : "the same command goes on where this stopped");
	ctl_result_columns_clear(&cols);
}

static int run_study(struct ctl_embedded_daemon *p, const struct ctl_study_file *file,
		     struct dp_err *err)
{
	const char *name = file->study->name;
	json_t *summary = NULL, *front = NULL, *status = NULL;
	const json_t *failure;
	enum ctl_follow_result how;
	int code = ctl_embedded_open(p, err);

	if (code == DP_OK)
		code = run_submit(p, file, err);
	if (code == DP_OK)
		code = ctl_follow_study(p->ctl, name, p->ctl->err_stream, NULL, &how, &summary,
					err);
	if (code == DP_OK)
		code = ctl_call_front(p->ctl, name, NULL, &front, err);
	if (code == DP_OK)
		code = ctl_call_study(p->ctl, "status", name, &status, err);
	if (code == DP_OK)
		code = ctl_embedded_wait_report(p, name, &summary, err);
	if (ctl_interrupted)
		code = DP_E_INTERRUPTED;
	if (code == DP_E_INTERRUPTED) {
		ctl_print_message(p->ctl, "stopping the study's trainers; the same command goes on "
					  "where this stops");
		p->ctl->error_reported = true;
	}
	ctl_embedded_stop(p);
	if (code == DP_OK) {
		print_result(p, front, summary);
		p->ctl->json_printed = true;
		code = ctl_study_check_finished(summary, err);
		failure = json_array_get(json_object_get(status, "failures"), 0);
		if (code != DP_OK && failure)
			dp_hint(err,
				"the latest failure is in %.150s (stdout, stderr); mend it and run "
				"the same command again",
				dp_json_str(failure, "directory", "?"));
		else if (code != DP_OK)
			dp_hint(err, "the same command goes on where it stopped");
	}
	json_decref(summary);
	json_decref(front);
	json_decref(status);
	return code;
}

static int cmd_run_run(struct ctl *ctl, struct dp_err *err)
{
	const char *slots = ctl_get_option(ctl, "slots");
	struct ctl_embedded_daemon p = { .ctl = ctl };
	struct ctl_study_file file;
	int64_t n;
	int code;

	if (slots && (!dp_int_parse(slots, &n) || n < 1))
		return dp_fail(err, DP_E_USAGE, "--slots takes a number from 1, not '%s'", slots);
	code = ctl_study_file_read(ctl->argv[0], &file, err);
	if (code == DP_OK)
		code = ctl_study_file_report_problems(ctl, &file, err);
	if (code == DP_OK)
		code = run_make_state_dir(ctl, file.study->name, &p.state_dir, err);
	if (code == DP_OK) {
		p.log_path = dp_path_join(p.state_dir, "dparetod.log");
		ctl_catch_signals();
		code = run_study(&p, &file, err);
	}
	ctl_study_file_clear(&file);
	free(p.state_dir);
	free(p.log_path);
	return code;
}

static const struct ctl_option options[] = {
	{ "state", 0, "DIR",
	  "keep everything in DIR (default: dpareto/run/STUDY in your state folder)" },
	{ "slots", 0, "N", "trainers at once (default: the number of cores)" },
	{ "config", 0, "FILE", "configuration file of its daemon, as in dparetod(8)" },
	{ 0 },
};

const struct ctl_command ctl_cmd_run = {
	.name = "run",
	.summary = "run a study here and now, to its end",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Needs no daemon: a private one is started for this study and stopped with it. "
		"Shows the progress, then the front and where everything is kept; the study's "
		"report is written by then. A private daemon that crashes or hangs is started "
		"again and takes up its trainers, which is told; not more than five times a "
		"minute. With -o json standard output is one object without times and paths, so "
		"that equal runs print equal bytes.\n\n"
		"Ctrl-C stops the study and its trainers; the same command goes on later without "
		"repeating what is done. A finished study is shown again. The file may be edited "
		"meanwhile in comments, layout, limits, evaluations, parallel and whatever else "
		"'set' can change: what changed is told. Anything that makes it another study is "
		"refused, with the keys that differ. Exit status: 0 finished, 6 failed or paused "
		"by failures, 130 interrupted.",
	.examples = "dparetoctl run examples/svt-random.yaml\n"
		    "dparetoctl run adult.yaml --state /data/adult --slots 4\n"
		    "dparetoctl run adult.yaml -q -o json > adult.json",
	.run = cmd_run_run,
};
