/* option_parser.c - parses a command line by the option table of its command, and runs it. */
#include "config.h"
#include "ctl/option_parser.h"

#include "base/buf.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/help.h"
#include "ctl/mechanism_query.h"
#include "journal/journal.h"
#include "protocol/control/control_protocol.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LONG_OPTION_BASE = 256, /* getopt returns LONG_OPTION_BASE + i for option i */
	MAX_RANGE_TRIALS = 1000000
};

static const char *const format_names[] = {
	[CTL_TABLE] = "table", [CTL_JSON] = "json", [CTL_JSONL] = "jsonl",
	[CTL_CSV] = "csv",     [CTL_NAME] = "name",
};

int ctl_parse_format_name(const char *name)
{
	for (size_t i = 0; name && i < DP_COUNT(format_names); i++)
		if (strcmp(name, format_names[i]) == 0)
			return (int)i;
	return -1;
}

/* ---- tables for getopt ---- */

struct getopt_tables { /* (count) rows: the command's options, then the global ones */
	const struct ctl_option **options;
	const char **names;
	struct option *long_options;
	char *short_options;
	size_t count;
};

static size_t count_options(const struct ctl_option *rows)
{
	size_t n = 0;

	while (rows && rows[n].name)
		n++;
	return n;
}

static void getopt_tables_add(struct getopt_tables *t, const struct ctl_option *rows, char **shorts)
{
	for (; rows && rows->name; rows++) {
		t->options[t->count] = rows;
		t->names[t->count] = rows->name;
		t->long_options[t->count] = (struct option){
			.name = rows->name,
			.has_arg = rows->arg ? required_argument : no_argument,
			.val = LONG_OPTION_BASE + (int)t->count,
		};
		if (rows->letter) {
			*(*shorts)++ = rows->letter;
			if (rows->arg)
				*(*shorts)++ = ':';
		}
		t->count++;
	}
}

static void getopt_tables_init(struct getopt_tables *t, struct ctl *ctl,
			       const struct ctl_command *command)
{
	const struct ctl_option *own = command ? command->options : NULL;
	const struct ctl_option *more = ctl_mechanism_options(ctl, command);
	size_t room =
		count_options(own) + count_options(more) + count_options(ctl_global_options) + 1;
	char *shorts;

	*t = (struct getopt_tables){
		.options = dp_calloc(room, sizeof(const struct ctl_option *)),
		.names = dp_calloc(room, sizeof(const char *)),
		.long_options = dp_calloc(room, sizeof(struct option)),
		.short_options = dp_calloc(2 * room + 2, 1),
	};
	shorts = t->short_options;
	if (!command)
		*shorts++ = '+'; /* stop at the command name */
	*shorts++ = ':';         /* distinguish a missing argument from an unknown option */
	getopt_tables_add(t, own, &shorts);
	getopt_tables_add(t, more, &shorts);
	getopt_tables_add(t, ctl_global_options, &shorts);
}

static const struct ctl_option *getopt_find_option(const struct getopt_tables *t, int value)
{
	if (value >= LONG_OPTION_BASE && value < LONG_OPTION_BASE + (int)t->count)
		return t->options[value - LONG_OPTION_BASE];
	for (size_t i = 0; i < t->count; i++)
		if (value && t->options[i]->letter == value)
			return t->options[i];
	return NULL;
}

/* ---- errors ---- */

