/* trial_cache.c - fetches, keeps and drops the trials of recently used studies. */
#include "serve/data/trial_cache.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	REFETCH_PAUSE_FACTOR = 4, /* pause before a refetch, as a multiple of the last duration; */
	REFETCH_PAUSE_MAX_US = 5000000, /* and its limit in microseconds */
	MAX_CONCURRENT_FETCHES = 2,     /* each uses up to TRIAL_CACHE_MAX_BYTES meanwhile */
};

/* A fetch in progress, on the stack of its thread. */
struct trial_fetch {
	struct trial_fetch *next;
	const char *study;
};

void trial_cache_init(struct trial_cache *cache, struct daemon_client *daemon)
{
	pthread_condattr_t monotonic;

	*cache = (struct trial_cache){ .daemon = daemon, .max_bytes = TRIAL_CACHE_MAX_BYTES };
	pthread_mutex_init(&cache->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&cache->fetch_done, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

void trial_cache_free(struct trial_cache *cache)
{
	for (size_t i = 0; i < TRIAL_CACHE_MAX_STUDIES; i++)
		trial_rows_unref(cache->entries[i].rows);
	pthread_cond_destroy(&cache->fetch_done);
	pthread_mutex_destroy(&cache->lock);
}

static struct trial_cache_entry *trial_cache_find(struct trial_cache *cache, const char *study)
{
	for (size_t i = 0; i < TRIAL_CACHE_MAX_STUDIES; i++)
		if (strcmp(cache->entries[i].study, study) == 0)
			return &cache->entries[i];
	return NULL;
}

/* Returns the least recently used entry; with `with_rows`, only one that has rows, or NULL. */
static struct trial_cache_entry *trial_cache_find_oldest(struct trial_cache *cache, bool with_rows)
{
	struct trial_cache_entry *oldest = NULL;

	for (size_t i = 0; i < TRIAL_CACHE_MAX_STUDIES; i++) {
		struct trial_cache_entry *p = &cache->entries[i];

		if ((p->rows || !with_rows) && (!oldest || p->last_used_us < oldest->last_used_us))
			oldest = p;
	}
	return oldest;
}

static void trial_cache_clear_entry(struct trial_cache *cache, struct trial_cache_entry *p)
{
	cache->bytes -= p->bytes;
	trial_rows_unref(p->rows);
	*p = (struct trial_cache_entry){ 0 };
}

/* Stores the rows and drops the least recently used studies to stay within the limit. */
static void trial_cache_put(struct trial_cache *cache, const char *study, struct trial_rows *rows,
			    const struct study_version *word, int64_t begun)
{
	struct trial_cache_entry *p = trial_cache_find(cache, study);
	size_t bytes = trial_rows_memory_bytes(rows);

	if (p)
		trial_cache_clear_entry(cache, p);
	while (cache->bytes > 0 && cache->bytes + bytes > cache->max_bytes)
		trial_cache_clear_entry(cache, trial_cache_find_oldest(cache, true));
	if (!p)
		p = trial_cache_find_oldest(cache, false);
	trial_cache_clear_entry(cache, p);
	*p = (struct trial_cache_entry){ .rows = trial_rows_ref(rows),
					 .bytes = bytes,
					 .version = *word,
					 .fetched_us = dp_monotonic_us() };
	p->last_used_us = p->fetched_us;
	p->fetch_duration_us = p->fetched_us - begun;
	cache->bytes += bytes;
	snprintf(p->study, sizeof p->study, "%s", study);
}

/* Releases the lock during the fetch, so that requests for other studies do not wait. */
static int trial_cache_fetch(struct trial_cache *cache, const char *study,
			     const struct study_version *version, struct trial_rows **rows,
			     struct dp_err *err)
{
	struct trial_fetch self = { .next = cache->fetches, .study = study }, **link;
	int64_t begun = dp_monotonic_us();
	int code;

	cache->fetches = &self;
	pthread_mutex_unlock(&cache->lock);
	code = daemon_fetch_trials(cache->daemon, study, cache->max_bytes, rows, err);
	pthread_mutex_lock(&cache->lock);
	for (link = &cache->fetches; *link != &self; link = &(*link)->next)
		;
	*link = self.next;
	if (code == DP_OK)
		trial_cache_put(cache, study, *rows, version, begun);
	pthread_cond_broadcast(&cache->fetch_done);
	return code;
}

/* Counts fetches in progress; *this_one: the study is among them. */
static unsigned count_fetches(const struct trial_cache *cache, const char *study, bool *this_one)
{
	unsigned n = 0;

	*this_one = false;
	for (const struct trial_fetch *f = cache->fetches; f; f = f->next, n++)
		*this_one |= strcmp(f->study, study) == 0;
	return n;
}

static int64_t entry_refetch_time_us(const struct trial_cache_entry *p)
{
	int64_t pause = REFETCH_PAUSE_FACTOR * p->fetch_duration_us;

	return p->fetched_us + (pause < REFETCH_PAUSE_MAX_US ? pause : REFETCH_PAUSE_MAX_US);
}

static struct study_version known_version(const struct trial_cache *cache, const char *study)
{
	return cache->broker ? event_broker_study_version(cache->broker, study)
			     : (struct study_version){ .version = -1 };
}

int trial_cache_get(struct trial_cache *cache, const char *study,
		    enum trial_cache_freshness freshness, struct trial_rows **rows,
		    int64_t *version, struct dp_err *err)
{
	const struct study_version wanted = known_version(cache, study);
	int64_t requested_us = dp_monotonic_us();
	bool waited = false, fetching;
	int code = DP_OK;

	pthread_mutex_lock(&cache->lock);
	for (;;) {
		struct trial_cache_entry *p = trial_cache_find(cache, study);
		bool rests = p && dp_monotonic_us() < entry_refetch_time_us(p);
		/* without a version, only rows fetched after this request are fresh */
		bool fresh = p && ((wanted.version >= 0 &&
				    p->version.change_number >= wanted.change_number) ||
				   p->fetched_us - p->fetch_duration_us >= requested_us);
		unsigned n_fetches = count_fetches(cache, study, &fetching);

		if (fresh || (rests && freshness == TRIAL_CACHE_STALE_OK)) {
			p->last_used_us = dp_monotonic_us();
			*rows = trial_rows_ref(p->rows);
			*version = p->version.version;
			break;
		}
		if (rests) {
			int64_t until = entry_refetch_time_us(p);
			const struct timespec at = { .tv_sec = until / 1000000,
						     .tv_nsec = until % 1000000 * 1000 };

			(void)pthread_cond_timedwait(&cache->fetch_done, &cache->lock, &at);
		} else if (!waited && fetching) {
			pthread_cond_wait(&cache->fetch_done, &cache->lock);
			/* if another request's fetch failed, each request retries by itself */
			count_fetches(cache, study, &fetching);
			waited = !fetching;
		} else if (n_fetches >= MAX_CONCURRENT_FETCHES) {
			pthread_cond_wait(&cache->fetch_done, &cache->lock);
		} else {
			/* these rows are current, whether they are cached or not */
			const struct study_version now = known_version(cache, study);

			*version = now.version;
			code = trial_cache_fetch(cache, study, &now, rows, err);
			break;
		}
	}
	pthread_mutex_unlock(&cache->lock);
	return code;
}
