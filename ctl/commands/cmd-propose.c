/* cmd-propose.c - `propose`: shows the next proposals of a study without running them. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"

#include <jansson.h>

enum {
	PROPOSE_TIMEOUT_MS = 600000
};

static void propose_print_point(struct ctl *ctl, const json_t *p)
{
	struct ctl_table *t;
	const char *name, *note = dp_json_str(p, "note", NULL);
	char text[CTL_TEXT_LEN], lo[CTL_TEXT_LEN], hi[CTL_TEXT_LEN];
	struct dp_buf pairs = DP_BUF_INIT;
	json_t *q;

	ctl_format_pairs(json_object_get(p, "parameters"), &pairs);
	ctl_printf(ctl, "trial %lld of '%s' would be at %s (%s)\n",
		   (long long)dp_json_int(p, "trial", 0), dp_json_str(p, "study", "?"),
		   dp_buf_text(&pairs), dp_json_str(p, "source", "?"));
	dp_buf_free(&pairs);
	if (note)
		ctl_print_message(ctl, "note: %s", note);
	if (!json_is_object(json_object_get(p, "predicted")))
		return;
	t = ctl_table_new("OBJECTIVE|EXPECTED>|95% FROM>|TO>");
	json_object_foreach (json_object_get(p, "predicted"), name, q) {
		const json_t *low = json_object_get(q, "low"), *high = json_object_get(q, "high");
		/* a computed value is a bound, such as epsilon */
		char *(*shown)(const json_t *, char *) =
			json_equal(low, high) ? ctl_format_upper_bound : ctl_format_value;

		ctl_table_add_text(t, name);
		ctl_table_add_text(t, shown(json_object_get(q, "value"), text));
		ctl_table_add_text(t, shown(low, lo));
		ctl_table_add_text(t, shown(high, hi));
	}
	ctl_table_print(ctl, t);
	ctl_printf(ctl, "acquisition %s, feasible with probability %s\n",
		   ctl_format_value(json_object_get(p, "acquisition"), text),
		   ctl_format_value(json_object_get(p, "feasible"), lo));
	if (json_is_number(json_object_get(p, "cost")))
		ctl_printf(ctl, "cost %s\n", ctl_format_value(json_object_get(p, "cost"), text));
}

static int cmd_propose_run(struct ctl *ctl, struct dp_err *err)
{
	json_t *fields, *ok;
	int code = ctl_pack_fields(&fields, err, "{s:s}", "study", ctl->argv[0]);

	if (code == DP_OK)
		code = ctl_call_timeout(ctl, PROPOSE_TIMEOUT_MS, "propose", fields, &ok, err);
	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, ok);
	else
		propose_print_point(ctl, ok);
	json_decref(ok);
	return DP_OK;
}

static const struct ctl_option options[] = {
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_propose = {
	.name = "propose",
	.summary = "show the point a study would evaluate next",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Fits the models to what is known now and shows the next point with its "
		"expected objectives, their 95 % intervals and its acquisition value. "
		"Nothing is run and nothing is journaled.",
	.examples = "dparetoctl propose adult\n"
		    "dparetoctl propose adult -o json",
	.run = cmd_propose_run,
};
