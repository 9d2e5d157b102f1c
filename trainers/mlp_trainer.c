/* mlp_trainer.c - the trainer `mlp`: multi-layer perceptrons by DP-SGD or DP-Adam. */
#include "trainers/trainers.h"

#include <stdlib.h>

enum {
	WIDTH_MAX = 65535,
	SCORED_SETS = 2 /* the held-out and the test records */
};

struct mlp_model_state {
	struct mlp_shape shape;
	struct sgd sgd;
	const struct sparse_rows *scored_rows[SCORED_SETS];
	struct mlp_scorer *scorer[SCORED_SETS];
};

/* Parses --hidden, such as "128,64", and adds the layers of inputs and classes. */
static int parse_hidden_layers(const char *hidden, const struct sparse_rows *train,
			       struct mlp_shape *out, struct dp_err *err)
{
	const char *p = hidden;

	*out = (struct mlp_shape){ .width = { train->nfeatures } };
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

static int mlp_model_prepare(void *self, const struct trainer_options *o,
			     const struct dp_trainer_request *q, const struct sparse_rows *train,
			     struct training_plan *out, struct dp_err *err)
{
	struct mlp_model_state *s = self;
	int code = parse_hidden_layers(o->hidden, train, &s->shape, err);

	if (code == DP_OK)
		code = dpsgd_read_params(o, q, &s->sgd, err);
	if (code != DP_OK)
		return code;
	*out = (struct training_plan){ .n_weights = mlp_count_weights(&s->shape),
				       .n_steps = sgd_total_steps(&s->sgd, train->n),
				       .declaration = dpsgd_declaration_json(&s->sgd, train->n) };
	return DP_OK;
}

static int mlp_model_train(const void *self, const struct sparse_rows *rows,
			   struct run_streams *streams,
			   const struct training_checkpoints *checkpoints,
			   struct training_progress *progress, float *w, struct dp_err *err)
{
	const struct mlp_model_state *s = self;
	struct sgd sgd = s->sgd;

	sgd.checkpoints = checkpoints;
	return mlp_train(&s->shape, MLP_INPUT_AUTO, rows, &sgd, &streams->initial_weights,
			 &streams->lots, &streams->gradient, progress, w, err);
}

static void mlp_model_score(void *self, const struct sparse_rows *rows, const float *w,
			    struct model_score *out)
{
	struct mlp_model_state *s = self;
	size_t i = s->scored_rows[0] && s->scored_rows[0] != rows;

	if (!s->scorer[i])
		s->scorer[i] = mlp_scorer_new(&s->shape, rows, MLP_SCORER_CACHE_BYTES);
	s->scored_rows[i] = rows;
	mlp_scorer_score(s->scorer[i], w, out);
}

static int mlp_model_run(int argc, char **argv, struct dp_err *err)
{
	static const struct model_ops model = { mlp_model_prepare, mlp_model_train, mlp_model_score,
						NULL };
	struct mlp_model_state self = { 0 };
	int code = model_run_request(&mlp_trainer, &model, &self, argc, argv, err);

	for (size_t i = 0; i < SCORED_SETS; i++)
		mlp_scorer_free(self.scorer[i]);
	return code;
}

const struct trainer mlp_trainer = {
	.name = "mlp",
	.summary = "multi-layer perceptrons by DP-SGD or DP-Adam",
	.about = "Networks of fully connected layers with ReLU and a softmax at the end, trained\n"
		 "by noisy, clipped gradients of sampled lots (Avent et al. 2020, Algorithms 3\n"
		 "and 4). Its privacy is the mechanism 'dp-sgd' of a study.\n",
	.params_help = DPSGD_PARAMS_HELP MODEL_METRICS_HELP,
	.option_groups = OPTIONS_DATA | OPTIONS_SGD | OPTIONS_MLP,
	.run = mlp_model_run,
};
