/* hyperparameters.c - how the parameters change along the front: each of them against
 * the first objective. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>
#include <stdio.h>

enum {
	PARAMETER_PANELS_MAX = 12,
	PARAMETER_COLUMNS_MAX = 4,
	CATEGORY_NAMES_MAX = 24, /* of a category: more cannot all have their name */
};

struct hyperparameters_data {
	const struct study_data *s;
	size_t all; /* parameters that could be shown */
	size_t n;   /* those that are, in the order of the file */
	struct hyperparameter {
		size_t param;
		struct fig_points all, front; /* evaluated, and those of the front */
	} shown[PARAMETER_PANELS_MAX];
	struct fig_points front;
};

static int hyperparameters_gather(const struct report_data *r, struct arena *mem, void *data,
				  struct dp_err *err)
{
	struct hyperparameters_data *d = data;
	size_t param[DP_PARAMS_MAX];
	int code = fig_main_study(r, &d->s, err);

	if (code != DP_OK)
		return code;
	if (!space_has_front(d->s))
		return fig_nothing(err, "the study has no front");
	if (!space_searched_params(d->s->state->spec, param))
		return fig_nothing(err, "all parameters are fixed");
	if (!d->s->nranked)
		return fig_nothing(err, SPACE_NO_RANKING);
	d->front = fig_front_members(mem, d->s);
	d->n = space_top_params_with_calibrated(d->s, PARAMETER_PANELS_MAX, param, &d->all);
	for (size_t i = 0; i < d->n; i++) {
		size_t x = SPACE_OBJECTIVE + d->s->x_obj;

		d->shown[i] = (struct hyperparameter){
			.param = param[i],
			.all = space_collect_points(mem, d->s, NULL, x, param[i]),
			.front = space_collect_points(mem, d->s, &d->front, x, param[i]),
		};
	}
	return DP_OK;
}

static void draw_param(struct plot_panel *a, const struct study_data *s,
		       const struct hyperparameter *h)
{
	struct plot_style dots = fig_dots(plot_palette(PLOT_BLUE), h->front.n);

	fig_axis(a, PLOT_X, s, s->x_obj, fig_objective_scale(s, s->x_obj, h->all.x, h->all.n));
	space_axis(a, PLOT_Y, s->state->spec, h->param);
	fig_draw_background(a, "evaluated", &h->all);
	panel_points(a, &dots, "front", h->front.x, h->front.y, h->front.n);
	fig_add_tooltips(a, s, &h->front, FIG_TOOLTIP_LINK | FIG_TOOLTIP_OTHER_AXES);
}

/* Pixels of a row of panels: each value of a category has a name. */
static int panel_height(const struct hyperparameters_data *d)
{
	const struct dp_study *spec = d->s->state->spec;
	int height = 230;

	for (size_t i = 0; i < d->n; i++) {
		const struct dp_param *p = &spec->params[d->shown[i].param];
		int values = p->kind == DP_PARAM_CATEGORICAL ? (int)json_array_size(p->values) : 0;

		if (values <= CATEGORY_NAMES_MAX && height < 70 + 18 * values)
			height = 70 + 18 * values;
	}
	return height;
}

static struct plot *hyperparameters_draw(const void *data)
{
	const struct hyperparameters_data *d = data;
	int n = (int)d->n;
	int columns = n <= 3 ? n : n <= 6 || n == 9 ? 3 : PARAMETER_COLUMNS_MAX;
	int rows = (n + columns - 1) / columns;
	struct plot *p =
		fig_new(d->s, figure_hyperparameters.title, n == 1 ? FIG_WIDTH : columns * 270 + 60,
			n == 1 ? FIG_HEIGHT : 100 + panel_height(d) * rows);
	char note[80];

	plot_grid(p, rows, columns);
	for (int i = 0; i < n; i++)
		draw_param(plot_panel(p, i / columns, i % columns), d->s, &d->shown[i]);
	snprintf(note, sizeof note, "%zu of %zu parameters, the most relevant ones.", d->n, d->all);
	if (d->n < d->all)
		plot_note(p, note);
	return p;
}

/* ---- in words ---- */

/* How far a parameter rises (1) or falls (-1) along the front: the rank correlation of
 * its values (h->path) with their order. */
