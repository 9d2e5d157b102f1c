/* privacy_mechanisms.c - mechanisms, assumptions and accountant checks behind each epsilon. */
#include "reports/model/report_model.h"

#include "privacy/privacy.h"
#include "privacy/composition/adaptive_composition.h"
#include "study/accounting.h"
#include "study/learning_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME_EPSILON_TOLERANCE 1e-6 /* relative difference at which two accountants agree */
#define CLOSED_FORM_ACCOUNTANT "closed-form"

static const struct dp_accounting_spec *objective_accountant(const struct study_data *s,
							     size_t objective)
{
	return s->state->spec->objectives[objective].privacy;
}

double study_data_delta_at(const struct study_data *s, uint32_t trial, size_t objective)
{
	const struct dp_accounting_spec *o = objective_accountant(s, objective);
	double delta = dp_accounting_delta(o), values[DP_PRIVACY_KEYS_MAX];

	if (!isnan(delta))
		return delta;
	dp_mechanism_use_values(s->state->spec, o->uses, s->state->trials[trial]->x, NAN, values);
	return dp_privacy_value(o->uses->mechanism, values, o->uses->mechanism->delta);
}

int study_data_mechanisms_at(const struct study_data *s, struct dp_result_id p, size_t objective,
			     struct dp_composition_items *out, struct dp_err *err)
{
	const double *x = s->state->trials[p.trial]->x;
	double at = dp_learning_curve_costliest(s->state->spec, objective, x,
						dp_result_checkpoint_value(s->state, p));
	int code = dp_accounting_items(s->state->spec, objective, x, at, out, err);

	for (size_t i = 0; code == DP_OK && i < out->n; i++) {
		const struct dp_mechanism *m = out->items[i].mechanism;
		double full[DP_PRIVACY_KEYS_MAX];

		code = dp_privacy_check_values(m, out->values[i], full, err);
		if (code == DP_OK)
			memcpy(out->values[i], full, m->nkeys * sizeof *full);
	}
	return code;
}

/* Values of a mechanism that hold for every trial. NaN if a parameter or the composition sets
 * them. */
static void load_constant_keys(const struct dp_accounting_spec *o, const struct dp_mechanism_use *u,
			       double values[DP_PRIVACY_KEYS_MAX])
{
	const struct dp_mechanism *m = u->mechanism;

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		values[i] = u->param[i] < 0 && isnan(u->constant[i]) ? k->default_value
								     : u->constant[i];
		if (o->kind == DP_ACCOUNTING_COMPOSED && (k == m->delta || k == m->conversion))
			values[i] = NAN;
		else if (o->kind == DP_ACCOUNTING_COMPOSED && k == m->accountant)
			values[i] = o->accountant;
	}
}

static bool about_equal(double a, double b)
{
	return a == b || fabs(a - b) <= SAME_EPSILON_TOLERANCE * fabs(b);
}

static bool at_most(double a, double b)
{
	return a <= b || a <= b * (1 + 1e-9);
}

