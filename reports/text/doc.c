/* doc.c - build a document and write it as Markdown or HTML. */
#include "reports/text/doc.h"

#include "base/utf8.h"

#include <cmark.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct text_list {
	char **items; /* sanitised */
	size_t n, capacity;
};

struct doc {
	enum doc_format form;
	cmark_node *root;
	cmark_node *parent; /* parent of new blocks */
	cmark_node *list;   /* the list, if it is the last block */
	struct dp_buf contents;
	/* the current table */
	char *caption; /* NULL: none */
	struct text_list columns, cells;
	struct text_list row_ids; /* ids of rows, "" for none; may be shorter than the table */
	bool *is_number;          /* (titles.n) */
};

struct doc *doc_new(enum doc_format form)
{
	struct doc *d = dp_calloc(1, sizeof *d);

	d->form = form;
	d->root = d->parent = cmark_node_new(CMARK_NODE_DOCUMENT);
	return d;
}

static void text_list_clear(struct text_list *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->items[i]);
	free(c->items);
	*c = (struct text_list){ 0 };
}

static void clear_table(struct doc *d)
{
	text_list_clear(&d->columns);
	text_list_clear(&d->cells);
	text_list_clear(&d->row_ids);
	free(d->is_number);
	d->is_number = NULL;
	free(d->caption);
	d->caption = NULL;
}

void doc_free(struct doc *d)
{
	if (!d)
		return;
	clear_table(d);
	dp_buf_free(&d->contents);
	cmark_node_free(d->root);
	free(d);
}

void doc_render(struct doc *d, struct dp_buf *out)
{
	char *text = d->form == DOC_HTML ? cmark_render_html(d->root, CMARK_OPT_UNSAFE)
					 : cmark_render_commonmark(d->root, 0, 0);

	dp_buf_puts(out, text);
	free(text);
}

void doc_contents(const struct doc *d, struct dp_buf *out)
{
	dp_buf_puts(out, dp_buf_text(&d->contents));
}

/* ---- text ---- */

/* Returns valid UTF-8 without control characters; the caller frees it. Collapses white space as
 * Markdown would; `lines` keeps newlines and tabs. */
static char *doc_clean(const char *text, bool lines)
{
	const char *s = text, *end = text + strlen(text);
	struct dp_buf out = DP_BUF_INIT;

	while (*s) {
		uint32_t c = 0;
		size_t n = dp_utf8_decode(s, (size_t)(end - s), &c);

		if (n == 0)
			dp_buf_puts(&out, "\xef\xbf\xbd");
		else if (lines && (c == '\n' || c == '\t'))
			dp_buf_putc(&out, (char)c);
		else if (c == ' ' || c == '\n' || c == '\t') {
			if (lines || (out.len && out.data[out.len - 1] != ' '))
				dp_buf_putc(&out, ' ');
		} else if (dp_utf8_is_control(c))
			dp_buf_puts(&out, "\xef\xbf\xbd");
		else
			dp_buf_add(&out, s, n);
		s += n ? n : 1;
	}
	while (!lines && out.len && out.data[out.len - 1] == ' ')
		out.data[--out.len] = '\0';
	dp_buf_puts(&out, "");
	return dp_buf_detach(&out);
}

DP_PRINTF(1, 0)
static char *doc_format(const char *fmt, va_list ap)
{
	char *text = dp_vasprintf(fmt, ap), *cleaned = doc_clean(text, false);

	free(text);
	return cleaned;
}

/* Escapes text for HTML. A no-break space keeps a number and its percent sign together, as in
 * add_text(). */
static void html_escape_text(struct dp_buf *out, const char *text)
{
	const char *percent;

	while ((percent = strstr(text, " %")) != NULL) {
		char *piece = dp_strndup(text, (size_t)(percent - text));

		dp_buf_add_xml_escaped(out, piece);
		dp_buf_puts(out, "\xc2\xa0");
		free(piece);
		text = percent + 1;
	}
	dp_buf_add_xml_escaped(out, text);
}

void doc_html_text(struct dp_buf *out, const char *text)
{
	char *cleaned = doc_clean(text, false);

	html_escape_text(out, cleaned);
	free(cleaned);
}

/* ---- blocks ---- */

static cmark_node *doc_add(cmark_node *parent, cmark_node_type type)
{
	cmark_node *n = cmark_node_new(type);

	cmark_node_append_child(parent, n);
	return n;
}

static cmark_node *doc_block(struct doc *d, cmark_node_type type)
{
	d->list = NULL;
	return doc_add(d->parent, type);
}

