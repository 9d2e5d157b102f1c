/* slurm_option.c - the option `slurm`, checked when the configuration is read: what is
 * held is right. */
#include "daemon/slurm_option.h"

#include "base/json.h"
#include "base/num.h"
#include "study/study.h"

#include <string.h>

enum {
	JOBS = 64,
	JOBS_MOST = 100000,
	OPTIONS_MOST = 256
};
#define POLL       10.0
#define POLL_LEAST 0.5
#define POLL_MOST  3600.0
#define TIME_LEAST 1.0
#define TIME_MOST  1e9

static int refuse(const char *key, const char *form, struct dp_err *err)
{
	return dp_fail(err, DP_E_USAGE, "slurm.%s must be %s", key, form);
}

/* Values of a file are texts; of the command line they may be numbers, too. */
static bool option_seconds(const json_t *v, double least, double most, double *out)
{
	if (json_is_number(v))
		*out = json_number_value(v);
	else if (!json_is_string(v) || !dp_duration_parse(json_string_value(v), out))
		return false;
	return *out >= least && *out <= most;
}

static bool option_count(const json_t *v, unsigned most, unsigned *out)
{
	int64_t n = 0;

	if (json_is_integer(v))
		n = json_integer_value(v);
	else if (!json_is_string(v) || !dp_int_parse(json_string_value(v), &n))
		return false;
	*out = (unsigned)n;
	return n >= 1 && n <= most;
}

static bool option_words(const json_t *v)
{
	const char *before = NULL;
	const json_t *word;
	size_t i;

	if (!json_is_array(v) || json_array_size(v) > OPTIONS_MOST)
		return false;
	json_array_foreach (v, i, word) {
		if (!json_is_string(word) || json_string_length(word) == 0 ||
		    dp_slurm_option_wrong(json_string_value(word), before))
			return false;
		before = json_string_value(word);
	}
	return true;
}

static int check_slurm_key(const char *key, const json_t *v, struct dp_err *err)
{
	static const char *const keys[] = { "partition", "account", "time", "options",
					    "poll",      "jobs",    NULL };
	const char *near;
	unsigned jobs;
	double seconds;

	if (strcmp(key, "partition") == 0 || strcmp(key, "account") == 0)
		return json_is_string(v) && dp_slurm_word_ok(json_string_value(v))
			       ? DP_OK
			       : refuse(key, "a word, such as gpu", err);
	if (strcmp(key, "time") == 0)
		return option_seconds(v, TIME_LEAST, TIME_MOST, &seconds)
			       ? DP_OK
			       : refuse(key, "a duration of at least 1s", err);
	if (strcmp(key, "poll") == 0)
		return option_seconds(v, POLL_LEAST, POLL_MOST, &seconds)
			       ? DP_OK
			       : refuse(key, "a duration from 0.5s to 1h", err);
	if (strcmp(key, "jobs") == 0)
		return option_count(v, JOBS_MOST, &jobs)
			       ? DP_OK
			       : refuse(key, "a whole number from 1 to 100000", err);
	if (strcmp(key, "options") == 0)
		return option_words(v) ? DP_OK
				       : refuse(key,
						"a list of options of sbatch, such as "
						"[--constraint=a100], without --array, "
						"--clusters, --wait and --wrap",
						err);
	near = dp_nearest(key, keys);
	return dp_fail(err, DP_E_USAGE,
		       "slurm.%.40s is no key%s%s%s; there are partition, account, time, "
		       "options, poll and jobs",
		       key, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int slurm_option_parse(const char *text, json_t **out, struct dp_err *err)
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
		code = check_slurm_key(key, v, err);
	}
	if (code == DP_OK)
		*out = tree;
	else
		json_decref(tree);
	return code;
}

struct slurm_option slurm_option_read(const json_t *tree)
{
	struct slurm_option o = { .poll = POLL,
				  .jobs = JOBS,
				  .options = json_object_get(tree, "options") };

	o.partition = dp_json_str(tree, "partition", NULL);
	o.account = dp_json_str(tree, "account", NULL);
	option_seconds(json_object_get(tree, "time"), TIME_LEAST, TIME_MOST, &o.time);
	option_seconds(json_object_get(tree, "poll"), POLL_LEAST, POLL_MOST, &o.poll);
	option_count(json_object_get(tree, "jobs"), JOBS_MOST, &o.jobs);
	return o;
}
