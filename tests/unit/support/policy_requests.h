/* policy_requests.h - every request that policy.h decides about, by one function. */
#ifndef DP_TESTS_POLICY_REQUESTS_H
#define DP_TESTS_POLICY_REQUESTS_H
#include "policy/policy.h"

#include <math.h>

enum policy_request {
	REQUEST_PAUSE,
	REQUEST_RESUME,
	REQUEST_STOP,
	REQUEST_AMEND, /* to this number of evaluations */
	REQUEST_RETRY,
	REQUEST_RETRY_FAILED, /* from the trial on, which becomes the next one; 0: no more */
	REQUEST_CANCEL,
	REQUEST_ENQUEUE,
	REQUEST_IMPORT,
	REQUEST_REEVALUATE,
	REQUEST_DELETE,
	REQUEST_KINDS
};

static inline int policy_request(const struct dp_study_state *s, enum policy_request what,
				 uint32_t *trial, double evaluations,
				 struct dp_transition_events *out, struct dp_err *err)
{
	struct dp_ev_study_amended changes = { .evaluations = evaluations,
					       .parallel = NAN,
					       .priority = NAN };
	bool has_more;
	int code;

	out->count = 0;
	switch (what) {
	case REQUEST_PAUSE:
		return dp_policy_pause(s, out, err);
	case REQUEST_RESUME:
		return dp_policy_resume(s, out, err);
	case REQUEST_STOP:
		dp_policy_stop(s, out);
		return DP_OK;
	case REQUEST_AMEND:
		return dp_policy_amend(s, &changes, out, err);
	case REQUEST_RETRY:
		return dp_policy_retry(s, *trial, out, err);
	case REQUEST_RETRY_FAILED:
		code = dp_policy_retry_failed(s, trial, &has_more, out, err);
		*trial = code == DP_OK && has_more ? *trial : 0;
		return code;
	case REQUEST_CANCEL:
		return dp_policy_cancel(s, *trial, out, err);
	case REQUEST_ENQUEUE:
		return dp_policy_check_enqueue(s, err);
	case REQUEST_IMPORT:
		return dp_policy_check_import(s, err);
	case REQUEST_REEVALUATE:
		return dp_policy_reevaluate(s, out, err);
	case REQUEST_DELETE:
		return dp_policy_delete(s, false, out, err);
	case REQUEST_KINDS:
		break;
	}
	return DP_E_USAGE;
}

#endif
