/* stale_readers.c - finds other processes whose snapshots keep the writer from reusing pages. */
#include "journal/store/journal_internal.h"

#include "base/units.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	STALE_AFTER_US = 2 * 1000 * 1000 /* a batch takes far less */
};

/* One line of LMDB's reader list: process, thread, transaction or "-". Keeps the oldest in *arg. */
static int on_reader_line(const char *line, void *arg)
{
	struct dp_journal_stale_reader *oldest = arg;
	unsigned long long txn;
	int pid;

	if (sscanf(line, "%d %*s %llu", &pid, &txn) == 2 &&
	    (oldest->pid == 0 || txn < oldest->txn_id)) {
		oldest->pid = pid;
		oldest->txn_id = txn;
	}
	return 0;
}

static void read_program_name(struct dp_journal_stale_reader *r)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/comm", r->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, r->program, sizeof r->program - 1);
		close(fd);
	}
	r->program[n > 0 ? n : 0] = '\0';
	r->program[strcspn(r->program, "\n")] = '\0';
}

void dp__stale_readers_check(struct dp_journal *j, const struct dp_journal_stale_reader *was,
			     struct dp_journal_stale_reader *now)
{
	MDB_envinfo info;
	int dead;

	*now = (struct dp_journal_stale_reader){ 0 };
	mdb_reader_check(j->env, &dead);
	mdb_env_info(j->env, &info);
	if (mdb_reader_list(j->env, on_reader_line, now) < 0 || now->pid == 0 ||
	    now->txn_id >= info.me_last_txnid) {
		*now = (struct dp_journal_stale_reader){ 0 };
		return;
	}
	now->commits_behind = info.me_last_txnid - now->txn_id;
	now->lagging_since_us = was->pid == now->pid && was->txn_id == now->txn_id
					? was->lagging_since_us
					: dp_monotonic_us();
	read_program_name(now);
}

bool dp_journal_reader_is_stale(const struct dp_journal_stale_reader *r)
{
	return r->pid != 0 && dp_monotonic_us() - r->lagging_since_us > STALE_AFTER_US;
}
