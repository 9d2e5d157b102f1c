/* cmd-resume.c - `resume`: continues a paused or stopped study. */
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"

#include <jansson.h>

static void resume_print_result(struct ctl *ctl, const json_t *s)
{
	struct dp_buf ended = DP_BUF_INIT;

	ctl_format_progress_sentence(s, &ended);
	ctl_print_message(ctl, "study '%s' is %s, %s", dp_json_str(s, "name", "?"),
			  dp_json_str(s, "state", "?"), dp_buf_text(&ended));
	dp_buf_free(&ended);
}

static int cmd_resume_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_call_each_study(ctl, "resume", NULL, resume_print_result, err);
}

const struct ctl_command ctl_cmd_resume = {
	.name = "resume",
	.summary = "take paused or stopped studies up again",
	.args = "STUDY...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(NAME),
	.help = "Nothing that has finished is repeated. Resuming a running study is no error.",
	.examples = "dparetoctl resume adult",
	.run = cmd_resume_run,
};
