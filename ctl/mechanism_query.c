/* mechanism_query.c - reads the mechanism options of `epsilon` and `noise`. */
#include "ctl/mechanism_query.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_output.h"
#include "ctl/text_format.h"
#include "privacy/privacy.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the option of a key: --noise-multiplier for noise_multiplier. */
static const char *get_key_option(const struct ctl *ctl, const char *key)
{
	char name[64];

	snprintf(name, sizeof name, "%s", key);
	for (char *p = name; *p; p++)
		*p = *p == '_' ? '-' : *p;
	return ctl_get_option(ctl, name);
}

/* Refuses options of other mechanisms, which would have no effect. */
static int check_foreign_options(const struct ctl *ctl, const struct dp_mechanism *m,
				 struct dp_err *err)
{
	for (size_t k = 0; dp_mechanisms[k]; k++) {
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++) {
			const char *key = dp_mechanisms[k]->keys[i].name;

			if (dp_privacy_key_find(m, key) || !get_key_option(ctl, key))
				continue;
			dp_fail(err, DP_E_USAGE, "mechanism %s has no %s", m->name, key);
			return dp_hint(err, "it belongs to mechanism %s", dp_mechanisms[k]->name);
		}
	}
	return DP_OK;
}

int ctl_mechanism_query_forbid(struct ctl *ctl, struct dp_err *err)
{
	if (ctl_get_option(ctl, "mechanism"))
		return dp_fail(err, DP_E_USAGE,
			       "--compose names all mechanisms in its file: leave out "
			       "--mechanism");
	for (size_t k = 0; dp_mechanisms[k]; k++) {
		for (size_t i = 0; i < dp_mechanisms[k]->nkeys; i++) {
			const char *key = dp_mechanisms[k]->keys[i].name;

			if (!get_key_option(ctl, key))
				continue;
			dp_fail(err, DP_E_USAGE, "'%s' is not taken beside --compose", key);
			return dp_hint(err, "the file has it");
		}
	}
	return DP_OK;
}

int ctl_mechanism_query_parse(struct ctl *ctl, const struct dp_mechanism **m, double *values,
			      struct dp_err *err)
{
	const char *name = ctl_get_option(ctl, "mechanism");
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
		const char *text = get_key_option(ctl, (*m)->keys[i].name);

		if (!text)
			continue;
		json_object_set_new(query, (*m)->keys[i].name,
				    dp_num_parse(text, &number) ? dp_json_real(number)
								: json_string(text));
	}
	code = dp_privacy_query_parse(query, m, values, err);
	if (code == DP_OK)
		code = check_foreign_options(ctl, *m, err);
	json_decref(query);
	return code;
}

enum {
	ASSUMPTION_INDENT = 20
};

static void print_assumption_row(struct ctl *ctl, const char *label, const char *text)
{
	struct dp_buf wrapped = DP_BUF_INIT;
	bool fits = strlen(label) < ASSUMPTION_INDENT - 2;

	ctl_text_wrap(&wrapped, text, ASSUMPTION_INDENT, 92);
	ctl_printf(ctl, "  %-*s%s%s", ASSUMPTION_INDENT - 2, label, fits ? "" : "\n",
		   wrapped.len <= ASSUMPTION_INDENT
			   ? "\n"
			   : dp_buf_text(&wrapped) + (fits ? ASSUMPTION_INDENT : 0));
	dp_buf_free(&wrapped);
}

void ctl_print_assumptions(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			   const struct dp_epsilon *e)
{
	double full[DP_PRIVACY_KEYS_MAX];
	char text[DP_PRIVACY_WARNING_LEN], number[DP_NUM_LEN];

	if (dp_privacy_check_values(m, values, full, NULL) != DP_OK)
		return;
	ctl_printf(ctl, "\nholds for\n");
	print_assumption_row(ctl, m->name, m->summary);
	print_assumption_row(ctl, "neighbours", m->relation);
	print_assumption_row(ctl, "by", m->source);
	for (size_t i = 0; i < m->nkeys; i++) {
		const struct dp_privacy_key *k = &m->keys[i];
		/* is the key used only by an accountant other than the one that answered? */
		bool ignored = k->only_accountant && strcmp(k->only_accountant, e->accountant) != 0;

		if (isnan(full[i]) || (isnan(values[i]) && ignored))
			continue;
		snprintf(text, sizeof text, "%s%s",
			 k->kind == DP_PRIVACY_CHOICE ? k->choices[(size_t)full[i]]
						      : dp_num_text(full[i], number),
			 isnan(values[i]) ? " (default)" : "");
		print_assumption_row(ctl, k->name, text);
	}
	if (!isnan(e->order))
		print_assumption_row(ctl, "Renyi order", dp_num_text(e->order, number));
	snprintf(text, sizeof text, "at most %s above the true value%s",
		 dp_num_text(e->error, number),
		 e->error_is_proved ? "" : " (an estimate, not a proof)");
	print_assumption_row(ctl, "accuracy", text);
	if (dp_privacy_warning(m, values, text))
		ctl_print_message(ctl, "warning: %s", text);
}
