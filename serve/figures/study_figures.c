/* study_figures.c - draws fronts and hypervolume curves. */
#include "serve/figures/study_figures.h"

#include "base/json.h"
#include "base/units.h"
#include "ctl/ui/result_id.h"
#include "ctl/text_format.h"
#include "reports/plot/plot.h"
#include "serve/figures/hypervolume_curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *json_string_at(const json_t *list, size_t i)
{
	const char *text = json_string_value(json_array_get(list, i));

	return text ? text : "";
}

static bool objective_is_privacy(const json_t *summary, const char *objective)
{
	const json_t *name;
	size_t i;

	json_array_foreach (json_object_get(summary, "privacy"), i, name)
		if (strcmp(json_string_value(name), objective) == 0)
			return true;
	return false;
}

struct objective_axis {
	const char *name;
	bool is_maximized, is_privacy;
	enum plot_scale scale;
	double anti_ideal; /* NaN: none */
};

static void objective_axis_init(const json_t *summary, size_t i, struct objective_axis *s)
{
	const json_t *anti = json_object_get(summary, "anti_ideal");

	s->name = json_string_at(json_object_get(summary, "objectives"), i);
	s->is_privacy = objective_is_privacy(summary, s->name);
	s->is_maximized =
		strcmp(json_string_at(json_object_get(summary, "goals"), i), "maximize") == 0;
	s->scale = strcmp(json_string_at(json_object_get(summary, "transforms"), i), "log") == 0
			   ? PLOT_LOG
			   : PLOT_LINEAR;
	if (!dp_json_to_real(json_object_get(anti, s->name), &s->anti_ideal))
		s->anti_ideal = NAN;
}

/* Chooses privacy for x and the first other objective for y. False: there are fewer than two. */
static bool choose_objective_axes(const json_t *summary, struct objective_axis *x,
				  struct objective_axis *y)
{
	const json_t *names = json_object_get(summary, "objectives");
	size_t n = json_array_size(names), across = 0;

	while (across < n && !objective_is_privacy(summary, json_string_at(names, across)))
		across++;
	across = across < n ? across : 0;
	if (n < 2)
		return false;
	objective_axis_init(summary, across, x);
	objective_axis_init(summary, across == 0 ? 1 : 0, y);
	return true;
}

bool study_figure_choose_axes(const json_t *summary, struct figure_axis *x, struct figure_axis *y)
{
	struct objective_axis across, up;

	if (!choose_objective_axes(summary, &across, &up))
		return false;
	*x = (struct figure_axis){ across.name, across.scale == PLOT_LOG };
	*y = (struct figure_axis){ up.name, up.scale == PLOT_LOG };
	return true;
}

/* The points of a front as drawn, smoothed where the models chose them. */
struct front_series {
	double *x, *y, *lo, *hi; /* (n); lo and hi are NaN without an interval */
	char **tooltips, **links;
	size_t n;
};

static void front_series_free(struct front_series *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->tooltips[i]);
		free(d->links[i]);
	}
	free(d->x);
	free(d->tooltips);
	free(d->links);
}

static double json_nested_number(const json_t *point, const char *part, const char *name)
{
	double x;
	const json_t *v = json_object_get(json_object_get(point, part), name);

	return v && dp_json_to_real(v, &x) ? x : NAN;
}

static bool point_is_smoothed(const json_t *point)
{
	return json_is_object(json_object_get(point, "denoised"));
}

static double point_value(const json_t *point, const char *name)
{
	return json_nested_number(point, point_is_smoothed(point) ? "denoised" : "objectives",
				  name);
}

static void get_point_interval(const json_t *point, const char *name, double *lo, double *hi)
{
	const json_t *spread = json_object_get(json_object_get(point, "spread"), name);

	if (point_is_smoothed(point)) {
		*lo = json_nested_number(point, "denoised_low", name);
		*hi = json_nested_number(point, "denoised_high", name);
	} else if (!dp_json_to_real(json_object_get(spread, "low"), lo) ||
		   !dp_json_to_real(json_object_get(spread, "high"), hi)) {
		*lo = *hi = NAN;
	}
}

