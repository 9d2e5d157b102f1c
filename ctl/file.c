/* file.c - study files as arguments: read, checked, their problems shown. */
#include "ctl/file.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/output.h"
#include "ctl/program.h"
#include "study/study.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which words of its commands are files, and can they be started? As the daemon looks at
 * them when it is submitted. */
static int look_at_programs(struct ctl_study_file *f, struct dp_problems *problems,
			    struct dp_err *err)
{
	char *daemon = ctl_find_program("dparetod");
	char *folder = daemon ? dp_path_dir_absolute(daemon) : NULL;
	struct dp_files files;
	int code = dp_study_find_files(f->study, f->dir, &files, err);

	if (code == DP_OK)
		code = dp_study_startable(f->study, f->dir, folder, dp_buf_text(&f->text),
					  f->text.len, problems, err);
	free(files.list);
	free(folder);
	free(daemon);
	return code;
}

/* `new`: as a study that the daemon does not have yet, which is asked more. */
static int read_study(const char *path, bool new, struct ctl_study_file *out, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	const char *base = strrchr(path, '/');
	int code;

	memset(out, 0, sizeof *out);
	out->path = path;
	code = dp_read_file(path, DP_STUDY_TEXT_MAX, &out->text, err);
	if (code == DP_E_LIMIT)
		dp_hint(err, "a study file is at most %d KiB of YAML", DP_STUDY_TEXT_MAX / 1024);
	if (code == DP_E_INVALID)
		dp_hint(err, "a pipe is read as /dev/stdin or as <(COMMAND) of the shell");
	if (code != DP_OK)
		return code;
	out->dir = dp_path_dir_absolute(path);
	out->absolute = out->dir ? dp_path_join(out->dir, base ? base + 1 : path) : NULL;
	if (!out->absolute)
		return dp_fail(err, DP_E_IO, "cannot find out the folder of %s", path);
	code = dp_study_parse(dp_buf_text(&out->text), out->text.len, path, out->dir, &out->study,
			      &problems, err);
	if (code == DP_OK)
		code = look_at_programs(out, &problems, err);
	if (code == DP_OK && new)
		code = dp_study_curve_check(out->study, dp_buf_text(&out->text), out->text.len,
					    &problems, err);
	if (code == DP_E_INVALID) {
		dp_study_free(out->study);
		out->study = NULL;
	}
	out->problems = dp_problems_json(&problems, dp_buf_text(&out->text), out->text.len);
	dp_problems_text(&problems, path, dp_buf_text(&out->text), out->text.len, &out->listing);
	out->errors = problems.errors;
	out->warnings = problems.count > problems.errors ? problems.count - problems.errors : 0;
	dp_problems_free(&problems);
	return code == DP_E_INVALID ? DP_OK : code;
}

int ctl_study_file_read(const char *path, struct ctl_study_file *out, struct dp_err *err)
{
	return read_study(path, false, out, err);
}

int ctl_study_file_read_new(const char *path, struct ctl_study_file *out, struct dp_err *err)
{
	return read_study(path, true, out, err);
}

void ctl_study_file_clear(struct ctl_study_file *f)
{
	free(f->absolute);
	free(f->dir);
	dp_buf_free(&f->text);
	dp_buf_free(&f->listing);
	dp_study_free(f->study);
	json_decref(f->problems);
	memset(f, 0, sizeof *f);
}

json_t *ctl_study_file_json(const struct ctl_study_file *f)
{
	return json_pack("{s:o?, s:s?, s:b, s:O?}", "file", json_string(f->path), "study",
			 f->study ? f->study->name : NULL, "valid", f->study != NULL, "problems",
			 f->problems);
}

int ctl_study_file_check(struct ctl *ctl, const struct ctl_study_file *f, struct dp_err *err)
{
	char count[DP_COUNT_LEN];
	json_t *error, *object;

	if (f->study) {
		if (f->warnings > 0 && !ctl->quiet)
			ctl_put_talk(ctl, dp_buf_text(&f->listing));
		return DP_OK;
	}
	dp_fail(err, DP_E_INVALID, "%s is not a valid study file (%s)", f->path,
		dp_count_text(f->errors, "problem", count));
	dp_hint(err, "'dparetoctl explain KEY' documents a key");
	if (ctl->format == CTL_JSON || ctl->format == CTL_JSONL) {
		error = dp_json_error(err);
		if (error && f->problems)
			json_object_set(error, "problems", f->problems);
		object = json_pack("{s:o}", "error", error);
		ctl_put_json(ctl, object);
		json_decref(object);
	} else {
		ctl_put_talk(ctl, dp_buf_text(&f->listing));
		ctl_put_error(ctl, err);
	}
	ctl->told = true;
	return DP_E_INVALID;
}

int ctl_study_file_submit(struct ctl *ctl, const struct ctl_study_file *f, bool paused, json_t **ok,
			  struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack(&fields, err, "{s:s%, s:s, s:s, s:b}", "text", dp_buf_text(&f->text),
			    f->text.len, "path", f->absolute, "dir", f->dir, "paused", paused);

	return code == DP_OK ? ctl_call(ctl, "submit", fields, ok, err) : code;
}
