/* change_feed.c - which study changed after which. */
#include "daemon/core/change_feed.h"

#include "daemon/studies/study_object.h"

#include <stdio.h>

enum {
	ROWS_MAX = 1000 /* of one reply: a millisecond or two */
};

/* ---- what happens ---- */

static int64_t change_feed_next_revision(struct daemon *d)
{
	struct change_feed *r = &d->change_feed;
	int64_t clock = clock_now(d);

	r->current_revision = clock > r->current_revision ? clock : r->current_revision + 1;
	return r->current_revision;
}

static void change_feed_unlink(struct study *study)
{
	struct change_feed *r = &study->daemon->change_feed;
	struct study *older = study->change_entry.older, *newer = study->change_entry.newer;

	if (study->change_entry.revision == 0)
		return;
	*(older ? &older->change_entry.newer : &r->oldest) = newer;
	*(newer ? &newer->change_entry.older : &r->newest) = older;
	study->change_entry = (struct change_entry){ 0 };
}

static void change_feed_move_to_newest(struct study *study, uint32_t version)
{
	struct change_feed *r = &study->daemon->change_feed;

	change_feed_unlink(study);
	study->change_entry =
		(struct change_entry){ .older = r->newest,
				       .revision = change_feed_next_revision(study->daemon),
				       .version = version };
	*(r->newest ? &r->newest->change_entry.newer : &r->oldest) = study;
	r->newest = study;
}

void change_feed_reset(struct daemon *d)
{
	struct change_feed *r = &d->change_feed;

	r->n_deletions = 0;
	r->first_revision = change_feed_next_revision(d);
	for (uint32_t i = 0; i < d->nstudies; i++)
		change_feed_move_to_newest(d->studies[i],
					   study_public_view(d->studies[i]).state->next_seq);
}

/* Of a private selection most records are nobody's business: not even that there was one
 * may be told. */
void change_feed_note_change(struct study *study)
{
	uint32_t version = study_public_view(study).state->next_seq;

	if (study->change_entry.revision == 0 || version != study->change_entry.version)
		change_feed_move_to_newest(study, version);
}

void change_feed_note_deletion(struct study *study)
{
	struct change_feed *r = &study->daemon->change_feed;

	change_feed_unlink(study);
	if (r->n_deletions == CHANGE_FEED_DELETIONS_MAX) {
		/* the oldest has to be forgotten: who has not heard of it must be told
		 * all, and with a new beginning everybody is, once in so many deletions
		 */
		change_feed_reset(study->daemon);
		return;
	}
	r->deletions[r->n_deletions].revision = change_feed_next_revision(study->daemon);
	snprintf(r->deletions[r->n_deletions].name, sizeof r->deletions[0].name, "%s",
		 study->state->spec->name);
	r->n_deletions++;
}

/* ---- what is told ---- */

bool change_feed_has_changed(const struct daemon *d, int64_t since)
{
	return since != d->change_feed.current_revision;
}

/* What is left to tell. */
struct change_cursor {
	const struct change_feed *feed;
	const struct study *next_study; /* the oldest that changed; NULL: none is left */
	unsigned next_deletion;         /* the oldest that was deleted */
};

static void change_cursor_seek(struct change_cursor *cursor, int64_t since)
{
	cursor->next_study = NULL;
	for (const struct study *study = cursor->feed->newest;
	     study && study->change_entry.revision > since; study = study->change_entry.older)
		cursor->next_study = study;
	for (cursor->next_deletion = cursor->feed->n_deletions; cursor->next_deletion > 0;
	     cursor->next_deletion--)
		if (cursor->feed->deletions[cursor->next_deletion - 1].revision <= since)
			break;
}

static bool change_cursor_has_next(const struct change_cursor *cursor)
{
	return cursor->next_study || cursor->next_deletion < cursor->feed->n_deletions;
}

/* Tells the oldest and returns its revision. */
static int64_t change_cursor_append_next(struct change_cursor *cursor, json_t *rows)
{
	const struct study *study = cursor->next_study;
	unsigned g = cursor->next_deletion;

	if (g < cursor->feed->n_deletions &&
	    (!study || cursor->feed->deletions[g].revision < study->change_entry.revision)) {
		cursor->next_deletion++;
		json_array_append_new(rows, json_pack("{s:s, s:n}", "study",
						      cursor->feed->deletions[g].name, "version"));
		return cursor->feed->deletions[g].revision;
	}
	cursor->next_study = study->change_entry.newer;
	json_array_append_new(rows, json_pack("{s:s, s:I}", "study", study->state->spec->name,
					      "version", (json_int_t)study->change_entry.version));
	return study->change_entry.revision;
}

json_t *change_feed_json(const struct daemon *d, int64_t since)
{
	const struct change_feed *r = &d->change_feed;
	bool whole = since < r->first_revision || since > r->current_revision, more;
	struct change_cursor cursor = { .feed = r,
					.next_study = r->oldest,
					.next_deletion = r->n_deletions };
	json_t *rows = json_array();
	int64_t last = since;

	if (!whole)
		change_cursor_seek(&cursor, since);
	while (change_cursor_has_next(&cursor) && json_array_size(rows) < ROWS_MAX)
		last = change_cursor_append_next(&cursor, rows);
	more = change_cursor_has_next(&cursor);
	return json_pack("{s:I, s:o, s:I, s:b, s:b}", "revision",
			 (json_int_t)(more ? last : r->current_revision), "studies", rows, "all",
			 (json_int_t)d->nstudies, "whole", whole, "more", more);
}
