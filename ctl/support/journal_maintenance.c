/* journal_maintenance.c - `journal backup`, `restore`, `compact` and `repair`. */
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/support/crash_isolation.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"
#include "journal/maintenance/maintenance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REPAIR_TIMEOUT_SECONDS (24 * 3600.0)

static int64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static int journal_require_file_arg(struct ctl *ctl, const char **file, struct dp_err *err)
{
	*file = ctl->argc > 1 ? ctl->argv[1] : NULL;
	return *file ? DP_OK : dp_fail(err, DP_E_USAGE, "'journal %s' needs a file", ctl->argv[0]);
}

/* Adds a hint if a running daemon has the journal open. */
static int add_busy_hint(int code, struct dp_err *err)
{
	if (code == DP_E_BUSY)
		dp_hint(err, "stop the daemon first ('dparetoctl daemon stop'; trainers "
			     "go on), then start it again");
	return code;
}

/* Copies through a temporary file: a slow reader of standard output must not keep the journal
 * open. */
static int backup_to_stdout(struct ctl *ctl, struct dp_journal *j, struct dp_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *path = dp_asprintf("%s/dparetoctl-backup-%ld", tmp ? tmp : "/tmp", (long)getpid());
	char chunk[1 << 16];
	int fd, code = dp_journal_backup(j, path, err);
	ssize_t n = 0;

	if (code == DP_OK) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		while (fd >= 0 && !ctl->out_closed && (n = read(fd, chunk, sizeof chunk)) > 0)
			ctl_print_bytes(ctl, chunk, (size_t)n);
		if (fd < 0 || n < 0)
			code = dp_fail_errno(err, errno, "cannot read %s", path);
		if (fd >= 0)
			close(fd);
	}
	unlink(path);
	free(path);
	return code;
}

int ctl_journal_backup(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	struct dp_journal_options readonly = { .readonly = true };
	struct dp_journal_verify_result copied;
	struct dp_journal *j = NULL;
	char size[DP_NUM_LEN], count[DP_PLURAL_LEN];
	const char *file;
	bool to_output;
	json_t *o;
	int code = journal_require_file_arg(ctl, &file, err);

	if (code != DP_OK)
		return code;
	to_output = strcmp(file, "-") == 0;
	if (!to_output && !ctl_has_option(ctl, "force") && access(file, F_OK) == 0) {
		dp_fail(err, DP_E_EXISTS, "%s exists already", file);
		return dp_hint(err, "name another file, or write over it with --force");
	}
	/* --force may replace an older backup, but not a link, FIFO or device */
	code = to_output ? DP_OK : dp_check_replaceable(file, err);
	if (code == DP_OK)
		code = dp_journal_open(folder, &readonly, &j, err);
	if (code == DP_OK)
		code = to_output ? backup_to_stdout(ctl, j, err) : dp_journal_backup(j, file, err);
	if (code == DP_E_NOT_FOUND && j)
		dp_hint(err, "make the folder of the backup first");
	dp_journal_close(j);
	if (code != DP_OK || to_output)
		return code;
	/* read the backup back: it must be valid */
	code = dp_journal_verify_path(file, NULL, NULL, &copied, err);
	if (code == DP_OK && copied.faults > 0)
		return dp_fail(err, DP_E_CORRUPT, "%s has %" PRIu64 " faults", file, copied.faults);
	if (code != DP_OK)
		return code;
	if (ctl->format != CTL_JSON) {
		ctl_printf(ctl, "%s: %s, %s\n", file,
			   dp_plural_text(copied.records, "record", count),
			   dp_size_text((uint64_t)file_size(file), size));
		return DP_OK;
	}
	o = json_pack("{s:o, s:I, s:I}", "file", json_string(file), "records",
		      (json_int_t)copied.records, "bytes", (json_int_t)file_size(file));
	ctl_print_json(ctl, o);
	json_decref(o);
	return DP_OK;
}

static void print_restore_result(struct ctl *ctl, const char *folder, const char *file,
				 const char *kept, const json_t *before, const json_t *now)
{
	int64_t records = dp_json_int(now, "records", 0);
	int64_t studies = dp_json_int(now, "studies", 0);
	int64_t old_records = dp_json_int(before, "records", 0);
	int64_t old_studies = dp_json_int(before, "studies", 0);
	int64_t faults = dp_json_int(before, "count", 0);
	char text[3][DP_PLURAL_LEN];
	json_t *o;

	if (ctl->format != CTL_JSON) {
		ctl_printf(ctl,
			   "%s: %s of %s, in place of %" PRId64 " of %" PRId64
			   " (%s), which are kept as %s/%s\n",
			   folder, ctl_format_count(now, "records", "record", text[0]),
			   ctl_format_count(now, "studies", "study", text[1]), old_records,
			   old_studies, ctl_format_count(before, "count", "fault", text[2]), folder,
			   kept);
		return;
	}
	o = json_pack("{s:o, s:{s:I, s:I}, s:{s:I, s:I, s:I}, s:o}", "file", json_string(file),
		      "now", "records", (json_int_t)records, "studies", (json_int_t)studies,
		      "before", "records", (json_int_t)old_records, "studies",
		      (json_int_t)old_studies, "faults", (json_int_t)faults, "kept",
		      json_string(kept));
	ctl_print_json(ctl, o);
	json_decref(o);
}

