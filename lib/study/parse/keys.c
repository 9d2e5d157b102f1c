/* keys.c - the table of keys, and the loop that reads a section by it. */
#include "study/parse/study_parse_internal.h"
#include "study/seeds.h"
#include "study/study_file.h"

#include <stddef.h>
#include <string.h>

/* dp__read_enum() writes the number of a word through an int pointer */
_Static_assert(sizeof(enum dp_param_kind) == sizeof(int) &&
		       sizeof(enum dp_transform) == sizeof(int) &&
		       sizeof(enum dp_method) == sizeof(int) &&
		       sizeof(enum dp_acquisition) == sizeof(int) &&
		       sizeof(enum dp_front_kind) == sizeof(int) &&
		       sizeof(enum dp_cost) == sizeof(int) &&
		       sizeof(enum dp_executor) == sizeof(int) &&
		       sizeof(enum dp_seed_mode) == sizeof(int) &&
		       sizeof(enum dp_privacy_model) == sizeof(int),
	       "enums have the size of an int");

static const char *const data_words[] = { "private", "public", NULL };
static const char *const seeds_words[] = {
	[DP_SEEDS_FIXED - 1] = "fixed", /* 0: not named in the file */
	[DP_SEEDS_SECRET - 1] = "secret",
	NULL,
};
static const char *const executor_words[] = {
	[DP_EXECUTOR_LOCAL - 1] = "local", /* 0: not named in the file */
	[DP_EXECUTOR_SLURM - 1] = "slurm",
	NULL,
};
static const char *const runs_words[] = { "all", "1", NULL };
static const char *const type_words[] = { "float", "int", "categorical", NULL };
static const char *const scale_words[] = { "linear", "log", NULL };
static const char *const transform_words[] = { "none", "log", "logit", NULL };
static const char *const goal_words[] = { "minimize", "maximize", NULL };
static const char *const method_words[] = {
	[DP_METHOD_RANDOM] = "random",
	[DP_METHOD_GRID] = "grid",
	[DP_METHOD_DPARETO] = "dpareto",
	[DP_METHOD_SELECT] = "select",
	NULL,
};
static const char *const order_words[] = { "asap", "deterministic", NULL };
static const char *const design_words[] = { "random", "sobol", NULL };
static const char *const acquisition_words[] = {
	[DP_ACQUISITION_HVPOI - 1] = "hvpoi", /* 0: not named in the file */
	[DP_ACQUISITION_EHVI - 1] = "ehvi",     [DP_ACQUISITION_POI - 1] = "poi",
	[DP_ACQUISITION_RANDOM - 1] = "random", NULL,
};
static const char *const front_words[] = { "observed", "denoised", NULL };
static const char *const cost_words[] = {
	[DP_COST_NONE - 1] = "none", /* 0: not named in the file */
	[DP_COST_PATH - 1] = "path",       [DP_COST_SECONDS - 1] = "seconds",
	[DP_COST_PRIVACY - 1] = "privacy", NULL,
};
static const char *const model_words[] = { "exact", "gp", NULL };
static const char *const gain_words[] = { "original", "model", NULL };
static const char *const reference_words[] = { "anti_ideal", "front", NULL };

#define KEY(...)   ROW(__VA_ARGS__, DP_KEY_IMMUTABLE)
#define LIVE(...)  ROW(__VA_ARGS__, DP_KEY_LIVE)
#define FIRST(...) ROW(__VA_ARGS__, DP_KEY_SET_AT_SUBMIT)

static const struct dp_key_doc docs[] = {
#define ROW(section, path, type, otherwise, help, example, read, format, target, lo, hi, words,    \
	    change)                                                                                \
	{ path, type, otherwise, help, example, change },
#include "study/parse/keys.def"
#undef ROW
};

static const struct {
	enum dp__section section;
	dp__read_fn *read;
	dp__format_fn *format;
	size_t offset;
	double lo, hi;
	const char *const *words;
} rows[] = {
#define ROW(section, path, type, otherwise, help, example, read, format, target, lo, hi, words,    \
	    change)                                                                                \
	{ DP__##section, read, format, target, lo, hi, words },
#include "study/parse/keys.def"
#undef ROW
};

enum {
	KEY_ROWS = DP_COUNT(rows)
};

const struct dp_key_doc *dp_study_keys(size_t *count)
{
	*count = KEY_ROWS;
	return docs;
}

const char *dp__word_at(const char *const *words, size_t i)
{
	for (size_t k = 0; words[k]; k++)
		if (k == i)
			return words[k];
	return "one that has no name";
}

const char *dp_method_text(enum dp_method m)
{
	return dp__word_at(method_words, (size_t)m);
}

const char *dp_transform_text(enum dp_transform t)
{
	return dp__word_at(transform_words, (size_t)t);
}

const char *dp_acquisition_text(enum dp_acquisition a)
{
	if (a == DP_ACQUISITION_DEFAULT)
		a = DP_ACQUISITION_EHVI;
	return dp__word_at(acquisition_words, (size_t)a - 1);
}

