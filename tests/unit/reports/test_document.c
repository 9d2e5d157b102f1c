/* test_document.c - documents in both forms: no text becomes markup. */
#include "reports/text/doc.h"

#include <cmark.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"](javascript:alert(1))",
	"`code` ``x",
	"a|b|c",
	"one\ntwo\n\n# three",
	"--> <!--",
	"&#60;b&#62; &lt; &amp;",
	"*b* _i_ __x__ a_b",
	"1. item",
	"- item",
	"+ x",
	"> q",
	"    indented",
	"~~s~~",
	"![x](y)",
	"\\",
	"\\\\*",
	"<a href=\"x\">",
	"=====",
	"---",
	"\xff\xfe bad",
	"\x1b[31m",
	"#5 x",
	"x #",
	"[a]: b",
	"$x$",
	"***",
	"\"q\" 'z'",
	"&#x3c;script&#x3e;",
	"|---|",
	"~~~",
	"```",
	"<http://a.b>",
	"<!-- x",
	"]]>",
	"-",
	"1)",
	"\u202egpj",
	"a  b ",
	"</td></table>",
	"\" onload=\"x",
};

/* Both forms of a document that has the text everywhere but in tables. */
static void describe(struct doc *d, const char *text)
{
	doc_title(d, text);
	doc_paragraph(d, "%s", text);
	doc_warning(d, "%s", text);
	doc_item(d, "%s", text);
	doc_labelled_item(d, text, "%s", text);
	doc_code(d, "text", text);
	doc_heading(d, text);
	doc_paragraph(d, "and %s", text);
}

/* What Markdown makes of ours is what HTML has at once. */
static void test_markdown_means_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *md = doc_new(DOC_MARKDOWN), *html = doc_new(DOC_HTML);
		struct dp_buf a = DP_BUF_INIT, b = DP_BUF_INIT;
		char *again;

		describe(md, hostile[i]);
		describe(html, hostile[i]);
		doc_render(md, &a);
		doc_render(html, &b);
		again = cmark_markdown_to_html(dp_buf_text(&a), a.len, CMARK_OPT_UNSAFE);
		assert_string_equal(again, dp_buf_text(&b));
		free(again);
		dp_buf_free(&a);
		dp_buf_free(&b);
		doc_free(md);
		doc_free(html);
	}
}

/* Every '<' of the text begins a tag of this list, and no tag has an attribute that is
 * not ours. */
static void assert_only_our_tags(const char *html)
{
	static const char *const ours[] = {
		"<h1>",
		"</h1>",
		"<h3>",
		"</h3>",
		"<p>",
		"</p>",
		"<ul>",
		"</ul>",
		"<li>",
		"</li>",
		"<blockquote>",
		"</blockquote>",
		"<strong>",
		"</strong>",
		"<pre><code class=\"language-text\">",
		"</code>",
		"</pre>",
		"<table>",
		"</table>",
		"<thead>",
		"</thead>",
		"<tbody>",
		"</tbody>",
		"<tr>",
		"</tr>",
		"<th scope=\"col\">",
		"<th scope=\"row\">",
		"</th>",
		"<caption>",
		"</caption>",
		"<tr id=\"",
		"<details><summary><h2>",
		"</summary>",
		"</details>",
		"</h2>",
		"<summary><h2>",
		"<h2>",
		"<span>",
		"</span>",
		"<span class=\"badge",
		"<p class=\"badges\">",
		"<div class=\"fold\" id=\"id\">",
		"<td>",
		"</td>",
		"<code class=\"language-text\">",
		"<td class=\"n\">",
		"<th scope=\"col\" class=\"n\">",
		"</div>",
		"<div class=\"table\" tabindex=\"0\">",
		"<figure>",
		"</figure>",
		"<figcaption>",
		"</figcaption>",
		"<svg>",
		"</svg>",
		"<!DOCTYPE",
	};

	for (const char *at = html; (at = strchr(at, '<')) != NULL; at++) {
		bool known = false;

		for (size_t i = 0; i < DP_COUNT(ours); i++)
			known |= strncmp(at, ours[i], strlen(ours[i])) == 0;
		if (!known)
			fail_msg("not our tag: %.60s", at);
	}
}

