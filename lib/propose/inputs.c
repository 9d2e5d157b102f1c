/* inputs.c - the study's free parameters as the unit cube of the models. */
#include "propose/propose_internal.h"

#include <math.h>
#include <string.h>

/* Ranges narrower than this factor look the same on both scales. */
static const double wide = 3;

static void input_numeric(const struct dp_param *p, struct dp__input *in)
{
	in->kind = p->kind == DP_PARAM_INT ? DP__INT : DP__FLOAT;
	in->lo = p->kind == DP_PARAM_INT ? ceil(p->lo) : p->lo;
	in->hi = p->kind == DP_PARAM_INT ? floor(p->hi) : p->hi;
	in->file_log = p->log;
	in->log = in->lo > 0 && in->hi / in->lo >= wide;
	in->ln_ratio = in->log ? log(in->hi / in->lo) : 0;
	in->values = p->kind == DP_PARAM_INT ? in->hi - in->lo + 1 : INFINITY;
	if (in->hi == in->lo)
		in->values = 1;
}

/* A fixed parameter is an input all the same if trainings walk it up: the models know
 * what it was on the way. It comes after all others. */
static void input_pinned(const struct dp_study *study, struct dp__inputs *out)
{
	const struct dp_param *p = &study->params[study->trainer.path.param];
	struct dp_param walked = { .kind = DP_PARAM_INT, .lo = 1 };
	struct dp__input *in = &out->in[out->d++];

	walked.hi = json_number_value(p->values);
	in->param = study->trainer.path.param;
	input_numeric(&walked, in);
	in->values = 1;
	in->pinned = true;
}

static void inputs_path(const struct dp_study *study, struct dp__inputs *out)
{
	double x[DP_PARAMS_MAX] = { 0 };
	const struct dp__input *in;

	if (study->params[study->trainer.path.param].kind == DP_PARAM_FIXED)
		input_pinned(study, out);
	while (out->in[out->path].param != study->trainer.path.param)
		out->path++;
	in = &out->in[out->path];
	x[in->param] = in->hi;
	out->nwaypoints = dp_path_values(study, x, out->waypoint);
	for (size_t k = 0; k < out->nwaypoints; k++)
		out->waypoint_u[k] = dp__place_of(in, out->waypoint[k]);
}

void dp__inputs(const struct dp_study *study, struct dp__inputs *out)
{
	memset(out, 0, sizeof *out);
	out->points = 1;
	for (size_t i = 0; i < study->nparams; i++) {
		const struct dp_param *p = &study->params[i];
		struct dp__input *in = &out->in[out->d];

		if (p->kind == DP_PARAM_FIXED)
			continue;
		if (p->kind == DP_PARAM_CALIBRATED) { /* follows from the others */
			out->derived[out->nderived++] = i;
			continue;
		}
		in->param = i;
		if (p->kind == DP_PARAM_CATEGORICAL) {
			in->kind = DP__CATEGORY;
			in->values = (double)json_array_size(p->values);
			in->hi = in->values - 1;
		} else {
			input_numeric(p, in);
		}
		out->points *= in->values;
		out->d++;
	}
	if (study->trainer.path.points)
		inputs_path(study, out);
}

bool dp__inputs_have(const struct dp__inputs *s, enum dp__input_kind kind)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->in[k].kind == kind && s->in[k].values > 1)
			return true;
	return false;
}

void dp__pin(const struct dp__inputs *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->in[k].pinned)
			x[s->in[k].param] = s->in[k].hi;
}

void dp__pin_unset(const struct dp__inputs *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->in[k].pinned && x[s->in[k].param] == 0)
			x[s->in[k].param] = s->in[k].hi;
}

void dp__unpin(const struct dp__inputs *s, double *x)
{
	for (size_t k = 0; k < s->d; k++)
		if (s->in[k].pinned)
			x[s->in[k].param] = 0;
}

double dp__place_of(const struct dp__input *in, double x)
{
	if (in->kind == DP__CATEGORY)
		return x;
	if (in->hi <= in->lo)
		return 0.5;
	x = fmin(fmax(x, in->lo), in->hi);
	return in->log ? log(x / in->lo) / in->ln_ratio : (x - in->lo) / (in->hi - in->lo);
}

double dp__native(const struct dp__input *in, double u)
{
	double x;

	if (in->kind == DP__CATEGORY)
		return u;
	x = in->log ? in->lo * exp(u * in->ln_ratio) : in->lo + u * (in->hi - in->lo);
	return fmin(fmax(x, in->lo), in->hi);
}

void dp__to_x(const struct dp__inputs *s, const double *u, double *x)
{
	for (size_t i = 0; i < s->nderived; i++)
		x[s->derived[i]] = NAN;
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->in[k];
		double v = dp__native(in, u[k]);

		if (in->kind != DP__FLOAT)
			v = fmin(fmax(rint(v), in->lo), in->hi);
		x[in->param] = v;
	}
}

void dp__to_u(const struct dp__inputs *s, const double *x, double *u)
{
	for (size_t k = 0; k < s->d; k++)
		u[k] = dp__place_of(&s->in[k], x[s->in[k].param]);
}

void dp__snap(const struct dp__inputs *s, double *u)
{
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->in[k];

		if (in->kind == DP__FLOAT)
			u[k] = fmin(fmax(u[k], 0), 1);
		else
			u[k] = dp__place_of(in,
					    fmin(fmax(rint(dp__native(in, u[k])), in->lo), in->hi));
	}
}

void dp__gp_spec(const struct dp__inputs *s, struct dp_gp_spec *out)
{
	memset(out, 0, sizeof *out);
	out->d = s->d;
	out->kernel = &dp_kernel_matern52;
	for (size_t k = 0; k < s->d; k++) {
		const struct dp__input *in = &s->in[k];
		struct dp_gp_input *g = &out->input[k];

		g->categorical = in->kind == DP__CATEGORY;
		if (g->categorical)
			continue;
		if (in->log) { /* 0: logarithm, ln_ratio: linear */
			g->warp = in->file_log ? 0 : in->ln_ratio;
			g->warp_other = in->file_log ? in->ln_ratio : 0;
			g->warp_sd = 0.75 * in->ln_ratio;
			g->warp_lo = -0.5 * in->ln_ratio;
			g->warp_hi = 1.5 * in->ln_ratio;
		} else {
			g->warp_sd = 0.3;
			g->warp_lo = -3;
			g->warp_hi = 3;
		}
	}
}

void dp__nth_point(const struct dp__inputs *s, uint64_t index, double *x)
{
	for (size_t k = s->d; k-- > 0;) {
		const struct dp__input *in = &s->in[k];
		uint64_t n = (uint64_t)in->values;

		x[in->param] = in->lo + (double)(index % n);
		index /= n;
	}
	dp__pin(s, x);
}
