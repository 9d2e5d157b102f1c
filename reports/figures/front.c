/* front.c - the Pareto front: the front as a staircase with where it lies, the point that
 * is recommended, lines to compare with, and everything that was evaluated. What is known
 * beside the points is gathered by front_known.c. */
#include "reports/figures/front_internal.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>

const struct dp_objective *front_objective(const struct subject *s, enum plot_side side)
{
	return &s->s->spec->objectives[side == PLOT_X ? s->x : s->y];
}

double front_to_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? log10(v) : v;
}

static double from_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? pow(10, v) : v;
}

bool front_shown(const struct front_data *d, double x, double y)
{
	return x >= d->lo[PLOT_X] && x <= d->hi[PLOT_X] && y >= d->lo[PLOT_Y] && y <= d->hi[PLOT_Y];
}

/* ---- limits ---- */

void front_region(const struct front_data *d, enum plot_side side, double edge[2])
{
	const struct dp_objective *o = front_objective(d->s, side);

	edge[0] = o->maximize ? o->anti_ideal : NAN;
	edge[1] = o->maximize ? NAN : o->anti_ideal;
}

/* Limits around the values of the points that stand (keep), with a margin; they reach
 * to the anti-ideal where it is near enough not to squeeze the points. */
static void fit_limits(struct front_data *d, enum plot_side side, const bool *keep)
{
	const double *values = side == PLOT_X ? d->all.x : d->all.y;
	enum plot_scale scale = d->scale[side];
	double anti = front_objective(d->s, side)->anti_ideal;
	double lo = INFINITY, hi = -INFINITY, margin;

	for (size_t i = 0; i < d->all.n; i++) {
		if (!keep[i] || (scale == PLOT_LOG && values[i] <= 0))
			continue;
		lo = fmin(lo, front_to_scale(values[i], scale));
		hi = fmax(hi, front_to_scale(values[i], scale));
	}
	if (scale == PLOT_LINEAR || anti > 0) {
		double at = front_to_scale(anti, scale), near = 0.5 * (hi - lo);

		if (lo == hi || (at > lo - near && at < hi + near)) {
			lo = fmin(lo, at);
			hi = fmax(hi, at);
		}
	}
	margin = 0.04 * (hi - lo);
	if (margin == 0)
		margin = scale == PLOT_LOG || lo == 0 ? 0.5 : 0.1 * fabs(lo);
	/* linear axes of positive values do not start below zero for a margin's sake */
	d->lo[side] =
		scale == PLOT_LINEAR && lo >= 0 && lo < margin ? 0 : from_scale(lo - margin, scale);
	d->hi[side] = from_scale(hi + margin, scale);
}

/* The worst x that is of interest: the anti-ideal's, or that of what is recommended. */
static double front_last(const struct front_data *d)
{
	const struct dp_objective *o = front_objective(d->s, PLOT_X);
	double at = d->chosen.recommended == SIZE_MAX
			    ? NAN
			    : front_chosen_value(d, d->chosen.recommended, PLOT_X);

	if (!isfinite(at))
		return o->anti_ideal;
	return o->maximize ? fmin(o->anti_ideal, at) : fmax(o->anti_ideal, at);
}

/* Which points have an x of interest? False: none has. */
static bool keep_better(const struct front_data *d, bool *keep)
{
	const struct dp_objective *o = front_objective(d->s, PLOT_X);
	double last = front_last(d);
	bool any = false;

	for (size_t i = 0; i < d->all.n; i++) {
		keep[i] = (o->maximize ? d->all.x[i] >= last : d->all.x[i] <= last) &&
			  (d->scale[PLOT_X] == PLOT_LINEAR || d->all.x[i] > 0);
		any |= keep[i];
	}
	return any;
}

/* Leaves out points that are so bad that the front would be a line at the edge if they
 * were shown: a quarter of what front and lines span is left beyond these. */
