/* output_trainer.c - the trainer `output-perturbation` (logistic regression). */
#include "trainers/trainers.h"

#include <math.h>
#include <string.h>

/* Data sets with at most one 1 in each of 14 groups of features. */
static const char *const one_hot[] = { "adult", "adult-a9a", "census" };
#define ONE_HOT_BOUND sqrt(14 + 1) /* bias included */

static int output_model_prepare(void *self, const struct trainer_options *o,
				const struct dp_trainer_request *q, const struct sparse_rows *train,
				struct training_plan *out, struct dp_err *err)
{
	struct output_perturbation *s = self;
	double bound = o->norm_bound; /* must not come from private data */
	int code = need_two_classes(train, err);

	if (code != DP_OK)
		return code;
	for (size_t i = 0; isnan(bound) && i < DP_COUNT(one_hot); i++)
		if (strcmp(one_hot[i], o->data.name) == 0)
			bound = ONE_HOT_BOUND;
	if (isnan(bound)) {
		dp_fail(err, DP_E_USAGE, "output-perturbation needs --norm-bound for these data");
		return dp_hint(err, "a bound on the norm of rows, with a 1 added for the bias, "
				    "that does not depend on private data; longer rows are "
				    "shortened to it");
	}
	if ((code = param_read_number(q, "regularization", 0, true, &s->regularization, err)) !=
		    DP_OK ||
	    (code = param_read_number(q, "sigma", 0, true, &s->sigma, err)) != DP_OK)
		return code;
	s->passes = (uint32_t)o->passes;
	s->row_scale = 1 / bound;
	*out = (struct training_plan){ .n_weights = linear_count_weights(train->nfeatures),
				       .n_steps = (uint64_t)s->passes * train->n };
	out->declaration =
		json_pack("{s:s, s:I, s:i, s:I}", "sampling", "shuffle", "records",
			  (json_int_t)train->n, "lot", 1, "steps", (json_int_t)out->n_steps);
	return DP_OK;
}

static int output_model_train(const void *self, const struct sparse_rows *rows,
			      struct run_streams *streams,
			      const struct training_checkpoints *checkpoints,
			      struct training_progress *progress, float *w, struct dp_err *err)
{
	(void)checkpoints;
	return output_perturbation_train(self, rows, &streams->lots, &streams->gradient, progress,
					 w, err);
}

static void output_model_score(void *self, const struct sparse_rows *rows, const float *w,
			       struct model_score *out)
{
	(void)self;
	linear_score(LINEAR_LOGISTIC, rows, w, out);
}

static int output_model_run(int argc, char **argv, struct dp_err *err)
{
	static const struct model_ops model = { output_model_prepare, output_model_train,
						output_model_score, NULL };
	struct output_perturbation self;

	return model_run_request(&output_trainer, &model, &self, argc, argv, err);
}

const struct trainer output_trainer = {
	.name = "output-perturbation",
	.summary = "logistic regression with noise on its final weights",
	.about = "Logistic regression with L2 regularisation, trained by projected stochastic\n"
		 "gradient descent, with Gaussian noise added to its weights at the end\n"
		 "(Wu et al. 2017, Algorithm 2). Its privacy is the mechanism\n"
		 "'output-perturbation' of a study.\n",
	.params_help = "Parameters: regularization  gamma, above 0\n"
		       "            sigma           standard deviation of the noise, above "
		       "0\n" MODEL_METRICS_HELP,
	.option_groups = OPTIONS_DATA | OPTIONS_OUTPUT,
	.no_checkpoints_reason = "its noise is added once, after the last pass, and its steps "
				 "shrink",
	.run = output_model_run,
};
