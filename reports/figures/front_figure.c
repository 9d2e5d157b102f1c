/* front_figure.c - the Pareto front: the front as a staircase with where it lies, the point that
 * is recommended, lines to compare with, and everything that was evaluated. What is known
 * beside the points is gathered by front_annotations.c. */
#include "reports/figures/front_figure_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>

const struct dp_objective *front_side_objective(const struct study_data *s, enum plot_side side)
{
	return &s->state->spec->objectives[side == PLOT_X ? s->x_obj : s->y_obj];
}

double front_to_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? log10(v) : v;
}

static double front_from_scale(double v, enum plot_scale scale)
{
	return scale == PLOT_LOG ? pow(10, v) : v;
}

bool front_is_within_limits(const struct front_data *d, double x, double y)
{
	return x >= d->lo[PLOT_X] && x <= d->hi[PLOT_X] && y >= d->lo[PLOT_Y] && y <= d->hi[PLOT_Y];
}

/* ---- limits ---- */

void front_reference_region(const struct front_data *d, enum plot_side side, double edge[2])
{
	const struct dp_objective *o = front_side_objective(d->study, side);

	edge[0] = o->maximize ? o->anti_ideal : NAN;
	edge[1] = o->maximize ? NAN : o->anti_ideal;
}

/* Limits around the values of the points that stand (keep), with a margin; they reach
 * to the anti-ideal where it is near enough not to squeeze the points. */
static void front_fit_limits(struct front_data *d, enum plot_side side, const bool *keep)
{
	const double *values = side == PLOT_X ? d->all.x : d->all.y;
	enum plot_scale scale = d->scale[side];
	double anti = front_side_objective(d->study, side)->anti_ideal;
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
	d->lo[side] = scale == PLOT_LINEAR && lo >= 0 && lo < margin
			      ? 0
			      : front_from_scale(lo - margin, scale);
	d->hi[side] = front_from_scale(hi + margin, scale);
}

/* The worst x that is of interest: the anti-ideal's, or that of what is recommended. */
static double worst_relevant_x(const struct front_data *d)
{
	const struct dp_objective *o = front_side_objective(d->study, PLOT_X);
	double at = d->choices.recommended == SIZE_MAX
			    ? NAN
			    : front_member_value(d, d->choices.recommended, PLOT_X);

	if (!isfinite(at))
		return o->anti_ideal;
	return o->maximize ? fmin(o->anti_ideal, at) : fmax(o->anti_ideal, at);
}

