/* point.h - results as people name them: 7 is trial 7's own, 7@4 what its training was at
 * the waypoint 4. */
#ifndef DP_CTL_POINT_H
#define DP_CTL_POINT_H
#include "base/buf.h"
#include "ctl/text.h"
#include <jansson.h>

struct ctl_point {
	int64_t trial;
	int64_t at; /* 0: the trial's own */
};

/* Reads TRIAL[@AT], or m3 for a trial that measures a point again. */
DP_MUSTCHECK int ctl_point_read(const char *text, struct ctl_point *out,
				struct dp_err *err);
/* The waypoint as a field of the protocol; NULL: the trial's own. */
json_t *ctl_point_at(const struct ctl_point *p);
/* The same of an object that has "trial" and "at": "7" or "7@4"; "m3". */
char *ctl_point_text(const json_t *object, char out[CTL_TEXT_LEN]);
/* "9 points" or, where waypoints are among them, "14 points of 9 trainings". */
void ctl_point_count(const json_t *points, struct dp_buf *out);

#endif
