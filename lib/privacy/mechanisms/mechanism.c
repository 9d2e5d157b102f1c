/* mechanism.c - finds and describes mechanisms, and checks values against their keys. */
#include "privacy/privacy_internal.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* delta x records: the average number of records published by the (0, delta)-private mechanism that
 * publishes each with probability delta. At one half, it exposes a record with a chance of 40 %. */
#define EXPECTED_PUBLISHED_MAX 0.5

const char *const dp_privacy_accountants[] = {
	[DP_PRIVACY_RDP] = "rdp", [DP_PRIVACY_PLD] = "pld", NULL
};
const char *const dp_privacy_conversions[] = { [DP_PRIVACY_CONVERSION_CLASSIC] = "classic",
					       [DP_PRIVACY_CONVERSION_IMPROVED] = "improved",
					       NULL };

const struct dp_mechanism *dp_mechanism_find(const char *name)
{
	for (size_t i = 0; dp_mechanisms[i]; i++)
		if (strcmp(dp_mechanisms[i]->name, name) == 0)
			return dp_mechanisms[i];
	return NULL;
}

void dp_mechanism_names(const char *names[DP_MECHANISMS_MAX + 1])
{
	size_t n = 0;

	for (; dp_mechanisms[n] && n < DP_MECHANISMS_MAX; n++)
		names[n] = dp_mechanisms[n]->name;
	names[n] = NULL;
}

char *dp_mechanism_names_text(char out[DP_MECHANISMS_LEN])
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; dp_mechanisms[i] && n < DP_MECHANISMS_LEN; i++)
		n += (size_t)snprintf(out + n, DP_MECHANISMS_LEN - n, "%s%s", i ? ", " : "",
				      dp_mechanisms[i]->name);
	return out;
}

const struct dp_privacy_key *dp_privacy_key_find(const struct dp_mechanism *m, const char *name)
{
	for (size_t i = 0; i < m->nkeys; i++)
		if (strcmp(m->keys[i].name, name) == 0)
			return &m->keys[i];
	return NULL;
}

size_t dp_privacy_key_index(const struct dp_mechanism *m, const struct dp_privacy_key *k)
{
	return (size_t)(k - m->keys);
}

double dp_privacy_value(const struct dp_mechanism *m, const double *values,
			const struct dp_privacy_key *k)
{
	return k ? values[dp_privacy_key_index(m, k)] : NAN;
}

enum dp_privacy_cost dp__cost_closed_form(const double *values)
{
	(void)values;
	return DP_PRIVACY_COST_CLOSED_FORM;
}

struct dp_epsilon dp__closed_form(double epsilon, double delta, double error)
{
	return (struct dp_epsilon){
		.epsilon = epsilon,
		.delta = delta,
		.order = NAN,
		.accountant = "closed-form",
		.error = error,
		.error_is_proved = true,
	};
}

/* Parameters never set words, so the defaults of words are known. */
enum dp_privacy_cost dp_mechanism_cost(const struct dp_mechanism *m, const double *values)
{
	double full[DP_PRIVACY_KEYS_MAX];

	for (size_t i = 0; i < m->nkeys; i++)
		full[i] = isnan(values[i]) && m->keys[i].kind == DP_PRIVACY_CHOICE
				  ? m->keys[i].default_value
				  : values[i];
	return m->cost(full);
}

/* What is added up: by the chosen accountant, or the mechanism's own formula. */
static const char *accountant_text(const struct dp_mechanism *m, const double *values)
{
	static const char *const texts[] = {
		[DP_PRIVACY_RDP] = "Renyi divergences",
		[DP_PRIVACY_PLD] = "privacy loss distributions",
	};
	double chosen = dp_privacy_value(m, values, m->accountant);

	return isnan(chosen) ? "closed form" : texts[(size_t)chosen];
}

void dp_privacy_describe(const struct dp_mechanism *m, const double *values,
			 struct dp_privacy_description *out)
{
	double noise = dp_privacy_value(m, values, m->noise);
	char text[DP_NUM_LEN];

	*out = (struct dp_privacy_description){
		.relation = m->relation,
		.accountant = accountant_text(m, values),
		.theorem = m->source,
		.noise_unit = m->noise ? m->noise->help : "There is no noise to choose.",
	};
	if (!isnan(noise))
		snprintf(out->noise, sizeof out->noise, "%s = %s. %s", m->noise->name,
			 dp_num_text(noise, text), m->noise->help);
	if (m->describe)
		m->describe(values, out);
}

