/* study_file.h - reads and checks study files from the command line.
 *
 * A struct ctl_study_file owns its members except `path`. */
#ifndef DP_CTL_SUPPORT_STUDY_FILE_H
#define DP_CTL_SUPPORT_STUDY_FILE_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

struct dp_study;
/* A file that was read. study is NULL if the file is not valid. */
struct ctl_study_file {
	const char *path;
	char *absolute_path;
	char *dir;
	struct dp_buf text;
	struct dp_study *study;
	json_t *problems;           /* from dp_diagnostics_to_json() */
	struct dp_buf problem_text; /* the diagnostics as text */
	size_t n_errors, n_warnings;
};
/* Reads and checks a study file. Returns DP_OK for an invalid file too, other codes if it cannot be
 * read. The caller always calls ctl_study_file_clear(). */
DP_MUSTCHECK int ctl_study_file_read(const char *path, struct ctl_study_file *out,
				     struct dp_err *err);
/* The same, with the stricter checks for new studies. The daemon skips them for studies that an
 * older version accepted. */
DP_MUSTCHECK int ctl_study_file_read_new(const char *path, struct ctl_study_file *out,
					 struct dp_err *err);
void ctl_study_file_clear(struct ctl_study_file *f);
/* {"file":...,"study":...,"valid":...,"problems":[...]} */
json_t *ctl_study_file_json(const struct ctl_study_file *f);
/* Prints the diagnostics (for people: to standard error). With errors, fails with a summary and
 * sets ctl->error_reported. */
DP_MUSTCHECK int ctl_study_file_report_problems(struct ctl *ctl, const struct ctl_study_file *f,
						struct dp_err *err);
/* Submits the file; the daemon reads it itself. paused: a new study waits for `resume`. */
DP_MUSTCHECK int ctl_study_file_submit(struct ctl *ctl, const struct ctl_study_file *f, bool paused,
				       json_t **ok, struct dp_err *err);

#endif
