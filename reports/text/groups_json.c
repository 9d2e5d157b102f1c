/* groups_json.c - report.json of groups: what dparetoctl compare answers, and more. */
#include "reports/text/json_reflection.h"
#include "reports/model/groups_model.h"

/* Groups and tests by other values than those observed; null where a member has none. */
static json_t *group_hypervolumes_json(const struct report_groups *f, enum comparison_basis by)
{
	const struct dp_comparison *c = &f->groups->contests[by];

	if (!f->groups->has_basis[by])
		return json_null();
	return json_pack("{s:o, s:o}", "groups", dp_compare_groups_json(c, &f->hypervolumes[by]),
			 "tests", dp_compare_tests_json(c, &f->hypervolumes[by]));
}

/* Groups of one model against each other. */
static json_t *pairs_json(const struct report_groups *f)
{
	const struct dp_comparison *c = &f->groups->contests[BASIS_OBSERVED];
	const struct dp_sample_stats *samples = f->hypervolumes[BASIS_OBSERVED].samples;
	json_t *list = json_array();

	for (size_t i = 0; i < f->npairs; i++) {
		const struct report_group_pair *p = &f->pairs[i];

		if (json_array_append_new(list,
					  dp_test_json(c->groups[p->a].name, c->groups[p->b].name,
						       &samples[p->a], &samples[p->b])) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *members_json(const struct report_groups *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->nmembers; i++) {
		const struct report_group_member *m = &f->members[i];
		json_t *one = json_pack(
			"{s:s, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "name", m->name, "group",
			m->group, "study", m->study, "state", m->state, "evaluations",
			(json_int_t)m->evaluations, "asked", (json_int_t)m->planned, "hypervolume",
			json_number_or_null(m->hypervolume[BASIS_OBSERVED]), "hypervolume_denoised",
			json_number_or_null(m->hypervolume[BASIS_SMOOTHED]),
			"hypervolume_remeasured",
			json_number_or_null(m->hypervolume[BASIS_REEVALUATED]));

		if (json_array_append_new(list, one) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* {"search.method":{"DPareto":"dpareto","Random":"random"}}; null: not the same in all
 * of the group, or not set there. */
static json_t *differing_settings_json(const struct report_groups *f)
{
	json_t *all = json_object();

	for (size_t i = 0; i < f->nsettings; i++) {
		const struct report_group_setting *s = &f->settings[i];
		json_t *one = json_object();

		for (size_t k = 0; k < f->groups->contests[0].n; k++)
			if (json_object_set_new(one, f->groups->contests[0].groups[k].name,
						s->values[k] && !s->is_mixed[k]
							? json_string(s->values[k])
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

json_t *groups_report_build_json(const struct report_model *report)
{
	const struct report_groups *g = report->groups;
	json_t *out = dp_compare_json(&g->groups->contests[BASIS_OBSERVED],
				      comparison_basis_name(BASIS_OBSERVED),
				      &g->hypervolumes[BASIS_OBSERVED], &g->level_answers);
	json_t *more = json_pack(
		"{s:n, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "study", "public",
		report->public, "denoised", group_hypervolumes_json(g, BASIS_SMOOTHED),
		"remeasured", group_hypervolumes_json(g, BASIS_REEVALUATED), "pairs", pairs_json(g),
		"members", members_json(g), "settings_that_differ", differing_settings_json(g),
		"warnings", group_warnings_json(g->warnings, g->nwarnings), "command", g->command,
		"figures", report_json_figures(report));

	if (!out || !more || json_object_update(out, more) != 0) {
		json_decref(out);
		out = NULL;
	}
	json_decref(more);
	return out;
}
