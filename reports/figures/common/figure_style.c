/* figure_style.c - titles, labels, numbers, colours and tooltips of figures. */
#include "reports/model/number_format.h"
#include "reports/figures/common/figure_data.h"

#include "base/units.h"
#include "study/accounting.h"
#include "study/space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	OUTLINED_POINTS_MAX = 60 /* larger sets have no outlines */
};

struct plot *fig_new(const struct study_data *s, const char *title, int width, int height)
{
	char name[FIG_STUDY_NAME_LEN], text[FIG_STUDY_NAME_LEN + 100];

	snprintf(text, sizeof text, "%s%s%s", title, s ? " · " : "",
		 s ? fig_format_study_name(s, name) : "");
	return plot_new(width, height, text);
}

void fig_label(const struct study_data *s, size_t objective, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	double delta = o->privacy ? dp_accounting_delta(o->privacy) : 0;
	char text[FIG_NUMBER_LEN];

	if (!o->privacy)
		study_data_objective_label(s, objective, out);
	else if (delta > 0)
		dp_buf_printf(out, "ε (δ = %s)", fig_number(delta, text));
	else
		dp_buf_puts(out, "ε");
}

void fig_axis(struct plot_panel *a, enum plot_side side, const struct study_data *s,
	      size_t objective, enum plot_scale scale)
{
	struct dp_buf label = DP_BUF_INIT;

	fig_label(s, objective, &label);
	panel_axis(a, side, dp_buf_text(&label), scale);
	dp_buf_free(&label);
}

void fig_note(struct plot *p, struct dp_buf *text)
{
	if (text->len)
		plot_note(p, dp_buf_text(text));
	dp_buf_free(text);
}

enum plot_scale fig_scale(const double *v, size_t n)
{
	double lo = INFINITY, hi = 0;
	size_t finite = 0, low = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		if (v[i] <= 0)
			return PLOT_LINEAR;
		lo = fmin(lo, v[i]);
		hi = fmax(hi, v[i]);
		finite++;
	}
	for (size_t i = 0; i < n; i++)
		low += v[i] < hi / 5;
	return hi > 100 * lo && 2 * low >= finite ? PLOT_LOG : PLOT_LINEAR;
}

enum plot_scale fig_objective_scale(const struct study_data *s, size_t objective, const double *v,
				    size_t n)
{
	bool finite = false;

	if (!s->state->spec->objectives[objective].privacy)
		return fig_scale(v, n);
	for (size_t i = 0; i < n; i++) {
		if (v[i] <= 0)
			return PLOT_LINEAR;
		finite |= isfinite(v[i]);
	}
	return finite ? PLOT_LOG : PLOT_LINEAR;
}

void fig_widen_scales(enum plot_scale scale[2], const struct study_data *s, const double *x,
		      const double *y, size_t n)
{
	if (fig_objective_scale(s, s->x_obj, x, n) == PLOT_LOG)
		scale[PLOT_X] = PLOT_LOG;
	if (fig_objective_scale(s, s->y_obj, y, n) == PLOT_LOG)
		scale[PLOT_Y] = PLOT_LOG;
}

void fig_plane_axes(struct plot_panel *a, const struct study_data *s,
		    const enum plot_scale scale[2])
{
	fig_axis(a, PLOT_X, s, s->x_obj, scale[PLOT_X]);
	fig_axis(a, PLOT_Y, s, s->y_obj, scale[PLOT_Y]);
}

void fig_plane_axes_for(struct plot_panel *a, const struct study_data *s, const double *x,
			const double *y, size_t n)
{
	enum plot_scale scale[2] = { PLOT_LINEAR, PLOT_LINEAR };

	fig_widen_scales(scale, s, x, y, n);
	fig_plane_axes(a, s, scale);
}

double fig_hypervolume_axis_start(double early, double high, double part)
{
	double start = high - part * (high - early);

	return isfinite(start) && start > 0.4 * high ? start : 0;
}

/* "3.2e-07" to "3.2e-7", "2.5e+09" to "2.5e9". */
static void tidy_exponent(char *text)
{
	char *to = strchr(text, 'e'), *from;

	if (!to)
		return;
	from = ++to;
	if (*from == '-')
		to++;
	from++;
	while (*from == '0')
		from++;
	memmove(to, from, strlen(from) + 1);
}

