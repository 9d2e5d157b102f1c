/* figure_render.h - gather and draw all figures of a report, with captions. */
#ifndef DP_REPORTS_FIGURES_FIGURE_RENDER_H
#define DP_REPORTS_FIGURES_FIGURE_RENDER_H
#include "reports/model/study_data.h"

struct rendered_figure {
	const struct figure *figure;
	struct dp_buf page_svg;      /* for the page; empty: see `why` */
	struct dp_buf png, svg, pdf; /* the requested formats */
	struct dp_buf csv;           /* plotted numbers */
	struct dp_buf alt;           /* alternative text */
	struct dp_buf caption;
	bool is_wide, is_single_row; /* needs the full page width; has one row of panels */
	bool has_nothing_to_show;    /* the study has no data for it */
	char reason[300];
};

struct rendered_file {
	const char *extension;
	const struct dp_buf *bytes;
};
enum {
	RENDERED_FILE_COUNT = 4 /* png, svg, pdf, csv: in this order */
};
/* All possible files; formats that were not rendered are empty. */
void rendered_figure_files(const struct rendered_figure *p,
			   struct rendered_file out[RENDERED_FILE_COUNT]);
/* The preferred format where only one can be used: PNG, or else the first available. NULL: not
 * drawn. */
const char *rendered_figure_extension(const struct rendered_figure *p);
static inline bool rendered_figure_is_drawn(const struct rendered_figure *p)
{
	return p->page_svg.len > 0;
}

/* Gathers and draws one figure. A failure is stored as a sentence. */
void figure_render(const struct report_data *r, const struct figure *f, struct rendered_figure *p);
void rendered_figure_free(struct rendered_figure *p);
/* Draws every figure that has something to show, or the list `wanted` ("front,timeline"). A listed
 * figure with nothing to show gets a sentence. */
DP_MUSTCHECK int figures_render(const struct report_data *r, const char *wanted,
				struct rendered_figure **out, size_t *n, struct dp_err *err);
void rendered_figures_free(struct rendered_figure *p, size_t n);

#endif
