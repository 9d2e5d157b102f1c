/* read_privacy.c - reads the `privacy` of objectives, and checks it against the parameters.
 *
 * A single mechanism, a composition, or the command of an external accountant. */
#include "study/parse/study_parse_internal.h"

#include "base/units.h"
#include "study/accounting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void dp__read_privacy(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		      void *to)
{
	struct dp_accounting_spec *o;

	if (!dp__expect_map(r, v, k->name, "mechanism and the mechanism's keys", SIZE_MAX))
		return;
	o = *(struct dp_accounting_spec **)to = dp_calloc(1, sizeof *o);
	dp__read_section(r, DP__PRIVACY, v->key_pos, v, o);
}

void dp__read_deferred(struct dp__study_parser *r, const struct dp__key *k,
		       const struct dp__node *v, void *to)
{
	(void)r, (void)k, (void)v, (void)to;
}

/* ---- the mechanism ---- */

/* The place for a missing key: the map's own key, or the map itself in a list. */
static size_t map_position(const struct dp__node *map)
{
	return map->key_pos ? map->key_pos : map->pos;
}

static void report_missing_mechanism(struct dp__study_parser *r, const struct dp__node *map,
				     const struct dp__mechanism_use_rules *rules)
{
	static const char *const of_privacy[] = { "mechanism", "compose", "command", NULL };
	static const char *const of_others[] = { "mechanism", NULL };
	const char *const *words =
		rules->solves_noise || rules->in_composition ? of_others : of_privacy;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE] = "";
	const struct dp__node *m;

	for (m = map->first_child; m && !dp_nearest_word(m->key, words);)
		m = m->next_sibling;
	if (m)
		dp__report_error(r, m->key_pos, NULL, "unknown key '%s'%s",
				 dp__printable(m->key, shown),
				 dp__did_you_mean(m->key, words, guess));
	else
		dp__report_error(r, map_position(map), NULL,
				 "the key '%s.mechanism' is missing, for example `mechanism: "
				 "svt`",
				 rules->place);
}

/* NULL, with a diagnostic, if the map names no known mechanism. */
static const struct dp_mechanism *read_mechanism(struct dp__study_parser *r,
						 const struct dp__node *map,
						 const struct dp__mechanism_use_rules *rules)
{
	const struct dp__node *v = dp__map_get(map, "mechanism");
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE], known[DP_MECHANISMS_LEN];
	const char *names[DP_MECHANISMS_MAX + 1], *text;
	const struct dp_mechanism *m;

	if (!v) {
		report_missing_mechanism(r, map, rules);
		return NULL;
	}
	if (v->kind == DP__NODE_INVALID)
		return NULL;
	text = dp__expect_scalar(r, v, "mechanism", "name of a mechanism");
	m = text ? dp_mechanism_find(text) : NULL;
	if (m || !text)
		return m;
	dp_mechanism_names(names);
	dp_mechanism_names_text(known);
	dp__report_error(r, v->pos, known, "unknown mechanism '%s'%s This version knows %s.",
			 dp__printable(text, shown),
			 *dp__did_you_mean(text, names, guess) ? guess : ".", known);
	return NULL;
}

static void report_unknown_mechanism_key(struct dp__study_parser *r, const struct dp_mechanism *m,
					 const char *const *beside, const struct dp__node *v)
{
	const char *names[DP_PRIVACY_KEYS_MAX + 8] = { NULL };
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	size_t n = 0;

	for (size_t i = 0; beside[i]; i++)
		names[n++] = beside[i];
	for (size_t i = 0; i < m->nkeys; i++)
		names[n++] = m->keys[i].name;
	for (size_t i = 0; i < n; i++)
		dp_buf_printf(&allowed, "%s%s", i ? ", " : "", names[i]);
	dp__report_error(r, v->key_pos, dp_buf_text(&allowed), "mechanism %s has no key '%s'%s",
			 m->name, dp__printable(v->key, shown),
			 dp__did_you_mean(v->key, names, guess));
	dp_buf_free(&allowed);
}