char *fig_number(double v, char out[FIG_NUMBER_LEN])
{
	double size = fabs(v);

	if (size >= 999.5 && size < 1e6)
		snprintf(out, FIG_NUMBER_LEN, "%.0f", v);
	else if (size < 1e-4)
		snprintf(out, FIG_NUMBER_LEN, "%.2g", v);
	else
		snprintf(out, FIG_NUMBER_LEN, "%.3g", v);
	tidy_exponent(out);
	return out;
}

char *fig_value(const struct study_data *s, size_t objective, double v, char out[FIG_NUMBER_LEN])
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	char number[DP_NUM_LEN];

	if (o->privacy) { /* round epsilon up: never understate it */
		snprintf(out, FIG_NUMBER_LEN, "ε %s", number_format_rounded_up(v, 3, number));
		tidy_exponent(out);
	} else if (study_data_is_percent(s, objective) && v <= 1 && (v >= 0.0005 || v == 0)) {
		snprintf(out, FIG_NUMBER_LEN, "%.1f %%", 100 * v);
	} else {
		fig_number(v, out);
	}
	return out;
}

/* "0.0012", "3.4", "56" */
static char *two_digits(double v, char out[FIG_NUMBER_LEN])
{
	snprintf(out, FIG_NUMBER_LEN, fabs(v) >= 9.95 ? "%.0f" : "%.2g", v);
	tidy_exponent(out);
	return out;
}

char *fig_percent(double share, char out[FIG_NUMBER_LEN])
{
	return two_digits(100 * share, out);
}

char *fig_difference(const struct study_data *s, size_t objective, double v,
		     char out[FIG_NUMBER_LEN])
{
	bool share = study_data_is_percent(s, objective);
	char number[FIG_NUMBER_LEN];

	two_digits(share ? 100 * v : v, number);
	snprintf(out, FIG_NUMBER_LEN, "%.24s%s", number, share ? " percentage points" : "");
	return out;
}

void fig_append_value(const struct study_data *s, size_t objective, double v, struct dp_buf *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[objective];
	char text[FIG_NUMBER_LEN];

	if (!o->privacy)
		dp_buf_printf(out, "%s ", o->name);
	dp_buf_puts(out, fig_value(s, objective, v, text));
	if (o->privacy && v > DP_MAX_MEANINGFUL_EPSILON)
		dp_buf_puts(out, ", no meaningful guarantee");
}

char *fig_format_study_name(const struct study_data *s, char out[FIG_STUDY_NAME_LEN])
{
	enum {
		SHOWN = 36,
		TAIL = 14
	};
	const char *name = study_data_name(s), *tail = name + strlen(name);
	int head = SHOWN - TAIL - 1;

	if (tail - name <= SHOWN) {
		snprintf(out, FIG_STUDY_NAME_LEN, "%s", name);
		return out;
	}
	/* do not split a UTF-8 sequence */
	for (tail -= TAIL; (*tail & 0xc0) == 0x80; tail++)
		;
	while (head > 0 && (name[head] & 0xc0) == 0x80)
		head--;
	snprintf(out, FIG_STUDY_NAME_LEN, "%.*s…%s", head, name, tail);
	return out;
}

double fig_marker_size(size_t points)
{
	return points > OUTLINED_POINTS_MAX ? 4.5 : points > 30 ? 5.5 : 7;
}

bool fig_outlined(size_t points)
{
	return points <= OUTLINED_POINTS_MAX;
}

struct plot_style fig_dots(plot_colour colour, size_t points)
{
	return (struct plot_style){
		.colour = colour,
		.size = fig_marker_size(points),
		.outline = fig_outlined(points),
	};
}

struct plot_style fig_faint_dot_style(plot_colour colour, size_t points)
{
	bool many = points > 2000;

	return (struct plot_style){
		.colour = colour,
		.size = many ? 3 : 5,
		.opacity = many ? 0.25 : 0.5,
	};
}

struct plot_style fig_background_style(size_t n, bool on_heat)
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

void fig_draw_background(struct plot_panel *a, const char *name, const struct fig_points *p)
{
	struct plot_style light = fig_background_style(p->n, false);

	panel_points(a, &light, name, p->x, p->y, p->n);
}

