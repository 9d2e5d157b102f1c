/* groups.c - the groups of a report, from its studies. */
#include "reports/model/study_groups.h"

#include <stdlib.h>
#include <string.h>

struct group_results {
	const struct study_data *study;
	double *y;
	uint32_t *trial;
	struct dp_compare_study rated;
};

static int groups_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory for the groups of a report");
}

const char *comparison_basis_name(enum comparison_basis by)
{
	static const char *const names[] = { [BASIS_OBSERVED] = "observed",
					     [BASIS_SMOOTHED] = "denoised",
					     [BASIS_REEVALUATED] = "remeasured" };

	return names[by];
}

void study_groups_free(struct study_groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->list && i < g->contests[0].n; i++)
		free(g->list[i].studies);
	for (int by = 0; by < BASIS_COUNT; by++) {
		for (size_t i = 0; g->results[by] && i < g->nstudies; i++) {
			free(g->results[by][i].y);
			free(g->results[by][i].trial);
		}
		free(g->results[by]);
		dp_comparison_free(&g->contests[by]);
	}
	free(g->list);
	free(g);
}

/* ---- results ---- */

size_t study_groups_count_ended(const struct study_groups *g, size_t group, size_t member)
{
	const struct dp_compare_member *r =
		&g->contests[BASIS_OBSERVED].groups[group].members[member];
	const struct dp_study_state *s = g->list[group].studies[member]->state;
	size_t n = 0;

	for (uint32_t i = r->first_trial; i < r->end_trial && i < s->ntrials; i++)
		n += s->trials[i]->status >= DP_TRIAL_OK;
	return n;
}

const struct dp_compare_study *study_groups_find_results(const struct study_groups *g,
							 const struct dp_study_state *s)
{
	for (size_t i = 0; i < g->nstudies; i++)
		if (g->results[BASIS_OBSERVED][i].study->state->id == s->id)
			return &g->results[BASIS_OBSERVED][i].rated;
	return NULL;
}

static bool group_results_alloc(struct group_results *r, const struct study_data *s, size_t room)
{
	*r = (struct group_results){
		.study = s,
		.y = dp_malloc(room * s->state->spec->nobjectives * sizeof *r->y + 1),
		.trial = dp_malloc(room * sizeof *r->trial + 1),
		.rated = { .name = s->state->spec->name, .ntrials = s->state->ntrials },
	};
	r->rated.y = r->y;
	r->rated.trial_numbers = r->trial;
	while (r->rated.nended < s->state->ntrials &&
	       s->state->trials[r->rated.nended]->status >= DP_TRIAL_OK)
		r->rated.nended++;
	return r->y && r->trial;
}

static void group_results_add(struct group_results *r, uint32_t trial, const double *y)
{
	const struct dp_study *spec = r->study->state->spec;

	for (size_t k = 0; k < spec->nobjectives; k++)
		r->y[r->rated.n * spec->nobjectives + k] =
			(spec->objectives[k].maximize ? -1 : 1) * y[k];
	r->trial[r->rated.n++] = trial;
}

static bool group_results_observed(struct group_results *r, const struct study_data *s)
{
	if (!group_results_alloc(r, s, s->npoints))
		return false;
	for (size_t i = 0; i < s->npoints; i++)
		if (dp_result_is_feasible(s->state, s->points[i]))
			group_results_add(r, s->points[i].trial,
					  dp_result_get_objectives(s->state, s->points[i]));
	return true;
}

static bool group_results_smoothed(struct group_results *r, const struct study_data *s)
{
	if (!group_results_alloc(r, s, s->smoothed.n))
		return false;
	for (size_t i = 0; i < s->smoothed.n; i++)
		group_results_add(r, study_data_model_result(s, s->smoothed.result_index[i]).trial,
				  s->smoothed.y + i * s->state->spec->nobjectives);
	return true;
}

static bool group_results_reevaluated(struct group_results *r, const struct study_data *s)
{
	if (!group_results_alloc(r, s, study_data_front_size(s)))
		return false;
	for (size_t i = 0; i < study_data_front_size(s); i++) {
		struct dp_result_id p = study_data_front_point(s, i);
		struct dp_reeval_stats again;

		if (dp_result_compute_reeval_stats(s->state, p, &again))
			group_results_add(r, p.trial, again.objectives);
	}
	return true;
}

/* Of every study of the report, each way; what one has not is unknown of all. */
static int collect_group_results(struct study_groups *g, const struct report_data *r,
				 struct dp_err *err)
{
	static bool (*const rate[])(struct group_results *, const struct study_data *) = {
		[BASIS_OBSERVED] = group_results_observed,
		[BASIS_SMOOTHED] = group_results_smoothed,
		[BASIS_REEVALUATED] = group_results_reevaluated,
	};

