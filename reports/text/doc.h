/* doc.h - build a document and write it as Markdown or HTML.
 *
 * Text is never markup in either form. cmark renders and escapes paragraphs and lists. Tables and
 * figures, which CommonMark lacks, are written here. */
#ifndef DP_REPORTS_TEXT_DOC_H
#define DP_REPORTS_TEXT_DOC_H
#include "base/base.h"
#include "base/buf.h"

enum doc_format {
	DOC_MARKDOWN, /* with pipe tables; figures are separate files */
	DOC_HTML,     /* content of <main>; figures are embedded */
};

struct doc;
struct doc *doc_new(enum doc_format form);
void doc_free(struct doc *d);
/* Appends the document in its form. */
void doc_render(struct doc *d, struct dp_buf *out);

/* Appends links to the folds, in HTML. */
void doc_contents(const struct doc *d, struct dp_buf *out);

/* Starts a section with a heading and ends the previous one. `id` is the link target. */
void doc_section(struct doc *d, const char *id, const char *title);
/* The same, collapsed in HTML until opened or printed. `about` describes the content in a few
 * words; `brief` is the text of links to it. */
void doc_folded_section(struct doc *d, const char *id, const char *title, const char *brief,
			const char *about);
/* A fold within a section; doc_box_end() ends it. */
void doc_folded_box(struct doc *d, const char *title);
/* The document's title, and a heading within a section. */
void doc_title(struct doc *d, const char *title);
void doc_heading(struct doc *d, const char *title);

/* Opens an HTML element of this class. Boxes nest, and end with the section at the latest. */
void doc_box(struct doc *d, const char *name);
void doc_box_end(struct doc *d);

/* Badges: a line of short labels about the report. */
enum doc_badge_tone {
	DOC_BADGE_NEUTRAL,
	DOC_BADGE_GOOD,
	DOC_BADGE_BAD
};
struct doc_badge {
	enum doc_badge_tone tone;
	const char *text;
};
void doc_badges(struct doc *d, const struct doc_badge *list, size_t n);

/* A paragraph of plain text. */
void doc_paragraph(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
/* A highlighted paragraph. */
void doc_warning(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
/* A list item. The next block that is not an item ends the list. */
void doc_item(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
/* A list item "what: ...". */
void doc_labelled_item(struct doc *d, const char *what, const char *fmt, ...) DP_PRINTF(3, 4);
/* A code block. `language` is for syntax highlighting. */
void doc_code(struct doc *d, const char *language, const char *text);

/* Call columns first, then cells row by row, then the end. The first column is the row header.
 * `caption`: for screen readers, or NULL. */
void doc_table_begin(struct doc *d, const char *caption);
/* Makes the row of the next cell a link target. */
void doc_table_row_id(struct doc *d, const char *id);
void doc_column(struct doc *d, const char *title, bool number);
/* Several columns of text; the list of titles ends with NULL. */
void doc_text_columns(struct doc *d, const char *title, ...) __attribute__((sentinel));
void doc_number_columns(struct doc *d, const char *title, ...) __attribute__((sentinel));
void doc_cell(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
void doc_table_end(struct doc *d);

/* A figure with its caption. HTML embeds `svg`, which has its own accessible name (PLOT_INLINE_SVG
 * in plot.h); Markdown links to the file, with `alt`. */
void doc_figure(struct doc *d, const char *file, const char *alt, const char *caption,
		const struct dp_buf *svg);

/* Appends text escaped for HTML, also for quoted attributes. Replaces invalid UTF-8, control
 * characters and direction overrides. */
void doc_html_text(struct dp_buf *out, const char *text);

#endif
