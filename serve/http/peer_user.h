/* peer_user.h - finds the local user of a connection and checks access to the daemon's socket.
 *
 * Every user of this machine can connect to a local port. The kernel knows the user at the other
 * end. A user who may not use the daemon's socket may not read the pages either. Through an ssh
 * tunnel, the user is the one who logged in. */
#ifndef DP_SERVE_HTTP_PEER_USER_H
#define DP_SERVE_HTTP_PEER_USER_H
#include "base/base.h"

#include <sys/socket.h>
#include <sys/types.h>

/* Finds the user at the other end of a connection within this machine; false: unknown. */
DP_MUSTCHECK bool peer_find_user(const struct sockaddr *ours, const struct sockaddr *theirs,
				 uid_t *user);
enum {
	PEER_NAME_LEN = 64
};
/* Formats "alice (1000)", or "user 1000" without a name. */
char *peer_format_user(uid_t user, char out[PEER_NAME_LEN]);
enum peer_access {
	PEER_DENIED,
	PEER_ALLOWED,
	PEER_BY_GROUP
};
/* Determines access from owner and mode of a socket. Does not look up groups, which may be slow. */
enum peer_access peer_access_by_mode(uid_t user, const char *socket);
/* May this user connect to a socket file? Its owner, root and our own user always may. */
bool peer_may_use_socket(uid_t user, const char *socket);

#endif
