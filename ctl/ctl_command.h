/* ctl_command.h - what a command is, the table of all of them, and one invocation.
 *
 * Owns the table (commands.def, ctl_command.c). A command is one file cmd-NAME.c with one const
 * row; the row is all that parsing, help, the man page and completion know of it. struct ctl is the
 * whole state of an invocation; main() owns it and what it points to. */
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
/* every command takes these two */
#define CTL_TABLE_OR_JSON (CTL_FORMAT_BIT(TABLE) | CTL_FORMAT_BIT(JSON))

/* A row of an option table; the last has no name. Parsing, --help, the man page and
 * shell completion all come from it. */
struct ctl_option {
	const char *name;
	char letter;     /* short form, or 0 */
	const char *arg; /* what it takes: "PATH", or "a|b|c" which is then checked */
	const char *help;
};

/* The options that every command has. */
extern const struct ctl_option ctl_global_options[];

struct ctl;
struct dp_client;
struct ctl_command {
	const char *name, *alias;         /* alias may be NULL */
	const char *summary;              /* one line, no full stop */
	const char *args;                 /* as in usage: "STUDY [TRIAL...]"; completion knows
					   * these words, see kinds[] of cmd-complete.c */
	int min_args, max_args;           /* max -1: any number */
	unsigned formats;                 /* CTL_FORMAT_BIT(...) | ... */
	bool hidden;                      /* not in help */
	const struct ctl_option *options; /* may be NULL */
	bool has_mechanism_options;       /* has ctl_mechanism_options(), too */
	const char *help;                 /* paragraphs, without indentation */
	const char *examples;             /* "command\n  what it does\n..." */
	/* DP_OK, or a code with the sentence in *err. A command that has said all
	 * there is to say about a failure itself sets ctl->told. */
	int (*run)(struct ctl *ctl, struct dp_err *err);
};

/* Every command, one file each; ended by NULL. */
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
	bool color;         /* allowed at all; a stream must be a terminal, too */
	bool raw;           /* control characters go to a terminal, too */
	bool utf8;          /* the terminal shows UTF-8 */
	const char *socket; /* as given, or NULL: the defaults */
	int argc;           /* positional arguments */
	char **argv;
	struct ctl_given_option *given_options; /* options in the order given */
	size_t n_given_options;
	struct ctl_option *mechanism_options; /* see ctl_mechanism_options(); one block */
	FILE *out, *err_stream;               /* standard output and error, or what tests look at */
	struct dp_client *client;             /* once connected */
	bool socket_serves_state; /* the daemon of the socket has the folder of --state: ask it */
	bool exact_names;         /* a study is meant by its whole name only */
	struct json_t *readonly_info; /* of a read-only daemon: what has the journal open */
	/* For those who live through the end of a daemon: a call that found none, or got
	 * no answer (`why`), is made again once this has brought one. NULL: it fails. */
	int (*on_daemon_lost)(struct ctl *ctl, int why, struct dp_err *err);
	void *on_daemon_lost_arg;
	unsigned n_reconnects; /* how often that was needed */
	bool error_reported;   /* nothing more to say about a failure */
	bool json_printed;     /* with -o json: standard output has its one object, so an error goes
				* to standard error */
	bool out_closed;       /* nobody reads standard output any more */
	int out_errno;         /* of the first write of data that failed; 0: none did */
	bool unsaved_reported; /* that what is shown may not be on the disk */
};

/* Finds a command by name or alias; NULL. */
const struct ctl_command *ctl_command_find(const char *name);
/* The last value given for an option, "" for a flag, NULL if not given. */
const char *ctl_get_option(const struct ctl *ctl, const char *name);
bool ctl_has_option(const struct ctl *ctl, const char *name);
/* The version of this program. */
const char *ctl_version(void);

#endif
