/* ctl.h - what the commands of dparetoctl share. */
#ifndef DP_CTL_H
#define DP_CTL_H
#include "base/base.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"
#include "wire/wire.h"
#include <jansson.h>
#include <signal.h>
#include <stdio.h>

/* ---- what a command is ---- */

enum ctl_format {
	CTL_TABLE,
	CTL_JSON,
	CTL_JSONL,
	CTL_CSV,
	CTL_NAME,
};
#define CTL_HAS(format) (1u << CTL_##format)
/* every command takes these two */
#define CTL_PLAIN (CTL_HAS(TABLE) | CTL_HAS(JSON))

/* A row of an option table; the last has no name. Parsing, --help, the man page and
 * shell completion all come from it. */
struct ctl_option {
	const char *name;
	char letter;     /* short form, or 0 */
	const char *arg; /* what it takes: "PATH", or "a|b|c" which is then checked */
	const char *help;
};

struct ctl;
struct ctl_command {
	const char *name, *alias; /* alias may be NULL */
	const char *summary;      /* one line, no full stop */
	const char *args;         /* as in usage: "STUDY [TRIAL...]"; completion knows
				   * FILE, STUDY, KEY and words "a|b" */
	int min_args, max_args;   /* max -1: any number */
	unsigned formats;         /* CTL_HAS(...) | ... */
	bool hidden;              /* not in help */
	const struct ctl_option *options; /* may be NULL */
	const char *help;                 /* paragraphs, without indentation */
	const char *examples;             /* "command\n  what it does\n..." */
	/* DP_OK, or a code with the sentence in *err. A command that has said all
	 * there is to say about a failure itself sets ctl->told. */
	int (*run)(struct ctl *ctl, struct dp_err *err);
};

/* Every command, one file each; ended by NULL. */
extern const struct ctl_command *const ctl_commands[];
extern const struct ctl_option ctl_global_options[];

extern const struct ctl_command ctl_cmd_submit, ctl_cmd_validate, ctl_cmd_explain,
	ctl_cmd_list, ctl_cmd_status, ctl_cmd_watch, ctl_cmd_wait, ctl_cmd_pause,
	ctl_cmd_resume, ctl_cmd_stop, ctl_cmd_set, ctl_cmd_front, ctl_cmd_trials,
	ctl_cmd_trial, ctl_cmd_logs, ctl_cmd_retry, ctl_cmd_cancel, ctl_cmd_export,
	ctl_cmd_delete, ctl_cmd_journal, ctl_cmd_daemon, ctl_cmd_doctor,
	ctl_cmd_completion, ctl_cmd_run, ctl_cmd_propose, ctl_cmd_enqueue,
	ctl_cmd_epsilon, ctl_cmd_noise, ctl_cmd_report, ctl_cmd_help, ctl_cmd_help_man;

/* ---- one invocation ---- */

struct ctl_given {
	const struct ctl_option *option;
	const char *value; /* "" for a flag */
};

struct ctl {
	const struct ctl_command *command;
	enum ctl_format format;
	bool quiet;
	bool color;         /* allowed at all; a stream must be a terminal, too */
	bool utf8;          /* the terminal shows UTF-8 */
	const char *socket; /* as given, or NULL: the defaults */
	int argc;           /* positional arguments */
	char **argv;
	struct ctl_given *given; /* options in the order given */
	size_t ngiven;
	struct dp_client *client; /* once connected */
	bool told;                /* nothing more to say about a failure */
	bool out_closed;          /* nobody reads standard output any more */
};

/* The version of this program. */
const char *ctl_version(void);
/* A program of the project: beside this one, else in PATH. The caller frees it; NULL
 * if it is nowhere. */
char *ctl_find_program(const char *name);

/* ---- options (options.c) ---- */

/* Reads the options of `command` (NULL: those before a command, stops at the first
 * word) and leaves the other arguments in ctl->argv. */
DP_MUSTCHECK int ctl_parse(struct ctl *ctl, const struct ctl_command *command, int argc,
			   char **argv, struct dp_err *err);
/* The last value given for an option, "" for a flag, NULL if not given. */
const char *ctl_opt(const struct ctl *ctl, const char *name);
bool ctl_flag(const struct ctl *ctl, const char *name);
/* The numbers of a list like "3,5-8": appends to *list (the caller frees it). */
DP_MUSTCHECK int ctl_ranges(const char *text, uint32_t **list, size_t *count,
			    struct dp_err *err);
/* The format of -o for a name, or -1. */
int ctl_format_from(const char *name);
const char *ctl_format_name(enum ctl_format format);
/* Finds a command by name or alias; NULL. */
const struct ctl_command *ctl_command_find(const char *name);

