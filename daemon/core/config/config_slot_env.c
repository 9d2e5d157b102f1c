/* config_slot_env.c - parses and checks the option `slot_env` when the configuration is read. */
#include "daemon/core/config/config_slot_env.h"

#include "base/json.h"
#include "base/program.h"

#include <stdio.h>
#include <string.h>

enum {
	SLOT_NAMES_MAX = 64,
	SLOT_VALUES_MAX = 4096
};

/* Prefixes of reserved names: of the trainer protocol and the service manager. */
static const char *const reserved_prefixes[] = { "DPARETO_", "NOTIFY_SOCKET", "LISTEN_",
						 "WATCHDOG_" };

static int slot_check_name(const char *name, struct dp_err *err)
{
	if (!dp_env_name_ok(name))
		return dp_fail(err, DP_E_USAGE,
			       "slot_env.%.40s cannot name an environment variable: "
			       "letters, digits and '_', not starting with a digit",
			       name);
	for (size_t i = 0; i < DP_COUNT(reserved_prefixes); i++)
		if (strncmp(name, reserved_prefixes[i], strlen(reserved_prefixes[i])) == 0)
			return dp_fail(err, DP_E_USAGE,
				       "slot_env.%.40s cannot be set: variables that "
				       "start with %s are dparetod's own",
				       name, reserved_prefixes[i]);
	return DP_OK;
}

/* Converts the values of one variable to strings in *out; numbers keep their text. */
static int slot_values(const char *name, const json_t *list, json_t *out, struct dp_err *err)
{
	const json_t *value;
	size_t i;

	if (json_array_size(list) == 0 || json_array_size(list) > SLOT_VALUES_MAX)
		return dp_fail(err, DP_E_USAGE,
			       "slot_env.%.40s must be a list of one value for each "
			       "slot, such as [\"0\", \"1\"]",
			       name);
	json_array_foreach (list, i, value) {
		if (json_is_integer(value))
			json_array_append_new(out, json_sprintf("%" JSON_INTEGER_FORMAT,
								json_integer_value(value)));
		else if (json_is_string(value))
			json_array_append_new(out, json_string(json_string_value(value)));
		else
			return dp_fail(err, DP_E_USAGE, "slot_env.%.40s[%zu] must be a text", name,
				       i);
	}
	return DP_OK;
}

int slot_env_parse(const char *text, json_t **out, struct dp_err *err)
{
	json_t *tree = NULL, *texts = json_object(), *list;
	const char *name;
	struct dp_err why;
	int code = dp_json_parse(text, strlen(text), &tree, &why);

	if (code != DP_OK || !json_is_object(tree))
		code = dp_fail(err, DP_E_USAGE,
			       "slot_env must be a map of names to lists, such as "
			       "{CUDA_VISIBLE_DEVICES: [\"0\", \"1\"]}");
	else if (json_object_size(tree) > SLOT_NAMES_MAX)
		code = dp_fail(err, DP_E_USAGE, "slot_env can have %d names at most",
			       SLOT_NAMES_MAX);
	json_object_foreach (tree, name, list) {
		json_t *values = json_array();

		json_object_set_new(texts, name, values);
		if (code == DP_OK)
			code = slot_check_name(name, err);
		if (code == DP_OK)
			code = slot_values(name, list, values, err);
	}
	json_decref(tree);
	if (code == DP_OK)
		*out = texts;
	else
		json_decref(texts);
	return code;
}

int slot_env_check_count(const json_t *slot_env, unsigned slots, struct dp_err *err)
{
	const char *name;
	json_t *values;

	json_object_foreach ((json_t *)slot_env, name, values) {
		size_t n = json_array_size(values);

		if (n >= slots)
			continue;
		dp_fail(err, DP_E_INVALID,
			"slot_env.%.40s has %zu value%s for %u slots: there must be one "
			"for each",
			name, n, n == 1 ? "" : "s", slots);
		return dp_hint(err, "add values, or say slots: %zu", n);
	}
	return DP_OK;
}
