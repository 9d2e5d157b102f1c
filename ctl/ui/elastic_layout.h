/* elastic_layout.h - lines of a screen, of which the least important give way.
 *
 * A struct ctl_layout owns its texts. */
#ifndef DP_CTL_UI_ELASTIC_LAYOUT_H
#define DP_CTL_UI_ELASTIC_LAYOUT_H
#include "base/buf.h"

struct ctl_layout_line {
	char *text; /* without its newline */
	int rank;   /* the lower, the longer it stays */
};

struct ctl_layout {
	struct ctl_layout_line *lines; /* (n), from top to bottom */
	size_t n_lines, capacity;
};

/* Adds a line below the others; a copy of the text. */
void ctl_layout_add_line(struct ctl_layout *l, int rank, const char *text);
/* Puts lines, one after each newline of a text, before the i-th. */
void ctl_layout_insert_lines(struct ctl_layout *l, size_t i, int rank, const char *text);
/* Leaves at most so many: those of the highest rank go first, of equal ones the lower. */
void ctl_layout_fit_rows(struct ctl_layout *l, size_t most);
/* Appends them, each with a newline. */
void ctl_layout_format(const struct ctl_layout *l, struct dp_buf *out);
void ctl_layout_free(struct ctl_layout *l);

#endif
