/* clock.c - the time of the records, and how much of it a daemon ran.
 *
 * The second is what limits count. It cannot be told from times alone: a machine may have
 * been switched off, or somebody set its clock. STATE/clock therefore keeps when a daemon
 * was last seen, written now and then, and the gaps in which there was none. Without that
 * file nothing is known, and counting begins anew. */
#include "daemon/core/daemon.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "daemon/core/commit_queue.h"
#include "daemon/studies/study_object.h"

#include <stdlib.h>
#include <string.h>

enum {
	CLOCK_GAPS_MAX = 1000,          /* then the oldest two become one */
	CLOCK_FILE_MAX_BYTES = 1 << 20, /* bytes */
};
#define CLOCK_GAP_MIN_US (INT64_C(3600) * 1000000) /* shorter ones count as if it ran */
#define CLOCK_MAX_US     (INT64_MAX / 4)           /* beyond it the file is damaged */

/* ---- gaps ---- */

static void clock_add_gap(struct daemon *d, int64_t end, int64_t length)
{
	struct clock_gap *grown = dp_realloc(d->clock_gaps, (d->n_clock_gaps + 1) * sizeof *grown);

	if (!grown)
		daemon_die_no_memory(d, "for the clock");
	d->clock_gaps = grown;
	grown[d->n_clock_gaps++] = (struct clock_gap){ .end_us = end, .length_us = length };
	if (d->n_clock_gaps <= CLOCK_GAPS_MAX)
		return;
	grown[1].length_us += grown[0].length_us; /* later: what lies between stays longer */
	d->n_clock_gaps--;
	memmove(grown, grown + 1, d->n_clock_gaps * sizeof *grown);
}

int64_t clock_running_time_since(const struct daemon *d, int64_t then)
{
	int64_t ran = clock_now(d) - then;

	for (unsigned i = 0; i < d->n_clock_gaps; i++)
		if (d->clock_gaps[i].end_us > then)
			ran -= d->clock_gaps[i].length_us;
	return ran > 0 ? ran : 0;
}

/* ---- the file ---- */

struct clock_file {
	char *path;
	struct dp_buf text;
};

struct clock_file *clock_file_new(const struct daemon *d)
{
	struct clock_file *n = dp_calloc(1, sizeof *n);
	json_t *gaps = json_array(), *all;

	for (unsigned i = 0; i < d->n_clock_gaps; i++)
		json_array_append_new(gaps, json_pack("[I, I]", (json_int_t)d->clock_gaps[i].end_us,
						      (json_int_t)d->clock_gaps[i].length_us));
	all = json_pack("{s:i, s:I, s:o}", "version", 1, "seen", (json_int_t)clock_now(d), "gaps",
			gaps);
	if (n && all) {
		n->path = dp_path_join(d->paths.state_dir, "clock");
		dp_json_dump(&n->text, all, 0);
	}
	json_decref(all);
	return n;
}

void clock_file_write(const struct clock_file *n)
{
	bool whole = n && n->path && n->text.len;

	if (whole && dp_write_file(n->path, n->text.data, n->text.len, true, NULL) != DP_OK) {
		/* the next one is as good; until then less time counts */
	}
}

void clock_file_free(struct clock_file *n)
{
	if (!n)
		return;
	free(n->path);
	dp_buf_free(&n->text);
	free(n);
}

static void clock_read_gaps(struct daemon *d, const json_t *list)
{
	json_t *gap;
	size_t i;

	json_array_foreach (list, i, gap) {
		json_int_t end = json_integer_value(json_array_get(gap, 0)),
			   length = json_integer_value(json_array_get(gap, 1));

		if (length > 0 && length <= end && end <= CLOCK_MAX_US)
			clock_add_gap(d, end, length);
	}
}

/* What the file says: gaps, and when a daemon was last seen; 0 if it says nothing. */
static int64_t clock_read(struct daemon *d)
{
	char *path = dp_path_join(d->paths.state_dir, "clock");
	struct dp_err err = { 0 };
	json_t *all = NULL;
	int64_t seen;
	int code;

	if (!path)
		daemon_die_no_memory(d, "for the clock");
	code = dp_json_read_file(path, CLOCK_FILE_MAX_BYTES, &all, &err);
	if (code != DP_OK && code != DP_E_NOT_FOUND)
		log_line(&d->log, LOG_WARN, "", "%s cannot be read: %s", path, err.msg);
	clock_read_gaps(d, json_object_get(all, "gaps"));
	seen = dp_json_int(all, "seen", 0);
	if (seen < 0 || seen > CLOCK_MAX_US)
		seen = 0;
	json_decref(all);
	free(path);
	return seen;
}

/* ---- the clock itself ---- */

void clock_start(struct daemon *d)
{
	const int64_t *simulated = d->options->simulated_clock_us;
	int64_t now = simulated ? *simulated : dp_now_us(), record = 0, seen;
	char text[DP_NUM_LEN];

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		if (d->state.studies[i]->updated_us > record)
			record = d->state.studies[i]->updated_us;
	now = record > now ? record : now;
	d->clock_base_us = now - dp_monotonic_us();
	if (d->is_read_only)
		return; /* no time passes for the studies */
	seen = clock_read(d);
	if (seen == 0) {
		clock_add_gap(d, now, now);
		return;
	}
	if (now - seen < CLOCK_GAP_MIN_US)
		return;
	clock_add_gap(d, now, now - seen);
	log_line(&d->log, LOG_WARN, "",
		 "no daemon was here for %s, or the clock was set: no limit counts that "
		 "time",
		 dp_duration_text((double)(now - seen) / 1e6, text));
}

void clock_record_study_times(struct daemon *d, bool counted)
{
	for (uint32_t i = 0; i < d->nstudies; i++) {
		struct dp_event e = { .type = DP_EV_TIME_NOTED,
				      .time_noted = { .daemon_ran = counted } };

		if (!d->is_read_only && dp_policy_is_time_limited(d->studies[i]->state))
			study_record_event(d->studies[i], &e);
	}
}

void clock_stop(struct daemon *d)
{
	struct clock_file *n = d->clock_base_us && !d->is_read_only ? clock_file_new(d) : NULL;

	clock_file_write(n);
	clock_file_free(n);
	free(d->clock_gaps);
	d->clock_gaps = NULL;
	d->n_clock_gaps = 0;
}

int64_t clock_now(const struct daemon *d)
{
	if (d->options->simulated_clock_us)
		return *d->options->simulated_clock_us;
	return d->clock_base_us + dp_monotonic_us();
}
