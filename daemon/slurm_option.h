/* slurm_option.h - the option `slurm`: what jobs ask for where a study does not say, and
 * how the daemon treats Slurm. Any thread; what is given lives as long as the tree. */
#ifndef DPARETOD_SLURM_OPTION_H
#define DPARETOD_SLURM_OPTION_H
#include "base/base.h"

#include <jansson.h>

struct slurm_option {
	const char *partition, *account; /* NULL: not said */
	double time;                     /* seconds; 0: not said */
	const json_t *options;           /* texts for sbatch; NULL: none */
	double poll;                     /* seconds between two questions, at most */
	unsigned jobs;                   /* in the queue at once */
};

/* Checks it; *out is the caller's. */
DP_MUSTCHECK int slurm_option_parse(const char *text, json_t **out, struct dp_err *err);
/* What a tree that was checked says, with the defaults. */
struct slurm_option slurm_option_read(const json_t *tree);

#endif
