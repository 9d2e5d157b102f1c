/* cost.c - what a training costs, for proposals: its gain is divided by it. */
#include "propose/propose_internal.h"

#include <math.h>

double dp__cost_log(struct dp_proposer *p, const double *u, double *gradient)
{
	const struct dp__input *in = &p->inputs.in[p->inputs.path];
	double value;

	if (!p->study->trainer.path.points)
		return 0;
	value = dp__native(in, u[p->inputs.path]);
	if (gradient)
		gradient[p->inputs.path] -=
			in->log ? in->ln_ratio : (in->hi - in->lo) / value;
	return log(value);
}
