/* status_cache.h - the answer to `status` of a study as bytes, for all clients that ask at about
 * the same time: making one takes the loop longer than all the rest of a request.
 *
 * An answer is used again while nothing that it shows has changed, and also while newer records are
 * not durable: until then no client can know of them. What is not journaled (progress, seconds,
 * what a study waits for) may be STATUS_CACHE_MS old. */
#ifndef DP_DAEMON_API_STATUS_CACHE_H
#define DP_DAEMON_API_STATUS_CACHE_H
#include "daemon/studies/study_object.h"

enum {
	STATUS_CACHE_ENTRIES = 8,        /* studies, the least recently used leaves */
	STATUS_CACHE_TEXT_MAX = 1 << 20, /* bytes of an answer that is kept */
	STATUS_CACHE_MS = 50,
};

struct status_cache {
	uint64_t n_changes;  /* requests that change something, so far */
	uint64_t n_rendered; /* answers, so far: for tests and benchmarks */
	struct status_entry {
		uint32_t study_id; /* 0: free */
		struct dp_buf text;
		uint64_t ticket; /* of the newest record that it may show */
		uint32_t seq;
		uint64_t digest;     /* of all that it shows and the journal does not have */
		int64_t rendered_us; /* dp_monotonic_us() */
	} entry[STATUS_CACHE_ENTRIES];
};

void status_cache_init(struct daemon *d);
void status_cache_free(struct daemon *d);
/* Appends the reply to `status` of a study that hides nothing, which `make` makes, with its
 * newline; returns the ticket that it has to wait for. newest: records that are not durable have to
 * be in it, too. */
uint64_t status_cache_reply(struct study *study, bool newest, json_t *(*make)(struct study *study),
			    struct dp_buf *out);

#endif
