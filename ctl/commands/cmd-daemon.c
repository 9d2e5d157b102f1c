/* cmd-daemon.c - `daemon`: status, reload and stop of the daemon. */
#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/support/journal_actions.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static void cmd_daemon_print_status(struct ctl *ctl, const json_t *d)
{
	const json_t *journal = json_object_get(d, "journal");
	int64_t bytes = dp_json_int(journal, "bytes", 0);
	char local[CTL_TEXT_LEN], age[CTL_TEXT_LEN], size[DP_NUM_LEN], records[DP_PLURAL_LEN];

	ctl_printf(ctl, "version  %s (protocol %" PRId64 ", journal format %" PRId64 ")\n",
		   dp_json_str(d, "version", "?"), dp_json_int(d, "protocol", 0),
		   dp_json_int(d, "journal_format", 0));
	ctl_printf(ctl, "process  %" PRId64 ", started %s (%s)\n", dp_json_int(d, "pid", 0),
		   ctl_format_local_time(dp_json_str(d, "started", NULL), local),
		   ctl_format_age(dp_json_str(d, "started", NULL), age));
	ctl_printf(ctl, "socket   %s\nstate    %s\n", dp_json_str(d, "socket", "none"),
		   dp_json_str(d, "state_dir", "?"));
	ctl_printf(ctl, "slots    %" PRId64 " of %" PRId64 " busy\n", dp_json_int(d, "busy", 0),
		   dp_json_int(d, "slots", 0));
	ctl_printf(ctl, "studies  %" PRId64 "\n", dp_json_int(d, "studies", 0));
	ctl_printf(ctl, "journal  %s, %s\n",
		   ctl_format_count(journal, "records", "record", records),
		   dp_size_text(bytes > 0 ? (uint64_t)bytes : 0, size));
	ctl_journal_print_warnings(ctl, journal);
	ctl_printf(ctl, "trouble  %s\n", dp_json_str(d, "trouble", "none"));
}

static void cmd_daemon_print_reloaded(struct ctl *ctl, const json_t *ok)
{
	struct dp_buf text = DP_BUF_INIT;
	const json_t *v;
	size_t i;

	json_array_foreach (json_object_get(ok, "changed"), i, v)
		dp_buf_printf(&text, "%s%s", i ? ", " : "", json_string_value(v));
	ctl_print_message(ctl, "changed: %s", text.len ? dp_buf_text(&text) : "nothing");
	dp_buf_free(&text);
}

static void cmd_daemon_print_stopping(struct ctl *ctl, const json_t *ok)
{
	static const struct {
		const char *policy, *sentence;
	} says[] = {
		{ "leave", "running trainers go on and are adopted by the next daemon" },
		{ "finish", "it ends when its running trainers have finished" },
		{ "kill", "its running trainers are ended; their trials start again with the "
			  "next daemon" },
	};

	for (size_t i = 0; i < DP_COUNT(says); i++)
		if (strcmp(dp_json_str(ok, "policy", ""), says[i].policy) == 0)
			ctl_print_message(ctl, "the daemon is stopping; %s", says[i].sentence);
}

static int cmd_daemon_run(struct ctl *ctl, struct dp_err *err)
{
	const char *what = ctl->argv[0], *policy = ctl_get_option(ctl, "policy");
	json_t *fields;

	if (policy && strcmp(what, "stop") != 0)
		return dp_fail(err, DP_E_USAGE, "--policy is for 'daemon stop'");
	if (strcmp(what, "status") == 0)
		return ctl_call_print(ctl, "hello", NULL, cmd_daemon_print_status, err);
	if (strcmp(what, "reload") == 0)
		return ctl_call_print(ctl, "reload", NULL, cmd_daemon_print_reloaded, err);
	if (strcmp(what, "stop") != 0)
		return dp_fail(err, DP_E_USAGE, "'daemon' takes status, reload or stop, not '%s'",
			       what);
	if (ctl_pack_fields(&fields, err, "{s:s*}", "policy", policy) != DP_OK)
		return err->code;
	return ctl_call_print(ctl, "shutdown", fields, cmd_daemon_print_stopping, err);
}

static const struct ctl_option options[] = {
	{ "policy", 0, "leave|finish|kill",
	  "with stop: leave running trainers to the next daemon, finish them first, or kill them "
	  "(default: as configured)" },
	{ 0 },
};

const struct ctl_command ctl_cmd_daemon = {
	.name = "daemon",
	.summary = "ask the daemon for its status, to reload or to stop",
	.args = "status|reload|stop",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "reload reads the configuration file again, as SIGHUP does. Nothing that "
		"is recorded is ever lost by stopping the daemon.",
	.examples = "dparetoctl daemon status\n"
		    "dparetoctl daemon stop --policy finish",
	.run = cmd_daemon_run,
};
