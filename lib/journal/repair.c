/* repair.c - a damaged journal made anew from what can be read of it. */
#include "journal/exchange.h"
#include "journal/journal_internal.h"
#include "journal/survey.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct repair {
	const char *dir;
	char *studies;        /* STATE/studies */
	char *folder;         /* the new journal is made in it */
	struct dp_journal *j; /* the new one */
	uint64_t ticket;      /* of its last record */
	struct dp_buf aside;  /* lines of what is set aside */
	uint64_t records, set_aside, rebuilt;
	json_t *list; /* of studies, for the report */
};

/* ---- what is set aside ---- */

static void aside_put(struct repair *r, const struct dp__find *f, const char *why)
{
	json_t *line = json_pack("{s:I, s:I, s:o}", "study", (json_int_t)f->study, "seq",
				 (json_int_t)f->seq, "why", json_string(why));

	r->set_aside++;
	dp_json_dump(&r->aside, line, 0);
	json_decref(line);
	if (r->aside.len > 0 && r->aside.data[r->aside.len - 1] == '}') {
		r->aside.data[--r->aside.len] = '\0';
		dp_buf_puts(&r->aside, ",\"bytes\":\"");
	}
	for (size_t i = 0; i < f->len; i++)
		dp_buf_printf(&r->aside, "%02x", f->bytes[i]);
	dp_buf_puts(&r->aside, "\"}\n");
}

/* What of a study's finds is not in the new journal. */
static void aside_study(struct repair *r, const struct dp__find *finds, size_t n,
			const struct dp__mended *m)
{
	for (size_t i = 0; i < n; i++) {
		const struct dp__find *f = &finds[i];

		if (m->hopeless)
			aside_put(r, f,
				  f->sound ? "the first record of its study is lost" : f->fault);
		else if (f->seq >= m->n || m->slots[f->seq].find != f)
			aside_put(r, f, f->sound ? "its number is none" : f->fault);
		else if (m->slots[f->seq].lost)
			aside_put(r, f, m->slots[f->seq].why);
	}
}

/* ---- the new journal ---- */

/* Numbers of studies are below this one: a key with another is damaged. */
static uint32_t repair_given(const json_t *facts)
{
	const char *text = json_string_value(json_object_get(facts, "next-study"));
	int64_t number;

	return text && dp_int_parse(text, &number) && number > 0 && number < UINT32_MAX
		       ? (uint32_t)number
		       : UINT32_MAX;
}

static int repair_facts(struct repair *r, const json_t *facts, struct dp_err *err)
{
	static const char *const names[] = { "uuid", "created", "next-study" };
	const char *text;
	MDB_txn *txn;
	int64_t number;
	int mdb_code = dp__begin(r->j, 0, &txn);

	for (size_t i = 0; mdb_code == 0 && i < DP_COUNT(names); i++) {
		text = json_string_value(json_object_get(facts, names[i]));
		if (text &&
		    (i < 2 || (dp_int_parse(text, &number) && number > 0 && number < UINT32_MAX)))
			mdb_code = dp__meta_put(r->j, txn, names[i], text);
	}
	if (mdb_code == 0)
		mdb_code = mdb_txn_commit(txn);
	return mdb_code == 0 ? DP_OK : dp__fail_mdb(r->j, err, mdb_code, "write to");
}

static int put_study(struct repair *r, const struct dp__mended *m, struct dp_err *err)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct dp__slot *slot = &m->slots[i];
		const void *bytes =
			slot->made.len ? slot->made.data : (const char *)slot->find->bytes;

		r->ticket = dp_journal_append(r->j, m->study, i, bytes,
					      slot->made.len ? slot->made.len : slot->find->len);
		if (r->ticket == 0)
			return dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
		r->records++;
	}
	return DP_OK;
}

static int repair_study(struct repair *r, const struct dp__find *finds, size_t n,
			struct dp_err *err)
{
	struct dp__mended m;
	int code = dp__mend(finds, n, r->studies, &m, err);

	if (code == DP_OK) {
		aside_study(r, finds, n, &m);
		r->rebuilt += m.made;
		json_array_append_new(
			r->list,
			json_pack("{s:I, s:o, s:I, s:I, s:I, s:b}", "study", (json_int_t)m.study,
				  "name", m.name[0] ? json_string(m.name) : json_null(), "records",
				  (json_int_t)(m.hopeless ? 0 : m.n), "lost",
				  (json_int_t)(m.hopeless ? n : m.lost), "rebuilt",
				  (json_int_t)m.made, "whole", !m.hopeless && m.lost == 0));
	}
	if (code == DP_OK && !m.hopeless)
		code = put_study(r, &m, err);
	dp__mended_clear(&m);
	return code;
}

/* Everything is on the disk, or the disk refuses. */
static int repair_wait(struct repair *r, struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	while (dp_journal_durable(r->j) < r->ticket) {
		if (dp_journal_trouble(r->j, err))
			return DP_E_IO;
		nanosleep(&pause, NULL);
	}
	return DP_OK;
}

static int repair_write(struct repair *r, const struct dp__survey *s, struct dp_err *err)
{
	size_t next;
	int code = dp_journal_open(r->folder, NULL, &r->j, err);

	if (code == DP_OK)
		code = repair_facts(r, s->facts, err);
	if (code == DP_OK)
		code = dp_journal_start(r->j, NULL, NULL, err);
	for (size_t i = 0; code == DP_OK && i < s->n; i = next) {
		for (next = i + 1; next < s->n && s->finds[next].study == s->finds[i].study; next++)
			;
		if (s->finds[i].study < repair_given(s->facts))
			code = repair_study(r, s->finds + i, next - i, err);
		else
			for (size_t k = i; k < next; k++)
				aside_put(r, &s->finds[k], "no study was given this number");
	}
	if (code == DP_OK)
		code = repair_wait(r, err);
	dp_journal_close(r->j);
	r->j = NULL;
	return code;
}

