/* shim.h - what the files of dpareto-shim share: one struct, which main() has. */
#ifndef DP_DAEMON_SHIM_SHIM_H
#define DP_DAEMON_SHIM_SHIM_H
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	TOKEN_LEN = 32,        /* characters */
	EXIT_NOT_RECORDED = 1, /* also: failed before anything was claimed */
	EXIT_USAGE = 2,
	EXIT_LEASE_TAKEN = 75, /* somebody else has this attempt */
};

struct shim_options {
	const char *dir, *cwd;
	const char *lease_prefix; /* its claim and its record are files with this beginning */
	const char *cgroup;       /* folder in which the trainer gets a cgroup; NULL: none */
	bool is_accountant;       /* no attempt: an oracle program */
	bool is_remote;           /* its daemon is on another machine: no lock is needed */
	double timeout, stall;    /* seconds; 0: none */
	double grace;             /* seconds between TERM and KILL */
	uint64_t log_limit;       /* bytes kept of stdout, and of stderr */
	uint64_t memory_limit;    /* bytes of the whole tree; 0: no limit */
	uint64_t open_files;      /* the trainer's soft limit; 0: as it is */
	char **argv;
};

/* One of the trainer's two outputs: read from a pipe, kept in a file. */
struct shim_output {
	int pipe_fd, file_fd;            /* -1: closed, or could not be opened */
	uint64_t bytes_seen, bytes_kept; /* bytes */
	bool is_truncated;               /* the limit was passed and the file says so */
	int write_errno; /* errno of the first failed write; nothing is kept after it */
	int first_errno; /* the same, for good */
};

/* What all processes of the trainer have together, where that has a limit. */
struct shim_memory {
	bool by_cgroup;                /* a cgroup keeps the limit */
	uint64_t cgroup_limit;         /* as it has it */
	bool exceeded;                 /* it was passed */
	uint64_t used, peak;           /* bytes at the last look, and the most that was seen */
	double checked_at, next_check; /* monotonic: the last look, the next */
};

struct shim {
	struct shim_options opt;
	pid_t own_pid, trainer_pid; /* the trainer's process group has the trainer's number */
	int signal_fd;              /* signalfd */
	struct shim_output outputs[2];

	char record_path[PATH_MAX];      /* where the end is written before it gets its name */
	int record_fd;                   /* that file, made before anything was started */
	char lease_token[TOKEN_LEN + 1]; /* in claim and record: they are of one shim; "": none */
	char cgroup_dir[PATH_MAX];       /* of the trainer; "": none */
	int cgroup_procs_fd;             /* the file in it that a process enters it by; -1 */

	double started;                       /* monotonic */
	struct timespec wall_start, wall_end; /* wall clock, for people */
	bool timed_out, stalled, cancelled;
	bool stopping, killed; /* TERM was sent; KILL was sent */
	double kill_at;        /* monotonic, when stopping */
	double next_stall_check,
		last_growth; /* monotonic: next look at result.jsonl, last growth */
	off_t result_size;   /* of result.jsonl at the last look */
	struct shim_memory memory;

	bool trainer_ended; /* the trainer was reaped */
	int exit_status;    /* as of waitpid */
	int start_errno;    /* errno: it could not be started at all */
	bool orphans_left;  /* gave up on descendants that would not die */
};

/* ---- shim_main.c ---- */

double shim_now(void);
void sleep_ms(int ms);
/* Says what could not be done and why, by errno, and ends the program. */
_Noreturn void shim_die(const char *what, const char *name);
/* The first child, with outputs of its own; the kernel takes it before shim and daemon
 * when memory runs out. Returns 0 or errno. */
int shim_spawn_trainer(struct shim *s, const int *outputs);
/* A signalfd of SIGCHLD, TERM, INT and USR2, all signals blocked. */
void shim_open_signalfd(struct shim *s);
/* KILL or TERM to the first child and its group. */
void signal_trainer(const struct shim *s, int sig);
/* Takes in what the signalfd has. */
void read_signals(struct shim *s);

/* ---- shim_lease.c: the claim at the beginning, the record at the end ---- */

/* Claims the attempt, or ends the program. */
void shim_lease_acquire(struct shim *s);
/* Records the end; the daemon learns of it by this file alone. */
bool shim_record_end(struct shim *s);

/* ---- shim_output.c ---- */

/* Opens the files and the pipes; `writers` are the ends for the trainer, -1 where there
 * is none. Returns 0 or errno. */
int open_outputs(struct shim *s, int *writers);
/* Moves what the pipe holds now, at most one buffer. */
void copy_output(struct shim_output *o, uint64_t limit);
/* Takes what is left in the pipe without waiting for its end. */
void shim_drain_output(struct shim_output *o, uint64_t limit);

/* ---- shim_memory.c ---- */

/* Before the trainer starts: has the kernel limit its memory, if it can. */
void shim_memory_init(struct shim *s);
/* A look at what the tree has: memory.over tells whether that is too much, and
 * memory.look_at when the next look is due. */
void shim_memory_check(struct shim *s, double now);
/* The trainer has ended: was it the kernel that ended it at its limit? */
void shim_memory_finish(struct shim *s);

/* ---- shim_accountant.c ---- */

/* Runs opt.argv with the files that the shim was given, until it ends or nobody is left
 * who could ask it. Returns its exit code, or ends by its signal. */
int shim_run_accountant(struct shim *s);

/* ---- shim_process_tree.c: everything that descends from the trainer ---- */

enum reap_result {
	REAP_NO_CHILD_LEFT, /* there is no child any more */
	REAP_OTHERS_LIVE,   /* all that had ended; others live */
	REAP_MAYBE_MORE,    /* there may be more to reap */
};

/* Makes the trainer's cgroup below opt.cgroup, if it can. `start` is this process's
 * start time, which makes the name its own. */
void shim_cgroup_create(struct shim *s, unsigned long long start);
void shim_cgroup_remove(struct shim *s);
/* Writes to a file of the trainer's cgroup; false if that is refused or there is none. */
bool shim_cgroup_write(const struct shim *s, const char *file, const char *text);
/* KILL to all that there is: what it starts meanwhile comes to shim_kill_orphans(). */
void kill_tree(const struct shim *s);
/* Reaps what has ended, a batch at a time. */
enum reap_result shim_reap_children(struct shim *s);
/* Ends and reaps what the trainer left behind. */
void shim_kill_orphans(struct shim *s);

#endif
