/* revision.h - which study changed after which, for those who wait for any of them.
 *
 * Whatever changes what is shown of a study, or deletes one, gets the next number of the
 * daemon. Numbers begin at the daemon's clock, so that none is met again in its next
 * life. */
#ifndef DPARETOD_REVISION_H
#define DPARETOD_REVISION_H
#include "base/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct dpd;
struct study;

enum {
	REVISION_GONE = 64 /* deletions that are remembered; one more: all begins again */
};

/* Of the daemon. */
struct revisions {
	int64_t start, now;            /* who asks from before, or from beyond, is told all */
	struct study *oldest, *newest; /* by their last change */
	struct {
		int64_t at;
		char name[DP_NAME_MAX + 1];
	} gone[REVISION_GONE]; /* (ngone) deleted, oldest first */
	unsigned ngone;
};

/* Of a study. */
struct revision {
	struct study *older, *newer;
	int64_t at;       /* its last change; 0: none is known yet */
	uint32_t version; /* as it is shown since then */
};

/* Every study that there is counts as changed now. */
void revisions_begin(struct dpd *d);
/* A record was made: the study is the newest, if one can see that. */
void revision_changed(struct study *h);
/* The study is about to go. */
void revision_deleted(struct study *h);
/* Is there anything to tell who knows what there was at `since`? */
bool revision_differs(const struct dpd *d, int64_t since);
/* What changed after `since`, oldest change first, or the first page of it. */
json_t *revision_json(const struct dpd *d, int64_t since);

#endif