/* Which points have an x of interest? False: none has. */
static bool select_relevant_x(const struct front_data *d, bool *keep)
{
	const struct dp_objective *o = front_side_objective(d->study, PLOT_X);
	double last = worst_relevant_x(d);
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
static void select_near_front(const struct front_data *d, bool *keep)
{
	enum plot_scale scale = d->scale[PLOT_Y];
	double sign = front_side_objective(d->study, PLOT_Y)->maximize ? -1 : 1;
	double best = INFINITY, worst = -INFINITY;

	for (size_t i = 0; i < d->front.n; i++) {
		double y = sign * front_to_scale(d->front.y[i], scale);

		if (d->front.x[i] < d->lo[PLOT_X] || d->front.x[i] > d->hi[PLOT_X])
			continue;
		best = fmin(best, y);
		worst = fmax(worst, y);
	}
	for (size_t i = 0; i < d->nlines; i++)
		if (d->lines[i].is_shown)
			worst = fmax(worst, sign * front_to_scale(d->lines[i].at, scale));
	if (!(worst > best)) /* one point is no measure */
		return;
	for (size_t i = 0; i < d->all.n; i++)
		keep[i] &= sign * front_to_scale(d->all.y[i], scale) <= worst + (worst - best) / 4;
}

/* A linear x goes from the best value to the anti-ideal. */
static void limit_x_to_reference(struct front_data *d)
{
	const struct dp_objective *o = front_side_objective(d->study, PLOT_X);
	double best = o->maximize ? d->hi[PLOT_X] : d->lo[PLOT_X], margin;
	double last = worst_relevant_x(d);

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

static void extend_y_limits(struct front_data *d, double x, double y)
{
	if (x < d->lo[PLOT_X] || x > d->hi[PLOT_X] || !isfinite(y) ||
	    (d->scale[PLOT_Y] == PLOT_LOG && y <= 0))
		return;
	d->lo[PLOT_Y] = fmin(d->lo[PLOT_Y], y);
	d->hi[PLOT_Y] = fmax(d->hi[PLOT_Y], y);
}

/* What models make of the results may reach beyond all of them, and so may lines. */
static void extend_limits_to_front(struct front_data *d)
{
	double margin = 0.03 * (d->hi[PLOT_Y] - d->lo[PLOT_Y]);

	for (size_t i = 0; i < d->front.n; i++)
		extend_y_limits(d, d->front.x[i], d->front.y[i]);
	for (size_t i = 0; i < d->reevaluated.n; i++)
		extend_y_limits(d, d->reevaluated.x[i], d->reevaluated.y[i]);
	for (size_t i = 0; i < d->nlines; i++)
		if (d->lines[i].is_shown) {
			extend_y_limits(d, d->lo[PLOT_X], d->lines[i].at - margin);
			extend_y_limits(d, d->lo[PLOT_X], d->lines[i].at + margin);
		}
}

static int find_limits(struct front_data *d, struct dp_err *err)
{
	bool *keep = dp_calloc(d->all.n + 1, sizeof *keep);
	bool linear = d->scale[PLOT_X] == PLOT_LINEAR, any;

	if (!keep)
		return fig_nomem(err);
	any = select_relevant_x(d, keep);
	for (size_t i = 0; !any && i < d->all.n; i++)
		keep[i] = linear || d->all.x[i] > 0;
	front_fit_limits(d, PLOT_X, keep);
	if (any && linear)
		limit_x_to_reference(d);
	select_near_front(d, keep);
	front_fit_limits(d, PLOT_Y, keep);
	extend_limits_to_front(d);
	for (size_t i = 0; i < d->all.n; i++)
		d->n_outside += !front_is_within_limits(d, d->all.x[i], d->all.y[i]);
	free(keep);
	return DP_OK;
}

/* ---- gathering ---- */

/* Where the points of the models' front were observed. */
static int gather_observed(struct front_data *d, struct dp_err *err)
{
	const struct study_data *s = d->study;

	if (!fig_points_alloc(&d->observed, d->front.n))
		return fig_nomem(err);
	for (size_t i = 0; s->uses_smoothed_front && i < d->front.n; i++) {
		const double *y = dp_result_get_objectives(s->state, d->front.results[i]);

		d->observed.x[d->observed.n] = y[s->x_obj];
		d->observed.y[d->observed.n++] = y[s->y_obj];
	}
	return DP_OK;
}

static int gather_infeasible(struct front_data *d, struct dp_err *err)
{
	const struct dp_study_state *st = d->study->state;

	if (!fig_points_alloc(&d->infeasible, d->study->npoints))
		return fig_nomem(err);
	for (size_t i = 0; st->spec->nconstraints && i < d->study->npoints; i++) {
		const double *y = dp_result_get_objectives(st, d->study->points[i]);
		struct fig_points *b = &d->infeasible;

		if (dp_result_is_feasible(st, d->study->points[i]))
			continue;
		b->x[b->n] = y[d->study->x_obj];
		b->y[b->n++] = y[d->study->y_obj];
	}
	return DP_OK;
}

size_t front_path_length(const struct fig_points *all, size_t first)
{
	size_t n = 1;

	while (first + n < all->n && all->results[first + n].trial == all->results[first].trial)
		n++;
	return n;
}

static bool trial_is_on_front(const struct front_data *d, uint32_t trial)
{
	for (size_t i = 0; i < d->front.n; i++)
		if (d->front.results[i].trial == trial)
			return true;
	return false;
}

/* The trainings whose points are joined. */
static int gather_paths(struct front_data *d, struct dp_err *err)
{
	const struct fig_points *all = &d->all;

	if (!study_data_has_checkpoints(d->study))
		return DP_OK;
	d->path_starts = dp_malloc(all->n * sizeof *d->path_starts + 1);
	if (!d->path_starts)
		return fig_nomem(err);
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		d->ntrainings += front_path_length(all, i) > 1;
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		if (front_path_length(all, i) > 1 && (d->ntrainings <= FRONT_PATHS_MAX ||
						      trial_is_on_front(d, all->results[i].trial)))
			d->path_starts[d->npaths++] = i;
	return DP_OK;
}

/* Places at the border where utility is worst, for trials that diverged. */
static int gather_diverged(struct front_data *d, struct dp_err *err)
{
	const struct dp_study_state *st = d->study->state;
	struct fig_points *p = &d->diverged;
	enum plot_scale scale = d->scale[PLOT_Y];
	double lo = front_to_scale(d->lo[PLOT_Y], scale);
	double hi = front_to_scale(d->hi[PLOT_Y], scale);
	double inside = front_side_objective(d->study, PLOT_Y)->maximize ? 0.02 : 0.98;
	double border = front_from_scale(lo + inside * (hi - lo), scale);

	if (!fig_points_alloc(p, st->diverged))
		return fig_nomem(err);
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		if (t->status != DP_TRIAL_DIVERGED || !t->objectives ||
		    !(t->objectives[d->study->x_obj] >= d->lo[PLOT_X] &&
		      t->objectives[d->study->x_obj] <= d->hi[PLOT_X]))
			continue;
		p->x[p->n] = t->objectives[d->study->x_obj];
		p->y[p->n++] = border;
	}
	return DP_OK;
}

/* The objective beyond the two that are shown, or -1. */
static int third_objective(const struct study_data *s)
{
	for (size_t i = 0; i < s->state->spec->nobjectives; i++)
		if (i != s->x_obj && i != s->y_obj)
			return (int)i;
	return -1;
}

/* Limits of the third objective over the front. */
static void third_range(const struct study_data *s, size_t third, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		double z = study_data_front_value(s, i, third);

		if (isfinite(z)) {
			*lo = fmin(*lo, z);
			*hi = fmax(*hi, z);
		}
	}
}

