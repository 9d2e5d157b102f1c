/* choices.c - which points of a front to take: the recommended one, a stricter and a
 * looser one. */
#include "reports/facts.h"

#include "front/front.h"

#include <math.h>
#include <stdlib.h>

/* A front's values to be minimised: column 0 is what is paid, epsilon, column 1 what is
 * bought; NaN at a price that is out of the question. */
struct choice_rows {
	size_t n;
	double *y; /* (n x 2) */
};

static double minimised(const struct subject *s, size_t objective, double v)
{
	return s->s->spec->objectives[objective].maximize ? -v : v;
}

static double price(const struct choice_rows *r, size_t i)
{
	return r->y[2 * i];
}

static double bought(const struct choice_rows *r, size_t i)
{
	return r->y[2 * i + 1];
}

static int find_rows(const struct subject *s, struct choice_rows *r, struct dp_err *err)
{
	r->n = subject_front(s);
	r->y = calloc(2 * r->n + 1, sizeof *r->y);
	if (!r->y)
		return dp_fail(err, DP_E_NOMEM, "no memory for a report");
	for (size_t i = 0; i < r->n; i++) {
		r->y[2 * i] = minimised(s, s->x, subject_front_value(s, i, s->x));
		r->y[2 * i + 1] = minimised(s, s->y, subject_front_value(s, i, s->y));
	}
	return DP_OK;
}

/* The highest price that the study asks for and, of an epsilon, that means anything. */
static double highest_price(const struct subject *s)
{
	const struct dp_objective *o = &s->s->spec->objectives[s->x];

	return o->privacy ? fmin(o->anti_ideal, FACTS_MEANINGLESS)
			  : minimised(s, s->x, o->anti_ideal);
}

/* Takes out what costs more, if anything is left then. */
static void close_rows(const struct subject *s, struct choice_rows *r, struct choices *out)
{
	double most = highest_price(s);
	size_t dear = 0;

	for (size_t i = 0; i < r->n; i++)
		dear += price(r, i) > most;
	if (dear == 0 || dear == r->n)
		return;
	out->limit = minimised(s, s->x, most);
	for (size_t i = 0; i < r->n; i++) {
		if (!(price(r, i) > most))
			continue;
		if (out->beyond == SIZE_MAX ||
		    minimised(s, s->y, subject_front_value(s, i, s->y)) <
			    minimised(s, s->y, subject_front_value(s, out->beyond, s->y)))
			out->beyond = i;
		r->y[2 * i + 1] = NAN;
	}
}

/* As `dparetoctl front --knee` finds it among what is left. */
static int find_knee(const struct subject *s, const struct choice_rows *r, size_t *knee,
		     struct dp_err *err)
{
	const struct dp_study *spec = s->s->spec;
	size_t n = subject_front(s), p = spec->nobjectives;
	double *y = calloc((n + 1) * p, sizeof *y), *ref = y ? y + n * p : NULL;
	int code = y ? DP_OK : DP_E_NOMEM;

	for (size_t j = 0; code == DP_OK && j < p; j++) {
		const struct dp_objective *o = &spec->objectives[j];
		const char *scale = dp_transform_text(o->transform);

		ref[j] = dp_objective_scaled(scale, o->maximize, o->anti_ideal);
		for (size_t i = 0; i < n; i++)
			y[i * p + j] = isnan(bought(r, i))
					       ? INFINITY
					       : dp_objective_scaled(scale, o->maximize,
								     subject_front_value(s, i, j));
	}
	if (code == DP_OK)
		code = dp_front_knee(y, n, p, ref, knee);
	free(y);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for a report");
}

/* One standard error of the best, as `dparetoctl front --one-se --max epsilon=LIMIT` has
 * it; where nothing is known of the noise, the knee; where nothing is within the
 * anti-ideal, the best. */
static int recommend(const struct subject *s, const struct choice_rows *r, struct choices *out,
		     struct dp_err *err)
{
	size_t best = dp_front_least(r->y, r->n, 2, 1);
	double error = best == SIZE_MAX ? NAN : subject_front_error(s, best, s->y);
	int code = DP_OK;

	if (best == SIZE_MAX)
		return DP_OK;
	if (!isnan(error)) {
		out->recommended = dp_front_one_se(r->y, r->n, 2, 1, error);
		out->rule = CHOICE_ONE_SE;
		return DP_OK;
	}
	code = find_knee(s, r, &out->recommended, err);
	out->rule = CHOICE_KNEE;
	if (out->recommended == SIZE_MAX) {
		out->recommended = best;
		out->rule = CHOICE_BEST;
	}
	return code;
}

/* What is to be beaten: the commonest class, else the anti-ideal. */
static double guessing(const struct subject *s)
{
	double majority = subject_majority(s, s->y);

	return minimised(s, s->y,
			 isnan(majority) ? s->s->spec->objectives[s->y].anti_ideal : majority);
}

/* The least price at which half of what the loose one has over guessing is left, and more
 * than two standard errors. */
static size_t find_strict(const struct subject *s, const struct choice_rows *r, size_t loose)
{
	size_t found = SIZE_MAX;
	double guess = guessing(s);

	for (size_t i = 0; loose != SIZE_MAX && i < r->n; i++) {
		double gain = guess - bought(r, i), error = subject_front_error(s, i, s->y);

		if (gain >= (guess - bought(r, loose)) / 2 && gain > 0 && !(gain <= 2 * error) &&
		    (found == SIZE_MAX || price(r, i) < price(r, found)))
			found = i;
	}
	return found;
}

int subject_choose(const struct subject *s, struct choices *out, struct dp_err *err)
{
	struct choice_rows r = { 0 };
	int code = find_rows(s, &r, err);

	*out = (struct choices){ .strict = SIZE_MAX,
				 .recommended = SIZE_MAX,
				 .loose = SIZE_MAX,
				 .beyond = SIZE_MAX,
				 .limit = NAN };
	if (code == DP_OK) {
		close_rows(s, &r, out);
		code = recommend(s, &r, out, err);
	}
	if (code == DP_OK) {
		out->loose = dp_front_least(r.y, r.n, 2, 1);
		out->strict = find_strict(s, &r, out->loose);
	}
	/* what is recommended may be as good at less */
	if (code == DP_OK && out->recommended != SIZE_MAX && out->strict != SIZE_MAX &&
	    price(&r, out->strict) > price(&r, out->recommended))
		out->strict = out->recommended;
	free(r.y);
	return code;
}
