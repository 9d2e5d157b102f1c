/* query.c - questions to the privacy oracles, asked with options: what `epsilon` and
 * `noise` share. */
#include "ctl/query.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/text.h"
#include "privacy/privacy.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The option of a key: noise_multiplier is --noise-multiplier. */
static const char *query_given(const struct ctl *ctl, const char *key)
{
	char name[64];

	snprintf(name, sizeof name, "%s", key);
	for (char *p = name; *p; p++)
		*p = *p == '_' ? '-' : *p;
	return ctl_opt(ctl, name);
}

/* An option of another mechanism would go unheard: it is refused. */
static int check_foreign(const struct ctl *ctl, const struct dp_mechanism *m, struct dp_err *err)
{
	for (size_t k = 0; dp_mechanisms[k]; k++) {
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++) {
			const char *key = dp_mechanisms[k]->keys[i].name;

			if (dp_privacy_key_find(m, key) || !query_given(ctl, key))
				continue;
			dp_fail(err, DP_E_USAGE, "mechanism %s has no %s", m->name, key);
			return dp_hint(err, "it belongs to mechanism %s", dp_mechanisms[k]->name);
		}
	}
	return DP_OK;
}

int ctl_query_none(struct ctl *ctl, struct dp_err *err)
{
	if (ctl_opt(ctl, "mechanism"))
		return dp_fail(err, DP_E_USAGE,
			       "--compose names all mechanisms in its file: leave out "
			       "--mechanism");
	for (size_t k = 0; dp_mechanisms[k]; k++) {
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++) {
			const char *key = dp_mechanisms[k]->keys[i].name;

			if (!query_given(ctl, key))
				continue;
			dp_fail(err, DP_E_USAGE, "'%s' is not taken beside --compose", key);
			return dp_hint(err, "the file has it");
		}
	}
	return DP_OK;
}

int ctl_query(struct ctl *ctl, const struct dp_mechanism **m, double *values, struct dp_err *err)
{
	const char *name = ctl_opt(ctl, "mechanism");
	json_t *query = json_object();
	double number;
	int code;

	if (!name) {
		json_decref(query);
		dp_fail(err, DP_E_USAGE, "--mechanism is needed");
		return dp_hint(err, "for example: --mechanism %s", dp_mechanisms[0]->name);
	}
	json_object_set_new(query, "mechanism", json_string(name));
	*m = dp_mechanism_find(name);
	for (size_t i = 0; *m && i < (*m)->nkeys; i++) {
		const char *text = query_given(ctl, (*m)->keys[i].name);

		if (!text)
			continue;
		json_object_set_new(query, (*m)->keys[i].name,
				    dp_num_parse(text, &number) ? dp_json_real(number)
								: json_string(text));
	}
	code = dp_privacy_query(query, m, values, err);
	if (code == DP_OK)
		code = check_foreign(ctl, *m, err);
	json_decref(query);
	return code;
}

static void value_text(const struct dp_privacy_key *k, double v, char *out, size_t room)
{
	char number[DP_NUM_LEN];

	if (k->kind == DP_PRIVACY_WORD)
		snprintf(out, room, "%s", k->words[(size_t)v]);
	else
		snprintf(out, room, "%s", dp_num_text(v, number));
}

enum {
	INDENT = 20
};

static void query_row(struct ctl *ctl, const char *label, const char *text)
{
	struct dp_buf wrapped = DP_BUF_INIT;
	bool fits = strlen(label) < INDENT - 2;

	ctl_wrap(&wrapped, text, INDENT, 92);
	ctl_printf(ctl, "  %-*s%s%s", INDENT - 2, label, fits ? "" : "\n",
		   wrapped.len <= INDENT ? "\n" : dp_buf_text(&wrapped) + (fits ? INDENT : 0));
	dp_buf_free(&wrapped);
}

/* Does the key count with another accountant only than the one that answered? */
static bool is_idle(const struct dp_privacy_key *k, const struct dp_epsilon *e)
{
	return k->only && strcmp(k->only, e->accountant) != 0;
}

void ctl_query_assumptions(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			   const struct dp_epsilon *e)
{
	double full[DP_PRIVACY_KEYS_MAX];
	char text[DP_PRIVACY_WARNING_LEN], number[DP_NUM_LEN];

	if (dp_privacy_check(m, values, full, NULL) != DP_OK)
		return;
	ctl_printf(ctl, "\nholds for\n");
	query_row(ctl, m->name, m->summary);
	query_row(ctl, "neighbours", m->relation);
	query_row(ctl, "by", m->source);
	for (size_t i = 0; i < m->nkeys; i++) {
		if (isnan(full[i]) || (isnan(values[i]) && is_idle(&m->keys[i], e)))
			continue;
		value_text(&m->keys[i], full[i], text, sizeof text);
		if (isnan(values[i]))
			snprintf(text + strlen(text), sizeof text - strlen(text), " (default)");
		query_row(ctl, m->keys[i].name, text);
	}
	if (!isnan(e->order))
		query_row(ctl, "Renyi order", dp_num_text(e->order, number));
	snprintf(text, sizeof text, "at most %s above the true value%s",
		 dp_num_text(e->error, number),
		 e->error_proved ? "" : " (an estimate, not a proof)");
	query_row(ctl, "accuracy", text);
	if (dp_privacy_warning(m, values, text))
		ctl_say(ctl, "warning: %s", text);
}
