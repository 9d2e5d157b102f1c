/* config_file.h - reads `option: value` files as strictly as study files. */
#ifndef DP_STUDY_CONFIG_FILE_H
#define DP_STUDY_CONFIG_FILE_H
#include "study/diagnostics.h"

/* Calls set() for each option, for example of a daemon's configuration. What set() refuses becomes
 * a diagnostic at that place. A list or map goes to set_tree() as JSON with every scalar as text; a
 * refusal that begins with a path ("hooks[1].on ...") becomes a diagnostic at that path. */
typedef int dp_config_set_fn(void *arg, const char *name, const char *value, struct dp_err *err);
DP_MUSTCHECK int dp_config_parse(const char *text, size_t len, const char *path,
				 dp_config_set_fn *set, dp_config_set_fn *set_tree, void *arg,
				 struct dp_diagnostics *diagnostics, struct dp_err *err);

#endif
