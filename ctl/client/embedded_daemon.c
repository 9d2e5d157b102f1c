/* embedded_daemon.c - starts, restarts and stops a private daemon for one study and one command. */
#include "ctl/client/embedded_daemon.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/study_status.h"
#include "journal/journal.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	REPEATED_SIGNAL_US = 1000000,
	PREDECESSOR_WAIT_US = 5000000,
	LOG_READ_MAX = 64 << 20,
	LOG_TAIL_LINES = 10,
	RESTART_WINDOW_US = 60 * 1000000, /* StartLimitIntervalSec= in the systemd units */
	RESTART_DELAY_MS = 200
};

static int embedded_start(struct ctl_embedded_daemon *p, struct dp_err *err)
{
	char *socket_path = dp_path_join(p->state_dir, "dparetod.sock");
	const char *slots = ctl_get_option(p->ctl, "slots");
	const char *config = ctl_get_option(p->ctl, "config");
	char *argv[16];
	struct stat st;
	int n = 0, code;

	argv[n++] = "--state";
	argv[n++] = p->state_dir;
	argv[n++] = "--stop-policy";
	argv[n++] = "kill";
	argv[n++] = "--log-file";
	argv[n++] = p->log_path;
	argv[n++] = "--socket";
	argv[n++] = strlen(socket_path) <= DP_CONTROL_SOCKET_PATH_MAX ? socket_path : "none";
	if (slots) {
		argv[n++] = "--slots";
		argv[n++] = (char *)slots;
	}
	if (config) {
		argv[n++] = "--config";
		argv[n++] = (char *)config;
	}
	argv[n] = NULL;
	p->log_offset = stat(p->log_path, &st) == 0 ? st.st_size : 0;
	code = ctl_daemon_spawn(p->ctl, argv, p->log_path, &p->pid, err);
	if (code != DP_OK)
		p->pid = 0;
	free(socket_path);
	return code;
}

/* Waits for the daemon to end. Another Ctrl-C ends the wait; the daemon then stops by itself. A
 * signal often arrives twice (for the process and its group), so one that comes at once is
 * ignored. */
static void embedded_wait_exit(struct ctl_embedded_daemon *p)
{
	int64_t start = dp_monotonic_us();

	ctl_interrupted = 0;
	while (p->pid > 0) {
		if (waitpid(p->pid, &p->wait_status, 0) == p->pid || errno != EINTR)
			p->pid = 0;
		else if (ctl_interrupted && dp_monotonic_us() - start > REPEATED_SIGNAL_US)
			return;
		ctl_interrupted = 0;
	}
}

void ctl_embedded_stop(struct ctl_embedded_daemon *p)
{
	struct dp_err ignored;
	json_t *fields, *ok = NULL;

	ctl_interrupted = 0;
	p->ctl->on_daemon_lost = NULL;
	if (p->pid > 0 && p->ctl->client &&
	    ctl_pack_fields(&fields, &ignored, "{s:s}", "policy", "kill") == DP_OK &&
	    dp_client_call(p->ctl->client, "shutdown", fields, 5000, &ok, &ignored) == DP_OK)
		json_decref(ok);
	/* the daemon also stops when the connection closes */
	dp_client_close(p->ctl->client);
	p->ctl->client = NULL;
	embedded_wait_exit(p);
}

/* Returns the last words of a daemon that ended by itself as the error. An error at start is one
 * line "dparetod: ..." and possibly a hint; otherwise prints the end of the log. */
static int embedded_report_exit(struct ctl_embedded_daemon *p, struct dp_err *err)
{
	struct dp_buf log = DP_BUF_INIT;
	char *text, *words = NULL, *hint = NULL, *line, *rest;
	const char *tail;
	struct dp_err unread;

	embedded_wait_exit(p);
	if (dp_read_file(p->log_path, LOG_READ_MAX, &log, &unread) != DP_OK)
		dp_buf_clear(&log);
	text = dp_strdup((off_t)log.len > p->log_offset ? log.data + p->log_offset : "");
	tail = text + strlen(text);
	for (int lines = 0; tail > text && lines <= LOG_TAIL_LINES; tail--)
		lines += tail[-1] == '\n';
	rest = dp_strdup(tail + (tail > text));
	for (char *at = text; (line = strsep(&at, "\n")) != NULL;) {
		if (strncmp(line, "dparetod: ", 10) == 0)
			words = line + 10;
		else if (words && strncmp(line, "hint: ", 6) == 0)
			hint = line + 6;
	}
	if (words) {
		dp_fail(err, DP_E_FAILED, "the study's daemon could not start: %s", words);
		dp_hint(err, "%s", hint ? hint : "");
	} else {
		ctl_print_stderr(p->ctl, rest);
		dp_fail(err, DP_E_FAILED,
			WIFSIGNALED(p->wait_status)
				? "the study's daemon was killed by signal %d"
				: "the study's daemon ended unexpectedly (exit status %d)",
			WIFSIGNALED(p->wait_status) ? WTERMSIG(p->wait_status)
						    : WEXITSTATUS(p->wait_status));
		dp_hint(err, "its log is %s; run the same command again to go on", p->log_path);
	}
	free(rest);
	free(text);
	dp_buf_free(&log);
	return DP_E_FAILED;
}

