/* dry_run.c - runs the trainer of a study file once in a private daemon and reports the result. */
#include "ctl/support/dry_run.h"

#include "base/fs.h"
#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/embedded_daemon.h"
#include "ctl/text_format.h"
#include "study/study.h"
#include "study/study_file.h"
#include "ctl/study_status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	POLL_MS = 1000,
	FILE_TAIL_LINES = 10, /* shown from each file of a failed attempt */
	ATTEMPT_FILE_MAX = 64 << 20
};

/* Waits for the end of the run and prints the waiting reason when it changes. Ignores the part
 * after the last semicolon, the time of the next attempt. *summary is the last one seen. */
static int dry_run_wait_end(struct ctl *ctl, const char *study, json_t **summary,
			    struct dp_err *err)
{
	int64_t version = 0;

	for (;;) {
		json_t *status, *now;
		const char *waiting, *end;
		size_t len;
		int code = ctl_call_changes(ctl, study, version, POLL_MS, &status, err);

		if (code != DP_OK)
			return code;
		now = json_incref(json_object_get(status, "study"));
		version = ctl_status_version(status);
		json_decref(status);
		waiting = dp_json_str(now, "waiting", "");
		end = strrchr(waiting, ';');
		len = end ? (size_t)(end - waiting) : strlen(waiting);
		/* skip the first status: it may change at once */
		if (*summary && len > 0 &&
		    strncmp(waiting, dp_json_str(*summary, "waiting", ""), len) != 0)
			ctl_print_message(ctl, "waiting: %.*s (Ctrl-C ends it)", (int)len, waiting);
		json_decref(*summary);
		*summary = now;
		if (ctl_study_has_ended(*summary))
			return DP_OK;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
	}
}

/* Returns the last lines of a file of the attempt; null: no file. */
static json_t *json_file_tail(const char *folder, const char *name)
{
	char *path = dp_path_join(folder, name);
	struct dp_buf text = DP_BUF_INIT, clean = DP_BUF_INIT;
	struct dp_err unread;
	json_t *lines = json_null();
	const char *all, *from;

	if (path && dp_read_untrusted(path, ATTEMPT_FILE_MAX, &text, &unread) == DP_OK) {
		all = dp_buf_text(&text);
		from = all + text.len;
		for (int n = 0; from > all; from--) {
			n += from[-1] == '\n';
			if (n > FILE_TAIL_LINES)
				break;
		}
		ctl_escape_controls(&clean, from, text.len - (size_t)(from - all), false);
		lines = json_string(dp_buf_text(&clean));
	}
	dp_buf_free(&text);
	dp_buf_free(&clean);
	free(path);
	return lines;
}

/* Merges all declarations of the attempt into one object; null: none. */
static json_t *dry_run_read_declared(const char *folder)
{
	char *path = dp_path_join(folder, "result.jsonl"), *rest, *line;
	struct dp_buf text = DP_BUF_INIT;
	json_t *all = json_object(), *one;
	struct dp_err unread;

	if (path && dp_read_untrusted(path, ATTEMPT_FILE_MAX, &text, &unread) == DP_OK)
		for (rest = text.data; rest && (line = strsep(&rest, "\n")) != NULL;) {
			one = json_loads(line, 0, NULL);
			json_object_update(all, json_object_get(one, "declare"));
			json_decref(one);
		}
	dp_buf_free(&text);
	free(path);
	if (json_object_size(all) > 0)
		return all;
	json_decref(all);
	return json_null();
}