static double param_trend(const struct fig_points *path)
{
	double n = (double)path->n, middle = (n - 1) / 2, both = 0, own = 0, order = 0;

	for (size_t i = 0; i < path->n; i++) {
		double rank = -0.5, at = (double)i - middle; /* it is equal to itself */

		for (size_t k = 0; k < path->n; k++)
			rank += path->y[k] < path->y[i] ? 1 : path->y[k] == path->y[i] ? 0.5 : 0;
		both += at * (rank - middle);
		own += (rank - middle) * (rank - middle);
		order += at * at;
	}
	return own > 0 && order > 0 ? both / sqrt(own * order) : 0;
}

/* Is it more than chance would give so many points, and not just a little? Categories
 * have no order. */
static bool has_trend(const struct hyperparameters_data *d, size_t i, double trend)
{
	const struct hyperparameter *h = &d->shown[i];
	double n = (double)h->front.n;

	return d->s->state->spec->params[h->param].kind != DP_PARAM_CATEGORICAL &&
	       fabs(trend) >= 0.6 && fabs(trend) * sqrt(n - 1) > 2.5;
}

/* The shown parameters that have a trend, the clearest first. Returns how many. */
static size_t order_by_trend(const struct hyperparameters_data *d,
			     double trend[PARAMETER_PANELS_MAX], size_t order[PARAMETER_PANELS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		size_t at = n;

		trend[i] = param_trend(&d->shown[i].front);
		if (!has_trend(d, i, trend[i]))
			continue;
		for (; at > 0 && fabs(trend[i]) > fabs(trend[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	return n;
}

static void append_parameter_trends(const struct hyperparameters_data *d, struct dp_buf *out)
{
	enum {
		NAMED_TRENDS_MAX = 4 /* more would be a table */
	};
	const struct dp_study *spec = d->s->state->spec;
	double trend[PARAMETER_PANELS_MAX];
	size_t order[PARAMETER_PANELS_MAX], n = order_by_trend(d, trend, order);

	/* "b falls (100 to 0.0774)": between both ends of the front */
	for (size_t i = 0; i < n && i < NAMED_TRENDS_MAX; i++) {
		const struct hyperparameter *h = &d->shown[order[i]];

		dp_buf_printf(out, "%s%s %s (", i ? ", " : "", spec->params[h->param].name,
			      trend[order[i]] > 0 ? "rises" : "falls");
		space_append_value(spec, h->param, h->front.y[0], out);
		dp_buf_puts(out, " to ");
		space_append_value(spec, h->param, h->front.y[h->front.n - 1], out);
		dp_buf_putc(out, ')');
	}
	if (n == 0)
		dp_buf_puts(out,
			    d->n == 1 ? "it shows no clear trend" : "none shows a clear trend");
	else if (n > NAMED_TRENDS_MAX)
		dp_buf_puts(out, "; these have the clearest trends");
	else if (n < d->n)
		dp_buf_puts(out, d->n - n == 1 ? "; the other shows no clear trend"
					       : "; the others show no clear trend");
	dp_buf_putc(out, '.');
}

static void hyperparameters_caption(const void *data, struct dp_buf *out)
{
	const struct hyperparameters_data *d = data;
	const struct study_data *s = d->s;

	dp_buf_printf(out, "Each parameter against %s; blue points are on the front.",
		      s->state->spec->objectives[s->x_obj].name);
	if (d->n < d->all)
		dp_buf_printf(out, " Shown are the %zu most relevant of %zu.", d->n, d->all);
	if (d->front.n < 2)
		return;
	dp_buf_puts(out, " From ");
	fig_append_value(s, s->x_obj, d->front.x[0], out);
	dp_buf_puts(out, " to ");
	fig_append_value(s, s->x_obj, d->front.x[d->front.n - 1], out);
	dp_buf_puts(out, ": ");
	append_parameter_trends(d, out);
}

const struct figure figure_hyperparameters = {
	.name = "hyperparameters",
	.title = "Parameters along the front",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.data_size = sizeof(struct hyperparameters_data),
	.gather = hyperparameters_gather,
	.draw = hyperparameters_draw,
	.caption = hyperparameters_caption,
};
