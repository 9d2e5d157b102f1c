/* shelf.c - keeps the trials of a few studies. */
#include "serve/shelf.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	REST = 4,           /* times as long as fetching took, until it is done again; */
	REST_MAX = 5000000, /* but no longer, in microseconds */
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
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&s->fetched, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void shelf_free(struct shelf *s)
{
	for (size_t i = 0; i < SHELF_STUDIES; i++)
		json_decref(s->place[i].rows);
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

/* The place that was not used for longest. */
static struct shelf_place *shelf_oldest(struct shelf *s)
{
	struct shelf_place *oldest = &s->place[0];

	for (size_t i = 1; i < SHELF_STUDIES; i++)
		if (s->place[i].used < oldest->used)
			oldest = &s->place[i];
	return oldest;
}

static bool fetch_is_due(const struct shelf *s, const char *study)
{
	for (const struct shelf_fetch *f = s->fetches; f; f = f->next)
		if (strcmp(f->study, study) == 0)
			return true;
	return false;
}

static void shelf_put(struct shelf *s, const char *study, json_t *rows,
		      const struct hub_word *word, int64_t begun)
{
	struct shelf_place *p = shelf_find(s, study);

	p = p ? p : shelf_oldest(s);
	json_decref(p->rows);
	*p = (struct shelf_place){ .rows = rows, .word = *word, .made = dp_mono_us() };
	p->used = p->made;
	p->cost = p->made - begun;
	snprintf(p->study, sizeof p->study, "%s", study);
}

/* Without the lock meanwhile: who asks for another study does not wait for this one. */
static int shelf_fetch(struct shelf *s, struct asking *k, const char *study,
		       const struct hub_word *word, struct dp_err *err)
{
	struct shelf_fetch self = { .next = s->fetches, .study = study }, **link;
	int64_t begun = dp_mono_us();
	json_t *rows;
	int code;

	s->fetches = &self;
	pthread_mutex_unlock(&s->lock);
	code = ask_trials(k, study, &rows, err);
	pthread_mutex_lock(&s->lock);
	for (link = &s->fetches; *link != &self; link = &(*link)->next)
		;
	*link = self.next;
	if (code == DP_OK)
		shelf_put(s, study, rows, word, begun);
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
	const struct timespec at = { .tv_sec = until / 1000000,
				     .tv_nsec = until % 1000000 * 1000 };

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

/* The study's place, with rows that will do; NULL: they cannot be fetched. */
static struct shelf_place *shelf_look(struct shelf *s, struct asking *k, struct hub *h,
				      const struct shelf_asker *by, struct dp_err *err)
{
	bool waited = false;

	for (;;) {
		struct shelf_place *p = shelf_find(s, by->study);
		bool rests = p && dp_mono_us() < place_rests_until(p);
		struct hub_word word;

		if (p && (place_is_fresh(p, by) || (rests && by->haste == SHELF_AT_ONCE)))
			return p;
		if (rests) {
			shelf_wait(s, place_rests_until(p));
		} else if (!waited && fetch_is_due(s, by->study)) {
			pthread_cond_wait(&s->fetched, &s->lock);
			/* what failed for somebody else, each tries alone */
			waited = !fetch_is_due(s, by->study);
		} else {
			word = shelf_last_word(h, by->study);
			if (shelf_fetch(s, k, by->study, &word, err) != DP_OK)
				return NULL;
		}
	}
}

int shelf_rows(struct shelf *s, struct asking *k, struct hub *h, const char *study,
	       enum shelf_haste haste, json_t **rows, int64_t *version,
	       struct dp_err *err)
{
	const struct shelf_asker by = { study, haste, shelf_last_word(h, study),
					dp_mono_us() };
	struct shelf_place *p;

	pthread_mutex_lock(&s->lock);
	p = shelf_look(s, k, h, &by, err);
	if (p) {
		p->used = dp_mono_us();
		*rows = json_incref(p->rows);
		*version = p->word.version;
	}
	pthread_mutex_unlock(&s->lock);
	return p ? DP_OK : err->code;
}
