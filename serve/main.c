/* main.c - the main program of dpareto-serve, started by 'dparetoctl serve'. */
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/help.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "reports/plot/plot.h"
#include "serve/browser.h"
#include "serve/http/listen_socket.h"
#include "serve/http_server.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	SHUTDOWN_SECONDS = 5 /* for replies in progress */
};

/* Collects the accepted host names besides the addresses. */
static int auth_set_hosts(struct auth *auth, const struct ctl *ctl, const struct listen_socket *l,
			  struct dp_err *err)
{
	static char own[256]; /* used until exit */

	auth->hosts[auth->n_hosts++] = l->host;
	if (!l->is_loopback && gethostname(own, sizeof own - 1) == 0)
		auth->hosts[auth->n_hosts++] = own;
	for (size_t i = 0; i < ctl->n_given_options; i++) {
		if (strcmp(ctl->given_options[i].option->name, "host") != 0)
			continue;
		if (auth->n_hosts == AUTH_MAX_HOSTS)
			return dp_fail(err, DP_E_USAGE, "too many --host");
		auth->hosts[auth->n_hosts++] = ctl->given_options[i].value;
	}
	return DP_OK;
}

static int auth_configure(struct auth *auth, struct ctl *ctl, const struct listen_socket *l,
			  struct dp_err *err)
{
	const char *file = ctl_get_option(ctl, "token-file");
	int code = auth_set_hosts(auth, ctl, l, err);

	auth->allow_control = ctl_has_option(ctl, "control");
	auth->token_required = file != NULL;
	snprintf(auth->cookie_name, sizeof auth->cookie_name, "dpareto_%u", l->port);
	if (code == DP_OK && file)
		code = token_read_file(&auth->token, file, err);
	else if (code == DP_OK && auth->allow_control)
		code = token_generate(&auth->token, err);
	if (code == DP_OK && file && strlen(auth->token.text) < TOKEN_MIN_SAFE_LEN)
		ctl_print_message(ctl, "the token in %s is short, and may be guessed", file);
	return code;
}

static void print_open_hint(struct ctl *ctl, const char *address)
{
	ctl_print_message(ctl, "xdg-open did not open it; open %s in a browser yourself", address);
}

static void on_alarm(int number)
{
	(void)number;
	_exit(0);
}

static int run_server(struct ctl *ctl, struct web_app *app, const struct listen_socket *l,
		      const sigset_t *signals, struct dp_err *err)
{
	const struct timespec second = { .tv_sec = 1 };
	struct browser browser = { 0 };
	struct http_server *server;
	struct dp_err no_browser;
	char address[512];
	int code = auth_configure(&app->auth, ctl, l, err);

	if (code == DP_OK)
		code = event_broker_start(&app->daemon, &app->broker, err);
	if (code != DP_OK) {
		close(l->fd);
		return code;
	}
	app->trial_cache.broker = app->broker;
	code = http_server_start(app, l->fd, &server, err);
	if (code == DP_OK) {
		snprintf(address, sizeof address, "http://%s:%u/", l->host, l->port);
		ctl_printf(ctl, "dpareto-serve: %s\n", address);
		/* do not show a token from a file on this terminal */
		if (app->auth.allow_control && !app->auth.token_required)
			ctl_printf(ctl, "token: %s\n", app->auth.token.text);
		fflush(ctl->out);
		/* the token is "" if reading does not need it */
		if (ctl_has_option(ctl, "open") &&
		    browser_open(&browser, address, app->auth.token.text, &no_browser) != DP_OK)
			print_open_hint(ctl, address);
		while (sigtimedwait(signals, NULL, &second) < 0) {
			http_server_close_slow(server);
			if (!browser_check_opened(&browser))
				print_open_hint(ctl, address);
		}
		browser_cleanup(&browser);
		/* no state to save: do not wait for a daemon that hangs */
		signal(SIGALRM, on_alarm);
		alarm(SHUTDOWN_SECONDS);
		event_broker_close(
			app->broker); /* end the streams first: http_server_stop() waits for them */
		http_server_stop(server);
	}
	event_broker_stop(app->broker);
	return code;
}

static int listen_and_serve(struct ctl *ctl, struct dp_err *err)
{
	const char *where = ctl_get_option(ctl, "listen");
	struct listen_socket l;
	struct web_app app;
	sigset_t signals;
	char *socket;
	int code = listen_socket_open(where ? where : "127.0.0.1:8410",
				      ctl_get_option(ctl, "token-file") != NULL, &l, err);

	if (code != DP_OK)
		return code;
	/* only the main thread takes these, with sigtimedwait() */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	socket = ctl_socket_path(ctl);
	web_app_init(&app, ctl->socket);
	app.auth.socket = socket;
	code = run_server(ctl, &app, &l, &signals, err);
	web_app_free(&app);
	free(socket);
	plot_shutdown();
	return code;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { .out = stdout, .err_stream = stderr, .command = &ctl_cmd_serve };
	struct dp_err err = { 0 };
	int code;

	dp_alloc_init();
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_CTYPE, "C.UTF-8");
	code = ctl_parse_options(&ctl, ctl.command, argc, argv, &err);
	if (code == DP_OK && ctl_has_option(&ctl, "version"))
		ctl_printf(&ctl, "dpareto-serve %s\n", ctl_version());
	else if (code == DP_OK && ctl_has_option(&ctl, "help"))
		ctl_help_command(&ctl, ctl.command);
	else if (code == DP_OK)
		code = listen_and_serve(&ctl, &err);
	if (code != DP_OK)
		ctl_print_error(&ctl, &err);
	free(ctl.given_options);
	free(ctl.mechanism_options);
	return dp_code_exit(code);
}
