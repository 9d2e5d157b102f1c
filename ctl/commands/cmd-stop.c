/* cmd-stop.c - `stop`: ends a study before its budget is used up. */
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <jansson.h>

static void stop_print_result(struct ctl *ctl, const json_t *s)
{
	int running = (int)dp_json_int(s, "running", 0);

	ctl_print_message(ctl, "study '%s' is %s; %d trial%s still running",
			  dp_json_str(s, "name", "?"), dp_json_str(s, "state", "?"), running,
			  running == 1 ? " is" : "s are");
}

static int cmd_stop_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:b}", "now", ctl_has_option(ctl, "now"));

	return code == DP_OK ? ctl_call_each_study(ctl, "stop", fields, stop_print_result, err)
			     : code;
}

static const struct ctl_option options[] = {
	{ "now", 0, NULL, "cancel running trials instead of letting them finish" },
	{ 0 },
};

const struct ctl_command ctl_cmd_stop = {
	.name = "stop",
	.summary = "end studies before their budget is used up",
	.args = "STUDY...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(NAME),
	.options = options,
	.help = "Results are kept, and 'resume' can still take the study up again. Stopping a "
		"stopped study is no error. Points that wait to be measured again ('remeasure') "
		"are given up; a study that had ended before is what it was then.",
	.examples = "dparetoctl stop adult\n"
		    "dparetoctl stop adult --now",
	.run = cmd_stop_run,
};
