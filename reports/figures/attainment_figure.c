/* attainment_figure.c - figure: median attainment of groups of seeds, with a band from best to
 * worst. */
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

#include "base/units.h"
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Shares of the members that attain the edges of the band. */
static const double best_attainment_level = 0.1, worst_attainment_level = 0.9;

/* The plotted plane, with both objectives to be minimised. */
struct attainment_plane {
	size_t n, x, y; /* objectives in a row; those shown */
	double sign[2], ref[2];
};

static struct attainment_plane make_attainment_plane(const struct study_groups *g)
{
	const struct dp_comparison *c = &g->contests[BASIS_OBSERVED];
	const struct study_data *s = g->list[0].studies[0];

	return (struct attainment_plane){ c->nobjectives,
					  s->x_obj,
					  s->y_obj,
					  { c->sign[s->x_obj], c->sign[s->y_obj] },
					  { c->sign[s->x_obj] * c->reference_point[s->x_obj],
					    c->sign[s->y_obj] * c->reference_point[s->y_obj] } };
}

/* A member's front on the plane, x ascending, without points worse than the reference point: tails
 * must not set the axes. */
static struct dp_pareto_points member_front(struct arena *mem, const struct attainment_plane *p,
					    const struct dp_compare_member *r)
{
	double *all = arena_calloc(mem, r->n, 2 * sizeof *all);
	double *kept = arena_calloc(mem, r->n, 2 * sizeof *kept);
	size_t *indexes = arena_calloc(mem, r->n, sizeof *indexes), count, have = 0;

	for (size_t i = 0; i < r->n; i++) {
		double x = r->y[i * p->n + p->x], y = r->y[i * p->n + p->y];

		if (!(x < p->ref[0] && y < p->ref[1]) || isinf(x) || isinf(y))
			continue;
		all[2 * have] = x;
		all[2 * have++ + 1] = y;
	}
	count = dp_pareto_find_front(all, have, 2, indexes);
	for (size_t i = 0; i < count; i++) {
		kept[2 * i] = all[2 * indexes[i]];
		kept[2 * i + 1] = all[2 * indexes[i] + 1];
	}
	return (struct dp_pareto_points){ kept, count };
}

/* Appends what is attained at position `at`, drawn at x. */
static void attainment_add_corner(struct fig_band *out, const struct attainment_plane *p,
				  const struct dp_attainment *all, double x, size_t at)
{
	const double levels[] = { 0.5, best_attainment_level, worst_attainment_level };
	double y[DP_COUNT(levels)];

	for (size_t k = 0; k < DP_COUNT(levels); k++) {
		y[k] = all->y[at * all->n_sets + dp_attainment_rank(all->n_sets, levels[k])];
		y[k] = isinf(y[k]) ? NAN : p->sign[1] * y[k];
	}
	fig_band_add(out, p->sign[0] * x, y[0], y[1], y[2]);
}

struct fig_band fig_compute_attainment(struct arena *mem, const struct study_groups *g,
				       size_t group, double x_to)
{
	const struct dp_compare_group *members = &g->contests[BASIS_OBSERVED].groups[group];
	const struct attainment_plane p = make_attainment_plane(g);
	struct dp_pareto_points *sets = arena_calloc(mem, members->n, sizeof *sets);
	struct dp_attainment all;
	struct fig_band out;

	for (size_t k = 0; k < members->n; k++)
		sets[k] = member_front(mem, &p, &members->members[k]);
	all = dp_attainment_compute(sets, members->n);
	/* staircases: horizontally to the next position, then vertically */
	out = fig_band_new(mem, 2 * all.n_places + 1);
	for (size_t i = 0; i < all.n_places; i++) {
		if (i > 0)
			attainment_add_corner(&out, &p, &all, all.x[i], i - 1);
		attainment_add_corner(&out, &p, &all, all.x[i], i);
	}
	if (all.n_places && p.sign[0] * x_to > all.x[all.n_places - 1])
		attainment_add_corner(&out, &p, &all, p.sign[0] * x_to, all.n_places - 1);
	if (!(p.sign[0] > 0))
		fig_band_reverse(&out);
	dp_attainment_free(&all);
	return out;
}

double fig_median_attainment_at(const struct study_data *s, const struct fig_band *a, double x)
{
	double found = NAN;

	/* of the corners up to there, the last one towards worse values */
	for (size_t i = 0; i < a->n; i++) {
		size_t k = fig_is_maximised(s, s->x_obj) ? a->n - 1 - i : i;

		if (fig_is_maximised(s, s->x_obj) ? a->x[k] >= x : a->x[k] <= x)
			found = a->mid[k];
	}
	return found;
}

