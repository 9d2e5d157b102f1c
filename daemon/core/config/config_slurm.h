/* config_slurm.h - the option `slurm`: what jobs ask for where a study does not say, and
 * how the daemon treats Slurm. Any thread; what is given lives as long as the tree. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_SLURM_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_SLURM_H
#include "base/base.h"

#include <jansson.h>

struct slurm_config {
	const char *partition, *account; /* NULL: not said */
	double time_seconds;             /* seconds; 0: not said */
	const json_t *options;           /* texts for sbatch; NULL: none */
	double max_poll_seconds;         /* seconds between two questions, at most */
	unsigned max_jobs;               /* in the queue at once */
};

/* Checks it; *out is the caller's. */
DP_MUSTCHECK int slurm_config_parse(const char *text, json_t **out, struct dp_err *err);
/* What a tree that was checked says, with the defaults. */
struct slurm_config slurm_config_read(const json_t *tree);

#endif
