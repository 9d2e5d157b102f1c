/* study.c - the study around its points: settings, failures, costs, how to do it
 * again. */
#include "config.h"
#include "reports/facts.h"

#include "base/json.h"
#include "base/num.h"
#include "journal/view.h"

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
	return k == DP_PARAM_FLOAT   ? "float"
	       : k == DP_PARAM_INT   ? "int"
	       : k == DP_PARAM_FIXED ? "fixed"
				     : "categorical";
}

static json_t *parameters_json(const struct dp_study *spec)
{
	json_t *list = json_array();

	for (size_t i = 0; i < spec->nparams; i++) {
		const struct dp_param *p = &spec->params[i];
		json_t *o = json_pack("{s:s, s:s}", "name", p->name, "type",
				      kind_text(p->kind));

		if (p->kind == DP_PARAM_FLOAT || p->kind == DP_PARAM_INT) {
			json_object_set_new(o, "low", dp_json_real(p->lo));
			json_object_set_new(o, "high", dp_json_real(p->hi));
			json_object_set_new(o, "scale",
					    json_string(p->log ? "log" : "linear"));
		} else {
			json_object_set(o, "values", p->values);
		}
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *constraints_json(const struct dp_study *spec)
{
	json_t *list = json_array();

	for (size_t i = 0; i < spec->nconstraints; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:o}", "metric",
				  spec->constraints[i].metric, "is",
				  spec->constraints[i].at_least ? ">=" : "<=", "bound",
				  dp_json_real(spec->constraints[i].bound)));
	return list;
}

static json_t *command_json(const struct dp_study *spec)
{
	json_t *list = json_array();

	for (char **a = spec->trainer.argv; a && *a; a++)
		json_array_append_new(list, facts_text(*a));
	return list;
}

json_t *facts_settings(const struct subject *s)
{
	const struct dp_study *spec = s->s->spec;
	const struct dp_search *search = &spec->search;
	json_t *o = json_pack(
		"{s:s, s:o, s:I, s:I, s:s, s:i, s:b}", "method",
		dp_method_text(search->method), "acquisition",
		facts_text(search->method == DP_METHOD_DPARETO
				   ? dp_acquisition_text(search->acquisition)
				   : NULL),
		"evaluations", (json_int_t)s->s->evaluations, "parallel",
		(json_int_t)s->s->parallel, "order",
		search->deterministic ? "deterministic" : "asap", "runs",
		spec->trainer.runs, "one_run_per_process", spec->trainer.run_per_process);

	json_object_set_new(o, "initial",
			    search->method == DP_METHOD_DPARETO
				    ? json_integer(search->initial)
				    : json_null());
	json_object_set_new(o, "initial_from", facts_text(search->initial_from));
	json_object_set_new(o, "max_time",
			    search->max_time > 0 ? json_real(search->max_time)
						 : json_null());
	json_object_set_new(o, "timeout",
			    spec->trainer.timeout > 0 ? json_real(spec->trainer.timeout)
						      : json_null());
	json_object_set_new(o, "retries", json_integer(spec->trainer.retries));
	json_object_set_new(o, "parameters", parameters_json(spec));
	json_object_set_new(o, "constraints", constraints_json(spec));
	return o;
}

/* ---- failures ---- */

static bool failed(const struct dp_attempt *a)
{
	return a->end != DP_END_NONE && a->end != DP_END_OK;
}

/* Adds the message unless it was the same before. */
static void add_message(json_t *list, uint32_t trial, const char *message)
{
	size_t i;
	json_t *have;

	if (!message || json_array_size(list) >= MESSAGES_MAX)
		return;
	json_array_foreach (list, i, have)
		if (strcmp(dp_json_str(have, "message", ""), message) == 0)
			return;
	json_array_append_new(list, json_pack("{s:I, s:o}", "trial", (json_int_t)trial,
					      "message", facts_text(message)));
}

/* The ends of one class over all trials, or NULL. */
static json_t *failures_of(const struct dp_study_state *s, enum dp_end end, bool public)
{
	json_t *messages = json_array();
	json_int_t attempts = 0, trials = 0;

	for (uint32_t i = 0; i < s->ntrials; i++) {
		const struct dp_trial *t = s->trials[i];
		json_int_t before = attempts;

		for (uint32_t k = 0; k < t->nattempts; k++) {
			if (t->attempts[k].end != end)
				continue;
			attempts++;
			if (!public)
				add_message(messages, i, t->attempts[k].message);
		}
		trials += attempts > before;
	}
	if (attempts == 0) {
		json_decref(messages);
		return NULL;
	}
	return json_pack("{s:s, s:I, s:I, s:o}", "end", dp_end_text(end), "attempts",
			 attempts, "trials", trials, "messages", messages);
}