void dp_privacy_describe_answer(const struct dp_mechanism *m, const double *values,
				const struct dp_epsilon *answer, struct dp_privacy_description *out)
{
	double answered[DP_PRIVACY_KEYS_MAX];

	memcpy(answered, values, m->nkeys * sizeof *answered);
	for (size_t i = 0; m->accountant && dp_privacy_accountants[i]; i++)
		if (strcmp(answer->accountant, dp_privacy_accountants[i]) == 0)
			answered[dp_privacy_key_index(m, m->accountant)] = (double)i;
	dp_privacy_describe(m, answered, out);
	if (answer->theorem)
		out->theorem = answer->theorem;
}

static size_t count_key_choices(const struct dp_privacy_key *k)
{
	size_t n = 0;

	while (k->choices[n])
		n++;
	return n;
}

bool dp_privacy_key_is_integer(const struct dp_mechanism *m, const double *values,
			       const struct dp_privacy_key *k)
{
	return k->kind == DP_PRIVACY_INTEGER ||
	       (m->requires_integer && m->requires_integer(values, k));
}

bool dp_privacy_key_allows(const struct dp_privacy_key *k, double v)
{
	if (!isfinite(v))
		return false;
	if (k->kind == DP_PRIVACY_CHOICE)
		return v >= 0 && v == floor(v) && v < (double)count_key_choices(k);
	if (k->kind == DP_PRIVACY_INTEGER && v != floor(v))
		return false;
	return (k->lo_open ? v > k->lo : v >= k->lo) && (k->hi_open ? v < k->hi : v <= k->hi);
}

char *dp_privacy_key_format_range(const struct dp_privacy_key *k,
				  char out[DP_PRIVACY_RANGE_TEXT_LEN])
{
	char lo[DP_NUM_LEN], hi[DP_NUM_LEN];
	size_t n = 0;

	if (k->kind == DP_PRIVACY_CHOICE) {
		out[0] = '\0';
		for (size_t i = 0; k->choices[i] && n < DP_PRIVACY_RANGE_TEXT_LEN; i++)
			n += (size_t)snprintf(out + n, DP_PRIVACY_RANGE_TEXT_LEN - n, "%s%s",
					      i ? " | " : "", k->choices[i]);
		return out;
	}
	if (k->lo == k->hi) {
		snprintf(out, DP_PRIVACY_RANGE_TEXT_LEN, "%s or absent", dp_num_text(k->lo, lo));
		return out;
	}
	n = (size_t)snprintf(out, DP_PRIVACY_RANGE_TEXT_LEN, "%s",
			     k->kind == DP_PRIVACY_INTEGER ? "whole number" : "number");
	if (isfinite(k->lo))
		n += (size_t)snprintf(out + n, DP_PRIVACY_RANGE_TEXT_LEN - n, " %s %s",
				      k->lo_open ? ">" : ">=", dp_num_text(k->lo, lo));
	/* 2^53 only means that doubles hold every integer up to there */
	if (isfinite(k->hi) && k->hi < 0x1p53)
		snprintf(out + n, DP_PRIVACY_RANGE_TEXT_LEN - n, "%s %s %s",
			 isfinite(k->lo) ? " and" : "",
			 k->hi_open ? "<" : "<=", dp_num_text(k->hi, hi));
	return out;
}

/* Exactly one key of a group must be given. Checks a group once, at its first key. */
static int check_key_alternatives(const struct dp_mechanism *m, const double *values, size_t first,
				  struct dp_err *err)
{
	unsigned group = m->keys[first].alternatives_group;
	const char *given = NULL;
	char names[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < first; i++)
		if (m->keys[i].alternatives_group == group)
			return DP_OK;
	for (size_t i = first; i < m->nkeys; i++) {
		if (m->keys[i].alternatives_group != group)
			continue;
		n += (size_t)snprintf(names + n, sizeof names - n, "%s'%s'", n ? " or " : "",
				      m->keys[i].name);
		if (isnan(values[i]))
			continue;
		if (given)
			return dp_fail(err, DP_E_INVALID,
				       "mechanism %s: '%s' and '%s' exclude each other", m->name,
				       given, m->keys[i].name);
		given = m->keys[i].name;
	}
	return given ? DP_OK
		     : dp_fail(err, DP_E_INVALID, "mechanism %s needs the key %s", m->name, names);
}

