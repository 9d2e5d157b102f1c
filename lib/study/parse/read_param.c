/* read_param.c - reads parameters, and checks each on its own. */
#include "study/parse/study_parse_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Below this, a point would take more draws than the sampler makes. */
#define ACCEPT_PROBABILITY_MIN 1e-4

static const char value_types[] = "number, text or boolean";

/* A scalar with its YAML type. NULL with a diagnostic. */
static json_t *read_typed_scalar(struct dp__study_parser *r, const struct dp__node *v,
				 const char *name)
{
	const char *text = dp__expect_scalar(r, v, name, value_types);
	char shown[DP__PRINTABLE_SIZE];
	json_t *value = NULL;
	enum dp__scalar_type type;
	int64_t whole;
	double x;

	if (!text)
		return NULL;
	type = dp__scalar_type_of(v);
	if (type == DP__SCALAR_STRING)
		value = json_string(text);
	else if (type == DP__SCALAR_BOOL)
		value = json_boolean(text[0] == 't' || text[0] == 'T');
	else if (type == DP__SCALAR_INT && dp_int_parse(text, &whole))
		value = json_integer(whole);
	else if (type != DP__SCALAR_NULL && dp_num_parse(text, &x) && isfinite(x))
		value = json_real(x);
	else {
		dp__report_error(r, v->pos, value_types, "'%s' cannot hold '%s'", name,
				 dp__printable(text, shown));
		return NULL;
	}
	return value;
}

/* A parameter with both `values` and `fixed` is refused later. Until then the last one counts. */
static void param_replace_json(void *to, json_t *value)
{
	json_t **slot = to;

	json_decref(*slot);
	*slot = value;
}

void dp__read_fixed(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		    void *to)
{
	param_replace_json(to, read_typed_scalar(r, v, k->name));
}

