/* read_objective.c - readers of objectives, the anti-ideal point and constraints, and
 * what must hold between them and the parameters. */
#include "study/study_internal.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void dp__read_objectives(struct dp__read *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
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
			dp__problem(r, m->key_pos, DP_NAME_RULE,
				    "'%s' cannot name an objective",
				    dp__shown(m->key, shown));
		o = &s->objectives[s->nobjectives];
		o->name = dp__strdup(r, m->key);
		if (!o->name)
			return;
		for (size_t i = 0; i < DP_PRIVACY_KEYS_MAX; i++) {
			o->constant[i] = NAN;
			o->param[i] = -1;
		}
		r->objective[s->nobjectives++] = m;
		if (dp__is_map(r, m, dp__shown(m->key, shown),
			       "either privacy or metric, and keys about it", SIZE_MAX))
			dp__read_section(r, DP__OBJECTIVE, m->key_pos, m, o);
	}
}

void dp__read_privacy(struct dp__read *r, const struct dp__key *k,
		      const struct dp__node *v, void *to)
{
	if (dp__is_map(r, v, k->name, "mechanism and the mechanism's keys", SIZE_MAX))
		dp__read_section(r, DP__PRIVACY, v->key_pos, v, to);
}

void dp__read_mechanism(struct dp__read *r, const struct dp__key *k,
			const struct dp__node *v, void *to)
{
	const char *text = dp__scalar(r, v, k->name, k->doc->type);
	char shown[DP__SHOWN], guess[DP__GUESS];
	char known[DP_MECHANISMS_LEN];
	const struct dp_mechanism *m;
	const char *names[DP_MECHANISMS_MAX + 1];

	if (!text)
		return;
	m = dp_mechanism_find(text);
	if (m) {
		*(const struct dp_mechanism **)to = m;
		return;
	}
	dp_mechanism_names(names);
	dp_mechanism_list(known);
	dp__problem(r, v->pos, known, "unknown mechanism '%s'%s This version knows %s.",
		    dp__shown(text, shown), *dp__guess(text, names, guess) ? guess : ".",
		    known);
}

void dp__read_anti_ideal(struct dp__read *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
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

void dp__read_constraints(struct dp__read *r, const struct dp__key *k,
			  const struct dp__node *v, void *to)
{
	static const char form[] = "\"<= NUMBER\" or \">= NUMBER\", in quotes";
	struct dp_study *s = to;
	char shown[DP__SHOWN];
	struct dp_constraint *c;
	const char *text;

	if (!dp__is_map(r, v, k->name, k->doc->type, DP_CONSTRAINTS_MAX))
		return;
	s->constraints = dp__calloc(r, v->count, sizeof *s->constraints);
	if (!s->constraints)
		return;
	for (const struct dp__node *m = v->first; m; m = m->next) {
		c = &s->constraints[s->nconstraints++];
		c->metric = dp__strdup(r, m->key);
		if (!dp_name_ok(m->key))
			dp__problem(r, m->key_pos, DP_NAME_RULE,
				    "'%s' cannot name a metric",
				    dp__shown(m->key, shown));
		text = dp__scalar(r, m, dp__shown(m->key, shown), form);
		if (text && !read_bound(text, c))
			dp__problem(r, m->pos, form, "a constraint cannot be '%s'",
				    dp__shown(text, shown));
	}
}

/* ---- a metric objective ---- */

/* `of` without its spaces, compared with "METRIC" and "1-METRIC". */
static void check_of(struct dp__read *r, struct dp_objective *o,
		     const struct dp__node *of)
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

static void check_metric(struct dp__read *r, struct dp_objective *o,
			 const struct dp__node *v)
{
	const struct dp__node *of = dp__get(v, "of");

	if (of && of->kind == DP__SCALAR && o->metric && dp_name_ok(o->metric))
		check_of(r, o, of);
}

/* ---- a privacy objective ---- */

static void unknown_key(struct dp__read *r, const struct dp_mechanism *m,
			const struct dp__node *v)
{
	const char *names[DP_PRIVACY_KEYS_MAX + 2] = { "mechanism" };
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__SHOWN], guess[DP__GUESS];

	dp_buf_puts(&allowed, names[0]);
	for (size_t i = 0; i < m->nkeys; i++) {
		names[i + 1] = m->keys[i].name;
		dp_buf_printf(&allowed, ", %s", m->keys[i].name);
	}
	dp__problem(r, v->key_pos, dp_buf_text(&allowed),
		    "mechanism %s has no key '%s'%s", m->name, dp__shown(v->key, shown),
		    dp__guess(v->key, names, guess));
	dp_buf_free(&allowed);
}

