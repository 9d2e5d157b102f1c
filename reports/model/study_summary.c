/* study.c - the study around its points: settings, failures, costs, how to do it
 * again. */
#include "config.h"
#include "reports/model/report_model.h"

#include "base/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	FAILURE_MESSAGES_MAX = 3 /* of each kind of failure */
};

/* ---- settings ---- */

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

static struct report_calibration *make_calibration(const struct dp_study *spec,
						   const struct dp_calibration *c,
						   struct report_arena *arena)
{
	if (!c)
		return NULL;
	return report_arena_dup(
		arena,
		&(struct report_calibration){
			.mechanism = c->use.mechanism->name,
			.key = c->use.mechanism->noise->name,
			.epsilon = c->epsilon,
			.epsilon_of =
				c->epsilon_param < 0 ? NULL : spec->params[c->epsilon_param].name },
		sizeof(struct report_calibration));
}

static void add_settings_parameters(const struct dp_study *spec, struct report_arena *arena,
				    struct report_settings *out)
{
	out->parameters = report_arena_alloc(arena, spec->nparams, sizeof *out->parameters);
	for (size_t i = 0; out->parameters && i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		bool range = p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT;

		out->parameters[out->nparameters++] = (struct report_parameter){
			.name = p->name,
			.type = kind_text(p->kind),
			.low = range ? p->lo : NAN,
			.high = range ? p->hi : NAN,
			.scale = !range         ? NULL
				 : p->log_scale ? "log"
						: "linear",
			.values = range ? NULL : p->values,
			.calibrated = make_calibration(spec, p->calibrate, arena),
		};
	}
}

static void add_settings_constraints(const struct dp_study *spec, struct report_arena *arena,
				     struct report_settings *out)
{
	out->constraints = report_arena_alloc(arena, spec->nconstraints, sizeof *out->constraints);
	for (size_t i = 0; out->constraints && i < spec->nconstraints; i++)
		out->constraints[out->nconstraints++] = (struct report_constraint){
			.metric = spec->constraints[i].metric,
			.is = spec->constraints[i].at_least ? ">=" : "<=",
			.bound = spec->constraints[i].bound,
		};
}

static struct report_path *make_settings_path(const struct dp_study *spec,
					      struct report_arena *arena)
{
	const struct dp_learning_curve *path = &spec->trainer.learning_curve;

	if (path->points == 0)
		return NULL;
	return report_arena_dup(
		arena, &(struct report_path){ spec->params[path->param].name, path->points },
		sizeof(struct report_path));
}

void report_model_settings(const struct study_data *s, struct report_arena *arena,
			   struct report_settings *out)
{
	const struct dp_study *spec = s->state->current_spec;
	const struct dp_search *search = &spec->search;
	bool models = search->method == DP_METHOD_DPARETO;

	*out = (struct report_settings){
		.method = dp_method_text(search->method),
		.acquisition = models ? dp_acquisition_text(search->acquisition) : NULL,
		.front = dp_study_front_text(spec),
		.evaluations = s->state->evaluations,
		.parallel = s->state->parallel,
		.cost = dp_study_cost_text(spec),
		.max_cost = search->max_cost > 0 ? search->max_cost : NAN,
		.order = search->deterministic_order ? "deterministic" : "asap",
		.runs = spec->trainer.runs,
		.one_run_per_process = spec->trainer.run_per_process,
		.initial = models ? (int64_t)search->initial : -1,
		.initial_from = report_arena_strdup(
			arena, dp_warm_start_display_name(search->initial_from)),
		.max_time = search->max_time > 0 ? search->max_time : NAN,
		.timeout = spec->trainer.timeout > 0 ? spec->trainer.timeout : NAN,
		.memory = spec->trainer.memory_limit ? (int64_t)spec->trainer.memory_limit : -1,
		.retries = spec->trainer.retries,
		.path = make_settings_path(spec, arena),
	};
	add_settings_parameters(spec, arena, out);
	add_settings_constraints(spec, arena, out);
}

/* ---- failures ---- */

static bool has_failed(const struct dp_attempt *a)
{
	return a->end_class != DP_END_NONE && a->end_class != DP_END_OK;
}

/* Adds the message unless it was the same before. */
static void add_message(struct report_failure_class *f, uint32_t trial, const char *message,
			struct report_arena *arena)
{
	if (!message || !f->messages || f->nmessages >= FAILURE_MESSAGES_MAX)
		return;
	message = report_arena_strdup(arena, message);
	for (size_t i = 0; message && i < f->nmessages; i++)
		if (strcmp(f->messages[i].message, message) == 0)
			return;
	if (message)
		f->messages[f->nmessages++] = (struct report_failure_message){ trial, -1, message };
}

/* The ends of one class over all trials. */
static struct report_failure_class collect_failure_class(const struct dp_study_state *s,
							 enum dp_end_class end, bool public,
							 struct report_arena *arena)
{
	struct report_failure_class f = { .end = dp_end_class_name(end) };

	f.messages = report_arena_alloc(arena, FAILURE_MESSAGES_MAX, sizeof *f.messages);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		int64_t before = f.attempts;

