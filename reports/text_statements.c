/* text_statements.c - a statement to copy for the recommended point, and in what those of
 * the others differ from it. */
#include "reports/words.h"

#include <stdio.h>
#include <string.h>

enum {
	STATEMENTS_MAX = 30, /* rows; more are in report.json only */
};

/* The line of a statement that begins as this one does, up to its colon; *n gets its
 * length. NULL: there is none. */
static const char *line_like(const char *text, const char *line, size_t *n)
{
	size_t kind = strcspn(line, ":\n") + 1;

	while (text && *text) {
		*n = strcspn(text, "\n");
		if (*n >= kind && strncmp(text, line, kind) == 0)
			return text;
		text += *n + (text[*n] == '\n');
	}
	return NULL;
}

static size_t next_word(const char *line, size_t n, size_t at)
{
	while (at < n && line[at] != ' ')
		at++;
	return at;
}

/* The words of a line in the place of others of the model, each after "..."; false where
 * the lines are not made alike. */
static bool words_apart(const char *line, size_t n, const char *model, size_t m,
			struct dp_buf *out)
{
	size_t i = 0, k = 0, from = out->len;

	while (i < n && k < m) {
		size_t a = next_word(line, n, i), b = next_word(model, m, k);

		if (a - i != b - k || strncmp(line + i, model + k, a - i) != 0) {
			dp_buf_puts(out, " \u2026 ");
			dp_buf_add(out, line + i, a - i - (line[a - 1] == '.'));
		}
		i = a + 1;
		k = b + 1;
	}
	if (i >= n && k >= m && out->len - from < n)
		return true;
	out->len = from;
	if (out->data)
		out->data[from] = '\0';
	return false;
}

/* In what a statement differs from the models, but for its first line, which names the
 * point: a line that the first model has not is told by the second. */
static void lines_apart(const char *text, const char *const models[2], struct dp_buf *out)
{
	text += strcspn(text, "\n");
	while (*text) {
		size_t n = strcspn(++text, "\n"), m = 0;
		const char *model = line_like(models[0], text, &m);

		if (!model)
			model = line_like(models[1], text, &m);
		if (n && !(model && m == n && strncmp(model, text, n) == 0)) {
			size_t kind = strcspn(text, ":\n");

			if (out->len)
				dp_buf_puts(out, "; ");
			dp_buf_add(out, text, kind);
			if (!model || !words_apart(text, n, model, m, out))
				dp_buf_add(out, text + kind,
					   n - kind - (text[n - 1] == '.'));
		}
		text += n;
	}
}

static void statement_row(struct doc *d, const struct fact_point *p, size_t objective,
			  const char *const models[2])
{
	struct dp_buf apart = DP_BUF_INIT, settings = DP_BUF_INIT;
	char point[POINT_TEXT_LEN], a[SHORT_LEN];
	double epsilon = p->of[objective].value;

	lines_apart(p->of[objective].statement, models, &apart);
	settings_text(p->parameters, &settings);
	doc_cell(d, "%s", point_text(p->trial, p->at, point));
	doc_cell(d, "%s%s", up_text(epsilon, a), no_guarantee(epsilon));
	doc_cell(d, "%s", dp_buf_text(&settings));
	doc_cell(d, "%s", apart.len ? dp_buf_text(&apart) : "nothing");
	dp_buf_free(&apart);
	dp_buf_free(&settings);
}

static void statement_table(struct doc *d, const struct facts *f,
			    const struct fact_point *taken, size_t objective)
{
	const char *models[2] = { taken->of[objective].statement, NULL };
	size_t every = (f->nfront + STATEMENTS_MAX - 1) / STATEMENTS_MAX, rows = 0;

	doc_table(d);
	doc_caption(d, "In what the statements of other points differ");
	doc_column(d, "trial", true);
	doc_column(d, f->objectives[objective].name, true);
	doc_column(d, "settings", false);
	doc_column(d, "says instead", false);
	for (size_t i = 0; i < f->nfront; i++) {
		const struct fact_point *p = &f->front[i];

		if (i % every != 0 || p == taken || !p->of[objective].statement)
			continue;
		statement_row(d, p, objective, models);
		/* what is told in full once serves those below */
		if (!models[1])
			models[1] = p->of[objective].statement;
		rows++;
	}
	if (rows)
		doc_table_end(d);
}

/* Where the whole text of any point is. */
static void say_where(struct doc *d, const struct facts *f, size_t objective)
{
	struct dp_buf command = DP_BUF_INIT;
	const struct fact_point *p = &f->front[f->nfront - 1];

	doc_paragraph(d,
		      "%sreport.json has the whole statement of each point, such as "
		      "the last of the front:",
		      f->nfront > STATEMENTS_MAX ? "Some points are left out. " : "");
	dp_buf_printf(&command, "jq -r '.front[] | select(.trial == %lld and .at == ",
		      (long long)p->trial);
	if (p->at < 0)
		dp_buf_puts(&command, "null");
	else
		dp_buf_printf(&command, "%lld", (long long)p->at);
	dp_buf_printf(&command, ") | .statements[\"%s\"]' report.json",
		      f->objectives[objective].name);
	doc_code(d, "sh", dp_buf_text(&command));
	dp_buf_free(&command);
}

void write_statements(struct doc *d, const struct facts *f)
{
	const struct fact_point *taken;

	if (f->nfront == 0 || f->nprivacy == 0)
		return;
	taken = f->recommendation && f->recommendation->taken
			? f->recommendation->taken->point
			: &f->front[0];
	doc_fold(d, "statements", "Statements to copy", "Statements",
		 "what may be said of one training");
	for (size_t k = 0; k < f->nobjectives; k++) {
		if (!taken->of[k].statement)
			continue;
		doc_code(d, "text", taken->of[k].statement);
		if (f->nfront == 1)
			continue;
		doc_paragraph(d, "Of other points the same can be said, but for their "
				 "number, their epsilon, and these words in the place of "
				 "others:");
		statement_table(d, f, taken, k);
		say_where(d, f, k);
	}
}
