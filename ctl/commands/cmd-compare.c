/* cmd-compare.c - `compare`: compares groups of studies and tests their differences. */
#include "base/buf.h"
#include "base/json.h"
#include "ctl/ctl_command.h"
#include "ctl/support/comparison_groups.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/table.h"
#include "ctl/text_format.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *format_p_value(const json_t *p, char out[CTL_TEXT_LEN])
{
	double x;

	if (!dp_json_to_real(p, &x))
		strcpy(out, "-");
	else if (x < 1e-4)
		strcpy(out, "< 0.0001");
	else
		snprintf(out, CTL_TEXT_LEN, "%.2g", x);
	return out;
}

struct compare_output {
	struct ctl_table *value_table, *test_table;
	struct dp_buf sentences;
};

/* Adds numbers of an object as cells, rounded up if `bound`. */
static void compare_add_cells(struct ctl_table *t, const json_t *object, const char *const *names,
			      bool bound)
{
	char text[CTL_TEXT_LEN];

	for (; *names; names++) {
		const json_t *value = json_object_get(object, *names);

		ctl_table_add_text(t, bound ? ctl_format_upper_bound(value, text)
					    : ctl_format_value(value, text));
	}
}

static void compare_add_test_sentence(struct compare_output *p, const char *what,
				      const json_t *test)
{
	const char *a = dp_json_str(test, "a", ""), *b = dp_json_str(test, "b", "");
	double difference, low, high, sign;
	char text[CTL_TEXT_LEN];

	if (!dp_json_to_real(json_object_get(test, "difference"), &difference)) {
		dp_buf_printf(&p->sentences, "%s: %s and %s cannot be compared, %s\n", what, a, b,
			      dp_json_str(test, "why", "?"));
		return;
	}
	sign = difference < 0 ? -1 : 1;
	if (difference == 0)
		dp_buf_printf(&p->sentences, "%s: %s and %s are equal", what, a, b);
	else
		dp_buf_printf(&p->sentences, "%s: %s is %s %s by %.5g", what, a,
			      difference > 0 ? "above" : "below", b, sign * difference);
	if (!dp_json_to_real(json_object_get(test, "low"), &low) ||
	    !dp_json_to_real(json_object_get(test, "high"), &high)) {
		dp_buf_printf(&p->sentences, "; no test, %s\n", dp_json_str(test, "why", "?"));
		return;
	}
	format_p_value(json_object_get(test, "p"), text);
	dp_buf_printf(&p->sentences, " (95 %%: %.5g to %.5g), p %s%s%s\n", sign < 0 ? -high : low,
		      sign < 0 ? -low : high, *text == '<' ? "" : "= ", text,
		      difference != 0 && low <= 0 && high >= 0 ? ": that may be chance" : "");
}

/* Adds the rows of one comparison. samples: from sample_json(); groups: their names. */
static void compare_add_question(struct compare_output *p, const char *what, const json_t *samples,
				 const json_t *groups, const json_t *tests, bool bound)
{
	static const char *const of_sample[] = { "mean", "sd", "low", "high", NULL };
	static const char *const of_test[] = { "difference", "low", "high", NULL };
	static const char *const behind[] = { "t", "df", NULL };
	const json_t *one, *value;
	char text[CTL_TEXT_LEN];
	size_t i, k;

	json_array_foreach (samples, i, one) {
		const char *name = dp_json_str(json_array_get(groups, i), "name", "?");
		const json_t *values = json_object_get(one, "values");
		size_t missing = 0;

		ctl_table_add_text(p->value_table, what);
		ctl_table_add_text(p->value_table, name);
		ctl_table_add_cell(p->value_table, CTL_NORMAL, "%zu", json_array_size(values));
		/* with missing values there is no mean of the group */
		json_array_foreach (values, k, value)
			missing += json_is_null(value);
		if (missing > 0)
			dp_buf_printf(&p->sentences, "%s: %zu of %zu in %s %s no such result\n",
				      what, missing, json_array_size(values), name,
				      missing == 1 ? "has" : "have");
		compare_add_cells(p->value_table, one, of_sample, bound);
	}
	json_array_foreach (tests, i, one) {
		ctl_table_add_text(p->test_table, what);
		ctl_table_add_text(p->test_table, dp_json_str(one, "a", "?"));
		ctl_table_add_text(p->test_table, dp_json_str(one, "b", "?"));
		compare_add_cells(p->test_table, one, of_test, false);
		ctl_table_add_cell(p->test_table, CTL_BOLD, "%s",
				   format_p_value(json_object_get(one, "p"), text));
		compare_add_cells(p->test_table, one, behind, false);
		ctl_table_add_text(p->test_table, dp_json_str(one, "kind", "-"));
		compare_add_test_sentence(p, what, one);
	}
}

