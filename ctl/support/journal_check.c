/* journal_check.c - `journal verify`, and warnings about a journal's health. */
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/support/crash_isolation.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"
#include "journal/maintenance/maintenance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	MAX_LISTED_FAULTS = 10000,
	VERIFY_MIN_SECONDS = 60,
	VERIFY_BYTES_PER_SECOND = 1 << 20, /* slower than any disk */
};

static void on_journal_fault(void *arg, uint32_t study, uint32_t seq, const char *fault)
{
	json_t *list = arg;

	if (json_array_size(list) < MAX_LISTED_FAULTS)
		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o?}", "study",
						study ? json_integer(study) : json_null(), "seq",
						study ? json_integer(seq) : json_null(), "fault",
						json_string(fault)));
}

static int isolated_verify_journal(const void *arg, json_t **out, struct dp_err *err)
{
	struct dp_journal_verify_result r;
	json_t *list = json_array();
	int code = dp_journal_verify_path(arg, on_journal_fault, list, &r, err);

	if (code == DP_OK)
		*out = json_pack("{s:I, s:I, s:I, s:I, s:O}", "records", (json_int_t)r.records,
				 "studies", (json_int_t)r.studies, "bytes", (json_int_t)r.bytes,
				 "count", (json_int_t)r.faults, "faults", list);
	json_decref(list);
	return code;
}

int ctl_journal_scan_faults(const char *path, json_t **out, struct dp_err *err)
{
	char *data = dp_path_join(path, "data.mdb");
	struct stat st = { 0 };
	double seconds;
	json_t *list;
	int code;

	if (stat(data, &st) != 0 && stat(path, &st) != 0)
		st.st_size = 0;
	free(data);
	/* enough for the largest journal, but bounded */
	seconds = VERIFY_MIN_SECONDS + (double)st.st_size / VERIFY_BYTES_PER_SECOND;
	code = ctl_run_isolated(isolated_verify_journal, path, seconds, out, err);
	if (code != DP_E_CORRUPT)
		return code;
	/* the child died before it could report more */
	list = json_array();
	on_journal_fault(list, 0, 0, err->msg);
	*out = json_pack("{s:i, s:i, s:i, s:i, s:o}", "records", 0, "studies", 0, "bytes", 0,
			 "count", 1, "faults", list);
	return DP_OK;
}

int ctl_journal_verify(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	const char *path = ctl->argc > 1 ? ctl->argv[1] : folder;
	char count[DP_PLURAL_LEN], size[DP_NUM_LEN], text[3][DP_PLURAL_LEN];
	const json_t *f;
	json_t *found;
	int64_t faults;
	size_t i;
	int code = ctl_journal_scan_faults(path, &found, err);

	if (code != DP_OK)
		return code;
	faults = dp_json_int(found, "count", 0);
	if (ctl->format == CTL_JSON) {
		json_object_del(found, "count");
		ctl_print_json(ctl, found);
		ctl->error_reported = true;
	} else {
		json_array_foreach (json_object_get(found, "faults"), i, f) {
			if (!json_is_null(json_object_get(f, "study")))
				ctl_printf(ctl, "study %" PRId64 ", record %" PRId64 ": ",
					   dp_json_int(f, "study", 0), dp_json_int(f, "seq", 0));
			else
				ctl_printf(ctl, "file: ");
			ctl_printf(ctl, "%s\n", dp_json_str(f, "fault", "?"));
		}
		ctl_printf(ctl, "%s: %s of %s, %s, %s\n", path,
			   ctl_format_count(found, "records", "record", text[0]),
			   ctl_format_count(found, "studies", "study", text[1]),
			   dp_size_text((uint64_t)dp_json_int(found, "bytes", 0), size),
			   ctl_format_count(found, "count", "fault", text[2]));
	}
	json_decref(found);
	if (faults == 0)
		return DP_OK;
	dp_fail(err, DP_E_CORRUPT, "%s has %s", ctl->argc > 1 ? path : "the journal",
		dp_plural_text((uint64_t)faults, "fault", count));
	if (ctl->argc > 1)
		return dp_hint(err, "do not restore it; 'dparetoctl journal backup' makes "
				    "another backup");
	return dp_hint(err, "stop the daemon; 'dparetoctl journal repair' saves what can be "
			    "read, 'dparetoctl journal restore FILE' puts a backup in place");
}

void ctl_journal_print_warnings(struct ctl *ctl, const json_t *journal)
{
	const json_t *reader = json_object_get(journal, "reader"), *u;
	const char *on = ctl_style_on(CTL_WARN, ctl_use_color(ctl, ctl->out));
	const char *off = ctl_style_off(CTL_WARN, ctl_use_color(ctl, ctl->out));
	char text[CTL_TEXT_LEN];
	size_t i;

	if (json_is_object(reader))
		ctl_printf(ctl,
			   "%sreader: %s (process %" PRId64
			   ") has held on for %s to the journal as it was %" PRId64
			   " commits ago; the file grows until it lets go%s\n",
			   on, dp_json_str(reader, "program", "a program"),
			   dp_json_int(reader, "pid", 0),
			   ctl_format_duration(json_object_get(reader, "seconds"), text),
			   dp_json_int(reader, "commits", 0), off);
	json_array_foreach (json_object_get(journal, "unreadable"), i, u)
		ctl_printf(ctl, "%sstudy %" PRId64 " cannot be read: %s%s\n", on,
			   dp_json_int(u, "study", 0), dp_json_str(u, "reason", "?"), off);
}
