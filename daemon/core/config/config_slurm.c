/* config_slurm.c - parses and checks the option `slurm` when the configuration is read. */
#include "daemon/core/config/config_slurm.h"

#include "base/json.h"
#include "base/units.h"
#include "study/study_file.h"

#include <string.h>

enum {
	JOBS_DEFAULT = 64,
	JOBS_MAX = 100000,
	OPTIONS_MAX = 256
};
#define POLL_DEFAULT_SECONDS 10.0
#define POLL_LOWEST_SECONDS  0.5
#define POLL_MAX_SECONDS     3600.0
#define TIME_MIN_SECONDS     1.0
#define TIME_MAX_SECONDS     1e9

static int slurm_config_key_error(const char *key, const char *form, struct dp_err *err)
{
	return dp_fail(err, DP_E_USAGE, "slurm.%s must be %s", key, form);
}

/* Values from a file are strings; on the command line they may also be numbers. */
static bool slurm_config_read_seconds(const json_t *v, double least, double most, double *out)
{
	if (json_is_number(v))
		*out = json_number_value(v);
	else if (!json_is_string(v) || !dp_duration_parse(json_string_value(v), out))
		return false;
	return *out >= least && *out <= most;
}

static bool slurm_config_read_count(const json_t *v, unsigned most, unsigned *out)
{
	int64_t n = 0;

	if (json_is_integer(v))
		n = json_integer_value(v);
	else if (!json_is_string(v) || !dp_int_parse(json_string_value(v), &n))
		return false;
	*out = (unsigned)n;
	return n >= 1 && n <= most;
}

static bool slurm_config_check_options(const json_t *v)
{
	const char *before = NULL;
	const json_t *word;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) > OPTIONS_MAX)
		return false;
	json_array_foreach (v, i, word) {
		if (!json_is_string(word) || json_string_length(word) == 0 ||
		    dp_slurm_option_error(json_string_value(word), before))
			return false;
		before = json_string_value(word);
	}
	return true;
}

static int slurm_config_check_key(const char *key, const json_t *v, struct dp_err *err)
{
	static const char *const keys[] = { "partition", "account", "time", "options",
					    "poll",      "jobs",    NULL };
	const char *near;
	unsigned jobs;
	double seconds;

	if (strcmp(key, "partition") == 0 || strcmp(key, "account") == 0)
		return json_is_string(v) && dp_slurm_name_ok(json_string_value(v))
			       ? DP_OK
			       : slurm_config_key_error(key, "a word, such as gpu", err);
	if (strcmp(key, "time") == 0)
		return slurm_config_read_seconds(v, TIME_MIN_SECONDS, TIME_MAX_SECONDS, &seconds)
			       ? DP_OK
			       : slurm_config_key_error(key, "a duration of at least 1s", err);
	if (strcmp(key, "poll") == 0)
		return slurm_config_read_seconds(v, POLL_LOWEST_SECONDS, POLL_MAX_SECONDS, &seconds)
			       ? DP_OK
			       : slurm_config_key_error(key, "a duration from 0.5s to 1h", err);
	if (strcmp(key, "jobs") == 0)
		return slurm_config_read_count(v, JOBS_MAX, &jobs)
			       ? DP_OK
			       : slurm_config_key_error(key, "a whole number from 1 to 100000",
							err);
	if (strcmp(key, "options") == 0)
		return slurm_config_check_options(v)
			       ? DP_OK
			       : slurm_config_key_error(key,
							"a list of options of sbatch, such as "
							"[--constraint=a100], without --array, "
							"--clusters, --wait and --wrap",
							err);
	near = dp_nearest_word(key, keys);
	return dp_fail(err, DP_E_USAGE,
		       "slurm.%.40s is no key%s%s%s; there are partition, account, time, "
		       "options, poll and jobs",
		       key, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int slurm_config_parse(const char *text, json_t **out, struct dp_err *err)
{
	json_t *tree = NULL, *v;
	const char *key;
	int code = dp_json_parse(text, strlen(text), &tree, err);

	if (code != DP_OK || !json_is_object(tree))
		code = dp_fail(err, DP_E_USAGE,
			       "slurm must be a map, such as {partition: gpu, jobs: 32}");
	json_object_foreach (tree, key, v) {
		if (code != DP_OK)
			break;
		code = slurm_config_check_key(key, v, err);
	}
	if (code == DP_OK)
		*out = tree;
	else
		json_decref(tree);
	return code;
}

struct slurm_config slurm_config_read(const json_t *tree)
{
	struct slurm_config o = { .max_poll_seconds = POLL_DEFAULT_SECONDS,
				  .max_jobs = JOBS_DEFAULT,
				  .options = json_object_get(tree, "options") };

	o.partition = dp_json_str(tree, "partition", NULL);
	o.account = dp_json_str(tree, "account", NULL);
	slurm_config_read_seconds(json_object_get(tree, "time"), TIME_MIN_SECONDS, TIME_MAX_SECONDS,
				  &o.time_seconds);
	slurm_config_read_seconds(json_object_get(tree, "poll"), POLL_LOWEST_SECONDS,
				  POLL_MAX_SECONDS, &o.max_poll_seconds);
	slurm_config_read_count(json_object_get(tree, "jobs"), JOBS_MAX, &o.max_jobs);
	return o;
}
