/* group_json.c - report.json of groups: what dparetoctl compare answers, and more. */
#include "reports/fact_rows.h"
#include "reports/group_facts.h"

/* Groups and tests by other values than those observed; null where a member has none. */
static json_t *volumes_json(const struct fact_groups *f, enum groups_by by)
{
	const struct dp_contest *c = &f->g->by[by];

	if (!f->g->known[by])
		return json_null();
	return json_pack("{s:o, s:o}", "groups", dp_answer_groups_json(c, &f->volumes[by]), "tests",
			 dp_answer_tests_json(c, &f->volumes[by]));
}

/* Groups of one model against each other. */
static json_t *pairs_json(const struct fact_groups *f)
{
	const struct dp_contest *c = &f->g->by[GROUPS_OBSERVED];
	const struct dp_sample *samples = f->volumes[GROUPS_OBSERVED].samples;
	json_t *list = json_array();

	for (size_t i = 0; i < f->npairs; i++) {
		const struct fact_pair *p = &f->pairs[i];

		if (json_array_append_new(list,
					  dp_test_json(c->group[p->a].name, c->group[p->b].name,
						       &samples[p->a], &samples[p->b])) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *members_json(const struct fact_groups *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->nmembers; i++) {
		const struct fact_member *m = &f->members[i];
		json_t *one = json_pack(
			"{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "name", m->name, "group",
			m->group, "study", m->study, "state", m->state, "evaluations",
			(json_int_t)m->evaluations, "asked", (json_int_t)m->asked, "hypervolume",
			fact_number_json(m->volume[GROUPS_OBSERVED]), "hypervolume_denoised",
			fact_number_json(m->volume[GROUPS_DENOISED]), "hypervolume_remeasured",
			fact_number_json(m->volume[GROUPS_REMEASURED]));

		if (json_array_append_new(list, one) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* {"search.method":{"DPareto":"dpareto","Random":"random"}}; null: not the same in all
 * of the group, or not set there. */
static json_t *differing_json(const struct fact_groups *f)
{
	json_t *all = json_object();

	for (size_t i = 0; i < f->nsettings; i++) {
		const struct fact_setting *s = &f->settings[i];
		json_t *one = json_object();

		for (size_t k = 0; k < f->g->by[0].n; k++)
			if (json_object_set_new(one, f->g->by[0].group[k].name,
						s->of[k] && !s->mixed[k] ? json_string(s->of[k])
									 : json_null()) != 0) {
				json_decref(one);
				one = NULL;
			}
		if (json_object_set_new(all, s->key, one) != 0) {
			json_decref(all);
			return NULL;
		}
	}
	return all;
}

static json_t *group_warnings_json(const char *const *list, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(all, json_string(list[i])) != 0) {
			json_decref(all);
			return NULL;
		}
	return all;
}

json_t *groups_report_json(const struct facts *f)
{
	const struct fact_groups *g = f->groups;
	json_t *out = dp_compare_json(&g->g->by[GROUPS_OBSERVED], groups_by_name(GROUPS_OBSERVED),
				      &g->volumes[GROUPS_OBSERVED], &g->at);
	json_t *more =
		json_pack("{s:n, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "study", "public",
			  f->public, "denoised", volumes_json(g, GROUPS_DENOISED), "remeasured",
			  volumes_json(g, GROUPS_REMEASURED), "pairs", pairs_json(g), "members",
			  members_json(g), "settings_that_differ", differing_json(g), "warnings",
			  group_warnings_json(g->warnings, g->nwarnings), "command", g->command,
			  "figures", facts_figures_json(f));

	if (!out || !more || json_object_update(out, more) != 0) {
		json_decref(out);
		out = NULL;
	}
	json_decref(more);
	return out;
}
