/* text.h - the facts of a report in words, and the page around them. */
#ifndef DP_REPORT_TEXT_H
#define DP_REPORT_TEXT_H
#include "reports/doc.h"
#include "reports/facts.h"

/* Writes the whole report (text.c). `pictures` belong to facts.figures, one each. */
void report_text(struct doc *d, const json_t *facts, const struct picture *pictures);
/* report.html: the document with its style, needing nothing else (html.c). */
void report_html(const json_t *facts, const struct picture *pictures, struct dp_buf *out);

#endif
