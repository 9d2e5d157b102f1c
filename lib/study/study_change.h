/* study_change.h - changes of live keys, the canonical form, and differences of two studies. */
#ifndef DP_STUDY_STUDY_CHANGE_H
#define DP_STUDY_STUDY_CHANGE_H
#include "base/base.h"
#include <jansson.h>

struct dp_study;
struct dp_key_doc;

/* The live key with this path or path ending: "trainer.timeout" or "timeout". NULL with DP_E_USAGE
 * if there is no such key or it is immutable. */
const struct dp_key_doc *dp_study_find_live_key(const char *name, struct dp_err *err);
/* Sets a key that is live or decided at submit. `value` is written as in the file; "none" removes a
 * limit. `s` may be a copy by value: no memory behind pointers is written. Unchanged on error. */
DP_MUSTCHECK int dp_study_set_key(struct dp_study *s, const char *path, const char *value,
				  struct dp_err *err);
/* The same for "trainer.timeout=30s". */
DP_MUSTCHECK int dp_study_apply_change(struct dp_study *s, const char *change, struct dp_err *err);
/* The canonical form: all values with defaults, as texts by path: {"study":"s",
 * "trainer.timeout":"30s","parameters":"[a, b]","parameters.a.range":"[0, 1]",...}.
 * dp_study_set_key() reads the values of live keys back. */
json_t *dp_study_canonical_json(const struct dp_study *s);
/* The differences: [{"key":...,"from":...,"to":...,"live":...}], null where a key is absent. */
json_t *dp_study_diff(const struct dp_study *from, const struct dp_study *to);

#endif
