/* figures.h - pictures of studies from what the daemon tells, by the report's own
 * plot library. */
#ifndef DP_SERVE_FIGURES_H
#define DP_SERVE_FIGURES_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>
#include "serve/rows.h"

enum {
	FIGURES_STUDIES = 8 /* in one picture */
};

/* What is known of a study: as the protocol has it. */
struct pictured {
	const json_t *summary, *front;
	const struct rows *rows; /* of all trials; NULL: only the front is drawn */
	const json_t *chosen;    /* as choice_find() gives it; or NULL */
};

struct figure_form {
	int width;    /* CSS pixels */
	bool inlined; /* to be put into a page */
};

/* An objective as an axis of a picture. */
struct figure_axis {
	const char *name;
	bool logarithmic;
};

/* The objectives that a picture of the study's front has across and up. False: there are
 * not two. */
bool figures_axes(const json_t *summary, struct figure_axis *x, struct figure_axis *y);
/* The fronts of one study or several. */
DP_MUSTCHECK int figures_front(const struct pictured *studies, size_t n,
			       const struct figure_form *form, struct dp_buf *out,
			       struct dp_err *err);
/* The hypervolume as evaluations ended. */
DP_MUSTCHECK int figures_hypervolume(const struct pictured *study, const struct figure_form *form,
				     struct dp_buf *out, struct dp_err *err);
/* The same as a line without axes, to stand in a table. */
DP_MUSTCHECK int figures_spark(const struct pictured *study, struct dp_buf *out,
			       struct dp_err *err);

#endif
