/* slurm_command.h - runs Slurm's commands and parses their output. Knows nothing of jobs of the
 * daemon. Any thread. A missing or failed answer says nothing: a caller must not take a job for
 * gone because of it. */
#ifndef DP_DAEMON_EXECUTORS_SLURM_SLURM_COMMAND_H
#define DP_DAEMON_EXECUTORS_SLURM_SLURM_COMMAND_H
#include "base/base.h"
#include "base/buf.h"

#include <stdatomic.h>

enum {
	SLURM_ID_LEN = 40, /* bytes of a job id, "314" or "314_3" */
	SLURM_NAME_LEN = 200
};

/* ---- running a command ---- */

struct slurm_output {
	int error; /* errno: could not be started, or read (EBADMSG); 0 */
	int status;
	bool timed_out;    /* killed after its time limit or because of *stop */
	struct dp_buf out; /* beginning of standard output */
	struct dp_buf err; /* beginning of standard error */
};

/* Runs argv[0], searched in PATH, with `input` (NULL: nothing) and env (NULL: the daemon's, without
 * variables that change the output). Ends it after `seconds`, or when *stop becomes true. */
void slurm_command_run(struct slurm_output *r, char *const *argv, char *const *env,
		       const char *input, double seconds, const atomic_bool *stop);
void slurm_output_free(struct slurm_output *r);
bool slurm_output_ok(const struct slurm_output *r);
/* The error as the end of a sentence: "squeue: Unable to contact ...". */
void slurm_output_describe_error(const struct slurm_output *r, const char *command, char *out,
				 size_t room);

/* ---- submitting ---- */

enum slurm_submit_result {
	SLURM_SUBMIT_ACCEPTED,
	SLURM_SUBMIT_REFUSED, /* nothing was submitted; do not retry */
	SLURM_SUBMIT_BUSY,    /* nothing was submitted: no room now */
	SLURM_SUBMIT_UNKNOWN  /* it may have been submitted or not */
};
enum slurm_submit_result slurm_submit_parse(const struct slurm_output *r, char id[SLURM_ID_LEN]);
/* Parses an id as sbatch prints it: "314" or "314;cluster". */
bool slurm_id_parse(const char *line, char id[SLURM_ID_LEN]);

/* ---- states of jobs ---- */

enum slurm_state {
	SLURM_PENDING,
	SLURM_RUNNING, /* it has a node: also while it starts or completes */
	SLURM_ENDED,   /* by itself, with any exit code */
	SLURM_CANCELLED,
	SLURM_TIMEOUT,
	SLURM_OUT_OF_MEMORY,
	SLURM_PREEMPTED,
	SLURM_NODE_FAIL,
	SLURM_UNRECOGNISED /* of another version of Slurm; treated as alive */
};
/* Parses Slurm's word, such as "NODE_FAIL" or "CANCELLED by 1000". */
enum slurm_state slurm_state_parse(const char *word);
bool slurm_state_is_final(enum slurm_state s);

/* One job, or one task of an array. Strings point into the parsed text. */
struct slurm_row {
	const char *id, *state_word, *nodes, *name, *reason;
	enum slurm_state state;
	long task;       /* of an array; -1: not an array */
	bool is_matched; /* a mark for the caller */
};
struct slurm_rows {
	struct slurm_row *list; /* sorted by name, then by task */
	size_t n;
	char *text; /* the parsed text */
};
/* Parses lines "id|state|nodes|name|reason" of SLURM_ROW_FORMAT. Skips other lines, such as the
 * rest of a name with a line break. Returns 0 or an errno: ENOMEM, or EBADMSG if no line is
 * valid. */
#define SLURM_ROW_FORMAT "%i|%T|%N|%j|%r"
int slurm_rows_parse(const struct dp_buf *text, struct slurm_rows *out);
void slurm_rows_free(struct slurm_rows *rows);
/* The first row with this name and task; equal rows follow it. */
struct slurm_row *slurm_rows_find(const struct slurm_rows *rows, const char *name, long task);

/* ---- quoting ---- */

void slurm_shell_quote(struct dp_buf *out, const char *text);

#endif
