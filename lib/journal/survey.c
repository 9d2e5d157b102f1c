/* survey.c - everything that can be read of a damaged journal. */
#include "journal/survey.h"

#include "journal/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct surveyor {
	struct dp__survey *s;
	size_t walked;         /* so many finds came by the trees, in order */
	bool scanning;         /* any page is looked at */
	bool known_only;       /* records of studies that the trees do not know are
				* those of deleted ones */
	struct dp_event event; /* its memory is used again for each record */
};

static int survey_study_order(const void *a, const void *b)
{
	const struct dp__find *x = a, *y = b;

	return x->study < y->study ? -1 : x->study > y->study;
}

static int survey_key_order(const void *a, const void *b)
{
	const struct dp__find *x = a, *y = b;
	int order = survey_study_order(a, b);

	return order ? order : x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Of one key the best first. */
static int survey_order(const void *a, const void *b)
{
	const struct dp__find *x = a, *y = b;
	int order = survey_key_order(a, b);

	return order ? order : x->sound != y->sound ? y->sound - x->sound : x->astray - y->astray;
}

static int survey_add(struct dp__survey *s, const struct dp__find *find, const void *bytes)
{
	struct dp__find *grown;

	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 1024;

		grown = realloc(s->finds, room * sizeof *grown);
		if (!grown)
			return DP_E_NOMEM;
		s->finds = grown;
		s->room = room;
	}
	s->finds[s->n] = *find;
	s->finds[s->n].bytes = malloc(find->len + 1);
	if (!s->finds[s->n].bytes)
		return DP_E_NOMEM;
	memcpy(s->finds[s->n++].bytes, bytes, find->len);
	return DP_OK;
}

/* Would this record, found on some page, tell anything new? */
static bool survey_wants(const struct surveyor *v, const struct dp__find *find)
{
	const struct dp__find *all = v->s->finds, *same;

	if (!find->sound || v->walked == 0)
		return find->sound && !v->known_only;
	same = bsearch(find, all, v->walked, sizeof *all, survey_key_order);
	if (same)
		return !same->sound;
	return !v->known_only || bsearch(find, all, v->walked, sizeof *all, survey_study_order);
}

static int survey_record(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len)
{
	struct surveyor *v = arg;
	struct dp__find find = { .study = study, .seq = seq, .len = len };
	struct dp_err why;
	int code = dp_event_decode(bytes, len, &v->event, &why);

	if (code == DP_E_NOMEM)
		return code;
	find.sound = code == DP_OK;
	find.newer = code == DP_E_PROTOCOL;
	find.astray = v->scanning;
	if (code != DP_OK)
		snprintf(find.fault, sizeof find.fault, "%.95s", why.msg);
	if (v->scanning && !survey_wants(v, &find))
		return DP_OK;
	return survey_add(v->s, &find, bytes);
}

static int survey_fact(void *arg, const void *name, size_t name_len, const void *value, size_t len)
{
	struct surveyor *v = arg;
	json_t *text = json_stringn(value, len);
	char key[32];

	if (text && name_len < sizeof key) {
		memcpy(key, name, name_len);
		key[name_len] = '\0';
		json_object_set_new(v->s->facts, key, text);
	} else {
		json_decref(text); /* no text of ours */
	}
	return DP_OK;
}

static void survey_fault(void *arg, const char *text)
{
	struct surveyor *v = arg;

	if (v->s->page_faults++ == 0)
		snprintf(v->s->first_fault, sizeof v->s->first_fault, "%s", text);
}

/* Is every record there and sound? */
static bool survey_whole(const struct dp__survey *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct dp__find *f = &s->finds[i];
		bool first = i == 0 || f[-1].study != f->study;

		if (!f->sound || f->seq != (first ? 0 : f[-1].seq + 1))
			return false;
	}
	return s->page_faults == 0;
}

/* Of several under one key the best stays. Two astray ones that differ are none: nobody
 * can say which of them was the truth. */
static void survey_unite(struct dp__survey *s)
{
	size_t kept = 0, next;

	if (s->n > 0)
		qsort(s->finds, s->n, sizeof *s->finds, survey_order);
	for (size_t i = 0; i < s->n; i = next) {
		struct dp__find best = s->finds[i];

		for (next = i + 1; next < s->n && s->finds[next].study == best.study &&
				   s->finds[next].seq == best.seq;
		     next++) {
			const struct dp__find *f = &s->finds[next];

			if (best.sound && best.astray && f->sound &&
			    (f->len != best.len || memcmp(f->bytes, best.bytes, f->len) != 0)) {
				best.sound = false;
				snprintf(best.fault, sizeof best.fault,
					 "there are several of it, and they differ");
			}
			free(f->bytes);
		}
		s->finds[kept++] = best;
	}
	s->n = kept;
}

int dp__survey_read(struct dp__survey *s, int fd, struct dp_err *err)
{
	struct surveyor v = { .s = s };
	struct dp__visitor visitor = {
		.arg = &v, .record = survey_record, .fact = survey_fact, .fault = survey_fault
	};
	struct dp__pages pages;
	int code;

	*s = (struct dp__survey){ .facts = json_object() };
	code = dp__pages_walk(&pages, fd, 0, &visitor, err);
	if (code == DP_OK)
		survey_unite(s); /* in a damaged file nothing need be in order */
	v.walked = s->n;
	v.scanning = true;
	if (code == DP_OK && !survey_whole(s)) {
		code = dp__pages_scan(&pages, false, err);
		v.known_only = true;
		if (code == DP_OK)
			code = dp__pages_scan(&pages, true, err);
		if (code == DP_OK)
			survey_unite(s);
	}
	dp__pages_clear(&pages);
	dp_event_clear(&v.event);
	if (code == DP_E_NOMEM || !s->facts)
		return dp_fail(err, DP_E_NOMEM, "no memory to read a journal");
	return code;
}

void dp__survey_clear(struct dp__survey *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->finds[i].bytes);
	free(s->finds);
	json_decref(s->facts);
	*s = (struct dp__survey){ 0 };
}
