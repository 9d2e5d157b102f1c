/* choices.c - choose the recommended, high-privacy and best-utility points of the front. */
#include "reports/model/number_format.h"
#include "reports/model/study_data.h"

#include "optimize/pareto/pareto.h"
#include "study/objective.h"

#include <math.h>
#include <stdlib.h>

/* Values of the front, all to be minimised: column 0 is the cost (epsilon), column 1 the loss
 * (utility). A cost of NaN excludes the point. */
struct choice_values {
	size_t n;
	double *y; /* (n x 2) */
};

static double to_minimised_value(const struct study_data *s, size_t objective, double v)
{
	return s->state->spec->objectives[objective].maximize ? -v : v;
}

static double choice_cost(const struct choice_values *r, size_t i)
{
	return r->y[2 * i];
}

static double choice_loss(const struct choice_values *r, size_t i)
{
	return r->y[2 * i + 1];
}

/* Excludes points above the cost limit, unless that excludes all points. */
static void exclude_over_limit(const struct study_data *s, struct choice_values *r,
			       struct choices *out)
{
	const struct dp_objective *o = &s->state->spec->objectives[s->x_obj];
	double max = dp_pareto_max_cost(to_minimised_value(s, s->x_obj, o->anti_ideal),
					o->privacy != NULL);
	size_t within = dp_pareto_limit_cost(r->y, r->n, max);

	if (within == 0 || within == r->n)
		return;
	out->max_cost = to_minimised_value(s, s->x_obj, max);
	for (size_t i = 0; i < r->n; i++) {
		double loss =
			to_minimised_value(s, s->y_obj, study_data_front_value(s, i, s->y_obj));

		if (choice_cost(r, i) > max &&
		    (out->best_over_limit == SIZE_MAX ||
		     loss < to_minimised_value(
				    s, s->y_obj,
				    study_data_front_value(s, out->best_over_limit, s->y_obj))))
			out->best_over_limit = i;
	}
}

static void choose_recommended(const struct study_data *s, const struct choice_values *r,
			       struct choices *out)
{
	const struct dp_study *spec = s->state->spec;
	size_t n = r->n, p = spec->nobjectives;
	double *y = dp_calloc((n + 1) * p, sizeof *y), *ref = y + n * p;
	double *error = dp_calloc(n + 1, sizeof *error);

	for (size_t j = 0; j < p; j++) {
		const struct dp_objective *o = &spec->objectives[j];
		const char *scale = dp_transform_text(o->transform);

		ref[j] = dp_objective_transform(scale, o->maximize, o->anti_ideal);
		for (size_t i = 0; i < n; i++)
			y[i * p + j] = dp_objective_transform(scale, o->maximize,
							      study_data_front_value(s, i, j));
	}
	for (size_t i = 0; i < n; i++)
		error[i] = study_data_front_std_error(s, i, s->y_obj);
	out->recommended = dp_pareto_recommend(r->y, error, y, n, p, ref, &out->rule);
	free(y);
	free(error);
}

/* The cheapest point that keeps half of the best-utility point's gain over guessing, if its gain
 * exceeds two standard errors. */
static size_t choose_high_privacy(const struct study_data *s, const struct choice_values *r,
				  size_t loose)
{
	size_t found = SIZE_MAX;
	double majority = study_data_majority_value(s, s->y_obj);
	/* guessing: the majority class, or else the reference point */
	double guess = to_minimised_value(
		s, s->y_obj,
		isnan(majority) ? s->state->spec->objectives[s->y_obj].anti_ideal : majority);

	for (size_t i = 0; loose != SIZE_MAX && i < r->n; i++) {
		double gain = guess - choice_loss(r, i),
		       error = study_data_front_std_error(s, i, s->y_obj);

		if (gain >= (guess - choice_loss(r, loose)) / 2 && gain > 0 &&
		    !(gain <= 2 * error) &&
		    (found == SIZE_MAX || choice_cost(r, i) < choice_cost(r, found)))
			found = i;
	}
	return found;
}

void choices_find(const struct study_data *s, struct choices *out)
{
	struct choice_values r = { .n = study_data_front_size(s) };

	r.y = dp_calloc(2 * r.n + 1, sizeof *r.y);
	for (size_t i = 0; i < r.n; i++) {
		r.y[2 * i] =
			to_minimised_value(s, s->x_obj, study_data_front_value(s, i, s->x_obj));
		r.y[2 * i + 1] =
			to_minimised_value(s, s->y_obj, study_data_front_value(s, i, s->y_obj));
	}
	*out = (struct choices){ .high_privacy = SIZE_MAX,
				 .recommended = SIZE_MAX,
				 .best_utility = SIZE_MAX,
				 .best_over_limit = SIZE_MAX,
				 .max_cost = NAN };
	exclude_over_limit(s, &r, out);
	choose_recommended(s, &r, out);
	out->best_utility = dp_pareto_find_min(r.y, r.n, 2, 1);
	out->high_privacy = choose_high_privacy(s, &r, out->best_utility);
	/* the recommended point may be as good at a lower cost */
	if (out->recommended != SIZE_MAX && out->high_privacy != SIZE_MAX &&
	    choice_cost(&r, out->high_privacy) > choice_cost(&r, out->recommended))
		out->high_privacy = out->recommended;
	free(r.y);
}
