/* attainment.c - the fronts of groups of seeds: what half of a group's members attain,
 * and what nearly none and nearly all of them do. */
#include "reports/figures/common/figure_data.h"

#include "base/units.h"
#include "optimize/pareto/pareto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Shares of the members that the edges of a band are attained by. */
static const double best_attainment_level = 0.1, worst_attainment_level = 0.9;

void fig_attainment_free(struct fig_attainment *a)
{
	free(a->x);
	free(a->best);
	free(a->median);
	free(a->worst);
	*a = (struct fig_attainment){ 0 };
}

/* ---- numbers ---- */

/* The plane that is shown, with both objectives to be minimised. */
struct attainment_plane {
	size_t n, x, y; /* objectives of a row; those shown */
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

/* A member's front on the plane, x ascending; only what is better than the anti-ideal,
 * so that tails do not set the axes. */
static double *member_front(const struct attainment_plane *p, const struct dp_compare_member *r,
			    size_t *n)
{
	double *all = dp_malloc(2 * r->n * sizeof *all + 1);
	double *kept = dp_malloc(2 * r->n * sizeof *kept + 1);
	size_t *who = dp_malloc(r->n * sizeof *who + 1), have = 0;

	for (size_t i = 0; i < r->n; i++) {
		double x = r->y[i * p->n + p->x], y = r->y[i * p->n + p->y];

		if (!(x < p->ref[0] && y < p->ref[1]) || isinf(x) || isinf(y))
			continue;
		all[2 * have] = x;
		all[2 * have++ + 1] = y;
	}
	*n = dp_pareto_find_front(all, have, 2, who);
	for (size_t i = 0; i < *n; i++) {
		kept[2 * i] = all[2 * who[i]];
		kept[2 * i + 1] = all[2 * who[i] + 1];
	}
	free(all);
	free(who);
	return kept;
}

/* All fronts of a group; the caller frees their rows. */
static void group_fronts(const struct attainment_plane *p, const struct dp_compare_group *group,
			 struct dp_pareto_points *sets)
{
	for (size_t k = 0; k < group->n; k++)
		sets[k].y = member_front(p, &group->members[k], &sets[k].n);
}

static bool attainment_alloc(struct fig_attainment *a, size_t room)
{
	a->x = dp_malloc(room * sizeof *a->x + 1);
	a->best = dp_malloc(room * sizeof *a->best + 1);
	a->median = dp_malloc(room * sizeof *a->median + 1);
	a->worst = dp_malloc(room * sizeof *a->worst + 1);
	return a->x && a->best && a->median && a->worst;
}

/* Appends what is attained at place `at`, drawn at x. */
static void attainment_add_corner(struct fig_attainment *out, const struct attainment_plane *p,
				  const struct dp_attainment *all, double x, size_t at)
{
	const size_t rank[] = { dp_attainment_rank(all->n_sets, best_attainment_level),
				dp_attainment_rank(all->n_sets, 0.5),
				dp_attainment_rank(all->n_sets, worst_attainment_level) };
	double *const to[] = { out->best, out->median, out->worst };

	out->x[out->n] = p->sign[0] * x;
	for (size_t k = 0; k < DP_COUNT(to); k++) {
		double y = all->y[at * all->n_sets + rank[k]];

		to[k][out->n] = isinf(y) ? NAN : p->sign[1] * y;
	}
	out->n++;
}

static void reverse_doubles(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* Staircases: across to the next place, there up or down. */
static void attainment_build_staircase(struct fig_attainment *out, const struct attainment_plane *p,
				       const struct dp_attainment *all, double x_to)
{
	for (size_t i = 0; i < all->n_places; i++) {
		if (i > 0)
			attainment_add_corner(out, p, all, all->x[i], i - 1);
		attainment_add_corner(out, p, all, all->x[i], i);
	}
	if (all->n_places && p->sign[0] * x_to > all->x[all->n_places - 1])
		attainment_add_corner(out, p, all, p->sign[0] * x_to, all->n_places - 1);
	if (p->sign[0] > 0)
		return;
	reverse_doubles(out->x, out->n);
	reverse_doubles(out->best, out->n);
	reverse_doubles(out->median, out->n);
	reverse_doubles(out->worst, out->n);
}

int fig_compute_attainment(const struct study_groups *g, size_t group, double x_to,
			   struct fig_attainment *out, struct dp_err *err)
{
	const struct dp_compare_group *rivals = &g->contests[BASIS_OBSERVED].groups[group];
	struct dp_pareto_points *sets = dp_calloc(rivals->n + 1, sizeof *sets);
	const struct attainment_plane p = make_attainment_plane(g);
	struct dp_attainment all;
	int code = DP_OK;

	*out = (struct fig_attainment){ .nmembers = rivals->n };
	group_fronts(&p, rivals, sets);
	all = dp_attainment_compute(sets, rivals->n);
	if (code == DP_OK && !attainment_alloc(out, 2 * all.n_places + 1))
		code = DP_E_NOMEM;
	if (code == DP_OK)
		attainment_build_staircase(out, &p, &all, x_to);
	for (size_t k = 0; k < rivals->n; k++)
		free((double *)sets[k].y);
	free(sets);
	dp_attainment_free(&all);
	return code == DP_OK ? DP_OK : fig_nomem(err);
}

double fig_median_attainment_at(const struct study_data *s, const struct fig_attainment *a,
				double x)
{
	double found = NAN;

	/* of the corners up to there, the last on the way to worse */
	for (size_t i = 0; i < a->n; i++) {
		size_t k = fig_is_maximised(s, s->x_obj) ? a->n - 1 - i : i;

		if (fig_is_maximised(s, s->x_obj) ? a->x[k] >= x : a->x[k] <= x)
			found = a->median[k];
	}
	return found;
}

/* ---- the figure ---- */

struct attainment_data {
	const struct study_groups *groups;
	const struct study_data *study;    /* for its objectives */
	struct fig_attainment *attainment; /* (n) */
	size_t n;
	struct fig_reference_front reference;
	double worst_y;        /* where what is not attained is drawn to */
	double caption_x;      /* of x, where the words compare; NaN: nowhere */
	bool all_groups_small; /* no group has ten members */
};

/* The worst x that one of the members' fronts has. */
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

/* The worst that is attained anywhere, for what is attained by too few. */
static double worst_attained_y(const struct attainment_data *d)
{
	bool down = fig_is_maximised(d->study, d->study->y_obj);
	double worst = NAN;

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->attainment[i].n; k++) {
			double y = isnan(d->attainment[i].worst[k]) ? d->attainment[i].median[k]
								    : d->attainment[i].worst[k];

			worst = down ? fmin(worst, y) : fmax(worst, y);
		}
	return worst;
}

static int gather_group_attainment(struct attainment_data *d, struct dp_err *err)
{
	double end = worst_x(d->groups);
	int code = DP_OK;

	d->all_groups_small = true;
	while (d->n < d->groups->contests[0].n && code == DP_OK) {
		struct fig_attainment *a = &d->attainment[d->n];

		code = fig_compute_attainment(d->groups, d->n++, end, a, err);
		d->all_groups_small &= a->nmembers < 10;
	}
	d->worst_y = code == DP_OK ? worst_attained_y(d) : NAN;
	for (size_t i = 0; i < d->n && code == DP_OK; i++)
		for (size_t k = 0; k < d->attainment[i].n; k++)
			if (isnan(d->attainment[i].worst[k]))
				d->attainment[i].worst[k] = d->worst_y;
	return code;
}

static int attainment_gather(const struct report_data *r, void *data, const char **why,
			     struct dp_err *err)
{
	struct attainment_data *d = data;
	size_t points = 0;
	int code;

