/* privacy.c - what is behind each epsilon: mechanisms, assumptions, other accountants'
 * numbers. */
#include "reports/facts.h"

#include "privacy/privacy.h"
#include "privacy/whole.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME        1e-6 /* relative: two ways to the same number */
#define CLOSED_FORM "closed-form"

static const struct dp_oracle *oracle_of(const struct subject *s, size_t objective)
{
	return s->s->spec->objectives[objective].privacy;
}

/* ---- values of keys ---- */

double facts_delta(const struct subject *s, uint32_t trial, size_t objective)
{
	const struct dp_oracle *o = oracle_of(s, objective);
	double delta = dp_oracle_delta(o), values[DP_PRIVACY_KEYS_MAX];

	if (!isnan(delta))
		return delta;
	dp_use_values(s->s->spec, o->uses, s->s->trials[trial]->x, NAN, values);
	return dp_privacy_value(o->uses->mechanism, values, o->uses->mechanism->delta);
}

/* Fills in the defaults. */
static int fill_use(const struct dp_mechanism *m, double *values, struct dp_err *err)
{
	double full[DP_PRIVACY_KEYS_MAX];
	int code = dp_privacy_check(m, values, full, err);

	if (code == DP_OK)
		memcpy(values, full, m->nkeys * sizeof *full);
	return code;
}

int facts_uses(const struct subject *s, struct dp_point p, size_t objective, struct dp_uses *out,
	       struct dp_err *err)
{
	const double *x = s->s->trials[p.trial]->x;
	double at = dp_path_costliest(s->s->spec, objective, x, dp_point_at(s->s, p));
	int code = dp_oracle_uses(s->s->spec, objective, x, at, out, err);

	for (size_t i = 0; code == DP_OK && i < out->n; i++)
		code = fill_use(out->item[i].mechanism, out->values[i], err);
	return code;
}

/* The values of a use that hold for every trial: NaN where a parameter sets them, and
 * where a composition has the say. */
static void fixed_values(const struct dp_oracle *o, const struct dp_use *u,
			 double values[DP_PRIVACY_KEYS_MAX])
{
	const struct dp_mechanism *m = u->mechanism;

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		values[i] =
			u->param[i] < 0 && isnan(u->constant[i]) ? k->otherwise : u->constant[i];
		if (o->kind == DP_ORACLE_COMPOSED && (k == m->delta || k == m->conversion))
			values[i] = NAN;
		else if (o->kind == DP_ORACLE_COMPOSED && k == m->accountant)
			values[i] = o->accountant;
	}
}

/* ---- other accountants ---- */

static bool about_equal(double a, double b)
{
	return a == b || fabs(a - b) <= SAME * fabs(b);
}

static bool at_most(double a, double b)
{
	return a <= b || a <= b * (1 + 1e-9);
}

