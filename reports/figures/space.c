/* space.c - the parameters of a study in pictures: axes, relevance, the point that
 * slices go through. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SWING_POINTS = 9, /* of each parameter, to see how far epsilon moves */
};

size_t space_free(const struct dp_study *s, size_t param[DP_PARAMS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind != DP_PARAM_FIXED &&
		    s->params[i].kind != DP_PARAM_CALIBRATED)
			param[n++] = i;
	return n;
}

/* ---- axes ---- */

void space_names(const struct dp_study *s, size_t param, struct space_names *out)
{
	const struct dp_param *p = &s->params[param];

	memset(out, 0, sizeof *out);
	if (p->kind == DP_PARAM_CATEGORICAL)
		out->n = json_array_size(p->values);
	for (size_t i = 0; i < out->n; i++) {
		dp_space_text(s, param, (double)i, &out->text[i]);
		out->name[i] = dp_buf_text(&out->text[i]);
	}
}

void space_names_free(struct space_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		dp_buf_free(&n->text[i]);
}

enum plot_scale space_scale(const struct dp_param *p)
{
	return p->log ? PLOT_LOG : PLOT_LINEAR;
}

void space_axis(struct plot_panel *a, enum plot_side side, const struct dp_study *s,
		size_t param)
{
	const struct dp_param *p = &s->params[param];
	struct space_names names;

	panel_axis(a, side, p->name, space_scale(p));
	if (p->kind == DP_PARAM_INT)
		panel_whole(a, side);
	space_names(s, param, &names);
	if (names.n)
		panel_names(a, side, names.name, names.n);
	space_names_free(&names);
}

/* ---- relevance ---- */

/* Divides by the sum; false if that is not possible. */
static bool to_shares(double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	if (!(sum > 0) || !isfinite(sum))
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] /= sum;
	return true;
}

/* What a fit of the objective chose; false: it has no model. */
static bool model_info(const struct subject *s, size_t objective,
		       struct dp_surrogate_info *out)
{
	return s->models && dp_surrogate_info(s->models, objective, out) == DP_OK &&
	       out->length[0] > 0; /* 0: known exactly, never fitted */
}

bool space_oracle_slow(const struct subject *s, size_t objective)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	struct dp_surrogate_info info;

	if (!s->models) /* what is prepared for a search is not prepared here */
		return o->privacy &&
		       dp_objective_cost(s->s->spec, objective) != DP_PRIVACY_CLOSED_FORM;
	return model_info(s, objective, &info) && info.exact;
}

bool space_model_shares(const struct subject *s, size_t objective, double *share)
{
	size_t param[DP_PARAMS_MAX], n = space_free(s->s->spec, param);
	struct dp_surrogate_info info;

	if (n == 0 || !model_info(s, objective, &info))
		return false;
	for (size_t i = 0; i < n; i++)
		share[i] = 1 / info.length[i];
	return to_shares(share, n);
}

int space_epsilon(const struct dp_study *s, size_t objective, const double *x,
		  struct dp_epsilon *out, struct dp_err *err)
{
	const struct dp_path *path = &s->trainer.path;
	bool walked = path->points && s->params[path->param].kind == DP_PARAM_FIXED;
	double target = dp_calibrated_epsilon(s, objective, x), own[DP_PARAMS_MAX];
	int code;

	if (!isnan(target)) {
		*out = (struct dp_epsilon){ .epsilon = target };
		return DP_OK;
	}
	memcpy(own, x, s->nparams * sizeof *own);
	dp_space_underive(s, own); /* it was that of another point */
	if (dp_calibrated_before(s, objective) &&
	    (code = dp_space_derive(s, own, err)) != DP_OK)
		return code;
	/* elsewhere a fixed parameter has its one value, whatever x says */
	return dp_objective_privacy_at(s, NULL, objective, own,
				       walked ? x[path->param] : NAN, out, err);
}

