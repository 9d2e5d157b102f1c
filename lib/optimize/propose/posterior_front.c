/* posterior_front.c - computes the front of posterior means at results and pending points. */
#include "linalg/linalg.h"
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dp_observation_is_feasible(const struct dp_study *study, const struct dp_observation *k)
{
	for (size_t i = 0; i < study->nconstraints; i++) {
		double v = k->metrics[i], bound = study->constraints[i].bound;

		if (!(study->constraints[i].at_least ? v >= bound : v <= bound))
			return false;
	}
	return true;
}

/* Posterior mean of k, row `at` of the models (SIZE_MAX: none), to be minimised. Without noise it
 * is the observed value to the last bit. */
static double posterior_objective_value(struct dp_proposer *p, size_t o,
					const struct dp_observation *k, size_t at)
{
	const struct dp_objective *obj = &p->study->objectives[o];
	double u[DP_PARAMS_MAX], z;

	if (p->output[o].is_exact || dp__noise_is_negligible(p, o))
		return dp__objective_to_min(obj, k->y[o]);
	dp__encoding_encode(&p->encoding, k->x, u);
	z = at == SIZE_MAX ? dp__predict_mean(p, o, u) : dp__surrogate_posterior_mean(p, o, at);
	return dp__distribution_to_min(dp__objective_distribution(obj), z);
}

/* Row of k in the models, SIZE_MAX if it has none; *next counts the rows. */
static size_t find_model_row(const struct dp_proposer *p, const struct dp_observation *k,
			     size_t *next)
{
	return dp__observation_is_informative(k) && dp__observation_is_modelled(p, k) ? (*next)++
										      : SIZE_MAX;
}

/* Posterior means y (at most n x p) at the feasible ok results and the pending points, to be
 * minimised, with their points `at` (at most n). Returns their number. */
static size_t posterior_objective_values(struct dp_proposer *p, double *y,
					 struct dp__front_point *at)
{
	const struct dp_history *h = p->history;
	size_t np = p->study->nobjectives, result = 0, count = 0;
	struct dp__normal f[DP_OBJECTIVES_MAX + DP_CONSTRAINTS_MAX];

	dp__predict_reserve(p, 1);
	for (size_t i = 0; i < h->n; i++) {
		const struct dp_observation *k = &h->observations[i];
		struct dp__front_point *one = &at[count];

		one->observation = i;
		one->model_row = find_model_row(p, k, &result);
		one->is_pending = k->status == DP_OBSERVATION_PENDING;
		if (!one->is_pending &&
		    (k->status != DP_OBSERVATION_OK || !dp_observation_is_feasible(p->study, k)))
			continue;
		dp__encoding_encode(&p->encoding, k->x, one->u);
		if (one->is_pending)
			dp__predict_outputs(p, one->u, 1, 1, false, true, f, NULL);
		for (size_t j = 0; j < np; j++)
			y[count * np + j] =
				one->is_pending
					? dp__distribution_to_min(dp__objective_distribution(
									  &p->study->objectives[j]),
								  f[j].mean)
					: posterior_objective_value(p, j, k, one->model_row);
		count++;
	}
	return count;
}

/* Clips as the models' values are clipped, so that no gain is infinite in model space. */
static double clip_reference(const struct dp_objective *o, double ref)
{
	return dp__distribution_to_min(dp__objective_distribution(o),
				       dp__objective_to_model(o, dp__objective_to_min(o, ref)));
}

/* The reference point of the study. With reference: front, the front's worst value plus twice its
 * range over its size (as in the paper's library). */
static void compute_reference_point(const struct dp_proposer *p, const double *y,
				    const size_t *front, size_t n, double *ref)
{
	const struct dp_study *s = p->study;
	size_t np = s->nobjectives;

	for (size_t j = 0; j < np; j++) {
		const struct dp_objective *o = &s->objectives[j];
		double lo = INFINITY, hi = -INFINITY;
		bool model = s->search.gain_model;

		ref[j] = dp__objective_to_min(o, o->anti_ideal);
		if (model)
			ref[j] = clip_reference(o, ref[j]);
		for (size_t i = 0; i < n; i++) {
			double v = y[front[i] * np + j];

			v = model ? dp__distribution_from_min(dp__objective_distribution(o), v) : v;
			lo = fmin(lo, v);
			hi = fmax(hi, v);
		}
		if (!s->search.reference_front || !(hi > lo))
			continue;
		hi += 2 * (hi - lo) / (double)n;
		ref[j] = model ? dp__distribution_to_min(dp__objective_distribution(o), hi) : hi;
	}
}

