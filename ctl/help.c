/* help.c - formats help for people and roff for the man page from the command tables. */
#include "ctl/help.h"

#include "base/buf.h"
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/mechanism_query.h"
#include "ctl/text_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	HELP_COLUMNS = 80,
	NAME_COLUMNS = 12
};

void ctl_format_usage(const struct ctl_command *command, struct dp_buf *out)
{
	dp_buf_printf(out, "dparetoctl %s%s%s%s", command->name,
		      command->options ? " [options]" : "", *command->args ? " " : "",
		      command->args);
}

static void help_heading(struct ctl *ctl, struct dp_buf *out, const char *text)
{
	bool color = ctl_use_color(ctl, ctl->out);

	dp_buf_printf(out, "%s%s%s\n", ctl_style_on(CTL_BOLD, color), text,
		      ctl_style_off(CTL_BOLD, color));
}

void ctl_help_short(struct ctl *ctl)
{
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_puts(&out, "dparetoctl finds out what accuracy each level of privacy "
			  "costs, and shows you the front.\n\n");
	help_heading(ctl, &out, "The five commands to begin with");
	dp_buf_puts(&out, "  dparetoctl run study.yaml       run a study here and now, to its end\n"
			  "  dparetoctl submit study.yaml    hand a study to the daemon\n"
			  "  dparetoctl status               what is going on, and why nothing is\n"
			  "  dparetoctl watch STUDY          follow a study live\n"
			  "  dparetoctl front STUDY          the best trade-offs found so far\n\n"
			  "'dparetoctl --help' lists all commands, 'dparetoctl COMMAND --help' "
			  "explains one.\n"
			  "'dparetoctl explain' documents every key of a study file.\n");
	ctl_print_buf(ctl, &out);
}

/* Prints " --name a|b|c", on several lines if there are many choices. */
static void help_print_choices(struct dp_buf *out, const char *text)
{
	size_t column = 2;

	dp_buf_puts(out, "  ");
	while (*text) {
		size_t len = strcspn(text, "|");

		len += text[len] == '|';
		if (column > 8 && column + len > HELP_COLUMNS) {
			dp_buf_puts(out, "\n        ");
			column = 8;
		}
		dp_buf_add(out, text, len);
		column += len;
		text += len;
	}
	dp_buf_putc(out, '\n');
}

static void help_print_options(struct dp_buf *out, const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		struct dp_buf left = DP_BUF_INIT, right = DP_BUF_INIT;

		if (o->letter)
			dp_buf_printf(&left, "-%c, ", o->letter);
		else
			dp_buf_puts(&left, "    ");
		dp_buf_printf(&left, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		ctl_text_wrap(&right, o->help, 30, HELP_COLUMNS);
		if (left.len <= 26) {
			dp_buf_printf(out, "  %-26s  %s", dp_buf_text(&left),
				      dp_buf_text(&right) + 30);
		} else {
			help_print_choices(out, dp_buf_text(&left));
			dp_buf_puts(out, dp_buf_text(&right));
		}
		dp_buf_free(&left);
		dp_buf_free(&right);
	}
}

void ctl_help_all(struct ctl *ctl)
{
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_puts(&out, "usage: dparetoctl [options] COMMAND [arguments]\n\n");
	help_heading(ctl, &out, "Commands");
	for (size_t i = 0; ctl_commands[i]; i++)
		if (!ctl_commands[i]->hidden)
			dp_buf_printf(&out, "  %-*s%s\n", NAME_COLUMNS, ctl_commands[i]->name,
				      ctl_commands[i]->summary);
	dp_buf_putc(&out, '\n');
	help_heading(ctl, &out, "Options of every command");
	help_print_options(&out, ctl_global_options);
	dp_buf_putc(&out, '\n');
	help_heading(ctl, &out, "Exit status");
	dp_buf_puts(&out, "  0 ok; 1 failed, also an invalid study file; 2 wrong usage; "
			  "3 no daemon;\n"
			  "  4 not permitted; 5 not found; 6 the study failed or was "
			  "paused by failures;\n"
			  "  7 timed out; 130 interrupted\n\n"
			  "A STUDY is named by its name, its number or an unambiguous "
			  "beginning of its name.\n"
			  "'dparetoctl COMMAND --help' explains one command.\n");
	ctl_print_buf(ctl, &out);
}

