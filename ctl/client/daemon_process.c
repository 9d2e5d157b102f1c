/* daemon_process.c - starts dparetod as a child process and handles signals. */
#include "ctl/client/daemon_process.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "ctl/client/programs.h"
#include "ctl/ctl_output.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
	HELLO_TIMEOUT_MS = 1000,
	CONTROL_FD = 3, /* descriptor of the control connection in the daemon */
	LOG_READ_MAX = 1 << 20
};

volatile sig_atomic_t ctl_interrupted;

static void on_interrupt_signal(int number)
{
	(void)number;
	ctl_interrupted = 1;
}

void ctl_catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_interrupt_signal }, old;

	/* without SA_RESTART: signals must interrupt waits */
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < DP_COUNT(numbers); i++) {
		sigaction(numbers[i], NULL, &old);
		/* keep signals ignored that nohup or a shell's & ignores */
		if (old.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* Starts the daemon in its own session, so that Ctrl-C reaches only dparetoctl. */
static int embedded_spawn_process(char **argv, const char *log, int theirs, pid_t *pid,
				  struct dp_err *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int errnum;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	/* O_NONBLOCK: opening a FIFO would wait for a reader with signals blocked */
	posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK,
					 0600);
	posix_spawn_file_actions_adddup2(&files, 1, 2);
	posix_spawn_file_actions_adddup2(&files, theirs, CONTROL_FD);
	posix_spawnattr_init(&attributes);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
	errnum = posix_spawn(pid, argv[0], &files, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (errnum == ENXIO)
		return dp_fail(err, DP_E_INVALID, "the log %s is a FIFO that no process reads",
			       log);
	return errnum == 0 ? DP_OK : dp_fail_errno(err, errnum, "cannot start %s", argv[0]);
}

int ctl_daemon_spawn(struct ctl *ctl, char **arguments, const char *log, pid_t *pid,
		     struct dp_err *err)
{
	char *program = ctl_find_program("dparetod"), **argv, fd_text[16];
	size_t n = 0;
	int pair[2], code;

	if (!program) {
		dp_fail(err, DP_E_NOT_FOUND, "dparetod is neither beside dparetoctl nor in PATH");
		return dp_hint(err, "install it with 'make install' or 'scripts/build'");
	}
	while (arguments[n])
		n++;
	snprintf(fd_text, sizeof fd_text, "%d", CONTROL_FD);
	argv = dp_calloc(n + 4, sizeof *argv);
	argv[0] = program;
	argv[1] = "--control-fd";
	argv[2] = fd_text;
	memcpy(argv + 3, arguments, n * sizeof *argv);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		code = dp_fail_errno(err, errno, "cannot make a socket");
	} else {
		code = embedded_spawn_process(argv, log, pair[1], pid, err);
		close(pair[1]);
		ctl->client = dp_client_from_fd(pair[0]);
	}
	free(argv);
	free(program);
	return code;
}

int ctl_daemon_wait_ready(struct ctl *ctl, json_t **hello, struct dp_err *err)
{
	int code;

	for (int tries = 0;; tries++) {
		code = dp_client_call(ctl->client, "hello", NULL, HELLO_TIMEOUT_MS, hello, err);
		if (ctl_interrupted || code != DP_E_TIMEOUT)
			return code;
		if (tries == 1)
			ctl_print_message(ctl, "the journal is being replayed...");
	}
}

/* Reports the last log lines of a daemon that ended without an answer. */
static int readonly_report_exit(const char *dir, const char *log, pid_t pid, struct dp_err *err)
{
	struct dp_buf said = DP_BUF_INIT;
	const char *words;
	struct dp_err unread;
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	words = dp_read_file(log, LOG_READ_MAX, &said, &unread) == DP_OK
			? strstr(dp_buf_text(&said), "dparetod: ")
			: NULL;
	if (words)
		dp_fail(err, DP_E_FAILED, "%.*s", (int)strcspn(words + 10, "\n"), words + 10);
	else
		dp_fail(err, DP_E_FAILED, "dparetod ended while it looked at %s (%s %d)", dir,
			WIFSIGNALED(status) ? "signal" : "exit status",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	dp_hint(err, "'dparetoctl journal verify --state %s' tells whether the journal is damaged",
		dir);
	dp_buf_free(&said);
	return DP_E_FAILED;
}

int ctl_readonly_daemon_open(struct ctl *ctl, const char *dir, struct dp_err *err)
{
	char *arguments[] = { "--look", "--state", (char *)dir, "--log-level", "error", NULL };
	int words = memfd_create("dparetod", MFD_CLOEXEC), code;
	char log[32];
	json_t *hello = NULL;
	pid_t pid;

	if (words < 0)
		return dp_fail_errno(err, errno, "cannot make room for dparetod's log");
	snprintf(log, sizeof log, "/proc/self/fd/%d", words);
	code = ctl_daemon_spawn(ctl, arguments, log, &pid, err);
	if (code == DP_OK)
		code = ctl_daemon_wait_ready(ctl, &hello, err);
	if (code == DP_E_NO_DAEMON)
		code = readonly_report_exit(dir, log, pid, err);
	close(words);
	if (code == DP_OK) {
		ctl->readonly_info = json_incref(json_object_get(hello, "looking"));
	} else {
		dp_client_close(ctl->client);
		ctl->client = NULL;
	}
	json_decref(hello);
	return code;
}

void ctl_readonly_print_source(struct ctl *ctl)
{
	const char *dir = ctl_get_option(ctl, "state");
	const json_t *writer = json_object_get(ctl->readonly_info, "writer");

	if (!dir)
		return;
	if (!dp_json_bool(ctl->readonly_info, "written", false))
		ctl_print_message(ctl, "this is the journal in %s; no daemon has it open", dir);
	else if (json_is_integer(writer))
		ctl_print_message(ctl,
				  "this is the journal in %s as of now; process %lld works on it",
				  dir, (long long)json_integer_value(writer));
	else
		ctl_print_message(ctl, "this is the journal in %s as of now; a daemon works on it",
				  dir);
}
