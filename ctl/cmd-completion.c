/* cmd-completion.c - completion for shells, generated from the command tables. */
#include "base/buf.h"
#include "ctl/command.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What can stand at a place of the command line. */
enum kind {
	NOTHING,
	STUDIES,
	FILES,
	KEYS, /* of study files */
	COMMANDS,
	WORDS, /* a|b|c */
};

static enum kind completion_kind(const char *word)
{
	while (*word == '[')
		word++;
	if (strncmp(word, "STUDY", 5) == 0)
		return STUDIES;
	if (strncmp(word, "FILE", 4) == 0 || strncmp(word, "PATH", 4) == 0 ||
	    strncmp(word, "DIR", 3) == 0)
		return FILES;
	if (strncmp(word, "KEY]", 4) == 0)
		return KEYS;
	if (strncmp(word, "COMMAND", 7) == 0)
		return COMMANDS;
	return strchr(word, '|') ? WORDS : NOTHING;
}

/* "a|b|c" with another separator. */
static void completion_words(struct dp_buf *out, const char *list, char separator)
{
	for (; *list && *list != ' '; list++)
		dp_buf_putc(out, *list == '|' ? separator : *list);
}

/* What the first argument of a command is, and what the others are. */
static enum kind first_kind(const struct ctl_command *c)
{
	return *c->args ? completion_kind(c->args) : NOTHING;
}

static enum kind other_kind(const struct ctl_command *c)
{
	const char *space = strchr(c->args, ' ');

	if (space)
		return completion_kind(space + 1);
	return strstr(c->args, "...") ? first_kind(c) : NOTHING;
}

/* Text within single quotes, and for zsh without what its descriptions mean. */
static void completion_quoted(struct dp_buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			dp_buf_puts(out, "'\\''");
			continue;
		}
		if (strchr(special, *text))
			dp_buf_putc(out, '\\');
		dp_buf_putc(out, *text);
	}
}

static void command_names(struct dp_buf *out, char separator)
{
	const char *sep = "";
	char text[2] = { separator, '\0' };

	for (size_t i = 0; ctl_commands[i]; i++) {
		if (ctl_commands[i]->hidden)
			continue;
		dp_buf_printf(out, "%s%s", sep, ctl_commands[i]->name);
		sep = text;
	}
}

/* ---- bash ---- */

static void bash_options(struct dp_buf *out, const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		dp_buf_printf(out, " --%s", o->name);
		if (o->letter)
			dp_buf_printf(out, " -%c", o->letter);
	}
}

/* Cases for the values of options; `command` is "*" for the global ones. */
static void bash_values(struct dp_buf *out, const char *command,
			const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		if (!o->arg)
			continue;
		dp_buf_printf(out, "\t%s:--%s", command, o->name);
		if (o->letter)
			dp_buf_printf(out, "|%s:-%c", command, o->letter);
		dp_buf_puts(out, ") ");
		switch (completion_kind(o->arg)) {
		case WORDS:
			dp_buf_puts(out, "want='");
			completion_words(out, o->arg, ' ');
			dp_buf_puts(out, "' ;;\n");
			break;
		case FILES:
			dp_buf_puts(out, "kind=files ;;\n");
			break;
		case STUDIES:
			dp_buf_puts(out, "kind=studies ;;\n");
			break;
		default:
			dp_buf_puts(out, "return ;;\n");
		}
	}
}

static void bash_kind(struct dp_buf *out, const struct ctl_command *c, enum kind kind)
{
	switch (kind) {
	case STUDIES:
		dp_buf_puts(out, "kind=studies");
		break;
	case FILES:
		dp_buf_puts(out, "kind=files");
		break;
	case KEYS:
		dp_buf_puts(out,
			    "want=$(\"${COMP_WORDS[0]}\" explain -o name 2>/dev/null)");
		break;
	case COMMANDS:
		dp_buf_puts(out, "want='");
		command_names(out, ' ');
		dp_buf_putc(out, '\'');
		break;
	case WORDS:
		dp_buf_puts(out, "want='");
		completion_words(out, c->args, ' ');
		dp_buf_putc(out, '\'');
		break;
	case NOTHING:
		dp_buf_putc(out, ':');
	}
}

