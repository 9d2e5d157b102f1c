/* mlp_net.c - activations, deltas and gradients of some records.
 *
 * Per-example gradients are never made. The gradient of one record by a layer's weights
 * is the outer product of the layer's input a and of delta, so its squared length, bias
 * included, is (|a|^2 + 1) |delta|^2; the sum over a lot of gradients times a factor
 * each is one product of matrices. */
#include "trainers/learn/mlp_internal.h"
#include "linalg/simd.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_MIN = MLP_SPARSE_BLOCK, /* records */
	CHUNK_MAX = 1024,
};

/* ---- memory ---- */

/* Records whose activations are kept at a time: as many as take twice the memory of the
 * weights. Each chunk reads all weights again; more records than that leave the cache. */
static size_t capacity_for(const struct mlp *m, size_t records_max)
{
	size_t floats = mlp__record_row(m->width[0]), n;

	for (size_t l = 1; l <= m->nlayers; l++)
		floats += 2 * mlp__record_row(m->width[l]);
	n = 2 * mlp_weights(m) / floats;
	n = n < CHUNK_MAX ? n : CHUNK_MAX;
	n = n > CHUNK_MIN ? n : CHUNK_MIN;
	n = n < records_max ? n : records_max;
	return n > 0 ? n : 1;
}

static bool layer_init(struct mlp_layer *y, size_t capacity, bool first)
{
	size_t records = mlp__round_up(capacity, MLP_ROWS);

	y->row = mlp__record_row(y->out);
	y->act = mlp__floats(records * y->row);
	y->delta = mlp__floats(records * y->row);
	y->square = mlp__floats(records);
	if (!first)
		y->backward = mlp__floats(mlp__round_up(y->in, MLP_LANES) * y->out);
	return y->act && y->delta && y->square && (first || y->backward);
}

/* Finding the zeros costs the same for every width, skipping them gains the more the
 * wider the first layer is. Measured for AVX-512 with rows of 784 and 123 inputs: it
 * breaks even at a share of entries of 0.4 with 1000 units, 0.25 with 128 and 0.1 with
 * 32. */
static bool pays_to_skip(const struct mlp *m, const struct rows *rows)
{
	double share = (double)rows->start[rows->n] / rows->n / rows->nfeatures;

	return share < 0.45 * m->width[1] / (m->width[1] + 100.0);
}

static bool buffers_init(struct mlp_net *net, const struct mlp *m, size_t capacity)
{
	net->factor = mlp__floats(capacity);
	net->reach = mlp__floats(capacity);
	net->panel = mlp__floats(capacity * MLP_PANEL);
	if (!net->factor || !net->reach || !net->panel)
		return false;
	net->nlayers = m->nlayers;
	for (size_t l = 0; l < m->nlayers; l++) {
		struct mlp_layer *y = &net->layer[l];

		y->in = m->width[l];
		y->out = m->width[l + 1];
		y->rows = mlp__round_up(y->in + 1, MLP_ROWS);
		y->columns = mlp__round_up(y->out, MLP_LANES);
		y->at = net->nweights;
		net->nweights += y->rows * y->columns;
		if (!layer_init(y, capacity, l == 0))
			return false;
	}
	return true;
}

/* With net->input there. */
static int net_finish(struct mlp_net *net, const struct mlp *m, const struct mlp_kernels *kernels,
		      size_t capacity, struct dp_err *err)
{
	net->kernels = kernels;
	net->capacity = capacity;
	if (buffers_init(net, m, capacity))
		return DP_OK;
	mlp__net_free(net);
	return dp_fail(err, DP_E_NOMEM, "no memory to train %zu records at a time", capacity);
}

int mlp__net_init(struct mlp_net *net, const struct mlp *m, enum mlp_path path,
		  const struct mlp_kernels *kernels, const struct rows *rows, size_t records_max,
		  struct dp_err *err)
{
	size_t capacity = capacity_for(m, records_max);
	bool sparse = path == MLP_SPARSE || (path == MLP_AUTO && pays_to_skip(m, rows));
	int code;

	*net = (struct mlp_net){ 0 };
	code = mlp__input_init(&net->input, rows, m->width[0], capacity, sparse, false, kernels,
			       err);
	return code == DP_OK ? net_finish(net, m, kernels, capacity, err) : code;
}

int mlp__net_init_forward(struct mlp_net *net, const struct mlp *m,
			  const struct mlp_kernels *kernels, const struct rows *rows, size_t bytes,
			  struct dp_err *err)
{
	bool sparse = pays_to_skip(m, rows);
	size_t capacity = capacity_for(m, rows->n), kept = rows->n;
	int code;

	if (capacity < rows->n)
		capacity -= capacity % MLP_GROUP;
	if (kept > bytes / mlp__input_bytes(rows, m->width[0], sparse))
		kept = capacity;
	*net = (struct mlp_net){ 0 };
	code = mlp__input_init(&net->input, rows, m->width[0], kept, sparse, true, kernels, err);
	return code == DP_OK ? net_finish(net, m, kernels, capacity, err) : code;
}