/* "trial 13: ε 0.42, error 0.155 (0.152 to 0.158); lr 0.1, epochs 3" */
static char *format_point_tooltip(const json_t *summary, const json_t *point, const char *study)
{
	const json_t *names = json_object_get(summary, "objectives"), *v,
		     *values = json_object_get(point, point_is_smoothed(point) ? "denoised"
									       : "objectives");
	struct dp_buf out = DP_BUF_INIT;
	char text[CTL_TEXT_LEN], low[CTL_TEXT_LEN], high[CTL_TEXT_LEN];
	const char *name, *sign = "; ";

	if (study)
		dp_buf_printf(&out, "%s, ", study);
	dp_buf_printf(&out, "trial %s", ctl_format_result_id(point, text));
	for (size_t i = 0; i < json_array_size(names); i++) {
		bool privacy;
		double lo, hi;

		name = json_string_at(names, i);
		privacy = objective_is_privacy(summary, name);
		v = json_object_get(values, name);
		dp_buf_printf(&out, "%s%s %s", i ? ", " : ": ", privacy ? "ε" : name,
			      privacy ? ctl_format_upper_bound(v, text)
				      : ctl_format_value(v, text));
		get_point_interval(point, name, &lo, &hi);
		if (!privacy && isfinite(lo) && isfinite(hi))
			dp_buf_printf(&out, " (%s to %s)", ctl_format_number(lo, 4, false, low),
				      ctl_format_number(hi, 4, false, high));
	}
	json_object_foreach (json_object_get(point, "parameters"), name, v) {
		dp_buf_printf(&out, "%s%s %s", sign, name, ctl_format_value(v, text));
		sign = ", ";
	}
	return dp_buf_detach(&out);
}

static int compare_points_by_x(const void *a, const void *b, void *arg)
{
	double u = point_value(*(json_t *const *)a, arg), v = point_value(*(json_t *const *)b, arg);

	return (u > v) - (u < v);
}

static void front_series_load(struct front_series *d, const struct figure_study *s,
			      const struct objective_axis *x, const struct objective_axis *y,
			      bool named)
{
	const json_t *front = json_object_get(s->front, "front");
	const char *study = dp_json_str(s->summary, "name", "");
	size_t n = json_array_size(front);
	const json_t **order = dp_malloc(n * sizeof *order + 1);

	d->x = dp_malloc(4 * n * sizeof *d->x + 1);
	d->y = d->x + n;
	d->lo = d->x + 2 * n;
	d->hi = d->x + 3 * n;
	d->tooltips = dp_calloc(n + 1, sizeof *d->tooltips);
	d->links = dp_calloc(n + 1, sizeof *d->links);
	for (size_t i = 0; i < n; i++)
		order[i] = json_array_get(front, i);
	qsort_r(order, n, sizeof *order, compare_points_by_x, (void *)x->name);
	for (size_t i = 0; i < n; i++) {
		const json_t *p = order[i];
		char id[CTL_TEXT_LEN];
		size_t k = d->n;

		d->x[k] = point_value(p, x->name);
		d->y[k] = point_value(p, y->name);
		if (!isfinite(d->x[k]) || !isfinite(d->y[k]))
			continue;
		get_point_interval(p, y->name, &d->lo[k], &d->hi[k]);
		d->tooltips[k] = format_point_tooltip(s->summary, p, named ? study : NULL);
		d->links[k] =
			dp_asprintf("/studies/%s/trials/%s", study, ctl_format_result_id(p, id));
		d->n++;
	}
	free(order);
}

/* The range of an axis: the fronts and the reference point. A wider range, for evaluated points
 * beyond it, would push the front into a corner. */
struct axis_range {
	double lo, hi;
};

