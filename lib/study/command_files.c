/* command.c - the words of a study's commands: which of them name files beside it. */
#include "study/parse/study_parse_internal.h"

#include "base/fs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *dp__resolve_path(const char *dir, const char *word)
{
	while (strncmp(word, "./", 2) == 0)
		word += 2;
	return dp_path_join(dir, word);
}

/* Where one of both is NULL: files that are looked for, or that are known. */
struct file_resolver {
	const char *dir;
	struct dp_command_files *found;
	const struct dp_command_files *known;
};

static bool is_known_file(const char *path, const struct dp_command_files *known)
{
	for (uint32_t i = 0; i < known->n; i++)
		if (strcmp(known->list[i], path) == 0)
			return true;
	return false;
}

/* A plain file, or a link to one; not a folder, which many a word names by chance. */
static bool is_regular_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool command_files_add(struct dp_command_files *found, const char *path)
{
	const char **grown = dp_realloc(found->list, ((size_t)found->n + 1) * sizeof *grown);

	found->list = grown;
	found->list[found->n++] = path;
	return true;
}

/* False without memory. */
static bool resolve_command_word(const struct file_resolver *p, char **word)
{
	char *path = dp__resolve_path(p->dir, *word);
	bool ok = path != NULL;

	if (ok && (p->known ? is_known_file(path, p->known) : is_regular_file(path))) {
		ok = !p->found || command_files_add(p->found, path);
		if (ok) {
			free(*word);
			*word = path;
			return true;
		}
	}
	free(path);
	return ok;
}

/* The words after the program; absolute ones stay. */
static bool resolve_command_argv(const struct file_resolver *p, char **argv)
{
	bool ok = true;

	for (char **word = argv; ok && word && *word; word++)
		if (word > argv && **word && **word != '/')
			ok = resolve_command_word(p, word);
	return ok;
}

static int resolve_study_commands(const struct file_resolver *p, struct dp_study *s,
				  struct dp_err *err)
{
	bool ok = resolve_command_argv(p, s->trainer.argv);

	for (size_t i = 0; ok && i < s->nobjectives; i++)
		if (s->objectives[i].privacy)
			ok = resolve_command_argv(p, s->objectives[i].privacy->argv);
	return ok ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a study's commands");
}

int dp_study_resolve_files(struct dp_study *s, const char *dir, struct dp_command_files *found,
			   struct dp_err *err)
{
	struct file_resolver p = { dir, found, NULL };

	*found = (struct dp_command_files){ 0 };
	return resolve_study_commands(&p, s, err);
}

int dp_study_restore_files(struct dp_study *s, const char *dir,
			   const struct dp_command_files *known, struct dp_err *err)
{
	struct file_resolver p = { dir, NULL, known };

	return resolve_study_commands(&p, s, err);
}
