/* linear_trainer.c - the trainer `linear`: linear models by DP-SGD or DP-Adam. */
#include "trainers/trainers.h"

struct linear_model_state {
	enum linear_loss loss;
	struct sgd sgd;
};

static int linear_model_prepare(void *self, const struct trainer_options *o,
				const struct dp_trainer_request *q, const struct sparse_rows *train,
				struct training_plan *out, struct dp_err *err)
{
	struct linear_model_state *s = self;
	int loss = o->model;
	int code = need_two_classes(train, err);

	if (code == DP_OK)
		code = param_read_word(q, "model", model_words, &loss, err);
	if (code == DP_OK)
		code = dpsgd_read_params(o, q, &s->sgd, err);
	if (code != DP_OK)
		return code;
	s->loss = (enum linear_loss)loss;
	*out = (struct training_plan){ .n_weights = linear_count_weights(train->nfeatures),
				       .n_steps = sgd_total_steps(&s->sgd, train->n),
				       .declaration = dpsgd_declaration_json(&s->sgd, train->n) };
	return DP_OK;
}

static int linear_model_train(const void *self, const struct sparse_rows *rows,
			      struct run_streams *streams,
			      const struct training_checkpoints *checkpoints,
			      struct training_progress *progress, float *w, struct dp_err *err)
{
	const struct linear_model_state *s = self;
	struct sgd sgd = s->sgd;

	sgd.checkpoints = checkpoints;
	return linear_train(s->loss, rows, &sgd, &streams->lots, &streams->gradient, progress, w,
			    err);
}

static void linear_model_score(void *self, const struct sparse_rows *rows, const float *w,
			       struct model_score *out)
{
	const struct linear_model_state *s = self;

	linear_score(s->loss, rows, w, out);
}

static int linear_model_run(int argc, char **argv, struct dp_err *err)
{
	static const struct model_ops model = { linear_model_prepare, linear_model_train,
						linear_model_score, linear_fairness_gap };
	struct linear_model_state self;

	return model_run_request(&linear_trainer, &model, &self, argc, argv, err);
}

const struct trainer linear_trainer = {
	.name = "linear",
	.summary = "logistic regression and linear SVM by DP-SGD or DP-Adam",
	.about = "Linear models of two classes, trained by noisy, clipped gradients of\n"
		 "sampled lots (Avent et al. 2020, Algorithms 3 and 4). Its privacy is the\n"
		 "mechanism 'dp-sgd' of a study.\n",
	.params_help = DPSGD_PARAMS_HELP
	"            model             logistic or svm, in the place of "
	"--model\n" MODEL_METRICS_HELP
	"            gap_FEATURE        with --report gap:FEATURE, numbered from 1: how\n"
	"                               far accuracies of the records that have the\n"
	"                               feature and of the others are apart\n",
	.option_groups = OPTIONS_DATA | OPTIONS_SGD | OPTIONS_LINEAR,
	.run = linear_model_run,
};
