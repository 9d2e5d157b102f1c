/* peer_name.h - formats the name of a client for the journal and for users. */
#ifndef DP_DAEMON_CORE_PEER_NAME_H
#define DP_DAEMON_CORE_PEER_NAME_H
#include "base/base.h"

#include <sys/types.h>

enum {
	REQUESTER_NAME_LEN = 64, /* bytes of "alice (1000)" */
	REQUESTER_VIA_MAX = 200, /* bytes that a client may send about where a request comes from */
	REQUESTER_LEN = REQUESTER_NAME_LEN + 2 + REQUESTER_VIA_MAX + 1
};

/* "alice (1000)", or "user 1000". Looks only in /etc/passwd: other user databases may be remote,
 * and the loop must not wait for them. */
void peer_name_format(uid_t user, char out[REQUESTER_NAME_LEN]);
/* "alice (1000), web page, from 192.0.2.7". via: NULL or "": unknown. DP_E_PROTOCOL if it is too
 * long or has control characters. */
DP_MUSTCHECK int peer_format_requester(const char *name, const char *via, char out[REQUESTER_LEN],
				       struct dp_err *err);

#endif
