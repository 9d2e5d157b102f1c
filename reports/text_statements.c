/* text_statements.c - a statement to copy for the recommended point, and in what those of
 * the others differ from it. */
#include "reports/words.h"

#include <stdio.h>
#include <string.h>

enum {
	STATEMENTS_MAX = 30, /* rows; more are in report.json only */
	KINDS_MAX = 8        /* columns, likewise */
};

/* The words before the colon of a line, which say what it is about. */
struct line_kind {
	const char *text;
	size_t n; /* with the colon */
};

/* In which lines the statements of other points differ from that of the first. */
struct line_kinds {
	struct line_kind list[KINDS_MAX];
	size_t n;
};

static struct line_kind kind_of(const char *line)
{
	return (struct line_kind){ line, strcspn(line, ":\n") + 1 };
}

/* The line after this one; the first line of a statement names the point. */
static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

/* The line of a statement that is about this, *n its length; NULL: there is none. */
static const char *line_of(const char *text, struct line_kind kind, size_t *n)
{
	for (; text && *text; text = next_line(text)) {
		*n = strcspn(text, "\n");
		if (*n >= kind.n && strncmp(text, kind.text, kind.n) == 0)
			return text;
	}
	return NULL;
}

static bool same_line(const char *a, size_t n, const char *b, size_t m)
{
	return n == m && strncmp(a, b, n) == 0;
}

static void add_kind(struct line_kinds *kinds, struct line_kind kind)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (same_line(kinds->list[i].text, kinds->list[i].n, kind.text, kind.n))
			return;
	if (kinds->n < KINDS_MAX)
		kinds->list[kinds->n++] = kind;
}

/* Adds what the one has and the other has not, or not so. */
static void add_kinds(struct line_kinds *kinds, const char *text, const char *other)
{
	for (text = next_line(text); *text; text = next_line(text)) {
		size_t n = strcspn(text, "\n"), m = 0;
		const char *line = line_of(other, kind_of(text), &m);

		if (n && !(line && same_line(text, n, line, m)))
			add_kind(kinds, kind_of(text));
	}
}

/* What of a line is not as in the model: from the first word that differs to the last
 * one, and a single word after it, such as a unit. */
static void put_apart(struct doc *d, const char *line, size_t n, const char *model, size_t m)
{
	size_t from = 0, end = 0, least = n < m ? n : m, next;

	while (from < least && line[from] == model[from])
		from++;
	while (from > 0 && line[from - 1] != ' ')
		from--;
	while (end < least - from && line[n - 1 - end] == model[m - 1 - end])
		end++;
	end = n - end;
	end += strcspn(line + end, " \n");
	next = end < n ? end + 1 + strcspn(line + end + 1, " \n") : end;
	end = next == n ? n : end;
	end -= end > from && strchr(".;", line[end - 1]) != NULL;
	doc_cell(d, "%.*s", (int)(end - from), line + from);
}

/* A line of a statement: what of it is not as in the first statement that has it. */
static void line_cell(struct doc *d, const char *text, struct line_kind kind, const char *taken,
		      const char *first)
{
	size_t n = 0, m = 0;
	const char *line = line_of(text, kind, &n), *model = line_of(taken, kind, &m);

	if (!model)
		model = line_of(first, kind, &m);
	if (!line)
		doc_cell(d, "-");
	else if (!model || model == line)
		doc_cell(d, "%.*s", (int)(n - kind.n - (line[n - 1] == '.')), line + kind.n);
	else if (same_line(line, n, model, m))
		doc_cell(d, "the same");
	else
		put_apart(d, line, n, model, m);
}

/* The first statement that has such a line: it is told in full, and serves the rows
 * below. */
static const char *first_with(const struct fact_point *const *points, size_t n, size_t objective,
			      struct line_kind kind)
{
	size_t ignored;

	for (size_t i = 0; i < n; i++)
		if (line_of(points[i]->of[objective].statement, kind, &ignored))
			return points[i]->of[objective].statement;
	return NULL;
}

/* Points at even steps of the front but for the one that is told in full. */
static size_t find_stated(const struct facts *f, const struct fact_point *taken, size_t objective,
			  const struct fact_point **out)
{
	size_t every = (f->nfront + STATEMENTS_MAX - 1) / STATEMENTS_MAX, n = 0;

	for (size_t i = 0; i < f->nfront; i += every)
		if (&f->front[i] != taken && f->front[i].of[objective].statement)
			out[n++] = &f->front[i];
	return n;
}

static void statement_table(struct doc *d, const struct facts *f, const struct fact_point *taken,
			    size_t objective)
{
	const struct fact_point *points[STATEMENTS_MAX];
	const char *model = taken->of[objective].statement;
	size_t n = find_stated(f, taken, objective, points);
	struct line_kinds kinds = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		add_kinds(&kinds, points[i]->of[objective].statement, model);
		add_kinds(&kinds, model, points[i]->of[objective].statement);
	}
	if (n == 0)
		return;
	doc_table(d);
	doc_caption(d, "In what the statements of other points differ");
	doc_column(d, "trial", true);
	doc_column(d, f->objectives[objective].name, true);
	for (size_t k = 0; k < kinds.n; k++) {
		char title[SHORT_LEN];

		snprintf(title, sizeof title, "%.*s", (int)kinds.list[k].n - 1, kinds.list[k].text);
		doc_column(d, title, false);
	}
	for (size_t i = 0; i < n; i++) {
		char point[POINT_TEXT_LEN], a[SHORT_LEN];
		double epsilon = points[i]->of[objective].value;

		doc_cell(d, "%s", point_text(points[i]->trial, points[i]->at, point));
		doc_cell(d, "%s%s", up_text(epsilon, a), no_guarantee(epsilon));
		for (size_t k = 0; k < kinds.n; k++)
			line_cell(d, points[i]->of[objective].statement, kinds.list[k], model,
				  first_with(points, n, objective, kinds.list[k]));
	}
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
	dp_buf_printf(&command,
		      "jq -r '.front[] | select(.trial == %lld and .at == ", (long long)p->trial);
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
	taken = f->recommendation && f->recommendation->taken ? f->recommendation->taken->point
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
				 "number, their epsilon, and these words:");
		statement_table(d, f, taken, k);
		say_where(d, f, k);
	}
}
