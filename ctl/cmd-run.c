/* cmd-run.c - the whole job in one command: a private daemon, the study to its end,
 * its report, the front. */
#include "ctl/ctl.h"

#include "journal/journal.h"
#include "study/study.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum {
	HELLO_MS = 1000,
	CONTROL_FD = 3, /* where the daemon finds its end of the connection */
	TWICE_US = 1000000,
	PREDECESSOR_US = 5000000,
	LOG_MAX = 64 << 20,
	LAST_LINES = 10
};

struct private
{
	struct ctl *ctl;
	char *dir;       /* state folder, absolute */
	char *log;       /* the daemon's */
	off_t log_start; /* where this daemon's lines begin */
	pid_t pid;       /* 0: none, or it has ended */
	int status;      /* as of waitpid() */
};

/* ---- the state folder ---- */

/* --state, or the contract's default below the user's own state folder (for root,
 * too: this is no system service). */
static int find_folder(struct ctl *ctl, const char *study, char **out, struct dp_err *err)
{
	const char *state = ctl_opt(ctl, "state"), *base = getenv("XDG_STATE_HOME");
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
		return dp_fail(
			err, DP_E_USAGE,
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

/* ---- the daemon ---- */

static int spawn_failed(int errnum, const char *program, struct dp_err *err)
{
	return dp_fail_errno(err, errnum, "cannot start %s", program);
}

/* Starts it in a session of its own, so that Ctrl-C reaches only us: we then tell it
 * what to do. Its stdout and stderr go to its log. */
static int spawn(struct private *p, char **argv, int theirs, struct dp_err *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	struct stat st;
	int rc;

	p->log_start = stat(p->log, &st) == 0 ? st.st_size : 0;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, p->log, O_WRONLY | O_CREAT | O_APPEND,
					 0644);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	posix_spawn_file_actions_adddup2(&files, theirs, CONTROL_FD);
	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn(&p->pid, argv[0], &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (rc != 0) {
		p->pid = 0;
		return spawn_failed(rc, argv[0], err);
	}
	return DP_OK;
}

static int start_daemon(struct private *p, struct dp_err *err)
{
	char *program = ctl_find_program("dparetod");
	char *socket_path = dp_path_join(p->dir, "dparetod.sock");
	const char *slots = ctl_opt(p->ctl, "slots");
	char *argv[16], fd_text[16];
	int pair[2], n = 0, code;

	if (!socket_path)
		ctl_die_nomem();
	if (!program) {
		free(socket_path);
		dp_fail(err, DP_E_NOT_FOUND,
			"dparetod is neither beside dparetoctl nor in "
			"PATH");
		return dp_hint(err, "install it with 'make install' or 'scripts/build'");
	}
	snprintf(fd_text, sizeof fd_text, "%d", CONTROL_FD);
	argv[n++] = program;
	argv[n++] = "--state";
	argv[n++] = p->dir;
	argv[n++] = "--control-fd";
	argv[n++] = fd_text;
	argv[n++] = "--stop-policy";
	argv[n++] = "kill";
	argv[n++] = "--log-file";
	argv[n++] = p->log;
	argv[n++] = "--socket";
	argv[n++] = strlen(socket_path) <= DP_WIRE_PATH_MAX ? socket_path : "none";
	if (slots) {
		argv[n++] = "--slots";
		argv[n++] = (char *)slots;
	}
	argv[n] = NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		code = dp_fail_errno(err, errno, "cannot make a socket");
	} else {
		code = spawn(p, argv, pair[1], err);
		close(pair[1]);
		p->ctl->client = dp_client_from_fd(pair[0]);
		if (!p->ctl->client)
			ctl_die_nomem();
	}
	free(program);
	free(socket_path);
	return code;
}

/* Waits for the daemon to end. A further Ctrl-C ends the waiting, not the daemon,
 * which stops by itself; but one signal often comes twice (to the process and to its
 * group), so what comes at once is not a further one. */
static void wait_daemon(struct private *p)
{
	int64_t start = dp_mono_us();

	ctl_interrupted = 0;
	while (p->pid > 0) {
		if (waitpid(p->pid, &p->status, 0) == p->pid || errno != EINTR)
			p->pid = 0;
		else if (ctl_interrupted && dp_mono_us() - start > TWICE_US)
			return;
		ctl_interrupted = 0;
	}
}

/* Stops it with its trainers and waits for that. */
static void stop_daemon(struct private *p)
{
	struct dp_err ignored;
	json_t *fields, *ok = NULL;

	ctl_interrupted = 0;
	if (p->pid > 0 && p->ctl->client &&
	    ctl_pack(&fields, &ignored, "{s:s}", "policy", "kill") == DP_OK &&
	    dp_client_call(p->ctl->client, "shutdown", fields, 5000, &ok, &ignored) ==
		    DP_OK)
		json_decref(ok);
	/* whatever came of that, it also stops when the connection closes */
	dp_client_close(p->ctl->client);
	p->ctl->client = NULL;
	wait_daemon(p);
}

/* The daemon's own last words become our error: a complaint at start is one line
 * "dparetod: ..." and perhaps a hint; else the end of the log is shown. */
static int daemon_gone(struct private *p, struct dp_err *err)
{
	struct dp_buf log = DP_BUF_INIT;
	char *text, *words = NULL, *hint = NULL, *line, *rest;
	const char *tail;
	struct dp_err unread;

	wait_daemon(p);
	if (dp_read_file(p->log, LOG_MAX, &log, &unread) != DP_OK)
		dp_buf_clear(&log);
	text = ctl_strdup((off_t)log.len > p->log_start ? log.data + p->log_start : "");
	tail = text + strlen(text);
	for (int lines = 0; tail > text && lines <= LAST_LINES; tail--)
		lines += tail[-1] == '\n';
	rest = ctl_strdup(tail + (tail > text));
	for (char *at = text; (line = strsep(&at, "\n")) != NULL;) {
		if (strncmp(line, "dparetod: ", 10) == 0)
			words = line + 10;
		else if (words && strncmp(line, "hint: ", 6) == 0)
			hint = line + 6;
	}
	if (words) {
		dp_fail(err, DP_E_FAILED, "the study's daemon could not start: %s",
			words);
		dp_hint(err, "%s", hint ? hint : "");
	} else {
		fputs(rest, stderr);
		dp_fail(err, DP_E_FAILED,
			WIFSIGNALED(p->status)
				? "the study's daemon was killed by signal %d"
				: "the study's daemon ended unexpectedly (exit status "
				  "%d)",
			WIFSIGNALED(p->status) ? WTERMSIG(p->status)
					       : WEXITSTATUS(p->status));
		dp_hint(err, "its log is %s; run the same command again to go on",
			p->log);
	}
	free(rest);
	free(text);
	dp_buf_free(&log);
	return DP_E_FAILED;
}

/* Waits until it has replayed its journal and answers. */
static int greet(struct private *p, struct dp_err *err)
{
	json_t *ok;
	int code;

	for (int tries = 0;; tries++) {
		code = dp_client_call(p->ctl->client, "hello", NULL, HELLO_MS, &ok, err);
		if (code == DP_OK) {
			json_decref(ok);
			return DP_OK;
		}
		if (ctl_interrupted || code != DP_E_TIMEOUT)
			return code;
		if (tries == 1)
			ctl_say(p->ctl, "the journal is being replayed...");
	}
}

/* After the death of an earlier dparetoctl its daemon still ends its trainers and holds
 * the journal: that is waited for, for a while. True if the journal is free now, which
 * it may have become since our daemon failed to get it. */
static bool wait_predecessor(struct private *p)
{
	struct dp_journal_options options = { 0 };
	struct timespec pause = { .tv_nsec = 50000000 };
	char *folder = dp_path_join(p->dir, "journal");
	int64_t start = dp_mono_us();
	struct dp_journal *j;
	struct dp_err why;
	bool told = false;
	int code;

	if (!folder)
		ctl_die_nomem();
	for (;;) {
		code = dp_journal_open(folder, &options, &j, &why);
		if (code == DP_OK)
			dp_journal_close(j);
		if (code != DP_E_BUSY || ctl_interrupted ||
		    dp_mono_us() - start > PREDECESSOR_US)
			break;
		if (!told)
			ctl_say(p->ctl, "another daemon uses %s; waiting for it to stop",
				p->dir);
		told = true;
		nanosleep(&pause, NULL);
	}
	free(folder);
	return code == DP_OK;
}

/* A daemon that answers: started, and once more if an earlier one had to end first. */
static int open_daemon(struct private *p, struct dp_err *err)
{
	for (bool again = false;; again = true) {
		int code = start_daemon(p, err);

		if (code == DP_OK)
			code = greet(p, err);
		if (code != DP_E_NO_DAEMON)
			return code;
		code = daemon_gone(p, err);
		dp_client_close(p->ctl->client);
		p->ctl->client = NULL;
		if (again || !wait_predecessor(p))
			return code;
	}
}

/* ---- the study ---- */

static int submit(struct private *p, const struct ctl_study_file *file,
		  struct dp_err *err)
{
	const json_t *s;
	const char *state;
	json_t *fields, *ok;
	int code;

	code = ctl_pack(&fields, err, "{s:s%, s:s, s:s}", "text",
			dp_buf_text(&file->text), file->text.len, "path", file->absolute,
			"dir", file->dir);
	if (code == DP_OK)
		code = ctl_call(p->ctl, "submit", fields, &ok, err);
	if (code == DP_E_EXISTS) {
		dp_fail(err, DP_E_EXISTS,
			"%s holds a study '%s' that was run from another file or an "
			"earlier version of this one",
			p->dir, file->study->name);
		dp_hint(err,
			"give the study another name, use another folder with --state, "
			"or remove that folder to start afresh");
	}
	if (code != DP_OK)
		return code;
	s = json_object_get(ok, "study");
	state = dp_json_str(s, "state", "");
	if (!dp_json_bool(ok, "new", true) && strcmp(state, "finished") != 0)
		ctl_say(p->ctl, "going on with study '%s': %d of %d trials have ended",
			file->study->name, (int)dp_json_int(s, "ended", 0),
			(int)dp_json_int(s, "evaluations", 0));
	if (strcmp(state, "paused") == 0 || strcmp(state, "stopped") == 0) {
		json_decref(ok);
		code = ctl_call_study(p->ctl, "resume", file->study->name, &ok, err);
	}
	if (code == DP_OK)
		json_decref(ok);
	return code;
}

/* Follows the study and fetches its result and its latest failure. */
static int follow(struct private *p, const char *study, json_t **summary, json_t **front,
		  json_t **failure, struct dp_err *err)
{
	enum ctl_followed how;
	json_t *status;
	int code = ctl_follow(p->ctl, study, stderr, &how, summary, err);

	if (code == DP_OK)
		code = ctl_call_study(p->ctl, "front", study, front, err);
	if (code == DP_OK)
		code = ctl_call_study(p->ctl, "status", study, &status, err);
	if (code == DP_OK) {
		*failure = json_incref(
			json_array_get(json_object_get(status, "failures"), 0));
		json_decref(status);
	}
	return code;
}

/* Waits until the daemon has written the study's report, or has given up; takes the
 * place of *summary. Without a report the study is what it is: that is only told. */
static int wait_report(struct private *p, const char *study, json_t **summary,
		       struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = 50000000 };

	for (;;) {
		const char *why;
		json_t *status;
		int code = ctl_call_study(p->ctl, "status", study, &status, err);

		if (code != DP_OK)
			return code;
		json_decref(*summary);
		*summary = json_incref(json_object_get(status, "study"));
		json_decref(status);
		why = dp_json_str(*summary, "report_error", NULL);
		if (why)
			ctl_say(p->ctl, "warning: there is no report: %s", why);
		if (why || dp_json_str(*summary, "report", NULL))
			return DP_OK;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		nanosleep(&pause, NULL);
	}
}

