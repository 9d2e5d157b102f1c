/* repair.c - rebuilds a damaged journal from the records that can be read. */
#include "journal/maintenance/restore.h"
#include "journal/maintenance/maintenance.h"
#include "journal/store/journal_internal.h"
#include "journal/maintenance/salvage.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct repair {
	const char *dir;
	char *studies_dir; /* STATE/studies */
	char *new_dir;
	struct dp_journal *new_journal;
	uint64_t last_ticket;      /* of the new journal's last record */
	struct dp_buf aside_lines; /* JSON lines of the records set aside */
	uint64_t record_count, aside_count, rebuilt_count;
	json_t *study_reports;
};

static void set_aside_record(struct repair *r, const struct dp__salvaged_record *f, const char *why)
{
	json_t *line = json_pack("{s:I, s:I, s:o}", "study", (json_int_t)f->study, "seq",
				 (json_int_t)f->seq, "why", json_string(why));

	r->aside_count++;
	dp_json_dump(&r->aside_lines, line, 0);
	json_decref(line);
	r->aside_lines.len--; /* drop the closing brace */
	dp_buf_puts(&r->aside_lines, ",\"bytes\":\"");
	for (size_t i = 0; i < f->len; i++)
		dp_buf_printf(&r->aside_lines, "%02x", f->bytes[i]);
	dp_buf_puts(&r->aside_lines, "\"}\n");
}

static void set_aside_lost_records(struct repair *r, const struct dp__salvaged_record *finds,
				   size_t n, const struct dp__reconciled_study *m)
{
	for (size_t i = 0; i < n; i++) {
		const struct dp__salvaged_record *f = &finds[i];

		if (m->is_unrecoverable)
			set_aside_record(r, f,
					 f->is_valid ? "the first record of its study is lost"
						     : f->fault);
		else if (f->seq >= m->n || m->records[f->seq].salvaged != f)
			set_aside_record(r, f, f->is_valid ? "its number is none" : f->fault);
		else if (m->records[f->seq].is_lost)
			set_aside_record(r, f, m->records[f->seq].lost_reason);
	}
}

/* Study numbers are below this one, so a key with a higher number is damaged. */
static uint32_t read_next_study_id(const json_t *facts)
{
	const char *text = json_string_value(json_object_get(facts, "next-study"));
	int64_t number;

	return text && dp_int_parse(text, &number) && number > 0 && number < UINT32_MAX
		       ? (uint32_t)number
		       : UINT32_MAX;
}

static int copy_journal_meta(struct repair *r, const json_t *facts, struct dp_err *err)
{
	static const char *const names[] = { "uuid", "created", "next-study" };
	const char *text;
	MDB_txn *txn;
	int64_t number;
	int mdb_code = dp__txn_begin(r->new_journal, 0, &txn);

	for (size_t i = 0; mdb_code == 0 && i < DP_COUNT(names); i++) {
		text = json_string_value(json_object_get(facts, names[i]));
		if (text &&
		    (i < 2 || (dp_int_parse(text, &number) && number > 0 && number < UINT32_MAX)))
			mdb_code = dp__meta_put(r->new_journal, txn, names[i], text);
	}
	if (mdb_code == 0)
		mdb_code = mdb_txn_commit(txn);
	return mdb_code == 0 ? DP_OK : dp__fail_mdb(r->new_journal, err, mdb_code, "write to");
}

static void put_study(struct repair *r, const struct dp__reconciled_study *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct dp__reconciled_record *slot = &m->records[i];
		const void *bytes = slot->synthesized.len ? slot->synthesized.data
							  : (const char *)slot->salvaged->bytes;

		r->last_ticket = dp_journal_append(r->new_journal, m->study, i, bytes,
						   slot->synthesized.len ? slot->synthesized.len
									 : slot->salvaged->len);
		r->record_count++;
	}
}

static int repair_study(struct repair *r, const struct dp__salvaged_record *finds, size_t n,
			struct dp_err *err)
{
	struct dp__reconciled_study m;
	int code = dp__reconcile_study(finds, n, r->studies_dir, &m, err);

	if (code == DP_OK) {
		set_aside_lost_records(r, finds, n, &m);
		r->rebuilt_count += m.synthesized_count;
		json_array_append_new(
			r->study_reports,
			json_pack("{s:I, s:o, s:I, s:I, s:I, s:b}", "study", (json_int_t)m.study,
				  "name", m.name[0] ? json_string(m.name) : json_null(), "records",
				  (json_int_t)(m.is_unrecoverable ? 0 : m.n), "lost",
				  (json_int_t)(m.is_unrecoverable ? n : m.lost_count), "rebuilt",
				  (json_int_t)m.synthesized_count, "whole",
				  !m.is_unrecoverable && m.lost_count == 0));
	}
	if (code == DP_OK && !m.is_unrecoverable)
		put_study(r, &m);
	dp__reconciled_study_clear(&m);
	return code;
}

static int wait_until_durable(struct repair *r, struct dp_err *err)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	while (dp_journal_durable_ticket(r->new_journal) < r->last_ticket) {
		if (dp_journal_get_write_error(r->new_journal, err))
			return DP_E_IO;
		nanosleep(&pause, NULL);
	}
	return DP_OK;
}