/* ---- its keys ---- */

static int find_param_index(struct dp__study_parser *r, const char *name)
{
	for (size_t i = 0; i < r->study->nparams; i++)
		if (strcmp(r->study->params[i].name, name) == 0)
			return (int)i;
	return -1;
}

static void report_unknown_param(struct dp__study_parser *r, const struct dp__node *v,
				 const char *rule)
{
	const char *names[DP_PARAMS_MAX + 1];
	struct dp_buf allowed = DP_BUF_INIT;
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];
	size_t n = 0;

	dp_buf_printf(&allowed, "%s, or a parameter:", rule);
	for (; n < r->study->nparams; n++) {
		names[n] = r->study->params[n].name;
		dp_buf_printf(&allowed, "%s %s", n ? "," : "", dp__printable(names[n], shown));
	}
	names[n] = NULL;
	dp__report_error(r, v->pos, dp_buf_text(&allowed), "'%s' names no parameter%s",
			 dp__printable(v->text, shown), dp__did_you_mean(v->text, names, guess));
	dp_buf_free(&allowed);
}

bool dp__key_is_noise(const struct dp_mechanism *m, const struct dp_privacy_key *k)
{
	return m->noise &&
	       (k == m->noise ||
		(k->alternatives_group && k->alternatives_group == m->noise->alternatives_group));
}

/* A calibrated parameter is any number above 0, and sets only the key that it was computed as. Its
 * mechanism has no other names for it. */
static void check_calibrated_binding(struct dp__study_parser *r, const struct dp_privacy_key *k,
				     const struct dp_param *p, const struct dp__node *v,
				     const char *rule)
{
	const struct dp_mechanism *m = p->calibrate ? p->calibrate->use.mechanism : NULL;

	if (!m || k == m->noise)
		return;
	if (k >= m->keys && k < m->keys + m->nkeys && dp__key_is_noise(m, k))
		dp__report_error(r, v->pos, NULL,
				 "parameter '%s' is calibrated as '%s', not as '%s'; give the "
				 "mechanism '%s: %s'",
				 p->name, m->noise->name, k->name, m->noise->name, p->name);
	else if (!dp_privacy_key_allows(k, 1e-6) || !dp_privacy_key_allows(k, 1e6))
		dp__report_error(r, v->pos, rule,
				 "parameter '%s' is calibrated, to any number above 0, which "
				 "'%s' cannot be",
				 p->name, k->name);
}

/* The key must allow every value of the parameter. */
static void check_param_binding(struct dp__study_parser *r, const struct dp_privacy_key *k,
				int param, const struct dp__node *v, const char *rule)
{
	const struct dp_param *p = &r->study->params[param];
	double ends[4] = { p->lo, p->hi, p->accept_lo, p->accept_hi };
	size_t n = DP_COUNT(ends);
	char text[DP_NUM_LEN];

	if (r->param_invalid[param])
		return;
	if (p->kind == DP_PARAM_CALIBRATED) {
		check_calibrated_binding(r, k, p, v, rule);
		return;
	}
	if (p->kind == DP_PARAM_CATEGORICAL ||
	    (p->kind == DP_PARAM_FIXED && !json_is_number(p->values))) {
		dp__report_error(
			r, v->pos, rule, "parameter '%s' is %s, but '%s' needs a number", p->name,
			p->kind == DP_PARAM_FIXED ? "not a number" : "categorical", k->name);
		return;
	}
	if (k->kind == DP_PRIVACY_INTEGER && p->kind == DP_PARAM_FLOAT) {
		dp__report_error(r, v->pos, rule,
				 "'%s' needs whole numbers, but parameter '%s' is a float; give "
				 "it type: int",
				 k->name, p->name);
		return;
	}
	if (p->kind == DP_PARAM_FIXED) {
		ends[0] = json_number_value(p->values);
		n = 1;
	} else if (p->kind == DP_PARAM_INT) {
		ends[2] = ceil(ends[2]);
		ends[3] = floor(ends[3]);
	}
	for (size_t i = 0; i < n; i++) {
		if (dp_privacy_key_allows(k, ends[i]))
			continue;
		dp__report_error(r, v->pos, rule, "parameter '%s' can be %s, but '%s' cannot",
				 p->name, dp_num_text(ends[i], text), k->name);
		return;
	}
}

