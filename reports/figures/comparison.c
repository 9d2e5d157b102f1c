/* comparison.c - the fronts of several studies in one picture, with baselines. */
#include "reports/figures/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double fig_majority(const struct subject *s)
{
	const struct dp_study_state *st = s->s;
	int column = dp_study_metric(st, "majority_accuracy");
	const struct dp_objective *o = &st->spec->objectives[s->y];
	double sum = 0, accuracy;
	size_t n = 0;

	for (uint32_t i = 0; i < st->ntrials; i++) {
		double mean = dp_trial_mean(st, st->trials[i], column);

		if (isfinite(mean)) {
			sum += mean;
			n++;
		}
	}
	if (n == 0 || !o->metric)
		return NAN;
	accuracy = sum / (double)n;
	if (strstr(o->metric, "accuracy"))
		return dp_objective_metric(o, accuracy);
	if (strstr(o->metric, "error"))
		return dp_objective_metric(o, 1 - accuracy);
	return NAN; /* a loss or the like, which an accuracy says nothing about */
}

/* ---- the figure ---- */

static bool comparable(const struct report *r, size_t i)
{
	return fig_same_plane(&r->subjects[0], &r->subjects[i]);
}

static bool has_front(const struct subject *s)
{
	struct fig_points front = { 0 };
	struct dp_err err;
	bool any = fig_subject_front(s, &front, &err) == DP_OK && front.n;

	fig_points_free(&front);
	return any;
}

static bool applies(const struct report *r)
{
	size_t others = 0;

	if (!r->nsubjects || !has_front(&r->subjects[0]))
		return false;
	for (size_t i = 1; i < r->nsubjects; i++)
		others += comparable(r, i) && has_front(&r->subjects[i]);
	return others || r->nbaselines || isfinite(fig_majority(&r->subjects[0]));
}

/* Keeps what is better than the anti-ideal, so that the tail of a front does not set
 * the axes; a front without such points stays whole. */
static void keep_in_box(const struct subject *s, struct fig_points *front)
{
	size_t kept = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_in_box(s, front->x[i], front->y[i]))
			continue;
		front->x[kept] = front->x[i];
		front->y[kept++] = front->y[i];
	}
	if (kept)
		front->n = kept;
}

/* The fronts, empty where a study has none or cannot be compared. */
static struct fig_points *gather(const struct report *r, struct dp_err *err)
{
	struct fig_points *fronts = calloc(r->nsubjects, sizeof *fronts);

	for (size_t i = 0; fronts && i < r->nsubjects; i++) {
		if (!comparable(r, i))
			continue;
		if (fig_subject_front(&r->subjects[i], &fronts[i], err) != DP_OK) {
			while (i-- > 0)
				fig_points_free(&fronts[i]);
			free(fronts);
			return NULL;
		}
		keep_in_box(&r->subjects[i], &fronts[i]);
	}
	if (!fronts)
		fig_nomem(err);
	return fronts;
}

static void fronts_free(const struct report *r, struct fig_points *fronts)
{
	for (size_t i = 0; fronts && i < r->nsubjects; i++)
		fig_points_free(&fronts[i]);
	free(fronts);
}

/* A log axis if one of the fronts asks for it. */
static enum plot_scale common_scale(const struct report *r,
				    const struct fig_points *fronts, enum plot_side side)
{
	for (size_t i = 0; i < r->nsubjects; i++)
		if (fig_scale(side == PLOT_X ? fronts[i].x : fronts[i].y, fronts[i].n) ==
		    PLOT_LOG)
			return PLOT_LOG;
	return PLOT_LINEAR;
}

/* Where staircases go on to: the worst x that one of them has. */
static double common_end(const struct report *r, const struct fig_points *fronts)
{
	bool left = r->subjects[0].s->spec->objectives[r->subjects[0].x].maximize;
	double end = NAN;

	for (size_t i = 0; i < r->nsubjects; i++) {
		if (!fronts[i].n)
			continue;
		end = left ? fmin(end, fronts[i].x[0])
			   : fmax(end, fronts[i].x[fronts[i].n - 1]);
	}
	return end;
}

static int draw_front(struct plot_panel *a, const struct report *r, size_t i,
		      const struct fig_points *front, double end, struct dp_err *err)
{
	static const enum plot_marker markers[] = { PLOT_DOT, PLOT_SQUARE, PLOT_TRIANGLE,
						    PLOT_DIAMOND };
	struct plot_style style = fig_style(i);
	char name[FIG_NAME_LEN];
	struct fig_points stairs;
	int code = fig_stairs(&r->subjects[i], front, end, NAN, &stairs, err);

	if (code != DP_OK)
		return code;
	style.width = 2;
	fig_name(&r->subjects[i], name);
	panel_line(a, &style, name, stairs.x, stairs.y, stairs.n);
	style.marker = markers[i % DP_COUNT(markers)];
	style.size = fig_marker_size(front->n);
	style.outline = true;
	panel_points(a, &style, name, front->x, front->y, front->n);
	fig_points_free(&stairs);
	return DP_OK;
}

