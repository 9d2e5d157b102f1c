/* pictures.h - the figures of a report as pictures with their captions. */
#ifndef DP_PICTURES_H
#define DP_PICTURES_H
#include "reports/report.h"

/* A figure that was drawn, or why it was not. */
struct picture {
	const struct figure *figure;
	struct dp_buf page;          /* SVG for the page; empty: see `why` */
	struct dp_buf png, svg, pdf; /* those that were asked for */
	struct dp_buf csv;           /* the numbers that are drawn */
	struct dp_buf alt;           /* what kind of picture it is */
	struct dp_buf caption;       /* what it shows */
	bool wide, flat;             /* it needs the width of a page; one row of panels */
	bool absent;                 /* the study has nothing that it could show */
	char why[300];
};

/* A file of a picture: what its name ends in, and its bytes. */
struct picture_file {
	const char *kind;
	const struct dp_buf *bytes;
};
enum {
	PICTURE_FILES = 4 /* png, svg, pdf, csv: in this order */
};
/* All files that a picture can have; those it has not have no bytes. */
void picture_files(const struct picture *p, struct picture_file out[PICTURE_FILES]);
/* The kind of the file that stands for the picture where only one can: a PNG, else what
 * there is. NULL: it was not drawn. */
const char *picture_kind(const struct picture *p);
static inline bool picture_drawn(const struct picture *p)
{
	return p->page.len > 0;
}

/* Gathers and draws one figure. One that fails leaves a sentence (pictures.c). */
void picture_draw(const struct report *r, const struct figure *f, struct picture *p);
void picture_free(struct picture *p);
/* Draws every figure that has something to show, or those that `wanted` names (a list
 * "front,timeline"), where one that has nothing to show leaves a sentence, too. */
DP_MUSTCHECK int pictures_draw(const struct report *r, const char *wanted, struct picture **out,
			       size_t *n, struct dp_err *err);
void pictures_free(struct picture *p, size_t n);

#endif
