/* pages.h - long answers of the daemon, which come in pages, put together. */
#ifndef DP_CTL_PAGES_H
#define DP_CTL_PAGES_H
#include "ctl/command.h"
#include <jansson.h>

/* Completes an answer: the studies of `list` and `status`, the points of a front. Then it
 * has neither "next" nor "more". Answers of other verbs stay as they are. */
DP_MUSTCHECK int ctl_complete(struct ctl *ctl, const char *verb, json_t *ok,
			      struct dp_err *err);

/* Says so if the answer shows what is not on the disk yet. */
void ctl_say_unsaved(struct ctl *ctl, const json_t *ok);

#endif
