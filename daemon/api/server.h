/* server.h - the control socket: listens, checks permissions and limits the number of clients. */
#ifndef DP_DAEMON_API_SERVER_H
#define DP_DAEMON_API_SERVER_H
#include "daemon/core/daemon.h"

DP_MUSTCHECK int server_start(struct daemon *d, int systemd_fd, struct dp_err *err);
/* Takes over a connected socket. If it is a lifeline, the daemon stops when it closes. */
DP_MUSTCHECK int server_add_fd(struct daemon *d, int fd, bool lifeline, struct dp_err *err);
void server_stop(struct daemon *d);
void server_free(struct daemon *d);
/* Gives the socket file to socket_group, or back to the daemon's own group. */
void server_set_group(struct daemon *d);
void server_log_client_limit(const struct daemon *d);

#endif
