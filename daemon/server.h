/* server.h - the control socket (server.c) and its clients (client.c). A client is known
 * to the others by a number that is never used again. */
#ifndef DPARETOD_SERVER_H
#define DPARETOD_SERVER_H
#include "daemon/daemon.h"

DP_MUSTCHECK int server_start(struct dpd *d, int systemd_fd, struct dp_err *err);
DP_MUSTCHECK int server_add_fd(struct dpd *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct dpd *d);
/* Gives the socket's file to socket_group, or back to our own. */
void server_set_group(struct dpd *d);
/* Logs how many clients there may be at once. */
void server_tell_places(const struct dpd *d);
/* Something became free: if connections could not be taken, they are tried again. */
void server_listen_again(struct dpd *d);
/* Now and then: closes those that ask nothing, or do not go on with what they began. */
void clients_drop_overdue(struct dpd *d);
void server_drop_clients(struct dpd *d);
/* The loop has ended: frees what was still to be answered. */
void clients_free(struct dpd *d);

/* The user whose connection it is: who_named(). */
const char *client_name(struct dpd *d, uint64_t client);

/* Sends a reply: to a request that changes something once everything recorded so far is
 * durable; to one that looks also before, marked, if the journal is silent. Takes the
 * reference. */
void client_ok(struct dpd *d, uint64_t client, json_t *ok);
void client_error(struct dpd *d, uint64_t client, const struct dp_err *err);
/* Sends `status` of a study that hides nothing. */
void client_status(struct dpd *d, uint64_t client, struct study *h);
enum {
	CLIENT_ANY_STUDY = 0 /* no study has this number */
};
/* A client waits until the study's version, or the daemon's revision, differs from
 * `since`, durably. */
void client_wait(struct dpd *d, uint64_t client, uint32_t study, int64_t since, int64_t timeout_us);
/* Long polls: answers those for whom something has changed or whose time is over. */
void client_poll_changes(struct dpd *d);

#endif
