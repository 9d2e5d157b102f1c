/* space.h - points of a study's parameter space: random, on a grid, as JSON and as text.
 *
 * x has one double per parameter, in the order of the file. A categorical value is its index, a
 * fixed one 0, a calibrated one NaN until dp_space_solve_calibrated() has set it. */
#ifndef DP_STUDY_SPACE_H
#define DP_STUDY_SPACE_H
#include "base/buf.h"
#include <jansson.h>

struct dp_study;

/* The point of a trial of random search. Draws each parameter from its distribution, with rejection
 * outside `accept` (with_range: outside accept and range, for initial designs), and rounds
 * integers. A pure function of the trial and the study's seed or secret. */
void dp_space_sample(const struct dp_study *s, uint32_t trial, bool with_range, double *x);
/* The quantile t (0 to 1) of that distribution, with_range. */
double dp_space_quantile(const struct dp_study *s, size_t param, double t);
/* The number of points of the grid, or DP_GRID_MAX + 1 if there are more. */
uint64_t dp_space_grid_size(const struct dp_study *s);
/* The last parameter varies fastest. */
void dp_space_grid_point(const struct dp_study *s, uint64_t index, double *x);
void dp_space_clear_calibrated(const struct dp_study *s, double *x);
/* {"lot_size":64,...} in native units, with fixed parameters. */
json_t *dp_space_to_json(const struct dp_study *s, const double *x);
/* The same at the checkpoint `at` of x's run; NaN: x itself. */
json_t *dp_space_to_json_at(const struct dp_study *s, const double *x, double at);
/* The point that a JSON object gives: it must have every searched parameter, each with an allowed
 * value. It may have a fixed parameter with its value, and a calibrated one with any value: the
 * target epsilon is not checked. The message names the mistake. */
DP_MUSTCHECK int dp_space_from_json(const struct dp_study *s, const json_t *values, double *x,
				    struct dp_err *err);
/* The value of one parameter at x as short text for tables. */
void dp_space_format_value(const struct dp_study *s, size_t param, double v, struct dp_buf *out);
/* The value of one numeric parameter, fixed or not. */
double dp_space_value(const struct dp_study *s, size_t param, const double *x);

#endif