/* How far log epsilon moves over the range of one parameter. */
static double space_swing(const struct dp_study *s, size_t objective, const double *at,
			  size_t param)
{
	double x[DP_PARAMS_MAX], lo = INFINITY, hi = -INFINITY;
	struct space_cells cells;
	struct dp_epsilon e;
	struct dp_err err;

	if (space_cells(s, param, SWING_POINTS, &cells, &err) != DP_OK)
		return 0;
	memcpy(x, at, s->nparams * sizeof *x);
	for (size_t i = 0; i < cells.n; i++) {
		x[param] = cells.centre[i];
		if (space_epsilon(s, objective, x, &e, &err) != DP_OK ||
		    !(e.epsilon > 0) || isinf(e.epsilon))
			continue;
		lo = fmin(lo, log(e.epsilon));
		hi = fmax(hi, log(e.epsilon));
	}
	space_cells_free(&cells);
	return hi > lo ? hi - lo : 0;
}

bool space_oracle_shares(const struct subject *s, size_t objective, const double *at,
			 double *share)
{
	const struct dp_study *spec = s->s->spec;
	size_t param[DP_PARAMS_MAX], n = space_free(spec, param);

	if (!spec->objectives[objective].privacy || space_oracle_slow(s, objective))
		return false;
	for (size_t i = 0; i < n; i++)
		share[i] = space_swing(spec, objective, at, param[i]);
	return to_shares(share, n);
}

size_t space_rank(const struct subject *s, const double *at, size_t param[DP_PARAMS_MAX])
{
	const size_t shown[] = { s->x, s->y };
	double sum[DP_PARAMS_MAX] = { 0 }, share[DP_PARAMS_MAX];
	size_t n = space_free(s->s->spec, param);

	for (size_t k = 0; k < DP_COUNT(shown); k++) {
		if (!space_model_shares(s, shown[k], share) &&
		    !space_oracle_shares(s, shown[k], at, share))
			continue;
		for (size_t i = 0; i < n; i++)
			sum[i] += share[i];
	}
	/* insertion: equal ones keep the order of the file */
	for (size_t i = 1; i < n; i++) {
		size_t moved = param[i], to = i;
		double value = sum[i];

		for (; to > 0 && sum[to - 1] < value; to--) {
			sum[to] = sum[to - 1];
			param[to] = param[to - 1];
		}
		sum[to] = value;
		param[to] = moved;
	}
	return n;
}

/* The first `most` parameters by relevance and the first `derived` of those that follow
 * from the others, in the order of the file. Returns how many. */
static size_t choose_shown(const struct subject *s, const double *at, size_t most,
			   size_t derived, size_t *shown, size_t *all)
{
	const struct dp_study *spec = s->s->spec;
	size_t param[DP_PARAMS_MAX], n = 0;
	bool chosen[DP_PARAMS_MAX] = { false };

	*all = space_rank(s, at, param);
	for (size_t i = 0; i < *all && i < most; i++)
		chosen[param[i]] = true;
	for (size_t i = 0; i < spec->nparams; i++) {
		bool follows = derived > 0 && spec->params[i].kind == DP_PARAM_CALIBRATED;

		derived -= follows;
		if (chosen[i] || follows)
			shown[n++] = i;
	}
	return n;
}

size_t space_shown(const struct subject *s, const double *at, size_t most, size_t *shown,
		   size_t *all)
{
	return choose_shown(s, at, most, 0, shown, all);
}

size_t space_pictured(const struct subject *s, const double *at, size_t most,
		      size_t *shown, size_t *all)
{
	size_t derived = 0, few, n;

	for (size_t i = 0; i < s->s->spec->nparams; i++)
		derived += s->s->spec->params[i].kind == DP_PARAM_CALIBRATED;
	few = derived < most / 2 ? derived : most / 2;
	n = choose_shown(s, at, most - few, few, shown, all);
	*all += derived;
	return n;
}

/* ---- the incumbent ---- */

bool space_has_front(const struct subject *s)
{
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_point_objectives(s->s, s->points[i]);

		if (isfinite(y[s->x]) && isfinite(y[s->y]) &&
		    dp_point_feasible(s->s, s->points[i]))
			return true;
	}
	return false;
}

