/* server.h - the control socket: connections, lines, who may speak, replies. A client is
 * known to the others by a number that is never used again. */
#ifndef DPARETOD_SERVER_H
#define DPARETOD_SERVER_H
#include "daemon/daemon.h"

DP_MUSTCHECK int server_start(struct dpd *d, int systemd_fd, struct dp_err *err);
DP_MUSTCHECK int server_add_fd(struct dpd *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct dpd *d);
/* Gives the socket's file to socket_group, or back to our own. */
void server_set_group(struct dpd *d);
void server_drop_clients(struct dpd *d);

/* Sends a reply once everything recorded so far is durable. Takes the reference. */
void client_ok(struct dpd *d, uint64_t client, json_t *ok);
void client_error(struct dpd *d, uint64_t client, const struct dp_err *err);
/* A client waits until the study's version differs from `since`. */
void client_wait(struct dpd *d, uint64_t client, uint32_t study, uint32_t since,
		 int64_t timeout_us);
/* Long polls: answers those whose study has changed or whose time is over. */
void client_poll_changes(struct dpd *d);

#endif
