/* xmalloc.h - memory for a short-lived program: it is there, or the program ends.
 *
 * Owns nothing; what it returns is the caller's to free(). */
#ifndef DP_CTL_XMALLOC_H
#define DP_CTL_XMALLOC_H
#include "base/base.h"

/* Ends the program for want of memory. */
_Noreturn void ctl_die_nomem(void);
/* A formatted text that the caller frees. */
DP_PRINTF(1, 0)
char *ctl_xvasprintf(const char *format, va_list ap);
void *ctl_xcalloc(size_t count, size_t size); /* zeroed; never NULL */
char *ctl_xstrdup(const char *s);             /* never NULL */

#endif