static void keep_near(const struct front_data *d, bool *keep)
{
	enum plot_scale scale = d->scale[PLOT_Y];
	double sign = front_objective(d->s, PLOT_Y)->maximize ? -1 : 1;
	double best = INFINITY, worst = -INFINITY;

	for (size_t i = 0; i < d->front.n; i++) {
		double y = sign * front_to_scale(d->front.y[i], scale);

		if (d->front.x[i] < d->lo[PLOT_X] || d->front.x[i] > d->hi[PLOT_X])
			continue;
		best = fmin(best, y);
		worst = fmax(worst, y);
	}
	for (size_t i = 0; i < d->nlines; i++)
		if (d->line[i].shown)
			worst = fmax(worst, sign * front_to_scale(d->line[i].at, scale));
	if (!(worst > best)) /* one point is no measure */
		return;
	for (size_t i = 0; i < d->all.n; i++)
		keep[i] &= sign * front_to_scale(d->all.y[i], scale) <= worst + (worst - best) / 4;
}

/* A linear x goes from the best value to the anti-ideal. */
static void end_at_anti_ideal(struct front_data *d)
{
	const struct dp_objective *o = front_objective(d->s, PLOT_X);
	double best = o->maximize ? d->hi[PLOT_X] : d->lo[PLOT_X], margin;
	double last = front_last(d);

	if (!o->maximize && best > 0 && best < 0.25 * last)
		best = 0;
	margin = 0.03 * fabs(last - best);
	if (o->maximize) {
		d->lo[PLOT_X] = last - margin;
	} else {
		d->lo[PLOT_X] = best;
		d->hi[PLOT_X] = last + margin;
	}
}

static void reach(struct front_data *d, double x, double y)
{
	if (x < d->lo[PLOT_X] || x > d->hi[PLOT_X] || !isfinite(y) ||
	    (d->scale[PLOT_Y] == PLOT_LOG && y <= 0))
		return;
	d->lo[PLOT_Y] = fmin(d->lo[PLOT_Y], y);
	d->hi[PLOT_Y] = fmax(d->hi[PLOT_Y], y);
}

/* What models make of the results may reach beyond all of them, and so may lines. */
static void reach_front(struct front_data *d)
{
	double margin = 0.03 * (d->hi[PLOT_Y] - d->lo[PLOT_Y]);

	for (size_t i = 0; i < d->front.n; i++)
		reach(d, d->front.x[i], d->front.y[i]);
	for (size_t i = 0; i < d->again.n; i++)
		reach(d, d->again.x[i], d->again.y[i]);
	for (size_t i = 0; i < d->nlines; i++)
		if (d->line[i].shown) {
			reach(d, d->lo[PLOT_X], d->line[i].at - margin);
			reach(d, d->lo[PLOT_X], d->line[i].at + margin);
		}
}

static int find_limits(struct front_data *d, struct dp_err *err)
{
	bool *keep = calloc(d->all.n + 1, sizeof *keep);
	bool linear = d->scale[PLOT_X] == PLOT_LINEAR, any;

	if (!keep)
		return fig_nomem(err);
	any = keep_better(d, keep);
	for (size_t i = 0; !any && i < d->all.n; i++)
		keep[i] = linear || d->all.x[i] > 0;
	fit_limits(d, PLOT_X, keep);
	if (any && linear)
		end_at_anti_ideal(d);
	keep_near(d, keep);
	fit_limits(d, PLOT_Y, keep);
	reach_front(d);
	for (size_t i = 0; i < d->all.n; i++)
		d->outside += !front_shown(d, d->all.x[i], d->all.y[i]);
	free(keep);
	return DP_OK;
}

/* ---- gathering ---- */

/* Where the points of the models' front were observed. */
static int gather_observed(struct front_data *d, struct dp_err *err)
{
	const struct subject *s = d->s;

	if (!fig_points_room(&d->observed, d->front.n))
		return fig_nomem(err);
	for (size_t i = 0; s->denoises && i < d->front.n; i++) {
		const double *y = dp_point_objectives(s->s, d->front.of[i]);

		d->observed.x[d->observed.n] = y[s->x];
		d->observed.y[d->observed.n++] = y[s->y];
	}
	return DP_OK;
}