/* Where the cursor is: the command, how many arguments it has before the cursor, and
 * the socket that was named. */
static const char bash_head[] =
	"# bash completion for dparetoctl; use it with\n"
	"#   source <(dparetoctl completion bash)\n"
	"_dparetoctl() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal command= given=0 kind= want= options= i\n"
	"\tlocal -a socket=()\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t--socket) socket=(--socket \"${COMP_WORDS[++i]}\") ;;\n"
	"\t\t-o|--output) ((++i)) ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) if [[ -z $command ]]; then command=${COMP_WORDS[i]}; else ((++given)); "
	"fi ;;\n"
	"\t\tesac\n"
	"\tdone\n";

static const char bash_tail[] =
	"\tif [[ $kind == studies ]]; then\n"
	"\t\twant=$(\"${COMP_WORDS[0]}\" \"${socket[@]}\" list -o name 2>/dev/null)\n"
	"\telif [[ $kind == files ]]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$want\" -- \"$cur\")\n"
	"}\n"
	"complete -F _dparetoctl dparetoctl\n";

static void bash_arguments(struct dp_buf *out)
{
	dp_buf_puts(out, "\t*)\n\t\tcase $command:$given in\n\t\t:*) want='");
	command_names(out, ' ');
	dp_buf_puts(out, "' ;;\n");
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];

		if (c->hidden || first_kind(c) == NOTHING)
			continue;
		dp_buf_printf(out, "\t\t%s:0) ", c->name);
		bash_kind(out, c, first_kind(c));
		dp_buf_puts(out, " ;;\n");
		if (other_kind(c) == NOTHING)
			continue;
		dp_buf_printf(out, "\t\t%s:*) ", c->name);
		bash_kind(out, c, other_kind(c));
		dp_buf_puts(out, " ;;\n");
	}
	dp_buf_puts(out, "\t\tesac ;;\n");
}

static void completion_bash(struct ctl *ctl, struct dp_buf *out)
{
	const struct ctl_command *c;

	dp_buf_puts(out, bash_head);
	dp_buf_puts(out, "\tcase $command:$prev in\n");
	bash_values(out, "*", ctl_global_options);
	for (size_t i = 0; (c = ctl_commands[i]) != NULL; i++) {
		bash_values(out, c->name, c->options);
		bash_values(out, c->name, ctl_more_options(ctl, c));
	}
	bash_arguments(out);
	dp_buf_puts(out, "\tesac\n\tcase $command in\n");
	for (size_t i = 0; (c = ctl_commands[i]) != NULL; i++) {
		if (!c->options)
			continue;
		dp_buf_printf(out, "\t%s) options='", c->name);
		bash_options(out, c->options);
		bash_options(out, ctl_more_options(ctl, c));
		dp_buf_puts(out, "' ;;\n");
	}
	dp_buf_puts(out, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\twant=\"$options");
	bash_options(out, ctl_global_options);
	dp_buf_puts(out, "\" kind=\n\tfi\n");
	dp_buf_puts(out, bash_tail);
}

/* ---- zsh ---- */

static void zsh_options(struct dp_buf *out, const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		dp_buf_puts(out, " \\\n\t\t\t");
		if (o->letter)
			dp_buf_printf(out, "'(-%c --%s)'{-%c,--%s}'[", o->letter, o->name,
				      o->letter, o->name);
		else
			dp_buf_printf(out, "'--%s[", o->name);
		completion_quoted(out, o->help, "[]:\\");
		dp_buf_putc(out, ']');
		if (!o->arg) {
			dp_buf_putc(out, '\'');
			continue;
		}
		dp_buf_puts(out, ": :");
		switch (completion_kind(o->arg)) {
		case WORDS:
			dp_buf_putc(out, '(');
			completion_words(out, o->arg, ' ');
			dp_buf_putc(out, ')');
			break;
		case FILES:
			dp_buf_puts(out, "_files");
			break;
		case STUDIES:
			dp_buf_puts(out, "_dparetoctl_studies");
			break;
		default:
			break;
		}
		dp_buf_putc(out, '\'');
	}
}

