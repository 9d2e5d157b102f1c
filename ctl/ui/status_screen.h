/* status_screen.h - formats the status of a study for the screen.
 *
 * Owns nothing: appends to a buffer. */
#ifndef DP_CTL_UI_STATUS_SCREEN_H
#define DP_CTL_UI_STATUS_SCREEN_H
#include "base/buf.h"
#include <jansson.h>

struct ctl_screen {
	int columns; /* 0: no limit */
	int rows;    /* 0: no limit */
	bool color, utf8;
};

/* Appends the output of `status`. Lines wider than the screen are wrapped. With a row limit,
 * running trials and failures are shortened so that they do not fill the screen. */
void ctl_render_status(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen);
/* Appends one view of `watch` within the rows and columns of the screen. The most important lines
 * stay. With enough space it adds the plot of the front and the latest results. */
void ctl_render_watch(struct dp_buf *out, const json_t *status, const struct ctl_screen *screen);
/* "epsilon 10, error 1" */
void ctl_format_reference_point(const json_t *summary, struct dp_buf *out);
/* Appends the hypervolumes of a summary or front object: observed, smoothed, re-evaluated, and the
 * reference point. Says so if the smoothed one covers only some of the results. */
void ctl_format_hypervolume(const json_t *study, struct dp_buf *out);

#endif