static double ask_rdp(const struct dp_mechanism *m, const double *full,
		      enum dp_privacy_conversion conversion)
{
	double values[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon e;

	memcpy(values, full, m->nkeys * sizeof *values);
	values[dp_privacy_key_place(m, m->accountant)] = DP_PRIVACY_RDP;
	if (m->conversion)
		values[dp_privacy_key_place(m, m->conversion)] = conversion;
	return dp_privacy_epsilon(m, values, &e, NULL) == DP_OK ? e.epsilon : NAN;
}

/* By either way of composing; the least that may be exact in *least. */
static double ask_composed(const struct dp_uses *uses, double delta, bool pld, double *least)
{
	struct dp_epsilon e;

	if (dp_privacy_compose(uses->item, uses->n, delta, pld, &e, NULL) != DP_OK)
		return NAN;
	if (least)
		*least = e.epsilon - e.error;
	return e.epsilon;
}

/* The curve of all of them, converted at orders over the whole range, then at orders
 * around the best of these. */
static double convert_curve(struct dp_renyi_memory *m, const struct dp_uses *uses, double delta)
{
	double order[DP_RENYI_ORDERS_MAX], k[DP_RENYI_ORDERS_MAX];
	double lo = 1e-3, hi = 1e6, best, epsilon = NAN; /* of the order less 1 */

	for (int pass = 0; pass < 2; pass++) {
		double ratio = pow(hi / lo, 1.0 / (DP_RENYI_ORDERS_MAX - 1));

		for (int i = 0; i < DP_RENYI_ORDERS_MAX; i++)
			order[i] = 1 + lo * pow(ratio, i);
		if (dp_privacy_renyi(m, uses->item, uses->n, order, DP_RENYI_ORDERS_MAX, k, NULL) !=
		    DP_OK)
			return NAN;
		epsilon = dp_renyi_epsilon(order, k, DP_RENYI_ORDERS_MAX, delta, &best);
		if (isnan(best))
			break;
		lo = (best - 1) / ratio;
		hi = (best - 1) * ratio;
	}
	return epsilon;
}

/* By Renyi divergences with the improved conversion, also where the answer would be the
 * closed form: a composition of Gaussian mechanisms alone. */
static double ask_curve(const struct dp_uses *uses, double delta)
{
	struct dp_renyi_memory *m;
	struct dp_epsilon e;
	double epsilon;

	if (dp_privacy_compose(uses->item, uses->n, delta, false, &e, NULL) != DP_OK)
		return NAN;
	if (strcmp(e.accountant, dp_privacy_accountants[DP_PRIVACY_RDP]) == 0)
		return e.epsilon;
	m = dp_renyi_memory_new();
	epsilon = m ? convert_curve(m, uses, delta) : NAN;
	dp_renyi_memory_free(m);
	return epsilon;
}

/* pld <= improved <= classic, and the journal's number is the one its own accountant
 * gives. */
static struct fact_check check_accountants(const struct dp_uses *uses, double delta, double ours)
{
	const struct dp_mechanism *m = uses->item[0].mechanism;
	const double *full = uses->values[0];
	double least = NAN, pld = ask_composed(uses, delta, true, &least);
	double improved = ask_rdp(m, full, DP_PRIVACY_IMPROVED);
	double classic = ask_rdp(m, full, DP_PRIVACY_CLASSIC), again;
	bool same;

	again = dp_privacy_value(m, full, m->conversion) == DP_PRIVACY_CLASSIC ? classic : improved;
	if (dp_privacy_value(m, full, m->accountant) == DP_PRIVACY_PLD)
		again = fmin(again, pld); /* it takes the less of the two, too */
	same = about_equal(ours, again);
	return (struct fact_check){ pld, improved, classic, same,
				    same && at_most(least, improved) &&
					    at_most(improved, classic) };
}

/* The same of a composition, which has one conversion. Older versions did not merge
 * Gaussian mechanisms: their numbers hold, too, if they lie between both accountants'. */
static struct fact_check check_composition(const struct dp_oracle *o, const struct dp_uses *uses,
					   double ours)
{
	double least = NAN, pld = ask_composed(uses, o->delta, true, &least);
	double renyi = o->delta > 0 ? ask_curve(uses, o->delta) : NAN;
	bool by_pld = o->accountant == DP_PRIVACY_PLD || isnan(renyi);
	bool same = about_equal(ours, by_pld ? pld : ask_composed(uses, o->delta, false, NULL));
	bool between = at_most(pld, ours) && ours <= renyi * (1 + SAME);

	return (struct fact_check){ pld, renyi, NAN, same,
				    (same || between) && (isnan(renyi) || at_most(least, renyi)) };
}

/* The same of a mechanism with a formula of its own. */
static struct fact_check check_formula(const struct dp_uses *uses, double delta, double ours)
{
	double second = delta > 0 ? ask_curve(uses, delta) : NAN;
	struct dp_epsilon e;
	bool same =
		dp_privacy_epsilon(uses->item[0].mechanism, uses->values[0], &e, NULL) == DP_OK &&
		about_equal(ours, e.epsilon);

