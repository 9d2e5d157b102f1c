/* lifecycle.c - starts and stops the daemon in order, handles signals and reloads. */
#include "config.h"
#include "daemon/lifecycle.h"

#include "base/fs.h"
#include "base/program.h"
#include "base/units.h"
#include "daemon/api/client_connection.h"
#include "daemon/api/server.h"
#include "daemon/core/commit_queue.h"
#include "daemon/core/service_manager.h"
#include "daemon/core/state_dir.h"
#include "daemon/executors/job.h"
#include "daemon/housekeeping.h"
#include "daemon/notify/hooks.h"
#include "daemon/studies/report_writer.h"
#include "daemon/studies/scheduler.h"
#include "daemon/studies/study_lifecycle.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_DIR_HINT                                                                             \
	"a state folder is what 'dparetod --state' or 'dparetoctl run --state' was "               \
	"given; it has a folder 'journal'"

struct lifecycle {
	uv_signal_t sigterm, sigint, sighup;
	uv_timer_t watchdog;
};

/* ---- reload ---- */

static int lifecycle_reload(struct daemon *d, json_t *changed, struct dp_err *err)
{
	struct config new, *old = &d->config;
	int code = config_load(&new, &d->options->config_source, err);

	if (code != DP_OK) {
		log_line(&d->log, LOG_ERROR, "", "configuration not reloaded: %s", err->msg);
		config_clear(&new);
		return code;
	}
	config_list_changes(old, &new, changed);
	config_clear(old);
	*old = new;
	d->log.level = new.log_level;
	server_set_group(d);
	hooks_on_reload(d);
	if (json_array_size(changed))
		server_log_client_limit(d);
	log_line(&d->log, LOG_INFO, "", "configuration reloaded, %zu options changed",
		 json_array_size(changed));
	daemon_request_turn(d);
	return DP_OK;
}

/* ---- stopping ---- */

static void lifecycle_finish_stop_if_idle(struct daemon *d)
{
	if (!d->stopping || !jobs_allow_stop(d) ||
	    (!d->commits->is_failing && !commit_queue_is_durable(d)) || hooks_delay_stop(d))
		return;
	uv_stop(&d->loop);
}

static void lifecycle_stop(struct daemon *d, enum stop_policy policy, const char *why)
{
	if (d->stopping) { /* second request: do not wait */
		d->stop_policy = STOP_LEAVE;
		hooks_begin_stop(d, true);
		lifecycle_finish_stop_if_idle(d);
		return;
	}
	d->stopping = true;
	d->stop_policy = policy;
	log_line(&d->log, LOG_INFO, "", "stopping (%s), policy %s, %u trainers running", why,
		 stop_policy_text(policy), d->attempts->count(d));
	studies_record_time(d, true);
	if (!d->read_only.enabled)
		service_manager_notify("STOPPING=1");
	server_stop(d);
	hooks_begin_stop(d, false);
	for (uint32_t i = 0; i < d->studies->n; i++) {
		study_cancel_work(d->studies->list[i]);
		if (policy == STOP_KILL)
			jobs_cancel(d->studies->list[i], NULL);
	}
	lifecycle_finish_stop_if_idle(d);
}

/* ---- a turn of the loop ---- */

static void lifecycle_run_turn(struct daemon *d)
{
	struct study *visited = scheduler_run(d);

	report_writer_start_due(d);
	hooks_run_due(d);
	clients_answer_long_polls(d);
	/* nothing else is on the stack, so this can free objects */
	jobs_free_finished(d, false);
	scheduler_end_turn(visited);
	lifecycle_finish_stop_if_idle(d);
	dp_journal_end_batch(d->journal);
}

static const struct daemon_ops lifecycle_ops = { lifecycle_run_turn, lifecycle_stop,
						 lifecycle_reload };

/* ---- signals ---- */

static void on_signal(uv_signal_t *h, int number)
{
	struct daemon *d = h->data;
	struct dp_err err;

	if (number == SIGHUP) {
		json_t *changed = json_array();

		service_manager_notify("RELOADING=1");
		if (lifecycle_reload(d, changed, &err) != DP_OK)
			log_line(&d->log, LOG_WARN, "", "the old configuration stays");
		service_manager_notify("READY=1");
		json_decref(changed);
		return;
	}
	lifecycle_stop(d, d->config.stop_policy, strsignal(number));
}

