/* trial_cache.h - caches all trials of recently used studies, up to a limit of bytes.
 *
 * Sorted tables, scatter plots and curves need every trial. Fetching thousands of trials takes the
 * daemon and this process a good part of a second. So they are fetched again only after a change,
 * and at limited intervals. The least recently used studies are dropped first. */
#ifndef DP_SERVE_DATA_TRIAL_CACHE_H
#define DP_SERVE_DATA_TRIAL_CACHE_H
#include "serve/data/daemon_client.h"
#include "serve/data/event_broker.h"

enum {
	TRIAL_CACHE_MAX_STUDIES = 16,
	/* Limit for all cached rows together, and for those of one study. */
	TRIAL_CACHE_MAX_BYTES = 256 << 20,
};

struct trial_fetch;

struct trial_cache {
	struct daemon_client *daemon;
	struct event_broker *broker; /* NULL: versions are unknown */
	pthread_mutex_t lock;
	pthread_cond_t fetch_done;
	struct trial_fetch *fetches;
	struct trial_cache_entry {
		char study[DP_NAME_MAX + 1]; /* "": free */
		struct trial_rows *rows;
		size_t bytes;
		struct study_version version;
		int64_t fetched_us, fetch_duration_us; /* end and duration of the fetch */
		int64_t last_used_us;
	} entries[TRIAL_CACHE_MAX_STUDIES];
	size_t bytes, max_bytes; /* of all cached rows, and their limit */
};

enum trial_cache_freshness {
	TRIAL_CACHE_STALE_OK, /* may be a few seconds old */
	TRIAL_CACHE_NEWEST,   /* includes all known changes; may take a few seconds */
};

void trial_cache_init(struct trial_cache *cache, struct daemon_client *daemon);
void trial_cache_free(struct trial_cache *cache);
/* Returns the rows; the caller owns a reference and must not change them. They are at least of
 * *version; -1: unknown. DP_E_LIMIT: they take more memory than allowed. */
DP_MUSTCHECK int trial_cache_get(struct trial_cache *cache, const char *study,
				 enum trial_cache_freshness freshness, struct trial_rows **rows,
				 int64_t *version, struct dp_err *err);

#endif