/* One line for the commonest class of each study's data, as far as they differ. */
static void draw_majority(struct plot_panel *a, const struct report *r,
			  const struct plot_style *style)
{
	for (size_t i = 0; i < r->nsubjects; i++) {
		double at = comparable(r, i) ? fig_majority(&r->subjects[i]) : NAN;
		char name[FIG_NAME_LEN], label[FIG_NAME_LEN + 40];
		bool new = isfinite(at);

		for (size_t k = 0; new &&k < i; k++)
			new = !(fabs(fig_majority(&r->subjects[k]) - at) < 1e-9);
		snprintf(label, sizeof label,
			 i ? "majority class (%s)" : "majority class",
			 fig_name(&r->subjects[i], name));
		if (new)
			panel_mark(a, style, PLOT_Y, at, label);
	}
}

static void draw_baselines(struct plot_panel *a, const struct report *r)
{
	struct plot_style style = { .colour = plot_palette(PLOT_BLACK),
				    .width = 1,
				    .dash = PLOT_DASHED,
				    .opacity = 0.7 };

	for (size_t i = 0; i < r->nbaselines; i++)
		panel_mark(a, &style, PLOT_Y, r->baselines[i].value,
			   r->baselines[i].label);
	style.dash = PLOT_DOTTED;
	draw_majority(a, r, &style);
}

static void note_others(struct plot *p, const struct report *r)
{
	struct dp_buf text = DP_BUF_INIT;
	char name[FIG_NAME_LEN];

	for (size_t i = 1; i < r->nsubjects; i++)
		if (!comparable(r, i))
			dp_buf_printf(&text, "%s%s", text.len ? ", " : "",
				      fig_name(&r->subjects[i], name));
	if (text.len) {
		dp_buf_puts(&text, ": other objectives, not shown.");
		plot_note(p, dp_buf_text(&text));
	}
	dp_buf_free(&text);
}

static int draw(const struct report *r, struct plot **out, struct dp_err *err)
{
	const struct subject *s = &r->subjects[0];
	struct fig_points *fronts = gather(r, err);
	struct plot_panel *a;
	int code;

	*out = NULL;
	if (!fronts)
		return DP_E_NOMEM;
	code = fig_new(r->nsubjects > 1 ? NULL : r, figure_comparison.title, FIG_WIDTH,
		       FIG_HEIGHT, out, err);
	if (code != DP_OK)
		goto out;
	a = plot_panel(*out, 0, 0);
	fig_axis(a, PLOT_X, s, s->x, common_scale(r, fronts, PLOT_X));
	fig_axis(a, PLOT_Y, s, s->y, common_scale(r, fronts, PLOT_Y));
	draw_baselines(a, r);
	for (size_t i = 0; code == DP_OK && i < r->nsubjects; i++)
		if (fronts[i].n)
			code = draw_front(a, r, i, &fronts[i], common_end(r, fronts),
					  err);
	note_others(*out, r);
out:
	fronts_free(r, fronts);
	return fig_end(code, out);
}

/* The best utility of a study, which goes with the worst x. */
static void say_best(const struct subject *s, const struct fig_points *front,
		     struct dp_buf *out)
{
	size_t end = fig_maximised(s, s->x) ? 0 : front->n - 1;
	char name[FIG_NAME_LEN], value[FIG_TEXT_LEN];

	dp_buf_printf(out, "%s %s at ", fig_name(s, name),
		      fig_value(s, s->y, front->y[end], value));
	fig_say(s, s->x, front->x[end], out);
}

static void say_baselines(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	double majority = fig_majority(s);
	char value[FIG_TEXT_LEN];

	for (size_t i = 0; i < r->nbaselines; i++)
		dp_buf_printf(out, ", %s %s", r->baselines[i].label,
			      fig_value(s, s->y, r->baselines[i].value, value));
	if (isfinite(majority))
		dp_buf_printf(out, ", majority class %s",
			      fig_value(s, s->y, majority, value));
}

static void caption(const struct report *r, struct dp_buf *out)
{
	const struct subject *s = &r->subjects[0];
	struct dp_err err;
	struct fig_points *fronts = gather(r, &err);
	bool first = true;

	dp_buf_printf(out, "%s Best %s: ",
		      r->nsubjects > 1 ? "The fronts of several studies."
				       : "The front and what it compares with.",
		      s->s->spec->objectives[s->y].name);
	for (size_t i = 0; fronts && i < r->nsubjects; i++) {
		if (!fronts[i].n)
			continue;
		dp_buf_puts(out, first ? "" : ", ");
		say_best(&r->subjects[i], &fronts[i], out);
		first = false;
	}
	say_baselines(r, out);
	dp_buf_putc(out, '.');
	fronts_free(r, fronts);
}

const struct figure figure_comparison = { "comparison.png", "Comparison", applies, draw,
					  caption };
