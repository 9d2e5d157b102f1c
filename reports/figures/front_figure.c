/* front_figure.c - figure: the Pareto front with interval, recommendation, baselines and all
 * evaluated points. */
#include "reports/figures/front_figure_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>

const struct dp_objective *front_side_objective(const struct study_data *s, enum plot_side side)
{
	return &s->state->spec->objectives[side == PLOT_X ? s->x_obj : s->y_obj];
}

static double front_to_scale(double v, enum plot_scale scale)
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

/* Limits around the points marked in `keep`, with a margin. Includes the reference point unless it
 * would squeeze the points. */
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
	/* the margin must not push positive values of a linear axis below zero */
	d->lo[side] = scale == PLOT_LINEAR && lo >= 0 && lo < margin
			      ? 0
			      : front_from_scale(lo - margin, scale);
	d->hi[side] = front_from_scale(hi + margin, scale);
}

/* The worst x of interest: the reference point's or the recommendation's. */
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

/* Excludes points so bad that the front would shrink to a line at the edge. Keeps a quarter of the
 * span of front and baselines beyond them. */
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
	if (!(worst > best)) /* one point has no span */
		return;
	for (size_t i = 0; i < d->all.n; i++)
		keep[i] &= sign * front_to_scale(d->all.y[i], scale) <= worst + (worst - best) / 4;
}

static void extend_y_limits(struct front_data *d, double x, double y)
{
	if (x < d->lo[PLOT_X] || x > d->hi[PLOT_X] || !isfinite(y) ||
	    (d->scale[PLOT_Y] == PLOT_LOG && y <= 0))
		return;
	d->lo[PLOT_Y] = fmin(d->lo[PLOT_Y], y);
	d->hi[PLOT_Y] = fmax(d->hi[PLOT_Y], y);
}

static void find_limits(struct arena *mem, struct front_data *d)
{
	const struct dp_objective *o = front_side_objective(d->study, PLOT_X);
	bool *keep = arena_calloc(mem, d->all.n, sizeof *keep);
	bool linear = d->scale[PLOT_X] == PLOT_LINEAR, any = false;
	double last = worst_relevant_x(d), margin;

	/* keep points with an x of interest, or all if there are none */
	for (size_t i = 0; i < d->all.n; i++) {
		double x = d->all.x[i];

		keep[i] = (o->maximize ? x >= last : x <= last) && (linear || x > 0);
		any |= keep[i];
	}
	for (size_t i = 0; !any && i < d->all.n; i++)
		keep[i] = linear || d->all.x[i] > 0;
	front_fit_limits(d, PLOT_X, keep);
	if (any && linear) { /* from the best value to the reference point */
		double best = o->maximize ? d->hi[PLOT_X] : d->lo[PLOT_X];

		if (!o->maximize && best > 0 && best < 0.25 * last)
			best = 0;
		margin = 0.03 * fabs(last - best);
		d->lo[PLOT_X] = o->maximize ? last - margin : best;
		d->hi[PLOT_X] = o->maximize ? d->hi[PLOT_X] : last + margin;
	}
	select_near_front(d, keep);
	front_fit_limits(d, PLOT_Y, keep);
	/* smoothed values and baselines may lie beyond all results */
	margin = 0.03 * (d->hi[PLOT_Y] - d->lo[PLOT_Y]);
	for (size_t i = 0; i < d->front.n; i++)
		extend_y_limits(d, d->front.x[i], d->front.y[i]);
	for (size_t i = 0; i < d->reevaluated.n; i++)
		extend_y_limits(d, d->reevaluated.x[i], d->reevaluated.mid[i]);
	for (size_t i = 0; i < d->nlines; i++)
		if (d->lines[i].is_shown) {
			extend_y_limits(d, d->lo[PLOT_X], d->lines[i].at - margin);
			extend_y_limits(d, d->lo[PLOT_X], d->lines[i].at + margin);
		}
	for (size_t i = 0; i < d->all.n; i++)
		d->n_outside += !front_is_within_limits(d, d->all.x[i], d->all.y[i]);
}

/* ---- gathering: points ---- */

