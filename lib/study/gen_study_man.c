/* gen_study_man.c - prints dpareto-study(5): a template whose lines @KEYS@ and
 * @MECHANISMS@ are replaced by the tables that the parser itself uses. */
#include "base/fs.h"
#include "privacy/privacy.h"
#include "study/study.h"

#include <stdio.h>
#include <string.h>

/* Text for roff: backslashes and hyphens that stay what they are, and no line that
 * could be a request. */
static void man_put(const char *s)
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

/* What holds where the key is absent; keys.def tells how that is written. */
static void man_absent(const char *otherwise)
{
	if (strcmp(otherwise, "none") == 0) {
		fputs("optional", stdout);
	} else if (otherwise[0] == '(') {
		if (strncmp(otherwise, "(needed", 7) != 0)
			fputs("otherwise ", stdout);
		for (const char *p = otherwise + 1; *p && *p != ')'; p++)
			putchar(*p);
	} else {
		if (strcmp(otherwise, "needed") != 0)
			fputs("default ", stdout);
		man_put(otherwise);
	}
}

static void man_keys(void)
{
	size_t count;
	const struct dp_key_doc *k = dp_study_keys(&count);

	for (; count > 0; count--, k++) {
		fputs(".TP\n.B ", stdout);
		man_put(k->path);
		putchar('\n');
		man_put(k->help);
		fputs("\n.br\nType: ", stdout);
		man_put(k->type);
		fputs("; ", stdout);
		man_absent(k->otherwise);
		if (k->change == DP_KEY_LIVE)
			fputs("; may change while the study goes on", stdout);
		fputs(".\n.br\nExample: ", stdout);
		man_put(k->example);
		putchar('\n');
	}
}

static void man_mechanism(const struct dp_mechanism *m)
{
	char rule[DP_PRIVACY_RULE_LEN];

	fputs(".SS ", stdout);
	man_put(m->name);
	putchar('\n');
	man_put(m->summary);
	fputs("\n.PP\nNeighbouring relation: ", stdout);
	man_put(m->relation);
	fputs(".\n.PP\nSource: ", stdout);
	man_put(m->source);
	fputs(".\n", stdout);
	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		fputs(".TP\n.B ", stdout);
		man_put(k->name);
		putchar('\n');
		man_put(k->help);
		fputs("\n.br\nType: ", stdout);
		man_put(dp_privacy_key_rule(k, rule));
		fputs(k->kind == DP_PRIVACY_WORD ? "; " : ", or the name of a parameter; ", stdout);
		fputs(k->unless   ? "needed unless another key stands in its place.\n"
		      : k->needed ? "needed.\n"
		      : k->group  ? "needed, or the other name of it.\n"
				  : "not needed.\n",
		      stdout);
	}
}

static void man_line(const char *text, size_t len)
{
	if (len == strlen("@KEYS@") && memcmp(text, "@KEYS@", len) == 0)
		man_keys();
	else if (len == strlen("@MECHANISMS@") && memcmp(text, "@MECHANISMS@", len) == 0)
		for (size_t i = 0; dp_mechanisms[i]; i++)
			man_mechanism(dp_mechanisms[i]);
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
		man_line(p, (size_t)(end - p));
		if (!*end)
			break;
	}
	dp_buf_free(&page);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
