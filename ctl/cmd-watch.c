/* cmd-watch.c - follows a study live. */
#include "base/json.h"
#include "ctl/command.h"
#include "ctl/daemon.h"
#include "ctl/follow.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/patience.h"

#include <jansson.h>
#include <stdlib.h>

enum {
	POLL_MS = 20000
};

/* For programs: the status as a line, whenever it has changed. */
static int watch_json(struct ctl *ctl, const char *study, struct ctl_patience *patience,
		      json_t **summary, struct dp_err *err)
{
	json_t *status = NULL, *next;
	int64_t seen = -1, version;
	int code = ctl_call_study(ctl, "status", study, &status, err);

	if (code == DP_OK)
		ctl_be_patient(ctl, patience);
	while (code == DP_OK) {
		const json_t *s = json_object_get(status, "study");

		version = dp_json_int(s, "version", 0);
		if (version != seen)
			ctl_put_json_line(ctl, status);
		seen = version;
		code = ctl_flush(ctl, err);
		if (code != DP_OK || ctl_study_ended(s) || ctl->out_closed)
			break;
		code = ctl_interrupted ? dp_fail(err, DP_E_INTERRUPTED, "interrupted")
				       : ctl_call_changes(ctl, dp_json_str(s, "name", study),
							  version, POLL_MS, &next, err);
		if (code == DP_OK) {
			json_decref(status);
			status = next;
		}
	}
	*summary = json_incref(json_object_get(status, "study"));
	json_decref(status);
	return code;
}

static int watch_run(struct ctl *ctl, struct dp_err *err)
{
	enum ctl_followed how = CTL_FOLLOW_ENDED;
	struct ctl_patience patience;
	json_t *summary = NULL;
	int code = ctl_patience_read(ctl, &patience, err);

	if (code != DP_OK)
		return code;
	ctl_catch_signals();
	if (ctl->format == CTL_TABLE)
		code = ctl_follow(ctl, ctl->argv[0], ctl->out, &patience, &how, &summary, err);
	else
		code = watch_json(ctl, ctl->argv[0], &patience, &summary, err);
	if (code == DP_E_INTERRUPTED) {
		ctl_say(ctl, "no longer watching; the study goes on");
		ctl->told = true;
	}
	if (code == DP_OK && how == CTL_FOLLOW_ENDED && ctl_study_ended(summary)) {
		code = ctl_study_verdict(summary, err);
		ctl->told = ctl->format != CTL_TABLE; /* the last line says it */
	}
	json_decref(summary);
	return code;
}

static const struct ctl_option options[] = {
	CTL_PATIENCE_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_watch = {
	.name = "watch",
	.summary = "follow a study live",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_PLAIN | CTL_HAS(JSONL),
	.options = options,
	.help = "On a terminal: a view that is redrawn in place and fits it, however "
		"small: "
		"state, progress and the time left, hypervolume (of observed means, and "
		"with the noise taken out once that is known), running trials, the last "
		"results and failures; where there is room, the front drawn in "
		"characters. "
		"Elsewhere: one line for "
		"each ended trial and each change of state. With -o json: the object of "
		"'status -o json' as one line for each change.\n\n"
		"q or Ctrl-C leave the view; the study goes on. The command ends with "
		"the "
		"study: exit status 0 if it finished, 6 if it failed, was stopped or was "
		"paused by failures. A daemon that goes away is waited for, which is "
		"told on standard error; exit status 3 when the patience is at an end.",
	.examples = "dparetoctl watch adult\n"
		    "dparetoctl watch adult >> adult.log",
	.run = watch_run,
};
