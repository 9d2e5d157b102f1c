/* param_space.c - the parameter space in figures: axes, shown parameters, slice anchor. */
#include "reports/figures/common/param_space_internal.h"
#include "study/accounting.h"
#include "study/calibrated_params.h"
#include "study/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t space_searched_params(const struct dp_study *s, size_t param[DP_PARAMS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind != DP_PARAM_FIXED && s->params[i].kind != DP_PARAM_CALIBRATED)
			param[n++] = i;
	return n;
}

const char **space_category_names(struct arena *mem, const struct dp_study *s, size_t param,
				  size_t *n)
{
	const struct dp_param *p = &s->params[param];
	const char **names;

	*n = p->kind == DP_PARAM_CATEGORICAL ? json_array_size(p->values) : 0;
	names = arena_calloc(mem, *n, sizeof *names);
	for (size_t i = 0; i < *n; i++) {
		struct dp_buf text = DP_BUF_INIT;

		dp_space_format_value(s, param, (double)i, &text);
		names[i] = arena_take_text(mem, &text);
	}
	return names;
}

enum plot_scale space_scale(const struct dp_param *p)
{
	return p->log_scale ? PLOT_LOG : PLOT_LINEAR;
}

void space_axis(struct plot_panel *a, enum plot_side side, const struct dp_study *s, size_t param)
{
	const struct dp_param *p = &s->params[param];
	struct arena mem = { 0 };
	size_t n;
	const char **names = space_category_names(&mem, s, param, &n);

	panel_axis(a, side, p->name, space_scale(p));
	if (p->kind == DP_PARAM_INT)
		panel_set_integer_ticks(a, side);
	if (n)
		panel_set_categories(a, side, names, n);
	arena_free(&mem);
}

bool space_is_accountant_slow(const struct study_data *s, size_t objective)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	struct dp_surrogate_info info;

	if (!s->surrogates) /* a search's caches are not filled here */
		return o->privacy && dp_objective_accounting_cost(s->state->spec, objective) !=
					     DP_PRIVACY_COST_CLOSED_FORM;
	return dp_surrogate_get_info(s->surrogates, objective, &info) == DP_OK &&
	       info.length[0] > 0 && /* 0: known exactly, not fitted */
	       info.is_exact;
}

int space_epsilon(const struct dp_study *s, size_t objective, const double *x,
		  struct dp_epsilon *out, struct dp_err *err)
{
	const struct dp_learning_curve *path = &s->trainer.learning_curve;
	bool walked = path->points && s->params[path->param].kind == DP_PARAM_FIXED;
	double target = dp_calibration_target_epsilon(s, objective, x), own[DP_PARAMS_MAX];
	int code;

	if (!isnan(target)) {
		*out = (struct dp_epsilon){ .epsilon = target };
		return DP_OK;
	}
	memcpy(own, x, s->nparams * sizeof *own);
	dp_space_clear_calibrated(s, own); /* it belonged to another point */
	if (dp_objective_needs_calibration(s, objective) &&
	    (code = dp_space_solve_calibrated(s, own, err)) != DP_OK)
		return code;
	/* a fixed parameter ignores x, so the path value is passed separately */
	return dp_objective_epsilon_at(s, NULL, objective, own, walked ? x[path->param] : NAN, out,
				       err);
}

/* The `most` most relevant parameters and `derived` of the calibrated ones, in the order of the
 * file. Returns their number. */
static size_t choose_shown_params(const struct study_data *s, size_t most, size_t derived,
				  size_t *shown, size_t *all)
{
	const struct dp_study *spec = s->state->spec;
	bool chosen[DP_PARAMS_MAX] = { false };
	size_t n = 0;

	*all = s->nranked;
	for (size_t i = 0; i < s->nranked && i < most; i++)
		chosen[s->ranking[i]] = true;
	for (size_t i = 0; i < spec->nparams; i++) {
		bool follows = derived > 0 && spec->params[i].kind == DP_PARAM_CALIBRATED;

		derived -= follows;
		if (chosen[i] || follows)
			shown[n++] = i;
	}
	return n;
}

size_t space_top_params(const struct study_data *s, size_t most, size_t *shown, size_t *all)
{
	return choose_shown_params(s, most, 0, shown, all);
}

size_t space_top_params_with_calibrated(const struct study_data *s, size_t most, size_t *shown,
					size_t *all)
{
	size_t derived = 0, few, n;

	for (size_t i = 0; i < s->state->spec->nparams; i++)
		derived += s->state->spec->params[i].kind == DP_PARAM_CALIBRATED;
	few = derived < most / 2 ? derived : most / 2;
	n = choose_shown_params(s, most - few, few, shown, all);
	*all += derived;
	return n;
}

