/* change_feed.h - orders studies by their last change, for clients that wait for changes. Each
 * visible change of a study and each deletion gets the daemon's next revision. Revisions begin at
 * the daemon's clock, so that none is used again after a restart. */
#ifndef DP_DAEMON_CORE_CHANGE_FEED_H
#define DP_DAEMON_CORE_CHANGE_FEED_H
#include "base/base.h"

#include <jansson.h>

enum {
	CHANGE_FEED_DELETIONS_MAX = 64 /* remembered deletions; one more resets the feed */
};

/* Part of a study's struct; zero except for the name. */
struct change_entry {
	const char *name; /* of the study */
	struct change_entry *older, *newer;
	int64_t revision; /* of its last change; 0: unknown */
	uint32_t version; /* the version shown since then */
};

struct change_feed {
	/* clients whose revision is outside this range get everything */
	int64_t first_revision, current_revision;
	struct change_entry *oldest, *newest; /* by last change */
	unsigned n_studies, n_deletions;
	struct {
		int64_t revision;
		char name[DP_NAME_MAX + 1];
	} deletions[CHANGE_FEED_DELETIONS_MAX]; /* oldest first */
};

/* Clients with an older revision get everything. `now`, here and below: clock_now(). */
void change_feed_reset(struct change_feed *f, int64_t now);
/* Called after a record. Moves the study to the newest place if its version changed. */
void change_feed_note_change(struct change_feed *f, struct change_entry *e, uint32_t version,
			     int64_t now);
/* Called before the study is deleted. */
void change_feed_note_deletion(struct change_feed *f, struct change_entry *e, int64_t now);
/* Changes after `since`, oldest first; at most one page. */
json_t *change_feed_json(const struct change_feed *f, int64_t since);

#endif
