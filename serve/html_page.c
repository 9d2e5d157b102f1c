/* html_page.c - assembles the page from its files and a snapshot of the data. */
#include "serve/html_page.h"

#include "base/json.h"
#include "base/sha256.h"
#include "ctl/text_format.h"
#include "ctl/study_status.h"

#include <stdio.h>
#include <string.h>

#define PAGE_SECURITY_POLICY                                                                       \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "                 \
	"data:; "                                                                                  \
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "                \
	"'none'"

static const struct page_file *page_find_file(const char *name)
{
	for (const struct page_file *f = page_files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

bool page_reply_file(const char *name, const char *known, struct http_reply *a)
{
	const struct page_file *f = strcmp(name, "page.html") ? page_find_file(name) : NULL;
	const char *dot = strrchr(name, '.');
	struct dp_sha256 sha;
	char digest[DP_SHA256_HEX_SIZE];

	if (!f)
		return false;
	dp_sha256_init(&sha);
	dp_sha256_update(&sha, f->data, f->size);
	dp_sha256_hex(&sha, digest);
	snprintf(a->etag, sizeof a->etag, "\"%.32s\"", digest);
	a->content_type = dot && strcmp(dot, ".js") == 0    ? "text/javascript; charset=utf-8"
			  : dot && strcmp(dot, ".css") == 0 ? "text/css; charset=utf-8"
			  : dot && strcmp(dot, ".svg") == 0 ? "image/svg+xml"
							    : "text/html; charset=utf-8";
	if (known && strcmp(known, a->etag) == 0)
		a->status = 304;
	else
		dp_buf_add(&a->body, f->data, f->size);
	return true;
}

static void snapshot_table(const json_t *studies, struct dp_buf *out)
{
	const json_t *study;
	size_t i;

	if (json_array_size(studies) == 0) {
		dp_buf_puts(out, "<p>There are no studies yet.</p>\n");
		return;
	}
	dp_buf_puts(out, "<table><caption>Studies</caption>\n<thead><tr><th "
			 "scope=\"col\">study</th><th scope=\"col\">state</th><th "
			 "scope=\"col\">ended</th><th scope=\"col\">why</th></tr></thead>\n"
			 "<tbody>\n");
	json_array_foreach (studies, i, study) {
		const char *name = dp_json_str(study, "name", "");
		char ended[CTL_TEXT_LEN];

		dp_buf_printf(out, "<tr><th scope=\"row\"><a href=\"/studies/");
		dp_buf_add_xml_escaped(out, name);
		dp_buf_puts(out, "\">");
		dp_buf_add_xml_escaped(out, name);
		dp_buf_puts(out, "</a></th><td>");
		dp_buf_add_xml_escaped(out, dp_json_str(study, "state", ""));
		dp_buf_puts(out, "</td><td>");
		dp_buf_add_xml_escaped(out, ctl_study_hides_trials(study)
						    ? "secret"
						    : ctl_format_progress_cell(study, ended));
		dp_buf_puts(out, "</td><td>");
		dp_buf_add_xml_escaped(out, dp_json_str(study, "reason", ""));
		dp_buf_puts(out, "</td></tr>\n");
	}
	dp_buf_puts(out, "</tbody></table>\n");
}

static int snapshot_append(struct daemon_client *daemon, const char *study, struct dp_buf *out)
{
	json_t *fields = study ? json_pack("{s:s}", "study", study) : NULL, *ok, *list;
	struct dp_err err;
	int code = daemon_call(daemon, "status", fields, &ok, &err);

	if (code != DP_OK) {
		dp_buf_puts(out, "<p role=\"alert\">");
		dp_buf_add_xml_escaped(out, err.msg);
		dp_buf_puts(out, "</p>\n");
		return code;
	}
	list = study ? json_pack("[O]", json_object_get(ok, "study"))
		     : json_incref(json_object_get(ok, "studies"));
	snapshot_table(list, out);
	json_decref(list);
	json_decref(ok);
	return DP_OK;
}

/* Appends the text up to a marker and moves *text past it. */
static void append_until_marker(const char **text, const char *mark, struct dp_buf *out)
{
	const char *at = strstr(*text, mark);

	if (!at)
		return;
	dp_buf_add(out, *text, (size_t)(at - *text));
	*text = at + strlen(mark);
}

void page_reply_html(struct daemon_client *daemon, const char *study, bool closed,
		     struct http_reply *a)
{
	const struct page_file *f = page_find_file("page.html");
	struct dp_buf inside = DP_BUF_INIT, text = DP_BUF_INIT;
	int code = closed ? DP_OK : snapshot_append(daemon, study, &inside);
	const char *rest;

	dp_buf_add(&text, f->data, f->size);
	rest = dp_buf_text(&text);
	append_until_marker(&rest, "<!--TITLE-->", &a->body);
	if (study && !closed && code == DP_OK) {
		dp_buf_add_xml_escaped(&a->body, study);
		dp_buf_puts(&a->body, " - ");
	}
	append_until_marker(&rest, "<!--SNAPSHOT-->", &a->body);
	dp_buf_puts(&a->body, dp_buf_text(&inside));
	dp_buf_puts(&a->body, rest);
	a->content_type = "text/html; charset=utf-8";
	a->security_policy = PAGE_SECURITY_POLICY;
	/* the script shows the error and continues once the study or daemon is there */
	a->status = code == DP_E_NOT_FOUND ? 404 : 200;
	dp_buf_free(&inside);
	dp_buf_free(&text);
}
