/* cmd-set.c - changes the budget, the parallelism or the priority of a live study. */
#include "base/json.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/output.h"
#include "ctl/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ctl_live_keys[] = { "evaluations", "parallel", "priority", NULL };

static int add_change(json_t *fields, const char *text, struct dp_err *err)
{
	const char *equals = strchr(text, '=');
	char key[DP_NAME_MAX] = "";
	const char *near;
	int64_t value;

	snprintf(key, sizeof key, "%.*s", (int)(equals ? equals - text : 0), text);
	for (size_t i = 0; ctl_live_keys[i]; i++) {
		if (strcmp(ctl_live_keys[i], key) != 0)
			continue;
		if (!dp_int_parse(equals + 1, &value))
			return dp_fail(err, DP_E_USAGE, "'%s' is not a whole number: %s",
				       equals + 1, text);
		if (json_object_get(fields, key))
			return dp_fail(err, DP_E_USAGE, "'%s' is given twice", key);
		return json_object_set_new(fields, key, json_integer(value)) == 0
			       ? DP_OK
			       : dp_fail(err, DP_E_NOMEM, "out of memory");
	}
	if (!equals) {
		dp_fail(err, DP_E_USAGE, "'%s' is not of the form KEY=VALUE", text);
		return dp_hint(err, "for example: dparetoctl set STUDY parallel=4");
	}
	near = dp_nearest(key, ctl_live_keys);
	dp_fail(err, DP_E_USAGE, "'%s' cannot be set on a live study%s%s%s", key,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return dp_hint(err, "evaluations, parallel and priority can");
}

static int set_run(struct ctl *ctl, struct dp_err *err)
{
	char evaluations[CTL_TEXT_LEN];
	const json_t *s;
	json_t *fields, *ok;
	int code = ctl_pack(&fields, err, "{s:s}", "study", ctl->argv[0]);

	if (code != DP_OK)
		return code;
	for (int i = 1; i < ctl->argc && code == DP_OK; i++)
		code = add_change(fields, ctl->argv[i], err);
	if (code != DP_OK) {
		json_decref(fields);
		return code;
	}
	code = ctl_call(ctl, "set", fields, &ok, err);
	if (code != DP_OK)
		return code;
	s = json_object_get(ok, "study");
	if (ctl->format == CTL_JSON)
		ctl_put_json(ctl, s);
	else
		ctl_say(ctl,
			"study '%s': evaluations=%s parallel=%" PRId64
			" priority=%" PRId64 ", %s",
			dp_json_str(s, "name", "?"),
			ctl_value(json_object_get(s, "evaluations"), evaluations),
			dp_json_int(s, "parallel", 0), dp_json_int(s, "priority", 0),
			dp_json_str(s, "state", "?"));
	json_decref(ok);
	return DP_OK;
}

const struct ctl_command ctl_cmd_set = {
	.name = "set",
	.summary = "change budget, parallelism or priority of a live study",
	.args = "STUDY KEY=VALUE...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_PLAIN,
	.help = "Keys: evaluations (the total, trials made already included), parallel "
		"(trials at once), priority (higher ones get free slots first). The "
		"change "
		"is journaled; the study file stays as it is.",
	.examples = "dparetoctl set adult evaluations=400\n"
		    "dparetoctl set adult parallel=6 priority=10",
	.run = set_run,
};
