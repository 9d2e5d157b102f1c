/* report_document.h - the report model in words, and the page around them. */
#ifndef DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#define DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#include "reports/model/report_model.h"
#include "reports/text/doc.h"

/* Writes the whole report. */
void report_document_write(struct doc *d, const struct report_model *report);
/* report.html: the document with its style. It needs nothing else and no script, and can be
 * read on a phone, in the dark and on paper. */
void report_html_write(const struct report_model *report, struct dp_buf *out);

#endif
