/* look.c - starts the dparetod that answers for a state folder. */
#include "ctl/look.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "ctl/daemon.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/private.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	WORDS_MAX = 1 << 20
};

/* It ended without an answer: its last words, if it had any. */
static int look_gone(const char *dir, const char *log, pid_t pid, struct dp_err *err)
{
	struct dp_buf said = DP_BUF_INIT;
	const char *words;
	struct dp_err unread;
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	words = dp_read_file(log, WORDS_MAX, &said, &unread) == DP_OK
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

int ctl_look_open(struct ctl *ctl, const char *dir, struct dp_err *err)
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
		code = ctl_daemon_greet(ctl, &hello, err);
	if (code == DP_E_NO_DAEMON)
		code = look_gone(dir, log, pid, err);
	close(words);
	if (code == DP_OK) {
		ctl->looked = json_incref(json_object_get(hello, "looking"));
	} else {
		dp_client_close(ctl->client);
		ctl->client = NULL;
	}
	json_decref(hello);
	return code;
}

void ctl_look_say(struct ctl *ctl)
{
	const char *dir = ctl_opt(ctl, "state");
	const json_t *writer = json_object_get(ctl->looked, "writer");

	if (!dir)
		return;
	if (!dp_json_bool(ctl->looked, "written", false))
		ctl_say(ctl, "this is the journal in %s; no daemon has it open", dir);
	else if (json_is_integer(writer))
		ctl_say(ctl, "this is the journal in %s as of now; process %lld works on it", dir,
			(long long)json_integer_value(writer));
	else
		ctl_say(ctl, "this is the journal in %s as of now; a daemon works on it", dir);
}
