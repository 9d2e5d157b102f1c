/* growth.h - the hypervolume of a study as its evaluations ended. */
#ifndef DP_SERVE_GROWTH_H
#define DP_SERVE_GROWTH_H
#include "base/base.h"
#include <jansson.h>
#include "serve/rows.h"

enum {
	GROWTH_STEPS = 150 /* more cannot be told apart on a screen */
};

struct growth {
	size_t n;
	double ended[GROWTH_STEPS + 1]; /* evaluations, from 0 */
	double volume[GROWTH_STEPS + 1];
};

/* Of a study's summary and the rows of its trials. */
DP_MUSTCHECK int growth_find(const json_t *summary, const struct rows *rows, struct growth *out,
			     struct dp_err *err);

#endif
