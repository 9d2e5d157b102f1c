/* report_document.c - a report in words: its title and the order of its sections. */
#include "reports/text/report_document.h"

#include "reports/text/sections.h"

#include <math.h>

enum {
	TITLE_STUDIES_MAX = 3 /* that a title names beside the first */
};

/* ---- other studies ---- */

/* Which hypervolumes are known of one of the studies, beside those observed. */
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

static void compared_table(struct doc *d, const struct report_model *report)
{
	json_t *compared = get_json(report->json, "compared"), *study;
	struct known_hypervolumes known = {
		.smoothed = !isnan(get_number(report->json, "hypervolume_denoised")),
		.reevaluated = !isnan(optional_number(report->json, "hypervolume_remeasured")),
	};
	size_t i;

	json_array_foreach (compared, i, study) {
		known.smoothed |= !isnan(get_number(study, "hypervolume_denoised"));
		known.reevaluated |= !isnan(get_number(study, "hypervolume_remeasured"));
	}
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
}

static void write_compared(struct doc *d, const struct report_model *report)
{
	if (json_array_size(get_json(report->json, "compared")) == 0)
		return;
	doc_folded_section(d, "compared", "Studies compared with it", "Compared",
			   "states, fronts and hypervolumes");
	compared_table(d, report);
	doc_paragraph(d, "Hypervolumes compare only where objectives and anti-ideal points are the "
			 "same. As observed they are those of the best of many noisy results: the "
			 "noisier the trainings, the more of a front is luck. Fronts that are "
			 "measured again (dparetoctl remeasure) compare without it.");
}

/* ---- all of it ---- */

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
	/* without a front the first screen has told already why */
	if (json_array_size(get_json(report->json, "front")) > 0 ||
	    json_array_size(get_json(get_json(report->json, "failures"), "groups")) == 0)
		write_failures(d, report);
	write_resources(d, report);
	write_reproduce(d, report);
}

/* ---- report.html ---- */

/* Tables scroll in a box of their own, pictures shrink: the page itself is never wider
 * than the screen. Folds are open on paper: browsers hide their inside by
 * content-visibility. */
