/* report.c - has dpareto-report write the reports of studies: at their end, and now and
 * then while they run. One at a time, in a process of its own; what becomes of it never
 * touches a study. */
#include "daemon/report.h"

#include "base/num.h"
#include "daemon/study.h"
#include "journal/view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The process that writes one. */
struct reporter {
	struct dpd *d;
	struct study *home; /* that is being written; NULL: none. It does not go before */
	uint32_t seq;       /* of the study when it began */
	pid_t pid;
	int pidfd, words; /* words: what it prints */
	uv_poll_t poll;
};

enum {
	LIMIT_US = 600 * 1000000 /* a report that takes longer hangs */
};

/* ---- what is there ---- */

static char *report_file(const struct study *h)
{
	char *path;

	if (asprintf(&path, "%s/studies/%s/report/report.html", h->d->at.state_dir,
		     h->state->spec->name) < 0)
		return NULL;
	return path;
}

/* dpareto-report gives the file the time of the last record that it shows. */
static bool report_is_current(const struct study *h)
{
	char *path = report_file(h);
	struct stat st;
	bool same = path && stat(path, &st) == 0 &&
		    (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 ==
			    h->state->updated;

	free(path);
	return same;
}

/* The file is looked at once a study; afterwards we know what we wrote. */
static void report_look(struct study *h)
{
	if (h->note.looked)
		return;
	h->note.looked = true;
	h->note.shows = report_is_current(h) ? h->state->seq : UINT32_MAX;
	h->note.begun = dp_mono_us();
}

/* Why there is no report of the study; "" for those that have one again. */
static void report_failed(struct study *h, const char *why)
{
	snprintf(h->note.why, sizeof h->note.why, "%s", why);
	if (*why)
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "no report: %s",
			 why);
}

/* Nothing more happens by itself, but for trainers that still run. */
static bool has_ended(const struct dp_study_state *s)
{
	switch (s->status) {
	case DP_STUDY_FINISHED:
	case DP_STUDY_FAILED:
		return true;
	case DP_STUDY_STOPPED:
		return s->open == 0;
	case DP_STUDY_PAUSED:
		return s->open == 0 && s->by_failures;
	case DP_STUDY_RUNNING:
		break;
	}
	return false;
}

static bool report_is_due(const struct study *h)
{
	int64_t interval = (int64_t)(h->d->config.report_interval * 1e6);

	if (h->note.shows == h->state->seq || h->deleters || h->state->apart)
		return false;
	if (has_ended(h->state))
		return true;
	if (interval == 0 || dp_study_ended(h->state) == 0)
		return false;
	return dp_mono_us() - h->note.begun >= interval;
}

/* ---- the process ---- */

static int spawn_report(struct reporter *r, const struct study *h)
{
	struct dpd *d = r->d;
	char *argv[] = { d->at.report,         "--nice", "--state", d->at.state_dir, "--",
			 h->state->spec->name, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int e;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, r->words, 1);
	posix_spawn_file_actions_adddup2(&files, r->words, 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	e = posix_spawn(&r->pid, d->at.report, &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return e;
}

static void close_process(struct reporter *r)
{
	if (r->pidfd >= 0)
		close(r->pidfd);
	if (r->words >= 0)
		close(r->words);
	r->pidfd = r->words = -1;
	r->pid = 0;
	r->home = NULL;
}

/* The last line that it printed. */
static void report_last_words(int fd, char *out, size_t room)
{
	char text[1024], *line;
	off_t size = lseek(fd, 0, SEEK_END), from;
	ssize_t n;

	from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
	n = pread(fd, text, sizeof text - 1, from);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "dpareto-report: ");
	snprintf(out, room, "%.250s", line ? line + 16 : text);
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20)
			*c = ' ';
}

