/* study_groups.c - build the groups of a report from its studies. */
#include "reports/model/study_groups.h"
#include "study/accounting.h"

#include <stdlib.h>
#include <string.h>

struct group_results {
	const struct study_data *study;
	double *y;
	uint32_t *trial;
	struct dp_compare_study rated;
};

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

static void group_results_add(struct group_results *r, uint32_t trial, const double *y)
{
	const struct dp_study *spec = r->study->state->spec;

	for (size_t k = 0; k < spec->nobjectives; k++)
		r->y[r->rated.n * spec->nobjectives + k] =
			(spec->objectives[k].maximize ? -1 : 1) * y[k];
	r->trial[r->rated.n++] = trial;
}

static void group_results_collect(struct group_results *r, const struct study_data *s,
				  enum comparison_basis by)
{
	const struct dp_study_state *state = s->state;
	size_t room = by == BASIS_OBSERVED   ? s->npoints
		      : by == BASIS_SMOOTHED ? s->smoothed.n
					     : study_data_front_size(s);
	struct dp_reeval_stats again;

	*r = (struct group_results){
		.study = s,
		.y = dp_malloc(room * state->spec->nobjectives * sizeof *r->y + 1),
		.trial = dp_malloc(room * sizeof *r->trial + 1),
		.rated = { .name = state->spec->name, .ntrials = state->ntrials },
	};
	r->rated.y = r->y;
	r->rated.trial_numbers = r->trial;
	while (r->rated.nended < state->ntrials &&
	       state->trials[r->rated.nended]->status >= DP_TRIAL_OK)
		r->rated.nended++;
	for (size_t i = 0; i < room; i++) {
		struct dp_result_id p =
			by == BASIS_OBSERVED ? s->points[i]
			: by == BASIS_SMOOTHED
				? study_data_model_result(s, s->smoothed.result_index[i])
				: study_data_front_point(s, i);

		if (by == BASIS_SMOOTHED)
			group_results_add(r, p.trial, s->smoothed.y + i * state->spec->nobjectives);
		else if (by == BASIS_REEVALUATED &&
			 dp_result_compute_reeval_stats(state, p, &again))
			group_results_add(r, p.trial, again.objectives);
		else if (by == BASIS_OBSERVED && dp_result_is_feasible(state, p))
			group_results_add(r, p.trial, dp_result_get_objectives(state, p));
	}
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
		for (size_t k = 0; alike && k < first->nobjectives; k++) {
			const struct dp_objective *a = &first->objectives[k];
			const struct dp_objective *b = &other->objectives[k];
			double of_a = a->privacy ? dp_accounting_delta(a->privacy) : 0;
			double of_b = b->privacy ? dp_accounting_delta(b->privacy) : 0;

			/* as in dparetoctl compare: an unknown delta matches any */
			alike = strcmp(a->name, b->name) == 0 && a->maximize == b->maximize &&
				a->anti_ideal == b->anti_ideal && !(of_a < of_b || of_a > of_b);
		}
		if (alike)
			continue;
		dp_fail(err, DP_E_INVALID,
			"'%s' and '%s' cannot be compared: their objectives, deltas or "
			"anti-ideals differ",
			first->name, other->name);
		return dp_hint(err, "groups need studies of the same measure; a report of plain "
				    "studies, without --group, shows others beside each other");
	}
	return DP_OK;
}

