/* released.c - attempts of studies that release what they measure with noise
 * (objectives.NAME.release): the record of their end carries the noisy means and nothing
 * else that the trainer said, and then its files go. */
#include "daemon/executor.h"
#include "daemon/job.h"
#include "daemon/record.h"

#include "base/fs.h"
#include "journal/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the record ---- */

/* The mean over the runs of a metric at the w-th waypoint, or at the end (DP_OWN); NaN
 * unless every run told it. */
static double released_mean(const struct job *j, const char *metric, int32_t w)
{
	const struct dp_result *r = j->files.result;
	int k = dp_result_metric(r, metric);
	double sum = 0, v;

	for (int i = 0; i < j->spec->trainer.runs; i++) {
		bool told = k >= 0 && (w == DP_OWN ? dp_result_value(r, (size_t)i, (size_t)k, &v)
						   : dp_result_value_at(r, (size_t)i, (size_t)w,
									(size_t)k, &v));

		/* a run that is no share is none in the mean either */
		if (!told || !(v >= 0 && v <= 1))
			return NAN;
		sum += v;
	}
	return sum / j->spec->trainer.runs;
}

static double released_value(const struct job *j, const char *metric, int32_t w, double at)
{
	return dp_release_value(dp_study_release(j->spec, metric), j->home->state->secret, metric,
				j->trial, at, released_mean(j, metric, w));
}

/* Has an attempt before it released this waypoint? It is not released again: two values
 * of one point would tell more than one. */
static bool released_already(const struct job *j, const char *metric, uint32_t w)
{
	const struct dp_way *way = job_trial(j)->way;
	int column = dp_study_metric(j->home->state, metric);

	return way && way->runs && w < way->n && column >= 0 && (uint32_t)column < way->nmetrics &&
	       !isnan(way->runs[w * way->nmetrics + (uint32_t)column]);
}

static bool released_way(const struct job *j, bool counted, struct reported *t, struct dp_event *e)
{
	size_t n = job_waypoints(j, t->waypoints), at = 0;

	if (n == 0 || !attempt_way_counts(j, e->end, counted))
		return true;
	t->ways = calloc(n * e->nmetrics, sizeof *t->ways);
	if (!t->ways)
		return false;
	for (uint32_t w = 0; w < n; w++)
		for (uint32_t k = 0; k < e->nmetrics; k++)
			t->ways[at++] = released_already(j, t->names[k], w)
						? NAN
						: released_value(j, t->names[k], (int32_t)w,
								 t->waypoints[w]);
	e->waypoints = t->waypoints;
	e->nwaypoints = (uint32_t)n;
	e->ways = t->ways;
	e->nways = (uint32_t)at;
	e->way_privacy = j->files.way_privacy;
	e->nway_privacy = j->files.nway_privacy;
	return true;
}

bool released_fill(const struct job *j, bool counted, struct reported *t, struct dp_event *e)
{
	const struct dp_study *spec = j->spec;
	bool ended = e->end == DP_END_OK || e->end == DP_END_DIVERGED;

	t->names = calloc(spec->nobjectives, sizeof *t->names);
	t->metrics = calloc(spec->nobjectives, sizeof *t->metrics);
	t->runs = calloc(1, sizeof *t->runs);
	if (!t->names || !t->metrics || !t->runs)
		return false;
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			t->names[e->nmetrics++] = spec->objectives[i].metric;
	for (uint32_t k = 0; k < e->nmetrics; k++)
		t->metrics[k] = ended ? released_value(j, t->names[k], DP_OWN, NAN) : NAN;
	e->metric_names = t->names;
	e->runs = t->runs;
	e->nruns = 1;
	e->metrics = t->metrics;
	e->declared = (struct dp_declared){ NULL, NAN, NAN, NAN, NAN };
	/* a digest of few possible values tells which it was; so may these */
	e->exit.cpu = 0;
	e->exit.peak_memory = e->exit.stdout_bytes = e->exit.stderr_bytes = 0;
	return released_way(j, counted, t, e);
}

/* ---- the class ---- */

