/* report_document.h - write a report's text and HTML page from the report model. */
#ifndef DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#define DP_REPORTS_TEXT_REPORT_DOCUMENT_H
#include "reports/model/report_model.h"
#include "reports/text/doc.h"

void report_document_write(struct doc *d, const struct report_model *report);
/* Writes report.html: one file with its style and without scripts. It adapts to small screens, dark
 * mode and print. */
void report_html_write(const struct report_model *report, struct dp_buf *out);

#endif