double front_member_value(const struct front_data *d, size_t place, enum plot_side side)
{
	return study_data_front_value(d->study, place,
				      side == PLOT_X ? d->study->x_obj : d->study->y_obj);
}

/* Gathers the observed values of the smoothed front's points, and results that violate a
 * constraint. */
static void gather_observed_and_infeasible(struct arena *mem, struct front_data *d)
{
	const struct study_data *s = d->study;

	d->observed = fig_points_new(mem, d->front.n);
	for (size_t i = 0; s->uses_smoothed_front && i < d->front.n; i++) {
		const double *y = dp_result_get_objectives(s->state, d->front.results[i]);

		fig_add_point(&d->observed, y[s->x_obj], y[s->y_obj], d->front.results[i]);
	}
	d->infeasible = fig_points_new(mem, s->npoints);
	for (size_t i = 0; i < s->npoints; i++) {
		const double *y = dp_result_get_objectives(s->state, s->points[i]);

		if (!dp_result_is_feasible(s->state, s->points[i]))
			fig_add_point(&d->infeasible, y[s->x_obj], y[s->y_obj], s->points[i]);
	}
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

static void gather_paths(struct arena *mem, struct front_data *d)
{
	const struct fig_points *all = &d->all;

	if (!study_data_has_checkpoints(d->study))
		return;
	d->path_starts = arena_calloc(mem, all->n, sizeof *d->path_starts);
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		d->ntrainings += front_path_length(all, i) > 1;
	for (size_t i = 0; i < all->n; i += front_path_length(all, i))
		if (front_path_length(all, i) > 1 && (d->ntrainings <= FRONT_PATHS_MAX ||
						      trial_is_on_front(d, all->results[i].trial)))
			d->path_starts[d->npaths++] = i;
}

/* Places trials that diverged at the border with the worst utility. */
static void gather_diverged(struct arena *mem, struct front_data *d)
{
	const struct dp_study_state *st = d->study->state;
	enum plot_scale scale = d->scale[PLOT_Y];
	double lo = front_to_scale(d->lo[PLOT_Y], scale);
	double hi = front_to_scale(d->hi[PLOT_Y], scale);
	double inside = front_side_objective(d->study, PLOT_Y)->maximize ? 0.02 : 0.98;
	double border = front_from_scale(lo + inside * (hi - lo), scale);

	d->diverged = fig_points_new(mem, st->diverged);
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];
		double x = t->objectives ? t->objectives[d->study->x_obj] : NAN;

		if (t->status == DP_TRIAL_DIVERGED && x >= d->lo[PLOT_X] && x <= d->hi[PLOT_X])
			fig_add_point(&d->diverged, x, border, FIG_NO_RESULT);
	}
}

/* Bins the points of the front by even steps of the third objective. */
static void gather_colour_bins(struct arena *mem, struct front_data *d)
{
	const struct study_data *s = d->study;
	size_t n = study_data_front_size(s), third = (size_t)d->third_obj;
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		double z = study_data_front_value(s, i, third);

		lo = isfinite(z) ? fmin(lo, z) : lo;
		hi = isfinite(z) ? fmax(hi, z) : hi;
	}
	for (int k = 0; lo <= hi && k < FRONT_COLOUR_BINS; k++) {
		struct front_colour_bin *bin = &d->colour_bins[k];
		bool last = k == FRONT_COLOUR_BINS - 1;

		bin->from = lo + (hi - lo) * k / FRONT_COLOUR_BINS;
		bin->to = lo + (hi - lo) * (k + 1) / FRONT_COLOUR_BINS;
		bin->points = fig_points_new(mem, n);
		for (size_t i = 0; i < n; i++) {
			double z = study_data_front_value(s, i, third);

			if (z >= bin->from && (z < bin->to || last))
				fig_add_point(&bin->points, study_data_front_value(s, i, s->x_obj),
					      study_data_front_value(s, i, s->y_obj),
					      study_data_front_point(s, i));
		}
	}
}

/* ---- gathering: intervals and baselines ---- */

