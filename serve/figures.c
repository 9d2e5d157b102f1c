/* figures.c - draws fronts and hypervolumes. */
#include "serve/figures.h"

#include "base/json.h"
#include "base/num.h"
#include "ctl/point.h"
#include "ctl/text.h"
#include "reports/plot/plot.h"
#include "serve/growth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- objectives ---- */

static const char *text_at(const json_t *list, size_t i)
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

/* An objective as a side of the picture. */
struct side {
	const char *name;
	bool maximized, privacy;
	enum plot_scale scale;
	double anti_ideal; /* NaN: none */
};

static void side_of(const json_t *summary, size_t i, struct side *s)
{
	const json_t *anti = json_object_get(summary, "anti_ideal");

	s->name = text_at(json_object_get(summary, "objectives"), i);
	s->privacy = objective_is_privacy(summary, s->name);
	s->maximized = strcmp(text_at(json_object_get(summary, "goals"), i), "maximize") == 0;
	s->scale = strcmp(text_at(json_object_get(summary, "transforms"), i), "log") == 0
			   ? PLOT_LOG
			   : PLOT_LINEAR;
	if (!dp_json_to_real(json_object_get(anti, s->name), &s->anti_ideal))
		s->anti_ideal = NAN;
}

/* Privacy goes across, the first other objective up. False: there are not two. */
static bool sides_choose(const json_t *summary, struct side *x, struct side *y)
{
	const json_t *names = json_object_get(summary, "objectives");
	size_t n = json_array_size(names), across = 0;

	while (across < n && !objective_is_privacy(summary, text_at(names, across)))
		across++;
	across = across < n ? across : 0;
	if (n < 2)
		return false;
	side_of(summary, across, x);
	side_of(summary, across == 0 ? 1 : 0, y);
	return true;
}

bool figures_axes(const json_t *summary, struct figure_axis *x, struct figure_axis *y)
{
	struct side across, up;

	if (!sides_choose(summary, &across, &up))
		return false;
	*x = (struct figure_axis){ across.name, across.scale == PLOT_LOG };
	*y = (struct figure_axis){ up.name, up.scale == PLOT_LOG };
	return true;
}

static void side_label(const json_t *summary, const struct side *s, struct dp_buf *out)
{
	char number[CTL_TEXT_LEN];
	const json_t *delta = json_object_get(json_object_get(summary, "deltas"), s->name);

	if (!s->privacy)
		dp_buf_puts(out, s->name);
	else if (json_is_number(delta) && json_number_value(delta) > 0)
		dp_buf_printf(out, "ε (δ = %s)", ctl_value(delta, number));
	else
		dp_buf_puts(out, "ε");
}

/* ---- points ---- */

/* A front's points as they are drawn: by the models' values, where these chose them. */
struct drawn {
	double *x, *y, *lo, *hi; /* (n); lo and hi NaN where no interval is known */
	char **tips, **links;
	size_t n;
};

static void drawn_free(struct drawn *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->tips[i]);
		free(d->links[i]);
	}
	free(d->x);
	free(d->tips);
	free(d->links);
}

static bool drawn_room(struct drawn *d, size_t n)
{
	double *all = malloc(4 * n * sizeof *all + 1);

	*d = (struct drawn){ .x = all,
			     .tips = calloc(n + 1, sizeof *d->tips),
			     .links = calloc(n + 1, sizeof *d->links) };
	if (!all || !d->tips || !d->links)
		return false;
	d->y = all + n;
	d->lo = all + 2 * n;
	d->hi = all + 3 * n;
	return true;
}

static double real_in(const json_t *point, const char *part, const char *name)
{
	double x;
	const json_t *v = json_object_get(json_object_get(point, part), name);

	return v && dp_json_to_real(v, &x) ? x : NAN;
}

static bool is_modelled(const json_t *point)
{
	return json_is_object(json_object_get(point, "denoised"));
}