void ctl_help_command(struct ctl *ctl, const struct ctl_command *command)
{
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_puts(&out, "usage: ");
	ctl_format_usage(command, &out);
	dp_buf_printf(&out, "\n\n%c%s.\n", toupper((unsigned char)command->summary[0]),
		      command->summary + 1);
	if (command->help) {
		dp_buf_putc(&out, '\n');
		ctl_text_wrap(&out, command->help, 0, HELP_COLUMNS);
	}
	if (command->alias)
		dp_buf_printf(&out, "\nShort form: dparetoctl %s\n", command->alias);
	if (command->options) {
		dp_buf_putc(&out, '\n');
		help_heading(ctl, &out, "Options");
		help_print_options(&out, command->options);
		help_print_options(&out, ctl_mechanism_options(ctl, command));
	}
	dp_buf_putc(&out, '\n');
	help_heading(ctl, &out, "Options of every command");
	help_print_options(&out, ctl_global_options);
	if (command->examples) {
		dp_buf_putc(&out, '\n');
		help_heading(ctl, &out, "Examples");
		for (const char *line = command->examples; *line;) {
			int len = (int)strcspn(line, "\n");

			dp_buf_printf(&out, "  %.*s\n", len, line);
			line += len + (line[len] == '\n');
		}
	}
	ctl_print_buf(ctl, &out);
}

static int cmd_help_run(struct ctl *ctl, struct dp_err *err)
{
	const struct ctl_command *command;

	if (ctl->argc == 0) {
		ctl_help_all(ctl);
		return DP_OK;
	}
	command = ctl_command_find(ctl->argv[0]);
	if (!command) {
		dp_fail(err, DP_E_USAGE, "there is no command '%s'", ctl->argv[0]);
		return dp_hint(err, "'dparetoctl --help' lists the commands");
	}
	ctl_help_command(ctl, command);
	return DP_OK;
}

const struct ctl_command ctl_cmd_help = {
	.name = "help",
	.summary = "help for a command",
	.args = "[COMMAND]",
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.run = cmd_help_run,
};

static void roff_escape(struct dp_buf *out, const char *text)
{
	bool line_start = true;

	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			dp_buf_puts(out, "\\&");
		line_start = *text == '\n';
		if (*text == '\\')
			dp_buf_puts(out, "\\e");
		else if (*text == '-')
			dp_buf_puts(out, "\\-");
		else if (*text == '\'')
			dp_buf_puts(out, "\\(aq");
		else if (*text == '"')
			dp_buf_puts(out, "\\(dq");
		else
			dp_buf_putc(out, *text);
	}
}

static void roff_options(struct dp_buf *out, const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		dp_buf_puts(out, ".TP\n");
		if (o->letter)
			dp_buf_printf(out, "\\fB\\-%c\\fR, ", o->letter);
		dp_buf_puts(out, "\\fB\\-\\-");
		roff_escape(out, o->name);
		dp_buf_puts(out, "\\fR");
		if (o->arg) {
			dp_buf_puts(out, " \\fI");
			roff_escape(out, o->arg);
			dp_buf_puts(out, "\\fR");
		}
		dp_buf_putc(out, '\n');
		roff_escape(out, o->help);
		dp_buf_putc(out, '\n');
	}
}

static void roff_command(struct ctl *ctl, struct dp_buf *out, const struct ctl_command *c)
{
	dp_buf_puts(out, ".SS ");
	dp_buf_putc(out, '"');
	roff_escape(out, c->name);
	if (*c->args) {
		dp_buf_putc(out, ' ');
		roff_escape(out, c->args);
	}
	dp_buf_puts(out, "\"\n");
	dp_buf_putc(out, (char)toupper((unsigned char)c->summary[0]));
	roff_escape(out, c->summary + 1);
	dp_buf_puts(out, ".\n");
	dp_buf_puts(out, c->help ? ".PP\n" : "");
	for (const char *text = c->help ? c->help : ""; *text;) {
		size_t len = strcspn(text, "\n");
		char *line = dp_strndup(text, len);

		dp_buf_puts(out, len ? "" : ".PP\n");
		roff_escape(out, line);
		dp_buf_puts(out, len ? "\n" : "");
		free(line);
		text += len + (text[len] == '\n');
	}
	roff_options(out, c->options);
	roff_options(out, ctl_mechanism_options(ctl, c));
	if (c->examples) {
		dp_buf_puts(out, ".PP\n.EX\n");
		roff_escape(out, c->examples);
		dp_buf_puts(out, "\n.EE\n");
	}
}

static int cmd_help_man_run(struct ctl *ctl, struct dp_err *err)
{
	struct dp_buf out = DP_BUF_INIT;

	(void)err;
	dp_buf_puts(&out, ".SS \"Options of every command\"\n");
	roff_options(&out, ctl_global_options);
	for (size_t i = 0; ctl_commands[i]; i++)
		if (!ctl_commands[i]->hidden)
			roff_command(ctl, &out, ctl_commands[i]);
	ctl_print_buf(ctl, &out);
	return DP_OK;
}

const struct ctl_command ctl_cmd_help_man = {
	.name = "help-man",
	.summary = "the COMMANDS section of dparetoctl(1), as roff",
	.args = "",
	.hidden = true,
	.formats = CTL_TABLE_OR_JSON,
	.run = cmd_help_man_run,
};
