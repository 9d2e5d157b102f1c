/* dpsgd_params.c - reads the parameters of DP-SGD and DP-Adam and writes their declaration. */
#include "trainers/trainers.h"

#include "base/json.h"

#include <math.h>

#define NOISE_MULTIPLIER_PARAM "noise_multiplier"
#define NOISE_VARIANCE_PARAM   "noise_variance"

/* The request must have exactly one of the two noise parameters. */
static int dpsgd_read_noise(const struct dp_trainer_request *q, double *out, struct dp_err *err)
{
	bool multiplier = param_is_given(q, NOISE_MULTIPLIER_PARAM);
	int code;

	if (multiplier && param_is_given(q, NOISE_VARIANCE_PARAM))
		return dp_fail(err, DP_E_INVALID,
			       "the parameters '" NOISE_MULTIPLIER_PARAM
			       "' and '" NOISE_VARIANCE_PARAM "' exclude each other");
	if (!multiplier && !param_is_given(q, NOISE_VARIANCE_PARAM)) {
		dp_fail(err, DP_E_INVALID,
			"the request has neither '" NOISE_MULTIPLIER_PARAM
			"' nor '" NOISE_VARIANCE_PARAM "'");
		return dp_hint(err, "add one of them to the parameters of the study");
	}
	code = param_read_number(q, multiplier ? NOISE_MULTIPLIER_PARAM : NOISE_VARIANCE_PARAM, 0,
				 true, out, err);
	if (code == DP_OK && !multiplier)
		*out = sqrt(*out);
	return code;
}

int dpsgd_read_params(const struct trainer_options *o, const struct dp_trainer_request *q,
		      struct sgd *out, struct dp_err *err)
{
	bool clips = !o->no_privacy && !o->no_clip;
	bool adds_noise = !o->no_privacy && !o->no_noise;
	int optimizer = o->optimizer;
	struct sgd sgd = { .is_poisson = o->sampling == 1, .clip = INFINITY };
	int code;

	if ((code = param_read_word(q, "optimizer", optimizer_words, &optimizer, err)) != DP_OK ||
	    (code = param_read_count(q, "epochs", &sgd.epochs, err)) != DP_OK ||
	    (code = param_read_count(q, "lot_size", &sgd.lot_size, err)) != DP_OK ||
	    (code = param_read_number(q, "learning_rate", 0, true, &sgd.learning_rate, err)) !=
		    DP_OK)
		return code;
	sgd.optimizer = (enum optimizer)optimizer;
	/* without clipping, noise is still measured in units of L */
	if (clips || adds_noise)
		code = param_read_number(q, "clip", 0, true, &sgd.noise_clip, err);
	if (code == DP_OK && adds_noise)
		code = dpsgd_read_noise(q, &sgd.noise_multiplier, err);
	if (code != DP_OK)
		return code;
	if (clips)
		sgd.clip = sgd.noise_clip;
	*out = sgd;
	return DP_OK;
}

json_t *dpsgd_declaration_json(const struct sgd *sgd, uint32_t n)
{
	/* 0 without clipping, since gradients then have no bound */
	double over_clip = sgd_noise_sd(sgd) / sgd->clip;

	return json_pack("{s:s, s:I, s:I, s:I, s:o}", "sampling",
			 sgd->is_poisson ? "poisson" : "without-replacement", "records",
			 (json_int_t)n, "lot", (json_int_t)sgd->lot_size, "steps",
			 (json_int_t)sgd_total_steps(sgd, n), "noise_over_clip",
			 dp_json_real(over_clip));
}
