/* hypervolume.c - how the hypervolume grows with the evaluations, several studies in one
 * picture. */
#include "reports/figures/series.h"

#include "front/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fig_growth_free(struct fig_growth *g)
{
	free(g->evaluations);
	free(g->volume);
	*g = (struct fig_growth){ 0 };
}

/* More steps cannot be told apart in a picture; with many objectives each is dear. */
static size_t most_steps(size_t objectives)
{
	return objectives <= 2 ? 400 : objectives == 3 ? 200 : 40;
}

static int by_end(const void *a, const void *b)
{
	const struct dp_trial *t = *(struct dp_trial *const *)a;
	const struct dp_trial *u = *(struct dp_trial *const *)b;

	if (t->ended != u->ended)
		return t->ended < u->ended ? -1 : 1;
	return t->number < u->number ? -1 : t->number > u->number;
}

/* The trials that have ended, in the order in which they did. */
static const struct dp_trial **ended_trials(const struct dp_study_state *st, size_t *n)
{
	const struct dp_trial **list = malloc(st->ntrials * sizeof *list + 1);

	*n = 0;
	for (uint32_t i = 0; list && i < st->ntrials; i++)
		if (st->trials[i]->status >= DP_TRIAL_OK)
			list[(*n)++] = st->trials[i];
	if (list)
		qsort(list, *n, sizeof *list, by_end);
	return list;
}

/* The front so far, as rows to be minimised. */
struct archive {
	const struct dp_study_state *st;
	size_t p, n;
	double *rows;  /* (n x p), room for every trial */
	size_t *front; /* room for as many */
	double ref[DP_OBJECTIVES_MAX];
};

/* Appends a trial if it counts. */
static void archive_add(struct archive *a, const struct dp_trial *t)
{
	if (t->status != DP_TRIAL_OK || !t->objectives || !dp_trial_feasible(a->st, t))
		return;
	for (size_t k = 0; k < a->p; k++)
		a->rows[a->n * a->p + k] = a->st->spec->objectives[k].maximize
						   ? -t->objectives[k]
						   : t->objectives[k];
	a->n++;
}

static int compare_size(const void *a, const void *b)
{
	size_t i = *(const size_t *)a, k = *(const size_t *)b;

	return i < k ? -1 : i > k;
}

/* Drops what is dominated; rows move down only, so they go in rising order. */
static int archive_clean(struct archive *a)
{
	size_t count;

	if (dp_front(a->rows, a->n, a->p, a->front, &count) != DP_OK)
		return DP_E_NOMEM;
	qsort(a->front, count, sizeof *a->front, compare_size);
	for (size_t i = 0; i < count; i++)
		memmove(a->rows + i * a->p, a->rows + a->front[i] * a->p,
			a->p * sizeof *a->rows);
	a->n = count;
	return DP_OK;
}

static int archive_new(struct archive *a, const struct dp_study_state *st)
{
	*a = (struct archive){ .st = st, .p = st->spec->nobjectives };
	a->rows = malloc(st->ntrials * a->p * sizeof *a->rows + 1);
	a->front = malloc(st->ntrials * sizeof *a->front + 1);
	for (size_t k = 0; k < a->p; k++) {
		const struct dp_objective *o = &st->spec->objectives[k];

		a->ref[k] = o->maximize ? -o->anti_ideal : o->anti_ideal;
	}
	return a->rows && a->front ? DP_OK : DP_E_NOMEM;
}

static int grow(struct fig_growth *g, struct archive *a, const struct dp_trial **trials,
		size_t n)
{
	size_t steps = n < most_steps(a->p) ? n : most_steps(a->p), done = 0;

	g->evaluations[0] = g->volume[0] = 0;
	g->n = 1;
	for (size_t i = 0; i < steps; i++) {
		size_t before = a->n, upto = n * (i + 1) / steps;

		while (done < upto)
			archive_add(a, trials[done++]);
		g->evaluations[g->n] = (double)done;
		g->volume[g->n] = g->volume[g->n - 1];
		if (a->n != before &&
		    (archive_clean(a) ||
		     dp_hypervolume(a->rows, a->n, a->p, a->ref, &g->volume[g->n])))
			return DP_E_NOMEM;
		g->n++;
	}
	return DP_OK;
}

int fig_growth(const struct subject *s, struct fig_growth *out, struct dp_err *err)
{
	const struct dp_trial **trials;
	struct archive a = { 0 };
	int code = DP_E_NOMEM;
	size_t n;

	*out = (struct fig_growth){ 0 };
	trials = ended_trials(s->s, &n);
	out->evaluations = malloc((n + 1) * sizeof *out->evaluations);
	out->volume = malloc((n + 1) * sizeof *out->volume);
	if (trials && out->evaluations && out->volume && !archive_new(&a, s->s))
		code = grow(out, &a, trials, n);
	free(a.rows);
	free(a.front);
	free(trials);
	if (code == DP_OK)
		return DP_OK;
	fig_growth_free(out);
	return fig_nomem(err);
}