/* What put the point where it is. */
static const char *part_of(const json_t *point)
{
	return is_modelled(point) ? "denoised" : "objectives";
}

static void drawn_interval(const json_t *point, const char *name, double *lo, double *hi)
{
	const json_t *spread = json_object_get(json_object_get(point, "spread"), name);

	if (is_modelled(point)) {
		*lo = real_in(point, "denoised_low", name);
		*hi = real_in(point, "denoised_high", name);
	} else if (!dp_json_to_real(json_object_get(spread, "low"), lo) ||
		   !dp_json_to_real(json_object_get(spread, "high"), hi)) {
		*lo = *hi = NAN;
	}
}

/* "trial 13: ε 0.42, error 0.155 (0.152 to 0.158); lr 0.1, epochs 3" */
static char *point_tip(const json_t *summary, const json_t *point, const char *study)
{
	const json_t *names = json_object_get(summary, "objectives"), *v;
	struct dp_buf out = DP_BUF_INIT;
	char text[CTL_TEXT_LEN], low[CTL_TEXT_LEN], high[CTL_TEXT_LEN];
	const char *name, *sign = "; ";

	if (study)
		dp_buf_printf(&out, "%s, ", study);
	dp_buf_printf(&out, "trial %s", ctl_point_text(point, text));
	for (size_t i = 0; i < json_array_size(names); i++) {
		double lo, hi;

		name = text_at(names, i);
		v = json_object_get(json_object_get(point, part_of(point)), name);
		dp_buf_printf(&out, "%s%s %s", i ? ", " : ": ",
			      objective_is_privacy(summary, name) ? "ε" : name,
			      objective_is_privacy(summary, name) ? ctl_bound(v, text)
								  : ctl_value(v, text));
		drawn_interval(point, name, &lo, &hi);
		if (!objective_is_privacy(summary, name) && isfinite(lo) && isfinite(hi))
			dp_buf_printf(&out, " (%s to %s)", ctl_number(lo, 4, false, low),
				      ctl_number(hi, 4, false, high));
	}
	json_object_foreach (json_object_get(point, "parameters"), name, v) {
		dp_buf_printf(&out, "%s%s %s", sign, name, ctl_value(v, text));
		sign = ", ";
	}
	return dp_buf_detach(&out);
}

static char *point_link(const char *study, const json_t *point)
{
	struct dp_buf out = DP_BUF_INIT;
	char name[CTL_TEXT_LEN];

	dp_buf_printf(&out, "/studies/%s/trials/%s", study, ctl_point_text(point, name));
	return dp_buf_detach(&out);
}

static int compare_across(const void *a, const void *b, void *arg)
{
	const char *name = arg;
	double u = real_in(*(json_t *const *)a, part_of(*(json_t *const *)a), name);
	double v = real_in(*(json_t *const *)b, part_of(*(json_t *const *)b), name);

	return (u > v) - (u < v);
}

/* The points of a front from left to right. */
static bool drawn_front(struct drawn *d, const struct pictured *s, const struct side *x,
			const struct side *y, bool named)
{
	const json_t *front = json_object_get(s->front, "front");
	const char *study = dp_json_str(s->summary, "name", "");
	size_t n = json_array_size(front);
	const json_t **order = malloc(n * sizeof *order + 1);
	bool whole = order && drawn_room(d, n);

	for (size_t i = 0; whole && i < n; i++)
		order[i] = json_array_get(front, i);
	if (whole)
		qsort_r(order, n, sizeof *order, compare_across, (void *)x->name);
	for (size_t i = 0; whole && i < n; i++) {
		const json_t *p = order[i];
		size_t k = d->n;

		d->x[k] = real_in(p, part_of(p), x->name);
		d->y[k] = real_in(p, part_of(p), y->name);
		if (!isfinite(d->x[k]) || !isfinite(d->y[k]))
			continue;
		drawn_interval(p, y->name, &d->lo[k], &d->hi[k]);
		d->tips[k] = point_tip(s->summary, p, named ? study : NULL);
		d->links[k] = point_link(study, p);
		d->n++;
		whole = d->tips[k] && d->links[k];
	}
	free(order);
	return whole;
}

