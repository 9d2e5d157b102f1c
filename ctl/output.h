/* output.h - data to standard output, talk and errors to standard error.
 *
 * Owns what is done with the two streams of struct ctl. What programs read goes to `out`,
 * what people are told beside it to `talk`; no command names stdout or stderr, so that a
 * test can look at both. */
#ifndef DP_CTL_OUTPUT_H
#define DP_CTL_OUTPUT_H
#include "base/buf.h"
#include "ctl/command.h"
#include <jansson.h>

/* Data, to ctl->out. A reader that went away is no error. */
void ctl_put(struct ctl *ctl, const char *text, size_t len);
void ctl_printf(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
void ctl_put_buf(struct ctl *ctl, struct dp_buf *buf); /* and frees it */
/* One JSON value and a newline; indented if a person looks. Borrows it. */
void ctl_put_json(struct ctl *ctl, const json_t *value);
void ctl_put_json_line(struct ctl *ctl, const json_t *value);
/* Pushes out what was printed; DP_E_IO with a sentence when that fails (a reader
 * that went away is no failure). */
DP_MUSTCHECK int ctl_flush(struct ctl *ctl, struct dp_err *err);
/* Talk, to ctl->talk, unless --quiet. The newline is added. */
void ctl_say(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* "dparetoctl: sentence" and "hint: ..." on ctl->talk, or the contract's JSON object on
 * ctl->out. */
void ctl_put_error(struct ctl *ctl, const struct dp_err *err);

enum ctl_style {
	CTL_NORMAL,
	CTL_BOLD,
	CTL_DIM,
	CTL_GOOD,
	CTL_WARN,
	CTL_BAD,
};
/* The escape sequence that starts a style ("" without colour), and the one that
 * ends it. */
const char *ctl_style_on(enum ctl_style style, bool color);
const char *ctl_style_off(enum ctl_style style, bool color);
/* Is colour wanted on this stream? */
bool ctl_colored(const struct ctl *ctl, FILE *stream);
/* Columns and rows of the terminal behind a stream; 0 columns if it is none. */
void ctl_terminal_size(FILE *stream, int *columns, int *rows);

#endif
