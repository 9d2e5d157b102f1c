/* read_slurm.c - reads trainer.executor and trainer.slurm. */
#include "study/parse/study_parse_internal.h"
#include "study/study_file.h"

#include <ctype.h>
#include <string.h>

const char *dp_executor_text(enum dp_executor e)
{
	switch (e) {
	case DP_EXECUTOR_LOCAL:
		return "local";
	case DP_EXECUTOR_SLURM:
		return "slurm";
	case DP_EXECUTOR_DEFAULT:
		break;
	}
	return "the daemon's";
}

bool dp_slurm_name_ok(const char *word)
{
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || (word[n] && strchr("_.,:@+-", word[n])))
		n++;
	return n > 0 && n < DP_SLURM_NAME_SIZE && !word[n] && word[0] != '-';
}

/* True if the word sets this option, in its long or short form ('\0': none). */
static bool slurm_word_sets_option(const char *word, const char *full, char brief)
{
	size_t n = strlen(full);

	return (brief && word[0] == '-' && word[1] == brief) ||
	       (strncmp(word, full, n) == 0 && (!word[n] || word[n] == '='));
}

const char *dp_slurm_option_error(const char *word, const char *before)
{
	if (word[0] != '-' && (!before || before[0] != '-' || strchr(before, '=')))
		return "would be taken for the job's script; it belongs to no option";
	if (strcmp(word, "--") == 0 || slurm_word_sets_option(word, "--wrap", '\0'))
		return "would put something else in the place of the trainer";
	if (slurm_word_sets_option(word, "--array", 'a') ||
	    slurm_word_sets_option(word, "--clusters", 'M'))
		return "would have jobs that are not found again";
	if (slurm_word_sets_option(word, "--wait", 'W'))
		return "would have sbatch wait for the end of the job";
	return NULL;
}

void dp__read_slurm(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		    void *to)
{
	if (dp__expect_map(r, v, k->name, k->doc->type, SIZE_MAX))
		dp__read_section(r, DP__SLURM, v->key_pos, v, to);
}

void dp__read_slurm_word(struct dp__study_parser *r, const struct dp__key *k,
			 const struct dp__node *v, void *to)
{
	const char *text = dp__expect_scalar(r, v, k->name, k->doc->type);
	char shown[DP__PRINTABLE_SIZE];

	if (!text)
		return;
	if (dp_slurm_name_ok(text))
		strcpy(to, text);
	else
		dp__report_error(r, v->pos,
				 "letters, digits and any of _ . , : @ + -, at most 127 of them",
				 "'%s' cannot be '%s'", k->name, dp__printable(text, shown));
}

void dp__read_slurm_options(struct dp__study_parser *r, const struct dp__key *k,
			    const struct dp__node *v, void *to)
{
	static const char form[] = "a list of options of sbatch, such as "
				   "[--cpus-per-task=4]";
	const struct dp__node *item;
	char **list;
	size_t n = 0;

	if (!dp__expect_list(r, v, k->name, form, DP_ARGV_MAX))
		return;
	list = dp_calloc(v->count + 1, sizeof *list);
	*(char ***)to = list;
	for (item = v->first_child; item; item = item->next_sibling) {
		const char *text = dp__expect_scalar(r, item, k->name, form), *wrong;
		char shown[DP__PRINTABLE_SIZE];

		wrong = text && *text ? dp_slurm_option_error(text, n ? list[n - 1] : NULL) : NULL;
		if (wrong)
			dp__report_error(r, item->pos, form, "'%s' cannot have '%s', which %s",
					 k->name, dp__printable(text, shown), wrong);
		else if (text && *text)
			list[n] = dp_strdup(text);
		else if (text)
			dp__report_error(r, item->pos, form, "'%s' has an entry without a value",
					 k->name);
		n += list[n] != NULL;
	}
}
