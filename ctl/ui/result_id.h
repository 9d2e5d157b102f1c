/* result_id.h - results as people name them: 7 is trial 7's own, 7@4 what its training was at
 * the waypoint 4. */
#ifndef DP_CTL_UI_RESULT_ID_H
#define DP_CTL_UI_RESULT_ID_H
#include "base/buf.h"
#include "ctl/text_format.h"
#include <jansson.h>

struct ctl_result_id {
	int64_t trial;
	int64_t checkpoint; /* 0: the trial's own */
};

/* Reads TRIAL[@AT], or m3 for a trial that measures a point again. */
DP_MUSTCHECK int ctl_result_id_parse(const char *text, struct ctl_result_id *out,
				     struct dp_err *err);
/* The waypoint as a field of the protocol; NULL: the trial's own. */
json_t *ctl_result_id_checkpoint_json(const struct ctl_result_id *p);
/* The same of an object that has "trial" and "at": "7" or "7@4"; "m3". */
char *ctl_format_result_id(const json_t *object, char out[CTL_TEXT_LEN]);
/* The value of an objective of a point or trial, for people: an epsilon is rounded up. It
 * is one of privacy if the object has a "spread" without it. */
char *ctl_format_objective(const json_t *object, const char *name, const json_t *value,
			   char out[CTL_TEXT_LEN]);
/* All of them: "epsilon=0.5 error=0.2". values: "objectives" or the like of the object. */
void ctl_format_objectives(const json_t *object, const json_t *values, struct dp_buf *out);
/* How far the 95 % interval of an objective reaches from its value, on the wider side: of
 * the models' value if they chose the point, else of the mean of its runs. NaN: that is
 * not known, or there is no doubt. */
double ctl_interval_half_width(const json_t *point, const char *name, bool denoised);
/* "9 points" or, where waypoints are among them, "14 points of 9 trainings". */
void ctl_format_point_count(const json_t *points, struct dp_buf *out);

#endif