/* getopt returned '?' or ':'. */
static int fail_getopt_error(const struct getopt_tables *t, const struct ctl_command *command,
			     int value, char **argv, struct dp_err *err)
{
	const struct ctl_option *o = getopt_find_option(t, optopt);
	char letter[3] = { '-', (char)optopt, '\0' }, word[64] = "";
	const char *text = optopt ? letter : argv[optind - 1], *near;

	if (value == ':' && o) {
		dp_fail(err, DP_E_USAGE, "the option '--%s' needs a value: --%s %s", o->name,
			o->name, o->arg);
	} else if (o && !o->arg && optopt >= LONG_OPTION_BASE) {
		dp_fail(err, DP_E_USAGE, "the option '--%s' takes no value", o->name);
	} else if (strncmp(text, "--", 2) == 0) {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(text + 2, "="), text + 2);
		near = dp_nearest_word(word, t->names);
		dp_fail(err, DP_E_USAGE, "unknown option '--%s'%s%s%s", word,
			near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
	} else {
		dp_fail(err, DP_E_USAGE, "unknown option '%s'", text);
	}
	if (command && strcmp(word, "state") == 0)
		dp_hint(err,
			"--state DIR is for commands that only look at studies, as 'status' and "
			"'front' do; for '%s' name the socket of the folder's daemon with --socket",
			command->name);
	else if (command)
		dp_hint(err, "'dparetoctl %s --help' lists its options", command->name);
	else
		dp_hint(err, "'dparetoctl --help' lists the options and commands");
	return DP_E_USAGE;
}

/* Is `value` one of the choices "a|b|c"? Other descriptions allow any value. */
static int check_option_choice(const struct ctl_option *o, const char *value, struct dp_err *err)
{
	char *words, *rest, *word;
	const char **list, *near;
	bool known = !strchr(o->arg, '|');
	size_t n = 0;

	words = rest = dp_strdup(o->arg);
	list = dp_calloc(strlen(o->arg) / 2 + 2, sizeof *list);
	while ((word = strsep(&rest, "|")) != NULL) {
		list[n++] = word;
		known |= strcmp(word, value) == 0;
	}
	if (!known) {
		near = dp_nearest_word(value, list);
		dp_fail(err, DP_E_USAGE, "the option '--%s' takes %s, not '%s'%s%s%s", o->name,
			o->arg, value, near ? "; did you mean '" : "", near ? near : "",
			near ? "'?" : "");
	}
	free(list);
	free(words);
	return known ? DP_OK : DP_E_USAGE;
}

static int check_argument_count(const struct ctl *ctl, const struct ctl_command *command,
				struct dp_err *err)
{
	struct dp_buf usage = DP_BUF_INIT;

	if (ctl->argc >= command->min_args &&
	    (command->max_args < 0 || ctl->argc <= command->max_args))
		return DP_OK;
	if (ctl->argc < command->min_args)
		dp_fail(err, DP_E_USAGE, "'%s' is told too little: it needs %s", command->name,
			command->args);
	else if (command->max_args == 0)
		dp_fail(err, DP_E_USAGE, "'%s' takes no arguments, but got '%s'", command->name,
			ctl->argv[0]);
	else
		dp_fail(err, DP_E_USAGE, "'%s' takes only %s; '%s' is one too many", command->name,
			command->args, ctl->argv[command->max_args]);
	ctl_format_usage(command, &usage);
	dp_hint(err, "usage: %s", dp_buf_text(&usage));
	dp_buf_free(&usage);
	return DP_E_USAGE;
}

/* ---- global options ---- */

static int apply_global_options(struct ctl *ctl, const struct ctl_command *command,
				struct dp_err *err)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *asked = ctl_get_option(ctl, "output"), *wish = getenv("DPARETO_OUTPUT");
	int format = ctl_parse_format_name(asked ? asked : wish);
	struct dp_buf allowed = DP_BUF_INIT;

	ctl->socket = ctl_get_option(ctl, "socket");
	if (!ctl->socket)
		ctl->socket = getenv("DPARETO_SOCKET");
	if (ctl->socket && !*ctl->socket)
		ctl->socket = NULL;
	ctl->quiet = ctl_has_option(ctl, "quiet");
	ctl->raw = ctl_has_option(ctl, "raw");
	ctl->color = !ctl_has_option(ctl, "no-color") && !(no_color && *no_color) && term &&
		     strcmp(term, "dumb") != 0;
	if (!asked && wish && *wish && format < 0)
		return dp_fail(err, DP_E_USAGE,
			       "DPARETO_OUTPUT is '%s'; it can be table, json, jsonl, "
			       "csv or name",
			       wish);
	if (format < 0)
		return DP_OK;
	if (!command || command->formats & 1u << format) {
		ctl->format = (enum ctl_format)format;
		return DP_OK;
	}
	if (!asked) {
		/* DPARETO_OUTPUT is for all commands: use the nearest supported format */
		ctl->format = format == CTL_JSONL ? CTL_JSON : CTL_TABLE;
		return DP_OK;
	}
	for (size_t i = 0; i < DP_COUNT(format_names); i++)
		if (command->formats & 1u << i)
			dp_buf_printf(&allowed, "%s%s", allowed.len ? ", " : "", format_names[i]);
	dp_fail(err, DP_E_USAGE, "'%s' cannot print %s; it prints %s", command->name, asked,
		dp_buf_text(&allowed));
	dp_buf_free(&allowed);
	return DP_E_USAGE;
}