static void doc_piece(cmark_node *parent, const char *text, size_t n)
{
	char *piece = dp_strndup(text, n);

	if (n)
		cmark_node_set_literal(doc_add(parent, CMARK_NODE_TEXT), piece);
	free(piece);
}

/* cmark's own escaping misses '~', which can open a code block or strike text out, and '$', which
 * some readers take for mathematics. */
static void add_text(const struct doc *d, cmark_node *parent, const char *cleaned)
{
	char escaped[] = "\\?";
	const char *percent;

	while (d->form == DOC_MARKDOWN && cleaned[strcspn(cleaned, "~$")]) {
		size_t n = strcspn(cleaned, "~$");

		doc_piece(parent, cleaned, n);
		escaped[1] = cleaned[n];
		cmark_node_set_on_enter(doc_add(parent, CMARK_NODE_CUSTOM_INLINE), escaped);
		cleaned += n + 1;
	}
	/* in HTML a no-break space keeps a number and its percent sign together */
	while (d->form == DOC_HTML && (percent = strstr(cleaned, " %")) != NULL) {
		doc_piece(parent, cleaned, (size_t)(percent - cleaned));
		doc_piece(parent, "\xc2\xa0", 2);
		cleaned = percent + 1;
	}
	doc_piece(parent, cleaned, strlen(cleaned));
}

static void doc_heading_at(struct doc *d, int level, const char *title)
{
	cmark_node *h = doc_block(d, CMARK_NODE_HEADING);
	char *cleaned = doc_clean(title, false);

	cmark_node_set_heading_level(h, level);
	add_text(d, h, cleaned);
	free(cleaned);
}

void doc_title(struct doc *d, const char *title)
{
	d->parent = d->root;
	doc_heading_at(d, 1, title);
}

/* Opens an HTML block for what follows. No effect in Markdown. */
static void doc_open_html_block(struct doc *d, const char *open, const char *close)
{
	if (d->form != DOC_HTML)
		return;
	d->parent = doc_block(d, CMARK_NODE_CUSTOM_BLOCK);
	cmark_node_set_on_enter(d->parent, open);
	cmark_node_set_on_exit(d->parent, close);
}

void doc_section(struct doc *d, const char *id, const char *title)
{
	char open[80];

	d->parent = d->root;
	snprintf(open, sizeof open, "<section id=\"%s\">", id);
	doc_open_html_block(d, open, "</section>");
	doc_heading_at(d, 2, title);
}

void doc_folded_section(struct doc *d, const char *id, const char *title, const char *brief,
			const char *about)
{
	struct dp_buf open = DP_BUF_INIT;

	d->parent = d->root;
	if (d->form != DOC_HTML) {
		doc_heading_at(d, 2, title);
		return;
	}
	dp_buf_puts(&open, "<details><summary><h2>");
	doc_html_text(&open, title);
	dp_buf_puts(&open, "</h2> <span>");
	doc_html_text(&open, about);
	/* the link target is inside the fold: browsers open a fold around their target */
	dp_buf_printf(&open, "</span></summary>\n<div class=\"fold\" id=\"%s\">", id);
	doc_open_html_block(d, dp_buf_text(&open), "</div></details>");
	dp_buf_free(&open);
	dp_buf_printf(&d->contents, "<a href=\"#%s\">", id);
	doc_html_text(&d->contents, brief);
	dp_buf_puts(&d->contents, "</a>\n");
}

void doc_folded_box(struct doc *d, const char *title)
{
	struct dp_buf open = DP_BUF_INIT;

	if (d->form != DOC_HTML) {
		doc_paragraph(d, "%s:", title);
		return;
	}
	dp_buf_puts(&open, "<details class=\"small\"><summary>");
	doc_html_text(&open, title);
	dp_buf_puts(&open, "</summary>");
	doc_open_html_block(d, dp_buf_text(&open), "</details>");
	dp_buf_free(&open);
}

void doc_box(struct doc *d, const char *name)
{
	char open[80];

	snprintf(open, sizeof open, "<div class=\"%s\">", name);
	doc_open_html_block(d, open, "</div>");
}

void doc_box_end(struct doc *d)
{
	d->list = NULL;
	if (d->form == DOC_HTML && d->parent != d->root)
		d->parent = cmark_node_parent(d->parent);
}

void doc_heading(struct doc *d, const char *title)
{
	doc_heading_at(d, 3, title);
}

DP_PRINTF(3, 0)
static void doc_add_paragraph(struct doc *d, cmark_node *parent, const char *fmt, va_list ap)
{
	char *text = doc_format(fmt, ap);

	add_text(d, doc_add(parent, CMARK_NODE_PARAGRAPH), text);
	free(text);
}

