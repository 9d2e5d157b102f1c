/* command_files.c - finds the arguments of commands that name files next to the study file. */
#include "study/parse/study_parse_internal.h"

#include "base/fs.h"
#include "study/study_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *dp__resolve_path(const char *dir, const char *word)
{
	while (strncmp(word, "./", 2) == 0)
		word += 2;
	return dp_path_join(dir, word);
}

/* One is NULL: `found` while searching, `known` while restoring. */
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

/* A regular file or a link to one. Not a directory: many words are the name of one by chance. */
static bool is_regular_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Skips the program and absolute words. */
static void resolve_command_argv(const struct file_resolver *p, char **argv)
{
	for (char **word = argv; word && *word; word++) {
		char *path;

		if (word == argv || !**word || **word == '/')
			continue;
		path = dp__resolve_path(p->dir, *word);
		if (p->known ? !is_known_file(path, p->known) : !is_regular_file(path)) {
			free(path);
			continue;
		}
		if (p->found) {
			p->found->list = dp_realloc(p->found->list, ((size_t)p->found->n + 1) *
									    sizeof *p->found->list);
			p->found->list[p->found->n++] = path;
		}
		free(*word);
		*word = path;
	}
}

static void resolve_study_commands(const struct file_resolver *p, struct dp_study *s)
{
	resolve_command_argv(p, s->trainer.argv);
	for (size_t i = 0; i < s->nobjectives; i++)
		if (s->objectives[i].privacy)
			resolve_command_argv(p, s->objectives[i].privacy->argv);
}

void dp_study_resolve_files(struct dp_study *s, const char *dir, struct dp_command_files *found)
{
	struct file_resolver p = { dir, found, NULL };

	*found = (struct dp_command_files){ 0 };
	resolve_study_commands(&p, s);
}

void dp_study_restore_files(struct dp_study *s, const char *dir,
			    const struct dp_command_files *known)
{
	struct file_resolver p = { dir, NULL, known };

	resolve_study_commands(&p, s);
}