const char *dp_seed_mode_text(enum dp_seed_mode seeds)
{
	return dp__word_at(seeds_words, (size_t)seeds - 1);
}

const char *dp_study_front_text(const struct dp_study *s)
{
	return front_words[dp_study_uses_smoothed_front(s)];
}

const char *dp_study_cost_text(const struct dp_study *s)
{
	return dp__word_at(cost_words, (size_t)dp_study_cost(s) - 1);
}

static const char *key_last_word(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

struct dp__key dp__key_at(size_t i)
{
	return (struct dp__key){ rows[i].section, key_last_word(docs[i].path),
				 &docs[i],        rows[i].read,
				 rows[i].format,  rows[i].offset,
				 rows[i].lo,      rows[i].hi,
				 rows[i].words };
}

/* The row of a key of this section, or KEY_ROWS. */
static size_t find_key_row(enum dp__section section, const char *name)
{
	size_t i = 0;

	while (i < KEY_ROWS &&
	       !(rows[i].section == section && strcmp(key_last_word(docs[i].path), name) == 0))
		i++;
	return i;
}

void dp__section_key_names(enum dp__section section, const char *names[DP__KEY_NAMES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < KEY_ROWS && n + 1 < DP__KEY_NAMES_MAX; i++)
		if (rows[i].section == section)
			names[n++] = key_last_word(docs[i].path);
	names[n] = NULL;
}

bool dp__is_misspelt_key(const struct dp__node *map, const char *name, const char *const *known)
{
	const struct dp__node *m;
	const char *near;
	size_t i;

	for (m = map->first_child; m; m = m->next_sibling) {
		for (i = 0; known[i] && strcmp(known[i], m->key) != 0;)
			i++;
		near = known[i] ? NULL : dp_nearest_word(m->key, known);
		if (near && strcmp(near, name) == 0)
			return true;
	}
	return false;
}

static void report_unknown_key(struct dp__study_parser *r, enum dp__section section,
			       const struct dp__node *m)
{
	const char *names[DP__KEY_NAMES_MAX], *elsewhere = NULL;
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];

	if (dp__diagnostics_full(r)) {
		r->diagnostics->error_count++; /* no slow guess that would not be shown */
		return;
	}
	dp__section_key_names(section, names);
	for (size_t i = 0; names[i]; i++)
		dp_buf_printf(&allowed, "%s%s", i ? ", " : "", names[i]);
	for (size_t i = 0; i < KEY_ROWS && !elsewhere; i++)
		if (strcmp(key_last_word(docs[i].path), m->key) == 0)
			elsewhere = docs[i].path;
	dp__did_you_mean(m->key, names, guess);
	dp__printable(m->key, shown);
	if (!guess[0] && elsewhere)
		dp__report_error(r, m->key_pos, dp_buf_text(&allowed),
				 "unknown key '%s'; here it does nothing, but there is %s", shown,
				 elsewhere);
	else
		dp__report_error(r, m->key_pos, dp_buf_text(&allowed), "unknown key '%s'%s", shown,
				 guess);
	dp_buf_free(&allowed);
}

static void apply_key_default(struct dp__study_parser *r, size_t i, size_t pos,
			      const struct dp__node *map, void *base)
{
	struct dp__key k = dp__key_at(i);
	const char *names[DP__KEY_NAMES_MAX];
	struct dp__node v = { .kind = DP__NODE_SCALAR,
			      .is_plain = true,
			      .text = k.doc->default_text,
			      .key = k.name };

	if (strcmp(k.doc->default_text, "needed") == 0) {
		dp__section_key_names(k.section, names);
		if (!dp__is_misspelt_key(map, k.name, names))
			dp__report_error(r, pos, NULL, "the key '%s' is missing, for example `%s`",
					 k.doc->path, k.doc->example);
	} else if (strcmp(k.doc->default_text, "none") != 0 && k.doc->default_text[0] != '(') {
		k.read(r, &k, &v, (char *)base + k.offset);
	}
}

void dp__read_section(struct dp__study_parser *r, enum dp__section section, size_t pos,
		      const struct dp__node *map, void *base)
{
	bool seen[KEY_ROWS] = { false };

	for (const struct dp__node *m = map->first_child; m; m = m->next_sibling) {
		size_t i = find_key_row(section, m->key);
		struct dp__key k;

		if (i == KEY_ROWS) {
			/* mechanism keys belong to dp__read_mechanism_use() */
			if (section != DP__PRIVACY && section != DP__CALIBRATE)
				report_unknown_key(r, section, m);
			continue;
		}
		seen[i] = true;
		k = dp__key_at(i);
		if (m->kind == DP__NODE_SCALAR && dp__scalar_type_of(m) == DP__SCALAR_NULL)
			dp__report_error(r, m->key_pos, k.doc->type, "the key '%s' has no value",
					 k.name);
		else if (m->kind != DP__NODE_INVALID)
			k.read(r, &k, m, (char *)base + k.offset);
	}
	for (size_t i = 0; i < KEY_ROWS; i++)
		if (rows[i].section == section && !seen[i])
			apply_key_default(r, i, pos, map, base);
}
