/* cmd-validate.c - `validate`: checks and tries study files without a daemon. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/support/study_file.h"
#include "ctl/ctl_output.h"
#include "ctl/support/dry_run.h"
#include "study/study.h"

#include <jansson.h>

/* Checks one file. An unreadable file does not stop the others. */
static int validate_file(struct ctl *ctl, const char *path, struct dp_err *err)
{
	struct ctl_study_file file;
	json_t *tried = NULL, *object;
	int code = ctl_study_file_read_new(path, &file, err);

	if (code == DP_OK && file.study && ctl_has_option(ctl, "try"))
		code = ctl_dry_run(ctl, &file, &tried, err);
	if (code != DP_OK) {
		ctl_print_error(ctl, err);
		ctl_study_file_clear(&file);
		return code;
	}
	if (ctl->format == CTL_JSON) {
		object = ctl_study_file_json(&file);
		if (tried)
			json_object_set(object, "try", tried);
		ctl_print_json(ctl, object);
		json_decref(object);
	} else {
		ctl_print_bytes(ctl, dp_buf_text(&file.problem_text), file.problem_text.len);
		if (file.study && !ctl->quiet)
			ctl_printf(ctl, "%s: study '%s' is valid\n", path, file.study->name);
		if (tried)
			ctl_dry_run_print(ctl, path, tried);
	}
	if (!file.study)
		code = dp_fail(err, DP_E_INVALID, "%s is not valid", path);
	else if (tried && !dp_json_bool(tried, "ok", false))
		code = dp_fail(err, DP_E_FAILED, "%s: its trainer failed", path);
	json_decref(tried);
	ctl_study_file_clear(&file);
	return code;
}

static int cmd_validate_run(struct ctl *ctl, struct dp_err *err)
{
	int first = DP_OK;

	for (int i = 0; i < ctl->argc; i++) {
		int code = validate_file(ctl, ctl->argv[i], err);

		if (first == DP_OK)
			first = code;
		if (code == DP_E_INTERRUPTED)
			break;
	}
	ctl->error_reported = true;
	return first;
}

static const struct ctl_option options[] = {
	{ "try", 0, NULL, "also run the trainer once and show what comes back" },
	{ 0 },
};

const struct ctl_command ctl_cmd_validate = {
	.name = "validate",
	.summary = "check study files, without a daemon",
	.args = "FILE...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Reports every mistake in one go, with file, line and column, the line itself, "
		"and what is allowed there. Warnings are shown too, but do not make a file "
		"invalid. Programs that could not be started here are among them. With -o json "
		"one object is printed for each file. A pipe is read as /dev/stdin or as "
		"<(COMMAND) of the shell.\n\n"
		"--try trains once, with one run at a random point (with fixed seeds the one "
		"that the study's seed gives), under a daemon of its own in a temporary folder, "
		"as the study itself would, trainer.timeout and all. Shown are the metrics, the "
		"objectives, what the trainer declared of its sampler and what is accounted for; "
		"of one that fails, why, and the end of what it wrote, and its folder is kept. "
		"This training sees the data and is counted in no budget.\n\n"
		"Exit status: 0 if all files are valid (and their trainers work), 1 if one is "
		"not.",
	.examples = "dparetoctl validate *.yaml\n"
		    "dparetoctl validate --try adult.yaml\n"
		    "  also runs its trainer once\n"
		    "dparetoctl validate -o json adult.yaml | jq '.problems[].message'",
	.run = cmd_validate_run,
};
