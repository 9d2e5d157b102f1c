/* daemon_call.h - requests to the daemon, and loops over studies and trials.
 *
 * ctl->client holds the connection: the first call opens it, main() closes it. */
#ifndef DP_CTL_CLIENT_DAEMON_CALL_H
#define DP_CTL_CLIENT_DAEMON_CALL_H
#include "ctl/client/daemon_process.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Builds the fields of a request like json_pack(). Refuses text that is not UTF-8. */
DP_MUSTCHECK int ctl_pack_fields(json_t **fields, struct dp_err *err, const char *format, ...);
/* Connects if needed and takes the reference `fields`. Fetches all pages of an answer: the studies
 * of `list` and `status`, the points of a front, the runs of a trial, the re-evaluations. */
DP_MUSTCHECK int ctl_call(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
			  struct dp_err *err);
/* Like ctl_call(), but returns only the first page. */
DP_MUSTCHECK int ctl_call_first_page(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
				     struct dp_err *err);
/* Like ctl_call(), with a timeout in milliseconds. */
DP_MUSTCHECK int ctl_call_timeout(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields,
				  json_t **ok, struct dp_err *err);
DP_MUSTCHECK int ctl_call_study(struct ctl *ctl, const char *verb, const char *study, json_t **ok,
				struct dp_err *err);
/* Waits at most `ms` milliseconds for a change after version `since` of a study. *status has the
 * form of the verb `status`. */
DP_MUSTCHECK int ctl_call_changes(struct ctl *ctl, const char *study, int64_t since, int ms,
				  json_t **status, struct dp_err *err);
/* Returns a study's status. Waits for the background jobs of the daemon: total privacy loss and
 * smoothed hypervolume. */
DP_MUSTCHECK int ctl_call_complete_status(struct ctl *ctl, const char *study, json_t **ok,
					  struct dp_err *err);
/* Returns a study's front. choice: "observed", "denoised" (smoothed) or NULL for the study
 * file's. */
DP_MUSTCHECK int ctl_call_front(struct ctl *ctl, const char *study, const char *choice,
				json_t **front, struct dp_err *err);
DP_MUSTCHECK int ctl_connect(struct ctl *ctl, struct dp_err *err);
/* Returns the first socket path to try. The caller frees it. */
char *ctl_socket_path(const struct ctl *ctl);
/* Prints the summary of a study for people. */
typedef void ctl_print_summary_fn(struct ctl *ctl, const json_t *summary);
/* Call a verb, ctl_call_each_study() for each STUDY argument, and print the answer as JSON or by
 * the function. Take the reference `fields`. */
DP_MUSTCHECK int ctl_call_print(struct ctl *ctl, const char *verb, json_t *fields,
				ctl_print_summary_fn *print, struct dp_err *err);
DP_MUSTCHECK int ctl_call_each_study(struct ctl *ctl, const char *verb, json_t *fields,
				     ctl_print_summary_fn *tell, struct dp_err *err);
struct ctl_trial_query {
	const char *study;
	uint32_t from;
	const char *state;     /* only trials in this state; NULL: all */
	bool full;             /* with attempts and runs */
	bool own_results_only; /* without checkpoints */
};
/* Calls a function for each of these trials, in order, one page at a time. */
typedef int ctl_trial_fn(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err);
DP_MUSTCHECK int ctl_for_each_trial(struct ctl *ctl, const struct ctl_trial_query *which,
				    ctl_trial_fn *fn, void *arg, struct dp_err *err);

/* Calls a verb for each trial in the arguments after STUDY ("3,5-8"), also after a refusal. `done`:
 * a format for the message about each. */
DP_MUSTCHECK int ctl_call_each_trial_arg(struct ctl *ctl, const char *verb, const char *done,
					 struct dp_err *err);

#endif
