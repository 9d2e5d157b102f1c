/* elastic_layout.h - screen lines with ranks; the least important are dropped if space is short.
 *
 * A struct ctl_layout owns its texts. */
#ifndef DP_CTL_UI_ELASTIC_LAYOUT_H
#define DP_CTL_UI_ELASTIC_LAYOUT_H
#include "base/buf.h"

struct ctl_layout_line {
	char *text;
	int rank; /* lower ranks stay longer */
};

struct ctl_layout {
	struct ctl_layout_line *lines; /* (n_lines), top to bottom */
	size_t n_lines, capacity;
};

void ctl_layout_add_line(struct ctl_layout *l, int rank, const char *text);
/* Inserts the lines of a text before line i. */
void ctl_layout_insert_lines(struct ctl_layout *l, size_t i, int rank, const char *text);
/* Keeps at most `most` lines: drops the highest ranks first, the lower line of equal ranks. */
void ctl_layout_fit_rows(struct ctl_layout *l, size_t most);
void ctl_layout_format(const struct ctl_layout *l, struct dp_buf *out);
void ctl_layout_free(struct ctl_layout *l);

#endif
