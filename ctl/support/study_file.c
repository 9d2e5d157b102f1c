/* study_file.c - reads and checks study files and prints their diagnostics. */
#include "ctl/support/study_file.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/programs.h"
#include "study/diagnostics.h"
#include "study/learning_curve.h"
#include "study/study.h"
#include "study/study_file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks which words of the commands are files and whether they can be started, as the daemon does
 * on submission. */
static void study_file_check_programs(struct ctl_study_file *f, struct dp_diagnostics *problems)
{
	char *daemon = ctl_find_program("dparetod");
	char *folder = daemon ? dp_path_dir_absolute(daemon) : NULL;
	struct dp_command_files files;

	dp_study_resolve_files(f->study, f->dir, &files);
	dp_study_preflight(f->study, f->dir, folder, dp_buf_text(&f->text), f->text.len, problems);
	free(files.list);
	free(folder);
	free(daemon);
}

/* new: apply the stricter checks for studies that the daemon does not have yet. */
static int study_file_load(const char *path, bool new, struct ctl_study_file *out,
			   struct dp_err *err)
{
	struct dp_diagnostics problems = { 0 };
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
	out->absolute_path = out->dir ? dp_path_join(out->dir, base ? base + 1 : path) : NULL;
	if (!out->absolute_path)
		return dp_fail(err, DP_E_IO, "cannot find out the folder of %s", path);
	code = dp_study_parse(dp_buf_text(&out->text), out->text.len, path, out->dir, &out->study,
			      &problems, err);
	if (code == DP_OK)
		study_file_check_programs(out, &problems);
	if (code == DP_OK && new)
		code = dp_study_check_learning_curve(out->study, dp_buf_text(&out->text),
						     out->text.len, &problems, err);
	if (code == DP_E_INVALID) {
		dp_study_free(out->study);
		out->study = NULL;
	}
	out->problems = dp_diagnostics_to_json(&problems, dp_buf_text(&out->text), out->text.len);
	dp_diagnostics_format(&problems, path, dp_buf_text(&out->text), out->text.len,
			      &out->problem_text);
	out->n_errors = problems.error_count;
	out->n_warnings =
		problems.count > problems.error_count ? problems.count - problems.error_count : 0;
	dp_diagnostics_free(&problems);
	return code == DP_E_INVALID ? DP_OK : code;
}

int ctl_study_file_read(const char *path, struct ctl_study_file *out, struct dp_err *err)
{
	return study_file_load(path, false, out, err);
}

int ctl_study_file_read_new(const char *path, struct ctl_study_file *out, struct dp_err *err)
{
	return study_file_load(path, true, out, err);
}

void ctl_study_file_clear(struct ctl_study_file *f)
{
	free(f->absolute_path);
	free(f->dir);
	dp_buf_free(&f->text);
	dp_buf_free(&f->problem_text);
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

int ctl_study_file_report_problems(struct ctl *ctl, const struct ctl_study_file *f,
				   struct dp_err *err)
{
	char count[DP_PLURAL_LEN];
	json_t *error, *object;

	if (f->study) {
		if (f->n_warnings > 0 && !ctl->quiet)
			ctl_print_stderr(ctl, dp_buf_text(&f->problem_text));
		return DP_OK;
	}
	dp_fail(err, DP_E_INVALID, "%s is not a valid study file (%s)", f->path,
		dp_plural_text(f->n_errors, "problem", count));
	dp_hint(err, "'dparetoctl explain KEY' documents a key");
	if (ctl->format == CTL_JSON || ctl->format == CTL_JSONL) {
		error = dp_json_from_error(err);
		if (error && f->problems)
			json_object_set(error, "problems", f->problems);
		object = json_pack("{s:o}", "error", error);
		ctl_print_json(ctl, object);
		json_decref(object);
	} else {
		ctl_print_stderr(ctl, dp_buf_text(&f->problem_text));
		ctl_print_error(ctl, err);
	}
	ctl->error_reported = true;
	return DP_E_INVALID;
}

int ctl_study_file_submit(struct ctl *ctl, const struct ctl_study_file *f, bool paused, json_t **ok,
			  struct dp_err *err)
{
	json_t *fields;
	int code = ctl_pack_fields(&fields, err, "{s:s%, s:s, s:s, s:b}", "text",
				   dp_buf_text(&f->text), f->text.len, "path", f->absolute_path,
				   "dir", f->dir, "paused", paused);

	return code == DP_OK ? ctl_call(ctl, "submit", fields, ok, err) : code;
}
