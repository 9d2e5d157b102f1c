/* cmd-submit.c - `submit`: submits study files to the daemon. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/support/study_file.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"

#include <jansson.h>

static void submit_print_existing(struct ctl *ctl, const json_t *ok, const char *name)
{
	const char *state = dp_json_str(json_object_get(ok, "study"), "state", "?");
	const char *note = dp_json_str(ok, "note", NULL);
	struct dp_buf changes = DP_BUF_INIT;

	ctl_format_changes(json_object_get(ok, "changes"), &changes);
	if (changes.len)
		ctl_print_message(ctl, "going on with study '%s': %s; it is %s", name,
				  dp_buf_text(&changes), state);
	else
		ctl_print_message(ctl,
				  "study '%s' was submitted before and means the same; it is %s",
				  name, state);
	dp_buf_free(&changes);
	if (note)
		ctl_print_message(ctl, "%s", note);
}

static void submit_print_result(struct ctl *ctl, const json_t *ok)
{
	const json_t *s = json_object_get(ok, "study");
	const char *name = dp_json_str(s, "name", "?");

	ctl_printf(ctl, "%s\n", name);
	if (!dp_json_bool(ok, "new", true))
		submit_print_existing(ctl, ok, name);
	else if (ctl_has_option(ctl, "paused"))
		ctl_print_message(ctl,
				  "study '%s' submitted as number %d, paused; 'dparetoctl resume "
				  "%s' starts it",
				  name, (int)dp_json_int(s, "id", 0), name);
	else
		ctl_print_message(ctl,
				  "study '%s' submitted as number %d; 'dparetoctl watch %s' "
				  "follows it",
				  name, (int)dp_json_int(s, "id", 0), name);
}

static int submit_file(struct ctl *ctl, const char *path, struct dp_err *err)
{
	struct ctl_study_file file;
	json_t *ok;
	int code = ctl_study_file_read(path, &file, err);

	if (code == DP_OK)
		code = ctl_study_file_report_problems(ctl, &file, err);
	if (code == DP_OK)
		code = ctl_study_file_submit(ctl, &file, ctl_has_option(ctl, "paused"), &ok, err);
	if (code == DP_OK) {
		if (ctl->format == CTL_JSON)
			ctl_print_json(ctl, ok);
		else
			submit_print_result(ctl, ok);
		json_decref(ok);
	}
	ctl_study_file_clear(&file);
	return code;
}

static int cmd_submit_run(struct ctl *ctl, struct dp_err *err)
{
	int code = DP_OK, i, left;

	for (i = 0; i < ctl->argc && code == DP_OK; i++)
		code = submit_file(ctl, ctl->argv[i], err);
	left = ctl->argc - i;
	if (code != DP_OK && left > 0)
		ctl_print_message(ctl, "%d file%s after it %s not submitted", left,
				  left == 1 ? "" : "s", left == 1 ? "was" : "were");
	return code;
}

static const struct ctl_option options[] = {
	{ "paused", 0, NULL, "nothing starts before 'resume'" },
	{ 0 },
};

const struct ctl_command ctl_cmd_submit = {
	.name = "submit",
	.summary = "hand study files to the daemon",
	.args = "FILE...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(NAME),
	.options = options,
	.help = "Checks each file as 'validate' does and gives it to the daemon, which starts "
		"its trials as soon as slots are free. The study's name is printed.\n\n"
		"A file of a study that is there already may differ in comments, layout and what "
		"'set' can change: the study goes on with that, and what changed is told. One "
		"that means another study is refused, with the keys that differ. Files after one "
		"that is refused are not submitted.",
	.examples = "dparetoctl submit adult.yaml\n"
		    "  the study runs in the background; nothing need stay open\n"
		    "dparetoctl watch $(dparetoctl submit -q adult.yaml)\n"
		    "  submit and look on",
	.run = cmd_submit_run,
};
