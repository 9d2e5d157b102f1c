/* daemon_call.h - calls to the daemon, and loops over studies and trials.
 *
 * Owns the connection (ctl->client, made at the first call and closed by main()). */
#ifndef DP_CTL_CLIENT_DAEMON_CALL_H
#define DP_CTL_CLIENT_DAEMON_CALL_H
#include "ctl/client/daemon_process.h"
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Builds the fields of a request as json_pack() does; refuses text that is not UTF-8. */
DP_MUSTCHECK int ctl_pack_fields(json_t **fields, struct dp_err *err, const char *format, ...);
/* Connects at the first call. Takes the reference `fields`. An answer that comes in pages is
 * complete: the studies of `list` and `status`, the points of a front, the runs of a trial,
 * what is measured again. */
DP_MUSTCHECK int ctl_call(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
			  struct dp_err *err);
/* The same, and only the first page of an answer that has several. */
DP_MUSTCHECK int ctl_call_first_page(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
				     struct dp_err *err);
/* ctl_call() with its own patience in milliseconds. */
DP_MUSTCHECK int ctl_call_timeout(struct ctl *ctl, int timeout_ms, const char *verb, json_t *fields,
				  json_t **ok, struct dp_err *err);
/* A call whose only field is a study. */
DP_MUSTCHECK int ctl_call_study(struct ctl *ctl, const char *verb, const char *study, json_t **ok,
				struct dp_err *err);
/* Waits at most so many milliseconds for what comes after version `since` of a study;
 * *status is then as with the verb status. */
DP_MUSTCHECK int ctl_call_changes(struct ctl *ctl, const char *study, int64_t since, int ms,
				  json_t **status, struct dp_err *err);
/* The status of a study with what a daemon reckons in the background, which is waited
 * for: what all trainings cost, and the hypervolume without the noise. */
DP_MUSTCHECK int ctl_call_complete_status(struct ctl *ctl, const char *study, json_t **ok,
					  struct dp_err *err);
/* A study's front, by the choice of its file (NULL), "observed" or "denoised". */
DP_MUSTCHECK int ctl_call_front(struct ctl *ctl, const char *study, const char *choice,
				json_t **front, struct dp_err *err);
/* Connects, unless that is done; for commands that need nothing else first. */
DP_MUSTCHECK int ctl_connect(struct ctl *ctl, struct dp_err *err);
/* Where the daemon's socket is looked for first; the caller frees it. */
char *ctl_socket_path(const struct ctl *ctl);
/* Runs one verb for each STUDY argument and prints what became of it: the sentence
 * that `tell` says, the study's name or its JSON. */
typedef void ctl_print_summary_fn(struct ctl *ctl, const json_t *summary);
/* Calls, and prints the answer: as JSON, or for people. Takes the reference `fields`. */
DP_MUSTCHECK int ctl_call_print(struct ctl *ctl, const char *verb, json_t *fields,
				ctl_print_summary_fn *print, struct dp_err *err);
DP_MUSTCHECK int ctl_call_each_study(struct ctl *ctl, const char *verb, json_t *fields,
				     ctl_print_summary_fn *tell, struct dp_err *err);
/* Which trials of a study are asked for. */
struct ctl_trial_query {
	const char *study;
	uint32_t from;
	const char *state;     /* only those in this state; NULL: all */
	bool full;             /* with attempts and runs */
	bool own_results_only; /* without rows for waypoints */
};
/* Every one of them, page by page, in order. */
typedef int ctl_trial_fn(struct ctl *ctl, const json_t *trial, void *arg, struct dp_err *err);
DP_MUSTCHECK int ctl_for_each_trial(struct ctl *ctl, const struct ctl_trial_query *which,
				    ctl_trial_fn *fn, void *arg, struct dp_err *err);

/* Runs one verb for each trial that the arguments after STUDY name ("3,5-8"); one
 * that is refused does not stop the others. `done` says what became of it. */
DP_MUSTCHECK int ctl_call_each_trial_arg(struct ctl *ctl, const char *verb, const char *done,
					 struct dp_err *err);

#endif
