/* ctl_command.c - the table of commands; finds the one that is asked for and runs it. */
#include "config.h"
#include "ctl/ctl_command.h"

#include "ctl/help.h"
#include "ctl/option_parser.h"
#include "ctl/ctl_output.h"
#include "journal/journal.h"
#include "protocol/control/control_protocol.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

const struct ctl_command *const ctl_commands[] = {
#define COMMAND(name) &ctl_cmd_##name,
#include "ctl/commands/commands.def"
#undef COMMAND
	NULL,
};

const char *ctl_version(void)
{
	return PACKAGE_VERSION;
}

const struct ctl_command *ctl_command_find(const char *name)
{
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];

		if (strcmp(name, c->name) == 0 || (c->alias && !strcmp(name, c->alias)))
			return c;
	}
	return NULL;
}

static void print_version(struct ctl *ctl)
{
	json_t *v;

	if (ctl->format != CTL_JSON && ctl->format != CTL_JSONL) {
		ctl_printf(ctl,
			   "dparetoctl %s\nprotocol %d, journal format %d\nbuilt with "
			   "%s %s\n",
			   PACKAGE_VERSION, DP_CONTROL_VERSION, DP_JOURNAL_FORMAT,
#ifdef __clang__
			   "clang", __clang_version__
#else
			   "gcc", __VERSION__
#endif
		);
		return;
	}
	v = json_pack("{s:s, s:i, s:i}", "version", PACKAGE_VERSION, "protocol", DP_CONTROL_VERSION,
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

/* Is standard output of this command line meant for a program, even if its options
 * cannot be read? */
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
	/* the command's name takes the place of the program's for getopt */
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
