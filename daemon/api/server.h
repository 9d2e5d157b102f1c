/* server.h - the control socket: listening, who may speak, and who has a place. */
#ifndef DP_DAEMON_API_SERVER_H
#define DP_DAEMON_API_SERVER_H
#include "daemon/core/daemon.h"

DP_MUSTCHECK int server_start(struct daemon *d, int systemd_fd, struct dp_err *err);
/* A connected socket, which is taken over; when a lifeline closes, the daemon stops. */
DP_MUSTCHECK int server_add_fd(struct daemon *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct daemon *d);
void server_free(struct daemon *d);
/* Gives the socket's file to socket_group, or back to our own. */
void server_set_group(struct daemon *d);
/* Logs how many clients there may be at once. */
void server_log_client_limit(const struct daemon *d);

#endif
