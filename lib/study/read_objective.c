/* read_objective.c - readers of objectives, the anti-ideal point and constraints, and
 * what must hold between them. */
#include "study/study_internal.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__read_objectives(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			 void *to)
{
	static const char form[] = "names and their objectives, 2 to 8 of them";
	struct dp_study *s = to;
	char shown[DP__SHOWN];
	struct dp_objective *o;

	if (!dp__is_map(r, v, k->name, form, DP_OBJECTIVES_MAX))
		return;
	if (v->count < 2)
		dp__problem(r, v->key_pos, form,
			    "a front needs two objectives, and there is only '%s'",
			    dp__shown(v->first->key, shown));
	s->objectives = dp__calloc(r, v->count, sizeof *s->objectives);
	if (!s->objectives)
		return;
	for (const struct dp__node *m = v->first; m; m = m->next) {
		if (!dp_name_ok(m->key))
			dp__problem(r, m->key_pos, DP_NAME_RULE, "'%s' cannot name an objective",
				    dp__shown(m->key, shown));
		o = &s->objectives[s->nobjectives];
		o->name = dp__strdup(r, m->key);
		if (!o->name)
			return;
		r->objective[s->nobjectives++] = m;
		if (dp__is_map(r, m, dp__shown(m->key, shown),
			       "either privacy or metric, and keys about it", SIZE_MAX))
			dp__read_section(r, DP__OBJECTIVE, m->key_pos, m, o);
	}
}

void dp__read_anti_ideal(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			 void *to)
{
	(void)to;
	if (dp__is_map(r, v, k->name, k->doc->type, SIZE_MAX))
		r->anti_ideal = v; /* read once the objectives are known */
}

/* ---- constraints ---- */

static bool read_bound(const char *text, struct dp_constraint *c)
{
	c->at_least = strncmp(text, ">=", 2) == 0;
	if (!c->at_least && strncmp(text, "<=", 2) != 0)
		return false;
	text += 2;
	text += strspn(text, " ");
	return dp_num_parse(text, &c->bound) && isfinite(c->bound);
}

void dp__read_constraints(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			  void *to)
{
	static const char form[] = "\"<= NUMBER\" or \">= NUMBER\", in quotes";
	struct dp_study *s = to;
	char shown[DP__SHOWN];
	struct dp_constraint *c;
	const char *text;

	if (!dp__is_map(r, v, k->name, k->doc->type, DP_CONSTRAINTS_MAX))
		return;
	r->constraints = v;
	s->constraints = dp__calloc(r, v->count, sizeof *s->constraints);
	if (!s->constraints)
		return;
	for (const struct dp__node *m = v->first; m; m = m->next) {
		c = &s->constraints[s->nconstraints++];
		c->metric = dp__strdup(r, m->key);
		if (!dp_name_ok(m->key))
			dp__problem(r, m->key_pos, DP_NAME_RULE, "'%s' cannot name a metric",
				    dp__shown(m->key, shown));
		text = dp__scalar(r, m, dp__shown(m->key, shown), form);
		if (text && !read_bound(text, c))
			dp__problem(r, m->pos, form, "a constraint cannot be '%s'",
				    dp__shown(text, shown));
	}
}

/* ---- a metric objective ---- */

/* `of` without its spaces, compared with "METRIC" and "1-METRIC". */
static void check_of(struct dp__read *r, struct dp_objective *o, const struct dp__node *of)
{
	struct dp_buf word = DP_BUF_INIT, allowed = DP_BUF_INIT;
	char shown[DP__SHOWN];

	for (const char *p = of->text; *p; p++)
		if (!isspace((unsigned char)*p))
			dp_buf_putc(&word, *p);
	if (word.failed)
		r->nomem = true;
	o->one_minus = strncmp(dp_buf_text(&word), "1-", 2) == 0 &&
		       strcmp(dp_buf_text(&word) + 2, o->metric) == 0;
	if (!o->one_minus && strcmp(dp_buf_text(&word), o->metric) != 0) {
		dp_buf_printf(&allowed, "\"%s\" or \"1 - %s\"", o->metric, o->metric);
		dp__problem(r, of->pos, dp_buf_text(&allowed), "'of' cannot be '%s'",
			    dp__shown(of->text, shown));
	}
	dp_buf_free(&word);
	dp_buf_free(&allowed);
}

static void check_metric(struct dp__read *r, struct dp_objective *o, const struct dp__node *v)
{
	const struct dp__node *of = dp__get(v, "of");

	if (of && of->kind == DP__SCALAR && o->metric && dp_name_ok(o->metric))
		check_of(r, o, of);
}

/* ---- the anti-ideal point ---- */

/* The objective's scale must have a place for it. */
static bool has_scale(const struct dp_objective *o, double x)
{
	if (o->transform == DP_TRANSFORM_LOG)
		return x > 0;
	return o->transform != DP_TRANSFORM_LOGIT || (x >= 0 && x <= 1);
}

static void read_anti_ideal(struct dp__read *r, struct dp_objective *o, const char *const *names)
{
	const struct dp__node *v = dp__get(r->anti_ideal, o->name);
	bool log = o->transform == DP_TRANSFORM_LOG;
	double x;

	if (!v) {
		if (dp__misspelt(r->anti_ideal, o->name, names))
			return;
		dp__problem(r, r->anti_ideal->key_pos, "one number for every objective",
			    "'anti_ideal' has no number for objective '%s'", o->name);
		return;
	}
	if (v->kind == DP__UNREADABLE || !dp__number(r, v, v->key, "number", &x))
		return;
	if (has_scale(o, x))
		o->anti_ideal = x;
	else
		dp__problem(r, v->pos, log ? "a number above 0" : "a number from 0 to 1",
			    "the anti-ideal of '%s' cannot be %s: its transform is %s", o->name,
			    v->text, log ? "log" : "logit");
}

static void check_anti_ideal(struct dp__read *r)
{
	const char *names[DP_OBJECTIVES_MAX + 1] = { NULL };
	char shown[DP__SHOWN], guess[DP__GUESS];
	const struct dp__node *m;
	struct dp_study *s = r->s;
	size_t i;

	for (i = 0; i < s->nobjectives; i++)
		names[i] = s->objectives[i].name;
	for (i = 0; i < s->nobjectives; i++)
		read_anti_ideal(r, &s->objectives[i], names);
	for (m = r->anti_ideal->first; m; m = m->next) {
		for (i = 0; i < s->nobjectives && strcmp(names[i], m->key) != 0;)
			i++;
		if (i == s->nobjectives)
			dp__problem(r, m->key_pos, NULL, "'%s' names no objective%s",
				    dp__shown(m->key, shown), dp__guess(m->key, names, guess));
	}
}

void dp__check_objectives(struct dp__read *r)
{
	struct dp_study *s = r->s;

	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp__node *v = r->objective[i];
		const struct dp__node *privacy = dp__get(v, "privacy");
		const struct dp__node *metric = dp__get(v, "metric");

		if (v->kind != DP__MAP)
			continue;
		if (privacy && metric)
			dp__problem(r, metric->key_pos, NULL,
				    "an objective is either privacy or a metric, not both");
		else if (privacy)
			dp__check_privacy(r, &s->objectives[i], v, privacy);
		else if (metric)
			check_metric(r, &s->objectives[i], v);
		else
			dp__problem(r, v->key_pos, "privacy: {...} or metric: NAME",
				    "objective '%s' says neither 'privacy' nor 'metric'", v->key);
	}
	if (r->anti_ideal && s->nobjectives)
		check_anti_ideal(r);
}
