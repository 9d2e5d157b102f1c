/* cmd-explain.c - `explain`: documents the keys of study files from the parser's table. */
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "study/study_file.h"
#include "privacy/privacy.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_STUDY_KEYS = 512,
	TEXT_COLUMNS = 80
};

/* Does `path` start with `asked`, by segments? *rest is the remainder of `path`. The segment "NAME"
 * matches any name. */
static bool key_path_has_prefix(const char *path, const char *asked, const char **rest)
{
	for (;;) {
		size_t n = strcspn(path, "."), m = strcspn(asked, ".");
		bool any = n > 1;

		for (size_t i = 0; i < n; i++)
			any = any && isupper((unsigned char)path[i]);
		if (any ? m == 0 : n != m || memcmp(path, asked, n) != 0)
			return false;
		path += n;
		asked += m;
		if (!*asked || !*path)
			break;
		path++;
		asked++;
	}
	*rest = path;
	return !*asked;
}

/* Does `asked` equal the key or its last segments? */
static bool key_path_matches(const char *path, const char *asked)
{
	const char *rest;

	for (;;) {
		if (key_path_has_prefix(path, asked, &rest) && !*rest)
			return true;
		path = strchr(path, '.');
		if (!path)
			return false;
		path++;
	}
}

static void print_key(struct ctl *ctl, const struct dp_key_doc *k)
{
	struct dp_buf out = DP_BUF_INIT;
	bool color = ctl_use_color(ctl, ctl->out);

	dp_buf_printf(&out, "%s%s%s\n", ctl_style_on(CTL_BOLD, color), k->path,
		      ctl_style_off(CTL_BOLD, color));
	dp_buf_printf(&out, "  type     %s\n", k->type ? k->type : "-");
	dp_buf_printf(&out, "  default  %s\n", k->default_text ? k->default_text : "none");
	if (k->mutability == DP_KEY_LIVE)
		dp_buf_puts(&out, "  changes  while the study goes on, by 'dparetoctl set' "
				  "or in its file\n");
	if (k->help) {
		dp_buf_putc(&out, '\n');
		ctl_text_wrap(&out, k->help, 2, TEXT_COLUMNS);
	}
	if (k->example) {
		dp_buf_puts(&out, "\n  example\n");
		for (const char *line = k->example; *line;) {
			int len = (int)strcspn(line, "\n");

			dp_buf_printf(&out, "    %.*s\n", len, line);
			line += len + (line[len] == '\n');
		}
	}
	ctl_print_buf(ctl, &out);
}

/* Returns the depth of a key and its name at that depth. NAME is not a level: it is shown with the
 * key below it. */
static int key_depth(const char *path, const char **name)
{
	int depth = 0;

	*name = path;
	for (const char *dot; (dot = strchr(*name, '.')) != NULL; *name = dot + 1) {
		if (strncmp(*name, "NAME.", 5) == 0 && !strchr(dot + 1, '.'))
			break;
		depth += strncmp(*name, "NAME.", 5) != 0;
	}
	return depth;
}

static void explain_print_key_table(struct ctl *ctl, const struct dp_key_doc *const *keys, size_t n)
{
	struct ctl_table *t = ctl_table_new("KEY|TYPE*|DEFAULT*");
	const char *name;
	int least = key_depth(keys[0]->path, &name);

	for (size_t i = 0; i < n; i++) {
		int depth = key_depth(keys[i]->path, &name) - least;

		ctl_table_add_cell(t, CTL_NORMAL, "%*s%s", depth > 0 ? 2 * depth : 0, "", name);
		ctl_table_add_text(t, keys[i]->type ? keys[i]->type : "-");
		ctl_table_add_text(t, keys[i]->default_text ? keys[i]->default_text : "none");
	}
	ctl_table_print(ctl, t);
	ctl_print_message(ctl, "'dparetoctl explain KEY' says more; a key is named as in "
			       "trainer.timeout, or by its end, timeout.");
}

static void explain_print(struct ctl *ctl, const struct dp_key_doc *const *keys, size_t n,
			  bool in_full)
{
	json_t *list;

	switch (ctl->format) {
	case CTL_JSON:
		list = json_array();
		for (size_t i = 0; i < n; i++)
			json_array_append_new(
				list, json_pack("{s:s, s:s?, s:s?, s:s?, s:s?, s:b}", "key",
						keys[i]->path, "type", keys[i]->type, "default",
						keys[i]->default_text, "help", keys[i]->help,
						"example", keys[i]->example, "live",
						keys[i]->mutability == DP_KEY_LIVE));
		ctl_print_json(ctl, list);
		json_decref(list);
		break;
	case CTL_NAME:
		for (size_t i = 0; i < n; i++)
			ctl_printf(ctl, "%s\n", keys[i]->path);
		break;
	default:
		if (!in_full) {
			explain_print_key_table(ctl, keys, n);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				ctl_printf(ctl, "\n");
			print_key(ctl, keys[i]);
		}
	}
}

