/* cmd-logs.c - `logs`: prints what a trainer wrote to standard output and standard error. */
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/reconnect.h"
#include "ctl/ui/result_id.h"
#include "ctl/ui/result_table.h"
#include "state/state.h"
#include "ctl/study_status.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LOG_POLL_MS = 200,
	LOG_JSON_MAX_BYTES = 256 << 20, /* largest log for -o json */
	TAIL_CHUNK = 64 << 10
};

struct log_stream {
	const char *name;
	int fd; /* -1: does not exist yet */
};

struct logs {
	struct ctl *ctl;
	const char *study;
	struct ctl_result_id result; /* only its trial is used */
	char trial[DP_TRIAL_NAME_LEN];
	int64_t attempt, run; /* requested; -1: latest */
	int64_t tail_lines;   /* -1: all */
	bool show_headings;
	struct log_stream streams[2];
	size_t nstreams;
	const char *last_stream;
	json_t *attempt_dir; /* of the attempt shown; NULL: none yet */
	bool has_ended;
	struct ctl_reconnect reconnect;
};

/* Fetches the trial and finds the attempt in it. The caller owns the reply *ok. */
static int logs_fetch_attempt(struct logs *l, json_t **ok, struct dp_err *err)
{
	const json_t *trial, *a, *found = NULL;
	json_t *fields;
	size_t i;
	int code = ctl_pack_fields(&fields, err, "{s:s, s:I}", "study", l->study, "trial",
				   (json_int_t)l->result.trial);

	if (code == DP_OK)
		code = ctl_call(l->ctl, "trial", fields, ok, err);
	if (code != DP_OK)
		return code;
	trial = json_object_get(*ok, "trial");
	if (json_object_get(trial, "released")) {
		json_decref(*ok);
		*ok = NULL;
		dp_fail(err, DP_E_FAILED,
			"study '%s' releases noisy values only (objectives.NAME.release), and "
			"what a trainer prints may tell the exact ones: its logs are not kept",
			l->study);
		return dp_hint(err,
			       "to see what it prints, start it by hand with the request.json in "
			       "the attempt's folder, which 'dparetoctl trial %s %s' names",
			       l->study, l->trial);
	}
	json_array_foreach (json_object_get(trial, "attempts"), i, a)
		if ((l->attempt < 0 || dp_json_int(a, "attempt", -1) == l->attempt) &&
		    (l->run < 0 || dp_json_int(a, "run", -1) == l->run))
			found = a;
	if (!found)
		return DP_OK;
	if (!l->attempt_dir) {
		l->attempt_dir = json_incref(json_object_get(found, "directory"));
		/* keep following this attempt even if another one starts */
		l->attempt = dp_json_int(found, "attempt", -1);
		l->run = dp_json_int(found, "run", -1);
	}
	l->has_ended = dp_json_str(found, "end", NULL) != NULL;
	return DP_OK;
}

static int fail_no_attempt(const struct logs *l, const char *state, struct dp_err *err)
{
	if (l->attempt >= 0 || l->run >= 0)
		dp_fail(err, DP_E_NOT_FOUND, "trial %s has no such attempt", l->trial);
	else
		dp_fail(err, DP_E_NOT_FOUND,
			"trial %s has not been started yet (it is %s), so there are no logs",
			l->trial, state);
	return dp_hint(err,
		       l->attempt >= 0 || l->run >= 0
			       ? "'dparetoctl trial %s %s' lists its attempts"
			       : "'dparetoctl logs -f %s %s' waits for it",
		       l->study, l->trial);
}

static void logs_sleep(void)
{
	struct timespec t = { .tv_nsec = LOG_POLL_MS * 1000000L };

	nanosleep(&t, NULL);
}

static bool logs_trial_is_pending(const struct logs *l)
{
	const json_t *summary;
	struct dp_err why;
	json_t *ok;
	bool yes;

	if (ctl_call_study(l->ctl, "status", l->study, &ok, &why) != DP_OK)
		return false;
	summary = json_object_get(ok, "study");
	yes = !ctl_study_has_ended(summary) &&
	      l->result.trial < dp_json_int(summary, "evaluations", 0);
	json_decref(ok);
	return yes;
}

/* Finds the attempt; with -f, waits until one starts. */
static int logs_wait_for_attempt(struct logs *l, bool follow, struct dp_err *err)
{
	bool told = false;
	json_t *ok;
	int code;

	for (;;) {
		const char *state;

		ok = NULL;
		code = logs_fetch_attempt(l, &ok, err);
		if (code != DP_OK &&
		    !(code == DP_E_NOT_FOUND && follow && logs_trial_is_pending(l)))
			return code;
		code = DP_OK;
		if (follow)
			ctl_reconnect_enable(l->ctl, &l->reconnect);
		state = dp_json_str(json_object_get(ok, "trial"), "state", "waiting");
		if (!l->attempt_dir &&
		    (!follow || ctl_trial_has_ended(json_object_get(ok, "trial"))))
			code = fail_no_attempt(l, state, err);
		json_decref(ok);
		if (code != DP_OK || l->attempt_dir)
			return code;
		if (!told)
			ctl_print_message(l->ctl, "trial %s waits to be started", l->trial);
		told = true;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		logs_sleep();
	}
}

