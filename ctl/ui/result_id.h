/* result_id.h - result ids: 7 is trial 7, 7@4 its checkpoint at 4, m3 a re-evaluation. */
#ifndef DP_CTL_UI_RESULT_ID_H
#define DP_CTL_UI_RESULT_ID_H
#include "base/buf.h"
#include "ctl/text_format.h"
#include <jansson.h>

struct ctl_result_id {
	int64_t trial;
	int64_t checkpoint; /* 0: the trial itself */
};

DP_MUSTCHECK int ctl_result_id_parse(const char *text, struct ctl_result_id *out,
				     struct dp_err *err);
/* The checkpoint as a protocol field; NULL: the trial itself. */
json_t *ctl_result_id_checkpoint_json(const struct ctl_result_id *p);
/* Formats the id of an object with "trial" and "at": "7", "7@4" or "m3". */
char *ctl_format_result_id(const json_t *object, char out[CTL_TEXT_LEN]);
/* Formats an objective of a point or trial; an epsilon is rounded up. It is an epsilon if the
 * object has a "spread" without it. */
char *ctl_format_objective(const json_t *object, const char *name, const json_t *value,
			   char out[CTL_TEXT_LEN]);
/* Appends all objectives: "epsilon=0.5 error=0.2". values: "objectives" or a like member. */
void ctl_format_objectives(const json_t *object, const json_t *values, struct dp_buf *out);
/* Half width of the 95 % interval of an objective, the wider side: of the smoothed value if the
 * models chose the point, else of the mean of its runs. NaN: unknown or exact. */
double ctl_interval_half_width(const json_t *point, const char *name, bool denoised);
/* "9 points" or, with checkpoints among them, "14 points of 9 trainings". */
void ctl_format_point_count(const json_t *points, struct dp_buf *out);

#endif
