/* html.c - report.html: one file that needs nothing else, no script, readable on a
 * phone, in the dark and on paper. */
#include "reports/text.h"

/* Tables scroll in a box of their own, pictures shrink: the page itself is never wider
 * than the screen. */
static const char style[] =
	":root{color-scheme:light dark;--ink:#1a1c1e;--soft:#5a6068;--line:#d5d9de;"
	"--ground:#fff;--tint:#f4f6f8;--link:#0b5cad;--warn:#b45309}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e7ea;--soft:#a0a8b0;"
	"--line:#3a4048;--ground:#15181b;--tint:#1e2226;--link:#7db8f0;--warn:#f0a848}}\n"
	"*{box-sizing:border-box}\n"
	"html{-webkit-text-size-adjust:100%}\n"
	"body{margin:0;background:var(--ground);color:var(--ink);"
	"font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Liberation Sans\","
	"\"DejaVu Sans\",sans-serif;overflow-wrap:anywhere}\n"
	"main,nav,footer{max-width:60rem;margin:0 auto;padding:0 1rem}\n"
	"h1{font-size:1.9rem;line-height:1.2;margin:1.6rem 0 .6rem}\n"
	"h2{font-size:1.35rem;line-height:1.25;margin:2.4rem 0 .6rem;padding-top:.8rem;"
	"border-top:1px solid var(--line)}\n"
	"h3{font-size:1.08rem;margin:1.8rem 0 .4rem}\n"
	"p,li{max-width:44rem}\n"
	"ul{padding-left:1.2rem}\n"
	"li{margin:.15rem 0}\n"
	"a{color:var(--link)}\n"
	"nav{padding-top:1rem;font-size:.9rem;display:flex;flex-wrap:wrap;gap:.2rem "
	"1rem}\n"
	"nav a{text-decoration:none}\n"
	"blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:4px solid var(--warn);"
	"background:var(--tint)}\n"
	".table{overflow-x:auto;max-width:100%;margin:1rem 0}\n"
	"table{border-collapse:collapse;font-size:.88rem;"
	"font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;"
	"vertical-align:top;overflow-wrap:normal}\n"
	"th{color:var(--soft);font-weight:600;vertical-align:bottom}\n"
	"td{white-space:nowrap}\n"
	".n{text-align:right}\n"
	"pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;"
	"padding:.8rem 1rem;font:13px/1.5 ui-monospace,\"DejaVu Sans Mono\","
	"\"Liberation Mono\",monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
	"figure{margin:1rem 0 2rem}\n"
	"svg{display:block;max-width:100%;height:auto}\n"
	"svg a:focus-visible{outline:2px solid var(--link)}\n"
	"figcaption{margin-top:.5rem;color:var(--soft);font-size:.92rem;"
	"max-width:44rem}\n"
	"footer{margin:3rem auto 2rem;color:var(--soft);font-size:.85rem}\n"
	"@media print{:root{color-scheme:light;--ink:#000;--soft:#333;--line:#bbb;"
	"--ground:#fff;--tint:#f6f6f6;--link:#000}nav{display:none}"
	"body{font-size:10pt}main{max-width:none}.table{overflow:visible}"
	"td{white-space:normal}table{font-size:8pt}"
	"figure,pre,blockquote,tr{break-inside:avoid}h2,h3{break-after:avoid}}\n";

void report_html(const struct facts *f, struct dp_buf *out)
{
	struct doc *d = doc_new(DOC_HTML);

	report_text(d, f);
	dp_buf_puts(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
		"'none'; img-src data:; style-src 'unsafe-inline'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Study ");
	doc_html_text(out, f->study.name);
	dp_buf_printf(out, " - DPareto</title>\n<style>\n%s", style);
	/* not in print, which is always light */
	dp_buf_puts(out, "@media screen and (prefers-color-scheme:dark){");
	plot_dark_style(out);
	dp_buf_puts(out, "}\n</style>\n</head>\n<body>\n<nav>\n");
	doc_contents(d, out);
	dp_buf_puts(out, "</nav>\n<main>\n");
	doc_render(d, out);
	dp_buf_puts(out,
		    "</main>\n<footer>Written by dpareto-report. Everything said here "
		    "is in report.json, too.</footer>\n</body>\n</html>\n");
	doc_free(d);
}
