/* release.c - objectives.NAME.release: noise on what a trainer reports, so that the
 * records that it was measured on are covered, too. The key and what it asks of the other
 * keys. */
#include "study/study_internal.h"

#include <string.h>

void dp__read_release(struct dp__read *r, const struct dp__key *k,
		      const struct dp__node *v, void *to)
{
	struct dp_release *release = to;
	const struct dp__node *records;

	if (!dp__is_map(r, v, k->name, k->doc->type, SIZE_MAX))
		return;
	dp__read_section(r, DP__RELEASE, v->key_pos, v, release);
	records = dp__get(v, "records");
	if (records && release->records > 0 && release->records < 1)
		dp__problem(r, records->pos, "a number of at least 1",
			    "a metric is no share of %s records", records->text);
}

static bool objective_releases(const struct dp_objective *o)
{
	return o->release.records > 0 && o->release.sigma > 0;
}

bool dp_study_releases(const struct dp_study *s)
{
	for (size_t i = 0; i < s->nobjectives; i++)
		if (objective_releases(&s->objectives[i]))
			return true;
	return false;
}

bool dp_study_needs_secret(const struct dp_study *s)
{
	return dp_study_releases(s);
}

/* ---- what must hold between it and other keys ---- */

/* The first objective of this metric, as a position; nobjectives: none. */
static size_t release_of(const struct dp_study *s, const char *metric)
{
	size_t i = 0;

	while (i < s->nobjectives &&
	       !(s->objectives[i].metric && strcmp(s->objectives[i].metric, metric) == 0))
		i++;
	return i;
}

/* A metric that is seen as it is would undo the noise on the others, which are measured
 * on the same records. */
static void check_released(struct dp__read *r, size_t i)
{
	const struct dp_study *s = r->s;
	const struct dp_objective *o = &s->objectives[i];
	size_t first = release_of(s, o->metric);

	if (first != i)
		dp__problem(r, r->objective[i]->key_pos, NULL,
			    "objectives '%s' and '%s' have the same metric, but with "
			    "'release' a metric is released once",
			    s->objectives[first].name, o->name);
	else if (!dp__get(r->objective[i], "release"))
		dp__problem(r, r->objective[i]->key_pos,
			    "release: {records: NUMBER, sigma: NUMBER}",
			    "objective '%s' needs 'release', since another has it: its "
			    "exact values would tell of the same records",
			    o->name);
}

static void check_constraints(struct dp__read *r)
{
	const struct dp_study *s = r->s;

	for (size_t i = 0; i < s->nconstraints; i++)
		if (s->constraints[i].metric &&
		    release_of(s, s->constraints[i].metric) == s->nobjectives)
			dp__problem(r, r->constraints->key_pos,
				    "a metric that an objective releases",
				    "the constraint on '%s' would look at its exact "
				    "values, but with 'release' only released ones are "
				    "seen",
				    s->constraints[i].metric);
}

static void check_beside(struct dp__read *r, size_t pos)
{
	const struct dp_study *s = r->s;
	const struct dp__node *from = dp__get(r->search, "initial_from");

	if (s->trainer.run_per_process && s->trainer.runs > 1)
		dp__problem(r, pos, "runs_per_process: all",
			    "'release' needs all runs of an evaluation in one process: "
			    "of several the exact values would have to be kept until the "
			    "last has ended");
	if (from)
		dp__problem(r, from->key_pos, NULL,
			    "'initial_from' cannot stand beside 'release': what was "
			    "released there, or is exact, is not accounted for here");
}

void dp__check_release(struct dp__read *r)
{
	const struct dp_study *s = r->s;
	const struct dp__node *given = NULL;

	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp__node *here = dp__get(r->objective[i], "release");

		if (here && !s->objectives[i].metric)
			dp__problem(r, here->key_pos, NULL,
				    "'release' is for a metric: epsilon follows from the "
				    "parameters alone and needs no noise");
		else if (here)
			given = here;
	}
	if (!given)
		return;
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].metric)
			check_released(r, i);
	check_constraints(r);
	check_beside(r, given->key_pos);
}
