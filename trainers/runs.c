/* runs.c - the utility of a point: trains and scores every run of a request. */
#include "trainers/trainers.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct runs {
	const struct model *model;
	void *self;
	const struct options *options;
	const struct dp_request *request;
	int fd;
	struct data data;
	struct waypoints waypoints;
	struct gap gap;
	size_t nweights;
	float *w;
};

/* The run that is being trained. */
struct running {
	const struct runs *runs;
	uint32_t i;   /* place in the request */
	double began; /* processor time; later by every second spent on scores since */
};

int need_two_classes(const struct rows *rows, struct dp_err *err)
{
	if (rows->nclasses == 2)
		return DP_OK;
	return dp_fail(err, DP_E_INVALID, "this trainer is for two classes, and the data have %u",
		       (unsigned)rows->nclasses);
}

/* Every run has streams of its own, and shares no lot with another: a mean over runs
 * with common lots is hardly better than one of them. */
static int open_streams(const struct runs *r, uint32_t i, struct streams *s, struct dp_err *err)
{
	uint64_t seed = r->request->seeds[i];
	int code;

	noise_seeded(&s->lots, seed, NOISE_LOTS);
	noise_seeded(&s->gradient, seed, NOISE_GRADIENT);
	noise_seeded(&s->start, seed, NOISE_START);
	if (!r->options->secure)
		return DP_OK;
	/* who knows the lots knows more than the accountants assume */
	code = noise_secure(&s->lots, err);
	return code == DP_OK ? noise_secure(&s->gradient, err) : code;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The score on some records; NaN throughout if the training diverged. */
static int runs_score(const struct runs *r, const struct rows *rows, struct score *out,
		      struct dp_err *err)
{
	int code = r->model->score(r->self, rows, r->w, out, err);

	if (code == DP_OK && (!isfinite(out->loss) || !all_finite(r->w, r->nweights)))
		*out = (struct score){ NAN, NAN };
	return code;
}

/* The gap on the same records as a score; NaN where the training diverged. */
static double runs_gap(const struct runs *r, const struct rows *rows, const struct score *score)
{
	return isnan(score->accuracy) ? NAN : r->model->gap(rows, r->gap.feature, r->w);
}

/* False without memory. */
static bool runs_add_gap(const struct runs *r, const struct rows *scored, const struct score *here,
			 const struct score *test, json_t *metrics)
{
	const struct rows *last = &r->data.test;

	return json_object_set_new(metrics, r->gap.name, dp_json_real(runs_gap(r, scored, here))) ==
		       0 &&
	       (scored == last || json_object_set_new(metrics, r->gap.test,
						      dp_json_real(runs_gap(r, last, test))) == 0);
}

/* What is reported of the weights as they are. */
static int runs_metrics(const struct runs *r, double seconds, json_t **out, struct dp_err *err)
{
	const struct data *d = &r->data;
	bool holdout = d->validation.n > 0;
	const struct rows *scored = holdout ? &d->validation : &d->test;
	struct score here, test = { 0 };
	json_t *metrics;
	int code = runs_score(r, scored, &here, err);

	if (code == DP_OK && holdout)
		code = runs_score(r, &d->test, &test, err);
	if (code != DP_OK)
		return code;
	metrics = json_pack("{s:o, s:o, s:o, s:o, s:I}", "accuracy", dp_json_real(here.accuracy),
			    "loss", dp_json_real(here.loss), "seconds", dp_json_real(seconds),
			    "majority_accuracy", dp_json_real(d->majority), "test_records",
			    (json_int_t)scored->n);
	if (!metrics ||
	    (holdout &&
	     json_object_set_new(metrics, "test_accuracy", dp_json_real(test.accuracy)) != 0) ||
	    (r->gap.told && !runs_add_gap(r, scored, &here, &test, metrics))) {
		json_decref(metrics);
		return dp_fail(err, DP_E_NOMEM, "no memory for a result");
	}
	*out = metrics;
	return DP_OK;
}

/* `at` is 0 for the run's own result. */
static int runs_report(const struct running *now, uint32_t at, double seconds, struct dp_err *err)
{
	const struct runs *r = now->runs;
	uint32_t run = r->request->runs[now->i];
	json_t *metrics = NULL;
	int code = runs_metrics(r, seconds, &metrics, err);

	if (code != DP_OK)
		return code;
	code = at ? dp_report_at(r->fd, run, at, metrics, err)
		  : dp_report_run(r->fd, run, metrics, err);
	json_decref(metrics);
	return code;
}

/* A result on the way. What the test takes is not counted as training. */
static int runs_look(void *who, uint32_t epochs, struct dp_err *err)
{
	struct running *now = who;
	double here = cpu_seconds();
	int code = runs_report(now, epochs, here - now->began, err);

	now->began += cpu_seconds() - here;
	return code;
}

static int runs_one(const struct runs *r, uint32_t i, struct pulse *pulse, struct dp_err *err)
{
	struct running now = { .runs = r, .i = i, .began = cpu_seconds() };
	const struct walk walk = {
		.epochs = r->waypoints.epochs, .n = r->waypoints.n, .look = runs_look, .who = &now
	};
	struct streams streams;
	int code = open_streams(r, i, &streams, err);

	if (code == DP_OK)
		code = r->model->train(r->self, &r->data.train, &streams, walk.n > 0 ? &walk : NULL,
				       pulse, r->w, err);
	return code == DP_OK ? runs_report(&now, 0, cpu_seconds() - now.began, err) : code;
}

static int runs_all(const struct runs *r, struct pulse *pulse, struct dp_err *err)
{
	int code = DP_OK;

	for (uint32_t i = 0; i < r->request->nruns && code == DP_OK; i++)
		code = runs_one(r, i, pulse, err);
	return code == DP_OK ? dp_report_done(r->fd, err) : code;
}

/* The feature of a gap must tell apart the records that are scored. */
static int runs_find_gap(struct runs *r, struct dp_err *err)
{
	const struct data *d = &r->data;
	int code = gap_read(r->options->report, d->train.nfeatures, &r->gap, err);

	if (code == DP_OK && d->validation.n > 0)
		code = gap_check(&r->gap, &d->validation, err);
	return code == DP_OK ? gap_check(&r->gap, &d->test, err) : code;
}

/* With the data open. */
static int runs_serve(struct runs *r, struct dp_err *err)
{
	struct plan plan = { 0 };
	struct pulse pulse;
	int code = runs_find_gap(r, err);

	if (code == DP_OK)
		code = r->model->prepare(r->self, r->options, r->request, &r->data.train, &plan,
					 err);
	if (code == DP_OK)
		code = plan.declared ? dp_report_declare(r->fd, plan.declared, err)
				     : dp_fail(err, DP_E_NOMEM, "no memory for a declaration");
	json_decref(plan.declared);
	if (code != DP_OK)
		return code;
	r->nweights = plan.nweights;
	r->w = aligned_alloc(64, (plan.nweights * sizeof *r->w + 63) / 64 * 64);
	if (!r->w)
		return dp_fail(err, DP_E_NOMEM, "no memory for %zu weights", plan.nweights);
	pulse_start(&pulse, r->fd, plan.steps * r->request->nruns);
	code = runs_all(r, &pulse, err);
	free(r->w);
	pulse_end(&pulse);
	return code;
}

int model_runs(const struct trainer *t, const struct model *model, void *self, int argc,
	       char **argv, struct dp_err *err)
{
	struct options options;
	struct dp_request request = { 0 };
	struct runs r = { .model = model, .self = self, .options = &options, .fd = -1 };
	int code = options_read(t, argc, argv, &options, err);

	if (code == DP_OK)
		code = trainer_request(&options, &request, &r.fd, err);
	if (code == DP_OK)
		code = waypoints_read(t, &request, &r.waypoints, err);
	if (code == DP_OK) {
		r.request = &request;
		code = data_open(&r.data, &options.data, err);
	}
	if (code == DP_OK) {
		code = runs_serve(&r, err);
		data_close(&r.data);
	}
	if (r.fd >= 0)
		close(r.fd);
	waypoints_clear(&r.waypoints);
	dp_request_clear(&request);
	options_clear(&options);
	return code;
}