struct plot_style fig_style(size_t i)
{
	/* vermillion marks failures; yellow is too pale for lines */
	static const unsigned roles[] = { PLOT_BLUE,   PLOT_ORANGE, PLOT_GREEN,
					  PLOT_PURPLE, PLOT_SKY,    PLOT_BLACK };
	static const enum plot_dash dashes[] = { PLOT_SOLID, PLOT_DASHED, PLOT_DOTTED };

	return (struct plot_style){
		.colour = plot_palette(roles[i % DP_COUNT(roles)]),
		.dash = dashes[i / DP_COUNT(roles) % DP_COUNT(dashes)],
	};
}

enum plot_marker fig_marker(size_t i)
{
	static const enum plot_marker markers[] = { PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE,
						    PLOT_DIAMOND };

	return markers[i % DP_COUNT(markers)];
}

void fig_append_front_name(const struct study_data *s, struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;

	dp_buf_puts(out, "of the front");
	if (spec->nobjectives > 2)
		dp_buf_printf(out, " of %s and %s alone", spec->objectives[s->x_obj].name,
			      spec->objectives[s->y_obj].name);
}

void fig_count(struct dp_buf *out, size_t n, const char *thing)
{
	char text[DP_PLURAL_LEN];

	dp_buf_puts(out, dp_plural_text(n, thing, text));
}

void fig_count_results(struct dp_buf *out, const struct study_data *s)
{
	if (study_data_has_checkpoints(s)) {
		fig_count(out, s->npoints, "result");
		dp_buf_puts(out, " of ");
		fig_count(out, study_data_count_trials(s), "evaluation");
	} else {
		fig_count(out, s->npoints, "evaluation");
	}
}

/* ---- tooltips ---- */

/* "ε 0.42, error 15.5 %"; adds the smoothed values if they differ. */
static void tooltip_append_objectives(const struct study_data *s, const struct fig_points *p,
				      size_t i, bool plane, struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;
	const double *y = dp_result_get_objectives(s->state, p->results[i]);
	char text[FIG_NUMBER_LEN];

	for (size_t k = 0; k < spec->nobjectives; k++) {
		dp_buf_puts(out, k ? ", " : "");
		fig_append_value(s, k, y[k], out);
		if (plane && k == s->y_obj && p->y[i] != y[k])
			dp_buf_printf(out, " (without noise %s)", fig_value(s, k, p->y[i], text));
	}
}

static void tooltip_append_parameters(const struct study_data *s, struct dp_result_id p,
				      struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;
	double x[DP_PARAMS_MAX];
	char text[FIG_NUMBER_LEN];
	bool any = false;

	dp_result_get_params(s->state, p, x);
	for (size_t k = 0; k < spec->nparams; k++) {
		enum dp_param_kind kind = spec->params[k].kind;

		if (kind == DP_PARAM_FIXED)
			continue;
		dp_buf_printf(out, "%s%s ", any ? ", " : "; ", spec->params[k].name);
		if (kind == DP_PARAM_CATEGORICAL || kind == DP_PARAM_INT)
			dp_space_format_value(spec, k, x[k], out);
		else
			dp_buf_puts(out, fig_number(x[k], text));
		any = true;
	}
}

static char *tooltip_format_text(const struct study_data *s, const struct fig_points *p, size_t i,
				 unsigned how)
{
	char name[FIG_STUDY_NAME_LEN], point[RESULT_NAME_LEN];
	struct dp_buf out = DP_BUF_INIT;

	if (how & FIG_TOOLTIP_STUDY)
		dp_buf_printf(&out, "%s, ", fig_format_study_name(s, name));
	dp_buf_printf(&out, "trial %s: ",
		      result_format_name(p->results[i].trial,
					 study_data_checkpoint_of(s, p->results[i]), point));
	tooltip_append_objectives(s, p, i, !(how & FIG_TOOLTIP_OTHER_AXES), &out);
	tooltip_append_parameters(s, p->results[i], &out);
	return dp_buf_detach(&out);
}

