/* rerun.c - a point measured again: is it noise, or is it rough?
 *
 * One run a point does not say how noisy a trainer is. A model that sees values jump
 * can call it noise (and smooth away what is there) or short length scales (and chase
 * luck); a second run of the same point decides. So where the models learned much noise
 * now and then a point of the front is proposed again: the trial's own number gives it
 * other seeds. Runs that repeat bit for bit show that there is no noise at all. */
#include "propose/propose_internal.h"

#include <math.h>
#include <string.h>

enum {
	RESULTS_PER_RERUN = 16
};
static const double much_noise = 0.01; /* share of an output's variance */

/* Is there an objective whose noise had to be learned, and is it large? */
static bool noise_in_doubt(const struct dp_proposer *p)
{
	for (size_t o = 0; o < p->study->nobjectives; o++) {
		const struct dp__output *out = &p->output[o];

		if (!out->exact && !out->repeats && !out->curve.known &&
		    out->hyper.noise > much_noise)
			return true;
	}
	return false;
}

/* Is it a trial of its own, not a waypoint of one? */
static bool is_trial(const struct dp_known *k)
{
	return k->at == 0;
}

/* How many trials are at a point that another one was at before. */
static size_t count_reruns(const struct dp_proposer *p)
{
	const struct dp_history *h = p->history;
	size_t count = 0;

	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < i && is_trial(&h->known[i]); k++)
			if (is_trial(&h->known[k]) &&
			    dp__same_point(p, h->known[i].x, h->known[k].x)) {
				count++;
				break;
			}
	return count;
}

static bool was_rerun(const struct dp_proposer *p, size_t at)
{
	const struct dp_history *h = p->history;

	for (size_t i = 0; i < h->n; i++)
		if (i != at && is_trial(&h->known[i]) &&
		    dp__same_point(p, h->known[i].x, h->known[at].x))
			return true;
	return false;
}

/* The training that a point of the front is of, by its position in the history. SIZE_MAX:
 * it did not come to its end, and would not this time. */
static size_t training_of(const struct dp_proposer *p, const struct dp__front_point *f)
{
	const struct dp_history *h = p->history;
	size_t i = f->known;

	while (i < h->n && !is_trial(&h->known[i]))
		i++;
	return i < h->n && h->known[i].trial == h->known[f->known].trial &&
			       h->known[i].status != DP_KNOWN_FAILED
		       ? i
		       : SIZE_MAX;
}

/* What another study found may lie outside of this one's ranges. */
static bool is_in_space(const struct dp__inputs *s, const double *x)
{
	for (size_t k = 0; k < s->d; k++) {
		double v = x[s->in[k].param];

		if (!(v >= s->in[k].lo && v <= s->in[k].hi))
			return false;
	}
	return true;
}

/* By how much the models disbelieve result i, in standard deviations of the outputs. */
static double disbelief(const struct dp_proposer *p, size_t i)
{
	double sum = 0;

	for (size_t o = 0; o < p->study->nobjectives; o++) {
		const struct dp__output *out = &p->output[o];

		if (!out->exact)
			sum += fabs(dp_gp_deviation(&out->gp, i));
	}
	return sum;
}

bool dp__rerun(const struct dp_proposer *p, double *x)
{
	const struct dp_history *h = p->history;
	double most = -1;

	/* a finite space is to be gone through, each point once */
	if (isfinite(p->inputs.points) || !noise_in_doubt(p) ||
	    count_reruns(p) >= dp__trainings(p) / RESULTS_PER_RERUN)
		return false;
	for (size_t i = 0; i < p->nfront; i++) {
		const struct dp__front_point *f = &p->front[i];
		size_t training = training_of(p, f);
		const double *at = h->known[training == SIZE_MAX ? 0 : training].x;

		if (f->pending || f->result == SIZE_MAX || training == SIZE_MAX ||
		    was_rerun(p, training) || !is_in_space(&p->inputs, at) ||
		    !dp__budget_fits(p, at) || !(disbelief(p, f->result) > most))
			continue;
		most = disbelief(p, f->result);
		memcpy(x, at, p->study->nparams * sizeof *x);
	}
	return most >= 0;
}
