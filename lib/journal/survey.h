/* survey.h - everything that can be read of a damaged journal, and what makes a study of
 * it again. */
#ifndef DP_JOURNAL_SURVEY_H
#define DP_JOURNAL_SURVEY_H
#include "base/buf.h"
#include "journal/journal.h"

#include <jansson.h>

/* A record that was found. */
struct dp__find {
	uint32_t study, seq;
	unsigned char *bytes;
	size_t len;
	bool sound;     /* it can be decoded */
	bool newer;     /* it could be, by a newer version */
	bool astray;    /* not where it belongs: from a page that nothing leads to */
	char fault[96]; /* why it is not sound */
};

struct dp__survey {
	struct dp__find *finds; /* (n), by study and number, each once */
	size_t n, room;
	uint64_t page_faults;
	char first_fault[256]; /* of the pages */
	json_t *facts;         /* texts of the database of facts */
};

/* Reads the file, in which nobody writes. What cannot be had by its trees is looked for
 * on every page. */
DP_MUSTCHECK int dp__survey_read(struct dp__survey *s, int fd, struct dp_err *err);
void dp__survey_clear(struct dp__survey *s);

/* ---- one study made whole (mend.c) ---- */

/* One record of a study as it shall be. */
struct dp__slot {
	const struct dp__find *find; /* as it was; NULL: missing or made */
	struct dp_buf made;          /* made in place of one that was lost */
	uint32_t made_for;           /* the record that could not be used without it */
	bool lost;                   /* what was here is set aside, or was never found */
	char why[128];               /* it was lost */
	int64_t time;                /* of the record before it */
};

struct dp__mended {
	uint32_t study;
	char name[DP_NAME_MAX + 1];
	struct dp__slot *slots; /* (n) */
	uint32_t n;
	uint32_t lost, made; /* of them */
	bool hopeless;       /* not even its first record is there */
};

/* Makes of the finds of one study the longest history that follows from itself. Records
 * that others need are made anew where that invents nothing: points from the
 * request.json of their attempts, below `folder` (STATE/studies). */
DP_MUSTCHECK int dp__mend(const struct dp__find *finds, size_t n, const char *folder,
			  struct dp__mended *out, struct dp_err *err);
void dp__mended_clear(struct dp__mended *m);

#endif