static void seek_tail(int fd, int64_t lines)
{
	static char chunk[TAIL_CHUNK];
	struct stat st;
	off_t at;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	if (lines == 0)
		lseek(fd, 0, SEEK_END);
	at = lines > 0 ? st.st_size : 0;
	while (at > 0) {
		size_t want = at < TAIL_CHUNK ? (size_t)at : TAIL_CHUNK;
		ssize_t n = pread(fd, chunk, want, at - (off_t)want);

		if (n != (ssize_t)want)
			break;
		for (size_t i = want; i > 0; i--) {
			off_t pos = at - (off_t)want + (off_t)i;

			/* a newline at the end of the file starts no line */
			if (chunk[i - 1] == '\n' && pos < st.st_size && --lines == 0) {
				lseek(fd, pos, SEEK_SET);
				return;
			}
		}
		at -= (off_t)want;
	}
}

/* Prints new data of a stream; *any is true if there was some. */
static int copy_stream(struct logs *l, struct log_stream *s, bool *any, struct dp_err *err)
{
	bool shows = ctl_escapes_output(l->ctl, l->ctl->out);
	char chunk[65536];
	ssize_t n, rest;

	while (s->fd >= 0 && !l->ctl->out_closed && (n = read(s->fd, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			return DP_OK;
		if (n < 0)
			return dp_fail_errno(err, errno, "cannot read the log");
		if (l->show_headings && l->last_stream != s->name)
			ctl_printf(l->ctl, "%s==> %s <==\n", l->last_stream ? "\n" : "", s->name);
		l->last_stream = s->name;
		/* an incomplete character is read again later */
		rest = shows ? (ssize_t)ctl_utf8_partial_len(chunk, (size_t)n) : 0;
		if (rest > 0 && rest < n && lseek(s->fd, -rest, SEEK_CUR) >= 0)
			n -= rest;
		ctl_print_bytes(l->ctl, chunk, (size_t)n);
		*any = true;
	}
	return DP_OK;
}

static int logs_copy_all_streams(struct logs *l, bool *any, struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; i < l->nstreams && code == DP_OK; i++) {
		struct log_stream *s = &l->streams[i];
		char *path = dp_path_join(json_string_value(l->attempt_dir), s->name);
		int errnum = 0;

		if (s->fd < 0) {
			s->fd = dp_open_untrusted(path);
			errnum = s->fd < 0 ? errno : 0;
			if (s->fd >= 0 && l->tail_lines >= 0)
				seek_tail(s->fd, l->tail_lines);
		}
		if (errnum && (errnum != ENOENT || l->has_ended)) {
			code = dp_fail_errno(err, errnum, "cannot read %s", path);
			if (errnum == ENOENT)
				dp_hint(err,
					"a cancelled or never started attempt has no logs, and "
					"'retention' in the daemon's configuration removes old "
					"ones");
			else if (errnum == EACCES)
				dp_hint(err, "logs belong to the daemon's user; read them as that "
					     "user");
		}
		free(path);
		if (code == DP_OK)
			code = copy_stream(l, s, any, err);
	}
	return code;
}

/* Keeps printing without the daemon, since the trainer continues. */
static int logs_on_daemon_away(void *arg, struct dp_err *err)
{
	struct logs *l = arg;
	bool any;
	int code = l->attempt_dir ? logs_copy_all_streams(l, &any, err) : DP_OK;

	return code == DP_OK ? ctl_flush(l->ctl, err) : code;
}

static int logs_follow(struct logs *l, struct dp_err *err)
{
	bool any, ended;
	json_t *ok;
	int code;

	for (;;) {
		/* read this before the files, so that the last output is not missed */
		ended = l->has_ended;
		any = false;
		code = logs_copy_all_streams(l, &any, err);
		if (code == DP_OK)
			code = ctl_flush(l->ctl, err);
		if (code != DP_OK || ended || l->ctl->out_closed)
			return code;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		if (any)
			continue;
		logs_sleep();
		code = logs_fetch_attempt(l, &ok, err);
		if (code != DP_OK)
			return code;
		json_decref(ok);
	}
}

/* Converts log bytes to a JSON string; invalid UTF-8 becomes U+FFFD. */
static json_t *json_from_log_bytes(const struct dp_buf *raw)
{
	struct dp_buf clean = DP_BUF_INIT;
	json_t *v = json_stringn(dp_buf_text(raw), raw->len);

	for (size_t i = 0, n; !v && i < raw->len; i += n) {
		json_t *one = NULL;

		for (n = 1; n <= 4 && i + n <= raw->len; n++) {
			one = json_stringn(raw->data + i, n);
			if (one)
				break;
		}
		if (one)
			dp_buf_add(&clean, raw->data + i, n);
		else
			dp_buf_puts(&clean, "\xef\xbf\xbd");
		n = one ? n : 1;
		json_decref(one);
	}
	if (!v)
		v = json_stringn(dp_buf_text(&clean), clean.len);
	dp_buf_free(&clean);
	return v;
}

static int logs_print_json(struct logs *l, struct dp_err *err)
{
	json_t *out = json_pack("{s:I, s:o?, s:I}", "trial", (json_int_t)l->result.trial, "at",
				ctl_result_id_checkpoint_json(&l->result), "attempt",
				(json_int_t)l->attempt);
	struct dp_buf raw = DP_BUF_INIT;
	int code = DP_OK;

	for (size_t i = 0; i < l->nstreams && code == DP_OK; i++) {
		char *path = dp_path_join(json_string_value(l->attempt_dir), l->streams[i].name);

		code = dp_read_untrusted(path, LOG_JSON_MAX_BYTES, &raw, err);
		if (code == DP_OK)
			json_object_set_new(out, l->streams[i].name, json_from_log_bytes(&raw));
		free(path);
	}
	if (code == DP_OK)
		ctl_print_json(l->ctl, out);
	dp_buf_free(&raw);
	json_decref(out);
	return code;
}

static int logs_parse_options(struct ctl *ctl, struct logs *l, struct dp_err *err)
{
	const struct {
		const char *name;
		int64_t *number;
	} numbers[] = { { "attempt", &l->attempt },
			{ "run", &l->run },
			{ "tail", &l->tail_lines } };
	bool out = ctl_has_option(ctl, "stdout"), errors = ctl_has_option(ctl, "stderr");
	int code = ctl_result_id_parse(ctl->argv[1], &l->result, err);

	if (code != DP_OK)
		return code;
	dp_trial_format_name((uint32_t)l->result.trial, l->trial);
	code = ctl_reconnect_parse_option(ctl, &l->reconnect, err);
	l->reconnect.on_waiting = logs_on_daemon_away;
	l->reconnect.on_waiting_arg = l;
	for (size_t i = 0; i < DP_COUNT(numbers) && code == DP_OK; i++) {
		const char *text = ctl_get_option(ctl, numbers[i].name);

		*numbers[i].number = -1;
		if (text && (!dp_int_parse(text, numbers[i].number) || *numbers[i].number < 0))
			code = dp_fail(err, DP_E_USAGE, "--%s takes a number, not '%s'",
				       numbers[i].name, text);
	}
	if (code == DP_OK && ctl_has_option(ctl, "follow") && ctl_get_option(ctl, "state"))
		code = dp_fail(err, DP_E_USAGE,
			       "-f needs the daemon, which tells when the attempt ends; "
			       "--state shows what is there now");
	if (code == DP_OK && ctl_has_option(ctl, "follow") && ctl->format == CTL_JSON)
		code = dp_fail(err, DP_E_USAGE, "-f and -o json do not go together");
	if (out || !errors)
		l->streams[l->nstreams++] = (struct log_stream){ "stdout", -1 };
	if (errors || !out)
		l->streams[l->nstreams++] = (struct log_stream){ "stderr", -1 };
	l->show_headings = l->nstreams > 1;
	return code;
}

static int cmd_logs_run(struct ctl *ctl, struct dp_err *err)
{
	struct logs l = { .ctl = ctl, .study = ctl->argv[0] };
	bool keep_on = ctl_has_option(ctl, "follow"), any;
	int code = logs_parse_options(ctl, &l, err);

	if (code == DP_OK) {
		if (keep_on)
			ctl_catch_signals();
		code = logs_wait_for_attempt(&l, keep_on, err);
	}
	if (code == DP_OK) {
		if (ctl->format == CTL_JSON)
			code = logs_print_json(&l, err);
		else
			code = keep_on ? logs_follow(&l, err)
				       : logs_copy_all_streams(&l, &any, err);
	}
	for (size_t i = 0; i < l.nstreams; i++)
		if (l.streams[i].fd >= 0)
			close(l.streams[i].fd);
	json_decref(l.attempt_dir);
	ctl->error_reported = code == DP_E_INTERRUPTED;
	return code;
}

static const struct ctl_option options[] = {
	{ "follow", 'f', NULL,
	  "go on until the attempt ends; waits for a trial that has not started" },
	{ "tail", 0, "N", "only the last N lines of each" },
	{ "stdout", 0, NULL, "only standard output" },
	{ "stderr", 0, NULL, "only standard error" },
	{ "attempt", 0, "N", "this attempt instead of the latest" },
	{ "run", 0, "N", "this run, where each run has a process of its own" },
	CTL_PATIENCE_OPTION,
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_logs = {
	.name = "logs",
	.summary = "show what a trainer wrote",
	.args = "STUDY TRIAL[@AT]",
	.min_args = 2,
	.max_args = 2,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Standard output and standard error of a trial's latest attempt, read from the "
		"attempt's folder; of a waypoint (7@4), its training's. With -f a daemon that "
		"goes away is waited for, which is told on standard error, and what the trainer "
		"goes on to write is shown meanwhile.",
	.examples = "dparetoctl logs adult 7 --stderr --tail 20\n"
		    "dparetoctl logs -f adult 8",
	.run = cmd_logs_run,
};
