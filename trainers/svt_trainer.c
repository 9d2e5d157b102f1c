/* svt_trainer.c - the trainer `svt`: the sparse vector technique, scored by F1.
 *
 * Avent et al. 2020, "Automatic Discovery of Privacy-Utility Pareto Fronts", Alg. 1: a
 * non-interactive form of Lyu et al. 2017, Alg. 7, for binary queries of sensitivity 1 and the
 * threshold 1/2. */
#include "trainers/trainers.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double svt_compute_f1(const struct svt_params *s, struct dp_rng *rng, unsigned char *answers)
{
	double b1 = s->noise_scale / (1 + cbrt(2 * (double)s->cutoff));
	double b2 = s->noise_scale - b1;
	double threshold;
	size_t hits = 0, false_hits = 0, missed, sum;

	/* Fisher-Yates: all orders are equally likely */
	memset(answers, 1, s->n_ones);
	memset(answers + s->n_ones, 0, s->n_queries - s->n_ones);
	for (size_t i = s->n_queries; i > 1; i--) {
		size_t j = dp_rng_below(rng, i);
		unsigned char t = answers[i - 1];

		answers[i - 1] = answers[j];
		answers[j] = t;
	}
	threshold = 0.5 + b1 * dp_rng_laplace(rng);
	for (size_t i = 0; i < s->n_queries; i++) {
		if (!(answers[i] + b2 * dp_rng_laplace(rng) >= threshold))
			continue;
		if (answers[i])
			hits++;
		else
			false_hits++;
		if ((int64_t)(hits + false_hits) >= s->cutoff)
			break;
	}
	missed = s->n_ones - hits;
	sum = 2 * hits + false_hits + missed;
	/* no ones and none reported: define F1 as 0 */
	return sum ? 2.0 * (double)hits / (double)sum : 0;
}

static int svt_run_all(const struct dp_trainer_request *q, int fd, struct svt_params *s,
		       struct dp_err *err)
{
	unsigned char *answers;
	int code;

	if ((code = param_read_integer(q, "C", 1, &s->cutoff, err)) != DP_OK ||
	    (code = param_read_number(q, "b", 0, true, &s->noise_scale, err)) != DP_OK)
		return code;
	answers = dp_malloc(s->n_queries);
	for (uint32_t i = 0; i < q->nruns && code == DP_OK; i++) {
		struct dp_rng rng;
		json_t *metrics;

		/* the seed is unique for each trial and run */
		dp_rng_init(&rng, q->seeds[i], DP_RNG_TRAIN, 0, 0);
		metrics = json_pack("{s:o}", "f1", dp_json_real(svt_compute_f1(s, &rng, answers)));
		code = dp_trainer_report_run(fd, q->runs[i], metrics, err);
		json_decref(metrics);
	}
	free(answers);
	return code == DP_OK ? dp_trainer_report_done(fd, err) : code;
}

static int svt_model_run(int argc, char **argv, struct dp_err *err)
{
	struct trainer_options options;
	struct dp_trainer_request request = { 0 };
	struct checkpoint_epochs none;
	struct svt_params s;
	int fd = -1, code = trainer_options_parse(&svt_trainer, argc, argv, &options, err);

	if (code == DP_OK)
		code = trainer_request_open(&options, &request, &fd, err);
	if (code == DP_OK) {
		s.n_queries = (size_t)options.queries;
		s.n_ones = (size_t)options.ones;
		code = checkpoint_epochs_read(&svt_trainer, &request, &none, err);
		if (code == DP_OK)
			code = svt_run_all(&request, fd, &s, err);
		close(fd);
	}
	dp_trainer_request_clear(&request);
	trainer_options_clear(&options);
	return code;
}

const struct trainer svt_trainer = {
	.name = "svt",
	.summary = "the sparse vector technique on random binary queries",
	.about = "Each run asks binary queries in random order and reports how well the\n"
		 "sparse vector technique (Avent et al. 2020, Alg. 1) finds those that are\n"
		 "one. Its privacy is the mechanism 'svt' of a study.\n",
	.params_help = "Parameters: C  stop after this many positive answers, a whole number "
		       "from 1\n"
		       "            b  total noise level, above 0\n"
		       "Metric:     f1  the F1 score, from 0 to 1\n",
	.option_groups = OPTIONS_SVT,
	.no_checkpoints_reason = "how its noise is shared out depends on C from the beginning",
	.run = svt_model_run,
};
