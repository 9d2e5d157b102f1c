/* diagnostics.h - errors and warnings about a study file or a configuration file. */
#ifndef DP_STUDY_DIAGNOSTICS_H
#define DP_STUDY_DIAGNOSTICS_H
#include "base/buf.h"
#include <jansson.h>

struct dp_diagnostic {
	int line, column; /* from 1; 0: the file as a whole */
	bool is_warning;  /* the study can still run */
	char *message;    /* what is wrong */
	char *allowed;    /* what is allowed; may be NULL */
};
struct dp_diagnostics {
	struct dp_diagnostic *list;
	size_t count, error_count;
};
void dp_diagnostics_free(struct dp_diagnostics *p);
/* Appends every diagnostic for people, with the line and a caret:
 *   study.yaml:7:3: error: unknown key 'evalutions'; did you mean 'evaluations'?
 *      7 |   evalutions: 80
 *        |   ^
 * and a last line with their number. */
void dp_diagnostics_format(const struct dp_diagnostics *p, const char *path, const char *text,
			   size_t len, struct dp_buf *out);
/* [{"line":7,"column":3,"severity":"error","message":...,"allowed":...,
 *   "source":"  evalutions: 80"}] */
json_t *dp_diagnostics_to_json(const struct dp_diagnostics *p, const char *text, size_t len);

#endif