void mlp__net_free(struct mlp_net *net)
{
	for (size_t l = 0; l < net->nlayers; l++) {
		free(net->layer[l].act);
		free(net->layer[l].delta);
		free(net->layer[l].square);
		free(net->layer[l].backward);
	}
	free(net->factor);
	free(net->reach);
	free(net->panel);
	mlp__input_free(&net->input);
	*net = (struct mlp_net){ 0 };
}

/* ---- panels ---- */

static size_t panel_width(size_t columns, size_t column)
{
	return columns - column < MLP_PANEL ? columns - column : MLP_PANEL;
}

/* Where the weight from input i to output `column` of a layer is among the panels. */
static size_t place_of(const struct mlp_layer *y, size_t i, size_t column)
{
	size_t panel = column / MLP_PANEL * MLP_PANEL;

	return y->at + panel * y->rows + i * panel_width(y->columns, panel) + column % MLP_PANEL;
}

void mlp__net_pack(const struct mlp_net *net, const float *w, float *panels)
{
	for (size_t l = 0; l < net->nlayers; l++)
		for (size_t i = 0; i <= net->layer[l].in; i++)
			for (size_t o = 0; o < net->layer[l].out; o++)
				panels[place_of(&net->layer[l], i, o)] = *w++;
}

void mlp__net_unpack(const struct mlp_net *net, const float *panels, float *w)
{
	for (size_t l = 0; l < net->nlayers; l++)
		for (size_t i = 0; i <= net->layer[l].in; i++)
			for (size_t o = 0; o < net->layer[l].out; o++)
				*w++ = panels[place_of(&net->layer[l], i, o)];
}

/* The inputs in, in + 1, .. of a layer as a panel: one row for each output. */
static void turn_panel(const struct mlp_layer *y, const float *panels, size_t in, float *backward)
{
	size_t width = panel_width(mlp__round_up(y->in, MLP_LANES), in);
	size_t n = y->in - in < width ? y->in - in : width;

	for (size_t o = 0; o < y->out; o++) {
		const float *w = panels + place_of(y, in, o);
		size_t step = panel_width(y->columns, o / MLP_PANEL * MLP_PANEL);

		for (size_t i = 0; i < n; i++)
			backward[o * width + i] = w[i * step];
	}
}

void mlp__net_turn(struct mlp_net *net, const float *panels)
{
	for (size_t l = 1; l < net->nlayers; l++) {
		struct mlp_layer *y = &net->layer[l];

		for (size_t in = 0; in < y->in; in += MLP_PANEL)
			turn_panel(y, panels, in, y->backward + in * y->out);
	}
}

/* ---- forward ---- */

/* What the next layer sees of a layer: max(0, x), and 1 for its bias. */
static void rectify_layer(const struct mlp_net *net, struct mlp_layer *y)
{
	for (size_t r = 0; r < net->input.count; r++) {
		float *act = y->act + r * y->row;

		memset(act + y->out, 0, (y->row - y->out) * sizeof *act);
		y->square[r] = net->kernels->rectify(act, y->columns);
		act[y->out] = 1;
	}
}

void mlp__net_forward(struct mlp_net *net, const float *panels)
{
	for (size_t l = 0; l < net->nlayers; l++) {
		struct mlp_layer *y = &net->layer[l], *x = y - 1;

		for (size_t c = 0; c < y->columns; c += MLP_PANEL) {
			struct mlp_product p = { .b = panels + y->at + c * y->rows,
						 .c = y->act + c,
						 .c_row = y->row,
						 .rows = net->input.count,
						 .width = panel_width(y->columns, c) };

			if (l == 0)
				mlp__input_forward(&net->input, &p);
			else
				net->kernels->dense(
					&p, &(struct mlp_dense){ x->act, x->row, 1, y->in + 1 });
		}
		if (l < net->nlayers - 1)
			rectify_layer(net, y);
	}
}

/* ---- backward ---- */

DP_KERNELS

/* delta = softmax(logits) - the one-hot label; its squared length. */
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

DP_KERNELS_END

/* Deltas of the layer before y, unrectified, into its buffer. */
static void delta_before(const struct mlp_net *net, const struct mlp_layer *y)
{
	const struct mlp_layer *before = y - 1;

	for (size_t c = 0; c < before->columns; c += MLP_PANEL)
		net->kernels->dense(
			&(struct mlp_product){ .b = y->backward + c * y->out,
					       .c = before->delta + c,
					       .c_row = before->row,
					       .rows = net->input.count,
					       .width = panel_width(before->columns, c) },
			&(struct mlp_dense){ y->delta, y->row, 1, y->out });
}

/* Adds what the layer's weights and biases have in the squared length of a record's
 * gradient, and to net->reach. Its delta is finished on the way: that of the last layer
 * made from the logits, others are 0 where the output was. */
