/* declaration.h - what a trainer declares about its sampler in its result file. */
#ifndef DP_PRIVACY_DECLARATION_H
#define DP_PRIVACY_DECLARATION_H

struct dp_declaration {
	const char *sampling;                        /* NULL: undeclared */
	double records, lot, steps, noise_over_clip; /* NaN: undeclared */
};

#endif
