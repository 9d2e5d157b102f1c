/* noisy_sgd.c - parameters and declaration of trainings by noisy gradients. */
#include "trainers/trainers.h"

#include "base/json.h"

#include <math.h>

#define MULTIPLIER "noise_multiplier"
#define VARIANCE   "noise_variance"

/* Exactly one of the two says how much noise there is. */
static int read_noise(const struct dp_request *q, double *out, struct dp_err *err)
{
	bool multiplier = param_given(q, MULTIPLIER);
	int code;

	if (multiplier && param_given(q, VARIANCE))
		return dp_fail(err, DP_E_INVALID,
			       "the parameters '" MULTIPLIER "' and '" VARIANCE
			       "' exclude each other");
	if (!multiplier && !param_given(q, VARIANCE)) {
		dp_fail(err, DP_E_INVALID,
			"the request has neither '" MULTIPLIER "' nor '" VARIANCE "'");
		return dp_hint(err, "add one of them to the parameters of the study");
	}
	code = param_number(q, multiplier ? MULTIPLIER : VARIANCE, 0, true, out, err);
	if (code == DP_OK && !multiplier)
		*out = sqrt(*out);
	return code;
}

int noisy_sgd_read(const struct options *o, const struct dp_request *q, struct sgd *out,
		   struct dp_err *err)
{
	bool clips = !o->no_privacy && !o->no_clip;
	bool adds_noise = !o->no_privacy && !o->no_noise;
	int optimizer = o->optimizer;
	struct sgd how = { .poisson = o->sampling == 1, .clip = INFINITY };
	int code;

	if ((code = param_word(q, "optimizer", optimizer_words, &optimizer, err)) != DP_OK ||
	    (code = param_count(q, "epochs", &how.epochs, err)) != DP_OK ||
	    (code = param_count(q, "lot_size", &how.lot, err)) != DP_OK ||
	    (code = param_number(q, "learning_rate", 0, true, &how.rate, err)) != DP_OK)
		return code;
	how.optimizer = (enum optimizer)optimizer;
	/* without clipping, L is still what noise is measured in */
	if (clips || adds_noise)
		code = param_number(q, "clip", 0, true, &how.noise_clip, err);
	if (code == DP_OK && adds_noise)
		code = read_noise(q, &how.noise, err);
	if (code != DP_OK)
		return code;
	if (clips)
		how.clip = how.noise_clip;
	*out = how;
	return DP_OK;
}

json_t *noisy_sgd_declare(const struct sgd *how, uint32_t n)
{
	/* 0 without clipping: gradients then have no bound, and noise over it is nothing
	 */
	double over_clip = sgd_noise_sd(how) / how->clip;

	return json_pack("{s:s, s:I, s:I, s:I, s:o}", "sampling",
			 how->poisson ? "poisson" : "without-replacement", "records", (json_int_t)n,
			 "lot", (json_int_t)how->lot, "steps", (json_int_t)sgd_steps(how, n),
			 "noise_over_clip", dp_json_real(over_clip));
}
