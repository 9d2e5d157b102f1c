/* study_file.h - study files as arguments: read and checked once, their problems shown.
 *
 * A struct ctl_study_file owns everything in it but `path`. */
#ifndef DP_CTL_SUPPORT_STUDY_FILE_H
#define DP_CTL_SUPPORT_STUDY_FILE_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

struct dp_study;
/* A file that was read; where the study is NULL it is not valid. */
struct ctl_study_file {
	const char *path;    /* as given */
	char *absolute_path; /* and from the root */
	char *dir;           /* its folder */
	struct dp_buf text;  /* as read */
	struct dp_study *study;
	json_t *problems;           /* as of dp_diagnostics_to_json() */
	struct dp_buf problem_text; /* the problems as people read them */
	size_t n_errors, n_warnings;
};
/* Reads and checks a study file. DP_OK also for an invalid one; other codes when it
 * cannot be read. The caller calls ctl_study_file_clear() in every case. */
DP_MUSTCHECK int ctl_study_file_read(const char *path, struct ctl_study_file *out,
				     struct dp_err *err);
/* The same, with what the daemon asks of a new study only: it goes on with one that an
 * older version accepted. */
DP_MUSTCHECK int ctl_study_file_read_new(const char *path, struct ctl_study_file *out,
					 struct dp_err *err);
void ctl_study_file_clear(struct ctl_study_file *f);
/* {"file":...,"study":...,"valid":...,"problems":[...]} */
json_t *ctl_study_file_json(const struct ctl_study_file *f);
/* Prints the problems (people: to standard error) and fails with a summary if
 * there are errors among them; the failure counts as told. */
DP_MUSTCHECK int ctl_study_file_report_problems(struct ctl *ctl, const struct ctl_study_file *f,
						struct dp_err *err);
/* Hands the file to the daemon, which reads it for itself. paused: a new study waits for
 * `resume`. */
DP_MUSTCHECK int ctl_study_file_submit(struct ctl *ctl, const struct ctl_study_file *f, bool paused,
				       json_t **ok, struct dp_err *err);

#endif
