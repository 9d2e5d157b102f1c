/* compare.c - what a study file means, key by key, and where two of them differ. */
#include "study/study_internal.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

/* What is collected, and the path and value at hand. */
struct meaning {
	const struct dp_study *s;
	json_t *all;
	struct dp_buf path, value;
	bool failed; /* no memory */
};

/* Puts what m->value and m->path hold among the texts. */
static void meaning_put(struct meaning *m)
{
	m->failed |= m->path.failed || m->value.failed ||
		     json_object_set_new_nocheck(m->all, dp_buf_text(&m->path),
						 json_string_nocheck(dp_buf_text(&m->value))) != 0;
	dp_buf_clear(&m->value);
}

/* The path of a row; `name` stands in the place of its NAME. */
static void meaning_path(struct meaning *m, const char *path, const char *name)
{
	const char *at = name ? strstr(path, "NAME") : NULL;

	dp_buf_clear(&m->path);
	if (at)
		dp_buf_printf(&m->path, "%.*s%s%s", (int)(at - path), path, name, at + 4);
	else
		dp_buf_puts(&m->path, path);
}

static void meaning_text(struct meaning *m, const char *path, const char *name, const char *text)
{
	meaning_path(m, path, name);
	dp_buf_puts(&m->value, text);
	meaning_put(m);
}

/* ---- texts of single values, which their readers read back ---- */

static void tell_number(struct dp_buf *out, double x)
{
	char text[DP_NUM_LEN];

	dp_buf_puts(out, dp_num_text(x, text));
}

/* In the largest unit of which it is a whole number. */
static void tell_duration(struct dp_buf *out, double seconds)
{
	bool hours = seconds > 0 && fmod(seconds, 3600) == 0;
	bool minutes = seconds > 0 && fmod(seconds, 60) == 0;

	tell_number(out, seconds / (hours ? 3600 : minutes ? 60 : 1));
	dp_buf_putc(out, hours ? 'h' : minutes ? 'm' : 's');
}

static void tell_size(struct dp_buf *out, uint64_t bytes)
{
	static const char units[] = "KMGT";
	int unit = -1;

	while (bytes && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	dp_buf_printf(out, "%llu%.*s", (unsigned long long)bytes, unit >= 0,
		      unit >= 0 ? units + unit : "");
}

/* As JSON, which no two lists have in common. */
static void tell_list(struct dp_buf *out, char *const *list)
{
	json_t *all = json_array();

	for (size_t i = 0; all && list && list[i]; i++)
		out->failed |= json_array_append_new(all, json_string_nocheck(list[i])) != 0;
	out->failed |= !all;
	if (all)
		dp_json_dump(out, all, 0);
	json_decref(all);
}

/* False for a text that is not there, and a reader of a larger part. */
static bool tell_value(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	const double *x = at;

	if (k->read == dp__read_int)
		dp_buf_printf(out, "%d", *(const int *)at);
	else if (k->read == dp__read_u32)
		dp_buf_printf(out, "%u", *(const uint32_t *)at);
	else if (k->read == dp__read_seed)
		dp_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
	else if (k->read == dp__read_number || k->read == dp__read_positive)
		tell_number(out, *x);
	else if (k->read == dp__read_duration)
		tell_duration(out, *x);
	else if (k->read == dp__read_size)
		tell_size(out, *(const uint64_t *)at);
	else if (k->read == dp__read_word)
		dp_buf_puts(out, dp__word_at(k->words, (size_t)(*(const int *)at - (int)k->lo)));
	else if (k->read == dp__read_flag)
		dp_buf_puts(out, k->words[*(const bool *)at]);
	else if (k->read == dp__read_command || k->read == dp__read_slurm_options)
		tell_list(out, *(char **const *)at);
	else if (k->read == dp__read_slurm_word)
		dp_buf_puts(out, *(const char *)at ? (const char *)at : "none");
	else if (k->read == dp__read_bounds) {
		tell_number(out, x[0]);
		dp_buf_puts(out, " to ");
		tell_number(out, x[1]);
	} else if (k->read == dp__read_name || k->read == dp__read_path ||
		   k->read == dp__read_origin) {
		dp_buf_puts(out, *(char *const *)at ? *(char *const *)at : "");
		return *(char *const *)at != NULL;
	} else
		return false;
	return true;
}

static bool tells_zero(const char *text)
{
	return strcmp(text, "0") == 0 || strcmp(text, "0s") == 0;
}

/* The rows of a section that are single values; `name` as in meaning_path(). */
static void tell_section(struct meaning *m, enum dp__section section, const void *base,
			 const char *name)
{
	const struct dp_key_doc *docs;
	size_t rows;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows; i++) {
		struct dp__key k = dp__key_row(i);

		if (k.section != section ||
		    !tell_value(&m->value, &k, (const char *)base + k.offset))
			continue;
		if (strcmp(docs[i].otherwise, "none") == 0 && k.read != dp__read_origin &&
		    tells_zero(dp_buf_text(&m->value))) {
			dp_buf_clear(&m->value);
			dp_buf_puts(&m->value, "none");
		}
		meaning_path(m, docs[i].path, name);
		meaning_put(m);
	}
}