static void axis_range_add(struct axis_range *r, double v, enum plot_scale scale)
{
	if (!isfinite(v) || (scale == PLOT_LOG && v <= 0))
		return;
	r->lo = fmin(r->lo, v);
	r->hi = fmax(r->hi, v);
}

static void axis_range_pad(struct axis_range *r, enum plot_scale scale)
{
	double share = 0.06;

	if (r->lo > r->hi)
		*r = (struct axis_range){ NAN, NAN };
	else if (scale == PLOT_LOG) {
		double by = r->hi > r->lo ? pow(r->hi / r->lo, share) : 2;

		*r = (struct axis_range){ r->lo / by, r->hi * by };
	} else {
		double by =
			r->hi > r->lo ? (r->hi - r->lo) * share : fmax(fabs(r->hi) * share, 1e-9);

		*r = (struct axis_range){ r->lo - by, r->hi + by };
	}
}

struct scatter_points {
	double *x, *y;
	size_t n;
};

/* Collects evaluated points within the figure that met the constraints (`feasible`) or did not.
 * Returns the number of points outside. */
static size_t scatter_points_collect(const struct trial_rows *rows, bool feasible,
				     const struct objective_axis *x, const struct objective_axis *y,
				     const struct axis_range *rx, const struct axis_range *ry,
				     struct scatter_points *out)
{
	int across = trial_rows_find_column(rows, "objectives", x->name),
	    up = trial_rows_find_column(rows, "objectives", y->name),
	    state = trial_rows_find_column(rows, NULL, "state"),
	    meets = trial_rows_find_column(rows, NULL, "feasible");
	size_t outside = 0;

	out->n = 0;
	for (size_t i = 0; i < trial_rows_count(rows); i++) {
		struct trial_cell is = trial_rows_get_cell(rows, i, state),
				  met = trial_rows_get_cell(rows, i, meets),
				  u = trial_rows_get_cell(rows, i, across),
				  v = trial_rows_get_cell(rows, i, up);

		if (isnan(u.number) || isnan(v.number) ||
		    (met.kind == CELL_BOOL && met.number != 0) != feasible || !is.string ||
		    strcmp(is.string, "ok") != 0)
			continue;
		if (u.number < rx->lo || u.number > rx->hi || v.number < ry->lo ||
		    v.number > ry->hi) {
			outside++;
			continue;
		}
		out->x[out->n] = u.number;
		out->y[out->n++] = v.number;
	}
	return outside;
}

/* Returns the number of points outside the figure. */
static size_t draw_evaluated(struct plot_panel *a, const struct figure_study *s,
			     const struct objective_axis *x, const struct objective_axis *y,
			     const struct axis_range *rx, const struct axis_range *ry)
{
	size_t room = trial_rows_count(s->rows), outside;
	double *at = dp_malloc(2 * room * sizeof *at + 1);
	struct scatter_points cloud = { .x = at, .y = at + room };
	struct plot_style dots = { .colour = plot_palette(PLOT_GREY),
				   .size = room > 2000 ? 3 : 5,
				   .opacity = room > 2000 ? 0.25 : 0.5 };

	outside = scatter_points_collect(s->rows, true, x, y, rx, ry, &cloud);
	panel_points(a, &dots, "evaluated", cloud.x, cloud.y, cloud.n);
	outside += scatter_points_collect(s->rows, false, x, y, rx, ry, &cloud);
	dots.marker = PLOT_RING;
	if (cloud.n)
		panel_points(a, &dots, "a constraint is not met", cloud.x, cloud.y, cloud.n);
	free(at);
	return outside;
}

static struct plot_style get_study_style(size_t i)
{
	static const unsigned roles[] = { PLOT_BLUE,   PLOT_ORANGE, PLOT_GREEN,
					  PLOT_PURPLE, PLOT_SKY,    PLOT_BLACK };
	static const enum plot_marker markers[] = { PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE,
						    PLOT_DIAMOND };

