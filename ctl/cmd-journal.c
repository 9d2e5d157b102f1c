/* cmd-journal.c - reads the journal itself: dump as JSON lines, verify. */
#include "base/fs.h"
#include "base/num.h"
#include "ctl/command.h"
#include "ctl/memory.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "journal/journal.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	struct ctl *ctl;
	const char *name; /* of the study that is looked for */
	uint32_t found;   /* its number */
	struct dp_event event;
	uint64_t faults;
	json_t *list; /* of faults, for -o json */
};

static int journal_of_state(struct ctl *ctl, struct dp_journal **out, char **folder,
			    struct dp_err *err)
{
	struct dp_journal_options options = { .readonly = true };
	const char *state = ctl_opt(ctl, "state");
	char *dir = state ? ctl_strdup(state) : dp_default_state_dir();
	int code;

	if (!dir)
		return dp_fail(err, DP_E_USAGE,
			       "no home folder is known; name the state folder with "
			       "--state");
	*folder = dp_path_join(dir, "journal");
	free(dir);
	if (!*folder)
		ctl_die_nomem();
	code = dp_journal_open(*folder, &options, out, err);
	if (code == DP_E_NOT_FOUND && !err->hint[0])
		dp_hint(err, "name the daemon's state folder with --state");
	return code;
}

/* ---- dump ---- */

static int find_name(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		     size_t len, struct dp_err *err)
{
	struct walk *w = arg;
	struct dp_err why;

	(void)err;
	if (seq == 0 && dp_event_decode(bytes, len, &w->event, &why) == DP_OK &&
	    w->event.type == DP_EV_STUDY_CREATED && strcmp(w->event.name, w->name) == 0)
		w->found = study;
	return DP_OK;
}

/* The number of --study, by name or by number; 0 for all. */
static int find_study(struct ctl *ctl, struct dp_journal *j, uint32_t *id,
		      struct dp_err *err)
{
	struct walk w = { .ctl = ctl, .name = ctl_opt(ctl, "study") };
	int64_t number;
	int code;

	*id = 0;
	if (!w.name)
		return DP_OK;
	code = dp_journal_each(j, 0, find_name, &w, err);
	dp_event_clear(&w.event);
	if (code != DP_OK)
		return code;
	if (!w.found && dp_int_parse(w.name, &number) && number > 0 &&
	    number < UINT32_MAX)
		w.found = (uint32_t)number;
	if (!w.found)
		return dp_fail(err, DP_E_NOT_FOUND, "the journal has no study '%s'",
			       w.name);
	*id = w.found;
	return DP_OK;
}

static int dump_one(void *arg, uint32_t study, uint32_t seq, const void *bytes,
		    size_t len, struct dp_err *err)
{
	struct walk *w = arg;
	struct dp_err why;
	json_t *line;
	int code = dp_event_decode(bytes, len, &w->event, &why);

	if (code == DP_E_NOMEM) {
		*err = why;
		return code;
	}
	if (code == DP_OK) {
		w->event.study = study;
		w->event.seq = seq;
		line = dp_event_json(&w->event);
	} else {
		w->faults++;
		line = json_pack("{s:I, s:I, s:o?}", "study", (json_int_t)study, "seq",
				 (json_int_t)seq, "fault", json_string(why.msg));
	}
	w->found++;
	ctl_put_json_line(w->ctl, line);
	json_decref(line);
	return w->ctl->out_closed ? DP_E_IO : DP_OK;
}

static int journal_dump(struct ctl *ctl, struct dp_journal *j, struct dp_err *err)
{
	struct walk w = { .ctl = ctl };
	uint32_t study;
	int code = find_study(ctl, j, &study, err);

	if (code != DP_OK)
		return code;
	code = dp_journal_each(j, study, dump_one, &w, err);
	dp_event_clear(&w.event);
	if (ctl->out_closed)
		return DP_OK;
	if (code == DP_OK && study && w.found == 0)
		return dp_fail(err, DP_E_NOT_FOUND, "the journal has no study %u", study);
	if (code == DP_OK && w.faults > 0) {
		/* standard output holds the lines; the verdict must not be among them */
		ctl->format = CTL_TABLE;
		return dp_fail(err, DP_E_CORRUPT,
			       "%" PRIu64
			       " records are damaged; they are shown as faults",
			       w.faults);
	}
	return code;
}

