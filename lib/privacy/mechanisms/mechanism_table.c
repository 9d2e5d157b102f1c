/* mechanism_table.c - the list of all mechanisms.
 *
 * Keep this file free of other code: a test replaces it by its own list. */
#include "privacy/privacy_internal.h"

const struct dp_mechanism *const dp_mechanisms[] = {
#define MECHANISM(name) &dp__##name,
#include "privacy/mechanisms/mechanisms.def"
#undef MECHANISM
	NULL,
};
