/* front_annotations.c - what is known of a front beside its points: where it lies with 95 %,
 * what was measured again, which points to take, and lines to compare with. */
#include "reports/figures/front_figure_internal.h"

#include <math.h>
#include <stdlib.h>

double front_member_value(const struct front_data *d, size_t place, enum plot_side side)
{
	return study_data_front_value(d->study, place,
				      side == PLOT_X ? d->study->x_obj : d->study->y_obj);
}

/* The place in the study's front of a point; SIZE_MAX: with more than two objectives it
 * may be on that of the plane only. */
static size_t find_front_index(const struct study_data *s, struct dp_result_id p)
{
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id q = study_data_front_point(s, i);

		if (q.trial == p.trial && q.checkpoint == p.checkpoint)
			return i;
	}
	return SIZE_MAX;
}

/* ---- the band ---- */

static void front_band_add_corner(struct front_band *b, double x, const struct estimate *at)
{
	b->x[b->n] = x;
	b->lo[b->n] = at->low;
	b->hi[b->n++] = at->high;
}

/* What a point reaches holds up to the next one in the direction in which x gets worse,
 * as in the staircase. */
static void front_band_build(struct front_data *d, const struct estimate *known)
{
	bool left = fig_is_maximised(d->study, d->study->x_obj);
	const struct estimate *before = NULL;
	double x = NAN;

	for (size_t i = 0; i < d->front.n; i++) {
		size_t place = find_front_index(d->study, d->front.results[i]);
		const struct estimate *at = place == SIZE_MAX ? NULL : &known[place];

		if (!at || !isfinite(at->low) || !isfinite(at->high))
			continue;
		if (before)
			front_band_add_corner(&d->band, left ? x : d->front.x[i],
					      left ? at : before);
		front_band_add_corner(&d->band, d->front.x[i], at);
		d->band.by_surrogates = at->source == ESTIMATE_SMOOTHED;
		before = at;
		x = d->front.x[i];
	}
}

static int gather_band(struct front_data *d, struct dp_err *err)
{
	struct estimate *known = dp_calloc(study_data_front_size(d->study) + 1, sizeof *known);
	size_t room = (2 * d->front.n + 1) * sizeof(double);
	int code;

	d->band.x = dp_malloc(room);
	d->band.lo = dp_malloc(room);
	d->band.hi = dp_malloc(room);
	if (!known || !d->band.x || !d->band.lo || !d->band.hi)
		code = fig_nomem(err);
	else
		code = study_data_estimate_front(d->study, d->study->y_obj, known, err);
	if (code == DP_OK)
		front_band_build(d, known);
	free(known);
	return code;
}

/* ---- measured again ---- */

static int gather_reevaluated_points(struct front_data *d, struct dp_err *err)
{
	struct front_reevaluated *a = &d->reevaluated;
	size_t room = d->front.n * sizeof(double) + 1;
	struct dp_reeval_stats m;

	a->x = dp_malloc(room);
	a->y = dp_malloc(room);
	a->lo = dp_malloc(room);
	a->hi = dp_malloc(room);
	if (!a->x || !a->y || !a->lo || !a->hi)
		return fig_nomem(err);
	for (size_t i = 0; i < d->front.n; i++) {
		if (!dp_result_compute_reeval_stats(d->study->state, d->front.results[i], &m))
			continue;
		a->x[a->n] = d->front.x[i];
		a->y[a->n] = m.objectives[d->study->y_obj];
		a->lo[a->n] = m.runs > 1 ? m.low[d->study->y_obj] : a->y[a->n];
		a->hi[a->n] = m.runs > 1 ? m.high[d->study->y_obj] : a->y[a->n];
		a->n++;
	}
	return DP_OK;
}

/* ---- lines ---- */

/* The best and the worst of the front within the anti-ideal. */
static bool front_y_range(const struct front_data *d, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < d->front.n; i++) {
		if (!fig_beats_reference_point(d->study, d->front.x[i], d->front.y[i]))
			continue;
		*lo = fmin(*lo, d->front.y[i]);
		*hi = fmax(*hi, d->front.y[i]);
	}
	return *lo <= *hi;
}

static void front_add_line(struct front_data *d, const char *label, double at, double error,
			   bool can_be_beaten)
{
	bool up = fig_is_maximised(d->study, d->study->y_obj);
	struct front_line *l = &d->lines[d->nlines];
	double lo, hi;

	if (!isfinite(at))
		return;
	*l = (struct front_line){ .at = at, .label = label, .error = error };
	if (front_y_range(d, &lo, &hi)) {
		l->is_beaten = can_be_beaten && (up ? hi > at : lo < at);
		/* not so far that the front becomes a line at the other end */
		l->is_shown = at >= lo - 2 * (hi - lo) && at <= hi + 2 * (hi - lo);
	}
	d->nlines++;
}

static int front_gather_lines(const struct report_data *r, struct front_data *d, struct dp_err *err)
{
	const struct study_data *s = d->study;
	double records = study_data_test_records(s);
	bool share = study_data_is_percent(s, s->y_obj);

	d->lines = dp_calloc(r->nbaselines + 1, sizeof *d->lines);
	if (!d->lines)
		return fig_nomem(err);
	if (!s->state->spec->objectives[s->y_obj].metric)
		return DP_OK;
	front_add_line(d, "commonest class", study_data_majority_value(s, s->y_obj), NAN, false);
	for (size_t i = 0; i < r->nbaselines; i++) {
		double p = r->baselines[i].value;

		front_add_line(d, r->baselines[i].label, p,
			       share ? 2 * sqrt(p * (1 - p) / records) : NAN, true);
	}
	return DP_OK;
}

/* ---- all of it ---- */

int front_gather_annotations(const struct report_data *r, struct front_data *d, struct dp_err *err)
{
	int code = gather_band(d, err);

	choices_find(d->study, &d->choices);
	if (code == DP_OK)
		code = gather_reevaluated_points(d, err);
	return code == DP_OK ? front_gather_lines(r, d, err) : code;
}

void front_release_annotations(struct front_data *d)
{
	free(d->band.x);
	free(d->band.lo);
	free(d->band.hi);
	free(d->reevaluated.x);
	free(d->reevaluated.y);
	free(d->reevaluated.lo);
	free(d->reevaluated.hi);
	free(d->lines);
}