static int repair_write(struct repair *r, const struct dp__salvage *s, struct dp_err *err)
{
	size_t next;
	int code = dp_journal_open(r->new_dir, NULL, &r->new_journal, err);

	if (code == DP_OK)
		code = copy_journal_meta(r, s->meta, err);
	if (code == DP_OK)
		code = dp_journal_start_writer(r->new_journal, NULL, NULL, err);
	for (size_t i = 0; code == DP_OK && i < s->n; i = next) {
		for (next = i + 1; next < s->n && s->records[next].study == s->records[i].study;
		     next++)
			;
		if (s->records[i].study < read_next_study_id(s->meta))
			code = repair_study(r, s->records + i, next - i, err);
		else
			for (size_t k = i; k < next; k++)
				set_aside_record(r, &s->records[k],
						 "no study was given this number");
	}
	if (code == DP_OK)
		code = wait_until_durable(r, err);
	dp_journal_close(r->new_journal);
	r->new_journal = NULL;
	return code;
}

/* Records of a newer version are not damage, so a repair must not drop them. */
static int refuse_newer_records(const struct dp__salvage *s, struct dp_err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->records[i].is_newer_version) {
			dp_fail(err, DP_E_PROTOCOL, "record %u of study %u: %s", s->records[i].seq,
				s->records[i].study, s->records[i].fault);
			dp_hint(err, "repair the journal with that version");
			return DP_E_PROTOCOL;
		}
	return DP_OK;
}

static json_t *repair_report(const struct repair *r, const struct dp__salvage *s, const char *kept,
			     const char *aside)
{
	json_t *o = json_pack("{s:b, s:I, s:I, s:I, s:I, s:O}", "repaired", kept != NULL, "records",
			      (json_int_t)r->record_count, "set_aside", (json_int_t)r->aside_count,
			      "rebuilt", (json_int_t)r->rebuilt_count, "damaged_pages",
			      (json_int_t)s->page_faults, "studies", r->study_reports);

	json_object_set_new(o, "old", kept ? json_string(kept) : json_null());
	json_object_set_new(o, "file", aside ? json_string(aside) : json_null());
	return o;
}

/* Verifies the new journal and installs it. The records set aside are durable before that. */
static int install_repaired_journal(struct repair *r, const struct dp__salvage *s, json_t **report,
				    struct dp_err *err)
{
	char kept[64], aside[64];
	char *new = dp_path_join(r->new_dir, "data.mdb"), *file;
	struct dp_journal_verify_result v;
	int code = dp_journal_verify_path(r->new_dir, NULL, NULL, &v, err);

	dp__format_kept_name("data-", ".mdb", kept);
	dp__format_kept_name("set-aside-", ".jsonl", aside);
	file = dp_path_join(r->dir, aside);
	if (code == DP_OK && v.faults > 0)
		code = dp_fail(err, DP_E_FAILED,
			       "the repaired journal has %llu faults; the old one stays",
			       (unsigned long long)v.faults);
	if (code == DP_OK && r->aside_count)
		code = dp_write_file(file, r->aside_lines.data, r->aside_lines.len, true, err);
	if (code == DP_OK)
		code = dp__replace_journal_file(r->dir, new, kept, err);
	if (code == DP_OK)
		*report = repair_report(r, s, kept, r->aside_count ? aside : NULL);
	free(new);
	free(file);
	return code;
}

/* Verifies the file itself, because LMDB must not open a damaged one. */
static int check_needs_repair(const char *file, bool *whole, struct dp_err *err)
{
	struct dp_journal_verify_result v;
	int code = dp_journal_verify_path(file, NULL, NULL, &v, err);

	*whole = code == DP_OK && v.faults == 0;
	return code;
}

static int repair_locked(struct repair *r, json_t **report, struct dp_err *err)
{
	char *data = dp_path_join(r->dir, "data.mdb");
	struct dp__salvage s = { 0 };
	bool whole = false;
	int fd, code;

	fd = dp_open_regular(data, err);
	if (fd < 0) {
		free(data);
		return err->code;
	}
	code = check_needs_repair(data, &whole, err);
	free(data);
	if (code == DP_OK && !whole)
		code = dp__salvage_read(&s, fd, err);
	close(fd);
	if (code == DP_OK)
		code = refuse_newer_records(&s, err);
	if (code == DP_OK && !whole && s.n == 0 && s.page_faults) {
		dp_fail(err, DP_E_CORRUPT, "nothing can be read of the journal in %s (%s)", r->dir,
			s.first_fault);
		dp_hint(err, "put a backup in place with 'dparetoctl journal restore'");
		code = DP_E_CORRUPT;
	}
	/* remove what an interrupted repair left */
	if (code == DP_OK)
		code = dp_remove_tree(r->new_dir, err);
	if (code == DP_OK && whole) {
		*report = repair_report(r, &s, NULL, NULL);
	} else if (code == DP_OK) {
		code = repair_write(r, &s, err);
		if (code == DP_OK)
			code = install_repaired_journal(r, &s, report, err);
		if (dp_remove_tree(r->new_dir, NULL) != DP_OK && code == DP_OK)
			code = dp_fail(err, DP_E_IO, "cannot remove %s", r->new_dir);
	}
	dp__salvage_clear(&s);
	return code;
}

int dp_journal_repair(const char *dir, json_t **report, struct dp_err *err)
{
	struct repair r = { .dir = dir, .study_reports = json_array() };
	char *state = dp_path_dir_absolute(dir);
	struct dp__writer_lock *lock = NULL;
	int code;

	*report = NULL;
	r.new_dir = dp_path_join(dir, DP__REPAIR_DIR);
	if (state)
		r.studies_dir = dp_path_join(state, "studies");
	free(state);
	code = r.studies_dir ? dp__writer_lock_acquire(dir, &lock, err)
			     : dp_fail_errno(err, errno, "cannot find %s", dir);
	if (code == DP_OK)
		code = repair_locked(&r, report, err);
	dp__writer_lock_release(lock);
	dp_buf_free(&r.aside_lines);
	json_decref(r.study_reports);
	free(r.studies_dir);
	free(r.new_dir);
	return code;
}
