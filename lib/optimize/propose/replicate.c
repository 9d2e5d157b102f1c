/* replicate.c - proposes replicates, which separate noise from a rough objective.
 *
 * One run per point does not show how noisy a trainer is. A model that sees values jump can explain
 * it by noise (and smooth real structure away) or by short length scales (and chase selection
 * bias); a second run of the same point decides. So if the models learned much noise, a point of
 * the front is proposed again now and then. The new trial number gives it other seeds. Identical
 * results show that the trainer is deterministic. */
#include "optimize/propose/proposer_internal.h"

#include <math.h>
#include <string.h>

enum {
	TRAININGS_PER_REPLICATE = 16
};
static const double much_noise = 0.01; /* share of an output's variance */

/* True for a trial's own result or point, false for a checkpoint. */
static bool is_whole_trial(const struct dp_observation *k)
{
	return k->checkpoint == 0;
}

/* Number of trials at a point where another trial was before. */
static size_t count_replicates(const struct dp_proposer *p)
{
	const struct dp_history *h = p->history;
	size_t count = 0;

	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < i && is_whole_trial(&h->observations[i]); k++)
			if (is_whole_trial(&h->observations[k]) &&
			    dp__points_are_equal(p, h->observations[i].x, h->observations[k].x)) {
				count++;
				break;
			}
	return count;
}

static bool has_replicate(const struct dp_proposer *p, size_t at)
{
	const struct dp_history *h = p->history;

	for (size_t i = 0; i < h->n; i++)
		if (i != at && is_whole_trial(&h->observations[i]) &&
		    dp__points_are_equal(p, h->observations[i].x, h->observations[at].x))
			return true;
	return false;
}

/* Position in the history of a front point's trial; SIZE_MAX if that has no result of its own. */
static size_t find_front_point_training(const struct dp_proposer *p,
					const struct dp__front_point *f)
{
	const struct dp_history *h = p->history;
	size_t i = f->observation;

	while (i < h->n && !is_whole_trial(&h->observations[i]))
		i++;
	return i < h->n && h->observations[i].trial == h->observations[f->observation].trial &&
			       h->observations[i].status != DP_OBSERVATION_FAILED
		       ? i
		       : SIZE_MAX;
}

/* Distance of result i from the models, in standard deviations of the outputs. */
static double compute_model_misfit(const struct dp_proposer *p, size_t i)
{
	double sum = 0;

	for (size_t o = 0; o < p->study->nobjectives; o++) {
		const struct dp__surrogate_output *out = &p->output[o];

		if (!out->is_exact)
			sum += fabs(dp_gp_residual(&out->gp, i));
	}
	return sum;
}

bool dp__propose_replicate(const struct dp_proposer *p, double *x)
{
	const struct dp_history *h = p->history;
	bool uncertain = false; /* some objective has much learned noise */
	double most = -1;

	for (size_t o = 0; o < p->study->nobjectives; o++) {
		const struct dp__surrogate_output *out = &p->output[o];

		uncertain |= !out->is_exact && !out->is_deterministic &&
			     !out->noise_curve.is_known && out->hyper.noise > much_noise;
	}
	/* a finite space proposes each point once */
	if (isfinite(p->encoding.n_points) || !uncertain ||
	    count_replicates(p) >= dp__surrogate_count_trainings(p) / TRAININGS_PER_REPLICATE)
		return false;
	for (size_t i = 0; i < p->n_front; i++) {
		const struct dp__front_point *f = &p->posterior_front[i];
		size_t training = find_front_point_training(p, f);
		const double *at = h->observations[training == SIZE_MAX ? 0 : training].x;
		bool within = true; /* a result of another study may lie outside the ranges */

		for (size_t k = 0; k < p->encoding.d; k++) {
			const struct dp__input *in = &p->encoding.inputs[k];

			within &= at[in->param] >= in->lo && at[in->param] <= in->hi;
		}
		if (f->is_pending || f->model_row == SIZE_MAX || training == SIZE_MAX || !within ||
		    has_replicate(p, training) || !dp__budget_can_afford(p, at) ||
		    !(compute_model_misfit(p, f->model_row) > most))
			continue;
		most = compute_model_misfit(p, f->model_row);
		memcpy(x, at, p->study->nparams * sizeof *x);
	}
	return most >= 0;
}