/* ---- the front ---- */

/* What a side shows: all that is on a front, and the anti-ideal; what is evaluated beyond
 * that would only push the front into a corner. */
struct range {
	double lo, hi;
};

static void range_add(struct range *r, double v, enum plot_scale scale)
{
	if (!isfinite(v) || (scale == PLOT_LOG && v <= 0))
		return;
	r->lo = fmin(r->lo, v);
	r->hi = fmax(r->hi, v);
}

static void range_widen(struct range *r, enum plot_scale scale)
{
	double share = 0.06;

	if (r->lo > r->hi)
		*r = (struct range){ NAN, NAN };
	else if (scale == PLOT_LOG) {
		double by = r->hi > r->lo ? pow(r->hi / r->lo, share) : 2;

		*r = (struct range){ r->lo / by, r->hi * by };
	} else {
		double by =
			r->hi > r->lo ? (r->hi - r->lo) * share : fmax(fabs(r->hi) * share, 1e-9);

		*r = (struct range){ r->lo - by, r->hi + by };
	}
}

struct cloud {
	double *x, *y; /* room for all rows */
	size_t n;
};

/* Points that were evaluated and met the constraints, or did not, within the picture;
 * how many are beyond it. */
static size_t cloud_gather(const struct rows *rows, bool feasible, const struct side *x,
			   const struct side *y, const struct range *rx, const struct range *ry,
			   struct cloud *out)
{
	int across = rows_column(rows, "objectives", x->name),
	    up = rows_column(rows, "objectives", y->name), state = rows_column(rows, NULL, "state"),
	    meets = rows_column(rows, NULL, "feasible");
	size_t outside = 0;

