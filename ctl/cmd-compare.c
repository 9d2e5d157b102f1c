/* cmd-compare.c - groups of studies beside each other, and how sure a difference is. */
#include "base/buf.h"
#include "base/json.h"
#include "base/num.h"
#include "base/student.h"
#include "ctl/command.h"
#include "ctl/groups.h"
#include "ctl/memory.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "ctl/table.h"
#include "ctl/text.h"
#include "front/front.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is compared: the hypervolume, or the best value of an objective among results
 * where another is at most (at least, if it is maximised) a number. */
struct question {
	bool volume;
	size_t at, of;
	double bound;
};

/* ---- values and tests ---- */

/* NaN: there is no such result. */
static double best_at(const struct ctl_groups *g, const struct question *q,
		      const struct ctl_rival *r)
{
	double best = NAN;

	for (size_t i = 0; i < r->n; i++) {
		const double *y = r->y + i * g->nobjectives;

		if (y[q->at] <= g->sign[q->at] * q->bound && !isnan(y[q->of]) &&
		    ((g->followed && q->at == 0) || !(y[q->of] >= best)))
			best = y[q->of];
	}
	return g->sign[q->of] * best;
}

static double rival_volume(const struct ctl_groups *g, const struct ctl_rival *r)
{
	double ref[DP_OBJECTIVES_MAX], volume;

	for (size_t k = 0; k < g->nobjectives; k++)
		ref[k] = g->sign[k] * g->anti_ideal[k];
	if (g->followed)
		return dp_followed(r->y, r->n, ref);
	if (dp_hypervolume(r->y, r->n, g->nobjectives, ref, &volume) != DP_OK)
		ctl_die_nomem();
	return volume;
}

static json_t *known_json(json_t *value)
{
	if (!value)
		ctl_die_nomem();
	return value;
}

/* NaN is null. */
static json_t *figure_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

/* The values of a group, and what follows from them. */
static json_t *sample_json(const struct ctl_groups *g, const struct question *q,
			   const struct ctl_group *group, struct dp_sample *sample)
{
	double *values = ctl_alloc(group->n, sizeof *values);
	json_t *list = known_json(json_array());

	for (size_t i = 0; i < group->n; i++) {
		values[i] = q->volume ? rival_volume(g, &group->rivals[i])
				      : best_at(g, q, &group->rivals[i]);
		if (json_array_append_new(list, figure_json(values[i])) != 0)
			ctl_die_nomem();
	}
	*sample = dp_sample_of(values, group->n);
	free(values);
	return known_json(
		json_pack("{s:o, s:o, s:o, s:o, s:o}", "values", list, "mean",
			  figure_json(sample->mean), "sd", figure_json(sample->sd), "low",
			  figure_json(sample->low), "high", figure_json(sample->high)));
}

/* Why there is no test between two samples. */
static const char *why_no_test(const struct dp_sample *a, const struct dp_sample *b)
{
	if (isnan(a->mean) || isnan(b->mean))
		return "not all of them have a result there";
	if (isinf(a->mean) || isinf(b->mean))
		return "a value is infinite";
	if (a->n == 1 && b->n == 1)
		return "one value on each side has no spread to go by";
	return "the values of a group do not differ, and so have no spread to go by";
}

static json_t *test_json(const char *a, const char *b, const struct dp_sample *of_a,
			 const struct dp_sample *of_b)
{
	static const char *const kinds[] = { [DP_TEST_NONE] = NULL,
					     [DP_TEST_ONE_SAMPLE] = "one-sample",
					     [DP_TEST_WELCH] = "welch" };
	struct dp_test t = dp_test_means(of_a, of_b);

	return known_json(json_pack(
		"{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?}", "a", a, "b", b,
		"difference", figure_json(t.difference), "low", figure_json(t.low),
		"high", figure_json(t.high), "t", figure_json(t.t), "df",
		figure_json(t.freedom), "p", figure_json(t.p), "kind", kinds[t.kind],
		"why", t.kind == DP_TEST_NONE ? why_no_test(of_a, of_b) : NULL));
}

/* The answer of all groups: one object each in the list `groups`, and the tests of the
 * first against each other one. */