static int gather_colour_bins(struct front_data *d, size_t third, struct dp_err *err)
{
	size_t n = study_data_front_size(d->study);
	double lo, hi;

	third_range(d->study, third, &lo, &hi);
	for (int k = 0; lo <= hi && k < FRONT_COLOUR_BINS; k++) {
		struct front_colour_bin *shade = &d->colour_bins[k];
		bool last = k == FRONT_COLOUR_BINS - 1;

		shade->from = lo + (hi - lo) * k / FRONT_COLOUR_BINS;
		shade->to = lo + (hi - lo) * (k + 1) / FRONT_COLOUR_BINS;
		if (!fig_points_alloc(&shade->points, n))
			return fig_nomem(err);
		for (size_t i = 0; i < n; i++) {
			double z = study_data_front_value(d->study, i, third);

			if (!(z >= shade->from && (z < shade->to || last)))
				continue;
			shade->points.x[shade->points.n] =
				study_data_front_value(d->study, i, d->study->x_obj);
			shade->points.y[shade->points.n++] =
				study_data_front_value(d->study, i, d->study->y_obj);
		}
	}
	return DP_OK;
}

/* What there is to see where there are points. */
static int gather_points(struct front_data *d, struct dp_err *err)
{
	int code;

	d->scale[PLOT_Y] = fig_objective_scale(d->study, d->study->y_obj, d->all.y, d->all.n);
	if ((code = find_limits(d, err)) != DP_OK || (code = gather_diverged(d, err)) != DP_OK ||
	    (code = fig_staircase(d->study, &d->front,
				  front_side_objective(d->study, PLOT_X)->anti_ideal,
				  front_side_objective(d->study, PLOT_Y)->anti_ideal, &d->staircase,
				  err)) != DP_OK)
		return code;
	return d->third_obj < 0 ? DP_OK : gather_colour_bins(d, (size_t)d->third_obj, err);
}

