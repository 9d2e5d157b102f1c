/* group_comparison.c - groups of results, their values and tests. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/units.h"
#include "optimize/pareto/pareto.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp_comparison_free(struct dp_comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->groups[i].n; k++)
			free(c->groups[i].members[k].name);
		free(c->groups[i].members);
		free(c->groups[i].name);
	}
	for (size_t i = 0; i < c->nobjectives; i++)
		free(c->objectives[i]);
	free(c->groups);
	*c = (struct dp_comparison){ 0 };
}

int dp_comparison_add_group(struct dp_comparison *c, const char *name, struct dp_err *err)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->groups[i].name, name) == 0)
			return dp_fail(err, DP_E_USAGE, "two groups are called '%s'", name);
	c->groups = dp_realloc(c->groups, (c->n + 1) * sizeof *c->groups);
	c->groups[c->n++] = (struct dp_compare_group){ .name = dp_strdup(name) };
	return DP_OK;
}

/* Takes ownership of new.name, also on error. */
static int compare_group_add_member(struct dp_compare_group *to, struct dp_compare_member new,
				    struct dp_err *err)
{
	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->members[i].name, new.name) == 0) {
			free(new.name);
			return dp_fail(err, DP_E_USAGE, "'%s' is in group '%s' twice",
				       to->members[i].name, to->name);
		}
	to->members = dp_realloc(to->members, (to->n + 1) * sizeof *to->members);
	to->members[to->n++] = new;
	return DP_OK;
}

uint32_t dp_compare_count_leftover_trials(const struct dp_compare_study *r, uint32_t size)
{
	return r->ntrials - r->nended / size * size;
}

int dp_comparison_add_study(struct dp_comparison *c, const struct dp_compare_study *of,
			    uint32_t size, struct dp_err *err)
{
	struct dp_compare_group *to = &c->groups[c->n - 1];
	uint32_t parts = size ? of->nended / size : 0;
	char text[DP_PLURAL_LEN];
	size_t from = 0, end = 0;
	int code = DP_OK;

	if (size == 0)
		return compare_group_add_member(to,
						(struct dp_compare_member){ dp_strdup(of->name),
									    of->y, of->n, 0,
									    of->ntrials },
						err);
	if (parts == 0)
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' has no part of %u trials that have ended; "
			       "%s %s",
			       of->name, size, dp_plural_text(of->nended, "trial", text),
			       of->nended == 1 ? "has" : "have");
	for (uint32_t k = 0; k < parts && code == DP_OK; k++) {
		struct dp_compare_member part = { .first_trial = k * size,
						  .end_trial = (k + 1) * size };

		while (end < of->n && of->trial_numbers[end] < part.end_trial)
			end++;
		part.name = dp_asprintf("%s/%u#%u", of->name, size, k + 1);
		part.y = of->y ? of->y + from * c->nobjectives : NULL;
		part.n = end - from;
		code = compare_group_add_member(to, part, err);
		from = end;
	}
	return code;
}

int dp_comparison_find_objective(const struct dp_comparison *c, const char *name, size_t *place,
				 struct dp_err *err)
{
	struct dp_buf all = DP_BUF_INIT;

	for (*place = 0; *place < c->nobjectives; ++*place) {
		if (strcmp(c->objectives[*place], name) == 0) {
			dp_buf_free(&all);
			return DP_OK;
		}
		dp_buf_printf(&all, "%s%s", *place ? ", " : "", c->objectives[*place]);
	}
	dp_fail(err, DP_E_USAGE, "the studies have no objective '%s'", name);
	dp_hint(err, "their objectives are %s", dp_buf_text(&all));
	dp_buf_free(&all);
	return DP_E_USAGE;
}

/* NaN if no result meets the bound. */
static double member_value_at_bound(const struct dp_comparison *c, const struct dp_compare_query *q,
				    const struct dp_compare_member *r)
{
	double best = NAN;

	for (size_t i = 0; i < r->n; i++) {
		const double *y = r->y + i * c->nobjectives;

		if (y[q->bounded_objective] <= c->sign[q->bounded_objective] * q->bound &&
		    !isnan(y[q->target_objective]) &&
		    ((c->is_realised && q->bounded_objective == 0) ||
		     !(y[q->target_objective] >= best)))
			best = y[q->target_objective];
	}
	return c->sign[q->target_objective] * best;
}

