/* orphans.c - kills the processes that an attempt left on this machine when its shim was killed. A
 * trainer is its whole process tree, held together by its cgroup if it has one. Otherwise its
 * processes are known by DPARETO_CLAIM in their environment, which is unique to the attempt and
 * inherited in every session. A process that cleared its environment is known by a parent or
 * session that it shares with one of them, or by being both in the shim's session and in the
 * attempt's directory. Nothing older than the shim is touched. A process is killed only through a
 * pidfd that was opened before its pid and start time were checked again: pids are reused, but not
 * with the same start time. */
#include "daemon/executors/local/orphans.h"

#include "base/buf.h"
#include "base/fs.h"
#include "daemon/executors/local/cgroup.h"
#include "daemon/executors/executor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum {
	ENVIRONMENT_MAX = 8 << 20,
	STAT_MAX = 4096,
	LEASE_READ_MAX = 8192,
	KILL_ROUNDS_MAX = 25,
	KILL_ROUND_MS = 20
};

struct process {
	pid_t pid, parent, session;
	unsigned long long start; /* clock ticks since boot */
	char state;
	bool is_orphan;
};

struct process_list {
	struct process *list;
	size_t n, capacity;
};

struct orphan_search {
	const char *directory;
	char *env_marker; /* "DPARETO_CLAIM=..." */
	pid_t shim_pid;
	unsigned long long shim_start; /* of the shim; 0: unknown */
	char cgroup[4096];             /* "": none */
};

/* ---- one process ---- */

/* Reads a file of /proc. Returns 0 or an errno. A file that opens but cannot be read gives an empty
 * text: the process is ending or in exec(). */
static int process_read_proc_file(pid_t pid, const char *name, size_t max, struct dp_buf *out)
{
	char path[64], chunk[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	while (out->len < max && (n = read(fd, chunk, sizeof chunk)) > 0)
		dp_buf_add(out, chunk, (size_t)n);
	close(fd);
	return 0;
}

static int process_read_stat(pid_t pid, struct process *p)
{
	struct dp_buf text = DP_BUF_INIT;
	int e = process_read_proc_file(pid, "stat", STAT_MAX, &text), parent, session;
	/* the second field is the program's name and may contain spaces and ')' */
	const char *after = e == 0 ? strrchr(dp_buf_text(&text), ')') : NULL;

	if (e == 0 && (!after || sscanf(after + 1,
					" %c %d %*d %d %*s %*s %*s %*s %*s %*s %*s %*s %*s "
					"%*s %*s %*s %*s %*s %*s %llu",
					&p->state, &parent, &session, &p->start) != 4))
		e = ESRCH;
	if (e == 0) {
		p->pid = pid;
		p->parent = parent;
		p->session = session;
		p->is_orphan = false;
	}
	dp_buf_free(&text);
	return e;
}

static int process_env_has(const struct process *p, const char *token, bool *has)
{
	struct dp_buf text = DP_BUF_INIT;
	size_t len = strlen(token) + 1;
	int e = process_read_proc_file(p->pid, "environ", ENVIRONMENT_MAX, &text);
	const char *at = text.data, *end = at ? at + text.len : NULL;

	*has = false;
	while (e == 0 && at && at < end && !*has) {
		const char *zero = memchr(at, '\0', (size_t)(end - at));

		*has = zero && (size_t)(zero + 1 - at) == len && memcmp(at, token, len) == 0;
		at = zero ? zero + 1 : end;
	}
	dp_buf_free(&text);
	return e;
}

/* A session id alone is not proof: it may be reused after the shim has ended. */
static bool process_is_in_shim_session(const struct process *p, const struct orphan_search *search)
{
	size_t len = strlen(search->directory);
	char link[64], cwd[4096];
	ssize_t n;

	if (search->shim_pid < 2 || p->session != search->shim_pid)
		return false;
	snprintf(link, sizeof link, "/proc/%d/cwd", (int)p->pid);
	n = readlink(link, cwd, sizeof cwd - 1);
	cwd[n > 0 ? n : 0] = '\0';
	return strncmp(cwd, search->directory, len) == 0 &&
	       (cwd[len] == '\0' || cwd[len] == '/' || cwd[len] == ' ');
}

/* Kills the process if it is still the one that was examined. */
static void process_kill(const struct process *p)
{
	int fd = pidfd_open(p->pid, 0);
	struct process now;

	if (fd < 0)
		return;
	if (process_read_stat(p->pid, &now) == 0 && now.start == p->start)
		pidfd_send_signal(fd, SIGKILL, NULL, 0);
	close(fd);
}

/* ---- all of them ---- */

static bool process_list_add(struct process_list *all, const struct process *p)
{
	if (all->n == all->capacity) {
		size_t room = all->capacity ? 2 * all->capacity : 256;
		struct process *grown = dp_realloc(all->list, room * sizeof *grown);

		all->list = grown;
		all->capacity = room;
	}
	all->list[all->n++] = *p;
	return true;
}

/* Adds a process that is alive and young enough. Returns 0 or a transient errno: without an answer,
 * survivors cannot be ruled out. */
static int process_list_add_if_young(struct process_list *all, pid_t pid,
				     const struct orphan_search *search)
{
	struct process p;
	int e = process_read_stat(pid, &p);

	if (e != 0)
		return dp_errno_is_transient(e) ? e : 0;
	if (p.state == 'Z' || p.state == 'X' || p.start < search->shim_start)
		return 0;
	/* one whose environment cannot be read may still be a child of an orphan */
	e = process_env_has(&p, search->env_marker, &p.is_orphan);
	if (e != 0 && dp_errno_is_transient(e))
		return e;
	p.is_orphan |= process_is_in_shim_session(&p, search);
	return process_list_add(all, &p) ? 0 : ENOMEM;
}

static int process_list_scan(struct process_list *all, const struct orphan_search *search)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int e = dir ? 0 : errno;

	while (e == 0 && (entry = readdir(dir)) != NULL) {
		pid_t pid = isdigit((unsigned char)entry->d_name[0])
				    ? (pid_t)strtol(entry->d_name, NULL, 10)
				    : 0;

		if (pid > 1 && pid != getpid())
			e = process_list_add_if_young(all, pid, search);
	}
	if (dir)
		closedir(dir);
	return e;
}

