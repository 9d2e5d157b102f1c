/* change_feed.h - which study changed after which, for clients that wait for any of them.
 *
 * Each change of what is shown of a study, and each deletion, gets the daemon's next revision.
 * Revisions begin at the daemon's clock, so that none occurs again after a restart. */
#ifndef DP_DAEMON_CORE_CHANGE_FEED_H
#define DP_DAEMON_CORE_CHANGE_FEED_H
#include "base/base.h"

#include <jansson.h>

enum {
	CHANGE_FEED_DELETIONS_MAX = 64 /* that are remembered; with one more all begins again */
};

/* Of a study: part of its struct, which begins as zeros but for the name. */
struct change_entry {
	const char *name; /* the study's */
	struct change_entry *older, *newer;
	int64_t revision; /* its last change; 0: none is known yet */
	uint32_t version; /* as it is shown since then */
};

struct change_feed {
	/* clients that know of less than the first, or of more than the current one, get all */
	int64_t first_revision, current_revision;
	struct change_entry *oldest, *newest; /* by their last change */
	unsigned n_studies, n_deletions;
	struct {
		int64_t revision;
		char name[DP_NAME_MAX + 1];
	} deletions[CHANGE_FEED_DELETIONS_MAX]; /* oldest first */
};

/* Whoever asks from before gets all. `now`, here and below: clock_now(). */
void change_feed_reset(struct change_feed *f, int64_t now);
/* A record was made: the study is the newest, if its version is another one. */
void change_feed_note_change(struct change_feed *f, struct change_entry *e, uint32_t version,
			     int64_t now);
/* The study is about to go. */
void change_feed_note_deletion(struct change_feed *f, struct change_entry *e, int64_t now);
/* What changed after `since`, oldest change first, or the first page of it. */
json_t *change_feed_json(const struct change_feed *f, int64_t since);

#endif