static int parse_with_getopt(struct ctl *ctl, const struct getopt_tables *t,
			     const struct ctl_command *command, int argc, char **argv,
			     struct dp_err *err)
{
	int value, code;

	opterr = 0;
	optind = 0; /* restart getopt: this runs twice in one process */
	while ((value = getopt_long(argc, argv, t->short_options, t->long_options, NULL)) != -1) {
		const struct ctl_option *o = getopt_find_option(t, value);

		if (value == '?' || value == ':' || !o)
			return fail_getopt_error(t, command, value, argv, err);
		code = o->arg ? check_option_choice(o, optarg, err) : DP_OK;
		if (code != DP_OK)
			return code;
		ctl->given_options[ctl->n_given_options++] =
			(struct ctl_given_option){ o, o->arg ? optarg : "" };
	}
	ctl->argc = argc - optind;
	ctl->argv = argv + optind;
	return DP_OK;
}

int ctl_parse_options(struct ctl *ctl, const struct ctl_command *command, int argc, char **argv,
		      struct dp_err *err)
{
	struct getopt_tables t;
	int code;

	getopt_tables_init(&t, ctl, command);
	ctl->given_options = dp_realloc(ctl->given_options, (ctl->n_given_options + (size_t)argc) *
								    sizeof *ctl->given_options);
	code = parse_with_getopt(ctl, &t, command, argc, argv, err);
	free(t.options);
	free(t.names);
	free(t.long_options);
	free(t.short_options);
	if (code == DP_OK)
		code = apply_global_options(ctl, command, err);
	if (code != DP_OK || !command || ctl_has_option(ctl, "help") ||
	    ctl_has_option(ctl, "version"))
		return code;
	return check_argument_count(ctl, command, err);
}

static int parse_trial_range(const char *part, uint32_t **list, size_t *count, struct dp_err *err)
{
	int64_t lo, hi, base = part[0] == 'm' ? dp_trial_number_join(DP_TRIAL_REEVAL, 0) : 0;
	char first[24];
	const char *from = part + (base > 0), *dash = strchr(part, '-');
	const char *to = dash ? dash + 1 + (base > 0 && dash[1] == 'm') : NULL;

	if (strchr(part, '@'))
		return dp_fail(err, DP_E_USAGE,
			       "'%s' is not a trial but a waypoint of one, and only a whole "
			       "training can be retried or cancelled: %.*s",
			       part, (int)strcspn(part, "@"), part);
	snprintf(first, sizeof first, "%.*s", (int)(dash ? dash - from : 20), from);
	if (!dp_int_parse(first, &lo) || first[0] == '+' ||
	    (dash && (!dp_int_parse(to, &hi) || to[0] == '+')))
		return dp_fail(err, DP_E_USAGE,
			       "'%s' is not a trial; trials are numbers, lists and "
			       "ranges like 3,5-8, and m3 those that measure again",
			       part);
	if (!dash)
		hi = lo;
	if (lo < 0 || hi < lo || hi > (int64_t)UINT32_MAX - base ||
	    (uint64_t)(hi - lo) + *count >= MAX_RANGE_TRIALS)
		return dp_fail(err, DP_E_USAGE,
			       "'%s' is not a range of trials (from low to high, at "
			       "most %d in all)",
			       part, MAX_RANGE_TRIALS);
	*list = dp_realloc(*list, (*count + (size_t)(hi - lo) + 1) * sizeof **list);
	for (int64_t n = lo; n <= hi; n++)
		(*list)[(*count)++] = (uint32_t)(base + n);
	return DP_OK;
}

