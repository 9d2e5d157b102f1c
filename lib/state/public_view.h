/* public_view.h - what may be shown of a study.
 *
 * A private selection (method select) is private only if nobody learns how many training runs
 * were made or what became of the others. Whatever answers a request, reports, exports or
 * notifies takes a struct dp_public_state, and only dp_state_public_view() makes one. */
#ifndef DP_STATE_PUBLIC_VIEW_H
#define DP_STATE_PUBLIC_VIEW_H
#include "state/state.h"

struct dp_public_state {
	/* The study itself; of a private selection one without trials, or once it has finished
	 * with a single one, the selected, as number 0. */
	struct dp_study_state *state;
	/* Is it a private selection? Then counts, times and the daemon's work for it are secret,
	 * too. */
	bool hides_search;
};

/* Valid until the study's next record. */
struct dp_public_state dp_state_public_view(struct dp_study_state *s);

#endif