/* As in the staircase, the interval of a point holds up to the next point with a worse x. */
static void gather_band(struct arena *mem, struct front_data *d)
{
	struct estimate *known = arena_calloc(mem, study_data_front_size(d->study), sizeof *known);
	bool left = fig_is_maximised(d->study, d->study->x_obj);
	const struct estimate *before = NULL;
	double x = NAN;

	study_data_estimate_front(d->study, d->study->y_obj, known);
	d->band = fig_band_new(mem, 2 * d->front.n + 1);
	for (size_t i = 0; i < d->front.n; i++) {
		size_t place = fig_front_index(d->study, d->front.results[i]);
		/* with more than two objectives it may be only on the front of the plane */
		const struct estimate *at = place == SIZE_MAX ? NULL : &known[place];
		const struct estimate *step = left ? at : before;

		if (!at || !isfinite(at->low) || !isfinite(at->high))
			continue;
		if (before)
			fig_band_add(&d->band, left ? x : d->front.x[i], NAN, step->low,
				     step->high);
		fig_band_add(&d->band, d->front.x[i], NAN, at->low, at->high);
		d->band_by_surrogates = at->source == ESTIMATE_SMOOTHED;
		before = at;
		x = d->front.x[i];
	}
}

static void front_add_line(struct front_data *d, const char *label, double at, double error,
			   bool can_be_beaten)
{
	bool up = fig_is_maximised(d->study, d->study->y_obj);
	struct front_line *l = &d->lines[d->nlines];
	double lo = INFINITY, hi = -INFINITY;

	if (!isfinite(at))
		return;
	*l = (struct front_line){ .at = at, .label = label, .error = error };
	for (size_t i = 0; i < d->front.n; i++) {
		if (!fig_beats_reference_point(d->study, d->front.x[i], d->front.y[i]))
			continue;
		lo = fmin(lo, d->front.y[i]);
		hi = fmax(hi, d->front.y[i]);
	}
	if (lo <= hi) {
		l->is_beaten = can_be_beaten && (up ? hi > at : lo < at);
		/* if not so far that the front would shrink to a line at the other end */
		l->is_shown = at >= lo - 2 * (hi - lo) && at <= hi + 2 * (hi - lo);
	}
	d->nlines++;
}

int front_gather(const struct report_data *r, struct arena *mem, bool linear, struct front_data *d,
		 struct dp_err *err)
{
	const struct study_data *s;
	int code = fig_main_study(r, &s, err);

	if (code != DP_OK)
		return code;
	/* other text describes failures: an empty plot adds nothing */
	if (!linear && !s->npoints)
		return fig_nothing(err, "no trial has given a result");
	d->study = s;
	d->third_obj = -1;
	for (size_t i = s->state->spec->nobjectives; i-- > 0;)
		if (i != s->x_obj && i != s->y_obj)
			d->third_obj = (int)i;
	d->all = fig_collect_points(mem, s);
	d->front = fig_study_front(mem, s);
	d->reference = fig_reference_front_load(mem, r, NAN, &d->front);
	gather_paths(mem, d);
	gather_observed_and_infeasible(mem, d);
	choices_find(s, &d->choices);
	gather_band(mem, d);
	d->reevaluated = fig_band_new(mem, d->front.n);
	for (size_t i = 0; i < d->front.n; i++) {
		struct dp_reeval_stats m;
		size_t k = s->y_obj;

		if (dp_result_compute_reeval_stats(s->state, d->front.results[i], &m))
			fig_band_add(&d->reevaluated, d->front.x[i], m.objectives[k],
				     m.runs > 1 ? m.low[k] : m.objectives[k],
				     m.runs > 1 ? m.high[k] : m.objectives[k]);
	}
	d->lines = arena_calloc(mem, r->nbaselines + 1, sizeof *d->lines);
	if (s->state->spec->objectives[s->y_obj].metric) {
		double records =
			study_data_is_percent(s, s->y_obj) ? study_data_test_records(s) : NAN;

		front_add_line(d, "commonest class", study_data_majority_value(s, s->y_obj), NAN,
			       false);
		for (size_t i = 0; i < r->nbaselines; i++) {
			double p = r->baselines[i].value;

			front_add_line(d, r->baselines[i].label, p, 2 * sqrt(p * (1 - p) / records),
				       true);
		}
	}
	d->scale[PLOT_X] =
		linear ? PLOT_LINEAR : fig_objective_scale(s, s->x_obj, d->all.x, d->all.n);
	if (d->all.n == 0)
		return linear ? fig_nothing(err, "there is no point to show yet") : DP_OK;
	d->scale[PLOT_Y] = fig_objective_scale(s, s->y_obj, d->all.y, d->all.n);
	find_limits(mem, d);
	gather_diverged(mem, d);
	d->staircase = fig_staircase(mem, s, &d->front, front_side_objective(s, PLOT_X)->anti_ideal,
				     front_side_objective(s, PLOT_Y)->anti_ideal);
	if (d->third_obj >= 0)
		gather_colour_bins(mem, d);
	return DP_OK;
}