static void compare_add_level_question(struct compare_output *p, const struct ctl_groups *g,
				       const json_t *answer)
{
	const char *of = dp_json_str(answer, "objective", "?");
	const struct dp_comparison *c = &g->contest;
	char what[300], text[CTL_TEXT_LEN];
	size_t at = 0, target = 0;

	while (at + 1 < c->nobjectives && !json_object_get(answer, c->objectives[at]))
		at++;
	while (target + 1 < c->nobjectives && strcmp(c->objectives[target], of) != 0)
		target++;
	snprintf(what, sizeof what, "%s at %s %s %s", of, c->objectives[at],
		 c->sign[at] < 0 ? ">=" : "<=",
		 ctl_format_value(json_object_get(answer, c->objectives[at]), text));
	compare_add_question(p, what, json_object_get(answer, "groups"),
			     json_object_get(answer, "groups"), json_object_get(answer, "tests"),
			     ctl_groups_objective_is_privacy(g, target));
}

static void compare_print_tables(struct ctl *ctl, const struct ctl_groups *g, const json_t *answer)
{
	const json_t *groups = json_object_get(answer, "groups"), *one;
	json_t *samples = json_array();
	struct compare_output p = {
		.value_table = ctl_table_new("WHAT|GROUP|N>|MEAN>|SD>|LOW>|HIGH>"),
		.test_table = ctl_table_new("WHAT|A|B|DIFFERENCE>|LOW>|HIGH>|P>|T>|DF>|TEST"),
	};
	size_t i;

	json_array_foreach (groups, i, one)
		json_array_append(samples, json_object_get(one, "hypervolume"));
	compare_add_question(&p, "hypervolume", samples, groups, json_object_get(answer, "tests"),
			     false);
	json_array_foreach (json_object_get(answer, "at"), i, one)
		compare_add_level_question(&p, g, one);
	ctl_table_print(ctl, p.value_table);
	if (g->contest.n > 1) {
		ctl_printf(ctl, "\n");
		ctl_table_print(ctl, p.test_table);
	} else {
		ctl_table_free(p.test_table);
	}
	for (char *rest = (char *)dp_buf_text(&p.sentences), *line;
	     (line = strsep(&rest, "\n")) && *line;)
		ctl_print_message(ctl, "%s", line);
	dp_buf_free(&p.sentences);
	json_decref(samples);
}

static int cmd_compare_run(struct ctl *ctl, struct dp_err *err)
{
	const struct dp_compare_query hypervolume = { .is_hypervolume = true };
	const char *by = ctl_get_option(ctl, "by");
	struct ctl_groups g = { 0 };
	struct dp_compare_answer volumes = { 0 };
	struct dp_compare_answers at = { 0 };
	json_t *answer;
	int code = ctl_groups_read(ctl, &g, err);

	if (code == DP_OK)
		volumes = dp_comparison_answer(&g.contest, &hypervolume);
	for (size_t i = 0; i < ctl->n_given_options && code == DP_OK; i++)
		if (strcmp(ctl->given_options[i].option->name, "at") == 0)
			code = dp_comparison_answer_at(&g.contest, ctl->given_options[i].value, &at,
						       err);
	if (code == DP_OK) {
		answer = dp_compare_json(&g.contest, by ? by : "observed", &volumes, &at);
		if (ctl->format == CTL_JSON)
			ctl_print_json(ctl, answer);
		else
			compare_print_tables(ctl, &g, answer);
		json_decref(answer);
	}
	dp_compare_answer_free(&volumes);
	dp_compare_answers_free(&at);
	ctl_groups_clear(&g);
	return code;
}

static const struct ctl_option options[] = {
	{ "group", 0, "NAME=STUDY,STUDY,...",
	  "a group of studies; STUDY/256 stands for each 256 trials of one" },
	{ "at", 0, "OBJECTIVE=X,X,...",
	  "also the best of the other objectives where this one is at most X (at least, "
	  "if it is maximised)" },
	{ "by", 0, "observed|denoised|remeasured",
	  "observed means, the default; the models' values, or what was measured again, "
	  "of whole studies" },
	{ "anti-ideal", 0, "OBJECTIVE=X,...",
	  "measure hypervolumes from here, not from the studies' own anti-ideal" },
	{ "state", 0, "DIR", "from the journal in this state folder, without a daemon" },
	{ 0 },
};

const struct ctl_command ctl_cmd_compare = {
	.name = "compare",
	.summary = "compare groups of studies, and say how sure a difference is",
	.args = "[STUDY...]",
	.min_args = 0,
	.max_args = -1,
	.formats = CTL_TABLE_OR_JSON,
	.options = options,
	.help = "Each STUDY is a group of its own, then come those of --group, which can be "
		"given several times: studies that differ in their seed, or consecutive parts of "
		"a long random study (random/256; a last part that is not full is left out). Of "
		"each group: mean, standard deviation and the 95 % interval of the mean.\n\n"
		"The first group is tested against each other one: by Welch's t-test, or, if one "
		"of the two is a single study, which is taken as fixed, by a t-test of the other "
		"sample. DIFFERENCE is A's mean less B's, with its 95 % interval; P is how often "
		"chance alone gives one as large. Nothing is tested where nothing has a "
		"spread.\n\n"
		"The studies must have the same objectives, the same delta and the same "
		"anti-ideal. Trials that failed or miss a constraint count in the size of a part "
		"and add nothing.",
	.examples = "dparetoctl compare --group dpareto=a,b,c --group random=r1,r2,r3\n"
		    "dparetoctl compare adult --group random=long/256 --at epsilon=0.1,1,10\n"
		    "  as the paper does: one study against parts of a random one",
	.run = cmd_compare_run,
};
