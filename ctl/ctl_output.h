/* ctl_output.h - writes data to standard output, messages and errors to standard error.
 *
 * Data goes to ctl->out, messages to ctl->err_stream. Commands never use stdout or stderr, so that
 * tests can capture both. Data is flushed before each message: with `2>&1`, no message splits a
 * row. */
#ifndef DP_CTL_CTL_OUTPUT_H
#define DP_CTL_CTL_OUTPUT_H
#include "base/buf.h"
#include "ctl/ctl_command.h"
#include "ctl/text_format.h"
#include <jansson.h>

/* Text from trainers, study files and other users must not control the terminal. On a terminal it
 * is escaped unless --raw is given: "^[" for an escape character, "\x9b" for a byte that is not
 * UTF-8, "<U+009B>" for other control characters. Pipes and files get the original bytes. */

/* Prints untrusted data to ctl->out. A closed pipe is not an error. */
void ctl_print_bytes(struct ctl *ctl, const char *text, size_t len);
/* The same for text that may contain our own style sequences. */
void ctl_printf(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
void ctl_print_buf(struct ctl *ctl, struct dp_buf *buf); /* and frees it */
/* Prints one JSON value and a newline, indented on a terminal. Borrows the value. */
void ctl_print_json(struct ctl *ctl, const json_t *value);
void ctl_print_json_line(struct ctl *ctl, const json_t *value);
/* Flushes standard output. Returns DP_E_IO if a write has failed; a closed pipe is not a
 * failure. */
DP_MUSTCHECK int ctl_flush(struct ctl *ctl, struct dp_err *err);
/* Prints a message to ctl->err_stream unless --quiet. Adds the newline. */
void ctl_print_message(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* Prints a sentence as data, wrapped on a terminal. Adds the newline. */
void ctl_print_wrapped(struct ctl *ctl, const char *format, ...) DP_PRINTF(2, 3);
/* Prints another program's lines to ctl->err_stream, also with --quiet. */
void ctl_print_stderr(struct ctl *ctl, const char *text);
/* Is text for this stream escaped? */
bool ctl_escapes_output(const struct ctl *ctl, FILE *stream);
/* Appends the escaped text; with `styles`, keeps our own style sequences. */
void ctl_escape_controls(struct dp_buf *out, const char *text, size_t len, bool styles);
/* Returns the length of an incomplete UTF-8 character at the end of a text. */
size_t ctl_utf8_partial_len(const char *text, size_t len);
/* Prints "dparetoctl: sentence" and "hint: ..." to ctl->err_stream, or with -o json the error
 * object to ctl->out. */
void ctl_print_error(struct ctl *ctl, const struct dp_err *err);

/* Escape sequences that start and end a style; "" without color. */
const char *ctl_style_on(enum ctl_style style, bool color);
const char *ctl_style_off(enum ctl_style style, bool color);
/* Does this stream get color? */
bool ctl_use_color(const struct ctl *ctl, FILE *stream);
/* Size of the terminal of a stream; 0 columns if it is not a terminal. */
void ctl_terminal_size(FILE *stream, int *columns, int *rows);

#endif
