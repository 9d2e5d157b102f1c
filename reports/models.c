/* models.c - what a report makes of its models, once: how far they are to be trusted, and
 * which parameters matter. */
#include "reports/report.h"

#include "propose/recommend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	LEAST_RESULTS = 5 /* that say something of a model */
};
/* A right model has 95 % of the results in its intervals; and one that explains less than
 * half of what varies has no shape worth a picture. */
static const double least_coverage = 0.8, least_explained = 0.5;

/* ---- trust ---- */

static void measure_fit(const struct dp_left_out *all, size_t n, struct model_fit *fit)
{
	double mean = 0, varied = 0, missed = 0, squares = 0, within = 0;

	fit->least = INFINITY;
	fit->most = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		mean += all[i].z / (double)n;
		fit->least = fmin(fit->least, all[i].observed);
		fit->most = fmax(fit->most, all[i].observed);
	}
	for (size_t i = 0; i < n; i++) {
		double miss = all[i].z - all[i].predicted.mean;

		varied += (all[i].z - mean) * (all[i].z - mean);
		missed += miss * miss;
		squares += pow(all[i].observed - all[i].predicted.value, 2);
		within += fabs(miss) <= 1.959964 * all[i].predicted.sd;
	}
	fit->results = n;
	fit->coverage = n ? within / (double)n : 0;
	fit->error = n ? sqrt(squares / (double)n) : 0;
	/* what does not vary is explained by its mean */
	fit->explained = varied > 0 ? 1 - missed / varied : 1;
}

static void judge_fit(const char *name, struct model_fit *fit)
{
	double within = rint(fit->coverage * (double)fit->results);

	fit->trusted = false;
	if (fit->results < LEAST_RESULTS)
		snprintf(fit->why, sizeof fit->why,
			 "the model of %s has only %zu result%s to go by", name, fit->results,
			 fit->results == 1 ? "" : "s");
	else if (fit->coverage < least_coverage)
		snprintf(fit->why, sizeof fit->why,
			 "the model of %s is not to be trusted: each left out once, only "
			 "%.0f of %zu results are within its 95 %% intervals",
			 name, within, fit->results);
	else if (fit->explained < least_explained)
		snprintf(fit->why, sizeof fit->why,
			 "the model of %s is not to be trusted: of results that it does "
			 "not know it explains %.0f %% of what varies",
			 name, 100 * fmax(fit->explained, 0));
	else
		fit->trusted = true;
}

static int find_fit(const struct subject *s, size_t objective, struct model_fit *fit,
		    struct dp_err *err)
{
	struct dp_left_out *all = calloc(s->history.n + 1, sizeof *all);
	size_t n;
	int code = all ? dp_surrogate_left_out(s->models, objective, all, &n, err)
		       : dp_fail(err, DP_E_NOMEM, "no memory for a report");

	*fit = (struct model_fit){ .modelled = code == DP_OK };
	if (code == DP_OK) {
		measure_fit(all, n, fit);
		judge_fit(s->s->spec->objectives[objective].name, fit);
	}
	free(all);
	return code == DP_E_FAILED ? DP_OK : code; /* it has no model */
}

bool subject_trusts(const struct subject *s, size_t objective)
{
	return s->models && (!s->fit[objective].modelled || s->fit[objective].trusted);
}

const struct model_fit *subject_distrust(const struct subject *s)
{
	if (!s->models)
		return NULL;
	if (!subject_trusts(s, s->x))
		return &s->fit[s->x];
	return subject_trusts(s, s->y) ? NULL : &s->fit[s->y];
}

/* ---- what matters ---- */

static int find_importance(struct subject *s, struct dp_err *err)
{
	struct dp_proposer *p = s->models ? s->models : dp_proposer_new(s->s->spec);
	int code = p ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a report");

	for (size_t k = 0; k < s->s->spec->nobjectives && code == DP_OK; k++) {
		code = dp_surrogate_importance(p, k, &s->importance[k], err);
		if (s->importance[k].source == DP_IMPORTANCE_MODELLED && !subject_trusts(s, k))
			s->importance[k].source = DP_IMPORTANCE_UNKNOWN;
	}
	if (!s->models)
		dp_proposer_free(p);
	return code;
}

static double total_of(const struct subject *s, size_t param)
{
	double sum = 0;

	for (size_t k = 0; k < s->s->spec->nobjectives; k++)
		if (s->importance[k].source != DP_IMPORTANCE_UNKNOWN)
			sum += s->importance[k].total[param];
	return sum;
}

/* Equal ones keep the order of the file. */
static void rank_parameters(struct subject *s)
{
	s->nrank = 0;
	for (size_t i = 0; i < s->s->spec->nparams; i++) {
		enum dp_param_kind kind = s->s->spec->params[i].kind;
		size_t to = s->nrank;

		if (kind == DP_PARAM_FIXED || kind == DP_PARAM_CALIBRATED)
			continue;
		for (; to > 0 && total_of(s, s->rank[to - 1]) < total_of(s, i); to--)
			s->rank[to] = s->rank[to - 1];
		s->rank[to] = i;
		s->nrank++;
	}
}

int subject_judge(struct subject *s, struct dp_err *err)
{
	int code = DP_OK;

	for (size_t k = 0; s->models && k < s->s->spec->nobjectives && code == DP_OK; k++)
		code = find_fit(s, k, &s->fit[k], err);
	if (code == DP_OK)
		code = find_importance(s, err);
	if (code == DP_OK)
		rank_parameters(s);
	return code;
}