void doc_paragraph(struct doc *d, const char *fmt, ...)
{
	va_list ap;

	d->list = NULL;
	va_start(ap, fmt);
	doc_add_paragraph(d, d->parent, fmt, ap);
	va_end(ap);
}

void doc_warning(struct doc *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doc_add_paragraph(d, doc_block(d, CMARK_NODE_BLOCK_QUOTE), fmt, ap);
	va_end(ap);
}

static cmark_node *doc_list_item(struct doc *d)
{
	if (!d->list) {
		d->list = doc_add(d->parent, CMARK_NODE_LIST);
		cmark_node_set_list_type(d->list, CMARK_BULLET_LIST);
		cmark_node_set_list_tight(d->list, 1);
	}
	return doc_add(d->list, CMARK_NODE_ITEM);
}

void doc_item(struct doc *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	doc_add_paragraph(d, doc_list_item(d), fmt, ap);
	va_end(ap);
}

void doc_labelled_item(struct doc *d, const char *what, const char *fmt, ...)
{
	cmark_node *p = doc_add(doc_list_item(d), CMARK_NODE_PARAGRAPH);
	char *name = doc_clean(what, false), *text;
	va_list ap;

	va_start(ap, fmt);
	text = doc_format(fmt, ap);
	va_end(ap);
	add_text(d, doc_add(p, CMARK_NODE_STRONG), name);
	add_text(d, p, ": ");
	add_text(d, p, text);
	free(name);
	free(text);
}

void doc_code(struct doc *d, const char *language, const char *text)
{
	cmark_node *n = doc_block(d, CMARK_NODE_CODE_BLOCK);
	char *cleaned = doc_clean(text, true);
	struct dp_buf lines = DP_BUF_INIT;

	dp_buf_puts(&lines, cleaned);
	if (lines.len == 0 || lines.data[lines.len - 1] != '\n')
		dp_buf_putc(&lines, '\n');
	cmark_node_set_fence_info(n, language);
	cmark_node_set_literal(n, dp_buf_text(&lines));
	dp_buf_free(&lines);
	free(cleaned);
}

/* Adds markup that we generated, in either form. */
static void doc_raw(struct doc *d, struct dp_buf *text)
{
	cmark_node *n = doc_block(d, CMARK_NODE_CUSTOM_BLOCK);

	cmark_node_set_on_enter(n, dp_buf_text(text));
	dp_buf_free(text);
}

/* ---- badges ---- */

void doc_badges(struct doc *d, const struct doc_badge *list, size_t n)
{
	static const char *const class[] = { [DOC_BADGE_NEUTRAL] = "badge",
					     [DOC_BADGE_GOOD] = "badge good",
					     [DOC_BADGE_BAD] = "badge bad" };
	struct dp_buf out = DP_BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		if (d->form != DOC_HTML) {
			dp_buf_printf(&out, "%s%s", i ? "; " : "", list[i].text);
			continue;
		}
		dp_buf_printf(&out, "%s<span class=\"%s\">", i ? " " : "<p class=\"badges\">",
			      class[list[i].tone]);
		doc_html_text(&out, list[i].text);
		dp_buf_puts(&out, "</span>");
	}
	if (d->form == DOC_HTML) {
		dp_buf_puts(&out, "</p>");
		doc_raw(d, &out);
		return;
	}
	doc_paragraph(d, "%s.", dp_buf_text(&out));
	dp_buf_free(&out);
}

/* ---- tables ---- */

static void text_list_take(struct text_list *c, char *text)
{
	if (c->n == c->capacity) {
		c->capacity = c->capacity ? 2 * c->capacity : 16;
		c->items = dp_reallocarray(c->items, c->capacity, sizeof *c->items);
	}
	c->items[c->n++] = text;
}

void doc_table_begin(struct doc *d, const char *caption)
{
	clear_table(d);
	d->caption = caption ? doc_clean(caption, false) : NULL;
}

void doc_table_row_id(struct doc *d, const char *id)
{
	size_t row = d->columns.n ? d->cells.n / d->columns.n : 0;

	while (d->row_ids.n < row)
		text_list_take(&d->row_ids, doc_clean("", false));
	text_list_take(&d->row_ids, doc_clean(id, false));
}

void doc_column(struct doc *d, const char *title, bool number)
{
	d->is_number = dp_reallocarray(d->is_number, d->columns.n + 1, sizeof *d->is_number);
	d->is_number[d->columns.n] = number;
	text_list_take(&d->columns, doc_clean(title, false));
}

static void add_columns(struct doc *d, bool number, const char *title, va_list ap)
{
	for (; title; title = va_arg(ap, const char *))
		doc_column(d, title, number);
}

void doc_text_columns(struct doc *d, const char *title, ...)
{
	va_list ap;

	va_start(ap, title);
	add_columns(d, false, title, ap);
	va_end(ap);
}

