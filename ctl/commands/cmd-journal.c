/* cmd-journal.c - `journal`: dispatches its subcommands, and dumps records as JSON lines. */
#include "base/fs.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "journal/journal.h"
#include "study/diagnostics.h"
#include "study/study.h"
#include "study/study_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct journal_walk {
	struct ctl *ctl;
	const char *name; /* of the wanted study */
	uint32_t found;   /* its id; later a count of its records */
	struct dp_event event;
	uint64_t n_faults;
	uint32_t private_study_id; /* the private selection at hand; 0: none */
	uint32_t n_shown;          /* number of its records shown */
};

int ctl_journal_dir_path(struct ctl *ctl, char **folder, struct dp_err *err)
{
	const char *state = ctl_get_option(ctl, "state");
	char *dir = state ? dp_strdup(state) : dp_default_state_dir();

	if (!dir)
		return dp_fail(err, DP_E_USAGE,
			       "no home folder is known; name the state folder with --state");
	*folder = dp_path_join(dir, "journal");
	free(dir);
	return DP_OK;
}

static int on_record_find_name(void *arg, uint32_t study, uint32_t seq, const void *bytes,
			       size_t len, struct dp_err *err)
{
	struct journal_walk *w = arg;
	struct dp_err why;

	(void)err;
	if (seq == 0 && dp_event_decode(bytes, len, &w->event, &why) == DP_OK &&
	    w->event.type == DP_EV_STUDY_CREATED &&
	    strcmp(w->event.study_created.name, w->name) == 0)
		w->found = study;
	return DP_OK;
}

/* Omits the records of a private selection's training runs, which are secret. Keeps those about the
 * study itself. */
static bool dump_is_omitted(struct journal_walk *w, uint32_t study, const struct dp_event *e)
{
	const char *text = e->study_created.text;
	struct dp_diagnostics problems = { 0 };
	struct dp_study *spec = NULL;
	struct dp_err ignored;

	if (e->type == DP_EV_STUDY_CREATED) {
		w->n_shown = 0;
		w->private_study_id = 0;
		if (text && e->study_created.dir &&
		    dp_study_parse(text, strlen(text), e->study_created.name, e->study_created.dir,
				   &spec, &problems, &ignored) == DP_OK &&
		    spec->search.method == DP_METHOD_SELECT)
			w->private_study_id = study;
		dp_diagnostics_free(&problems);
		dp_study_free(spec);
	}
	return w->private_study_id == study && e->type != DP_EV_STUDY_CREATED &&
	       e->type != DP_EV_STUDY_MOVED && e->type != DP_EV_STUDY_AMENDED;
}

static int on_record_dump(void *arg, uint32_t study, uint32_t seq, const void *bytes, size_t len,
			  struct dp_err *err)
{
	struct journal_walk *w = arg;
	struct dp_err why;
	json_t *line;
	int code = dp_event_decode(bytes, len, &w->event, &why);

	(void)err;
	w->found++;
	if (code == DP_OK && dump_is_omitted(w, study, &w->event))
		return DP_OK;
	if (code == DP_OK) {
		w->event.study = study;
		w->event.seq = seq;
		line = dp_event_to_json(&w->event);
		/* the original number and time would reveal the number of omitted records */
		if (w->private_study_id == study) {
			json_object_set_new(line, "seq", json_integer(w->n_shown++));
			if (w->n_shown > 1)
				json_object_set_new(line, "time", json_null());
		}
	} else {
		w->n_faults++;
		line = json_pack("{s:I, s:I, s:o?}", "study", (json_int_t)study, "seq",
				 (json_int_t)seq, "fault", json_string(why.msg));
	}
	ctl_print_json_line(w->ctl, line);
	json_decref(line);
	return w->ctl->out_closed ? DP_E_IO : DP_OK;
}

static int dump_records(struct ctl *ctl, struct dp_journal *j, struct dp_err *err)
{
	struct journal_walk w = { .ctl = ctl, .name = ctl_get_option(ctl, "study") };
	uint32_t study = 0; /* all studies */
	int64_t number;
	int code = DP_OK;

	if (w.name) {
		code = dp_journal_for_each(j, 0, on_record_find_name, &w, err);
		study = w.found;
		w.found = 0;
		if (code == DP_OK && !study && dp_int_parse(w.name, &number) && number > 0 &&
		    number < UINT32_MAX)
			study = (uint32_t)number;
		if (code == DP_OK && !study)
			code = dp_fail(err, DP_E_NOT_FOUND, "the journal has no study '%s'",
				       w.name);
	}
	if (code == DP_OK)
		code = dp_journal_for_each(j, study, on_record_dump, &w, err);
	dp_event_clear(&w.event);
	if (ctl->out_closed)
		return DP_OK;
	if (code == DP_OK && study && w.found == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "the journal has no study %u", study);
	if (code == DP_OK && w.n_faults > 0) {
		/* standard output has the lines; report the result on standard error */
		ctl->json_printed = true;
		return dp_fail(err, DP_E_CORRUPT,
			       "%" PRIu64 " records are damaged; they are shown as faults",
			       w.n_faults);
	}
	return code;
}

