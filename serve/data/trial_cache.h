/* trial_cache.h - all trials of the studies that were asked for last, kept within a limit of bytes.
 * The least recently used studies leave first.
 *
 * Tables that are sorted, clouds of points and curves need every trial, and thousands of them take
 * the daemon and us a good part of a second. So they are fetched again only when the study has
 * changed, and no more often than leaves most of the time for other things. */
#ifndef DP_SERVE_DATA_TRIAL_CACHE_H
#define DP_SERVE_DATA_TRIAL_CACHE_H
#include "serve/data/daemon_client.h"
#include "serve/data/event_broker.h"

enum {
	TRIAL_CACHE_MAX_STUDIES = 16,
	/* Of all rows that are kept, together, and of those of one study. */
	TRIAL_CACHE_MAX_BYTES = 256 << 20,
};

struct trial_fetch;

struct trial_cache {
	struct daemon_client *daemon;
	struct event_broker *broker; /* NULL: versions are not known */
	pthread_mutex_t lock;
	pthread_cond_t fetch_done;
	struct trial_fetch *fetches; /* those on their way */
	struct trial_cache_entry {
		char study[DP_NAME_MAX + 1]; /* "": free */
		struct trial_rows *rows;
		size_t bytes;                          /* of these */
		struct study_version version;          /* of the study, when they were fetched */
		int64_t fetched_us, fetch_duration_us; /* dp_monotonic_us() at their end, and how
							  long it took */
		int64_t last_used_us;                  /* when somebody took it */
	} entries[TRIAL_CACHE_MAX_STUDIES];
	size_t bytes, max_bytes; /* of all rows that are kept, and at most */
};

enum trial_cache_freshness {
	TRIAL_CACHE_STALE_OK, /* perhaps as they were some seconds ago */
	TRIAL_CACHE_NEWEST,   /* with all that is known now; perhaps in some seconds */
};

void trial_cache_init(struct trial_cache *cache, struct daemon_client *daemon);
void trial_cache_free(struct trial_cache *cache);
/* The rows of `trials`; the caller owns a reference and changes nothing in them. The version is one
 * that they have at least; -1: nobody knows. DP_E_LIMIT: they are more than may be kept. */
DP_MUSTCHECK int trial_cache_get(struct trial_cache *cache, const char *study,
				 enum trial_cache_freshness freshness, struct trial_rows **rows,
				 int64_t *version, struct dp_err *err);

#endif
