/* mlp_net.c - computes activations, deltas and clipped gradients of a batch of records.
 *
 * Per-example gradients are never formed. The gradient of a record by a layer's weights is the
 * outer product of the layer's input a and of delta, so that its squared norm, bias included, is
 * (|a|^2 + 1) |delta|^2. The weighted sum of gradients over a lot is one matrix product. */
#include "trainers/learn/mlp_internal.h"
#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_MIN = MLP_SPARSE_BLOCK,
	CHUNK_MAX = 1024,
};

/* ---- memory ---- */

/* Records per chunk: their activations take twice the memory of the weights. Each chunk reads all
 * weights again; larger chunks leave the cache. */
static size_t choose_chunk_capacity(const struct mlp_shape *m, size_t records_max)
{
	size_t floats = mlp__record_stride(m->width[0]), n;

	for (size_t l = 1; l <= m->nlayers; l++)
		floats += 2 * mlp__record_stride(m->width[l]);
	n = 2 * mlp_count_weights(m) / floats;
	n = n < CHUNK_MAX ? n : CHUNK_MAX;
	n = n > CHUNK_MIN ? n : CHUNK_MIN;
	n = n < records_max ? n : records_max;
	return n > 0 ? n : 1;
}

/* The cost of finding zeros does not depend on the layer's width, the gain of skipping them does.
 * Measured with AVX-512 on rows of 784 and 123 inputs: sparse input breaks even at a share of
 * entries of 0.4 with 1000 units, 0.25 with 128 and 0.1 with 32. */
static bool sparse_input_pays(const struct mlp_shape *m, const struct sparse_rows *rows)
{
	double share = (double)rows->start[rows->n] / rows->n / rows->nfeatures;

	return share < 0.45 * m->width[1] / (m->width[1] + 100.0);
}

/* Initialises all but net->input. */
static void net_init_layers(struct mlp_net *net, const struct mlp_shape *m,
			    const struct mlp_kernels *kernels, size_t capacity)
{
	size_t records = mlp__round_up(capacity, MLP_ROW_MULTIPLE);

	net->kernels = kernels;
	net->capacity = capacity;
	net->clip_factor = mlp__alloc_floats(capacity);
	net->rounding_bound = mlp__alloc_floats(capacity);
	net->scaled_delta = mlp__alloc_floats(capacity * MLP_PANEL_OUTPUTS);
	net->n_layers = m->nlayers;
	for (size_t l = 0; l < m->nlayers; l++) {
		struct mlp_layer *y = &net->layer[l];

		y->n_inputs = m->width[l];
		y->n_outputs = m->width[l + 1];
		y->panel_rows = mlp__round_up(y->n_inputs + 1, MLP_ROW_MULTIPLE);
		y->panel_columns = mlp__round_up(y->n_outputs, MLP_LANES);
		y->weights_offset = net->n_weights;
		net->n_weights += y->panel_rows * y->panel_columns;
		y->record_stride = mlp__record_stride(y->n_outputs);
		y->activation = mlp__alloc_floats(records * y->record_stride);
		y->delta = mlp__alloc_floats(records * y->record_stride);
		y->squared_norm = mlp__alloc_floats(records);
		if (l > 0)
			y->transposed = mlp__alloc_floats(mlp__round_up(y->n_inputs, MLP_LANES) *
							  y->n_outputs);
	}
}

void mlp__net_init(struct mlp_net *net, const struct mlp_shape *m, enum mlp_input_mode path,
		   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
		   size_t records_max)
{
	size_t capacity = choose_chunk_capacity(m, records_max);
	bool sparse =
		path == MLP_INPUT_SPARSE || (path == MLP_INPUT_AUTO && sparse_input_pays(m, rows));

	*net = (struct mlp_net){ 0 };
	mlp__input_init(&net->input, rows, m->width[0], capacity, sparse, false, kernels);
	net_init_layers(net, m, kernels, capacity);
}