bool space_has_front(const struct study_data *s)
{
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_result_get_objectives(s->state, s->points[i]);

		if (isfinite(y[s->x_obj]) && isfinite(y[s->y_obj]) &&
		    dp_result_is_feasible(s->state, s->points[i]))
			return true;
	}
	return false;
}

/* Distance of the i-th value from the best, scaled to 0..1. */
static double distance_from_best(const struct dp_objective *o, const double *v, size_t n, size_t i)
{
	double lo = INFINITY, hi = -INFINITY, at = v[i];
	bool by_log = o->privacy != NULL || fig_scale(v, n) == PLOT_LOG;

	for (size_t k = 0; k < n; k++) {
		lo = fmin(lo, v[k]);
		hi = fmax(hi, v[k]);
	}
	if (!(hi > lo))
		return 0;
	if (by_log && lo > 0) {
		at = log(at);
		lo = log(lo);
		hi = log(hi);
	}
	return (o->maximize ? hi - at : at - lo) / (hi - lo);
}

size_t space_knee(const struct study_data *s, const struct fig_points *front)
{
	const struct dp_objective *o = s->state->spec->objectives;
	double least[2] = { INFINITY, INFINITY }; /* outside and inside the reference box */
	size_t best[2] = { 0, 0 };

	for (size_t i = 0; i < front->n; i++) {
		double far = hypot(distance_from_best(&o[s->x_obj], front->x, front->n, i),
				   distance_from_best(&o[s->y_obj], front->y, front->n, i));
		bool in = fig_beats_reference_point(s, front->x[i], front->y[i]);

		if (far < least[in]) {
			least[in] = far;
			best[in] = i;
		}
	}
	return best[isfinite(least[1])];
}

struct space_anchor space_find_anchor(const struct study_data *s)
{
	struct space_anchor anchor = { .is_known = s->npoints > 0 };
	struct arena mem = { 0 };
	struct fig_points front = fig_study_front(&mem, s);

	if (anchor.is_known) {
		anchor.point = front.n ? front.results[space_knee(s, &front)] : s->points[0];
		dp_result_get_params(s->state, anchor.point, anchor.x);
	}
	arena_free(&mem);
	return anchor;
}

void space_append_value(const struct dp_study *s, size_t param, double x, struct dp_buf *out)
{
	enum dp_param_kind kind = s->params[param].kind;
	char text[FIG_NUMBER_LEN];

	if (kind == DP_PARAM_FLOAT || kind == DP_PARAM_CALIBRATED)
		dp_buf_puts(out, fig_number(x, text));
	else
		dp_space_format_value(s, param, x, out);
}

void space_append_result(const struct study_data *s, struct dp_result_id p, struct dp_buf *out)
{
	const double *y = dp_result_get_objectives(s->state, p);
	char text[RESULT_NAME_LEN];

	dp_buf_printf(out, "trial %s (",
		      result_format_name(p.trial, study_data_checkpoint_of(s, p), text));
	fig_append_value(s, s->x_obj, y[s->x_obj], out);
	dp_buf_puts(out, ", ");
	fig_append_value(s, s->y_obj, y[s->y_obj], out);
	dp_buf_puts(out, ")");
}

/* Given points may be smoothed: uses their own objective values. */
static double point_coordinate(const struct study_data *s, const struct fig_points *only, size_t i,
			       size_t which)
{
	struct dp_result_id p = only ? only->results[i] : s->points[i];
	double x[DP_PARAMS_MAX];

	if (only && which == SPACE_OBJECTIVE + s->x_obj)
		return only->x[i];
	if (only && which == SPACE_OBJECTIVE + s->y_obj)
		return only->y[i];
	if (which >= SPACE_OBJECTIVE)
		return dp_result_get_objectives(s->state, p)[which - SPACE_OBJECTIVE];
	dp_result_get_params(s->state, p, x);
	return x[which];
}

struct fig_points space_collect_points(struct arena *mem, const struct study_data *s,
				       const struct fig_points *only, size_t x, size_t y)
{
	size_t n = only ? only->n : s->npoints;
	size_t room = n > SPACE_POINTS_MAX && !only ? SPACE_POINTS_MAX : n;
	struct fig_points out = fig_points_new(mem, n);

	for (size_t i = 0; i < n; i++) {
		double a = point_coordinate(s, only, i, x), b = point_coordinate(s, only, i, y);

		if (i * room / n == (i + 1) * room / n)
			continue; /* thin out to `room` evenly spaced points */
		if (isfinite(a) && isfinite(b))
			fig_add_point(&out, a, b, only ? only->results[i] : s->points[i]);
	}
	return out;
}