static int gather_barred(struct front_data *d, struct dp_err *err)
{
	const struct dp_study_state *st = d->s->s;

	if (!fig_points_room(&d->barred, d->s->npoints))
		return fig_nomem(err);
	for (size_t i = 0; st->spec->nconstraints && i < d->s->npoints; i++) {
		const double *y = dp_point_objectives(st, d->s->points[i]);
		struct fig_points *b = &d->barred;

		if (dp_point_feasible(st, d->s->points[i]))
			continue;
		b->x[b->n] = y[d->s->x];
		b->y[b->n++] = y[d->s->y];
	}
	return DP_OK;
}

size_t front_path_length(const struct fig_points *all, size_t first)
{
	size_t n = 1;

	while (first + n < all->n && all->of[first + n].trial == all->of[first].trial)
		n++;
	return n;
}

static bool reaches_front(const struct front_data *d, uint32_t trial)
{
	for (size_t i = 0; i < d->front.n; i++)
		if (d->front.of[i].trial == trial)
			return true;
	return false;
}

/* The trainings whose points are joined. */
static int gather_paths(struct front_data *d, struct dp_err *err)
{
	const struct fig_points *all = &d->all;

	if (!subject_walks(d->s))
		return DP_OK;
	d->path = malloc(all->n * sizeof *d->path + 1);
	if (!d->path)
		return fig_nomem(err);
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		d->paths += front_path_length(all, i) > 1;
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		if (front_path_length(all, i) > 1 &&
		    (d->paths <= FRONT_PATHS || reaches_front(d, all->of[i].trial)))
			d->path[d->npaths++] = i;
	return DP_OK;
}

/* Places at the border where utility is worst, for trials that diverged. */
static int gather_diverged(struct front_data *d, struct dp_err *err)
{
	const struct dp_study_state *st = d->s->s;
	struct fig_points *p = &d->diverged;
	enum plot_scale scale = d->scale[PLOT_Y];
	double lo = front_to_scale(d->lo[PLOT_Y], scale);
	double hi = front_to_scale(d->hi[PLOT_Y], scale);
	double inside = front_objective(d->s, PLOT_Y)->maximize ? 0.02 : 0.98;
	double border = from_scale(lo + inside * (hi - lo), scale);

	if (!fig_points_room(p, st->diverged))
		return fig_nomem(err);
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		if (t->status != DP_TRIAL_DIVERGED || !t->objectives ||
		    !(t->objectives[d->s->x] >= d->lo[PLOT_X] &&
		      t->objectives[d->s->x] <= d->hi[PLOT_X]))
			continue;
		p->x[p->n] = t->objectives[d->s->x];
		p->y[p->n++] = border;
	}
	return DP_OK;
}

/* The objective beyond the two that are shown, or -1. */
static int third_objective(const struct subject *s)
{
	for (size_t i = 0; i < s->s->spec->nobjectives; i++)
		if (i != s->x && i != s->y)
			return (int)i;
	return -1;
}

/* Limits of the third objective over the front. */
static void third_range(const struct subject *s, size_t third, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < subject_front(s); i++) {
		double z = subject_front_value(s, i, third);

		if (isfinite(z)) {
			*lo = fmin(*lo, z);
			*hi = fmax(*hi, z);
		}
	}
}

static int gather_shades(struct front_data *d, size_t third, struct dp_err *err)
{
	size_t n = subject_front(d->s);
	double lo, hi;

	third_range(d->s, third, &lo, &hi);
	for (int k = 0; lo <= hi && k < FRONT_SHADES; k++) {
		struct front_shade *shade = &d->shade[k];
		bool last = k == FRONT_SHADES - 1;

		shade->from = lo + (hi - lo) * k / FRONT_SHADES;
		shade->to = lo + (hi - lo) * (k + 1) / FRONT_SHADES;
		if (!fig_points_room(&shade->at, n))
			return fig_nomem(err);
		for (size_t i = 0; i < n; i++) {
			double z = subject_front_value(d->s, i, third);

			if (!(z >= shade->from && (z < shade->to || last)))
				continue;
			shade->at.x[shade->at.n] = subject_front_value(d->s, i, d->s->x);
			shade->at.y[shade->at.n++] = subject_front_value(d->s, i, d->s->y);
		}
	}
	return DP_OK;
}