		for (uint32_t k = 0; k < t->nattempts; k++) {
			if (t->attempts[k].end_class != end)
				continue;
			f.attempts++;
			if (!public)
				add_message(&f, i, t->attempts[k].message, arena);
		}
		f.trials += f.attempts > before;
	}
	return f;
}

/* The waypoints that trainings reached which did not end well. */
static int64_t count_kept_checkpoints(const struct study_data *s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->npoints; i++)
		n += s->state->trials[s->points[i].trial]->status != DP_TRIAL_OK;
	return n;
}

void report_model_failures(const struct study_data *s, bool public, struct report_arena *arena,
			   struct report_failures *out)
{
	*out = (struct report_failures){
		.failed = s->state->failed,
		.diverged = s->state->diverged,
		.waypoints_kept = count_kept_checkpoints(s),
		.messages_left_out = public,
		.groups = report_arena_alloc(arena, DP_END_LOST + 1, sizeof *out->groups),
	};
	for (uint32_t i = 0; i < s->state->ntrials; i++)
		for (uint32_t k = 0; k < s->state->trials[i]->nattempts; k++)
			out->attempts += has_failed(&s->state->trials[i]->attempts[k]);
	for (int end = DP_END_NONE + 1; out->groups && end <= DP_END_LOST; end++) {
		struct report_failure_class *group = &out->groups[out->ngroups];

		if (end == DP_END_OK)
			continue;
		*group = collect_failure_class(s->state, (enum dp_end_class)end, public, arena);
		out->ngroups += group->attempts > 0;
	}
}

/* ---- costs ---- */

/* Adds what these trials took. */
static void add_trial_resources(struct dp_trial *const *trials, uint32_t n,
				struct report_resources *out)
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

void report_model_resources(const struct study_data *s, bool times, struct report_resources *out)
{
	const struct dp_study_state *st = s->state;

	*out = (struct report_resources){
		.evaluations = dp_state_count_ended_trials(st),
		.walked = study_data_has_checkpoints(s) ? dp_state_total_path_value(st) : NAN,
		.elapsed_seconds = (double)(st->updated_us - st->created_us) / 1e6,
	};
	add_trial_resources(st->trials, st->ntrials, out);
	add_trial_resources(st->reevals.trials, st->reevals.ntrials, out);
	if (!times || dp_study_has_metric_release(st->spec)) { /* not kept with noisy values */
		out->cpu_seconds = NAN;
		out->peak_memory = -1;
	}
	if (!times)
		out->elapsed_seconds = out->training_seconds = NAN;
}

/* ---- how to do it again ---- */

static bool line_names_seed(const char *line, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (strncasecmp(line + i, "seed", 4) == 0)
			return true;
	return false;
}

/* Does the number stand in the text, as a whole? */
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

/* Is the seed nowhere in the text, in no form that its reader would take for it? A
 * single digit may stand for anything. */
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

/* The study file without the lines that name a seed; NULL where that does not rid it
 * of the seed. */
static const char *redact_study_file(const struct dp_study_state *s, struct report_arena *arena)
{
	struct dp_buf out = DP_BUF_INIT;
	const char *text = NULL;

	for (const char *line = s->text; *line;) {
		size_t n = strcspn(line, "\n");

		if (line_names_seed(line, n))
			dp_buf_puts(&out, "# (a line that names a seed was left out)");
		else
			dp_buf_add(&out, line, n);
		line += n;
		if (*line == '\n') {
			dp_buf_putc(&out, '\n');
			line++;
		}
	}
	if (study_file_hides_seed(dp_buf_text(&out), s))
		text = report_arena_strdup(arena, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

static const struct report_versions versions = {
	.dpareto = PACKAGE_VERSION,
	.journal_format = DP_JOURNAL_FORMAT,
#ifdef __clang__
	.compiler = "clang " __clang_version__,
#else
	.compiler = "gcc " __VERSION__,
#endif
};

static struct report_host *make_host_info(struct report_arena *arena)
{
	struct utsname u;

	if (uname(&u) != 0)
		return NULL;
	return report_arena_dup(arena,
				&(struct report_host){ report_arena_strdup(arena, u.nodename),
						       report_arena_strdup(arena, u.sysname),
						       report_arena_strdup(arena, u.release),
						       report_arena_strdup(arena, u.machine) },
				sizeof(struct report_host));
}

static const char *time_text(int64_t us, struct report_arena *arena)
{
	char text[DP_NUM_LEN];

	return us ? report_arena_strdup(arena, dp_time_text(us, text)) : NULL;
}

void report_model_provenance(const struct report_data *r, struct report_arena *arena,
			     struct report_provenance *out)
{
	const struct dp_study_state *s = r->studies[0].state;

	*out = (struct report_provenance){
		.study_file = r->is_public ? redact_study_file(s, arena)
					   : report_arena_strdup(arena, s->text),
		.versions = versions,
	};
	if (redaction_shows_times(r)) {
		out->created = time_text(s->created_us, arena);
		out->updated = time_text(s->updated_us, arena);
	}
	if (r->is_public)
		return;
	out->command = (const char *const *)s->spec->trainer.argv;
	out->seed = &s->spec->seed;
	out->host = make_host_info(arena);
	out->path = report_arena_strdup(arena, s->path);
	out->journal = report_arena_strdup(arena, r->journal_path);
}
