/* lines.h - lines of a screen, of which the least important give way.
 *
 * A struct ctl_lines owns its texts. */
#ifndef DP_CTL_LINES_H
#define DP_CTL_LINES_H
#include "base/buf.h"

struct ctl_line {
	char *text; /* without its newline */
	int rank;   /* the lower, the longer it stays */
};

struct ctl_lines {
	struct ctl_line *line; /* (n), from top to bottom */
	size_t n, room;
};

/* Adds a line below the others; a copy of the text. */
void ctl_lines_add(struct ctl_lines *l, int rank, const char *text);
/* Puts lines, one after each newline of a text, before the i-th. */
void ctl_lines_insert(struct ctl_lines *l, size_t i, int rank, const char *text);
/* Leaves at most so many: those of the highest rank go first, of equal ones the lower. */
void ctl_lines_fit(struct ctl_lines *l, size_t most);
/* Appends them, each with a newline. */
void ctl_lines_text(const struct ctl_lines *l, struct dp_buf *out);
void ctl_lines_free(struct ctl_lines *l);

#endif
