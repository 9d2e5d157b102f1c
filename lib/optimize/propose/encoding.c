/* encoding.c - maps the searched parameters of a study to the unit cube of the models. */
#include "optimize/propose/proposer_internal.h"
#include "study/learning_curve.h"

#include <math.h>
#include <string.h>

/* On narrower ranges (hi / lo) both scales look the same. */
#define LOG_SCALE_MIN_RATIO 3

static void encoding_init_numeric(const struct dp_param *p, struct dp__input *in)
{
	in->kind = p->kind == DP_PARAM_INT ? DP__INPUT_INT : DP__INPUT_FLOAT;
	in->lo = p->kind == DP_PARAM_INT ? ceil(p->lo) : p->lo;
	in->hi = p->kind == DP_PARAM_INT ? floor(p->hi) : p->hi;
	in->is_log_in_study = p->log_scale;
	in->is_log = in->lo > 0 && in->hi / in->lo >= LOG_SCALE_MIN_RATIO;
	in->log_range = in->is_log ? log(in->hi / in->lo) : 0;
	in->n_values = p->kind == DP_PARAM_INT ? in->hi - in->lo + 1 : INFINITY;
	if (in->hi == in->lo)
		in->n_values = 1;
}

static void encoding_init_path(const struct dp_study *study, struct dp__encoding *out)
{
	size_t param = study->trainer.learning_curve.param;
	double x[DP_PARAMS_MAX] = { 0 };
	struct dp__input *in = out->inputs;

	/* a fixed parameter becomes the last input, because it varies over checkpoints */
	if (study->params[param].kind == DP_PARAM_FIXED) {
		in = &out->inputs[out->d++];
		encoding_init_numeric(
			&(struct dp_param){ .kind = DP_PARAM_INT,
					    .lo = 1,
					    .hi = json_number_value(study->params[param].values) },
			in);
		in->param = param;
		in->n_values = 1;
		in->is_pinned = true;
	}
	while (in->param != param)
		in++;
	out->path_input = (size_t)(in - out->inputs);
	x[in->param] = in->hi;
	out->n_checkpoints = dp_learning_curve_checkpoints(study, x, out->checkpoints);
	for (size_t k = 0; k < out->n_checkpoints; k++)
		out->checkpoints_u[k] = dp__input_encode(in, out->checkpoints[k]);
}

void dp__encoding_init(const struct dp_study *study, struct dp__encoding *out)
{
	memset(out, 0, sizeof *out);
	out->n_points = 1;
	for (size_t i = 0; i < study->nparams; i++) {
		const struct dp_param *p = &study->params[i];
		struct dp__input *in = &out->inputs[out->d];

		if (p->kind == DP_PARAM_FIXED)
			continue;
		if (p->kind == DP_PARAM_CALIBRATED) { /* computed from the others */
			out->calibrated[out->n_calibrated++] = i;
			continue;
		}
		in->param = i;
		if (p->kind == DP_PARAM_CATEGORICAL) {
			in->kind = DP__INPUT_CATEGORY;
			in->n_values = (double)json_array_size(p->values);
			in->hi = in->n_values - 1;
		} else {
			encoding_init_numeric(p, in);
		}
		out->n_points *= in->n_values;
		out->d++;
	}
	if (study->trainer.learning_curve.points)
		encoding_init_path(study, out);
}

void dp__encoding_get_column(const struct dp__encoding *s, const double *u, size_t ldu, double *one)
{
	for (size_t k = 0; k < s->d; k++)
		one[k] = u[k * ldu];
}

void dp__encoding_set_column(const struct dp__encoding *s, const double *one, double *u, size_t ldu)
{
	for (size_t k = 0; k < s->d; k++)
		u[k * ldu] = one[k];
}

bool dp__encoding_has_kind(const struct dp__encoding *s, enum dp__input_kind kind)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->inputs[k].kind == kind && s->inputs[k].n_values > 1)
			return true;
	return false;
}

void dp__encoding_pin(const struct dp__encoding *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->inputs[k].is_pinned)
			x[s->inputs[k].param] = s->inputs[k].hi;
}

void dp__encoding_pin_unset(const struct dp__encoding *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->inputs[k].is_pinned && x[s->inputs[k].param] == 0)
			x[s->inputs[k].param] = s->inputs[k].hi;
}

void dp__encoding_unpin(const struct dp__encoding *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->inputs[k].is_pinned)
			x[s->inputs[k].param] = 0;
}

double dp__input_encode(const struct dp__input *in, double x)
{
	if (in->kind == DP__INPUT_CATEGORY)
		return x;
	if (in->hi <= in->lo)
		return 0.5;
	x = fmin(fmax(x, in->lo), in->hi);
	return in->is_log ? log(x / in->lo) / in->log_range : (x - in->lo) / (in->hi - in->lo);
}

double dp__input_decode(const struct dp__input *in, double u)
{
	double x;

	if (in->kind == DP__INPUT_CATEGORY)
		return u;
	x = in->is_log ? in->lo * exp(u * in->log_range) : in->lo + u * (in->hi - in->lo);
	return fmin(fmax(x, in->lo), in->hi);
}

void dp__encoding_decode(const struct dp__encoding *s, const double *u, double *x)
{
	for (size_t i = 0; i < s->n_calibrated; i++)
		x[s->calibrated[i]] = NAN;
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->inputs[k];
		double v = dp__input_decode(in, u[k]);

		if (in->kind != DP__INPUT_FLOAT)
			v = fmin(fmax(rint(v), in->lo), in->hi);
		x[in->param] = v;
	}
}

