/* propose_once.h - the proposal of a proposer that has seen nothing before. */
#ifndef TESTS_PROPOSE_ONCE_H
#define TESTS_PROPOSE_ONCE_H
#include "optimize/propose/proposer.h"

static inline int propose_once(const struct dp_study *study, const struct dp_history *h,
			       uint32_t trial, const atomic_bool *cancel, struct dp_proposal *out,
			       struct dp_err *err)
{
	struct dp_proposer *p = dp_proposer_new(study);
	int code = dp_proposer_propose(p, h, trial, cancel, out, err);

	dp_proposer_free(p);
	return code;
}

#endif
