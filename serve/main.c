/* main.c - dpareto-serve: what 'dparetoctl serve' becomes. */
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/help.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "reports/plot/plot.h"
#include "serve/browser.h"
#include "serve/listen.h"
#include "serve/web.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	END_S = 5 /* for answers that are on their way */
};

/* Names by which it may be called, beside its addresses. */
static int guard_hosts(struct guard *g, const struct ctl *ctl, const struct listening *l,
		       struct dp_err *err)
{
	static char own[256]; /* as long as the process */

	g->host[g->nhosts++] = l->host;
	if (!l->loopback && gethostname(own, sizeof own - 1) == 0)
		g->host[g->nhosts++] = own;
	for (size_t i = 0; i < ctl->ngiven; i++) {
		if (strcmp(ctl->given[i].option->name, "host") != 0)
			continue;
		if (g->nhosts == GUARD_HOSTS)
			return dp_fail(err, DP_E_USAGE, "too many --host");
		g->host[g->nhosts++] = ctl->given[i].value;
	}
	return DP_OK;
}

static int guard_set(struct guard *g, struct ctl *ctl, const struct listening *l,
		     struct dp_err *err)
{
	const char *file = ctl_opt(ctl, "token-file");
	int code = guard_hosts(g, ctl, l, err);

	g->control = ctl_flag(ctl, "control");
	g->closed = file != NULL;
	snprintf(g->cookie, sizeof g->cookie, "dpareto_%u", l->port);
	if (code == DP_OK && file)
		code = token_read(&g->token, file, err);
	else if (code == DP_OK && g->control)
		code = token_draw(&g->token, err);
	if (code == DP_OK && file && strlen(g->token.text) < TOKEN_SHORT)
		ctl_say(ctl, "the token in %s is short, and may be guessed", file);
	return code;
}

static void serve_tell(struct ctl *ctl, const struct serve *s, const struct listening *l,
		       char *address, size_t size)
{
	snprintf(address, size, "http://%s:%u/", l->host, l->port);
	ctl_printf(ctl, "dpareto-serve: %s\n", address);
	/* one that is in a file is not for everybody who sees this terminal */
	if (s->guard.control && !s->guard.closed)
		ctl_printf(ctl, "token: %s\n", s->guard.token.text);
	fflush(ctl->out);
}

static void tell_to_open(struct ctl *ctl, const char *address)
{
	ctl_say(ctl, "xdg-open did not open it; open %s in a browser yourself", address);
}

static void serve_show(struct ctl *ctl, const struct serve *s, const char *address,
		       struct browser *browser)
{
	struct dp_err err;

	/* without need for a token it is empty */
	if (browser_open(browser, address, s->guard.token.text, &err) != DP_OK)
		tell_to_open(ctl, address);
}

/* Until somebody ends it. */
static void serve_wait(struct ctl *ctl, struct web *server, const char *address,
		       struct browser *browser, const sigset_t *signals)
{
	const struct timespec second = { .tv_sec = 1 };

	while (sigtimedwait(signals, NULL, &second) < 0) {
		web_watch(server);
		if (!browser_went_well(browser))
			tell_to_open(ctl, address);
	}
}

static void on_alarm(int number)
{
	(void)number;
	_exit(0);
}

/* Nothing here has to be saved, so who waits for a daemon that does not answer is not
 * waited for. */
static void end_soon(void)
{
	signal(SIGALRM, on_alarm);
	alarm(END_S);
}

static int serve_at(struct ctl *ctl, struct serve *s, const struct listening *l,
		    const sigset_t *signals, struct dp_err *err)
{
	struct browser browser = { 0 };
	struct web *server;
	char address[512];
	int code = guard_set(&s->guard, ctl, l, err);

	if (code == DP_OK)
		code = hub_start(&s->asking, &s->hub, err);
	if (code != DP_OK) {
		close(l->fd);
		return code;
	}
	code = web_start(s, l->fd, &server, err);
	if (code == DP_OK) {
		serve_tell(ctl, s, l, address, sizeof address);
		if (ctl_flag(ctl, "open"))
			serve_show(ctl, s, address, &browser);
		serve_wait(ctl, server, address, &browser, signals);
		browser_forget(&browser);
		end_soon();
		hub_close(s->hub); /* streams end first, so that the rest can */
		web_stop(server);
	}
	hub_stop(s->hub);
	return code;
}

/* INT, TERM and HUP are taken by the main thread alone, when it looks for them. */
static void hold_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
}

static int serve_run(struct ctl *ctl, struct dp_err *err)
{
	const char *where = ctl_opt(ctl, "listen");
	struct listening l;
	struct serve s;
	sigset_t signals;
	char *socket;
	int code = listen_at(where ? where : "127.0.0.1:8410", ctl_opt(ctl, "token-file") != NULL,
			     &l, err);

	if (code != DP_OK)
		return code;
	hold_signals(&signals);
	socket = ctl_socket_path(ctl);
	serve_init(&s, ctl->socket);
	s.guard.socket = socket;
	code = serve_at(ctl, &s, &l, &signals, err);
	serve_free(&s);
	free(socket);
	plot_shutdown();
	return code;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .out = stdout, .talk = stderr, .command = &ctl_cmd_serve };
	struct dp_err err = { 0 };
	int code;

	dp_alloc_init();
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "C.UTF-8"); /* texts are UTF-8 */
	code = ctl_parse(&ctl, ctl.command, argc, argv, &err);
	if (code == DP_OK && ctl_flag(&ctl, "version"))
		ctl_printf(&ctl, "dpareto-serve %s\n", ctl_version());
	else if (code == DP_OK && ctl_flag(&ctl, "help"))
		ctl_help_command(&ctl, ctl.command);
	else if (code == DP_OK)
		code = serve_run(&ctl, &err);
	if (code != DP_OK)
		ctl_put_error(&ctl, &err);
	free(ctl.given);
	free(ctl.query_options);
	return dp_code_exit(code);
}
