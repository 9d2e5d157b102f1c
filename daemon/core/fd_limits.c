/* fd_limits.c - raises the limit of open files and reserves descriptors. */
#include "daemon/core/fd_limits.h"

#include <dirent.h>
#include <sys/resource.h>

enum {
	FD_LIMIT_DEFAULT = 1024, /* if the system reports no limit */
	FDS_PER_SLOT = 3,        /* a trainer's pidfd, and files while it starts or ends */
	FDS_FOR_WORKERS = 64,    /* worker threads, reports, hooks, refused connections */
	CLIENTS_MIN = 4,
};

void fd_limits_raise(struct fd_limits *f)
{
	struct rlimit r;

	f->inherited_limit = f->soft_limit = FD_LIMIT_DEFAULT;
	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	f->inherited_limit = f->soft_limit = r.rlim_cur;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) == 0)
		f->soft_limit = r.rlim_cur;
}

void fd_limits_restore_for_child(const struct fd_limits *f, pid_t child)
{
	struct rlimit r;

	if (prlimit(child, RLIMIT_NOFILE, NULL, &r) != 0)
		return; /* the child has ended */
	r.rlim_cur = f->inherited_limit;
	prlimit(child, RLIMIT_NOFILE, &r, NULL);
}

void fd_limits_count_open(struct fd_limits *f)
{
	DIR *dir = opendir("/proc/self/fd");

	f->open_at_start = 0;
	while (dir && readdir(dir))
		f->open_at_start++;
	if (dir)
		closedir(dir);
}

unsigned fd_limits_max_clients(const struct fd_limits *f, const struct config *config)
{
	uint64_t kept = f->open_at_start + FDS_FOR_WORKERS + (uint64_t)FDS_PER_SLOT * config->slots;
	uint64_t left = f->soft_limit > kept ? f->soft_limit - kept : 0;

	/* if the limit is too small for all, clients still get a share */
	if (left < f->soft_limit / 4)
		left = f->soft_limit / 4;
	if (left > config->max_clients)
		left = config->max_clients;
	return left > CLIENTS_MIN || left == config->max_clients ? (unsigned)left : CLIENTS_MIN;
}
