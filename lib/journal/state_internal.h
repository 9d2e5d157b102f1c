/* state_internal.h - what the fold and the state it makes share. */
#ifndef DP_STATE_INTERNAL_H
#define DP_STATE_INTERNAL_H
#include "journal/state.h"

/* The state of this name; -1 if there is none. */
int dp__study_status_from(const char *text);
int dp__trial_status_from(const char *text);
/* Position of the first study with an id not below `id`. */
uint32_t dp__state_position(const struct dp_state *s, uint32_t id);
void dp__trial_free(struct dp_trial *t);
void dp__study_state_free(struct dp_study_state *s);

#endif
