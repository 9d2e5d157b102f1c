/* requests.h - what each verb of the control protocol does; docs/protocol.md lists them. One row a
 * verb, in requests.c; the handlers by subject in requests_*.c. */
#ifndef DP_DAEMON_API_REQUESTS_H
#define DP_DAEMON_API_REQUESTS_H
#include "daemon/core/peer_name.h"
#include "daemon/studies/pending_replies.h"

struct request {
	struct daemon *daemon;
	uint64_t client_id;
	const char *user_name; /* of the client, for a verb that changes something */
	const json_t *json;
	/* the handlers': */
	struct study *study;              /* found already where the verb needs one */
	char requested_by[REQUESTER_LEN]; /* who asks, of a verb that changes something */
	bool replies_later;               /* the handler arranged for a later answer */
	bool wants_status, wants_changes;
	int64_t since, timeout_us; /* wants_changes */
};

/* DP_OK: *ok is sent, unless r->replies_later was set. DP_E_*: *err is sent. */
typedef int request_fn(struct request *r, json_t **ok, struct dp_err *err);

/* Does the verb leave everything as it is? Then its answer need not wait for a journal that is
 * silent. */
bool request_is_read_only(const char *verb);
/* May the answer take the loop a few milliseconds? Then it waits for its turn. */
bool request_is_long(const char *verb, const json_t *request);
enum request_result {
	REQUEST_ANSWERED,     /* or it will be */
	REQUEST_WANTS_STATUS, /* the client gets `status` of r->study */
	REQUEST_WANTS_CHANGES /* the client gets what is other than `since` (r->study, NULL: of all)
			       * once there is something, durably, or r->timeout_us is over */
};
enum request_result request_handle(struct request *r, const char *verb);

/* Sends what a handler returned. */
void request_answer(struct request *r, int code, json_t *ok, struct dp_err *err);
/* The error for a verb that is not for a daemon that only looks. */
int request_refuse_read_only(const struct daemon *d, const char *verb, struct dp_err *err);

/* looking (requests_read.c) */
request_fn request_list, request_status, request_changes, request_trials, request_trial;
json_t *request_status_json(struct study *study);
json_t *request_summary_json(struct study *study);
/* Answers about a private selection, with what it costs, once that is known. */
void request_reply_selection(struct request *r, reply_builder *answer, json_t **ok);
/* The trial that the request names. */
DP_MUSTCHECK int request_find_trial(struct request *r, struct dp_trial **t, struct dp_err *err);
/* The point that [trial, at] names; at null: the trial's own result. */
DP_MUSTCHECK int request_parse_point(const struct dp_study_state *s, const json_t *pair,
				     struct dp_result_id *p, struct dp_err *err);
/* A trial in full, or its first part if it has many runs. */
json_t *request_trial_json(struct study *study, const struct dp_trial *t);
/* its front, and what models say (requests_front.c) */
request_fn request_front, request_propose, request_recommend;
/* new studies, and results of others (requests_submit.c) */
request_fn request_submit, request_import;
/* steering (requests_control.c) */
request_fn request_pause, request_resume, request_stop, request_delete, request_retry,
	request_cancel, request_enqueue;
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
/* points that are re-evaluated (requests_reevaluate.c) */
request_fn request_measure, request_measures;
/* the daemon itself (requests_daemon.c) */
request_fn request_hello, request_reload, request_shutdown;
json_t *request_hello_json(struct daemon *d);

#endif
