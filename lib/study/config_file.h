/* config_file.h - files of `option: value`, read as strictly as study files. */
#ifndef DP_STUDY_CONFIG_FILE_H
#define DP_STUDY_CONFIG_FILE_H
#include "study/diagnostics.h"

/* The same reader for files of `option: value`, such as a daemon's configuration: calls
 * set() for each; what it refuses becomes a problem at that place. A list or a map goes
 * to set_tree() as JSON, every scalar in it a text; a refusal whose sentence begins with
 * a path ("hooks[1].on ...") becomes a problem at that part of the value. */
typedef int dp_config_set_fn(void *arg, const char *name, const char *value, struct dp_err *err);
DP_MUSTCHECK int dp_config_parse(const char *text, size_t len, const char *path,
				 dp_config_set_fn *set, dp_config_set_fn *set_tree, void *arg,
				 struct dp_diagnostics *diagnostics, struct dp_err *err);

#endif
