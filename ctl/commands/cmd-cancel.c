/* cmd-cancel.c - `cancel`: cancels trials that have not ended. */
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"

static int cmd_cancel_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_call_each_trial_arg(ctl, "cancel", "is being cancelled", err);
}

const struct ctl_command ctl_cmd_cancel = {
	.name = "cancel",
	.summary = "give up trials that have not ended",
	.args = "STUDY TRIAL...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.help = "A running trainer gets TERM, its grace time, then KILL. The trial counts as "
		"failed. Trials are numbers, lists and ranges: 3,5-8.",
	.examples = "dparetoctl cancel adult 12",
	.run = cmd_cancel_run,
};
