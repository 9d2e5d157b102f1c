/* made_studies.h - studies made in memory, for the tests of figures. */
#ifndef DP_TEST_MADE_STUDIES_H
#define DP_TEST_MADE_STUDIES_H
#include "reports/figures/common/figure_data.h"
#include "reports/figures/figure_list.h"

extern struct report_data made_report;
extern struct arena made_mem; /* of what figures gather; freed by made_free() */
extern double made_now;       /* seconds, of the next event */

void made_apply(uint32_t study, struct dp_event e);
/* Creates the next study: with this name, these lines of objectives and anti-ideal. */
uint32_t made_study(const char *name, const char *objectives);
#define LOWER_BOTH "objectives: {a: {metric: a}, b: {metric: b}}\nanti_ideal: {a: 10, b: 10}"
#define LOWER_RAISE                                                                                \
	"objectives: {a: {metric: a}, b: {metric: b, goal: maximize}}\n"                           \
	"anti_ideal: {a: 10, b: 0.5}"
#define RAISE_LOWER                                                                                \
	"objectives: {a: {metric: a, goal: maximize}, b: {metric: b}}\n"                           \
	"anti_ideal: {a: 0, b: 10}"
#define RAISE_BOTH                                                                                 \
	"objectives: {a: {metric: a, goal: maximize}, b: {metric: b, goal: "                       \
	"maximize}}\nanti_ideal: {a: 0, b: 0}"
#define THREE                                                                                      \
	"objectives: {a: {metric: a}, b: {metric: b, goal: maximize}, c: {metric: c}}\n"           \
	"anti_ideal: {a: 10, b: 0.5, c: 10}"
#define ACCURACY                                                                                   \
	"objectives: {a: {metric: a}, error: {metric: accuracy, of: \"1 - "                        \
	"accuracy\"}}\n"                                                                           \
	"anti_ideal: {a: 10, error: 1}"

/* The same with trainings that walk q up, a whole number. */
uint32_t made_walk(const char *name, const char *objectives);

struct dp_study_state *made_state(uint32_t study);
uint32_t made_trial_by(uint32_t study, const char *source, double p, double q);
uint32_t made_trial(uint32_t study, double p, double q);
void made_attempt(uint32_t study, uint32_t trial, uint32_t attempt);
/* Ends an attempt that started at this second; metrics are those of two runs. */
void made_end(uint32_t study, uint32_t trial, uint32_t attempt, enum dp_end_class end, double start,
	      const double metrics[4]);
void made_trial_end(uint32_t study, uint32_t trial, const char *how, const double *y, uint32_t n);
/* A whole trial that takes a second; the runs of b lie `spread` around its mean. */
void made_result3(uint32_t study, double a, double b, double c, double spread);
void made_result(uint32_t study, double a, double b);
/* A training of such a study, as many seconds long as its q: a and b at q = 1 and q = 4
 * on its way, and at its end (NULL: it runs out of time). The runs of b lie `spread`
 * around each. */
void made_walked(uint32_t study, double q, const double way[2][2], const double *end,
		 double spread);
void made_failure(uint32_t study);
/* Makes the subjects once all events are in. */
struct study_data *made_subjects(void);
int made_begin(void **s);
int made_free(void **s);
int made_forget_fonts(void **s);

#endif
