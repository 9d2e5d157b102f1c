/* hyperparameters.c - how the parameters change along the front: each of them against
 * the first objective. */
#include "reports/figures/space_internal.h"

#include <stdio.h>

enum {
	PANELS_MAX = 12,
	COLUMNS_MAX = 4,
};

static bool applies(const struct report *r)
{
	size_t param[DP_PARAMS_MAX];

	return r->nsubjects && space_has_front(&r->subjects[0]) &&
	       space_free(r->subjects[0].s->spec, param);
}

/* The parameters with a panel; all of them are counted. */
static size_t choose(const struct subject *s, size_t shown[PANELS_MAX], size_t *all,
		     struct dp_err *err)
{
	const struct dp_trial *through;

	*all = 0;
	if (space_incumbent(s, &through, err) != DP_OK)
		return 0;
	return space_shown(s, through->x, PANELS_MAX, shown, all);
}

static int draw_param(struct plot_panel *a, const struct subject *s, size_t param,
		      const struct fig_points *front, struct dp_err *err)
{
	struct plot_style light;
	struct plot_style line = { .colour = plot_palette(PLOT_BLUE),
				   .width = 1.2,
				   .opacity = 0.5 };
	struct plot_style dots = { .colour = plot_palette(PLOT_BLUE),
				   .size = 6,
				   .outline = true };
	struct space_where x = { true, s->x }, y = { false, param };
	struct fig_points all = { 0 }, path = { 0 };
	int code = space_places(s, NULL, x, y, &all, err);

	if (code == DP_OK)
		code = space_places(s, front, x, y, &path, err);
	if (code == DP_OK) {
		fig_axis(a, PLOT_X, s, s->x, fig_scale(all.x, all.n));
		space_axis(a, PLOT_Y, s->s->spec, param);
		light = space_behind(all.n, false);
		panel_points(a, &light, "evaluated", all.x, all.y, all.n);
		panel_line(a, &line, NULL, path.x, path.y, path.n);
		panel_points(a, &dots, "front", path.x, path.y, path.n);
	}
	fig_points_free(&all);
	fig_points_free(&path);
	return code;
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	size_t shown[PANELS_MAX], all, n = choose(s, shown, &all, err);
	int columns = n <= 3 ? (int)n : n <= 6 || n == 9 ? 3 : COLUMNS_MAX;
	int rows = n ? ((int)n + columns - 1) / columns : 0;
	struct fig_points front = { 0 };
	char note[80];
	int code = n ? fig_subject_front(s, &front, err) : DP_E_NOMEM;

	*out = NULL;
	if (code == DP_OK)
		code = fig_new(r, figure_hyperparameters.title,
			       n == 1 ? FIG_WIDTH : columns * 270 + 60,
			       n == 1 ? FIG_HEIGHT : 100 + 230 * rows, out, err);
	if (code == DP_OK)
		plot_grid(*out, rows, columns);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		code = draw_param(plot_panel(*out, (int)i / columns, (int)i % columns), s,
				  shown[i], &front, err);
	snprintf(note, sizeof note, "%zu of %zu parameters, the most relevant ones.", n,
		 all);
	if (code == DP_OK && n < all)
		plot_note(*out, note);
	fig_points_free(&front);
	return fig_end(code, out);
}

/* A parameter's values at both ends of the front. */
static void say_ends(const struct subject *s, const struct fig_points *front,
		     size_t param, struct dp_buf *out)
{
	const struct dp_study_state *st = s->s;

	dp_buf_printf(out, "%s ", st->spec->params[param].name);
	dp_space_text(st->spec, param, st->trials[front->trial[0]]->x[param], out);
	dp_buf_puts(out, " to ");
	dp_space_text(st->spec, param, st->trials[front->trial[front->n - 1]]->x[param],
		      out);
}

static void caption(const struct report *r, struct dp_buf *out)
{
	enum {
		NAMED = 4 /* more would be a table */
	};
	const struct subject *s = &r->subjects[0];
	size_t shown[PANELS_MAX], all;
	struct fig_points front = { 0 };
	struct dp_err err;
	size_t n = choose(s, shown, &all, &err);

	dp_buf_printf(out, "Each parameter against %s; blue points are on the front.",
		      s->s->spec->objectives[s->x].name);
	if (n < all)
		dp_buf_printf(out, " Shown are the %zu most relevant of %zu.", n, all);
	if (fig_subject_front(s, &front, &err) == DP_OK && front.n > 1) {
		dp_buf_puts(out, " From ");
		fig_say(s, s->x, front.x[0], out);
		dp_buf_puts(out, " to ");
		fig_say(s, s->x, front.x[front.n - 1], out);
		dp_buf_puts(out, ": ");
		for (size_t i = 0; i < n && i < NAMED; i++) {
			dp_buf_puts(out, i ? ", " : "");
			say_ends(s, &front, shown[i], out);
		}
		dp_buf_putc(out, '.');
	}
	fig_points_free(&front);
}

const struct figure figure_hyperparameters = { "hyperparameters.png",
					       "Parameters along the front", applies,
					       draw, caption };