static const char style[] =
	":root{color-scheme:light "
	"dark;--ink:#1a1c1e;--soft:#555b63;--line:#d5d9de;--ground:#fff;--tint:#f4f6f8;--link:#"
	"0b5cad;--warn:#a34a05;--good:#16683a}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--soft:#a9b1b9;--line:#3a4048;--"
	"ground:#15181b;--tint:#1e2226;--link:#7db8f0;--warn:#f0a848;--good:#7fd4a0}}\n"
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 "
	"system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\",\"DejaVu "
	"Sans\",sans-serif;overflow-wrap:anywhere}\n"
	"main,nav,footer{max-width:74rem;margin:0 auto;padding:0 1rem}\n"
	"h1{font-size:1.6rem;line-height:1.2;margin:.5rem 0 .3rem}\n"
	"h2{font-size:1.2rem;line-height:1.25;margin:1.6rem 0 .5rem}\n"
	"h3{font-size:1.02rem;margin:1.2rem 0 .3rem}\n"
	"p,li{max-width:48rem;margin:.5rem 0}\n"
	"ul{padding-left:1.2rem}\n"
	"li{margin:.15rem 0}\n"
	"a{color:var(--link)}\n"
	":focus-visible{outline:2px solid var(--link);outline-offset:2px}\n"
	".skip{position:absolute;left:-99rem}\n"
	".skip:focus{left:1rem;top:.3rem;background:var(--ground);padding:.2rem .5rem}\n"
	"nav{padding-top:.5rem;font-size:.82rem;display:flex;flex-wrap:wrap;gap:.1rem .9rem}\n"
	"nav a{text-decoration:none}\n"
	".badges{margin:.2rem 0;max-width:none}\n"
	".badge{border:1px solid "
	"var(--line);background:var(--tint);border-radius:1rem;padding:.05rem "
	".6rem;font-size:.82rem;margin:.1rem .2rem .1rem 0;display:inline-block}\n"
	".good{color:var(--good)}.bad{color:var(--warn)}\n"
	".lead p{font-size:1.08rem;max-width:none}\n"
	".first p{max-width:none}\n"
	".first figure{margin:.4rem 0}\n"
	"details{border-top:1px solid var(--line)}\n"
	"summary{cursor:pointer;padding:.45rem 0}\n"
	"summary h2{display:inline;margin:0;font-size:1.08rem}\n"
	"summary span{color:var(--soft);font-size:.9rem;margin-left:.4rem}\n"
	"details.small{border:0;font-size:.9rem}\n"
	".small summary{padding:.1rem 0}\n"
	".fold{padding-bottom:1rem;scroll-margin-top:4rem}\n"
	"tr{scroll-margin-top:4rem}\n"
	"tr:target{background:var(--tint);outline:2px solid var(--link)}\n"
	"blockquote{margin:.8rem 0;padding:.1rem 1rem;border-left:4px solid "
	"var(--warn);background:var(--tint)}\n"
	".table{overflow-x:auto;max-width:100%;margin:.6rem 0}\n"
	"table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}\n"
	"caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-"
	"space:nowrap}\n"
	"th,td{padding:.25rem .6rem;border-bottom:1px solid "
	"var(--line);text-align:left;vertical-align:top;overflow-wrap:normal}\n"
	"thead th{color:var(--soft);font-weight:600;vertical-align:bottom}\n"
	"tbody th{font-weight:600}\n"
	"td,tbody th{white-space:nowrap}\n"
	"td:last-child{white-space:normal;min-width:14rem}\n"
	"td.n:last-child{white-space:nowrap;min-width:0}\n"
	".n{text-align:right}\n"
	"pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.5rem "
	".8rem;margin:.5rem 0;font:12.5px/1.45 ui-monospace,\"DejaVu Sans Mono\",\"Liberation "
	"Mono\",monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
	"figure{margin:.5rem 0 1.2rem}\n"
	"svg{display:block;max-width:100%;height:auto}\n"
	"svg a:focus-visible{outline:2px solid var(--link)}\n"
	"figcaption{margin-top:.4rem;color:var(--soft);font-size:.88rem;max-width:48rem}\n"
	".figures{display:grid;gap:0 "
	"1.5rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,33rem),1fr))}\n"
	".figure{min-width:0}.wide{grid-column:1/-1}\n"
	"footer{margin:2rem auto 1.5rem;color:var(--soft);font-size:.85rem}\n"
	"@media(max-width:40rem){td:last-child{min-width:24rem}th,td{padding:.2rem .4rem}}\n"
	"@media(min-width:64rem){.first figure{display:grid;grid-template-columns:auto "
	"minmax(14rem,1fr);gap:1.2rem;align-items:center}.first "
	"figure>:first-child{max-height:24rem;width:auto}}\n"
	"@media print{@page{size:A4;margin:13mm "
	"12mm}:root{color-scheme:light;--ink:#000;--soft:#333;--line:#bbb;--ground:#fff;--tint:#"
	"f6f6f6;--link:#000;--warn:#7a3803;--good:#0d4a28}nav,.skip{display:none}body{font-size:"
	"9pt;line-height:1.35}main,footer{max-width:none;padding:0}details::details-content{"
	"content-visibility:visible;display:block;height:auto}details>*{display:block}summary{list-"
	"style:none;padding:.2rem "
	"0}summary::-webkit-details-marker{display:none}summary,h2,h3{break-after:avoid}.fold{"
	"padding-bottom:.3rem}p,li{margin:.25rem "
	"0;max-width:none}.lead "
	"p{font-size:10.5pt}.badge{font-size:7.5pt}h1{font-size:15pt}h2,summary "
	"h2{font-size:11.5pt}h3{font-size:9.5pt;margin:.4rem 0 "
	".2rem}.table{overflow:visible;margin:.3rem "
	"0}table{font-size:7pt;line-height:1.2}th,td{padding:.08rem .3rem}td,tbody "
	"th{white-space:normal}td:last-child{min-width:0}td.n{white-space:nowrap}pre{font-size:6."
	"8pt;line-height:1.25;padding:.25rem "
	".5rem;margin:.25rem 0}.figures{grid-template-columns:1fr 1fr;gap:0 "
	"5mm}figure{margin:.2rem "
	"0}figcaption{font-size:7pt;line-height:1.25;margin-top:.15rem}.figure>figure>:first-child{"
	"max-height:62mm;width:auto;max-width:100%}.wide{grid-column:auto}.flat{grid-column:1/"
	"-1}.wide>figure>:first-child{max-height:75mm}.flat>figure>:first-child{max-height:58mm}."
	"first "
	"figure{display:block}.first "
	"figure>:first-child{max-height:82mm;width:auto}.figure,figure,blockquote,tr{break-inside:"
	"avoid}footer{margin:.5rem "
	"0}}\n";

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
	dp_buf_printf(out, " - DPareto</title>\n<style>\n%s", style);
	/* not in print, which is always light */
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