void mlp__net_init_forward(struct mlp_net *net, const struct mlp_shape *m,
			   const struct mlp_kernels *kernels, const struct sparse_rows *rows,
			   size_t bytes)
{
	bool sparse = sparse_input_pays(m, rows);
	size_t capacity = choose_chunk_capacity(m, rows->n), kept = rows->n;

	if (capacity < rows->n)
		capacity -= capacity % MLP_GROUP_ROWS;
	if (kept > bytes / mlp__input_bytes(rows, m->width[0], sparse))
		kept = capacity;
	*net = (struct mlp_net){ 0 };
	mlp__input_init(&net->input, rows, m->width[0], kept, sparse, true, kernels);
	net_init_layers(net, m, kernels, capacity);
}

void mlp__net_free(struct mlp_net *net)
{
	for (size_t l = 0; l < net->n_layers; l++) {
		free(net->layer[l].activation);
		free(net->layer[l].delta);
		free(net->layer[l].squared_norm);
		free(net->layer[l].transposed);
	}
	free(net->clip_factor);
	free(net->rounding_bound);
	free(net->scaled_delta);
	mlp__input_free(&net->input);
	*net = (struct mlp_net){ 0 };
}

/* ---- panels ---- */

static size_t panel_width(size_t columns, size_t column)
{
	return columns - column < MLP_PANEL_OUTPUTS ? columns - column : MLP_PANEL_OUTPUTS;
}

/* Position of the weight from input i to output `column` of a layer. */
static size_t panel_weight_offset(const struct mlp_layer *y, size_t i, size_t column)
{
	size_t panel = column / MLP_PANEL_OUTPUTS * MLP_PANEL_OUTPUTS;

	return y->weights_offset + panel * y->panel_rows +
	       i * panel_width(y->panel_columns, panel) + column % MLP_PANEL_OUTPUTS;
}

void mlp__net_pack(const struct mlp_net *net, const float *w, float *panels)
{
	for (size_t l = 0; l < net->n_layers; l++)
		for (size_t i = 0; i <= net->layer[l].n_inputs; i++)
			for (size_t o = 0; o < net->layer[l].n_outputs; o++)
				panels[panel_weight_offset(&net->layer[l], i, o)] = *w++;
}

void mlp__net_unpack(const struct mlp_net *net, const float *panels, float *w)
{
	for (size_t l = 0; l < net->n_layers; l++)
		for (size_t i = 0; i <= net->layer[l].n_inputs; i++)
			for (size_t o = 0; o < net->layer[l].n_outputs; o++)
				*w++ = panels[panel_weight_offset(&net->layer[l], i, o)];
}

/* Transposes inputs in, in + 1, .. of a layer to a panel with one row per output. */
static void transpose_panel(const struct mlp_layer *y, const float *panels, size_t in,
			    float *backward)
{
	size_t width = panel_width(mlp__round_up(y->n_inputs, MLP_LANES), in);
	size_t n = y->n_inputs - in < width ? y->n_inputs - in : width;

	for (size_t o = 0; o < y->n_outputs; o++) {
		const float *w = panels + panel_weight_offset(y, in, o);
		size_t step =
			panel_width(y->panel_columns, o / MLP_PANEL_OUTPUTS * MLP_PANEL_OUTPUTS);

		for (size_t i = 0; i < n; i++)
			backward[o * width + i] = w[i * step];
	}
}

void mlp__net_transpose(struct mlp_net *net, const float *panels)
{
	for (size_t l = 1; l < net->n_layers; l++) {
		struct mlp_layer *y = &net->layer[l];

		for (size_t in = 0; in < y->n_inputs; in += MLP_PANEL_OUTPUTS)
			transpose_panel(y, panels, in, y->transposed + in * y->n_outputs);
	}
}

/* ---- forward ---- */

