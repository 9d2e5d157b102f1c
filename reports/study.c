/* study.c - the study around its points: settings, failures, costs, how to do it
 * again. */
#include "config.h"
#include "reports/facts.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

enum {
	MESSAGES_MAX = 3 /* of each kind of failure */
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

static struct fact_calibrated *
find_calibrated(const struct dp_study *spec, const struct dp_calibration *c, struct facts_memory *m)
{
	if (!c)
		return NULL;
	return facts_keep(m,
			  &(struct fact_calibrated){
				  .mechanism = c->use.mechanism->name,
				  .key = c->use.mechanism->noise->name,
				  .epsilon = c->epsilon,
				  .epsilon_of = c->epsilon_param < 0
							? NULL
							: spec->params[c->epsilon_param].name },
			  sizeof(struct fact_calibrated));
}

static void find_parameters(const struct dp_study *spec, struct facts_memory *m,
			    struct fact_settings *out)
{
	out->parameters = facts_room(m, spec->nparams, sizeof *out->parameters);
	for (size_t i = 0; out->parameters && i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		bool range = p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT;

		out->parameters[out->nparameters++] = (struct fact_parameter){
			.name = p->name,
			.type = kind_text(p->kind),
			.low = range ? p->lo : NAN,
			.high = range ? p->hi : NAN,
			.scale = !range   ? NULL
				 : p->log ? "log"
					  : "linear",
			.values = range ? NULL : p->values,
			.calibrated = find_calibrated(spec, p->calibrate, m),
		};
	}
}

static void find_constraints(const struct dp_study *spec, struct facts_memory *m,
			     struct fact_settings *out)
{
	out->constraints = facts_room(m, spec->nconstraints, sizeof *out->constraints);
	for (size_t i = 0; out->constraints && i < spec->nconstraints; i++)
		out->constraints[out->nconstraints++] = (struct fact_constraint){
			.metric = spec->constraints[i].metric,
			.is = spec->constraints[i].at_least ? ">=" : "<=",
			.bound = spec->constraints[i].bound,
		};
}

static struct fact_path *find_walk(const struct dp_study *spec, struct facts_memory *m)
{
	const struct dp_path *path = &spec->trainer.path;

	if (path->points == 0)
		return NULL;
	return facts_keep(m, &(struct fact_path){ spec->params[path->param].name, path->points },
			  sizeof(struct fact_path));
}

void facts_settings(const struct subject *s, struct facts_memory *m, struct fact_settings *out)
{
	const struct dp_study *spec = s->s->now;
	const struct dp_search *search = &spec->search;
	bool models = search->method == DP_METHOD_DPARETO;

	*out = (struct fact_settings){
		.method = dp_method_text(search->method),
		.acquisition = models ? dp_acquisition_text(search->acquisition) : NULL,
		.front = dp_front_text(spec),
		.evaluations = s->s->evaluations,
		.parallel = s->s->parallel,
		.cost = dp_cost_text(spec),
		.max_cost = search->max_cost > 0 ? search->max_cost : NAN,
		.order = search->deterministic ? "deterministic" : "asap",
		.runs = spec->trainer.runs,
		.one_run_per_process = spec->trainer.run_per_process,
		.initial = models ? (int64_t)search->initial : -1,
		.initial_from = facts_text(m, dp_origin_shown(search->initial_from)),
		.max_time = search->max_time > 0 ? search->max_time : NAN,
		.timeout = spec->trainer.timeout > 0 ? spec->trainer.timeout : NAN,
		.memory = spec->trainer.memory ? (int64_t)spec->trainer.memory : -1,
		.retries = spec->trainer.retries,
		.path = find_walk(spec, m),
	};
	find_parameters(spec, m, out);
	find_constraints(spec, m, out);
}

/* ---- failures ---- */

static bool has_failed(const struct dp_attempt *a)
{
	return a->end != DP_END_NONE && a->end != DP_END_OK;
}

/* Adds the message unless it was the same before. */
static void add_message(struct fact_failure *f, uint32_t trial, const char *message,
			struct facts_memory *m)
{
	if (!message || !f->messages || f->nmessages >= MESSAGES_MAX)
		return;
	message = facts_text(m, message);
	for (size_t i = 0; message && i < f->nmessages; i++)
		if (strcmp(f->messages[i].message, message) == 0)
			return;
	if (message)
		f->messages[f->nmessages++] = (struct fact_message){ trial, -1, message };
}

/* The ends of one class over all trials. */
static struct fact_failure failures_of(const struct dp_study_state *s, enum dp_end end, bool public,
				       struct facts_memory *m)
{
	struct fact_failure f = { .end = dp_end_text(end) };

	f.messages = facts_room(m, MESSAGES_MAX, sizeof *f.messages);
	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		int64_t before = f.attempts;

		for (uint32_t k = 0; k < t->nattempts; k++) {
			if (t->attempts[k].end != end)
				continue;
			f.attempts++;
			if (!public)
				add_message(&f, i, t->attempts[k].message, m);
		}
		f.trials += f.attempts > before;
	}
	return f;
}

/* The waypoints that trainings reached which did not end well. */
static int64_t waypoints_kept(const struct subject *s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->npoints; i++)
		n += s->s->trials[s->points[i].trial]->status != DP_TRIAL_OK;
	return n;
}

