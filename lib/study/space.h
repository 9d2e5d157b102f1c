/* space.h - points of a study's parameter space: drawn, on a grid, as JSON and as text.
 *
 * x has one double per parameter, in the order of the file; a categorical's is the index of
 * its value, a fixed one's is 0, a calibrated one's is NaN until dp_space_solve_calibrated()
 * has solved for it. */
#ifndef DP_STUDY_SPACE_H
#define DP_STUDY_SPACE_H
#include "base/buf.h"
#include <jansson.h>

struct dp_study;

/* The point that random search evaluates as this trial: each parameter drawn from
 * its distribution by rejection into `accept` (with_range: into accept and range
 * together, for initial designs), integers rounded. A pure function of the study's
 * seed, or of its secret, and the trial. */
void dp_space_sample(const struct dp_study *s, uint32_t trial, bool with_range, double *x);
/* The value of a parameter that the share t (0 to 1) of these draws, with_range, is
 * below: evenly spread t give its distribution. */
double dp_space_quantile(const struct dp_study *s, size_t param, double t);
/* Number of points of the study's grid (DP_GRID_MAX + 1 if more). */
uint64_t dp_space_grid_size(const struct dp_study *s);
/* The index-th point, the last parameter running fastest. */
void dp_space_grid_point(const struct dp_study *s, uint64_t index, double *x);
/* Makes the calibrated parameters of x NaN, as before they were solved for. */
void dp_space_clear_calibrated(const struct dp_study *s, double *x);
/* {"lot_size":64,...} in native units, fixed parameters too. */
json_t *dp_space_to_json(const struct dp_study *s, const double *x);
/* The same at the waypoint `at` of x's training; NaN: of x itself. */
json_t *dp_space_to_json_at(const struct dp_study *s, const double *x, double at);
/* The point that such an object names: every parameter that is searched, each with a
 * value that it can take. A fixed one may be there with its value, a calibrated one with
 * any: whether it keeps its epsilon is not looked at. The sentence names what is wrong.
 */
DP_MUSTCHECK int dp_space_from_json(const struct dp_study *s, const json_t *values, double *x,
				    struct dp_err *err);
/* The value of one parameter at x as a short text for tables. */
void dp_space_format_value(const struct dp_study *s, size_t param, double v, struct dp_buf *out);
/* The value of one parameter that is a number, also of a fixed one. */
double dp_space_value(const struct dp_study *s, size_t param, const double *x);

#endif
