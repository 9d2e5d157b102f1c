/* dry_run.h - runs the trainer of a study file once in a private daemon (`validate --try`).
 *
 * Owns that daemon and its directory during the call. */
#ifndef DP_CTL_SUPPORT_DRY_RUN_H
#define DP_CTL_SUPPORT_DRY_RUN_H
#include "ctl/ctl_command.h"
#include "ctl/support/study_file.h"
#include <jansson.h>

/* Runs the trainer of a valid file once, with one run at a random point (with fixed seeds, the
 * point of the study's seed). Returns DP_OK even if the trainer failed. The caller owns *out:
 * {"ok":...,"end":...,"message":...,"seconds":...,"parameters":...,"metrics":...,
 *  "objectives":...,"waypoints":...,"missing":[...],"declared":...,"accounted":...,
 *  "directory":...,"result":...,"stdout":...,"stderr":...}
 * After success the last four are null and the directory is removed. */
DP_MUSTCHECK int ctl_dry_run(struct ctl *ctl, const struct ctl_study_file *file, json_t **out,
			     struct dp_err *err);
void ctl_dry_run_print(struct ctl *ctl, const char *path, const json_t *tried);

#endif
