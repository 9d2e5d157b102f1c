/* number_format.h - format numbers for readers. */
#ifndef DP_REPORTS_MODEL_NUMBER_FORMAT_H
#define DP_REPORTS_MODEL_NUMBER_FORMAT_H
#include "base/buf.h"
#include "base/units.h"
#include "optimize/pareto/pareto.h"
#include <jansson.h>

enum {
	FORMAT_LEN = 48
};

/* Four significant digits; "-" for NaN. */
const char *format_short(double x, char out[FORMAT_LEN]);
/* As many digits as the standard error justifies; four if it is unknown. */
const char *format_with_error(double x, double error, char out[FORMAT_LEN]);
/* Two significant digits, for an error itself. */
const char *format_error(double x, char out[FORMAT_LEN]);
/* Four significant digits, rounded up: for epsilon. */
const char *format_rounded_up(double x, char out[FORMAT_LEN]);
/* `digits` significant digits, rounded up, so that epsilon is never understated. */
char *number_format_rounded_up(double x, int digits, char out[DP_NUM_LEN]);
void number_append_rounded_up(double x, int digits, struct dp_buf *out);

/* A value of an objective with as many digits as its standard error justifies. Epsilon is rounded
 * up, shares are in percent. Only format_objective_value() adds the percent sign. */
const char *format_objective_number(const json_t *objective, double x, double error,
				    char out[FORMAT_LEN]);
const char *format_objective_value(const json_t *objective, double x, double error,
				   char out[FORMAT_LEN]);
/* A difference of two values: "0.3 percentage points", "0.003". */
const char *format_objective_difference(const json_t *objective, double x, double error,
					char out[FORMAT_LEN]);

/* "epochs 4, clip 0.5" */
void format_parameter_list(json_t *parameters, struct dp_buf *out);
/* ": no meaningful guarantee" for an epsilon above the meaningful range, else "". */
const char *guarantee_note(double epsilon);
/* "" or "s". */
const char *plural_suffix(int64_t n);

#endif
