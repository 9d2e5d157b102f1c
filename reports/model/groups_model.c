/* groups_model.c - build the model of a group report. */
#include "reports/model/report_model.h"

#include "base/json.h"
#include "study/seeds.h"
#include "study/study_change.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_groups_free(struct report_groups *g)
{
	if (!g)
		return;
	for (int by = 0; by < BASIS_COUNT; by++)
		dp_compare_answer_free(&g->hypervolumes[by]);
	dp_compare_answers_free(&g->level_answers);
	json_decref(g->settings);
	free(g->pairs);
	free(g);
}

static void add_pair(struct report_groups *f, size_t a, size_t b)
{
	struct report_group_pair *p = &f->pairs[f->npairs++];

	*p = (struct report_group_pair){ .a = a, .b = b };
	for (int by = 0; by < BASIS_COUNT; by++)
		if (f->groups->has_basis[by])
			p->tests[by] = dp_t_test_means(&f->hypervolumes[by].samples[a],
						       &f->hypervolumes[by].samples[b]);
}

static void find_pairs(struct report_groups *f)
{
	size_t n = f->groups->contests[0].n;

	f->pairs = dp_calloc(n + 1, sizeof *f->pairs);
	for (size_t i = 1; i < n; i++) {
		size_t a = 0;

		while (f->groups->list[a].trainer_id != f->groups->list[i].trainer_id)
			a++;
		if (a != i)
			add_pair(f, a, i);
	}
	if (f->npairs == 0)
		for (size_t i = 1; i < n; i++)
			add_pair(f, 0, i);
}

/* Tests between groups that share a trainer. */
static json_t *pairs_json(const struct report_groups *f)
{
	const struct dp_comparison *c = &f->groups->contests[BASIS_OBSERVED];
	const struct dp_sample_stats *samples = f->hypervolumes[BASIS_OBSERVED].samples;
	json_t *list = json_array();

	for (size_t i = 0; i < f->npairs; i++) {
		const struct report_group_pair *p = &f->pairs[i];

		json_array_append_new(list, dp_test_json(c->groups[p->a].name, c->groups[p->b].name,
							 &samples[p->a], &samples[p->b]));
	}
	return list;
}

/* Hypervolumes of groups and their tests for smoothed or re-evaluated values; null if a member has
 * no such values. */
static json_t *group_hypervolumes_json(const struct report_groups *f, enum comparison_basis by)
{
	const struct dp_comparison *c = &f->groups->contests[by];

	return f->groups->has_basis[by]
		       ? json_pack("{s:o, s:o}", "groups",
				   dp_compare_groups_json(c, &f->hypervolumes[by]), "tests",
				   dp_compare_tests_json(c, &f->hypervolumes[by]))
		       : NULL;
}

static json_t *members_json(const struct report_groups *f)
{
	static const char *const keys[] = { [BASIS_OBSERVED] = "hypervolume",
					    [BASIS_SMOOTHED] = "hypervolume_denoised",
					    [BASIS_REEVALUATED] = "hypervolume_remeasured" };
	const struct dp_comparison *c = &f->groups->contests[BASIS_OBSERVED];
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->groups[i].n; k++) {
			const struct dp_compare_member *r = &c->groups[i].members[k];
			const struct dp_study_state *s = f->groups->list[i].studies[k]->state;
			json_t *o = json_object();

			put_text(o, "name", r->name);
			put_text(o, "group", c->groups[i].name);
			put_text(o, "study", s->spec->name);
			put_text(o, "state", dp_study_status_text(s->status));
			put_count(o, "evaluations",
				  (int64_t)study_groups_count_ended(f->groups, i, k));
			put_count(o, "asked",
				  strchr(r->name, '/') ? r->end_trial - r->first_trial
						       : s->evaluations);
			for (int by = 0; by < BASIS_COUNT; by++)
				put_number(
					o, keys[by],
					f->groups->has_basis[by]
						? f->hypervolumes[by].values[json_array_size(list)]
						: NAN);
			json_array_append_new(list, o);
		}
	return list;
}

static void add_warning(json_t *warnings, const char *fmt, ...) DP_PRINTF(2, 3);
static void add_warning(json_t *warnings, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_array_append_new(warnings, json_vsprintf(fmt, ap));
	va_end(ap);
}