	return (struct plot_style){ .colour = plot_palette(roles[i % DP_COUNT(roles)]),
				    .marker = markers[i % DP_COUNT(markers)],
				    .width = 2,
				    .size = 7,
				    .outline = true };
}

/* Is a point of the front also on the front of these two objectives? Always true if the study has
 * only two. Points are sorted from left to right. */
static bool is_on_projected_front(const struct front_series *d, size_t i,
				  const struct objective_axis *x, const struct objective_axis *y)
{
	for (size_t k = 0; k < d->n; k++) {
		bool better_x = x->is_maximized ? d->x[k] > d->x[i] : d->x[k] < d->x[i];
		bool better_y = y->is_maximized ? d->y[k] > d->y[i] : d->y[k] < d->y[i];
		bool as_good_x = better_x || d->x[k] == d->x[i];
		bool as_good_y = better_y || d->y[k] == d->y[i];

		if (as_good_x && as_good_y && (better_x || better_y))
			return false;
	}
	return true;
}

static void draw_front(struct plot_panel *a, const struct front_series *d,
		       const struct objective_axis *x, const struct objective_axis *y, size_t i,
		       const char *name)
{
	struct plot_style style = get_study_style(i), bar = style;
	double *at = dp_malloc(2 * d->n * sizeof *at + 1);
	size_t n = 0;

	bar.width = 1.2;
	bar.size = 4;
	bar.opacity = 0.6;
	panel_add_error_bars(a, &bar, NULL, d->x, d->lo, d->hi, d->n);
	for (size_t k = 0; k < d->n; k++) {
		if (!is_on_projected_front(d, k, x, y))
			continue;
		at[n] = d->x[k];
		at[d->n + n++] = d->y[k];
	}
	/* steps: right of a point, the best value so far holds */
	(x->is_maximized ? panel_line : panel_steps)(a, &style, name, at, at + d->n, n);
	panel_points(a, &style, name, d->x, d->y, d->n);
	panel_add_tooltips(a, (const char *const *)d->tooltips, (const char *const *)d->links,
			   d->n);
	free(at);
}

/* Sets up an axis and its label; for privacy, with delta. */
static void set_front_axis(struct plot_panel *a, enum plot_side which, const json_t *summary,
			   const struct objective_axis *s, const struct axis_range *r)
{
	const json_t *delta = json_object_get(json_object_get(summary, "deltas"), s->name);
	struct dp_buf label = DP_BUF_INIT;
	char number[CTL_TEXT_LEN];

	if (!s->is_privacy)
		dp_buf_puts(&label, s->name);
	else if (json_is_number(delta) && json_number_value(delta) > 0)
		dp_buf_printf(&label, "ε (δ = %s)", ctl_format_value(delta, number));
	else
		dp_buf_puts(&label, "ε");
	panel_axis(a, which, dp_buf_text(&label), s->scale);
	panel_limits(a, which, r->lo, r->hi);
	dp_buf_free(&label);
}

static struct plot *figure_new(const struct figure_options *form, const char *id)
{
	int height = form->width * 5 / 9;
	struct plot *p = plot_new(form->width, height < 260 ? 260 : height, NULL);

	plot_id(p, id);
	return p;
}

static int figure_finish(struct plot *p, const struct figure_options *form, struct dp_buf *out,
			 struct dp_err *err)
{
	int code = plot_render(p, form->is_inline ? PLOT_INLINE_SVG : PLOT_SVG, out, err);

	plot_free(p);
	return code;
}

static void compute_front_ranges(const struct front_series *d, size_t n,
				 const struct objective_axis *x, const struct objective_axis *y,
				 struct axis_range *rx, struct axis_range *ry)
{
	size_t points = 0;

