/* report_document.c - write a report's text: title, sections in order, and the HTML page. */
#include "reports/text/report_document.h"

#include "reports/text/sections.h"

#include <math.h>

enum {
	TITLE_STUDIES_MAX = 3 /* other studies that a title names */
};

/* The kinds of hypervolume that at least one study has, besides the observed one. */
struct known_hypervolumes {
	bool smoothed, reevaluated;
};

static void compared_row(struct doc *d, const json_t *study, size_t front_size,
			 struct known_hypervolumes known)
{
	double reevaluated = optional_number(study, "hypervolume_remeasured");
	char number[FORMAT_LEN];

	doc_cell(d, "%s", get_text(study, "label"));
	doc_cell(d, "%s", get_text(study, "state"));
	doc_cell(d, "%lld", (long long)get_count(study, "evaluations"));
	doc_cell(d, "%zu", front_size);
	doc_cell(d, "%s", format_short(get_number(study, "hypervolume"), number));
	if (known.smoothed)
		doc_cell(d, "%s", format_short(get_number(study, "hypervolume_denoised"), number));
	if (known.reevaluated)
		doc_cell(d, "%s", format_short(reevaluated, number));
}

static void write_compared(struct doc *d, const struct report_model *report)
{
	json_t *compared = get_json(report->json, "compared"), *study;
	struct known_hypervolumes known = {
		.smoothed = !isnan(get_number(report->json, "hypervolume_denoised")),
		.reevaluated = !isnan(optional_number(report->json, "hypervolume_remeasured")),
	};
	size_t i;

	if (json_array_size(compared) == 0)
		return;
	json_array_foreach (compared, i, study) {
		known.smoothed |= !isnan(get_number(study, "hypervolume_denoised"));
		known.reevaluated |= !isnan(get_number(study, "hypervolume_remeasured"));
	}
	doc_folded_section(d, "compared", "Studies compared with it", "Compared",
			   "states, fronts and hypervolumes");
	doc_table_begin(d, "Studies compared");
	doc_text_columns(d, "study", "state", NULL);
	doc_number_columns(d, "evaluations", "points on the front", "hypervolume as observed",
			   NULL);
	if (known.smoothed)
		doc_column(d, "without the noise", true);
	if (known.reevaluated)
		doc_column(d, "measured again", true);
	compared_row(d, report->json, study_data_front_size(report->study), known);
	json_array_foreach (compared, i, study)
		compared_row(d, study, study_data_front_size(&report->data->studies[i + 1]), known);
	doc_table_end(d);
	doc_paragraph(d, "Hypervolumes compare only where objectives and anti-ideal points are the "
			 "same. As observed they are those of the best of many noisy results: the "
			 "noisier the trainings, the more of a front is luck. Fronts that are "
			 "measured again (dparetoctl remeasure) compare without it.");
}

/* "Study a", "Study a beside b and 2 others", "DPareto and Random compared" */
static void append_report_title(const struct report_model *report, struct dp_buf *out)
{
	json_t *compared = json_object_get(report->json, "compared"), *study;
	size_t i, n = json_array_size(compared);

	if (report->groups) {
		groups_report_title(report, out);
		return;
	}
	dp_buf_printf(out, "Study %s", study_data_name(report->study));
	if (n > TITLE_STUDIES_MAX) {
		dp_buf_printf(out, " beside %zu others", n);
		return;
	}
	json_array_foreach (compared, i, study)
		dp_buf_printf(out, "%s%s",
			      i == 0       ? " beside "
			      : i + 1 == n ? " and "
					   : ", ",
			      get_text(study, "label"));
}

void report_document_write(struct doc *d, const struct report_model *report)
{
	struct dp_buf title = DP_BUF_INIT;

	append_report_title(report, &title);
	doc_title(d, dp_buf_text(&title));
	dp_buf_free(&title);
	if (report->groups || json_object_get(report->json, "selection")) {
		(report->groups ? write_groups : write_selection)(d, report);
		return;
	}
	write_summary(d, report);
	write_front(d, report);
	write_figures(d, report);
	write_compared(d, report);
	write_publishing_cost(d, report);
	write_selection_bias(d, report);
	write_assumptions(d, report);
	write_statements(d, report);
	write_settings(d, report);
	/* without a front, the first screen explains why */
	if (json_array_size(get_json(report->json, "front")) > 0 ||
	    json_array_size(get_json(get_json(report->json, "failures"), "groups")) == 0)
		write_failures(d, report);
	write_resources(d, report);
	write_reproduce(d, report);
}

extern const char report_css[];

void report_html_write(const struct report_model *report, struct dp_buf *out)
{
	struct doc *d = doc_new(DOC_HTML);
	struct dp_buf title = DP_BUF_INIT;

	report_document_write(d, report);
	append_report_title(report, &title);
	dp_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
			 "<meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			 "'none'; img-src data:; style-src 'unsafe-inline'\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, "
			 "initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
	doc_html_text(out, dp_buf_text(&title));
	dp_buf_free(&title);
	dp_buf_printf(out, " - DPareto</title>\n<style>\n%s", report_css);
	/* printed pages are always light */
	dp_buf_puts(out, "@media screen and (prefers-color-scheme:dark){");
	plot_write_dark_css(out);
	dp_buf_puts(out, "}\n</style>\n</head>\n<body>\n"
			 "<a class=\"skip\" href=\"#main\">To the report</a>\n"
			 "<nav aria-label=\"Contents\">\n");
	doc_contents(d, out);
	dp_buf_puts(out, "</nav>\n<main id=\"main\">\n");
	doc_render(d, out);
	dp_buf_puts(out, "</main>\n<footer>Written by dpareto-report. Everything said here "
			 "is in report.json, too.</footer>\n</body>\n</html>\n");
	doc_free(d);
}