int ctl_parse_trial_ranges(const char *text, uint32_t **list, size_t *count, struct dp_err *err)
{
	char *copy = dp_strdup(text), *rest = copy, *part;
	int code = DP_OK;

	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL)
		code = parse_trial_range(part, list, count, err);
	free(copy);
	return code;
}

/* ---- dispatch ---- */

static void print_version(struct ctl *ctl)
{
	json_t *v;

	if (ctl->format != CTL_JSON && ctl->format != CTL_JSONL) {
		ctl_printf(ctl, "dparetoctl %s\nprotocol %d, journal format %d\nbuilt with %s %s\n",
			   ctl_version(), DP_CONTROL_VERSION, DP_JOURNAL_FORMAT,
#ifdef __clang__
			   "clang", __clang_version__
#else
			   "gcc", __VERSION__
#endif
		);
		return;
	}
	v = json_pack("{s:s, s:i, s:i}", "version", ctl_version(), "protocol", DP_CONTROL_VERSION,
		      "journal_format", DP_JOURNAL_FORMAT);
	ctl_print_json(ctl, v);
	json_decref(v);
}

static int fail_unknown_command(const char *word, struct dp_err *err)
{
	const char *names[64] = { 0 }, *near;
	size_t n = 0;

	for (size_t i = 0; ctl_commands[i] && n + 1 < DP_COUNT(names); i++)
		if (!ctl_commands[i]->hidden)
			names[n++] = ctl_commands[i]->name;
	near = dp_nearest_word(word, names);
	dp_fail(err, DP_E_USAGE, "there is no command '%s'%s%s%s", word,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	dp_hint(err, "'dparetoctl --help' lists the commands");
	return DP_E_USAGE;
}

/* Returns the output format, for errors in options that could not be parsed. */
static enum ctl_format guess_format(int argc, char **argv)
{
	const char *value = getenv("DPARETO_OUTPUT");

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if ((!strcmp(argv[i], "-o") || !strcmp(argv[i], "--output")) && i + 1 < argc)
			value = argv[i + 1];
		else if (strncmp(argv[i], "--output=", 9) == 0)
			value = argv[i] + 9;
		else if (strncmp(argv[i], "-o", 2) == 0 && argv[i][2])
			value = argv[i] + 2;
	}
	return value && strncmp(value, "json", 4) == 0 ? CTL_JSON : CTL_TABLE;
}

int ctl_dispatch(struct ctl *ctl, int argc, char **argv, struct dp_err *err)
{
	const char *word;
	int code;

	ctl->format = guess_format(argc, argv);
	code = ctl_parse_options(ctl, NULL, argc, argv, err);
	if (code != DP_OK)
		return code;
	if (ctl_has_option(ctl, "version")) {
		print_version(ctl);
		return DP_OK;
	}
	if (ctl->argc == 0) {
		if (ctl_has_option(ctl, "help"))
			ctl_help_all(ctl);
		else
			ctl_help_short(ctl);
		return DP_OK;
	}
	word = ctl->argv[0];
	ctl->command = ctl_command_find(word);
	if (!ctl->command)
		return fail_unknown_command(word, err);
	/* getopt takes the command name as the program name */
	code = ctl_parse_options(ctl, ctl->command, ctl->argc, ctl->argv, err);
	if (code != DP_OK)
		return code;
	if (ctl_has_option(ctl, "version"))
		print_version(ctl);
	else if (ctl_has_option(ctl, "help"))
		ctl_help_command(ctl, ctl->command);
	else
		return ctl->command->run(ctl, err);
	return DP_OK;
}
