/* cmd-list.c - `list`: shows all studies, one line each. */
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"

#include <inttypes.h>
#include <jansson.h>

static void list_print_table(struct ctl *ctl, const json_t *studies)
{
	static const struct {
		const char *title;
		enum ctl_align align;
	} columns[] = {
		{ "NO", CTL_RIGHT },      { "NAME", CTL_FLEX },         { "STATE", CTL_LEFT },
		{ "ENDED", CTL_RIGHT },   { "RUNNING", CTL_RIGHT },     { "FAILED", CTL_RIGHT },
		{ "FRONT", CTL_RIGHT },   { "HYPERVOLUME", CTL_RIGHT }, { "LEFT", CTL_RIGHT },
		{ "CHANGED", CTL_RIGHT },
	};
	struct ctl_table *t = ctl_table_new("");
	char text[CTL_TEXT_LEN];
	const json_t *s;
	size_t i;

	for (i = 0; i < DP_COUNT(columns); i++)
		ctl_table_add_column(t, columns[i].title, columns[i].align);
	json_array_foreach (studies, i, s) {
		const char *state = dp_json_str(s, "state", "?");

		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(s, "id", 0));
		ctl_table_add_cell(t, CTL_BOLD, "%s", dp_json_str(s, "name", "?"));
		ctl_table_add_cell(t, ctl_state_style(state), "%s", state);
		ctl_table_add_text(t, ctl_format_progress_cell(s, text));
		ctl_table_add_value(t, json_object_get(s, "running"));
		ctl_table_add_value(t, json_object_get(s, "failed"));
		ctl_table_add_cell(t, CTL_NORMAL, "%" PRId64, dp_json_int(s, "front", 0));
		ctl_table_add_value(t, json_object_get(s, "hypervolume"));
		ctl_table_add_text(t, ctl_format_duration(json_object_get(s, "eta"), text));
		ctl_table_add_text(t, ctl_format_age(dp_json_str(s, "updated", NULL), text));
	}
	ctl_table_print(ctl, t);
}

static int cmd_list_run(struct ctl *ctl, struct dp_err *err)
{
	const json_t *studies, *s;
	json_t *ok;
	size_t i;
	int code = ctl_call(ctl, "list", NULL, &ok, err);

	if (code != DP_OK)
		return code;
	studies = json_object_get(ok, "studies");
	if (ctl->format == CTL_JSON)
		ctl_print_json(ctl, studies);
	else if (ctl->format == CTL_JSONL)
		json_array_foreach (studies, i, s)
			ctl_print_json_line(ctl, s);
	else if (ctl->format == CTL_NAME)
		json_array_foreach (studies, i, s)
			ctl_printf(ctl, "%s\n", dp_json_str(s, "name", "?"));
	else if (json_array_size(studies) > 0)
		list_print_table(ctl, studies);
	else
		ctl_print_message(ctl, "no studies yet; 'dparetoctl submit FILE' adds one");
	json_decref(ok);
	return DP_OK;
}

static const struct ctl_option options[] = {
	CTL_STATE_DIR_OPTION,
	{ 0 },
};

const struct ctl_command ctl_cmd_list = {
	.name = "list",
	.alias = "ls",
	.summary = "list all studies",
	.args = "",
	.formats = CTL_TABLE_OR_JSON | CTL_FORMAT_BIT(JSONL) | CTL_FORMAT_BIT(NAME),
	.options = options,
	.help = "One line for each study: trials ended of those to be made, running and "
		"failed ones, points on the front and its hypervolume (by observed "
		"means), the time left.",
	.examples = "dparetoctl list -o name\n"
		    "dparetoctl list -o json | jq '.[] | select(.state==\"paused\")'",
	.run = cmd_list_run,
};
