/* left_out.c - whether models can be trusted: what they say of results that they do not
 * know. */
#include "propose/recommend_internal.h"

#include "base/student.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NEIGHBOURS = 16, /* that are asked about a point */
	LEAST_KNOWN = 5  /* neighbours that can say something */
};
/* Of 16 results within 95 % intervals fewer than 13 are in 1 of 100 cases. */
static const double least_coverage = 0.8;
/* Beyond this share of what could be anything a model knows nothing of a point. */
static const double most_unknown = 0.5;

/* Result i in model space: what it is, and its prediction without it. */
struct loo {
	double z;
	struct dp__normal f;
};

static int leave_each_out(const struct dp_proposer *p, size_t o, struct loo *out)
{
	const struct dp__output *model = &p->output[o];
	size_t n = p->nseen;
	double *missed = dp_vec_new(n), *variance = dp_vec_new(n);
	int code = missed && variance ? DP_OK : DP_E_NOMEM;

	if (code == DP_OK)
		code = dp_gp_leave_one_out(&model->gp, missed, variance);
	for (size_t i = 0; i < n && code == DP_OK; i++) {
		out[i].z = model->shift + model->scale * model->y[i];
		out[i].f.m = out[i].z - model->scale * missed[i];
		out[i].f.s = model->scale * sqrt(variance[i]);
	}
	free(missed);
	free(variance);
	return code;
}

/* ---- of all results ---- */

int dp_surrogate_left_out(struct dp_proposer *p, size_t o, struct dp_left_out *out, size_t *count,
			  struct dp_err *err)
{
	const struct dp_history *h = p->history;
	struct loo *all;
	size_t seen = 0;
	int code;

	*count = 0;
	if (!h || o >= p->noutputs || !dp__is_modelled(&p->output[o]) ||
	    p->output[o].gp.n != p->nseen)
		return dp_fail(err, DP_E_FAILED, "there is no model of results alone");
	all = calloc(p->nseen + 1, sizeof *all);
	code = all ? leave_each_out(p, o, all) : DP_E_NOMEM;
	for (size_t i = 0; i < h->n && code == DP_OK; i++) {
		const struct dp_known *k = &h->known[i];
		struct dp_left_out *one = &out[*count];

		if (!dp__is_result(k) || !dp__is_seen(p, k))
			continue;
		one->known = i;
		one->z = all[seen].z;
		one->predicted = dp__natural_prediction(p->study, o, &all[seen++].f);
		one->observed =
			o < p->study->nobjectives ? k->y[o] : k->metric[o - p->study->nobjectives];
		*count += k->status == DP_KNOWN_OK;
	}
	free(all);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for predictions");
}

/* ---- around a point ---- */

/* The nearest ok results, by the length scales of the model: what does not matter to it
 * takes nothing away. At most NEIGHBOURS. */
static size_t find_neighbours(const struct dp_proposer *p, size_t o, const double *u,
			      struct dp__away *list)
{
	const double *length = p->output[o].hyper.length;
	size_t n = 0;

	for (size_t i = 0; i < p->nseen; i++) {
		double away = 0;

		if (p->seen[i].status != DP_KNOWN_OK)
			continue;
		for (size_t k = 0; k < p->spec.d; k++) {
			double apart = p->u[k * p->ldu + i] - u[k];

			if (p->spec.input[k].categorical)
				apart = apart != 0;
			away += apart * apart / (length[k] * length[k]);
		}
		list[n++] = (struct dp__away){ away, i };
	}
	qsort(list, n, sizeof *list, dp__compare_away);
	return n < NEIGHBOURS ? n : NEIGHBOURS;
}

/* The model's doubt of the point, as a share of what it would have without results. */
static double unknown_share(struct dp_proposer *p, size_t o, const double *u)
{
	const struct dp_gp *gp = &p->output[o].gp;
	double mean, var;

	dp_gp_predict(gp, u, 1, 1, &mean, &var, p->work);
	return var / gp->hyper.signal;
}

static void judge_trust(struct dp_trust *t, size_t within, double unknown)
{
	t->trusted = false;
	if (t->neighbours < LEAST_KNOWN)
		snprintf(t->why, sizeof t->why, "only %zu result%s known", t->neighbours,
			 t->neighbours == 1 ? " is" : "s are");
	else if (unknown > most_unknown)
		snprintf(t->why, sizeof t->why,
			 "nothing was tested near it: there the model knows little");
	else if (t->coverage < least_coverage)
		snprintf(t->why, sizeof t->why,
			 "of the %zu results nearest to it only %zu are where the model "
			 "would have expected them",
			 t->neighbours, within);
	else
		t->trusted = true;
}

int dp__trust_around(struct dp_proposer *p, const double *u, struct dp_trust *t)
{
	size_t o = t->output, within = 0;
	struct dp__away *near;
	struct loo *all;
	double sum = 0;
	int code;

	t->trusted = true;
	if (!dp__is_modelled(&p->output[o]))
		return DP_OK;
	near = calloc(p->nseen + 1, sizeof *near);
	all = calloc(p->nseen + 1, sizeof *all);
	code = near && all ? leave_each_out(p, o, all) : DP_E_NOMEM;
	if (code == DP_OK)
		code = dp__model_room(p, 1);
	if (code == DP_OK)
		t->neighbours = find_neighbours(p, o, u, near);
	for (size_t i = 0; i < t->neighbours && code == DP_OK; i++) {
		const struct loo *one = &all[near[i].result];
		struct dp__normal real = { one->z, 0 };
		double miss = dp__natural_prediction(p->study, o, &real).value -
			      dp__natural_prediction(p->study, o, &one->f).value;

		sum += miss * miss / (double)t->neighbours;
		within += fabs(one->z - one->f.m) <= DP_NORMAL95 * one->f.s;
	}
	if (code == DP_OK) {
		t->error = sqrt(sum);
		t->coverage = t->neighbours ? (double)within / (double)t->neighbours : 0;
		judge_trust(t, within, unknown_share(p, o, u));
	}
	free(near);
	free(all);
	return code;
}
