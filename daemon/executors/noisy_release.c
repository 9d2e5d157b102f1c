/* noisy_release.c - attempts of studies that publish metrics only with noise
 * (objectives.NAME.release). The record of their end has the noisy means and nothing else of the
 * trainer. Then its files are removed. */
#include "daemon/executors/job.h"

#include "base/fs.h"
#include "state/state_json.h"
#include "study/metric_release.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the record ---- */

/* The mean of a metric over the runs at the w-th checkpoint, or at the end (DP_CHECKPOINT_FINAL);
 * NaN unless every run reported it. */
static double noisy_release_mean(const struct job *j, const char *metric, int32_t w)
{
	const struct dp_result_reader *r = j->files.result;
	int k = dp_result_reader_find_metric(r, metric);
	double sum = 0, v;

	for (int i = 0; i < j->spec->trainer.runs; i++) {
		bool told = k >= 0 &&
			    (w == DP_CHECKPOINT_FINAL
				     ? dp_result_reader_run_value(r, (size_t)i, (size_t)k, &v)
				     : dp_result_reader_checkpoint_value(r, (size_t)i, (size_t)w,
									 (size_t)k, &v));

		/* a value outside [0, 1] makes the mean invalid */
		if (!told || !(v >= 0 && v <= 1))
			return NAN;
		sum += v;
	}
	return sum / j->spec->trainer.runs;
}

static double noisy_release_value(const struct job *j, const char *metric, int32_t w, double at)
{
	return dp_metric_release_value(dp_study_find_metric_release(j->spec, metric),
				       j->study->state->secret, metric, j->trial, at,
				       noisy_release_mean(j, metric, w));
}

/* True if an earlier attempt released this checkpoint. A second release would cost privacy. */
static bool noisy_release_is_done(const struct job *j, const char *metric, uint32_t w)
{
	const struct dp_checkpoints *way = job_trial(j)->checkpoints;
	int column = dp_state_metric_column(j->study->state, metric);

	return way && way->run_metrics && w < way->count && column >= 0 &&
	       (uint32_t)column < way->nmetrics &&
	       !isnan(way->run_metrics[w * way->nmetrics + (uint32_t)column]);
}

static void noisy_release_fill_checkpoints(const struct job *j, bool counted,
					   struct attempt_report *t,
					   struct dp_ev_attempt_ended *end)
{
	size_t n = job_list_checkpoints(j, t->checkpoints), at = 0;

	if (n == 0 || !attempt_checkpoints_are_valid(j, end->end_class, counted))
		return;
	t->checkpoint_metrics = dp_calloc(n * end->nmetrics, sizeof *t->checkpoint_metrics);
	for (uint32_t w = 0; w < n; w++)
		for (uint32_t k = 0; k < end->nmetrics; k++)
			t->checkpoint_metrics[at++] =
				noisy_release_is_done(j, t->metric_names[k], w)
					? NAN
					: noisy_release_value(j, t->metric_names[k], (int32_t)w,
							      t->checkpoints[w]);
	end->checkpoints = t->checkpoints;
	end->ncheckpoints = (uint32_t)n;
	end->checkpoint_metrics = t->checkpoint_metrics;
	end->ncheckpoint_metrics = (uint32_t)at;
	end->checkpoint_epsilons = j->files.checkpoint_privacy;
	end->ncheckpoint_epsilons = j->files.n_checkpoint_privacy;
}

void noisy_release_fill(const struct job *j, bool counted, struct attempt_report *t,
			struct dp_ev_attempt_ended *end)
{
	const struct dp_study *spec = j->spec;
	bool ended = end->end_class == DP_END_OK || end->end_class == DP_END_DIVERGED;

	t->metric_names = dp_calloc(spec->nobjectives, sizeof *t->metric_names);
	t->metrics = dp_calloc(spec->nobjectives, sizeof *t->metrics);
	t->runs = dp_calloc(1, sizeof *t->runs);
	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric)
			t->metric_names[end->nmetrics++] = spec->objectives[i].metric;
	for (uint32_t k = 0; k < end->nmetrics; k++)
		t->metrics[k] =
			ended ? noisy_release_value(j, t->metric_names[k], DP_CHECKPOINT_FINAL, NAN)
			      : NAN;
	end->metric_names = t->metric_names;
	end->runs = t->runs;
	end->nruns = 1;
	end->metrics = t->metrics;
	end->declaration = (struct dp_declaration){ NULL, NAN, NAN, NAN, NAN };
	/* if few values are possible, a digest reveals the value; so may these */
	end->exit.cpu_seconds = 0;
	end->exit.peak_memory = end->exit.stdout_bytes = end->exit.stderr_bytes = 0;
	noisy_release_fill_checkpoints(j, counted, t, end);
}

