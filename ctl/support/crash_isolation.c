/* crash_isolation.c - runs work that may crash or hang in a child process. */
#include "ctl/support/crash_isolation.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes {"ok":...} or {"error":...} (dp_json_from_error()) and exits. */
static _Noreturn void isolated_child_main(ctl_isolated_fn *fn, const void *arg, int to)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_err err = { 0 };
	json_t *out = NULL;
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* without the parent, there is no reader */
	code = fn(arg, &out, &err);
	out = code == DP_OK ? json_pack("{s:o}", "ok", out)
			    : json_pack("{s:o}", "error", dp_json_from_error(&err));
	dp_json_dump(&text, out, 0);
	_exit(dp_write_all(to, text.data, text.len) != 0);
}

static bool isolated_read_reply(int from, double seconds, struct dp_buf *text)
{
	int64_t end = dp_monotonic_us() + (int64_t)(seconds * 1e6);
	struct pollfd p = { .fd = from, .events = POLLIN };
	char chunk[65536];
	ssize_t n;

	for (;;) {
		int64_t left = (end - dp_monotonic_us()) / 1000;

		if (left <= 0)
			return false;
		if (poll(&p, 1, left < 60000 ? (int)left : 60000) <= 0)
			continue;
		n = read(from, chunk, sizeof chunk);
		if (n > 0)
			dp_buf_add(text, chunk, (size_t)n);
		else if (n == 0 || errno != EINTR)
			return true;
	}
}

int ctl_run_isolated(ctl_isolated_fn *fn, const void *arg, double seconds, json_t **out,
		     struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;
	int ends[2], status = 0, code;
	json_t *root = NULL;
	bool in_time;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0)
		return dp_fail_errno(err, errno, "cannot start a process");
	if (child == 0)
		isolated_child_main(fn, arg, ends[1]);
	close(ends[1]);
	in_time = isolated_read_reply(ends[0], seconds, &text);
	close(ends[0]);
	if (!in_time)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		code = dp_fail(err, DP_E_CORRUPT, "it was not done after %.0f seconds", seconds);
	else if (WIFSIGNALED(status))
		code = dp_fail(err, DP_E_CORRUPT, "reading it crashed (%s)",
			       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		code = dp_fail(err, DP_E_FAILED, "reading it ended with exit code %d",
			       WEXITSTATUS(status));
	else
		code = dp_json_parse(dp_buf_text(&text), text.len, &root, err);
	if (code == DP_OK && json_object_get(root, "error")) {
		dp_json_to_error(json_object_get(root, "error"), err);
		code = err->code;
	} else if (code == DP_OK) {
		*out = json_incref(json_object_get(root, "ok"));
	}
	json_decref(root);
	dp_buf_free(&text);
	return code;
}