	return (struct fact_check){ NAN, second, NAN, same,
				    same && (isnan(second) || at_most(ours, second)) };
}

struct fact_check facts_check(const struct subject *s, struct dp_point p, size_t objective)
{
	const struct dp_oracle *o = oracle_of(s, objective);
	double ours = dp_point_objectives(s->s, p)[objective];
	double delta = facts_delta(s, p.trial, objective);
	struct dp_uses uses;

	if (facts_uses(s, p, objective, &uses, NULL) != DP_OK)
		return (struct fact_check){ NAN, NAN, NAN, false, false };
	if (o->kind == DP_ORACLE_COMPOSED)
		return check_composition(o, &uses, ours);
	return o->uses->mechanism->accountant ? check_accountants(&uses, delta, ours)
					      : check_formula(&uses, delta, ours);
}

/* ---- assumptions ---- */

/* The keys that a parameter sets or that have a value. */
static struct fact_key *find_keys(const struct dp_study *spec, const struct dp_use *u,
				  const double *values, struct facts_memory *m, size_t *n)
{
	const struct dp_mechanism *mechanism = u->mechanism;
	struct fact_key *keys = facts_room(m, mechanism->nkeys, sizeof *keys);

	*n = 0;
	for (size_t i = 0; keys && i < mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &mechanism->keys[i];
		struct fact_key key = { .name = k->name, .number = NAN };

		if (u->param[i] >= 0)
			key.parameter = spec->params[u->param[i]].name;
		else if (isnan(values[i]))
			continue;
		else if (k->kind == DP_PRIVACY_WORD)
			key.word = k->words[(int)values[i]];
		else
			key.number = values[i];
		keys[(*n)++] = key;
	}
	return keys;
}

static struct fact_part find_part(const struct dp_study *spec, const struct dp_oracle *o,
				  const struct dp_use *u, struct facts_memory *m)
{
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_words words;
	struct fact_part part;

	fixed_values(o, u, v);
	dp_privacy_words(u->mechanism, v, &words);
	part = (struct fact_part){
		.mechanism = u->mechanism->name,
		.summary = u->mechanism->summary,
		.times = u->times,
		.times_parameter = u->times_param < 0 ? NULL : spec->params[u->times_param].name,
		.relation = words.relation,
		.sampling = words.sampling,
		.records = dp_privacy_value(u->mechanism, v, u->mechanism->records),
		.theorem = words.theorem,
		.source = u->mechanism->source,
		.noise = words.measure,
	};
	part.keys = find_keys(spec, u, v, m, &part.nkeys);
	return part;
}

static void find_single(const struct subject *s, const struct dp_oracle *o,
			struct facts_memory *memory, struct fact_mechanism *out)
{
	const struct dp_mechanism *m = o->uses->mechanism;
	struct fact_part part = find_part(s->s->spec, o, o->uses, memory);
	char warning[DP_PRIVACY_WARNING_LEN];
	double v[DP_PRIVACY_KEYS_MAX];
	struct dp_privacy_words words;