void dp__read_number_or_param(struct dp__study_parser *r, const struct dp_privacy_key *k,
			      const struct dp__node *v, double *value, int *param)
{
	char rule[DP_PRIVACY_RANGE_TEXT_LEN], shown[DP__PRINTABLE_SIZE];
	double x;

	dp_privacy_key_format_range(k, rule);
	if (!dp__expect_scalar(r, v, k->name, rule))
		return;
	if (dp__scalar_type_of(v) == DP__SCALAR_STRING) {
		*value = NAN;
		*param = find_param_index(r, v->text);
		if (*param >= 0)
			check_param_binding(r, k, *param, v, rule);
		else if (r->study->nparams > 0)
			report_unknown_param(r, v, rule);
	} else if (dp__expect_number(r, v, k->name, rule, &x)) {
		if (dp_privacy_key_allows(k, x))
			*value = x;
		else
			dp__report_error(r, v->pos, rule, "'%s' cannot be %s", k->name,
					 dp__printable(v->text, shown));
	}
}

/* Epsilons for different group sizes can be neither compared nor added up over a search. */
static void refuse_searched_group(struct dp__study_parser *r, const struct dp_privacy_key *k,
				  int param, const struct dp__node *v)
{
	if (param >= 0 && strcmp(k->name, "group") == 0 &&
	    r->study->params[param].kind != DP_PARAM_FIXED)
		dp__report_error(r, v->pos, "a number, or a parameter that is fixed",
				 "'%s' cannot be '%s', which varies: epsilons for persons "
				 "with different numbers of records cannot be compared",
				 k->name, r->study->params[param].name);
}

static void bind_mechanism_key(struct dp__study_parser *r, struct dp_mechanism_use *u, size_t index,
			       const struct dp__node *v)
{
	const struct dp_privacy_key *k = &u->mechanism->keys[index];
	int word;

	if (k->kind != DP_PRIVACY_CHOICE) {
		dp__read_number_or_param(r, k, v, &u->constant[index], &u->param[index]);
		refuse_searched_group(r, k, u->param[index], v);
		return;
	}
	word = dp__expect_word(r, v, k->name, k->choices);
	if (word >= 0)
		u->constant[index] = word;
}

/* Exactly one alternative of a group must be present. Checked at the group's first key. */
static void check_alternative_keys(struct dp__study_parser *r, const struct dp_mechanism *m,
				   size_t first, const struct dp__node *privacy)
{
	const struct dp__node *one = NULL, *v;
	struct dp_buf names = DP_BUF_INIT;

	for (size_t i = 0; i < m->nkeys; i++) {
		if (m->keys[i].alternatives_group != m->keys[first].alternatives_group)
			continue;
		if (i < first)
			return;
		dp_buf_printf(&names, "%s'%s'", names.len ? " or " : "", m->keys[i].name);
		v = dp__map_get(privacy, m->keys[i].name);
		if (v && one)
			dp__report_error(r, v->key_pos, NULL, "'%s' and '%s' exclude each other",
					 one->key, v->key);
		one = v ? v : one;
	}
	if (!one)
		dp__report_error(r, map_position(privacy), NULL, "mechanism %s needs the key %s",
				 m->name, dp_buf_text(&names));
	dp_buf_free(&names);
}

