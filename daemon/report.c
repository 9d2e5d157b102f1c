/* report.c - has dpareto-report write the reports of studies: at their end, and now and
 * then while they run. One at a time, in a process of its own; what becomes of it never
 * touches a study. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/num.h"

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

/* A study whose report could not be written, and why. */
struct no_report {
	struct no_report *next;
	uint32_t study;
	char why[300];
};

/* The process that writes one. */
struct reporter {
	struct dpd *d;
	struct no_report *failed;
	uint32_t study; /* that is being written; 0: none */
	uint32_t seq;   /* of the study when it began */
	pid_t pid;
	int pidfd, words; /* words: what it prints */
	uv_poll_t poll;
};

enum {
	LIMIT_US = 600 * 1000000 /* a report that takes longer hangs */
};

/* ---- what is there ---- */

static char *report_file(const struct dpd *d, const struct dp_study_state *s)
{
	char *path;

	if (asprintf(&path, "%s/studies/%s/report/report.html", d->state_dir,
		     s->spec->name) < 0)
		return NULL;
	return path;
}

/* dpareto-report gives the file the time of the last record that it shows. */
static bool is_current(const struct dpd *d, const struct dp_study_state *s)
{
	char *path = report_file(d, s);
	struct stat st;
	bool same = path && stat(path, &st) == 0 &&
		    (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 ==
			    s->updated;

	free(path);
	return same;
}

/* The file is looked at once a study; afterwards we know what we wrote. */
static void look(const struct dpd *d, struct dp_study_state *s)
{
	if (s->reported != 0)
		return;
	s->reported = is_current(d, s) ? s->seq : UINT32_MAX;
	s->reported_at = dp_mono_us();
}

static struct no_report *find_failure(const struct reporter *r, uint32_t study)
{
	for (struct no_report *f = r->failed; f; f = f->next)
		if (f->study == study)
			return f;
	return NULL;
}

/* Why there is no report of the study; "" for those that have one again. */
static void set_failure(struct reporter *r, const struct dp_study_state *s,
			const char *why)
{
	struct no_report *f = find_failure(r, s->id);

	if (!f && *why && (f = calloc(1, sizeof *f)) != NULL) {
		f->study = s->id;
		f->next = r->failed;
		r->failed = f;
	}
	if (f)
		snprintf(f->why, sizeof f->why, "%s", why);
	if (*why)
		log_line(&r->d->log, LOG_WARN, s->spec->name, "no report: %s", why);
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

static bool is_due(const struct dpd *d, const struct dp_study_state *s)
{
	int64_t interval = (int64_t)(d->config.report_interval * 1e6);

	if (s->reported == s->seq)
		return false;
	if (has_ended(s))
		return true;
	if (interval == 0 || dp_study_ended(s) == 0)
		return false;
	return dp_mono_us() - s->reported_at >= interval;
}

/* ---- the process ---- */

static int spawn_report(struct reporter *r, const struct dp_study_state *s)
{
	struct dpd *d = r->d;
	char *argv[] = { d->report, "--nice",      "--state", d->state_dir,
			 "--",      s->spec->name, NULL };
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
	e = posix_spawn(&r->pid, d->report, &files, &attr, argv, environ);
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
	r->study = 0;
}

/* The last line that it printed. */
static void last_words(int fd, char *out, size_t room)
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

static void note_end(struct reporter *r, struct dp_study_state *s, int status)
{
	char words[300];

	s->reported = r->seq; /* also after a failure: not again for the same */
	if (status == 0) {
		set_failure(r, s, "");
		log_line(&r->d->log, LOG_DEBUG, s->spec->name, "report written");
		return;
	}
	last_words(r->words, words, sizeof words);
	if (WIFSIGNALED(status))
		snprintf(words, sizeof words, "dpareto-report was killed by signal %d",
			 WTERMSIG(status));
	set_failure(r, s, words[0] ? words : "dpareto-report did not say why");
}

static void on_closed(uv_handle_t *h)
{
	struct reporter *r = h->data;
	struct dpd *d = r->d;
	struct dp_study_state *s = dp_state_by_id(&d->state, r->study);
	int status = 0;

	if (d->closed)
		return; /* report_stop() does the rest */
	waitpid(r->pid, &status, 0);
	if (s)
		note_end(r, s, status);
	close_process(r);
	sched_kick(d); /* a study may wait for its deletion, another for its report */
}

/* The pidfd became readable: it has ended. */
static void on_end(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	uv_poll_stop(poll);
	uv_close((uv_handle_t *)poll, on_closed);
}

static void end_hanging(struct reporter *r)
{
	const struct dp_study_state *s = dp_state_by_id(&r->d->state, r->study);

	if (s && dp_mono_us() - s->reported_at > LIMIT_US)
		report_cancel(r->d, r->study);
}

static void start_report(struct reporter *r, struct dp_study_state *s)
{
	char why[300];
	int e;

	s->reported_at = dp_mono_us();
	r->words = memfd_create("dpareto-report", MFD_CLOEXEC);
	e = r->words < 0 ? errno : spawn_report(r, s);
	if (e == 0) {
		r->pidfd = pidfd_open(r->pid, 0);
		if (r->pidfd < 0) {
			e = errno;
			kill(r->pid, SIGKILL);
			waitpid(r->pid, NULL, 0);
		}
	}
	if (e != 0) {
		snprintf(why, sizeof why, "cannot start %.200s: %s", r->d->report,
			 strerror(e));
		set_failure(r, s, why);
		s->reported = s->seq;
		close_process(r);
		return;
	}
	fcntl(r->pidfd, F_SETFD, FD_CLOEXEC);
	r->study = s->id;
	r->seq = s->seq;
	uv_poll_init(&r->d->loop, &r->poll, r->pidfd);
	r->poll.data = r;
	uv_poll_start(&r->poll, UV_READABLE, on_end);
}

/* ---- for the others ---- */

void report_poll(struct dpd *d)
{
	struct reporter *r = d->reporter;

	if (r->study)
		end_hanging(r);
	/* it reads the journal: what is not on the disk would be missing */
	if (r->study || d->stopping || d->trouble || d->disk_low ||
	    dp_journal_durable(d->journal) < d->last_ticket)
		return;
	for (uint32_t i = 0; i < d->state.nstudies && !r->study; i++) {
		struct dp_study_state *s = d->state.studies[i];

		look(d, s);
		if (is_due(d, s))
			start_report(r, s);
	}
}

bool report_busy(const struct dpd *d, uint32_t study)
{
	return d->reporter->study == study;
}

void report_cancel(struct dpd *d, uint32_t study)
{
	if (report_busy(d, study) &&
	    pidfd_send_signal(d->reporter->pidfd, SIGKILL, NULL, 0) != 0)
		log_line(&d->log, LOG_DEBUG, "", "the report has ended already");
}

static void drop_failure(struct no_report **p)
{
	struct no_report *f = *p;

	*p = f->next;
	free(f);
}

void report_forget(struct dpd *d, uint32_t study)
{
	for (struct no_report **p = &d->reporter->failed; *p; p = &(*p)->next) {
		if ((*p)->study == study) {
			drop_failure(p);
			return;
		}
	}
}

void report_view(struct dpd *d, struct dp_study_state *s, json_t *summary)
{
	const struct no_report *f = find_failure(d->reporter, s->id);
	const char *why = f && f->why[0] ? f->why : NULL;
	char *path = NULL;

	look(d, s);
	if (s->reported == s->seq && !why)
		path = report_file(d, s);
	else if (!why && (d->disk_low || d->trouble))
		why = "it waits for space on the disk";
	json_object_set_new(summary, "report", path ? json_string(path) : json_null());
	json_object_set_new(summary, "report_error",
			    why ? json_string(why) : json_null());
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
	if (r->study) {
		kill(r->pid, SIGKILL); /* not reaped yet: the number is its own */
		waitpid(r->pid, NULL, 0);
		close_process(r);
	}
	while (r->failed)
		drop_failure(&r->failed);
	free(r);
	d->reporter = NULL;
}
