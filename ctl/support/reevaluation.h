/* reevaluation.h - waits for re-evaluations and compares them with the searched values.
 *
 * Rows have the form of the verb `measures`. */
#ifndef DP_CTL_SUPPORT_REEVALUATION_H
#define DP_CTL_SUPPORT_REEVALUATION_H
#include "ctl/ctl_command.h"
#include <jansson.h>

/* Waits for these re-evaluations (an array of numbers) and prints their progress. The caller owns
 * *rows. Returns DP_E_INTERRUPTED on INT or TERM, DP_E_STUDY if failures have paused the study. */
DP_MUSTCHECK int ctl_reevaluation_follow(struct ctl *ctl, const char *study, const json_t *numbers,
					 json_t **rows, struct dp_err *err);
/* Runs fn, which starts re-evaluations of the study ctl->argv[0], on the running daemon. With
 * --state of a directory that it does not serve, starts a private daemon, which also updates the
 * report unless --no-wait. INT and TERM end it with a message about the re-evaluations. */
typedef int ctl_reevaluation_fn(struct ctl *ctl, void *arg, struct dp_err *err);
DP_MUSTCHECK int ctl_reevaluation_with_daemon(struct ctl *ctl, ctl_reevaluation_fn *fn, void *arg,
					      struct dp_err *err);
/* Prints a table with one row per point: searched and re-evaluated values. */
void ctl_reevaluation_print_table(struct ctl *ctl, const json_t *rows);
/* Returns DP_OK if all of them have a result, else DP_E_STUDY with the reason. */
DP_MUSTCHECK int ctl_reevaluation_check_success(const json_t *rows, struct dp_err *err);

#endif
