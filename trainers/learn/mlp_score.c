/* mlp_score.c - scores a network repeatedly on the same records.
 *
 * With checkpoints, a run is scored every few epochs. Preprocessing the records takes half as long
 * as the forward pass, so that they are kept as far as memory allows. */
#include "trainers/learn/mlp_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

struct mlp_scorer {
	const struct sparse_rows *rows;
	size_t nweights;
	struct mlp_net net;
	float *panels;
	uint32_t *order;      /* order of records in the network */
	double *loss;         /* per record, so that they are summed in the order of the rows */
	bool is_input_loaded; /* net.input contains all records */
};

struct mlp_scorer *mlp_scorer_new(const struct mlp_shape *m, const struct sparse_rows *rows,
				  size_t bytes)
{
	struct mlp_scorer *s = dp_calloc(1, sizeof *s);
	size_t at[UINT8_MAX + 2] = { 0 };

	s->rows = rows;
	s->nweights = mlp_count_weights(m);
	mlp__net_init_forward(&s->net, m, mlp__kernels_select(NULL), rows, bytes);
	s->panels = mlp__alloc_floats(s->net.n_weights);
	s->order = dp_calloc(rows->n, sizeof *s->order);
	s->loss = dp_calloc(rows->n, sizeof *s->loss);
	/* Sort by class: similar records share features in a group, a sixth less input with
	 * MNIST. */
	for (uint32_t i = 0; i < rows->n; i++)
		at[rows->label[i] + 1]++;
	for (size_t c = 0; c < UINT8_MAX; c++)
		at[c + 1] += at[c];
	for (uint32_t i = 0; i < rows->n; i++)
		s->order[at[rows->label[i]]++] = i;
	return s;
}

void mlp_scorer_free(struct mlp_scorer *s)
{
	if (!s)
		return;
	mlp__net_free(&s->net);
	free(s->panels);
	free(s->order);
	free(s->loss);
	free(s);
}

/* True if the highest logit is that of the label. *loss: the cross-entropy. If logits overflow, the
 * record is wrong with loss FLT_MAX, so that it does not void the score of the others. */
static bool score_record(const float *logit, size_t n, size_t label, double *loss)
{
	double sum = 0;
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (logit[i] > logit[top])
			top = i;
	for (size_t i = 0; i < n; i++)
		sum += exp((double)logit[i] - logit[top]);
	*loss = log(sum) + logit[top] - logit[label];
	if (isfinite(*loss))
		return top == label;
	*loss = (double)FLT_MAX;
	return false;
}

/* Scores the loaded records, `count` from order[from] on. Returns the number classified
 * correctly. */
static uint32_t score_records(struct mlp_scorer *s, uint32_t from, uint32_t count)
{
	const struct mlp_layer *last = &s->net.layer[s->net.n_layers - 1];
	uint32_t right = 0, n;

	for (uint32_t first = 0; first < count; first += n) {
		n = count - first;
		if (n > s->net.capacity)
			n = (uint32_t)s->net.capacity;
		s->net.input.first = first;
		s->net.input.count = n;
		mlp__net_forward(&s->net, s->panels);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t record = s->order[from + first + i];

			right += score_record(last->activation + i * last->record_stride,
					      last->n_outputs, s->rows->label[record],
					      &s->loss[record]);
		}
	}
	return right;
}

void mlp_scorer_score(struct mlp_scorer *s, const float *w, struct model_score *out)
{
	uint32_t n = s->rows->n, right = 0, count;
	double loss = 0;

	mlp__net_pack(&s->net, w, s->panels);
	for (uint32_t from = 0; from < n; from += count) {
		count = n - from;
		if (count > s->net.input.capacity)
			count = (uint32_t)s->net.input.capacity;
		if (!s->is_input_loaded)
			mlp__input_load(&s->net.input, s->rows, s->order + from, count);
		s->is_input_loaded = count == n;
		right += score_records(s, from, count);
	}
	for (uint32_t i = 0; i < n; i++)
		loss += s->loss[i];
	out->accuracy = (double)right / n;
	/* NaN also if only the weights of an unused input diverged */
	out->loss = weights_are_finite(w, s->nweights) ? loss / n : NAN;
}