static int gather_front(const struct report_data *r, bool linear, struct front_data *d,
			struct dp_err *err)
{
	const struct study_data *s = d->study = &r->studies[0];
	int code;

	d->third_obj = third_objective(s);
	if ((code = fig_collect_points(s, &d->all, err)) != DP_OK ||
	    (code = fig_study_front(s, &d->front, err)) != DP_OK ||
	    (code = fig_reference_front_load(r, NAN, &d->reference, err)) != DP_OK ||
	    (code = gather_paths(d, err)) != DP_OK || (code = gather_observed(d, err)) != DP_OK ||
	    (code = gather_infeasible(d, err)) != DP_OK ||
	    (code = front_gather_annotations(r, d, err)) != DP_OK)
		return code;
	fig_reference_front_compare(&d->reference, s, &d->front);
	d->scale[PLOT_X] =
		linear ? PLOT_LINEAR : fig_objective_scale(s, s->x_obj, d->all.x, d->all.n);
	return d->all.n ? gather_points(d, err) : DP_OK;
}

static int front_gather(const struct report_data *r, void *data, const char **why,
			struct dp_err *err)
{
	const struct study_data *s = fig_main_study(r, why);

	/* what failed is told elsewhere: an empty plot adds nothing */
	if (s && !s->npoints)
		*why = "no trial has given a result";
	return *why ? DP_OK : gather_front(r, false, data, err);
}

static int front_linear_gather(const struct report_data *r, void *data, const char **why,
			       struct dp_err *err)
{
	struct front_data *d = data;
	int code = fig_main_study(r, why) ? gather_front(r, true, d, err) : DP_OK;

	if (code == DP_OK && !*why && d->all.n == 0)
		*why = "there is no point to show yet";
	return code;
}

static void front_release(void *data)
{
	struct front_data *d = data;

	fig_points_free(&d->all);
	fig_points_free(&d->front);
	free(d->path_starts);
	fig_points_free(&d->staircase);
	fig_points_free(&d->observed);
	fig_points_free(&d->infeasible);
	fig_points_free(&d->diverged);
	fig_reference_front_free(&d->reference);
	for (size_t i = 0; i < FRONT_COLOUR_BINS; i++)
		fig_points_free(&d->colour_bins[i].points);
	front_release_annotations(d);
}

/* ---- in words ---- */

static void append_front_point(const struct study_data *s, double x, double y, struct dp_buf *out)
{
	fig_append_value(s, s->y_obj, y, out);
	dp_buf_puts(out, " at ");
	fig_append_value(s, s->x_obj, x, out);
}

/* The front points that are better than the anti-ideal: from the first to the last. */
static void append_front_range(const struct study_data *s, const struct fig_points *front,
			       struct dp_buf *out)
{
	size_t first = front->n, last = 0, n = 0;

