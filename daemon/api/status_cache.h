/* status_cache.h - caches the reply to `status` of a study as bytes, because building one takes
 * longer than the rest of a request. A cached reply is valid while nothing that it shows has
 * changed, and also while newer records are not durable: no client can know of them yet. Values
 * that are not journaled (progress, seconds, reasons for waiting) may be STATUS_CACHE_MS old. */
#ifndef DP_DAEMON_API_STATUS_CACHE_H
#define DP_DAEMON_API_STATUS_CACHE_H
#include "daemon/studies/study_object.h"

enum {
	STATUS_CACHE_ENTRIES = 8,        /* studies; the least recently used is evicted */
	STATUS_CACHE_TEXT_MAX = 1 << 20, /* bytes; longer replies are not cached */
	STATUS_CACHE_MS = 50,
};

struct status_cache {
	uint64_t n_changes;  /* requests that change something, so far */
	uint64_t n_rendered; /* replies built so far, for tests and benchmarks */
	struct status_entry {
		uint32_t study_id; /* 0: free */
		struct dp_buf text;
		uint64_t ticket; /* of the newest record that it may show */
		uint32_t seq;
		uint64_t digest;     /* of all shown values that are not in the journal */
		int64_t rendered_us; /* dp_monotonic_us() */
	} entry[STATUS_CACHE_ENTRIES];
};

void status_cache_init(struct daemon *d);
void status_cache_free(struct daemon *d);
/* Appends the `status` reply of a study without secrets, built by `make`, and a newline. Returns
 * the ticket that must be durable before it is sent. newest: include records that are not
 * durable. */
uint64_t status_cache_reply(struct study *study, bool newest, json_t *(*make)(struct study *study),
			    struct dp_buf *out);

#endif
