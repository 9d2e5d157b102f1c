/* text_statements.c - a statement to copy for the recommended point, and in what those of
 * the others differ from it. */
#include "reports/words.h"

#include <stdio.h>
#include <string.h>

enum {
	STATEMENTS_MAX = 100, /* rows; more are in report.json only */
};

static bool has_line(const char *text, const char *line, size_t n)
{
	while (text && *text) {
		size_t m = strcspn(text, "\n");

		if (m == n && strncmp(text, line, n) == 0)
			return true;
		text += m + (text[m] == '\n');
	}
	return false;
}

/* The lines of a statement that another has not, but the first, which names the point. */
static void lines_apart(const char *text, const char *other, struct dp_buf *out)
{
	text += strcspn(text, "\n");
	while (*text) {
		size_t n = strcspn(++text, "\n");

		if (n && !has_line(other, text, n)) {
			if (out->len)
				dp_buf_putc(out, ' ');
			dp_buf_add(out, text, n);
		}
		text += n;
	}
}

static void statement_row(struct doc *d, const struct facts *f,
			  const struct fact_point *p, size_t objective,
			  const char *model)
{
	struct dp_buf apart = DP_BUF_INIT, settings = DP_BUF_INIT;
	char point[POINT_TEXT_LEN], a[SHORT_LEN];
	double epsilon = p->of[objective].value;

	(void)f;
	lines_apart(p->of[objective].statement, model, &apart);
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
	size_t rows = 0;

	doc_table(d);
	doc_caption(d, "In what the statements of other points differ");
	doc_column(d, "trial", true);
	doc_column(d, f->objectives[objective].name, true);
	doc_column(d, "settings", false);
	doc_column(d, "says instead", false);
	for (size_t i = 0; i < f->nfront && rows < STATEMENTS_MAX; i++) {
		const struct fact_point *p = &f->front[i];

		if (p == taken || !p->of[objective].statement)
			continue;
		statement_row(d, f, p, objective, taken->of[objective].statement);
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

	doc_paragraph(d, "report.json has the whole statement of each point, such as the "
			 "last of the front:");
	dp_buf_printf(&command, "jq -r '.front[] | select(.trial == %lld and .at == ",
		      (long long)p->trial);
	if (p->at < 0)
		dp_buf_puts(&command, "null");
	else
		dp_buf_printf(&command, "%lld", (long long)p->at);
	dp_buf_printf(&command, ") | .statements.%s' report.json",
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
				 "number, their epsilon and what stands here:");
		statement_table(d, f, taken, k);
		say_where(d, f, k);
	}
}