/* ---- mechanisms ---- */

/* A constant, or the parameter that sets it. */
static void tell_amount(struct meaning *m, double constant, int param)
{
	if (param >= 0)
		dp_buf_puts(&m->value, m->s->params[param].name);
	else
		tell_number(&m->value, constant);
}

/* The keys of a use below the path `place`; those that are not given mean their defaults.
 */
static void tell_use(struct meaning *m, const char *place, const struct dp_use *u)
{
	const struct dp_mechanism *mechanism = u->mechanism;

	dp_buf_clear(&m->path);
	dp_buf_printf(&m->path, "%s.mechanism", place);
	dp_buf_puts(&m->value, mechanism->name);
	meaning_put(m);
	for (size_t i = 0; i < mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &mechanism->keys[i];
		double v = isnan(u->constant[i]) ? k->otherwise : u->constant[i];

		if (isnan(v) && u->param[i] < 0)
			continue;
		if (k->kind == DP_PRIVACY_WORD && u->param[i] < 0)
			dp_buf_puts(&m->value, dp__word_at(k->words, (size_t)v));
		else
			tell_amount(m, v, u->param[i]);
		dp_buf_clear(&m->path);
		dp_buf_printf(&m->path, "%s.%s", place, k->name);
		meaning_put(m);
	}
}

static void tell_privacy(struct meaning *m, const char *objective, const struct dp_oracle *o)
{
	struct dp_buf place = DP_BUF_INIT;

	for (size_t i = 0; i < o->nuses; i++) {
		dp_buf_clear(&place);
		dp_buf_printf(&place, "objectives.%s.privacy", objective);
		if (o->kind == DP_ORACLE_COMPOSED) {
			dp_buf_printf(&place, ".compose[%zu]", i);
			dp_buf_clear(&m->path);
			dp_buf_printf(&m->path, "%s.times", dp_buf_text(&place));
			tell_amount(m, o->uses[i].times, o->uses[i].times_param);
			meaning_put(m);
		}
		tell_use(m, dp_buf_text(&place), &o->uses[i]);
	}
	m->failed |= place.failed;
	dp_buf_free(&place);
	if (o->kind == DP_ORACLE_PROGRAM)
		tell_section(m, DP__PRIVACY, o, objective); /* its command */
	if (o->kind == DP_ORACLE_MECHANISM)
		return;
	tell_number(&m->value, o->delta);
	meaning_path(m, "objectives.NAME.privacy.delta", objective);
	meaning_put(m);
	if (o->kind == DP_ORACLE_COMPOSED)
		meaning_text(m, "objectives.NAME.privacy.accountant", objective,
			     dp_privacy_accountants[o->accountant]);
}

/* ---- parameters ---- */

static void tell_json(struct meaning *m, const char *path, const char *name, const json_t *v)
{
	dp_json_dump(&m->value, v, 0);
	meaning_path(m, path, name);
	meaning_put(m);
}