static int watch_signal(struct daemon *d, uv_signal_t *h, int number, struct dp_err *err)
{
	int e = uv_signal_init(&d->loop, h);

	h->data = d;
	if (e == 0)
		e = uv_signal_start(h, on_signal, number);
	return e == 0 ? DP_OK
		      : dp_fail(err, DP_E_FAILED, "cannot watch signals: %s", uv_strerror(e));
}

static void on_watchdog(uv_timer_t *t)
{
	(void)t;
	service_manager_notify("WATCHDOG=1");
}

/* ---- starting ---- */

static int find_read_only_directory(struct daemon *d, const char *state, struct dp_err *err)
{
	struct stat st;

	if (stat(state, &st) != 0)
		dp_fail_errno(err, errno, "cannot look at %s", state);
	else if (!S_ISDIR(st.st_mode))
		dp_fail(err, DP_E_NOT_FOUND, "%s is no folder", state);
	else if ((d->paths.state_dir = realpath(state, NULL)) == NULL)
		dp_fail_errno(err, errno, "cannot look at %s", state);
	else
		return DP_OK;
	return dp_hint(err, STATE_DIR_HINT);
}

/* Finds the directories and makes them absolute, because attempts get their paths. */
static int find_directories(struct daemon *d, const struct daemon_options *s, struct dp_err *err)
{
	char *state = s->state_dir ? dp_strdup(s->state_dir) : dp_default_state_dir();
	int code;

	if (!state)
		return dp_fail(err, DP_E_USAGE, "no home folder is known; name one with --state");
	code = s->read_only ? find_read_only_directory(d, state, err)
			    : state_dir_prepare(d, state, err);
	free(state);
	if (code != DP_OK)
		return dp_err_prefix(err, "state folder");
	d->paths.bin_dir = dp_program_dir();
	if (!d->paths.bin_dir)
		return dp_fail(err, DP_E_FAILED, "cannot find the folder of dparetod itself");
	d->paths.shim_path = dp_program_helper_path(d->paths.bin_dir, "dpareto-shim");
	d->paths.report_path = dp_path_join(d->paths.bin_dir, "dpareto-report");
	if (!s->socket_path)
		d->paths.socket_path = dp_default_socket_path();
	else if (strcmp(s->socket_path, "none") != 0)
		d->paths.socket_path = dp_strdup(s->socket_path);
	return DP_OK;
}

/* True if stderr leads to systemd's journal. JOURNAL_STREAM alone is not proof: terminals and
 * scripts that a service started inherit it. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &dev, &ino) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static int open_log(struct daemon *d, const struct daemon_options *s, struct dp_err *err)
{
	d->log.level = d->config.log_level;
	d->log.fd = STDERR_FILENO;
	d->log.journald = !s->log_file && stderr_is_journal();
	if (!s->log_file)
		return DP_OK;
	/* O_NONBLOCK only for open(), which would wait for a FIFO's reader */
	d->log.fd = open(s->log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
	if (d->log.fd < 0 && errno == ENXIO)
		return dp_fail(err, DP_E_INVALID, "the log %s is a FIFO that no process reads",
			       s->log_file);
	if (d->log.fd < 0 || fcntl(d->log.fd, F_SETFL, O_APPEND) != 0)
		return dp_fail_errno(err, errno, "cannot open the log %s", s->log_file);
	return DP_OK;
}

static void on_journal_crash(int number)
{
	static const char text[] =
		"dparetod: the journal is damaged: reading it crashed\n"
		"hint: 'dparetoctl journal verify' says what is wrong, 'dparetoctl "
		"journal repair' saves what can be read\n";

	(void)number;
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(2);
	_exit(1);
}

/* The journal's pages are checked before LMDB follows them. If damage goes undetected, the crash
 * happens while the journal is read, before anything else runs, and gives a message. */
