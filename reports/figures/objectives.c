/* objectives.c - three and more objectives: each pair of them, the points of the front in
 * colours that run along the first objective and are the same in every panel. */
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

enum {
	PAIR_COLOUR_BINS = 5,    /* colours */
	PAIR_OBJECTIVES_MAX = 4, /* objectives that are shown at most */
	OBJECTIVE_PAIRS_MAX = 6, /* pairs of these */
	PAIR_COLUMNS = 3,        /* of panels */
};

struct objectives_data {
	const struct study_data *s;
	struct fig_points front; /* its members, by the first objective */
	size_t n;                /* pairs */
	struct objectives_pair {
		size_t x, y;
		struct fig_points all;
		struct fig_points front; /* in the order of the members */
	} pair[OBJECTIVE_PAIRS_MAX];
};

/* The shown two first, then the others. */
static size_t list_paired_objectives(const struct study_data *s, size_t chosen[PAIR_OBJECTIVES_MAX])
{
	size_t n = 0;

	chosen[n++] = s->x_obj;
	chosen[n++] = s->y_obj;
	for (size_t i = 0; i < s->state->spec->nobjectives && n < PAIR_OBJECTIVES_MAX; i++)
		if (i != s->x_obj && i != s->y_obj)
			chosen[n++] = i;
	return n;
}

/* Where the models put each member, so that it stands where other pictures have it. */
static struct fig_points gather_front_pair(struct arena *mem, const struct objectives_data *d,
					   size_t x, size_t y)
{
	const struct study_data *s = d->s;
	struct fig_points out = fig_points_new(mem, d->front.n);

	for (size_t k = 0; k < d->front.n; k++) {
		struct dp_result_id p = d->front.results[k];
		size_t i = 0;

		while (i < study_data_front_size(s) &&
		       (study_data_front_point(s, i).trial != p.trial ||
			study_data_front_point(s, i).checkpoint != p.checkpoint))
			i++;
		fig_add_point(&out, study_data_front_value(s, i, x),
			      study_data_front_value(s, i, y), p);
	}
	return out;
}

static int objectives_gather(const struct report_data *r, struct arena *mem, void *data,
			     struct dp_err *err)
{
	struct objectives_data *d = data;
	size_t chosen[PAIR_OBJECTIVES_MAX], n;
	int code = fig_main_study(r, &d->s, err);

	if (code != DP_OK)
		return code;
	if (d->s->state->spec->nobjectives < 3)
		return fig_nothing(err, "there are two objectives, which the picture of the front "
					"shows");
	if (!space_has_front(d->s))
		return fig_nothing(err, "the study has no front");
	d->front = fig_front_members(mem, d->s);
	n = list_paired_objectives(d->s, chosen);
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			d->pair[d->n++] = (struct objectives_pair){
				.x = chosen[i],
				.y = chosen[k],
				.all = space_collect_points(mem, d->s, NULL,
							    SPACE_OBJECTIVE + chosen[i],
							    SPACE_OBJECTIVE + chosen[k]),
				.front = gather_front_pair(mem, d, chosen[i], chosen[k]),
			};
	return DP_OK;
}

static void draw_bins(struct plot_panel *a, const struct objectives_data *d,
		      const struct fig_points *p)
{
	size_t bins = p->n < PAIR_COLOUR_BINS ? p->n : PAIR_COLOUR_BINS;

	for (size_t k = 0; k < bins; k++) {
		size_t from = k * p->n / bins, to = (k + 1) * p->n / bins;
		char name[2 * FIG_NUMBER_LEN + 8], low[FIG_NUMBER_LEN], high[FIG_NUMBER_LEN];
		struct plot_style style = fig_dots(
			plot_colourmap_lookup(PLOT_VIRIDIS,
					      bins > 1 ? 0.9 * (double)k / (double)(bins - 1) : 0),
			p->n);

		style.size = fmax(style.size, 6); /* or its colour is not seen */
		snprintf(name, sizeof name, "%s to %s",
			 fig_value(d->s, d->s->x_obj, d->front.x[from], low),
			 fig_value(d->s, d->s->x_obj, d->front.x[to - 1], high));
		panel_points(a, &style, name, p->x + from, p->y + from, to - from);
		fig_add_tooltips(
			a, d->s,
			&(struct fig_points){ .results = d->front.results + from, .n = to - from },
			FIG_TOOLTIP_LINK | FIG_TOOLTIP_OTHER_AXES);
	}
}

static struct plot *objectives_draw(const void *data)
{
	const struct objectives_data *d = data;
	int rows = (int)(d->n + PAIR_COLUMNS - 1) / PAIR_COLUMNS;
	struct plot *p = fig_new(d->s, figure_objectives.title, 1080, 90 + 320 * rows);

	plot_grid(p, rows, PAIR_COLUMNS);
	for (int i = 0; i < (int)d->n; i++) {
		const struct objectives_pair *pair = &d->pair[i];
		struct plot_panel *a = plot_panel(p, i / PAIR_COLUMNS, i % PAIR_COLUMNS);

		fig_axis(a, PLOT_X, d->s, pair->x,
			 fig_objective_scale(d->s, pair->x, pair->all.x, pair->all.n));
		fig_axis(a, PLOT_Y, d->s, pair->y,
			 fig_objective_scale(d->s, pair->y, pair->all.y, pair->all.n));
		fig_draw_background(a, "evaluated", &pair->all);
		fig_add_tooltips(a, d->s, &pair->all, FIG_TOOLTIP_OTHER_AXES);
		draw_bins(a, d, &pair->front);
	}
	return p;
}

static void objectives_caption(const void *data, struct dp_buf *out)
{
	const struct objectives_data *d = data;
	const struct dp_study *spec = d->s->state->spec;
	char points[DP_PLURAL_LEN];

	dp_buf_printf(out,
		      "%s of the front of all %zu objectives, coloured by %s: a "
		      "point has the same colour in each panel.",
		      dp_plural_text(d->front.n, "point", points), spec->nobjectives,
		      spec->objectives[d->s->x_obj].name);
	if (spec->nobjectives > PAIR_OBJECTIVES_MAX)
		dp_buf_printf(out, " Shown are the pairs of %d objectives.", PAIR_OBJECTIVES_MAX);
}

const struct figure figure_objectives = {
	.name = "objectives",
	.title = "Objectives against each other",
	.chapter = FIGURE_CHAPTER_FRONT,
	.data_size = sizeof(struct objectives_data),
	.gather = objectives_gather,
	.draw = objectives_draw,
	.caption = objectives_caption,
};