static void tell_distribution(struct meaning *m, const struct dp_param *p)
{
	switch (p->dist) {
	case DP_DIST_SCALE:
		return;
	case DP_DIST_UNIFORM:
		tell_number(&m->value, p->a);
		dp_buf_puts(&m->value, " to ");
		tell_number(&m->value, p->b);
		meaning_path(m, "parameters.NAME.sample.uniform", p->name);
		meaning_put(m);
		break;
	case DP_DIST_NORMAL:
		tell_section(m, DP__NORMAL, p, p->name);
		break;
	case DP_DIST_EXPONENTIAL:
		tell_section(m, DP__EXPONENTIAL, p, p->name);
		break;
	}
	tell_section(m, DP__SAMPLE, p, p->name); /* accept */
}

static void tell_calibration(struct meaning *m, const struct dp_param *p)
{
	struct dp_buf place = DP_BUF_INIT;

	tell_amount(m, p->calibrate->epsilon, p->calibrate->epsilon_param);
	meaning_path(m, "parameters.NAME.calibrate.epsilon", p->name);
	meaning_put(m);
	dp_buf_printf(&place, "parameters.%s.calibrate", p->name);
	tell_use(m, dp_buf_text(&place), &p->calibrate->use);
	m->failed |= place.failed;
	dp_buf_free(&place);
}

static void tell_param(struct meaning *m, const struct dp_param *p)
{
	switch (p->kind) {
	case DP_PARAM_FLOAT:
	case DP_PARAM_INT:
		tell_section(m, DP__PARAM, p, p->name); /* type, range, scale, grid */
		tell_distribution(m, p);
		break;
	case DP_PARAM_CATEGORICAL:
		meaning_text(m, "parameters.NAME.type", p->name, "categorical");
		tell_json(m, "parameters.NAME.values", p->name, p->values);
		break;
	case DP_PARAM_FIXED:
		tell_json(m, "parameters.NAME.fixed", p->name, p->values);
		break;
	case DP_PARAM_CALIBRATED:
		tell_calibration(m, p);
		break;
	}
}

/* ---- the study ---- */

static void tell_objective(struct meaning *m, const struct dp_objective *o)
{
	if (o->privacy)
		tell_privacy(m, o->name, o->privacy);
	tell_section(m, DP__OBJECTIVE, o, o->name); /* metric, transform, goal */
	if (o->metric) {
		dp_buf_printf(&m->value, "%s%s", o->one_minus ? "1 - " : "", o->metric);
		meaning_path(m, "objectives.NAME.of", o->name);
		meaning_put(m);
	}
	if (o->release.records > 0)
		tell_section(m, DP__RELEASE, &o->release, o->name);
	tell_number(&m->value, o->anti_ideal);
	meaning_path(m, "anti_ideal.NAME", o->name);
	meaning_put(m);
}

static void tell_trainer(struct meaning *m)
{
	const struct dp_trainer *t = &m->s->trainer;

	tell_section(m, DP__TRAINER, t, NULL);
	meaning_text(m, "trainer.executor", NULL, dp_executor_text(t->executor));
	tell_section(m, DP__SLURM, &t->slurm, NULL);
	for (size_t i = 0; t->env && t->env[i]; i++) {
		const char *value = strchr(t->env[i], '=');

		dp_buf_clear(&m->path);
		dp_buf_printf(&m->path, "trainer.env.%.*s", (int)(value - t->env[i]), t->env[i]);
		dp_buf_puts(&m->value, value + 1);
		meaning_put(m);
	}
	if (t->path.points == 0)
		return;
	tell_section(m, DP__WALK, &t->path, NULL);
	meaning_text(m, "trainer.path.parameter", NULL, m->s->params[t->path.param].name);
}

/* What a file that does not name them means. */
static void tell_search(struct meaning *m)
{
	const struct dp_search *search = &m->s->search;

	tell_section(m, DP__SEARCH, search, NULL);
	meaning_text(m, "search.cost", NULL, dp_cost_text(m->s));
	meaning_text(m, "search.front", NULL, dp_front_text(m->s));
	meaning_text(m, "search.acquisition", NULL, dp_acquisition_text(search->acquisition));
	meaning_text(m, "search.privacy_model", NULL,
		     search->privacy_model == DP_PRIVACY_MODEL_GP ? "gp" : "exact");
	if (search->initial_from && !search->initial_given)
		meaning_text(m, "search.initial", NULL, "what initial_from lacks");
	if (search->method == DP_METHOD_SELECT)
		tell_section(m, DP__ROUNDS, &search->rounds, NULL);
	if (search->budget.epsilon > 0)
		tell_section(m, DP__BUDGET, &search->budget, NULL);
}

