/* shell.h - the page: one HTML file, which its script fills, and a plain table in it for
 * who has none. */
#ifndef DP_SERVE_SHELL_H
#define DP_SERVE_SHELL_H
#include "serve/ask.h"
#include "serve/http.h"

/* A file of serve/page, as it is in the program. */
struct page_file {
	const char *name;
	const unsigned char *data;
	size_t size;
};
extern const struct page_file page_files[]; /* ended by one without a name */

/* Answers with the file of that name; false: there is none. */
bool shell_file(const char *name, const char *known, struct http_reply *a);
/* The page about a study, or (NULL) about all of them. With `closed` it shows nothing:
 * who looks has not signed in. DP_E_NOT_FOUND, with a page that says so. */
DP_MUSTCHECK int shell_page(struct asking *k, const char *study, bool closed, struct http_reply *a,
			    struct dp_err *err);

#endif