	g->nstudies = r->nstudies;
	for (int by = 0; by < BASIS_COUNT; by++) {
		g->results[by] = dp_calloc(r->nstudies + 1, sizeof *g->results[by]);
		g->has_basis[by] = true;
		for (size_t i = 0; i < r->nstudies; i++) {
			const struct study_data *s = &r->studies[i];

			if (!g->results[by] || !rate[by](&g->results[by][i], s))
				return groups_nomem(err);
			g->has_basis[by] &=
				by == BASIS_OBSERVED ||
				(by == BASIS_SMOOTHED && s->smoothed.is_modelled) ||
				(by == BASIS_REEVALUATED && g->results[by][i].rated.n > 0);
		}
	}
	return DP_OK;
}

/* ---- may they be compared? ---- */

static bool is_comparable_objective(const struct dp_objective *a, const struct dp_objective *b)
{
	double of_a = a->privacy ? dp_accounting_delta(a->privacy) : 0;
	double of_b = b->privacy ? dp_accounting_delta(b->privacy) : 0;

	/* as dparetoctl compare decides: a delta that is not known stands for any */
	return strcmp(a->name, b->name) == 0 && a->maximize == b->maximize &&
	       a->anti_ideal == b->anti_ideal && !(of_a < of_b || of_a > of_b);
}

static int check_comparable(const struct report_data *r, struct dp_err *err)
{
	const struct dp_study *first = r->studies[0].state->spec;

	for (size_t i = 0; i < r->nstudies; i++) {
		const struct dp_study *other = r->studies[i].state->spec;
		bool alike = other->nobjectives == first->nobjectives;

		if (r->studies[i].view.hides_search)
			return dp_fail(err, DP_E_INVALID,
				       "study '%s' is a private selection, of which "
				       "nothing but the result may be compared",
				       other->name);
		for (size_t k = 0; alike && k < first->nobjectives; k++)
			alike = is_comparable_objective(&first->objectives[k],
							&other->objectives[k]);
		if (alike)
			continue;
		dp_fail(err, DP_E_INVALID,
			"'%s' and '%s' cannot be compared: their objectives, deltas or "
			"anti-ideals differ",
			first->name, other->name);
		return dp_hint(err, "groups need studies of the same measure; a report "
				    "of plain studies, without --group, shows others "
				    "beside each other");
	}
	return DP_OK;
}

/* ---- groups ---- */

static int copy_contest_objectives(struct dp_comparison *c, const struct dp_study *spec,
				   struct dp_err *err)
{
	for (size_t k = 0; k < spec->nobjectives; k++) {
		c->objectives[k] = dp_strdup(spec->objectives[k].name);
		if (!c->objectives[k])
			return groups_nomem(err);
		c->sign[k] = spec->objectives[k].maximize ? -1 : 1;
		c->reference_point[k] = spec->objectives[k].anti_ideal;
		c->nobjectives++;
	}
	return DP_OK;
}

/* The place among the subjects of the study that is named so. */
static int find_member(const struct report_data *r, const char *named, size_t *place,
		       struct dp_err *err)
{
	struct dp_study_state *found = NULL;
	int code = dp_state_find_study(&r->state, named, &found, err);

	if (code != DP_OK)
		return code;
	for (*place = 0; *place + 1 < r->nstudies; ++*place)
		if (r->studies[*place].state->id == found->id)
			break;
	return DP_OK;
}

/* A member for the newest group of each contest. */
static int add_member(struct study_groups *g, const struct report_data *r,
		      const struct dp_group_entry *m, struct dp_err *err)
{
	size_t place;
	int code = find_member(r, m->study, &place, err);

	for (int by = 0; by < BASIS_COUNT && code == DP_OK; by++) {
		g->has_basis[by] &= by == BASIS_OBSERVED || m->part_size == 0;
		code = dp_comparison_add_study(&g->contests[by], &g->results[by][place].rated,
					       by == BASIS_OBSERVED ? m->part_size : 0, err);
	}
	return code;
}

static int groups_add_one(struct study_groups *g, const struct report_data *r,
			  const struct dp_group_spec *asked, struct dp_err *err)
{
	int code = DP_OK;

	for (int by = 0; by < BASIS_COUNT && code == DP_OK; by++)
		code = dp_comparison_add_group(&g->contests[by], asked->name, err);
	for (size_t i = 0; i < asked->n && code == DP_OK; i++)
		code = add_member(g, r, &asked->list[i], err);
	return code;
}

/* ---- looks ---- */

/* Do two studies train the same model? */
static bool same_trainer(const struct study_data *a, const struct study_data *b)
{
	char *const *x = a->state->spec->trainer.argv, *const *y = b->state->spec->trainer.argv;

	for (; *x && *y; x++, y++)
		if (strcmp(*x, *y) != 0)
			return false;
	return !*x && !*y;
}