/* True, with a diagnostic, if the key does not apply here. */
static bool refuse_misplaced_key(struct dp__study_parser *r, const struct dp_mechanism *m,
				 const struct dp__mechanism_use_rules *rules,
				 const struct dp_privacy_key *k, const struct dp__node *v)
{
	if (rules->solves_noise && dp__key_is_noise(m, k)) {
		dp__report_error(r, v->key_pos, NULL,
				 "'%s' is what the parameter is solved for; leave it out", k->name);
		return true;
	}
	if (!rules->in_composition || (k != m->delta && k != m->accountant && k != m->conversion))
		return false;
	if (k == m->conversion)
		dp__report_error(r, v->key_pos, NULL,
				 "'%s' has no say in a composition: it is always improved",
				 k->name);
	else
		dp__report_error(r, v->key_pos, NULL,
				 "'%s' is the whole composition's: it stands beside 'compose'",
				 k->name);
	return true;
}

/* Refuses fractions where this mechanism, with its words, has none. */
static void check_integer_key(struct dp__study_parser *r, const struct dp_mechanism_use *u,
			      size_t index, const struct dp__node *v)
{
	const struct dp_privacy_key *k = &u->mechanism->keys[index];
	double x = u->constant[index];
	char text[DP_NUM_LEN];
	int param = u->param[index];

	if (!v || k->kind == DP_PRIVACY_INTEGER ||
	    !dp_privacy_key_is_integer(u->mechanism, u->constant, k))
		return;
	if (param >= 0 && r->study->params[param].kind == DP_PARAM_FLOAT)
		dp__report_error(r, v->pos, NULL,
				 "'%s' needs whole numbers here, but parameter '%s' is a "
				 "float; give it type: int",
				 k->name, r->study->params[param].name);
	if (param < 0 && x != floor(x) && !isnan(x))
		dp__report_error(r, v->pos, NULL,
				 "'%s' cannot be %s: here it must be a whole number", k->name,
				 dp_num_text(x, text));
}

static void check_required_keys(struct dp__study_parser *r, const struct dp_mechanism *m,
				const struct dp__mechanism_use_rules *rules,
				const struct dp__node *map)
{
	size_t pos = map_position(map);

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];
		const struct dp__node *given = dp__map_get(map, k->name);
		const struct dp__node *other =
			k->replaced_by ? dp__map_get(map, k->replaced_by) : NULL;

		if ((rules->in_composition && k == m->delta) ||
		    (rules->solves_noise && dp__key_is_noise(m, k)))
			continue;
		if (k->required && !given && !other)
			dp__report_error(r, pos, NULL, "mechanism %s needs the key '%s' (%s)",
					 m->name, k->name, k->help);
		if (given && other)
			dp__report_error(r, other->key_pos, NULL,
					 "'%s' and '%s' exclude each other", k->name,
					 k->replaced_by);
		if (k->alternatives_group)
			check_alternative_keys(r, m, i, map);
	}
}

bool dp__read_mechanism_use(struct dp__study_parser *r, const struct dp__node *map,
			    const struct dp__mechanism_use_rules *rules, struct dp_mechanism_use *u)
{
	u->times = 1;
	u->times_param = -1;
	for (size_t i = 0; i < DP_PRIVACY_KEYS_MAX; i++) {
		u->constant[i] = NAN;
		u->param[i] = -1;
	}
	u->mechanism = read_mechanism(r, map, rules);
	if (!u->mechanism)
		return false;
	for (const struct dp__node *m = map->first_child; m; m = m->next_sibling) {
		const struct dp_privacy_key *k = dp_privacy_key_find(u->mechanism, m->key);
		bool own = false;

		for (size_t i = 0; rules->sibling_keys[i]; i++)
			own |= strcmp(m->key, rules->sibling_keys[i]) == 0;
		if (own)
			continue;
		if (!k)
			report_unknown_mechanism_key(r, u->mechanism, rules->sibling_keys, m);
		else if (!refuse_misplaced_key(r, u->mechanism, rules, k, m))
			bind_mechanism_key(r, u, dp_privacy_key_index(u->mechanism, k), m);
	}
	check_required_keys(r, u->mechanism, rules, map);
	for (size_t i = 0; i < u->mechanism->nkeys; i++)
		check_integer_key(r, u, i, dp__map_get(map, u->mechanism->keys[i].name));
	return true;
}

