/* startable.c - can the programs of a study be started? What is found is worth a word and
 * no more: the study may be for another machine. */
#include "study/study_internal.h"

#include "base/program.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	NEAR_MOST = 256 /* names in a folder that one word is compared with */
};

/* One command and where it stands. */
struct command {
	char *const *argv;
	char *const *env; /* of the study; NULL */
	const char *cwd;  /* NULL: an empty folder */
	size_t pos;
};

/* One look at a study's commands. */
struct startable {
	struct dp__read read; /* where warnings go */
	const char *dir, *beside;
};

static void warn_program(struct startable *s, const struct command *c)
{
	struct dp_program_places places = { s->beside, dp_program_path(c->env) };
	const char *program = c->argv[0];
	char *here = NULL;
	struct dp_err why;

	if (dp_program_check(program, &places, &why) == DP_OK)
		return;
	if (!strchr(program, '/'))
		here = dp__path_beside(s->dir, program);
	if (here && access(here, F_OK) == 0)
		dp_hint(&why, "there is one beside the study file: write ./%s", program);
	free(here);
	dp__warning(&s->read, c->pos, NULL, "%s%s%s", why.msg, why.hint[0] ? "; " : "", why.hint);
}

/* Does a word look like a script, which an interpreter is to read? */
static bool names_script(const char *word)
{
	static const char *const ends[] = { ".py", ".sh", ".R", ".r", ".jl", ".pl", ".rb", ".js" };
	size_t n = strlen(word);

	for (size_t i = 0; *word != '-' && *word != '/' && i < DP_COUNT(ends); i++)
		if (n > strlen(ends[i]) && strcmp(word + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* The name in the study's folder that a word without '/' may be meant for: "; did you
 * mean 'train.py'?" or "". */
static void guess_script(const char *dir, const char *word, char guess[DP__GUESS])
{
	const char *names[NEAR_MOST + 1] = { NULL };
	DIR *d = strchr(word, '/') ? NULL : opendir(dir);
	const struct dirent *entry;
	size_t n = 0;

	while (d && n < NEAR_MOST && (entry = readdir(d)) != NULL)
		if (names_script(entry->d_name) && (names[n] = strdup(entry->d_name)))
			n++;
	dp__guess(word, names, guess);
	while (n > 0)
		free((char *)names[--n]);
	if (d)
		closedir(d);
}

/* It may be meant for the working folder. */
static bool in_cwd(const struct command *c, const char *word)
{
	char *path = c->cwd ? dp__path_beside(c->cwd, word) : NULL;
	bool there = path && access(path, F_OK) == 0;

	free(path);
	return there;
}

/* After dp_study_find_files(): what is still relative is no file there. */
static void warn_scripts(struct startable *s, const struct command *c)
{
	char shown[DP__SHOWN], guess[DP__GUESS];

	for (char *const *word = c->argv + 1; *word; word++) {
		if (!names_script(*word) || in_cwd(c, *word))
			continue;
		guess_script(s->dir, *word, guess);
		dp__warning(&s->read, c->pos, NULL,
			    "there is no file '%s' beside the study file, so that the "
			    "word is passed on as it is%s",
			    dp__shown(*word, shown), guess);
	}
}

static void warn_cwd(struct startable *s, const struct command *c)
{
	char shown[DP__SHOWN];

	if (c->cwd && access(c->cwd, X_OK) != 0)
		dp__warning(&s->read, c->pos, NULL,
			    "the working folder '%s' cannot be entered: it does not "
			    "exist, or nobody may",
			    dp__shown(c->cwd, shown));
}

static void warn_command(struct startable *s, const struct command *c)
{
	if (!c->argv || !c->argv[0])
		return;
	warn_cwd(s, c);
	warn_program(s, c);
	warn_scripts(s, c);
}

/* What a cluster's trainers need that this machine lacks, and what only they can have. */
static void warn_slurm(struct startable *s, const struct dp_trainer *t)
{
	struct dp_program_places places = { NULL, dp_program_path(NULL) };
	char *sbatch = t->executor == DP_EXECUTOR_SLURM ? dp_program_find("sbatch", &places) : NULL;

	if (t->executor == DP_EXECUTOR_SLURM && !sbatch)
		dp__warning(&s->read, t->command_pos, NULL,
			    "'executor: slurm' needs Slurm's commands: sbatch is not in PATH "
			    "here");
	if (t->executor == DP_EXECUTOR_LOCAL && t->gpus > 0)
		dp__warning(&s->read, t->command_pos, NULL,
			    "'gpus' is for 'executor: slurm'; on one machine the daemon's "
			    "slot_env gives GPUs out");
	free(sbatch);
}

int dp_study_startable(const struct dp_study *study, const char *dir, const char *beside,
		       const char *text, size_t len, struct dp_problems *problems,
		       struct dp_err *err)
{
	struct startable s = { { .text = text, .len = len, .problems = problems }, dir, beside };
	const struct dp_trainer *t = &study->trainer;
	struct command trainer = { t->argv, t->env, t->cwd, t->command_pos };

	warn_command(&s, &trainer);
	warn_slurm(&s, t);
	for (size_t i = 0; i < study->nobjectives; i++) {
		const struct dp_oracle *o = study->objectives[i].privacy;
		struct command oracle = { NULL, t->env, dir, 0 };

		if (!o || o->kind != DP_ORACLE_PROGRAM)
			continue;
		oracle.argv = o->argv;
		oracle.pos = o->command_pos;
		warn_command(&s, &oracle);
	}
	dp__problems_sort(problems);
	return s.read.nomem ? dp_fail(err, DP_E_NOMEM, "no memory to look at programs") : DP_OK;
}
