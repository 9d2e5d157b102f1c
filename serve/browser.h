/* browser.h - shows the page to who started the server. */
#ifndef DP_SERVE_BROWSER_H
#define DP_SERVE_BROWSER_H
#include "base/base.h"
#include <sys/types.h>

/* A browser on its way; all zero: none. */
struct browser {
	pid_t pid;               /* of xdg-open; 0: it has ended */
	char redirect_file[256]; /* what it was given in the token's place; "": nothing */
};

/* Has xdg-open show the address, signed in by the token unless that is "". Does not
 * wait for it: where there is no desktop, it lives as long as its browser. The caller
 * ends it with browser_cleanup(). */
DP_MUSTCHECK int browser_open(struct browser *b, const char *address, const char *token,
			      struct dp_err *err);
/* False, once: it has ended and showed nothing. */
bool browser_check_opened(struct browser *b);
void browser_cleanup(struct browser *b);

#endif
