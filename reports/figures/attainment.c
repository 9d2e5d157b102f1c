/* attainment.c - the fronts of groups of seeds: what half of a group's members attain,
 * and what nearly none and nearly all of them do. */
#include "reports/figures/series.h"

#include "base/num.h"
#include "front/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Shares of the members that the edges of a band are attained by. */
static const double few = 0.1, most = 0.9;

void fig_attained_free(struct fig_attained *a)
{
	free(a->x);
	free(a->best);
	free(a->middle);
	free(a->worst);
	*a = (struct fig_attained){ 0 };
}

/* ---- numbers ---- */

/* The plane that is shown, with both objectives to be minimised. */
struct plane {
	size_t n, x, y; /* objectives of a row; those shown */
	double sign[2], ref[2];
};

static struct plane plane_of(const struct groups *g)
{
	const struct dp_contest *c = &g->by[GROUPS_OBSERVED];
	const struct subject *s = g->list[0].of[0];

	return (struct plane){ c->nobjectives,
			       s->x,
			       s->y,
			       { c->sign[s->x], c->sign[s->y] },
			       { c->sign[s->x] * c->anti_ideal[s->x],
				 c->sign[s->y] * c->anti_ideal[s->y] } };
}

/* A member's front on the plane, x ascending; only what is better than the anti-ideal,
 * so that tails do not set the axes. */
static int member_front(const struct plane *p, const struct dp_rival *r, double **rows, size_t *n)
{
	double *all = malloc(2 * r->n * sizeof *all + 1);
	double *kept = malloc(2 * r->n * sizeof *kept + 1);
	size_t *who = malloc(r->n * sizeof *who + 1), count = 0, have = 0;
	int code = all && kept && who ? DP_OK : DP_E_NOMEM;

	for (size_t i = 0; i < r->n && code == DP_OK; i++) {
		double x = r->y[i * p->n + p->x], y = r->y[i * p->n + p->y];

		if (!(x < p->ref[0] && y < p->ref[1]) || isinf(x) || isinf(y))
			continue;
		all[2 * have] = x;
		all[2 * have++ + 1] = y;
	}
	if (code == DP_OK)
		code = dp_front(all, have, 2, who, &count);
	for (size_t i = 0; i < count && code == DP_OK; i++) {
		kept[2 * i] = all[2 * who[i]];
		kept[2 * i + 1] = all[2 * who[i] + 1];
	}
	free(all);
	free(who);
	*rows = kept;
	*n = count;
	return code;
}

/* All fronts of a group; the caller frees their rows. */
static int group_fronts(const struct plane *p, const struct dp_rivals *group, struct dp_rows *sets)
{
	int code = DP_OK;

	for (size_t k = 0; k < group->n && code == DP_OK; k++) {
		double *rows = NULL;

		code = member_front(p, &group->list[k], &rows, &sets[k].n);
		sets[k].y = rows;
	}
	return code;
}

static bool attained_room(struct fig_attained *a, size_t room)
{
	a->x = malloc(room * sizeof *a->x + 1);
	a->best = malloc(room * sizeof *a->best + 1);
	a->middle = malloc(room * sizeof *a->middle + 1);
	a->worst = malloc(room * sizeof *a->worst + 1);
	return a->x && a->best && a->middle && a->worst;
}

/* Appends what is attained at place `at`, drawn at x. */
static void attained_corner(struct fig_attained *out, const struct plane *p,
			    const struct dp_attained *all, double x, size_t at)
{
	const size_t rank[] = { dp_attained_rank(all->m, few), dp_attained_rank(all->m, 0.5),
				dp_attained_rank(all->m, most) };
	double *const to[] = { out->best, out->middle, out->worst };

	out->x[out->n] = p->sign[0] * x;
	for (size_t k = 0; k < DP_COUNT(to); k++) {
		double y = all->y[at * all->m + rank[k]];

		to[k][out->n] = isinf(y) ? NAN : p->sign[1] * y;
	}
	out->n++;
}

static void attained_turn(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		double t = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = t;
	}
}