static void question_ask(const struct ctl_groups *g, const struct question *q,
			 json_t *groups, json_t *tests)
{
	struct dp_sample *samples = ctl_alloc(g->n, sizeof *samples);

	for (size_t i = 0; i < g->n; i++) {
		if (json_array_append_new(
			    groups, sample_json(g, q, &g->group[i], &samples[i])) != 0 ||
		    (i > 0 && json_array_append_new(
				      tests, test_json(g->group[0].name, g->group[i].name,
						       &samples[0], &samples[i])) != 0))
			ctl_die_nomem();
	}
	free(samples);
}

/* ---- the whole answer ---- */

static json_t *names_json(const struct ctl_group *group)
{
	json_t *list = known_json(json_array());

	for (size_t i = 0; i < group->n; i++)
		if (json_array_append_new(list, json_string(group->rivals[i].name)) != 0)
			ctl_die_nomem();
	return list;
}

/* The hypervolumes, as the contract has them. */
static json_t *compare_volumes(struct ctl *ctl, const struct ctl_groups *g)
{
	const struct question volume = { .volume = true };
	json_t *samples = known_json(json_array()), *tests = known_json(json_array());
	json_t *groups = known_json(json_array()), *anti_ideal = json_object();
	const char *by = ctl_opt(ctl, "by");

	question_ask(g, &volume, samples, tests);
	for (size_t i = 0; i < g->n; i++)
		if (json_array_append_new(
			    groups,
			    json_pack("{s:s, s:o, s:O}", "name", g->group[i].name,
				      "studies", names_json(&g->group[i]), "hypervolume",
				      json_array_get(samples, i))) != 0)
			ctl_die_nomem();
	for (size_t k = 0; k < g->nobjectives; k++)
		if (json_object_set_new(anti_ideal, g->objectives[k],
					dp_json_real(g->anti_ideal[k])) != 0)
			ctl_die_nomem();
	json_decref(samples);
	return known_json(json_pack("{s:i, s:s, s:o, s:o, s:o, s:[]}", "version", 1, "by",
				    by ? by : "observed", "anti_ideal", anti_ideal,
				    "groups", groups, "tests", tests, "at"));
}

/* Adds an answer to "at". */
static void add_answer(const struct ctl_groups *g, const struct question *q, json_t *at)
{
	json_t *samples = known_json(json_array()), *tests = known_json(json_array());
	json_t *groups = known_json(json_array());

	question_ask(g, q, samples, tests);
	for (size_t i = 0; i < g->n; i++) {
		json_t *one = json_pack("{s:s}", "name", g->group[i].name);

		if (json_object_update(one, json_array_get(samples, i)) != 0 ||
		    json_array_append_new(groups, one) != 0)
			ctl_die_nomem();
	}
	json_decref(samples);
	if (json_array_append_new(at,
				  json_pack("{s:o, s:s, s:o, s:o}", g->objectives[q->at],
					    dp_json_real(q->bound), "objective",
					    g->objectives[q->of], "groups", groups,
					    "tests", tests)) != 0)
		ctl_die_nomem();
}

/* --at epsilon=0.1,1,10: at each number all other objectives. */
static int compare_at(const struct ctl_groups *g, const char *text, json_t *at,
		      struct dp_err *err)
{
	char *copy = ctl_strdup(text), *rest = copy, *part;
	const char *name = strsep(&rest, "=");
	struct question q = { 0 };
	int code = ctl_groups_objective(g, name, &q.at, err);

	if (code == DP_OK && !rest)
		rest = "";
	while (code == DP_OK && (part = strsep(&rest, ",")) != NULL) {
		if (!dp_num_parse(part, &q.bound) || isnan(q.bound))
			code = dp_fail(err, DP_E_USAGE,
				       "--at takes OBJECTIVE=NUMBER,..., as in --at "
				       "epsilon=0.1,1,10, not '%s'",
				       text);
		for (q.of = 0; q.of < g->nobjectives && code == DP_OK; q.of++)
			if (q.of != q.at)
				add_answer(g, &q, at);
	}
	free(copy);
	return code;
}

/* ---- for people ---- */

/* p as people say it. */
static char *p_text(const json_t *p, char out[CTL_TEXT_LEN])
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

/* The tables and what is said below them. */
struct people {
	struct ctl_table *values, *tests;
	struct dp_buf said;
};

