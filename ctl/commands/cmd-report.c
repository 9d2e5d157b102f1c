/* cmd-report.c - `report`: runs dpareto-report for a study. */
#include "base/fs.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/client/programs.h"

#include <errno.h>
#include <jansson.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Returns --state, else that of the running daemon, else the default. */
static int report_find_state_dir(struct ctl *ctl, char **out, struct dp_err *err)
{
	const char *state = ctl_get_option(ctl, "state");
	struct dp_err no_daemon;
	json_t *hello;

	if (state) {
		*out = dp_strdup(state);
		return DP_OK;
	}
	if (ctl_call(ctl, "hello", NULL, &hello, &no_daemon) == DP_OK) {
		*out = dp_strdup(dp_json_str(hello, "state_dir", ""));
		json_decref(hello);
		return DP_OK;
	}
	*out = dp_default_state_dir();
	return *out ? DP_OK
		    : dp_fail(err, DP_E_USAGE,
			      "no home folder is known; name the state folder with --state");
}

static char **report_build_argv(struct ctl *ctl, char *state)
{
	static const char *const known[] = { "--dir",     "--public", "--baseline", "--label",
					     "--figures", "--format", "--width",    "--no-title",
					     "--group",   "--at",     "--truth" };
	char **argv = dp_calloc((size_t)ctl->argc + 2 * ctl->n_given_options + 16, sizeof *argv);
	size_t n = 0;

	argv[n++] = "--output";
	argv[n++] = "json";
	argv[n++] = "--state";
	argv[n++] = state;
	for (size_t i = 0; i < ctl->n_given_options; i++) {
		const struct ctl_given_option *given = &ctl->given_options[i];
		size_t k = 0;

		while (k < DP_COUNT(known) && strcmp(known[k] + 2, given->option->name) != 0)
			k++;
		if (k == DP_COUNT(known))
			continue;
		argv[n++] = (char *)known[k];
		if (given->option->arg)
			argv[n++] = (char *)given->value;
	}
	argv[n++] = "--";
	for (int i = 0; i < ctl->argc; i++)
		argv[n++] = ctl->argv[i];
	return argv;
}

static int open_in_browser(struct ctl *ctl, const char *page, struct dp_err *err)
{
	char *argv[] = { "xdg-open", (char *)page, NULL };
	int status = 0, errnum;
	pid_t pid;
	int code = ctl_flush(ctl, err); /* before the output of xdg-open */

	if (code != DP_OK)
		return code;
	errnum = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (errnum != 0) {
		dp_fail_errno(err, errnum, "cannot start xdg-open");
		return dp_hint(err, "open %s in a browser yourself", page);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		ctl_print_message(ctl, "xdg-open did not open it; open it in a browser yourself");
	return DP_OK;
}

static int cmd_report_run(struct ctl *ctl, struct dp_err *err)
{
	char *state = NULL, **arguments;
	const char *page;
	json_t *answer = NULL;
	int code;

	if (ctl->argc == 0 && !ctl_get_option(ctl, "group")) {
		dp_fail(err, DP_E_USAGE, "'report' is told too little: which study?");
		return dp_hint(err, "usage: dparetoctl report STUDY, or --group "
				    "dpareto=a,b,c --group random=r/256");
	}
	code = report_find_state_dir(ctl, &state, err);
	if (code == DP_OK) {
		arguments = report_build_argv(ctl, state);
		code = ctl_run_report_program(arguments, &answer, err);
		free(arguments);
	}
	if (code == DP_E_DENIED && !err->hint[0])
		dp_hint(err, "only who may read the journal can make a report of it; "
			     "--dir writes it elsewhere");
	page = dp_json_str(answer, "html", "");
	if (code == DP_OK && ctl->format == CTL_JSON)
		ctl_print_json(ctl, answer);
	else if (code == DP_OK)
		ctl_printf(ctl, "%s\n", page);
	if (code == DP_OK && ctl_has_option(ctl, "open"))
		code = open_in_browser(ctl, page, err);
	json_decref(answer);
	free(state);
	return code;
}

static const struct ctl_option options[] = {
	{ "open", 0, NULL, "show it in a browser (xdg-open)" },
	{ "dir", 0, "DIR", "write it there (default: studies/STUDY/report in the state folder)" },
	{ "public", 0, NULL, "leave out the seed; refused where something exact would leak" },
	{ "baseline", 0, "LABEL=VALUE", "a utility to compare with; may be given several times" },
	{ "group", 0, "NAME=STUDY,STUDY,...",
	  "a report of groups of seeds instead; STUDY/256 stands for each 256 trials of one" },
	{ "at", 0, "OBJECTIVE=X,X,...",
	  "where groups are compared beside their hypervolume (default: epsilon at 0.1, "
	  "1 and 10)" },
	{ "truth", 0, "STUDY",
	  "draw the front of this one, such as a fine grid, under the others" },
	{ "label", 0, "STUDY=TEXT",
	  "call a study this in figures and words; may be given several times" },
	{ "figures", 0, "A,B", "only these figures ('dpareto-report --help' names them)" },
	{ "format", 0, "A,B", "files of each figure: png, svg, pdf (default: png,svg)" },
	{ "width", 0, "LENGTH", "of figures for print, such as 88mm or 180mm" },
	{ "no-title", 0, NULL, "figures without their titles" },
	{ "state", 0, "DIR", "the state folder (default: the daemon's)" },
	{ 0 },
};

const struct ctl_command ctl_cmd_report = {
	.name = "report",
	.summary = "write the report of a study, compared with others",
	.args = "[STUDY...]",
	.min_args = 0,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Writes report.html, report.md, report.json and pictures, and prints where the "
		"page is. The daemon does this by itself when a study ends and, every "
		"report_interval, while it runs; this makes one now, with other studies in the "
		"same pictures. Reads the journal, so it works without a daemon, on a copy of a "
		"state folder, too.\n\n"
		"With --group it is a report of groups of seeds: means and their intervals, "
		"fronts that half of the seeds attain, and the numbers of 'compare' with its "
		"tests; each plain STUDY is a group of its own then. It is written to reports/ "
		"in the state folder.\n\n"
		"With --public the seed is left out, the default folder is report-public, and "
		"nothing is written where something exact of private data would leak: the "
		"reasons are told, all of them.",
	.examples = "dparetoctl report adult --open\n"
		    "dparetoctl report adult adult-random --baseline non-private=0.152\n"
		    "dparetoctl report --group DPareto=a1,a2,a3 --group Random=long/256\n"
		    "dparetoctl report adult --figures front --format pdf --width 88mm "
		    "--no-title\n"
		    "dparetoctl report adult --public --dir adult-report",
	.run = cmd_report_run,
};
