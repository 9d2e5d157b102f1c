/* read_objective.c - reads objectives, the reference point and constraints, and checks them. */
#include "study/parse/study_parse_internal.h"

#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__read_objectives(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
{
	static const char form[] = "names and their objectives, 2 to 8 of them";
	struct dp_study *s = to;
	char shown[DP__PRINTABLE_SIZE];
	struct dp_objective *o;

	if (!dp__expect_map(r, v, k->name, form, DP_OBJECTIVES_MAX))
		return;
	if (v->count < 2)
		dp__report_error(r, v->key_pos, form,
				 "a front needs two objectives, and there is only '%s'",
				 dp__printable(v->first_child->key, shown));
	s->objectives = dp_calloc(v->count, sizeof *s->objectives);
	for (const struct dp__node *m = v->first_child; m; m = m->next_sibling) {
		if (!dp_name_ok(m->key))
			dp__report_error(r, m->key_pos, DP_NAME_RULE,
					 "'%s' cannot name an objective",
					 dp__printable(m->key, shown));
		o = &s->objectives[s->nobjectives];
		o->name = dp_strdup(m->key);
		r->objective_nodes[s->nobjectives++] = m;
		if (dp__expect_map(r, m, dp__printable(m->key, shown),
				   "either privacy or metric, and keys about it", SIZE_MAX))
			dp__read_section(r, DP__OBJECTIVE, m->key_pos, m, o);
	}
}

void dp__read_anti_ideal(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
{
	(void)to;
	if (dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX))
		r->anti_ideal_node = v; /* read after the objectives */
}

/* ---- constraints ---- */

static bool parse_constraint_bound(const char *text, struct dp_constraint *c)
{
	c->at_least = strncmp(text, ">=", 2) == 0;
	if (!c->at_least && strncmp(text, "<=", 2) != 0)
		return false;
	text += 2;
	text += strspn(text, " ");
	return dp_num_parse(text, &c->bound) && isfinite(c->bound);
}

void dp__read_constraints(struct dp__study_parser *r, const struct dp__key *k,
			  const struct dp__node *v, void *to)
{
	static const char form[] = "\"<= NUMBER\" or \">= NUMBER\", in quotes";
	struct dp_study *s = to;
	char shown[DP__PRINTABLE_SIZE];
	struct dp_constraint *c;
	const char *text;

	if (!dp__expect_map(r, v, k->name, k->doc->type, DP_CONSTRAINTS_MAX))
		return;
	r->constraints_node = v;
	s->constraints = dp_calloc(v->count, sizeof *s->constraints);
	for (const struct dp__node *m = v->first_child; m; m = m->next_sibling) {
		c = &s->constraints[s->nconstraints++];
		c->metric = dp_strdup(m->key);
		if (!dp_name_ok(m->key))
			dp__report_error(r, m->key_pos, DP_NAME_RULE, "'%s' cannot name a metric",
					 dp__printable(m->key, shown));
		text = dp__expect_scalar(r, m, dp__printable(m->key, shown), form);
		if (text && !parse_constraint_bound(text, c))
			dp__report_error(r, m->pos, form, "a constraint cannot be '%s'",
					 dp__printable(text, shown));
	}
}

/* ---- a metric objective ---- */

/* Compares `of`, without spaces, with "METRIC" and "1-METRIC". */
static void check_metric_expression(struct dp__study_parser *r, struct dp_objective *o,
				    const struct dp__node *of)
{
	struct dp_buf word = DP_BUF_INIT, allowed = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE];

	for (const char *p = of->text; *p; p++)
		if (!isspace((unsigned char)*p))
			dp_buf_putc(&word, *p);
	o->one_minus = strncmp(dp_buf_text(&word), "1-", 2) == 0 &&
		       strcmp(dp_buf_text(&word) + 2, o->metric) == 0;
	if (!o->one_minus && strcmp(dp_buf_text(&word), o->metric) != 0) {
		dp_buf_printf(&allowed, "\"%s\" or \"1 - %s\"", o->metric, o->metric);
		dp__report_error(r, of->pos, dp_buf_text(&allowed), "'of' cannot be '%s'",
				 dp__printable(of->text, shown));
	}
	dp_buf_free(&word);
	dp_buf_free(&allowed);
}