json_t *facts_failures(const struct subject *s, bool public)
{
	json_t *groups = json_array(), *group;
	json_int_t attempts = 0;

	for (uint32_t i = 0; i < s->s->ntrials; i++)
		for (uint32_t k = 0; k < s->s->trials[i]->nattempts; k++)
			attempts += failed(&s->s->trials[i]->attempts[k]);
	for (int end = DP_END_NONE + 1; end <= DP_END_LOST; end++) {
		group = end == DP_END_OK ? NULL
					 : failures_of(s->s, (enum dp_end)end, public);
		if (group)
			json_array_append_new(groups, group);
	}
	return json_pack("{s:I, s:I, s:I, s:b, s:o}", "failed", (json_int_t)s->s->failed,
			 "diverged", (json_int_t)s->s->diverged, "attempts", attempts,
			 "messages_left_out", public, "groups", groups);
}

/* ---- costs ---- */

json_t *facts_spent(const struct subject *s)
{
	const struct dp_study_state *st = s->s;
	double seconds = 0, cpu = 0, trainings = 0;
	uint64_t peak = 0;
	json_int_t attempts = 0;

	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];

		trainings += facts_trainings(s, t);
		for (uint32_t k = 0; k < t->nattempts; k++) {
			const struct dp_attempt *a = &t->attempts[k];

			attempts++;
			if (a->started > 0 && a->ended > a->started)
				seconds += (double)(a->ended - a->started) / 1e6;
			cpu += (double)a->cpu_seconds;
			peak = a->peak_memory > peak ? a->peak_memory : peak;
		}
	}
	return json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:I}", "evaluations",
			 (json_int_t)dp_study_ended(st), "attempts", attempts,
			 "trainings", (json_int_t)trainings, "elapsed_seconds",
			 (double)(st->updated - st->created) / 1e6, "training_seconds",
			 seconds, "cpu_seconds", cpu, "peak_memory", (json_int_t)peak);
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
	size_t n = (size_t)snprintf(digits, sizeof digits, "%llu",
				    (unsigned long long)number);

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
	gone = dp_study_parse(text, strlen(text), "study", s->dir, &spec, &problems,
			      NULL) == DP_OK &&
	       (spec->seed == 0 || spec->seed != s->spec->seed);
	dp_problems_free(&problems);
	dp_study_free(spec);
	return gone;
}

/* The study file without the lines that name a seed; null where that does not rid it
 * of the seed. */
static json_t *public_file(const struct dp_study_state *s)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *text = NULL;

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
		text = facts_text(dp_buf_text(&out));
	dp_buf_free(&out);
	return text ? text : json_null();
}

static json_t *versions_json(void)
{
	return json_pack("{s:s, s:i, s:s}", "dpareto", PACKAGE_VERSION, "journal_format",
			 DP_JOURNAL_FORMAT, "compiler",
#ifdef __clang__
			 "clang " __clang_version__
#else
			 "gcc " __VERSION__
#endif
	);
}

static json_t *host_json(void)
{
	struct utsname u;

	if (uname(&u) != 0)
		return json_null();
	return json_pack("{s:o, s:s, s:s, s:s}", "name", facts_text(u.nodename), "system",
			 u.sysname, "release", u.release, "machine", u.machine);
}

json_t *facts_reproduce(const struct report *r)
{
	const struct dp_study_state *s = r->subjects[0].s;
	bool public = r->public;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "study_file",
			 public ? public_file(s) : facts_text(s->text), "command",
			 public ? json_null() : command_json(s->spec), "seed",
			 public ? json_null() : json_integer((json_int_t)s->spec->seed),
			 "versions", versions_json(), "host",
			 public ? json_null() : host_json(), "path",
			 public ? json_null() : facts_text(s->path), "journal",
			 public ? json_null() : facts_text(r->journal), "created",
			 dp_view_time(s->created), "updated", dp_view_time(s->updated));
}
