/* compare_json.c - JSON output of comparisons. */
#include "compare/compare.h"

#include "base/json.h"

#include <math.h>

/* NaN is null. */
static json_t *real_or_null_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *dp_test_json(const char *a, const char *b, const struct dp_sample_stats *of_a,
		     const struct dp_sample_stats *of_b)
{
	static const char *const kinds[] = { [DP_T_TEST_NONE] = NULL,
					     [DP_T_TEST_ONE_SAMPLE] = "one-sample",
					     [DP_T_TEST_WELCH] = "welch" };
	struct dp_t_test t = dp_t_test_means(of_a, of_b);

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "a", a, "b", b,
			 "difference", real_or_null_json(t.difference), "low",
			 real_or_null_json(t.ci_low), "high", real_or_null_json(t.ci_high), "t",
			 real_or_null_json(t.t), "df", real_or_null_json(t.df), "p",
			 real_or_null_json(t.p), "kind", kinds[t.kind], "why",
			 t.kind == DP_T_TEST_NONE ? dp_compare_no_test_reason(of_a, of_b) : NULL);
}

static json_t *sample_json(const double *values, const struct dp_sample_stats *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, real_or_null_json(values[i]));
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "values", list, "mean",
			 real_or_null_json(s->mean), "sd", real_or_null_json(s->sd), "low",
			 real_or_null_json(s->ci_low), "high", real_or_null_json(s->ci_high));
}

json_t *dp_compare_groups_json(const struct dp_comparison *c, const struct dp_compare_answer *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n; i++) {
		const struct dp_compare_group *group = &c->groups[i];
		json_t *sample = sample_json(dp_compare_group_values(c, a, i), &a->samples[i]);
		json_t *one = json_pack("{s:s}", "name", group->name), *names;

		if (a->query.is_hypervolume) {
			names = json_array();
			for (size_t k = 0; k < group->n; k++)
				json_array_append_new(names, json_string(group->members[k].name));
			json_object_set_new(one, "studies", names);
			json_object_set_new(one, "hypervolume", sample);
		} else {
			json_object_update_new(one, sample);
		}
		json_array_append_new(list, one);
	}
	return list;
}

json_t *dp_compare_tests_json(const struct dp_comparison *c, const struct dp_compare_answer *a)
{
	json_t *list = json_array();

	for (size_t i = 1; i < c->n; i++)
		json_array_append_new(list, dp_test_json(c->groups[0].name, c->groups[i].name,
							 &a->samples[0], &a->samples[i]));
	return list;
}

json_t *dp_compare_json(const struct dp_comparison *c, const char *by,
			const struct dp_compare_answer *volumes,
			const struct dp_compare_answers *at)
{
	json_t *reference = json_object(), *answers = json_array();

	for (size_t k = 0; k < c->nobjectives; k++)
		json_object_set_new(reference, c->objectives[k],
				    dp_json_real(c->reference_point[k]));
	for (size_t i = 0; i < at->n; i++) {
		const struct dp_compare_answer *a = &at->list[i];

		json_array_append_new(answers, json_pack("{s:o, s:s, s:o, s:o}",
							 c->objectives[a->query.bounded_objective],
							 dp_json_real(a->query.bound), "objective",
							 c->objectives[a->query.target_objective],
							 "groups", dp_compare_groups_json(c, a),
							 "tests", dp_compare_tests_json(c, a)));
	}
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "version", 1, "by", by, "anti_ideal",
			 reference, "groups", dp_compare_groups_json(c, volumes), "tests",
			 dp_compare_tests_json(c, volumes), "at", answers);
}
