/* server.h - the control socket (server.c) and its clients (client.c). A client is known
 * to the others by a number that is never used again. */
#ifndef DP_DAEMON_API_SERVER_H
#define DP_DAEMON_API_SERVER_H
#include "daemon/core/daemon.h"

DP_MUSTCHECK int server_start(struct daemon *d, int systemd_fd, struct dp_err *err);
DP_MUSTCHECK int server_add_fd(struct daemon *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct daemon *d);
/* Gives the socket's file to socket_group, or back to our own. */
void server_set_group(struct daemon *d);
/* Logs how many clients there may be at once. */
void server_log_client_limit(const struct daemon *d);
/* Something became free: if connections could not be taken, they are tried again. */
void server_resume_listening(struct daemon *d);
/* Now and then: closes those that ask nothing, or do not go on with what they began. */
void clients_close_timed_out(struct daemon *d);
void clients_close_all(struct daemon *d);
/* The loop has ended: frees what was still to be answered. */
void clients_free(struct daemon *d);

/* The user whose connection it is: peer_name_format(). */
const char *client_name(struct daemon *d, uint64_t client);

/* Sends a reply: to a request that changes something once everything recorded so far is
 * durable; to one that looks also before, marked, if the journal is silent. Takes the
 * reference. */
void client_reply_ok(struct daemon *d, uint64_t client, json_t *ok);
void client_reply_error(struct daemon *d, uint64_t client, const struct dp_err *err);
/* Sends `status` of a study that hides nothing. */
void client_reply_status(struct daemon *d, uint64_t client, struct study *study);
enum {
	CLIENT_ANY_STUDY = 0 /* no study has this number */
};
/* A client waits until the study's version, or the daemon's revision, differs from
 * `since`, durably. */
void client_start_long_poll(struct daemon *d, uint64_t client, uint32_t study_id, int64_t since,
			    int64_t timeout_us);
/* Long polls: answers those for whom something has changed or whose time is over. */
void clients_answer_long_polls(struct daemon *d);

#endif
