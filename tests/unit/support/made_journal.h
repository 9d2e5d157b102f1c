/* made_journal.h - a journal of one study made by hand, and the facts and words of its
 * report. */
#ifndef DP_TEST_MADE_JOURNAL_H
#define DP_TEST_MADE_JOURNAL_H
#include "reports/text/report_document.h"

#define SEED "987654321"

#define STUDY(objective, more)                                                                     \
	"study: s\nseed: " SEED "\ntrainer: {command: [x], runs: 3}\n"                             \
	"parameters: {sigma: {type: float, range: [0.1, 100]}}\n"                                  \
	"objectives:\n  epsilon: {privacy: {" objective "}}\n"                                     \
	"  error: {metric: accuracy, of: \"1 - accuracy\"}\n"                                      \
	"anti_ideal: {epsilon: 10, error: 1}\n"                                                    \
	"search: {method: random, evaluations: 10}\n" more

extern const char gaussian[], persons[], svt[], sgd[], pipeline[], gaussians[], program[];
extern const char falling[]; /* epsilon falls along its path */
extern const char walk[];    /* every training is a path over epochs */

extern struct report_data report;
extern struct report_model facts;
extern struct dp_study *spec;
extern double made_majority; /* accuracy that trainers report as that of guessing; 0: none */

void begin(const char *text);
/* Journals an event of the study; its time and place are filled in. */
void put(struct dp_event e);
void propose(uint32_t trial, double sigma);
/* An attempt that makes all three runs; `accuracy` NULL: it reports nothing. */
void attempt(uint32_t trial, uint32_t number, enum dp_end_class end, const double *accuracy,
	     const char *message);
double epsilon_at_order(double sigma);
void ended(uint32_t trial, const char *state, double epsilon, double error);
/* A trial with one good attempt. */
void evaluate(uint32_t trial, double sigma, double a, double b, double c);
/* Ends the study and reads it. */
void load(bool public);
int finish(void **state);
void assert_near(double a, double b, double tolerance);
/* Builds the report model without figures; freed by finish(). */
const struct report_model *find_facts(void);
/* A part of report.json by its path, "front/0/runs/error"; the number, count or text there:
 * NaN, negative or NULL for null. */
json_t *fact(const char *path);
double fact_number(const char *path);
int64_t fact_count(const char *path);
const char *fact_text(const char *path);
/* Trial 0 is on its way and at its end on the front, trial 1 is only on its way, because
 * it ran out of time. */
const struct report_model *walk_facts(void);
/* The report's text in a form, without figures, and its JSON. */
char *whole(enum doc_format form);

#endif
