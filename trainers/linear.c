/* linear.c - the trainer of linear models. */
#include "trainers/trainers.h"

struct self {
	enum linear_loss loss;
	struct sgd how;
};

static int linear_model_prepare(void *self, const struct options *o, const struct dp_request *q,
				const struct rows *train, struct plan *out, struct dp_err *err)
{
	struct self *s = self;
	int loss = o->model;
	int code = need_two_classes(train, err);

	if (code == DP_OK)
		code = param_word(q, "model", model_words, &loss, err);
	if (code == DP_OK)
		code = noisy_sgd_read(o, q, &s->how, err);
	if (code != DP_OK)
		return code;
	s->loss = (enum linear_loss)loss;
	*out = (struct plan){ .nweights = linear_weights(train->nfeatures),
			      .steps = sgd_steps(&s->how, train->n),
			      .declared = noisy_sgd_declare(&s->how, train->n) };
	return DP_OK;
}

static int linear_model_train(const void *self, const struct rows *rows, struct streams *streams,
			      const struct walk *walk, struct pulse *pulse, float *w,
			      struct dp_err *err)
{
	const struct self *s = self;
	struct sgd how = s->how;

	how.walk = walk;
	return linear_train(s->loss, rows, &how, &streams->lots, &streams->gradient, pulse, w, err);
}

static int linear_model_score(void *self, const struct rows *rows, const float *w,
			      struct score *out, struct dp_err *err)
{
	const struct self *s = self;

	(void)err;
	linear_score(s->loss, rows, w, out);
	return DP_OK;
}

static int linear_model_run(int argc, char **argv, struct dp_err *err)
{
	static const struct model model = { linear_model_prepare, linear_model_train,
					    linear_model_score, linear_gap };
	struct self self;

	return model_runs(&linear_trainer, &model, &self, argc, argv, err);
}

const struct trainer linear_trainer = {
	.name = "linear",
	.summary = "logistic regression and linear SVM by DP-SGD or DP-Adam",
	.about = "Linear models of two classes, trained by noisy, clipped gradients of\n"
		 "sampled lots (Avent et al. 2020, Algorithms 3 and 4). Its privacy is "
		 "the\n"
		 "mechanism 'dp-sgd' of a study.\n",
	.reads = NOISY_SGD_READS
	"            model             logistic or svm, in the place of "
	"--model\n" MODEL_REPORTS
	"            gap_FEATURE        with --report gap:FEATURE, numbered from 1: how\n"
	"                               far accuracies of the records that have the\n"
	"                               feature and of the others are apart\n",
	.options = OPTIONS_DATA | OPTIONS_SGD | OPTIONS_LINEAR,
	.run = linear_model_run,
};
