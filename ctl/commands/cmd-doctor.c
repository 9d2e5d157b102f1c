/* cmd-doctor.c - `doctor`: checks the environment of studies and suggests fixes. */
#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "ctl/client/programs.h"
#include "ctl/text_format.h"
#include "protocol/control/control_protocol.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
	FREE_SPACE_FAIL_MIB = 64,   /* MiB; the daemon's own limit */
	FREE_SPACE_WARN_MIB = 1024, /* MiB */
	FREE_INODES_WARN = 1000,
	OPEN_FILES_FAIL = 64, /* enough for the daemon and a few trainers */
	OPEN_FILES_WARN = 1024
};

enum doctor_result {
	DOCTOR_OK,
	DOCTOR_WARN,
	DOCTOR_FAIL
};

struct doctor {
	struct ctl *ctl;
	json_t *checks;
	json_t *hello; /* NULL: no daemon */
	char *state_dir;
	int n_failed;
};

DP_PRINTF(5, 6)
DP_PRINTF(5, 6)
static void doctor_add_check(struct doctor *d, enum doctor_result r, const char *what,
			     const char *hint, const char *format, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	d->n_failed += r == DOCTOR_FAIL;
	json_array_append_new(d->checks, json_pack("{s:s, s:s, s:o?, s:s?}", "check", what,
						   "result", names[r], "message", json_string(text),
						   "hint", r == DOCTOR_OK ? NULL : hint));
}

static void check_program(struct doctor *d, const char *name, bool libexec)
{
	char *path = libexec ? ctl_find_libexec_program(name) : ctl_find_program(name);

	doctor_add_check(d, path ? DOCTOR_OK : DOCTOR_FAIL, name,
			 libexec ? "install it with the other programs ('make install')"
				 : "install it beside dparetoctl ('make install')",
			 "%s",
			 path      ? path
			 : libexec ? "neither in libexec nor beside dparetoctl"
				   : "neither beside dparetoctl nor in PATH");
	free(path);
}

static void check_daemon(struct doctor *d)
{
	struct dp_err err;
	const char *trouble;
	int code = ctl_call_timeout(d->ctl, 10000, "hello", NULL, &d->hello, &err);

	if (code == DP_E_NO_DAEMON)
		doctor_add_check(d, DOCTOR_WARN, "daemon", err.hint, "%s", err.msg);
	else if (code != DP_OK)
		doctor_add_check(d, DOCTOR_FAIL, "daemon", err.hint[0] ? err.hint : NULL, "%s",
				 err.msg);
	else
		doctor_add_check(d, DOCTOR_OK, "daemon", NULL, "process %d answers at %s",
				 (int)dp_json_int(d->hello, "pid", 0),
				 dp_json_str(d->hello, "socket", "its socket"));
	if (code != DP_OK) {
		d->hello = NULL;
		return;
	}
	if (strcmp(dp_json_str(d->hello, "version", ""), ctl_version()) == 0)
		doctor_add_check(d, DOCTOR_OK, "versions", NULL,
				 "daemon and dparetoctl are both %s", ctl_version());
	else
		doctor_add_check(d, DOCTOR_WARN, "versions", "restart the daemon after an upgrade",
				 "the daemon is %s, dparetoctl is %s",
				 dp_json_str(d->hello, "version", "?"), ctl_version());
	trouble = dp_json_str(d->hello, "trouble", NULL);
	doctor_add_check(d, trouble ? DOCTOR_FAIL : DOCTOR_OK, "journal",
			 "nothing is lost yet; free space or mend the disk, writing is tried "
			 "again every second",
			 "%s", trouble ? trouble : "the daemon can write it");
}

static void check_disk_space(struct doctor *d)
{
	struct statvfs fs;
	char free_text[DP_NUM_LEN];
	uint64_t bytes;
	enum doctor_result r;

	if (statvfs(d->state_dir, &fs) != 0) {
		doctor_add_check(d, DOCTOR_WARN, "disk space", NULL, "cannot be told for %s: %s",
				 d->state_dir, strerror(errno));
		return;
	}
	bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	r = bytes < (uint64_t)FREE_SPACE_FAIL_MIB << 20   ? DOCTOR_FAIL
	    : bytes < (uint64_t)FREE_SPACE_WARN_MIB << 20 ? DOCTOR_WARN
							  : DOCTOR_OK;
	doctor_add_check(d, r, "disk space",
			 "free some space; below its watermark the daemon starts nothing new",
			 "%s free for %s", dp_size_text(bytes, free_text), d->state_dir);
	if (fs.f_files > 0 && fs.f_favail < FREE_INODES_WARN)
		doctor_add_check(d, DOCTOR_WARN, "disk files",
				 "remove files; with fewer than ten for each slot the daemon "
				 "starts nothing new",
				 "%llu more files (inodes) can be made for %s",
				 (unsigned long long)fs.f_favail, d->state_dir);
}

