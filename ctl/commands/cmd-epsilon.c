/* cmd-epsilon.c - `epsilon`: computes the privacy cost of a mechanism without a daemon. */
#include "base/json.h"
#include "base/units.h"
#include "ctl/ctl_command.h"
#include "ctl/support/composition_file.h"
#include "ctl/ctl_output.h"
#include "ctl/mechanism_query.h"
#include "ctl/ui/table.h"
#include "privacy/privacy.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LINE_MAX_BYTES = 1 << 20,
	CURVE_MIN_EXPONENT = -10,
	CURVE_MAX_EXPONENT = -2,
};

/* ---- --batch: one query and one answer per line ---- */

static json_t *epsilon_answer_batch_line(const char *line, size_t len, bool *failed)
{
	json_t *query = NULL, *answer = NULL;
	struct dp_err err;
	int code = len > LINE_MAX_BYTES
			   ? dp_fail(&err, DP_E_LIMIT, "a line may have at most %d bytes",
				     LINE_MAX_BYTES)
			   : dp_json_parse(line, len, &query, &err);

	if (code == DP_OK)
		code = dp_privacy_answer_query(query, &answer, &err);
	json_decref(query);
	if (code == DP_OK)
		return answer;
	*failed = true;
	return json_pack("{s:o}", "error", dp_json_from_error(&err));
}

static int epsilon_batch(struct ctl *ctl, struct dp_err *err)
{
	char *line = NULL;
	size_t room = 0;
	bool failed = false;
	int code = DP_OK;
	ssize_t n;

	while (code == DP_OK && !ctl->out_closed && (n = getline(&line, &room, stdin)) >= 0) {
		json_t *answer;

		while (n > 0 && strchr("\r\n", line[n - 1]))
			n--;
		answer = epsilon_answer_batch_line(line, (size_t)n, &failed);
		ctl_print_json_line(ctl, answer);
		json_decref(answer);
		/* flush: a co-process waits for this answer before its next line */
		code = ctl_flush(ctl, err);
	}
	free(line);
	if (!failed || code != DP_OK)
		return code;
	ctl->error_reported = true; /* already printed in place of the bad lines */
	return dp_fail(err, DP_E_FAILED, "some lines could not be answered");
}

static void epsilon_print_answer(struct ctl *ctl, const struct dp_mechanism *m,
				 const double *values, const struct dp_epsilon *e)
{
	char epsilon[DP_NUM_LEN], delta[DP_NUM_LEN];
	json_t *answer;

	if (ctl->format == CTL_JSON) {
		answer = dp_epsilon_to_json(e);
		ctl_print_json(ctl, answer);
		json_decref(answer);
		return;
	}
	ctl_printf(ctl, "epsilon %s at delta %s (%s)\n", dp_num_text(e->epsilon, epsilon),
		   dp_num_text(e->delta, delta), e->accountant);
	ctl_print_assumptions(ctl, m, values, e);
}

/* Prints epsilon at delta = 1e-10, 1e-9, ... 1e-2. */
static int epsilon_curve(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			 struct dp_err *err)
{
	enum {
		POINTS = CURVE_MAX_EXPONENT - CURVE_MIN_EXPONENT + 1
	};
	struct dp_epsilon e[POINTS];
	double deltas[POINTS];
	char text[DP_NUM_LEN];
	struct ctl_table *t;
	json_t *list;
	int code;

	for (int i = 0; i < POINTS; i++)
		deltas[i] = pow(10, CURVE_MIN_EXPONENT + i);
	code = dp_privacy_epsilon_curve(m, values, deltas, POINTS, e, err);
	if (code != DP_OK)
		return code;
	if (ctl->format == CTL_JSON) {
		list = json_array();
		for (int i = 0; i < POINTS; i++)
			json_array_append_new(list, dp_epsilon_to_json(&e[i]));
		ctl_print_json(ctl, list);
		json_decref(list);
		return DP_OK;
	}
	t = ctl_table_new("delta>|epsilon");
	for (int i = 0; i < POINTS; i++) {
		ctl_table_add_cell(t, CTL_NORMAL, "%.0e", deltas[i]);
		ctl_table_add_text(t, dp_num_text(e[i].epsilon, text));
	}
	ctl_table_print(ctl, t);
	return DP_OK;
}

