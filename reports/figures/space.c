/* space.c - the parameters of a study in pictures: axes, which ones are shown, the point
 * that slices go through. */
#include "reports/figures/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t space_free(const struct dp_study *s, size_t param[DP_PARAMS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s->nparams; i++)
		if (s->params[i].kind != DP_PARAM_FIXED && s->params[i].kind != DP_PARAM_CALIBRATED)
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

void space_axis(struct plot_panel *a, enum plot_side side, const struct dp_study *s, size_t param)
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

/* ---- models and oracles ---- */

/* What a fit of the objective chose; false: it has no model. */
static bool model_info(const struct subject *s, size_t objective, struct dp_surrogate_info *out)
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
	if (dp_calibrated_before(s, objective) && (code = dp_space_derive(s, own, err)) != DP_OK)
		return code;
	/* elsewhere a fixed parameter has its one value, whatever x says */
	return dp_objective_privacy_at(s, NULL, objective, own, walked ? x[path->param] : NAN, out,
				       err);
}

/* ---- parameters that matter ---- */

/* The first `most` parameters by relevance and the first `derived` of those that follow
 * from the others, in the order of the file. Returns how many. */
static size_t choose_shown(const struct subject *s, size_t most, size_t derived, size_t *shown,
			   size_t *all)
{
	const struct dp_study *spec = s->s->spec;
	bool chosen[DP_PARAMS_MAX] = { false };
	size_t n = 0;

	*all = s->nrank;
	for (size_t i = 0; i < s->nrank && i < most; i++)
		chosen[s->rank[i]] = true;
	for (size_t i = 0; i < spec->nparams; i++) {
		bool follows = derived > 0 && spec->params[i].kind == DP_PARAM_CALIBRATED;

		derived -= follows;
		if (chosen[i] || follows)
			shown[n++] = i;
	}
	return n;
}

size_t space_shown(const struct subject *s, size_t most, size_t *shown, size_t *all)
{
	return choose_shown(s, most, 0, shown, all);
}

size_t space_pictured(const struct subject *s, size_t most, size_t *shown, size_t *all)
{
	size_t derived = 0, few, n;

	for (size_t i = 0; i < s->s->spec->nparams; i++)
		derived += s->s->spec->params[i].kind == DP_PARAM_CALIBRATED;
	few = derived < most / 2 ? derived : most / 2;
	n = choose_shown(s, most - few, few, shown, all);
	*all += derived;
	return n;
}

/* ---- the incumbent ---- */

bool space_has_front(const struct subject *s)
{
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_point_objectives(s->s, s->points[i]);

		if (isfinite(y[s->x]) && isfinite(y[s->y]) && dp_point_feasible(s->s, s->points[i]))
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

int space_incumbent(const struct subject *s, struct space_through *out, struct dp_err *err)
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

void space_say_value(const struct dp_study *s, size_t param, double x, struct dp_buf *out)
{
	enum dp_param_kind kind = s->params[param].kind;
	char text[FIG_TEXT_LEN];

	if (kind == DP_PARAM_FLOAT || kind == DP_PARAM_CALIBRATED)
		dp_buf_puts(out, fig_number(x, text));
	else
		dp_space_text(s, param, x, out);
}

void space_say_point(const struct subject *s, struct dp_point p, struct dp_buf *out)
{
	const double *y = dp_point_objectives(s->s, p);
	char text[POINT_TEXT_LEN];

	dp_buf_printf(out, "trial %s (", point_text(p.trial, subject_point_at(s, p), text));
	fig_say(s, s->x, y[s->x], out);
	dp_buf_puts(out, ", ");
	fig_say(s, s->y, y[s->y], out);
	dp_buf_puts(out, ")");
}

/* ---- points ---- */

static double space_coordinate(const struct subject *s, struct dp_point p, struct space_where w)
{
	double x[DP_PARAMS_MAX];

	if (w.objective)
		return dp_point_objectives(s->s, p)[w.index];
	dp_point_x(s->s, p, x);
	return x[w.index];
}

/* One of given points has its objectives where it stands: models may have put it
 * there. */
static double given_coordinate(const struct subject *s, const struct fig_points *only, size_t i,
			       struct space_where w)
{
	if (w.objective && w.index == s->x)
		return only->x[i];
	if (w.objective && w.index == s->y)
		return only->y[i];
	return space_coordinate(s, only->of[i], w);
}

int space_places(const struct subject *s, const struct fig_points *only, struct space_where x,
		 struct space_where y, struct fig_points *out, struct dp_err *err)
{
	size_t n = only ? only->n : s->npoints;
	size_t room = n > SPACE_POINTS_MAX && !only ? SPACE_POINTS_MAX : n;

	if (!fig_points_room(out, n))
		return fig_nomem(err);
	for (size_t i = 0; i < n; i++) {
		struct dp_point p = only ? only->of[i] : s->points[i];
		double a = only ? given_coordinate(s, only, i, x) : space_coordinate(s, p, x);
		double b = only ? given_coordinate(s, only, i, y) : space_coordinate(s, p, y);

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
