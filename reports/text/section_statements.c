/* section_statements.c - section: the privacy statement of the recommended point, and how other
 * points differ. */
#include "reports/text/sections.h"

#include <stdio.h>
#include <string.h>

enum {
	STATEMENT_ROWS_MAX = 30, /* rows; report.json has all */
	STATEMENT_LABELS_MAX = 8 /* columns, likewise */
};

/* The words before the colon of a line: its label. */
struct statement_label {
	const char *text;
	size_t len; /* includes the colon */
};

/* Labels of the lines that differ from the first point's statement. */
struct statement_labels {
	struct statement_label list[STATEMENT_LABELS_MAX];
	size_t n;
};

static struct statement_label statement_label_of(const char *line)
{
	return (struct statement_label){ line, strcspn(line, ":\n") + 1 };
}

/* The next line. The first line of a statement names the point. */
static const char *next_line(const char *text)
{
	text += strcspn(text, "\n");
	return *text ? text + 1 : text;
}

/* The line with this label and its length *n, or NULL. */
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

/* Adds labels of lines that `other` lacks or has with another text. */
static void add_differing_labels(struct statement_labels *kinds, const char *text,
				 const char *other)
{
	for (text = next_line(text); *text; text = next_line(text)) {
		struct statement_label kind = statement_label_of(text);
		size_t n = strcspn(text, "\n"), m = 0;
		const char *line = statement_find_line(other, kind, &m);
		bool known = n == 0 || (line && same_line(text, n, line, m));

		for (size_t i = 0; !known && i < kinds->n; i++)
			known = same_line(kinds->list[i].text, kinds->list[i].len, kind.text,
					  kind.len);
		if (!known && kinds->n < STATEMENT_LABELS_MAX)
			kinds->list[kinds->n++] = kind;
	}
}

/* Writes the part of a line that differs from the model: first to last differing word, and one more
 * word, such as a unit. */
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

/* A table cell: the difference of this line from the first statement that has it. */
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

struct statement_rows {
	const char *objective;
	const json_t *points[STATEMENT_ROWS_MAX];
	size_t n;
};

static const char *point_statement(const json_t *point, const char *objective)
{
	return optional_text(get_json(point, "statements"), objective);
}

/* The first statement that has this line. Its line is shown in full, and later rows show
 * differences from it. */
static const char *find_statement_with_label(const struct statement_rows *rows,
					     struct statement_label kind)
{
	size_t ignored;

	for (size_t i = 0; i < rows->n; i++) {
		const char *text = point_statement(rows->points[i], rows->objective);

		if (statement_find_line(text, kind, &ignored))
			return text;
	}
	return NULL;
}

/* Shows `taken` in full, and other points at even steps along the front. */
static void statement_table(struct doc *d, const json_t *front, const json_t *taken,
			    const char *objective)
{
	size_t every = (json_array_size(front) + STATEMENT_ROWS_MAX - 1) / STATEMENT_ROWS_MAX;
	struct statement_rows rows = { .objective = objective };
	const char *model = point_statement(taken, objective);
	struct statement_labels kinds = { .n = 0 };

	for (size_t i = 0; i < json_array_size(front); i += every) {
		const json_t *point = json_array_get(front, i);
		const char *text = point_statement(point, objective);

		if (point == taken || !text)
			continue;
		rows.points[rows.n++] = point;
		add_differing_labels(&kinds, text, model);
		add_differing_labels(&kinds, model, text);
	}
	if (rows.n == 0)
		return;
	doc_table_begin(d, "In what the statements of other points differ");
	doc_column(d, "trial", true);
	doc_column(d, objective, true);
	for (size_t k = 0; k < kinds.n; k++) {
		char title[FORMAT_LEN];

		snprintf(title, sizeof title, "%.*s", (int)kinds.list[k].len - 1,
			 kinds.list[k].text);
		doc_column(d, title, false);
	}
	for (size_t i = 0; i < rows.n; i++) {
		const json_t *point = rows.points[i];
		double epsilon = get_number(get_json(point, "objectives"), objective);
		char name[RESULT_NAME_LEN], a[FORMAT_LEN];

		doc_cell(d, "%s", point_name(point, name));
		doc_cell(d, "%s%s", format_rounded_up(epsilon, a), guarantee_note(epsilon));
		for (size_t k = 0; k < kinds.n; k++)
			write_statement_cell(d, point_statement(point, objective), kinds.list[k],
					     model,
					     find_statement_with_label(&rows, kinds.list[k]));
	}
	doc_table_end(d);
}

/* Says where to find the full statement of any point. */
static void write_statement_query(struct doc *d, const json_t *front, const char *objective)
{
	size_t n = json_array_size(front);
	const json_t *last = json_array_get(front, n - 1);
	struct dp_buf command = DP_BUF_INIT;

	doc_paragraph(d,
		      "%sreport.json has the whole statement of each point, such as "
		      "the last of the front:",
		      n > STATEMENT_ROWS_MAX ? "Some points are left out. " : "");
	dp_buf_printf(&command, "jq -r '.front[] | select(.trial == %lld and .at == ",
		      (long long)get_count(last, "trial"));
	if (get_json(last, "at"))
		dp_buf_printf(&command, "%lld", (long long)get_count(last, "at"));
	else
		dp_buf_puts(&command, "null");
	dp_buf_printf(&command, ") | .statements[\"%s\"]' report.json", objective);
	doc_code(d, "sh", dp_buf_text(&command));
	dp_buf_free(&command);
}

void write_statements(struct doc *d, const struct report_model *report)
{
	const struct report_recommendation *r = report->recommendation;
	const json_t *front = get_json(report->json, "front"), *taken, *mechanism;
	size_t i;

	if (json_array_size(front) == 0 || json_array_size(get_json(report->json, "privacy")) == 0)
		return;
	taken = r && r->recommended ? r->recommended->point : json_array_get(front, 0);
	doc_folded_section(d, "statements", "Statements to copy", "Statements",
			   "what may be said of one training");
	json_array_foreach (get_json(report->json, "privacy"), i, mechanism) {
		const char *objective = get_text(mechanism, "objective");
		const char *text = point_statement(taken, objective);

		if (!text)
			continue;
		doc_code(d, "text", text);
		if (json_array_size(front) == 1)
			continue;
		doc_paragraph(d, "Of other points the same can be said, but for their "
				 "number, their epsilon, and these words:");
		statement_table(d, front, taken, objective);
		write_statement_query(d, front, objective);
	}
}
