/* mechanisms.c - the list of all mechanisms: a new one is its own file and a row here.
 *
 * Nothing else may stand in this file, so that a test's own list can take its place. */
#include "privacy/privacy_internal.h"

const struct dp_mechanism *const dp_mechanisms[] = {
	&dp__dp_sgd, &dp__gaussian, &dp__laplace, &dp__output_perturbation,
	&dp__svt,    NULL,
};
