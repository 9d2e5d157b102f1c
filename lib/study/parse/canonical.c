/* canonical.c - the canonical form of a study file, and the differences of two. */
#include "study/parse/study_parse_internal.h"

#include "base/json.h"
#include "base/units.h"
#include "study/seeds.h"
#include "study/study_change.h"
#include "study/study_file.h"

#include <math.h>
#include <string.h>

/* The texts so far, and the current path and value. */
struct canonical_form {
	const struct dp_study *study;
	json_t *texts;
	struct dp_buf path, value;
};

static void canonical_put(struct canonical_form *m)
{
	json_object_set_new_nocheck(m->texts, dp_buf_text(&m->path),
				    json_string_nocheck(dp_buf_text(&m->value)));
	dp_buf_clear(&m->value);
}

/* The path of a row, with `name` in place of its NAME. */
static void canonical_set_path(struct canonical_form *m, const char *path, const char *name)
{
	const char *at = name ? strstr(path, "NAME") : NULL;

	dp_buf_clear(&m->path);
	if (at)
		dp_buf_printf(&m->path, "%.*s%s%s", (int)(at - path), path, name, at + 4);
	else
		dp_buf_puts(&m->path, path);
}

static void canonical_put_text(struct canonical_form *m, const char *path, const char *name,
			       const char *text)
{
	canonical_set_path(m, path, name);
	dp_buf_puts(&m->value, text);
	canonical_put(m);
}

/* ---- texts of single values, which their readers parse back ---- */

static void canonical_format_number(struct dp_buf *out, double x)
{
	char text[DP_NUM_LEN];

	dp_buf_puts(out, dp_num_text(x, text));
}

bool dp__format_int(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)k;
	dp_buf_printf(out, "%d", *(const int *)at);
	return true;
}

bool dp__format_u32(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)k;
	dp_buf_printf(out, "%u", *(const uint32_t *)at);
	return true;
}

bool dp__format_seed(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)k;
	dp_buf_printf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
	return true;
}

bool dp__format_number(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)k;
	canonical_format_number(out, *(const double *)at);
	return true;
}

/* In the largest unit that gives a whole number. */
bool dp__format_duration(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	double seconds = *(const double *)at;
	bool hours = seconds > 0 && fmod(seconds, 3600) == 0;
	bool minutes = seconds > 0 && fmod(seconds, 60) == 0;

	(void)k;
	canonical_format_number(out, seconds / (hours ? 3600 : minutes ? 60 : 1));
	dp_buf_putc(out, hours ? 'h' : minutes ? 'm' : 's');
	return true;
}

bool dp__format_size(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	static const char units[] = "KMGT";
	uint64_t bytes = *(const uint64_t *)at;
	int unit = -1;

	(void)k;
	while (bytes && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	dp_buf_printf(out, "%llu%.*s", (unsigned long long)bytes, unit >= 0,
		      unit >= 0 ? units + unit : "");
	return true;
}

bool dp__format_enum(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	dp_buf_puts(out, dp__word_at(k->words, (size_t)(*(const int *)at - (int)k->lo)));
	return true;
}

bool dp__format_bool(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	dp_buf_puts(out, k->words[*(const bool *)at]);
	return true;
}

/* As JSON, which is unambiguous. */
bool dp__format_list(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	char *const *list = *(char **const *)at;
	json_t *all = json_array();

	(void)k;
	for (size_t i = 0; list && list[i]; i++)
		json_array_append_new(all, json_string_nocheck(list[i]));
	dp_json_dump(out, all, 0);
	json_decref(all);
	return true;
}

bool dp__format_word(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)k;
	dp_buf_puts(out, *(const char *)at ? (const char *)at : "none");
	return true;
}

bool dp__format_bounds(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	const double *x = at;

	(void)k;
	canonical_format_number(out, x[0]);
	dp_buf_puts(out, " to ");
	canonical_format_number(out, x[1]);
	return true;
}

bool dp__format_text(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	const char *text = *(char *const *)at;

	(void)k;
	dp_buf_puts(out, text ? text : "");
	return text != NULL;
}

bool dp__format_part(struct dp_buf *out, const struct dp__key *k, const void *at)
{
	(void)out, (void)k, (void)at;
	return false;
}