/* ---- the whole ---- */

/* A record of a newer version is nobody's damage. */
static int refuse_newer(const struct dp__survey *s, struct dp_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->finds[i].newer) {
			dp_fail(err, DP_E_PROTOCOL, "record %u of study %u: %s", s->finds[i].seq,
				s->finds[i].study, s->finds[i].fault);
			dp_hint(err, "repair the journal with that version");
			return DP_E_PROTOCOL;
		}
	return DP_OK;
}

static json_t *repair_report(const struct repair *r, const struct dp__survey *s, const char *kept,
			     const char *aside)
{
	json_t *o = json_pack("{s:b, s:I, s:I, s:I, s:I, s:O}", "repaired", kept != NULL, "records",
			      (json_int_t)r->records, "set_aside", (json_int_t)r->set_aside,
			      "rebuilt", (json_int_t)r->rebuilt, "damaged_pages",
			      (json_int_t)s->page_faults, "studies", r->list);

	json_object_set_new(o, "old", kept ? json_string(kept) : json_null());
	json_object_set_new(o, "file", aside ? json_string(aside) : json_null());
	return o;
}

/* The new journal is sound: it takes the place of the old one, and what was set aside is
 * on the disk before that. */
static int repair_finish(struct repair *r, const struct dp__survey *s, json_t **report,
			 struct dp_err *err)
{
	char kept[64], aside[64];
	char *new = dp_path_join(r->folder, "data.mdb"), *file;
	struct dp_verify_result v;
	int code = dp_journal_verify_at(r->folder, NULL, NULL, &v, err);

	dp__exchange_name("data-", ".mdb", kept);
	dp__exchange_name("set-aside-", ".jsonl", aside);
	file = dp_path_join(r->dir, aside);
	if (code == DP_OK && v.faults > 0)
		code = dp_fail(err, DP_E_FAILED,
			       "the repaired journal has %llu faults; the old one stays",
			       (unsigned long long)v.faults);
	if (!new || !file || r->aside.failed)
		code = dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
	if (code == DP_OK && r->set_aside)
		code = dp_write_file(file, r->aside.data, r->aside.len, true, err);
	if (code == DP_OK)
		code = dp__exchange(r->dir, new, kept, err);
	if (code == DP_OK)
		*report = repair_report(r, s, kept, r->set_aside ? aside : NULL);
	free(new);
	free(file);
	return code;
}

/* Is there nothing to do? Asked of the file, which LMDB is not to touch. */
static int repair_whole(const char *file, bool *whole, struct dp_err *err)
{
	struct dp_verify_result v;
	int code = dp_journal_verify_at(file, NULL, NULL, &v, err);

	*whole = code == DP_OK && v.faults == 0;
	return code;
}

static int repair_locked(struct repair *r, json_t **report, struct dp_err *err)
{
	char *data = dp_path_join(r->dir, "data.mdb");
	struct dp__survey s = { 0 };
	bool whole = false;
	int fd, code;

	if (!data)
		return dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
	fd = dp_open_regular(data, err);
	if (fd < 0) {
		free(data);
		return err->code;
	}
	code = repair_whole(data, &whole, err);
	free(data);
	if (code == DP_OK && !whole)
		code = dp__survey_read(&s, fd, err);
	close(fd);
	if (code == DP_OK)
		code = refuse_newer(&s, err);
	if (code == DP_OK && !whole && s.n == 0 && s.page_faults) {
		dp_fail(err, DP_E_CORRUPT, "nothing can be read of the journal in %s (%s)", r->dir,
			s.first_fault);
		dp_hint(err, "put a backup in place with 'dparetoctl journal restore'");
		code = DP_E_CORRUPT;
	}
	/* what an earlier repair left that was interrupted */
	if (code == DP_OK)
		code = dp_remove_tree(r->folder, err);
	if (code == DP_OK && whole) {
		*report = repair_report(r, &s, NULL, NULL);
	} else if (code == DP_OK) {
		code = repair_write(r, &s, err);
		if (code == DP_OK)
			code = repair_finish(r, &s, report, err);
		if (dp_remove_tree(r->folder, NULL) != DP_OK && code == DP_OK)
			code = dp_fail(err, DP_E_IO, "cannot remove %s", r->folder);
	}
	dp__survey_clear(&s);
	return code;
}

int dp_journal_repair(const char *dir, json_t **report, struct dp_err *err)
{
	struct repair r = { .dir = dir, .list = json_array() };
	char *state = dp_path_dir_absolute(dir);
	struct dp__lock *lock = NULL;
	int code;

	*report = NULL;
	r.studies = state ? dp_path_join(state, "studies") : NULL;
	r.folder = dp_path_join(dir, DP__REPAIR_FOLDER);
	free(state);
	code = r.studies && r.folder && r.list
		       ? dp__lock_take(dir, &lock, err)
		       : dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
	if (code == DP_OK)
		code = repair_locked(&r, report, err);
	if (code == DP_OK && !*report)
		code = dp_fail(err, DP_E_NOMEM, "no memory to repair a journal");
	dp__lock_drop(lock);
	dp_buf_free(&r.aside);
	json_decref(r.list);
	free(r.studies);
	free(r.folder);
	return code;
}
