/* made_space.h - a study made in memory, for the tests of figures of the parameter
 * space. */
#ifndef DP_TEST_MADE_SPACE_H
#define DP_TEST_MADE_SPACE_H
#include "linalg/linalg.h"
#include "optimize/history/history.h"
#include "reports/figures/common/param_space_internal.h"
#include "reports/figures/figure_list.h"

extern struct report_data made_report;
extern struct arena made_mem; /* of what figures gather; freed by made_free() */
extern struct dp_err made_err;

void made_apply(struct dp_event e);
#define HEAD       "study: s\ntrainer: {command: [x]}\n"
#define RANDOM     "search: {method: random, evaluations: 100000}\n"
#define TWO_METRIC "objectives: {a: {metric: a}, b: {metric: b}}\nanti_ideal: {a: 10, b: 10}\n"
#define SVT                                                                                        \
	"objectives: {epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}, "                 \
	"error: {metric: error}}\nanti_ideal: {epsilon: 10, error: 1}\n"
#define SVT_SPACE                                                                                  \
	"C: {type: int, range: [1, 30]}, b: {type: float, range: [0.01, 100], scale: "             \
	"log}"

struct dp_study_state *made_study(const char *text);
void made_trial(const char *how, const double *x, const double *y);
#define TRIAL(x, y) made_trial("ok", (const double[])x, (const double[])y)
#define V(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* The subject of what was applied so far; with models where they can be fitted. */
struct study_data *made_subject(bool models);
int made_free(void **state);
/* Random points of the study's space with objectives by this function. */
void made_scatter(uint32_t n, void (*value)(const double *x, double *y));
/* The closed form of the sparse vector technique's epsilon. */
double made_svt(double C, double b);
void assert_near(double a, double b, double tolerance);
void nothing_matters(const double *x, double *y);
void by_a_and_c(const double *x, double *y);
#define CUBE                                                                                       \
	HEAD "parameters: {a: {type: float, range: [0, 1]}, b: {type: float, range: "              \
	     "[0, 1]}, c: {type: float, range: [0, 1]}}\n" TWO_METRIC RANDOM

int made_forget_fonts(void **state);

#endif
