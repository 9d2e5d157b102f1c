/* programs.c - finds the other programs of the project, and runs dpareto-report. */
#include "ctl/client/programs.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *ctl_find_program(const char *name)
{
	char *own = dp_program_dir();
	struct dp_program_search places = { own, getenv("PATH") };
	char *found = dp_program_find(name, &places);

	free(own);
	return found;
}

char *ctl_find_libexec_program(const char *name)
{
	char *own = dp_program_dir();
	char *found = own ? dp_program_helper_path(own, name) : NULL;

	free(own);
	if (found && access(found, X_OK) == 0)
		return found;
	free(found);
	return NULL;
}

static int report_program_run(char **argv, struct dp_buf *said, struct dp_err *err)
{
	posix_spawn_file_actions_t files;
	int ends[2], status = 0, errnum;
	char bytes[4096];
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return dp_fail_errno(err, errno, "cannot make a pipe");
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	errnum = posix_spawn(&pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	while (errnum == 0 &&
	       ((n = read(ends[0], bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)))
		dp_buf_add(said, bytes, n > 0 ? (size_t)n : 0);
	close(ends[0]);
	if (errnum != 0)
		return dp_fail_errno(err, errnum, "cannot start %s", argv[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status))
		return dp_fail(err, DP_E_FAILED, "dpareto-report was killed by signal %d",
			       WTERMSIG(status));
	return DP_OK;
}

int ctl_run_report_program(char *const *arguments, json_t **answer, struct dp_err *err)
{
	char *program = ctl_find_program("dpareto-report"), **argv;
	struct dp_buf said = DP_BUF_INIT;
	size_t n = 0;
	int code;

	if (!program) {
		dp_fail(err, DP_E_NOT_FOUND,
			"dpareto-report is neither beside dparetoctl nor in PATH");
		return dp_hint(err, "install it with 'make install' or 'scripts/build'");
	}
	while (arguments[n])
		n++;
	argv = dp_calloc(n + 2, sizeof *argv);
	argv[0] = program;
	memcpy(argv + 1, arguments, n * sizeof *argv);
	code = report_program_run(argv, &said, err);
	if (code == DP_OK && dp_json_parse(dp_buf_text(&said), said.len, answer, err) != DP_OK)
		code = dp_fail(err, DP_E_FAILED, "dpareto-report ended without an answer");
	if (code == DP_OK && json_object_get(*answer, "error")) {
		dp_json_to_error(json_object_get(*answer, "error"), err);
		json_decref(*answer);
		*answer = NULL;
		code = err->code;
	}
	dp_buf_free(&said);
	free(argv);
	free(program);
	return code;
}