static int groups_add_one(struct study_groups *g, const struct report_data *r,
			  const struct dp_group_spec *asked, struct dp_err *err)
{
	int code = DP_OK;

	for (int by = 0; by < BASIS_COUNT && code == DP_OK; by++)
		code = dp_comparison_add_group(&g->contests[by], asked->name, err);
	for (size_t i = 0; i < asked->n && code == DP_OK; i++) {
		const struct dp_group_entry *m = &asked->list[i];
		struct dp_study_state *found = NULL;
		size_t place = 0;

		code = dp_state_find_study(&r->state, m->study, &found, err);
		while (code == DP_OK && place + 1 < r->nstudies &&
		       r->studies[place].state->id != found->id)
			place++;
		for (int by = 0; by < BASIS_COUNT && code == DP_OK; by++) {
			g->has_basis[by] &= by == BASIS_OBSERVED || m->part_size == 0;
			code = dp_comparison_add_study(
				&g->contests[by], &g->results[by][place].rated,
				by == BASIS_OBSERVED ? m->part_size : 0, err);
		}
	}
	return code;
}

static bool same_trainer(const struct study_data *a, const struct study_data *b)
{
	char *const *x = a->state->spec->trainer.argv, *const *y = b->state->spec->trainer.argv;

	for (; *x && *y; x++, y++)
		if (strcmp(*x, *y) != 0)
			return false;
	return !*x && !*y;
}

/* The study of a member, which may be a part: "a", "a/256#1". */
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

/* The id of an earlier group if all members use the same trainer, else a new one. */
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

/* Sets up the comparison for one basis, without groups. A value that one study lacks is unknown for
 * all. */
static void begin_comparison(struct study_groups *g, const struct report_data *r,
			     enum comparison_basis by)
{
	const struct dp_study *spec = r->studies[0].state->spec;
	struct dp_comparison *c = &g->contests[by];

	g->results[by] = dp_calloc(r->nstudies + 1, sizeof *g->results[by]);
	g->has_basis[by] = true;
	for (size_t i = 0; i < r->nstudies; i++) {
		group_results_collect(&g->results[by][i], &r->studies[i], by);
		if (by == BASIS_SMOOTHED)
			g->has_basis[by] &= r->studies[i].smoothed.is_modelled;
		else if (by == BASIS_REEVALUATED)
			g->has_basis[by] &= g->results[by][i].rated.n > 0;
	}
	for (size_t k = 0; k < spec->nobjectives; k++) {
		c->objectives[k] = dp_strdup(spec->objectives[k].name);
		c->sign[k] = spec->objectives[k].maximize ? -1 : 1;
		c->reference_point[k] = spec->objectives[k].anti_ideal;
		c->nobjectives++;
	}
	c->is_realised =
		by == BASIS_REEVALUATED && spec->nobjectives == 2 && spec->objectives[0].privacy;
}

/* Links the members of a group to their studies and finds what they share. */
static void describe_group(struct study_groups *g, size_t i)
{
	const struct dp_compare_group *rivals = &g->contests[BASIS_OBSERVED].groups[i];
	struct study_group *group = &g->list[i];

	group->studies = dp_calloc(rivals->n + 1, sizeof *group->studies);
	for (size_t k = 0; k < rivals->n; k++)
		group->studies[k] = find_rival_study(g, &rivals->members[k]);
	group->method = (int)group->studies[0]->state->spec->search.method;
	for (size_t k = 0; k < rivals->n; k++)
		if ((int)group->studies[k]->state->spec->search.method != group->method)
			group->method = -1;
	group->trainer_id = group_trainer_id(g, i);
}

int study_groups_build(struct report_data *r, struct dp_err *err)
{
	struct study_groups *g = r->groups = dp_calloc(1, sizeof *g);
	int code = check_comparable(r, err);

	if (code != DP_OK)
		return code;
	g->nstudies = r->nstudies;
	for (int by = 0; by < BASIS_COUNT; by++)
		begin_comparison(g, r, (enum comparison_basis)by);
	for (size_t i = 0; i < r->ngroup_specs && code == DP_OK; i++)
		code = groups_add_one(g, r, &r->group_specs[i], err);
	if (code != DP_OK)
		return code;
	g->list = dp_calloc(g->contests[0].n + 1, sizeof *g->list);
	for (size_t i = 0; i < g->contests[0].n; i++)
		describe_group(g, i);
	return DP_OK;
}