/* What there is to see where there are points. */
static int gather_points(struct front_data *d, struct dp_err *err)
{
	int code;

	d->scale[PLOT_Y] = fig_objective_scale(d->s, d->s->y, d->all.y, d->all.n);
	if ((code = find_limits(d, err)) != DP_OK || (code = gather_diverged(d, err)) != DP_OK ||
	    (code = fig_stairs(d->s, &d->front, front_objective(d->s, PLOT_X)->anti_ideal,
			       front_objective(d->s, PLOT_Y)->anti_ideal, &d->stairs, err)) !=
		    DP_OK)
		return code;
	return d->third < 0 ? DP_OK : gather_shades(d, (size_t)d->third, err);
}

static int gather_front(const struct report *r, bool linear, struct front_data *d,
			struct dp_err *err)
{
	const struct subject *s = d->s = &r->subjects[0];
	int code;

	d->third = third_objective(s);
	if ((code = fig_points(s, &d->all, err)) != DP_OK ||
	    (code = fig_subject_front(s, &d->front, err)) != DP_OK ||
	    (code = fig_truth(r, NAN, &d->truth, err)) != DP_OK ||
	    (code = fig_truth_weigh(&d->truth, s, &d->front, err)) != DP_OK ||
	    (code = gather_paths(d, err)) != DP_OK || (code = gather_observed(d, err)) != DP_OK ||
	    (code = gather_barred(d, err)) != DP_OK ||
	    (code = front_gather_known(r, d, err)) != DP_OK)
		return code;
	d->scale[PLOT_X] = linear ? PLOT_LINEAR : fig_objective_scale(s, s->x, d->all.x, d->all.n);
	return d->all.n ? gather_points(d, err) : DP_OK;
}

static int front_gather(const struct report *r, void *data, const char **why, struct dp_err *err)
{
	const struct subject *s = fig_first(r, why);

	/* what failed is told elsewhere: an empty plot adds nothing */
	if (s && !s->npoints)
		*why = "no trial has given a result";
	return *why ? DP_OK : gather_front(r, false, data, err);
}

static int front_linear_gather(const struct report *r, void *data, const char **why,
			       struct dp_err *err)
{
	struct front_data *d = data;
	int code = fig_first(r, why) ? gather_front(r, true, d, err) : DP_OK;

	if (code == DP_OK && !*why && d->all.n == 0)
		*why = "there is no point to show yet";
	return code;
}

static void front_release(void *data)
{
	struct front_data *d = data;

	fig_points_free(&d->all);
	fig_points_free(&d->front);
	free(d->path);
	fig_points_free(&d->stairs);
	fig_points_free(&d->observed);
	fig_points_free(&d->barred);
	fig_points_free(&d->diverged);
	fig_truth_free(&d->truth);
	for (size_t i = 0; i < FRONT_SHADES; i++)
		fig_points_free(&d->shade[i].at);
	front_release_known(d);
}

/* ---- in words ---- */

static void say_point(const struct subject *s, double x, double y, struct dp_buf *out)
{
	fig_say(s, s->y, y, out);
	dp_buf_puts(out, " at ");
	fig_say(s, s->x, x, out);
}

/* The front points that are better than the anti-ideal: from the first to the last. */
static void say_range(const struct subject *s, const struct fig_points *front, struct dp_buf *out)
{
	size_t first = front->n, last = 0, n = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_in_box(s, front->x[i], front->y[i]))
			continue;
		first = n++ ? first : i;
		last = i;
	}
	if (n == 0) {
		dp_buf_puts(out, ", none of them better than the anti-ideal.");
		return;
	}
	dp_buf_puts(out, ", ");
	if (n < front->n)
		dp_buf_printf(out, "%zu", n);
	else
		dp_buf_puts(out, n == 1 ? "which is" : "all");
	dp_buf_puts(out, " better than the anti-ideal: ");
	say_point(s, front->x[first], front->y[first], out);
	if (n > 1) {
		dp_buf_puts(out, " to ");
		say_point(s, front->x[last], front->y[last], out);
	}
	dp_buf_putc(out, '.');
}

