/* request.c - what is asked of a trainer: by a study, or by a person at a terminal. */
#include "trainers/trainers.h"

#include "base/fs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The seeds are those of trial 0 of a study with this seed. */
static int request_from_options(const struct trainer_options *o, struct dp_trainer_request *q,
				int *fd, struct dp_err *err)
{
	struct dp_trainer_request r = { .nruns = (uint32_t)o->runs };
	int code;

	r.study = dp_strdup("by-hand");
	r.parameters = json_incref(o->set_params);
	r.runs = dp_calloc(r.nruns, sizeof *r.runs);
	r.seeds = dp_calloc(r.nruns, sizeof *r.seeds);
	if (!r.study || !r.runs || !r.seeds) {
		dp_trainer_request_clear(&r);
		return dp_fail(err, DP_E_NOMEM, "no memory for the request");
	}
	if (o->checkpoints && (code = checkpoint_epochs_parse(o->checkpoints, &r, err)) != DP_OK) {
		dp_trainer_request_clear(&r);
		return code;
	}
	*fd = dup(STDOUT_FILENO);
	if (*fd < 0) {
		dp_trainer_request_clear(&r);
		return dp_fail_errno(err, errno, "cannot write to the standard output");
	}
	for (uint32_t i = 0; i < r.nruns; i++) {
		r.runs[i] = i;
		r.seeds[i] = dp_run_seed((uint64_t)o->seed, 0, i);
	}
	*q = r;
	return DP_OK;
}

int trainer_request_open(const struct trainer_options *o, struct dp_trainer_request *q, int *fd,
			 struct dp_err *err)
{
	bool asked = getenv("DPARETO_REQUEST") != NULL;
	int code;

	if (o->set_params && asked)
		return dp_fail(err, DP_E_USAGE,
			       "--set is for trying by hand, and DPARETO_REQUEST is set");
	if (o->checkpoints && !o->set_params)
		return dp_fail(err, DP_E_USAGE,
			       "--path is for trying by hand, with --set; a study asks "
			       "for a path with 'path' of its trainer");
	if (o->set_params)
		return request_from_options(o, q, fd, err);
	code = dp_trainer_open(q, fd, err);
	if (code == DP_E_USAGE && !asked)
		dp_hint(err, "to try it by hand, give its parameters with --set "
			     "NAME=VALUE; see --help");
	return code;
}
