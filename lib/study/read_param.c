/* read_param.c - readers of parameters, and what must hold within one. */
#include "study/study_internal.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this a point would take more draws than the sampler makes. */
#define ACCEPT_LEAST 1e-4

static const char value_types[] = "number, text or boolean";

/* A scalar with its YAML type, or NULL with a problem. */
static json_t *read_scalar(struct dp__read *r, const struct dp__node *v, const char *name)
{
	const char *text = dp__scalar(r, v, name, value_types);
	char shown[DP__SHOWN];
	json_t *value = NULL;
	enum dp__type type;
	int64_t whole;
	double x;

	if (!text)
		return NULL;
	type = dp__type_of(v);
	if (type == DP__STRING)
		value = json_string(text);
	else if (type == DP__BOOL)
		value = json_boolean(text[0] == 't' || text[0] == 'T');
	else if (type == DP__INT && dp_int_parse(text, &whole))
		value = json_integer(whole);
	else if (type != DP__NULL && dp_num_parse(text, &x) && isfinite(x))
		value = json_real(x);
	else {
		dp__problem(r, v->pos, value_types, "'%s' cannot hold '%s'", name,
			    dp__shown(text, shown));
		return NULL;
	}
	if (!value)
		r->nomem = true;
	return value;
}

/* A parameter with both `values` and `fixed` is refused later; until then the last one
 * stands. */
static void param_put_json(void *to, json_t *value)
{
	json_t **slot = to;

	json_decref(*slot);
	*slot = value;
}

void dp__read_fixed(struct dp__read *r, const struct dp__key *k, const struct dp__node *v, void *to)
{
	param_put_json(to, read_scalar(r, v, k->name));
}

