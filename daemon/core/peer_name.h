/* peer_name.h - the name of a client, for the journal and for people. */
#ifndef DP_DAEMON_CORE_PEER_NAME_H
#define DP_DAEMON_CORE_PEER_NAME_H
#include "base/base.h"

#include <sys/types.h>

enum {
	REQUESTER_NAME_LEN = 64, /* bytes of "alice (1000)" */
	REQUESTER_VIA_MAX = 200, /* bytes that a client may say of where it is asked from */
	REQUESTER_LEN = REQUESTER_NAME_LEN + 2 + REQUESTER_VIA_MAX + 1
};

/* "alice (1000)", or "user 1000". The name is that of /etc/passwd, if it is there: other
 * directories of users may be far away, and the loop must not wait for them. */
void peer_name_format(uid_t user, char out[REQUESTER_NAME_LEN]);
/* "alice (1000), web page, from 192.0.2.7"; via: NULL or "": nothing is known of that.
 * DP_E_PROTOCOL if it is too long or has control characters. */
DP_MUSTCHECK int peer_format_requester(const char *name, const char *via, char out[REQUESTER_LEN],
				       struct dp_err *err);

#endif
