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
	if (t->status != DP_TRIAL_OK || !t->objectives ||
	    !dp_point_feasible(a->st, (struct dp_point){ t->number, DP_OWN }))
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

static int grow_volume(struct fig_growth *g, struct archive *a,
		       const struct dp_trial **trials, size_t n)
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
		code = grow_volume(out, &a, trials, n);
	free(a.rows);
	free(a.front);
	free(trials);
	if (code == DP_OK)
		return DP_OK;
	fig_growth_free(out);
	return fig_nomem(err);
}

/* ---- the figure ---- */

struct growth_line {
	const struct subject *s;
	struct fig_growth growth;
	uint32_t initial; /* where its initial design ended, or 0 */
};

struct hypervolume_data {
	struct growth_line *lines; /* (n) one a study */
	size_t n;
	double lower; /* end of the vertical axis */
};

static uint32_t initial_end(const struct subject *s)
{
	const struct dp_search *search = &s->s->spec->search;

	return search->method == DP_METHOD_DPARETO && !search->initial_from &&
			       dp_study_ended(s->s) > search->initial
		       ? search->initial
		       : 0;
}

/* Most of the growth comes with the first few points. Where the rest would be a flat
 * line at the top, the axis starts above zero: a little below the lowest curve at a
 * tenth of its way. */
static double lower_limit(const struct hypervolume_data *d)
{
	double early = INFINITY, high = 0, lower;

	for (size_t i = 0; i < d->n; i++) {
		const struct fig_growth *g = &d->lines[i].growth;

		high = fmax(high, g->volume[g->n - 1]);
		if (d->lines[i].s->s->ok)
			early = fmin(early, g->volume[g->n / 10]);
	}
	lower = high - 1.5 * (high - early);
	return isfinite(lower) && lower > 0.4 * high ? lower : 0;
}

static int hypervolume_gather(const struct report *r, void *data, const char **why,
			      struct dp_err *err)
{
	struct hypervolume_data *d = data;
	const struct subject *first = fig_first(r, why);

	if (first && !first->s->ok)
		*why = "no trial has given a result";
	if (*why)
		return DP_OK;
	d->lines = calloc(r->nsubjects, sizeof *d->lines);
	if (!d->lines)
		return fig_nomem(err);
	for (; d->n < r->nsubjects; d->n++) {
		struct growth_line *line = &d->lines[d->n];
		int code;

		line->s = &r->subjects[d->n];
		line->initial = initial_end(line->s);
		code = fig_growth(line->s, &line->growth, err);
		if (code != DP_OK)
			return code;
	}
	d->lower = lower_limit(d);
	return DP_OK;
}

static void hypervolume_release(void *data)
{
	struct hypervolume_data *d = data;

	for (size_t i = 0; i < d->n; i++)
		fig_growth_free(&d->lines[i].growth);
	free(d->lines);
}

/* One line for each end of an initial design that differs. */
static void mark_initial(struct plot_panel *a, const struct hypervolume_data *d)
{
	struct plot_style style = { .colour = plot_palette(PLOT_GREY),
				    .width = 1,
				    .dash = PLOT_DOTTED };

	for (size_t i = 0; i < d->n; i++) {
		uint32_t end = d->lines[i].initial;
		bool new = end > 0;

		for (size_t k = 0; k < i; k++)
			new &= d->lines[k].initial != end;
		if (new)
			panel_mark(a, &style, PLOT_X, end, "initial design");
	}
}

static void draw_growth(struct plot_panel *a, const struct hypervolume_data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct growth_line *line = &d->lines[i];
		struct plot_style style = fig_style(i);
		char name[FIG_NAME_LEN];

		style.width = 2;
		panel_steps(a, &style, d->n > 1 ? fig_name(line->s, name) : NULL,
			    line->growth.evaluations, line->growth.volume,
			    line->growth.n);
	}
}

/* Do all studies measure from the same point? */
static bool same_reference(const struct hypervolume_data *d)
{
	const struct dp_study *first = d->lines[0].s->s->spec;

	for (size_t i = 1; i < d->n; i++) {
		const struct dp_study *other = d->lines[i].s->s->spec;

		if (other->nobjectives != first->nobjectives)
			return false;
		for (size_t k = 0; k < first->nobjectives; k++)
			if (other->objectives[k].anti_ideal !=
			    first->objectives[k].anti_ideal)
				return false;
	}
	return true;
}

static void note_axes(struct plot *p, const struct hypervolume_data *d)
{
	struct dp_buf text = DP_BUF_INIT;

	if (d->lower > 0)
		dp_buf_puts(&text, "The vertical axis does not start at zero. ");
	if (!same_reference(d))
		dp_buf_puts(&text,
			    "The studies measure from different anti-ideal points: "
			    "compare shapes, not heights.");
	if (text.len)
		plot_note(p, dp_buf_text(&text));
	dp_buf_free(&text);
}

static struct plot *hypervolume_draw(const void *data)
{
	const struct hypervolume_data *d = data;
	struct plot *p = fig_new(d->n > 1 ? NULL : d->lines[0].s,
				 figure_hypervolume.title, FIG_WIDTH, FIG_HEIGHT);
	struct plot_panel *a = plot_panel(p, 0, 0);

	panel_axis(a, PLOT_X, "evaluations", PLOT_LINEAR);
	panel_axis(a, PLOT_Y, "hypervolume", PLOT_LINEAR);
	panel_whole(a, PLOT_X);
	panel_limits(a, PLOT_X, 0, NAN);
	panel_limits(a, PLOT_Y, d->lower, NAN);
	mark_initial(a, d);
	draw_growth(a, d);
	note_axes(p, d);
	return p;
}

static void hypervolume_caption(const void *data, struct dp_buf *out)
{
	const struct hypervolume_data *d = data;
	char name[FIG_NAME_LEN], volume[FIG_TEXT_LEN];

	dp_buf_puts(out, "The hypervolume that the front of observed means dominates, as "
			 "evaluations end: ");
	for (size_t i = 0; i < d->n; i++) {
		const struct dp_study_state *st = d->lines[i].s->s;

		if (d->n > 1)
			dp_buf_printf(out, "%s ", fig_name(d->lines[i].s, name));
		dp_buf_printf(out, "%s after %u%s", fig_number(st->hypervolume, volume),
			      dp_study_ended(st), i + 1 < d->n ? ", " : ".");
	}
	if (d->lines[0].initial)
		dp_buf_printf(out, " The first %u points were the initial design.",
			      d->lines[0].initial);
}

const struct figure figure_hypervolume = {
	.name = "hypervolume",
	.title = "Hypervolume",
	.size = sizeof(struct hypervolume_data),
	.gather = hypervolume_gather,
	.draw = hypervolume_draw,
	.caption = hypervolume_caption,
	.release = hypervolume_release,
};