int ctl_journal_dump(struct ctl *ctl, const char *folder, struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true };
	struct dp_journal *j = NULL;
	int code = dp_journal_open(folder, &options, &j, err);

	if (code == DP_OK)
		code = dump_records(ctl, j, err);
	dp_journal_close(j);
	return code;
}

static const struct {
	const char *name;
	bool takes_file;
	int (*run)(struct ctl *ctl, const char *folder, struct dp_err *err);
} actions[] = {
	{ "dump", false, ctl_journal_dump },      { "verify", true, ctl_journal_verify },
	{ "repair", false, ctl_journal_repair },  { "backup", true, ctl_journal_backup },
	{ "restore", true, ctl_journal_restore }, { "compact", false, ctl_journal_compact },
};

static int cmd_journal_run(struct ctl *ctl, struct dp_err *err)
{
	char *folder = NULL;
	size_t i = 0;
	int code;

	while (i < DP_COUNT(actions) && strcmp(actions[i].name, ctl->argv[0]) != 0)
		i++;
	if (i == DP_COUNT(actions))
		return dp_fail(err, DP_E_USAGE,
			       "'journal' takes dump, verify, repair, backup, restore or "
			       "compact, not '%s'",
			       ctl->argv[0]);
	if (ctl_get_option(ctl, "study") && actions[i].run != ctl_journal_dump)
		return dp_fail(err, DP_E_USAGE,
			       "--study is for 'journal dump'; 'journal %s' is about all studies",
			       actions[i].name);
	if (ctl_has_option(ctl, "force") && actions[i].run != ctl_journal_backup)
		return dp_fail(err, DP_E_USAGE, "--force is for 'journal backup'");
	if (ctl->argc > 1 && !actions[i].takes_file)
		return dp_fail(err, DP_E_USAGE, "'journal %s' takes no file", actions[i].name);
	code = ctl_journal_dir_path(ctl, &folder, err);
	if (code == DP_OK)
		code = actions[i].run(ctl, folder, err);
	if (code == DP_E_NOT_FOUND && !err->hint[0])
		dp_hint(err, "name the daemon's state folder with --state");
	free(folder);
	return code;
}

static const struct ctl_option options[] = {
	{ "state", 0, "DIR", "the daemon's state folder (default: as dparetod's)" },
	{ "study", 0, "STUDY", "dump only this study, by name or number" },
	{ "force", 0, NULL, "let backup write over a file that exists" },
	{ 0 },
};

const struct ctl_command ctl_cmd_journal = {
	.name = "journal",
	.summary = "read, check, back up, restore, compact or repair the journal",
	.args = "dump|verify|repair|backup|restore|compact [FILE]",
	.min_args = 1,
	.max_args = 2,
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(JSONL),
	.options = options,
	.help = "dump prints every record as a line of JSON, in any output format. verify reads "
		"the whole file, its free pages too as far as a writer needs them, and checks "
		"the checksum, version, contents and order of every record and that each study "
		"follows from its records; with a FILE it reads a backup, which must be a "
		"regular file. Nothing in a file can harm it. It names each fault; exit status 0 "
		"says that a daemon can read and write the journal, 1 that there is a fault, 5 "
		"that there is no journal. backup writes the whole journal, as it is at that "
		"moment, into one FILE ('-': standard output); folders of attempts (logs, raw "
		"results) are not in it. These three work with the daemon stopped or running.\n"
		"repair, restore and compact need the daemon stopped. repair makes a journal "
		"without faults of what can be read: records that are damaged, or mean nothing "
		"without others that are lost, are set aside in "
		"STATE/journal/set-aside-TIME.jsonl (key, reason, bytes in hexadecimal), studies "
		"that lost some are paused with the reason, the others go on, and the old file "
		"is kept as data-TIME.mdb. Records that follow from others are made anew, and "
		"points are taken from the folders of their attempts, so that no result that can "
		"be read is computed again; no result is made up. restore checks FILE and puts "
		"it in the place of the journal, which is kept as data-TIME.mdb. compact gives "
		"back free pages. Each can be interrupted at any time: the journal is then the "
		"old or the new one, and the next start of the daemon removes unfinished files.",
	.examples = "dparetoctl journal verify\n"
		    "dparetoctl journal dump --study adult > adult.jsonl\n"
		    "dparetoctl journal backup /backup/dpareto.mdb --force\n"
		    "dparetoctl journal verify /backup/dpareto.mdb\n"
		    "dparetoctl journal repair --state /var/lib/dpareto",
	.run = cmd_journal_run,
};
