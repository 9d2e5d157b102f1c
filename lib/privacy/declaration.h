/* declaration.h - what a trainer declares of its sampler, in its result file, in the journal
 * and for the mechanism that is accounted for. */
#ifndef DP_PRIVACY_DECLARATION_H
#define DP_PRIVACY_DECLARATION_H

struct dp_declaration {
	const char *sampling;                        /* NULL: not declared */
	double records, lot, steps, noise_over_clip; /* NaN: not declared */
};

#endif