/* How far each value of an objective is from the best of them, in 0..1. */
static double from_best(const struct dp_objective *o, const double *v, size_t n, size_t i)
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

size_t space_knee(const struct subject *s, const struct fig_points *front)
{
	const struct dp_objective *o = s->s->spec->objectives;
	double least[2] = { INFINITY, INFINITY }; /* outside and inside of the box */
	size_t best[2] = { 0, 0 };

	for (size_t i = 0; i < front->n; i++) {
		double far = hypot(from_best(&o[s->x], front->x, front->n, i),
				   from_best(&o[s->y], front->y, front->n, i));
		bool in = fig_in_box(s, front->x[i], front->y[i]);

		if (far < least[in]) {
			least[in] = far;
			best[in] = i;
		}
	}
	return best[isfinite(least[1])];
}

int space_incumbent(const struct subject *s, struct space_through *out,
		    struct dp_err *err)
{
	struct fig_points front = { 0 };
	int code = fig_subject_front(s, &front, err);

	*out = (struct space_through){ .known = code == DP_OK && s->npoints > 0 };
	if (out->known) {
		out->point = front.n ? front.of[space_knee(s, &front)] : s->points[0];
		dp_point_x(s->s, out->point, out->x);
	}
	fig_points_free(&front);
	return code;
}

void space_say_point(const struct subject *s, struct dp_point p, struct dp_buf *out)
{
	const double *y = dp_point_objectives(s->s, p);
	char text[POINT_TEXT_LEN];

	dp_buf_printf(out, "trial %s (",
		      point_text(p.trial, subject_point_at(s, p), text));
	fig_say(s, s->x, y[s->x], out);
	dp_buf_puts(out, ", ");
	fig_say(s, s->y, y[s->y], out);
	dp_buf_puts(out, ")");
}

/* ---- points ---- */

static double space_coordinate(const struct subject *s, struct dp_point p,
			       struct space_where w)
{
	double x[DP_PARAMS_MAX];

	if (w.objective)
		return dp_point_objectives(s->s, p)[w.index];
	dp_point_x(s->s, p, x);
	return x[w.index];
}

/* One of given points has its objectives where it stands: models may have put it
 * there. */
static double given_coordinate(const struct subject *s, const struct fig_points *only,
			       size_t i, struct space_where w)
{
	if (w.objective && w.index == s->x)
		return only->x[i];
	if (w.objective && w.index == s->y)
		return only->y[i];
	return space_coordinate(s, only->of[i], w);
}

int space_places(const struct subject *s, const struct fig_points *only,
		 struct space_where x, struct space_where y, struct fig_points *out,
		 struct dp_err *err)
{
	size_t n = only ? only->n : s->npoints;
	size_t room = n > SPACE_POINTS_MAX && !only ? SPACE_POINTS_MAX : n;

	if (!fig_points_room(out, n))
		return fig_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct dp_point p = only ? only->of[i] : s->points[i];
		double a = only ? given_coordinate(s, only, i, x)
				: space_coordinate(s, p, x);
		double b = only ? given_coordinate(s, only, i, y)
				: space_coordinate(s, p, y);

		if (i * room / n == (i + 1) * room / n)
			continue; /* one at each of `room` even steps */
		if (!isfinite(a) || !isfinite(b))
			continue;
		out->x[out->n] = a;
		out->y[out->n] = b;
		out->of[out->n++] = p;
	}
	return DP_OK;
}

struct plot_style space_behind(size_t n, bool on_heat)
{
	bool many = n > 300;

	if (on_heat)
		return (struct plot_style){ .colour = 0xffffff,
					    .size = many ? 2.5 : 3.5,
					    .opacity = many ? 0.6 : 0.9 };
	return (struct plot_style){ .colour = plot_palette(PLOT_GREY),
				    .size = many ? 3 : 4,
				    .opacity = many ? 0.25 : 0.4 };
}