void mlp__net_forward(struct mlp_net *net, const float *panels)
{
	for (size_t l = 0; l < net->n_layers; l++) {
		struct mlp_layer *y = &net->layer[l], *x = y - 1;

		for (size_t c = 0; c < y->panel_columns; c += MLP_PANEL_OUTPUTS) {
			struct mlp_product p = { .b = panels + y->weights_offset +
						      c * y->panel_rows,
						 .c = y->activation + c,
						 .c_stride = y->record_stride,
						 .rows = net->input.count,
						 .width = panel_width(y->panel_columns, c) };

			if (l == 0)
				mlp__input_forward(&net->input, &p);
			else
				net->kernels->dense(&p, &(struct mlp_dense){ x->activation,
									     x->record_stride, 1,
									     y->n_inputs + 1 });
		}
		/* input of the next layer: max(0, x), and 1 for its bias */
		for (size_t r = 0; r < net->input.count && l < net->n_layers - 1; r++) {
			float *act = y->activation + r * y->record_stride;

			memset(act + y->n_outputs, 0,
			       (y->record_stride - y->n_outputs) * sizeof *act);
			y->squared_norm[r] = net->kernels->relu(act, y->panel_columns);
			act[y->n_outputs] = 1;
		}
	}
}

/* ---- backward ---- */

DP_SIMD_BEGIN

/* delta = softmax(logits) - the one-hot label. Returns its squared norm. */
DP_SIMD
static float softmax_delta(const float *restrict logit, float *restrict delta, size_t n,
			   size_t label)
{
	double sum = 0, square = 0;
	float top = logit[0];

	for (size_t i = 1; i < n; i++)
		top = logit[i] > top ? logit[i] : top;
	for (size_t i = 0; i < n; i++)
		delta[i] = (float)dp__exp(logit[i] - top);
	for (size_t i = 0; i < n; i++)
		sum += delta[i];
	for (size_t i = 0; i < n; i++)
		delta[i] = (float)(delta[i] / sum);
	delta[label] -= 1;
	for (size_t i = 0; i < n; i++)
		square += delta[i] * delta[i];
	return (float)square;
}

DP_SIMD_END

/* Computes the deltas of the layer before y, before its rectifier. */
static void compute_previous_delta(const struct mlp_net *net, const struct mlp_layer *y)
{
	const struct mlp_layer *before = y - 1;

	for (size_t c = 0; c < before->panel_columns; c += MLP_PANEL_OUTPUTS)
		net->kernels->dense(
			&(struct mlp_product){ .b = y->transposed + c * y->n_outputs,
					       .c = before->delta + c,
					       .c_stride = before->record_stride,
					       .rows = net->input.count,
					       .width = panel_width(before->panel_columns, c) },
			&(struct mlp_dense){ y->delta, y->record_stride, 1, y->n_outputs });
}

/* Finishes the deltas of a layer: derives those of the last one from the logits, and zeroes the
 * others where the output was 0. Adds the layer's share to the squared norm of each record's
 * gradient, and to net->rounding_bound. */
static void finish_layer_delta(struct mlp_net *net, size_t l, const struct sparse_rows *rows,
			       const uint32_t *number, float *norm)
{
	const struct mlp_layer *y = &net->layer[l];
	const float outputs = (float)y->n_outputs;

	for (size_t r = 0; r < net->input.count; r++) {
		float *act = y->activation + r * y->record_stride,
		      *delta = y->delta + r * y->record_stride;
		float in = l == 0 ? net->input.squared_norm[r] : y[-1].squared_norm[r];
		float out;

		if (l == net->n_layers - 1)
			out = softmax_delta(act, delta, y->n_outputs, rows->label[number[r]]);
		else
			out = net->kernels->relu_backward(delta, act, y->panel_columns);
		norm[r] += (in + 1) * out;
		net->rounding_bound[r] += (in + 1) * outputs;
	}
}

/* Relative error by which the squared norm of a gradient, summed in float, may be too small: half a
 * unit in the last place per rounding that a term goes through. These are one addition per register
 * of a layer's inputs and outputs, one per layer, and less than 16 for products, ends of sums and
 * the factor's product with delta. */
