/* answer_json.c - what groups of studies are compared by, as the contract has it. */
#include "compare/compare.h"

#include "base/json.h"

#include <math.h>

/* Puts a part into a list or an object; false, and the part is gone, if it cannot. */
static bool put_in(json_t *list, json_t *part)
{
	return json_array_append_new(list, part) == 0;
}

/* The whole, or nothing of it. */
static json_t *if_whole(json_t *all, bool whole)
{
	if (whole)
		return all;
	json_decref(all);
	return NULL;
}

/* NaN is null. */
static json_t *known_real(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *dp_test_json(const char *a, const char *b, const struct dp_sample *of_a,
		     const struct dp_sample *of_b)
{
	static const char *const kinds[] = { [DP_TEST_NONE] = NULL,
					     [DP_TEST_ONE_SAMPLE] = "one-sample",
					     [DP_TEST_WELCH] = "welch" };
	struct dp_test t = dp_test_means(of_a, of_b);

	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "a", a, "b", b,
			 "difference", known_real(t.difference), "low", known_real(t.low), "high",
			 known_real(t.high), "t", known_real(t.t), "df", known_real(t.freedom), "p",
			 known_real(t.p), "kind", kinds[t.kind], "why",
			 t.kind == DP_TEST_NONE ? dp_no_test(of_a, of_b) : NULL);
}

/* The values of a group, and what follows from them. */
static json_t *sample_json(const double *values, const struct dp_sample *s)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < s->n && whole; i++)
		whole = put_in(list, known_real(values[i]));
	list = if_whole(list, whole);
	return list ? json_pack("{s:o, s:o, s:o, s:o, s:o}", "values", list, "mean",
				known_real(s->mean), "sd", known_real(s->sd), "low",
				known_real(s->low), "high", known_real(s->high))
		    : NULL;
}

static json_t *rival_names_json(const struct dp_rivals *group)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < group->n && whole; i++)
		whole = put_in(list, json_string(group->list[i].name));
	return if_whole(list, whole);
}

json_t *dp_answer_groups_json(const struct dp_contest *c, const struct dp_answer *a)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < c->n && whole; i++) {
		json_t *sample = sample_json(dp_answer_values(c, a, i), &a->samples[i]);
		json_t *one = json_pack("{s:s}", "name", c->group[i].name);

		if (a->asked.volume)
			whole = json_object_set_new(one, "studies",
						    rival_names_json(&c->group[i])) == 0 &&
				json_object_set(one, "hypervolume", sample) == 0;
		else
			whole = json_object_update(one, sample) == 0;
		json_decref(sample);
		whole &= put_in(list, one);
	}
	return if_whole(list, whole);
}

json_t *dp_answer_tests_json(const struct dp_contest *c, const struct dp_answer *a)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 1; i < c->n && whole; i++)
		whole = put_in(list, dp_test_json(c->group[0].name, c->group[i].name,
						  &a->samples[0], &a->samples[i]));
	return if_whole(list, whole);
}

static json_t *answers_json(const struct dp_contest *c, const struct dp_answers *at)
{
	json_t *list = json_array();
	bool whole = list != NULL;

	for (size_t i = 0; i < at->n && whole; i++) {
		const struct dp_answer *a = &at->list[i];

		whole = put_in(list, json_pack("{s:o, s:s, s:o, s:o}", c->objectives[a->asked.at],
					       dp_json_real(a->asked.bound), "objective",
					       c->objectives[a->asked.of], "groups",
					       dp_answer_groups_json(c, a), "tests",
					       dp_answer_tests_json(c, a)));
	}
	return if_whole(list, whole);
}

static json_t *anti_ideal_json(const struct dp_contest *c)
{
	json_t *object = json_object();
	bool whole = object != NULL;

	for (size_t k = 0; k < c->nobjectives && whole; k++)
		whole = json_object_set_new(object, c->objectives[k],
					    dp_json_real(c->anti_ideal[k])) == 0;
	return if_whole(object, whole);
}

json_t *dp_compare_json(const struct dp_contest *c, const char *by, const struct dp_answer *volumes,
			const struct dp_answers *at)
{
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "version", 1, "by", by, "anti_ideal",
			 anti_ideal_json(c), "groups", dp_answer_groups_json(c, volumes), "tests",
			 dp_answer_tests_json(c, volumes), "at", answers_json(c, at));
}