	out->n = 0;
	for (size_t i = 0; i < rows_count(rows); i++) {
		struct rows_cell is = rows_cell(rows, i, state), met = rows_cell(rows, i, meets),
				 u = rows_cell(rows, i, across), v = rows_cell(rows, i, up);

		if (isnan(u.number) || isnan(v.number) ||
		    (met.kind == ROWS_TRUTH && met.number != 0) != feasible || !is.word ||
		    strcmp(is.word, "ok") != 0)
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

/* How many of them are beyond the picture. */
static size_t draw_evaluated(struct plot_panel *a, const struct pictured *s, const struct side *x,
			     const struct side *y, const struct range *rx, const struct range *ry)
{
	size_t room = rows_count(s->rows), outside;
	double *at = malloc(2 * room * sizeof *at + 1);
	struct cloud cloud = { .x = at, .y = at + room };
	struct plot_style dots = { .colour = plot_palette(PLOT_GREY),
				   .size = room > 2000 ? 3 : 5,
				   .opacity = room > 2000 ? 0.25 : 0.5 };

	if (!at) {
		panel_fail(a);
		return 0;
	}
	outside = cloud_gather(s->rows, true, x, y, rx, ry, &cloud);
	panel_points(a, &dots, "evaluated", cloud.x, cloud.y, cloud.n);
	outside += cloud_gather(s->rows, false, x, y, rx, ry, &cloud);
	dots.marker = PLOT_RING;
	if (cloud.n)
		panel_points(a, &dots, "a constraint is not met", cloud.x, cloud.y, cloud.n);
	free(at);
	return outside;
}

static struct plot_style study_style(size_t i)
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

/* Is a point of the front also on that of the two objectives shown? Of only two all
 * are. Points are sorted from left to right. */
static bool is_on_line(const struct drawn *d, size_t i, const struct side *x, const struct side *y)
{
	for (size_t k = 0; k < d->n; k++) {
		bool better_x = x->maximized ? d->x[k] > d->x[i] : d->x[k] < d->x[i];
		bool better_y = y->maximized ? d->y[k] > d->y[i] : d->y[k] < d->y[i];
		bool as_good_x = better_x || d->x[k] == d->x[i];
		bool as_good_y = better_y || d->y[k] == d->y[i];

		if (as_good_x && as_good_y && (better_x || better_y))
			return false;
	}
	return true;
}

/* A staircase goes on to the right at what was reached for less. */
static void draw_front_line(struct plot_panel *a, const struct plot_style *style, const char *name,
			    const struct drawn *d, const struct side *x, const struct side *y)
{
	double *at = malloc(2 * d->n * sizeof *at + 1);
	size_t n = 0;

	if (!at) {
		panel_fail(a);
		return;
	}
	for (size_t i = 0; i < d->n; i++) {
		if (!is_on_line(d, i, x, y))
			continue;
		at[n] = d->x[i];
		at[d->n + n++] = d->y[i];
	}
	if (x->maximized)
		panel_line(a, style, name, at, at + d->n, n);
	else
		panel_steps(a, style, name, at, at + d->n, n);
	free(at);
}

static void draw_front(struct plot_panel *a, const struct drawn *d, const struct side *x,
		       const struct side *y, size_t i, const char *name)
{
	struct plot_style style = study_style(i), bar = style;

	bar.width = 1.2;
	bar.size = 4;
	bar.opacity = 0.6;
	panel_bars(a, &bar, NULL, d->x, d->lo, d->hi, d->n);
	draw_front_line(a, &style, name, d, x, y);
	panel_points(a, &style, name, d->x, d->y, d->n);
	panel_tips(a, (const char *const *)d->tips, (const char *const *)d->links, d->n);
}

/* What the picture does not show. */
static void front_note(struct plot *p, const json_t *summary, size_t outside)
{
	size_t n = json_array_size(json_object_get(summary, "objectives"));
	char count[DP_COUNT_LEN];
	struct dp_buf text = DP_BUF_INIT;

	if (outside)
		dp_buf_printf(&text, "Not shown: %s beyond the axes. ",
			      dp_count_text(outside, "point", count));
	if (n > 2)
		dp_buf_printf(&text, "The line is the front of these two of %zu objectives.", n);
	if (text.len)
		plot_note(p, plot_words(p, &text));
	dp_buf_free(&text);
}

/* The point to take. */
static void draw_chosen(struct plot_panel *a, const struct pictured *s, const struct side *x,
			const struct side *y)
{
	const json_t *p = json_array_get(json_object_get(s->chosen, "front"), 0);
	struct plot_style star = { .colour = plot_palette(PLOT_ORANGE),
				   .marker = PLOT_STAR,
				   .size = 13,
				   .outline = true };
	double at[2];

	if (!p)
		return;
	at[0] = real_in(p, part_of(p), x->name);
	at[1] = real_in(p, part_of(p), y->name);
	panel_points(a, &star, "recommended", &at[0], &at[1], 1);
}

static void draw_region(struct plot_panel *a, const struct side *x, const struct side *y)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY), .opacity = 0.07 };

	if (isnan(x->anti_ideal) || isnan(y->anti_ideal))
		return;
	panel_box(a, &style, "better than the anti-ideal", x->maximized ? x->anti_ideal : NAN,
		  x->maximized ? NAN : x->anti_ideal, y->maximized ? y->anti_ideal : NAN,
		  y->maximized ? NAN : y->anti_ideal);
}

static void front_axes(struct plot_panel *a, const json_t *summary, const struct side *x,
		       const struct side *y, const struct range *rx, const struct range *ry)
{
	struct dp_buf label = DP_BUF_INIT;

	side_label(summary, x, &label);
	panel_axis(a, PLOT_X, panel_words(a, &label), x->scale);
	dp_buf_clear(&label);
	side_label(summary, y, &label);
	panel_axis(a, PLOT_Y, panel_words(a, &label), y->scale);
	dp_buf_free(&label);
	panel_limits(a, PLOT_X, rx->lo, rx->hi);
	panel_limits(a, PLOT_Y, ry->lo, ry->hi);
}

