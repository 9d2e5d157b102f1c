/* requests_amend.c - keys of a study that change while it goes on: by `set`, or because
 * its file was edited and is submitted again. */
#include "daemon/executor.h"
#include "daemon/record.h"
#include "daemon/requests.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANGES_MAX = 32,    /* more keys than may change */
	SHOWN_MAX = 6,       /* differences that a refusal names */
	SHOWN_VALUE_MAX = 40 /* bytes of a value that it shows */
};

struct amendment {
	struct study *home;
	const char *by;                 /* who asks */
	struct dp_study before, after;  /* copies by value of what is in force */
	const char *given[CHANGES_MAX]; /* paths */
	size_t ngiven;
	char *changes[CHANGES_MAX]; /* ours */
	struct dp_asked asked;
};

static void amend_begin(struct amendment *a, struct study *h, const char *by)
{
	*a = (struct amendment){ .home = h, .by = by, .before = *h->state->now };
	a->before.search.evaluations = h->state->evaluations;
	a->before.search.parallel = h->state->parallel;
	a->before.priority = h->state->priority;
	a->after = a->before;
	a->asked = (struct dp_asked){
		.ask = DP_ASK_SET, .evaluations = NAN, .parallel = NAN, .priority = NAN
	};
}

static void amend_end(struct amendment *a)
{
	for (uint32_t i = 0; i < a->asked.nchanges; i++)
		free(a->changes[i]);
}

/* `path` is one of the table's. */
static int amend_give(struct amendment *a, const char *path, const char *value, struct dp_err *err)
{
	for (size_t i = 0; i < a->ngiven; i++)
		if (strcmp(a->given[i], path) == 0)
			return dp_fail(err, DP_E_USAGE, "'%s' is given twice", path);
	if (a->ngiven == CHANGES_MAX)
		return dp_fail(err, DP_E_LIMIT, "too many keys at once");
	a->given[a->ngiven++] = path;
	return dp_study_change(&a->after, path, value, err);
}

/* What was given, as it is journaled: three numbers have fields of their own. */
static int amend_changes(struct amendment *a, struct dp_err *err)
{
	json_t *meaning = dp_study_meaning(&a->after);
	struct dp_asked *asked = &a->asked;
	bool whole = meaning != NULL;

	for (size_t i = 0; whole && i < a->ngiven; i++) {
		const char *path = a->given[i];
		char **change = &a->changes[asked->nchanges];

		if (strcmp(path, "search.evaluations") == 0)
			asked->evaluations = a->after.search.evaluations;
		else if (strcmp(path, "search.parallel") == 0)
			asked->parallel = a->after.search.parallel;
		else if (strcmp(path, "priority") == 0)
			asked->priority = a->after.priority;
		else if (asprintf(change, "%s=%s", path, dp_json_str(meaning, path, "")) >= 0)
			asked->nchanges++;
		else
			whole = false;
	}
	asked->changes = (const char *const *)a->changes;
	json_decref(meaning);
	return whole ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory for a change");
}

/* A budget below what is made already is no mistake, but may not be what was meant. */
static json_t *amend_note(const struct dp_study_state *s, double evaluations, uint32_t proposed)
{
	uint32_t ended = dp_study_ended(s), left = proposed - ended;
	const char *end = s->status == DP_STUDY_PAUSED ? " when it is resumed" : "";
	char text[256], under_way[64] = "";

	if (!(evaluations < proposed) || dp_study_hides(s))
		return json_null();
	if (left)
		snprintf(under_way, sizeof under_way, " and %u %s under way", left,
			 left == 1 ? "is" : "are");
	snprintf(text, sizeof text,
		 "evaluations is the total of all trials: %u %s ended already%s, so no "
		 "more are started; ",
		 ended, ended == 1 ? "has" : "have", under_way);
	if (s->status == DP_STUDY_RUNNING)
		end = left == 1 ? " once that one has ended" : " once these have ended";
	if (s->status == DP_STUDY_RUNNING || s->status == DP_STUDY_PAUSED)
		snprintf(text + strlen(text), sizeof text - strlen(text), "it finishes with %u%s",
			 proposed, end);
	else
		snprintf(text + strlen(text), sizeof text - strlen(text), "it is %s with %u",
			 dp_study_status_text(s->status), ended);
	return json_string(text);
}

