/* config_slurm.h - reads the option `slurm`: defaults for jobs, and how the daemon polls Slurm. Any
 * thread. Returned pointers live as long as the tree. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_SLURM_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_SLURM_H
#include "base/base.h"

#include <jansson.h>

struct slurm_config {
	const char *partition, *account; /* NULL: not set */
	double time_seconds;             /* 0: not set */
	const json_t *options;           /* arguments for sbatch; NULL: none */
	double max_poll_seconds;         /* longest time between two polls */
	unsigned max_jobs;               /* in Slurm's queue at once */
};

/* Parses and checks the option. The caller owns *out. */
DP_MUSTCHECK int slurm_config_parse(const char *text, json_t **out, struct dp_err *err);
struct slurm_config slurm_config_read(const json_t *tree);

#endif
