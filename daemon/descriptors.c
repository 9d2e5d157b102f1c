/* descriptors.c - open files are a limit of the machine: as many as it allows, and enough
 * of them kept for the journal and the trainers, whoever connects. */
#include "daemon/descriptors.h"

#include "daemon/daemon.h"

#include <dirent.h>
#include <sys/resource.h>

enum {
	LIMIT_UNKNOWN = 1024, /* what a system gives that does not tell */
	PER_SLOT = 3,         /* a trainer's pidfd, and files while it starts or ends */
	FOR_WORK = 64,        /* threads that read results and remove folders, reports,
			       * hooks, connections that are just being refused */
	FEWEST_CLIENTS = 4,
};

void descriptors_raise(struct descriptors *f)
{
	struct rlimit r;

	f->given = f->limit = LIMIT_UNKNOWN;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	f->given = f->limit = r.rlim_cur;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) == 0)
		f->limit = r.rlim_cur;
}

void descriptors_give_back(const struct descriptors *f, pid_t child)
{
	struct rlimit r;

	if (prlimit(child, RLIMIT_NOFILE, NULL, &r) != 0)
		return; /* it has ended */
	r.rlim_cur = f->given;
	prlimit(child, RLIMIT_NOFILE, &r, NULL);
}

void descriptors_count(struct descriptors *f)
{
	DIR *dir = opendir("/proc/self/fd");

	f->open = 0;
	while (dir && readdir(dir))
		f->open++;
	if (dir)
		closedir(dir);
}

unsigned descriptors_for_clients(const struct dpd *d)
{
	const struct descriptors *f = &d->descriptors;
	uint64_t kept = f->open + FOR_WORK + (uint64_t)PER_SLOT * d->config.slots;
	uint64_t left = f->limit > kept ? f->limit - kept : 0;

	/* a limit too small for everything is shared: somebody must be able to ask */
	if (left < f->limit / 4)
		left = f->limit / 4;
	if (left > d->config.max_clients)
		left = d->config.max_clients;
	return left > FEWEST_CLIENTS || left == d->config.max_clients ? (unsigned)left
								      : FEWEST_CLIENTS;
}