/* Fails and suggests the nearest key, by its path or last segment. */
static int fail_unknown_key(const char *asked, const struct dp_key_doc *all, size_t count,
			    struct dp_err *err)
{
	const char *names[2 * MAX_STUDY_KEYS + 1] = { 0 }, *near;
	size_t n = 0;

	for (size_t i = 0; i < count && i < MAX_STUDY_KEYS; i++) {
		const char *dot = strrchr(all[i].path, '.');

		names[n++] = all[i].path;
		if (dot)
			names[n++] = dot + 1;
	}
	near = dp_nearest_word(asked, names);
	dp_fail(err, DP_E_NOT_FOUND, "study files have no key '%s'%s%s%s", asked,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return dp_hint(err, "'dparetoctl explain' lists all keys");
}

static void explain_mechanism(struct ctl *ctl, const struct dp_mechanism *m)
{
	struct ctl_table *t = ctl_table_new("KEY|TYPE|NEEDED|MEANING*");
	char rule[DP_PRIVACY_RANGE_TEXT_LEN];
	struct dp_buf text = DP_BUF_INIT;
	json_t *keys = json_array(), *object;

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		dp_privacy_key_format_range(k, rule);
		json_array_append_new(keys,
				      json_pack("{s:s, s:s, s:b, s:s}", "key", k->name, "type",
						rule, "needed", k->required, "help", k->help));
		ctl_table_add_text(t, k->name);
		ctl_table_add_text(t, rule);
		ctl_table_add_text(t, k->replaced_by          ? "one of"
				      : k->required           ? "yes"
				      : k->alternatives_group ? "one of"
							      : "no");
		ctl_table_add_text(t, k->help);
	}
	object = json_pack("{s:s, s:s, s:s, s:s, s:o}", "mechanism", m->name, "summary", m->summary,
			   "neighbours", m->relation, "source", m->source, "keys", keys);
	if (ctl->format != CTL_TABLE) {
		ctl_print_json(ctl, object);
		ctl_table_free(t);
	} else {
		dp_buf_printf(&text, "mechanism %s\n", m->name);
		ctl_text_wrap(&text, m->summary, 2, TEXT_COLUMNS);
		dp_buf_puts(&text, "\n  neighbours\n");
		ctl_text_wrap(&text, m->relation, 4, TEXT_COLUMNS);
		dp_buf_puts(&text, "\n  source\n");
		ctl_text_wrap(&text, m->source, 4, TEXT_COLUMNS);
		dp_buf_putc(&text, '\n');
		ctl_print_buf(ctl, &text);
		ctl_table_print(ctl, t);
	}
	json_decref(object);
}

static int cmd_explain_run(struct ctl *ctl, struct dp_err *err)
{
	const struct dp_key_doc *found[MAX_STUDY_KEYS], *below[MAX_STUDY_KEYS], *all;
	const char *asked = ctl->argc ? ctl->argv[0] : NULL, *section, *rest;
	char names[DP_MECHANISMS_LEN];
	size_t count, n = 0, nbelow = 0;

	if (asked && dp_mechanism_find(asked)) {
		explain_mechanism(ctl, dp_mechanism_find(asked));
		return DP_OK;
	}
	all = dp_study_keys(&count);
	for (size_t i = 0; i < count && n < MAX_STUDY_KEYS; i++)
		if (!asked || key_path_matches(all[i].path, asked))
			found[n++] = &all[i];
	/* the keys below a section such as "trainer", without itself */
	section = n == 1 ? found[0]->path : asked;
	for (size_t i = 0; asked && i < count && nbelow < MAX_STUDY_KEYS; i++)
		if (key_path_has_prefix(all[i].path, section, &rest) && *rest)
			below[nbelow++] = &all[i];
	if (n + nbelow == 0)
		return fail_unknown_key(asked, all, count, err);
	if (n > 0)
		explain_print(ctl, found, n, asked != NULL);
	if (nbelow > 0 && (n == 0 || ctl->format == CTL_TABLE)) {
		if (n > 0)
			ctl_printf(ctl, "\n");
		explain_print(ctl, below, nbelow, false);
	}
	if (asked && (strcmp(asked, "privacy") == 0 || strcmp(asked, "mechanism") == 0))
		ctl_print_message(
			ctl,
			"Each mechanism has keys of its own; 'dparetoctl explain MECHANISM' "
			"lists them: %s.",
			dp_mechanism_names_text(names));
	return DP_OK;
}

const struct ctl_command ctl_cmd_explain = {
	.name = "explain",
	.summary = "document the keys of study files",
	.args = "[KEY]",
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(NAME),
	.help = "Without a KEY: all of them, with types and defaults. With one: what it "
		"means, what it takes, and an example. A key can be named in full "
		"(trainer.timeout), by its end (timeout), or by its section (trainer). "
		"A privacy mechanism is explained with its own keys.",
	.examples = "dparetoctl explain timeout\n"
		    "dparetoctl explain search\n"
		    "dparetoctl explain dp-sgd",
	.run = cmd_explain_run,
};
