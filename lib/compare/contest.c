/* contest.c - groups of results, and what is asked of them. */
#include "compare/compare.h"

#include "base/buf.h"
#include "base/num.h"
#include "front/front.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int contest_nomem(struct dp_err *err)
{
	return dp_fail(err, DP_E_NOMEM, "no memory to compare studies");
}

void dp_contest_free(struct dp_contest *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->group[i].n; k++)
			free(c->group[i].list[k].name);
		free(c->group[i].list);
		free(c->group[i].name);
	}
	for (size_t i = 0; i < c->nobjectives; i++)
		free(c->objectives[i]);
	free(c->group);
	*c = (struct dp_contest){ 0 };
}

/* ---- groups ---- */

int dp_contest_group(struct dp_contest *c, const char *name, struct dp_err *err)
{
	struct dp_rivals *grown = realloc(c->group, (c->n + 1) * sizeof *grown);

	if (!grown)
		return contest_nomem(err);
	c->group = grown;
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(grown[i].name, name) == 0)
			return dp_fail(err, DP_E_USAGE, "two groups are called '%s'", name);
	grown[c->n] = (struct dp_rivals){ .name = strdup(name) };
	return grown[c->n].name ? (c->n++, DP_OK) : contest_nomem(err);
}

/* Adds what is called so; takes its name. */
static int rivals_add(struct dp_rivals *to, struct dp_rival new, struct dp_err *err)
{
	struct dp_rival *grown = realloc(to->list, (to->n + 1) * sizeof *grown);
	int code = grown && new.name ? DP_OK : contest_nomem(err);

	to->list = grown ? grown : to->list;
	for (size_t i = 0; i < to->n && code == DP_OK; i++)
		if (strcmp(to->list[i].name, new.name) == 0)
			code = dp_fail(err, DP_E_USAGE, "'%s' is in group '%s' twice", new.name,
				       to->name);
	if (code == DP_OK)
		to->list[to->n++] = new;
	else
		free(new.name);
	return code;
}

uint32_t dp_rated_left(const struct dp_rated *r, uint32_t size)
{
	return r->trials - r->ended / size * size;
}

/* All full parts of `size` trials, with the waypoints of these. */
static int contest_add_parts(const struct dp_contest *c, struct dp_rivals *to,
			     const struct dp_rated *of, uint32_t size, struct dp_err *err)
{
	uint32_t parts = of->ended / size;
	char text[DP_COUNT_LEN];
	size_t from = 0, end = 0;
	int code = DP_OK;

	if (parts == 0)
		return dp_fail(err, DP_E_INVALID,
			       "study '%s' has no part of %u trials that have ended; "
			       "%s %s",
			       of->name, size, dp_count_text(of->ended, "trial", text),
			       of->ended == 1 ? "has" : "have");
	for (uint32_t k = 0; k < parts && code == DP_OK; k++) {
		struct dp_rival part = { .from = k * size, .end = (k + 1) * size };

		while (end < of->n && of->trial[end] < part.end)
			end++;
		if (asprintf(&part.name, "%s/%u#%u", of->name, size, k + 1) < 0)
			part.name = NULL;
		part.y = of->y ? of->y + from * c->nobjectives : NULL;
		part.n = end - from;
		code = rivals_add(to, part, err);
		from = end;
	}
	return code;
}

int dp_contest_add(struct dp_contest *c, const struct dp_rated *of, uint32_t size,
		   struct dp_err *err)
{
	struct dp_rivals *to = &c->group[c->n - 1];

	if (size > 0)
		return contest_add_parts(c, to, of, size, err);
	return rivals_add(to, (struct dp_rival){ strdup(of->name), of->y, of->n, 0, of->trials },
			  err);
}