static void report_note_end(struct reporter *r, struct study *h, int status)
{
	char words[300];

	h->note.shows = r->seq; /* also after a failure: not again for the same */
	if (status == 0) {
		report_failed(h, "");
		log_line(&r->d->log, LOG_DEBUG, h->state->spec->name, "report written");
		return;
	}
	report_last_words(r->words, words, sizeof words);
	if (WIFSIGNALED(status))
		snprintf(words, sizeof words, "dpareto-report was killed by signal %d",
			 WTERMSIG(status));
	report_failed(h, words[0] ? words : "dpareto-report did not say why");
}

static void on_report_closed(uv_handle_t *handle)
{
	struct reporter *r = handle->data;
	struct study *h = r->home;
	int status = 0;

	if (r->d->closed)
		return; /* report_stop() does the rest */
	waitpid(r->pid, &status, 0);
	report_note_end(r, h, status);
	close_process(r);
	study_changed(h); /* it may wait for its deletion; another for its report */
}

/* The pidfd became readable: it has ended. */
static void on_report_end(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_report_closed);
}

static int open_process(struct reporter *r, const struct study *h)
{
	int e;

	r->words = memfd_create("dpareto-report", MFD_CLOEXEC);
	e = r->words < 0 ? errno : spawn_report(r, h);
	if (e != 0)
		return e;
	r->pidfd = pidfd_open(r->pid, 0);
	if (r->pidfd >= 0)
		return 0;
	e = errno;
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	return e;
}

static void report_begin(struct reporter *r, struct study *h)
{
	char why[300];
	int e;

	h->note.begun = dp_mono_us();
	e = open_process(r, h);
	if (e != 0) {
		snprintf(why, sizeof why, "cannot start %.200s: %s", r->d->at.report,
			 strerror(e));
		report_failed(h, why);
		h->note.shows = h->state->seq;
		close_process(r);
		return;
	}
	fcntl(r->pidfd, F_SETFD, FD_CLOEXEC);
	r->home = h;
	r->seq = h->state->seq;
	uv_poll_init(&r->d->loop, &r->poll, r->pidfd);
	r->poll.data = r;
	uv_poll_start(&r->poll, UV_READABLE, on_report_end);
}

/* ---- for the others ---- */

void report_poll(struct dpd *d)
{
	struct reporter *r = d->reporter;

	if (r->home && dp_mono_us() - r->home->note.begun > LIMIT_US)
		report_cancel(r->home); /* it hangs */
	/* it reads the journal: what is not on the disk would be missing */
	if (r->home || d->stopping || d->trouble || d->disk_low ||
	    dp_journal_durable(d->journal) < d->last_ticket)
		return;
	for (uint32_t i = 0; i < d->nstudies && !r->home; i++) {
		report_look(d->studies[i]);
		if (report_is_due(d->studies[i]))
			report_begin(r, d->studies[i]);
	}
}

bool report_busy(const struct study *h)
{
	return h->d->reporter->home == h;
}

void report_cancel(struct study *h)
{
	if (report_busy(h) &&
	    pidfd_send_signal(h->d->reporter->pidfd, SIGKILL, NULL, 0) != 0)
		log_line(&h->d->log, LOG_DEBUG, "", "the report has ended already");
}

void report_view(struct study *h, json_t *summary)
{
	const char *why = h->note.why[0] ? h->note.why : NULL;
	char *path = NULL;

	report_look(h);
	if (h->note.shows == h->state->seq && !why)
		path = report_file(h);
	else if (!why && (h->d->disk_low || h->d->trouble))
		why = "it waits for space on the disk";
	json_object_set_new(summary, "report", dp_view_text(path));
	json_object_set_new(summary, "report_error", dp_view_text(why));
	free(path);
}

bool report_start(struct dpd *d)
{
	struct reporter *r = calloc(1, sizeof *r);

	if (!r)
		return false;
	r->d = d;
	r->pidfd = r->words = -1;
	d->reporter = r;
	return true;
}

void report_stop(struct dpd *d)
{
	struct reporter *r = d->reporter;

	if (!r)
		return;
	if (r->home) {
		kill(r->pid, SIGKILL); /* not reaped yet: the number is its own */
		waitpid(r->pid, NULL, 0);
		close_process(r);
	}
	free(r);
	d->reporter = NULL;
}