static struct plot *figure_new(const struct figure_form *form, const char *id)
{
	int height = form->width * 5 / 9;
	struct plot *p = plot_new(form->width, height < 260 ? 260 : height, NULL);

	plot_id(p, id);
	return p;
}

static int figure_end(struct plot *p, const struct figure_form *form, struct dp_buf *out,
		      struct dp_err *err)
{
	int code = p ? plot_render(p, form->inlined ? PLOT_PAGE : PLOT_SVG, out, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory for a picture");

	plot_free(p);
	return code;
}

/* Ranges of what is drawn. */
static void front_ranges(const struct drawn *d, size_t n, const struct side *x,
			 const struct side *y, struct range *rx, struct range *ry)
{
	size_t points = 0;

	*rx = *ry = (struct range){ INFINITY, -INFINITY };
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < d[k].n; i++, points++) {
			range_add(rx, d[k].x[i], x->scale);
			range_add(ry, d[k].y[i], y->scale);
			range_add(ry, d[k].lo[i], y->scale);
			range_add(ry, d[k].hi[i], y->scale);
		}
	if (points) {
		range_add(rx, x->anti_ideal, x->scale);
		range_add(ry, y->anti_ideal, y->scale);
	}
	range_widen(rx, x->scale);
	range_widen(ry, y->scale);
}

static bool front_is_modelled(const struct pictured *s)
{
	return is_modelled(json_array_get(json_object_get(s->front, "front"), 0));
}

/* In the legend. Of several, where models chose some fronts and others are as observed,
 * with which kind it is: their values and intervals mean different things. */
static const char *front_name(const struct pictured *studies, size_t n, size_t i,
			      char out[DP_NAME_MAX + 32])
{
	bool modelled = front_is_modelled(&studies[i]), mixed = false;

	if (n == 1)
		return "front";
	for (size_t k = 0; k < n; k++)
		mixed |= front_is_modelled(&studies[k]) != modelled;
	snprintf(out, DP_NAME_MAX + 32, "%s%s", dp_json_str(studies[i].summary, "name", ""),
		 !mixed     ? ""
		 : modelled ? ", without noise"
			    : ", as observed");
	return out;
}

static void front_fill(struct plot *p, const struct pictured *studies, const struct drawn *d,
		       size_t n, const struct side *x, const struct side *y)
{
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct range rx, ry;
	size_t outside = 0;

	front_ranges(d, n, x, y, &rx, &ry);
	front_axes(a, studies[0].summary, x, y, &rx, &ry);
	if (isnan(rx.lo) || isnan(ry.lo)) {
		panel_empty(a, "No point to show yet");
		return;
	}
	draw_region(a, x, y);
	if (n == 1 && studies[0].rows)
		outside = draw_evaluated(a, &studies[0], x, y, &rx, &ry);
	for (size_t i = 0; i < n; i++) {
		char name[DP_NAME_MAX + 32];

		draw_front(a, &d[i], x, y, i, front_name(studies, n, i, name));
	}
	if (n == 1)
		draw_chosen(a, &studies[0], x, y);
	front_note(p, studies[0].summary, outside);
}

/* Do all studies have both objectives, towards the same side? */
static int front_comparable(const struct pictured *studies, size_t n, const struct side *x,
			    const struct side *y, struct dp_err *err)
{
	for (size_t i = 1; i < n; i++) {
		struct side u, v;

		if (sides_choose(studies[i].summary, &u, &v) && strcmp(u.name, x->name) == 0 &&
		    strcmp(v.name, y->name) == 0 && u.maximized == x->maximized &&
		    v.maximized == y->maximized)
			continue;
		return dp_fail(err, DP_E_INVALID,
			       "'%s' and '%s' have different objectives, so they do not "
			       "go into one picture",
			       dp_json_str(studies[0].summary, "name", ""),
			       dp_json_str(studies[i].summary, "name", ""));
	}
	return DP_OK;
}