void facts_failures(const struct subject *s, bool public, struct facts_memory *m,
		    struct fact_failures *out)
{
	*out = (struct fact_failures){
		.failed = s->s->failed,
		.diverged = s->s->diverged,
		.waypoints_kept = waypoints_kept(s),
		.messages_left_out = public,
		.groups = facts_room(m, DP_END_LOST + 1, sizeof *out->groups),
	};
	for (uint32_t i = 0; i < s->s->ntrials; i++)
		for (uint32_t k = 0; k < s->s->trials[i]->nattempts; k++)
			out->attempts += has_failed(&s->s->trials[i]->attempts[k]);
	for (int end = DP_END_NONE + 1; out->groups && end <= DP_END_LOST; end++) {
		struct fact_failure *group = &out->groups[out->ngroups];

		if (end == DP_END_OK)
			continue;
		*group = failures_of(s->s, (enum dp_end)end, public, m);
		out->ngroups += group->attempts > 0;
	}
}

/* ---- costs ---- */

/* Adds what these trials took. */
static void spent_on(struct dp_trial *const *trials, uint32_t n, struct fact_spent *out)
{
	for (uint32_t i = 0; i < n; i++) {
		out->trainings += dp_trial_trainings(trials[i]);
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

void facts_spent(const struct subject *s, bool times, struct fact_spent *out)
{
	const struct dp_study_state *st = s->s;

	*out = (struct fact_spent){
		.evaluations = dp_study_ended(st),
		.walked = subject_walks(s) ? dp_study_walked(st) : NAN,
		.elapsed_seconds = (double)(st->updated - st->created) / 1e6,
	};
	spent_on(st->trials, st->ntrials, out);
	spent_on(st->measured.trials, st->measured.ntrials, out);
	if (!times || dp_study_releases(st->spec)) { /* not kept with noisy values */
		out->cpu_seconds = NAN;
		out->peak_memory = -1;
	}
	if (!times)
		out->elapsed_seconds = out->training_seconds = NAN;
}

/* ---- how to do it again ---- */

static bool names_seed(const char *line, size_t n)
{
	for (size_t i = 0; i + 4 <= n; i++)
		if (strncasecmp(line + i, "seed", 4) == 0)
			return true;
	return false;
}

/* Does the number stand in the text, as a whole? */
static bool has_number(const char *text, uint64_t number)
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
static bool is_free_of_seed(const char *text, const struct dp_study_state *s)
{
	struct dp_problems problems = { 0 };
	struct dp_study *spec = NULL;
	bool gone;

	if (s->spec->seed > 9 && has_number(text, s->spec->seed))
		return false;
	gone = dp_study_parse(text, strlen(text), "study", s->dir, &spec, &problems, NULL) ==
		       DP_OK &&
	       (spec->seed == 0 || spec->seed != s->spec->seed);
	dp_problems_free(&problems);
	dp_study_free(spec);
	return gone;
}

/* The study file without the lines that name a seed; NULL where that does not rid it
 * of the seed. */
static const char *public_file(const struct dp_study_state *s, struct facts_memory *m)
{
	struct dp_buf out = DP_BUF_INIT;
	const char *text = NULL;

	for (const char *line = s->text; *line;) {
		size_t n = strcspn(line, "\n");

		if (names_seed(line, n))
			dp_buf_puts(&out, "# (a line that names a seed was left out)");
		else
			dp_buf_add(&out, line, n);
		line += n;
		if (*line == '\n') {
			dp_buf_putc(&out, '\n');
			line++;
		}
	}
	if (!out.failed && is_free_of_seed(dp_buf_text(&out), s))
		text = facts_text(m, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

static const struct fact_versions versions = {
	.dpareto = PACKAGE_VERSION,
	.journal_format = DP_JOURNAL_FORMAT,
#ifdef __clang__
	.compiler = "clang " __clang_version__,
#else
	.compiler = "gcc " __VERSION__,
#endif
};

static struct fact_host *find_host(struct facts_memory *m)
{
	struct utsname u;

	if (uname(&u) != 0)
		return NULL;
	return facts_keep(m,
			  &(struct fact_host){ facts_text(m, u.nodename), facts_text(m, u.sysname),
					       facts_text(m, u.release), facts_text(m, u.machine) },
			  sizeof(struct fact_host));
}

static const char *time_text(int64_t us, struct facts_memory *m)
{
	char text[DP_NUM_LEN];

	return us ? facts_text(m, dp_time_text(us, text)) : NULL;
}

void facts_reproduce(const struct report *r, struct facts_memory *m, struct fact_reproduce *out)
{
	const struct dp_study_state *s = r->subjects[0].s;

	*out = (struct fact_reproduce){
		.study_file = r->public ? public_file(s, m) : facts_text(m, s->text),
		.versions = versions,
	};
	if (report_shows_times(r)) {
		out->created = time_text(s->created, m);
		out->updated = time_text(s->updated, m);
	}
	if (r->public)
		return;
	out->command = (const char *const *)s->spec->trainer.argv;
	out->seed = &s->spec->seed;
	out->host = find_host(m);
	out->path = facts_text(m, s->path);
	out->journal = facts_text(m, r->journal);
}