/* Builds the result from a trial and its last attempt. */
static json_t *dry_run_trial_json(const struct dp_study *s, const json_t *trial)
{
	const json_t *attempts = json_object_get(trial, "attempts"), *attempt,
		     *run = json_array_get(json_object_get(trial, "runs"), 0);
	json_t *metrics = json_object_get(trial, "released"), *missing = json_array();
	json_t *request = NULL, *out;
	const char *state = dp_json_str(trial, "state", ""), *dir;
	/* a diverged run is a valid result */
	bool ok = strcmp(state, "ok") == 0 || strcmp(state, "diverged") == 0;
	struct dp_err unread;
	char *path;

	attempt = json_array_size(attempts) > 0
			  ? json_array_get(attempts, json_array_size(attempts) - 1)
			  : NULL;
	dir = dp_json_str(attempt, "directory", "");
	path = dp_path_join(dir, "request.json");
	if (!metrics)
		metrics = json_object_get(run, "metrics");
	/* metrics of constraints that the run did not report */
	for (size_t i = 0; i < s->nconstraints; i++)
		if (!json_object_get(metrics, s->constraints[i].metric))
			json_array_append_new(missing, json_string(s->constraints[i].metric));
	if (dp_json_read_file(path, ATTEMPT_FILE_MAX, &request, &unread) != DP_OK)
		request = NULL;
	out = json_pack(
		"{s:b, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:o, s:o, s:O?}", "ok", ok,
		"end", json_object_get(attempt, "end"), "message",
		attempt ? json_object_get(attempt, "message") : json_object_get(trial, "reason"),
		"seconds", json_object_get(trial, "seconds"), "parameters",
		json_object_get(trial, "parameters"), "metrics", metrics, "objectives",
		json_object_get(trial, "objectives"), "path",
		json_object_get(json_object_get(request, "path"), "values"), "waypoints",
		json_object_get(trial, "waypoints"), "missing", missing, "declared",
		dry_run_read_declared(dir), "accounted", json_object_get(request, "privacy"));
	json_object_set_new(out, "directory", ok ? json_null() : json_string(dir));
	json_object_set_new(out, "result", ok ? json_null() : json_file_tail(dir, "result.jsonl"));
	json_object_set_new(out, "stdout", ok ? json_null() : json_file_tail(dir, "stdout"));
	json_object_set_new(out, "stderr", ok ? json_null() : json_file_tail(dir, "stderr"));
	json_decref(request);
	free(path);
	return out;
}

static int dry_run_with_daemon(struct ctl_embedded_daemon *p, const struct ctl_study_file *file,
			       json_t **out, struct dp_err *err)
{
	struct ctl_study_file once = *file;
	json_t *summary = NULL, *ok = NULL, *fields;
	int code = ctl_embedded_open(p, err);

	once.text = (struct dp_buf)DP_BUF_INIT;
	if (code == DP_OK)
		code = dp_study_smoke_variant(dp_buf_text(&file->text), file->text.len, &once.text,
					      err);
	if (code == DP_OK)
		code = ctl_study_file_submit(p->ctl, &once, false, &ok, err);
	json_decref(ok);
	dp_buf_free(&once.text);
	if (code == DP_OK)
		code = dry_run_wait_end(p->ctl, file->study->name, &summary, err);
	if (code == DP_OK)
		code = ctl_pack_fields(&fields, err, "{s:s, s:i}", "study", file->study->name,
				       "trial", 0);
	if (code == DP_OK) {
		code = ctl_call(p->ctl, "trial", fields, &ok, err);
		if (code == DP_OK) {
			*out = dry_run_trial_json(file->study, json_object_get(ok, "trial"));
			json_decref(ok);
		} else if (code == DP_E_NOT_FOUND) {
			/* no point was tried: an accountant had no answer */
			*out = json_pack("{s:b, s:n, s:O?, s:s}", "ok", 0, "end", "message",
					 json_object_get(summary, "reason"), "directory",
					 p->state_dir);
			code = DP_OK;
		}
	}
	if (ctl_interrupted)
		code = dp_fail(err, DP_E_INTERRUPTED, "interrupted");
	ctl_embedded_stop(p);
	json_decref(summary);
	return code;
}

int ctl_dry_run(struct ctl *ctl, const struct ctl_study_file *file, json_t **out,
		struct dp_err *err)
{
	struct ctl_embedded_daemon p = { .ctl = ctl };
	/* Slurm nodes have their own temporary directories, but share that of the study */
	const char *base =
		file->study->trainer.executor == DP_EXECUTOR_SLURM ? file->dir : getenv("TMPDIR");
	struct dp_err left;
	int code;

	*out = NULL;
	p.state_dir = dp_path_join(base && *base == '/' ? base : "/tmp", "dpareto-try-XXXXXX");
	ctl_catch_signals();
	if (mkdtemp(p.state_dir)) {
		p.log_path = dp_path_join(p.state_dir, "dparetod.log");
		code = dry_run_with_daemon(&p, file, out, err);
		/* keep the directory of a failure for inspection */
		if ((code == DP_E_INTERRUPTED || dp_json_bool(*out, "ok", false)) &&
		    dp_remove_tree(p.state_dir, &left) != DP_OK)
			ctl_print_message(ctl, "warning: %s", left.msg);
	} else {
		code = dp_fail_errno(err, errno, "cannot make the folder %s", p.state_dir);
	}
	if (code != DP_OK) {
		json_decref(*out);
		*out = NULL;
	}
	free(p.state_dir);
	free(p.log_path);
	return code;
}