/* ---- compositions ---- */

/* The number of uses: an integer or an int parameter. */
static void read_mechanism_use_times(struct dp__study_parser *r, struct dp_mechanism_use *u,
				     const struct dp__node *v)
{
	static const struct dp_privacy_key times = {
		.name = "times", .kind = DP_PRIVACY_INTEGER, .lo = 1, .hi = 0x1p53
	};

	if (v)
		dp__read_number_or_param(r, &times, v, &u->times, &u->times_param);
}

static void warn_large_delta(struct dp__study_parser *r, const struct dp_accounting_spec *o,
			     const struct dp__node *privacy)
{
	char warning[DP_PRIVACY_WARNING_LEN];

	for (size_t i = 0; i < o->nuses; i++) {
		const struct dp_mechanism *m = o->uses[i].mechanism;
		double values[DP_PRIVACY_KEYS_MAX];

		memcpy(values, o->uses[i].constant, sizeof values);
		if (m->delta && o->kind == DP_ACCOUNTING_COMPOSED)
			values[dp_privacy_key_index(m, m->delta)] = o->delta;
		if (!dp_privacy_warning(m, values, warning))
			continue;
		dp__report_warning(r, privacy->key_pos, NULL, "%s", warning);
		return;
	}
}

/* Checks that theorems cover all of them together, at any point. */
static void check_composition_items(struct dp__study_parser *r, size_t objective, size_t pos)
{
	double x[DP_PARAMS_MAX];
	struct dp_composition_items uses;
	struct dp_err err;

	if (r->diagnostics->error_count)
		return; /* there may be no point yet */
	dp__space_any_point(r->study, x);
	if (dp_accounting_items(r->study, objective, x, NAN, &uses, &err) != DP_OK ||
	    dp_privacy_check_composable(uses.items, uses.n,
					r->study->objectives[objective].privacy->delta,
					&err) == DP_OK)
		return;
	dp__report_error(r, pos, err.hint[0] ? err.hint : NULL, "%s", err.msg);
}

static void read_composition(struct dp__study_parser *r, struct dp_accounting_spec *o,
			     const struct dp__node *list)
{
	static const char *const beside[] = { "mechanism", "times", NULL };
	static const struct dp__mechanism_use_rules rules = { "privacy.compose", beside, true,
							      false };

	o->kind = DP_ACCOUNTING_COMPOSED;
	if (!dp__expect_list(r, list, "compose",
			     "a list of mechanisms with their keys: [{mechanism: gaussian, "
			     "sigma: 20}, {mechanism: dp-sgd, ...}]",
			     DP_PRIVACY_ITEMS_MAX))
		return;
	o->uses = dp_calloc(list->count, sizeof *o->uses);
	for (const struct dp__node *v = list->first_child; v; v = v->next_sibling) {
		if (!dp__expect_map(r, v, "compose", "mechanism and the mechanism's keys",
				    SIZE_MAX) ||
		    !dp__read_mechanism_use(r, v, &rules, &o->uses[o->nuses]))
			continue;
		read_mechanism_use_times(r, &o->uses[o->nuses++], dp__map_get(v, "times"));
	}
}

/* ---- keys next to a composition or a command ---- */

static const char *const beside_compose[] = { "compose", "delta", "accountant", NULL };
static const char *const beside_command[] = { "command", "delta", NULL };

static void read_delta(struct dp__study_parser *r, struct dp_accounting_spec *o,
		       const struct dp__node *privacy)
{
	static const char rule[] = "number >= 0 and < 1";
	const struct dp__node *v = dp__map_get(privacy, "delta");
	char shown[DP__PRINTABLE_SIZE];

	if (!v)
		dp__report_error(r, privacy->key_pos, rule,
				 "the key 'delta' is missing, for example `delta: 1e-5`");
	else if (v->kind != DP__NODE_INVALID && dp__expect_number(r, v, "delta", rule, &o->delta) &&
		 !(o->delta >= 0 && o->delta < 1))
		dp__report_error(r, v->pos, rule, "'delta' cannot be %s",
				 dp__printable(v->text, shown));
}

