/* hyperparameters.c - figure: each parameter along the front, against the first objective. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include <math.h>

enum {
	PARAMETER_PANELS_MAX = 12,
	PARAMETER_COLUMNS_MAX = 4,
	CATEGORY_NAMES_MAX = 24, /* values of a category: more names do not fit */
};

struct hyperparameter {
	size_t param;
	struct fig_points all, front; /* evaluated points, and points of the front */
	double trend;                 /* along the front: see find_trend() */
};

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

/* Trend of a parameter along the front, 1 (rises) to -1 (falls): the rank correlation of its values
 * with their order. */
static double find_trend(const struct fig_points *path)
{
	double n = (double)path->n, middle = (n - 1) / 2, both = 0, own = 0, order = 0;

	for (size_t i = 0; i < path->n; i++) {
		double rank = -0.5,
		       at = (double)i - middle; /* compensates for comparing with itself */

		for (size_t k = 0; k < path->n; k++)
			rank += path->y[k] < path->y[i] ? 1 : path->y[k] == path->y[i] ? 0.5 : 0;
		both += at * (rank - middle);
		own += (rank - middle) * (rank - middle);
		order += at * at;
	}
	return own > 0 && order > 0 ? both / sqrt(own * order) : 0;
}

/* Parameters with a strong trend that is unlikely to be chance for this number of points, strongest
 * first. Excludes categories. Returns their number. */
static size_t order_by_trend(const struct study_data *s, const struct hyperparameter *shown,
			     size_t nshown,
			     const struct hyperparameter *order[PARAMETER_PANELS_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < nshown; i++) {
		const struct hyperparameter *h = &shown[i];
		double clear = fabs(h->trend);
		size_t at = n;

		if (s->state->spec->params[h->param].kind == DP_PARAM_CATEGORICAL || clear < 0.6 ||
		    clear * sqrt((double)h->front.n - 1) <= 2.5)
			continue;
		for (; at > 0 && clear > fabs(order[at - 1]->trend); at--)
			order[at] = order[at - 1];
		order[at] = h;
		n++;
	}
	return n;
}

static void append_parameter_trends(const struct study_data *s, const struct hyperparameter *shown,
				    size_t nshown, struct dp_buf *out)
{
	enum {
		NAMED_TRENDS_MAX = 4 /* more would need a table */
	};
	const struct dp_study *spec = s->state->spec;
	const struct hyperparameter *order[PARAMETER_PANELS_MAX];
	size_t n = order_by_trend(s, shown, nshown, order);

	/* "b falls (100 to 0.0774)": values at both ends of the front */
	for (size_t i = 0; i < n && i < NAMED_TRENDS_MAX; i++) {
		const struct hyperparameter *h = order[i];

		dp_buf_printf(out, "%s%s %s (", i ? ", " : "", spec->params[h->param].name,
			      h->trend > 0 ? "rises" : "falls");
		space_append_value(spec, h->param, h->front.y[0], out);
		dp_buf_puts(out, " to ");
		space_append_value(spec, h->param, h->front.y[h->front.n - 1], out);
		dp_buf_putc(out, ')');
	}
	if (n == 0)
		dp_buf_puts(out,
			    nshown == 1 ? "it shows no clear trend" : "none shows a clear trend");
	else if (n > NAMED_TRENDS_MAX)
		dp_buf_puts(out, "; these have the clearest trends");
	else if (n < nshown)
		dp_buf_puts(out, nshown - n == 1 ? "; the other shows no clear trend"
						 : "; the others show no clear trend");
	dp_buf_putc(out, '.');
}

static int hyperparameters_make(const struct report_data *r, struct figure_draft *f,
				struct dp_err *err)
{
	struct hyperparameter shown[PARAMETER_PANELS_MAX];
	size_t param[DP_PARAMS_MAX], all, n, front_x;
	const struct study_data *s;
	struct fig_points front;
	int height = 230, rows, columns, code = fig_main_study(r, &s, err);
	struct dp_buf note = DP_BUF_INIT;

	if (code != DP_OK)
		return code;
	if (!space_has_front(s))
		return fig_nothing(err, "the study has no front");
	if (!space_searched_params(s->state->spec, param))
		return fig_nothing(err, "all parameters are fixed");
	if (!s->nranked)
		return fig_nothing(err, SPACE_NO_RANKING);
	front = fig_front_members(&f->mem, s);
	front_x = SPACE_OBJECTIVE + s->x_obj;
	n = space_top_params_with_calibrated(s, PARAMETER_PANELS_MAX, param, &all);
	for (size_t i = 0; i < n; i++) {
		const struct dp_param *p = &s->state->spec->params[param[i]];
		int values = p->kind == DP_PARAM_CATEGORICAL ? (int)json_array_size(p->values) : 0;

		shown[i].param = param[i];
		shown[i].all = space_collect_points(&f->mem, s, NULL, front_x, param[i]);
		shown[i].front = space_collect_points(&f->mem, s, &front, front_x, param[i]);
		shown[i].trend = find_trend(&shown[i].front);
		/* room for the name of each category */
		if (values <= CATEGORY_NAMES_MAX && height < 70 + 18 * values)
			height = 70 + 18 * values;
	}

	columns = n <= 3 ? (int)n : n <= 6 || n == 9 ? 3 : PARAMETER_COLUMNS_MAX;
	rows = ((int)n + columns - 1) / columns;
	f->plot = fig_new(s, figure_hyperparameters.title, n == 1 ? FIG_WIDTH : columns * 270 + 60,
			  n == 1 ? FIG_HEIGHT : 100 + height * rows);
	plot_grid(f->plot, rows, columns);
	for (int i = 0; i < (int)n; i++)
		draw_param(plot_panel(f->plot, i / columns, i % columns), s, &shown[i]);
	if (n < all)
		dp_buf_printf(&note, "%zu of %zu parameters, the most relevant ones.", n, all);
	fig_note(f->plot, &note);

	dp_buf_printf(&f->caption, "Each parameter against %s; blue points are on the front.",
		      s->state->spec->objectives[s->x_obj].name);
	if (n < all)
		dp_buf_printf(&f->caption, " Shown are the %zu most relevant of %zu.", n, all);
	if (front.n < 2)
		return DP_OK;
	dp_buf_puts(&f->caption, " From ");
	fig_append_value(s, s->x_obj, front.x[0], &f->caption);
	dp_buf_puts(&f->caption, " to ");
	fig_append_value(s, s->x_obj, front.x[front.n - 1], &f->caption);
	dp_buf_puts(&f->caption, ": ");
	append_parameter_trends(s, shown, n, &f->caption);
	return DP_OK;
}

const struct figure figure_hyperparameters = {
	.name = "hyperparameters",
	.title = "Parameters along the front",
	.chapter = FIGURE_CHAPTER_PARAMETERS,
	.make = hyperparameters_make,
};