static int find_param(struct dp__read *r, const char *name)
{
	for (size_t i = 0; i < r->s->nparams; i++)
		if (strcmp(r->s->params[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void unknown_param(struct dp__read *r, const struct dp__node *v, const char *rule)
{
	const char *names[DP_PARAMS_MAX + 1];
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__SHOWN], guess[DP__GUESS];
	size_t n = 0;

	dp_buf_printf(&allowed, "%s, or a parameter:", rule);
	for (; n < r->s->nparams; n++) {
		names[n] = r->s->params[n].name;
		dp_buf_printf(&allowed, "%s %s", n ? "," : "",
			      dp__shown(names[n], shown));
	}
	names[n] = NULL;
	dp__problem(r, v->pos, dp_buf_text(&allowed), "'%s' names no parameter%s",
		    dp__shown(v->text, shown), dp__guess(v->text, names, guess));
	dp_buf_free(&allowed);
}

/* Every value that the parameter can take must be one that the key allows. */
static void check_binding(struct dp__read *r, const struct dp_privacy_key *k, int param,
			  const struct dp__node *v, const char *rule)
{
	const struct dp_param *p = &r->s->params[param];
	double ends[4] = { p->lo, p->hi, p->accept_lo, p->accept_hi };
	size_t n = DP_COUNT(ends);
	char text[DP_NUM_LEN];

	if (r->param_bad[param])
		return;
	if (p->kind == DP_PARAM_CATEGORICAL ||
	    (p->kind == DP_PARAM_FIXED && !json_is_number(p->values))) {
		dp__problem(r, v->pos, rule,
			    "parameter '%s' is %s, but '%s' needs a number", p->name,
			    p->kind == DP_PARAM_FIXED ? "not a number" : "categorical",
			    k->name);
		return;
	}
	if (k->kind == DP_PRIVACY_INTEGER && p->kind == DP_PARAM_FLOAT) {
		dp__problem(
			r, v->pos, rule,
			"'%s' needs whole numbers, but parameter '%s' is a float; give "
			"it type: int",
			k->name, p->name);
		return;
	}
	if (p->kind == DP_PARAM_FIXED) {
		ends[0] = json_number_value(p->values);
		n = 1;
	} else if (p->kind == DP_PARAM_INT) {
		ends[2] = ceil(ends[2]);
		ends[3] = floor(ends[3]);
	}
	for (size_t i = 0; i < n; i++) {
		if (dp_privacy_key_ok(k, ends[i]))
			continue;
		dp__problem(r, v->pos, rule, "parameter '%s' can be %s, but '%s' cannot",
			    p->name, dp_num_text(ends[i], text), k->name);
		return;
	}
}

static void bind_key(struct dp__read *r, struct dp_objective *o, size_t index,
		     const struct dp__node *v)
{
	const struct dp_privacy_key *k = &o->mechanism->keys[index];
	char rule[DP_PRIVACY_RULE_LEN], shown[DP__SHOWN];
	enum dp__type type;
	double x;
	int word;

	dp_privacy_key_rule(k, rule);
	if (k->kind == DP_PRIVACY_WORD) {
		word = dp__word(r, v, k->name, k->words);
		if (word >= 0)
			o->constant[index] = word;
		return;
	}
	if (!dp__scalar(r, v, k->name, rule))
		return;
	type = dp__type_of(v);
	if (type == DP__STRING) {
		o->param[index] = find_param(r, v->text);
		if (o->param[index] >= 0)
			check_binding(r, k, o->param[index], v, rule);
		else if (r->s->nparams > 0)
			unknown_param(r, v, rule);
		return;
	}
	if (!dp__number(r, v, k->name, rule, &x))
		return;
	if (dp_privacy_key_ok(k, x))
		o->constant[index] = x;
	else
		dp__problem(r, v->pos, rule, "'%s' cannot be %s", k->name,
			    dp__shown(v->text, shown));
}

/* Of the alternatives in a group exactly one must be there. Looked at once, at the
 * group's first key. */
static void check_mechanism_group(struct dp__read *r, const struct dp_mechanism *m,
				  size_t first, const struct dp__node *privacy)
{
	const struct dp__node *one = NULL, *v;
	struct dp_buf names = DP_BUF_INIT;

	for (size_t i = 0; i < m->nkeys; i++) {
		if (m->keys[i].group != m->keys[first].group)
			continue;
		if (i < first)
			return;
		dp_buf_printf(&names, "%s'%s'", names.len ? " or " : "", m->keys[i].name);
		v = dp__get(privacy, m->keys[i].name);
		if (v && one)
			dp__problem(r, v->key_pos, NULL,
				    "'%s' and '%s' exclude each other", one->key, v->key);
		one = v ? v : one;
	}
	if (!one)
		dp__problem(r, privacy->key_pos, NULL, "mechanism %s needs the key %s",
			    m->name, dp_buf_text(&names));
	dp_buf_free(&names);
}

static void check_privacy(struct dp__read *r, struct dp_objective *o,
			  const struct dp__node *v, const struct dp__node *privacy)
{
	const struct dp__node *goal = dp__get(v, "goal"), *of = dp__get(v, "of");
	const struct dp__node *transform = dp__get(v, "transform"), *m;
	char warning[DP_PRIVACY_WARNING_LEN];

	if (o->maximize && goal)
		dp__problem(r, goal->pos, "minimize",
			    "a privacy objective cannot be maximized: epsilon is a loss");
	if (of)
		dp__problem(r, of->key_pos, NULL,
			    "'of' belongs to a metric, not to privacy");
	if (transform && o->transform == DP_TRANSFORM_LOGIT)
		dp__problem(r, transform->pos, "none | log",
			    "epsilon has no logit: it can be above 1");
	if (!transform || o->transform == DP_TRANSFORM_LOGIT)
		o->transform = DP_TRANSFORM_LOG;
	if (privacy->kind != DP__MAP || !o->mechanism)
		return;
	for (m = privacy->first; m; m = m->next) {
		const struct dp_privacy_key *k =
			dp_privacy_key_find(o->mechanism, m->key);

		if (strcmp(m->key, "mechanism") == 0)
			continue;
		if (k)
			bind_key(r, o, dp_privacy_key_place(o->mechanism, k), m);
		else
			unknown_key(r, o->mechanism, m);
	}
	for (size_t i = 0; i < o->mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &o->mechanism->keys[i];

		if (k->needed && !dp__get(privacy, k->name))
			dp__problem(r, privacy->key_pos, NULL,
				    "mechanism %s needs the key '%s' (%s)",
				    o->mechanism->name, k->name, k->help);
		if (k->group)
			check_mechanism_group(r, o->mechanism, i, privacy);
	}
	if (dp_privacy_warning(o->mechanism, o->constant, warning))
		dp__warning(r, privacy->key_pos, NULL, "%s", warning);
}

/* ---- the anti-ideal point ---- */

/* The objective's scale must have a place for it. */
static bool has_scale(const struct dp_objective *o, double x)
{
	if (o->transform == DP_TRANSFORM_LOG)
		return x > 0;
	return o->transform != DP_TRANSFORM_LOGIT || (x >= 0 && x <= 1);
}

static void read_anti_ideal(struct dp__read *r, struct dp_objective *o,
			    const char *const *names)
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
			    "the anti-ideal of '%s' cannot be %s: its transform is %s",
			    o->name, v->text, log ? "log" : "logit");
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
				    dp__shown(m->key, shown),
				    dp__guess(m->key, names, guess));
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
			dp__problem(
				r, metric->key_pos, NULL,
				"an objective is either privacy or a metric, not both");
		else if (privacy)
			check_privacy(r, &s->objectives[i], v, privacy);
		else if (metric)
			check_metric(r, &s->objectives[i], v);
		else
			dp__problem(r, v->key_pos, "privacy: {...} or metric: NAME",
				    "objective '%s' says neither 'privacy' nor 'metric'",
				    v->key);
	}
	if (r->anti_ideal && s->nobjectives)
		check_anti_ideal(r);
}