/* Staircases: across to the next place, there up or down. */
static void attained_stairs(struct fig_attained *out, const struct plane *p,
			    const struct dp_attained *all, double x_to)
{
	for (size_t i = 0; i < all->n; i++) {
		if (i > 0)
			attained_corner(out, p, all, all->x[i], i - 1);
		attained_corner(out, p, all, all->x[i], i);
	}
	if (all->n && p->sign[0] * x_to > all->x[all->n - 1])
		attained_corner(out, p, all, p->sign[0] * x_to, all->n - 1);
	if (p->sign[0] > 0)
		return;
	attained_turn(out->x, out->n);
	attained_turn(out->best, out->n);
	attained_turn(out->middle, out->n);
	attained_turn(out->worst, out->n);
}

int fig_attained(const struct groups *g, size_t group, double x_to, struct fig_attained *out,
		 struct dp_err *err)
{
	const struct dp_rivals *rivals = &g->by[GROUPS_OBSERVED].group[group];
	struct dp_rows *sets = calloc(rivals->n + 1, sizeof *sets);
	const struct plane p = plane_of(g);
	struct dp_attained all = { 0 };
	int code = sets ? group_fronts(&p, rivals, sets) : DP_E_NOMEM;

	*out = (struct fig_attained){ .members = rivals->n };
	if (code == DP_OK)
		code = dp_attained(sets, rivals->n, &all);
	if (code == DP_OK && !attained_room(out, 2 * all.n + 1))
		code = DP_E_NOMEM;
	if (code == DP_OK)
		attained_stairs(out, &p, &all, x_to);
	for (size_t k = 0; sets && k < rivals->n; k++)
		free((double *)sets[k].y);
	free(sets);
	dp_attained_free(&all);
	return code == DP_OK ? DP_OK : fig_nomem(err);
}

double fig_attained_at(const struct subject *s, const struct fig_attained *a, double x)
{
	double found = NAN;

	/* of the corners up to there, the last on the way to worse */
	for (size_t i = 0; i < a->n; i++) {
		size_t k = fig_maximised(s, s->x) ? a->n - 1 - i : i;

		if (fig_maximised(s, s->x) ? a->x[k] >= x : a->x[k] <= x)
			found = a->middle[k];
	}
	return found;
}

/* ---- the figure ---- */

struct attainment_data {
	const struct groups *g;
	const struct subject *s; /* for its objectives */
	struct fig_attained *of; /* (n) */
	size_t n;
	struct fig_truth truth;
	double top;      /* where what is not attained is drawn to */
	double at;       /* of x, where the words compare; NaN: nowhere */
	bool few_in_all; /* no group has ten members */
};

/* The worst x that one of the members' fronts has. */
static double worst_x(const struct groups *g)
{
	const struct dp_contest *c = &g->by[GROUPS_OBSERVED];
	const struct plane p = plane_of(g);
	double worst = -INFINITY;

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->group[i].n; k++) {
			const struct dp_rival *r = &c->group[i].list[k];

			for (size_t j = 0; j < r->n; j++) {
				const double *y = r->y + j * p.n;

				if (y[p.x] < p.ref[0] && y[p.y] < p.ref[1])
					worst = fmax(worst, y[p.x]);
			}
		}
	return p.sign[0] * worst;
}

/* The worst that is attained anywhere, for what is attained by too few. */
static double worst_attained(const struct attainment_data *d)
{
	bool down = fig_maximised(d->s, d->s->y);
	double worst = NAN;

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < d->of[i].n; k++) {
			double y =
				isnan(d->of[i].worst[k]) ? d->of[i].middle[k] : d->of[i].worst[k];

			worst = down ? fmin(worst, y) : fmax(worst, y);
		}
	return worst;
}

static int gather_attained(struct attainment_data *d, struct dp_err *err)
{
	double end = worst_x(d->g);
	int code = DP_OK;

	d->few_in_all = true;
	while (d->n < d->g->by[0].n && code == DP_OK) {
		struct fig_attained *a = &d->of[d->n];

		code = fig_attained(d->g, d->n++, end, a, err);
		d->few_in_all &= a->members < 10;
	}
	d->top = code == DP_OK ? worst_attained(d) : NAN;
	for (size_t i = 0; i < d->n && code == DP_OK; i++)
		for (size_t k = 0; k < d->of[i].n; k++)
			if (isnan(d->of[i].worst[k]))
				d->of[i].worst[k] = d->top;
	return code;
}

static int attainment_gather(const struct report *r, void *data, const char **why,
			     struct dp_err *err)
{
	struct attainment_data *d = data;
	size_t points = 0;
	int code;