	if (!r->groups) {
		*why = FIG_NO_GROUPS;
		return DP_OK;
	}
	d->groups = r->groups;
	d->study = d->groups->list[0].studies[0];
	d->attainment = dp_calloc(d->groups->contests[0].n + 1, sizeof *d->attainment);
	if (!d->attainment)
		return fig_nomem(err);
	code = gather_group_attainment(d, err);
	for (size_t i = 0; i < d->n; i++)
		points += d->attainment[i].n;
	if (code == DP_OK && points == 0)
		*why = "no member has a point better than the anti-ideal";
	d->caption_x =
		d->study->privacy_obj >= 0 && (size_t)d->study->privacy_obj == d->study->x_obj
			? 1
			: NAN;
	return code == DP_OK ? fig_reference_front_load(r, worst_x(d->groups), &d->reference, err)
			     : code;
}

static void attainment_release(void *data)
{
	struct attainment_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_attainment_free(&d->attainment[i]);
	free(d->attainment);
	fig_reference_front_free(&d->reference);
}

/* A log axis if one of the groups asks for it. */
static enum plot_scale attainment_axis_scale(const struct attainment_data *d, enum plot_side side)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct fig_attainment *a = &d->attainment[i];

		if (fig_objective_scale(d->study,
					side == PLOT_X ? d->study->x_obj : d->study->y_obj,
					side == PLOT_X ? a->x : a->median, a->n) == PLOT_LOG)
			return PLOT_LOG;
	}
	return PLOT_LINEAR;
}

