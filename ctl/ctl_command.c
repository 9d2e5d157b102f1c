/* ctl_command.c - the table of commands, and lookup of commands and options. */
#include "config.h"
#include "ctl/ctl_command.h"

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

const struct ctl_option ctl_global_options[] = {
	{ "output", 'o', "table|json|jsonl|csv|name",
	  "how to print the result; table is for people (see DPARETO_OUTPUT)" },
	{ "socket", 0, "PATH", "the daemon's socket (see DPARETO_SOCKET)" },
	{ "quiet", 'q', NULL, "no talk on standard error, only errors" },
	{ "no-color", 0, NULL, "no colours (see NO_COLOR)" },
	{ "raw", 0, NULL, "control characters as they are, also on a terminal" },
	{ "help", 'h', NULL, "help for this command" },
	{ "version", 0, NULL, "versions of the program and of its formats" },
	{ 0 },
};

const char *ctl_get_option(const struct ctl *ctl, const char *name)
{
	for (size_t i = ctl->n_given_options; i > 0; i--)
		if (strcmp(ctl->given_options[i - 1].option->name, name) == 0)
			return ctl->given_options[i - 1].value;
	return NULL;
}

bool ctl_has_option(const struct ctl *ctl, const char *name)
{
	return ctl_get_option(ctl, name) != NULL;
}
