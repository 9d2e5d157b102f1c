/* config_hooks.c - parses and checks the option `hooks` when the configuration is read. */
#include "daemon/core/config/config_hooks.h"

#include "base/json.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

enum {
	HOOKS_MAX = 64,
	HOOK_ARGS_MAX = 256,
	HOOK_TIMEOUT_MAX = 86400 /* seconds */
};
#define HOOK_TIMEOUT_DEFAULT "30s"

static const char *const hook_event_names[] = {
#define X(name, text) [HOOK_EVENT_##name] = text,
	HOOK_EVENTS(X)
#undef X
		NULL
};

const char *hook_event_text(enum hook_event h)
{
	return hook_event_names[h];
}

static int hook_check_events(const json_t *on, size_t hook, struct dp_err *err)
{
	const json_t *v;
	const char *word, *near;
	size_t i;

	if (json_array_size(on) == 0)
		return dp_fail(err, DP_E_USAGE,
			       "hooks[%zu].on must be a list of events, such as "
			       "[finished, failed]",
			       hook);
	json_array_foreach (on, i, v) {
		const char *const *known = hook_event_names;

		word = json_string_value(v);
		while (word && *known && strcmp(*known, word) != 0)
			known++;
		if (word && *known)
			continue;
		near = word ? dp_nearest_word(word, hook_event_names) : NULL;
		return dp_fail(err, DP_E_USAGE,
			       "hooks[%zu].on[%zu] cannot be '%.40s'%s%s%s; events are "
			       "finished, failed, paused, resumed, trial-failed, disk-low and "
			       "started",
			       hook, i, word ? word : "a list or a map",
			       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	}
	return DP_OK;
}

static int check_command(const json_t *command, size_t hook, struct dp_err *err)
{
	const json_t *v;
	size_t i;

	if (!json_is_array(command))
		return dp_fail(err, DP_E_USAGE,
			       "hooks[%zu].command must be a list of the program and its "
			       "arguments, such as [/usr/local/bin/tell-me, --urgent]",
			       hook);
	if (json_array_size(command) == 0 || json_array_size(command) > HOOK_ARGS_MAX)
		return dp_fail(err, DP_E_USAGE, "hooks[%zu].command must have 1 to %d entries",
			       hook, HOOK_ARGS_MAX);
	json_array_foreach (command, i, v) {
		if (!json_is_string(v))
			return dp_fail(err, DP_E_USAGE, "hooks[%zu].command[%zu] must be a text",
				       hook, i);
		if (i == 0 && json_string_length(v) == 0)
			return dp_fail(err, DP_E_USAGE,
				       "hooks[%zu].command[0], the program, is empty", hook);
	}
	return DP_OK;
}

static int check_timeout(const json_t *timeout, size_t hook, struct dp_err *err)
{
	double seconds;

	if (!timeout ||
	    (json_is_string(timeout) && dp_duration_parse(json_string_value(timeout), &seconds) &&
	     seconds > 0 && seconds <= HOOK_TIMEOUT_MAX))
		return DP_OK;
	return dp_fail(err, DP_E_USAGE,
		       "hooks[%zu].timeout cannot be '%.40s'; it is a duration above 0, at "
		       "most 1d",
		       hook,
		       json_is_string(timeout) ? json_string_value(timeout) : "a list or a map");
}

static int check_hook(const json_t *hook, size_t i, struct dp_err *err)
{
	static const char *const keys[] = { "on", "command", "timeout", NULL };
	const char *key, *near;
	json_t *value;
	int code;

	if (!json_is_object(hook))
		return dp_fail(err, DP_E_USAGE,
			       "hooks[%zu] must be a map with 'on', 'command' and "
			       "perhaps 'timeout'",
			       i);
	json_object_foreach ((json_t *)hook, key, value) {
		if (strcmp(key, "on") == 0 || strcmp(key, "command") == 0 ||
		    strcmp(key, "timeout") == 0)
			continue;
		near = dp_nearest_word(key, keys);
		return dp_fail(err, DP_E_USAGE,
			       "hooks[%zu].%.40s is unknown; a hook has 'on', 'command' "
			       "and 'timeout'%s%s%s",
			       i, key, near ? "; did you mean '" : "", near ? near : "",
			       near ? "'?" : "");
	}
	code = hook_check_events(json_object_get(hook, "on"), i, err);
	if (code == DP_OK)
		code = check_command(json_object_get(hook, "command"), i, err);
	return code == DP_OK ? check_timeout(json_object_get(hook, "timeout"), i, err) : code;
}

int config_hooks_parse(const char *text, json_t **out, struct dp_err *err)
{
	const json_t *hook;
	json_t *list = NULL;
	struct dp_err why;
	size_t i;
	int code = dp_json_parse(text, strlen(text), &list, &why);

	if (code != DP_OK || !json_is_array(list))
		code = dp_fail(err, DP_E_USAGE,
			       "hooks must be a list of {on: [EVENT...], command: "
			       "[PROGRAM, ARGUMENT...], timeout: DURATION}");
	else if (json_array_size(list) > HOOKS_MAX)
		code = dp_fail(err, DP_E_USAGE, "hooks can be %d at most", HOOKS_MAX);
	json_array_foreach (list, i, hook) {
		if (code != DP_OK)
			break;
		code = check_hook(hook, i, err);
	}
	if (code == DP_OK)
		*out = list;
	else
		json_decref(list);
	return code;
}

bool hook_wants_event(const json_t *hook, enum hook_event what)
{
	const json_t *word;
	size_t i;

	json_array_foreach (json_object_get(hook, "on"), i, word)
		if (strcmp(json_string_value(word), hook_event_names[what]) == 0)
			return true;
	return false;
}

double hook_timeout_seconds(const json_t *hook)
{
	double seconds;

	return dp_duration_parse(dp_json_str(hook, "timeout", HOOK_TIMEOUT_DEFAULT), &seconds)
		       ? seconds
		       : 0;
}
