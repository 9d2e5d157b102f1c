/* who.h - who asks, as the journal and people are told. */
#ifndef DPARETOD_WHO_H
#define DPARETOD_WHO_H
#include "base/base.h"

#include <sys/types.h>

enum {
	WHO_NAME = 64,     /* bytes of "alice (1000)" */
	WHO_VIA_MAX = 200, /* bytes that a client may say of where it is asked from */
	WHO_LEN = WHO_NAME + 2 + WHO_VIA_MAX + 1
};

/* "alice (1000)", or "user 1000". The name is that of /etc/passwd, if it is there: other
 * directories of users may be far away, and the loop must not wait for them. */
void who_named(uid_t user, char out[WHO_NAME]);
/* "alice (1000), web page, from 192.0.2.7"; via: NULL or "": nothing is known of that.
 * DP_E_PROTOCOL if it is too long or has control characters. */
DP_MUSTCHECK int who_asks(const char *name, const char *via, char out[WHO_LEN], struct dp_err *err);

#endif
