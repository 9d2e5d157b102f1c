/* fill.c - writes a journal as a long life would leave it, for benchmarks of what reads
 * it. fill STATE STUDIES EVALUATIONS [sgd]      evaluations over all studies sgd: the
 * first objective is the epsilon of DP-SGD, and utility depends on the point. */
#include "base/units.h"
#include "base/rng.h"
#include "journal/journal.h"
#include "study/accounting.h"
#include "study/diagnostics.h"
#include "study/study.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dp_journal *journal;
static uint32_t seq;
static struct dp_study *spec; /* with sgd: to compute epsilon with */
static double clock_start;    /* seconds; an evaluation takes one of them */

static void fill_fail(const struct dp_err *err)
{
	fprintf(stderr, "fill: %s\n", err->msg);
	exit(1);
}

static void fill_wake(void *arg)
{
	(void)arg;
}

static void write_event(uint32_t study, struct dp_event e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e.study = study;
	e.seq = seq++;
	e.time_us = spec ? (int64_t)(clock_start * 1e6) + e.trial * 1000000 : dp_now_us();
	if (dp_event_encode(&e, &bytes, &err) != DP_OK)
		fill_fail(&err);
	if (!dp_journal_append(journal, study, e.seq, bytes.data, bytes.len)) {
		dp_fail(&err, DP_E_NOMEM, "out of memory");
		fill_fail(&err);
	}
	dp_buf_free(&bytes);
}

/* A point of the study, and a utility that more noise, fewer epochs and clipping
 * hurt. */
static void private_point(struct dp_rng *r, double *x, double *metrics, double *y)
{
	struct dp_epsilon e;
	struct dp_err err;
	double loss;

	x[0] = 1 + floor(64 * x[0]);
	x[1] = 8 + floor(505 * x[1]);
	x[2] = 5e-4 * pow(100, x[2]);
	x[3] = 0.1 * pow(160, x[3]);
	x[4] = 0.1 * pow(40, x[4]);
	if (dp_objective_epsilon(spec, 0, x, &e, &err) != DP_OK)
		fill_fail(&err);
	loss = 0.15 + 0.3 / (1 + x[0] * x[2] * 40) + 0.4 * sqrt(x[3]) * x[4] / x[1];
	y[1] = 0;
	for (int run = 0; run < 2; run++) {
		metrics[3 * run] = fmin(0.95, loss) + 0.004 * dp_rng_normal(r);
		y[1] += metrics[3 * run] / 2;
	}
	y[0] = e.epsilon;
}

/* The records of one evaluation as the daemon writes them: two runs, three metrics. */
static void fill_evaluation(uint32_t study, uint32_t trial)
{
	static const char *const names[] = { "accuracy", "loss", "seconds" };
	static const uint32_t runs[] = { 0, 1 };
	struct dp_rng r;
	double x[5], metrics[6], y[2];

	dp_rng_init(&r, study, DP_RNG_TEST, trial, 0);
	for (int i = 0; i < 5; i++)
		x[i] = dp_rng_uniform(&r);
	for (int i = 0; i < 6; i++)
		metrics[i] = dp_rng_uniform(&r);
	y[0] = 10 * x[0];
	y[1] = metrics[0];
	if (spec)
		private_point(&r, x, metrics, y);
	write_event(study, (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
					      .trial = trial,
					      .trial_proposed = { .point = { .source = "random",
									     .params = x,
									     .nparams = 5 },
								  .conditioned_on = seq } });
	write_event(study, (struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
					      .trial = trial,
					      .run = DP_RUN_ALL });
	write_event(study,
		    (struct dp_event){
			    .type = DP_EV_ATTEMPT_ENDED,
			    .trial = trial,
			    .run = DP_RUN_ALL,
			    .attempt_ended = { .end_class = DP_END_OK,
					       .charged = true,
					       .metric_names = names,
					       .nmetrics = 3,
					       .runs = runs,
					       .nruns = 2,
					       .metrics = metrics,
					       .exit = { .kind = DP_EXIT_CODE,
							 .start_seconds = clock_start + trial,
							 .end_seconds = clock_start + trial + 1,
							 .cpu_seconds = 0.9,
							 .peak_memory = 10 << 20,
							 .stdout_bytes = 100 } } });
	write_event(study,
		    (struct dp_event){
			    .type = DP_EV_TRIAL_ENDED,
			    .trial = trial,
			    .trial_ended = { .status = "ok", .objectives = y, .nobjectives = 2 } });
}

static const char any_objective[] = "{metric: loss}";
static const char sgd_objective[] =
	"{privacy: {mechanism: dp-sgd, sampling: without-replacement, records: 30956, "
	"lot: lot_size, epochs: epochs, noise_variance: noise_variance, delta: 1e-5, "
	"accountant: rdp}}";

static void study_text(char *text, size_t room, const char *name, uint32_t seed,
		       uint32_t evaluations, bool sgd)
{
	snprintf(text, room,
		 "study: %s\nseed: %u\ndata: public\ntrainer: {command: [dpareto-train, "
		 "linear], runs: "
		 "2}\nparameters:\n"
		 "  epochs: {type: int, range: [1, 64]}\n"
		 "  lot_size: {type: int, range: [8, 512]}\n"
		 "  learning_rate: {type: float, range: [5e-4, 5e-2], scale: log}\n"
		 "  noise_variance: {type: float, range: [0.1, 16]}\n"
		 "  clip: {type: float, range: [0.1, 4]}\n"
		 "objectives:\n  epsilon: %s\n  error: {metric: accuracy}\n"
		 "anti_ideal: {epsilon: 10, error: 1}\n"
		 "search: {method: random, evaluations: %u, parallel: 2}\n",
		 name, seed, sgd ? sgd_objective : any_objective, evaluations);
}

int main(int argc, char **argv)
{
	struct dp_journal_options opt = { 0 };
	uint32_t studies = argc > 3 ? (uint32_t)atoi(argv[2]) : 1000;
	uint32_t each = argc > 3 ? (uint32_t)atoi(argv[3]) / studies : 100;
	bool sgd = argc > 4 && strcmp(argv[4], "sgd") == 0;
	char folder[4096], text[1200], name[32];
	struct dp_diagnostics problems = { 0 };
	struct dp_err err;

	if (argc < 2)
		return 2;
	clock_start = sgd ? (double)dp_now_us() / 1e6 : 1.79e9;
	snprintf(folder, sizeof folder, "%s/journal", argv[1]);
	if (dp_journal_open(folder, &opt, &journal, &err) != DP_OK ||
	    dp_journal_start_writer(journal, fill_wake, NULL, &err) != DP_OK)
		fill_fail(&err);
	for (uint32_t s = 1; s <= studies; s++) {
		snprintf(name, sizeof name, "study-%u", s);
		study_text(text, sizeof text, name, s, each, sgd);
		if (sgd && !spec &&
		    dp_study_parse(text, strlen(text), "bench", "/", &spec, &problems, &err) !=
			    DP_OK)
			fill_fail(&err);
		seq = 0;
		write_event(s, (struct dp_event){ .type = DP_EV_STUDY_CREATED,
						  .study_created = { .name = name,
								     .text = text,
								     .path = "/bench.yaml",
								     .dir = "/" } });
		for (uint32_t t = 0; t < each; t++)
			fill_evaluation(s, t);
		write_event(s, (struct dp_event){ .type = DP_EV_STUDY_MOVED,
						  .study_moved = { .state = "finished" } });
	}
	dp_journal_close(journal);
	dp_diagnostics_free(&problems);
	dp_study_free(spec);
	return 0;
}
