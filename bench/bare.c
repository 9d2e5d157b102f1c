/* bare.c - what the throughput benchmark is measured against: a loop that does for
 * each evaluation just what cannot be left out. It makes the attempt's folder with a
 * request, starts shim and trainer, waits for them, and makes one durable LMDB commit;
 * so many at a time.
 *   bare SHIM TRAINER FOLDER EVALUATIONS AT-ONCE    prints evaluations per second */
#include "bench/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void bare_check(int ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static pid_t bare_start(const char *shim, const char *trainer, const char *folder, int i)
{
	static const char request[] = "{\"version\":1,\"study\":\"s\",\"trial\":0,\"attempt\":0,"
				      "\"parameters\":{},\"runs\":[{\"run\":0,\"seed\":1}]}\n";
	char dir[512], path[600];
	char *argv[] = { (char *)shim,  "--dir",    dir,  "--grace",       "10",
			 "--log-limit", "16777216", "--", (char *)trainer, NULL };
	pid_t pid;
	int fd;

	snprintf(dir, sizeof dir, "%s/%d", folder, i); /* TRIAL/ATTEMPT, as prescribed */
	bare_check(mkdir(dir, 0755) == 0, dir);
	snprintf(dir, sizeof dir, "%s/%d/0", folder, i);
	bare_check(mkdir(dir, 0755) == 0, dir);
	snprintf(path, sizeof path, "%s/request.json", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	bare_check(fd >= 0 && write(fd, request, strlen(request)) > 0, path);
	close(fd);
	snprintf(path, sizeof path, "%s/result.jsonl", dir);
	setenv("DPARETO_RESULT", path, 1);
	errno = posix_spawn(&pid, shim, NULL, NULL, argv, environ);
	bare_check(errno == 0, shim);
	return pid;
}

static void bare_commit(MDB_env *env, MDB_dbi dbi, int i)
{
	char record[300] = { 0 }; /* about what the daemon writes for an evaluation */
	unsigned key = __builtin_bswap32((unsigned)i);
	MDB_val k = { sizeof key, &key }, v = { sizeof record, record };
	MDB_txn *txn;

	bare_check(mdb_txn_begin(env, NULL, 0, &txn) == 0, "txn");
	bare_check(mdb_put(txn, dbi, &k, &v, 0) == 0, "put");
	bare_check(mdb_txn_commit(txn) == 0, "commit");
}

int main(int argc, char **argv)
{
	int total, at_once, started = 0, ended = 0;
	char path[512];
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	double began;

	if (argc != 6)
		return 2;
	total = atoi(argv[4]);
	at_once = atoi(argv[5]);
	snprintf(path, sizeof path, "%s/journal", argv[3]);
	bare_check(mkdir(argv[3], 0755) == 0 && mkdir(path, 0755) == 0, argv[3]);
	bare_check(mdb_env_create(&env) == 0 && mdb_env_set_mapsize(env, 1 << 28) == 0 &&
			   mdb_env_open(env, path, 0, 0644) == 0,
		   path);
	bare_check(mdb_txn_begin(env, NULL, 0, &txn) == 0 &&
			   mdb_dbi_open(txn, NULL, 0, &dbi) == 0 && mdb_txn_commit(txn) == 0,
		   "dbi");
	began = bench_wall();
	while (ended < total) {
		while (started < total && started - ended < at_once) {
			bare_start(argv[1], argv[2], argv[3], started);
			started++;
		}
		bare_check(wait(NULL) > 0, "wait");
		bare_commit(env, dbi, ended++);
	}
	printf("%.1f\n", total / (bench_wall() - began));
	mdb_env_close(env);
	return 0;
}
