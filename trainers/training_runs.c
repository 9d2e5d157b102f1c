/* training_runs.c - serves a request: trains and scores every run and reports the metrics. */
#include "trainers/trainers.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct training_runs {
	const struct model_ops *model;
	void *self;
	const struct trainer_options *options;
	const struct dp_trainer_request *request;
	int fd;
	struct data_splits data;
	struct checkpoint_epochs checkpoints;
	struct fairness_gap fairness_gap;
	size_t n_weights;
	float *weights;
};

struct active_run {
	const struct training_runs *runs;
	uint32_t run_index;       /* position in the request */
	double start_cpu_seconds; /* processor time at the start, plus the time spent on scores */
};

int need_two_classes(const struct sparse_rows *rows, struct dp_err *err)
{
	if (rows->nclasses == 2)
		return DP_OK;
	return dp_fail(err, DP_E_INVALID, "this trainer is for two classes, and the data have %u",
		       (unsigned)rows->nclasses);
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct reported_score {
	struct model_score score;
	double gap; /* fairness gap; 0 if none is requested */
};

/* Scores some records; all NaN if the training diverged. */
static struct reported_score training_score(const struct training_runs *r,
					    const struct sparse_rows *rows)
{
	struct reported_score s = { .gap = 0 };

	r->model->score(r->self, rows, r->weights, &s.score);
	if (!isfinite(s.score.loss) || !weights_are_finite(r->weights, r->n_weights))
		return (struct reported_score){ { NAN, NAN }, NAN };
	if (r->fairness_gap.is_requested)
		s.gap = r->model->fairness_gap(rows, r->fairness_gap.feature, r->weights);
	return s;
}

static json_t *training_collect_metrics(const struct training_runs *r, double seconds)
{
	const struct data_splits *d = &r->data;
	bool holdout = d->validation.n > 0;
	const struct sparse_rows *scored = holdout ? &d->validation : &d->test;
	struct reported_score here = training_score(r, scored);
	struct reported_score test = holdout ? training_score(r, &d->test) : here;
	json_t *metrics =
		json_pack("{s:o, s:o, s:o, s:o, s:I}", "accuracy",
			  dp_json_real(here.score.accuracy), "loss", dp_json_real(here.score.loss),
			  "seconds", dp_json_real(seconds), "majority_accuracy",
			  dp_json_real(d->majority_share), "test_records", (json_int_t)scored->n);

	if (holdout)
		json_object_set_new(metrics, "test_accuracy", dp_json_real(test.score.accuracy));
	if (r->fairness_gap.is_requested)
		json_object_set_new(metrics, r->fairness_gap.metric_name, dp_json_real(here.gap));
	if (r->fairness_gap.is_requested && holdout)
		json_object_set_new(metrics, r->fairness_gap.test_metric_name,
				    dp_json_real(test.gap));
	return metrics;
}

/* Reports a checkpoint after `at` epochs, or the result of the run if `at` is 0. */
static int training_report_result(const struct active_run *now, uint32_t at, double seconds,
				  struct dp_err *err)
{
	const struct training_runs *r = now->runs;
	uint32_t run = r->request->runs[now->run_index];
	json_t *metrics = training_collect_metrics(r, seconds);
	int code = at ? dp_trainer_report_checkpoint(r->fd, run, at, metrics, err)
		      : dp_trainer_report_run(r->fd, run, metrics, err);

	json_decref(metrics);
	return code;
}

/* Does not count the time of scoring as training. */
static int training_on_checkpoint(void *who, uint32_t epochs, struct dp_err *err)
{
	struct active_run *now = who;
	double here = cpu_seconds();
	int code = training_report_result(now, epochs, here - now->start_cpu_seconds, err);

	now->start_cpu_seconds += cpu_seconds() - here;
	return code;
}

/* Every run has its own random streams, so that no two share lots: a mean over runs with common
 * lots is hardly better than one run. */
static int training_run_one(const struct training_runs *r, uint32_t i,
			    struct training_progress *progress, struct dp_err *err)
{
	struct active_run now = { .runs = r, .run_index = i, .start_cpu_seconds = cpu_seconds() };
	const struct training_checkpoints checkpoints = { .epochs = r->checkpoints.epochs,
							  .n = r->checkpoints.n,
							  .on_checkpoint = training_on_checkpoint,
							  .arg = &now };
	struct run_streams streams;
	int code = DP_OK;

	noise_stream_init_seeded(&streams.lots, r->request->seeds[i], NOISE_LOTS);
	noise_stream_init_seeded(&streams.gradient, r->request->seeds[i], NOISE_GRADIENT);
	noise_stream_init_seeded(&streams.initial_weights, r->request->seeds[i],
				 NOISE_INIT_WEIGHTS);
	/* lots must be secret, too: the accountants assume unknown lots */
	if (r->options->secure)
		code = noise_stream_init_secure(&streams.lots, err);
	if (r->options->secure && code == DP_OK)
		code = noise_stream_init_secure(&streams.gradient, err);
	if (code == DP_OK)
		code = r->model->train(r->self, &r->data.train, &streams,
				       checkpoints.n > 0 ? &checkpoints : NULL, progress,
				       r->weights, err);
	return code == DP_OK
		       ? training_report_result(&now, 0, cpu_seconds() - now.start_cpu_seconds, err)
		       : code;
}

/* ---- --report gap:FEATURE ---- */

int fairness_gap_parse(const char *report, uint32_t nfeatures, struct fairness_gap *out,
		       struct dp_err *err)
{
	static const char kind[] = "gap:";
	int64_t number;

	*out = (struct fairness_gap){ 0 };
	if (!report)
		return DP_OK;
	if (strncmp(report, kind, strlen(kind)) != 0 ||
	    !dp_int_parse(report + strlen(kind), &number) || number < 1)
		return dp_fail(err, DP_E_USAGE,
			       "--report is gap:FEATURE, with the number of a feature "
			       "from 1, not '%s'",
			       report);
	if (number > nfeatures) {
		dp_fail(err, DP_E_USAGE, "--report %s: the data have %u features", report,
			(unsigned)nfeatures);
		return dp_hint(err, "features are numbered from 1, as in LIBSVM files");
	}
	*out = (struct fairness_gap){ .is_requested = true, .feature = (uint32_t)number - 1 };
	snprintf(out->metric_name, sizeof out->metric_name, "gap_%u", (unsigned)number);
	snprintf(out->test_metric_name, sizeof out->test_metric_name, "test_gap_%u",
		 (unsigned)number);
	return DP_OK;
}

int fairness_gap_check(const struct fairness_gap *g, const struct sparse_rows *rows,
		       struct dp_err *err)
{
	uint32_t with = 0;

	for (uint32_t i = 0; i < rows->n; i++)
		with += sparse_rows_has_feature(rows, i, g->feature);
	if (!g->is_requested || (with > 0 && with < rows->n))
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"--report gap:%u: %s of the %u records that are scored has feature %u",
		(unsigned)g->feature + 1, with ? "every one" : "none", (unsigned)rows->n,
		(unsigned)g->feature + 1);
	return dp_hint(err, "a gap needs a feature that some of them have and others have not");
}

