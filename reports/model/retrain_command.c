/* retrain_command.c - the command line that trains a point of the front again. */
#include "reports/model/report_model.h"

#include "base/fs.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

void command_append_word(struct dp_buf *out, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (out->len)
		dp_buf_putc(out, ' ');
	if (*word && word[strspn(word, plain)] == '\0') {
		dp_buf_puts(out, word);
		return;
	}
	dp_buf_putc(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			dp_buf_puts(out, "'\\''");
		else
			dp_buf_putc(out, *word);
	}
	dp_buf_putc(out, '\'');
}

/* Whether the trainer takes parameters as options and runs from any directory. */
static bool trainer_takes_settings(const struct dp_trainer *t)
{
	const char *name = strrchr(t->argv[0], '/');

	name = name ? name + 1 : t->argv[0];
	return strcmp(name, "dpareto-train") == 0 && !t->cwd && !t->env;
}

static bool has_word(char *const *argv, const char *word)
{
	for (size_t i = 0; argv[i]; i++)
		if (strcmp(argv[i], word) == 0)
			return true;
	return false;
}

void command_append_state_dir(struct dp_buf *out, const struct report_data *r)
{
	const char *end = r->is_public || !r->journal_path ? NULL : strrchr(r->journal_path, '/');
	char *folder, *usual;

	if (!end || strcmp(end, "/journal") != 0)
		return;
	folder = dp_strndup(r->journal_path, (size_t)(end - r->journal_path));
	usual = dp_default_state_dir(); /* the user's, else the system's */
	if (!(usual && strcmp(usual, folder) == 0) && strcmp(folder, "/var/lib/dpareto") != 0) {
		command_append_word(out, "--state");
		command_append_word(out, folder);
	}
	free(usual);
	free(folder);
}

void append_retrain_command(struct dp_buf *out, const struct report_model *report,
			    const json_t *point)
{
	const struct dp_study_state *s = report->study->state;
	char *const *argv = s->spec->trainer.argv;
	json_t *parameters = get_json(point, "parameters"), *value;
	struct dp_buf word = DP_BUF_INIT;
	char id[RESULT_NAME_LEN];
	const char *name;

	if (report->data->is_public || !trainer_takes_settings(&s->spec->trainer)) {
		dp_buf_puts(out, "dparetoctl remeasure");
		command_append_word(out, s->spec->name);
		command_append_word(out, "--points");
		command_append_word(out, point_name(point, id));
		command_append_state_dir(out, report->data);
		return;
	}
	for (size_t i = 0; argv[i]; i++)
		command_append_word(out, argv[i]);
	/* otherwise its seed is 0, and anyone can subtract the noise */
	if (!s->current_spec->public_data && has_word(argv, "--data") &&
	    !has_word(argv, "--secure"))
		command_append_word(out, "--secure");
	json_object_foreach (parameters, name, value) {
		dp_buf_clear(&word);
		dp_buf_printf(&word, "%s=", name);
		if (json_is_string(value))
			dp_buf_puts(&word, json_string_value(value));
		else /* all digits: rounding could reduce the noise */
			dp_json_dump(&word, value, 0);
		command_append_word(out, "--set");
		command_append_word(out, dp_buf_text(&word));
	}
	dp_buf_free(&word);
}
