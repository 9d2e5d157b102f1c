/* warm_start_source.h - what search.initial_from names. */
#ifndef DP_STUDY_WARM_START_SOURCE_H
#define DP_STUDY_WARM_START_SOURCE_H
#include "base/base.h"

/* What search.initial_from names (origin.c): so many bytes of the text are a state
 * folder, 0: none. *name is the study's; NULL: the only one there. */
size_t dp_warm_start_parse(const char *text, const char **name);
/* The study in words that tell of no folder; NULL for NULL. */
const char *dp_warm_start_display_name(const char *text);

#endif
