/* privacy_internal.h - the mechanisms that mechanism.c lists, one file each. */
#ifndef DP_PRIVACY_INTERNAL_H
#define DP_PRIVACY_INTERNAL_H
#include "privacy/privacy.h"

extern const struct dp_mechanism dp__svt;

#endif
