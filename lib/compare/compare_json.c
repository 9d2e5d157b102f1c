/* compare_json.c - what groups of studies are compared by, as the contract has it. */
#include "compare/compare.h"

#include "base/json.h"

#include <math.h>

/* Puts a part into a list or an object; false, and the part is gone, if it cannot. */
static bool append_json_item(json_t *list, json_t *part)
{
	return json_array_append_new(list, part) == 0;
}

/* The whole, or nothing of it. */
static json_t *keep_if_complete(json_t *all, bool whole)
{
	if (whole)
		return all;
	json_decref(all);
	return NULL;
}

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

/* The values of a group, and what follows from them. */
static json_t *sample_json(const double *values, const struct dp_sample_stats *s)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < s->n && whole; i++)
		whole = append_json_item(list, real_or_null_json(values[i]));
	list = keep_if_complete(list, whole);
	return list ? json_pack("{s:o, s:o, s:o, s:o, s:o}", "values", list, "mean",
				real_or_null_json(s->mean), "sd", real_or_null_json(s->sd), "low",
				real_or_null_json(s->ci_low), "high", real_or_null_json(s->ci_high))
		    : NULL;
}

static json_t *member_names_json(const struct dp_compare_group *group)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < group->n && whole; i++)
		whole = append_json_item(list, json_string(group->members[i].name));
	return keep_if_complete(list, whole);
}

json_t *dp_compare_groups_json(const struct dp_comparison *c, const struct dp_compare_answer *a)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < c->n && whole; i++) {
		json_t *sample = sample_json(dp_compare_group_values(c, a, i), &a->samples[i]);
		json_t *one = json_pack("{s:s}", "name", c->groups[i].name);

		if (a->query.is_hypervolume)
			whole = json_object_set_new(one, "studies",
						    member_names_json(&c->groups[i])) == 0 &&
				json_object_set(one, "hypervolume", sample) == 0;
		else
			whole = json_object_update(one, sample) == 0;
		json_decref(sample);
		whole &= append_json_item(list, one);
	}
	return keep_if_complete(list, whole);
}

json_t *dp_compare_tests_json(const struct dp_comparison *c, const struct dp_compare_answer *a)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 1; i < c->n && whole; i++)
		whole = append_json_item(list, dp_test_json(c->groups[0].name, c->groups[i].name,
							    &a->samples[0], &a->samples[i]));
	return keep_if_complete(list, whole);
}

static json_t *compare_answers_json(const struct dp_comparison *c,
				    const struct dp_compare_answers *at)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < at->n && whole; i++) {
		const struct dp_compare_answer *a = &at->list[i];

		whole = append_json_item(list, json_pack("{s:o, s:s, s:o, s:o}",
							 c->objectives[a->query.bounded_objective],
							 dp_json_real(a->query.bound), "objective",
							 c->objectives[a->query.target_objective],
							 "groups", dp_compare_groups_json(c, a),
							 "tests", dp_compare_tests_json(c, a)));
	}
	return keep_if_complete(list, whole);
}

static json_t *comparison_reference_json(const struct dp_comparison *c)
{
	json_t *object = json_object();
	bool whole = object != NULL;

	for (size_t k = 0; k < c->nobjectives && whole; k++)
		whole = json_object_set_new(object, c->objectives[k],
					    dp_json_real(c->reference_point[k])) == 0;
	return keep_if_complete(object, whole);
}

json_t *dp_compare_json(const struct dp_comparison *c, const char *by,
			const struct dp_compare_answer *volumes,
			const struct dp_compare_answers *at)
{
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "version", 1, "by", by, "anti_ideal",
			 comparison_reference_json(c), "groups", dp_compare_groups_json(c, volumes),
			 "tests", dp_compare_tests_json(c, volumes), "at",
			 compare_answers_json(c, at));
}
