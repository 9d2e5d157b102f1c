/* ctl_command.h - the command table and the state of one invocation.
 *
 * Each command is one file cmd-NAME.c with one const row. Parsing, help, the man page and
 * completion use only that row. main() owns struct ctl and what it points to. */
#ifndef DP_CTL_CTL_COMMAND_H
#define DP_CTL_CTL_COMMAND_H
#include "base/base.h"
#include <stdio.h>

enum ctl_format {
	CTL_TABLE,
	CTL_JSON,
	CTL_JSONL,
	CTL_CSV,
	CTL_NAME,
};
#define CTL_FORMAT_BIT(format) (1u << CTL_##format)
/* supported by every command */
#define CTL_TABLE_OR_JSON (CTL_FORMAT_BIT(TABLE) | CTL_FORMAT_BIT(JSON))

/* A row of an option table, which ends with a row without a name. Parsing, --help, the man page and
 * shell completion use it. */
struct ctl_option {
	const char *name;
	char letter;     /* short form, or 0 */
	const char *arg; /* argument: "PATH", or the choices "a|b|c", which are checked */
	const char *help;
};

extern const struct ctl_option ctl_global_options[];

struct ctl;
struct dp_client;
struct ctl_command {
	const char *name, *alias; /* alias: or NULL */
	const char *summary;      /* one line, no full stop */
	const char *args; /* as in usage: "STUDY [TRIAL...]"; words: kinds[] of cmd-complete.c */
	int min_args, max_args; /* max -1: any number */
	unsigned formats;       /* mask of CTL_FORMAT_BIT() */
	bool hidden;            /* not listed in help */
	const struct ctl_option *options;
	bool has_mechanism_options; /* also has ctl_mechanism_options() */
	const char *help;           /* paragraphs, without indentation */
	const char *examples;       /* "command\n  what it does\n..." */
	/* Returns DP_OK, or a code with a sentence in *err. Sets ctl->error_reported if it has
	 * already reported the failure in full. */
	int (*run)(struct ctl *ctl, struct dp_err *err);
};

/* All commands, NULL-terminated. */
extern const struct ctl_command *const ctl_commands[];
#define COMMAND(name) extern const struct ctl_command ctl_cmd_##name;
#include "ctl/commands/commands.def"
#undef COMMAND

/* ---- one invocation ---- */

struct ctl_given_option {
	const struct ctl_option *option;
	const char *value; /* "" for a flag */
};

struct ctl {
	const struct ctl_command *command;
	enum ctl_format format;
	bool quiet;
	bool color; /* allowed if the stream is a terminal */
	bool raw;   /* do not escape control characters on a terminal */
	bool utf8;
	const char *socket; /* --socket; NULL: the default paths */
	int argc;
	char **argv;
	struct ctl_given_option *given_options; /* in command-line order */
	size_t n_given_options;
	struct ctl_option *mechanism_options; /* see ctl_mechanism_options(); one allocation */
	FILE *out, *err_stream;               /* standard output and error, or streams of a test */
	struct dp_client *client;             /* NULL until connected */
	bool socket_serves_state;     /* the daemon at the socket has the directory of --state */
	bool exact_names;             /* do not match studies by prefix */
	struct json_t *readonly_info; /* from a read-only daemon: the other users of the journal */
	/* Called when a call finds no daemon or gets no answer (`why` is the code). If it returns
	 * DP_OK, the call is repeated. NULL: the call fails. */
	int (*on_daemon_lost)(struct ctl *ctl, int why, struct dp_err *err);
	void *on_daemon_lost_arg;
	unsigned n_reconnects; /* by on_daemon_lost */
	bool error_reported;   /* do not print the error again */
	bool json_printed;     /* the object of -o json is out: errors go to standard error */
	bool out_closed;       /* the reader of standard output has closed it */
	int out_errno;         /* of the first failed write of data; 0: none */
	bool unsaved_reported; /* has warned that data may not be on disk yet */
};

/* Finds a command by name or alias; NULL: unknown. */
const struct ctl_command *ctl_command_find(const char *name);
/* Returns the last value of an option, "" for a flag, NULL if not given. */
const char *ctl_get_option(const struct ctl *ctl, const char *name);
bool ctl_has_option(const struct ctl *ctl, const char *name);
const char *ctl_version(void);

#endif
