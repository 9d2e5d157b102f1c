/* text_format.h - formats protocol values for people.
 *
 * Texts are UTF-8. Widths come from the C library, which needs a UTF-8 LC_CTYPE (set by main()). */
#ifndef DP_CTL_TEXT_FORMAT_H
#define DP_CTL_TEXT_FORMAT_H
#include "base/buf.h"
#include "base/units.h"
#include <jansson.h>
#include <stdint.h>

enum ctl_style {
	CTL_NORMAL,
	CTL_BOLD,
	CTL_DIM,
	CTL_GOOD,
	CTL_WARN,
	CTL_BAD,
};

enum {
	CTL_TEXT_LEN = 48
};
/* Width of a UTF-8 text in terminal columns. */
int ctl_text_width(const char *text);
/* Appends at most `columns` columns of a text, with an ellipsis if it is cut. Control characters
 * become '?', so that a trainer's message cannot control the terminal. Returns the columns used. */
int ctl_text_truncate(struct dp_buf *out, const char *text, int columns, bool utf8);
void ctl_text_sanitize(struct dp_buf *out, const char *text);
/* Returns how many bytes of a text fit on a line, cut at the last space if there is one. At least
 * one character. */
size_t ctl_text_line_len(const char *text, int columns);
/* "3m ago" for an ISO time of the protocol, "-" without one. */
char *ctl_format_age(const char *iso, char out[CTL_TEXT_LEN]);
/* "2026-03-01 12:00:03" in local time. */
char *ctl_format_local_time(const char *iso, char out[CTL_TEXT_LEN]);
/* Formats a protocol value with five digits. */
char *ctl_format_value(const json_t *value, char out[CTL_TEXT_LEN]);
/* The same, rounded up: a displayed epsilon is never below the true one. */
char *ctl_format_upper_bound(const json_t *value, char out[CTL_TEXT_LEN]);
/* Formats a number with `digits` digits, rounded up if it is a bound. */
char *ctl_format_number(double x, int digits, bool bound, char out[CTL_TEXT_LEN]);
/* Formats a value in full for CSV: numbers bit for bit, null as nothing. */
void ctl_format_exact_value(const json_t *value, struct dp_buf *out);
/* "1 trial", "3 trials": the count under a key of an object. */
char *ctl_format_count(const json_t *object, const char *key, const char *thing,
		       char out[DP_PLURAL_LEN]);
/* Formats seconds as a duration, "-" for null. */
char *ctl_format_duration(const json_t *value, char out[CTL_TEXT_LEN]);
/* Appends the privacy cost of a private selection, without a full stop. False: the cost is unknown
 * or it is not a private selection. */
bool ctl_format_selection_cost(const json_t *selection, struct dp_buf *out);
/* Progress in trials or by search.max_cost: "12 of 80" or "12, cost 82 of 100". */
char *ctl_format_progress(const json_t *summary, int64_t ended, char out[CTL_TEXT_LEN]);
/* The same as a sentence: "12 of 80 trials have ended", "1 trial has ended, cost 82 of 100". */
void ctl_format_progress_sentence(const json_t *summary, struct dp_buf *out);
/* The same for a table cell: "12/80" or "12 (82%)". */
char *ctl_format_progress_cell(const json_t *summary, char out[CTL_TEXT_LEN]);
/* "3 of 12 points again, 150 of 600 runs (25 %)"; false: no re-evaluation runs. */
bool ctl_format_reevaluation(const json_t *summary, struct dp_buf *out);
/* "epsilon=0.5 error=0.2". */
void ctl_format_pairs(const json_t *object, struct dp_buf *out);
/* Changes of a study's settings: "timeout 10s -> 30s, parallel 2 -> 4". */
void ctl_format_changes(const json_t *changes, struct dp_buf *out);
/* A bar of `columns` columns, filled to `part` in 0..1. */
void ctl_format_progress_bar(struct dp_buf *out, double part, int columns, bool utf8);
enum ctl_style ctl_state_style(const char *state);
/* Appends paragraphs wrapped at `columns`, each line after `indent` spaces. */
void ctl_text_wrap(struct dp_buf *out, const char *text, int indent, int columns);

#endif
