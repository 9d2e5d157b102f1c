/* oracle.c - the utility of a point: trains and scores every run of a request. */
#include "trainers/trainers.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct oracle {
	const struct model *model;
	void *self;
	const struct options *options;
	const struct dp_request *request;
	int fd;
	struct data data;
	size_t nweights;
	float *w;
};

int need_two_classes(const struct rows *rows, struct dp_err *err)
{
	if (rows->nclasses == 2)
		return DP_OK;
	return dp_fail(err, DP_E_INVALID,
		       "this trainer is for two classes, and the data have %u",
		       (unsigned)rows->nclasses);
}

/* Every run has streams of its own, and shares no lot with another: a mean over runs
 * with common lots is hardly better than one of them. */
static int open_streams(const struct oracle *o, uint32_t i, struct streams *s,
			struct dp_err *err)
{
	uint64_t seed = o->request->seeds[i];
	int code;

	noise_seeded(&s->lots, seed, NOISE_LOTS);
	noise_seeded(&s->gradient, seed, NOISE_GRADIENT);
	noise_seeded(&s->start, seed, NOISE_START);
	if (!o->options->secure)
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
static int score(const struct oracle *o, const struct rows *rows, struct score *out,
		 struct dp_err *err)
{
	int code = o->model->score(o->self, rows, o->w, out, err);

	if (code == DP_OK && (!isfinite(out->loss) || !all_finite(o->w, o->nweights)))
		*out = (struct score){ NAN, NAN };
	return code;
}

static int report(const struct oracle *o, uint32_t i, double seconds, struct dp_err *err)
{
	const struct data *d = &o->data;
	bool holdout = d->validation.n > 0;
	const struct rows *scored = holdout ? &d->validation : &d->test;
	struct score here, test = { 0 };
	json_t *metrics;
	int code;

	code = score(o, scored, &here, err);
	if (code == DP_OK && holdout)
		code = score(o, &d->test, &test, err);
	if (code != DP_OK)
		return code;
	metrics = json_pack("{s:o, s:o, s:o, s:o, s:I}", "accuracy",
			    dp_json_real(here.accuracy), "loss", dp_json_real(here.loss),
			    "seconds", dp_json_real(seconds), "majority_accuracy",
			    dp_json_real(d->majority), "test_records",
			    (json_int_t)scored->n);
	if (!metrics ||
	    (holdout && json_object_set_new(metrics, "test_accuracy",
					    dp_json_real(test.accuracy)) != 0))
		code = dp_fail(err, DP_E_NOMEM, "no memory for a result");
	else
		code = dp_report_run(o->fd, o->request->runs[i], metrics, err);
	json_decref(metrics);
	return code;
}

static int all_runs(const struct oracle *o, struct pulse *pulse, struct dp_err *err)
{
	int code = DP_OK;

	for (uint32_t i = 0; i < o->request->nruns && code == DP_OK; i++) {
		double began = cpu_seconds();
		struct streams streams;

		code = open_streams(o, i, &streams, err);
		if (code == DP_OK)
			code = o->model->train(o->self, &o->data.train, &streams, pulse,
					       o->w, err);
		if (code == DP_OK)
			code = report(o, i, cpu_seconds() - began, err);
	}
	return code == DP_OK ? dp_report_done(o->fd, err) : code;
}

/* With the data open. */
static int serve(struct oracle *o, struct dp_err *err)
{
	struct plan plan = { 0 };
	struct pulse pulse;
	int code = o->model->prepare(o->self, o->options, o->request, &o->data.train,
				     &plan, err);

	if (code == DP_OK)
		code = plan.declared
			       ? dp_report_declare(o->fd, plan.declared, err)
			       : dp_fail(err, DP_E_NOMEM, "no memory for a declaration");
	json_decref(plan.declared);
	if (code != DP_OK)
		return code;
	o->nweights = plan.nweights;
	o->w = aligned_alloc(64, (plan.nweights * sizeof *o->w + 63) / 64 * 64);
	if (!o->w)
		return dp_fail(err, DP_E_NOMEM, "no memory for %zu weights",
			       plan.nweights);
	pulse_start(&pulse, o->fd, plan.steps * o->request->nruns);
	code = all_runs(o, &pulse, err);
	free(o->w);
	pulse_end(&pulse);
	return code;
}

int oracle_run(const struct trainer *t, const struct model *model, void *self, int argc,
	       char **argv, struct dp_err *err)
{
	struct options options;
	struct dp_request request = { 0 };
	struct oracle o = { .model = model, .self = self, .options = &options, .fd = -1 };
	int code = options_read(t, argc, argv, &options, err);

	if (code == DP_OK)
		code = trainer_request(&options, &request, &o.fd, err);
	if (code == DP_OK) {
		o.request = &request;
		code = data_open(&o.data, &options.data, err);
	}
	if (code == DP_OK) {
		code = serve(&o, err);
		data_close(&o.data);
	}
	if (o.fd >= 0)
		close(o.fd);
	dp_request_clear(&request);
	options_clear(&options);
	return code;
}