const char *released_no_share(const struct job *j)
{
	const struct dp_study *spec = j->spec;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric &&
		    isnan(released_mean(j, spec->objectives[i].metric, DP_OWN)))
			return spec->objectives[i].metric;
	return NULL;
}

void released_why(char *why, size_t room)
{
	snprintf(why, room,
		 "what the trainer told cannot be used, and what it was is not kept, "
		 "because the study releases noisy values only "
		 "(objectives.NAME.release); the trainer by hand, with the request.json "
		 "of the attempt, shows it");
}

/* ---- the files ---- */

/* Folders of attempts whose end is in the journal. */
struct forgotten {
	uv_work_t work;
	struct dpd *d;
	char **folders; /* (n) */
	size_t n, room;
	char trouble[300]; /* "": they are gone */
};

static void forgotten_free(struct forgotten *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->folders[i]);
	free(f->folders);
	free(f);
}

/* Takes the path over; false without memory, or without a path. */
static bool forgotten_add(struct forgotten *f, char *folder)
{
	if (folder && f->n == f->room) {
		size_t room = f->room ? 2 * f->room : 1;
		char **grown = realloc(f->folders, room * sizeof *grown);

		if (grown) {
			f->folders = grown;
			f->room = room;
		}
	}
	if (!folder || f->n == f->room) {
		free(folder);
		return false;
	}
	f->folders[f->n++] = folder;
	return true;
}

/* On a worker thread. */
static void forgotten_work(uv_work_t *w)
{
	static const char *const names[] = { "result.jsonl", "stdout", "stderr" };
	struct forgotten *f = w->data;

	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < DP_COUNT(names); k++) {
			char *path = dp_path_join(f->folders[i], names[k]);
			int e = !path ? ENOMEM : unlink(path) == 0 ? 0 : errno;

			if (e != 0 && e != ENOENT && e != ENOTDIR)
				snprintf(f->trouble, sizeof f->trouble,
					 "%.200s/%s cannot be removed: %s", f->folders[i], names[k],
					 strerror(e));
			free(path);
		}
}

static void forgotten_done(uv_work_t *w, int status)
{
	struct forgotten *f = w->data;

	(void)status; /* work is never cancelled */
	if (f->trouble[0])
		log_line(&f->d->log, LOG_WARN, "",
			 "%s; it has exact values of a study that releases noisy ones "
			 "only, and is tried again when the daemon starts",
			 f->trouble);
	forgotten_free(f);
}

/* Their ends are on the disk. */
static void forgotten_start(struct dpd *d, void *arg)
{
	struct forgotten *f = arg;

	if (d->closed) {
		forgotten_free(f); /* the next daemon does it */
		return;
	}
	f->d = d;
	f->work.data = f;
	uv_queue_work(&d->loop, &f->work, forgotten_work, forgotten_done);
}

void released_forget(const struct job *j)
{
	struct forgotten *f = calloc(1, sizeof *f);

	if (!f || !forgotten_add(f, strdup(j->folder)))
		record_give_up(j->d, "to forget exact values");
	after_commit(j->d, forgotten_start, f);
}

static bool forgotten_gather(struct forgotten *f, const struct study *h)
{
	const struct dp_study_state *s = h->state;
	char *folder = study_folder(h), below[64];
	bool ok = folder != NULL;

	for (uint32_t i = 0; ok && i < s->ntrials; i++)
		for (uint32_t k = 0; ok && k < s->trials[i]->nattempts; k++) {
			const struct dp_attempt *a = &s->trials[i]->attempts[k];

			if (a->end == DP_END_NONE)
				continue;
			dp_attempt_folder(i, a->run, a->number, below);
			ok = forgotten_add(f, dp_path_join(folder, below));
		}
	free(folder);
	return ok;
}

void released_sweep(struct dpd *d)
{
	struct forgotten *f = calloc(1, sizeof *f);
	bool ok = f != NULL;

	for (uint32_t i = 0; ok && i < d->nstudies; i++)
		if (dp_study_releases(d->studies[i]->state->spec))
			ok = forgotten_gather(f, d->studies[i]);
	if (!ok)
		record_give_up(d, "to forget exact values");
	if (f->n)
		after_commit(d, forgotten_start, f);
	else
		forgotten_free(f);
}
