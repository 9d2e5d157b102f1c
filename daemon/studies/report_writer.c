/* report_writer.c - runs dpareto-report when a study ends, and periodically while it runs. One at a
 * time, in its own process; a failure never affects a study. */
#include "daemon/studies/report_writer.h"

#include "base/units.h"
#include "daemon/core/child_process.h"
#include "state/state_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct report_writer {
	struct study *study; /* being written; NULL: none. It is not freed before */
	uint32_t seq;        /* of the study at the start */
	struct child child;
};

#define REPORT_TIMEOUT_SECONDS 600.0 /* a report that takes longer hangs */

/* ---- status ---- */

static char *report_writer_path(const struct study *study)
{
	return dp_asprintf("%s/studies/%s/report/report.html", study->daemon->paths.state_dir,
			   study->state->spec->name);
}

/* The status of the study's report. Checks once for a file of a former daemon: dpareto-report sets
 * its mtime to the time of the last record that it shows. */
static struct report_status *report_writer_status(struct study *study)
{
	struct report_status *status = study->report_status;
	struct stat st;
	char *path;
	bool current;

	if (status)
		return status;
	path = report_writer_path(study);
	current = stat(path, &st) == 0 &&
		  (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000 ==
			  study_public_view(study).state->updated_us;
	free(path);
	status = study->report_status = dp_calloc(1, sizeof *status);
	status->shown_seq = current ? study->state->next_seq : UINT32_MAX;
	status->last_try_us = dp_monotonic_us();
	return status;
}

void report_writer_forget(struct study *study)
{
	free(study->report_status);
	study->report_status = NULL;
}

/* Sets why there is no report; "" if there is one again. */
static void report_writer_set_error(struct study *study, const char *why)
{
	struct report_status *status = report_writer_status(study);

	snprintf(status->error, sizeof status->error, "%s", why);
	if (*why)
		log_line(&study->daemon->log, LOG_WARN, study->state->spec->name, "no report: %s",
			 why);
}

/* True if the study changes only through trainers that still run. */
static bool report_writer_study_has_ended(const struct dp_study_state *s)
{
	switch (s->status) {
	case DP_STUDY_FINISHED:
	case DP_STUDY_FAILED:
		return true;
	case DP_STUDY_STOPPED:
		return dp_state_count_open_attempts(s) == 0;
	case DP_STUDY_PAUSED:
		return dp_state_count_open_attempts(s) == 0 && s->moved_by_failures;
	case DP_STUDY_RUNNING:
		break;
	}
	return false;
}

static bool report_writer_is_due(struct study *study)
{
	const struct report_status *status = report_writer_status(study);
	int64_t interval = (int64_t)(study->daemon->config.report_interval * 1e6);

	if (status->shown_seq == study->state->next_seq || study->delete_requests ||
	    study->state->quarantined)
		return false;
	if (report_writer_study_has_ended(study->state))
		return true;
	if (interval == 0 || dp_state_count_ended_trials(study->state) == 0 ||
	    dp_state_is_private_selection(study->state))
		return false;
	return dp_monotonic_us() - status->last_try_us >= interval;
}

/* True if a report can be written now. It reads the journal, so all records must be durable. */
static bool report_writer_can_run(const struct daemon *d)
{
	return !d->stopping && !d->commits->is_failing && !d->disk.is_low && !d->read_only.enabled;
}

/* ---- the process ---- */

static void on_report_writer_exit(struct child *c, int status)
{
	struct report_writer *r = c->daemon->report_writer;
	struct study *study = r->study;
	const char *line = strstr(c->output_tail, "dpareto-report: ");
	char words[300] = "";

	report_writer_status(study)->shown_seq = r->seq; /* also after a failure: no retry */
	if (WIFSIGNALED(status))
		snprintf(words, sizeof words, "dpareto-report was killed by signal %d",
			 WTERMSIG(status));
	else if (status != 0 && line) /* the program's last line, without hints */
		snprintf(words, sizeof words, "%.*s", (int)strcspn(line + 16, "\n"), line + 16);
	else if (status != 0)
		child_last_line(c, words, sizeof words);
	if (status != 0 && !words[0])
		snprintf(words, sizeof words, "dpareto-report did not say why");
	report_writer_set_error(study, words);
	if (status == 0)
		log_line(&c->daemon->log, LOG_DEBUG, study->state->spec->name, "report written");
	r->study = NULL;
	study_mark_changed(study); /* its deletion or another report may wait for this */
}

static void report_writer_start(struct report_writer *r, struct study *study)
{
	struct daemon *d = study->daemon;
	char *argv[] = { d->paths.report_path,     "--nice", "--state", d->paths.state_dir, "--",
			 study->state->spec->name, NULL };
	char why[300];
	int e;

	report_writer_status(study)->last_try_us = dp_monotonic_us();
	e = child_start(&r->child, argv, NULL, REPORT_TIMEOUT_SECONDS);
	if (e != 0) {
		snprintf(why, sizeof why, "cannot start %.200s: %s", d->paths.report_path,
			 strerror(e));
		report_writer_set_error(study, why);
		report_writer_status(study)->shown_seq = study->state->next_seq;
		return;
	}
	r->study = study;
	r->seq = study->state->next_seq;
}

/* ---- interface ---- */

void report_writer_start_due(struct daemon *d)
{
	struct report_writer *r = d->report_writer;

	if (r->study || !report_writer_can_run(d) || !commit_queue_is_durable(d))
		return;
	for (uint32_t i = 0; i < d->studies->n && !r->study; i++)
		if (report_writer_is_due(d->studies->list[i]))
			report_writer_start(r, d->studies->list[i]);
}

bool report_writer_is_writing(const struct study *study)
{
	return study->daemon->report_writer->study == study;
}

void report_writer_cancel(struct study *study)
{
	if (report_writer_is_writing(study))
		child_kill(&study->daemon->report_writer->child);
}

void report_writer_tick(struct daemon *d)
{
	child_tick(&d->report_writer->child);
	report_writer_start_due(d);
}

bool report_writer_will_write(struct study *study)
{
	return report_writer_study_has_ended(study->state) &&
	       (report_writer_is_writing(study) ||
		(report_writer_is_due(study) && report_writer_can_run(study->daemon)));
}

char *report_writer_find_report(struct study *study)
{
	char *path = report_writer_path(study);

	if (!report_writer_status(study)->error[0] && access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

void report_writer_add_json(struct study *study, json_t *summary)
{
	const struct report_status *status = report_writer_status(study);
	const char *why = status->error[0] ? status->error : NULL;
	char *path = NULL;

	if (status->shown_seq == study->state->next_seq && !why)
		path = report_writer_path(study);
	else if (!why && (study->daemon->disk.is_low || study->daemon->commits->is_failing))
		why = "it waits for space on the disk";
	json_object_set_new(summary, "report", dp_text_json(path));
	json_object_set_new(summary, "report_error", dp_text_json(why));
	free(path);
}

void report_writer_open(struct daemon *d)
{
	d->report_writer = dp_calloc(1, sizeof *d->report_writer);
	child_init(&d->report_writer->child, d, on_report_writer_exit);
}

void report_writer_close(struct daemon *d)
{
	struct report_writer *r = d->report_writer;

	if (!r)
		return;
	child_kill_and_wait(&r->child);
	free(r);
	d->report_writer = NULL;
}
