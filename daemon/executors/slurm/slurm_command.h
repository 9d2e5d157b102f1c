/* slurm_command.h - Slurm's own commands: what they are asked, how they are run, and what
 * their answers mean. Nothing here knows a job of ours. Any thread.
 *
 * An answer that did not come, or came with an error, tells nothing: whoever asked must
 * not take a job for gone because of it. */
#ifndef DP_DAEMON_EXECUTORS_SLURM_SLURM_COMMAND_H
#define DP_DAEMON_EXECUTORS_SLURM_SLURM_COMMAND_H
#include "base/base.h"
#include "base/buf.h"

#include <stdatomic.h>

enum {
	SLURM_ID_LEN = 40,   /* bytes of a job's number, "314" or "314_3" */
	SLURM_NAME_LEN = 200 /* of a job's name */
};

/* ---- running one ---- */

struct slurm_output {
	int error;         /* errno: it could not be started, or read (EBADMSG); 0 */
	int status;        /* waitpid's */
	bool timed_out;    /* it took too long, or nobody waits any more, and was killed */
	struct dp_buf out; /* standard output, its beginning */
	struct dp_buf err; /* standard error, its beginning */
};

/* Runs argv[0], looked for in PATH, with `input` (NULL: nothing) and env (NULL: ours,
 * less what changes the answers),
 * for at most so many seconds and no longer than *stop is false. */
void slurm_command_run(struct slurm_output *r, char *const *argv, char *const *env,
		       const char *input, double seconds, const atomic_bool *stop);
void slurm_output_free(struct slurm_output *r);
bool slurm_output_ok(const struct slurm_output *r);
/* What went wrong with it, as the end of a sentence: "squeue: Unable to contact ...". */
void slurm_output_describe_error(const struct slurm_output *r, const char *command, char *out,
				 size_t room);

/* ---- submitting ---- */

enum slurm_submit_result {
	SLURM_SUBMIT_ACCEPTED, /* it has a number */
	SLURM_SUBMIT_REFUSED,  /* nothing was submitted, and asking again will not help */
	SLURM_SUBMIT_BUSY,     /* nothing was submitted: there is no room now */
	SLURM_SUBMIT_UNKNOWN   /* it may have been submitted, or not */
};
/* What sbatch --parsable said. */
enum slurm_submit_result slurm_submit_parse(const struct slurm_output *r, char id[SLURM_ID_LEN]);
/* A number as sbatch gives it: "314" or "314;cluster". */
bool slurm_id_parse(const char *line, char id[SLURM_ID_LEN]);

/* ---- what became of jobs ---- */

enum slurm_state {
	SLURM_PENDING,
	SLURM_RUNNING, /* or about to, or about to have ended: it has a node */
	SLURM_ENDED,   /* by itself, in whatever way */
	SLURM_CANCELLED,
	SLURM_TIMEOUT,
	SLURM_OUT_OF_MEMORY,
	SLURM_PREEMPTED,
	SLURM_NODE_FAIL,
	SLURM_UNRECOGNISED /* a word of another version: taken for a job that lives */
};
/* Of Slurm's word, "NODE_FAIL" or "CANCELLED by 1000". */
enum slurm_state slurm_state_parse(const char *word);
bool slurm_state_is_final(enum slurm_state s);

/* One job, or one task of an array. Texts point into what was parsed. */
struct slurm_row {
	const char *id, *state_word, *nodes, *name, *reason;
	enum slurm_state state;
	long task;       /* of an array; -1: it is none */
	bool is_matched; /* whoever looks through them notes here what is his */
};
struct slurm_rows {
	struct slurm_row *list; /* sorted by name, then by task */
	size_t n;
	char *text; /* that they point into */
};
/* Lines "id|state|nodes|name|reason" as SLURM_ROW_FORMAT asks for; a line that is none is left
 * out, such as the second one of a name with a line break in it. 0, or an errno: ENOMEM,
 * or EBADMSG where none of them is one. */
#define SLURM_ROW_FORMAT "%i|%T|%N|%j|%r"
int slurm_rows_parse(const struct dp_buf *text, struct slurm_rows *out);
void slurm_rows_free(struct slurm_rows *rows);
/* The first with this name and task; those that follow it may be the same. */
struct slurm_row *slurm_rows_find(const struct slurm_rows *rows, const char *name, long task);

/* ---- words ---- */

/* 'text' for a shell. */
void slurm_shell_quote(struct dp_buf *out, const char *text);

#endif
