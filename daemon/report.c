/* report.c - has dpareto-report write the reports of studies: at their end, and now and
 * then while they run. One at a time, in a process of its own; what becomes of it never
 * touches a study. */
#include "daemon/report.h"

#include "base/num.h"
#include "daemon/child.h"
#include "daemon/study.h"
#include "journal/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process that writes one. */
struct reporter {
	struct study *home; /* that is being written; NULL: none. It does not go before */
	uint32_t seq;       /* of the study when it began */
	struct child child;
};

#define LIMIT_S 600.0 /* a report that takes longer hangs */

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
			    study_shown(h)->updated;

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
		log_line(&h->d->log, LOG_WARN, h->state->spec->name, "no report: %s", why);
}

/* Nothing more happens by itself, but for trainers that still run. */
static bool has_ended(const struct dp_study_state *s)
{
	switch (s->status) {
	case DP_STUDY_FINISHED:
	case DP_STUDY_FAILED:
		return true;
	case DP_STUDY_STOPPED:
		return dp_study_open(s) == 0;
	case DP_STUDY_PAUSED:
		return dp_study_open(s) == 0 && s->by_failures;
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
	if (interval == 0 || dp_study_ended(h->state) == 0 || dp_study_hides(h->state))
		return false;
	return dp_mono_us() - h->note.begun >= interval;
}

/* Can it be written now? It reads the journal: what is not on the disk would be
 * missing. */
static bool report_possible(const struct dpd *d)
{
	return !d->stopping && !d->trouble && !d->disk_low && !d->looking;
}

/* ---- the process ---- */

/* The sentence that it ended with; its hints are left out. */
static void report_last_words(const struct child *c, char *out, size_t room)
{
	const char *line = strstr(c->words, "dpareto-report: ");

	if (line)
		snprintf(out, room, "%.*s", (int)strcspn(line + 16, "\n"), line + 16);
	else
		child_last_words(c, out, room);
}

static void report_note_end(struct reporter *r, struct study *h, int status)
{
	char words[300];

	h->note.shows = r->seq; /* also after a failure: not again for the same */
	if (status == 0) {
		report_failed(h, "");
		log_line(&h->d->log, LOG_DEBUG, h->state->spec->name, "report written");
		return;
	}
	report_last_words(&r->child, words, sizeof words);
	if (WIFSIGNALED(status))
		snprintf(words, sizeof words, "dpareto-report was killed by signal %d",
			 WTERMSIG(status));
	report_failed(h, words[0] ? words : "dpareto-report did not say why");
}

static void on_report_end(struct child *c, int status)
{
	struct reporter *r = c->d->reporter;
	struct study *h = r->home;

	report_note_end(r, h, status);
	r->home = NULL;
	study_changed(h); /* it may wait for its deletion; another for its report */
}

static void report_begin(struct reporter *r, struct study *h)
{
	struct dpd *d = h->d;
	char *argv[] = { d->at.report,         "--nice", "--state", d->at.state_dir, "--",
			 h->state->spec->name, NULL };
	char why[300];
	int e;

	h->note.begun = dp_mono_us();
	e = child_start(&r->child, argv, NULL, LIMIT_S);
	if (e != 0) {
		snprintf(why, sizeof why, "cannot start %.200s: %s", d->at.report, strerror(e));
		report_failed(h, why);
		h->note.shows = h->state->seq;
		return;
	}
	r->home = h;
	r->seq = h->state->seq;
}

/* ---- for the others ---- */

void report_poll(struct dpd *d)
{
	struct reporter *r = d->reporter;

	if (r->home || !report_possible(d) || dp_journal_durable(d->journal) < d->last_ticket)
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
	if (report_busy(h))
		child_kill(&h->d->reporter->child);
}

void report_tick(struct dpd *d)
{
	child_tick(&d->reporter->child);
	report_poll(d);
}

bool report_is_coming(struct study *h)
{
	report_look(h);
	return has_ended(h->state) &&
	       (report_busy(h) || (report_is_due(h) && report_possible(h->d)));
}

char *report_path(struct study *h)
{
	char *path = h->note.why[0] ? NULL : report_file(h);

	if (path && access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
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
	child_init(&r->child, d, on_report_end);
	d->reporter = r;
	return true;
}

void report_stop(struct dpd *d)
{
	struct reporter *r = d->reporter;

	if (!r)
		return;
	child_stop(&r->child);
	free(r);
	d->reporter = NULL;
}
