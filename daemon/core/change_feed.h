/* change_feed.h - which study changed after which, for those who wait for any of them.
 *
 * Whatever changes what is shown of a study, or deletes one, gets the next number of the
 * daemon. Numbers begin at the daemon's clock, so that none is met again in its next
 * life. */
#ifndef DP_DAEMON_CORE_CHANGE_FEED_H
#define DP_DAEMON_CORE_CHANGE_FEED_H
#include "base/base.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct daemon;
struct study;

enum {
	CHANGE_FEED_DELETIONS_MAX =
		64 /* deletions that are remembered; one more: all begins again */
};

/* Of the daemon. */
struct change_feed {
	int64_t first_revision,
		current_revision;      /* who asks from before, or from beyond, is told all */
	struct study *oldest, *newest; /* by their last change */
	struct {
		int64_t revision;
		char name[DP_NAME_MAX + 1];
	} deletions[CHANGE_FEED_DELETIONS_MAX]; /* (ngone) deleted, oldest first */
	unsigned n_deletions;
};

/* Of a study. */
struct change_entry {
	struct study *older, *newer;
	int64_t revision; /* its last change; 0: none is known yet */
	uint32_t version; /* as it is shown since then */
};

/* Every study that there is counts as changed now. */
void change_feed_reset(struct daemon *d);
/* A record was made: the study is the newest, if one can see that. */
void change_feed_note_change(struct study *study);
/* The study is about to go. */
void change_feed_note_deletion(struct study *study);
/* Is there anything to tell who knows what there was at `since`? */
bool change_feed_has_changed(const struct daemon *d, int64_t since);
/* What changed after `since`, oldest change first, or the first page of it. */
json_t *change_feed_json(const struct daemon *d, int64_t since);

#endif