int figures_front(const struct pictured *studies, size_t n, const struct figure_form *form,
		  struct dp_buf *out, struct dp_err *err)
{
	struct plot *p = figure_new(form, "front");
	struct drawn d[FIGURES_STUDIES] = { 0 };
	struct side x, y;
	bool whole = true, two = sides_choose(studies[0].summary, &x, &y);
	int code = two ? front_comparable(studies, n, &x, &y, err) : DP_OK;

	if (code != DP_OK) {
		plot_free(p);
		return code;
	}
	if (!two)
		panel_empty(plot_panel(p, 0, 0), "A study of one objective has no front");
	for (size_t i = 0; two && whole && i < n; i++)
		whole = drawn_front(&d[i], &studies[i], &x, &y, n > 1);
	if (two && whole)
		front_fill(p, studies, d, n, &x, &y);
	else if (!whole)
		panel_fail(plot_panel(p, 0, 0));
	for (size_t i = 0; i < n; i++)
		drawn_free(&d[i]);
	return figure_end(p, form, out, err);
}

/* ---- the hypervolume ---- */

/* Where the axis begins: what was reached with the first results is often most of it, and
 * all that follows would be a flat line. */
static double growth_floor(const struct growth *g)
{
	double first = g->n > 1 ? g->volume[1] : 0, last = g->volume[g->n - 1];

	if (!isfinite(last) || first < 0.6 * last || first >= last)
		return 0;
	return first - 0.3 * (last - first);
}

int figures_hypervolume(const struct pictured *study, const struct figure_form *form,
			struct dp_buf *out, struct dp_err *err)
{
	struct plot_style line = study_style(0);
	struct growth *g = malloc(sizeof *g);
	struct plot_panel *a;
	struct plot *p;
	int code = g ? growth_find(study->summary, study->rows, g, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory for a curve");

	if (code != DP_OK) {
		free(g);
		return code;
	}
	p = figure_new(form, "hypervolume");
	a = plot_panel(p, 0, 0);
	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_whole(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, growth_floor(g), NAN);
	if (growth_floor(g) > 0)
		plot_note(p, "The vertical axis does not start at zero.");
	if (g->n < 2)
		panel_empty(a, "No evaluation has ended yet");
	else
		panel_steps(a, &line, NULL, g->ended, g->volume, g->n);
	free(g);
	return figure_end(p, form, out, err);
}

int figures_spark(const struct pictured *study, struct dp_buf *out, struct dp_err *err)
{
	enum {
		WIDTH = 120,
		HEIGHT = 28,
		EDGE = 2
	};
	struct growth *g = malloc(sizeof *g);
	int code = g ? growth_find(study->summary, study->rows, g, err)
		     : dp_fail(err, DP_E_NOMEM, "no memory for a curve");

	if (code == DP_OK) {
		double most = g->volume[g->n - 1], ended = g->ended[g->n - 1];

		dp_buf_printf(out,
			      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d "
			      "%d\" width=\"%d\" height=\"%d\"><polyline fill=\"none\" "
			      "stroke=\"#0072b2\" stroke-width=\"1.5\" points=\"",
			      WIDTH, HEIGHT, WIDTH, HEIGHT);
		for (size_t i = 0; i < g->n && most > 0 && isfinite(most); i++)
			dp_buf_printf(out, "%.1f,%.1f ",
				      EDGE + (WIDTH - 2 * EDGE) * g->ended[i] / ended,
				      HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * g->volume[i] / most);
		dp_buf_puts(out, "\"/></svg>\n");
	}
	free(g);
	return code;
}