/* ---- help (help.c) ---- */

void ctl_help_short(struct ctl *ctl);
void ctl_help_all(struct ctl *ctl);
void ctl_help_command(struct ctl *ctl, const struct ctl_command *command);
/* "dparetoctl submit [options] FILE..." */
void ctl_usage(const struct ctl_command *command, struct dp_buf *out);

/* ---- talking to the daemon (daemon.c) ---- */

/* Builds the fields of a request as json_pack() does; refuses text that is not
 * UTF-8. */
DP_MUSTCHECK int ctl_pack(json_t **fields, struct dp_err *err, const char *format, ...);
/* Connects at the first call. Takes the reference `fields`. */
DP_MUSTCHECK int ctl_call(struct ctl *ctl, const char *verb, json_t *fields, json_t **ok,
			  struct dp_err *err);
/* The same with its own patience in milliseconds. */
DP_MUSTCHECK int ctl_call_within(struct ctl *ctl, int timeout_ms, const char *verb,
				 json_t *fields, json_t **ok, struct dp_err *err);
/* A call whose only field is a study. */
DP_MUSTCHECK int ctl_call_study(struct ctl *ctl, const char *verb, const char *study,
				json_t **ok, struct dp_err *err);
/* Connects, unless that is done; for commands that need nothing else first. */
DP_MUSTCHECK int ctl_connect(struct ctl *ctl, struct dp_err *err);
/* Where the daemon's socket is looked for first; the caller frees it. */
char *ctl_socket_path(const struct ctl *ctl);
/* Runs one verb for each STUDY argument and prints what became of it: the sentence
 * that `tell` says, the study's name or its JSON. */
typedef void ctl_tell_fn(struct ctl *ctl, const json_t *summary);
DP_MUSTCHECK int ctl_each_study(struct ctl *ctl, const char *verb, json_t *fields,
				ctl_tell_fn *tell, struct dp_err *err);
/* Every trial of a study (with `state`: only those), page by page, in order; in
 * full with attempts and runs, or not. */
typedef int ctl_trial_fn(struct ctl *ctl, const json_t *trial, void *arg,
			 struct dp_err *err);
DP_MUSTCHECK int ctl_each_trial(struct ctl *ctl, const char *study, uint32_t from,
				const char *state, bool full, ctl_trial_fn *fn, void *arg,
				struct dp_err *err);

/* Runs one verb for each trial that the arguments after STUDY name ("3,5-8"); one
 * that is refused does not stop the others. `done` says what became of it. */
DP_MUSTCHECK int ctl_each_named(struct ctl *ctl, const char *verb, const char *done,
				struct dp_err *err);

/* INT, TERM and HUP set this instead of ending the process, once
 * ctl_catch_signals() was called. */
extern volatile sig_atomic_t ctl_interrupted;
void ctl_catch_signals(void);

/* ---- output (output.c) ---- */

