/* main.c - the command line of dparetod. */
#include "config.h"
#include "daemon/lifecycle.h"

#include "base/units.h"
#include "linalg/linalg.h"
#include "protocol/control/control_protocol.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POOL_THREADS "16"

/* ---- the command line ---- */

enum {
	OPT_STATE = 256,
	OPT_SOCKET,
	OPT_CONFIG,
	OPT_LOG_FILE,
	OPT_CONTROL_FD,
	OPT_LOOK,
	OPT_CONFIG_ROW
};

static const struct option own_options[] = {
	{ "state", required_argument, NULL, OPT_STATE },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "log-file", required_argument, NULL, OPT_LOG_FILE },
	{ "control-fd", required_argument, NULL, OPT_CONTROL_FD },
	{ "look", no_argument, NULL, OPT_LOOK },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
};

/* "stop_policy" becomes "stop-policy", as on the command line. */
static void option_name_to_flag(char *name)
{
	for (; *name; name++)
		*name = *name == '_' ? '-' : *name;
}

static void print_help(void)
{
	struct config_option_doc doc;

	printf("usage: dparetod [options]\n\n"
	       "Runs studies: proposes points, starts trainers, journals every result.\n"
	       "Stays in the foreground and logs to stderr; dparetoctl controls it.\n\n"
	       "  --state DIR          state folder (default: dpareto below "
	       "$XDG_STATE_HOME,\n"
	       "                       else /var/lib/dpareto for root, "
	       "~/.local/state/dpareto)\n"
	       "  --socket PATH        control socket, or 'none' (default: "
	       "dpareto/dparetod.sock\n"
	       "                       below $XDG_RUNTIME_DIR, else below /run for root, "
	       "else\n"
	       "                       dparetod.sock in the default state folder)\n"
	       "  --config FILE        configuration (YAML), read again on SIGHUP\n"
	       "  --log-file FILE      append the log to FILE\n"
	       "  --control-fd N       N is a connected socket that speaks the control "
	       "protocol;\n"
	       "                       when it closes, the daemon stops\n"
	       "  --look               only answer questions about the state folder: "
	       "nothing is\n"
	       "                       started or written (needs --control-fd)\n"
	       "  -h, --help           this text\n"
	       "  -V, --version        version and formats\n\n"
	       "Options that the configuration file knows too (there with '_' for "
	       "'-'):\n");
	for (size_t i = 0; config_get_doc(i, &doc); i++) {
		char flag[64];

		snprintf(flag, sizeof flag, "--%s", doc.name);
		option_name_to_flag(flag);
		printf("  %-20s %s\n%23s(%s; default: %s)\n", flag, doc.help, "", doc.type,
		       doc.default_text);
	}
	printf("\nSignals: TERM and INT stop (see --stop-policy; a second one stops at "
	       "once and\n"
	       "leaves trainers running), HUP reads the configuration again.\n\n"
	       "Examples:\n"
	       "  dparetod                                   for yourself\n"
	       "  dparetod --state /srv/dp --slots 8         eight trainers at once\n"
	       "  dparetod --config /etc/dpareto.yaml        as a service; see "
	       "systemd/\n");
}

/* getopt's table: the program's options and one row for each configuration option. */
static struct option *option_table(void)
{
	size_t n = DP_COUNT(own_options);
	struct option *table = dp_calloc(n + 1, sizeof *table);
	struct config_option_doc doc;

	memcpy(table, own_options, sizeof own_options);
	for (size_t i = 0; config_get_doc(i, &doc); i++) {
		char *flag = dp_strdup(doc.name);

		option_name_to_flag(flag);
		table = dp_reallocarray(table, n + 2, sizeof *table);
		table[n++] =
			(struct option){ flag, required_argument, NULL, (int)(OPT_CONFIG_ROW + i) };
		table[n] = (struct option){ 0 };
	}
	return table;
}

/* Keeps an option for every load of the configuration; false if the table is full. */
static bool store_config_option(struct config_source *from, size_t row, const char *value)
{
	struct config_option_doc doc;

	if (from->count == (int)DP_COUNT(from->names) || !config_get_doc(row, &doc))
		return false;
	from->names[from->count] = doc.name;
	from->values[from->count++] = value;
	return true;
}