static void zsh_argument(struct dp_buf *out, const struct ctl_command *c, enum kind kind,
			 const char *place)
{
	if (kind == NOTHING)
		return;
	dp_buf_printf(out, " \\\n\t\t\t'%s: :", place);
	switch (kind) {
	case STUDIES:
		dp_buf_puts(out, "_dparetoctl_studies");
		break;
	case FILES:
		dp_buf_puts(out, "_files");
		break;
	case KEYS:
		dp_buf_puts(out, "_dparetoctl_keys");
		break;
	case COMMANDS:
		dp_buf_putc(out, '(');
		command_names(out, ' ');
		dp_buf_putc(out, ')');
		break;
	default:
		dp_buf_putc(out, '(');
		completion_words(out, c->args, ' ');
		dp_buf_putc(out, ')');
	}
	dp_buf_putc(out, '\'');
}

static const char zsh_head[] =
	"#compdef dparetoctl\n"
	"# zsh completion for dparetoctl; use it with\n"
	"#   source <(dparetoctl completion zsh)\n"
	"_dparetoctl_studies() {\n"
	"\tlocal -a names\n"
	"\tnames=(${(f)\"$(dparetoctl list -o name 2>/dev/null)\"})\n"
	"\tcompadd -a names\n"
	"}\n"
	"_dparetoctl_keys() {\n"
	"\tlocal -a names\n"
	"\tnames=(${(f)\"$(dparetoctl explain -o name 2>/dev/null)\"})\n"
	"\tcompadd -a names\n"
	"}\n"
	"_dparetoctl() {\n"
	"\tlocal context state line\n"
	"\tlocal -a commands\n"
	"\tcommands=(\n";

/* Read as a function file the function runs, sourced it is registered. */
static const char zsh_tail[] = "\t\tesac ;;\n"
			       "\tesac\n"
			       "}\n"
			       "if [ \"$funcstack[1]\" = _dparetoctl ]; then\n"
			       "\t_dparetoctl \"$@\"\n"
			       "else\n"
			       "\tcompdef _dparetoctl dparetoctl\n"
			       "fi\n";

static void completion_zsh(struct ctl *ctl, struct dp_buf *out)
{
	const struct ctl_command *c;

	dp_buf_puts(out, zsh_head);
	for (size_t i = 0; (c = ctl_commands[i]) != NULL; i++) {
		if (c->hidden)
			continue;
		dp_buf_printf(out, "\t\t'%s:", c->name);
		completion_quoted(out, c->summary, ":\\");
		dp_buf_puts(out, "'\n");
	}
	dp_buf_puts(out, "\t)\n\t_arguments -C");
	zsh_options(out, ctl_global_options);
	dp_buf_puts(out, " \\\n\t\t\t'1: :->command' '*:: :->arguments'\n"
			 "\tcase $state in\n"
			 "\tcommand) _describe command commands ;;\n"
			 "\targuments)\n"
			 "\t\tcase $words[1] in\n");
	for (size_t i = 0; (c = ctl_commands[i]) != NULL; i++) {
		if (c->hidden)
			continue;
		dp_buf_printf(out, "\t\t%s%s%s) _arguments", c->name, c->alias ? "|" : "",
			      c->alias ? c->alias : "");
		zsh_options(out, c->options);
		zsh_options(out, ctl_more_options(ctl, c));
		zsh_options(out, ctl_global_options);
		zsh_argument(out, c, first_kind(c), "1");
		zsh_argument(out, c, other_kind(c), "*");
		dp_buf_puts(out, " ;;\n");
	}
	dp_buf_puts(out, zsh_tail);
}

/* ---- fish ---- */

/* fish knows \' within single quotes, not the shell's other way. */
static void fish_quoted(struct dp_buf *out, const char *text)
{
	for (; *text; text++)
		dp_buf_printf(out, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "",
			      *text);
}

