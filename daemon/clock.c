/* clock.c - the time of the records, and how much of it a daemon ran.
 *
 * The second is what limits count. It cannot be told from times alone: a machine may have
 * been switched off, or somebody set its clock. STATE/clock therefore keeps when a daemon
 * was last seen, written now and then, and the gaps in which there was none. Without that
 * file nothing is known, and counting begins anew. */
#include "daemon/daemon.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"
#include "daemon/record.h"
#include "daemon/study.h"

#include <stdlib.h>
#include <string.h>

enum {
	CLOCK_GAPS_MAX = 1000,    /* then the oldest two become one */
	CLOCK_FILE_MAX = 1 << 20, /* bytes */
};
#define CLOCK_GAP_LEAST (INT64_C(3600) * 1000000) /* shorter ones count as if it ran */
#define CLOCK_LATEST    (INT64_MAX / 4)           /* beyond it the file is damaged */

/* ---- gaps ---- */

static void gap_add(struct dpd *d, int64_t end, int64_t length)
{
	struct clock_gap *grown = realloc(d->gaps, (d->ngaps + 1) * sizeof *grown);

	if (!grown)
		record_give_up(d, "for the clock");
	d->gaps = grown;
	grown[d->ngaps++] = (struct clock_gap){ .end = end, .length = length };
	if (d->ngaps <= CLOCK_GAPS_MAX)
		return;
	grown[1].length += grown[0].length; /* later: what lies between stays longer */
	d->ngaps--;
	memmove(grown, grown + 1, d->ngaps * sizeof *grown);
}

int64_t clock_ran_since(const struct dpd *d, int64_t then)
{
	int64_t ran = clock_now(d) - then;

	for (unsigned i = 0; i < d->ngaps; i++)
		if (d->gaps[i].end > then)
			ran -= d->gaps[i].length;
	return ran > 0 ? ran : 0;
}

/* ---- the file ---- */

struct clock_note {
	char *path;
	struct dp_buf text;
};

struct clock_note *clock_note_new(const struct dpd *d)
{
	struct clock_note *n = calloc(1, sizeof *n);
	json_t *gaps = json_array(), *all;

	for (unsigned i = 0; i < d->ngaps; i++)
		json_array_append_new(gaps, json_pack("[I, I]", (json_int_t)d->gaps[i].end,
						      (json_int_t)d->gaps[i].length));
	all = json_pack("{s:i, s:I, s:o}", "version", 1, "seen", (json_int_t)clock_now(d), "gaps",
			gaps);
	if (n && all) {
		n->path = dp_path_join(d->at.state_dir, "clock");
		dp_json_dump(&n->text, all, 0);
	}
	json_decref(all);
	return n;
}

void clock_note_write(const struct clock_note *n)
{
	bool whole = n && n->path && n->text.len && !n->text.failed;

	if (whole && dp_write_file(n->path, n->text.data, n->text.len, true, NULL) != DP_OK) {
		/* the next one is as good; until then less time counts */
	}
}

void clock_note_free(struct clock_note *n)
{
	if (!n)
		return;
	free(n->path);
	dp_buf_free(&n->text);
	free(n);
}

static void clock_read_gaps(struct dpd *d, const json_t *list)
{
	json_t *gap;
	size_t i;

	json_array_foreach (list, i, gap) {
		json_int_t end = json_integer_value(json_array_get(gap, 0)),
			   length = json_integer_value(json_array_get(gap, 1));

		if (length > 0 && length <= end && end <= CLOCK_LATEST)
			gap_add(d, end, length);
	}
}

/* What the file says: gaps, and when a daemon was last seen; 0 if it says nothing. */
static int64_t clock_read(struct dpd *d)
{
	char *path = dp_path_join(d->at.state_dir, "clock");
	struct dp_err err = { 0 };
	json_t *all = NULL;
	int64_t seen;
	int code;

	if (!path)
		record_give_up(d, "for the clock");
	code = dp_json_read(path, CLOCK_FILE_MAX, &all, &err);
	if (code != DP_OK && code != DP_E_NOT_FOUND)
		log_line(&d->log, LOG_WARN, "", "%s cannot be read: %s", path, err.msg);
	clock_read_gaps(d, json_object_get(all, "gaps"));
	seen = dp_json_int(all, "seen", 0);
	if (seen < 0 || seen > CLOCK_LATEST)
		seen = 0;
	json_decref(all);
	free(path);
	return seen;
}

/* ---- the clock itself ---- */

void clock_start(struct dpd *d)
{
	const int64_t *simulated = d->settings->clock;
	int64_t now = simulated ? *simulated : dp_now_us(), record = 0, seen;
	char text[DP_NUM_LEN];

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		if (d->state.studies[i]->updated > record)
			record = d->state.studies[i]->updated;
	now = record > now ? record : now;
	d->clock_base = now - dp_mono_us();
	if (d->looking)
		return; /* no time passes for the studies */
	seen = clock_read(d);
	if (seen == 0) {
		gap_add(d, now, now);
		return;
	}
	if (now - seen < CLOCK_GAP_LEAST)
		return;
	gap_add(d, now, now - seen);
	log_line(&d->log, LOG_WARN, "",
		 "no daemon was here for %s, or the clock was set: no limit counts that "
		 "time",
		 dp_duration_text((double)(now - seen) / 1e6, text));
}

void clock_note_studies(struct dpd *d, bool counted)
{
	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct dp_event e = { .type = DP_EV_TIME_NOTED, .counted = counted };

		if (!d->looking && dp_course_is_timed(d->studies[i]->state))
			record(d->studies[i], &e);
	}
}

void clock_stop(struct dpd *d)
{
	struct clock_note *n = d->clock_base && !d->looking ? clock_note_new(d) : NULL;

	clock_note_write(n);
	clock_note_free(n);
	free(d->gaps);
	d->gaps = NULL;
	d->ngaps = 0;
}

int64_t clock_now(const struct dpd *d)
{
	if (d->settings->clock)
		return *d->settings->clock;
	return d->clock_base + dp_mono_us();
}
