/* amend.c - sets live keys of a study: LIVE rows of keys.def, which may change while it runs. */
#include "study/parse/study_parse_internal.h"
#include "study/diagnostics.h"
#include "study/study_change.h"
#include "study/study_file.h"

#include <string.h>

/* True if `name` is the path or its ending. */
static bool live_key_matches(const char *path, const char *name)
{
	const char *dot = strrchr(path, '.');

	return strcmp(path, name) == 0 || (dot && strcmp(dot + 1, name) == 0);
}

/* The last words of all live keys, then NULL. */
static void list_live_key_names(const char *names[DP__KEY_NAMES_MAX])
{
	const struct dp_key_doc *docs;
	size_t rows, n = 0;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows && n + 1 < DP__KEY_NAMES_MAX; i++)
		if (docs[i].mutability == DP_KEY_LIVE)
			names[n++] = dp__key_at(i).name;
	names[n] = NULL;
}

/* Explains that no live key has this name, and lists those there are. */
static void fail_not_live_key(const char *name, bool other, struct dp_err *err)
{
	struct dp_buf all = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	const char *names[DP__KEY_NAMES_MAX];

	list_live_key_names(names);
	dp__printable(name, shown);
	if (other)
		dp_fail(err, DP_E_USAGE,
			"'%s' cannot be set: with another one it would be another study", shown);
	else
		dp_fail(err, DP_E_USAGE, "unknown key '%s'%s", shown,
			dp__did_you_mean(name, names, guess));
	for (size_t i = 0; names[i]; i++)
		dp_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	dp_hint(err, "what can be set: %s", dp_buf_text(&all));
	dp_buf_free(&all);
}

const struct dp_key_doc *dp_study_find_live_key(const char *name, struct dp_err *err)
{
	const struct dp_key_doc *docs;
	bool other = false;
	size_t rows;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows; i++) {
		if (!live_key_matches(docs[i].path, name))
			continue;
		if (docs[i].mutability == DP_KEY_LIVE)
			return &docs[i];
		other = true;
	}
	fail_not_live_key(name, other, err);
	return NULL;
}

/* The struct of the section's keys. NULL: it has no live keys. */
static void *amend_section_struct(struct dp_study *s, enum dp__section section)
{
	switch (section) {
	case DP__TOP:
		return s;
	case DP__TRAINER:
		return &s->trainer;
	case DP__SLURM:
		return &s->trainer.slurm;
	case DP__SEARCH:
		return &s->search;
	default:
		return NULL;
	}
}

static int amend_parse_value(struct dp_study *s, const struct dp__key *k, const char *value,
			     void *to, struct dp_err *err)
{
	struct dp_diagnostics diagnostics = { 0 };
	struct dp__study_parser r = {
		.text = "", .dir = "/", .study = s, .diagnostics = &diagnostics
	};
	struct dp__node v = {
		.kind = DP__NODE_SCALAR, .is_plain = true, .text = value, .key = k->name
	};
	int code = DP_OK;

	k->read(&r, k, &v, to);
	if (diagnostics.error_count)
		code = dp_fail(err, DP_E_INVALID, "%s", diagnostics.list[0].message);
	if (code == DP_E_INVALID && diagnostics.list[0].allowed)
		dp_hint(err, "what it can be: %s%s", diagnostics.list[0].allowed,
			strcmp(k->doc->default_text, "none") == 0 ? "; or none" : "");
	dp_diagnostics_free(&diagnostics);
	return code;
}

/* Removes a limit. False if the key is not a limit. */
static bool amend_clear_limit(const struct dp__key *k, void *to)
{
	if (k->read == dp__read_duration)
		*(double *)to = 0;
	else if (k->read == dp__read_size)
		*(uint64_t *)to = 0;
	else if (k->read == dp__read_slurm_word)
		*(char *)to = '\0';
	else
		return false;
	return true;
}

int dp_study_set_key(struct dp_study *s, const char *path, const char *value, struct dp_err *err)
{
	const struct dp_key_doc *docs;
	const char *banned;
	struct dp__key k;
	size_t rows, i = 0;
	void *base;

	docs = dp_study_keys(&rows);
	while (i < rows &&
	       !(docs[i].mutability != DP_KEY_IMMUTABLE && strcmp(docs[i].path, path) == 0))
		i++;
	base = i < rows ? amend_section_struct(s, dp__key_at(i).section) : NULL;
	if (!base)
		return dp_fail(err, DP_E_INVALID, "'%s' is no key that can change in a study",
			       path);
	banned = s->search.method == DP_METHOD_SELECT ? dp__selection_forbids(path) : NULL;
	if (banned)
		return dp_fail(err, DP_E_INVALID, "'%s' is not possible with method select: %s",
			       path, banned);
	k = dp__key_at(i);
	base = (char *)base + k.offset;
	if (strcmp(value, "none") == 0 && strcmp(k.doc->default_text, "none") == 0 &&
	    amend_clear_limit(&k, base))
		return DP_OK;
	return amend_parse_value(s, &k, value, base, err);
}

int dp_study_apply_change(struct dp_study *s, const char *change, struct dp_err *err)
{
	const char *equals = strchr(change, '=');
	char path[DP_NAME_MAX] = "";

	if (equals && (size_t)(equals - change) < sizeof path)
		memcpy(path, change, (size_t)(equals - change));
	return dp_study_set_key(s, path, equals ? equals + 1 : "", err);
}
