/* descriptors.h - open files are a limit of the machine: as many as it allows, and enough
 * of them kept for the journal and the trainers, whoever connects. */
#ifndef DPARETOD_DESCRIPTORS_H
#define DPARETOD_DESCRIPTORS_H
#include "base/base.h"
#include <sys/types.h>

struct dpd;

struct descriptors {
	uint64_t given; /* the soft limit that the daemon was started with; trainers get
			 * it back, because programs with select() break above 1024 */
	uint64_t limit; /* its own */
	unsigned open;  /* were open when it was ready to listen */
};

/* Raises the soft limit to the hard one. */
void descriptors_raise(struct descriptors *f);
/* A child that was just started gets the limit that the daemon was given. */
void descriptors_give_back(const struct descriptors *f, pid_t child);
/* Counts what is open: the journal, the log and the loop are, trainers and clients are
 * not yet. */
void descriptors_count(struct descriptors *f);
/* So many clients at once: max_clients, or what the trainers and the daemon's own work
 * leave of the limit. */
unsigned descriptors_for_clients(const struct dpd *d);

#endif
