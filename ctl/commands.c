/* commands.c - the table of commands; finds the one that is asked for and runs it. */
#include "config.h"
#include "ctl/command.h"

#include "ctl/help.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "journal/journal.h"
#include "wire/wire.h"

#include <jansson.h>
#include <string.h>

const struct ctl_command *const ctl_commands[] = {
	&ctl_cmd_run,        &ctl_cmd_validate, &ctl_cmd_explain,  &ctl_cmd_submit,
	&ctl_cmd_list,       &ctl_cmd_status,   &ctl_cmd_watch,    &ctl_cmd_wait,
	&ctl_cmd_pause,      &ctl_cmd_resume,   &ctl_cmd_stop,     &ctl_cmd_set,
	&ctl_cmd_delete,     &ctl_cmd_front,    &ctl_cmd_trials,   &ctl_cmd_trial,
	&ctl_cmd_logs,       &ctl_cmd_retry,    &ctl_cmd_cancel,   &ctl_cmd_export,
	&ctl_cmd_report,     &ctl_cmd_journal,  &ctl_cmd_daemon,   &ctl_cmd_doctor,
	&ctl_cmd_completion, &ctl_cmd_propose,  &ctl_cmd_enqueue,  &ctl_cmd_epsilon,
	&ctl_cmd_noise,      &ctl_cmd_help,     &ctl_cmd_help_man, NULL,
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
			   PACKAGE_VERSION, DP_WIRE_VERSION, DP_JOURNAL_FORMAT,
#ifdef __clang__
			   "clang", __clang_version__
#else
			   "gcc", __VERSION__
#endif
		);
		return;
	}
	v = json_pack("{s:s, s:i, s:i}", "version", PACKAGE_VERSION, "protocol",
		      DP_WIRE_VERSION, "journal_format", DP_JOURNAL_FORMAT);
	ctl_put_json(ctl, v);
	json_decref(v);
}

static int fail_unknown_command(const char *word, struct dp_err *err)
{
	const char *names[64] = { 0 }, *near;
	size_t n = 0;

	for (size_t i = 0; ctl_commands[i] && n + 1 < DP_COUNT(names); i++)
		if (!ctl_commands[i]->hidden)
			names[n++] = ctl_commands[i]->name;
	near = dp_nearest(word, names);
	dp_fail(err, DP_E_USAGE, "there is no command '%s'%s%s%s", word,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	dp_hint(err, "'dparetoctl --help' lists the commands");
	return DP_E_USAGE;
}

int ctl_dispatch(struct ctl *ctl, int argc, char **argv, struct dp_err *err)
{
	const char *word;
	int code = ctl_parse(ctl, NULL, argc, argv, err);

	if (code != DP_OK)
		return code;
	if (ctl_flag(ctl, "version")) {
		print_version(ctl);
		return DP_OK;
	}
	if (ctl->argc == 0) {
		if (ctl_flag(ctl, "help"))
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
	code = ctl_parse(ctl, ctl->command, ctl->argc, ctl->argv, err);
	if (code != DP_OK)
		return code;
	if (ctl_flag(ctl, "version"))
		print_version(ctl);
	else if (ctl_flag(ctl, "help"))
		ctl_help_command(ctl, ctl->command);
	else
		return ctl->command->run(ctl, err);
	return DP_OK;
}
