/* study_change.h - keys that may change while a study goes on, and where two studies differ. */
#ifndef DP_STUDY_STUDY_CHANGE_H
#define DP_STUDY_STUDY_CHANGE_H
#include "base/base.h"
#include <jansson.h>

struct dp_study;
struct dp_key_doc;

/* The key of the file that may change: by its path or the end of that, "trainer.timeout"
 * or "timeout". NULL with DP_E_USAGE: there is no such key, or it would be another study.
 */
const struct dp_key_doc *dp_study_find_live_key(const char *name, struct dp_err *err);
/* Gives a key that may change (or is decided at submit) another value, as a file has it;
 * "none" takes a limit away. `s` may be a copy by value: only numbers and words in the
 * structs themselves are written. On error it is unchanged. */
DP_MUSTCHECK int dp_study_set_key(struct dp_study *s, const char *path, const char *value,
				  struct dp_err *err);
/* The same, written as "trainer.timeout=30s". */
DP_MUSTCHECK int dp_study_apply_change(struct dp_study *s, const char *change, struct dp_err *err);
/* All that the file means, defaults filled in, as texts by path: {"study":"s",
 * "trainer.timeout":"30s","parameters":"[a, b]","parameters.a.range":"[0, 1]",...}. What
 * may change reads back by dp_study_set_key(). */
json_t *dp_study_canonical_json(const struct dp_study *s);
/* Where two of them differ: [{"key":...,"from":...,"to":...,"live":...}], from or to null
 * where it is not there. */
json_t *dp_study_diff(const struct dp_study *from, const struct dp_study *to);

#endif