int ctl_journal_restore(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	json_t *now = NULL, *then = NULL;
	const char *file;
	char kept[64];
	int code = journal_require_file_arg(ctl, &file, err);

	if (code == DP_OK)
		code = ctl_journal_scan_faults(file, &then, err);
	if (code == DP_OK && dp_json_int(then, "count", 0) > 0) {
		code = dp_fail(err, DP_E_CORRUPT, "%s has %" PRId64 " faults: %s", file,
			       dp_json_int(then, "count", 0),
			       dp_json_str(json_array_get(json_object_get(then, "faults"), 0),
					   "fault", "?"));
		dp_hint(err, "nothing was changed; 'dparetoctl journal verify %s' lists all", file);
	}
	if (code == DP_OK && ctl_journal_scan_faults(folder, &now, err) != DP_OK)
		now = json_object();
	if (code == DP_OK)
		code = add_busy_hint(dp_journal_restore(folder, file, kept, err), err);
	if (code == DP_OK)
		print_restore_result(ctl, folder, file, kept, now, then);
	json_decref(now);
	json_decref(then);
	return code;
}

int ctl_journal_compact(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	char *data = dp_path_join(folder, "data.mdb");
	char was[DP_NUM_LEN], is[DP_NUM_LEN];
	int64_t before, after;
	json_t *o;
	int code;

	before = file_size(data);
	code = add_busy_hint(dp_journal_compact(folder, err), err);
	after = file_size(data);
	free(data);
	if (code != DP_OK)
		return code;
	if (ctl->format != CTL_JSON) {
		ctl_printf(ctl, "%s: %s, was %s\n", folder, dp_size_text((uint64_t)after, is),
			   dp_size_text((uint64_t)before, was));
		return DP_OK;
	}
	o = json_pack("{s:I, s:I}", "before", (json_int_t)before, "bytes", (json_int_t)after);
	ctl_print_json(ctl, o);
	json_decref(o);
	return DP_OK;
}

static void print_repair_result(struct ctl *ctl, const char *folder, const json_t *r)
{
	const char *aside = dp_json_str(r, "file", NULL);
	char text[DP_PLURAL_LEN];
	int64_t count;
	const json_t *s;
	size_t i;

	if (!dp_json_bool(r, "repaired", false)) {
		ctl_printf(ctl, "%s: nothing to repair\n", folder);
		return;
	}
	json_array_foreach (json_object_get(r, "studies"), i, s) {
		if (dp_json_bool(s, "whole", false))
			continue;
		ctl_printf(ctl, "study %" PRId64 " (%s): %s lost", dp_json_int(s, "study", 0),
			   dp_json_str(s, "name", "no name"),
			   ctl_format_count(s, "lost", "record", text));
		if (dp_json_int(s, "rebuilt", 0))
			ctl_printf(ctl, ", %" PRId64 " of them made anew",
				   dp_json_int(s, "rebuilt", 0));
		ctl_printf(ctl,
			   dp_json_int(s, "records", 0) ? "; it is paused\n" : "; it is gone\n");
	}
	ctl_printf(ctl, "%s: %s; the old journal is %s/%s\n", folder,
		   ctl_format_count(r, "records", "record", text), folder,
		   dp_json_str(r, "old", "?"));
	count = dp_json_int(r, "set_aside", 0);
	if (aside)
		ctl_printf(ctl, "%" PRId64 " record%s set aside in %s/%s\n", count,
			   count == 1 ? " was" : "s were", folder, aside);
	ctl_print_message(ctl,
			  "start the daemon; look at the trials of a study that is paused, then "
			  "'dparetoctl resume STUDY'");
}

static int isolated_repair(const void *arg, json_t **out, struct dp_err *err)
{
	return dp_journal_repair(arg, out, err);
}

int ctl_journal_repair(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	json_t *report = NULL;
	int code = ctl_run_isolated(isolated_repair, folder, REPAIR_TIMEOUT_SECONDS, &report, err);

	if (add_busy_hint(code, err) != DP_OK)
		return code;
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, report);
	else
		print_repair_result(ctl, folder, report);
	json_decref(report);
	return DP_OK;
}
