/* cmd-submit.c - hands study files to the daemon. */
#include "base/json.h"
#include "ctl/command.h"
#include "ctl/file.h"
#include "ctl/output.h"

#include <jansson.h>

static void submit_tell(struct ctl *ctl, const json_t *ok)
{
	const json_t *s = json_object_get(ok, "study");
	const char *name = dp_json_str(s, "name", "?");

	ctl_printf(ctl, "%s\n", name);
	if (dp_json_bool(ok, "new", true))
		ctl_say(ctl,
			"study '%s' submitted as number %d; 'dparetoctl watch %s' "
			"follows it",
			name, (int)dp_json_int(s, "id", 0), name);
	else
		ctl_say(ctl,
			"study '%s' was submitted before with the same text; it is %s",
			name, dp_json_str(s, "state", "?"));
}

static int submit_one(struct ctl *ctl, const char *path, struct dp_err *err)
{
	struct ctl_study_file file;
	json_t *ok;
	int code = ctl_study_file_read(path, &file, err);

	if (code == DP_OK)
		code = ctl_study_file_check(ctl, &file, err);
	if (code == DP_OK)
		code = ctl_study_file_submit(ctl, &file, &ok, err);
	if (code == DP_OK) {
		if (ctl->format == CTL_JSON)
			ctl_put_json(ctl, ok);
		else
			submit_tell(ctl, ok);
		json_decref(ok);
	}
	ctl_study_file_clear(&file);
	return code;
}

static int submit_run(struct ctl *ctl, struct dp_err *err)
{
	int code = DP_OK, i, left;

	for (i = 0; i < ctl->argc && code == DP_OK; i++)
		code = submit_one(ctl, ctl->argv[i], err);
	left = ctl->argc - i;
	if (code != DP_OK && left > 0)
		ctl_say(ctl, "%d file%s after it %s not submitted", left,
			left == 1 ? "" : "s", left == 1 ? "was" : "were");
	return code;
}

const struct ctl_command ctl_cmd_submit = {
	.name = "submit",
	.summary = "hand study files to the daemon",
	.args = "FILE...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_PLAIN | CTL_HAS(NAME),
	.help = "Checks each file as 'validate' does and gives it to the daemon, which "
		"starts its trials as soon as slots are free. The study's name is "
		"printed.\n\n"
		"Submitting the same text again changes nothing. Another text under a "
		"name that is taken is refused. Files after one that is refused are not "
		"submitted.",
	.examples = "dparetoctl submit adult.yaml\n"
		    "  the study runs in the background; nothing need stay open\n"
		    "dparetoctl watch $(dparetoctl submit -q adult.yaml)\n"
		    "  submit and look on",
	.run = submit_run,
};
