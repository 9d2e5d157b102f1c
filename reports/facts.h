/* facts.h - everything a report says, as JSON; text.c only puts it into words.
 *
 * The same journal gives the same facts, byte for byte: no clock is asked. All
 * functions return a new reference. Unknown numbers are null. */
#ifndef DP_FACTS_H
#define DP_FACTS_H
#include "reports/report.h"
#include <jansson.h>

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

json_t *report_facts(const struct report *r, const struct picture *pictures, size_t n);

/* ---- points.c: trials as points, their spread, how far to trust them ---- */

/* Each point of the front: objectives, parameters, spread over its runs, the models'
 * value, other metrics. */
json_t *facts_front(const struct subject *s);
/* The best utility with epsilon at most 0.1, 0.5, 1, 2, 5, 10. */
json_t *facts_headline(const struct subject *s);
/* The best trial of each objective. */
json_t *facts_bests(const struct subject *s);
/* By how much the best of noisy observations may look too good. */
json_t *facts_optimism(const struct subject *s);

/* ---- privacy.c: what is behind each epsilon ---- */

/* For each privacy objective its mechanism, its assumptions and the cost of the whole
 * study. */
json_t *facts_privacy(const struct subject *s);
/* Other accountants' numbers for the trial, and do they fit? */
json_t *facts_check(const struct subject *s, const struct dp_trial *t, size_t objective);
/* A paragraph to copy: what may be said of one training at this point. */
json_t *facts_statement(const struct subject *s, const struct dp_trial *t,
			size_t objective);

/* ---- study.c: settings, failures, costs, how to do it again ---- */

json_t *facts_settings(const struct subject *s);
json_t *facts_failures(const struct subject *s, bool public);
json_t *facts_spent(const struct subject *s);
json_t *facts_reproduce(const struct report *r);

/* ---- helpers ---- */

/* A number, or null for NaN. */
json_t *facts_number(double x);
/* A text, or null for NULL. */
json_t *facts_text(const char *text);
/* So many trainings of the trial may have looked at the training records: every attempt
 * counts that may have started, with all the runs that were asked of it. */
double facts_trainings(const struct subject *s, const struct dp_trial *t);
/* `digits` significant digits, rounded up: epsilon is never shown below what it is. */
void facts_round_up(double x, int digits, struct dp_buf *out);

#endif