/* Waits for a limited time for the daemon of an earlier dparetoctl that died: it still stops its
 * trainers and holds the journal. Returns true if the journal is free now, which may have happened
 * since our daemon failed to lock it. */
static bool embedded_wait_predecessor(struct ctl_embedded_daemon *p)
{
	struct dp_journal_options options = { 0 };
	struct timespec pause = { .tv_nsec = 50000000 };
	char *folder = dp_path_join(p->state_dir, "journal");
	int64_t start = dp_monotonic_us();
	struct dp_journal *j;
	struct dp_err why;
	bool told = false;
	int code;

	for (;;) {
		code = dp_journal_open(folder, &options, &j, &why);
		if (code == DP_OK)
			dp_journal_close(j);
		if (code != DP_E_BUSY || ctl_interrupted ||
		    dp_monotonic_us() - start > PREDECESSOR_WAIT_US)
			break;
		if (!told)
			ctl_print_message(p->ctl, "another daemon uses %s; waiting for it to stop",
					  p->state_dir);
		told = true;
		nanosleep(&pause, NULL);
	}
	free(folder);
	return code == DP_OK;
}

/* Starts the daemon and waits until it answers; retries once after an earlier daemon has ended. */
static int embedded_start_until_ready(struct ctl_embedded_daemon *p, struct dp_err *err)
{
	for (bool again = false;; again = true) {
		int code = embedded_start(p, err);
		json_t *hello = NULL;

		if (code == DP_OK)
			code = ctl_daemon_wait_ready(p->ctl, &hello, err);
		json_decref(hello);
		if (code != DP_E_NO_DAEMON)
			return code;
		code = embedded_report_exit(p, err);
		dp_client_close(p->ctl->client);
		p->ctl->client = NULL;
		if (again || !embedded_wait_predecessor(p))
			return code;
	}
}

/* Restarts a daemon that gave no answer: it is gone, or it hangs, which counts the same
 * (WatchdogSec= in the systemd units). As with Restart=on-failure, does not restart after a regular
 * exit or an error at start, nor after repeated crashes. */
static int embedded_restart(struct ctl *ctl, int why, struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = RESTART_DELAY_MS * 1000000L };
	struct ctl_embedded_daemon *p = ctl->on_daemon_lost_arg;
	int code;

	if (why == DP_E_TIMEOUT && p->pid > 0) {
		ctl_print_message(ctl, "the study's daemon does not answer and is ended");
		kill(p->pid, SIGKILL);
	}
	do {
		int64_t now, *oldest = &p->restart_times_us[p->n_restarts % CTL_RESTART_BURST];
		bool killed;

		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		dp_client_close(ctl->client);
		ctl->client = NULL;
		embedded_wait_exit(p);
		if (p->pid > 0)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		now = dp_monotonic_us();
		killed = WIFSIGNALED(p->wait_status);
		if ((!killed && WEXITSTATUS(p->wait_status) != 1) ||
		    (p->n_restarts >= CTL_RESTART_BURST && now - *oldest < RESTART_WINDOW_US))
			return embedded_report_exit(p, err);
		*oldest = now;
		p->n_restarts++;
		ctl_print_message(ctl,
				  "the study's daemon %s %d; it is started again, and its trainers "
				  "go on",
				  killed ? "was killed by signal" : "ended with exit status",
				  killed ? WTERMSIG(p->wait_status) : WEXITSTATUS(p->wait_status));
		nanosleep(&pause, NULL);
		code = embedded_start_until_ready(p, err);
	} while (code != DP_OK && code != DP_E_INTERRUPTED && WIFSIGNALED(p->wait_status));
	if (code == DP_OK)
		ctl_print_message(ctl, "the study's daemon is back");
	return code;
}

int ctl_embedded_open(struct ctl_embedded_daemon *p, struct dp_err *err)
{
	int code = embedded_start_until_ready(p, err);

	p->ctl->on_daemon_lost = embedded_restart;
	p->ctl->on_daemon_lost_arg = p;
	return code;
}

int ctl_embedded_wait_report(struct ctl_embedded_daemon *p, const char *study, json_t **summary,
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
			ctl_print_message(p->ctl, "warning: there is no report: %s", why);
		if (why || dp_json_str(*summary, "report", NULL) || !ctl_study_has_ended(*summary))
			return DP_OK;
		if (ctl_interrupted)
			return dp_fail(err, DP_E_INTERRUPTED, "interrupted");
		nanosleep(&pause, NULL);
	}
}