static void people_start(struct people *p)
{
	static const char *const of_values[] = { "N", "MEAN", "SD", "LOW", "HIGH" };
	static const char *const of_tests[] = { "DIFFERENCE", "LOW", "HIGH",
						"P",          "T",   "DF" };

	p->values = ctl_table_new();
	p->tests = ctl_table_new();
	ctl_table_column(p->values, "WHAT", CTL_LEFT);
	ctl_table_column(p->values, "GROUP", CTL_LEFT);
	for (size_t i = 0; i < DP_COUNT(of_values); i++)
		ctl_table_column(p->values, of_values[i], CTL_RIGHT);
	ctl_table_column(p->tests, "WHAT", CTL_LEFT);
	ctl_table_column(p->tests, "A", CTL_LEFT);
	ctl_table_column(p->tests, "B", CTL_LEFT);
	for (size_t i = 0; i < DP_COUNT(of_tests); i++)
		ctl_table_column(p->tests, of_tests[i], CTL_RIGHT);
	ctl_table_column(p->tests, "TEST", CTL_LEFT);
}

/* Numbers of an object as cells; a bound on privacy is rounded up. */
static void people_cells(struct ctl_table *t, const json_t *object,
			 const char *const *names, bool bound)
{
	char text[CTL_TEXT_LEN];

	for (; *names; names++) {
		const json_t *value = json_object_get(object, *names);

		ctl_cell(t, CTL_NORMAL, "%s",
			 bound ? ctl_bound(value, text) : ctl_value(value, text));
	}
}

static void people_sentence(struct people *p, const char *what, const json_t *test)
{
	const char *a = dp_json_str(test, "a", ""), *b = dp_json_str(test, "b", "");
	double difference, low, high, sign;
	char text[CTL_TEXT_LEN];

	if (!dp_json_to_real(json_object_get(test, "difference"), &difference)) {
		dp_buf_printf(&p->said, "%s: %s and %s cannot be compared, %s\n", what, a,
			      b, dp_json_str(test, "why", "?"));
		return;
	}
	sign = difference < 0 ? -1 : 1;
	if (difference == 0)
		dp_buf_printf(&p->said, "%s: %s and %s are equal", what, a, b);
	else
		dp_buf_printf(&p->said, "%s: %s is %s %s by %.5g", what, a,
			      difference > 0 ? "above" : "below", b, sign * difference);
	if (!dp_json_to_real(json_object_get(test, "low"), &low) ||
	    !dp_json_to_real(json_object_get(test, "high"), &high)) {
		dp_buf_printf(&p->said, "; no test, %s\n", dp_json_str(test, "why", "?"));
		return;
	}
	p_text(json_object_get(test, "p"), text);
	dp_buf_printf(
		&p->said, " (95 %%: %.5g to %.5g), p %s%s%s\n", sign < 0 ? -high : low,
		sign < 0 ? -low : high, *text == '<' ? "" : "= ", text,
		difference != 0 && low <= 0 && high >= 0 ? ": that may be chance" : "");
}

/* Says so if some of a group have no value, and thus all together no mean. */
static void people_missing(struct people *p, const char *what, const char *group,
			   const json_t *values)
{
	size_t i, missing = 0;
	const json_t *value;

	json_array_foreach (values, i, value)
		missing += json_is_null(value);
	if (missing > 0)
		dp_buf_printf(&p->said, "%s: %zu of %zu in %s %s no such result\n", what,
			      missing, json_array_size(values), group,
			      missing == 1 ? "has" : "have");
}

/* The answer to one question: `samples` as sample_json() made them, and their groups'
 * names. */
static void people_answer(struct people *p, const char *what, const json_t *samples,
			  const json_t *groups, const json_t *tests, bool bound)
{
	static const char *const of_sample[] = { "mean", "sd", "low", "high", NULL };
	static const char *const of_test[] = { "difference", "low", "high", NULL };
	static const char *const behind[] = { "t", "df", NULL };
	const json_t *one;
	char text[CTL_TEXT_LEN];
	size_t i;

	json_array_foreach (samples, i, one) {
		const char *name = dp_json_str(json_array_get(groups, i), "name", "?");
		const json_t *values = json_object_get(one, "values");

		ctl_cell(p->values, CTL_NORMAL, "%s", what);
		ctl_cell(p->values, CTL_NORMAL, "%s", name);
		ctl_cell(p->values, CTL_NORMAL, "%zu", json_array_size(values));
		people_missing(p, what, name, values);
		people_cells(p->values, one, of_sample, bound);
	}
	json_array_foreach (tests, i, one) {
		ctl_cell(p->tests, CTL_NORMAL, "%s", what);
		ctl_cell(p->tests, CTL_NORMAL, "%s", dp_json_str(one, "a", "?"));
		ctl_cell(p->tests, CTL_NORMAL, "%s", dp_json_str(one, "b", "?"));
		people_cells(p->tests, one, of_test, false);
		ctl_cell(p->tests, CTL_BOLD, "%s",
			 p_text(json_object_get(one, "p"), text));
		people_cells(p->tests, one, behind, false);
		ctl_cell(p->tests, CTL_NORMAL, "%s", dp_json_str(one, "kind", "-"));
		people_sentence(p, what, one);
	}
}

