/* cmd-retry.c - `retry`: runs failed trials again. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <jansson.h>

static void retry_print_result(struct ctl *ctl, const json_t *ok)
{
	const json_t *study = json_object_get(ok, "study");
	char count[DP_PLURAL_LEN];

	ctl_print_message(ctl, "%s of study '%s', which is %s, will be tried again",
			  dp_plural_text(json_array_size(json_object_get(ok, "trials")),
					 "failed trial", count),
			  dp_json_str(study, "name", "?"), dp_json_str(study, "state", "?"));
}

static int cmd_retry_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *fields;

	if (!ctl_has_option(ctl, "failed") && ctl->argc < 2)
		return dp_fail(err, DP_E_USAGE, "which trials? give their numbers, or --failed");
	if (!ctl_has_option(ctl, "failed"))
		return ctl_call_each_trial_arg(ctl, "retry", "will be tried again", err);
	if (ctl->argc > 1)
		return dp_fail(err, DP_E_USAGE,
			       "give trials or --failed, which is all that failed");
	if (ctl_pack_fields(&fields, err, "{s:s, s:b}", "study", ctl->argv[0], "failed", 1) !=
	    DP_OK)
		return err->code;
	return ctl_call_print(ctl, "retry", fields, retry_print_result, err);
}

static const struct ctl_option options[] = {
	{ "failed", 0, NULL, "every trial that failed, all at once" },
	{ 0 },
};

const struct ctl_command ctl_cmd_retry = {
	.name = "retry",
	.summary = "try failed trials again",
	.args = "STUDY [TRIAL...]",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "The same parameters and the same seeds, in a new attempt. Trials are numbers, "
		"lists and ranges: 3,5-8. A study that has finished or failed goes on; with "
		"--failed also one that was paused by failures, but not one that a person has "
		"paused or stopped: that waits for 'resume'. Trials that were cancelled, or "
		"whose privacy cannot be computed, are not among those of --failed.",
	.examples = "dparetoctl retry adult 5\n"
		    "dparetoctl retry adult 3,5-8\n"
		    "dparetoctl retry adult --failed",
	.run = cmd_retry_run,
};