void doc_number_columns(struct doc *d, const char *title, ...)
{
	va_list ap;

	va_start(ap, title);
	add_columns(d, true, title, ap);
	va_end(ap);
}

void doc_cell(struct doc *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text_list_take(&d->cells, doc_format(fmt, ap));
	va_end(ap);
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(" .,+-%()=:/", *text))
			return false;
	return true;
}

/* A cell as cmark would write it in a paragraph, with '|' escaped. */
static void markdown_cell(const struct doc *d, struct dp_buf *out, const char *text)
{
	cmark_node *p;
	char *rendered;

	if (is_plain(text)) {
		dp_buf_puts(out, text);
		return;
	}
	p = cmark_node_new(CMARK_NODE_PARAGRAPH);
	add_text(d, p, text);
	rendered = cmark_render_commonmark(p, 0, 0);
	for (const char *c = rendered; *c && *c != '\n'; c++) {
		if (*c == '|')
			dp_buf_putc(out, '\\');
		dp_buf_putc(out, *c);
	}
	free(rendered);
	cmark_node_free(p);
}

static void markdown_row(const struct doc *d, struct dp_buf *out, char *const *cells)
{
	dp_buf_putc(out, '|');
	for (size_t i = 0; i < d->columns.n; i++) {
		dp_buf_putc(out, ' ');
		markdown_cell(d, out, cells[i]);
		dp_buf_puts(out, " |");
	}
	dp_buf_putc(out, '\n');
}

static void html_table(const struct doc *d, struct dp_buf *out)
{
	size_t n = d->columns.n;

	/* tabindex: keyboards can scroll it */
	dp_buf_puts(out, "<div class=\"table\" tabindex=\"0\"><table>\n");
	if (d->caption) {
		dp_buf_puts(out, "<caption>");
		html_escape_text(out, d->caption);
		dp_buf_puts(out, "</caption>\n");
	}
	dp_buf_puts(out, "<thead><tr>");
	for (size_t i = 0; i < n; i++) {
		dp_buf_printf(out, "<th scope=\"col\"%s>", d->is_number[i] ? " class=\"n\"" : "");
		html_escape_text(out, d->columns.items[i]);
		dp_buf_puts(out, "</th>");
	}
	dp_buf_puts(out, "</tr></thead>\n<tbody>\n");
	for (size_t row = 0; row < d->cells.n / n; row++) {
		const char *id = row < d->row_ids.n ? d->row_ids.items[row] : "";

		dp_buf_puts(out, *id ? "<tr id=\"" : "<tr");
		dp_buf_add_xml_escaped(out, id);
		dp_buf_puts(out, *id ? "\">" : ">");
		for (size_t i = 0; i < n; i++) {
			dp_buf_printf(out, "<%s%s>", i ? "td" : "th scope=\"row\"",
				      d->is_number[i] ? " class=\"n\"" : "");
			html_escape_text(out, d->cells.items[row * n + i]);
			dp_buf_puts(out, i ? "</td>" : "</th>");
		}
		dp_buf_puts(out, "</tr>\n");
	}
	dp_buf_puts(out, "</tbody></table></div>");
}

void doc_table_end(struct doc *d)
{
	struct dp_buf out = DP_BUF_INIT;
	size_t n = d->columns.n;

	if (n == 0)
		return;
	if (d->form == DOC_HTML) {
		html_table(d, &out);
	} else {
		markdown_row(d, &out, d->columns.items);
		dp_buf_putc(&out, '|');
		for (size_t i = 0; i < n; i++)
			dp_buf_puts(&out, d->is_number[i] ? " ---: |" : " --- |");
		dp_buf_putc(&out, '\n');
		for (size_t i = 0; i + n <= d->cells.n; i += n)
			markdown_row(d, &out, d->cells.items + i);
	}
	doc_raw(d, &out);
}

/* ---- figures ---- */

void doc_figure(struct doc *d, const char *file, const char *alt, const char *caption,
		const struct dp_buf *svg)
{
	struct dp_buf out = DP_BUF_INIT;
	cmark_node *p;

	if (d->form == DOC_HTML) {
		dp_buf_printf(&out, "<figure>%s<figcaption>", dp_buf_text(svg));
		doc_html_text(&out, caption);
		dp_buf_puts(&out, "</figcaption></figure>");
		doc_raw(d, &out);
		return;
	}
	p = doc_add(doc_block(d, CMARK_NODE_PARAGRAPH), CMARK_NODE_IMAGE);
	cmark_node_set_url(p, file);
	add_text(d, p, alt);
	doc_paragraph(d, "%s", caption);
}
