/* cmd-validate.c - checks study files without a daemon. */
#include "base/buf.h"
#include "ctl/command.h"
#include "ctl/file.h"
#include "ctl/output.h"
#include "study/study.h"

#include <jansson.h>

static void validate_people(struct ctl *ctl, const struct ctl_study_file *file)
{
	ctl_put(ctl, dp_buf_text(&file->listing), file->listing.len);
	if (file->study && !ctl->quiet)
		ctl_printf(ctl, "%s: study '%s' is valid\n", file->path,
			   file->study->name);
}

/* One file that cannot be read does not keep the others from being checked. */
static int validate_one(struct ctl *ctl, const char *path, struct dp_err *err)
{
	struct ctl_study_file file;
	int code = ctl_study_file_read(path, &file, err);
	json_t *object;

	if (code != DP_OK) {
		ctl_put_error(ctl, err);
		ctl_study_file_clear(&file);
		return code;
	}
	if (ctl->format == CTL_JSON) {
		object = ctl_study_file_json(&file);
		ctl_put_json(ctl, object);
		json_decref(object);
	} else {
		validate_people(ctl, &file);
	}
	if (!file.study)
		code = dp_fail(err, DP_E_INVALID, "%s is not valid", path);
	ctl_study_file_clear(&file);
	return code;
}

static int validate_run(struct ctl *ctl, struct dp_err *err)
{
	int first = DP_OK;

	for (int i = 0; i < ctl->argc; i++) {
		int code = validate_one(ctl, ctl->argv[i], err);

		if (first == DP_OK)
			first = code;
	}
	ctl->told = true;
	return first;
}

const struct ctl_command ctl_cmd_validate = {
	.name = "validate",
	.summary = "check study files, without a daemon",
	.args = "FILE...",
	.min_args = 1,
	.max_args = -1,
	.formats = CTL_PLAIN,
	.help = "Reports every mistake in one go, with file, line and column, the line "
		"itself, and what is allowed there. Warnings are shown too, but do not "
		"make "
		"a file invalid. With -o json one object is printed for each file.\n\n"
		"Exit status: 0 if all files are valid, 1 if one is not.",
	.examples = "dparetoctl validate *.yaml\n"
		    "dparetoctl validate -o json adult.yaml | jq '.problems[].message'",
	.run = validate_run,
};