/* 1 and 1.0 are the same choice. */
static bool is_same_choice(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

void dp__read_values(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	json_t *values, *value, *other;
	const struct dp__node *item;
	char shown[DP__PRINTABLE_SIZE];
	size_t i;

	if (!dp__expect_list(r, v, k->name, k->doc->type, DP_VALUES_MAX))
		return;
	values = json_array();
	param_replace_json(to, values);
	for (item = v->first_child; item; item = item->next_sibling) {
		value = read_typed_scalar(r, item, k->name);
		if (!value)
			continue;
		json_array_foreach (values, i, other) {
			if (is_same_choice(value, other)) {
				dp__report_error(r, item->pos, NULL,
						 "the value '%s' is given twice",
						 dp__printable(item->text, shown));
				break;
			}
		}
		json_array_append_new(values, value);
	}
}

/* ---- sample ---- */

void dp__read_uniform_dist(struct dp__study_parser *r, const struct dp__key *k,
			   const struct dp__node *v, void *to)
{
	struct dp_param *p = to;
	double pair[2] = { 0, 1 };

	p->dist = DP_DIST_UNIFORM;
	dp__read_bounds(r, k, v, pair);
	p->dist_a = pair[0];
	p->dist_b = pair[1];
}

void dp__read_normal_dist(struct dp__study_parser *r, const struct dp__key *k,
			  const struct dp__node *v, void *to)
{
	struct dp_param *p = to;

	p->dist = DP_DIST_NORMAL;
	if (dp__expect_map(r, v, k->name, "a map with mean and sd", SIZE_MAX))
		dp__read_section(r, DP__NORMAL, v->key_pos, v, p);
}

void dp__read_exponential_dist(struct dp__study_parser *r, const struct dp__key *k,
			       const struct dp__node *v, void *to)
{
	struct dp_param *p = to;

	p->dist = DP_DIST_EXPONENTIAL;
	if (dp__expect_map(r, v, k->name, "a map with rate and shift", SIZE_MAX))
		dp__read_section(r, DP__EXPONENTIAL, v->key_pos, v, p);
}

void dp__read_sample(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	static const char form[] = "one of uniform, normal and exponential, and accept";
	int given;

	if (!dp__expect_map(r, v, k->name, form, SIZE_MAX))
		return;
	dp__read_section(r, DP__SAMPLE, v->key_pos, v, to);
	given = !!dp__map_get(v, "uniform") + !!dp__map_get(v, "normal") +
		!!dp__map_get(v, "exponential");
	if (given == 0)
		dp__report_error(r, v->key_pos, form, "'sample' names no distribution");
	else if (given > 1)
		dp__report_error(r, v->key_pos, form, "'sample' names %d distributions", given);
}

/* ---- one parameter ---- */

/* Refuses a key that does not apply to this kind of parameter. */
static void param_refuse_key(struct dp__study_parser *r, const struct dp__node *v, const char *key,
			     const char *kind)
{
	const struct dp__node *m = dp__map_get(v, key);

	if (m)
		dp__report_error(r, m->key_pos, NULL, "%s parameter has no '%s'", kind, key);
}

static void param_require_key(struct dp__study_parser *r, const struct dp__node *v, const char *key,
			      const char *example)
{
	if (!dp__map_get(v, key))
		dp__report_error(r, v->key_pos, NULL,
				 "parameter '%s' needs the key '%s', for example `%s`", v->key, key,
				 example);
}

static void check_integer_range(struct dp__study_parser *r, const struct dp_param *p,
				const struct dp__node *range)
{
	if (p->lo != floor(p->lo) || p->hi != floor(p->hi))
		dp__report_error(r, range->pos, "two whole numbers, the lower first",
				 "the range of an int parameter has whole ends");
	else if (fabs(p->lo) > 0x1p53 || fabs(p->hi) > 0x1p53)
		dp__report_error(r, range->pos,
				 "whole numbers from -9007199254740992 to 9007199254740992",
				 "'range' is too wide for whole numbers");
}

/* Checks that the distribution can reach the accepted range. */
static void check_accept_range(struct dp__study_parser *r, const struct dp_param *p,
			       const struct dp__node *sample)
{
	const struct dp__node *accept = dp__map_get(sample, "accept");
	size_t pos = accept ? accept->pos : sample->key_pos;
	double chance;

	if (p->kind == DP_PARAM_INT && ceil(p->accept_lo) > floor(p->accept_hi)) {
		dp__report_error(r, pos, NULL, "no whole number lies within 'accept'");
		return;
	}
	chance = dp__accept_probability(p, p->accept_lo, p->accept_hi);
	if (!(chance >= ACCEPT_PROBABILITY_MIN))
		dp__report_error(r, pos, "at least 0.0001",
				 "a draw from this distribution is accepted with probability "
				 "%.3g only",
				 chance);
}

static void check_numeric_param(struct dp__study_parser *r, struct dp_param *p,
				const struct dp__node *v, size_t errors)
{
	const struct dp__node *range = dp__map_get(v, "range"), *sample = dp__map_get(v, "sample");

	param_refuse_key(r, v, "values", p->kind == DP_PARAM_INT ? "an int" : "a float");
	param_require_key(r, v, "range", "range: [1, 30]");
	if (!range || r->diagnostics->error_count > errors)
		return;
	if (p->kind == DP_PARAM_INT)
		check_integer_range(r, p, range);
	if (p->log_scale && p->lo <= 0)
		dp__report_error(r, range->pos, "a range above 0, or scale: linear",
				 "a log scale cannot go through zero or below");
	else if (p->log_scale && !isfinite(p->hi / p->lo))
		dp__report_error(r, range->pos, NULL, "'range' is too wide for a log scale");
	if (!dp__map_get(sample, "accept")) {
		p->accept_lo = p->lo;
		p->accept_hi = p->hi;
	}
	if (sample && r->diagnostics->error_count == errors)
		check_accept_range(r, p, sample);
}

/* Checks a parameter whose kind is given by its only key. */
static void check_only_key(struct dp__study_parser *r, const struct dp__node *v, const char *key,
			   const char *kind)
{
	for (const struct dp__node *m = v->first_child; m; m = m->next_sibling)
		if (strcmp(m->key, key) != 0)
			dp__report_error(r, m->key_pos, NULL,
					 "a %s parameter has no other key than '%s'", kind, key);
}

static void check_fixed_param(struct dp__study_parser *r, struct dp_param *p,
			      const struct dp__node *v)
{
	p->kind = DP_PARAM_FIXED;
	check_only_key(r, v, "fixed", "fixed");
}

static void check_calibrated_param(struct dp__study_parser *r, struct dp_param *p,
				   const struct dp__node *v)
{
	p->kind = DP_PARAM_CALIBRATED;
	p->log_scale = true; /* noise is displayed on a log scale */
	check_only_key(r, v, "calibrate", "calibrated");
}

static void check_categorical_param(struct dp__study_parser *r, const struct dp__node *v)
{
	static const char *const numeric[] = { "range", "scale", "grid", "sample" };

	for (size_t i = 0; i < DP_COUNT(numeric); i++)
		param_refuse_key(r, v, numeric[i], "a categorical");
	param_require_key(r, v, "values", "values: [relu, tanh]");
}

static void read_one_param(struct dp__study_parser *r, struct dp_param *p, const struct dp__node *v)
{
	size_t errors = r->diagnostics->error_count;
	const struct dp__node *type;

	if (!dp__expect_map(r, v, v->key, "keys such as type and range, or fixed", SIZE_MAX))
		return;
	dp__read_section(r, DP__PARAM, v->key_pos, v, p);
	type = dp__map_get(v, "type");
	if (dp__map_get(v, "fixed"))
		check_fixed_param(r, p, v);
	else if (dp__map_get(v, "calibrate"))
		check_calibrated_param(r, p, v);
	else if (!type)
		dp__report_error(r, v->key_pos,
				 "type: float | int | categorical, or fixed: VALUE, or "
				 "calibrate: KEYS",
				 "parameter '%s' needs the key 'type'", v->key);
	else if (p->kind == DP_PARAM_CATEGORICAL)
		check_categorical_param(r, v);
	else if (p->kind == DP_PARAM_INT || strcmp(type->text, "float") == 0)
		check_numeric_param(r, p, v, errors);
}

void dp__read_parameters(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
{
	struct dp_study *s = to;
	char shown[DP__PRINTABLE_SIZE];
	struct dp_param *p;
	size_t errors;

	if (!dp__expect_map(r, v, k->name, "names and their parameters, 1 to 64 of them",
			    DP_PARAMS_MAX))
		return;
	s->params = dp_calloc(v->count, sizeof *s->params);
	for (const struct dp__node *m = v->first_child; m; m = m->next_sibling) {
		p = &s->params[s->nparams];
		errors = r->diagnostics->error_count;
		if (!dp_name_ok(m->key))
			dp__report_error(r, m->key_pos, DP_NAME_RULE,
					 "'%s' cannot name a parameter",
					 dp__printable(m->key, shown));
		p->name = dp_strdup(m->key);
		r->param_nodes[s->nparams] = m;
		read_one_param(r, p, m);
		r->param_invalid[s->nparams++] =
			r->diagnostics->error_count > errors || m->kind == DP__NODE_INVALID;
	}
}