	fixed_values(o, o->uses, v);
	dp_privacy_words(m, v, &words);
	out->mechanism = part.mechanism;
	out->summary = part.summary;
	out->relation = part.relation;
	out->sampling = part.sampling;
	out->keys = part.keys;
	out->nkeys = part.nkeys;
	out->records = part.records;
	out->accountant = m->accountant
				  ? m->accountant->words[(int)dp_privacy_value(m, v, m->accountant)]
				  : CLOSED_FORM;
	out->accountant_text = words.accountant;
	out->theorem = part.theorem;
	out->source = part.source;
	out->noise = part.noise;
	out->warning = facts_text(memory, dp_privacy_warning(m, v, warning) ? warning : NULL);
}

/* The closed form for Gaussian mechanisms alone, as they are at the first result;
 * else the one that was asked. */
static const char *composition_accountant(const struct subject *s, const struct dp_oracle *o,
					  size_t objective)
{
	const char *asked = dp_privacy_accountants[o->accountant];
	struct dp_uses uses;
	struct dp_epsilon e;

	if (s->npoints == 0 || !(o->delta > 0) ||
	    facts_uses(s, s->points[0], objective, &uses, NULL) != DP_OK ||
	    dp_privacy_compose(uses.item, uses.n, o->delta, false, &e, NULL) != DP_OK)
		return asked;
	return strcmp(e.accountant, CLOSED_FORM) == 0 && !e.theorem ? CLOSED_FORM : asked;
}

static void say_composition(struct fact_mechanism *out, const char *accountant)
{
	out->accountant = accountant;
	if (strcmp(accountant, CLOSED_FORM) == 0) {
		out->accountant_text = FACTS_GAUSSIAN;
		out->theorem = "Dong, Roth and Su, Gaussian Differential Privacy, JRSS B "
			       "2022, Corollary 3.3";
	} else if (strcmp(accountant, dp_privacy_accountants[DP_PRIVACY_PLD]) == 0) {
		out->accountant_text = "privacy loss distributions";
		out->theorem = "Zhu, Dong and Wang, Optimal Accounting of Differential "
			       "Privacy via Characteristic Function, AISTATS 2022, "
			       "Theorem 10";
	} else {
		out->accountant_text = "Renyi divergences";
		out->theorem = "Mironov, Renyi Differential Privacy, CSF 2017, "
			       "Proposition 1";
	}
}

/* The relation is that of the parts which have one of their own: they agree. */
static void find_composition(const struct subject *s, const struct dp_oracle *o,
			     struct facts_memory *m, struct fact_mechanism *out)
{
	out->mechanism = "composition";
	out->summary = "Several mechanisms on the same data.";
	out->parts = facts_room(m, o->nuses, sizeof *out->parts);
	for (size_t i = 0; out->parts && i < o->nuses; i++) {
		struct fact_part *part = &out->parts[out->nparts++];

		*part = find_part(s->s->spec, o, &o->uses[i], m);
		if (!out->relation || !isnan(part->records))
			out->relation = part->relation;
		if (!(part->records <= out->records))
			out->records = part->records;
	}
	say_composition(out, composition_accountant(s, o, out->index));
	out->source = out->theorem;
}

static void find_program(const struct dp_oracle *o, struct fact_mechanism *out)
{
	out->mechanism = out->accountant = "program";
	out->summary = "Epsilon is the answer of a program that came with the study.";
	out->accountant_text = "that program's own; DPareto asked it and checked nothing "
			       "but that equal questions have equal answers";
	out->command = (const char *const *)o->argv;
}

/* All parts of a composition hold for groups of one size. */
static const char *mechanism_unit(const struct dp_oracle *o, struct facts_memory *m)
{
	double v[DP_PRIVACY_KEYS_MAX];

	if (o->kind == DP_ORACLE_PROGRAM)
		return "what the program means by it";
	fixed_values(o, o->uses, v);
	return facts_unit(o->uses->mechanism, v, m);
}

static void find_mechanism(const struct subject *s, size_t objective, struct facts_memory *memory,
			   struct fact_mechanism *out)
{
	const struct dp_oracle *o = oracle_of(s, objective);

	*out = (struct fact_mechanism){
		.index = objective,
		.objective = s->s->spec->objectives[objective].name,
		.unit = mechanism_unit(o, memory),
		.records = NAN,
		.delta = dp_oracle_delta(o),
	};
	if (o->kind == DP_ORACLE_COMPOSED)
		find_composition(s, o, memory, out);
	else if (o->kind == DP_ORACLE_PROGRAM)
		find_program(o, out);
	else
		find_single(s, o, memory, out);
	out->delta_times_records = out->delta * out->records;
	facts_composed(s, objective, memory, &out->composed);
}

void facts_privacy(const struct subject *s, struct facts *f)
{
	const struct dp_study *spec = s->s->spec;

	f->privacy = facts_room(&f->memory, spec->nobjectives, sizeof *f->privacy);
	for (size_t i = 0; f->privacy && i < spec->nobjectives; i++)
		if (spec->objectives[i].privacy)
			find_mechanism(s, i, &f->memory, &f->privacy[f->nprivacy++]);
}