/* 1 and 1.0 are the same choice. */
static bool same_value(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

void dp__read_values(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	json_t *values, *value, *other;
	const struct dp__node *item;
	char shown[DP__SHOWN];
	size_t i;

	if (!dp__is_list(r, v, k->name, k->doc->type, DP_VALUES_MAX))
		return;
	values = json_array();
	param_put_json(to, values);
	if (!values)
		r->nomem = true;
	for (item = v->first; values && item; item = item->next) {
		value = read_scalar(r, item, k->name);
		if (!value)
			continue;
		json_array_foreach (values, i, other) {
			if (same_value(value, other)) {
				dp__problem(r, item->pos, NULL, "the value '%s' is given twice",
					    dp__shown(item->text, shown));
				break;
			}
		}
		if (json_array_append_new(values, value) < 0)
			r->nomem = true;
	}
}

/* ---- sample ---- */

void dp__read_uniform(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		      void *to)
{
	struct dp_param *p = to;
	double pair[2] = { 0, 1 };

	p->dist = DP_DIST_UNIFORM;
	dp__read_bounds(r, k, v, pair);
	p->a = pair[0];
	p->b = pair[1];
}

void dp__read_normal(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	struct dp_param *p = to;

	p->dist = DP_DIST_NORMAL;
	if (dp__is_map(r, v, k->name, "a map with mean and sd", SIZE_MAX))
		dp__read_section(r, DP__NORMAL, v->key_pos, v, p);
}

void dp__read_exponential(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			  void *to)
{
	struct dp_param *p = to;

	p->dist = DP_DIST_EXPONENTIAL;
	if (dp__is_map(r, v, k->name, "a map with rate and shift", SIZE_MAX))
		dp__read_section(r, DP__EXPONENTIAL, v->key_pos, v, p);
}

void dp__read_sample(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	static const char form[] = "one of uniform, normal and exponential, and accept";
	int given;

	if (!dp__is_map(r, v, k->name, form, SIZE_MAX))
		return;
	dp__read_section(r, DP__SAMPLE, v->key_pos, v, to);
	given = !!dp__get(v, "uniform") + !!dp__get(v, "normal") + !!dp__get(v, "exponential");
	if (given == 0)
		dp__problem(r, v->key_pos, form, "'sample' names no distribution");
	else if (given > 1)
		dp__problem(r, v->key_pos, form, "'sample' names %d distributions", given);
}

/* ---- one parameter ---- */

/* A key that this kind of parameter has no use for. */
static void param_refuses(struct dp__read *r, const struct dp__node *v, const char *key,
			  const char *kind)
{
	const struct dp__node *m = dp__get(v, key);

	if (m)
		dp__problem(r, m->key_pos, NULL, "%s parameter has no '%s'", kind, key);
}

static void param_needs(struct dp__read *r, const struct dp__node *v, const char *key,
			const char *example)
{
	if (!dp__get(v, key))
		dp__problem(r, v->key_pos, NULL,
			    "parameter '%s' needs the key '%s', for example `%s`", v->key, key,
			    example);
}

static void check_whole(struct dp__read *r, const struct dp_param *p, const struct dp__node *range)
{
	if (p->lo != floor(p->lo) || p->hi != floor(p->hi))
		dp__problem(r, range->pos, "two whole numbers, the lower first",
			    "the range of an int parameter has whole ends");
	else if (fabs(p->lo) > 0x1p53 || fabs(p->hi) > 0x1p53)
		dp__problem(r, range->pos,
			    "whole numbers from -9007199254740992 to 9007199254740992",
			    "'range' is too wide for whole numbers");
}

/* Can the distribution reach what is accepted? */
static void check_accept(struct dp__read *r, const struct dp_param *p,
			 const struct dp__node *sample)
{
	const struct dp__node *accept = dp__get(sample, "accept");
	size_t pos = accept ? accept->pos : sample->key_pos;
	double chance;

	if (p->kind == DP_PARAM_INT && ceil(p->accept_lo) > floor(p->accept_hi)) {
		dp__problem(r, pos, NULL, "no whole number lies within 'accept'");
		return;
	}
	chance = dp__accept_probability(p, p->accept_lo, p->accept_hi);
	if (!(chance >= ACCEPT_LEAST))
		dp__problem(r, pos, "at least 0.0001",
			    "a draw from this distribution is accepted with probability "
			    "%.3g only",
			    chance);
}

static void check_numbers(struct dp__read *r, struct dp_param *p, const struct dp__node *v,
			  size_t errors)
{
	const struct dp__node *range = dp__get(v, "range"), *sample = dp__get(v, "sample");

	param_refuses(r, v, "values", p->kind == DP_PARAM_INT ? "an int" : "a float");
	param_needs(r, v, "range", "range: [1, 30]");
	if (!range || r->problems->errors > errors)
		return;
	if (p->kind == DP_PARAM_INT)
		check_whole(r, p, range);
	if (p->log && p->lo <= 0)
		dp__problem(r, range->pos, "a range above 0, or scale: linear",
			    "a log scale cannot go through zero or below");
	else if (p->log && !isfinite(p->hi / p->lo))
		dp__problem(r, range->pos, NULL, "'range' is too wide for a log scale");
	if (!dp__get(sample, "accept")) {
		p->accept_lo = p->lo;
		p->accept_hi = p->hi;
	}
	if (sample && r->problems->errors == errors)
		check_accept(r, p, sample);
}

/* A parameter of a kind that is told by its one key. */
static void check_alone(struct dp__read *r, const struct dp__node *v, const char *key,
			const char *kind)
{
	for (const struct dp__node *m = v->first; m; m = m->next)
		if (strcmp(m->key, key) != 0)
			dp__problem(r, m->key_pos, NULL,
				    "a %s parameter has no other key than '%s'", kind, key);
}

static void check_fixed(struct dp__read *r, struct dp_param *p, const struct dp__node *v)
{
	p->kind = DP_PARAM_FIXED;
	check_alone(r, v, "fixed", "fixed");
}

static void check_derived(struct dp__read *r, struct dp_param *p, const struct dp__node *v)
{
	p->kind = DP_PARAM_CALIBRATED;
	p->log = true; /* noise is shown on this scale */
	check_alone(r, v, "calibrate", "calibrated");
}

static void check_categorical(struct dp__read *r, const struct dp__node *v)
{
	static const char *const numeric[] = { "range", "scale", "grid", "sample" };

	for (size_t i = 0; i < DP_COUNT(numeric); i++)
		param_refuses(r, v, numeric[i], "a categorical");
	param_needs(r, v, "values", "values: [relu, tanh]");
}

static void read_one(struct dp__read *r, struct dp_param *p, const struct dp__node *v)
{
	size_t errors = r->problems->errors;
	const struct dp__node *type;

	if (!dp__is_map(r, v, v->key, "keys such as type and range, or fixed", SIZE_MAX))
		return;
	dp__read_section(r, DP__PARAM, v->key_pos, v, p);
	type = dp__get(v, "type");
	if (dp__get(v, "fixed"))
		check_fixed(r, p, v);
	else if (dp__get(v, "calibrate"))
		check_derived(r, p, v);
	else if (!type)
		dp__problem(r, v->key_pos,
			    "type: float | int | categorical, or fixed: VALUE, or "
			    "calibrate: KEYS",
			    "parameter '%s' needs the key 'type'", v->key);
	else if (p->kind == DP_PARAM_CATEGORICAL)
		check_categorical(r, v);
	else if (p->kind == DP_PARAM_INT || strcmp(type->text, "float") == 0)
		check_numbers(r, p, v, errors);
}

void dp__read_parameters(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
			 void *to)
{
	struct dp_study *s = to;
	char shown[DP__SHOWN];
	struct dp_param *p;
	size_t errors;

	if (!dp__is_map(r, v, k->name, "names and their parameters, 1 to 64 of them",
			DP_PARAMS_MAX))
		return;
	s->params = dp__calloc(r, v->count, sizeof *s->params);
	if (!s->params)
		return;
	for (const struct dp__node *m = v->first; m; m = m->next) {
		p = &s->params[s->nparams];
		errors = r->problems->errors;
		if (!dp_name_ok(m->key))
			dp__problem(r, m->key_pos, DP_NAME_RULE, "'%s' cannot name a parameter",
				    dp__shown(m->key, shown));
		p->name = dp__strdup(r, m->key);
		if (!p->name)
			return;
		r->param[s->nparams] = m;
		read_one(r, p, m);
		r->param_bad[s->nparams++] =
			r->problems->errors > errors || m->kind == DP__UNREADABLE;
	}
}
