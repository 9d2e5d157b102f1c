/* look.c - starts the dparetod that answers for a state folder. */
#include "ctl/client/readonly_daemon.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "ctl/client/daemon_call.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "ctl/client/embedded_daemon.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LOG_READ_MAX = 1 << 20
};

/* It ended without an answer: its last words, if it had any. */
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
	dp_hint(err,
		"'dparetoctl journal verify --state %s' tells whether the journal is "
		"damaged",
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
