/* status_cache.c - caches replies to `status`. */
#include "daemon/api/status_cache.h"

#include "base/units.h"
#include "daemon/studies/derived_results.h"
#include "daemon/studies/report_writer.h"
#include "protocol/control/control_protocol.h"

#include <stdlib.h>

/* FNV-1a. */
static void status_digest_add(uint64_t *mark, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		*mark = (*mark ^ p[i]) * UINT64_C(1099511628211);
}

#define DIGEST(mark, value) status_digest_add(mark, &(value), sizeof(value))

/* A digest of what `status` shows from outside the journal, except times. */
static uint64_t status_digest(const struct study *study)
{
	uint64_t mark = UINT64_C(14695981039346656037);
	const struct daemon *d = study->daemon;

	uint32_t derived = derived_results_version(study);

	DIGEST(&mark, d->status_cache->n_changes);
	DIGEST(&mark, d->commits->is_failing);
	DIGEST(&mark, d->disk.is_low);
	DIGEST(&mark, d->stopping);
	DIGEST(&mark, study->next_step.kind);
	DIGEST(&mark, study->next_step.wait_reason);
	DIGEST(&mark, study->next_step.until_us);
	DIGEST(&mark, study->next_step.trial);
	DIGEST(&mark, study->smoothed_front);
	DIGEST(&mark, study->delete_requests);
	DIGEST(&mark, derived);
	if (study->report_status) {
		DIGEST(&mark, study->report_status->shown_seq);
		DIGEST(&mark, study->report_status->last_try_us);
	}
	return d->attempts->running_digest(study, mark);
}

/* The study's entry, else a free one or the least recently used. */
static struct status_entry *status_find(struct status_cache *c, uint32_t study_id)
{
	struct status_entry *oldest = &c->entry[0];

	for (size_t i = 0; i < STATUS_CACHE_ENTRIES; i++) {
		struct status_entry *e = &c->entry[i];

		if (e->study_id == study_id)
			return e;
		if (e->rendered_us < oldest->rendered_us)
			oldest = e;
	}
	return oldest;
}

static void status_clear(struct status_entry *e)
{
	dp_buf_free(&e->text);
	*e = (struct status_entry){ 0 };
}

uint64_t status_cache_reply(struct study *study, bool newest, json_t *(*make)(struct study *study),
			    struct dp_buf *out)
{
	struct daemon *d = study->daemon;
	const struct dp_study_state *s = study->state;
	struct status_entry *e = status_find(d->status_cache, s->id);
	bool valid = e->study_id == s->id && !d->commits->is_failing &&
		     !commit_queue_is_stalled(d) &&
		     dp_monotonic_us() - e->rendered_us <= STATUS_CACHE_MS * 1000;

	/* valid if it shows everything that clients may know */
	if (valid && e->seq == s->next_seq)
		valid = e->digest == status_digest(study);
	else if (valid)
		valid = !newest && e->ticket >= dp_journal_durable_ticket(d->journal);
	if (valid) {
		dp_buf_add(out, e->text.data, e->text.len);
		return e->ticket;
	}
	d->status_cache->n_rendered++;
	dp_control_format_ok(out, make(study));
	status_clear(e);
	if (out->over_limit || out->len > STATUS_CACHE_TEXT_MAX)
		return d->commits->last_ticket;
	dp_buf_add(&e->text, out->data, out->len);
	e->study_id = s->id;
	e->ticket = d->commits->last_ticket;
	e->seq = s->next_seq;
	e->digest = status_digest(study);
	e->rendered_us = dp_monotonic_us();
	return e->ticket;
}

void status_cache_init(struct daemon *d)
{
	d->status_cache = dp_calloc(1, sizeof *d->status_cache);
}

void status_cache_free(struct daemon *d)
{
	for (size_t i = 0; i < STATUS_CACHE_ENTRIES; i++)
		status_clear(&d->status_cache->entry[i]);
	free(d->status_cache);
}
