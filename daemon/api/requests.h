/* requests.h - handlers for the verbs of the control protocol (docs/protocol.md). requests.c has
 * one row for each verb; requests_*.c have the handlers, by subject. */
#ifndef DP_DAEMON_API_REQUESTS_H
#define DP_DAEMON_API_REQUESTS_H
#include "daemon/core/peer_name.h"
#include "daemon/studies/pending_replies.h"

struct request {
	struct daemon *daemon;
	uint64_t client_id;
	const char *user_name; /* of the client; set for verbs that change something */
	const json_t *json;
	struct study *study;              /* set if the verb needs a study */
	char requested_by[REQUESTER_LEN]; /* the requester; set for verbs that change something */
	bool replies_later;               /* the handler will answer later */
	bool wants_status, wants_changes;
	int64_t since, timeout_us; /* used with wants_changes */
};

/* DP_OK: *ok is sent, unless the handler set r->replies_later. DP_E_*: *err is sent. */
typedef int request_fn(struct request *r, json_t **ok, struct dp_err *err);

/* True if the verb changes nothing. Its reply does not wait for a journal that does not answer. */
bool request_is_read_only(const char *verb);
/* True if the reply may take the loop some milliseconds. Such a request waits for its turn. */
bool request_is_long(const char *verb, const json_t *request);
enum request_result {
	REQUEST_ANSWERED,     /* a reply was sent, or will be */
	REQUEST_WANTS_STATUS, /* the caller sends `status` of r->study */
	REQUEST_WANTS_CHANGES /* the caller sends changes of r->study (NULL: of all studies) after
				 `since`, once they are durable or r->timeout_us is over */
};
enum request_result request_handle(struct request *r, const char *verb);

void request_answer(struct request *r, int code, json_t *ok, struct dp_err *err);
/* Sets the error for a verb that a read-only daemon refuses. */
int request_refuse_read_only(const struct daemon *d, const char *verb, struct dp_err *err);

request_fn request_list, request_status, request_changes, request_trials, request_trial;
json_t *request_status_json(struct study *study);
json_t *request_summary_json(struct study *study);
/* Answers for a private selection, once its privacy cost is known. */
void request_reply_selection(struct request *r, reply_builder *answer, json_t **ok);
DP_MUSTCHECK int request_find_trial(struct request *r, struct dp_trial **t, struct dp_err *err);
/* Parses [trial, at]. A null `at` means the trial's own result. */
DP_MUSTCHECK int request_parse_point(const struct dp_study_state *s, const json_t *pair,
				     struct dp_result_id *p, struct dp_err *err);
/* A trial as JSON; only the first runs if it has many. */
json_t *request_trial_json(struct study *study, const struct dp_trial *t);
request_fn request_front, request_propose, request_recommend;
request_fn request_submit, request_import;
request_fn request_pause, request_resume, request_stop, request_delete, request_retry,
	request_cancel, request_enqueue;
request_fn request_set;
/* Handles a file whose study name exists. If the file means the same study, the study continues
 * with the changed keys; otherwise DP_E_EXISTS lists the differences. e has text, path, dir, spec
 * and by. */
DP_MUSTCHECK int request_resubmit(struct study *study, const struct dp_event *e, json_t **ok,
				  struct dp_err *err);
/* Journals the number of initial points next to imported results if the file does not set it, so
 * that it never changes. */
void amend_record_initial(struct study *study);
/* Journals the daemon's default executor if the file names none, so that it never changes. */
void amend_record_executor(struct study *study);
request_fn request_measure, request_measures;
request_fn request_hello, request_reload, request_shutdown;
json_t *request_hello_json(struct daemon *d);

#endif
