/* metric_release.c - objectives.NAME.release: noise that protects the evaluation records.
 *
 * Its key, the checks against other keys, and the released value. */
#include "study/parse/study_parse_internal.h"

#include "base/rng.h"
#include "base/sha256.h"
#include "study/metric_release.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RECORDS_MAX 1e12
#define SIGMA_MIN   1e-6
#define SIGMA_MAX   1e3
enum {
	GRID_BITS = 30 /* grid steps in one sigma: from 2^30 to 2^31 */
};

void dp__read_release(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		      void *to)
{
	struct dp_metric_release *release = to;
	const struct dp__node *records, *sigma;

	if (!dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX))
		return;
	dp__read_section(r, DP__RELEASE, v->key_pos, v, release);
	records = dp__map_get(v, "records");
	if (records && release->records > 0 &&
	    !(release->records >= 1 && release->records <= RECORDS_MAX))
		dp__report_error(r, records->pos, "a number from 1 to 1e12",
				 "a metric is no share of %s records", records->text);
	sigma = dp__map_get(v, "sigma");
	if (sigma && release->sigma > 0 &&
	    !(release->sigma >= SIGMA_MIN && release->sigma <= SIGMA_MAX))
		dp__report_error(r, sigma->pos, "a number from 1e-6 to 1000",
				 "noise of %s on a share within 0 and 1 is none, or leaves "
				 "nothing of it",
				 sigma->text);
}

bool dp_study_has_metric_release(const struct dp_study *s)
{
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].release.records > 0)
			return true;
	return false;
}

const struct dp_metric_release *dp_study_find_metric_release(const struct dp_study *s,
							     const char *metric)
{
	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp_objective *o = &s->objectives[i];

		if (o->release.records > 0 && strcmp(o->metric, metric) == 0)
			return &o->release;
	}
	return NULL;
}

int dp_study_reported_runs(const struct dp_study *s)
{
	return dp_study_has_metric_release(s) ? 1 : s->trainer.runs;
}

bool dp_study_needs_secret(const struct dp_study *s)
{
	return dp_study_has_metric_release(s) || s->search.method == DP_METHOD_SELECT;
}

/* ---- checks against other keys ---- */

/* The first objective of this metric, or nobjectives. */
static size_t find_metric_objective(const struct dp_study *s, const char *metric)
{
	size_t i = 0;

	while (i < s->nobjectives &&
	       !(s->objectives[i].metric && strcmp(s->objectives[i].metric, metric) == 0))
		i++;
	return i;
}

/* A metric without noise would reveal the noise of others measured on the same records. */
static void check_metric_released(struct dp__study_parser *r, size_t i)
{
	const struct dp_study *s = r->study;
	const struct dp_objective *o = &s->objectives[i];
	size_t first = find_metric_objective(s, o->metric);

	if (first != i)
		dp__report_error(r, r->objective_nodes[i]->key_pos, NULL,
				 "objectives '%s' and '%s' have the same metric, but with "
				 "'release' a metric is released once",
				 s->objectives[first].name, o->name);
	else if (!dp__map_get(r->objective_nodes[i], "release"))
		dp__report_error(r, r->objective_nodes[i]->key_pos,
				 "release: {records: NUMBER, sigma: NUMBER}",
				 "objective '%s' needs 'release', since another has it: its "
				 "exact values would tell of the same records",
				 o->name);
}

static void check_released_constraints(struct dp__study_parser *r)
{
	const struct dp_study *s = r->study;

	for (size_t i = 0; i < s->nconstraints; i++)
		if (s->constraints[i].metric &&
		    find_metric_objective(s, s->constraints[i].metric) == s->nobjectives)
			dp__report_error(r, r->constraints_node->key_pos,
					 "a metric that an objective releases",
					 "the constraint on '%s' would look at its exact "
					 "values, but with 'release' only released ones are "
					 "seen",
					 s->constraints[i].metric);
}