static void read_accountant(struct dp__study_parser *r, struct dp_accounting_spec *o,
			    const struct dp__node *v)
{
	int word = v ? dp__expect_word(r, v, "accountant", dp_privacy_accountants) : -1;

	o->accountant = word >= 0 ? (enum dp_privacy_accountant)word : DP_PRIVACY_PLD;
}

static void refuse_unknown_siblings(struct dp__study_parser *r, const struct dp__node *privacy,
				    const char *const *known)
{
	char shown[DP__PRINTABLE_SIZE], guess[DP__DID_YOU_MEAN_SIZE];

	for (const struct dp__node *m = privacy->first_child; m; m = m->next_sibling) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], m->key) != 0)
			i++;
		if (!known[i])
			dp__report_error(r, m->key_pos, NULL, "unknown key '%s' beside '%s'%s",
					 dp__printable(m->key, shown), known[0],
					 dp__did_you_mean(m->key, known, guess));
	}
}

/* ---- a privacy objective ---- */

static void read_single_mechanism(struct dp__study_parser *r, struct dp_accounting_spec *o,
				  const struct dp__node *privacy)
{
	static const char *const beside[] = { "mechanism", NULL };
	static const struct dp__mechanism_use_rules rules = { "privacy", beside, false, false };

	o->kind = DP_ACCOUNTING_MECHANISM;
	o->uses = dp_calloc(1, sizeof *o->uses);
	o->nuses = dp__read_mechanism_use(r, privacy, &rules, o->uses);
}

static void read_accounting(struct dp__study_parser *r, struct dp_accounting_spec *o,
			    const struct dp__node *privacy)
{
	const struct dp__node *compose = dp__map_get(privacy, "compose");
	const struct dp__node *command = dp__map_get(privacy, "command");

	if (compose) {
		read_composition(r, o, compose);
		read_delta(r, o, privacy);
		read_accountant(r, o, dp__map_get(privacy, "accountant"));
		refuse_unknown_siblings(r, privacy, beside_compose);
	} else if (command) {
		o->kind = DP_ACCOUNTING_EXTERNAL;
		o->command_pos = command->pos;
		read_delta(r, o, privacy);
		refuse_unknown_siblings(r, privacy, beside_command);
	} else {
		read_single_mechanism(r, o, privacy);
	}
}

void dp__check_privacy(struct dp__study_parser *r, struct dp_objective *o, const struct dp__node *v,
		       const struct dp__node *privacy)
{
	const struct dp__node *goal = dp__map_get(v, "goal"), *of = dp__map_get(v, "of");
	const struct dp__node *transform = dp__map_get(v, "transform");

	if (o->maximize && goal)
		dp__report_error(r, goal->pos, "minimize",
				 "a privacy objective cannot be maximized: epsilon is a loss");
	if (of)
		dp__report_error(r, of->key_pos, NULL, "'of' belongs to a metric, not to privacy");
	if (transform && o->transform == DP_TRANSFORM_LOGIT)
		dp__report_error(r, transform->pos, "none | log",
				 "epsilon has no logit: it can be above 1");
	if (!transform || o->transform == DP_TRANSFORM_LOGIT)
		o->transform = DP_TRANSFORM_LOG;
	if (privacy->kind != DP__NODE_MAP || !o->privacy)
		return;
	read_accounting(r, o->privacy, privacy);
	warn_large_delta(r, o->privacy, privacy);
	if (o->privacy->kind == DP_ACCOUNTING_COMPOSED)
		check_composition_items(r, (size_t)(o - r->study->objectives), privacy->key_pos);
}
