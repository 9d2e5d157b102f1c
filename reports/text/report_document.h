/* text.h - the facts of a report in words, and the page around them. */
#ifndef DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#define DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#include "reports/text/doc.h"
#include "reports/model/report_model.h"

/* What it is called (text.c). */
void report_document_title(const struct report_model *report, struct dp_buf *out);
/* Writes the whole report (text.c). */
void report_document_write(struct doc *d, const struct report_model *report);
/* report.html: the document with its style, needing nothing else (report_html_write.c). */
void report_html_write(const struct report_model *report, struct dp_buf *out);

#endif
