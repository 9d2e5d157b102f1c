/* doc.h - a document, described once: as Markdown or as HTML.
 *
 * Text is text: whatever it holds, it cannot become markup in either form. Paragraphs
 * and lists are cmark's, for which cmark does the escaping; tables and figures, which
 * CommonMark has not, are put together here. */
#ifndef DP_REPORTS_TEXT_DOC_H
#define DP_REPORTS_TEXT_DOC_H
#include "base/base.h"
#include "base/buf.h"

enum doc_format {
	DOC_MARKDOWN, /* with pipe tables, pictures as files beside it */
	DOC_HTML,     /* the inside of <main>, pictures embedded */
};

struct doc;
struct doc *doc_new(enum doc_format form);
void doc_free(struct doc *d);
/* Appends the document. */
void doc_render(struct doc *d, struct dp_buf *out);

/* Appends links to the folds, as HTML. */
void doc_contents(const struct doc *d, struct dp_buf *out);

/* A section with its heading; ends the one before. `id` is a name for links. */
void doc_section(struct doc *d, const char *id, const char *title);
/* The same, folded away in HTML until somebody opens it, or prints: `about` says in a few
 * words what is inside, `brief` is what links to it call it. */
void doc_folded_section(struct doc *d, const char *id, const char *title, const char *brief,
			const char *about);
/* A fold within a section, which ends with doc_box_end(). */
void doc_folded_box(struct doc *d, const char *title);
/* The title of the document, and a heading within a section. */
void doc_title(struct doc *d, const char *title);
void doc_heading(struct doc *d, const char *title);

/* What follows up to its end stands in a box of this class in HTML; boxes may hold boxes,
 * and end with the section at the latest. */
void doc_box(struct doc *d, const char *name);
void doc_box_end(struct doc *d);

/* A line of short words on what this is. */
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
/* A paragraph that stands out: a warning. */
void doc_warning(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
/* One of several; what comes next that is no item ends the list. */
void doc_item(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
/* A line of a list of "what: it is". */
void doc_labelled_item(struct doc *d, const char *what, const char *fmt, ...) DP_PRINTF(3, 4);
/* Lines as they are. `language` is a word for those who colour it. */
void doc_code(struct doc *d, const char *language, const char *text);

/* Columns first, then cells row by row, then the end. The first column names its row.
 * `caption`: what the table has, for those who hear it, or NULL. */
void doc_table_begin(struct doc *d, const char *caption);
/* The next cell begins a row that links can name. */
void doc_table_row_id(struct doc *d, const char *id);
void doc_column(struct doc *d, const char *title, bool number);
/* Several; the list of titles ends with NULL. */
void doc_text_columns(struct doc *d, const char *title, ...) __attribute__((sentinel));
void doc_number_columns(struct doc *d, const char *title, ...) __attribute__((sentinel));
void doc_cell(struct doc *d, const char *fmt, ...) DP_PRINTF(2, 3);
void doc_table_end(struct doc *d);

/* A picture and what it shows. A page has the `svg` itself, which says what kind of
 * picture it is (plot.h, PLOT_INLINE_SVG); Markdown names the file, and `alt` says it. */
void doc_figure(struct doc *d, const char *file, const char *alt, const char *caption,
		const struct dp_buf *svg);

/* Appends text for HTML, also within quotes; what is no UTF-8 or steers a terminal or
 * the direction of writing is replaced. */
void doc_html_text(struct dp_buf *out, const char *text);

#endif
