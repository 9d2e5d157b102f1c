/* warm_start_source.h - parses search.initial_from. */
#ifndef DP_STUDY_WARM_START_SOURCE_H
#define DP_STUDY_WARM_START_SOURCE_H
#include "base/base.h"

/* Returns how many bytes of the text are a state directory. *name: study; NULL: the only one. */
size_t dp_warm_start_parse(const char *text, const char **name);
/* The study's name for display, without a directory. NULL for NULL. */
const char *dp_warm_start_display_name(const char *text);

#endif
