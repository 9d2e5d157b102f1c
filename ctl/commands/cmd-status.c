/* cmd-status.c - `status`: shows what is running, and why a study is waiting. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"
#include "ctl/ui/status_screen.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static void print_daemon(struct ctl *ctl, const json_t *d)
{
	const json_t *journal = json_object_get(d, "journal");
	const char *trouble = dp_json_str(d, "trouble", NULL);
	bool color = ctl_use_color(ctl, ctl->out);
	char age[CTL_TEXT_LEN], size[DP_NUM_LEN], records[DP_PLURAL_LEN];
	int64_t bytes = dp_json_int(journal, "bytes", 0);

	/* a read-only daemon is not shown */
	if (!json_object_get(d, "looking"))
		ctl_printf(ctl,
			   "dparetod %s, process %" PRId64 ", started %s\n%" PRId64 " of %" PRId64
			   " slots busy; ",
			   dp_json_str(d, "version", "?"), dp_json_int(d, "pid", 0),
			   ctl_format_age(dp_json_str(d, "started", NULL), age),
			   dp_json_int(d, "busy", 0), dp_json_int(d, "slots", 0));
	ctl_printf(ctl, "state in %s (journal: %s, %s)\n", dp_json_str(d, "state_dir", "?"),
		   ctl_format_count(journal, "records", "record", records),
		   dp_size_text(bytes > 0 ? (uint64_t)bytes : 0, size));
	ctl_journal_print_warnings(ctl, journal);
	if (trouble)
		ctl_printf(ctl, "%strouble: %s%s\n", ctl_style_on(CTL_BAD, color), trouble,
			   ctl_style_off(CTL_BAD, color));
}

static void print_studies(struct ctl *ctl, const json_t *studies)
{
	struct ctl_table *t;
	const json_t *s;
	size_t i;

	if (json_array_size(studies) == 0) {
		ctl_print_message(ctl, "no studies yet; 'dparetoctl submit FILE' adds one");
		return;
	}
	t = ctl_table_new("STUDY*|STATE|ENDED>|RUNNING>|LEFT>|WHY NO MORE*");
	json_array_foreach (studies, i, s) {
		const char *state = dp_json_str(s, "state", "?");
		char text[CTL_TEXT_LEN];

		ctl_table_add_cell(t, CTL_BOLD, "%s", dp_json_str(s, "name", "?"));
		ctl_table_add_cell(t, ctl_state_style(state), "%s", state);
		ctl_table_add_text(t, ctl_format_progress_cell(s, text));
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64 "/%" PRId64,
				   dp_json_int(s, "running", 0), dp_json_int(s, "parallel", 0));
		ctl_table_add_text(t, ctl_format_duration(json_object_get(s, "eta"), text));
		ctl_table_add_text(t, dp_json_str(s, "waiting", dp_json_str(s, "reason", "")));
	}
	ctl_printf(ctl, "\n");
	ctl_table_print(ctl, t);
}

static int cmd_status_run(struct ctl *ctl, struct dp_err *err)
{
	struct ctl_screen screen = { .color = ctl_use_color(ctl, ctl->out), .utf8 = ctl->utf8 };
	struct dp_buf out = DP_BUF_INIT;
	json_t *ok;
	int code;

	/* a running daemon has the total privacy loss at the next call; a read-only one gets only
	 * this call, so wait for it */
	if (ctl->argc && ctl_get_option(ctl, "state"))
		code = ctl_call_complete_status(ctl, ctl->argv[0], &ok, err);
	else
		code = ctl->argc ? ctl_call_study(ctl, "status", ctl->argv[0], &ok, err)
				 : ctl_call(ctl, "status", NULL, &ok, err);
	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON) {
		ctl_print_json(ctl, ok);
	} else if (ctl->argc) {
		ctl_terminal_size(ctl->out, &screen.columns, &screen.rows);
		ctl_render_status(&out, ok, &screen);
		ctl_print_buf(ctl, &out);
	} else {
		print_daemon(ctl, json_object_get(ok, "daemon"));
		print_studies(ctl, json_object_get(ok, "studies"));
	}
	ctl_readonly_print_source(ctl);
	json_decref(ok);
	return DP_OK;
}

static const struct ctl_option options[] = {
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_status = {
	.name = "status",
	.summary = "show what is going on, and why nothing is",
	.args = "[STUDY]",
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Without a STUDY: the daemon and all studies, with the reason where one runs "
		"fewer trials than it may. With one: its progress, front and hypervolume, its "
		"running trials and its latest failures. Front and hypervolume are those of the "
		"observed means, whatever search.front is; beside that stands the hypervolume "
		"that models leave when the noise is taken out (denoised), once somebody has "
		"looked: it is found in the background, while a study runs only now and then.",
	.examples = "dparetoctl status\n"
		    "dparetoctl status adult",
	.run = cmd_status_run,
};
