/* study_figures.h - draws figures of studies with the plot library of reports. */
#ifndef DP_SERVE_FIGURES_STUDY_FIGURES_H
#define DP_SERVE_FIGURES_STUDY_FIGURES_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>
#include "serve/data/trial_rows.h"

enum {
	FIGURE_MAX_STUDIES = 8
};

/* The data of a study, in protocol form. */
struct figure_study {
	const json_t *summary;
	json_t *status; /* owns `summary` */
	json_t *front;
	struct trial_rows *rows; /* of all trials; NULL: draw only the front */
	json_t *recommended;     /* from ctl_front_recommend(), or NULL */
};

struct figure_options {
	int width;
	bool is_inline; /* to be embedded in an HTML page */
};

struct figure_axis {
	const char *name;
	bool is_log;
};

/* Chooses the objectives for the x and y axes of a front. False: there are fewer than two. */
bool study_figure_choose_axes(const json_t *summary, struct figure_axis *x, struct figure_axis *y);
DP_MUSTCHECK int study_figure_render_front(const struct figure_study *studies, size_t n,
					   const struct figure_options *form, struct dp_buf *out,
					   struct dp_err *err);
DP_MUSTCHECK int study_figure_render_hypervolume(const struct figure_study *study,
						 const struct figure_options *form,
						 struct dp_buf *out, struct dp_err *err);
void study_figure_render_sparkline(const struct figure_study *study, struct dp_buf *out);

#endif
