/* number_format.h - numbers for people. */
#ifndef DP_REPORTS_MODEL_NUMBER_FORMAT_H
#define DP_REPORTS_MODEL_NUMBER_FORMAT_H
#include "base/buf.h"
#include "base/units.h"
#include "optimize/pareto/pareto.h"
#include <jansson.h>

enum {
	FORMAT_LEN = 48
};

/* Four digits; "-" for what is not known. */
const char *format_short(double x, char out[FORMAT_LEN]);
/* To the digits that a standard error leaves; four where it is unknown. */
const char *format_with_error(double x, double error, char out[FORMAT_LEN]);
/* Two digits, for an error itself. */
const char *format_error(double x, char out[FORMAT_LEN]);
/* Four digits, rounded up, for epsilon. */
const char *format_rounded_up(double x, char out[FORMAT_LEN]);
/* `digits` significant digits, rounded up: epsilon is never shown below what it is. */
char *number_format_rounded_up(double x, int digits, char out[DP_NUM_LEN]);
void number_append_rounded_up(double x, int digits, struct dp_buf *out);

/* A value of an objective of the report model: to the digits that a standard error leaves,
 * epsilon rounded up; shares in percent, with the sign in format_objective_value() only. */
const char *format_objective_number(const json_t *objective, double x, double error,
				    char out[FORMAT_LEN]);
const char *format_objective_value(const json_t *objective, double x, double error,
				   char out[FORMAT_LEN]);
/* A difference of two: "0.3 percentage points", "0.003". */
const char *format_objective_difference(const json_t *objective, double x, double error,
					char out[FORMAT_LEN]);

/* "epochs 4, clip 0.5" */
void format_parameter_list(json_t *parameters, struct dp_buf *out);
/* ": no meaningful guarantee" of so large an epsilon, else "". */
const char *guarantee_note(double epsilon);
/* "" or "s". */
const char *plural_suffix(int64_t n);

#endif
