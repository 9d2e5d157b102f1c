/* status_screen.h - one study on the screen.
 *
 * Owns nothing: appends to a buffer what a status of the protocol says. */
#ifndef DP_CTL_UI_STATUS_SCREEN_H
#define DP_CTL_UI_STATUS_SCREEN_H
#include "base/buf.h"
#include <jansson.h>

/* Where it is shown. */
struct ctl_screen {
	int columns; /* 0: as wide as it takes */
	int rows;    /* 0: as many as it takes */
	bool color, utf8;
};

/* Appends what `status` shows of a study. No line is wider than the screen: long ones are
 * wrapped. Where the screen has rows, running trials and failures are so few that it is
 * not filled by them. */
void ctl_render_status(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen);
/* Appends what `watch` shows of it: never more lines than the screen has rows, never a
 * wider one. What matters most stays; where there is room, the front is drawn and the
 * last results are listed. */
void ctl_render_watch(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen);
/* "epsilon 10, error 1" */
void ctl_format_reference_point(const json_t *summary, struct dp_buf *out);
/* "8.1 as observed, 8.05 denoised (anti-ideal: epsilon 10, error 1)" of a summary or a
 * front object; of fewer results than there are it says so. */
void ctl_format_hypervolume(const json_t *study, struct dp_buf *out);

#endif
