/* cmd-completion.c - `completion`: shell scripts that call complete-words. */
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"

#include <string.h>

/* bash splits words at = @ and :, so the script joins them. Of a found word, only the part after
 * the last such character replaces the word at the cursor. */
static const char bash_script[] =
	"# bash completion for dparetoctl; use it with\n"
	"#   source <(dparetoctl completion bash)\n"
	"_dparetoctl() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} word glued= cut i\n"
	"\tlocal -a words=()\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif [[ $i -gt 1 && ( -n $glued || $word == [=@:]* ) ]]; then\n"
	"\t\t\twords[${#words[@]} - 1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\t\tglued=\n"
	"\t\t[[ $word == [=@:] ]] && glued=yes\n"
	"\tdone\n"
	"\t[[ $cur == [=@:] ]] && cur=\n"
	"\tword=${words[${#words[@]} - 1]}\n"
	"\tcut=$((${#word} - ${#cur}))\n"
	"\tmapfile -t COMPREPLY < <(\"${COMP_WORDS[0]}\" complete-words -- "
	"\"${words[@]}\" 2>/dev/null)\n"
	"\tif [[ ${COMPREPLY[0]} == :files ]]; then\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do\n"
	"\t\tword=${COMPREPLY[i]%%$'\\t'*}\n"
	"\t\t[[ $word == *= ]] && compopt -o nospace 2>/dev/null\n"
	"\t\tCOMPREPLY[i]=${word:cut}\n"
	"\tdone\n"
	"}\n"
	"complete -F _dparetoctl dparetoctl\n";

/* As an autoloaded function file it calls the function; when sourced, it registers it. */
static const char zsh_script[] =
	"#compdef dparetoctl\n"
	"# zsh completion for dparetoctl; use it with\n"
	"#   source <(dparetoctl completion zsh)\n"
	"_dparetoctl() {\n"
	"\tlocal -a found whole open\n"
	"\tlocal line word none=1\n"
	"\tfound=(\"${(@f)$(${(Q)words[1]} complete-words -- "
	"\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
	"\tif [[ $found[1] == :files ]]; then\n"
	"\t\t_files\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tfor line in $found; do\n"
	"\t\tword=${line%%$'\\t'*}\n"
	"\t\t[[ $line == *$'\\t'* ]] && line=${word//:/\\\\:}:${line#*$'\\t'} || "
	"line=${word//:/\\\\:}\n"
	"\t\tif [[ $word == *= ]]; then open+=(\"$line\"); else whole+=(\"$line\"); fi\n"
	"\tdone\n"
	"\t(( $#whole )) && _describe dparetoctl whole && none=0\n"
	"\t(( $#open )) && _describe dparetoctl open -S '' && none=0\n"
	"\treturn $none\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _dparetoctl ]; then\n"
	"\t_dparetoctl \"$@\"\n"
	"else\n"
	"\tcompdef _dparetoctl dparetoctl\n"
	"fi\n";

static const char fish_script[] =
	"# fish completion for dparetoctl; use it with\n"
	"#   dparetoctl completion fish | source\n"
	"function __dparetoctl_words\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l program $words[1]\n"
	"\tset -e words[1]\n"
	"\tset -l current (commandline -ct)\n"
	"\tset -l found ($program complete-words -- $words \"$current\" 2>/dev/null)\n"
	"\tif test \"$found[1]\" = :files\n"
	"\t\t__fish_complete_path \"$current\"\n"
	"\telse if set -q found[1]\n"
	"\t\tprintf '%s\\n' $found\n"
	"\tend\n"
	"end\n"
	"complete -c dparetoctl -f -a '(__dparetoctl_words)'\n";

static int cmd_completion_run(struct ctl *ctl, struct dp_err *err)
{
	static const struct {
		const char *name, *script;
	} shells[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };

	for (size_t i = 0; i < DP_COUNT(shells); i++)
		if (strcmp(ctl->argv[0], shells[i].name) == 0) {
			ctl_print_bytes(ctl, shells[i].script, strlen(shells[i].script));
			return DP_OK;
		}
	return dp_fail(err, DP_E_USAGE, "there is completion for bash, zsh and fish, not for '%s'",
		       ctl->argv[0]);
}

const struct ctl_command ctl_cmd_completion = {
	.name = "completion",
	.summary = "print completion for your shell",
	.args = "bash|zsh|fish",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.help = "Completes commands, options and their values, and what the daemon knows: names "
		"of studies, their trials, objectives, metrics and parameters, and keys that "
		"'set' can change.",
	.examples = "source <(dparetoctl completion bash)\n"
		    "  for this shell; put it into ~/.bashrc for all\n"
		    "dparetoctl completion fish | source",
	.run = cmd_completion_run,
};
