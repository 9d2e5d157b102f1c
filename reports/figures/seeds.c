/* seeds.c - the hypervolume of each member of each group, with the mean of the group. */
#include "reports/figures/series.h"

#include "base/student.h"
#include "reports/words.h"

#include <math.h>
#include <stdlib.h>

struct seeds_data {
	const struct groups *g;
	struct dp_answer volumes;
	char (*names)[FIG_NAME_LEN]; /* (n) */
	const char **shown;          /* (n) from the bottom to the top */
	double *place;               /* (most members) */
	size_t n;
};

static int seeds_room(struct seeds_data *d, struct dp_err *err)
{
	size_t most = 0;

	d->n = d->g->by[0].n;
	for (size_t i = 0; i < d->n; i++)
		most = d->g->by[0].group[i].n > most ? d->g->by[0].group[i].n : most;
	d->names = calloc(d->n + 1, sizeof *d->names);
	d->shown = calloc(d->n + 1, sizeof *d->shown);
	d->place = calloc(most + 1, sizeof *d->place);
	if (!d->names || !d->shown || !d->place)
		return fig_nomem(err);
	for (size_t i = 0; i < d->n; i++)
		d->shown[d->n - 1 - i] = fig_group_name(d->g, i, d->names[i]);
	return DP_OK;
}

static int seeds_gather(const struct report *r, void *data, const char **why, struct dp_err *err)
{
	const struct dp_question volume = { .volume = true };
	struct seeds_data *d = data;
	bool several = false;
	int code;

	if (!r->groups) {
		*why = FIG_NO_GROUPS;
		return DP_OK;
	}
	d->g = r->groups;
	for (size_t i = 0; i < d->g->by[0].n; i++)
		several |= d->g->by[0].group[i].n > 1;
	if (!several) {
		*why = "no group has more than one member";
		return DP_OK;
	}
	code = seeds_room(d, err);
	return code == DP_OK ? dp_contest_ask(&d->g->by[GROUPS_OBSERVED], &volume, &d->volumes, err)
			     : code;
}

static void seeds_release(void *data)
{
	struct seeds_data *d = data;

	dp_answer_free(&d->volumes);
	free(d->names);
	free(d->shown);
	free(d->place);
}

/* One group at its height: its members, and its mean with the interval of that. */
static void draw_seeds(struct plot_panel *a, const struct seeds_data *d, size_t i)
{
	const struct dp_contest *c = &d->g->by[GROUPS_OBSERVED];
	const struct dp_sample *s = &d->volumes.samples[i];
	struct plot_style dot = fig_group_style(d->g, i), mean = dot, bar = dot;
	/* dots above, the mean below them: neither hides the other */
	double at = (double)(d->n - 1 - i), y[2] = { at - 0.14, at - 0.14 };
	const double x[2] = { s->low, s->high };

	dot.size = 7;
	dot.opacity = 0.6;
	mean.marker = PLOT_DIAMOND;
	mean.size = 11;
	mean.outline = true;
	bar.dash = PLOT_SOLID;
	for (size_t k = 0; k < c->group[i].n; k++)
		d->place[k] = at + 0.14;
	panel_points(a, &dot, NULL, dp_answer_values(c, &d->volumes, i), d->place, c->group[i].n);
	if (!isnan(s->low))
		panel_line(a, &bar, NULL, x, y, 2);
	panel_points(a, &mean, NULL, &s->mean, y, 1);
}

static struct plot *seeds_draw(const void *data)
{
	const struct seeds_data *d = data;
	struct plot *p = fig_new(NULL, figure_seeds.title, FIG_WIDTH, 150 + 44 * (int)d->n);
	struct plot_panel *a = plot_panel(p, 0, 0);

	panel_axis(a, PLOT_X, "hypervolume as observed", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_names(a, PLOT_Y, d->shown, d->n);
	for (size_t i = 0; i < d->n; i++)
		draw_seeds(a, d, i);
	plot_note(p, "Dots: one member each. Diamonds and lines: the mean and where it "
		     "lies with 95 %.");
	return p;
}

static void seeds_caption(const void *data, struct dp_buf *out)
{
	const struct seeds_data *d = data;
	char mean[SHORT_LEN];

	dp_buf_puts(out, "The hypervolume of every member at its end, and the mean of each group "
			 "with its 95 % interval. Means: ");
	for (size_t i = 0; i < d->n; i++)
		dp_buf_printf(out, "%s%s %s", i ? ", " : "", d->g->by[0].group[i].name,
			      short_text(d->volumes.samples[i].mean, mean));
	dp_buf_putc(out, '.');
}

const struct figure figure_seeds = {
	.name = "seeds",
	.title = "Hypervolume of each seed",
	.of_groups = true,
	.chapter = FIGURE_OF_SEARCH,
	.size = sizeof(struct seeds_data),
	.gather = seeds_gather,
	.draw = seeds_draw,
	.caption = seeds_caption,
	.release = seeds_release,
};