/* As long as no point is better than the reference point in every objective, no point promises a
 * gain. Until then, moves it to the front's worst value plus a tenth of its range. */
static void extend_reference_point(const struct dp_study *s, const double *y, const size_t *front,
				   size_t n, double *ref)
{
	size_t np = s->nobjectives;
	double lo[DP_OBJECTIVES_MAX], hi[DP_OBJECTIVES_MAX];

	for (size_t j = 0; j < np; j++) {
		lo[j] = INFINITY;
		hi[j] = -INFINITY;
	}
	for (size_t i = 0; i < n; i++) {
		const double *row = y + front[i] * np;
		bool inside = true;

		for (size_t j = 0; j < np; j++) {
			inside &= row[j] < ref[j];
			lo[j] = fmin(lo[j], row[j]);
			hi[j] = fmax(hi[j], row[j]);
		}
		if (inside)
			return;
	}
	for (size_t j = 0; j < np && n > 0; j++) {
		double range = hi[j] > lo[j] ? hi[j] - lo[j] : fabs(hi[j]);

		ref[j] = fmax(ref[j], hi[j] + 0.1 * range);
		if (s->search.gain_model)
			ref[j] = clip_reference(&s->objectives[j], ref[j]);
	}
}

void dp__posterior_region_update(struct dp_proposer *p)
{
	size_t np = p->study->nobjectives, n = p->history->n, m, count;
	struct dp__front_point *at = dp_malloc((n + 1) * sizeof *at);
	size_t *front = dp_malloc((n + 1) * sizeof *front);
	double *y = dp_vec_new(n * np), *rows = dp_vec_new(n * np);
	double ref[DP_OBJECTIVES_MAX];
	enum dp__distribution shapes[DP_OBJECTIVES_MAX];

	m = posterior_objective_values(p, y, at);
	count = dp_pareto_find_front(y, m, np, front);
	compute_reference_point(p, y, front, count, ref);
	extend_reference_point(p->study, y, front, count, ref);
	free(p->posterior_front);
	p->posterior_front = dp_malloc((count + 1) * sizeof *p->posterior_front);
	p->n_front = count;
	for (size_t i = 0; i < count; i++) {
		memcpy(rows + i * np, y + front[i] * np, np * sizeof *rows);
		p->posterior_front[i] = at[front[i]];
	}
	for (size_t j = 0; j < np; j++)
		shapes[j] = dp__objective_distribution(&p->study->objectives[j]);
	dp__box_partitioning_free(&p->partitioning);
	dp__box_partitioning_init(&p->partitioning, np, shapes, rows, count, ref,
				  p->study->search.gain_model);
	p->has_partitioning = true;
	free(at);
	free(front);
	free(y);
	free(rows);
}

size_t dp_surrogate_posterior_front(struct dp_proposer *p, const struct dp_history *h,
				    size_t *index, double *y)
{
	size_t np = p->study->nobjectives, result = 0, m = 0, count;
	size_t *from = dp_malloc((h->n + 1) * sizeof *from);
	size_t *front = dp_malloc((h->n + 1) * sizeof *front);
	double *all = dp_vec_new(h->n * np);

	dp__predict_reserve(p, 1);
	for (size_t i = 0; i < h->n; i++) {
		const struct dp_observation *k = &h->observations[i];
		size_t at = find_model_row(p, k, &result);

		if (k->status != DP_OBSERVATION_OK || !dp_observation_is_feasible(p->study, k))
			continue;
		for (size_t j = 0; j < np; j++)
			all[m * np + j] = posterior_objective_value(p, j, k, at);
		from[m++] = i;
	}
	count = dp_pareto_find_front(all, m, np, front);
	for (size_t i = 0; i < count; i++) {
		index[i] = from[front[i]];
		for (size_t j = 0; j < np; j++)
			y[i * np + j] = dp__objective_to_min(&p->study->objectives[j],
							     all[front[i] * np + j]);
	}
	free(from);
	free(front);
	free(all);
	return count;
}
