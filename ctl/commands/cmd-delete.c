/* cmd-delete.c - `delete`: removes a study and all its data. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"
#include "ctl/study_status.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *delete_format_trial_count(const json_t *s, char out[DP_PLURAL_LEN])
{
	if (ctl_study_hides_trials(s))
		return "its trials";
	return ctl_format_count(s, "ended", "ended trial", out);
}

/* Shows what will be lost and asks for confirmation; only a typed yes counts. */
static int delete_confirm(struct ctl *ctl, const json_t *s, struct dp_err *err)
{
	const char *name = dp_json_str(s, "name", "?");
	struct dp_buf question = DP_BUF_INIT;
	char answer[16] = "", trials[DP_PLURAL_LEN], points[DP_PLURAL_LEN], running[DP_PLURAL_LEN];

	if (!isatty(STDIN_FILENO) || !isatty(fileno(ctl->err_stream))) {
		dp_fail(err, DP_E_USAGE,
			"deleting study '%s' would lose %s with all logs; this needs --yes", name,
			delete_format_trial_count(s, trials));
		return dp_hint(err, "'dparetoctl export %s' saves the results first", name);
	}
	dp_buf_printf(&question,
		      "This deletes study '%s' (%s) for good:\n"
		      "  %s, %s on the front, %s\n"
		      "  all files below %s\n"
		      "Delete it? [yes/no] ",
		      name, dp_json_str(s, "state", "?"), delete_format_trial_count(s, trials),
		      ctl_format_count(s, "front", "point", points),
		      ctl_format_count(s, "running", "running trial", running),
		      dp_json_str(s, "directory", "?"));
	ctl_print_stderr(ctl, dp_buf_text(&question));
	dp_buf_free(&question);
	if (!fgets(answer, sizeof answer, stdin))
		ctl_print_stderr(ctl, "\n");
	answer[strcspn(answer, "\n")] = '\0';
	if (strcmp(answer, "yes") == 0 || strcmp(answer, "y") == 0)
		return DP_OK;
	return dp_fail(err, DP_E_FAILED, "nothing was deleted");
}

static int cmd_delete_run(struct ctl *ctl, struct dp_err *err)
{
	const json_t *summary;
	json_t *status, *fields, *ok = NULL;
	int code = ctl_call_study(ctl, "status", ctl->argv[0], &status, err);

	if (code != DP_OK)
		return code;
	summary = json_object_get(status, "study");
	if (!ctl_has_option(ctl, "yes"))
		code = delete_confirm(ctl, summary, err);
	if (code == DP_OK)
		code = ctl_pack_fields(&fields, err, "{s:s, s:b}", "study",
				       dp_json_str(summary, "name", ""), "now",
				       ctl_has_option(ctl, "now"));
	/* no timeout: trainers may use their whole grace time */
	if (code == DP_OK)
		code = ctl_call_timeout(ctl, -1, "delete", fields, &ok, err);
	if (code == DP_OK && ctl->format == CTL_JSON)
		ctl_print_json(ctl, ok);
	else if (code == DP_OK)
		ctl_print_message(ctl, "study '%s' is deleted", dp_json_str(ok, "deleted", "?"));
	json_decref(ok);
	json_decref(status);
	return code;
}

static const struct ctl_option options[] = {
	{ "yes", 'y', NULL, "do not ask" },
	{ "now", 0, NULL, "cancel running trials first; without it they forbid deletion" },
	{ 0 },
};

const struct ctl_command ctl_cmd_delete = {
	.name = "delete",
	.summary = "remove a study with all its results and logs",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Its records leave the journal and its folder is removed. On a terminal "
		"you are shown what will be lost and asked; elsewhere --yes is needed. "
		"'export' saves the results first.",
	.examples = "dparetoctl delete adult\n"
		    "dparetoctl delete old-study --yes",
	.run = cmd_delete_run,
};
