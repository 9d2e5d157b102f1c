/* reevaluation.h - points that are measured again: followed, and shown beside what was
 * searched. Rows are those of the verb `measures`. */
#ifndef DP_CTL_SUPPORT_REEVALUATION_H
#define DP_CTL_SUPPORT_REEVALUATION_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Waits until these measurements (an array of their numbers) are over, and tells how far
 * they are. *rows is the caller's. INT and TERM: DP_E_INTERRUPTED; a study that waits for
 * a person because of failures: DP_E_STUDY. */
DP_MUSTCHECK int ctl_reevaluation_follow(struct ctl *ctl, const char *study, const json_t *numbers,
					 json_t **rows, struct dp_err *err);
/* Does something that measures points of the study ctl->argv[0]: beside a daemon that is
 * there or, with --state, one of its own, which also makes the report new; with --no-wait
 * not that. INT and TERM end it, and what becomes of the measurements then is told. */
typedef int ctl_reevaluation_fn(struct ctl *ctl, void *arg, struct dp_err *err);
DP_MUSTCHECK int ctl_reevaluation_with_daemon(struct ctl *ctl, ctl_reevaluation_fn *fn, void *arg,
					      struct dp_err *err);
/* What was searched beside what was measured, a row each. */
void ctl_reevaluation_print_table(struct ctl *ctl, const json_t *rows);
/* DP_OK if all of them came to a result, else DP_E_STUDY with why not. */
DP_MUSTCHECK int ctl_reevaluation_check_success(const json_t *rows, struct dp_err *err);

#endif
