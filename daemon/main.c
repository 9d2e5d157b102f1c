/* main.c - dparetod: options, ordered start, signals, ordered stop. */
#include "config.h"
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"
#include "linalg/linalg.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the command line ---- */

struct settings { /* what was said on the command line */
	const char *state, *socket, *log_file;
	int control_fd;
	struct config_source config;
};

enum {
	OPT_STATE = 256,
	OPT_SOCKET,
	OPT_CONFIG,
	OPT_LOG_FILE,
	OPT_CONTROL_FD,
	OPT_CONFIG_ROW
};

static const struct option own_options[] = {
	{ "state", required_argument, NULL, OPT_STATE },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "log-file", required_argument, NULL, OPT_LOG_FILE },
	{ "control-fd", required_argument, NULL, OPT_CONTROL_FD },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
};

/* "stop_policy" as the command line has it: "stop-policy". */
static void make_flag(char *name)
{
	for (; *name; name++)
		*name = *name == '_' ? '-' : *name;
}

static void print_help(void)
{
	struct config_doc doc;

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
	       "  -h, --help           this text\n"
	       "  -V, --version        version and formats\n\n"
	       "Options that the configuration file knows too (there with '_' for "
	       "'-'):\n");
	for (size_t i = 0; config_doc(i, &doc); i++) {
		char flag[64];

		snprintf(flag, sizeof flag, "--%s", doc.name);
		make_flag(flag);
		printf("  %-20s %s\n%23s(%s; default: %s)\n", flag, doc.help, "",
		       doc.type, doc.otherwise);
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

static size_t count_config_options(void)
{
	struct config_doc doc;
	size_t n = 0;

	while (config_doc(n, &doc))
		n++;
	return n;
}

/* getopt's table: our own options and a row for each of the configuration's. */
static struct option *option_table(void)
{
	size_t own = DP_COUNT(own_options);
	struct option *table = calloc(own + count_config_options() + 1, sizeof *table);
	struct config_doc doc;

	if (!table)
		return NULL;
	memcpy(table, own_options, sizeof own_options);
	for (size_t i = 0; config_doc(i, &doc); i++) {
		char *flag = strdup(doc.name);

		if (!flag)
			break;
		make_flag(flag);
		table[own + i] = (struct option){ flag, required_argument, NULL,
						  (int)(OPT_CONFIG_ROW + i) };
	}
	return table;
}

static void option_table_free(struct option *table)
{
	for (size_t i = DP_COUNT(own_options); table && table[i].name; i++)
		free((char *)table[i].name);
	free(table);
}

/* Keeps an option for each reading of the configuration; false if there is no room. */
static bool keep_config_option(struct config_source *from, size_t row, const char *value)
{
	struct config_doc doc;

	if (from->count == (int)DP_COUNT(from->names) || !config_doc(row, &doc))
		return false;
	from->names[from->count] = doc.name;
	from->values[from->count++] = value;
	return true;
}

/* One option of the command line; the exit code if the program ends with it, else -1. */
static int take_option(struct settings *s, int option, const char *value)
{
	int64_t fd;

	switch (option) {
	case 'h':
		print_help();
		return 0;
	case 'V':
		printf("dparetod %s (journal format %d)\n", PACKAGE_VERSION,
		       DP_JOURNAL_FORMAT);
		return 0;
	case OPT_STATE:
		s->state = value;
		return -1;
	case OPT_SOCKET:
		s->socket = value;
		return -1;
	case OPT_CONFIG:
		s->config.path = value;
		return -1;
	case OPT_LOG_FILE:
		s->log_file = value;
		return -1;
	case OPT_CONTROL_FD:
		if (dp_int_parse(value, &fd) && fd >= 3 && fd <= 1 << 20) {
			s->control_fd = (int)fd;
			return -1;
		}
		fprintf(stderr,
			"dparetod: --control-fd takes a descriptor, 3 or above\n");
		return 2;
	case '?':
		fprintf(stderr, "Try 'dparetod --help'.\n");
		return 2;
	}
	if (keep_config_option(&s->config, (size_t)(option - OPT_CONFIG_ROW), value))
		return -1;
	fprintf(stderr, "dparetod: too many options\n");
	return 2;
}

/* The exit code if there is nothing more to do, else -1. */
static int parse_command_line(struct settings *s, int argc, char **argv)
{
	struct option *table = option_table();
	int option, code = -1;

	s->control_fd = -1;
	while (table && code < 0 &&
	       (option = getopt_long(argc, argv, "hV", table, NULL)) != -1)
		code = take_option(s, option, optarg);
	option_table_free(table);
	if (code >= 0 || optind == argc)
		return code;
	fprintf(stderr,
		"dparetod: unexpected '%s'; studies are submitted with "
		"'dparetoctl submit'\nTry 'dparetod --help'.\n",
		argv[optind]);
	return 2;
}

/* ---- signals ---- */

static void on_signal(uv_signal_t *h, int number)
{
	struct dpd *d = h->data;
	struct dp_err err;

	if (number == SIGHUP) {
		json_t *changed = json_array();

		notify_state("RELOADING=1");
		if (daemon_reload(d, changed, &err) != DP_OK)
			log_line(&d->log, LOG_WARN, "", "the old configuration stays");
		notify_state("READY=1");
		json_decref(changed);
		return;
	}
	daemon_stop(d, d->config.stop_policy, strsignal(number));
}

static void on_watchdog(uv_timer_t *t)
{
	(void)t;
	notify_state("WATCHDOG=1");
}

/* ---- starting ---- */

static char *own_folder(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n <= 0)
		return NULL;
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return strdup(path);
}

