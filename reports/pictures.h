/* pictures.h - the figures of a report as pictures with their captions. */
#ifndef DP_PICTURES_H
#define DP_PICTURES_H
#include "reports/report.h"

/* A figure that was drawn, or why it was not. */
struct picture {
	const struct figure *figure;
	struct dp_buf png;     /* empty: see `why` */
	struct dp_buf caption; /* also the text alternative */
	bool absent;           /* the study has nothing that it could show */
	char why[300];
};

/* Gathers and draws one figure. One that fails leaves a sentence (pictures.c). */
void picture_draw(const struct report *r, const struct figure *f, struct picture *p);
void picture_free(struct picture *p);
/* Draws every figure that has something to show, or those that `wanted` names (a list
 * "front,timeline"), where one that has nothing to show leaves a sentence, too. */
DP_MUSTCHECK int pictures_draw(const struct report *r, const char *wanted,
			       struct picture **out, size_t *n, struct dp_err *err);
void pictures_free(struct picture *p, size_t n);

#endif