static double worst_x(const struct study_groups *g)
{
	const struct dp_comparison *c = &g->contests[BASIS_OBSERVED];
	const struct attainment_plane p = make_attainment_plane(g);
	double worst = -INFINITY;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->groups[i].n; k++) {
			const struct dp_compare_member *r = &c->groups[i].members[k];

			for (size_t j = 0; j < r->n; j++) {
				const double *y = r->y + j * p.n;

				if (y[p.x] < p.ref[0] && y[p.y] < p.ref[1])
					worst = fmax(worst, y[p.x]);
			}
		}
	return p.sign[0] * worst;
}

/* Where too few members attain a value, the band extends to the worst value attained anywhere. */
static void fill_unattained(const struct study_data *s, struct fig_band *attained, size_t n)
{
	bool down = fig_is_maximised(s, s->y_obj);
	double worst = NAN;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < attained[i].n; k++) {
			double y =
				isnan(attained[i].to[k]) ? attained[i].mid[k] : attained[i].to[k];

			worst = down ? fmin(worst, y) : fmax(worst, y);
		}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < attained[i].n; k++)
			if (isnan(attained[i].to[k]))
				attained[i].to[k] = worst;
}

static void append_attainment_at(const struct study_groups *g, const struct study_data *s,
				 const struct fig_band *attained, double x, struct dp_buf *out)
{
	size_t told = 0;
	char value[FIG_NUMBER_LEN];

	for (size_t i = 0; i < g->contests[0].n; i++) {
		double y = fig_median_attainment_at(s, &attained[i], x);

		if (isnan(y))
			continue;
		if (told == 0) {
			dp_buf_puts(out, " At ");
			fig_append_value(s, s->x_obj, x, out);
			dp_buf_printf(out, " half of them attain %s ",
				      s->state->spec->objectives[s->y_obj].name);
		}
		dp_buf_printf(out, "%s%s (%s)", told++ ? ", " : "",
			      fig_value(s, s->y_obj, y, value), g->contests[0].groups[i].name);
	}
	if (told)
		dp_buf_putc(out, '.');
}

static int attainment_make(const struct report_data *r, struct figure_draft *f, struct dp_err *err)
{
	const struct study_groups *g = r->groups;
	const struct study_data *s = g ? g->list[0].studies[0] : NULL; /* for the objectives */
	size_t n = g ? g->contests[0].n : 0, points = 0;
	enum plot_scale scale[2] = { PLOT_LINEAR, PLOT_LINEAR };
	struct fig_reference_front reference;
	struct dp_buf note = DP_BUF_INIT;
	char name[FIG_STUDY_NAME_LEN];
	struct fig_band *attained;
	struct plot_panel *a;
	bool all_small = true; /* no group has ten members */
	double end;

	if (!g)
		return fig_nothing(err, FIG_NO_GROUPS);
	attained = arena_calloc(&f->mem, n, sizeof *attained);
	end = worst_x(g);
	for (size_t i = 0; i < n; i++) {
		attained[i] = fig_compute_attainment(&f->mem, g, i, end);
		all_small &= g->contests[BASIS_OBSERVED].groups[i].n < 10;
		points += attained[i].n;
		fig_widen_scales(scale, s, attained[i].x, attained[i].mid, attained[i].n);
	}
	if (points == 0)
		return fig_nothing(err, "no member has a point better than the anti-ideal");
	fill_unattained(s, attained, n);
	reference = fig_reference_front_load(&f->mem, r, end, NULL);

	f->plot = fig_new(NULL, figure_attainment.title, FIG_WIDTH, FIG_HEIGHT);
	a = plot_panel(f->plot, 0, 0);
	fig_plane_axes(a, s, scale);
	fig_reference_front_draw(a, &reference);
	fig_draw_group_bands(a, g, attained, false);
	dp_buf_printf(&note, "Lines: attained by half of the seeds. Bands: %s of them.",
		      all_small ? "from the best to the worst" : "by a tenth to nine tenths");
	fig_append_group_legend(g, &note);
	fig_note(f->plot, &note);

	dp_buf_printf(&f->caption,
		      "Observed fronts of groups: the line is what half of a group's "
		      "members attain, the band goes from %s.",
		      all_small ? "the best to the worst of them"
				: "what a tenth of them attains to what nine tenths do");
	if (s->privacy_obj >= 0 && (size_t)s->privacy_obj == s->x_obj)
		append_attainment_at(g, s, attained, 1, &f->caption);
	if (s->state->spec->nobjectives > 2)
		dp_buf_printf(&f->caption, " Of %zu objectives it goes by the two shown alone.",
			      s->state->spec->nobjectives);
	if (reference.study)
		dp_buf_printf(&f->caption,
			      " The thick line is the true front, as far as study %s "
			      "knows it.",
			      fig_format_study_name(reference.study, name));
	return DP_OK;
}

const struct figure figure_attainment = {
	.name = "attainment",
	.title = "Fronts of groups",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_FRONT,
	.make = attainment_make,
};