static void finish_delta(struct mlp_net *net, size_t l, const struct rows *rows,
			 const uint32_t *number, float *norm)
{
	const struct mlp_layer *y = &net->layer[l];
	const float outputs = (float)y->out;

	for (size_t r = 0; r < net->input.count; r++) {
		float *act = y->act + r * y->row, *delta = y->delta + r * y->row;
		float in = l == 0 ? net->input.square[r] : y[-1].square[r];
		float out;

		if (l == net->nlayers - 1)
			out = softmax_delta(act, delta, y->out, rows->label[number[r]]);
		else
			out = net->kernels->gate(delta, act, y->columns);
		norm[r] += (in + 1) * out;
		net->reach[r] += (in + 1) * outputs;
	}
}

/* By what share the squared length of a gradient, summed in float, may be too small:
 * half a unit in the last place for every rounding that a term goes through. Those are
 * an addition for every register of a layer's inputs and outputs, one for every layer,
 * and less than 16 for products, ends of sums and the factor's product with delta. */
static double length_slack(const struct mlp_net *net)
{
	size_t most = 0;

	for (size_t l = 0; l < net->nlayers; l++) {
		size_t n = net->layer[l].in + net->layer[l].out;

		most = n > most ? n : most;
	}
	most = most / net->kernels->lanes + net->nlayers + 16;
	return (double)most * FLT_EPSILON / 2;
}

/* What rounding to subnormal numbers may hide, at most: of the squared length of record
 * r's gradient, and of the length of its multiple in the sum. A product may be too small
 * or too large by 2^-150. A square of delta is multiplied by |a|^2 + 1 afterwards, the
 * factor's product with delta by an element of a, and each weight has a product of its
 * own. */
static double subnormal_slack(const struct mlp_net *net, size_t r)
{
	return ((double)net->nweights + net->reach[r]) * 0x1p-149;
}

/* Without a gradient a record adds exactly 0: what is infinite or NaN must not meet a
 * factor of 0. Deltas are left out by gradient_panel(). */
static void forget_outputs(const struct mlp_net *net, size_t r)
{
	for (size_t l = 0; l + 1 < net->nlayers; l++) {
		const struct mlp_layer *y = &net->layer[l];

		memset(y->act + r * y->row, 0, y->row * sizeof *y->act);
	}
}

void mlp__net_backward(struct mlp_net *net, const struct rows *rows, const uint32_t *number,
		       double clip, double unit)
{
	float *norm = net->factor; /* squared at first */
	float whole = (float)fabs(unit), factor;
	double slack = length_slack(net);

	memset(norm, 0, net->input.count * sizeof *norm);
	memset(net->reach, 0, net->input.count * sizeof *net->reach);
	for (size_t l = net->nlayers; l-- > 0;) {
		finish_delta(net, l, rows, number, norm);
		if (l > 0)
			delta_before(net, &net->layer[l]);
	}
	for (size_t r = 0; r < net->input.count; r++) {
		double hidden = subnormal_slack(net, r), left = fabs(unit) * clip - hidden;

		/* if the norm is finite, so is all that it was summed from */
		if (!isfinite(norm[r]))
			forget_outputs(net, r);
		factor = sgd_clip_factor(left > 0 ? left : 0, norm[r] + hidden, slack);
		factor = factor >= whole ? whole : factor;
		net->factor[r] = unit < 0 ? -factor : factor;
	}
}

/* ---- gradient ---- */

static void gradient_panel(const struct mlp_net *net, size_t l, size_t c, float *sum, bool add)
{
	const struct mlp_layer *y = &net->layer[l], *x = y - 1;
	size_t width = panel_width(y->columns, c), count = net->input.count;
	struct mlp_product p = { .b = net->panel,
				 .c = sum,
				 .c_row = width,
				 .rows = y->in + 1,
				 .width = width,
				 .add = add };

	if (count == 0 && !add)
		memset(sum, 0, y->rows * width * sizeof *sum);
	for (size_t r = 0; r < count; r++) {
		float *to = net->panel + r * width;

		if (net->factor[r] == 0)
			memset(to, 0, width * sizeof *to);
		else
			net->kernels->scale(to, y->delta + r * y->row + c, net->factor[r], width);
	}
	if (l == 0)
		mlp__input_gradient(&net->input, &p);
	else
		mlp__dense_gradient(net->kernels, x->act, x->row, count, &p);
}

void mlp__net_gradient(const struct mlp_net *net, float *sum, bool add,
		       const struct mlp_noise *noise)
{
	for (size_t l = 0; l < net->nlayers; l++) {
		const struct mlp_layer *y = &net->layer[l];

		for (size_t c = 0; c < y->columns; c += MLP_PANEL) {
			float *panel = sum + y->at + c * y->rows;

			gradient_panel(net, l, c, panel, add);
			if (noise->sd != 0) /* while the panel is in the cache */
				noise_add(noise->stream, noise->sd, panel,
					  y->rows * panel_width(y->columns, c));
		}
	}
}
