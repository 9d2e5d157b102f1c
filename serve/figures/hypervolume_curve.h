/* hypervolume_curve.h - the hypervolume of a study after each number of evaluations. */
#ifndef DP_SERVE_FIGURES_HYPERVOLUME_CURVE_H
#define DP_SERVE_FIGURES_HYPERVOLUME_CURVE_H
#include "base/base.h"
#include <jansson.h>
#include "serve/data/trial_rows.h"

enum {
	HYPERVOLUME_CURVE_STEPS = 150 /* the resolution of a screen */
};

struct hypervolume_curve {
	size_t n_points;
	double evaluations[HYPERVOLUME_CURVE_STEPS + 1];
	double volume[HYPERVOLUME_CURVE_STEPS + 1];
};

/* Computes the curve from a study's summary and the rows of its trials. */
void hypervolume_curve_compute(const json_t *summary, const struct trial_rows *rows,
			       struct hypervolume_curve *out);

#endif
