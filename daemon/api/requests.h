/* requests.h - what each verb of the control protocol does; docs/protocol.md lists
 * them. One row a verb, in requests.c; the handlers by subject in requests_*.c. */
#ifndef DP_DAEMON_API_REQUESTS_H
#define DP_DAEMON_API_REQUESTS_H
#include "daemon/studies/study_object.h"
#include "daemon/core/peer_name.h"

struct request {
	struct daemon *daemon;
	uint64_t client_id;
	const json_t *json;
	struct study *study;              /* found already where the verb needs one */
	bool replies_later;               /* the handler has seen to it that somebody answers */
	char requested_by[REQUESTER_LEN]; /* who asks, of a verb that changes something */
};

/* DP_OK: *ok is sent, unless r->later was set. DP_E_*: *err is sent. */
typedef int request_fn(struct request *r, json_t **ok, struct dp_err *err);

/* Does the verb leave everything as it is? Then its answer need not wait for a journal
 * that is silent. */
bool request_is_read_only(const char *verb);
/* May the answer take the loop a few milliseconds? Then it waits for its turn. */
bool request_is_long(const char *verb, const json_t *request);
/* Answers exactly once, now or later. */
void request_handle(struct daemon *d, uint64_t client, const char *verb, const json_t *request);

/* Sends what a handler returned. */
void request_answer(struct request *r, int code, json_t *ok, struct dp_err *err);

/* looking (requests_read.c) */
request_fn request_list, request_status, request_changes, request_trials, request_trial,
	request_propose;
json_t *request_status_json(struct study *study);
json_t *request_summary_json(struct study *study);
/* Answers about a private selection, with what it costs, once that is known. */
DP_MUSTCHECK int request_reply_selection(struct request *r, json_t *(*answer)(struct study *study),
					 json_t **ok, struct dp_err *err);
/* The trial that the request names. */
DP_MUSTCHECK int request_find_trial(struct request *r, struct dp_trial **t, struct dp_err *err);
/* The point that [trial, at] names; at null: the trial's own result. */
DP_MUSTCHECK int request_parse_point(const struct dp_study_state *s, const json_t *pair,
				     struct dp_result_id *p, struct dp_err *err);
/* A trial in full, or its first part if it has many runs. */
json_t *request_trial_json(struct study *study, const struct dp_trial *t);
/* its front (requests_front.c) */
request_fn request_front;
/* recommended.c */
request_fn request_recommend;
/* new studies (requests_submit.c) */
request_fn request_submit;
/* results of others (requests_import.c) */
request_fn request_import;
/* steering (requests_control.c) */
request_fn request_pause, request_resume, request_stop, request_delete, request_retry,
	request_cancel, request_enqueue;
/* DP_E_BUSY: the study is being deleted. */
DP_MUSTCHECK int request_check_not_deleted(const struct study *study, struct dp_err *err);
/* what changes while a study goes on (requests_amend.c) */
request_fn request_set;
/* A file of a study's name: it goes on, with what the file changes, if it means the same
 * study; else DP_E_EXISTS with what it means otherwise. e: text, path, dir, spec
 * and by. */
DP_MUSTCHECK int request_resubmit(struct study *study, const struct dp_event *e, json_t **ok,
				  struct dp_err *err);
/* How many initial points the study draws beside the results that it was given, where its
 * file does not say: journaled, so that it stays so. */
void amend_record_initial(struct study *study);
/* Who runs it, if its file does not say: the daemon's, for good. */
void amend_record_executor(struct study *study);
/* points that are measured again (requests_reevaluate.c) */
request_fn request_measure, request_measures;
/* the daemon itself (requests_daemon.c) */
request_fn request_hello, request_reload, request_shutdown;
json_t *request_hello_json(struct daemon *d);

#endif