static bool is_zero_text(const char *text)
{
	return strcmp(text, "0") == 0 || strcmp(text, "0s") == 0;
}

/* Only rows that are single values. `name` as in canonical_set_path(). */
static void canonical_put_section(struct canonical_form *m, enum dp__section section,
				  const void *base, const char *name)
{
	const struct dp_key_doc *docs;
	size_t rows;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows; i++) {
		struct dp__key k = dp__key_at(i);

		if (k.section != section || !k.format(&m->value, &k, (const char *)base + k.offset))
			continue;
		if (strcmp(docs[i].default_text, "none") == 0 && k.format != dp__format_text &&
		    is_zero_text(dp_buf_text(&m->value))) {
			dp_buf_clear(&m->value);
			dp_buf_puts(&m->value, "none");
		}
		canonical_set_path(m, docs[i].path, name);
		canonical_put(m);
	}
}

/* ---- mechanisms ---- */

/* A constant, or the name of a parameter. */
static void canonical_format_bound_value(struct canonical_form *m, double constant, int param)
{
	if (param >= 0)
		dp_buf_puts(&m->value, m->study->params[param].name);
	else
		canonical_format_number(&m->value, constant);
}

/* The keys of a use below the path `place`. Absent keys mean their defaults. */
static void canonical_put_use(struct canonical_form *m, const char *place,
			      const struct dp_mechanism_use *u)
{
	const struct dp_mechanism *mechanism = u->mechanism;

	dp_buf_clear(&m->path);
	dp_buf_printf(&m->path, "%s.mechanism", place);
	dp_buf_puts(&m->value, mechanism->name);
	canonical_put(m);
	for (size_t i = 0; i < mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &mechanism->keys[i];
		double v = isnan(u->constant[i]) ? k->default_value : u->constant[i];

		if (isnan(v) && u->param[i] < 0)
			continue;
		if (k->kind == DP_PRIVACY_CHOICE && u->param[i] < 0)
			dp_buf_puts(&m->value, dp__word_at(k->choices, (size_t)v));
		else
			canonical_format_bound_value(m, v, u->param[i]);
		dp_buf_clear(&m->path);
		dp_buf_printf(&m->path, "%s.%s", place, k->name);
		canonical_put(m);
	}
}

static void canonical_put_accounting(struct canonical_form *m, const char *objective,
				     const struct dp_accounting_spec *o)
{
	struct dp_buf place = DP_BUF_INIT;

	for (size_t i = 0; i < o->nuses; i++) {
		dp_buf_clear(&place);
		dp_buf_printf(&place, "objectives.%s.privacy", objective);
		if (o->kind == DP_ACCOUNTING_COMPOSED) {
			dp_buf_printf(&place, ".compose[%zu]", i);
			dp_buf_clear(&m->path);
			dp_buf_printf(&m->path, "%s.times", dp_buf_text(&place));
			canonical_format_bound_value(m, o->uses[i].times, o->uses[i].times_param);
			canonical_put(m);
		}
		canonical_put_use(m, dp_buf_text(&place), &o->uses[i]);
	}
	dp_buf_free(&place);
	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		canonical_put_section(m, DP__PRIVACY, o, objective); /* command */
	if (o->kind == DP_ACCOUNTING_MECHANISM)
		return;
	canonical_format_number(&m->value, o->delta);
	canonical_set_path(m, "objectives.NAME.privacy.delta", objective);
	canonical_put(m);
	if (o->kind == DP_ACCOUNTING_COMPOSED)
		canonical_put_text(m, "objectives.NAME.privacy.accountant", objective,
				   dp_privacy_accountants[o->accountant]);
}

/* ---- parameters ---- */

static void canonical_put_json(struct canonical_form *m, const char *path, const char *name,
			       const json_t *v)
{
	dp_json_dump(&m->value, v, 0);
	canonical_set_path(m, path, name);
	canonical_put(m);
}

