/* cmd-resume.c - takes a paused or stopped study up again. */
#include "base/json.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/output.h"
#include "ctl/text.h"

#include <jansson.h>

static void resume_tell(struct ctl *ctl, const json_t *s)
{
	struct dp_buf ended = DP_BUF_INIT;

	ctl_ended_say(s, &ended);
	ctl_say(ctl, "study '%s' is %s, %s", dp_json_str(s, "name", "?"),
		dp_json_str(s, "state", "?"), dp_buf_text(&ended));
	dp_buf_free(&ended);
}

static int resume_run(struct ctl *ctl, struct dp_err *err)
{
	return ctl_each_study(ctl, "resume", NULL, resume_tell, err);
}

const struct ctl_command ctl_cmd_resume = {
	.name = "resume",
	.summary = "take paused or stopped studies up again",
	.args = "STUDY...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_PLAIN | CTL_HAS(NAME),
	.help = "Nothing that has finished is repeated. Resuming a running study is no "
		"error.",
	.examples = "dparetoctl resume adult",
	.run = resume_run,
};
