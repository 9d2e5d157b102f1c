/* standing.c - what follows from what is known: means, constraints, the front. */
#include "journal/state_internal.h"

#include "front/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int dp_study_metric(const struct dp_study_state *s, const char *name)
{
	for (uint32_t i = 0; i < s->nmetrics; i++)
		if (strcmp(s->metrics[i], name) == 0)
			return (int)i;
	return -1;
}

double dp__runs_mean(const double *first, size_t stride, int runs)
{
	double sum = 0, scaled = 0;

	for (int i = 0; i < runs; i++) {
		double v = first[(size_t)i * stride];

		sum += v;
		scaled += v / runs; /* cannot overflow where the values do not */
	}
	if (isfinite(sum))
		return sum / runs;
	return isfinite(scaled) ? scaled : NAN;
}

double dp__runs_mean_variance(const double *first, size_t stride, int runs)
{
	double mean = dp__runs_mean(first, stride, runs), sum = 0;
	bool differ = false;

	if (isnan(mean) || runs < 2)
		return NAN;
	for (int i = 0; i < runs; i++) {
		double v = first[(size_t)i * stride];

		sum += (v - mean) * (v - mean);
		differ |= v != *first;
	}
	/* the mean of three times 0.1 is not 0.1: that is no spread */
	return differ ? sum / (runs - 1) / runs : 0;
}

static bool metric_known(const struct dp_trial *t, int metric)
{
	return metric >= 0 && t->metrics && (uint32_t)metric < t->nmetrics;
}

double dp_trial_mean(const struct dp_study_state *s, const struct dp_trial *t, int metric)
{
	return metric_known(t, metric) ? dp__runs_mean(t->metrics + metric, t->nmetrics,
						       s->spec->trainer.runs)
				       : NAN;
}

double dp_trial_mean_variance(const struct dp_study_state *s, const struct dp_trial *t,
			      int metric)
{
	return metric_known(t, metric)
		       ? dp__runs_mean_variance(t->metrics + metric, t->nmetrics,
						s->spec->trainer.runs)
		       : NAN;
}

bool dp_trial_feasible(const struct dp_study_state *s, const struct dp_trial *t)
{
	for (size_t i = 0; i < s->spec->nconstraints; i++) {
		const struct dp_constraint *c = &s->spec->constraints[i];
		double mean = dp_trial_mean(s, t, dp_study_metric(s, c->metric));

		/* a metric that was not reported (NaN) does not meet its constraint */
		if (!(c->at_least ? mean >= c->bound : mean <= c->bound))
			return false;
	}
	return true;
}

bool dp_trial_run_known(const struct dp_trial *t, uint32_t run)
{
	for (uint32_t i = 0; i < t->nattempts; i++) {
		const struct dp_attempt *a = &t->attempts[i];

		if ((a->run == DP_RUN_ALL || a->run == (int32_t)run) &&
		    (a->end == DP_END_OK || a->end == DP_END_DIVERGED))
			return true;
	}
	return false;
}

/* Contract order: first objective, then trial number. */
static void order_front(struct dp_study_state *s)
{
	bool down = s->spec->objectives[0].maximize;

	for (uint32_t i = 1; i < s->nfront; i++) {
		uint32_t t = s->front[i], k = i;
		double v = s->trials[t]->objectives[0];

		while (k > 0) {
			double u = s->trials[s->front[k - 1]]->objectives[0];

			if (down ? u > v : u < v)
				break;
			if (u == v && s->front[k - 1] < t)
				break;
			s->front[k] = s->front[k - 1];
			k--;
		}
		s->front[k] = t;
	}
}

int dp_study_front(struct dp_study_state *s, struct dp_err *err)
{
	size_t p = s->spec->nobjectives, n = 0, count = 0, *picked = NULL;
	double *y = NULL, ref[DP_OBJECTIVES_MAX];
	uint32_t *who = NULL, *front = NULL;
	int code = DP_E_NOMEM;

	if (s->front_valid)
		return DP_OK;
	y = malloc((s->ok * p + 1) * sizeof *y);
	who = malloc((s->ok + 1) * sizeof *who);
	picked = malloc((s->ok + 1) * sizeof *picked);
	front = malloc((s->ok + 1) * sizeof *front);
	if (!y || !who || !picked || !front)
		goto out;
	for (size_t k = 0; k < p; k++)
		ref[k] = s->spec->objectives[k].maximize
				 ? -s->spec->objectives[k].anti_ideal
				 : s->spec->objectives[k].anti_ideal;
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];

		if (t->status != DP_TRIAL_OK || !t->objectives ||
		    !dp_trial_feasible(s, t))
			continue;
		for (size_t k = 0; k < p; k++)
			y[n * p + k] = s->spec->objectives[k].maximize ? -t->objectives[k]
								       : t->objectives[k];
		who[n++] = i;
	}
	code = dp_front(y, n, p, picked, &count);
	if (code == DP_OK)
		code = dp_hypervolume(y, n, p, ref, &s->hypervolume);
	if (code != DP_OK)
		goto out;
	for (size_t i = 0; i < count; i++)
		front[i] = who[picked[i]];
	free(s->front);
	s->front = front;
	s->nfront = (uint32_t)count;
	front = NULL;
	order_front(s);
	s->front_valid = true;
out:
	free(y);
	free(who);
	free(picked);
	free(front);
	return code == DP_OK ? DP_OK : dp_fail(err, code, "no memory for the front");
}
