/* shelf.c - keeps the trials of a few studies. */
#include "serve/shelf.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	REST = 4,           /* times as long as fetching took, until it is done again; */
	REST_MAX = 5000000, /* but no longer, in microseconds */
	FETCHES_MAX = 2,    /* studies at a time: each takes up to SHELF_BYTES meanwhile */
};

/* A study whose rows are on their way, by the thread that has this on its stack. */
struct shelf_fetch {
	struct shelf_fetch *next;
	const char *study;
};

void shelf_init(struct shelf *s)
{
	pthread_condattr_t monotonic;

	memset(s, 0, sizeof *s);
	s->most = SHELF_BYTES;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->fetched, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void shelf_free(struct shelf *s)
{
	for (size_t i = 0; i < SHELF_STUDIES; i++)
		rows_unref(s->place[i].rows);
	pthread_cond_destroy(&s->fetched);
	pthread_mutex_destroy(&s->lock);
}

/* NULL: it has none. */
static struct shelf_place *shelf_find(struct shelf *s, const char *study)
{
	for (size_t i = 0; i < SHELF_STUDIES; i++)
		if (strcmp(s->place[i].study, study) == 0)
			return &s->place[i];
	return NULL;
}

/* The place that was not used for longest; one with rows, as long as there are any that
 * have to make room. */
static struct shelf_place *shelf_oldest(struct shelf *s, bool with_rows)
{
	struct shelf_place *oldest = NULL;

	for (size_t i = 0; i < SHELF_STUDIES; i++) {
		struct shelf_place *p = &s->place[i];

		if ((p->rows || !with_rows) && (!oldest || p->used < oldest->used))
			oldest = p;
	}
	return oldest;
}

static bool fetch_is_due(const struct shelf *s, const char *study)
{
	for (const struct shelf_fetch *f = s->fetches; f; f = f->next)
		if (strcmp(f->study, study) == 0)
			return true;
	return false;
}

static unsigned count_fetches(const struct shelf *s)
{
	unsigned n = 0;

	for (const struct shelf_fetch *f = s->fetches; f; f = f->next)
		n++;
	return n;
}

static void place_clear(struct shelf *s, struct shelf_place *p)
{
	s->bytes -= p->bytes;
	rows_unref(p->rows);
	*p = (struct shelf_place){ 0 };
}

/* Keeps the rows. The least recently used studies make room for them. */
static void shelf_put(struct shelf *s, const char *study, struct rows *rows,
		      const struct hub_word *word, int64_t begun)
{
	struct shelf_place *p = shelf_find(s, study);
	size_t bytes = rows_bytes(rows);

	if (p)
		place_clear(s, p);
	while (s->bytes > 0 && s->bytes + bytes > s->most)
		place_clear(s, shelf_oldest(s, true));
	if (!p)
		p = shelf_oldest(s, false);
	place_clear(s, p);
	*p = (struct shelf_place){
		.rows = rows_ref(rows), .bytes = bytes, .word = *word, .made = dp_mono_us()
	};
	p->used = p->made;
	p->cost = p->made - begun;
	s->bytes += bytes;
	snprintf(p->study, sizeof p->study, "%s", study);
}

/* Without the lock meanwhile: who asks for another study does not wait for this one. */
static int shelf_fetch(struct shelf *s, struct asking *k, const char *study,
		       const struct hub_word *word, struct rows **rows, struct dp_err *err)
{
	struct shelf_fetch self = { .next = s->fetches, .study = study }, **link;
	int64_t begun = dp_mono_us();
	int code;

	s->fetches = &self;
	pthread_mutex_unlock(&s->lock);
	code = ask_trials(k, study, s->most, rows, err);
	pthread_mutex_lock(&s->lock);
	for (link = &s->fetches; *link != &self; link = &(*link)->next)
		;
	*link = self.next;
	if (code == DP_OK)
		shelf_put(s, study, *rows, word, begun);
	pthread_cond_broadcast(&s->fetched);
	return code;
}

/* When its rows may be fetched again. */
static int64_t place_rests_until(const struct shelf_place *p)
{
	return p->made + (REST * p->cost < REST_MAX ? REST * p->cost : REST_MAX);
}

/* Until that time of dp_mono_us(), or something was fetched. */
static void shelf_wait(struct shelf *s, int64_t until)
{
	const struct timespec at = { .tv_sec = until / 1000000, .tv_nsec = until % 1000000 * 1000 };

	(void)pthread_cond_timedwait(&s->fetched, &s->lock, &at);
}

/* Who asks: for what, how it was known then, and when that was. */
struct shelf_asker {
	const char *study;
	enum shelf_haste haste;
	struct hub_word word;
	int64_t came; /* dp_mono_us() */
};

static struct hub_word shelf_last_word(struct hub *h, const char *study)
{
	return h ? hub_last(h, study) : (struct hub_word){ .version = -1 };
}

/* Has it all that was known when somebody came? Without a version only what was fetched
 * since then has. */
static bool place_is_fresh(const struct shelf_place *p, const struct shelf_asker *by)
{
	return (by->word.version >= 0 && p->word.change >= by->word.change) ||
	       p->made - p->cost >= by->came;
}

static void place_take(struct shelf_place *p, struct rows **rows, int64_t *version)
{
	p->used = dp_mono_us();
	*rows = rows_ref(p->rows);
	*version = p->word.version;
}

/* Rows that will do, kept or fetched. */
static int shelf_look(struct shelf *s, struct asking *k, struct hub *h,
		      const struct shelf_asker *by, struct rows **rows, int64_t *version,
		      struct dp_err *err)
{
	bool waited = false;

	for (;;) {
		struct shelf_place *p = shelf_find(s, by->study);
		bool rests = p && dp_mono_us() < place_rests_until(p);
		struct hub_word word;

		if (p && (place_is_fresh(p, by) || (rests && by->haste == SHELF_AT_ONCE))) {
			place_take(p, rows, version);
			return DP_OK;
		}
		if (rests) {
			shelf_wait(s, place_rests_until(p));
		} else if (!waited && fetch_is_due(s, by->study)) {
			pthread_cond_wait(&s->fetched, &s->lock);
			/* what failed for somebody else, each tries alone */
			waited = !fetch_is_due(s, by->study);
		} else if (count_fetches(s) >= FETCHES_MAX) {
			pthread_cond_wait(&s->fetched, &s->lock);
		} else {
			/* it is as new as can be, whether it is kept or not */
			word = shelf_last_word(h, by->study);
			*version = word.version;
			return shelf_fetch(s, k, by->study, &word, rows, err);
		}
	}
}

int shelf_rows(struct shelf *s, struct asking *k, struct hub *h, const char *study,
	       enum shelf_haste haste, struct rows **rows, int64_t *version, struct dp_err *err)
{
	const struct shelf_asker by = { study, haste, shelf_last_word(h, study), dp_mono_us() };
	int code;

	pthread_mutex_lock(&s->lock);
	code = shelf_look(s, k, h, &by, rows, version, err);
	pthread_mutex_unlock(&s->lock);
	return code;
}