/* Asks, records, answers: what changed, and what follows from it. */
static int amend_order(struct amendment *a, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = a->home->state;
	uint32_t proposed = s->ntrials;
	struct dp_orders orders;
	json_t *changes;
	int code = amend_changes(a, err);

	if (code == DP_OK)
		code = request_may_ask(a->home, &a->asked, &orders, err);
	if (code != DP_OK)
		return code;
	study_order(a->home, &orders, a->by);
	study_settle(a->home); /* so that the answer shows what came of it */
	changes = dp_study_differences(&a->before, &a->after);
	*ok = json_pack("{s:o, s:o, s:o}", "study", request_summary_json(a->home), "changes",
			changes, "note", amend_note(s, a->asked.evaluations, proposed));
	return DP_OK;
}

/* ---- set ---- */

/* The fields of those that asked before there was `keys`. */
static int amend_numbers(struct amendment *a, const json_t *json, struct dp_err *err)
{
	static const char *const old[] = { "evaluations", "parallel", "priority" };
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(old); i++) {
		const json_t *v = json_object_get(json, old[i]);
		char text[32];

		if (!v)
			continue;
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
		code = amend_give(a, dp_study_live_key(old[i], NULL)->path, text, err);
	}
	return code;
}

static int amend_keys(struct amendment *a, const json_t *keys, struct dp_err *err)
{
	const char *name;
	json_t *value;
	int code = DP_OK;

	json_object_foreach ((json_t *)keys, name, value) {
		const struct dp_key_doc *key = dp_study_live_key(name, err);

		if (!key)
			return DP_E_USAGE;
		if (!json_is_string(value))
			return dp_fail(err, DP_E_PROTOCOL, "'%s' must be a text", key->path);
		code = amend_give(a, key->path, json_string_value(value), err);
		if (code != DP_OK)
			return code;
	}
	return code;
}

int request_set(struct request *r, json_t **ok, struct dp_err *err)
{
	struct amendment a;
	int code;

	amend_begin(&a, r->home, r->by);
	code = amend_numbers(&a, r->json, err);
	if (code == DP_OK)
		code = amend_keys(&a, json_object_get(r->json, "keys"), err);
	if (code == DP_OK)
		code = amend_order(&a, ok, err);
	amend_end(&a);
	return code;
}

/* ---- a file of the same name ---- */

/* One difference that makes it another study. Values of the environment may be secret. */
static void amend_describe(struct dp_buf *out, const json_t *d)
{
	const char *key = dp_json_str(d, "key", "");
	const char *from = dp_json_str(d, "from", NULL), *to = dp_json_str(d, "to", NULL);
	bool show = strncmp(key, "trainer.env.", 12) != 0;

	dp_buf_printf(out, "%s%s", out->len ? "; " : "", key);
	if (show && from && to && strlen(from) <= SHOWN_VALUE_MAX && strlen(to) <= SHOWN_VALUE_MAX)
		dp_buf_printf(out, ": '%s' there, '%s' here", from, to);
	else if (!from || !to)
		dp_buf_printf(out, " is only %s", from ? "there" : "here");
	else
		dp_buf_puts(out, " differs");
}

/* DP_E_EXISTS with the keys in which the file means another study, if there are any. */
static int amend_same_study(const struct dp_study_state *s, const json_t *differences,
			    struct dp_err *err)
{
	struct dp_buf names = DP_BUF_INIT;
	size_t i, n = 0;
	const json_t *d;

	json_array_foreach (differences, i, d)
		if (!dp_json_bool(d, "live", false) && n++ < SHOWN_MAX)
			amend_describe(&names, d);
	if (n > SHOWN_MAX)
		dp_buf_printf(&names, "; and %zu more", n - SHOWN_MAX);
	if (n == 0)
		return DP_OK;
	dp_fail(err, DP_E_EXISTS, "there is another study '%s': %.400s", s->spec->name,
		dp_buf_text(&names));
	dp_buf_free(&names);
	return dp_hint(err,
		       "give this one another name, or delete that one ('dparetoctl "
		       "delete %s')",
		       s->spec->name);
}