/* The study that a rival is, or is a part of: "a", "a/256#1". */
static const struct study_data *find_rival_study(const struct study_groups *g,
						 const struct dp_compare_member *r)
{
	size_t len = strcspn(r->name, "/");

	for (size_t i = 0; i < g->nstudies; i++) {
		const struct dp_compare_study *of = &g->results[BASIS_OBSERVED][i].rated;

		if (strlen(of->name) == len && strncmp(of->name, r->name, len) == 0)
			return g->results[BASIS_OBSERVED][i].study;
	}
	return NULL;
}

static int link_group_studies(struct study_groups *g, size_t i, struct dp_err *err)
{
	const struct dp_compare_group *rivals = &g->contests[BASIS_OBSERVED].groups[i];
	struct study_group *group = &g->list[i];

	group->studies = dp_calloc(rivals->n + 1, sizeof *group->studies);
	if (!group->studies)
		return groups_nomem(err);
	for (size_t k = 0; k < rivals->n; k++)
		group->studies[k] = find_rival_study(g, &rivals->members[k]);
	return DP_OK;
}

/* One method of all members, or -1. */
static int group_common_method(const struct study_groups *g, size_t i)
{
	const struct study_group *group = &g->list[i];

	for (size_t k = 0; k < g->contests[0].groups[i].n; k++)
		if (group->studies[k]->state->spec->search.method !=
		    group->studies[0]->state->spec->search.method)
			return -1;
	return (int)group->studies[0]->state->spec->search.method;
}

/* The same trainer in all members, as in those of an earlier group? Else a new model. */
static size_t group_trainer_id(struct study_groups *g, size_t i)
{
	const struct study_group *group = &g->list[i];
	bool one = true;

	for (size_t k = 0; k < g->contests[0].groups[i].n; k++)
		one &= same_trainer(group->studies[0], group->studies[k]);
	for (size_t k = 0; one && k < i; k++)
		if (same_trainer(group->studies[0], g->list[k].studies[0]))
			return g->list[k].trainer_id;
	return g->ntrainers++;
}

int study_groups_build(struct report_data *r, struct dp_err *err)
{
	struct study_groups *g = r->groups = dp_calloc(1, sizeof *g);
	int code = g ? check_comparable(r, err) : groups_nomem(err);

	if (code == DP_OK)
		code = collect_group_results(g, r, err);
	for (int by = 0; by < BASIS_COUNT && code == DP_OK; by++) {
		code = copy_contest_objectives(&g->contests[by], r->studies[0].state->spec, err);
		g->contests[by].is_realised = by == BASIS_REEVALUATED &&
					      g->contests[by].nobjectives == 2 &&
					      r->studies[0].state->spec->objectives[0].privacy;
	}
	for (size_t i = 0; i < r->ngroup_specs && code == DP_OK; i++)
		code = groups_add_one(g, r, &r->group_specs[i], err);
	if (code != DP_OK)
		return code;
	g->list = dp_calloc(g->contests[0].n + 1, sizeof *g->list);
	if (!g->list)
		return groups_nomem(err);
	for (size_t i = 0; i < g->contests[0].n && code == DP_OK; i++) {
		code = link_group_studies(g, i, err);
		if (code == DP_OK) {
			g->list[i].method = group_common_method(g, i);
			g->list[i].trainer_id = group_trainer_id(g, i);
		}
	}
	return code;
}

/* ---- from the journal ---- */

/* Plain studies before the groups that were asked for. */
static int prepend_plain_studies(struct report_data *r, const char *const *studies, size_t n,
				 struct dp_err *err)
{
	struct dp_group_spec *all = dp_calloc(n + r->ngroup_specs + 1, sizeof *all);
	size_t have = 0;
	int code = all ? DP_OK : groups_nomem(err);

	if (code != DP_OK)
		return code;
	while (have < n && code == DP_OK) {
		code = dp_group_spec_parse(studies[have], &all[have], err);
		have++;
	}
	memcpy(all + have, r->group_specs, r->ngroup_specs * sizeof *all);
	free(r->group_specs);
	r->group_specs = all;
	r->ngroup_specs += have;
	return code;
}

int report_data_load_groups(struct report_data *r, const char *journal, const char *const *studies,
			    size_t n, struct dp_err *err)
{
	const char **names;
	size_t members = 0, have = 0;
	int code = prepend_plain_studies(r, studies, n, err);

	for (size_t i = 0; i < r->ngroup_specs; i++)
		members += r->group_specs[i].n;
	names = dp_calloc(members + 1, sizeof *names);
	if (code == DP_OK && !names)
		code = groups_nomem(err);
	for (size_t i = 0; i < r->ngroup_specs && code == DP_OK; i++)
		for (size_t k = 0; k < r->group_specs[i].n; k++)
			names[have++] = r->group_specs[i].list[k].study;
	if (code == DP_OK)
		code = report_data_load(r, journal, names, have, err);
	free(names);
	return code == DP_OK ? study_groups_build(r, err) : code;
}