/* Checks whether an absent key is required or replaced by another. */
static int check_absent_key(const struct dp_mechanism *m, const double *values,
			    const struct dp_privacy_key *k, struct dp_err *err)
{
	const struct dp_privacy_key *other =
		k->replaced_by ? dp_privacy_key_find(m, k->replaced_by) : NULL;

	if (!k->required || !isnan(dp_privacy_value(m, values, other)))
		return DP_OK;
	if (other)
		dp_fail(err, DP_E_INVALID, "mechanism %s needs the key '%s', or '%s' in its place",
			m->name, k->name, other->name);
	else
		dp_fail(err, DP_E_INVALID, "mechanism %s needs the key '%s'", m->name, k->name);
	dp_hint(err, "%s is: %s", k->name, k->help);
	return DP_E_INVALID;
}

static int check_given_key(const struct dp_mechanism *m, const double *values,
			   const struct dp_privacy_key *k, struct dp_err *err)
{
	char rule[DP_PRIVACY_RANGE_TEXT_LEN], text[DP_NUM_LEN];
	double v = dp_privacy_value(m, values, k);

	if (!dp_privacy_key_allows(k, v))
		return dp_fail(err, DP_E_INVALID, "mechanism %s: '%s' cannot be %s; allowed: %s",
			       m->name, k->name, dp_num_text(v, text),
			       dp_privacy_key_format_range(k, rule));
	if (dp_privacy_key_is_integer(m, values, k) && v != floor(v))
		return dp_fail(err, DP_E_INVALID,
			       "mechanism %s: '%s' cannot be %s: here it must be a whole "
			       "number",
			       m->name, k->name, dp_num_text(v, text));
	if (k->replaced_by &&
	    !isnan(dp_privacy_value(m, values, dp_privacy_key_find(m, k->replaced_by))))
		return dp_fail(err, DP_E_INVALID, "mechanism %s: '%s' and '%s' exclude each other",
			       m->name, k->name, k->replaced_by);
	return DP_OK;
}

int dp_privacy_check_values(const struct dp_mechanism *m, const double *values,
			    double full[DP_PRIVACY_KEYS_MAX], struct dp_err *err)
{
	int code = DP_OK;

	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];

		if (k->alternatives_group && check_key_alternatives(m, values, i, err) != DP_OK)
			return DP_E_INVALID;
		full[i] = isnan(values[i]) ? k->default_value : values[i];
		code = isnan(values[i]) ? check_absent_key(m, values, k, err)
					: check_given_key(m, values, k, err);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

int dp_privacy_epsilon(const struct dp_mechanism *m, const double *values, struct dp_epsilon *out,
		       struct dp_err *err)
{
	double full[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon answer;
	int code = dp_privacy_check_values(m, values, full, err);

	if (code == DP_OK)
		code = m->epsilon(full, &answer, err);
	if (code == DP_OK)
		*out = answer;
	return code;
}

bool dp_privacy_warning(const struct dp_mechanism *m, const double *values,
			char out[DP_PRIVACY_WARNING_LEN])
{
	double records = dp_privacy_value(m, values, m->records);
	double delta = dp_privacy_value(m, values, m->delta);

	out[0] = '\0';
	if (!(delta * records >= EXPECTED_PUBLISHED_MAX))
		return false;
	snprintf(out, DP_PRIVACY_WARNING_LEN,
		 "delta %g is not well below 1/records = %.3g: publishing each record "
		 "with probability delta would satisfy it, and would publish %.2g of "
		 "them on average; choose a much smaller one",
		 delta, 1 / records, delta * records);
	return true;
}

int dp_privacy_check_declaration(const struct dp_mechanism *m, const double *values,
				 const struct dp_declaration *d,
				 char warning[DP_PRIVACY_WARNING_LEN], struct dp_err *err)
{
	double full[DP_PRIVACY_KEYS_MAX];
	int code;

	warning[0] = '\0';
	if (!m->check_declaration)
		return DP_OK;
	code = dp_privacy_check_values(m, values, full, err);
	return code == DP_OK ? m->check_declaration(full, d, warning, err) : code;
}