static void check_state_dir(struct doctor *d)
{
	struct stat st;

	if (d->hello)
		d->state_dir = dp_strdup(dp_json_str(d->hello, "state_dir", "/"));
	else
		d->state_dir = dp_default_state_dir();
	if (!d->state_dir) {
		doctor_add_check(d, DOCTOR_FAIL, "state folder",
				 "set HOME, or start dparetod with --state",
				 "no home folder is known");
		return;
	}
	if (stat(d->state_dir, &st) != 0 && errno == ENOENT) {
		doctor_add_check(d, d->hello ? DOCTOR_FAIL : DOCTOR_OK, "state folder",
				 "has somebody removed it under the running daemon?",
				 "%s does not exist%s", d->state_dir,
				 d->hello ? "" : " yet; dparetod makes it");
		return;
	}
	if (access(d->state_dir, W_OK | X_OK) == 0)
		doctor_add_check(d, DOCTOR_OK, "state folder", NULL, "%s is writable",
				 d->state_dir);
	else
		doctor_add_check(d, d->hello ? DOCTOR_OK : DOCTOR_FAIL, "state folder",
				 "start dparetod as the user that owns it, or with another "
				 "--state",
				 "%s is not writable for you%s", d->state_dir,
				 d->hello ? ", but it is the daemon's" : "");
	check_disk_space(d);
}

/* Checks Slurm. Does not warn if it is absent, since only some studies need it. Blocks while
 * Slurm's commands wait. */
static void check_slurm(struct doctor *d)
{
	static const char *const needed[] = { "sbatch", "squeue", "scancel" };
	const char *absent = NULL;
	char said[256] = "squeue cannot be run", line[256];
	size_t found = 0;
	FILE *answer;

	for (size_t i = 0; i < DP_COUNT(needed); i++) {
		char *path = ctl_find_program(needed[i]);

		found += path != NULL;
		absent = path ? absent : needed[i];
		free(path);
	}
	if (found == 0) {
		doctor_add_check(d, DOCTOR_OK, "slurm", NULL,
				 "not installed here: trainers run on this machine only");
		return;
	}
	if (absent) {
		doctor_add_check(d, DOCTOR_WARN, "slurm", "install all of Slurm's client commands",
				 "%s is not found, so that 'executor: slurm' cannot work", absent);
		return;
	}
	answer = popen("squeue --noheader --me --format=%i 2>&1", "re");
	while (answer && fgets(line, sizeof line, answer))
		snprintf(said, sizeof said, "%.*s", (int)strcspn(line, "\n"), line);
	if (answer && pclose(answer) == 0)
		doctor_add_check(d, DOCTOR_OK, "slurm", NULL, "its controller answers");
	else
		doctor_add_check(d, DOCTOR_WARN, "slurm",
				 "studies with 'executor: slurm' wait until it does", "%s", said);
}

static void check_open_files(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	doctor_add_check(d,
			 limit.rlim_cur < OPEN_FILES_FAIL   ? DOCTOR_FAIL
			 : limit.rlim_cur < OPEN_FILES_WARN ? DOCTOR_WARN
							    : DOCTOR_OK,
			 "open files", "raise it with 'ulimit -n' before dparetod is started",
			 "at most %llu here; every connection and every trainer takes one or two",
			 (unsigned long long)limit.rlim_cur);
}

static void check_clock(struct doctor *d)
{
	struct stat st;
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	gmtime_r(&now, &tm);
	strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &tm);
	if (tm.tm_year + 1900 < 2024)
		doctor_add_check(d, DOCTOR_FAIL, "clock", "set it, by NTP for instance",
				 "it says %s, which is long past", text);
	else if (d->state_dir && stat(d->state_dir, &st) == 0 && st.st_mtime > now + 300)
		doctor_add_check(d, DOCTOR_WARN, "clock", "set it, by NTP for instance",
				 "it says %s, but the state folder was changed after that", text);
	else
		doctor_add_check(d, DOCTOR_OK, "clock", NULL, "%s", text);
}

