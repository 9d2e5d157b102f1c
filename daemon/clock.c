/* clock.c - the time of the records. */
#include "daemon/daemon.h"

#include "base/num.h"

void clock_start(struct dpd *d)
{
	int64_t newest = dp_now_us();

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		if (d->state.studies[i]->updated > newest)
			newest = d->state.studies[i]->updated;
	d->clock_base = newest - dp_mono_us();
}

int64_t clock_now(const struct dpd *d)
{
	return d->clock_base + dp_mono_us();
}
