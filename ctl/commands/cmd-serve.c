/* cmd-serve.c - `serve`: executes dpareto-serve.
 *
 * That is a separate program because of libraries that no other command needs. */
#include "ctl/ctl_command.h"
#include "ctl/client/programs.h"

#include "base/fs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Formats "--listen=127.0.0.1:0"; the caller frees it. */
static char *format_option_arg(const char *name, const char *value)
{
	struct dp_buf out = DP_BUF_INIT;
	char *word;

	dp_buf_printf(&out, "--%s%s%s", name, value ? "=" : "", value ? value : "");
	word = dp_buf_detach(&out);
	return word ? word : dp_strdup("");
}

static char **serve_build_argv(const struct ctl *ctl, char *program)
{
	char **argv = dp_calloc(ctl->n_given_options + 4, sizeof *argv);
	size_t n = 0;

	argv[n++] = program;
	if (ctl->socket)
		argv[n++] = format_option_arg("socket", ctl->socket);
	if (ctl->quiet)
		argv[n++] = format_option_arg("quiet", NULL);
	for (size_t i = 0; i < ctl->n_given_options; i++) {
		const struct ctl_option *o = ctl->given_options[i].option;

		for (const struct ctl_option *own = ctl_cmd_serve.options; own->name; own++)
			if (o == own)
				argv[n++] = format_option_arg(
					o->name, o->arg ? ctl->given_options[i].value : NULL);
	}
	return argv;
}

static int cmd_serve_run(struct ctl *ctl, struct dp_err *err)
{
	char *program = ctl_find_libexec_program("dpareto-serve"), **argv;

	if (!program) {
		dp_fail(err, DP_E_NOT_FOUND,
			"dpareto-serve is neither in libexec nor beside dparetoctl");
		return dp_hint(err, "install it with 'make install' or 'scripts/build'");
	}
	argv = serve_build_argv(ctl, program);
	execv(program, argv);
	dp_fail_errno(err, errno, "cannot start %s", program);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	free(argv);
	return err->code;
}

static const struct ctl_option options[] = {
	{ "listen", 0, "ADDRESS:PORT", "where it is reached (default: 127.0.0.1:8410)" },
	{ "control", 0, NULL,
	  "studies can be paused, resumed, stopped and given points, with the token" },
	{ "token-file", 0, "FILE",
	  "who looks needs the token in this file; beyond this machine it must be given" },
	{ "host", 0, "NAME",
	  "another name by which browsers call it, such as a proxy's; may be given several times" },
	{ "open", 0, NULL, "show it in a browser (xdg-open)" },
	{ 0 },
};

const struct ctl_command ctl_cmd_serve = {
	.name = "serve",
	.summary = "show studies live in a browser, and their metrics",
	.args = "",
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "A web server of its own, until it is ended: a page that follows studies as they "
		"run, an interface in JSON, and /metrics for Prometheus. It asks the daemon "
		"through its socket, as every command does, and shows what its user may see. The "
		"first line printed is its address; with --control a second line has the token, "
		"made anew at each start.\n\n"
		"Without --token-file those users of this machine can look who may use the "
		"daemon's socket, and nobody else. With it, whoever has the token can: a browser "
		"asks for it once. There is no encryption: from another machine use ssh or a "
		"proxy with TLS (docs/web.md, docs/service.md).\n\n"
		"Connections are limited by user and address. The peer with the most loses its "
		"oldest first, a request has 15 seconds for its headers, and some threads are "
		"reserved for the server's own user, root and /metrics.",
	.examples = "dparetoctl serve --open\n"
		    "dparetoctl serve --control\n"
		    "ssh -L 8410:127.0.0.1:8410 HOST dparetoctl serve\n"
		    "  from another machine: then open http://localhost:8410/",
	.run = cmd_serve_run,
};
