/* public_view.h - what may be shown of a study.
 *
 * A private selection (method select) is private only if the number of training runs and the
 * results of all but the selected one stay secret. All code that answers requests, reports, exports
 * or notifies takes a struct dp_public_state, and only dp_state_public_view() makes one. */
#ifndef DP_STATE_PUBLIC_VIEW_H
#define DP_STATE_PUBLIC_VIEW_H
#include "state/state.h"

struct dp_public_state {
	/* The study itself. For a private selection, a copy without trials; once it has finished,
	 * with the selected trial only, as number 0. */
	struct dp_study_state *state;
	/* True for a private selection: counts, times and the daemon's work are secret, too. */
	bool hides_search;
};

/* Valid until the study's next record. */
struct dp_public_state dp_state_public_view(struct dp_study_state *s);

#endif
