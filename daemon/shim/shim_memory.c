/* shim_memory.c - dpareto-shim: enforces the memory limit of a trainer's process tree. If the
 * trainer has a cgroup with a memory controller, the kernel enforces the limit. Otherwise this
 * process periodically adds up the tree: first resident pages, which is cheap and never too low,
 * and only if these exceed the limit, each process's proportional share of pages that cannot be
 * reclaimed (anonymous and shared memory, not mapped files). Pages that forked workers share then
 * count once. */
#include "daemon/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECK_MIN_SECONDS     0.02 /* shortest interval between two checks */
#define CHECK_MAX_SECONDS     0.5
#define FILL_BYTES_PER_SECOND 2e9  /* assumed limit on how fast a program can allocate */
#define CHECK_COST_RATIO      20.0 /* CPU time for checks: at most 1/20 */
#define CGROUP_CHECK_SECONDS  2.0  /* interval for checking that the cgroup still limits */

enum {
	TREE_PROCESSES_MAX = 1 << 16,
	SMALL_FILE = 4096,
	CHILDREN_FILE = 1 << 16
};

struct process_tree {
	pid_t *pids;
	size_t n, capacity;
};

/* ---- small files ---- */

/* Reads a small file as text; false on failure. */
static bool shim_read_small_file(int folder, const char *name, char *text, size_t room)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return false;
	while (len + 1 < room && (n = read(fd, text + len, room - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
	return len > 0;
}

/* The number after a word at the start of a line; 0 if none. */
static uint64_t shim_find_number(const char *text, const char *word)
{
	size_t len = strlen(word);

	while (text) {
		if (strncmp(text, word, len) == 0)
			return strtoull(text + len, NULL, 10);
		text = strchr(text, '\n');
		text += text != NULL;
	}
	return 0;
}

/* ---- the kernel's limit ---- */

static bool shim_cgroup_read(const struct shim *s, const char *file, char *text, size_t room)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/%s", s->cgroup_dir, file);
	return shim_read_small_file(AT_FDCWD, path, text, room);
}

/* Sets the cgroup's limit: no swap, and the whole tree is killed when the limit is reached. False:
 * no memory controller. */
static bool shim_cgroup_limit_memory(const struct shim *s)
{
	char limit[32];

	shim_cgroup_write(s, "memory.oom.group", "1");
	shim_cgroup_write(s, "memory.swap.max", "0");
	snprintf(limit, sizeof limit, "%llu", (unsigned long long)s->opt.memory_limit);
	return shim_cgroup_write(s, "memory.max", limit);
}

/* True if the cgroup still enforces the limit. A restart of the service may have removed the
 * controller. If it comes back, it does not count the pages that the trainer has, so the limit is
 * not set again and this process enforces it from then on. False also if the trainer could not
 * enter the cgroup. */
static bool shim_cgroup_still_limits(const struct shim *s)
{
	char text[SMALL_FILE];

	return shim_cgroup_read(s, "memory.max", text, sizeof text) &&
	       strtoull(text, NULL, 10) == s->memory.cgroup_limit &&
	       shim_cgroup_read(s, "cgroup.events", text, sizeof text) &&
	       shim_find_number(text, "populated ") == 1;
}

void shim_memory_init(struct shim *s)
{
	char text[SMALL_FILE];

	s->memory.by_cgroup = s->opt.memory_limit && s->cgroup_dir[0] &&
			      shim_cgroup_limit_memory(s) &&
			      shim_cgroup_read(s, "memory.max", text, sizeof text);
	/* the kernel rounds to whole pages */
	s->memory.cgroup_limit = s->memory.by_cgroup ? strtoull(text, NULL, 10) : 0;
}

void shim_memory_finish(struct shim *s)
{
	char text[SMALL_FILE];
	uint64_t peak;

	if (!s->memory.cgroup_limit || s->exit_status == 0 ||
	    !shim_cgroup_read(s, "memory.events", text, sizeof text))
		return;
	/* killed by the limit of this cgroup, not by a shortage of the whole machine */
	if (shim_find_number(text, "oom ") == 0 || shim_find_number(text, "oom_kill ") == 0)
		return;
	s->memory.exceeded = true;
	if (shim_cgroup_read(s, "memory.peak", text, sizeof text)) {
		peak = strtoull(text, NULL, 10);
		s->memory.peak = peak > s->memory.peak ? peak : s->memory.peak;
	}
}

/* ---- measuring ---- */

static void process_tree_add(struct process_tree *t, pid_t pid)
{
	pid_t *grown;

	if (t->n == TREE_PROCESSES_MAX)
		return;
	if (t->n == t->capacity) {
		grown = realloc(t->pids, (2 * t->capacity + 64) * sizeof *grown);
		if (!grown)
			return; /* the others still count */
		t->pids = grown;
		t->capacity = 2 * t->capacity + 64;
	}
	t->pids[t->n++] = pid;
}

static void process_tree_add_children(struct process_tree *t, int folder, const char *thread)
{
	static char text[CHILDREN_FILE];
	char name[64], *p = text, *end;
	long pid;

	snprintf(name, sizeof name, "task/%.20s/children", thread);
	if (!shim_read_small_file(folder, name, text, sizeof text))
		return;
	while ((pid = strtol(p, &end, 10)) > 0 && end != p) {
		/* the last pid may be truncated; a later check finds it */
		if (*end == ' ')
			process_tree_add(t, (pid_t)pid);
		p = end;
	}
}

static void process_tree_scan_threads(struct process_tree *t, int folder, pid_t pid)
{
	char own[24];
	struct dirent *entry;
	struct stat st;
	DIR *threads;
	int fd;

	snprintf(own, sizeof own, "%d", (int)pid);
	/* links: itself, its parent directory and one for each thread */
	if (fstatat(folder, "task", &st, 0) == 0 && st.st_nlink == 3) {
		process_tree_add_children(t, folder, own);
		return;
	}
	fd = openat(folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	threads = fd < 0 ? NULL : fdopendir(fd);
	if (!threads) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(threads)) != NULL)
		if (entry->d_name[0] != '.')
			process_tree_add_children(t, folder, entry->d_name);
	closedir(threads);
}