int dp_contest_objective(const struct dp_contest *c, const char *name, size_t *place,
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

/* ---- values ---- */

/* NaN: there is no such result. */
static double rival_best_at(const struct dp_contest *c, const struct dp_question *q,
			    const struct dp_rival *r)
{
	double best = NAN;

	for (size_t i = 0; i < r->n; i++) {
		const double *y = r->y + i * c->nobjectives;

		if (y[q->at] <= c->sign[q->at] * q->bound && !isnan(y[q->of]) &&
		    ((c->followed && q->at == 0) || !(y[q->of] >= best)))
			best = y[q->of];
	}
	return c->sign[q->of] * best;
}

static int rival_volume(const struct dp_contest *c, const struct dp_rival *r, double *volume)
{
	double ref[DP_OBJECTIVES_MAX];

	for (size_t k = 0; k < c->nobjectives; k++)
		ref[k] = c->sign[k] * c->anti_ideal[k];
	if (!c->followed)
		return dp_hypervolume(r->y, r->n, c->nobjectives, ref, volume);
	*volume = dp_followed(r->y, r->n, ref);
	return DP_OK;
}

/* ---- answers ---- */

void dp_answer_free(struct dp_answer *a)
{
	free(a->values);
	free(a->samples);
	free(a->tests);
	*a = (struct dp_answer){ 0 };
}

const double *dp_answer_values(const struct dp_contest *c, const struct dp_answer *a, size_t group)
{
	const double *values = a->values;

	for (size_t i = 0; i < group; i++)
		values += c->group[i].n;
	return values;
}

static int answer_room(const struct dp_contest *c, struct dp_answer *a)
{
	size_t members = 1;

	for (size_t i = 0; i < c->n; i++)
		members += c->group[i].n;
	a->values = calloc(members, sizeof *a->values);
	a->samples = calloc(c->n + 1, sizeof *a->samples);
	a->tests = calloc(c->n + 1, sizeof *a->tests);
	return a->values && a->samples && a->tests ? DP_OK : DP_E_NOMEM;
}

int dp_contest_ask(const struct dp_contest *c, const struct dp_question *q, struct dp_answer *out,
		   struct dp_err *err)
{
	double *next;
	int code;

	*out = (struct dp_answer){ .asked = *q, .n = c->n };
	code = answer_room(c, out);
	next = out->values;
	for (size_t i = 0; i < c->n && code == DP_OK; i++) {
		const struct dp_rivals *group = &c->group[i];
		double *first = next;

		for (size_t k = 0; k < group->n && code == DP_OK; k++, next++)
			if (q->volume)
				code = rival_volume(c, &group->list[k], next);
			else
				*next = rival_best_at(c, q, &group->list[k]);
		out->samples[i] = dp_sample_of(first, group->n);
		if (i > 0)
			out->tests[i] = dp_test_means(&out->samples[0], &out->samples[i]);
	}
	if (code == DP_OK)
		return DP_OK;
	dp_answer_free(out);
	return contest_nomem(err);
}

const char *dp_no_test(const struct dp_sample *a, const struct dp_sample *b)
{
	if (isnan(a->mean) || isnan(b->mean))
		return "not all of them have a result there";
	if (isinf(a->mean) || isinf(b->mean))
		return "a value is infinite";
	if (a->n == 1 && b->n == 1)
		return "one value on each side has no spread to go by";
	return "the values of a group do not differ, and so have no spread to go by";
}

/* ---- at some values of an objective ---- */

void dp_answers_free(struct dp_answers *a)
{
	for (size_t i = 0; i < a->n; i++)
		dp_answer_free(&a->list[i]);
	free(a->list);
	*a = (struct dp_answers){ 0 };
}

static int answers_add(const struct dp_contest *c, const struct dp_question *q,
		       struct dp_answers *to, struct dp_err *err)
{
	struct dp_answer *grown = realloc(to->list, (to->n + 1) * sizeof *grown);
	int code;

	if (!grown)
		return contest_nomem(err);
	to->list = grown;
	code = dp_contest_ask(c, q, &grown[to->n], err);
	to->n += code == DP_OK;
	return code;
}

int dp_contest_ask_at(const struct dp_contest *c, const char *text, struct dp_answers *out,
		      struct dp_err *err)
{
	char *copy = strdup(text), *rest = copy, *part;
	struct dp_question q = { 0 };
	int code;

	if (!copy)
		return contest_nomem(err);
	code = dp_contest_objective(c, strsep(&rest, "="), &q.at, err);
	if (code == DP_OK && !rest)
		rest = "";
	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL) {
		if (!dp_num_parse(part, &q.bound) || isnan(q.bound))
			code = dp_fail(err, DP_E_USAGE,
				       "--at takes OBJECTIVE=NUMBER,..., as in --at "
				       "epsilon=0.1,1,10, not '%s'",
				       text);
		for (q.of = 0; q.of < c->nobjectives && code == DP_OK; q.of++)
			if (q.of != q.at)
				code = answers_add(c, &q, out, err);
	}
	free(copy);
	return code;
}
