/* peer_user.h - who looks is who may use the daemon's socket.
 *
 * A port of this machine is open to everybody who is logged in on it. The kernel knows
 * whose the other end of such a connection is; whoever could not ask the daemon by
 * dparetoctl is not told by a page either. Through ssh it is the person who logged in. */
#ifndef DP_SERVE_HTTP_PEER_USER_H
#define DP_SERVE_HTTP_PEER_USER_H
#include "base/base.h"

#include <sys/socket.h>
#include <sys/types.h>

/* The user who has the other end of a connection within this machine; false: that cannot
 * be told. */
DP_MUSTCHECK bool peer_find_user(const struct sockaddr *ours, const struct sockaddr *theirs,
				 uid_t *user);
enum {
	PEER_NAME_LEN = 64
};
/* "alice (1000)", or "user 1000" of one without a name. */
char *peer_format_user(uid_t user, char out[PEER_NAME_LEN]);
enum peer_access {
	PEER_DENIED,
	PEER_ALLOWED,
	PEER_BY_GROUP /* members of the socket's group are allowed */
};
/* The access of a user by owner and mode of a socket. Does not look up groups, which may
 * take time. */
enum peer_access peer_access_by_mode(uid_t user, const char *socket);
/* May that user connect to a socket in the file system? Its owner, root and we may always. */
bool peer_may_use_socket(uid_t user, const char *socket);

#endif