static void check_metric_objective(struct dp__study_parser *r, struct dp_objective *o,
				   const struct dp__node *v)
{
	const struct dp__node *of = dp__map_get(v, "of");

	if (of && of->kind == DP__NODE_SCALAR && o->metric && dp_name_ok(o->metric))
		check_metric_expression(r, o, of);
}

/* ---- the reference point ---- */

/* True if the value is in the domain of the objective's scale. */
static bool transform_allows(const struct dp_objective *o, double x)
{
	if (o->transform == DP_TRANSFORM_LOG)
		return x > 0;
	return o->transform != DP_TRANSFORM_LOGIT || (x >= 0 && x <= 1);
}

static void read_anti_ideal_value(struct dp__study_parser *r, struct dp_objective *o,
				  const char *const *names)
{
	const struct dp__node *v = dp__map_get(r->anti_ideal_node, o->name);
	bool log = o->transform == DP_TRANSFORM_LOG;
	double x;

	if (!v) {
		if (dp__is_misspelt_key(r->anti_ideal_node, o->name, names))
			return;
		dp__report_error(r, r->anti_ideal_node->key_pos, "one number for every objective",
				 "'anti_ideal' has no number for objective '%s'", o->name);
		return;
	}
	if (v->kind == DP__NODE_INVALID || !dp__expect_number(r, v, v->key, "number", &x))
		return;
	if (transform_allows(o, x))
		o->anti_ideal = x;
	else
		dp__report_error(r, v->pos, log ? "a number above 0" : "a number from 0 to 1",
				 "the anti-ideal of '%s' cannot be %s: its transform is %s",
				 o->name, v->text, log ? "log" : "logit");
}

static void read_reference_point(struct dp__study_parser *r)
{
	const char *names[DP_OBJECTIVES_MAX + 1] = { NULL };
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	const struct dp__node *m;
	struct dp_study *s = r->study;
	size_t i;

	for (i = 0; i < s->nobjectives; i++)
		names[i] = s->objectives[i].name;
	for (i = 0; i < s->nobjectives; i++)
		read_anti_ideal_value(r, &s->objectives[i], names);
	for (m = r->anti_ideal_node->first_child; m; m = m->next_sibling) {
		for (i = 0; i < s->nobjectives && strcmp(names[i], m->key) != 0;)
			i++;
		if (i == s->nobjectives)
			dp__report_error(r, m->key_pos, NULL, "'%s' names no objective%s",
					 dp__printable(m->key, shown),
					 dp__did_you_mean(m->key, names, guess));
	}
}

void dp__check_objectives(struct dp__study_parser *r)
{
	struct dp_study *s = r->study;

	for (size_t i = 0; i < s->nobjectives; i++) {
		const struct dp__node *v = r->objective_nodes[i];
		const struct dp__node *privacy = dp__map_get(v, "privacy");
		const struct dp__node *metric = dp__map_get(v, "metric");

		if (v->kind != DP__NODE_MAP)
			continue;
		if (privacy && metric)
			dp__report_error(r, metric->key_pos, NULL,
					 "an objective is either privacy or a metric, not both");
		else if (privacy)
			dp__check_privacy(r, &s->objectives[i], v, privacy);
		else if (metric)
			check_metric_objective(r, &s->objectives[i], v);
		else
			dp__report_error(r, v->key_pos, "privacy: {...} or metric: NAME",
					 "objective '%s' says neither 'privacy' nor 'metric'",
					 v->key);
	}
	if (r->anti_ideal_node && s->nobjectives)
		read_reference_point(r);
}
