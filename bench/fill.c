/* fill.c - writes a journal as a long life would leave it, for the replay benchmark.
 *   fill STATE STUDIES EVALUATIONS      evaluations over all studies */
#include "base/num.h"
#include "base/rng.h"
#include "journal/journal.h"
#include "study/study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dp_journal *journal;
static uint32_t seq;

static void fail(const struct dp_err *err)
{
	fprintf(stderr, "fill: %s\n", err->msg);
	exit(1);
}

static void wake(void *arg)
{
	(void)arg;
}

static void write_event(uint32_t study, struct dp_event e)
{
	struct dp_buf bytes = DP_BUF_INIT;
	struct dp_err err;

	e.study = study;
	e.seq = seq++;
	e.time = dp_now_us();
	if (dp_event_encode(&e, &bytes, &err) != DP_OK)
		fail(&err);
	if (!dp_journal_append(journal, study, e.seq, bytes.data, bytes.len)) {
		dp_fail(&err, DP_E_NOMEM, "out of memory");
		fail(&err);
	}
	dp_buf_free(&bytes);
}

/* The records of one evaluation as the daemon writes them: two runs, three metrics. */
static void evaluation(uint32_t study, uint32_t trial)
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
	write_event(study, (struct dp_event){ .type = DP_EV_TRIAL_PROPOSED,
					      .trial = trial,
					      .source = "random",
					      .basis = seq,
					      .params = x,
					      .nparams = 5 });
	write_event(study, (struct dp_event){ .type = DP_EV_ATTEMPT_PLANNED,
					      .trial = trial,
					      .run = DP_RUN_ALL });
	write_event(study, (struct dp_event){ .type = DP_EV_ATTEMPT_ENDED,
					      .trial = trial,
					      .run = DP_RUN_ALL,
					      .end = DP_END_OK,
					      .counted = true,
					      .metric_names = names,
					      .nmetrics = 3,
					      .runs = runs,
					      .nruns = 2,
					      .metrics = metrics,
					      .exit = { .kind = DP_EXIT_CODE,
							.start = 1.79e9,
							.end = 1.79e9 + 1,
							.cpu = 0.9,
							.peak_memory = 10 << 20,
							.stdout_bytes = 100 } });
	write_event(study, (struct dp_event){ .type = DP_EV_TRIAL_ENDED,
					      .trial = trial,
					      .state = "ok",
					      .objectives = y,
					      .nobjectives = 2 });
}

int main(int argc, char **argv)
{
	struct dp_journal_options opt = { 0 };
	uint32_t studies = argc > 3 ? (uint32_t)atoi(argv[2]) : 1000;
	uint32_t each = argc > 3 ? (uint32_t)atoi(argv[3]) / studies : 100;
	char folder[4096], text[1000], name[32];
	struct dp_err err;

	if (argc < 2)
		return 2;
	snprintf(folder, sizeof folder, "%s/journal", argv[1]);
	if (dp_journal_open(folder, &opt, &journal, &err) != DP_OK ||
	    dp_journal_start(journal, wake, NULL, &err) != DP_OK)
		fail(&err);
	for (uint32_t s = 1; s <= studies; s++) {
		snprintf(name, sizeof name, "study-%u", s);
		snprintf(text, sizeof text,
			 "study: %s\nseed: %u\ntrainer: {command: [dpareto-train, "
			 "linear], "
			 "runs: 2}\nparameters:\n"
			 "  epochs: {type: int, range: [1, 64]}\n"
			 "  lot_size: {type: int, range: [8, 512]}\n"
			 "  learning_rate: {type: float, range: [5e-4, 5e-2], scale: "
			 "log}\n"
			 "  noise_variance: {type: float, range: [0.1, 16]}\n"
			 "  clip: {type: float, range: [0.1, 4]}\n"
			 "objectives:\n  epsilon: {metric: loss}\n  error: {metric: "
			 "accuracy}\n"
			 "anti_ideal: {epsilon: 10, error: 1}\n"
			 "search: {method: random, evaluations: %u, parallel: 2}\n",
			 name, s, each);
		seq = 0;
		write_event(s, (struct dp_event){ .type = DP_EV_STUDY_CREATED,
						  .name = name,
						  .text = text,
						  .path = "/bench.yaml",
						  .dir = "/" });
		for (uint32_t t = 0; t < each; t++)
			evaluation(s, t);
		write_event(s, (struct dp_event){ .type = DP_EV_STUDY_MOVED,
						  .state = "finished" });
	}
	dp_journal_close(journal);
	return 0;
}