/* The study as its file, which was handed in last, would be read now: words that name
 * files are found in both the same way. */
static int amend_former(const struct dp_study_state *s, struct dp_study **out, struct dp_err *err)
{
	struct dp_problems problems = { 0 };
	struct dp_files files = { 0 };
	int code = dp_study_parse(s->text, strlen(s->text), s->path ? s->path : "study", s->dir,
				  out, &problems, err);

	if (code == DP_OK)
		code = dp_study_find_files(*out, s->dir, &files, err);
	free(files.list);
	dp_problems_free(&problems);
	return code;
}

/* What the file changes of the former one. What `set` changed meanwhile, and the file
 * leaves alone, stays. */
static int amend_from_file(struct amendment *a, const json_t *differences, struct dp_err *err)
{
	const json_t *d;
	size_t i;
	int code = DP_OK;

	json_array_foreach (differences, i, d) {
		const struct dp_key_doc *key = dp_study_live_key(dp_json_str(d, "key", ""), err);

		code = key ? amend_give(a, key->path, dp_json_str(d, "to", ""), err) : DP_E_FAILED;
		if (code != DP_OK)
			break;
	}
	return code;
}

static int amend_by_file(struct study *h, const struct dp_event *e, json_t *differences,
			 json_t **ok, struct dp_err *err)
{
	struct amendment a;
	int code;

	if (h->state->apart)
		return dp_fail(err, DP_E_CORRUPT, "cannot amend study '%s': %s",
			       h->state->spec->name, h->state->reason);
	amend_begin(&a, h, e->by);
	code = amend_from_file(&a, differences, err);
	if (code == DP_OK) {
		a.asked.text = e->text;
		a.asked.path = e->path;
		a.asked.dir = e->dir;
		code = amend_order(&a, ok, err);
	}
	amend_end(&a);
	return code;
}

/* A file that does not name the mode means the one that the study was accepted with. */
static void amend_seeds(const struct dp_study *accepted, struct dp_study *file)
{
	if (file->seeds == DP_SEEDS_DEFAULT)
		file->seeds = dp_study_seeds(accepted);
}

int request_resubmit(struct study *h, const struct dp_event *e, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = h->state;
	bool same = strcmp(s->text, e->text) == 0 && strcmp(s->dir, e->dir) == 0;
	struct dp_study *former = NULL;
	json_t *differences = NULL;
	int code = same ? DP_OK : amend_former(s, &former, err);

	if (code == DP_OK && !same) {
		amend_seeds(s->spec, former);
		amend_seeds(s->spec, e->spec);
		differences = dp_study_differences(former, e->spec);
		code = differences ? amend_same_study(s, differences, err)
				   : dp_fail(err, DP_E_NOMEM, "no memory to compare");
	}
	if (code == DP_OK && !same)
		code = amend_by_file(h, e, differences, ok, err);
	else if (code == DP_OK)
		*ok = json_pack("{s:o, s:[], s:n}", "study", request_summary_json(h), "changes",
				"note");
	json_decref(differences);
	dp_study_free(former);
	return code;
}

/* ---- what is decided with a study's creation ---- */

/* Journals one key with its value. */
static void amend_decided(struct study *h, const char *change)
{
	struct dp_event e = { .type = DP_EV_STUDY_AMENDED,
			      .evaluations = NAN,
			      .parallel = NAN,
			      .priority = NAN,
			      .changes = &change,
			      .nchanges = 1 };

	record(h, &e);
}

void amend_executor(struct study *h)
{
	if (h->state->now->trainer.executor != DP_EXECUTOR_DEFAULT ||
	    h->d->config.executor == CONFIG_LOCAL)
		return; /* without a word it is local */
	amend_decided(h, "trainer.executor=slurm");
	h->backend = executor_for(h->d, h->state->now);
}

void amend_initial(struct study *h)
{
	const struct dp_search *search = &h->state->spec->search;
	uint32_t known = h->state->nimported;
	char change[64];

	if (search->initial_given || !search->initial_from || known == 0)
		return;
	snprintf(change, sizeof change, "search.initial=%u",
		 known < DP_INITIAL ? DP_INITIAL - known : 0);
	amend_decided(h, change);
}
