/* shelf.h - all trials of the studies that were asked for last, kept within a limit of
 * bytes. The least recently used studies leave first.
 *
 * Tables that are sorted, clouds of points and curves need every trial, and thousands of
 * them take the daemon and us a good part of a second. So they are fetched again only
 * when the study has changed, and no more often than leaves most of the time for other
 * things. */
#ifndef DP_SERVE_SHELF_H
#define DP_SERVE_SHELF_H
#include "serve/ask.h"
#include "serve/hub.h"

enum {
	SHELF_STUDIES = 16,
	/* Of all rows that are kept, together, and of those of one study. */
	SHELF_BYTES = 256 << 20,
};

struct shelf_fetch;

struct shelf {
	pthread_mutex_t lock;
	pthread_cond_t fetched;
	struct shelf_fetch *fetches; /* those on their way */
	struct shelf_place {
		char study[DP_NAME_MAX + 1]; /* "": free */
		struct rows *rows;
		size_t bytes;         /* of these */
		struct hub_word word; /* of the study, when they were fetched */
		int64_t made, cost;   /* dp_mono_us() at their end, and how long it took */
		int64_t used;         /* when somebody took it */
	} place[SHELF_STUDIES];
	size_t bytes, most; /* of all rows that are kept, and at most */
};

enum shelf_haste {
	SHELF_AT_ONCE, /* perhaps as they were some seconds ago */
	SHELF_NEWEST,  /* with all that is known now; perhaps in some seconds */
};

void shelf_init(struct shelf *s);
void shelf_free(struct shelf *s);
/* The rows of `trials`; the caller owns a reference and changes nothing in them. The
 * version is one that they have at least; -1: nobody knows. DP_E_LIMIT: they are more
 * than may be kept. */
DP_MUSTCHECK int shelf_rows(struct shelf *s, struct asking *k, struct hub *h, const char *study,
			    enum shelf_haste haste, struct rows **rows, int64_t *version,
			    struct dp_err *err);

#endif
