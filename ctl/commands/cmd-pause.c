/* cmd-pause.c - `pause`: stops a study from starting new trials. */
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <jansson.h>

static void pause_print_result(struct ctl *ctl, const json_t *s)
{
	int running = (int)dp_json_int(s, "running", 0);

	if (running > 0)
		ctl_print_message(ctl, "study '%s' is %s; %d running trial%s to the end",
				  dp_json_str(s, "name", "?"), dp_json_str(s, "state", "?"),
				  running, running == 1 ? " goes on" : "s go on");
	else
		ctl_print_message(ctl, "study '%s' is %s", dp_json_str(s, "name", "?"),
				  dp_json_str(s, "state", "?"));
}

static int cmd_pause_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_call_each_study(ctl, "pause", NULL, pause_print_result, err);
}

const struct ctl_command ctl_cmd_pause = {
	.name = "pause",
	.summary = "let studies start no new trials",
	.args = "STUDY...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(NAME),
	.help = "Running trials go on to their end. 'resume' takes the study up again. "
		"Pausing a paused study is no error.",
	.examples = "dparetoctl pause adult",
	.run = cmd_pause_run,
};
