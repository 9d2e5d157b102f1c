/* revision.c - which study changed after which. */
#include "daemon/revision.h"

#include "daemon/study.h"

#include <stdio.h>

enum {
	ROWS_MAX = 1000 /* of one reply: a millisecond or two */
};

/* ---- what happens ---- */

static int64_t next_revision(struct dpd *d)
{
	struct revisions *r = &d->revisions;
	int64_t clock = clock_now(d);

	r->now = clock > r->now ? clock : r->now + 1;
	return r->now;
}

static void revision_unlink(struct study *h)
{
	struct revisions *r = &h->d->revisions;
	struct study *older = h->revision.older, *newer = h->revision.newer;

	if (h->revision.at == 0)
		return;
	*(older ? &older->revision.newer : &r->oldest) = newer;
	*(newer ? &newer->revision.older : &r->newest) = older;
	h->revision = (struct revision){ 0 };
}

static void revision_stamp(struct study *h, uint32_t version)
{
	struct revisions *r = &h->d->revisions;

	revision_unlink(h);
	h->revision = (struct revision){ .older = r->newest,
					 .at = next_revision(h->d),
					 .version = version };
	*(r->newest ? &r->newest->revision.newer : &r->oldest) = h;
	r->newest = h;
}

void revisions_begin(struct dpd *d)
{
	struct revisions *r = &d->revisions;

	r->ngone = 0;
	r->start = next_revision(d);
	for (uint32_t i = 0; i < d->nstudies; i++)
		revision_stamp(d->studies[i], study_shown(d->studies[i])->seq);
}

/* Of a private selection most records are nobody's business: not even that there was one
 * may be told. */
void revision_changed(struct study *h)
{
	uint32_t version = study_shown(h)->seq;

	if (h->revision.at == 0 || version != h->revision.version)
		revision_stamp(h, version);
}

void revision_deleted(struct study *h)
{
	struct revisions *r = &h->d->revisions;

	revision_unlink(h);
	if (r->ngone == REVISION_GONE) {
		/* the oldest has to be forgotten: who has not heard of it must be told
		 * all, and with a new beginning everybody is, once in so many deletions
		 */
		revisions_begin(h->d);
		return;
	}
	r->gone[r->ngone].at = next_revision(h->d);
	snprintf(r->gone[r->ngone].name, sizeof r->gone[0].name, "%s", h->state->spec->name);
	r->ngone++;
}

/* ---- what is told ---- */

bool revision_differs(const struct dpd *d, int64_t since)
{
	return since != d->revisions.now;
}

/* What is left to tell. */
struct untold {
	const struct revisions *all;
	const struct study *study; /* the oldest that changed; NULL: none is left */
	unsigned gone;             /* the oldest that was deleted */
};

static void untold_since(struct untold *u, int64_t since)
{
	u->study = NULL;
	for (const struct study *h = u->all->newest; h && h->revision.at > since;
	     h = h->revision.older)
		u->study = h;
	for (u->gone = u->all->ngone; u->gone > 0; u->gone--)
		if (u->all->gone[u->gone - 1].at <= since)
			break;
}

static bool untold_is_left(const struct untold *u)
{
	return u->study || u->gone < u->all->ngone;
}

/* Tells the oldest and returns its revision. */
static int64_t untold_take(struct untold *u, json_t *rows)
{
	const struct study *h = u->study;
	unsigned g = u->gone;

	if (g < u->all->ngone && (!h || u->all->gone[g].at < h->revision.at)) {
		u->gone++;
		json_array_append_new(
			rows, json_pack("{s:s, s:n}", "study", u->all->gone[g].name, "version"));
		return u->all->gone[g].at;
	}
	u->study = h->revision.newer;
	json_array_append_new(rows, json_pack("{s:s, s:I}", "study", h->state->spec->name,
					      "version", (json_int_t)h->revision.version));
	return h->revision.at;
}

json_t *revision_json(const struct dpd *d, int64_t since)
{
	const struct revisions *r = &d->revisions;
	bool whole = since < r->start || since > r->now, more;
	struct untold u = { .all = r, .study = r->oldest, .gone = r->ngone };
	json_t *rows = json_array();
	int64_t last = since;

	if (!whole)
		untold_since(&u, since);
	while (untold_is_left(&u) && json_array_size(rows) < ROWS_MAX)
		last = untold_take(&u, rows);
	more = untold_is_left(&u);
	return json_pack("{s:I, s:o, s:I, s:b, s:b}", "revision",
			 (json_int_t)(more ? last : r->now), "studies", rows, "all",
			 (json_int_t)d->nstudies, "whole", whole, "more", more);
}