void fig_add_tooltips(struct plot_panel *a, const struct study_data *s, const struct fig_points *p,
		      unsigned how)
{
	struct arena mem = { 0 };
	const char **tips, **links = NULL;

	if (p->n > PLOT_TOOLTIPS_MAX)
		return;
	tips = arena_calloc(&mem, p->n, sizeof *tips);
	if (how & FIG_TOOLTIP_LINK)
		links = arena_calloc(&mem, p->n, sizeof *links);
	for (size_t i = 0; i < p->n; i++) {
		char row[RESULT_ROW_ID_LEN];

		tips[i] = arena_adopt(&mem, tooltip_format_text(s, p, i, how));
		if (links)
			links[i] = arena_adopt(
				&mem,
				dp_asprintf("#%s", result_format_row_id(p->results[i].trial,
									study_data_checkpoint_of(
										s, p->results[i]),
									row)));
	}
	panel_add_tooltips(a, tips, links, p->n);
	arena_free(&mem);
}

/* ---- groups of studies ---- */

static bool group_styles_clash(const struct study_groups *g)
{
	for (size_t i = 0; i < g->contests[0].n; i++)
		for (size_t k = 0; k < i; k++)
			if (g->list[i].trainer_id == g->list[k].trainer_id &&
			    g->list[i].method == g->list[k].method)
				return true;
	return false;
}

static enum plot_dash search_method_dash(int method)
{
	return method == DP_METHOD_RANDOM ? PLOT_DASHED
	       : method == DP_METHOD_GRID ? PLOT_DOTTED
					  : PLOT_SOLID;
}

/* Whether each group has its own colour instead of its model's. */
static bool is_coloured_by_group(const struct study_groups *g)
{
	return g->ntrainers == 1 || group_styles_clash(g);
}

void fig_append_group_legend(const struct study_groups *g, struct dp_buf *out)
{
	static const char *const words[] = { [PLOT_SOLID] = "solid: model-based search",
					     [PLOT_DASHED] = "dashed: random search",
					     [PLOT_DOTTED] = "dotted: a grid" };
	bool has[DP_COUNT(words)] = { false }, any = false;

	for (size_t i = 0; i < g->contests[0].n; i++) {
		if (g->list[i].method < 0)
			return; /* members differ */
		has[search_method_dash(g->list[i].method)] = true;
	}
	if (has[PLOT_SOLID] + has[PLOT_DASHED] + has[PLOT_DOTTED] < 2)
		return;
	dp_buf_puts(out, is_coloured_by_group(g) ? " Lines, " : " Colours: models. Lines, ");
	for (size_t k = 0; k < DP_COUNT(words); k++) {
		if (!has[k])
			continue;
		dp_buf_printf(out, "%s%s", any ? "; " : "", words[k]);
		any = true;
	}
	dp_buf_putc(out, '.');
}

struct plot_style fig_group_style(const struct study_groups *g, size_t group)
{
	struct plot_style style =
		fig_style(is_coloured_by_group(g) ? group : g->list[group].trainer_id);

	style.dash = search_method_dash(g->list[group].method);
	style.width = 2;
	return style;
}

char *fig_format_group_name(const struct study_groups *g, size_t group,
			    char out[FIG_STUDY_NAME_LEN])
{
	const char *name = g->contests[0].groups[group].name;
	size_t len = strlen(name);

	/* cut between characters */
	if (len >= FIG_STUDY_NAME_LEN - 4)
		for (len = FIG_STUDY_NAME_LEN - 4; len > 0 && (name[len] & 0xc0) == 0x80;)
			len--;
	snprintf(out, FIG_STUDY_NAME_LEN, "%.*s%s", (int)len, name, name[len] ? "…" : "");
	return out;
}

void fig_draw_group_bands(struct plot_panel *a, const struct study_groups *g,
			  const struct fig_band *bands, bool steps)
{
	char name[FIG_STUDY_NAME_LEN];

	for (size_t i = 0; i < g->contests[0].n; i++) {
		struct plot_style area = fig_group_style(g, i);

		area.opacity = 0.18;
		if (steps || g->contests[0].groups[i].n > 1)
			panel_band(a, &area, NULL, bands[i].x, bands[i].from, bands[i].to,
				   bands[i].n, steps);
	}
	for (size_t i = 0; i < g->contests[0].n; i++) {
		struct plot_style line = fig_group_style(g, i);

		(steps ? panel_steps : panel_line)(a, &line, fig_format_group_name(g, i, name),
						   bands[i].x, bands[i].mid, bands[i].n);
	}
}
