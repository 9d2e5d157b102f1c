/* trial_internal.h - what the files of lib/trial share. */
#ifndef DP_TRIAL_INTERNAL_H
#define DP_TRIAL_INTERNAL_H
#include "trial/trial.h"

/* The number of the i-th run asked, and whether it was reported. */
uint32_t dp__result_run(const struct dp_result *r, size_t i);
bool dp__result_reported(const struct dp_result *r, size_t i);
size_t dp__result_nruns(const struct dp_result *r);

#endif
