/* figure_render.h - the figures of a report as pictures with their captions. */
#ifndef DP_REPORTS_FIGURES_FIGURE_RENDER_H
#define DP_REPORTS_FIGURES_FIGURE_RENDER_H
#include "reports/model/study_data.h"

/* A figure that was drawn, or why it was not. */
struct rendered_figure {
	const struct figure *figure;
	struct dp_buf page_svg;      /* SVG for the page; empty: see `why` */
	struct dp_buf png, svg, pdf; /* those that were asked for */
	struct dp_buf csv;           /* the numbers that are drawn */
	struct dp_buf alt;           /* what kind of picture it is */
	struct dp_buf caption;       /* what it shows */
	bool is_wide, is_single_row; /* it needs the width of a page; one row of panels */
	bool has_nothing_to_show;    /* the study has nothing that it could show */
	char reason[300];
};

/* A file of a picture: what its name ends in, and its bytes. */
struct rendered_file {
	const char *extension;
	const struct dp_buf *bytes;
};
enum {
	RENDERED_FILE_COUNT = 4 /* png, svg, pdf, csv: in this order */
};
/* All files that a picture can have; those it has not have no bytes. */
void rendered_figure_files(const struct rendered_figure *p,
			   struct rendered_file out[RENDERED_FILE_COUNT]);
/* The kind of the file that stands for the picture where only one can: a PNG, else what
 * there is. NULL: it was not drawn. */
const char *rendered_figure_extension(const struct rendered_figure *p);
static inline bool rendered_figure_is_drawn(const struct rendered_figure *p)
{
	return p->page_svg.len > 0;
}

/* Gathers and draws one figure. One that fails leaves a sentence (figure_render.c). */
void figure_render(const struct report_data *r, const struct figure *f, struct rendered_figure *p);
void rendered_figure_free(struct rendered_figure *p);
/* Draws every figure that has something to show, or those that `wanted` names (a list
 * "front,timeline"), where one that has nothing to show leaves a sentence, too. */
DP_MUSTCHECK int figures_render(const struct report_data *r, const char *wanted,
				struct rendered_figure **out, size_t *n, struct dp_err *err);
void rendered_figures_free(struct rendered_figure *p, size_t n);

#endif