/* ---- the class ---- */

const char *noisy_release_find_bad_metric(const struct job *j)
{
	const struct dp_study *spec = j->spec;

	for (size_t i = 0; i < spec->nobjectives; i++)
		if (spec->objectives[i].metric &&
		    isnan(noisy_release_mean(j, spec->objectives[i].metric, DP_CHECKPOINT_FINAL)))
			return spec->objectives[i].metric;
	return NULL;
}

void noisy_release_redact_reason(char *why, size_t room)
{
	snprintf(why, room,
		 "what the trainer told cannot be used, and what it was is not kept, "
		 "because the study releases noisy values only "
		 "(objectives.NAME.release); the trainer by hand, with the request.json "
		 "of the attempt, shows it");
}

/* ---- the files ---- */

struct exact_files {
	struct background_job job;
	struct daemon *daemon;
	char **directories; /* (n) */
	size_t n, capacity;
	char trouble[300]; /* "": removed */
};

static void exact_files_free(struct exact_files *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->directories[i]);
	free(f->directories);
	free(f);
}

/* Takes ownership of the path. */
static void exact_files_add(struct exact_files *f, char *directory)
{
	if (f->n == f->capacity) {
		f->capacity = f->capacity ? 2 * f->capacity : 1;
		f->directories =
			dp_reallocarray(f->directories, f->capacity, sizeof *f->directories);
	}
	f->directories[f->n++] = directory;
}

/* On a worker thread. */
static void exact_files_remove_worker(void *arg)
{
	static const char *const names[] = { "result.jsonl", "stdout", "stderr" };
	struct exact_files *f = arg;

	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < DP_COUNT(names); k++) {
			char *path = dp_path_join(f->directories[i], names[k]);
			int e = unlink(path) == 0 ? 0 : errno;

			if (e != 0 && e != ENOENT && e != ENOTDIR)
				snprintf(f->trouble, sizeof f->trouble,
					 "%.200s/%s cannot be removed: %s", f->directories[i],
					 names[k], strerror(e));
			free(path);
		}
}

static void on_exact_files_removed(void *arg)
{
	struct exact_files *f = arg;

	if (f->trouble[0])
		log_line(&f->daemon->log, LOG_WARN, "",
			 "%s; it has exact values of a study that releases noisy ones "
			 "only, and is tried again when the daemon starts",
			 f->trouble);
	exact_files_free(f);
}

static void exact_files_start_removal(struct daemon *d, void *arg)
{
	struct exact_files *f = arg;

	if (d->loop_ended) {
		exact_files_free(f); /* left to the next daemon */
		return;
	}
	f->daemon = d;
	background_job_start(d, &f->job, exact_files_remove_worker, on_exact_files_removed, f);
}

void noisy_release_remove_files(const struct job *j)
{
	struct exact_files *f = dp_calloc(1, sizeof *f);

	exact_files_add(f, dp_strdup(j->directory));
	after_commit(j->daemon, exact_files_start_removal, f);
}

static void exact_files_add_study(struct exact_files *f, const struct study *study)
{
	const struct dp_study_state *s = study->state;
	char *folder = study_folder(study), below[64];

	for (uint32_t i = 0; i < s->ntrials; i++)
		for (uint32_t k = 0; k < s->trials[i]->nattempts; k++) {
			const struct dp_attempt *a = &s->trials[i]->attempts[k];

			if (a->end_class == DP_END_NONE)
				continue;
			dp_attempt_format_dir(i, a->run, a->number, below);
			exact_files_add(f, dp_path_join(folder, below));
		}
	free(folder);
}

void noisy_release_remove_leftovers(struct daemon *d)
{
	struct exact_files *f = dp_calloc(1, sizeof *f);

	for (uint32_t i = 0; i < d->studies->n; i++)
		if (dp_study_has_metric_release(d->studies->list[i]->state->spec))
			exact_files_add_study(f, d->studies->list[i]);
	if (f->n)
		after_commit(d, exact_files_start_removal, f);
	else
		exact_files_free(f);
}
