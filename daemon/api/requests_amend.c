/* requests_amend.c - changes keys of a study, by `set` or by submitting its edited file. */
#include "daemon/api/requests.h"

#include "base/json.h"
#include "study/diagnostics.h"
#include "study/seeds.h"
#include "study/study_change.h"
#include "study/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANGES_MAX = 32,          /* more than the keys that can change */
	DIFFERENCES_SHOWN_MAX = 6, /* in a refusal */
	VALUE_SHOWN_MAX = 40       /* bytes of a value in a refusal */
};

struct amendment {
	struct study *study;
	const char *requested_by;
	struct dp_study before, after; /* copies of the current study */
	const char *keys[CHANGES_MAX]; /* paths */
	size_t n_keys;
	char *changes[CHANGES_MAX];
	struct dp_ev_study_amended wanted;
};

static void amend_begin(struct amendment *a, struct study *study, const char *by)
{
	*a = (struct amendment){ .study = study,
				 .requested_by = by,
				 .before = *study->state->current_spec };
	a->before.search.evaluations = study->state->evaluations;
	a->before.search.parallel = study->state->parallel;
	a->before.priority = study->state->priority;
	a->after = a->before;
	a->wanted = (struct dp_ev_study_amended){ .evaluations = NAN,
						  .parallel = NAN,
						  .priority = NAN };
}

static void amend_end(struct amendment *a)
{
	for (uint32_t i = 0; i < a->wanted.nchanges; i++)
		free(a->changes[i]);
}

/* `path` must be a string constant of the table. */
static int amend_add_key(struct amendment *a, const char *path, const char *value,
			 struct dp_err *err)
{
	for (size_t i = 0; i < a->n_keys; i++)
		if (strcmp(a->keys[i], path) == 0)
			return dp_fail(err, DP_E_USAGE, "'%s' is given twice", path);
	if (a->n_keys == CHANGES_MAX)
		return dp_fail(err, DP_E_LIMIT, "too many keys at once");
	a->keys[a->n_keys++] = path;
	return dp_study_set_key(&a->after, path, value, err);
}

/* Formats the changes for the journal; three numbers have fields of their own. */
static void amend_format_changes(struct amendment *a)
{
	json_t *meaning = dp_study_canonical_json(&a->after);
	struct dp_ev_study_amended *wanted = &a->wanted;

	for (size_t i = 0; i < a->n_keys; i++) {
		const char *path = a->keys[i];

		if (strcmp(path, "search.evaluations") == 0)
			wanted->evaluations = a->after.search.evaluations;
		else if (strcmp(path, "search.parallel") == 0)
			wanted->parallel = a->after.search.parallel;
		else if (strcmp(path, "priority") == 0)
			wanted->priority = a->after.priority;
		else
			a->changes[wanted->nchanges++] =
				dp_asprintf("%s=%s", path, dp_json_str(meaning, path, ""));
	}
	wanted->changes = (const char *const *)a->changes;
	json_decref(meaning);
}

