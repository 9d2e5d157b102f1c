/* seed_hypervolumes.c - the hypervolume of each member of each group, with the mean of the
 * group. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/t_distribution.h"
#include "reports/model/number_format.h"

#include <math.h>

struct seeds_data {
	const struct study_groups *g;
	struct dp_compare_answer volumes;  /* its arrays are the arena's */
	char (*names)[FIG_STUDY_NAME_LEN]; /* (n) */
	const char **row_names;            /* (n) from the bottom to the top */
	size_t n, max_members;
};

static int seeds_gather(const struct report_data *r, struct arena *mem, void *data,
			struct dp_err *err)
{
	const struct dp_compare_query volume = { .is_hypervolume = true };
	struct seeds_data *d = data;

	if (!r->groups)
		return fig_nothing(err, FIG_NO_GROUPS);
	d->g = r->groups;
	d->n = d->g->contests[0].n;
	for (size_t i = 0; i < d->n; i++)
		if (d->g->contests[0].groups[i].n > d->max_members)
			d->max_members = d->g->contests[0].groups[i].n;
	if (d->max_members < 2)
		return fig_nothing(err, "no group has more than one member");
	d->names = arena_calloc(mem, d->n, sizeof *d->names);
	d->row_names = arena_calloc(mem, d->n, sizeof *d->row_names);
	for (size_t i = 0; i < d->n; i++)
		d->row_names[d->n - 1 - i] = fig_format_group_name(d->g, i, d->names[i]);
	d->volumes = dp_comparison_answer(&d->g->contests[BASIS_OBSERVED], &volume);
	arena_adopt(mem, d->volumes.values);
	arena_adopt(mem, d->volumes.samples);
	arena_adopt(mem, d->volumes.tests);
	return DP_OK;
}

/* One group at its height: its members, and its mean with the interval of that. */
static void draw_seeds(struct plot_panel *a, const struct seeds_data *d, size_t i)
{
	const struct dp_comparison *c = &d->g->contests[BASIS_OBSERVED];
	const struct dp_sample_stats *s = &d->volumes.samples[i];
	struct plot_style dot = fig_group_style(d->g, i), mean = dot, bar = dot;
	/* dots above, the mean below them: neither hides the other */
	double at = (double)(d->n - 1 - i), y[2] = { at - 0.14, at - 0.14 };
	const double x[2] = { s->ci_low, s->ci_high };
	struct arena mem = { 0 };
	double *dot_y = arena_calloc(&mem, c->groups[i].n, sizeof *dot_y);

	dot.size = 7;
	dot.opacity = 0.6;
	mean.marker = PLOT_DIAMOND;
	mean.size = 11;
	mean.outline = true;
	bar.dash = PLOT_SOLID;
	for (size_t k = 0; k < c->groups[i].n; k++)
		dot_y[k] = at + 0.14;
	panel_points(a, &dot, NULL, dp_compare_group_values(c, &d->volumes, i), dot_y,
		     c->groups[i].n);
	if (!isnan(s->ci_low))
		panel_line(a, &bar, NULL, x, y, 2);
	panel_points(a, &mean, NULL, &s->mean, y, 1);
	arena_free(&mem);
}

static struct plot *seeds_draw(const void *data)
{
	const struct seeds_data *d = data;
	struct plot *p = fig_new(NULL, figure_seeds.title, FIG_WIDTH, 150 + 44 * (int)d->n);
	struct plot_panel *a = plot_panel(p, 0, 0);

	panel_axis(a, PLOT_X, "hypervolume as observed", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, d->row_names, d->n);
	for (size_t i = 0; i < d->n; i++)
		draw_seeds(a, d, i);
	plot_note(p, "Dots: one member each. Diamonds and lines: the mean and where it "
		     "lies with 95 %.");
	return p;
}

static void seeds_caption(const void *data, struct dp_buf *out)
{
	const struct seeds_data *d = data;
	char mean[FORMAT_LEN];

	dp_buf_puts(out, "The hypervolume of every member at its end, and the mean of each group "
			 "with its 95 % interval. Means: ");
	for (size_t i = 0; i < d->n; i++)
		dp_buf_printf(out, "%s%s %s", i ? ", " : "", d->g->contests[0].groups[i].name,
			      format_short(d->volumes.samples[i].mean, mean));
	dp_buf_putc(out, '.');
}

const struct figure figure_seeds = {
	.name = "seeds",
	.title = "Hypervolume of each seed",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_SEARCH,
	.data_size = sizeof(struct seeds_data),
	.gather = seeds_gather,
	.draw = seeds_draw,
	.caption = seeds_caption,
};