static double compute_rdp_epsilon(const struct dp_mechanism *m, const double *full,
				  enum dp_privacy_conversion conversion)
{
	double values[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon e;

	memcpy(values, full, m->nkeys * sizeof *values);
	values[dp_privacy_key_index(m, m->accountant)] = DP_PRIVACY_RDP;
	if (m->conversion)
		values[dp_privacy_key_index(m, m->conversion)] = conversion;
	return dp_privacy_epsilon(m, values, &e, NULL) == DP_OK ? e.epsilon : NAN;
}

/* Epsilon by both ways of composing. *least: the smallest value that may be exact. */
static double compute_composed_epsilon(const struct dp_composition_items *uses, double delta,
				       bool pld, double *least)
{
	struct dp_epsilon e;

	if (dp_privacy_compose(uses->items, uses->n, delta, pld, &e, NULL) != DP_OK)
		return NAN;
	if (least)
		*least = e.epsilon - e.error;
	return e.epsilon;
}

/* Composes all Renyi curves and converts: first at orders over the whole range, then around the
 * best one. */
static double convert_renyi_curve(struct dp_renyi_cache *m, const struct dp_composition_items *uses,
				  double delta)
{
	double order[DP_RENYI_ORDERS_MAX], k[DP_RENYI_ORDERS_MAX];
	double lo = 1e-3, hi = 1e6, best, epsilon = NAN; /* order - 1 */

	for (int pass = 0; pass < 2; pass++) {
		double ratio = pow(hi / lo, 1.0 / (DP_RENYI_ORDERS_MAX - 1));

		for (int i = 0; i < DP_RENYI_ORDERS_MAX; i++)
			order[i] = 1 + lo * pow(ratio, i);
		if (dp_privacy_renyi_curve(m, uses->items, uses->n, order, DP_RENYI_ORDERS_MAX, k,
					   NULL) != DP_OK)
			return NAN;
		epsilon = dp_renyi_epsilon(order, k, DP_RENYI_ORDERS_MAX, delta, &best);
		if (isnan(best))
			break;
		lo = (best - 1) / ratio;
		hi = (best - 1) * ratio;
	}
	return epsilon;
}

/* Epsilon by Renyi divergence with the improved conversion, even for Gaussian mechanisms alone,
 * which have a closed form. */
static double compute_renyi_epsilon(const struct dp_composition_items *uses, double delta)
{
	struct dp_renyi_cache *m;
	struct dp_epsilon e;
	double epsilon;

	if (dp_privacy_compose(uses->items, uses->n, delta, false, &e, NULL) != DP_OK)
		return NAN;
	if (strcmp(e.accountant, dp_privacy_accountants[DP_PRIVACY_RDP]) == 0)
		return e.epsilon;
	m = dp_renyi_cache_new();
	epsilon = m ? convert_renyi_curve(m, uses, delta) : NAN;
	dp_renyi_cache_free(m);
	return epsilon;
}

/* Consistent if pld <= improved <= classic and the journal's value is what its accountant
 * computes. */
static struct accountant_check check_accountants(const struct dp_composition_items *uses,
						 double delta, double ours)
{
	const struct dp_mechanism *m = uses->items[0].mechanism;
	const double *full = uses->values[0];
	double least = NAN, pld = compute_composed_epsilon(uses, delta, true, &least);
	double improved = compute_rdp_epsilon(m, full, DP_PRIVACY_CONVERSION_IMPROVED);
	double classic = compute_rdp_epsilon(m, full, DP_PRIVACY_CONVERSION_CLASSIC), again;
	bool same;

	again = dp_privacy_value(m, full, m->conversion) == DP_PRIVACY_CONVERSION_CLASSIC
			? classic
			: improved;
	if (dp_privacy_value(m, full, m->accountant) == DP_PRIVACY_PLD)
		again = fmin(again, pld); /* the rdp accountant also takes the smaller one */
	same = about_equal(ours, again);
	return (struct accountant_check){ pld, improved, classic, same,
					  same && at_most(least, improved) &&
						  at_most(improved, classic) };
}

/* The same for a composition, which has one conversion. Older versions did not merge Gaussian
 * mechanisms; their values pass if they lie between both accountants. */
static struct accountant_check check_composition(const struct dp_accounting_spec *o,
						 const struct dp_composition_items *uses,
						 double ours)
{
	double least = NAN, pld = compute_composed_epsilon(uses, o->delta, true, &least);
	double renyi = o->delta > 0 ? compute_renyi_epsilon(uses, o->delta) : NAN;
	bool by_pld = o->accountant == DP_PRIVACY_PLD || isnan(renyi);
	bool same = about_equal(
		ours, by_pld ? pld : compute_composed_epsilon(uses, o->delta, false, NULL));
	bool between = at_most(pld, ours) && ours <= renyi * (1 + SAME_EPSILON_TOLERANCE);

	return (struct accountant_check){
		pld, renyi, NAN, same, (same || between) && (isnan(renyi) || at_most(least, renyi))
	};
}

/* The same for a mechanism with a closed form. */
static struct accountant_check check_formula(const struct dp_composition_items *uses, double delta,
					     double ours)
{
	double second = delta > 0 ? compute_renyi_epsilon(uses, delta) : NAN;
	struct dp_epsilon e;
	bool same =
		dp_privacy_epsilon(uses->items[0].mechanism, uses->values[0], &e, NULL) == DP_OK &&
		about_equal(ours, e.epsilon);

	return (struct accountant_check){ NAN, second, NAN, same,
					  same && (isnan(second) || at_most(ours, second)) };
}

struct accountant_check check_result_epsilon(const struct study_data *s, struct dp_result_id p,
					     size_t objective)
{
	const struct dp_accounting_spec *o = objective_accountant(s, objective);
	double ours = dp_result_get_objectives(s->state, p)[objective];
	double delta = study_data_delta_at(s, p.trial, objective);
	struct dp_composition_items uses;

	if (study_data_mechanisms_at(s, p, objective, &uses, NULL) != DP_OK)
		return (struct accountant_check){ NAN, NAN, NAN, false, false };
	if (o->kind == DP_ACCOUNTING_COMPOSED)
		return check_composition(o, &uses, ours);
	return o->uses->mechanism->accountant ? check_accountants(&uses, delta, ours)
					      : check_formula(&uses, delta, ours);
}

static json_t *mechanism_keys_json(const struct dp_study *spec, const struct dp_mechanism_use *u,
				   const double *values)
{
	json_t *keys = json_object();

	for (size_t i = 0; i < u->mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &u->mechanism->keys[i];

		if (u->param[i] >= 0)
			put_json(keys, k->name,
				 json_pack("{s:s}", "parameter", spec->params[u->param[i]].name));
		else if (!isnan(values[i]) && k->kind == DP_PRIVACY_CHOICE)
			put_text(keys, k->name, k->choices[(int)values[i]]);
		else if (!isnan(values[i]))
			put_number(keys, k->name, values[i]);
	}
	return keys;
}

static json_t *component_json(const struct dp_study *spec, const struct dp_accounting_spec *o,
			      const struct dp_mechanism_use *u)
{
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_description words;
	json_t *part = json_object();

	load_constant_keys(o, u, v);
	dp_privacy_describe(u->mechanism, v, &words);
	put_text(part, "mechanism", u->mechanism->name);
	put_text(part, "summary", u->mechanism->summary);
	put_json(part, "times",
		 u->times_param < 0
			 ? number_json(u->times)
			 : json_pack("{s:s}", "parameter", spec->params[u->times_param].name));
	put_text(part, "relation", words.relation);
	put_text(part, "sampling", words.sampling);
	put_json(part, "keys", mechanism_keys_json(spec, u, v));
	put_number(part, "records", dp_privacy_value(u->mechanism, v, u->mechanism->records));
	put_text(part, "theorem", words.theorem);
	put_text(part, "source", u->mechanism->source);
	put_text(part, "noise", words.noise_unit);
	return part;
}

static void put_single_mechanism(json_t *out, const struct study_data *s,
				 const struct dp_accounting_spec *o)
{
	const struct dp_mechanism *m = o->uses->mechanism;
	char warning[DP_PRIVACY_WARNING_LEN];
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_description words;

	load_constant_keys(o, o->uses, v);
	dp_privacy_describe(m, v, &words);
	put_text(out, "mechanism", m->name);
	put_text(out, "summary", m->summary);
	put_text(out, "relation", words.relation);
	put_text(out, "sampling", words.sampling);
	put_json(out, "keys", mechanism_keys_json(s->state->spec, o->uses, v));
	put_number(out, "records", dp_privacy_value(m, v, m->records));
	put_text(out, "accountant",
		 m->accountant ? m->accountant->choices[(int)dp_privacy_value(m, v, m->accountant)]
			       : CLOSED_FORM_ACCOUNTANT);
	put_text(out, "accountant_text", words.accountant);
	put_text(out, "theorem", words.theorem);
	put_text(out, "source", m->source);
	put_text(out, "noise", words.noise_unit);
	put_text(out, "warning", dp_privacy_warning(m, v, warning) ? warning : NULL);
}

/* The closed form if the first result uses Gaussian mechanisms alone, else the requested
 * accountant. */
static const char *composition_accountant(const struct study_data *s,
					  const struct dp_accounting_spec *o, size_t objective)
{
	const char *asked = dp_privacy_accountants[o->accountant];
	struct dp_composition_items uses;
	struct dp_epsilon e;

	if (s->npoints == 0 || !(o->delta > 0) ||
	    study_data_mechanisms_at(s, s->points[0], objective, &uses, NULL) != DP_OK ||
	    dp_privacy_compose(uses.items, uses.n, o->delta, false, &e, NULL) != DP_OK)
		return asked;
	return strcmp(e.accountant, CLOSED_FORM_ACCOUNTANT) == 0 && !e.theorem
		       ? CLOSED_FORM_ACCOUNTANT
		       : asked;
}

/* Takes the neighbouring relation from the components that have one: they agree. */
static void put_composition(json_t *out, const struct study_data *s,
			    const struct dp_accounting_spec *o, size_t objective)
{
	const char *accountant = composition_accountant(s, o, objective);
	const char *text = "Renyi divergences";
	const char *theorem = "Mironov, Renyi Differential Privacy, CSF 2017, Proposition 1";
	const char *relation = NULL;
	json_t *parts = json_array();
	double records = NAN;

	for (size_t i = 0; i < o->nuses; i++) {
		json_t *part = component_json(s->state->spec, o, &o->uses[i]);
		double n = get_number(part, "records");

		if (!relation || !isnan(n))
			relation = get_text(part, "relation");
		if (!(n <= records))
			records = n;
		json_array_append_new(parts, part);
	}
	if (strcmp(accountant, CLOSED_FORM_ACCOUNTANT) == 0) {
		text = GAUSSIAN_ACCOUNTANT_TEXT;
		theorem = "Dong, Roth and Su, Gaussian Differential Privacy, JRSS B "
			  "2022, Corollary 3.3";
	} else if (strcmp(accountant, dp_privacy_accountants[DP_PRIVACY_PLD]) == 0) {
		text = "privacy loss distributions";
		theorem = "Zhu, Dong and Wang, Optimal Accounting of Differential Privacy via "
			  "Characteristic Function, AISTATS 2022, Theorem 10";
	}
	put_text(out, "mechanism", "composition");
	put_text(out, "summary", "Several mechanisms on the same data.");
	put_text(out, "relation", relation);
	put_json(out, "parts", parts);
	put_number(out, "records", records);
	put_text(out, "accountant", accountant);
	put_text(out, "accountant_text", text);
	put_text(out, "theorem", theorem);
	put_text(out, "source", theorem);
}

/* A privacy objective with its mechanism, its assumptions and the total privacy loss. */
static json_t *mechanism_json(const struct study_data *s, size_t objective)
{
	/* output order; null if the mechanism has no such field */
	static const char *const fields[] = {
		"objective",  "mechanism",       "summary",
		"command",    "parts",           "unit",
		"relation",   "sampling",        "keys",
		"records",    "delta",           "delta_times_records",
		"accountant", "accountant_text", "theorem",
		"source",     "noise",           "warning",
		"composed"
	};
	const struct dp_accounting_spec *o = objective_accountant(s, objective);
	double v[DP_PRIVACY_KEYS_MAX], delta = dp_accounting_delta(o);
	struct dp_buf unit = DP_BUF_INIT;
	json_t *out = json_object();

	for (size_t i = 0; i < DP_COUNT(fields); i++)
		put_json(out, fields[i], NULL);
	put_text(out, "objective", s->state->spec->objectives[objective].name);
	put_json(out, "parts", json_array());
	put_json(out, "keys", json_object());
	if (o->kind == DP_ACCOUNTING_EXTERNAL) {
		dp_buf_puts(&unit, "what the program means by it");
		put_text(out, "mechanism", "program");
		put_text(out, "summary",
			 "Epsilon is the answer of a program that came with the study.");
		put_texts(out, "command", o->argv);
		put_text(out, "accountant", "program");
		put_text(out, "accountant_text",
			 "that program's own; DPareto asked it and checked nothing "
			 "but that equal questions have equal answers");
	} else {
		json_object_del(out, "command");
		/* all components have the same group size */
		load_constant_keys(o, o->uses, v);
		append_privacy_unit(&unit, o->uses->mechanism, v);
		if (o->kind == DP_ACCOUNTING_COMPOSED)
			put_composition(out, s, o, objective);
		else
			put_single_mechanism(out, s, o);
	}
	put_buf(out, "unit", &unit);
	put_number(out, "delta", delta);
	put_number(out, "delta_times_records", delta * get_number(out, "records"));
	put_json(out, "composed", total_cost_json(s, objective));
	return out;
}

json_t *privacy_json(const struct study_data *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->state->spec->nobjectives; i++)
		if (s->state->spec->objectives[i].privacy)
			json_array_append_new(list, mechanism_json(s, i));
	return list;
}
