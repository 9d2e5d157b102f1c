/* status_cache.c - answers to `status`, kept for the next client. */
#include "daemon/status_cache.h"

#include "base/num.h"
#include "daemon/executor.h"
#include "daemon/record.h"
#include "daemon/requests.h"
#include "wire/wire.h"

#include <string.h>

/* FNV-1a. */
static void mark_add(uint64_t *mark, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		*mark = (*mark ^ p[i]) * UINT64_C(1099511628211);
}

#define MARK(mark, value) mark_add(mark, &(value), sizeof(value))

/* A digest of what `status` shows and the journal does not have, times apart. */
static uint64_t status_mark(const struct study *h)
{
	uint64_t mark = UINT64_C(14695981039346656037);
	const struct dpd *d = h->d;

	MARK(&mark, d->status.steered);
	MARK(&mark, d->trouble);
	MARK(&mark, d->disk_low);
	MARK(&mark, d->stopping);
	if (h->backend) /* one that only looks has none */
		MARK(&mark, h->backend->hold.until);
	MARK(&mark, h->next.kind);
	MARK(&mark, h->next.wait);
	MARK(&mark, h->next.until);
	MARK(&mark, h->next.trial);
	MARK(&mark, h->front);
	MARK(&mark, h->deleters);
	MARK(&mark, h->note.looked);
	MARK(&mark, h->note.shows);
	MARK(&mark, h->note.begun);
	for (const struct job *j = d->jobs; j; j = j->next) {
		if (j->home != h)
			continue;
		MARK(&mark, j->trial);
		MARK(&mark, j->attempt);
		MARK(&mark, j->phase);
		MARK(&mark, j->progress);
		mark_add(&mark, j->where, strlen(j->where));
		mark_add(&mark, j->trouble, strlen(j->trouble));
	}
	return mark;
}

/* The study's entry; else a free one, or the oldest. */
static struct status_entry *status_find(struct status_cache *c, uint32_t study)
{
	struct status_entry *oldest = &c->entry[0];

	for (size_t i = 0; i < STATUS_CACHE_ENTRIES; i++) {
		struct status_entry *e = &c->entry[i];

		if (e->study == study)
			return e;
		if (e->made < oldest->made)
			oldest = e;
	}
	return oldest;
}

static void status_clear(struct status_entry *e)
{
	dp_buf_free(&e->text);
	*e = (struct status_entry){ 0 };
}

/* Does it show all that a client may know of? */
static bool status_serves(const struct study *h, const struct status_entry *e, bool newest)
{
	if (e->study != h->state->id || h->d->trouble || record_is_silent(h->d) ||
	    dp_mono_us() - e->made > STATUS_CACHE_MS * 1000)
		return false;
	if (e->seq == h->state->seq)
		return e->mark == status_mark(h);
	return !newest && e->ticket >= dp_journal_durable(h->d->journal);
}

/* Keeps it, unless it is too long, or there is no memory for it. */
static void status_keep(struct study *h, struct status_entry *e, struct dp_buf *text)
{
	status_clear(e);
	if (text->failed || text->len > STATUS_CACHE_TEXT_MAX)
		return;
	dp_buf_add(&e->text, text->data, text->len);
	if (e->text.failed) {
		status_clear(e);
		return;
	}
	e->study = h->state->id;
	e->ticket = h->d->last_ticket;
	e->seq = h->state->seq;
	e->mark = status_mark(h);
	e->made = dp_mono_us();
}

uint64_t status_cache_reply(struct study *h, bool newest, struct dp_buf *out)
{
	struct status_entry *e = status_find(&h->d->status, h->state->id);

	if (status_serves(h, e, newest)) {
		dp_buf_add(out, e->text.data, e->text.len);
		return e->ticket;
	}
	h->d->status.made++;
	dp_wire_ok(out, request_status_json(h));
	status_keep(h, e, out);
	return h->d->last_ticket;
}

void status_cache_drop(struct study *h)
{
	struct status_entry *e = status_find(&h->d->status, h->state->id);

	if (e->study == h->state->id)
		status_clear(e);
}

void status_cache_free(struct dpd *d)
{
	for (size_t i = 0; i < STATUS_CACHE_ENTRIES; i++)
		status_clear(&d->status.entry[i]);
}