	for (size_t i = 0; i < front->n; i++) {
		if (!fig_beats_reference_point(s, front->x[i], front->y[i]))
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
	append_front_point(s, front->x[first], front->y[first], out);
	if (n > 1) {
		dp_buf_puts(out, " to ");
		append_front_point(s, front->x[last], front->y[last], out);
	}
	dp_buf_putc(out, '.');
}

/* What each look means. */
static void append_front_legend(const struct front_data *d, struct dp_buf *out)
{
	dp_buf_puts(out, d->observed.n ? " The line is what models of all results leave of it "
					 "without the noise (denoised)"
				       : " The line is what was observed in the search");
	if (d->band.n)
		dp_buf_printf(out, ", the band where that lies with 95 %% by the %s",
			      d->band.by_surrogates ? "models" : "runs");
	if (d->observed.n)
		dp_buf_puts(out, ", rings what was observed in the search");
	if (d->reevaluated.n)
		dp_buf_puts(out, ", squares with bars what fresh seeds gave (measured "
				 "again, 95 %)");
	dp_buf_puts(out, ". The star is recommended.");
}

/* Why a front can be better than no privacy. */
static void append_beaten_lines(const struct front_data *d, struct dp_buf *out)
{
	for (size_t i = 0; i < d->nlines; i++) {
		if (!d->lines[i].is_beaten)
			continue;
		dp_buf_printf(out, " The front is better than \"%s\"", d->lines[i].label);
		if (d->lines[i].error > 0) {
			char error[FIG_NUMBER_LEN];

			dp_buf_printf(out,
				      ", which two standard errors of the test set (%s, "
				      "shaded) and the noise of the runs leave open.",
				      fig_difference(d->study, d->study->y_obj, d->lines[i].error,
						     error));
		} else {
			dp_buf_puts(out, ": the noise of test records and runs, or "
					 "another training, can make it so.");
		}
	}
}

static void append_paths_note(const struct front_data *d, struct dp_buf *out)
{
	if (d->npaths == 0)
		return;
	dp_buf_printf(out, " Thin lines join what one training was on its way; %zu", d->npaths);
	if (d->npaths < d->ntrainings)
		dp_buf_printf(out, " of %zu are drawn, those with a point on the front.",
			      d->ntrainings);
	else
		dp_buf_printf(out, " training%s %s such points.", d->ntrainings == 1 ? "" : "s",
			      d->ntrainings == 1 ? "has" : "have");
}

static void front_caption(const void *data, struct dp_buf *out)
{
	const struct front_data *d = data;
	const struct study_data *s = d->study;
	char points[DP_PLURAL_LEN];

	if (d->front.n) {
		dp_buf_printf(out, "%zu of %s %s on the front", study_data_front_size(s),
			      dp_plural_text(s->npoints, "point", points),
			      study_data_front_size(s) == 1 ? "is" : "are");
		if (d->third_obj >= 0)
			dp_buf_printf(out,
				      " of all %zu objectives, and %zu on that of "
				      "%s and %s alone, the line",
				      s->state->spec->nobjectives, d->front.n,
				      front_side_objective(s, PLOT_X)->name,
				      front_side_objective(s, PLOT_Y)->name);
		append_front_range(s, &d->front, out);
		append_front_legend(d, out);
		append_beaten_lines(d, out);
		fig_reference_front_append(&d->reference, out);
		append_paths_note(d, out);
	} else if (d->all.n_not_finite) {
		dp_buf_printf(out, "None of %s has a finite %s and %s.",
			      dp_plural_text(d->all.n_not_finite, "point", points),
			      front_side_objective(s, PLOT_X)->name,
			      front_side_objective(s, PLOT_Y)->name);
	} else {
		dp_buf_puts(out, "There is no point to show yet.");
	}
}

const struct figure figure_front = {
	.name = "front",
	.title = "Pareto front",
	.chapter = FIGURE_CHAPTER_FRONT,
	.on_first_screen = true,
	.data_size = sizeof(struct front_data),
	.gather = front_gather,
	.draw = front_draw,
	.caption = front_caption,
	.free_data = front_release,
};

const struct figure figure_front_linear = {
	.name = "front-linear",
	.title = "Pareto front up to the anti-ideal",
	.chapter = FIGURE_CHAPTER_FRONT,
	.only_on_request = true,
	.data_size = sizeof(struct front_data),
	.gather = front_linear_gather,
	.draw = front_draw,
	.caption = front_caption,
	.free_data = front_release,
};