/* ---- text output ---- */

static void dry_run_print_row(struct ctl *ctl, const char *label, const char *text)
{
	ctl_printf(ctl, "  %-10s  %s\n", label, text);
}

/* Prints named values. Those also in `up` are rounded up: a displayed epsilon is never below the
 * true one. */
static void dry_run_print_values(struct ctl *ctl, const char *label, const json_t *values,
				 const json_t *up)
{
	struct dp_buf text = DP_BUF_INIT;
	char shown[CTL_TEXT_LEN];
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)values, name, v)
		dp_buf_printf(&text, "%s%s=%s", text.len ? " " : "", name,
			      json_object_get(up, name) ? ctl_format_upper_bound(v, shown)
							: ctl_format_value(v, shown));
	dry_run_print_row(ctl, label, text.len ? dp_buf_text(&text) : "none");
	dp_buf_free(&text);
}

static void dry_run_print_file_tail(struct ctl *ctl, const json_t *tried, const char *name)
{
	const char *text = dp_json_str(tried, name, "");

	if (*text)
		ctl_printf(ctl, "  the end of its %s:\n%s%s", name, text,
			   text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static void dry_run_print_success(struct ctl *ctl, const json_t *tried)
{
	const json_t *accounted = json_object_get(tried, "accounted"),
		     *declared = json_object_get(tried, "declared"), *one;
	size_t asked = json_array_size(json_object_get(tried, "path")), reached = 0, i;
	const char *objective;
	json_t *v;

	dry_run_print_values(ctl, "metrics", json_object_get(tried, "metrics"), NULL);
	json_array_foreach (json_object_get(tried, "missing"), i, one)
		ctl_printf(ctl, "  %-10s  %s, which a constraint is on\n", "missing",
			   json_string_value(one));
	dry_run_print_values(ctl, "objectives", json_object_get(tried, "objectives"), accounted);
	json_array_foreach (json_object_get(tried, "waypoints"), i, one)
		reached += !dp_json_bool(one, "dropped", false);
	if (asked > 0)
		ctl_printf(ctl, "  %-10s  %zu of the %zu that were asked for\n", "waypoints",
			   reached, asked);
	if (json_object_size(declared) > 0)
		dry_run_print_values(ctl, "declared", declared, NULL);
	else
		dry_run_print_row(ctl, "declared",
				  "nothing: nothing checks that it trains as is accounted for");
	if (json_object_size(accounted) == 0)
		dry_run_print_row(ctl, "accounted", "nothing: no objective is a privacy mechanism");
	json_object_foreach ((json_t *)accounted, objective, v) {
		struct dp_buf text = DP_BUF_INIT;

		/* as an input line of `dparetoctl epsilon --batch` */
		dp_buf_printf(&text, "%s: ", objective);
		dp_json_dump(&text, v, 0);
		dry_run_print_row(ctl, "accounted", dp_buf_text(&text));
		dp_buf_free(&text);
	}
}

void ctl_dry_run_print(struct ctl *ctl, const char *path, const json_t *tried)
{
	const json_t *seconds = json_object_get(tried, "seconds");
	struct dp_buf why = DP_BUF_INIT;
	char took[CTL_TEXT_LEN];

	seconds = json_is_number(seconds) ? seconds : NULL;
	ctl_text_sanitize(&why, dp_json_str(tried, "message", "")); /* may quote the trainer */
	ctl_printf(ctl, "%s: tried once, with one run at a random point: %s%s%s%s%s\n", path,
		   dp_json_str(tried, "end", "nothing was trained"), seconds ? ", took " : "",
		   seconds ? ctl_format_duration(seconds, took) : "", why.len ? "\n  " : "",
		   dp_buf_text(&why));
	dp_buf_free(&why);
	if (json_object_get(tried, "parameters"))
		dry_run_print_values(ctl, "parameters", json_object_get(tried, "parameters"), NULL);
	if (dp_json_bool(tried, "ok", false)) {
		dry_run_print_success(ctl, tried);
		return;
	}
	dry_run_print_file_tail(ctl, tried, "result");
	dry_run_print_file_tail(ctl, tried, "stdout");
	dry_run_print_file_tail(ctl, tried, "stderr");
	if (*dp_json_str(tried, "directory", ""))
		dry_run_print_row(ctl, "folder", dp_json_str(tried, "directory", ""));
}
