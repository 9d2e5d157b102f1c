/* metrics.c - writes the Prometheus metrics of one scrape. */
#include "serve/metrics.h"

#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const char *const states[] = { "running", "paused", "finished", "failed", "stopped" };

static void metric_head(struct dp_buf *out, const char *name, const char *type, const char *help)
{
	dp_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes a sample: dpareto_trials_total{study="svt",end="ok"} 3. Labels may be NULL. */
static void metric_sample(struct dp_buf *out, const char *name, const char *first,
			  const char *value, const char *second, const char *other, double x)
{
	const char *const names[] = { first, second }, *const values[] = { value, other };
	char text[DP_NUM_LEN];

	dp_buf_puts(out, name);

	for (size_t i = 0; i < DP_COUNT(names) && names[i]; i++) {
		dp_buf_printf(out, "%s%s=\"", i ? "," : "{", names[i]);
		for (const char *c = values[i]; *c; c++) {
			if (*c == '"' || *c == '\\')
				dp_buf_putc(out, '\\');
			dp_buf_puts(out, *c == '\n' ? "\\n" : (char[]){ *c, '\0' });
		}
		dp_buf_putc(out, '"');
	}
	if (first)
		dp_buf_putc(out, '}');
	if (isnan(x))
		dp_buf_puts(out, " NaN\n");
	else if (isinf(x))
		dp_buf_puts(out, x > 0 ? " +Inf\n" : " -Inf\n");
	else
		dp_buf_printf(out, " %s\n", dp_num_text(x, text));
}

static void metric_plain(struct dp_buf *out, const char *name, double x)
{
	metric_sample(out, name, NULL, NULL, NULL, NULL, x);
}

static void metric_of_study(struct dp_buf *out, const char *name, const json_t *study, double x)
{
	metric_sample(out, name, "study", dp_json_str(study, "name", ""), NULL, NULL, x);
}

static double json_real_or_nan(const json_t *object, const char *key)
{
	double x;

	return dp_json_to_real(json_object_get(object, key), &x) ? x : NAN;
}

static void metric_each_study(struct dp_buf *out, const json_t *studies, const char *name,
			      const char *key)
{
	const json_t *one;
	size_t i;

	json_array_foreach (studies, i, one) {
		double x = json_real_or_nan(one, key);

		if (!isnan(x))
			metric_of_study(out, name, one, x);
	}
}

static void metrics_write_daemon(struct dp_buf *out, const json_t *hello)
{
	static const struct {
		const char *name, *key, *help;
	} each[] = {
		{ "dpareto_slots", "slots", "Trainers that may run at once." },
		{ "dpareto_slots_busy", "busy", "Trainers that run now." },
		{ "dpareto_disk_free_bytes", "disk_free",
		  "Bytes left on the disk of the state folder." },
	};

	for (size_t i = 0; i < DP_COUNT(each); i++) {
		metric_head(out, each[i].name, "gauge", each[i].help);
		metric_plain(out, each[i].name, json_real_or_nan(hello, each[i].key));
	}
}

static void metrics_write_journal(struct dp_buf *out, const json_t *journal)
{
	static const struct {
		const char *key, *quantile;
	} each[] = { { "median", "0.5" }, { "p90", "0.9" }, { "p99", "0.99" } };
	const json_t *commits = json_object_get(journal, "commits");
	const char *name = "dpareto_journal_commit_seconds";

	metric_head(out, name, "summary",
		    "How long commits took; quantiles of the last 1024, sum and count since "
		    "the daemon's start.");
	for (size_t i = 0; i < DP_COUNT(each); i++)
		metric_sample(out, name, "quantile", each[i].quantile, NULL, NULL,
			      json_real_or_nan(commits, each[i].key));
	metric_plain(out, "dpareto_journal_commit_seconds_sum",
		     json_real_or_nan(commits, "seconds"));
	metric_plain(out, "dpareto_journal_commit_seconds_count",
		     json_real_or_nan(commits, "count"));
	metric_head(out, "dpareto_journal_silent_seconds", "gauge",
		    "How long the disk of the journal has not answered; 0 if it does.");
	metric_plain(out, "dpareto_journal_silent_seconds", json_real_or_nan(journal, "silent"));
}

static void metrics_write_states(struct dp_buf *out, const json_t *studies)
{
	size_t count[DP_COUNT(states)] = { 0 }, i;
	const json_t *one;

	metric_head(out, "dpareto_study_state", "gauge", "1 for the state that a study is in.");
	json_array_foreach (studies, i, one) {
		const char *state = dp_json_str(one, "state", "");

		for (size_t k = 0; k < DP_COUNT(states); k++) {
			bool is = strcmp(state, states[k]) == 0;

			count[k] += is;
			metric_sample(out, "dpareto_study_state", "study",
				      dp_json_str(one, "name", ""), "state", states[k], is);
		}
	}
	metric_head(out, "dpareto_studies", "gauge", "Studies by their state.");
	for (size_t k = 0; k < DP_COUNT(states); k++)
		metric_sample(out, "dpareto_studies", "state", states[k], NULL, NULL,
			      (double)count[k]);
}

static void metrics_write_studies(struct dp_buf *out, const json_t *studies)
{
	static const char *const ends[] = { "ok", "diverged", "failed" };
	const json_t *one;
	size_t i;

	metrics_write_states(out, studies);
	metric_head(out, "dpareto_study_by_failures", "gauge",
		    "1 if a study is paused or failed because of its trainer.");
	json_array_foreach (studies, i, one)
		metric_of_study(out, "dpareto_study_by_failures", one,
				json_is_true(json_object_get(one, "by_failures")));
	metric_head(out, "dpareto_trials_total", "counter",
		    "Trials that have ended, by how. A retry takes a failure back.");
	json_array_foreach (studies, i, one)
		for (size_t k = 0; k < DP_COUNT(ends); k++) {
			double x = json_real_or_nan(one, ends[k]);

			if (!isnan(x)) /* NaN: hidden by a private selection */
				metric_sample(out, "dpareto_trials_total", "study",
					      dp_json_str(one, "name", ""), "end", ends[k], x);
		}
	metric_head(out, "dpareto_trials_running", "gauge", "Trials that run now.");
	metric_each_study(out, studies, "dpareto_trials_running", "running");
	metric_head(out, "dpareto_hypervolume", "gauge",
		    "Hypervolume of a study's front of observed means.");
	metric_each_study(out, studies, "dpareto_hypervolume", "hypervolume");
	metric_head(out, "dpareto_study_updated_seconds", "gauge",
		    "When something was last recorded in a study, in seconds since 1970.");
	json_array_foreach (studies, i, one) {
		const char *iso = dp_json_str(one, "updated", NULL);
		struct tm tm = { 0 };

		if (iso && strptime(iso, "%Y-%m-%dT%H:%M:%S", &tm))
			metric_of_study(out, "dpareto_study_updated_seconds", one,
					(double)timegm(&tm));
	}
}

void metrics_write(struct daemon_client *daemon, struct dp_buf *out)
{
	const json_t *hello;
	struct dp_err err;
	json_t *status;
	bool up = daemon_call(daemon, "status", NULL, &status, &err) == DP_OK;

	metric_head(out, "dpareto_up", "gauge", "1 if the daemon answers.");
	metric_plain(out, "dpareto_up", up);
	metric_head(out, "dpareto_build_info", "gauge", "The version of dpareto-serve.");
	metric_sample(out, "dpareto_build_info", "version", ctl_version(), NULL, NULL, 1);
	if (!up)
		return;
	hello = json_object_get(status, "daemon");
	metrics_write_daemon(out, hello);
	metrics_write_journal(out, json_object_get(hello, "journal"));
	metrics_write_studies(out, json_object_get(status, "studies"));
	json_decref(status);
}