/* Unfinished studies are compared by the results that they have now. */
static void warn_unfinished(json_t *warnings, json_t *members)
{
	const json_t *member, *first = NULL;
	int64_t least = INT64_MAX, most = 0;
	size_t i, n = 0;

	json_array_foreach (members, i, member) {
		int64_t evaluations = get_count(member, "evaluations");

		least = evaluations < least ? evaluations : least;
		most = evaluations > most ? evaluations : most;
		if (evaluations < get_count(member, "asked")) {
			first = first ? first : member;
			n++;
		}
	}
	if (n)
		add_warning(warnings,
			    "%zu of %zu members have not made all their evaluations, such as "
			    "%.100s (%s, %lld of %lld): what they have by now is compared.",
			    n, json_array_size(members), get_text(first, "name"),
			    get_text(first, "state"), (long long)get_count(first, "evaluations"),
			    (long long)get_count(first, "asked"));
	if (least < most)
		add_warning(warnings,
			    "Members have from %lld to %lld evaluations: more of them "
			    "are more chances for a large hypervolume.",
			    (long long)least, (long long)most);
}

/* Studies with the same seed share their random points. */
static bool have_same_seed(const struct dp_study *a, const struct dp_study *b)
{
	return a != b && a->seed == b->seed && dp_study_seed_mode(a) == DP_SEEDS_FIXED &&
	       dp_study_seed_mode(b) == DP_SEEDS_FIXED;
}

static void warn_seeds(json_t *warnings, const struct report_groups *f)
{
	const struct dp_compare_group *groups = f->groups->contests[0].groups;

	for (size_t p = 0; p < f->npairs; p++)
		for (size_t i = 0; i < groups[f->pairs[p].a].n; i++)
			for (size_t k = 0; k < groups[f->pairs[p].b].n; k++) {
				const struct study_group *list = f->groups->list;
				const struct dp_study *a =
					list[f->pairs[p].a].studies[i]->state->spec;
				const struct dp_study *b =
					list[f->pairs[p].b].studies[k]->state->spec;

				if (!have_same_seed(a, b))
					continue;
				add_warning(
					warnings,
					"%.100s and %.100s have the same seed and so may share "
					"random "
					"points; tests take groups for independent of each other.",
					a->name, b->name);
				return;
			}
}

static void warn_fixed_seeds(json_t *warnings, const struct report_data *r)
{
	for (size_t i = 0; i < r->nstudies; i++) {
		const struct dp_study_state *s = r->studies[i].state;
		const char *warning = dp_state_seeds_warning(s);

		if (!warning)
			continue;
		add_warning(warnings, "Study %.100s: %s", s->current_spec->name, warning);
		return;
	}
}

/* Warns of trials that parts leave out, and of parts that are not independent samples. */
static void warn_partial_studies(json_t *warnings, const struct report_data *r,
				 const struct dp_group_entry *member)
{
	struct dp_study_state *s;
	struct dp_err err;
	uint32_t left;

	if (member->part_size == 0 ||
	    dp_state_find_study(&r->state, member->study, &s, &err) != DP_OK)
		return;
	left = dp_compare_count_leftover_trials(study_groups_find_results(r->groups, s),
						member->part_size);
	if (left)
		add_warning(warnings,
			    "The last %u trials of %.100s are in no part of %u and are left out.",
			    left, s->spec->name, member->part_size);
	if (s->spec->search.method != DP_METHOD_RANDOM)
		add_warning(warnings,
			    "Parts of %.100s are not like seeds: only the trials of a "
			    "random search do not depend on what came before them.",
			    s->spec->name);
}

