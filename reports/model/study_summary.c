/* study_summary.c - settings, failures, resources and reproduction of the study in the report
 * model. */
#include "config.h"
#include "reports/model/report_model.h"

#include "base/units.h"
#include "study/diagnostics.h"
#include "study/metric_release.h"
#include "study/study_file.h"
#include "study/warm_start_source.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	FAILURE_MESSAGES_MAX = 3 /* for each class of failure */
};

static const char *kind_text(enum dp_param_kind k)
{
	switch (k) {
	case DP_PARAM_FLOAT:
		return "float";
	case DP_PARAM_INT:
		return "int";
	case DP_PARAM_CATEGORICAL:
		return "categorical";
	case DP_PARAM_FIXED:
		return "fixed";
	case DP_PARAM_CALIBRATED:
		return "calibrated";
	}
	return "one that has no name";
}

static json_t *parameters_json(const struct dp_study *spec)
{
	json_t *list = json_array();

	for (size_t i = 0; i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		json_t *o = json_object();

		put_text(o, "name", p->name);
		put_text(o, "type", kind_text(p->kind));
		if (p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT) {
			put_number(o, "low", p->lo);
			put_number(o, "high", p->hi);
			put_text(o, "scale", p->log_scale ? "log" : "linear");
		} else if (p->values) {
			put_json(o, "values", json_incref(p->values));
		}
		json_array_append_new(list, o);
		if (!p->calibrate)
			continue;
		put_json(o, "calibrated", json_object());
		o = get_json(o, "calibrated");
		put_text(o, "mechanism", p->calibrate->use.mechanism->name);
		put_text(o, "key", p->calibrate->use.mechanism->noise->name);
		if (!isnan(p->calibrate->epsilon))
			put_number(o, "epsilon", p->calibrate->epsilon);
		if (p->calibrate->epsilon_param >= 0)
			put_text(o, "epsilon_of", spec->params[p->calibrate->epsilon_param].name);
	}
	return list;
}

json_t *settings_json(const struct study_data *s)
{
	const struct dp_study *spec = s->state->current_spec;
	const struct dp_search *search = &spec->search;
	const struct dp_trainer *trainer = &spec->trainer;
	const struct dp_learning_curve *path = &trainer->learning_curve;
	bool models = search->method == DP_METHOD_DPARETO;
	json_t *o = json_object(), *constraints = json_array();

	put_text(o, "method", dp_method_text(search->method));
	put_text(o, "acquisition", models ? dp_acquisition_text(search->acquisition) : NULL);
	put_text(o, "front", dp_study_front_text(spec));
	put_count(o, "evaluations", s->state->evaluations);
	put_count(o, "parallel", s->state->parallel);
	put_text(o, "cost", dp_study_cost_text(spec));
	put_number(o, "max_cost", search->max_cost > 0 ? search->max_cost : NAN);
	put_text(o, "order", search->deterministic_order ? "deterministic" : "asap");
	put_count(o, "runs", trainer->runs);
	put_bool(o, "one_run_per_process", trainer->run_per_process);
	put_count(o, "initial", models ? (int64_t)search->initial : -1);
	put_text(o, "initial_from", dp_warm_start_display_name(search->initial_from));
	put_number(o, "max_time", search->max_time > 0 ? search->max_time : NAN);
	put_number(o, "timeout", trainer->timeout > 0 ? trainer->timeout : NAN);
	put_count(o, "memory", trainer->memory_limit ? (int64_t)trainer->memory_limit : -1);
	put_count(o, "retries", trainer->retries);
	put_json(o, "path",
		 path->points == 0
			 ? NULL
			 : json_pack("{s:s, s:I}", "parameter", spec->params[path->param].name,
				     "points", (json_int_t)path->points));
	put_json(o, "parameters", parameters_json(spec));
	for (size_t i = 0; i < spec->nconstraints; i++)
		json_array_append_new(
			constraints,
			json_pack("{s:s, s:s, s:o}", "metric", spec->constraints[i].metric, "is",
				  spec->constraints[i].at_least ? ">=" : "<=", "bound",
				  number_json(spec->constraints[i].bound)));
	put_json(o, "constraints", constraints);
	return o;
}