static void tell_constraints(struct meaning *m)
{
	for (size_t i = 0; i < m->s->nconstraints; i++) {
		const struct dp_constraint *c = &m->s->constraints[i];

		dp_buf_puts(&m->value, c->at_least ? ">= " : "<= ");
		tell_number(&m->value, c->bound);
		meaning_path(m, "constraints.NAME", c->metric);
		meaning_put(m);
	}
}

/* Names in their order, by which points are drawn and results sorted. */
static void tell_names(struct meaning *m)
{
	dp_buf_putc(&m->value, '[');
	for (size_t i = 0; i < m->s->nparams; i++)
		dp_buf_printf(&m->value, "%s%s", i ? ", " : "", m->s->params[i].name);
	dp_buf_putc(&m->value, ']');
	meaning_path(m, "parameters", NULL);
	meaning_put(m);
	dp_buf_putc(&m->value, '[');
	for (size_t i = 0; i < m->s->nobjectives; i++)
		dp_buf_printf(&m->value, "%s%s", i ? ", " : "", m->s->objectives[i].name);
	dp_buf_putc(&m->value, ']');
	meaning_path(m, "objectives", NULL);
	meaning_put(m);
}

json_t *dp_study_meaning(const struct dp_study *s)
{
	struct meaning m = { .s = s, .all = json_object() };

	if (!m.all)
		return NULL;
	tell_section(&m, DP__TOP, s, NULL);
	meaning_text(&m, "seeds", NULL,
		     s->seeds == DP_SEEDS_DEFAULT ? "by data" : dp_seeds_text(s->seeds));
	tell_trainer(&m);
	tell_names(&m);
	for (size_t i = 0; i < s->nparams; i++)
		tell_param(&m, &s->params[i]);
	for (size_t i = 0; i < s->nobjectives; i++)
		tell_objective(&m, &s->objectives[i]);
	tell_search(&m);
	tell_constraints(&m);
	dp_buf_free(&m.path);
	dp_buf_free(&m.value);
	if (m.failed) {
		json_decref(m.all);
		return NULL;
	}
	return m.all;
}

/* ---- differences ---- */

static bool key_is_live(const char *path)
{
	const struct dp_key_doc *docs;
	size_t rows;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows; i++)
		if (strcmp(docs[i].path, path) == 0)
			return docs[i].change == DP_KEY_LIVE;
	return false;
}

/* Does a list of names say already that there is no such part? */
static bool name_differs(const json_t *out, const char *path)
{
	const json_t *d;
	size_t i;

	json_array_foreach (out, i, d) {
		const char *key = dp_json_str(d, "key", "");
		size_t n = strlen(key);

		if (strncmp(path, key, n) == 0 && path[n] == '.')
			return true;
	}
	return false;
}

static bool difference_add(json_t *out, const char *key, const json_t *from, const json_t *to)
{
	if ((!from || !to) && name_differs(out, key))
		return true;
	return json_array_append_new(out, json_pack("{s:s, s:O?, s:O?, s:b}", "key", key, "from",
						    from, "to", to, "live", key_is_live(key))) == 0;
}

/* What one of both has alone, or otherwise than the other, in the order of keys.def. */
static bool differences_of(json_t *a, json_t *b, json_t *out)
{
	const char *key;
	json_t *v;

	json_object_foreach (a, key, v) {
		const json_t *other = json_object_get(b, key);

		if (!json_equal(v, other) && !difference_add(out, key, v, other))
			return false;
	}
	json_object_foreach (b, key, v)
		if (!json_object_get(a, key) && !difference_add(out, key, NULL, v))
			return false;
	return true;
}

json_t *dp_study_differences(const struct dp_study *from, const struct dp_study *to)
{
	json_t *a = dp_study_meaning(from), *b = dp_study_meaning(to);
	json_t *out = json_array();

	if (!a || !b || !out || !differences_of(a, b, out)) {
		json_decref(out);
		out = NULL;
	}
	json_decref(a);
	json_decref(b);
	return out;
}
