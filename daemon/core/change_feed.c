/* change_feed.c - orders studies by their last change. */
#include "daemon/core/change_feed.h"

#include <stdio.h>

enum {
	ROWS_MAX = 1000 /* in one reply: a millisecond or two */
};

static int64_t change_feed_next_revision(struct change_feed *f, int64_t now)
{
	f->current_revision = now > f->current_revision ? now : f->current_revision + 1;
	return f->current_revision;
}

static void change_feed_unlink(struct change_feed *f, struct change_entry *e)
{
	if (e->revision == 0)
		return;
	*(e->older ? &e->older->newer : &f->oldest) = e->newer;
	*(e->newer ? &e->newer->older : &f->newest) = e->older;
	*e = (struct change_entry){ .name = e->name };
	f->n_studies--;
}

void change_feed_reset(struct change_feed *f, int64_t now)
{
	f->n_deletions = 0;
	f->first_revision = change_feed_next_revision(f, now);
	for (struct change_entry *e = f->oldest; e; e = e->newer)
		e->revision = change_feed_next_revision(f, now);
}

void change_feed_note_change(struct change_feed *f, struct change_entry *e, uint32_t version,
			     int64_t now)
{
	if (e->revision != 0 && version == e->version)
		return; /* most records of a private selection are not visible */
	change_feed_unlink(f, e);
	*e = (struct change_entry){ .name = e->name,
				    .older = f->newest,
				    .revision = change_feed_next_revision(f, now),
				    .version = version };
	*(f->newest ? &f->newest->newer : &f->oldest) = e;
	f->newest = e;
	f->n_studies++;
}

void change_feed_note_deletion(struct change_feed *f, struct change_entry *e, int64_t now)
{
	change_feed_unlink(f, e);
	if (f->n_deletions == CHANGE_FEED_DELETIONS_MAX) {
		/* full: forget all deletions, so that clients get everything */
		change_feed_reset(f, now);
		return;
	}
	f->deletions[f->n_deletions].revision = change_feed_next_revision(f, now);
	snprintf(f->deletions[f->n_deletions].name, sizeof f->deletions[0].name, "%s", e->name);
	f->n_deletions++;
}

struct change_cursor {
	const struct change_feed *feed;
	const struct change_entry *next_study; /* the oldest that changed; NULL: none left */
	unsigned next_deletion;                /* the oldest deletion */
};

static void change_cursor_seek(struct change_cursor *cursor, int64_t since)
{
	cursor->next_study = NULL;
	for (const struct change_entry *e = cursor->feed->newest; e && e->revision > since;
	     e = e->older)
		cursor->next_study = e;
	for (cursor->next_deletion = cursor->feed->n_deletions; cursor->next_deletion > 0;
	     cursor->next_deletion--)
		if (cursor->feed->deletions[cursor->next_deletion - 1].revision <= since)
			break;
}

static bool change_cursor_has_next(const struct change_cursor *cursor)
{
	return cursor->next_study || cursor->next_deletion < cursor->feed->n_deletions;
}

/* Appends the oldest change and returns its revision. */
static int64_t change_cursor_append_next(struct change_cursor *cursor, json_t *rows)
{
	const struct change_entry *e = cursor->next_study;
	unsigned g = cursor->next_deletion;

	if (g < cursor->feed->n_deletions &&
	    (!e || cursor->feed->deletions[g].revision < e->revision)) {
		cursor->next_deletion++;
		json_array_append_new(rows, json_pack("{s:s, s:n}", "study",
						      cursor->feed->deletions[g].name, "version"));
		return cursor->feed->deletions[g].revision;
	}
	cursor->next_study = e->newer;
	json_array_append_new(
		rows, json_pack("{s:s, s:I}", "study", e->name, "version", (json_int_t)e->version));
	return e->revision;
}

json_t *change_feed_json(const struct change_feed *f, int64_t since)
{
	bool whole = since < f->first_revision || since > f->current_revision, more;
	struct change_cursor cursor = { .feed = f,
					.next_study = f->oldest,
					.next_deletion = f->n_deletions };
	json_t *rows = json_array();
	int64_t last = since;

	if (!whole)
		change_cursor_seek(&cursor, since);
	while (change_cursor_has_next(&cursor) && json_array_size(rows) < ROWS_MAX)
		last = change_cursor_append_next(&cursor, rows);
	more = change_cursor_has_next(&cursor);
	return json_pack("{s:I, s:o, s:I, s:b, s:b}", "revision",
			 (json_int_t)(more ? last : f->current_revision), "studies", rows, "all",
			 (json_int_t)f->n_studies, "whole", whole, "more", more);
}