static void print_result(struct private *p, const json_t *front, const json_t *summary)
{
	struct ctl *ctl = p->ctl;
	const char *folder = dp_json_str(summary, "directory", p->dir);
	const char *report = dp_json_str(summary, "report", NULL);
	struct dp_buf anti = DP_BUF_INIT;
	struct ctl_columns cols;
	char volume[CTL_TEXT_LEN];

	if (ctl->format == CTL_JSON) {
		/* one line in every case: equal runs print equal bytes */
		ctl_put_json_line(ctl, front);
		return;
	}
	ctl_front_columns(front, &cols);
	ctl_anti_ideal(front, &anti);
	ctl_printf(ctl,
		   "study '%s' is %s: %d trials ended, %d failed, %d diverged\n"
		   "hypervolume %s (anti-ideal: %s)\n\n",
		   dp_json_str(front, "study", "?"), dp_json_str(front, "state", "?"),
		   (int)dp_json_int(front, "evaluations", 0),
		   (int)dp_json_int(front, "failed", 0),
		   (int)dp_json_int(front, "diverged", 0),
		   ctl_value(json_object_get(front, "hypervolume"), volume),
		   dp_buf_text(&anti));
	dp_buf_free(&anti);
	if (json_array_size(json_object_get(front, "front")) > 0)
		ctl_front_table(ctl, front, &cols);
	else
		ctl_printf(ctl, "the front is empty: no trial has given a result\n");
	if (report)
		ctl_printf(ctl, "\nreport   %s", report);
	ctl_printf(ctl,
		   "\nstudy    %s\ntrials   %s/trials (a folder each: request, result, "
		   "output)\njournal  %s/journal (dparetoctl journal dump --state %s)\n"
		   "again    %s\n",
		   folder, folder, p->dir, p->dir,
		   strcmp(dp_json_str(front, "state", ""), "finished") == 0
			   ? "the same command shows this again, without running anything"
			   : "the same command goes on where this stopped");
	ctl_columns_clear(&cols);
}

