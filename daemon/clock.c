/* clock.c - the time of the records. */
#include "daemon/daemon.h"

#include "base/num.h"
#include "daemon/record.h"
#include "daemon/study.h"

void clock_start(struct dpd *d)
{
	int64_t newest = dp_now_us();

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		if (d->state.studies[i]->updated > newest)
			newest = d->state.studies[i]->updated;
	d->clock_base = newest - dp_mono_us();
}

void clock_note(struct dpd *d, bool counted)
{
	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct dp_event e = { .type = DP_EV_TIME_NOTED, .counted = counted };

		if (dp_course_is_timed(d->studies[i]->state))
			record(d->studies[i], &e);
	}
}

int64_t clock_now(const struct dpd *d)
{
	return d->clock_base + dp_mono_us();
}