/* ---- verify ---- */

static void note_fault(void *arg, uint32_t study, uint32_t seq, const char *fault)
{
	struct walk *w = arg;

	if (w->list)
		json_array_append_new(w->list,
				      json_pack("{s:I, s:I, s:o?}", "study",
						(json_int_t)study, "seq", (json_int_t)seq,
						"fault", json_string(fault)));
	else
		ctl_printf(w->ctl, "study %u, record %u: %s\n", study, seq, fault);
}

static int journal_verify(struct ctl *ctl, struct dp_journal *j, const char *folder,
			  struct dp_err *err)
{
	struct walk w = { .ctl = ctl };
	struct dp_verify_result r;
	char size[DP_NUM_LEN];
	json_t *object;
	int code;

	if (ctl_opt(ctl, "study"))
		return dp_fail(err, DP_E_USAGE,
			       "--study is for 'journal dump'; 'journal "
			       "verify' reads all studies");
	w.list = ctl->format == CTL_JSON ? json_array() : NULL;
	code = dp_journal_verify(j, note_fault, &w, &r, err);
	if (code == DP_OK && w.list) {
		object =
			json_pack("{s:I, s:I, s:I, s:O}", "records",
				  (json_int_t)r.records, "studies", (json_int_t)r.studies,
				  "bytes", (json_int_t)r.bytes, "faults", w.list);
		ctl_put_json(ctl, object);
		json_decref(object);
		ctl->told = true;
	} else if (code == DP_OK) {
		ctl_printf(ctl,
			   "%s: %" PRIu64 " records of %" PRIu64 " studies, %s, %" PRIu64
			   " faults\n",
			   folder, r.records, r.studies, dp_size_text(r.bytes, size),
			   r.faults);
	}
	json_decref(w.list);
	if (code == DP_OK && r.faults > 0) {
		dp_fail(err, DP_E_CORRUPT, "the journal has %" PRIu64 " faults",
			r.faults);
		return dp_hint(err, "copy the state folder away before anything else; "
				    "'dparetoctl journal dump' saves what can be read");
	}
	return code;
}

static int journal_run(struct ctl *ctl, struct dp_err *err)
{
	const char *what = ctl->argv[0];
	struct dp_journal *j = NULL;
	char *folder = NULL;
	int code;

	if (strcmp(what, "dump") != 0 && strcmp(what, "verify") != 0)
		return dp_fail(err, DP_E_USAGE,
			       "'journal' takes dump or verify, not '%s'", what);
	code = journal_of_state(ctl, &j, &folder, err);
	if (code == DP_OK)
		code = strcmp(what, "dump") == 0 ? journal_dump(ctl, j, err)
						 : journal_verify(ctl, j, folder, err);
	if (j)
		dp_journal_close(j);
	free(folder);
	return code;
}

static const struct ctl_option options[] = {
	{ "state", 0, "DIR", "the daemon's state folder (default: as dparetod's)" },
	{ "study", 0, "STUDY", "dump only this study, by name or number" },
	{ 0 },
};

const struct ctl_command ctl_cmd_journal = {
	.name = "journal",
	.summary = "dump or verify the journal, read-only",
	.args = "dump|verify",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN | CTL_HAS(JSONL),
	.options = options,
	.help = "dump prints every record as a line of JSON, in any output format. "
		"verify "
		"reads all of them and checks checksums, contents and order; exit status "
		"1 "
		"if there is a fault. Both only read, and work with the daemon stopped "
		"or "
		"running.",
	.examples = "dparetoctl journal verify\n"
		    "dparetoctl journal dump --study adult > adult.jsonl",
	.run = journal_run,
};
