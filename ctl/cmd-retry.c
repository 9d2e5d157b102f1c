/* cmd-retry.c - tries failed trials again. */
#include "ctl/command.h"
#include "ctl/daemon.h"

static int retry_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_each_named(ctl, "retry", "will be tried again", err);
}

const struct ctl_command ctl_cmd_retry = {
	.name = "retry",
	.summary = "try failed trials again",
	.args = "STUDY TRIAL...",
	.min_args = 2,
	.max_args = -1,
	.formats = CTL_PLAIN,
	.help = "The same parameters and the same seeds, in a new attempt. Trials are "
		"numbers, lists and ranges: 3,5-8.",
	.examples = "dparetoctl retry adult 5\n"
		    "dparetoctl retry adult 3,5-8",
	.run = retry_run,
};