/* Adds the message of an attempt, if it is new and there is room. */
static void add_message(json_t *messages, uint32_t trial, const char *message)
{
	json_t *o;

	if (!message || json_array_size(messages) >= FAILURE_MESSAGES_MAX)
		return;
	o = json_object();
	put_count(o, "trial", trial);
	put_count(o, "at", -1);
	put_text(o, "message", message);
	if (find_by_text(messages, "message", get_text(o, "message")))
		json_decref(o);
	else
		json_array_append_new(messages, o);
}

static json_t *failure_class_json(const struct dp_study_state *s, enum dp_end_class end,
				  bool public)
{
	json_t *messages = json_array();
	int64_t attempts = 0, trials = 0;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		int64_t before = attempts;

		for (uint32_t k = 0; k < t->nattempts; k++) {
			if (t->attempts[k].end_class != end)
				continue;
			attempts++;
			if (!public)
				add_message(messages, i, t->attempts[k].message);
		}
		trials += attempts > before;
	}
	if (attempts > 0)
		return json_pack("{s:s, s:I, s:I, s:o}", "end", dp_end_class_name(end), "attempts",
				 (json_int_t)attempts, "trials", (json_int_t)trials, "messages",
				 messages);
	json_decref(messages);
	return NULL;
}

json_t *failures_json(const struct study_data *s, bool public)
{
	json_t *groups = json_array(), *group, *o = json_object();
	int64_t checkpoints_kept = 0, attempts = 0;

	for (size_t i = 0; i < s->npoints; i++)
		checkpoints_kept += s->state->trials[s->points[i].trial]->status != DP_TRIAL_OK;
	for (int end = DP_END_NONE + 1; end <= DP_END_LOST; end++) {
		group = end == DP_END_OK
				? NULL
				: failure_class_json(s->state, (enum dp_end_class)end, public);
		if (!group)
			continue;
		attempts += get_count(group, "attempts");
		json_array_append_new(groups, group);
	}
	put_count(o, "failed", s->state->failed);
	put_count(o, "diverged", s->state->diverged);
	put_count(o, "attempts", attempts);
	put_count(o, "waypoints_kept", checkpoints_kept);
	put_bool(o, "messages_left_out", public);
	put_json(o, "groups", groups);
	return o;
}

struct resources {
	int64_t trainings, attempts, peak_memory;
	double training_seconds, cpu_seconds;
};

static void add_trial_resources(struct dp_trial *const *trials, uint32_t n, struct resources *out)
{
	for (uint32_t i = 0; i < n; i++) {
		out->trainings += dp_trial_count_started_runs(trials[i]);
		for (uint32_t k = 0; k < trials[i]->nattempts; k++) {
			const struct dp_attempt *a = &trials[i]->attempts[k];
			int64_t peak = (int64_t)a->peak_memory;

			out->attempts++;
			out->training_seconds += dp_attempt_seconds(a);
			out->cpu_seconds += (double)a->cpu_seconds;
			out->peak_memory = peak > out->peak_memory ? peak : out->peak_memory;
		}
	}
}

json_t *resources_json(const struct study_data *s, bool times)
{
	struct dp_study_state *st = s->state;
	/* not kept with noisy releases */
	bool usage = times && !dp_study_has_metric_release(st->spec);
	struct resources spent = { 0 };
	json_t *o = json_object();

	add_trial_resources(st->trials, st->ntrials, &spent);
	add_trial_resources(st->reevals.trials, st->reevals.ntrials, &spent);
	put_count(o, "evaluations", dp_state_count_ended_trials(st));
	put_count(o, "attempts", spent.attempts);
	put_count(o, "trainings", spent.trainings);
	put_number(o, "walked",
		   study_data_has_checkpoints(s) ? dp_state_total_path_value(st) : NAN);
	put_number(o, "elapsed_seconds",
		   times ? (double)(st->updated_us - st->created_us) / 1e6 : NAN);
	put_number(o, "training_seconds", times ? spent.training_seconds : NAN);
	put_number(o, "cpu_seconds", usage ? spent.cpu_seconds : NAN);
	put_count(o, "peak_memory", usage ? spent.peak_memory : -1);
	return o;
}