static json_t *group_warnings_json(const struct report_data *r, const struct report_groups *f,
				   json_t *members)
{
	const char *shared = NULL;
	json_t *warnings = json_array();
	const json_t *a, *b;
	size_t i, k;

	warn_fixed_seeds(warnings, r);
	warn_unfinished(warnings, members);
	for (i = 0; i < r->ngroup_specs; i++)
		for (k = 0; k < r->group_specs[i].n; k++)
			warn_partial_studies(warnings, r, &r->group_specs[i].list[k]);
	if (!r->is_public)
		warn_seeds(warnings, f);
	json_array_foreach (members, i, a)
		for (k = 0; !shared && k < i; k++) {
			b = json_array_get(members, k);
			if (strcmp(get_text(a, "group"), get_text(b, "group")) != 0 &&
			    strcmp(get_text(a, "study"), get_text(b, "study")) == 0)
				shared = get_text(a, "study");
		}
	if (shared)
		add_warning(warnings,
			    "Study %.100s stands in more than one group; tests take "
			    "groups for independent of each other.",
			    shared);
	return warnings;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *report_group_setting(const struct report_groups *g, const struct report_data *r,
				 size_t group, const char *key, bool *mixed)
{
	const struct study_data *const *members = g->groups->list[group].studies;
	const char *first = NULL;

	*mixed = false;
	for (size_t k = 0; k < g->groups->contests[0].groups[group].n; k++) {
		size_t study = (size_t)(members[k] - r->studies);
		const char *value = dp_json_str(json_array_get(g->settings, study), key, NULL);

		first = k == 0 ? value : first;
		*mixed |= !same_text(value, first);
	}
	return first;
}

/* One setting by group: {"DPareto":"dpareto","Random":"random"}. A group is null if its members
 * differ or have no value. NULL if all members of all groups agree. */
static json_t *differing_setting_json(const struct report_groups *f, const struct report_data *r,
				      const char *key)
{
	const struct dp_comparison *c = &f->groups->contests[0];
	bool mixed, differs = false;
	const char *value, *first = report_group_setting(f, r, 0, key, &mixed);
	json_t *by_group = json_object();

	for (size_t i = 0; i < c->n; i++) {
		value = report_group_setting(f, r, i, key, &mixed);
		differs |= mixed || !same_text(value, first);
		put_text(by_group, c->groups[i].name, mixed ? NULL : value);
	}
	if (differs)
		return by_group;
	json_decref(by_group);
	return NULL;
}

static json_t *differing_settings_json(const struct report_groups *f, const struct report_data *r)
{
	json_t *out = json_object(), *study, *value, *by_group;
	const char *key;
	size_t i;

	json_array_foreach (f->settings, i, study)
		json_object_foreach (study, key, value) {
			/* not a setting, expected to differ, or reported elsewhere */
			if (strcmp(key, "study") == 0 || strcmp(key, "seed") == 0 ||
			    strcmp(key, "seeds") == 0 || json_object_get(out, key) ||
			    (r->is_public && strncmp(key, "trainer.", 8) == 0))
				continue;
			by_group = differing_setting_json(f, r, key);
			if (by_group)
				put_json(out, key, by_group);
		}
	return out;
}

/* Appends `dparetoctl compare --group NAME=a,b/256 ... --at ...`. */
static void append_compare_command(struct dp_buf *out, const struct report_data *r, const char *at)
{
	struct dp_buf word = DP_BUF_INIT;

	dp_buf_puts(out, "dparetoctl compare");
	for (size_t i = 0; i < r->ngroup_specs; i++) {
		const struct dp_group_spec *group = &r->group_specs[i];

		dp_buf_clear(&word);
		dp_buf_printf(&word, "%s=", group->name);
		for (size_t k = 0; k < group->n; k++) {
			dp_buf_printf(&word, "%s%s", k ? "," : "", group->list[k].study);
			if (group->list[k].part_size)
				dp_buf_printf(&word, "/%u", group->list[k].part_size);
		}
		command_append_word(out, "--group");
		command_append_word(out, dp_buf_text(&word));
	}
	if (at) {
		command_append_word(out, "--at");
		command_append_word(out, at);
	}
	command_append_state_dir(out, r);
	dp_buf_free(&word);
}

int report_model_build_groups(struct report_model *report, json_t *figures, struct dp_err *err)
{
	const struct report_data *r = report->data;
	const struct study_data *s = report->study;
	struct report_groups *g = report->groups = dp_calloc(1, sizeof *g);
	struct dp_buf usual = DP_BUF_INIT, command = DP_BUF_INIT;
	const char *at = r->at_option;
	json_t *o, *members;
	const struct dp_compare_query volume = { .is_hypervolume = true };
	int code = DP_OK;

	if (!at && s->privacy_obj >= 0 && s->utility_obj >= 0) {
		dp_buf_printf(&usual, "%s=0.1,1,10",
			      s->state->spec->objectives[s->privacy_obj].name);
		at = dp_buf_text(&usual);
	}
	g->groups = r->groups;
	for (int by = 0; by < BASIS_COUNT; by++)
		if (r->groups->has_basis[by])
			g->hypervolumes[by] =
				dp_comparison_answer(&r->groups->contests[by], &volume);
	if (at)
		code = dp_comparison_answer_at(&r->groups->contests[BASIS_OBSERVED], at,
					       &g->level_answers, err);
	if (code == DP_OK) {
		find_pairs(g);
		members = members_json(g);
		g->settings = json_array();
		for (size_t i = 0; i < r->nstudies; i++)
			json_array_append_new(g->settings,
					      dp_study_canonical_json(r->studies[i].state->spec));
		append_compare_command(&command, r, at);
		report->json = o = dp_compare_json(
			&g->groups->contests[BASIS_OBSERVED], comparison_basis_name(BASIS_OBSERVED),
			&g->hypervolumes[BASIS_OBSERVED], &g->level_answers);
		put_json(o, "study", NULL);
		put_bool(o, "public", r->is_public);
		put_json(o, "denoised", group_hypervolumes_json(g, BASIS_SMOOTHED));
		put_json(o, "remeasured", group_hypervolumes_json(g, BASIS_REEVALUATED));
		put_json(o, "pairs", pairs_json(g));
		put_json(o, "members", members);
		put_json(o, "settings_that_differ", differing_settings_json(g, r));
		put_json(o, "warnings", group_warnings_json(r, g, members));
		put_buf(o, "command", &command);
		put_json(o, "figures", json_incref(figures));
	}
	json_decref(figures);
	dp_buf_free(&usual);
	return code;
}
