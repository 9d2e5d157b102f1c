/* mlp.c - the trainer of multi-layer perceptrons. */
#include "trainers/trainers.h"

#include <stdlib.h>

enum {
	WIDTH_MAX = 65535,
	SCORED = 2 /* sets of records: those held out and the test records */
};

struct self {
	struct mlp shape;
	struct sgd how;
	const struct rows *scored[SCORED];
	struct mlp_scorer *scorer[SCORED];
};

/* "128,64" between the inputs and the classes. */
static int read_shape(const char *hidden, const struct rows *train, struct mlp *out,
		      struct dp_err *err)
{
	const char *p = hidden;

	*out = (struct mlp){ .width = { train->nfeatures } };
	while (*p) {
		char *end;
		unsigned long n = *p >= '0' && *p <= '9' ? strtoul(p, &end, 10) : 0;

		if (n < 1 || n > WIDTH_MAX || (*end && *end != ','))
			return dp_fail(err, DP_E_USAGE,
				       "--hidden needs sizes from 1 to %d with commas "
				       "between them, not '%s'",
				       WIDTH_MAX, hidden);
		if (out->nlayers == MLP_LAYERS_MAX - 1)
			return dp_fail(err, DP_E_USAGE, "--hidden '%s' has more than %d layers",
				       hidden, MLP_LAYERS_MAX - 1);
		out->width[++out->nlayers] = (uint32_t)n;
		p = *end ? end + 1 : end;
	}
	out->width[++out->nlayers] = train->nclasses;
	return DP_OK;
}

static int mlp_model_prepare(void *self, const struct options *o, const struct dp_request *q,
			     const struct rows *train, struct plan *out, struct dp_err *err)
{
	struct self *s = self;
	int code = read_shape(o->hidden, train, &s->shape, err);

	if (code == DP_OK)
		code = noisy_sgd_read(o, q, &s->how, err);
	if (code != DP_OK)
		return code;
	*out = (struct plan){ .nweights = mlp_weights(&s->shape),
			      .steps = sgd_steps(&s->how, train->n),
			      .declared = noisy_sgd_declare(&s->how, train->n) };
	return DP_OK;
}

static int mlp_model_train(const void *self, const struct rows *rows, struct streams *streams,
			   const struct walk *walk, struct pulse *pulse, float *w,
			   struct dp_err *err)
{
	const struct self *s = self;
	struct sgd how = s->how;

	how.walk = walk;
	return mlp_train(&s->shape, MLP_AUTO, rows, &how, &streams->start, &streams->lots,
			 &streams->gradient, pulse, w, err);
}

static int mlp_model_score(void *self, const struct rows *rows, const float *w, struct score *out,
			   struct dp_err *err)
{
	struct self *s = self;
	size_t i = s->scored[0] && s->scored[0] != rows;

	if (!s->scorer[i]) {
		int code = mlp_scorer_make(&s->shape, rows, &s->scorer[i], err);

		if (code != DP_OK)
			return code;
		s->scored[i] = rows;
	}
	mlp_scorer_score(s->scorer[i], w, out);
	return DP_OK;
}

static int mlp_model_run(int argc, char **argv, struct dp_err *err)
{
	static const struct model model = { mlp_model_prepare, mlp_model_train, mlp_model_score,
					    NULL };
	struct self self = { 0 };
	int code = model_runs(&mlp_trainer, &model, &self, argc, argv, err);

	for (size_t i = 0; i < SCORED; i++)
		mlp_scorer_free(self.scorer[i]);
	return code;
}

const struct trainer mlp_trainer = {
	.name = "mlp",
	.summary = "multi-layer perceptrons by DP-SGD or DP-Adam",
	.about = "Networks of fully connected layers with ReLU and a softmax at the end, "
		 "trained\n"
		 "by noisy, clipped gradients of sampled lots (Avent et al. 2020, "
		 "Algorithms 3\n"
		 "and 4). Its privacy is the mechanism 'dp-sgd' of a study.\n",
	.reads = NOISY_SGD_READS MODEL_REPORTS,
	.options = OPTIONS_DATA | OPTIONS_SGD | OPTIONS_MLP,
	.run = mlp_model_run,
};
