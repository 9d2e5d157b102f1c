/* section_statements.c - a statement to copy for the recommended point, and in what those of
 * the others differ from it. */
#include "reports/text/report_format.h"

#include <stdio.h>
#include <string.h>

enum {
	STATEMENT_ROWS_MAX = 30, /* rows; more are in report.json only */
	STATEMENT_LABELS_MAX = 8 /* columns, likewise */
};

/* The words before the colon of a line, which say what it is about. */
struct statement_label {
	const char *text;
	size_t len; /* with the colon */
};

/* In which lines the statements of other points differ from that of the first. */
struct statement_labels {
	struct statement_label list[STATEMENT_LABELS_MAX];
	size_t n;
};

static struct statement_label statement_label_of(const char *line)
{
	return (struct statement_label){ line, strcspn(line, ":\n") + 1 };
}

/* The line after this one; the first line of a statement names the point. */
static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

/* The line of a statement that is about this, *n its length; NULL: there is none. */
static const char *statement_find_line(const char *text, struct statement_label kind, size_t *n)
{
	for (; text && *text; text = next_line(text)) {
		*n = strcspn(text, "\n");
		if (*n >= kind.len && strncmp(text, kind.text, kind.len) == 0)
			return text;
	}
	return NULL;
}

static bool same_line(const char *a, size_t n, const char *b, size_t m)
{
	return n == m && strncmp(a, b, n) == 0;
}

static void add_statement_label(struct statement_labels *kinds, struct statement_label kind)
{
	for (size_t i = 0; i < kinds->n; i++)
		if (same_line(kinds->list[i].text, kinds->list[i].len, kind.text, kind.len))
			return;
	if (kinds->n < STATEMENT_LABELS_MAX)
		kinds->list[kinds->n++] = kind;
}

/* Adds what the one has and the other has not, or not so. */
static void add_differing_labels(struct statement_labels *kinds, const char *text,
				 const char *other)
{
	for (text = next_line(text); *text; text = next_line(text)) {
		size_t n = strcspn(text, "\n"), m = 0;
		const char *line = statement_find_line(other, statement_label_of(text), &m);

		if (n && !(line && same_line(text, n, line, m)))
			add_statement_label(kinds, statement_label_of(text));
	}
}

/* What of a line is not as in the model: from the first word that differs to the last
 * one, and a single word after it, such as a unit. */
static void write_line_difference(struct doc *d, const char *line, size_t n, const char *model,
				  size_t m)
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
static void write_statement_cell(struct doc *d, const char *text, struct statement_label kind,
				 const char *taken, const char *first)
{
	size_t n = 0, m = 0;
	const char *line = statement_find_line(text, kind, &n),
		   *model = statement_find_line(taken, kind, &m);

	if (!model)
		model = statement_find_line(first, kind, &m);
	if (!line)
		doc_cell(d, "-");
	else if (!model || model == line)
		doc_cell(d, "%.*s", (int)(n - kind.len - (line[n - 1] == '.')), line + kind.len);
	else if (same_line(line, n, model, m))
		doc_cell(d, "the same");
	else
		write_line_difference(d, line, n, model, m);
}

/* The first statement that has such a line: it is told in full, and serves the rows
 * below. */
static const char *find_statement_with_label(const struct report_point *const *points, size_t n,
					     size_t objective, struct statement_label kind)
{
	size_t ignored;

	for (size_t i = 0; i < n; i++)
		if (statement_find_line(points[i]->objectives[objective].statement, kind, &ignored))
			return points[i]->objectives[objective].statement;
	return NULL;
}

/* Points at even steps of the front but for the one that is told in full. */
static size_t choose_statement_points(const struct report_model *report,
				      const struct report_point *taken, size_t objective,
				      const struct report_point **out)
{
	size_t every = (report->nfront + STATEMENT_ROWS_MAX - 1) / STATEMENT_ROWS_MAX, n = 0;

	for (size_t i = 0; i < report->nfront; i += every)
		if (&report->front[i] != taken && report->front[i].objectives[objective].statement)
			out[n++] = &report->front[i];
	return n;
}

static void statement_table(struct doc *d, const struct report_model *report,
			    const struct report_point *taken, size_t objective)
{
	const struct report_point *points[STATEMENT_ROWS_MAX];
	const char *model = taken->objectives[objective].statement;
	size_t n = choose_statement_points(report, taken, objective, points);
	struct statement_labels kinds = { .n = 0 };

	for (size_t i = 0; i < n; i++) {
		add_differing_labels(&kinds, points[i]->objectives[objective].statement, model);
		add_differing_labels(&kinds, model, points[i]->objectives[objective].statement);
	}
	if (n == 0)
		return;
	doc_table_begin(d);
	doc_caption(d, "In what the statements of other points differ");
	doc_column(d, "trial", true);
	doc_column(d, report->objectives[objective].name, true);
	for (size_t k = 0; k < kinds.n; k++) {
		char title[FORMAT_LEN];

		snprintf(title, sizeof title, "%.*s", (int)kinds.list[k].len - 1,
			 kinds.list[k].text);
		doc_column(d, title, false);
	}
	for (size_t i = 0; i < n; i++) {
		char point[RESULT_NAME_LEN], a[FORMAT_LEN];
		double epsilon = points[i]->objectives[objective].value;

		doc_cell(d, "%s", result_format_name(points[i]->trial, points[i]->at, point));
		doc_cell(d, "%s%s", format_rounded_up(epsilon, a), guarantee_note(epsilon));
		for (size_t k = 0; k < kinds.n; k++)
			write_statement_cell(
				d, points[i]->objectives[objective].statement, kinds.list[k], model,
				find_statement_with_label(points, n, objective, kinds.list[k]));
	}
	doc_table_end(d);
}

/* Where the whole text of any point is. */
static void write_statement_query(struct doc *d, const struct report_model *report,
				  size_t objective)
{
	struct dp_buf command = DP_BUF_INIT;
	const struct report_point *p = &report->front[report->nfront - 1];

	doc_paragraph(d,
		      "%sreport.json has the whole statement of each point, such as "
		      "the last of the front:",
		      report->nfront > STATEMENT_ROWS_MAX ? "Some points are left out. " : "");
	dp_buf_printf(&command,
		      "jq -r '.front[] | select(.trial == %lld and .at == ", (long long)p->trial);
	if (p->at < 0)
		dp_buf_puts(&command, "null");
	else
		dp_buf_printf(&command, "%lld", (long long)p->at);
	dp_buf_printf(&command, ") | .statements[\"%s\"]' report.json",
		      report->objectives[objective].name);
	doc_code(d, "sh", dp_buf_text(&command));
	dp_buf_free(&command);
}

void write_statements(struct doc *d, const struct report_model *report)
{
	const struct report_point *taken;

	if (report->nfront == 0 || report->nprivacy == 0)
		return;
	taken = report->recommendation && report->recommendation->recommended
			? report->recommendation->recommended->point
			: &report->front[0];
	doc_folded_section(d, "statements", "Statements to copy", "Statements",
			   "what may be said of one training");
	for (size_t k = 0; k < report->nobjectives; k++) {
		if (!taken->objectives[k].statement)
			continue;
		doc_code(d, "text", taken->objectives[k].statement);
		if (report->nfront == 1)
			continue;
		doc_paragraph(d, "Of other points the same can be said, but for their "
				 "number, their epsilon, and these words:");
		statement_table(d, report, taken, k);
		write_statement_query(d, report, k);
	}
}