static struct plot *attainment_draw(const void *data)
{
	const struct attainment_data *d = data;
	struct plot *p = fig_new(NULL, figure_attainment.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);
	struct dp_buf note = DP_BUF_INIT;

	fig_axis(a, PLOT_X, d->study, d->study->x_obj, attainment_axis_scale(d, PLOT_X));
	fig_axis(a, PLOT_Y, d->study, d->study->y_obj, attainment_axis_scale(d, PLOT_Y));
	fig_reference_front_draw(a, &d->reference);
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style area = fig_group_style(d->groups, i);

		area.opacity = 0.18;
		if (d->attainment[i].nmembers > 1)
			panel_band(a, &area, NULL, d->attainment[i].x, d->attainment[i].best,
				   d->attainment[i].worst, d->attainment[i].n, false);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style line = fig_group_style(d->groups, i);
		char name[FIG_STUDY_NAME_LEN];

		panel_line(a, &line, fig_format_group_name(d->groups, i, name), d->attainment[i].x,
			   d->attainment[i].median, d->attainment[i].n);
	}
	dp_buf_puts(&note, d->all_groups_small
				   ? "Lines: attained by half of the seeds. Bands: from "
				     "the best to the worst of them."
				   : "Lines: attained by half of the seeds. Bands: by a "
				     "tenth to nine tenths of them.");
	fig_append_group_legend(d->groups, &note);
	plot_note(p, dp_buf_text(&note));
	dp_buf_free(&note);
	return p;
}

/* What half of each group attain where the words compare. */
static void append_attainment_at(const struct attainment_data *d, struct dp_buf *out)
{
	size_t told = 0;
	char value[FIG_NUMBER_LEN];

	for (size_t i = 0; i < d->n; i++) {
		double y = fig_median_attainment_at(d->study, &d->attainment[i], d->caption_x);

		if (isnan(d->caption_x) || isnan(y))
			continue;
		if (told == 0) {
			dp_buf_puts(out, " At ");
			fig_append_value(d->study, d->study->x_obj, d->caption_x, out);
			dp_buf_printf(out, " half of them attain %s ",
				      d->study->state->spec->objectives[d->study->y_obj].name);
		}
		dp_buf_printf(out, "%s%s (%s)", told++ ? ", " : "",
			      fig_value(d->study, d->study->y_obj, y, value),
			      d->groups->contests[0].groups[i].name);
	}
	if (told)
		dp_buf_putc(out, '.');
}

static void attainment_caption(const void *data, struct dp_buf *out)
{
	const struct attainment_data *d = data;
	char name[FIG_STUDY_NAME_LEN];

	dp_buf_puts(out, "Observed fronts of groups: the line is what half of a group's "
			 "members attain, ");
	dp_buf_puts(out, d->all_groups_small ? "the band goes from the best to the worst of them."
					     : "the band goes from what a tenth of them attains to "
					       "what nine tenths do.");
	append_attainment_at(d, out);
	if (d->study->state->spec->nobjectives > 2)
		dp_buf_printf(out, " Of %zu objectives it goes by the two shown alone.",
			      d->study->state->spec->nobjectives);
	if (d->reference.study)
		dp_buf_printf(out,
			      " The thick line is the true front, as far as study %s "
			      "knows it.",
			      fig_format_study_name(d->reference.study, name));
}

const struct figure figure_attainment = {
	.name = "attainment",
	.title = "Fronts of groups",
	.for_groups = true,
	.chapter = FIGURE_CHAPTER_FRONT,
	.data_size = sizeof(struct attainment_data),
	.gather = attainment_gather,
	.draw = attainment_draw,
	.caption = attainment_caption,
	.free_data = attainment_release,
};
