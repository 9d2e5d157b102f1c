/* read_trainer.c - reads the trainer's command and environment. */
#include "study/parse/study_parse_internal.h"

#include "base/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ENV_MAX = 1024
};

void dp__read_trainer(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		      void *to)
{
	if (!dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX))
		return;
	r->trainer_node = v;
	dp__read_section(r, DP__TRAINER, v->key_pos, v, to);
	if (dp__map_get(v, "command"))
		((struct dp_trainer *)to)->command_pos = dp__map_get(v, "command")->pos;
}

/* A program with '/' is relative to the study file's directory. */
static char *resolve_trainer_program(struct dp__study_parser *r, const char *word)
{
	if (*word == '/' || !strchr(word, '/'))
		return dp_strdup(word);
	return dp__resolve_path(r->dir, word);
}

void dp__read_command(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		      void *to)
{
	static const char form[] = "a list of the program and its arguments, such as "
				   "[./train.py, --fast]";
	const struct dp__node *item;
	const char *text;
	char **argv;
	size_t n = 0;

	if (!dp__expect_list(r, v, k->name, form, DP_ARGV_MAX))
		return;
	argv = dp_calloc(v->count + 1, sizeof *argv);
	*(char ***)to = argv;
	for (item = v->first_child; item; item = item->next_sibling) {
		text = dp__expect_scalar(r, item, k->name, form);
		if (!text)
			continue;
		if (item->is_plain && !*text)
			dp__report_error(r, item->pos, form, "'%s' has an entry without a value",
					 k->name);
		else if (item == v->first_child && !*text)
			dp__report_error(r, item->pos, form, "the program's name is empty");
		argv[n++] =
			item == v->first_child ? resolve_trainer_program(r, text) : dp_strdup(text);
	}
}

void dp__read_env(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		  void *to)
{
	char shown[DP__PRINTABLE_SIZE];
	const struct dp__node *m;
	const char *text;
	char **env;
	size_t n = 0;

	if (!dp__expect_map(r, v, k->name, k->doc->type, ENV_MAX))
		return;
	env = dp_calloc(v->count + 1, sizeof *env);
	*(char ***)to = env;
	for (m = v->first_child; m; m = m->next_sibling) {
		dp__printable(m->key, shown);
		if (!dp_env_name_ok(m->key))
			dp__report_error(r, m->key_pos,
					 "letters, digits and '_', not starting with a digit",
					 "'%s' cannot name an environment variable", shown);
		else if (strncmp(m->key, "DPARETO_", 8) == 0)
			dp__report_error(r, m->key_pos, NULL,
					 "'%s' cannot be set here: variables that start with "
					 "DPARETO_ are the trainer protocol's",
					 shown);
		text = dp__expect_scalar(r, m, shown, "text or number");
		if (text)
			env[n++] = dp_asprintf("%s=%s", m->key, text);
	}
}
