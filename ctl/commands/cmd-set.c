/* cmd-set.c - `set`: changes settings of a running study. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"
#include "study/study.h"
#include "study/study_change.h"
#include "study/study_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static int set_parse_change(json_t *keys, const char *text, struct dp_err *err)
{
	const char *equals = strchr(text, '=');
	const struct dp_key_doc *key;
	struct dp_study none = { 0 };
	char name[DP_NAME_MAX];
	double number;
	json_t *value;

	if (!equals) {
		dp_fail(err, DP_E_USAGE, "'%s' is not of the form KEY=VALUE", text);
		return dp_hint(err, "for example: dparetoctl set STUDY parallel=4");
	}
	snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
	key = dp_study_find_live_key(name, err);
	if (!key)
		return DP_E_USAGE;
	if (json_object_get(keys, key->path))
		return dp_fail(err, DP_E_USAGE, "'%s' is given twice", name);
	/* leave range errors to the daemon, which handles them like a bad study file */
	if (dp_study_set_key(&none, key->path, equals + 1, err) == DP_E_INVALID &&
	    !dp_num_parse(equals + 1, &number))
		return err->code = DP_E_USAGE;
	value = json_string(equals + 1);
	if (!value)
		return dp_fail(err, DP_E_USAGE, "the value of '%s' is not UTF-8", name);
	return json_object_set_new(keys, key->path, value) == 0
		       ? DP_OK
		       : dp_fail(err, DP_E_NOMEM, "out of memory");
}

/* Prints the settings, what changed, and the daemon's note if there is one. */
static void set_print_result(struct ctl *ctl, const json_t *ok)
{
	const json_t *s = json_object_get(ok, "study");
	const char *note = dp_json_str(ok, "note", NULL);
	struct dp_buf changes = DP_BUF_INIT;
	char evaluations[CTL_TEXT_LEN];

	ctl_print_message(
		ctl, "study '%s': evaluations=%s parallel=%" PRId64 " priority=%" PRId64 ", %s",
		dp_json_str(s, "name", "?"),
		ctl_format_value(json_object_get(s, "evaluations"), evaluations),
		dp_json_int(s, "parallel", 0), dp_json_int(s, "priority", 0),
		dp_json_str(s, "state", "?"));
	ctl_format_changes(json_object_get(ok, "changes"), &changes);
	ctl_print_message(ctl, "%s%s", changes.len ? "changed: " : "nothing has changed by that",
			  dp_buf_text(&changes));
	dp_buf_free(&changes);
	if (note)
		ctl_print_message(ctl, "%s", note);
}

static int cmd_set_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *keys = json_object(), *fields, *ok;
	int code = keys ? DP_OK : dp_fail(err, DP_E_NOMEM, "out of memory");

	for (int i = 1; i < ctl->argc && code == DP_OK; i++)
		code = set_parse_change(keys, ctl->argv[i], err);
	if (code == DP_OK)
		code = ctl_pack_fields(&fields, err, "{s:s, s:O}", "study", ctl->argv[0], "keys",
				       keys);
	json_decref(keys);
	if (code == DP_OK)
		code = ctl_call(ctl, "set", fields, &ok, err);
	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON) {
		json_t *s = json_object_get(ok, "study");

		json_object_set(s, "changes", json_object_get(ok, "changes"));
		json_object_set(s, "note", json_object_get(ok, "note"));
		ctl_print_json(ctl, s);
	} else {
		set_print_result(ctl, ok);
	}
	json_decref(ok);
	return DP_OK;
}

const struct ctl_command ctl_cmd_set = {
	.name = "set",
	.summary = "change limits, budget or priority of a live study",
	.args = "STUDY KEY=VALUE...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.help = "Keys are those of the study file, with their section or without: evaluations "
		"(the total, trials made already included), parallel (trials at once), priority "
		"(higher ones get free slots first), max_time, timeout, grace, stall, memory, "
		"retries, max_failures, log_limit and data. Values are written as in the file, "
		"30m or 16M; 'none' takes timeout, stall, memory or max_time away. Any other key "
		"would make it another study.\n\n"
		"The change is journaled; the study file stays as it is. Trainers that run keep "
		"the limits that they were started with; the next ones get the new ones. A study "
		"that finished because its evaluations were made or its max_time was over goes "
		"on when there is more of that.",
	.examples = "dparetoctl set adult evaluations=400\n"
		    "dparetoctl set adult parallel=6 priority=10\n"
		    "dparetoctl set adult timeout=45m max_time=none",
	.run = cmd_set_run,
};
