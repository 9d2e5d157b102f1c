/* clock.c - the clock for records, and how long a daemon has run. Limits count running time. It
 * cannot be derived from timestamps: the machine may have been off, or its clock set. STATE/clock
 * therefore keeps when a daemon was last seen, written periodically, and the gaps without one.
 * Without that file, counting starts again from zero. */
#include "daemon/core/clock.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	CLOCK_GAPS_MAX = 1000, /* then the oldest two are merged */
	CLOCK_FILE_MAX_BYTES = 1 << 20,
};
#define CLOCK_GAP_MIN_US (INT64_C(3600) * 1000000) /* shorter gaps count as running */
#define CLOCK_MAX_US     (INT64_MAX / 4)           /* a larger value means a damaged file */

/* ---- gaps ---- */

static void clock_add_gap(struct daemon_clock *c, int64_t end, int64_t length)
{
	c->gaps = dp_reallocarray(c->gaps, c->n_gaps + 1, sizeof *c->gaps);
	c->gaps[c->n_gaps++] = (struct clock_gap){ .end_us = end, .length_us = length };
	if (c->n_gaps <= CLOCK_GAPS_MAX)
		return;
	c->gaps[1].length_us += c->gaps[0].length_us; /* the longer gap moves to the later end */
	c->n_gaps--;
	memmove(c->gaps, c->gaps + 1, c->n_gaps * sizeof *c->gaps);
}

int64_t clock_running_time_since(const struct daemon *d, int64_t then)
{
	const struct daemon_clock *c = d->clock;
	int64_t ran = clock_now(d) - then;

	for (unsigned i = 0; i < c->n_gaps; i++)
		if (c->gaps[i].end_us > then)
			ran -= c->gaps[i].length_us;
	return ran > 0 ? ran : 0;
}

/* ---- the file ---- */

struct clock_file {
	char *path;
	struct dp_buf text;
};

struct clock_file *clock_file_new(const struct daemon *d)
{
	const struct daemon_clock *c = d->clock;
	struct clock_file *file = dp_calloc(1, sizeof *file);
	json_t *gaps = json_array(), *all;

	for (unsigned i = 0; i < c->n_gaps; i++)
		json_array_append_new(gaps, json_pack("[I, I]", (json_int_t)c->gaps[i].end_us,
						      (json_int_t)c->gaps[i].length_us));
	all = json_pack("{s:i, s:I, s:o}", "version", 1, "seen", (json_int_t)clock_now(d), "gaps",
			gaps);
	file->path = dp_path_join(d->paths.state_dir, "clock");
	dp_json_dump(&file->text, all, 0);
	json_decref(all);
	return file;
}

void clock_file_write(const struct clock_file *file)
{
	if (dp_write_file(file->path, file->text.data, file->text.len, true, NULL) != DP_OK) {
		/* the next write replaces it; until then less time counts */
	}
}

void clock_file_free(struct clock_file *file)
{
	free(file->path);
	dp_buf_free(&file->text);
	free(file);
}

/* Reads the gaps. Returns when a daemon was last seen, 0 if unknown. */
static int64_t clock_read(struct daemon *d)
{
	char *path = dp_path_join(d->paths.state_dir, "clock");
	struct dp_err err = { 0 };
	json_t *all = NULL, *gap;
	int64_t seen;
	size_t i;
	int code = dp_json_read_file(path, CLOCK_FILE_MAX_BYTES, &all, &err);

	if (code != DP_OK && code != DP_E_NOT_FOUND)
		log_line(&d->log, LOG_WARN, "", "%s cannot be read: %s", path, err.msg);
	json_array_foreach (json_object_get(all, "gaps"), i, gap) {
		json_int_t end = json_integer_value(json_array_get(gap, 0)),
			   length = json_integer_value(json_array_get(gap, 1));

		if (length > 0 && length <= end && end <= CLOCK_MAX_US)
			clock_add_gap(d->clock, end, length);
	}
	seen = dp_json_int(all, "seen", 0);
	json_decref(all);
	free(path);
	return seen < 0 || seen > CLOCK_MAX_US ? 0 : seen;
}

/* ---- the clock ---- */

void clock_init(struct daemon *d)
{
	d->clock = dp_calloc(1, sizeof *d->clock);
}

void clock_resume(struct daemon *d)
{
	const int64_t *simulated = d->options->simulated_clock_us;
	int64_t now = simulated ? *simulated : dp_now_us(), record = 0, seen;
	char text[DP_NUM_LEN];

	for (uint32_t i = 0; i < d->state.nstudies; i++)
		if (d->state.studies[i]->updated_us > record)
			record = d->state.studies[i]->updated_us;
	now = record > now ? record : now;
	d->clock->base_us = now - dp_monotonic_us();
	if (d->read_only.enabled)
		return; /* a read-only daemon saves no time */
	seen = clock_read(d);
	if (seen == 0) {
		clock_add_gap(d->clock, now, now);
		return;
	}
	if (now - seen < CLOCK_GAP_MIN_US)
		return;
	clock_add_gap(d->clock, now, now - seen);
	log_line(&d->log, LOG_WARN, "",
		 "no daemon was here for %s, or the clock was set: no limit counts that "
		 "time",
		 dp_duration_text((double)(now - seen) / 1e6, text));
}

void clock_stop(struct daemon *d)
{
	if (d->clock->base_us && !d->read_only.enabled) {
		struct clock_file *file = clock_file_new(d);

		clock_file_write(file);
		clock_file_free(file);
	}
}

void clock_free(struct daemon *d)
{
	free(d->clock->gaps);
	free(d->clock);
}

int64_t clock_now(const struct daemon *d)
{
	if (d->options->simulated_clock_us)
		return *d->options->simulated_clock_us;
	return d->clock->base_us + dp_monotonic_us();
}
