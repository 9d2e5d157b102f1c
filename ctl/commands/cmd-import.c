/* cmd-import.c - `import`: gives a study the results of another one as warm start. */
#include "base/fs.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/client/daemon_call.h"
#include "ctl/ctl_output.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void import_print_result(struct ctl *ctl, const json_t *answer)
{
	const json_t *study = json_object_get(answer, "study");
	int64_t n = dp_json_int(answer, "imported", 0);

	ctl_print_message(ctl, "study '%s' knows %lld more result%s, of '%s'",
			  dp_json_str(study, "name", "?"), (long long)n, n == 1 ? "" : "s",
			  dp_json_str(answer, "origin", "?"));
	if (json_is_object(json_object_get(study, "budget")))
		ctl_print_message(ctl,
				  "search.budget counts its own trainings only: what those of "
				  "'%s' cost on the same records comes on top of it",
				  dp_json_str(answer, "origin", "?"));
}

static int cmd_import_run(struct ctl *ctl, struct dp_err *err)
{
	const char *from = ctl_get_option(ctl, "from");
	char here[4096], *origin;
	json_t *fields;
	int code;

	if (!from)
		return dp_fail(err, DP_E_USAGE,
			       "whose results? --from names a study or a state folder");
	/* make a path absolute, because the daemon has another working directory */
	origin = strchr(from, '/') && *from != '/' && getcwd(here, sizeof here)
			 ? dp_path_join(here, from)
			 : dp_strdup(from);
	code = ctl_pack_fields(&fields, err, "{s:s, s:s}", "study", ctl->argv[0], "origin", origin);
	free(origin);
	return code == DP_OK ? ctl_call_print(ctl, "import", fields, import_print_result, err)
			     : code;
}

static const struct ctl_option options[] = {
	{ "from", 0, "STUDY",
	  "whose results: a study of the daemon, or DIR or DIR#STUDY with a '/' in it, a "
	  "state folder" },
	{ 0 },
};

const struct ctl_command ctl_cmd_import = {
	.name = "import",
	.summary = "have a study learn from the results of another",
	.args = "STUDY",
	.min_args = 1,
	.max_args = 1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "The finished evaluations of the other study join as known results of this one, "
		"as with search.initial_from, and count for every point that is chosen from now "
		"on. They are copied: what becomes of the other study, or of its folder, changes "
		"nothing. Only for search.method: dpareto; both need the same parameters and "
		"objectives. Results that were taken over before are left out.",
	.examples = "dparetoctl import adult --from adult-random\n"
		    "dparetoctl import adult --from ~/.local/state/dpareto/run/adult-old",
	.run = cmd_import_run,
};
