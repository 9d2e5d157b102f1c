/* browser.h - opens the page in the user's web browser. */
#ifndef DP_SERVE_BROWSER_H
#define DP_SERVE_BROWSER_H
#include "base/base.h"
#include <sys/types.h>

struct browser {
	pid_t pid;               /* of xdg-open; 0: ended */
	char redirect_file[256]; /* the file passed to it instead of the token; "": none */
};

/* Runs xdg-open with the address; the page signs in by `token` unless that is "". Does not wait
 * for it: without a desktop, xdg-open runs as long as its browser. The caller calls
 * browser_cleanup(). */
DP_MUSTCHECK int browser_open(struct browser *b, const char *address, const char *token,
			      struct dp_err *err);
/* Returns false once if xdg-open has ended and failed. */
bool browser_check_opened(struct browser *b);
void browser_cleanup(struct browser *b);

#endif
