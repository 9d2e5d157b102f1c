/* ctl_output.h - data to standard output, talk and errors to standard error.
 *
 * Owns what is done with the two streams of struct ctl. What programs read goes to `out`, what
 * people are told beside it to `talk`; no command names stdout or stderr, so that a test can look
 * at both. Data is flushed before each message: with `2>&1` no message lands inside a row. */
#ifndef DP_CTL_CTL_OUTPUT_H
#define DP_CTL_CTL_OUTPUT_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include "ctl/text_format.h"
#include <jansson.h>

/* What trainers, study files and other people wrote must not steer the terminal of
 * whoever looks at it: whatever goes to one is shown visibly, "^[" for an escape, "\x9b"
 * for a byte that is not UTF-8 and "<U+009B>" for other control characters, unless --raw
 * is given. Pipes and files get the bytes as they are. */

/* Data, to ctl->out, of which nothing is ours. A reader that went away is no error. */
void ctl_print_bytes(struct ctl *ctl, const char *text, size_t len);
/* The same for texts that may have our own styles in them. */
void ctl_printf(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
void ctl_print_buf(struct ctl *ctl, struct dp_buf *buf); /* and frees it */
/* One JSON value and a newline; indented if a person looks. Borrows it. */
void ctl_print_json(struct ctl *ctl, const json_t *value);
void ctl_print_json_line(struct ctl *ctl, const json_t *value);
/* Pushes out what was printed; DP_E_IO with a sentence when that fails (a reader
 * that went away is no failure). */
DP_MUSTCHECK int ctl_flush(struct ctl *ctl, struct dp_err *err);
/* Talk, to ctl->talk, unless --quiet. The newline is added. */
void ctl_print_message(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* A sentence among data, wrapped on a terminal as talk is. The newline is added. */
void ctl_print_wrapped(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* Foreign lines to ctl->talk, also with --quiet. */
void ctl_print_stderr(struct ctl *ctl, const char *text);
/* Does the stream get texts in their visible form? */
bool ctl_escapes_output(const struct ctl *ctl, FILE *stream);
/* Appends that form; with `styles` our own styles stay what they are. */
void ctl_escape_controls(struct dp_buf *out, const char *text, size_t len, bool styles);
/* Bytes at the end of a text that are the beginning of a character. */
size_t ctl_utf8_partial_len(const char *text, size_t len);
/* "dparetoctl: sentence" and "hint: ..." on ctl->talk, or the contract's JSON object on
 * ctl->out. */
void ctl_print_error(struct ctl *ctl, const struct dp_err *err);

/* The escape sequence that starts a style ("" without colour), and the one that ends it. */
const char *ctl_style_on(enum ctl_style style, bool color);
const char *ctl_style_off(enum ctl_style style, bool color);
/* Is colour wanted on this stream? */
bool ctl_use_color(const struct ctl *ctl, FILE *stream);
/* Columns and rows of the terminal behind a stream; 0 columns if it is none. */
void ctl_terminal_size(FILE *stream, int *columns, int *rows);

#endif