/* Handles one option. Returns an exit code if the program ends with it, else -1. */
static int take_option(struct daemon_options *s, int option, const char *value)
{
	int64_t fd;

	switch (option) {
	case 'h':
		print_help();
		return 0;
	case 'V':
		printf("dparetod %s (protocol %d, journal format %d)\n", PACKAGE_VERSION,
		       DP_CONTROL_VERSION, DP_JOURNAL_FORMAT);
		return 0;
	case OPT_STATE:
		s->state_dir = value;
		return -1;
	case OPT_SOCKET:
		s->socket_path = value;
		return -1;
	case OPT_CONFIG:
		s->config_source.path = value;
		return -1;
	case OPT_LOG_FILE:
		s->log_file = value;
		return -1;
	case OPT_LOOK:
		s->read_only = true;
		return -1;
	case OPT_CONTROL_FD:
		if (dp_int_parse(value, &fd) && fd >= 3 && fd <= 1 << 20) {
			s->control_fd = (int)fd;
			return -1;
		}
		fprintf(stderr, "dparetod: --control-fd takes a descriptor, 3 or above\n");
		return 2;
	case '?':
		fprintf(stderr, "Try 'dparetod --help'.\n");
		return 2;
	}
	if (store_config_option(&s->config_source, (size_t)(option - OPT_CONFIG_ROW), value))
		return -1;
	fprintf(stderr, "dparetod: too many options\n");
	return 2;
}

/* Returns an exit code if there is nothing to run, else -1. */
static int parse_command_line(struct daemon_options *s, int argc, char **argv)
{
	struct option *table = option_table();
	int option, code = -1;

	s->control_fd = -1;
	while (code < 0 && (option = getopt_long(argc, argv, "hV", table, NULL)) != -1)
		code = take_option(s, option, optarg);
	for (size_t i = DP_COUNT(own_options); table[i].name; i++)
		free((char *)table[i].name);
	free(table);
	if (code < 0 && s->read_only && s->control_fd < 0) {
		fprintf(stderr, "dparetod: --look needs --control-fd; 'dparetoctl "
				"COMMAND --state DIR' uses both\n");
		return 2;
	}
	if (code >= 0 || optind == argc)
		return code;
	fprintf(stderr,
		"dparetod: unexpected '%s'; studies are submitted with "
		"'dparetoctl submit'\nTry 'dparetod --help'.\n",
		argv[optind]);
	return 2;
}

/* ---- abort() ---- */

/* libuv aborts when it cannot make a thread or an epoll entry. The journal makes that harmless, and
 * the message says so. The process still aborts with a core dump, also on a signal from outside,
 * such as a watchdog's. */
static void on_abort(int number, siginfo_t *from, void *context)
{
	static const char text[] =
		"dparetod: a library gave up, most likely for lack of memory, threads or "
		"descriptors\n"
		"hint: started again it goes on where it was; nothing that it has "
		"acknowledged is lost\n";

	(void)context;
	if (from->si_pid == getpid() && write(STDERR_FILENO, text, sizeof text - 1) < 0) {
		/* stderr is closed */
	}
	raise(number); /* default action, after this handler returns */
}

/* ---- the program ---- */

/* Opens descriptors 0 to 2 if the caller closed them, so that the journal's file does not get the
 * number that messages are written to. */
static bool open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return fd > STDERR_FILENO;
}

static void pool_noop_worker(uv_work_t *w)
{
	(void)w;
}

/* Sets the number of libuv's worker threads, four by default, without leaving the variable to
 * trainers. An external accountant that hangs blocks one for a minute or more. */
static void enlarge_thread_pool(void)
{
	uv_work_t first;
	uv_loop_t loop;

	if (getenv("UV_THREADPOOL_SIZE") || uv_loop_init(&loop) != 0)
		return;
	setenv("UV_THREADPOOL_SIZE", POOL_THREADS, 1);
	uv_queue_work(&loop, &first, pool_noop_worker, NULL); /* starts all threads */
	uv_run(&loop, UV_RUN_DEFAULT);
	unsetenv("UV_THREADPOOL_SIZE");
	uv_loop_close(&loop);
}

int main(int argc, char **argv)
{
	struct daemon_options s = { 0 };
	struct sigaction tell = { .sa_sigaction = on_abort,
				  .sa_flags = (int)(SA_SIGINFO | SA_RESETHAND) };
	struct daemon d;
	struct dp_err err;
	int code;

	dp_alloc_init();
	code = parse_command_line(&s, argc, argv);
	if (code >= 0)
		return code;
	if (!open_standard_fds())
		return 1;
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGABRT, &tell, NULL);
	dp_linalg_set_single_thread(); /* same bits on every machine of one type */
	enlarge_thread_pool();
	umask(027);
	code = daemon_open(&d, &s, &err);
	if (code != DP_OK) {
		fprintf(stderr, "dparetod: %s\n", err.msg);
		if (err.hint[0])
			fprintf(stderr, "hint: %s\n", err.hint);
		if (s.read_only)
			daemon_report_open_error(&s, &err);
		daemon_close(&d);
		return dp_code_exit(code);
	}
	uv_run(&d.loop, UV_RUN_DEFAULT);
	log_line(&d.log, LOG_INFO, "", "stopped");
	daemon_close(&d);
	return 0;
}