static void canonical_put_distribution(struct canonical_form *m, const struct dp_param *p)
{
	switch (p->dist) {
	case DP_DIST_SCALE:
		return;
	case DP_DIST_UNIFORM:
		canonical_format_number(&m->value, p->dist_a);
		dp_buf_puts(&m->value, " to ");
		canonical_format_number(&m->value, p->dist_b);
		canonical_set_path(m, "parameters.NAME.sample.uniform", p->name);
		canonical_put(m);
		break;
	case DP_DIST_NORMAL:
		canonical_put_section(m, DP__NORMAL, p, p->name);
		break;
	case DP_DIST_EXPONENTIAL:
		canonical_put_section(m, DP__EXPONENTIAL, p, p->name);
		break;
	}
	canonical_put_section(m, DP__SAMPLE, p, p->name); /* accept */
}

static void canonical_put_calibration(struct canonical_form *m, const struct dp_param *p)
{
	struct dp_buf place = DP_BUF_INIT;

	canonical_format_bound_value(m, p->calibrate->epsilon, p->calibrate->epsilon_param);
	canonical_set_path(m, "parameters.NAME.calibrate.epsilon", p->name);
	canonical_put(m);
	dp_buf_printf(&place, "parameters.%s.calibrate", p->name);
	canonical_put_use(m, dp_buf_text(&place), &p->calibrate->use);
	dp_buf_free(&place);
}

static void canonical_put_param(struct canonical_form *m, const struct dp_param *p)
{
	switch (p->kind) {
	case DP_PARAM_FLOAT:
	case DP_PARAM_INT:
		canonical_put_section(m, DP__PARAM, p, p->name); /* type, range, scale, grid */
		canonical_put_distribution(m, p);
		break;
	case DP_PARAM_CATEGORICAL:
		canonical_put_text(m, "parameters.NAME.type", p->name, "categorical");
		canonical_put_json(m, "parameters.NAME.values", p->name, p->values);
		break;
	case DP_PARAM_FIXED:
		canonical_put_json(m, "parameters.NAME.fixed", p->name, p->values);
		break;
	case DP_PARAM_CALIBRATED:
		canonical_put_calibration(m, p);
		break;
	}
}

/* ---- the study ---- */

static void canonical_put_objective(struct canonical_form *m, const struct dp_objective *o)
{
	if (o->privacy)
		canonical_put_accounting(m, o->name, o->privacy);
	canonical_put_section(m, DP__OBJECTIVE, o, o->name); /* metric, transform, goal */
	if (o->metric) {
		dp_buf_printf(&m->value, "%s%s", o->one_minus ? "1 - " : "", o->metric);
		canonical_set_path(m, "objectives.NAME.of", o->name);
		canonical_put(m);
	}
	if (o->release.records > 0)
		canonical_put_section(m, DP__RELEASE, &o->release, o->name);
	canonical_format_number(&m->value, o->anti_ideal);
	canonical_set_path(m, "anti_ideal.NAME", o->name);
	canonical_put(m);
}

static void canonical_put_trainer(struct canonical_form *m)
{
	const struct dp_trainer *t = &m->study->trainer;

	canonical_put_section(m, DP__TRAINER, t, NULL);
	canonical_put_text(m, "trainer.executor", NULL, dp_executor_text(t->executor));
	canonical_put_section(m, DP__SLURM, &t->slurm, NULL);
	for (size_t i = 0; t->env && t->env[i]; i++) {
		const char *value = strchr(t->env[i], '=');

		dp_buf_clear(&m->path);
		dp_buf_printf(&m->path, "trainer.env.%.*s", (int)(value - t->env[i]), t->env[i]);
		dp_buf_puts(&m->value, value + 1);
		canonical_put(m);
	}
	if (t->learning_curve.points == 0)
		return;
	canonical_put_section(m, DP__WALK, &t->learning_curve, NULL);
	canonical_put_text(m, "trainer.path.parameter", NULL,
			   m->study->params[t->learning_curve.param].name);
}