/* A note for a budget below the current number of trials, which is allowed but may be a mistake. */
static json_t *amend_budget_note(const struct dp_study_state *s, double evaluations,
				 uint32_t proposed)
{
	uint32_t ended = dp_state_count_ended_trials(s), left = proposed - ended;
	const char *end = s->status == DP_STUDY_PAUSED ? " when it is resumed" : "";
	char text[256], under_way[64] = "";

	if (!(evaluations < proposed) || dp_state_is_private_selection(s))
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

/* Checks, records and answers with the changes and their effect. */
static int amend_apply(struct amendment *a, json_t **ok, struct dp_err *err)
{
	struct dp_study_state *s = a->study->state;
	uint32_t proposed = s->ntrials;
	struct dp_transition_events orders;
	json_t *changes;
	int code = study_check_not_deleted(a->study, err);

	amend_format_changes(a);
	if (code == DP_OK)
		code = dp_policy_amend(s, &a->wanted, &orders, err);
	if (code != DP_OK)
		return code;
	study_apply_orders(a->study, &orders, a->requested_by);
	study_apply_policy(a->study); /* so that the reply shows the effect */
	changes = dp_study_diff(&a->before, &a->after);
	*ok = json_pack("{s:o, s:o, s:o}", "study", request_summary_json(a->study), "changes",
			changes, "note", amend_budget_note(s, a->wanted.evaluations, proposed));
	return DP_OK;
}

/* ---- set ---- */

/* Parses the fields of clients older than `keys`. */
static int amend_parse_numbers(struct amendment *a, const json_t *json, struct dp_err *err)
{
	static const char *const old[] = { "evaluations", "parallel", "priority" };
	int code = DP_OK;

	for (size_t i = 0; code == DP_OK && i < DP_COUNT(old); i++) {
		const json_t *v = json_object_get(json, old[i]);
		char text[32];

		if (!v)
			continue;
		snprintf(text, sizeof text, "%lld", (long long)json_integer_value(v));
		code = amend_add_key(a, dp_study_find_live_key(old[i], NULL)->path, text, err);
	}
	return code;
}

static int amend_parse_keys(struct amendment *a, const json_t *keys, struct dp_err *err)
{
	const char *name;
	json_t *value;
	int code = DP_OK;

	json_object_foreach ((json_t *)keys, name, value) {
		const struct dp_key_doc *key = dp_study_find_live_key(name, err);

		if (!key)
			return DP_E_USAGE;
		if (!json_is_string(value))
			return dp_fail(err, DP_E_PROTOCOL, "'%s' must be a text", key->path);
		code = amend_add_key(a, key->path, json_string_value(value), err);
		if (code != DP_OK)
			return code;
	}
	return code;
}

int request_set(struct request *r, json_t **ok, struct dp_err *err)
{
	struct amendment a;
	int code;

	amend_begin(&a, r->study, r->requested_by);
	code = amend_parse_numbers(&a, r->json, err);
	if (code == DP_OK)
		code = amend_parse_keys(&a, json_object_get(r->json, "keys"), err);
	if (code == DP_OK)
		code = amend_apply(&a, ok, err);
	amend_end(&a);
	return code;
}

/* ---- a file of the same name ---- */

/* DP_E_EXISTS with the keys in which the file is a different study, if any. */
static int amend_check_same_study(const struct dp_study_state *s, const json_t *differences,
				  struct dp_err *err)
{
	struct dp_buf names = DP_BUF_INIT;
	size_t i, n = 0;
	const json_t *d;

	json_array_foreach (differences, i, d) {
		const char *key = dp_json_str(d, "key", "");
		const char *from = dp_json_str(d, "from", NULL), *to = dp_json_str(d, "to", NULL);
		bool is_secret = strncmp(key, "trainer.env.", 12) == 0; /* may be secret */

		if (dp_json_bool(d, "live", false) || n++ >= DIFFERENCES_SHOWN_MAX)
			continue;
		dp_buf_printf(&names, "%s%s", names.len ? "; " : "", key);
		if (!from || !to)
			dp_buf_printf(&names, " is only %s", from ? "there" : "here");
		else if (is_secret || strlen(from) > VALUE_SHOWN_MAX ||
			 strlen(to) > VALUE_SHOWN_MAX)
			dp_buf_puts(&names, " differs");
		else
			dp_buf_printf(&names, ": '%s' there, '%s' here", from, to);
	}
	if (n == 0)
		return DP_OK;
	if (n > DIFFERENCES_SHOWN_MAX)
		dp_buf_printf(&names, "; and %zu more", n - DIFFERENCES_SHOWN_MAX);
	dp_fail(err, DP_E_EXISTS, "there is another study '%s': %.400s", s->spec->name,
		dp_buf_text(&names));
	dp_buf_free(&names);
	return dp_hint(err,
		       "give this one another name, or delete that one ('dparetoctl "
		       "delete %s')",
		       s->spec->name);
}

/* Parses the study's last file again, so that relative paths resolve as in the new file. */
static int amend_parse_former(const struct dp_study_state *s, struct dp_study **out,
			      struct dp_err *err)
{
	struct dp_diagnostics problems = { 0 };
	struct dp_command_files files = { 0 };
	int code = dp_study_parse(s->text, strlen(s->text), s->path ? s->path : "study", s->dir,
				  out, &problems, err);

	if (code == DP_OK)
		dp_study_resolve_files(*out, s->dir, &files);
	free(files.list);
	dp_diagnostics_free(&problems);
	return code;
}

/* Adds the keys that differ from the last file. Others keep what `set` changed. */
static int amend_add_differences(struct amendment *a, const json_t *differences, struct dp_err *err)
{
	const json_t *d;
	size_t i;
	int code = DP_OK;

	json_array_foreach (differences, i, d) {
		const struct dp_key_doc *key =
			dp_study_find_live_key(dp_json_str(d, "key", ""), err);

		code = key ? amend_add_key(a, key->path, dp_json_str(d, "to", ""), err)
			   : DP_E_FAILED;
		if (code != DP_OK)
			break;
	}
	return code;
}

static int amend_apply_file(struct study *study, const struct dp_event *e, json_t *differences,
			    json_t **ok, struct dp_err *err)
{
	struct amendment a;
	int code;

	if (study->state->quarantined)
		return dp_fail(err, DP_E_CORRUPT, "cannot amend study '%s': %s",
			       study->state->spec->name, study->state->reason);
	amend_begin(&a, study, e->requested_by);
	code = amend_add_differences(&a, differences, err);
	if (code == DP_OK) {
		a.wanted.text = e->study_created.text;
		a.wanted.path = e->study_created.path;
		a.wanted.dir = e->study_created.dir;
		code = amend_apply(&a, ok, err);
	}
	amend_end(&a);
	return code;
}

/* A file without a seed mode keeps the accepted one. */
static void amend_inherit_seeds(const struct dp_study *accepted, struct dp_study *file)
{
	if (file->seeds == DP_SEEDS_DEFAULT)
		file->seeds = dp_study_seed_mode(accepted);
}

int request_resubmit(struct study *study, const struct dp_event *e, json_t **ok, struct dp_err *err)
{
	const struct dp_study_state *s = study->state;
	bool same = strcmp(s->text, e->study_created.text) == 0 &&
		    strcmp(s->dir, e->study_created.dir) == 0;
	struct dp_study *former = NULL;
	json_t *differences = NULL;
	int code = same ? DP_OK : amend_parse_former(s, &former, err);

	if (code == DP_OK && !same) {
		amend_inherit_seeds(s->spec, former);
		amend_inherit_seeds(s->spec, e->study_created.parsed_study);
		differences = dp_study_diff(former, e->study_created.parsed_study);
		code = amend_check_same_study(s, differences, err);
	}
	if (code == DP_OK && !same)
		code = amend_apply_file(study, e, differences, ok, err);
	else if (code == DP_OK)
		*ok = json_pack("{s:o, s:[], s:n}", "study", request_summary_json(study), "changes",
				"note");
	json_decref(differences);
	dp_study_free(former);
	return code;
}

/* ---- decisions at creation ---- */

static void amend_record_decision(struct study *study, const char *change)
{
	struct dp_event e = { .type = DP_EV_STUDY_AMENDED,
			      .study_amended = { .evaluations = NAN,
						 .parallel = NAN,
						 .priority = NAN,
						 .changes = &change,
						 .nchanges = 1 } };

	study_record_event(study, &e);
}

void amend_record_executor(struct study *study)
{
	if (study->state->current_spec->trainer.executor != DP_EXECUTOR_DEFAULT ||
	    study->daemon->config.executor == CONFIG_EXECUTOR_LOCAL)
		return; /* the default is local */
	amend_record_decision(study, "trainer.executor=slurm");
	study->daemon->attempts->assign_executor(study);
}

void amend_record_initial(struct study *study)
{
	const struct dp_search *search = &study->state->spec->search;
	uint32_t known = study->state->nimported;
	char change[64];

	if (search->initial_given || !search->initial_from || known == 0)
		return;
	snprintf(change, sizeof change, "search.initial=%u",
		 known < DP_INITIAL_DEFAULT ? DP_INITIAL_DEFAULT - known : 0);
	amend_record_decision(study, change);
}