	if (!r->groups) {
		*why = FIG_NO_GROUPS;
		return DP_OK;
	}
	d->g = r->groups;
	d->s = d->g->list[0].of[0];
	d->of = calloc(d->g->by[0].n + 1, sizeof *d->of);
	if (!d->of)
		return fig_nomem(err);
	code = gather_attained(d, err);
	for (size_t i = 0; i < d->n; i++)
		points += d->of[i].n;
	if (code == DP_OK && points == 0)
		*why = "no member has a point better than the anti-ideal";
	d->at = d->s->privacy >= 0 && (size_t)d->s->privacy == d->s->x ? 1 : NAN;
	return code == DP_OK ? fig_truth(r, worst_x(d->g), &d->truth, err) : code;
}

static void attainment_release(void *data)
{
	struct attainment_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_attained_free(&d->of[i]);
	free(d->of);
	fig_truth_free(&d->truth);
}

/* A log axis if one of the groups asks for it. */
static enum plot_scale attained_scale(const struct attainment_data *d, enum plot_side side)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct fig_attained *a = &d->of[i];

		if (fig_objective_scale(d->s, side == PLOT_X ? d->s->x : d->s->y,
					side == PLOT_X ? a->x : a->middle, a->n) == PLOT_LOG)
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

	fig_axis(a, PLOT_X, d->s, d->s->x, attained_scale(d, PLOT_X));
	fig_axis(a, PLOT_Y, d->s, d->s->y, attained_scale(d, PLOT_Y));
	fig_truth_draw(a, &d->truth);
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style area = fig_group_style(d->g, i);

		area.opacity = 0.18;
		if (d->of[i].members > 1)
			panel_band(a, &area, NULL, d->of[i].x, d->of[i].best, d->of[i].worst,
				   d->of[i].n, false);
	}
	for (size_t i = 0; i < d->n; i++) {
		struct plot_style line = fig_group_style(d->g, i);
		char name[FIG_NAME_LEN];

		panel_line(a, &line, fig_group_name(d->g, i, name), d->of[i].x, d->of[i].middle,
			   d->of[i].n);
	}
	dp_buf_puts(&note, d->few_in_all ? "Lines: attained by half of the seeds. Bands: from "
					   "the best to the worst of them."
					 : "Lines: attained by half of the seeds. Bands: by a "
					   "tenth to nine tenths of them.");
	fig_group_key(d->g, &note);
	plot_note(p, dp_buf_text(&note));
	dp_buf_free(&note);
	return p;
}

/* What half of each group attain where the words compare. */
static void say_attained(const struct attainment_data *d, struct dp_buf *out)
{
	size_t told = 0;
	char value[FIG_TEXT_LEN];

	for (size_t i = 0; i < d->n; i++) {
		double y = fig_attained_at(d->s, &d->of[i], d->at);

		if (isnan(d->at) || isnan(y))
			continue;
		if (told == 0) {
			dp_buf_puts(out, " At ");
			fig_say(d->s, d->s->x, d->at, out);
			dp_buf_printf(out, " half of them attain %s ",
				      d->s->s->spec->objectives[d->s->y].name);
		}
		dp_buf_printf(out, "%s%s (%s)", told++ ? ", " : "",
			      fig_value(d->s, d->s->y, y, value), d->g->by[0].group[i].name);
	}
	if (told)
		dp_buf_putc(out, '.');
}

static void attainment_caption(const void *data, struct dp_buf *out)
{
	const struct attainment_data *d = data;
	char name[FIG_NAME_LEN];

	dp_buf_puts(out, "Observed fronts of groups: the line is what half of a group's "
			 "members attain, ");
	dp_buf_puts(out, d->few_in_all ? "the band goes from the best to the worst of them."
				       : "the band goes from what a tenth of them attains to "
					 "what nine tenths do.");
	say_attained(d, out);
	if (d->s->s->spec->nobjectives > 2)
		dp_buf_printf(out, " Of %zu objectives it goes by the two shown alone.",
			      d->s->s->spec->nobjectives);
	if (d->truth.s)
		dp_buf_printf(out,
			      " The thick line is the true front, as far as study %s "
			      "knows it.",
			      fig_name(d->truth.s, name));
}

const struct figure figure_attainment = {
	.name = "attainment",
	.title = "Fronts of groups",
	.of_groups = true,
	.chapter = FIGURE_OF_FRONT,
	.size = sizeof(struct attainment_data),
	.gather = attainment_gather,
	.draw = attainment_draw,
	.caption = attainment_caption,
	.release = attainment_release,
};