/* With the effective defaults of keys that the file does not name. */
static void canonical_put_search(struct canonical_form *m)
{
	const struct dp_search *search = &m->study->search;

	canonical_put_section(m, DP__SEARCH, search, NULL);
	canonical_put_text(m, "search.cost", NULL, dp_study_cost_text(m->study));
	canonical_put_text(m, "search.front", NULL, dp_study_front_text(m->study));
	canonical_put_text(m, "search.acquisition", NULL, dp_acquisition_text(search->acquisition));
	canonical_put_text(m, "search.privacy_model", NULL,
			   search->privacy_model == DP_PRIVACY_MODEL_GP ? "gp" : "exact");
	if (search->initial_from && !search->initial_given)
		canonical_put_text(m, "search.initial", NULL, "what initial_from lacks");
	if (search->method == DP_METHOD_SELECT)
		canonical_put_section(m, DP__ROUNDS, &search->rounds, NULL);
	if (search->budget.epsilon > 0)
		canonical_put_section(m, DP__BUDGET, &search->budget, NULL);
}

static void canonical_put_constraints(struct canonical_form *m)
{
	for (size_t i = 0; i < m->study->nconstraints; i++) {
		const struct dp_constraint *c = &m->study->constraints[i];

		dp_buf_puts(&m->value, c->at_least ? ">= " : "<= ");
		canonical_format_number(&m->value, c->bound);
		canonical_set_path(m, "constraints.NAME", c->metric);
		canonical_put(m);
	}
}

/* The order of names matters: points are drawn and results sorted by it. */
static void canonical_put_names(struct canonical_form *m)
{
	dp_buf_putc(&m->value, '[');
	for (size_t i = 0; i < m->study->nparams; i++)
		dp_buf_printf(&m->value, "%s%s", i ? ", " : "", m->study->params[i].name);
	dp_buf_putc(&m->value, ']');
	canonical_set_path(m, "parameters", NULL);
	canonical_put(m);
	dp_buf_putc(&m->value, '[');
	for (size_t i = 0; i < m->study->nobjectives; i++)
		dp_buf_printf(&m->value, "%s%s", i ? ", " : "", m->study->objectives[i].name);
	dp_buf_putc(&m->value, ']');
	canonical_set_path(m, "objectives", NULL);
	canonical_put(m);
}

json_t *dp_study_canonical_json(const struct dp_study *s)
{
	struct canonical_form m = { .study = s, .texts = json_object() };

	canonical_put_section(&m, DP__TOP, s, NULL);
	canonical_put_text(&m, "seeds", NULL,
			   s->seeds == DP_SEEDS_DEFAULT ? "by data" : dp_seed_mode_text(s->seeds));
	canonical_put_trainer(&m);
	canonical_put_names(&m);
	for (size_t i = 0; i < s->nparams; i++)
		canonical_put_param(&m, &s->params[i]);
	for (size_t i = 0; i < s->nobjectives; i++)
		canonical_put_objective(&m, &s->objectives[i]);
	canonical_put_search(&m);
	canonical_put_constraints(&m);
	dp_buf_free(&m.path);
	dp_buf_free(&m.value);
	return m.texts;
}

/* ---- differences ---- */

static bool key_is_live(const char *path)
{
	const struct dp_key_doc *docs;
	size_t rows;

	docs = dp_study_keys(&rows);
	for (size_t i = 0; i < rows; i++)
		if (strcmp(docs[i].path, path) == 0)
			return docs[i].mutability == DP_KEY_LIVE;
	return false;
}

/* True if a list of names already shows that the part is absent. */
static bool diff_has_parent(const json_t *out, const char *path)
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

static void diff_add(json_t *out, const char *key, const json_t *from, const json_t *to)
{
	if ((from && to) || !diff_has_parent(out, key))
		json_array_append_new(out, json_pack("{s:s, s:O?, s:O?, s:b}", "key", key, "from",
						     from, "to", to, "live", key_is_live(key)));
}

json_t *dp_study_diff(const struct dp_study *from, const struct dp_study *to)
{
	json_t *a = dp_study_canonical_json(from), *b = dp_study_canonical_json(to);
	json_t *out = json_array(), *v;
	const char *key;

	/* in the order of keys.def */
	json_object_foreach (a, key, v) {
		const json_t *other = json_object_get(b, key);

		if (!json_equal(v, other))
			diff_add(out, key, v, other);
	}
	json_object_foreach (b, key, v)
		if (!json_object_get(a, key))
			diff_add(out, key, NULL, v);
	json_decref(a);
	json_decref(b);
	return out;
}
