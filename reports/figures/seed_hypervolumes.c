/* seed_hypervolumes.c - figure: hypervolume of each member of each group, with the group's mean. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/t_distribution.h"
#include "reports/model/number_format.h"

#include <math.h>

/* Draws the members of a group at this height, and their mean with its interval. */
static void draw_seeds(struct plot_panel *a, const struct study_groups *g, size_t group, double at,
		       const struct dp_sample_stats *s, const double *volumes, double *dot_y)
{
	size_t n = g->contests[BASIS_OBSERVED].groups[group].n;
	struct plot_style dot = fig_group_style(g, group), mean = dot, bar = dot;
	/* dots above and mean below, so that neither hides the other */
	const double x[2] = { s->ci_low, s->ci_high }, y[2] = { at - 0.14, at - 0.14 };

	dot.size = 7;
	dot.opacity = 0.6;
	mean.marker = PLOT_DIAMOND;
	mean.size = 11;
	mean.outline = true;
	bar.dash = PLOT_SOLID;
	for (size_t k = 0; k < n; k++)
		dot_y[k] = at + 0.14;
	panel_points(a, &dot, NULL, volumes, dot_y, n);
	if (!isnan(s->ci_low))
		panel_line(a, &bar, NULL, x, y, 2);
	panel_points(a, &mean, NULL, &s->mean, y, 1);
}

static int seeds_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	const struct dp_compare_query volume = { .is_hypervolume = true };
	const struct study_groups *g = r->groups;
	const struct dp_comparison *c = g ? &g->contests[BASIS_OBSERVED] : NULL;
	char(*names)[FIG_STUDY_NAME_LEN], mean[FORMAT_LEN];
	struct dp_compare_answer volumes;
	const char **rows;
	struct plot_panel *a;
	size_t most = 0;
	double *dot_y;

	if (!g)
		return fig_nothing(err, FIG_NO_GROUPS);
	for (size_t i = 0; i < c->n; i++)
		most = c->groups[i].n > most ? c->groups[i].n : most;
	if (most < 2)
		return fig_nothing(err, "no group has more than one member");
	names = arena_calloc(&f->mem, c->n, sizeof *names);
	rows = arena_calloc(&f->mem, c->n, sizeof *rows); /* from bottom to top */
	dot_y = arena_calloc(&f->mem, most, sizeof *dot_y);
	for (size_t i = 0; i < c->n; i++)
		rows[c->n - 1 - i] = fig_format_group_name(g, i, names[i]);
	volumes = dp_comparison_answer(c, &volume);

	f->plot = fig_new(NULL, figure_seeds.title, FIG_WIDTH, 150 + 44 * (int)c->n);
	a = plot_panel(f->plot, 0, 0);
	panel_axis(a, PLOT_X, "hypervolume as observed", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, NULL, PLOT_LINEAR);
	panel_set_categories(a, PLOT_Y, rows, c->n);
	for (size_t i = 0; i < c->n; i++)
		draw_seeds(a, g, i, (double)(c->n - 1 - i), &volumes.samples[i],
			   dp_compare_group_values(c, &volumes, i), dot_y);
	plot_note(f->plot, "Dots: one member each. Diamonds and lines: the mean and where it "
			   "lies with 95 %.");

	dp_buf_puts(&f->caption, "The hypervolume of every member at its end, and the mean of each "
				 "group with its 95 % interval. Means: ");
	for (size_t i = 0; i < c->n; i++)
		dp_buf_printf(&f->caption, "%s%s %s", i ? ", " : "", c->groups[i].name,
			      format_short(volumes.samples[i].mean, mean));
	dp_buf_putc(&f->caption, '.');
	dp_compare_answer_free(&volumes);
	return DP_OK;
}

const struct figure figure_seeds = {
	.name = "seeds",
	.title = "Hypervolume of each seed",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_SEARCH,
	.make = seeds_make,
};