/* A study that ended without finishing: why, and where to look. With -o json
 * standard output has its one object already, so this goes to standard error. */
static void explain_failure(struct private *p, const json_t *summary,
			    const json_t *failure, struct dp_err *err)
{
	if (ctl_study_verdict(summary, err) == DP_OK)
		return;
	if (failure)
		dp_hint(err,
			"the latest failure is in %.150s (stdout, stderr); mend it and "
			"run "
			"the same command again",
			dp_json_str(failure, "directory", "?"));
	else
		dp_hint(err, "the same command goes on where it stopped");
	p->ctl->format = CTL_TABLE;
}

static int run_study(struct private *p, const struct ctl_study_file *file,
		     struct dp_err *err)
{
	json_t *summary = NULL, *front = NULL, *failure = NULL;
	int code = open_daemon(p, err);

	if (code == DP_OK)
		code = submit(p, file, err);
	if (code == DP_OK)
		code = follow(p, file->study->name, &summary, &front, &failure, err);
	if (code == DP_OK)
		code = wait_report(p, file->study->name, &summary, err);
	if (ctl_interrupted)
		code = DP_E_INTERRUPTED;
	if (code == DP_E_INTERRUPTED) {
		ctl_say(p->ctl, "stopping the study's trainers; the same command goes on "
				"where this stops");
		p->ctl->told = true;
	}
	if (code == DP_E_NO_DAEMON)
		code = daemon_gone(p, err);
	stop_daemon(p);
	if (code == DP_OK) {
		print_result(p, front, summary);
		explain_failure(p, summary, failure, err);
		code = ctl_study_verdict(summary, NULL);
	}
	json_decref(summary);
	json_decref(front);
	json_decref(failure);
	return code;
}