static void check_release_conflicts(struct dp__study_parser *r, size_t pos)
{
	const struct dp_study *s = r->study;
	const struct dp__node *from = dp__map_get(r->search_node, "initial_from");

	if (s->trainer.run_per_process && s->trainer.runs > 1)
		dp__report_error(r, pos, "runs_per_process: all",
				 "'release' needs all runs of an evaluation in one process: "
				 "of several the exact values would have to be kept until the "
				 "last has ended");
	if (s->search.reevaluate_runs)
		dp__report_error(r, dp__map_get(r->search_node, "remeasure")->key_pos, NULL,
				 "'remeasure' cannot stand beside 'release': each value would "
				 "be one more release");
	if (from)
		dp__report_error(r, from->key_pos, NULL,
				 "'initial_from' cannot stand beside 'release': what was "
				 "released there, or is exact, is not accounted for here");
}

void dp__check_release(struct dp__study_parser *r)
{
	const struct dp_study *s = r->study;
	const struct dp__node *given = NULL;

	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp__node *here = dp__map_get(r->objective_nodes[i], "release");

		if (here && !s->objectives[i].metric)
			dp__report_error(r, here->key_pos, NULL,
					 "'release' is for a metric: epsilon follows from the "
					 "parameters alone and needs no noise");
		else if (here)
			given = here;
	}
	if (!given)
		return;
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].metric)
			check_metric_released(r, i);
	check_released_constraints(r);
	check_release_conflicts(r, given->key_pos);
}

/* ---- the value ---- */

/* A power of 2. The low bits of a sum of two doubles show which of two neighbouring means it came
 * from, whatever the noise (Mironov, On significance of the least significant bits for differential
 * privacy, CCS 2012). So both are rounded to a grid first. Then the sum is exact: the rounded value
 * of a real-valued Gaussian mechanism around the rounded mean, which needs only that mean's
 * sensitivity. As the grid is a power of 2, "1 - METRIC" is exact, too. */
static double release_grid_step(const struct dp_metric_release *r)
{
	return ldexp(1, ilogb(r->sigma) - GRID_BITS);
}

/* Two neighbouring means may round away from each other by half a step each. The other step is far
 * more than the rounding error of the means themselves. */
double dp_metric_release_records(const struct dp_metric_release *r)
{
	return 1 / (1 / r->records + 2 * release_grid_step(r));
}

double dp_metric_release_variance(const struct dp_metric_release *r)
{
	return r->sigma * r->sigma;
}

/* The noise depends on this mean of this result. Trainers need not repeat bit for bit: if a rerun
 * gave another mean in place of a lost one, the same noise on both would reveal their difference.
 * Box-Muller normals are doubles and end at 8.5 sigma, where 2e-17 of the probability is left; the
 * analysis ignores their deviation from the normal distribution up to there. */
static double release_noise(const char *secret, const char *metric, uint32_t trial, double at,
			    double mean)
{
	char key[DP_SHA256_HEX_SIZE], where[40] = "end", text[80];
	struct dp_sha256 sha;
	struct dp_rng rng;

	if (!isnan(at))
		snprintf(where, sizeof where, "%a", at);
	snprintf(text, sizeof text, " %s %a ", where, mean);
	dp_sha256_init(&sha);
	dp_sha256_update(&sha, secret, strlen(secret));
	dp_sha256_update(&sha, text, strlen(text));
	dp_sha256_update(&sha, metric, strlen(metric));
	dp_sha256_hex(&sha, key);
	dp_rng_init_secret(&rng, key, DP_RNG_RELEASE, trial, 0);
	return dp_rng_normal(&rng);
}

double dp_metric_release_value(const struct dp_metric_release *r, const char *secret,
			       const char *metric, uint32_t trial, double at, double mean)
{
	double grid = release_grid_step(r);

	if (!(mean >= 0 && mean <= 1))
		return NAN;
	return grid * (rint(mean / grid) +
		       rint(r->sigma / grid * release_noise(secret, metric, trial, at, mean)));
}
