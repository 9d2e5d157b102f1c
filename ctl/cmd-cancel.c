/* cmd-cancel.c - gives up trials that have not ended. */
#include "ctl/command.h"
#include "ctl/daemon.h"

static int cancel_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_each_named(ctl, "cancel", "is being cancelled", err);
}

const struct ctl_command ctl_cmd_cancel = {
	.name = "cancel",
	.summary = "give up trials that have not ended",
	.args = "STUDY TRIAL...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_PLAIN,
	.help = "A running trainer gets TERM, its grace time, then KILL. The trial "
		"counts "
		"as failed. Trials are numbers, lists and ranges: 3,5-8.",
	.examples = "dparetoctl cancel adult 12",
	.run = cancel_run,
};
