/* privacy_json.c - queries and answers of the accountants as JSON. */
#include "privacy/privacy_internal.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int fail_unknown_mechanism(const char *name, struct dp_err *err)
{
	const char *names[DP_MECHANISMS_MAX + 1], *near;
	char list[DP_MECHANISMS_LEN];

	dp_mechanism_names(names);
	near = dp_nearest_word(name, names);
	dp_fail(err, DP_E_INVALID, "there is no mechanism '%.64s'", name);
	if (near)
		dp_hint(err, "did you mean '%s'?", near);
	else
		dp_hint(err, "mechanisms are %s", dp_mechanism_names_text(list));
	return DP_E_INVALID;
}

static int query_parse_choice(const struct dp_privacy_key *k, const json_t *v, double *out,
			      struct dp_err *err)
{
	const char *word = json_string_value(v), *near;
	char rule[DP_PRIVACY_RANGE_TEXT_LEN];

	for (size_t i = 0; word && k->choices[i]; i++) {
		if (strcmp(word, k->choices[i]) == 0) {
			*out = (double)i;
			return DP_OK;
		}
	}
	dp_privacy_key_format_range(k, rule);
	if (!word)
		return dp_fail(err, DP_E_INVALID, "'%s' must be one of: %s", k->name, rule);
	near = dp_nearest_word(word, k->choices);
	dp_fail(err, DP_E_INVALID, "'%s' cannot be '%.64s'; allowed: %s", k->name, word, rule);
	if (near)
		dp_hint(err, "did you mean '%s'?", near);
	return DP_E_INVALID;
}

static int query_parse_value(const struct dp_privacy_key *k, const json_t *v, double *out,
			     struct dp_err *err)
{
	if (k->kind == DP_PRIVACY_CHOICE)
		return query_parse_choice(k, v, out, err);
	/* NaN means "absent" from here on, so refuse it here */
	if (!dp_json_to_real(v, out) || isnan(*out))
		return dp_fail(err, DP_E_INVALID, "'%s' must be a number", k->name);
	return DP_OK;
}

/* Ignores a field that is no key, as all our JSON does, unless it is close to an absent key. */
static int query_check_unknown_field(const struct dp_mechanism *m, const json_t *query,
				     const char *field, struct dp_err *err)
{
	const char *missing[DP_PRIVACY_KEYS_MAX + 1] = { NULL }, *near;
	size_t n = 0;

	for (size_t i = 0; i < m->nkeys; i++)
		if (!json_object_get(query, m->keys[i].name))
			missing[n++] = m->keys[i].name;
	near = dp_nearest_word(field, missing);
	if (!near)
		return DP_OK;
	dp_fail(err, DP_E_INVALID, "mechanism %s has no key '%.64s'", m->name, field);
	dp_hint(err, "did you mean '%s'?", near);
	return DP_E_INVALID;
}

int dp_privacy_query_parse(const json_t *query, const struct dp_mechanism **m,
			   double values[DP_PRIVACY_KEYS_MAX], struct dp_err *err)
{
	const char *name, *field;
	json_t *v;
	int code = DP_OK;

	if (!json_is_object(query))
		return dp_fail(err, DP_E_INVALID, "a query must be a JSON object");
	name = json_string_value(json_object_get(query, "mechanism"));
	if (!name)
		return dp_fail(err, DP_E_INVALID, "a query needs the key 'mechanism'");
	*m = dp_mechanism_find(name);
	if (!*m)
		return fail_unknown_mechanism(name, err);
	for (size_t i = 0; i < (*m)->nkeys; i++)
		values[i] = NAN;
	json_object_foreach ((json_t *)query, field, v) {
		const struct dp_privacy_key *k = dp_privacy_key_find(*m, field);

		if (k)
			code = query_parse_value(k, v, &values[dp_privacy_key_index(*m, k)], err);
		else if (strcmp(field, "mechanism") != 0)
			code = query_check_unknown_field(*m, query, field, err);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

json_t *dp_epsilon_to_json(const struct dp_epsilon *e)
{
	bool whole = e->order == floor(e->order) && fabs(e->order) < 1e15;
	json_t *order = isnan(e->order) ? json_null()
			: whole         ? json_integer((json_int_t)e->order)
					: json_real(e->order);

	return json_pack("{s:o, s:o, s:o, s:s, s:o}", "epsilon", dp_json_real(e->epsilon), "delta",
			 json_real(e->delta), "order", order, "accountant", e->accountant,
			 e->error_is_proved ? "error_bound" : "error_estimate",
			 dp_json_real(e->error));
}

/* True if the key affects epsilon with these values, which include defaults. */
static bool key_affects_epsilon(const struct dp_mechanism *m, const double *values,
				const struct dp_privacy_key *k, bool composed)
{
	double chosen = dp_privacy_value(m, values, m->accountant);
	bool whole =
		k == m->delta || k == m->accountant || k == m->conversion || k->only_accountant;

	if (isnan(dp_privacy_value(m, values, k)) || (composed && whole))
		return false;
	return !k->only_accountant || isnan(chosen) ||
	       strcmp(k->only_accountant, dp_privacy_accountants[(size_t)chosen]) == 0;
}

static json_t *key_value_to_json(const struct dp_mechanism *m, const double *values,
				 const struct dp_privacy_key *k)
{
	double v = dp_privacy_value(m, values, k);

	if (k->kind == DP_PRIVACY_CHOICE)
		return json_string(k->choices[(size_t)v]);
	return dp_privacy_key_is_integer(m, values, k) ? json_integer((json_int_t)v)
						       : dp_json_real(v);
}

json_t *dp_mechanism_accounting_json(const struct dp_mechanism *m, const double *values,
				     bool composed)
{
	json_t *o = json_pack("{s:s}", "mechanism", m->name);
	double full[DP_PRIVACY_KEYS_MAX];

	for (size_t i = 0; i < m->nkeys; i++)
		full[i] = isnan(values[i]) ? m->keys[i].default_value : values[i];
	if (m->resolve)
		m->resolve(full);
	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		if (key_affects_epsilon(m, full, k, composed))
			json_object_set_new(o, k->name, key_value_to_json(m, full, k));
	}
	return o;
}

static int composition_query_epsilon(const json_t *query, struct dp_epsilon *out,
				     struct dp_err *err)
{
	struct dp_privacy_composition c;
	int code = dp_privacy_composition_parse(query, &c, err);

	if (code == DP_OK)
		code = dp_privacy_composition_epsilon(&c, out, err);
	dp_privacy_composition_free(&c);
	return code;
}

int dp_privacy_answer_query(const json_t *query, json_t **answer, struct dp_err *err)
{
	const struct dp_mechanism *m;
	double values[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon e;
	int code;

	if (json_object_get(query, "compose")) {
		code = composition_query_epsilon(query, &e, err);
	} else {
		code = dp_privacy_query_parse(query, &m, values, err);
		if (code == DP_OK)
			code = dp_privacy_epsilon(m, values, &e, err);
	}
	if (code != DP_OK)
		return code;
	*answer = dp_epsilon_to_json(&e);
	return DP_OK;
}
