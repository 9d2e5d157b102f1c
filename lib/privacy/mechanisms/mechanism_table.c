/* mechanism_table.c - the list of all mechanisms.
 *
 * Nothing else may stand in this file, so that a test's own list can take its place. */
#include "privacy/privacy_internal.h"

const struct dp_mechanism *const dp_mechanisms[] = {
#define MECHANISM(name) &dp__##name,
#include "privacy/mechanisms/mechanisms.def"
#undef MECHANISM
	NULL,
};