static int run(struct ctl *ctl, struct dp_err *err)
{
	const char *slots = ctl_opt(ctl, "slots");
	struct private p = { .ctl = ctl };
	struct ctl_study_file file;
	int64_t n;
	int code;

	if (slots && (!dp_int_parse(slots, &n) || n < 1))
		return dp_fail(err, DP_E_USAGE, "--slots takes a number from 1, not '%s'",
			       slots);
	code = ctl_study_file_read(ctl->argv[0], &file, err);
	if (code == DP_OK)
		code = ctl_study_file_check(ctl, &file, err);
	if (code == DP_OK)
		code = find_folder(ctl, file.study->name, &p.dir, err);
	if (code == DP_OK) {
		p.log = dp_path_join(p.dir, "dparetod.log");
		if (!p.log)
			ctl_die_nomem();
		ctl_catch_signals();
		code = run_study(&p, &file, err);
	}
	ctl_study_file_clear(&file);
	free(p.dir);
	free(p.log);
	return code;
}

static const struct ctl_option options[] = {
	{ "state", 0, "DIR",
	  "keep everything in DIR (default: dpareto/run/STUDY in your state folder)" },
	{ "slots", 0, "N", "trainers at once (default: the number of cores)" },
	{ 0 },
};

const struct ctl_command ctl_cmd_run = {
	.name = "run",
	.summary = "run a study here and now, to its end",
	.args = "FILE",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN,
	.options = options,
	.help = "Needs no daemon: a private one is started for this study and stopped "
		"with "
		"it. Shows the progress, then the front and where everything is kept; "
		"the "
		"study's report is written by then. "
		"With "
		"-o json standard output is one object without times and paths, so that "
		"equal runs print equal bytes.\n\n"
		"Ctrl-C stops the study and its trainers; the same command goes on later "
		"without repeating what is done. A finished study is shown again. Exit "
		"status: 0 finished, 6 failed or paused by failures, 130 interrupted.",
	.examples = "dparetoctl run examples/svt-random.yaml\n"
		    "dparetoctl run adult.yaml --state /data/adult --slots 4\n"
		    "dparetoctl run adult.yaml -q -o json > adult.json",
	.run = run,
};