static int process_tree_open_proc(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static uint64_t process_resident_bytes(int folder)
{
	unsigned long long pages = 0;
	char text[128];

	if (!shim_read_small_file(folder, "statm", text, sizeof text) ||
	    sscanf(text, "%*s %llu", &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Adds all descendants and sums their resident pages. */
static uint64_t process_tree_resident_bytes(struct process_tree *t, pid_t self)
{
	uint64_t sum = 0;
	int folder = process_tree_open_proc(self);

	t->n = 0;
	if (folder >= 0) {
		process_tree_scan_threads(t, folder, self);
		close(folder);
	}
	for (size_t i = 0; i < t->n; i++) {
		folder = process_tree_open_proc(t->pids[i]);
		if (folder < 0)
			continue;
		sum += process_resident_bytes(folder);
		process_tree_scan_threads(t, folder, t->pids[i]);
		close(folder);
	}
	return sum;
}

/* Proportional set size of a process; resident set if unreadable (another user's). */
static uint64_t process_pss_bytes(int folder)
{
	char text[SMALL_FILE];

	if (!shim_read_small_file(folder, "smaps_rollup", text, sizeof text))
		return process_resident_bytes(folder);
	if (!strstr(text, "\nPss_Anon:"))
		return shim_find_number(text, "Pss:") * 1024;
	return (shim_find_number(text, "Pss_Anon:") + shim_find_number(text, "Pss_Shmem:")) * 1024;
}

static uint64_t process_tree_pss_bytes(const struct process_tree *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n; i++) {
		int folder = process_tree_open_proc(t->pids[i]);

		if (folder < 0)
			continue;
		sum += process_pss_bytes(folder);
		close(folder);
	}
	return sum;
}

/* ---- watching ---- */

static double shim_cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds until the limit could be reached if the tree grows twice as fast as before, or starts to
 * grow; limited by the cost of a check. */
static double shim_memory_next_pause(const struct shim *s, double now, uint64_t used, double cost)
{
	const struct shim_memory *m = &s->memory;
	double room = (double)s->opt.memory_limit - (double)used, pause;
	double grown = (double)used - (double)m->used, time = now - m->checked_at;
	double rate = m->checked_at > 0 && time > 0 ? 2 * grown / time : 0;

	pause = room / (rate > FILL_BYTES_PER_SECOND ? rate : FILL_BYTES_PER_SECOND);
	if (pause > CHECK_MAX_SECONDS)
		pause = CHECK_MAX_SECONDS;
	if (pause < CHECK_MIN_SECONDS)
		pause = CHECK_MIN_SECONDS;
	return pause > CHECK_COST_RATIO * cost ? pause : CHECK_COST_RATIO * cost;
}

void shim_memory_check(struct shim *s, double now)
{
	static struct process_tree tree;
	struct shim_memory *m = &s->memory;
	double before;
	uint64_t used;

	if (m->by_cgroup) {
		m->by_cgroup = shim_cgroup_still_limits(s);
		m->next_check = now + (m->by_cgroup ? CGROUP_CHECK_SECONDS : 0);
		return;
	}
	before = shim_cpu_seconds();
	used = process_tree_resident_bytes(&tree, s->own_pid);
	if (used > s->opt.memory_limit)
		used = process_tree_pss_bytes(&tree);
	m->next_check = now + shim_memory_next_pause(s, now, used, shim_cpu_seconds() - before);
	m->used = used;
	m->checked_at = now;
	m->peak = used > m->peak ? used : m->peak;
	m->exceeded = used > s->opt.memory_limit;
}
