/* cmd-enqueue.c - `enqueue`: adds a user's point to a study. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Adds NAME=VALUE to an object: numbers and true or false as such, everything else as text. */
static int enqueue_parse_parameter(json_t *values, const char *text, struct dp_err *err)
{
	const char *equals = strchr(text, '=');
	char name[DP_NAME_MAX + 1];
	double number;
	int64_t whole;
	json_t *v;

	if (!equals || equals == text || equals - text > DP_NAME_MAX) {
		dp_fail(err, DP_E_USAGE, "'%s' is not of the form NAME=VALUE", text);
		return dp_hint(err, "for example: dparetoctl enqueue STUDY lot_size=64 clip=0.5");
	}
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	if (dp_int_parse(equals + 1, &whole))
		v = json_integer(whole);
	else if (dp_num_parse(equals + 1, &number))
		v = dp_json_real(number);
	else if (strcmp(equals + 1, "true") == 0 || strcmp(equals + 1, "false") == 0)
		v = json_boolean(equals[1] == 't');
	else
		v = json_string(equals + 1);
	if (!v || json_object_get(values, name)) {
		json_decref(v);
		return dp_fail(err, DP_E_USAGE, "'%s' is given twice, or is no text", name);
	}
	return json_object_set_new(values, name, v) == 0
		       ? DP_OK
		       : dp_fail(err, DP_E_NOMEM, "out of memory");
}

static int cmd_enqueue_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *values = json_object(), *fields, *ok;
	const json_t *trial;
	int code = DP_OK;

	for (int i = 1; i < ctl->argc && code == DP_OK; i++)
		code = enqueue_parse_parameter(values, ctl->argv[i], err);
	if (code == DP_OK)
		code = ctl_pack_fields(&fields, err, "{s:s, s:O}", "study", ctl->argv[0],
				       "parameters", values);
	json_decref(values);
	if (code == DP_OK)
		code = ctl_call(ctl, "enqueue", fields, &ok, err);
	if (code != DP_OK)
		return code;
	trial = json_object_get(ok, "trial");
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, trial);
	else
		ctl_print_message(ctl, "study '%s': it is trial %lld, and comes next", ctl->argv[0],
				  (long long)dp_json_int(trial, "trial", 0));
	json_decref(ok);
	return DP_OK;
}

const struct ctl_command ctl_cmd_enqueue = {
	.name = "enqueue",
	.summary = "have a study evaluate a point of your choice",
	.args = "STUDY NAME=VALUE...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.help = "Names every parameter that is searched; one that is fixed or calibrated "
		"follows, and may be left out. The point becomes the study's next trial: "
		"it uses up one of its evaluations, and the search learns from it.",
	.examples = "dparetoctl enqueue adult epochs=10 lot_size=64 clip=0.5",
	.run = cmd_enqueue_run,
};
