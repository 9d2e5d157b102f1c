/* html_page.h - serves the web page: an HTML file with a plain table for use without scripts. */
#ifndef DP_SERVE_HTML_PAGE_H
#define DP_SERVE_HTML_PAGE_H
#include "serve/data/daemon_client.h"
#include "serve/http/http_message.h"

struct page_file {
	const char *name;
	const unsigned char *data;
	size_t size;
};
extern const struct page_file page_files[]; /* ends with a NULL name */

/* Replies with the file of this name; false: unknown. */
bool page_reply_file(const char *name, const char *known, struct http_reply *a);
/* Replies with the page of a study, or of all studies (NULL). closed: the user has not signed in,
 * so the page shows no data. Errors become part of the page. */
void page_reply_html(struct daemon_client *daemon, const char *study, bool closed,
		     struct http_reply *a);

#endif