/* Data, to standard output. A reader that went away is no error. */
void ctl_put(struct ctl *ctl, const char *text, size_t len);
void ctl_printf(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
void ctl_put_buf(struct ctl *ctl, struct dp_buf *buf); /* and frees it */
/* One JSON value and a newline; indented if a person looks. Borrows it. */
void ctl_put_json(struct ctl *ctl, const json_t *value);
void ctl_put_json_line(struct ctl *ctl, const json_t *value);
/* Pushes out what was printed; DP_E_IO with a sentence when that fails (a reader
 * that went away is no failure). */
DP_MUSTCHECK int ctl_flush(struct ctl *ctl, struct dp_err *err);
/* Talk, to standard error, unless --quiet. The newline is added. */
void ctl_say(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* "dparetoctl: sentence" and "hint: ..." on standard error, or the contract's JSON
 * object on standard output. */
void ctl_put_error(struct ctl *ctl, const struct dp_err *err);
/* Ends the program for want of memory. */
_Noreturn void ctl_die_nomem(void);
/* A formatted text that the caller frees. */
DP_PRINTF(1, 0)
char *ctl_vformat(const char *format, va_list ap);
void *ctl_alloc(size_t count, size_t size); /* zeroed; never NULL */
char *ctl_strdup(const char *s);            /* never NULL */
/* The text of a buffer, never NULL; the caller frees it. */
char *ctl_detach(struct dp_buf *buf);

enum ctl_style {
	CTL_NORMAL,
	CTL_BOLD,
	CTL_DIM,
	CTL_GOOD,
	CTL_WARN,
	CTL_BAD,
};
/* The escape sequence that starts a style ("" without colour), and the one that
 * ends it. */
const char *ctl_style_on(enum ctl_style style, bool color);
const char *ctl_style_off(enum ctl_style style, bool color);
/* Is colour wanted on this stream? */
bool ctl_colored(const struct ctl *ctl, FILE *stream);
/* Columns and rows of the terminal behind a stream; 0 columns if it is none. */
void ctl_terminal_size(FILE *stream, int *columns, int *rows);

/* A table for people: columns first, then cells row by row. */
struct ctl_table;
enum ctl_align {
	CTL_LEFT,
	CTL_RIGHT,
	CTL_FLEX, /* left; is shortened first when the line gets too long */
};
struct ctl_table *ctl_table_new(void);
void ctl_table_free(struct ctl_table *t);
void ctl_table_column(struct ctl_table *t, const char *title, enum ctl_align align);
void ctl_cell(struct ctl_table *t, enum ctl_style style, const char *format, ...)
	DP_PRINTF(3, 4);
size_t ctl_table_rows(const struct ctl_table *t);
/* Appends the table; `columns` 0: as wide as it is. */
void ctl_table_text(const struct ctl_table *t, struct dp_buf *out, int columns,
		    bool color, bool utf8);
/* Prints it to standard output, as wide as the terminal, and frees it. */
void ctl_table_print(struct ctl *ctl, struct ctl_table *t);

/* One row of CSV: quotes where RFC 4180 asks for it. */
void ctl_csv_field(struct dp_buf *out, const char *text, bool first);

/* ---- texts (text.c) ---- */

enum {
	CTL_TEXT_LEN = 48
};
/* Columns that a UTF-8 text takes on a terminal. */
int ctl_width(const char *text);
/* Appends at most `columns` columns of a text, with an ellipsis if it is cut.
 * Control characters become '?', so that no trainer's message can steer the
 * terminal. Returns the columns used. */
int ctl_cut(struct dp_buf *out, const char *text, int columns, bool utf8);
/* The same without a limit. */
void ctl_clean(struct dp_buf *out, const char *text);
/* "3m ago" for an ISO time of the protocol, "-" without one. */
char *ctl_age(const char *iso, char out[CTL_TEXT_LEN]);
/* "2026-03-01 12:00:03" in local time. */
char *ctl_local_time(const char *iso, char out[CTL_TEXT_LEN]);
/* A number or other value of the protocol, short, for people: five digits. */
char *ctl_value(const json_t *value, char out[CTL_TEXT_LEN]);
/* The value in full, for CSV: numbers bit for bit, null as nothing. */
void ctl_value_exact(const json_t *value, struct dp_buf *out);
/* Seconds of the protocol as a duration, "-" for null. */
char *ctl_seconds(const json_t *value, char out[CTL_TEXT_LEN]);
/* "epsilon=0.5 error=0.2". */
void ctl_pairs(const json_t *object, struct dp_buf *out);
/* A bar `columns` wide, filled by `part` in 0..1. */
void ctl_bar(struct dp_buf *out, double part, int columns, bool utf8);
enum ctl_style ctl_state_style(const char *state);
/* Appends paragraphs wrapped at `columns`, each line after `indent` spaces. */
void ctl_wrap(struct dp_buf *out, const char *text, int indent, int columns);

/* ---- study files (file.c) ---- */

struct dp_study;
/* A file that was read; where the study is NULL it is not valid. */
struct ctl_study_file {
	const char *path;   /* as given */
	char *absolute;     /* and from the root */
	char *dir;          /* its folder */
	struct dp_buf text; /* as read */
	struct dp_study *study;
	json_t *problems;      /* as of dp_problems_json() */
	struct dp_buf listing; /* the problems as people read them */
	size_t errors, warnings;
};
/* Reads and checks a study file. DP_OK also for an invalid one; other codes when it
 * cannot be read. The caller calls ctl_study_file_clear() in every case. */
DP_MUSTCHECK int ctl_study_file_read(const char *path, struct ctl_study_file *out,
				     struct dp_err *err);
void ctl_study_file_clear(struct ctl_study_file *f);
/* {"file":...,"study":...,"valid":...,"problems":[...]} */
json_t *ctl_study_file_json(const struct ctl_study_file *f);
/* Prints the problems (people: to standard error) and fails with a summary if
 * there are errors among them; the failure counts as told. */
DP_MUSTCHECK int ctl_study_file_check(struct ctl *ctl, const struct ctl_study_file *f,
				      struct dp_err *err);

/* ---- questions to the privacy oracles (query.c) ---- */

struct dp_mechanism;
struct dp_epsilon;
/* An option for every key of every mechanism, with '-' for '_'. */
#define CTL_QUERY_OPTIONS                                                                \
	{ "mechanism", 0, "dp-sgd|gaussian|laplace|output-perturbation|svt",             \
	  "what is asked about" },                                                       \
		{ "sampling", 0, "without-replacement|poisson",                          \
		  "dp-sgd: how lots are drawn" },                                        \
		{ "records", 0, "N", "number of training records" },                     \
		{ "lot", 0, "N", "dp-sgd: records in a lot" },                           \
		{ "epochs", 0, "N", "dp-sgd: passes over the data" },                    \
		{ "steps", 0, "N", "dp-sgd: steps, in place of epochs" },                \
		{ "noise-multiplier", 0, "NUMBER",                                       \
		  "dp-sgd: noise over 2L (without-replacement) or L (poisson)" },        \
		{ "noise-variance", 0, "NUMBER", "dp-sgd: the square of that" },         \
		{ "delta", 0, "NUMBER",                                                  \
		  "the probability that the bound may fail with" },                      \
		{ "accountant", 0, "rdp|pld", "dp-sgd: how steps are added up" },        \
		{ "bound", 0, "tight|general",                                           \
		  "dp-sgd without replacement: which bound" },                           \
		{ "conversion", 0, "classic|improved", "rdp: from Renyi to epsilon" },   \
		{ "orders", 0, "integer|real", "rdp: orders that are tried" },           \
		{ "sigma", 0, "NUMBER", "gaussian, output-perturbation: noise" },        \
		{ "sensitivity", 0, "NUMBER", "gaussian, laplace: of the query" },       \
		{ "scale", 0, "NUMBER", "laplace, svt: scale of the noise" },            \
		{ "cutoff", 0, "N", "svt: answers above the threshold" },                \
	{                                                                                \
		"regularization", 0, "NUMBER", "output-perturbation: of the loss"        \
	}
/* The question that the options ask: the mechanism and its values (room for
 * DP_PRIVACY_KEYS_MAX), NaN where an option is absent. */
DP_MUSTCHECK int ctl_query(struct ctl *ctl, const struct dp_mechanism **m, double *values,
			   struct dp_err *err);
/* Prints what an answer holds for: relation, theorem, every key. */
void ctl_query_assumptions(struct ctl *ctl, const struct dp_mechanism *m,
			   const double *values, const struct dp_epsilon *e);

/* ---- a study on the screen (view.c, follow.c) ---- */

/* Appends what `status` shows of a study, at most `rows` lines (0: as many as it
 * takes) of `columns`. */
void ctl_study_view(struct dp_buf *out, const json_t *status, int columns, int rows,
		    bool color, bool utf8);
/* "epsilon 10, error 1" */
void ctl_anti_ideal(const json_t *summary, struct dp_buf *out);

/* How a followed study ended. */
enum ctl_followed {
	CTL_FOLLOW_ENDED, /* finished, failed, stopped or paused by failures */
	CTL_FOLLOW_LEFT,  /* q was pressed */
};
/* Shows a study until it ends: a view redrawn in place if `stream` is a terminal,
 * else one line for each ended trial and change of state. *summary is the last one
 * seen and the caller's. INT and TERM: DP_E_INTERRUPTED. */
DP_MUSTCHECK int ctl_follow(struct ctl *ctl, const char *study, FILE *stream,
			    enum ctl_followed *how, json_t **summary, struct dp_err *err);
/* Has the study of this summary ended for those who wait for it? */
bool ctl_study_ended(const json_t *summary);
/* DP_OK for a finished study, else DP_E_STUDY with what state it is in and why. */
DP_MUSTCHECK int ctl_study_verdict(const json_t *summary, struct dp_err *err);

/* ---- trials and fronts as tables (trials.c) ---- */

/* Names of the columns that a study's trials have: objectives and parameters, each
 * a JSON array of strings. */
struct ctl_columns {
	json_t *objectives, *parameters;
};
void ctl_columns_clear(struct ctl_columns *cols);
/* The keys of an object as an array; empty for anything else. */
json_t *ctl_keys(const json_t *object);
/* The first line of a CSV of trials, and one line. */
void ctl_trial_csv_head(const struct ctl_columns *cols, struct dp_buf *out);
void ctl_trial_csv(const json_t *trial, const struct ctl_columns *cols,
		   struct dp_buf *out);
/* The columns of a front object; before points are taken out of it. */
void ctl_front_columns(const json_t *front, struct ctl_columns *cols);
/* The points of a front object, as a table or CSV. */
void ctl_front_table(struct ctl *ctl, const json_t *front,
		     const struct ctl_columns *cols);
void ctl_front_csv(struct ctl *ctl, const json_t *front, const struct ctl_columns *cols);

#endif