	*rx = *ry = (struct axis_range){ INFINITY, -INFINITY };
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < d[k].n; i++, points++) {
			axis_range_add(rx, d[k].x[i], x->scale);
			axis_range_add(ry, d[k].y[i], y->scale);
			axis_range_add(ry, d[k].lo[i], y->scale);
			axis_range_add(ry, d[k].hi[i], y->scale);
		}
	if (points) {
		axis_range_add(rx, x->anti_ideal, x->scale);
		axis_range_add(ry, y->anti_ideal, y->scale);
	}
	axis_range_pad(rx, x->scale);
	axis_range_pad(ry, y->scale);
}

/* Returns a legend entry. If some fronts are smoothed and others observed, it says which, because
 * their values and intervals mean different things. */
static const char *format_front_name(const struct figure_study *studies, size_t n, size_t i,
				     char out[DP_NAME_MAX + 32])
{
	bool smoothed[FIGURE_MAX_STUDIES], mixed = false;

	if (n == 1)
		return "front";
	for (size_t k = 0; k < n; k++) {
		const json_t *front = json_object_get(studies[k].front, "front");

		smoothed[k] = point_is_smoothed(json_array_get(front, 0));
		mixed |= smoothed[k] != smoothed[0];
	}
	snprintf(out, DP_NAME_MAX + 32, "%s%s", dp_json_str(studies[i].summary, "name", ""),
		 !mixed        ? ""
		 : smoothed[i] ? ", without noise"
			       : ", as observed");
	return out;
}

static void draw_front_panel(struct plot *p, const struct figure_study *studies,
			     const struct front_series *d, size_t n, const struct objective_axis *x,
			     const struct objective_axis *y)
{
	const json_t *summary = studies[0].summary,
		     *recommended =
			     json_array_get(json_object_get(studies[0].recommended, "front"), 0);
	struct plot_style better = { .colour = plot_palette(PLOT_GREY), .opacity = 0.07 };
	struct plot_style star = { .colour = plot_palette(PLOT_ORANGE),
				   .marker = PLOT_STAR,
				   .size = 13,
				   .outline = true };
	struct plot_panel *a = plot_panel(p, 0, 0);
	size_t outside = 0, n_objectives = json_array_size(json_object_get(summary, "objectives"));
	struct axis_range rx, ry;
	struct dp_buf note = DP_BUF_INIT;
	char name[DP_NAME_MAX + 32], count[DP_PLURAL_LEN];

	compute_front_ranges(d, n, x, y, &rx, &ry);
	set_front_axis(a, PLOT_X, summary, x, &rx);
	set_front_axis(a, PLOT_Y, summary, y, &ry);
	if (isnan(rx.lo) || isnan(ry.lo)) {
		panel_set_empty_text(a, "No point to show yet");
		return;
	}
	if (!isnan(x->anti_ideal) && !isnan(y->anti_ideal))
		panel_add_region(a, &better, "better than the anti-ideal",
				 x->is_maximized ? x->anti_ideal : NAN,
				 x->is_maximized ? NAN : x->anti_ideal,
				 y->is_maximized ? y->anti_ideal : NAN,
				 y->is_maximized ? NAN : y->anti_ideal);
	if (n == 1 && studies[0].rows)
		outside = draw_evaluated(a, &studies[0], x, y, &rx, &ry);
	for (size_t i = 0; i < n; i++)
		draw_front(a, &d[i], x, y, i, format_front_name(studies, n, i, name));
	if (n == 1 && recommended) {
		double at[] = { point_value(recommended, x->name),
				point_value(recommended, y->name) };

		panel_points(a, &star, "recommended", &at[0], &at[1], 1);
	}
	if (outside)
		dp_buf_printf(&note, "Not shown: %s beyond the axes. ",
			      dp_plural_text(outside, "point", count));
	if (n_objectives > 2)
		dp_buf_printf(&note, "The line is the front of these two of %zu objectives.",
			      n_objectives);
	if (note.len)
		plot_note(p, dp_buf_text(&note));
	dp_buf_free(&note);
}