/* ---- the request ---- */

static int training_serve_request(struct training_runs *r, struct dp_err *err)
{
	const struct data_splits *d = &r->data;
	struct training_plan plan = { 0 };
	struct training_progress progress;
	int code =
		fairness_gap_parse(r->options->report, d->train.nfeatures, &r->fairness_gap, err);

	/* scored records with and without the feature must exist */
	if (code == DP_OK && d->validation.n > 0)
		code = fairness_gap_check(&r->fairness_gap, &d->validation, err);
	if (code == DP_OK)
		code = fairness_gap_check(&r->fairness_gap, &d->test, err);
	if (code == DP_OK)
		code = r->model->prepare(r->self, r->options, r->request, &d->train, &plan, err);
	if (code == DP_OK)
		code = dp_trainer_report_declaration(r->fd, plan.declaration, err);
	json_decref(plan.declaration);
	if (code != DP_OK)
		return code;
	r->n_weights = plan.n_weights;
	r->weights = dp_aligned_alloc(plan.n_weights * sizeof *r->weights);
	training_progress_start(&progress, r->fd, plan.n_steps * r->request->nruns);
	for (uint32_t i = 0; i < r->request->nruns && code == DP_OK; i++)
		code = training_run_one(r, i, &progress, err);
	if (code == DP_OK)
		code = dp_trainer_report_done(r->fd, err);
	free(r->weights);
	training_progress_end(&progress);
	return code;
}

int model_run_request(const struct trainer *t, const struct model_ops *model, void *self, int argc,
		      char **argv, struct dp_err *err)
{
	struct trainer_options options;
	struct dp_trainer_request request = { 0 };
	struct training_runs r = { .model = model, .self = self, .options = &options, .fd = -1 };
	int code = trainer_options_parse(t, argc, argv, &options, err);

	if (code == DP_OK)
		code = trainer_request_open(&options, &request, &r.fd, err);
	if (code == DP_OK)
		code = checkpoint_epochs_read(t, &request, &r.checkpoints, err);
	if (code == DP_OK) {
		r.request = &request;
		code = data_splits_open(&r.data, &options.data, err);
	}
	if (code == DP_OK) {
		code = training_serve_request(&r, err);
		data_splits_close(&r.data);
	}
	if (r.fd >= 0)
		close(r.fd);
	free(r.checkpoints.epochs);
	dp_trainer_request_clear(&request);
	trainer_options_clear(&options);
	return code;
}