/* What each look means. */
static void say_looks(const struct front_data *d, struct dp_buf *out)
{
	dp_buf_puts(out, d->observed.n ? " The line is what models of all results leave of it "
					 "without the noise (denoised)"
				       : " The line is what was observed in the search");
	if (d->band.n)
		dp_buf_printf(out, ", the band where that lies with 95 %% by the %s",
			      d->band.modelled ? "models" : "runs");
	if (d->observed.n)
		dp_buf_puts(out, ", rings what was observed in the search");
	if (d->again.n)
		dp_buf_puts(out, ", squares with bars what fresh seeds gave (measured "
				 "again, 95 %)");
	dp_buf_puts(out, ". The star is recommended.");
}

/* Why a front can be better than no privacy. */
static void front_say_beyond(const struct front_data *d, struct dp_buf *out)
{
	for (size_t i = 0; i < d->nlines; i++) {
		if (!d->line[i].beyond)
			continue;
		dp_buf_printf(out, " The front is better than \"%s\"", d->line[i].label);
		if (d->line[i].error > 0) {
			char error[FIG_TEXT_LEN];

			dp_buf_printf(out,
				      ", which two standard errors of the test set (%s, "
				      "shaded) and the noise of the runs leave open.",
				      fig_difference(d->s, d->s->y, d->line[i].error, error));
		} else {
			dp_buf_puts(out, ": the noise of test records and runs, or "
					 "another training, can make it so.");
		}
	}
}

static void say_paths(const struct front_data *d, struct dp_buf *out)
{
	if (d->npaths == 0)
		return;
	dp_buf_printf(out, " Thin lines join what one training was on its way; %zu", d->npaths);
	if (d->npaths < d->paths)
		dp_buf_printf(out, " of %zu are drawn, those with a point on the front.", d->paths);
	else
		dp_buf_printf(out, " training%s %s such points.", d->paths == 1 ? "" : "s",
			      d->paths == 1 ? "has" : "have");
}

static void front_caption(const void *data, struct dp_buf *out)
{
	const struct front_data *d = data;
	const struct subject *s = d->s;
	char points[DP_COUNT_LEN];

	if (d->front.n) {
		dp_buf_printf(out, "%zu of %s %s on the front", subject_front(s),
			      dp_count_text(s->npoints, "point", points),
			      subject_front(s) == 1 ? "is" : "are");
		if (d->third >= 0)
			dp_buf_printf(out,
				      " of all %zu objectives, and %zu on that of "
				      "%s and %s alone, the line",
				      s->s->spec->nobjectives, d->front.n,
				      front_objective(s, PLOT_X)->name,
				      front_objective(s, PLOT_Y)->name);
		say_range(s, &d->front, out);
		say_looks(d, out);
		front_say_beyond(d, out);
		fig_truth_say(&d->truth, out);
		say_paths(d, out);
	} else if (d->all.not_finite) {
		dp_buf_printf(out, "None of %s has a finite %s and %s.",
			      dp_count_text(d->all.not_finite, "point", points),
			      front_objective(s, PLOT_X)->name, front_objective(s, PLOT_Y)->name);
	} else {
		dp_buf_puts(out, "There is no point to show yet.");
	}
}

const struct figure figure_front = {
	.name = "front",
	.title = "Pareto front",
	.chapter = FIGURE_OF_FRONT,
	.leads = true,
	.size = sizeof(struct front_data),
	.gather = front_gather,
	.draw = front_draw,
	.caption = front_caption,
	.release = front_release,
};

const struct figure figure_front_linear = {
	.name = "front-linear",
	.title = "Pareto front up to the anti-ideal",
	.chapter = FIGURE_OF_FRONT,
	.on_order = true,
	.size = sizeof(struct front_data),
	.gather = front_linear_gather,
	.draw = front_draw,
	.caption = front_caption,
	.release = front_release,
};