int study_figure_render_front(const struct figure_study *studies, size_t n,
			      const struct figure_options *form, struct dp_buf *out,
			      struct dp_err *err)
{
	struct front_series d[FIGURE_MAX_STUDIES] = { 0 };
	struct objective_axis x, y, u, v;
	bool two = choose_objective_axes(studies[0].summary, &x, &y);
	struct plot *p;

	for (size_t i = 1; two && i < n; i++) {
		if (choose_objective_axes(studies[i].summary, &u, &v) &&
		    strcmp(u.name, x.name) == 0 && strcmp(v.name, y.name) == 0 &&
		    u.is_maximized == x.is_maximized && v.is_maximized == y.is_maximized)
			continue;
		return dp_fail(err, DP_E_INVALID,
			       "'%s' and '%s' have different objectives, so they do not "
			       "go into one picture",
			       dp_json_str(studies[0].summary, "name", ""),
			       dp_json_str(studies[i].summary, "name", ""));
	}
	p = figure_new(form, "front");
	if (!two) {
		panel_set_empty_text(plot_panel(p, 0, 0), "A study of one objective has no front");
		return figure_finish(p, form, out, err);
	}
	for (size_t i = 0; i < n; i++)
		front_series_load(&d[i], &studies[i], &x, &y, n > 1);
	draw_front_panel(p, studies, d, n, &x, &y);
	for (size_t i = 0; i < n; i++)
		front_series_free(&d[i]);
	return figure_finish(p, form, out, err);
}

/* Lower end of the axis. The first results often reach most of the hypervolume; an axis from 0
 * would flatten the rest. */
static double hypervolume_axis_min(const struct hypervolume_curve *curve)
{
	double first = curve->n_points > 1 ? curve->volume[1] : 0,
	       last = curve->volume[curve->n_points - 1];

	if (!isfinite(last) || first < 0.6 * last || first >= last)
		return 0;
	return first - 0.3 * (last - first);
}

int study_figure_render_hypervolume(const struct figure_study *study,
				    const struct figure_options *form, struct dp_buf *out,
				    struct dp_err *err)
{
	struct plot_style line = get_study_style(0);
	struct hypervolume_curve *curve = dp_malloc(sizeof *curve);
	struct plot_panel *a;
	struct plot *p;

	hypervolume_curve_compute(study->summary, study->rows, curve);
	p = figure_new(form, "hypervolume");
	a = plot_panel(p, 0, 0);
	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_set_integer_ticks(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, hypervolume_axis_min(curve), NAN);
	if (hypervolume_axis_min(curve) > 0)
		plot_note(p, "The vertical axis does not start at zero.");
	if (curve->n_points < 2)
		panel_set_empty_text(a, "No evaluation has ended yet");
	else
		panel_steps(a, &line, NULL, curve->evaluations, curve->volume, curve->n_points);
	free(curve);
	return figure_finish(p, form, out, err);
}

void study_figure_render_sparkline(const struct figure_study *study, struct dp_buf *out)
{
	enum {
		WIDTH = 120,
		HEIGHT = 28,
		EDGE = 2
	};
	struct hypervolume_curve curve;
	double most, ended;

	hypervolume_curve_compute(study->summary, study->rows, &curve);
	most = curve.volume[curve.n_points - 1];
	ended = curve.evaluations[curve.n_points - 1];
	dp_buf_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d "
		      "%d\" width=\"%d\" height=\"%d\"><polyline fill=\"none\" "
		      "stroke=\"#0072b2\" stroke-width=\"1.5\" points=\"",
		      WIDTH, HEIGHT, WIDTH, HEIGHT);
	for (size_t i = 0; i < curve.n_points && most > 0 && isfinite(most); i++)
		dp_buf_printf(out, "%.1f,%.1f ",
			      EDGE + (WIDTH - 2 * EDGE) * curve.evaluations[i] / ended,
			      HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * curve.volume[i] / most);
	dp_buf_puts(out, "\"/></svg>\n");
}
