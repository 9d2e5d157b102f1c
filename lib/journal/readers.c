/* readers.c - other programs that read the journal: who holds back space. */
#include "journal/journal_internal.h"

#include "base/num.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	PATIENCE_US = 2 * 1000 * 1000 /* a batch takes far less; more is holding on */
};

/* One line of LMDB's list: process, thread, state ("-": none at present). Keeps the
 * oldest state in *arg. */
static int readers_line(const char *line, void *arg)
{
	struct dp_journal_reader *oldest = arg;
	unsigned long long txn;
	int pid;

	if (sscanf(line, "%d %*s %llu", &pid, &txn) == 2 &&
	    (oldest->pid == 0 || txn < oldest->txn)) {
		oldest->pid = pid;
		oldest->txn = txn;
	}
	return 0;
}

static void readers_program(struct dp_journal_reader *r)
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

void dp__readers_look(struct dp_journal *j, const struct dp_journal_reader *was,
		      struct dp_journal_reader *now)
{
	MDB_envinfo info;
	int dead;

	*now = (struct dp_journal_reader){ 0 };
	mdb_reader_check(j->env, &dead);
	mdb_env_info(j->env, &info);
	if (mdb_reader_list(j->env, readers_line, now) < 0 || now->pid == 0 ||
	    now->txn >= info.me_last_txnid) {
		*now = (struct dp_journal_reader){ 0 };
		return;
	}
	now->commits = info.me_last_txnid - now->txn;
	now->since = was->pid == now->pid && was->txn == now->txn ? was->since : dp_mono_us();
	readers_program(now);
}

bool dp_journal_reader_lags(const struct dp_journal_reader *r)
{
	return r->pid != 0 && dp_mono_us() - r->since > PATIENCE_US;
}