void dp__encoding_encode(const struct dp__encoding *s, const double *x, double *u)
{
	for (size_t k = 0; k < s->d; k++)
		u[k] = dp__input_encode(&s->inputs[k], x[s->inputs[k].param]);
}

void dp__encoding_round(const struct dp__encoding *s, double *u)
{
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->inputs[k];

		if (in->kind == DP__INPUT_FLOAT)
			u[k] = fmin(fmax(u[k], 0), 1);
		else
			u[k] = dp__input_encode(
				in, fmin(fmax(rint(dp__input_decode(in, u[k])), in->lo), in->hi));
	}
}

bool dp__encoding_round_variant(const struct dp__encoding *s, const double *u, size_t j,
				double *out)
{
	const struct dp__input *in = &s->inputs[j - (j > 0)];

	if (j > 0 && (in->kind != DP__INPUT_INT || in->n_values < 2))
		return false;
	memcpy(out, u, s->d * sizeof *out);
	dp__encoding_round(s, out);
	if (j > 0) {
		double x = rint(dp__input_decode(in, out[j - 1]));

		out[j - 1] = dp__input_encode(in, x + (u[j - 1] > out[j - 1] ? 1 : -1));
	}
	return true;
}

double dp__encoding_min_input(const struct dp__encoding *s, size_t k, dp__cube_fn *fn,
			      const void *arg, double *u, bool *matters)
{
	const struct dp__input *in = &s->inputs[k];
	double kept = u[k], best = kept, here = fn(arg, u), least = here;
	size_t places = in->kind == DP__INPUT_CATEGORY ? (size_t)in->n_values : 2;

	*matters = false;
	for (size_t i = 0; i < places && in->n_values > 1; i++) {
		double value;

		u[k] = (double)i;
		value = fn(arg, u);
		*matters |= value != here;
		if (value < least) {
			least = value;
			best = (double)i;
		}
	}
	u[k] = kept;
	return best;
}

/* Point of the space at `far` (0 to 1) of the way from `inside` to `from`. */
static void interpolate_points(const struct dp__encoding *s, const double *inside,
			       const double *from, double far, double *u)
{
	for (size_t k = 0; k < s->d; k++)
		u[k] = isnan(inside[k]) ? from[k]
		       : s->inputs[k].kind == DP__INPUT_CATEGORY
			       ? inside[k]
			       : inside[k] + far * (from[k] - inside[k]);
	dp__encoding_round(s, u);
}

bool dp__encoding_pull(const struct dp__encoding *s, dp__cube_fn *fn, const void *arg, double limit,
		       int bisections, const double *inside, double *u)
{
	double from[DP_PARAMS_MAX], at[DP_PARAMS_MAX], lo = 0, hi = 1;

	memcpy(from, u, s->d * sizeof *from);
	interpolate_points(s, inside, from, 0, u);
	if (!(fn(arg, u) <= limit))
		return false;
	for (int i = 0; i < bisections; i++) {
		double middle = 0.5 * (lo + hi);

		interpolate_points(s, inside, from, middle, at);
		if (fn(arg, at) <= limit) {
			memcpy(u, at, s->d * sizeof *u);
			lo = middle;
		} else {
			hi = middle;
		}
	}
	return true;
}

nlopt_opt dp__encoding_new_climb(const struct dp__encoding *s, nlopt_algorithm algorithm,
				 const double *u, bool held)
{
	double lo[DP_PARAMS_MAX], hi[DP_PARAMS_MAX];
	nlopt_opt opt = nlopt_create(algorithm, (unsigned)s->d);

	if (!opt)
		dp_out_of_memory();
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->inputs[k];
		bool fixed = in->kind == DP__INPUT_CATEGORY ||
			     (held && in->kind == DP__INPUT_INT) || in->n_values < 2;

		lo[k] = fixed ? u[k] : 0;
		hi[k] = fixed ? u[k] : 1;
	}
	nlopt_set_lower_bounds(opt, lo);
	nlopt_set_upper_bounds(opt, hi);
	return opt;
}

void dp__encoding_to_gp_spec(const struct dp__encoding *s, struct dp_gp_spec *out)
{
	memset(out, 0, sizeof *out);
	out->d = s->d;
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->inputs[k];
		struct dp_gp_input *g = &out->input[k];

		g->categorical = in->kind == DP__INPUT_CATEGORY;
		if (g->categorical)
			continue;
		if (in->is_log) { /* c = 0: logarithmic, c = log_range: linear */
			g->warp_prior_mean = in->is_log_in_study ? 0 : in->log_range;
			g->warp_alternative = in->is_log_in_study ? in->log_range : 0;
			g->warp_sd = 0.75 * in->log_range;
			g->warp_lo = -0.5 * in->log_range;
			g->warp_hi = 1.5 * in->log_range;
		} else {
			g->warp_sd = 0.3;
			g->warp_lo = -3;
			g->warp_hi = 3;
		}
	}
}

void dp__encoding_nth_point(const struct dp__encoding *s, uint64_t index, double *x)
{
	for (size_t k = s->d; k-- > 0;) {
		const struct dp__input *in = &s->inputs[k];
		uint64_t n = (uint64_t)in->n_values;

		x[in->param] = in->lo + (double)(index % n);
		index /= n;
	}
	dp__encoding_pin(s, x);
}
