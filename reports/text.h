/* text.h - the facts of a report in words, and the page around them. */
#ifndef DP_REPORT_TEXT_H
#define DP_REPORT_TEXT_H
#include "reports/doc.h"
#include "reports/facts.h"

/* What it is called (text.c). */
void report_title(const struct facts *f, struct dp_buf *out);
/* Writes the whole report (text.c). */
void report_text(struct doc *d, const struct facts *f);
/* report.html: the document with its style, needing nothing else (html.c). */
void report_html(const struct facts *f, struct dp_buf *out);

#endif
