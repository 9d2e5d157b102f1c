/* browser.c - opens the page with xdg-open, without exposing the token.
 *
 * Every user of the machine can read process arguments. So xdg-open gets a file that only this user
 * can read and that redirects to the page. The token is there after '#', which browsers do not
 * send. */
#include "serve/browser.h"

#include "base/buf.h"
#include "base/fs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int write_redirect_file(struct browser *b, const char *address, const char *token,
			       struct dp_err *err)
{
	const char *run = getenv("XDG_RUNTIME_DIR"), *tmp = getenv("TMPDIR");
	const char *folder = run && *run ? run : tmp && *tmp ? tmp : "/tmp";
	struct dp_buf page = DP_BUF_INIT;
	int fd, code = DP_OK;

	if (snprintf(b->redirect_file, sizeof b->redirect_file, "%s/dpareto-XXXXXX.html", folder) >=
	    (int)sizeof b->redirect_file) {
		b->redirect_file[0] = '\0';
		return dp_fail(err, DP_E_LIMIT, "the name of %s is too long", folder);
	}
	fd = mkostemps(b->redirect_file, (int)strlen(".html"), O_CLOEXEC);
	if (fd < 0) {
		code = dp_fail_errno(err, errno, "cannot make a file in %s", folder);
		b->redirect_file[0] = '\0';
		return code;
	}
	dp_buf_puts(&page, "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>DPareto</title>\n"
			   "<meta http-equiv=\"refresh\" content=\"0;url=");
	dp_buf_add_xml_escaped(&page, address);
	dp_buf_puts(&page, "#token=");
	for (; *token; token++) /* '+' and '%' are special in forms */
		dp_buf_printf(&page, isalnum((unsigned char)*token) ? "%c" : "%%%02X",
			      (unsigned char)*token);
	dp_buf_puts(&page, "\">\n");
	if (dp_write_all(fd, page.data, page.len) != 0)
		code = dp_fail_errno(err, errno, "cannot write %s", b->redirect_file);
	close(fd);
	dp_buf_free(&page);
	return code;
}

/* Starts xdg-open without the blocked signals of this process. */
static int spawn_xdg_open(struct browser *b, const char *what, struct dp_err *err)
{
	char *argv[] = { "xdg-open", (char *)what, NULL };
	posix_spawnattr_t attributes;
	sigset_t none;
	int errnum;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	errnum = posix_spawnp(&b->pid, argv[0], NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	if (errnum == 0)
		return DP_OK;
	b->pid = 0;
	return dp_fail_errno(err, errnum, "cannot start xdg-open");
}

int browser_open(struct browser *b, const char *address, const char *token, struct dp_err *err)
{
	int code = *token ? write_redirect_file(b, address, token, err) : DP_OK;

	if (code == DP_OK)
		code = spawn_xdg_open(b, *token ? b->redirect_file : address, err);
	return code;
}

bool browser_check_opened(struct browser *b)
{
	int status = 0;

	if (b->pid <= 0 || waitpid(b->pid, &status, WNOHANG) != b->pid)
		return true;
	b->pid = 0;
	return status == 0;
}

void browser_cleanup(struct browser *b)
{
	if (b->redirect_file[0])
		unlink(b->redirect_file);
	*b = (struct browser){ 0 };
}