static void people_at(struct people *p, const struct ctl_groups *g, const json_t *answer)
{
	const char *of = dp_json_str(answer, "objective", "?");
	char what[300], text[CTL_TEXT_LEN];
	size_t at = 0, target = 0;

	while (at + 1 < g->nobjectives && !json_object_get(answer, g->objectives[at]))
		at++;
	while (target + 1 < g->nobjectives && strcmp(g->objectives[target], of) != 0)
		target++;
	snprintf(what, sizeof what, "%s at %s %s %s", of, g->objectives[at],
		 g->sign[at] < 0 ? ">=" : "<=",
		 ctl_value(json_object_get(answer, g->objectives[at]), text));
	people_answer(p, what, json_object_get(answer, "groups"),
		      json_object_get(answer, "groups"), json_object_get(answer, "tests"),
		      ctl_groups_is_privacy(g, target));
}

static void compare_people(struct ctl *ctl, const struct ctl_groups *g,
			   const json_t *answer)
{
	const json_t *groups = json_object_get(answer, "groups"), *one;
	json_t *samples = known_json(json_array());
	struct people p = { .said = DP_BUF_INIT };
	size_t i;

	people_start(&p);
	json_array_foreach (groups, i, one)
		if (json_array_append(samples, json_object_get(one, "hypervolume")) != 0)
			ctl_die_nomem();
	people_answer(&p, "hypervolume", samples, groups,
		      json_object_get(answer, "tests"), false);
	json_array_foreach (json_object_get(answer, "at"), i, one)
		people_at(&p, g, one);
	ctl_table_print(ctl, p.values);
	if (g->n > 1) {
		ctl_printf(ctl, "\n");
		ctl_table_print(ctl, p.tests);
	} else {
		ctl_table_free(p.tests);
	}
	for (char *rest = (char *)dp_buf_text(&p.said), *line;
	     (line = strsep(&rest, "\n")) && *line;)
		ctl_say(ctl, "%s", line);
	dp_buf_free(&p.said);
	json_decref(samples);
}

/* ---- the command ---- */

static int compare_run(struct ctl *ctl, struct dp_err *err)
{
	struct ctl_groups g = { 0 };
	json_t *answer = NULL;
	int code = ctl_groups_read(ctl, &g, err);

	if (code == DP_OK)
		answer = compare_volumes(ctl, &g);
	for (size_t i = 0; i < ctl->ngiven && code == DP_OK; i++)
		if (strcmp(ctl->given[i].option->name, "at") == 0)
			code = compare_at(&g, ctl->given[i].value,
					  json_object_get(answer, "at"), err);
	if (code == DP_OK && ctl->format == CTL_JSON)
		ctl_put_json(ctl, answer);
	else if (code == DP_OK)
		compare_people(ctl, &g, answer);
	json_decref(answer);
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
	.formats = CTL_PLAIN,
	.options = options,
	.help = "Each STUDY is a group of its own, then come those of --group, which can "
		"be given several times: studies that differ in their seed, or "
		"consecutive parts of a long random study (random/256; a last part that "
		"is not full is left out). Of each group: mean, standard deviation and "
		"the 95 % interval of the mean.\n\n"
		"The first group is tested against each other one: by Welch's t-test, "
		"or, "
		"if one of the two is a single study, which is taken as fixed, by a "
		"t-test of the other sample. DIFFERENCE is A's mean less B's, with its "
		"95 % interval; P is how often chance alone gives one as large. Nothing "
		"is tested where nothing has a spread.\n\n"
		"The studies must have the same objectives, the same delta and the same "
		"anti-ideal. Trials that failed or miss a constraint count in the size "
		"of a part and add nothing.",
	.examples = "dparetoctl compare --group dpareto=a,b,c --group random=r1,r2,r3\n"
		    "dparetoctl compare adult --group random=long/256 --at "
		    "epsilon=0.1,1,10\n"
		    "  as the paper does: one study against parts of a random one",
	.run = compare_run,
};
