/* salvage.c - reads everything that is readable of a damaged journal. */
#include "journal/maintenance/salvage.h"

#include "journal/store/lmdb_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct salvager {
	struct dp__salvage *salvage;
	size_t from_trees; /* number of records found through the trees, sorted */
	bool is_scanning;  /* any page is searched */
	/* Records of studies that the trees do not contain belong to deleted studies. */
	bool known_studies_only;
	struct dp_event event; /* its memory is reused for each record */
};

static int compare_record_studies(const void *a, const void *b)
{
	const struct dp__salvaged_record *x = a, *y = b;

	return x->study < y->study ? -1 : x->study > y->study;
}

static int compare_record_keys(const void *a, const void *b)
{
	const struct dp__salvaged_record *x = a, *y = b;
	int order = compare_record_studies(a, b);

	return order ? order : x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* By key; for equal keys the best record first. */
static int compare_record_quality(const void *a, const void *b)
{
	const struct dp__salvaged_record *x = a, *y = b;
	int order = compare_record_keys(a, b);

	return order                        ? order
	       : x->is_valid != y->is_valid ? y->is_valid - x->is_valid
					    : x->is_orphaned - y->is_orphaned;
}

/* True if a record found on some page adds to those from the trees. */
static bool salvage_needs_record(const struct salvager *v, const struct dp__salvaged_record *find)
{
	const struct dp__salvaged_record *all = v->salvage->records, *same;

	if (!find->is_valid || v->from_trees == 0)
		return find->is_valid && !v->known_studies_only;
	same = bsearch(find, all, v->from_trees, sizeof *all, compare_record_keys);
	if (same)
		return !same->is_valid;
	return !v->known_studies_only ||
	       bsearch(find, all, v->from_trees, sizeof *all, compare_record_studies);
}

static int on_salvage_record(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len)
{
	struct salvager *v = arg;
	struct dp__salvaged_record find = { .study = study, .seq = seq, .len = len };
	struct dp__salvage *s = v->salvage;
	struct dp_err why;
	int code = dp_event_decode(bytes, len, &v->event, &why);

	find.is_valid = code == DP_OK;
	find.is_newer_version = code == DP_E_PROTOCOL;
	find.is_orphaned = v->is_scanning;
	if (code != DP_OK)
		snprintf(find.fault, sizeof find.fault, "%.95s", why.msg);
	if (v->is_scanning && !salvage_needs_record(v, &find))
		return DP_OK;
	if (s->n == s->capacity) {
		s->capacity = s->capacity ? 2 * s->capacity : 1024;
		s->records = dp_reallocarray(s->records, s->capacity, sizeof *s->records);
	}
	find.bytes = dp_memdup(bytes, len);
	s->records[s->n++] = find;
	return DP_OK;
}

static int on_salvage_meta(void *arg, const void *name, size_t name_len, const void *value,
			   size_t len)
{
	struct salvager *v = arg;
	json_t *text = json_stringn(value, len);
	char key[32];

	if (text && name_len < sizeof key) {
		memcpy(key, name, name_len);
		key[name_len] = '\0';
		json_object_set_new(v->salvage->meta, key, text);
	} else {
		json_decref(text); /* not a text of the journal */
	}
	return DP_OK;
}

static void on_salvage_fault(void *arg, const char *text)
{
	struct salvager *v = arg;

	if (v->salvage->page_faults++ == 0)
		snprintf(v->salvage->first_fault, sizeof v->salvage->first_fault, "%s", text);
}

static bool salvage_is_complete(const struct dp__salvage *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct dp__salvaged_record *f = &s->records[i];
		bool first = i == 0 || f[-1].study != f->study;

		if (!f->is_valid || f->seq != (first ? 0 : f[-1].seq + 1))
			return false;
	}
	return s->page_faults == 0;
}

/* Keeps the best record of each key; none if orphaned records differ, since none is known to be
 * current. */
static void salvage_deduplicate(struct dp__salvage *s)
{
	size_t kept = 0, next;

	if (s->n > 0)
		qsort(s->records, s->n, sizeof *s->records, compare_record_quality);
	for (size_t i = 0; i < s->n; i = next) {
		struct dp__salvaged_record best = s->records[i];

		for (next = i + 1; next < s->n && s->records[next].study == best.study &&
				   s->records[next].seq == best.seq;
		     next++) {
			const struct dp__salvaged_record *f = &s->records[next];

			if (best.is_valid && best.is_orphaned && f->is_valid &&
			    (f->len != best.len || memcmp(f->bytes, best.bytes, f->len) != 0)) {
				best.is_valid = false;
				snprintf(best.fault, sizeof best.fault,
					 "there are several of it, and they differ");
			}
			free(f->bytes);
		}
		s->records[kept++] = best;
	}
	s->n = kept;
}

int dp__salvage_read(struct dp__salvage *s, int fd, struct dp_err *err)
{
	struct salvager v = { .salvage = s };
	struct dp__lmdb_visitor visitor = { .arg = &v,
					    .on_record = on_salvage_record,
					    .on_meta = on_salvage_meta,
					    .on_fault = on_salvage_fault };
	struct dp__lmdb_file pages;
	int code;

	*s = (struct dp__salvage){ .meta = json_object() };
	code = dp__lmdb_check_pages(&pages, fd, 0, &visitor, err);
	if (code == DP_OK)
		salvage_deduplicate(s); /* a damaged tree may be out of order */
	v.from_trees = s->n;
	v.is_scanning = true;
	if (code == DP_OK && !salvage_is_complete(s)) {
		code = dp__lmdb_scan_records(&pages, false);
		v.known_studies_only = true;
		if (code == DP_OK)
			code = dp__lmdb_scan_records(&pages, true);
		if (code == DP_OK)
			salvage_deduplicate(s);
	}
	dp__lmdb_file_clear(&pages);
	dp_event_clear(&v.event);
	return code;
}

void dp__salvage_clear(struct dp__salvage *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->records[i].bytes);
	free(s->records);
	json_decref(s->meta);
	*s = (struct dp__salvage){ 0 };
}