static double member_hypervolume(const struct dp_comparison *c, const struct dp_compare_member *r)
{
	double ref[DP_OBJECTIVES_MAX];

	for (size_t k = 0; k < c->nobjectives; k++)
		ref[k] = c->sign[k] * c->reference_point[k];
	return c->is_realised ? dp_pareto_realised_volume(r->y, r->n, ref)
			      : dp_hypervolume(r->y, r->n, c->nobjectives, ref);
}

void dp_compare_answer_free(struct dp_compare_answer *a)
{
	free(a->values);
	free(a->samples);
	free(a->tests);
	*a = (struct dp_compare_answer){ 0 };
}

const double *dp_compare_group_values(const struct dp_comparison *c,
				      const struct dp_compare_answer *a, size_t group)
{
	const double *values = a->values;

	for (size_t i = 0; i < group; i++)
		values += c->groups[i].n;
	return values;
}

struct dp_compare_answer dp_comparison_answer(const struct dp_comparison *c,
					      const struct dp_compare_query *q)
{
	struct dp_compare_answer out = { .query = *q, .ngroups = c->n };
	size_t members = 0, used = 0;

	for (size_t i = 0; i < c->n; i++)
		members += c->groups[i].n;
	out.values = dp_calloc(members + 1, sizeof *out.values);
	out.samples = dp_calloc(c->n + 1, sizeof *out.samples);
	out.tests = dp_calloc(c->n + 1, sizeof *out.tests);
	for (size_t i = 0; i < c->n; i++) {
		const struct dp_compare_group *group = &c->groups[i];
		double *first = out.values + used;

		for (size_t k = 0; k < group->n; k++)
			out.values[used++] =
				q->is_hypervolume ? member_hypervolume(c, &group->members[k])
						  : member_value_at_bound(c, q, &group->members[k]);
		out.samples[i] = dp_sample_stats_compute(first, group->n);
		if (i > 0)
			out.tests[i] = dp_t_test_means(&out.samples[0], &out.samples[i]);
	}
	return out;
}

const char *dp_compare_no_test_reason(const struct dp_sample_stats *a,
				      const struct dp_sample_stats *b)
{
	if (isnan(a->mean) || isnan(b->mean))
		return "not all of them have a result there";
	if (isinf(a->mean) || isinf(b->mean))
		return "a value is infinite";
	if (a->n == 1 && b->n == 1)
		return "one value on each side has no spread to go by";
	return "the values of a group do not differ, and so have no spread to go by";
}

void dp_compare_answers_free(struct dp_compare_answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		dp_compare_answer_free(&a->list[i]);
	free(a->list);
	*a = (struct dp_compare_answers){ 0 };
}

int dp_comparison_answer_at(const struct dp_comparison *c, const char *text,
			    struct dp_compare_answers *out, struct dp_err *err)
{
	char *copy = dp_strdup(text), *rest = copy, *part;
	struct dp_compare_query q = { 0 };
	int code = dp_comparison_find_objective(c, strsep(&rest, "="), &q.bounded_objective, err);

	if (code == DP_OK && !rest)
		rest = "";
	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL) {
		if (!dp_num_parse(part, &q.bound) || isnan(q.bound))
			code = dp_fail(err, DP_E_USAGE,
				       "--at takes OBJECTIVE=NUMBER,..., as in --at "
				       "epsilon=0.1,1,10, not '%s'",
				       text);
		for (q.target_objective = 0; q.target_objective < c->nobjectives && code == DP_OK;
		     q.target_objective++) {
			if (q.target_objective == q.bounded_objective)
				continue;
			out->list = dp_realloc(out->list, (out->n + 1) * sizeof *out->list);
			out->list[out->n++] = dp_comparison_answer(c, &q);
		}
	}
	free(copy);
	return code;
}