static void test_html_has_only_our_tags(void **state)
{
	struct dp_buf svg = DP_BUF_INIT;

	(void)state;
	dp_buf_puts(&svg, "<svg></svg>");
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *d = doc_new(DOC_HTML);
		struct dp_buf out = DP_BUF_INIT;

		describe(d, hostile[i]);
		doc_badges(d, &(struct doc_badge){ DOC_BADGE_BAD, hostile[i] }, 1);
		doc_folded_section(d, "id", hostile[i], hostile[i], hostile[i]);
		doc_table_begin(d, hostile[i]);
		doc_column(d, hostile[i], false);
		doc_column(d, "n", true);
		doc_table_row_id(d, hostile[i]);
		doc_cell(d, "%s", hostile[i]);
		doc_cell(d, "%d", 1);
		doc_table_end(d);
		doc_figure(d, "f.png", hostile[i], hostile[i], &svg);
		doc_render(d, &out);
		assert_only_our_tags(dp_buf_text(&out));
		assert_null(strstr(dp_buf_text(&out), "\" onload"));
		assert_non_null(strstr(dp_buf_text(&out), "<svg></svg>"));
		dp_buf_free(&out);
		doc_free(d);
	}
	dp_buf_free(&svg);
}

/* A cell cannot add cells or rows. */
static void test_markdown_tables_keep_their_shape(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(hostile); i++) {
		struct doc *d = doc_new(DOC_MARKDOWN);
		struct dp_buf out = DP_BUF_INIT;
		size_t bars = 0, lines = 0;

		doc_table_begin(d, NULL);
		doc_column(d, "one", false);
		doc_column(d, hostile[i], false);
		doc_cell(d, "%s", hostile[i]);
		doc_cell(d, "two");
		doc_table_end(d);
		doc_render(d, &out);
		for (const char *c = dp_buf_text(&out); *c; c++) {
			bars += *c == '|';
			lines += *c == '\n';
			if (*c == '\\' && c[1])
				c++;
		}
		assert_int_equal(bars, 9);
		assert_int_equal(lines, 4); /* an empty one ends the table */
		dp_buf_free(&out);
		doc_free(d);
	}
}

/* Rows, columns and the table itself have names for those who hear them; a fold holds the
 * place that links to it name, so that it opens. */
static void test_structure(void **state)
{
	struct doc *d = doc_new(DOC_HTML);
	struct dp_buf out = DP_BUF_INIT, links = DP_BUF_INIT;

	(void)state;
	doc_folded_section(d, "front", "The front", "Front", "2 points");
	doc_box(d, "figures");
	doc_paragraph(d, "inside");
	doc_box_end(d);
	doc_table_begin(d, "Points");
	doc_column(d, "trial", true);
	doc_column(d, "error", false);
	doc_cell(d, "1");
	doc_cell(d, "2");
	doc_table_row_id(d, "trial-7-4");
	doc_cell(d, "7@4");
	doc_cell(d, "3");
	doc_table_end(d);
	doc_render(d, &out);
	doc_contents(d, &links);
	assert_string_equal(dp_buf_text(&out),
			    "<details><summary><h2>The front</h2> <span>2 points</span></summary>\n"
			    "<div class=\"fold\" id=\"front\">\n"
			    "<div class=\"figures\">\n<p>inside</p>\n</div>\n"
			    "<div class=\"table\" tabindex=\"0\"><table>\n"
			    "<caption>Points</caption>\n"
			    "<thead><tr><th scope=\"col\" class=\"n\">trial</th>"
			    "<th scope=\"col\">error</th></tr></thead>\n<tbody>\n"
			    "<tr><th scope=\"row\" class=\"n\">1</th><td>2</td></tr>\n"
			    "<tr id=\"trial-7-4\"><th scope=\"row\" class=\"n\">7@4</th>"
			    "<td>3</td></tr>\n</tbody></table></div>\n</div></details>\n");
	assert_string_equal(dp_buf_text(&links), "<a href=\"#front\">Front</a>\n");
	dp_buf_free(&out);
	dp_buf_free(&links);
	doc_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_markdown_means_the_same),
		cmocka_unit_test(test_html_has_only_our_tags),
		cmocka_unit_test(test_markdown_tables_keep_their_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
