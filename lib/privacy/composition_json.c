/* composition_json.c - parses compositions from JSON.
 *
 * {"compose":[{"mechanism":...,KEY:VALUE,...,"times":2},...],"delta":1e-5,"accountant":"pld"} */
#include "privacy/privacy_internal.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Refuses a misspelt 'times', which would silently mean a single use. */
static int composition_check_times_typo(const json_t *member, const struct dp_mechanism *m,
					struct dp_err *err)
{
	const char *const known[] = { "times", NULL };
	const char *field;
	json_t *v;

	json_object_foreach ((json_t *)member, field, v) {
		if (dp_privacy_key_find(m, field) || !dp_nearest_word(field, known))
			continue;
		dp_fail(err, DP_E_INVALID, "a composition has no key '%.64s'", field);
		return dp_hint(err, "did you mean '%s'?", known[0]);
	}
	return DP_OK;
}

/* Parses one member of the list into the next free item. */
static int composition_parse_item(const json_t *member, struct dp_privacy_composition *out,
				  struct dp_err *err)
{
	struct dp_composition_item *item = &out->items[out->n];
	json_t *query = json_copy((json_t *)member);
	const json_t *times = json_object_get(member, "times");
	int code;

	*item = (struct dp_composition_item){ .values = out->values[out->n], .times = 1 };
	json_object_del(query, "times");
	code = dp_privacy_query_parse(query, &item->mechanism, out->values[out->n], err);
	json_decref(query);
	if (code == DP_OK && !times)
		code = composition_check_times_typo(member, item->mechanism, err);
	if (code == DP_OK && times && !dp_json_to_real(times, &item->times))
		code = dp_fail(err, DP_E_INVALID, "'times' must be a whole number");
	out->n++;
	return code;
}

static int composition_parse_accountant(const json_t *query, bool *pld, struct dp_err *err)
{
	const json_t *v = json_object_get(query, "accountant");
	const char *word = json_string_value(v);

	*pld = true;
	if (!v)
		return DP_OK;
	if (word && strcmp(word, dp_privacy_accountants[DP_PRIVACY_PLD]) == 0)
		return DP_OK;
	*pld = false;
	if (word && strcmp(word, dp_privacy_accountants[DP_PRIVACY_RDP]) == 0)
		return DP_OK;
	return dp_fail(err, DP_E_INVALID, "'accountant' must be one of: %s | %s",
		       dp_privacy_accountants[DP_PRIVACY_RDP],
		       dp_privacy_accountants[DP_PRIVACY_PLD]);
}

/* The fields next to the list. Ignores others, like all our JSON, unless close to an absent one. */
static int composition_parse_fields(const json_t *query, struct dp_privacy_composition *out,
				    struct dp_err *err)
{
	const char *const known[] = { "delta", "accountant", "compose", NULL };
	const char *field, *near;
	json_t *v;

	json_object_foreach ((json_t *)query, field, v) {
		near = dp_nearest_word(field, known);
		if (!near || json_object_get(query, near))
			continue;
		dp_fail(err, DP_E_INVALID, "a composition has no key '%.64s'", field);
		return dp_hint(err, "did you mean '%s'?", near);
	}
	v = json_object_get(query, "delta");
	if (!v) {
		dp_fail(err, DP_E_INVALID, "a composition needs the key 'delta'");
		return dp_hint(err, "it belongs beside 'compose' and holds for all of "
				    "it; 0 where every mechanism is purely private");
	}
	if (!dp_json_to_real(v, &out->delta) || isnan(out->delta))
		return dp_fail(err, DP_E_INVALID, "'delta' must be a number");
	return composition_parse_accountant(query, &out->pld, err);
}

int dp_privacy_composition_parse(const json_t *query, struct dp_privacy_composition *out,
				 struct dp_err *err)
{
	const json_t *list = json_object_get(query, "compose");
	size_t n = json_array_size(list);
	int code;

	*out = (struct dp_privacy_composition){ 0 };
	if (!json_is_array(list) || n == 0) {
		dp_fail(err, DP_E_INVALID, "'compose' must be a list of mechanisms");
		return dp_hint(err, "as in {\"compose\":[{\"mechanism\":\"laplace\","
				    "\"scale\":10,\"times\":3}],\"delta\":1e-6}");
	}
	if (n > DP_PRIVACY_COMPOSED_MAX)
		return dp_fail(err, DP_E_LIMIT, "'compose' has %zu mechanisms; at most %d", n,
			       DP_PRIVACY_COMPOSED_MAX);
	code = composition_parse_fields(query, out, err);
	if (code != DP_OK)
		return code;
	out->items = dp_calloc(n, sizeof *out->items);
	out->values = dp_calloc(n, sizeof *out->values);
	for (size_t i = 0; code == DP_OK && i < n; i++) {
		code = composition_parse_item(json_array_get(list, i), out, err);
		if (code != DP_OK)
			dp_err_prefix(err, "compose[%zu]", i);
	}
	if (code != DP_OK)
		dp_privacy_composition_free(out);
	return code;
}

void dp_privacy_composition_free(struct dp_privacy_composition *c)
{
	free(c->items);
	free(c->values);
	*c = (struct dp_privacy_composition){ 0 };
}

int dp_privacy_composition_epsilon(const struct dp_privacy_composition *c, struct dp_epsilon *out,
				   struct dp_err *err)
{
	return dp_privacy_compose(c->items, c->n, c->delta, c->pld, out, err);
}
