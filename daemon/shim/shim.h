/* shim.h - the struct and functions shared by the files of dpareto-shim. */
#ifndef DP_DAEMON_SHIM_SHIM_H
#define DP_DAEMON_SHIM_SHIM_H
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	TOKEN_LEN = 32,
	EXIT_NOT_RECORDED = 1, /* also: failed before the claim */
	EXIT_USAGE = 2,
	EXIT_LEASE_TAKEN = 75, /* another shim or daemon has the attempt */
};

struct shim_options {
	const char *dir, *cwd;
	const char *lease_prefix; /* beginning of the paths of claim and record */
	const char *cgroup;       /* parent of the trainer's cgroup; NULL: none */
	bool is_accountant;       /* runs an external accountant, not an attempt */
	bool is_remote;           /* the daemon is on another machine: no lock is needed */
	double timeout, stall;    /* seconds; 0: none */
	double grace;             /* seconds between TERM and KILL */
	uint64_t log_limit;       /* kept of stdout, and of stderr */
	uint64_t memory_limit;    /* bytes of the process tree; 0: none */
	uint64_t open_files;      /* the trainer's soft limit; 0: unchanged */
	char **argv;
};

/* One of the trainer's two outputs: read from a pipe, written to a file. */
struct shim_output {
	int pipe_fd, file_fd; /* -1: closed, or not opened */
	uint64_t bytes_seen, bytes_kept;
	bool is_truncated; /* the limit was passed, and the file says so */
	int write_errno;   /* of the first failed write; nothing is kept after it */
	int first_errno;   /* the same, never cleared */
};

/* Memory of the trainer's process tree, if limited. */
struct shim_memory {
	bool by_cgroup;
	uint64_t cgroup_limit;         /* as the cgroup has it */
	bool exceeded;                 /* the limit was passed */
	uint64_t used, peak;           /* bytes: last measured, and highest */
	double checked_at, next_check; /* monotonic seconds */
};

struct shim {
	struct shim_options opt;
	pid_t own_pid, trainer_pid; /* the trainer's pid is also its process group */
	int signal_fd;
	struct shim_output outputs[2];

	char record_path[PATH_MAX];      /* temporary name of the record */
	int record_fd;                   /* of that file, made before anything starts */
	char lease_token[TOKEN_LEN + 1]; /* in claim and record, to match them; "": none */
	char cgroup_dir[PATH_MAX];       /* of the trainer; "": none */
	int cgroup_procs_fd;             /* cgroup.procs of that cgroup; -1 */

	double started;                       /* monotonic seconds */
	struct timespec wall_start, wall_end; /* for users */
	bool timed_out, stalled, cancelled;
	bool stopping, killed; /* TERM was sent; KILL was sent */
	double kill_at;        /* monotonic seconds; used when stopping */
	double next_stall_check,
		last_growth; /* monotonic: next check of result.jsonl, last growth */
	off_t result_size;   /* of result.jsonl at the last check */
	struct shim_memory memory;

	bool trainer_ended; /* and was reaped */
	int exit_status;
	int start_errno;   /* why it could not be started; 0 */
	bool orphans_left; /* some descendants did not die */
};

/* ---- shim_main.c ---- */

double shim_now(void);
void sleep_ms(int ms);
/* Prints what failed and errno's text, and exits. */
_Noreturn void shim_die(const char *what, const char *name);
/* Starts the trainer with its outputs. The kernel kills it before shim and daemon when memory runs
 * out. Returns 0 or an errno. */
int shim_spawn_trainer(struct shim *s, const int *outputs);
/* Opens a signalfd for SIGCHLD, TERM, INT and USR2, and blocks all signals. */
void shim_open_signalfd(struct shim *s);
/* Sends TERM or KILL to the trainer and its process group. */
void signal_trainer(const struct shim *s, int sig);
/* Handles pending signals of the signalfd. */
void read_signals(struct shim *s);

/* ---- shim_lease.c: the claim and the record of the end ---- */

void shim_lease_acquire(struct shim *s);
/* Records the end, which the daemon learns only from this file. */
bool shim_record_end(struct shim *s);

/* ---- shim_output.c ---- */

/* Opens files and pipes; `writers` gets the trainer's ends, -1 if none. Returns 0 or an errno. */
int open_outputs(struct shim *s, int *writers);
void copy_output(struct shim_output *o, uint64_t limit);
/* Copies the rest of the pipe without waiting for its end. */
void shim_drain_output(struct shim_output *o, uint64_t limit);

/* ---- shim_memory.c ---- */

/* Before the trainer starts: has the kernel enforce the limit, if possible. */
void shim_memory_init(struct shim *s);
/* Measures the tree: sets memory.exceeded, and memory.next_check for the next time. */
void shim_memory_check(struct shim *s, double now);
/* After the trainer has ended: checks if the kernel killed it at its limit. */
void shim_memory_finish(struct shim *s);

/* ---- shim_accountant.c ---- */

/* Runs opt.argv with the inherited descriptors until it ends or no process can send queries.
 * Returns its exit code, or ends by its signal. */
int shim_run_accountant(struct shim *s);

/* ---- shim_process_tree.c: all descendants of the trainer ---- */

enum reap_result {
	REAP_NO_CHILD_LEFT,
	REAP_OTHERS_LIVE, /* all ended ones were reaped; others live */
	REAP_MAYBE_MORE,  /* call again */
};

/* Makes the trainer's cgroup below opt.cgroup, if possible. `start`, this process's start time,
 * makes its name unique. */
void shim_cgroup_create(struct shim *s, unsigned long long start);
void shim_cgroup_remove(struct shim *s);
/* Writes to a file of the trainer's cgroup; false if that fails or there is none. */
bool shim_cgroup_write(const struct shim *s, const char *file, const char *text);
/* Sends KILL to the whole tree. What the tree starts meanwhile is left to shim_kill_orphans(). */
void kill_tree(const struct shim *s);
enum reap_result shim_reap_children(struct shim *s);
void shim_kill_orphans(struct shim *s);

#endif
