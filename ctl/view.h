/* view.h - one study on the screen.
 *
 * Owns nothing: appends to a buffer what a status of the protocol says. */
#ifndef DP_CTL_VIEW_H
#define DP_CTL_VIEW_H
#include "base/buf.h"
#include <jansson.h>

/* Appends what `status` shows of a study, at most `rows` lines (0: as many as it
 * takes) of `columns`. */
void ctl_study_view(struct dp_buf *out, const json_t *status, int columns, int rows,
		    bool color, bool utf8);
/* "epsilon 10, error 1" */
void ctl_anti_ideal(const json_t *summary, struct dp_buf *out);

#endif