/* The folders, made absolute so that attempts can be told where they are. */
static int find_folders(struct dpd *d, const struct settings *s, struct dp_err *err)
{
	char *state = s->state ? strdup(s->state) : dp_default_state_dir();
	int code = DP_OK;

	if (!state)
		return dp_fail(err, DP_E_USAGE,
			       "no home folder is known; name one with --state");
	code = dp_mkdirs(state, 0700, err);
	if (code == DP_OK)
		d->state_dir = realpath(state, NULL);
	free(state);
	if (code != DP_OK)
		return dp_err_prefix(err, "state folder");
	d->bin_dir = own_folder();
	d->shim = d->bin_dir ? dp_path_join(d->bin_dir, "dpareto-shim") : NULL;
	d->report = d->bin_dir ? dp_path_join(d->bin_dir, "dpareto-report") : NULL;
	if (s->socket && strcmp(s->socket, "none") == 0)
		d->socket_path = NULL;
	else
		d->socket_path = s->socket ? strdup(s->socket) : dp_default_socket();
	if (!d->state_dir || !d->shim || !d->report)
		return dp_fail(err, DP_E_FAILED,
			       "cannot find the folder of dparetod itself");
	if (access(d->shim, X_OK) != 0) {
		dp_fail(err, DP_E_NOT_FOUND, "dpareto-shim is not at %s", d->shim);
		return dp_hint(err, "install it beside dparetod");
	}
	return DP_OK;
}

/* Does stderr lead to systemd's journal? The variable alone does not tell: terminals
 * and scripts that a service started inherit it. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static int open_log(struct dpd *d, const struct settings *s, struct dp_err *err)
{
	d->log.level = d->config.log_level;
	d->log.fd = STDERR_FILENO;
	d->log.journald = !s->log_file && stderr_is_journal();
	if (!s->log_file)
		return DP_OK;
	d->log.fd = open(s->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (d->log.fd < 0)
		return dp_fail_errno(err, errno, "cannot open the log %s", s->log_file);
	return DP_OK;
}

static void wake_loop(void *arg)
{
	uv_async_send(arg);
}

static void on_damage(int number)
{
	static const char text[] =
		"dparetod: the journal is damaged: reading it crashed\n"
		"hint: put a backup in place of STATE/journal, or move it away to start "
		"anew\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(2);
	_exit(1);
}

/* LMDB trusts its pages, and damaged ones lead it to wild addresses. While the journal
 * is read, before anything else runs, that ends with a sentence. */