/* Checks the journal: with a daemon by its report, otherwise by reading all of it. */
static void check_journal(struct doctor *d)
{
	json_t *found = NULL;
	struct dp_err err;
	char *folder;
	int code;

	if (d->hello || !d->state_dir || access(d->state_dir, F_OK) != 0)
		return;
	folder = dp_path_join(d->state_dir, "journal");
	if (access(folder, F_OK) != 0) {
		free(folder);
		return;
	}
	code = ctl_journal_scan_faults(folder, &found, &err);
	if (code != DP_OK)
		doctor_add_check(d, DOCTOR_FAIL, "journal", err.hint[0] ? err.hint : NULL, "%s",
				 err.msg);
	else
		doctor_add_check(d, dp_json_int(found, "count", 0) ? DOCTOR_FAIL : DOCTOR_OK,
				 "journal",
				 "copy the state folder away, then see 'dparetoctl journal "
				 "verify'",
				 "%lld records of %lld studies, %lld faults",
				 (long long)dp_json_int(found, "records", 0),
				 (long long)dp_json_int(found, "studies", 0),
				 (long long)dp_json_int(found, "count", 0));
	json_decref(found);
	free(folder);
}

static int cmd_doctor_run(struct ctl *ctl, struct dp_err *err)
{
	struct doctor d = { .ctl = ctl, .checks = json_array() };
	bool color = ctl_use_color(ctl, ctl->out);
	char count[DP_PLURAL_LEN], *path = ctl_socket_path(ctl);
	const json_t *c;
	json_t *object;
	size_t i;

	check_daemon(&d);
	doctor_add_check(&d, strlen(path) > DP_CONTROL_SOCKET_PATH_MAX ? DOCTOR_FAIL : DOCTOR_OK,
			 "socket path", "give a shorter one with --socket or DPARETO_SOCKET",
			 "%zu of at most %d bytes: %s", strlen(path), DP_CONTROL_SOCKET_PATH_MAX,
			 path);
	free(path);
	check_state_dir(&d);
	check_journal(&d);
	check_program(&d, "dparetod", false);
	check_program(&d, "dpareto-shim", true);
	check_program(&d, "dpareto-serve", true);
	check_program(&d, "dpareto-train", false);
	check_program(&d, "dpareto-report", false);
	check_slurm(&d);
	check_open_files(&d);
	check_clock(&d);
	if (ctl->format == CTL_JSON) {
		object = json_pack("{s:b, s:O}", "ok", d.n_failed == 0, "checks", d.checks);
		ctl_print_json(ctl, object);
		json_decref(object);
		ctl->error_reported = true;
	} else {
		json_array_foreach (d.checks, i, c) {
			const char *result = dp_json_str(c, "result", "?");
			const char *hint = dp_json_str(c, "hint", NULL);
			enum ctl_style style = ctl_state_style(result);

			ctl_printf(ctl, "%s%-4s%s  %-14s %s\n", ctl_style_on(style, color), result,
				   ctl_style_off(style, color), dp_json_str(c, "check", "?"),
				   dp_json_str(c, "message", ""));
			if (hint)
				ctl_printf(ctl, "%21s-> %s\n", "", hint);
		}
	}
	json_decref(d.checks);
	json_decref(d.hello);
	free(d.state_dir);
	if (d.n_failed == 0)
		return DP_OK;
	return dp_fail(err, DP_E_FAILED, "%s failed",
		       dp_plural_text((uint64_t)d.n_failed, "check", count));
}

const struct ctl_command ctl_cmd_doctor = {
	.name = "doctor",
	.summary = "check what studies need to run well",
	.args = "",
	.formats = CTL_TABLE_OR_JSON,
	.help = "Daemon, versions, socket, state folder and free space, journal (read in full "
		"when no daemon runs), the other programs, Slurm, limits, clock. Each is ok, "
		"warn or fail, with what to do about it. Exit status 1 if one fails.",
	.examples = "dparetoctl doctor",
	.run = cmd_doctor_run,
};
