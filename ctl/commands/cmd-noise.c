/* cmd-noise.c - `noise`: computes the least noise that keeps a target epsilon. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/ctl_output.h"
#include "ctl/mechanism_query.h"
#include "privacy/privacy.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the key of --solve, by default the noise. */
static int noise_find_solved_key(struct ctl *ctl, const struct dp_mechanism *m,
				 const struct dp_privacy_key **k, struct dp_err *err)
{
	const char *name = ctl_get_option(ctl, "solve");
	char key[64];

	*k = m->noise;
	if (!name)
		return DP_OK;
	snprintf(key, sizeof key, "%s", name);
	for (char *p = key; *p; p++)
		*p = *p == '-' ? '_' : *p;
	*k = dp_privacy_key_find(m, key);
	if (*k && (*k == m->noise || (*k)->can_solve_max))
		return DP_OK;
	dp_fail(err, DP_E_USAGE, "--solve cannot be '%s' with mechanism %s", name, m->name);
	for (size_t i = 0; i < m->nkeys; i++)
		if (m->keys[i].can_solve_max)
			return dp_hint(err, "for example: --solve %s", m->keys[i].name);
	return dp_hint(err, "leave it out: only the noise can be solved for");
}

static int cmd_noise_run(struct ctl *ctl, struct dp_err *err)
{
	const char *text = ctl_get_option(ctl, "epsilon");
	char shown[DP_NUM_LEN], epsilon[DP_NUM_LEN], delta[DP_NUM_LEN];
	double values[DP_PRIVACY_KEYS_MAX], target, value, tried = 0;
	const struct dp_privacy_key *k;
	const struct dp_mechanism *m;
	struct dp_epsilon at;
	bool cut = false;
	json_t *answer;
	int code;

	if (!text || !dp_num_parse(text, &target))
		return dp_fail(err, DP_E_USAGE, "--epsilon takes the epsilon to keep");
	code = ctl_mechanism_query_parse(ctl, &m, values, err);
	if (code == DP_OK)
		code = noise_find_solved_key(ctl, m, &k, err);
	if (code == DP_OK)
		code = k == m->noise ? dp_privacy_solve_noise(m, values, target, &value, &at, err)
				     : dp_privacy_solve_largest(m, values, k, target, &value,
								&tried, &cut, &at, err);
	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON) {
		answer = dp_epsilon_to_json(&at);
		json_object_set_new(answer, k->name, dp_json_real(value));
		if (k != m->noise)
			json_object_set_new(answer, "largest", json_boolean(value >= tried));
		ctl_print_json(ctl, answer);
		json_decref(answer);
		return DP_OK;
	}
	dp_privacy_set_value(m, values, k, value);
	ctl_printf(ctl, "%s %s\nepsilon %s at delta %s (%s), not above %s\n", k->name,
		   dp_num_text(value, shown), dp_num_text(at.epsilon, epsilon),
		   dp_num_text(at.delta, delta), at.accountant, text);
	if (value < tried && cut)
		ctl_printf(ctl,
			   "A larger %s might keep it, too: the search ended because "
			   "one question takes long here.\n",
			   k->name);
	else if (value < tried)
		ctl_printf(ctl,
			   "The next larger %s does not keep it, and none above %s "
			   "does. Between both not all were tried: rounding of steps "
			   "makes epsilon fall and rise again.\n",
			   k->name, dp_num_text(tried, shown));
	ctl_print_assumptions(ctl, m, values, &at);
	return DP_OK;
}

static const struct ctl_option options[] = {
	{ "epsilon", 0, "NUMBER", "the epsilon to keep" },
	{ "solve", 0, "KEY", "the most of this (steps, epochs, lot) in place of noise" },
	{ 0 },
};

const struct ctl_command ctl_cmd_noise = {
	.name = "noise",
	.summary = "the least noise that keeps a target epsilon",
	.args = "",
	.min_args = 0,
	.max_args = 0,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.has_mechanism_options = true,
	.help = "Finds the smallest noise, by the mechanism's own key for it, at which epsilon "
		"is at most the target; the answer was evaluated at that very noise and never "
		"overshoots. The other options are those of 'epsilon'.\n\n"
		"With --solve the noise is given, and the answer is the most of a key that costs "
		"privacy (steps, epochs, lot, sample-rate, group, cutoff) that the target "
		"allows. With --epochs a larger lot or sample-rate makes fewer steps, so epsilon "
		"falls and rises again: those that make 1 to 16 steps of an epoch are all "
		"searched. Below these the answer is one that the next larger value does not "
		"keep, and 'largest' in the JSON is false (the text says so).",
	.examples = "dparetoctl noise --epsilon 1 --mechanism dp-sgd --sampling poisson \\\n"
		    "    --records 60000 --lot 256 --epochs 20 --delta 1e-6\n"
		    "dparetoctl noise --epsilon 0.5 --mechanism gaussian --delta 1e-6\n"
		    "dparetoctl noise --epsilon 2 --solve steps --mechanism dp-sgd \\\n"
		    "    --sampling poisson --sample-rate 0.004 --noise-multiplier 1 --delta "
		    "1e-6",
	.run = cmd_noise_run,
};