static int read_journal(struct dpd *d, const char *folder, struct dp_err *err)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };
	struct sigaction guard = { .sa_handler = on_damage }, before[DP_COUNT(signals)];
	struct dp_journal_options opt = { 0 };
	int code;

	for (size_t i = 0; i < DP_COUNT(signals); i++)
		sigaction(signals[i], &guard, &before[i]);
	code = dp_journal_open(folder, &opt, &d->journal, err);
	if (code == DP_OK)
		code = dp_state_replay(&d->state, d->journal, 0, err);
	if (code == DP_OK)
		code = dp_journal_next_study(d->journal, &d->next_study, err);
	for (size_t i = 0; i < DP_COUNT(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	return code;
}

/* Journal and state: opened, replayed, and handed to the writer thread. */
static int open_journal(struct dpd *d, struct dp_err *err)
{
	char *folder = dp_path_join(d->state_dir, "journal");
	int64_t began = dp_mono_us();
	int code;

	if (!folder)
		return dp_fail(err, DP_E_NOMEM, "out of memory");
	code = read_journal(d, folder, err);
	free(folder);
	if (code != DP_OK)
		return code;
	log_line(&d->log, LOG_INFO, "", "replayed %u studies in %.1f ms",
		 d->state.nstudies, (double)(dp_mono_us() - began) / 1e3);
	uv_async_init(&d->loop, &d->journal_async, on_journal);
	d->journal_async.data = d;
	return dp_journal_start(d->journal, wake_loop, &d->journal_async, err);
}

static void watch_signal(struct dpd *d, uv_signal_t *h, int number)
{
	uv_signal_init(&d->loop, h);
	h->data = d;
	uv_signal_start(h, on_signal, number);
}

static int start(struct dpd *d, const struct settings *s, struct dp_err *err)
{
	uint64_t watchdog = notify_watchdog() / 1000;
	int code, systemd_fd = notify_socket();

	/* order matters: state first, then what may change it, then who may ask */
	watch_signal(d, &d->on_term, SIGTERM); /* heard once the loop runs */
	watch_signal(d, &d->on_int, SIGINT);
	watch_signal(d, &d->on_hup, SIGHUP);
	code = open_journal(d, err);
	if (code != DP_OK)
		return code;
	if (!report_start(d))
		return dp_fail(err, DP_E_NOMEM, "no memory for reports");
	sched_init(d);
	housekeep_start(d);
	recover(d);
	code = server_start(d, systemd_fd, err);
	if (code == DP_OK && s->control_fd >= 0)
		code = server_add_fd(d, s->control_fd, true, err);
	if (code != DP_OK)
		return code;
	uv_timer_init(&d->loop, &d->watchdog);
	if (watchdog)
		uv_timer_start(&d->watchdog, on_watchdog, watchdog, watchdog);
	sched_kick(d);
	log_line(&d->log, LOG_INFO, "",
		 "dparetod %s ready: %u slots, state in %s, socket %s", PACKAGE_VERSION,
		 d->config.slots, d->state_dir, d->socket_path ? d->socket_path : "none");
	notify_state("READY=1");
	return DP_OK;
}

static void close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

/* libuv gives the signal back its default action; from here on it does nothing. A mask
 * would not do: libraries have threads of their own (OpenBLAS), which have none. */
static void ignore_signal(uv_signal_t *h)
{
	int number = h->signum;

	if (!h->loop || number == 0)
		return; /* never watched */
	uv_signal_stop(h);
	signal(number, SIG_IGN);
}

/* Frees what a leak checker would ask about; trainers that were left go on. */
static void finish(struct dpd *d)
{
	struct after *a;
	struct backoff *b;
	struct deletion *x;

	ignore_signal(&d->on_term); /* one more TERM must not end it in the middle */
	ignore_signal(&d->on_int);
	ignore_signal(&d->on_hup);
	d->closed = true; /* from here on callbacks only clean up */
	dp_journal_close(d->journal);
	server_stop(d);
	server_drop_clients(d);
	uv_walk(&d->loop, close_handle, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
	/* what waited for the journal and will not come to pass frees what it holds */
	while ((a = d->after_first) != NULL) {
		d->after_first = a->next;
		a->fn(d, a->arg);
		free(a);
	}
	report_stop(d);
	while (d->jobs)
		job_free(d->jobs);
	while ((x = d->deletions) != NULL) {
		d->deletions = x->next;
		free(x);
	}
	while ((b = d->backoffs) != NULL) {
		d->backoffs = b->next;
		free(b);
	}
	for (uint32_t i = 0; i < d->state.nstudies; i++)
		ask_forget(d, d->state.studies[i]->id);
	dp_state_free(&d->state);
	config_clear(&d->config);
	free(d->state_dir);
	free(d->bin_dir);
	free(d->shim);
	free(d->report);
	free(d->socket_path);
}

int main(int argc, char **argv)
{
	struct settings s = { 0 };
	struct dpd d = { .executor = &executor_local, .config_source = &s.config };
	struct dp_err err;
	int code = parse_command_line(&s, argc, argv);

	if (code >= 0)
		return code;
	signal(SIGPIPE, SIG_IGN);
	dp_linalg_single_thread(); /* same bits on every machine of a kind */
	umask(027);
	d.started = dp_now_us();
	d.after_last = &d.after_first;
	uv_loop_init(&d.loop);
	code = config_load(&d.config, &s.config, &err);
	if (code == DP_OK)
		code = open_log(&d, &s, &err);
	if (code == DP_OK)
		code = find_folders(&d, &s, &err);
	if (code == DP_OK)
		code = start(&d, &s, &err);
	if (code != DP_OK) {
		fprintf(stderr, "dparetod: %s\n", err.msg);
		if (err.hint[0])
			fprintf(stderr, "hint: %s\n", err.hint);
		finish(&d);
		return dp_code_exit(code);
	}
	uv_run(&d.loop, UV_RUN_DEFAULT);
	log_line(&d.log, LOG_INFO, "", "stopped");
	finish(&d);
	return 0;
}
