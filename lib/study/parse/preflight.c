/* preflight.c - warns about programs of a study that cannot start on this machine.
 *
 * Warnings only: the study may be for another machine. */
#include "study/parse/study_parse_internal.h"

#include "base/program.h"
#include "study/diagnostics.h"
#include "study/study_file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SUGGESTIONS_MAX = 256 /* directory entries to compare a word with */
};

/* One command and its place in the file. */
struct preflight_command {
	char *const *argv;
	char *const *env; /* the study's; may be NULL */
	const char *cwd;  /* NULL: an empty directory */
	size_t pos;
};

struct preflight {
	struct dp__study_parser parser; /* receives the warnings */
	const char *dir, *program_dir;
};

static void preflight_program(struct preflight *s, const struct preflight_command *c)
{
	struct dp_program_search places = { s->program_dir, dp_program_path_env(c->env) };
	const char *program = c->argv[0];
	char *here = NULL;
	struct dp_err why;

	if (dp_program_check(program, &places, &why) == DP_OK)
		return;
	if (!strchr(program, '/'))
		here = dp__resolve_path(s->dir, program);
	if (here && access(here, F_OK) == 0)
		dp_hint(&why, "there is one beside the study file: write ./%s", program);
	free(here);
	dp__report_warning(&s->parser, c->pos, NULL, "%s%s%s", why.msg, why.hint[0] ? "; " : "",
			   why.hint);
}

/* True if a word looks like a script for an interpreter. */
static bool is_script_name(const char *word)
{
	static const char *const ends[] = { ".py", ".sh", ".R", ".r", ".jl", ".pl", ".rb", ".js" };
	size_t n = strlen(word);

	for (size_t i = 0; *word != '-' && *word != '/' && i < DP_COUNT(ends); i++)
		if (n > strlen(ends[i]) && strcmp(word + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* "; did you mean 'train.py'?" with the nearest file name for a word without '/', or "". */
static void suggest_script(const char *dir, const char *word, char guess[DP__DID_YOU_MEAN_SIZE])
{
	const char *names[SUGGESTIONS_MAX + 1] = { NULL };
	DIR *d = strchr(word, '/') ? NULL : opendir(dir);
	const struct dirent *entry;
	size_t n = 0;

	while (d && n < SUGGESTIONS_MAX && (entry = readdir(d)) != NULL)
		if (is_script_name(entry->d_name))
			names[n++] = dp_strdup(entry->d_name);
	dp__did_you_mean(word, names, guess);
	while (n > 0)
		free((char *)names[--n]);
	if (d)
		closedir(d);
}

/* The word may be relative to the working directory. */
static bool exists_in_cwd(const struct preflight_command *c, const char *word)
{
	char *path = c->cwd ? dp__resolve_path(c->cwd, word) : NULL;
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

/* After dp_study_resolve_files(), a word that is still relative is not an existing file. */
static void preflight_scripts(struct preflight *s, const struct preflight_command *c)
{
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];

	for (char *const *word = c->argv + 1; *word; word++) {
		if (!is_script_name(*word) || exists_in_cwd(c, *word))
			continue;
		suggest_script(s->dir, *word, guess);
		dp__report_warning(&s->parser, c->pos, NULL,
				   "there is no file '%s' beside the study file, so that the "
				   "word is passed on as it is%s",
				   dp__printable(*word, shown), guess);
	}
}

static void preflight_cwd(struct preflight *s, const struct preflight_command *c)
{
	char shown[DP__PRINTABLE_SIZE];

	if (c->cwd && access(c->cwd, X_OK) != 0)
		dp__report_warning(&s->parser, c->pos, NULL,
				   "the working folder '%s' cannot be entered: it does not "
				   "exist, or nobody may",
				   dp__printable(c->cwd, shown));
}

static void preflight_check_command(struct preflight *s, const struct preflight_command *c)
{
	if (!c->argv || !c->argv[0])
		return;
	preflight_cwd(s, c);
	preflight_program(s, c);
	preflight_scripts(s, c);
}

/* Programs that Slurm trainers need and this machine lacks, and options that only Slurm has. */
static void preflight_executor(struct preflight *s, const struct dp_trainer *t)
{
	struct dp_program_search places = { NULL, dp_program_path_env(NULL) };
	char *sbatch = t->executor == DP_EXECUTOR_SLURM ? dp_program_find("sbatch", &places) : NULL;

	if (t->executor == DP_EXECUTOR_SLURM && !sbatch)
		dp__report_warning(
			&s->parser, t->command_pos, NULL,
			"'executor: slurm' needs Slurm's commands: sbatch is not in PATH "
			"here");
	if (t->executor == DP_EXECUTOR_LOCAL && t->gpus > 0)
		dp__report_warning(&s->parser, t->command_pos, NULL,
				   "'gpus' is for 'executor: slurm'; on one machine the daemon's "
				   "slot_env gives GPUs out");
	free(sbatch);
}

void dp_study_preflight(const struct dp_study *study, const char *dir, const char *beside,
			const char *text, size_t len, struct dp_diagnostics *diagnostics)
{
	struct preflight s = { { .text = text, .len = len, .diagnostics = diagnostics },
			       dir,
			       beside };
	const struct dp_trainer *t = &study->trainer;
	struct preflight_command trainer = { t->argv, t->env, t->cwd, t->command_pos };

	preflight_check_command(&s, &trainer);
	preflight_executor(&s, t);
	for (size_t i = 0; i < study->nobjectives; i++) {
		const struct dp_accounting_spec *o = study->objectives[i].privacy;
		struct preflight_command oracle = { NULL, t->env, dir, 0 };

		if (!o || o->kind != DP_ACCOUNTING_EXTERNAL)
			continue;
		oracle.argv = o->argv;
		oracle.pos = o->command_pos;
		preflight_check_command(&s, &oracle);
	}
	dp__diagnostics_sort(diagnostics);
}
