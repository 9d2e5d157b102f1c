/* gen_study_man.c - generates dpareto-study(5) from a template and the parser's tables.
 *
 * Replaces the lines @KEYS@ and @MECHANISMS@. */
#include "base/fs.h"
#include "privacy/privacy.h"
#include "study/study_file.h"

#include <stdio.h>
#include <string.h>

/* Escapes text for roff: no backslash, hyphen or quote changes, and no line becomes a request. */
static void man_print_escaped(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s; s++) {
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-')
			fputs("\\-", stdout);
		else if (*s == '`' || *s == '\'')
			fputs(*s == '`' ? "\\(ga" : "\\(aq", stdout);
		else
			putchar(*s);
	}
}

/* The default of an absent key; see keys.def for its notation. */
static void man_print_default(const char *default_text)
{
	if (strcmp(default_text, "none") == 0) {
		fputs("optional", stdout);
	} else if (default_text[0] == '(') {
		if (strncmp(default_text, "(needed", 7) != 0)
			fputs("otherwise ", stdout);
		for (const char *p = default_text + 1; *p && *p != ')'; p++)
			putchar(*p);
	} else {
		if (strcmp(default_text, "needed") != 0)
			fputs("default ", stdout);
		man_print_escaped(default_text);
	}
}

static void man_print_keys(void)
{
	size_t count;
	const struct dp_key_doc *k = dp_study_keys(&count);

	for (; count > 0; count--, k++) {
		fputs(".TP\n.B ", stdout);
		man_print_escaped(k->path);
		putchar('\n');
		man_print_escaped(k->help);
		fputs("\n.br\nType: ", stdout);
		man_print_escaped(k->type);
		fputs("; ", stdout);
		man_print_default(k->default_text);
		if (k->mutability == DP_KEY_LIVE)
			fputs("; may change while the study goes on", stdout);
		fputs(".\n.br\nExample: ", stdout);
		man_print_escaped(k->example);
		putchar('\n');
	}
}

static void man_print_mechanism(const struct dp_mechanism *m)
{
	char rule[DP_PRIVACY_RANGE_TEXT_LEN];

	fputs(".SS ", stdout);
	man_print_escaped(m->name);
	putchar('\n');
	man_print_escaped(m->summary);
	fputs("\n.PP\nNeighbouring relation: ", stdout);
	man_print_escaped(m->relation);
	fputs(".\n.PP\nSource: ", stdout);
	man_print_escaped(m->source);
	fputs(".\n", stdout);
	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		fputs(".TP\n.B ", stdout);
		man_print_escaped(k->name);
		putchar('\n');
		man_print_escaped(k->help);
		fputs("\n.br\nType: ", stdout);
		man_print_escaped(dp_privacy_key_format_range(k, rule));
		fputs(k->kind == DP_PRIVACY_CHOICE ? "; " : ", or the name of a parameter; ",
		      stdout);
		fputs(k->replaced_by          ? "needed unless another key stands in its place.\n"
		      : k->required           ? "needed.\n"
		      : k->alternatives_group ? "needed, or the other name of it.\n"
					      : "not needed.\n",
		      stdout);
	}
}

static void man_print_line(const char *text, size_t len)
{
	if (len == strlen("@KEYS@") && memcmp(text, "@KEYS@", len) == 0)
		man_print_keys();
	else if (len == strlen("@MECHANISMS@") && memcmp(text, "@MECHANISMS@", len) == 0)
		for (size_t i = 0; dp_mechanisms[i]; i++)
			man_print_mechanism(dp_mechanisms[i]);
	else
		printf("%.*s\n", (int)len, text);
}

int main(int argc, char **argv)
{
	struct dp_buf page = DP_BUF_INIT;
	struct dp_err err = { 0 };
	const char *p, *end;

	if (argc != 2) {
		fputs("usage: gen_study_man TEMPLATE\n", stderr);
		return 2;
	}
	if (dp_read_file(argv[1], 1 << 20, &page, &err) != DP_OK) {
		fprintf(stderr, "gen_study_man: %s\n", err.msg);
		return 1;
	}
	for (p = dp_buf_text(&page); *p; p = end + 1) {
		end = strchrnul(p, '\n');
		man_print_line(p, (size_t)(end - p));
		if (!*end)
			break;
	}
	dp_buf_free(&page);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
