/* html_page.h - the page: one HTML file, which its script fills, and a plain table in it for
 * who has none. */
#ifndef DP_SERVE_HTML_PAGE_H
#define DP_SERVE_HTML_PAGE_H
#include "serve/data/daemon_client.h"
#include "serve/http/http_message.h"

/* A file of serve/page, as it is in the program. */
struct page_file {
	const char *name;
	const unsigned char *data;
	size_t size;
};
extern const struct page_file page_files[]; /* ended by one without a name */

/* Answers with the file of that name; false: there is none. */
bool page_reply_file(const char *name, const char *known, struct http_reply *a);
/* The page about a study, or (NULL) about all of them. With `closed` it shows nothing:
 * who looks has not signed in. An error is part of the page. */
void page_reply_html(struct daemon_client *daemon, const char *study, bool closed,
		     struct http_reply *a);

#endif
