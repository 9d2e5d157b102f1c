/* cmd-kit.c - `kit`: shows where the Python package is and how trainers import it. */
#include "base/fs.h"
#include "base/program.h"
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON_PACKAGE_FILE "dpareto.py"

/* Returns the package directory at `place` relative to `base`, links resolved. The caller frees it;
 * NULL: not found. */
static char *python_package_dir_at(const char *base, const char *place)
{
	char *path = dp_path_join(base, place), *file, *real;

	file = dp_path_join(path, PYTHON_PACKAGE_FILE);
	real = realpath(file, NULL);
	if (real)
		*strrchr(real, '/') = '\0';
	free(file);
	free(path);
	return real;
}

/* Searches the build tree, then the installed tree relative to this program, then the configured
 * install path. */
static char *find_python_package_dir(void)
{
	static const char *const beside[] = { "trainers/python", "../share/dpareto/python" };
	char *own = dp_program_dir(), *found = NULL;

	for (size_t i = 0; own && !found && i < DP_COUNT(beside); i++)
		found = python_package_dir_at(own, beside[i]);
	if (!found)
		found = python_package_dir_at(DP_PKGDATADIR, "python");
	free(own);
	return found;
}

static int cmd_kit_run(struct ctl *ctl, struct dp_err *err)
{
	char *folder = find_python_package_dir();
	json_t *object;

	if (!folder) {
		dp_fail(err, DP_E_NOT_FOUND,
			PYTHON_PACKAGE_FILE " was not installed with this program: it is not in "
					    "%s/python",
			DP_PKGDATADIR);
		return dp_hint(err, "'make install' puts it there");
	}
	if (ctl->format == CTL_JSON) {
		object = json_pack("{s:o?}", "path", json_string(folder));
		ctl_print_json(ctl, object);
		json_decref(object);
	} else if (ctl_has_option(ctl, "path")) {
		ctl_printf(ctl, "%s\n", folder);
	} else {
		ctl_printf(
			ctl,
			"%s/" PYTHON_PACKAGE_FILE "\n\n"
			"A trainer can import it if it lies beside it, or if this is set where\n"
			"the daemon, or 'dparetoctl run', is started:\n\n"
			"  export PYTHONPATH=\"$(dparetoctl kit --path)\"\n\n"
			"docs/python.md has a whole trainer; so has the beginning of the file.\n",
			folder);
	}
	free(folder);
	return DP_OK;
}

static const struct ctl_option options[] = {
	{ "path", 0, NULL, "only the folder, for PYTHONPATH" },
	{ 0 },
};

const struct ctl_command ctl_cmd_kit = {
	.name = "kit",
	.summary = "where the Python kit for trainers is",
	.args = "",
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "dpareto.py is one file that a trainer in Python imports: it reads the "
		"request, reports results, waypoints and progress, and ends well or "
		"badly as the protocol wants. It needs Python 3.9 and nothing else.",
	.examples = "export PYTHONPATH=\"$(dparetoctl kit --path)\"\n"
		    "  for trainers of 'dparetoctl run', and for trying them\n"
		    "cp \"$(dparetoctl kit --path)/dpareto.py\" .\n"
		    "  beside a trainer, which then needs nothing more",
	.run = cmd_kit_run,
};
