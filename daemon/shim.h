/* shim.h - what the files of dpareto-shim share: one struct, which main() has. */
#ifndef DPARETO_SHIM_H
#define DPARETO_SHIM_H
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum {
	TOKEN_LEN = 32,        /* characters */
	EXIT_NOT_RECORDED = 1, /* also: failed before anything was claimed */
	EXIT_USAGE = 2,
	EXIT_CLAIMED = 75, /* somebody else has this attempt */
};

struct options {
	const char *dir, *cwd;
	const char *beside;    /* its claim and its record are files with this beginning */
	const char *cgroup;    /* folder in which the trainer gets a cgroup; NULL: none */
	bool oracle;           /* no attempt: an oracle program */
	bool elsewhere;        /* its daemon is on another machine: no lock is needed */
	double timeout, stall; /* seconds; 0: none */
	double grace;          /* seconds between TERM and KILL */
	uint64_t log_limit;    /* bytes kept of stdout, and of stderr */
	uint64_t memory;       /* bytes of the whole tree; 0: no limit */
	uint64_t open_files;   /* the trainer's soft limit; 0: as it is */
	char **argv;
};

/* One of the trainer's two outputs: read from a pipe, kept in a file. */
struct output {
	int in, file;        /* -1: closed, or could not be opened */
	uint64_t seen, kept; /* bytes */
	bool cut;            /* the limit was passed and the file says so */
	int error;           /* errno of the first failed write; nothing is kept after it */
	int trouble;         /* the same, for good */
};

/* What all processes of the trainer have together, where that has a limit. */
struct memory {
	bool kernel;               /* a cgroup keeps the limit */
	uint64_t kernel_max;       /* as it has it */
	bool over;                 /* it was passed */
	uint64_t used, peak;       /* bytes at the last look, and the most that was seen */
	double looked_at, look_at; /* monotonic: the last look, the next */
};

struct shim {
	struct options opt;
	pid_t self, trainer; /* the trainer's process group has the trainer's number */
	int signals;         /* signalfd */
	struct output out[2];

	char record[PATH_MAX];     /* where the end is written before it gets its name */
	int record_fd;             /* that file, made before anything was started */
	char token[TOKEN_LEN + 1]; /* in claim and record: they are of one shim; "": none */
	char cgroup[PATH_MAX];     /* of the trainer; "": none */
	int cgroup_procs;          /* the file in it that a process enters it by; -1 */

	double started;             /* monotonic */
	struct timespec start, end; /* wall clock, for people */
	bool timed_out, stalled, cancelled;
	bool stopping, killed;   /* TERM was sent; KILL was sent */
	double kill_at;          /* monotonic, when stopping */
	double look_at, grew_at; /* monotonic: next look at result.jsonl, last growth */
	off_t size;              /* of result.jsonl at the last look */
	struct memory memory;

	bool ended;       /* the trainer was reaped */
	int status;       /* as of waitpid */
	int start_error;  /* errno: it could not be started at all */
	bool left_behind; /* gave up on descendants that would not die */
};

/* ---- shim.c ---- */

double monotonic(void);
void sleep_ms(int ms);
/* Says what could not be done and why, by errno, and ends the program. */
_Noreturn void die(const char *what, const char *name);
/* The first child, with outputs of its own; the kernel takes it before shim and daemon
 * when memory runs out. Returns 0 or errno. */
int spawn_expendable(struct shim *s, const int *outputs);
/* A signalfd of SIGCHLD, TERM, INT and USR2, all signals blocked. */
void watch_signals(struct shim *s);
/* KILL or TERM to the first child and its group. */
void signal_trainer(const struct shim *s, int sig);
/* Takes in what the signalfd has. */
void read_signals(struct shim *s);

/* ---- shim_claim.c: the claim at the beginning, the record at the end ---- */

/* Claims the attempt, or ends the program. */
void claim_attempt(struct shim *s);
/* Records the end; the daemon learns of it by this file alone. */
bool record_end(struct shim *s);

/* ---- shim_output.c ---- */

/* Opens the files and the pipes; `writers` are the ends for the trainer, -1 where there
 * is none. Returns 0 or errno. */
int open_outputs(struct shim *s, int *writers);
/* Moves what the pipe holds now, at most one buffer. */
void copy_output(struct output *o, uint64_t limit);
/* Takes what is left in the pipe without waiting for its end. */
void finish_output(struct output *o, uint64_t limit);

/* ---- shim_memory.c ---- */

/* Before the trainer starts: has the kernel limit its memory, if it can. */
void memory_begin(struct shim *s);
/* A look at what the tree has: memory.over tells whether that is too much, and
 * memory.look_at when the next look is due. */
void memory_look(struct shim *s, double now);
/* The trainer has ended: was it the kernel that ended it at its limit? */
void memory_end(struct shim *s);

/* ---- shim_oracle.c ---- */

/* Runs opt.argv with the files that the shim was given, until it ends or nobody is left
 * who could ask it. Returns its exit code, or ends by its signal. */
int tend_oracle(struct shim *s);

/* ---- shim_tree.c: everything that descends from the trainer ---- */

enum reaped {
	REAPED_LAST,  /* there is no child any more */
	REAPED_ENDED, /* all that had ended; others live */
	REAPED_SOME,  /* there may be more to reap */
};

/* Makes the trainer's cgroup below opt.cgroup, if it can. `start` is this process's
 * start time, which makes the name its own. */
void cgroup_make(struct shim *s, unsigned long long start);
void cgroup_remove(struct shim *s);
/* Writes to a file of the trainer's cgroup; false if that is refused or there is none. */
bool cgroup_write(const struct shim *s, const char *file, const char *text);
/* KILL to all that there is: what it starts meanwhile comes to kill_leftovers(). */
void kill_tree(const struct shim *s);
/* Reaps what has ended, a batch at a time. */
enum reaped reap(struct shim *s);
/* Ends and reaps what the trainer left behind. */
void kill_leftovers(struct shim *s);

#endif
