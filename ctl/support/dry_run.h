/* dry_run.h - one training of a study file, by a daemon of its own, to see what comes back.
 *
 * Owns the daemon and its folder while it lasts. */
#ifndef DP_CTL_SUPPORT_DRY_RUN_H
#define DP_CTL_SUPPORT_DRY_RUN_H
#include "ctl/ctl_command.h"
#include "ctl/support/study_file.h"
#include <jansson.h>

/* Runs the trainer of a valid file once, with one run at a random point (with fixed
 * seeds the one that the study's seed gives). DP_OK also if that failed; *out is the
 * caller's:
 * {"ok":...,"end":...,"message":...,"seconds":...,"parameters":...,"metrics":...,
 *  "objectives":...,"waypoints":...,"missing":[...],"declared":...,"accounted":...,
 *  "directory":...,"result":...,"stdout":...,"stderr":...}
 * The last four are null where it went well, and the folder is gone then. */
DP_MUSTCHECK int ctl_dry_run(struct ctl *ctl, const struct ctl_study_file *file, json_t **out,
			     struct dp_err *err);
/* The same as people read it. */
void ctl_dry_run_print(struct ctl *ctl, const char *path, const json_t *tried);

#endif
