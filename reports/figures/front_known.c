/* front_known.c - what is known of a front beside its points: where it lies with 95 %,
 * what was measured again, which points to take, and lines to compare with. */
#include "reports/figures/front_internal.h"

#include <math.h>
#include <stdlib.h>

double front_chosen_value(const struct front_data *d, size_t place, enum plot_side side)
{
	return subject_front_value(d->s, place, side == PLOT_X ? d->s->x : d->s->y);
}

/* The place in the study's front of a point; SIZE_MAX: with more than two objectives it
 * may be on that of the plane only. */
static size_t front_place(const struct subject *s, struct dp_point p)
{
	for (size_t i = 0; i < subject_front(s); i++) {
		struct dp_point q = subject_front_point(s, i);

		if (q.trial == p.trial && q.way == p.way)
			return i;
	}
	return SIZE_MAX;
}

/* ---- the band ---- */

static void band_corner(struct front_band *b, double x, const struct estimate *at)
{
	b->x[b->n] = x;
	b->lo[b->n] = at->low;
	b->hi[b->n++] = at->high;
}

/* What a point reaches holds up to the next one in the direction in which x gets worse,
 * as in the staircase. */
static void band_corners(struct front_data *d, const struct estimate *known)
{
	bool left = fig_maximised(d->s, d->s->x);
	const struct estimate *before = NULL;
	double x = NAN;

	for (size_t i = 0; i < d->front.n; i++) {
		size_t place = front_place(d->s, d->front.of[i]);
		const struct estimate *at = place == SIZE_MAX ? NULL : &known[place];

		if (!at || !isfinite(at->low) || !isfinite(at->high))
			continue;
		if (before)
			band_corner(&d->band, left ? x : d->front.x[i], left ? at : before);
		band_corner(&d->band, d->front.x[i], at);
		d->band.modelled = at->source == ESTIMATE_MODELS;
		before = at;
		x = d->front.x[i];
	}
}

static int gather_band(struct front_data *d, struct dp_err *err)
{
	struct estimate *known = calloc(subject_front(d->s) + 1, sizeof *known);
	size_t room = (2 * d->front.n + 1) * sizeof(double);
	int code;

	d->band.x = malloc(room);
	d->band.lo = malloc(room);
	d->band.hi = malloc(room);
	if (!known || !d->band.x || !d->band.lo || !d->band.hi)
		code = fig_nomem(err);
	else
		code = subject_estimates(d->s, d->s->y, known, err);
	if (code == DP_OK)
		band_corners(d, known);
	free(known);
	return code;
}

/* ---- measured again ---- */

static int gather_again(struct front_data *d, struct dp_err *err)
{
	struct front_again *a = &d->again;
	size_t room = d->front.n * sizeof(double) + 1;
	struct dp_measured m;

	a->x = malloc(room);
	a->y = malloc(room);
	a->lo = malloc(room);
	a->hi = malloc(room);
	if (!a->x || !a->y || !a->lo || !a->hi)
		return fig_nomem(err);
	for (size_t i = 0; i < d->front.n; i++) {
		if (!dp_point_remeasured(d->s->s, d->front.of[i], &m))
			continue;
		a->x[a->n] = d->front.x[i];
		a->y[a->n] = m.objectives[d->s->y];
		a->lo[a->n] = m.runs > 1 ? m.low[d->s->y] : a->y[a->n];
		a->hi[a->n] = m.runs > 1 ? m.high[d->s->y] : a->y[a->n];
		a->n++;
	}
	return DP_OK;
}

/* ---- lines ---- */

/* The best and the worst of the front within the anti-ideal. */
static bool front_span(const struct front_data *d, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = -INFINITY;
	for (size_t i = 0; i < d->front.n; i++) {
		if (!fig_in_box(d->s, d->front.x[i], d->front.y[i]))
			continue;
		*lo = fmin(*lo, d->front.y[i]);
		*hi = fmax(*hi, d->front.y[i]);
	}
	return *lo <= *hi;
}

static void add_line(struct front_data *d, const char *label, double at, double error,
		     bool can_be_beaten)
{
	bool up = fig_maximised(d->s, d->s->y);
	struct front_line *l = &d->line[d->nlines];
	double lo, hi;

	if (!isfinite(at))
		return;
	*l = (struct front_line){ .at = at, .label = label, .error = error };
	if (front_span(d, &lo, &hi)) {
		l->beyond = can_be_beaten && (up ? hi > at : lo < at);
		/* not so far that the front becomes a line at the other end */
		l->shown = at >= lo - 2 * (hi - lo) && at <= hi + 2 * (hi - lo);
	}
	d->nlines++;
}

static int front_gather_lines(const struct report *r, struct front_data *d, struct dp_err *err)
{
	const struct subject *s = d->s;
	double records = subject_test_records(s);
	bool share = subject_shares(s, s->y);

	d->line = calloc(r->nbaselines + 1, sizeof *d->line);
	if (!d->line)
		return fig_nomem(err);
	if (!s->s->spec->objectives[s->y].metric)
		return DP_OK;
	add_line(d, "commonest class", subject_majority(s, s->y), NAN, false);
	for (size_t i = 0; i < r->nbaselines; i++) {
		double p = r->baselines[i].value;

		add_line(d, r->baselines[i].label, p, share ? 2 * sqrt(p * (1 - p) / records) : NAN,
			 true);
	}
	return DP_OK;
}

/* ---- all of it ---- */

int front_gather_known(const struct report *r, struct front_data *d, struct dp_err *err)
{
	int code = subject_choose(d->s, &d->chosen, err);

	if (code == DP_OK)
		code = gather_band(d, err);
	if (code == DP_OK)
		code = gather_again(d, err);
	return code == DP_OK ? front_gather_lines(r, d, err) : code;
}

void front_release_known(struct front_data *d)
{
	free(d->band.x);
	free(d->band.lo);
	free(d->band.hi);
	free(d->again.x);
	free(d->again.y);
	free(d->again.lo);
	free(d->again.hi);
	free(d->line);
}
