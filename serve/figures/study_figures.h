/* study_figures.h - pictures of studies from what the daemon tells, by the report's own plot
 * library. */
#ifndef DP_SERVE_FIGURES_STUDY_FIGURES_H
#define DP_SERVE_FIGURES_STUDY_FIGURES_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>
#include "serve/data/trial_rows.h"

enum {
	FIGURE_MAX_STUDIES = 8 /* in one picture */
};

/* What is known of a study: as the protocol has it. */
struct figure_study {
	const json_t *summary;
	json_t *status; /* which the summary is a part of */
	json_t *front;
	struct trial_rows *rows; /* of all trials; NULL: only the front is drawn */
	json_t *recommended;     /* as ctl_front_recommend() gives it; or NULL */
};

struct figure_options {
	int width;      /* CSS pixels */
	bool is_inline; /* to be put into a page */
};

/* An objective as an axis of a picture. */
struct figure_axis {
	const char *name;
	bool is_log;
};

/* The objectives that a picture of the study's front has across and up. False: there are
 * not two. */
bool study_figure_choose_axes(const json_t *summary, struct figure_axis *x, struct figure_axis *y);
/* The fronts of one study or several. */
DP_MUSTCHECK int study_figure_render_front(const struct figure_study *studies, size_t n,
					   const struct figure_options *form, struct dp_buf *out,
					   struct dp_err *err);
/* The hypervolume as evaluations ended. */
DP_MUSTCHECK int study_figure_render_hypervolume(const struct figure_study *study,
						 const struct figure_options *form,
						 struct dp_buf *out, struct dp_err *err);
/* The same as a line without axes, to stand in a table. */
void study_figure_render_sparkline(const struct figure_study *study, struct dp_buf *out);

#endif