static bool process_is_related(const struct process *p, const struct process_list *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct process *q = &all->list[i];

		if (q->is_orphan && (p->parent == q->pid || p->session == q->session))
			return true;
	}
	return false;
}

/* Marks processes that cleared their environment. A shim or its trainer began the session: a
 * process cannot join another one. */
static void process_list_mark_related(struct process_list *all)
{
	bool more;

	do {
		more = false;
		for (size_t i = 0; i < all->n; i++) {
			struct process *p = &all->list[i];

			if (!p->is_orphan && p->session != getsid(0) && process_is_related(p, all))
				p->is_orphan = more = true;
		}
	} while (more);
}

/* Kills all found; *alive is one of them. Returns 0 or a transient errno. */
static int orphans_kill_found(const struct orphan_search *search, struct process *alive, bool *any)
{
	struct process_list all = { 0 };
	int e = process_list_scan(&all, search);

	*any = false;
	process_list_mark_related(&all);
	for (size_t i = 0; e == 0 && i < all.n; i++) {
		if (!all.list[i].is_orphan)
			continue;
		*any = true;
		*alive = all.list[i];
		process_kill(alive);
	}
	free(all.list);
	return e;
}

/* ---- the attempt ---- */

/* Accepts only a cgroup that is named after this shim. */
static void orphans_parse_cgroup(struct orphan_search *search, const char *line)
{
	char mine[64];
	const char *dash = strrchr(line, '/');
	int n = snprintf(mine, sizeof mine, "-%d-%llu", (int)search->shim_pid, search->shim_start);
	size_t len = strcspn(line, "\n");

	if (dash && strncmp(dash, "/dpareto-", 9) == 0 && len < sizeof search->cgroup &&
	    len > (size_t)n && memcmp(line + len - n, mine, (size_t)n) == 0)
		snprintf(search->cgroup, sizeof search->cgroup, "%.*s", (int)len, line);
}

/* Returns 0 or a transient errno. */
static int orphans_read_lease(struct orphan_search *search, const char *folder)
{
	struct dp_buf text = DP_BUF_INIT;
	char *claim = lease_file_path(folder, ".claim");
	const char *line;
	int pid, e;

	if (!claim || asprintf(&search->env_marker, "DPARETO_CLAIM=%s", claim) < 0) {
		search->env_marker = NULL;
		free(claim);
		return ENOMEM;
	}
	e = dp_read_untrusted_head(claim, LEASE_READ_MAX, &text);
	free(claim);
	if (e == 0 && text.len && sscanf(text.data, "%d %llu", &pid, &search->shim_start) == 2) {
		search->shim_pid = pid;
		line = strstr(text.data, "\ncgroup /");
		if (line)
			orphans_parse_cgroup(search, line + strlen("\ncgroup "));
	}
	dp_buf_free(&text);
	return dp_errno_is_transient(e) ? e : 0;
}

/* One round: 0 if nothing is left, EBUSY with a reason if something is, or a transient errno. */
static int orphans_kill_round(const struct orphan_search *search, char *why, size_t room)
{
	struct process alive;
	bool any;
	int e = search->cgroup[0] ? cgroup_kill_and_remove(search->cgroup) : 0, looked;

	if (e == EBUSY)
		snprintf(why, room, "something in the cgroup %s does not end", search->cgroup);
	else if (!dp_errno_is_transient(e))
		e = 0; /* not a cgroup of ours: its processes are found below */
	looked = orphans_kill_found(search, &alive, &any);
	if (looked != 0)
		return looked;
	if (any)
		snprintf(why, room,
			 "process %d, which it left running, was killed and does not end "
			 "(state %c)",
			 (int)alive.pid, alive.state);
	return any ? EBUSY : e;
}

/* Requires two empty rounds, because a process that forks and exits can slip through one. */
bool orphans_kill_all(const char *folder, char *why, size_t room)
{
	struct orphan_search search = { .directory = folder };
	int e = orphans_read_lease(&search, folder), clean = 0;

	for (int i = 0; e == 0 && clean < 2 && i < KILL_ROUNDS_MAX; i++) {
		e = orphans_kill_round(&search, why, room);
		clean = e == 0 ? clean + 1 : 0;
		if (e == EBUSY) {
			e = 0;
			poll(NULL, 0, KILL_ROUND_MS);
		}
	}
	if (e != 0)
		snprintf(why, room, "cannot look for what it left running: %s", strerror(e));
	if (clean == 2)
		why[0] = '\0'; /* a later round succeeded */
	free(search.env_marker);
	return clean == 2;
}

bool process_get_state(pid_t pid, bool *stopped, double *start)
{
	struct process p;

	if (process_read_stat(pid, &p) != 0)
		return false;
	*stopped = p.state == 'T';
	*start = (double)p.start / (double)sysconf(_SC_CLK_TCK);
	return true;
}