/* Whether the number occurs in the text as a whole word. */
static bool text_has_number(const char *text, uint64_t number)
{
	char digits[32];
	size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);

	for (const char *at = text; (at = strstr(at, digits)) != NULL; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[n]))
			return true;
	return false;
}

/* Whether the text does not show the seed in any form that YAML would read as it. A single digit
 * may mean anything. */
static bool study_file_hides_seed(const char *text, const struct dp_study_state *s)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_study *spec = NULL;
	bool gone;

	if (s->spec->seed > 9 && text_has_number(text, s->spec->seed))
		return false;
	gone = dp_study_parse(text, strlen(text), "study", s->dir, &spec, &problems, NULL) ==
		       DP_OK &&
	       (spec->seed == 0 || spec->seed != s->spec->seed);
	dp_diagnostics_free(&problems);
	dp_study_free(spec);
	return gone;
}

/* The study file without lines that contain a seed. False if the seed remains. */
static bool redact_study_file(const struct dp_study_state *s, struct dp_buf *out)
{
	for (const char *line = s->text; *line;) {
		size_t n = strcspn(line, "\n");
		bool names_seed = false;

		for (size_t i = 0; i + 4 <= n; i++)
			names_seed |= strncasecmp(line + i, "seed", 4) == 0;
		if (names_seed)
			dp_buf_puts(out, "# (a line that names a seed was left out)");
		else
			dp_buf_add(out, line, n);
		line += n;
		if (*line == '\n') {
			dp_buf_putc(out, '\n');
			line++;
		}
	}
	return study_file_hides_seed(dp_buf_text(out), s);
}

static json_t *host_json(void)
{
	struct utsname u;
	json_t *o;

	if (uname(&u) != 0)
		return NULL;
	o = json_object();
	put_text(o, "name", u.nodename);
	put_text(o, "system", u.sysname);
	put_text(o, "release", u.release);
	put_text(o, "machine", u.machine);
	return o;
}

static void put_time(json_t *o, const char *key, int64_t us)
{
	char text[DP_NUM_LEN];

	put_text(o, key, us ? dp_time_text(us, text) : NULL);
}

json_t *provenance_json(const struct report_data *r)
{
	const struct dp_study_state *s = r->studies[0].state;
	bool times = redaction_shows_times(r), public = r->is_public;
	struct dp_buf redacted = DP_BUF_INIT;
	json_t *o = json_object();

	put_text(o, "study_file",
		 !public                           ? s->text
		 : redact_study_file(s, &redacted) ? dp_buf_text(&redacted)
						   : NULL);
	dp_buf_free(&redacted);
	put_texts(o, "command", public ? NULL : s->spec->trainer.argv);
	put_json(o, "seed", public ? NULL : json_integer((json_int_t)s->spec->seed));
	put_json(o, "versions",
		 json_pack("{s:s, s:i, s:s}", "dpareto", PACKAGE_VERSION, "journal_format",
			   DP_JOURNAL_FORMAT, "compiler",
#ifdef __clang__
			   "clang " __clang_version__
#else
			   "gcc " __VERSION__
#endif
			   ));
	put_json(o, "host", public ? NULL : host_json());
	put_text(o, "path", public ? NULL : s->path);
	put_text(o, "journal", public ? NULL : r->journal_path);
	put_time(o, "created", times ? s->created_us : 0);
	put_time(o, "updated", times ? s->updated_us : 0);
	return o;
}