static double norm_rounding_slack(const struct mlp_net *net)
{
	size_t most = 0;

	for (size_t l = 0; l < net->n_layers; l++) {
		size_t n = net->layer[l].n_inputs + net->layer[l].n_outputs;

		most = n > most ? n : most;
	}
	most = most / net->kernels->lanes + net->n_layers + 16;
	return (double)most * FLT_EPSILON / 2;
}

/* Upper bound for what rounding to subnormal numbers hides, of the squared norm of record r's
 * gradient and of the norm of its multiple in the sum. A product is wrong by at most 2^-150. A
 * square of delta is multiplied by |a|^2 + 1 afterwards, the factor's product with delta by an
 * element of a, and each weight has its own product. */
static double subnormal_slack(const struct mlp_net *net, size_t r)
{
	return ((double)net->n_weights + net->rounding_bound[r]) * 0x1p-149;
}

void mlp__net_backward(struct mlp_net *net, const struct sparse_rows *rows, const uint32_t *number,
		       double clip, double unit)
{
	float *norm = net->clip_factor; /* squared norms first, then factors */
	float whole = (float)fabs(unit), factor;
	double slack = norm_rounding_slack(net);

	memset(norm, 0, net->input.count * sizeof *norm);
	memset(net->rounding_bound, 0, net->input.count * sizeof *net->rounding_bound);
	for (size_t l = net->n_layers; l-- > 0;) {
		finish_layer_delta(net, l, rows, number, norm);
		if (l > 0)
			compute_previous_delta(net, &net->layer[l]);
	}
	for (size_t r = 0; r < net->input.count; r++) {
		double hidden = subnormal_slack(net, r), left = fabs(unit) * clip - hidden;

		/* A record without a finite norm must contribute exactly 0. Zero its activations,
		 * since infinity times 0 is NaN; compute_gradient_panel() zeroes its deltas. */
		for (size_t l = 0; !isfinite(norm[r]) && l + 1 < net->n_layers; l++) {
			const struct mlp_layer *y = &net->layer[l];

			memset(y->activation + r * y->record_stride, 0,
			       y->record_stride * sizeof *y->activation);
		}
		factor = sgd_clip_factor(left > 0 ? left : 0, norm[r] + hidden, slack);
		factor = factor >= whole ? whole : factor;
		net->clip_factor[r] = unit < 0 ? -factor : factor;
	}
}

/* ---- gradient ---- */

static void compute_gradient_panel(const struct mlp_net *net, size_t l, size_t c, float *sum,
				   bool add)
{
	const struct mlp_layer *y = &net->layer[l], *x = y - 1;
	size_t width = panel_width(y->panel_columns, c), count = net->input.count;
	struct mlp_product p = { .b = net->scaled_delta,
				 .c = sum,
				 .c_stride = width,
				 .rows = y->n_inputs + 1,
				 .width = width,
				 .accumulate = add };

	if (count == 0 && !add)
		memset(sum, 0, y->panel_rows * width * sizeof *sum);
	for (size_t r = 0; r < count; r++) {
		float *to = net->scaled_delta + r * width;

		if (net->clip_factor[r] == 0)
			memset(to, 0, width * sizeof *to);
		else
			net->kernels->scale(to, y->delta + r * y->record_stride + c,
					    net->clip_factor[r], width);
	}
	if (l == 0)
		mlp__input_gradient(&net->input, &p);
	else
		mlp__dense_gradient(net->kernels, x->activation, x->record_stride, count, &p);
}

void mlp__net_gradient(const struct mlp_net *net, float *sum, bool add,
		       const struct mlp_noise *noise)
{
	for (size_t l = 0; l < net->n_layers; l++) {
		const struct mlp_layer *y = &net->layer[l];

		for (size_t c = 0; c < y->panel_columns; c += MLP_PANEL_OUTPUTS) {
			float *panel = sum + y->weights_offset + c * y->panel_rows;

			compute_gradient_panel(net, l, c, panel, add);
			if (noise->sd != 0) /* while the panel is in the cache */
				noise_add_normals(noise->stream, noise->sd, panel,
						  y->panel_rows * panel_width(y->panel_columns, c));
		}
	}
}
