/* pages.h - long answers of the daemon, which come in pages, put together. */
#ifndef DP_CTL_CLIENT_PAGINATION_H
#define DP_CTL_CLIENT_PAGINATION_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Completes an answer about the study (NULL: about none): the studies of `list` and
 * `status`, the points of a front, the runs of a trial, what is measured again. Then it
 * has neither "next" nor "more". The pages of `trials` are ctl_for_each_trial()'s. */
DP_MUSTCHECK int ctl_fetch_remaining_pages(struct ctl *ctl, const char *verb, const char *study,
					   json_t *ok, struct dp_err *err);
/* Completes a trial in full: its attempts and runs. */
DP_MUSTCHECK int ctl_fetch_remaining_runs(struct ctl *ctl, const char *study, json_t *trial,
					  struct dp_err *err);

/* Says so, once, if the answer shows what is not on the disk yet. */
void ctl_warn_unsaved(struct ctl *ctl, const json_t *ok);

#endif