static void fish_options(struct dp_buf *out, const char *command,
			 const struct ctl_option *o)
{
	for (; o && o->name; o++) {
		dp_buf_puts(out, "complete -c dparetoctl");
		if (command)
			dp_buf_printf(out, " -n '__fish_seen_subcommand_from %s'",
				      command);
		dp_buf_printf(out, " -l %s", o->name);
		if (o->letter)
			dp_buf_printf(out, " -s %c", o->letter);
		if (o->arg) {
			switch (completion_kind(o->arg)) {
			case WORDS:
				dp_buf_puts(out, " -x -a '");
				completion_words(out, o->arg, ' ');
				dp_buf_putc(out, '\'');
				break;
			case FILES:
				dp_buf_puts(out, " -r -F");
				break;
			case STUDIES:
				dp_buf_puts(out, " -x -a '(dparetoctl list -o name "
						 "2>/dev/null)'");
				break;
			default:
				dp_buf_puts(out, " -x");
			}
		}
		dp_buf_puts(out, " -d '");
		fish_quoted(out, o->help);
		dp_buf_puts(out, "'\n");
	}
}

static void completion_fish(struct ctl *ctl, struct dp_buf *out)
{
	dp_buf_puts(out, "# fish completion for dparetoctl; use it with\n"
			 "#   dparetoctl completion fish | source\n"
			 "complete -c dparetoctl -f\n");
	fish_options(out, NULL, ctl_global_options);
	for (size_t i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *c = ctl_commands[i];

		if (c->hidden)
			continue;
		dp_buf_printf(
			out, "complete -c dparetoctl -n __fish_use_subcommand -a %s -d '",
			c->name);
		fish_quoted(out, c->summary);
		dp_buf_puts(out, "'\n");
		fish_options(out, c->name, c->options);
		fish_options(out, c->name, ctl_more_options(ctl, c));
		if (first_kind(c) == NOTHING)
			continue;
		dp_buf_printf(
			out, "complete -c dparetoctl -n '__fish_seen_subcommand_from %s'",
			c->name);
		switch (first_kind(c)) {
		case STUDIES:
			dp_buf_puts(out, " -a '(dparetoctl list -o name 2>/dev/null)'");
			break;
		case FILES:
			dp_buf_puts(out, " -F");
			break;
		case KEYS:
			dp_buf_puts(out,
				    " -a '(dparetoctl explain -o name 2>/dev/null)'");
			break;
		case COMMANDS:
			dp_buf_puts(out, " -a '");
			command_names(out, ' ');
			dp_buf_putc(out, '\'');
			break;
		default:
			dp_buf_puts(out, " -a '");
			completion_words(out, c->args, ' ');
			dp_buf_putc(out, '\'');
		}
		dp_buf_putc(out, '\n');
	}
}

/* ---- the command ---- */

static int completion_run(struct ctl *ctl, struct dp_err *err)
{
	static const struct {
		const char *name;
		void (*make)(struct ctl *ctl, struct dp_buf *out);
	} shells[] = { { "bash", completion_bash },
		       { "zsh", completion_zsh },
		       { "fish", completion_fish } };
	struct dp_buf out = DP_BUF_INIT;

	for (size_t i = 0; i < DP_COUNT(shells); i++) {
		if (strcmp(ctl->argv[0], shells[i].name) != 0)
			continue;
		shells[i].make(ctl, &out);
		ctl_put_buf(ctl, &out);
		return DP_OK;
	}
	return dp_fail(err, DP_E_USAGE,
		       "there is completion for bash, zsh and fish, not for '%s'",
		       ctl->argv[0]);
}

const struct ctl_command ctl_cmd_completion = {
	.name = "completion",
	.summary = "print completion for your shell",
	.args = "bash|zsh|fish",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN,
	.help = "Completes commands, options, their values, and the names of studies as "
		"the "
		"daemon knows them.",
	.examples = "source <(dparetoctl completion bash)\n"
		    "  for this shell; put it into ~/.bashrc for all\n"
		    "dparetoctl completion fish | source",
	.run = completion_run,
};