static int read_journal(struct daemon *d, const char *folder, struct dp_err *err)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT };
	struct sigaction guard = { .sa_handler = on_journal_crash }, before[DP_COUNT(signals)];
	struct dp_journal_options opt = { 0 };
	int code;

	for (size_t i = 0; i < DP_COUNT(signals); i++)
		sigaction(signals[i], &guard, &before[i]);
	code = d->read_only.enabled ? dp_state_open_readonly(&d->state, folder, &d->journal, err)
				    : dp_journal_open(folder, &opt, &d->journal, err);
	if (code == DP_OK && !d->read_only.enabled)
		code = dp_state_replay_tolerant(&d->state, d->journal, err);
	if (code == DP_OK)
		code = dp_journal_next_study_id(d->journal, &d->studies->next_id, err);
	for (size_t i = 0; i < DP_COUNT(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	return code;
}

static void lifecycle_log_quarantined(struct daemon *d)
{
	const struct dp_state *s = &d->state;

	for (uint32_t i = 0; i < s->nstudies; i++)
		if (s->studies[i]->quarantined)
			log_line(&d->log, LOG_ERROR, s->studies[i]->spec->name, "set apart: %s",
				 s->studies[i]->reason);
	for (uint32_t i = 0; i < s->nunreadable; i++)
		log_line(&d->log, LOG_ERROR, "", "study %u cannot be read: %s",
			 s->unreadable[i].study, s->unreadable[i].reason);
}

static int lifecycle_replay_journal(struct daemon *d, struct dp_err *err)
{
	char *folder = dp_path_join(d->paths.state_dir, "journal");
	int64_t began = dp_monotonic_us();
	char count[DP_PLURAL_LEN];
	int code = read_journal(d, folder, err);

	free(folder);
	if (code != DP_OK)
		return code;
	log_line(&d->log, LOG_INFO, "", "replayed %s in %.1f ms",
		 dp_plural_text(d->state.nstudies, "study", count),
		 (double)(dp_monotonic_us() - began) / 1e3);
	lifecycle_log_quarantined(d);
	clock_resume(d);
	change_feed_reset(&d->studies->change_feed, clock_now(d));
	for (uint32_t i = 0; i < d->state.nstudies; i++)
		study_new(d, d->state.studies[i]);
	/* Until here TERM and INT end the process at once, even if the disk hangs, because nothing
	 * was started. From here on they stop it in order. */
	code = watch_signal(d, &d->lifecycle->sigterm, SIGTERM, err);
	return code == DP_OK ? watch_signal(d, &d->lifecycle->sigint, SIGINT, err) : code;
}

/* Recovering an attempt may end it, but adds none. */
static void lifecycle_recover_trial(struct study *study, const struct dp_trial *t)
{
	for (uint32_t n = 0; n < t->nattempts; n++)
		if (t->attempts[n].end_class == DP_END_NONE)
			job_recover(study, t, &t->attempts[n]);
}

/* After replay: adopts, collects or closes every attempt that is open in the journal, and marks
 * every study as changed. */
static void lifecycle_recover(struct daemon *d)
{
	studies_record_time(d, false);
	for (uint32_t i = 0; i < d->studies->n; i++) {
		struct study *study = d->studies->list[i];
		const struct dp_study_state *s = study->state;

		if (s->quarantined)
			continue;
		for (uint32_t k = s->first_unfinished; k < s->ntrials; k++)
			lifecycle_recover_trial(study, s->trials[k]);
		for (uint32_t k = s->reevals.first_unfinished; k < s->reevals.ntrials; k++)
			lifecycle_recover_trial(study, s->reevals.trials[k]);
		study_mark_changed(study);
	}
	noisy_release_remove_leftovers(d);
}

/* In read-only mode: answers the client on control_fd from the journal's current content. */
static int lifecycle_start_read_only(struct daemon *d, const struct daemon_options *s,
				     struct dp_err *err)
{
	static const struct executor_ops *const none[] = { NULL };
	char *folder = dp_path_join(d->paths.state_dir, "journal");
	int code;

	/* before the read, so that the data is not older */
	d->read_only.has_writer = dp_journal_has_writer(folder, &d->read_only.writer_pid);
	free(folder);
	code = executors_open(d, none, err);
	hooks_start(d);
	report_writer_open(d);
	if (code == DP_OK)
		code = lifecycle_replay_journal(d, err);
	if (code == DP_E_NOT_FOUND)
		dp_hint(err, STATE_DIR_HINT);
	free(d->paths.socket_path);
	d->paths.socket_path = NULL;
	if (code == DP_OK)
		code = server_start(d, -1, err);
	return code == DP_OK ? server_add_fd(d, s->control_fd, true, err) : code;
}

/* In this order: the state, then what may change it, then the clients. */
static int lifecycle_start(struct daemon *d, const struct daemon_options *s, struct dp_err *err)
{
	uint64_t watchdog = service_manager_watchdog_us() / 1000;
	int code, systemd_fd = service_manager_socket();
	char slots[DP_PLURAL_LEN];

	hooks_start(d);
	code = executors_open(d, s->executors ? s->executors : executors, err);
	if (code == DP_OK)
		code = lifecycle_replay_journal(d, err);
	if (code == DP_OK) {
		/* records from here on are reported to hooks and written */
		hooks_resume_undelivered(d);
		code = commit_queue_start(d, err);
	}
	if (code != DP_OK)
		return code;
	report_writer_open(d);
	hooks_on_daemon_started(d);
	housekeeping_start(d);
	lifecycle_recover(d);
	code = server_start(d, systemd_fd, err);
	if (code == DP_OK && s->control_fd >= 0)
		code = server_add_fd(d, s->control_fd, true, err);
	if (code != DP_OK)
		return code;
	uv_timer_init(&d->loop, &d->lifecycle->watchdog);
	if (watchdog)
		uv_timer_start(&d->lifecycle->watchdog, on_watchdog, watchdog, watchdog);
	daemon_request_turn(d);
	log_line(&d->log, LOG_INFO, "", "dparetod %s ready: %s, state in %s, socket %s",
		 PACKAGE_VERSION, dp_plural_text(d->config.slots, "slot", slots),
		 d->paths.state_dir, d->paths.socket_path ? d->paths.socket_path : "none");
	service_manager_notify("READY=1");
	return DP_OK;
}

int daemon_open(struct daemon *d, const struct daemon_options *s, struct dp_err *err)
{
	int code, e;

	*d = (struct daemon){ .options = s,
			      .ops = &lifecycle_ops,
			      .started_us = dp_now_us(),
			      .read_only = { .enabled = s->read_only } };
	d->lifecycle = dp_calloc(1, sizeof *d->lifecycle);
	fd_limits_raise(&d->fd_limits);
	clock_init(d);
	commit_queue_init(d);
	studies_init(d);
	e = uv_loop_init(&d->loop);
	d->loop_failed = e != 0;
	if (e != 0)
		return dp_fail(err, DP_E_FAILED, "cannot make an event loop: %s", uv_strerror(e));
	/* HUP must not end the process from its first moment on */
	code = watch_signal(d, &d->lifecycle->sighup, SIGHUP, err);
	if (code == DP_OK)
		code = config_load(&d->config, &s->config_source, err);
	if (code == DP_OK)
		code = open_log(d, s, err);
	if (code == DP_OK)
		code = find_directories(d, s, err);
	if (code != DP_OK)
		return code;
	daemon_init_turns(d);
	clients_init(d);
	return s->read_only ? lifecycle_start_read_only(d, s, err) : lifecycle_start(d, s, err);
}

void daemon_report_open_error(const struct daemon_options *s, const struct dp_err *err)
{
	struct dp_buf text = DP_BUF_INIT;

	dp_control_format_error(&text, err);
	if (send(s->control_fd, text.data, text.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		/* the client has gone; stderr has the error, too */
	}
	dp_buf_free(&text);
}

/* ---- closing ---- */

static void lifecycle_close_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

/* Ignores a signal from here on; libuv would restore its default action. Blocking it is not enough:
 * threads of libraries (OpenBLAS) have their own masks. */
static void ignore_signal(uv_signal_t *h)
{
	int number = h->signum;

	if (!h->loop || number == 0)
		return; /* never handled */
	uv_signal_stop(h);
	signal(number, SIG_IGN);
}

void daemon_close(struct daemon *d)
{
	struct lifecycle *life = d->lifecycle;

	ignore_signal(&life->sigterm); /* another TERM must not interrupt this */
	ignore_signal(&life->sigint);
	ignore_signal(&life->sighup);
	d->loop_ended = true;
	dp_journal_close(d->journal);
	server_stop(d);
	clients_close_all(d);
	executors_stop(d);
	if (!d->loop_failed) {
		uv_walk(&d->loop, lifecycle_close_handle, NULL);
		/* returns early if uv_stop() was called before it ran */
		while (uv_run(&d->loop, UV_RUN_DEFAULT) != 0)
			;
		uv_loop_close(&d->loop);
	}
	clock_stop(d); /* no worker thread writes it any more */
	/* pending callbacks free their data */
	after_commit_run_all(d);
	clients_free(d);
	server_free(d);
	report_writer_close(d);
	hooks_stop(d);
	jobs_free_finished(d, true);
	studies_free(d);
	executors_close(d);
	housekeeping_free(d);
	commit_queue_free(d);
	clock_free(d);
	dp_state_free(&d->state);
	config_clear(&d->config);
	if (d->options->log_file && d->log.fd > STDERR_FILENO)
		close(d->log.fd);
	free(d->paths.state_dir);
	free(d->paths.bin_dir);
	free(d->paths.shim_path);
	free(d->paths.report_path);
	free(d->paths.socket_path);
	free(life);
}