/* ---- caption ---- */

static void append_front_point(const struct study_data *s, double x, double y, struct dp_buf *out)
{
	fig_append_value(s, s->y_obj, y, out);
	dp_buf_puts(out, " at ");
	fig_append_value(s, s->x_obj, x, out);
}

/* The range of the front points that are better than the reference point. */
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

/* Explains how a front can beat a non-private baseline. */
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

void front_append_caption(const struct front_data *d, struct dp_buf *out)
{
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
		/* explain the markers and lines */
		dp_buf_puts(out, d->observed.n ? " The line is what models of all results leave of "
						 "it without the noise (denoised)"
					       : " The line is what was observed in the search");
		if (d->band.n)
			dp_buf_printf(out, ", the band where that lies with 95 %% by the %s",
				      d->band_by_surrogates ? "models" : "runs");
		if (d->observed.n)
			dp_buf_puts(out, ", rings what was observed in the search");
		if (d->reevaluated.n)
			dp_buf_puts(out, ", squares with bars what fresh seeds gave (measured "
					 "again, 95 %)");
		dp_buf_puts(out, ". The star is recommended.");
		append_beaten_lines(d, out);
		fig_reference_front_append(&d->reference, out);
		if (d->npaths)
			dp_buf_printf(out, " Thin lines join what one training was on its way; %zu",
				      d->npaths);
		if (d->npaths && d->npaths < d->ntrainings)
			dp_buf_printf(out, " of %zu are drawn, those with a point on the front.",
				      d->ntrainings);
		else if (d->npaths)
			dp_buf_puts(out, d->ntrainings == 1 ? " training has such points."
							    : " trainings have such points.");
	} else if (d->all.n_not_finite) {
		dp_buf_printf(out, "None of %s has a finite %s and %s.",
			      dp_plural_text(d->all.n_not_finite, "point", points),
			      front_side_objective(s, PLOT_X)->name,
			      front_side_objective(s, PLOT_Y)->name);
	} else {
		dp_buf_puts(out, "There is no point to show yet.");
	}
}

static int front_make(const struct report_data *r, struct figure_draft *f, bool linear,
		      struct dp_err *err)
{
	struct front_data *d = arena_calloc(&f->mem, 1, sizeof *d);
	int code = front_gather(r, &f->mem, linear, d, err);

	if (code != DP_OK)
		return code;
	f->plot = front_draw(d);
	front_append_caption(d, &f->caption);
	return DP_OK;
}

static int front_over_decades_make(const struct report_data *r, struct figure_draft *f,
				   struct dp_err *err)
{
	return front_make(r, f, false, err);
}

static int front_linear_make(const struct report_data *r, struct figure_draft *f,
			     struct dp_err *err)
{
	return front_make(r, f, true, err);
}

const struct figure figure_front = {
	.name = "front",
	.title = "Pareto front",
	.chapter = FIGURE_CHAPTER_FRONT,
	.on_first_screen = true,
	.make = front_over_decades_make,
};

const struct figure figure_front_linear = {
	.name = "front-linear",
	.title = "Pareto front up to the anti-ideal",
	.chapter = FIGURE_CHAPTER_FRONT,
	.only_on_request = true,
	.make = front_linear_make,
};