/* ---- the figure ---- */

static bool applies(const struct report *r)
{
	return r->nsubjects && r->subjects[0].s->ok > 0;
}

/* Where its initial design ended, or 0. */
static uint32_t initial_end(const struct subject *s)
{
	const struct dp_search *search = &s->s->spec->search;

	return search->method == DP_METHOD_DPARETO && !search->initial_from &&
			       dp_study_ended(s->s) > search->initial
		       ? search->initial
		       : 0;
}

/* One line for each end of an initial design that differs. */
static void mark_initial(struct plot_panel *a, const struct report *r)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY),
				    .width = 1,
				    .dash = PLOT_DOTTED };

	for (size_t i = 0; i < r->nsubjects; i++) {
		uint32_t end = initial_end(&r->subjects[i]);
		bool new = end > 0;

		for (size_t k = 0; k < i; k++)
			new &= initial_end(&r->subjects[k]) != end;
		if (new)
			panel_mark(a, &style, PLOT_X, end, "initial design");
	}
}

static void draw_growth(struct plot_panel *a, const struct report *r,
			const struct fig_growth *growth)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		struct plot_style style = fig_style(i);
		char name[FIG_NAME_LEN];

		style.width = 2;
		panel_steps(a, &style,
			    r->nsubjects > 1 ? fig_name(&r->subjects[i], name) : NULL,
			    growth[i].evaluations, growth[i].volume, growth[i].n);
	}
}

/* Most of the growth comes with the first few points. Where the rest would be a flat
 * line at the top, the axis starts above zero: a little below the lowest curve at a
 * tenth of its way. */
static double lower_limit(const struct report *r, const struct fig_growth *growth)
{
	double early = INFINITY, high = 0, lower;

	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct fig_growth *g = &growth[i];

		high = fmax(high, g->volume[g->n - 1]);
		if (r->subjects[i].s->ok)
			early = fmin(early, g->volume[g->n / 10]);
	}
	lower = high - 1.5 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

static int gather(const struct report *r, struct fig_growth *growth, struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < r->nsubjects; i++)
		code = fig_growth(&r->subjects[i], &growth[i], err);
	return code;
}

/* Do all studies measure from the same point? */
static bool same_reference(const struct report *r)
{
	const struct dp_study *first = r->subjects[0].s->spec;

	for (size_t i = 1; i < r->nsubjects; i++) {
		const struct dp_study *other = r->subjects[i].s->spec;

		if (other->nobjectives != first->nobjectives)
			return false;
		for (size_t k = 0; k < first->nobjectives; k++)
			if (other->objectives[k].anti_ideal !=
			    first->objectives[k].anti_ideal)
				return false;
	}
	return true;
}

static void note(struct plot *p, const struct report *r, double lower)
{
	struct dp_buf text = DP_BUF_INIT;

	if (lower > 0)
		dp_buf_puts(&text, "The vertical axis does not start at zero. ");
	if (!same_reference(r))
		dp_buf_puts(&text,
			    "The studies measure from different anti-ideal points: "
			    "compare shapes, not heights.");
	if (text.len)
		plot_note(p, dp_buf_text(&text));
	dp_buf_free(&text);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	struct fig_growth *growth = calloc(r->nsubjects, sizeof *growth);
	int code = growth ? gather(r, growth, err) : fig_nomem(err);
	struct plot_panel *a;
	double lower;

	*out = NULL;
	if (code == DP_OK)
		code = fig_new(r->nsubjects > 1 ? NULL : r, figure_hypervolume.title,
			       FIG_WIDTH, FIG_HEIGHT, out, err);
	if (code != DP_OK)
		goto out;
	lower = lower_limit(r, growth);
	a = plot_panel(*out, 0, 0);
	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_whole(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, lower, NAN);
	mark_initial(a, r);
	draw_growth(a, r, growth);
	note(*out, r, lower);
out:
	for (size_t i = 0; growth && i < r->nsubjects; i++)
		fig_growth_free(&growth[i]);
	free(growth);
	return fig_end(code, out);
}

static void caption(const struct report *r, struct dp_buf *out)
{
	char name[FIG_NAME_LEN], volume[FIG_TEXT_LEN];

	dp_buf_puts(out,
		    "The hypervolume that the front dominates, as evaluations end: ");
	for (size_t i = 0; i < r->nsubjects; i++) {
		const struct dp_study_state *st = r->subjects[i].s;

		if (r->nsubjects > 1)
			dp_buf_printf(out, "%s ", fig_name(&r->subjects[i], name));
		dp_buf_printf(out, "%s after %u%s", fig_number(st->hypervolume, volume),
			      dp_study_ended(st), i + 1 < r->nsubjects ? ", " : ".");
	}
	if (initial_end(&r->subjects[0]))
		dp_buf_printf(out, " The first %u points were the initial design.",
			      initial_end(&r->subjects[0]));
}

const struct figure figure_hypervolume = { "hypervolume.png", "Hypervolume", applies,
					   draw, caption };