static int epsilon_print_delta(struct ctl *ctl, const struct dp_mechanism *m, const double *values,
			       double at, struct dp_err *err)
{
	char epsilon[DP_NUM_LEN], delta[DP_NUM_LEN];
	double with_delta[DP_PRIVACY_KEYS_MAX];
	struct dp_epsilon e;
	int code = dp_privacy_solve_delta(m, values, at, &e, err);

	if (code != DP_OK)
		return code;
	memcpy(with_delta, values, sizeof with_delta);
	dp_privacy_set_value(m, with_delta, m->delta, e.delta);
	if (ctl->format == CTL_JSON) {
		epsilon_print_answer(ctl, m, with_delta, &e);
		return DP_OK;
	}
	ctl_printf(ctl, "delta %s at epsilon %s (%s)\n", dp_num_text(e.delta, delta),
		   dp_num_text(at, epsilon), e.accountant);
	ctl_print_assumptions(ctl, m, with_delta, &e);
	return DP_OK;
}

static int cmd_epsilon_run(struct ctl *ctl, struct dp_err *err)
{
	const char *file = ctl_get_option(ctl, "compose"),
		   *text = ctl_get_option(ctl, "at-epsilon");
	const struct dp_mechanism *m;
	double values[DP_PRIVACY_KEYS_MAX], at = NAN;
	struct dp_epsilon e;
	int code;

	if (ctl_has_option(ctl, "batch"))
		return epsilon_batch(ctl, err);
	if (text && (!dp_num_parse(text, &at) || isnan(at)))
		return dp_fail(err, DP_E_USAGE, "--at-epsilon takes an epsilon");
	if (file) {
		code = ctl_mechanism_query_forbid(ctl, err);
		return code == DP_OK ? ctl_print_composition_file(ctl, file, at, err) : code;
	}
	code = ctl_mechanism_query_parse(ctl, &m, values, err);
	if (code == DP_OK && text)
		return epsilon_print_delta(ctl, m, values, at, err);
	if (code == DP_OK && ctl_has_option(ctl, "curve"))
		return epsilon_curve(ctl, m, values, err);
	if (code == DP_OK)
		code = dp_privacy_epsilon(m, values, &e, err);
	if (code == DP_OK)
		epsilon_print_answer(ctl, m, values, &e);
	return code;
}

static const struct ctl_option options[] = {
	{ "at-epsilon", 0, "NUMBER", "the delta at which this epsilon holds" },
	{ "batch", 0, NULL, "read a JSON object a line, answer one a line" },
	{ "compose", 0, "FILE", "several mechanisms on the same data, from a file" },
	{ "curve", 0, NULL, "epsilon over delta from 1e-10 to 1e-2" },
	{ 0 },
};

const struct ctl_command ctl_cmd_epsilon = {
	.name = "epsilon",
	.summary = "what a mechanism costs, as an upper bound",
	.args = "",
	.min_args = 0,
	.max_args = 0,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.has_mechanism_options = true,
	.help = "Computes epsilon without a daemon, with the accountants that studies use. The "
		"options are the keys of the mechanism ('dparetoctl explain privacy'). Every "
		"number is an upper bound; the table says what it holds for. A question takes at "
		"most two seconds of CPU time. Where a limit makes the bound looser, 'accuracy' "
		"(with -o json 'error_estimate') says by how much.\n\n"
		"With --at-epsilon the answer is the least delta, to a relative 1e-6, at which "
		"that epsilon holds; leave --delta out.\n\n"
		"With --compose, a file of YAML or JSON has what is done to the same data: "
		"'compose' is a list of mechanisms with their keys, each with 'times' if it is "
		"done more often than once; 'delta' and 'accountant' (pld or rdp) stand beside "
		"it.\n\n"
		"With --batch, standard input has a JSON object a line, such as "
		"{\"mechanism\":\"gaussian\",\"sigma\":4,\"delta\":1e-6} or "
		"{\"compose\":[...],\"delta\":1e-6}; standard output gets an answer a line in "
		"the same order, at once. A line that cannot be answered gets {\"error\":...} in "
		"its place, and the exit code is 1 in the end.",
	.examples = "dparetoctl epsilon --mechanism dp-sgd --sampling poisson --records 60000 "
		    "\\\n"
		    "    --lot 256 --epochs 20 --noise-multiplier 1.1 --delta 1e-6\n"
		    "dparetoctl epsilon --mechanism gaussian --sigma 4 --delta 1e-6 -o json\n"
		    "dparetoctl epsilon --mechanism discrete-gaussian --sigma 4 --at-epsilon 1\n"
		    "dparetoctl epsilon --compose pipeline.yaml\n"
		    "dparetoctl epsilon --batch < queries.jsonl",
	.run = cmd_epsilon_run,
};
