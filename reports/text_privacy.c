/* text_privacy.c - the chapters on what the numbers mean: the cost of the search, trust
 * in utilities, assumptions behind epsilon, statements. */
#include "reports/words.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <string.h>

enum {
	STATEMENTS_MAX = 100 /* more are in report.json only */
};

static bool is_private(const json_t *facts)
{
	return strcmp(fact_text(facts, "data"), "private") == 0;
}

/* ---- the warning ---- */

/* One way to add up all trainings: at the study's delta, and where that is 0 also at
 * another. */
static void say_sum(struct doc *d, const json_t *sum, bool first)
{
	char s[SHORT_LEN], t[DP_NUM_LEN];

	if (json_is_null(fact(sum, "epsilon")))
		doc_note(d, "The cost of the whole study cannot be told: %s.",
			 fact_text(sum, "why"));
	else if (first)
		doc_note(d,
			 "All trainings of the study together: epsilon %s at a total "
			 "delta of %s, for the training records.",
			 up_text(fact_number(sum, "epsilon"), s),
			 dp_num_text(fact_number(sum, "delta"), t));
	else
		doc_paragraph(d, "At a total delta of %s it is epsilon %s.",
			      dp_num_text(fact_number(sum, "delta"), t),
			      up_text(fact_number(sum, "epsilon"), s));
}

static void say_total(struct doc *d, const json_t *mechanism)
{
	const json_t *composed = fact(mechanism, "composed"), *sum;
	size_t i;

	json_array_foreach (fact(composed, "totals"), i, sum)
		say_sum(d, sum, i == 0);
	doc_paragraph(
		d,
		"This composes all %lld evaluations with every run of every attempt that "
		"may have started, %lld trainings: failed and diverged ones, retries and "
		"points off the front are among them. A retry counts as a training of "
		"its "
		"own, although it has the same seed, because a trainer need not repeat "
		"itself.",
		(long long)fact_count(composed, "evaluations"),
		(long long)fact_count(composed, "trainings"));
	if (fact_count(composed, "imported") > 0)
		doc_paragraph(
			d,
			"%lld results were taken over from another study; what they "
			"cost is not in this number.",
			(long long)fact_count(composed, "imported"));
}

void write_warning(struct doc *d, const json_t *facts)
{
	const json_t *mechanism;
	size_t i;

	doc_section(d, "not-private", "The front itself is not private");
	if (is_private(facts))
		doc_note(
			d,
			"Each epsilon of this report is that of one training. The search "
			"trained many times on the same records, and chose by the "
			"results: whoever publishes the front, this report or a model "
			"chosen with it tells more about the records than one epsilon "
			"says.");
	else
		doc_paragraph(
			d,
			"The study file declares its data public, so that the search "
			"cost "
			"nobody's privacy. Each epsilon is what one training would cost "
			"on private data of the same size. Repeating the search on "
			"private data would cost what stands here.");
	json_array_foreach (fact(facts, "privacy"), i, mechanism)
		say_total(d, mechanism);
	if (i == 0)
		doc_paragraph(d, "No objective of this study is a privacy mechanism, so "
				 "that nothing is known of what its trainings cost.");
	doc_paragraph(d,
		      "Test and holdout records get no guarantee at all: utilities are "
		      "computed from them without noise.");
}

/* ---- how far to trust the numbers ---- */

static void say_sampling(struct doc *d, const char *name, const json_t *sampling)
{
	char p[SHORT_LEN], e[SHORT_LEN], f[SHORT_LEN];

	if (json_is_null(sampling))
		return;
	short_text(fact_number(sampling, "share"), p);
	if (!isnan(fact_number(sampling, "error")))
		doc_item(
			d,
			"If %s is a share of test records: with %.0f of them, a share of "
			"%s has a sampling error of %s (one standard deviation).",
			name, fact_number(sampling, "records"), p,
			short_text(fact_number(sampling, "error"), e));
	else
		doc_item(d,
			 "If %s is a share of n test records, it has a sampling error of "
			 "its own, sqrt(p (1 - p) / n): at the front's middle, p = %s, "
			 "that is %s with 1,000 records and %s with 10,000 (one standard "
			 "deviation). The trainer does not report the number of its test "
			 "records (metric test_records).",
			 name, p, short_text(fact_number(sampling, "error_at_1000"), e),
			 short_text(fact_number(sampling, "error_at_10000"), f));
}

static void say_optimism(struct doc *d, const json_t *o)
{
	const char *name = fact_text(o, "objective");
	const json_t *by = fact(o, "too_good_by"), *holdout = fact(o, "holdout");
	char a[SHORT_LEN], b[SHORT_LEN];

	if (!isnan(fact_number(o, "standard_error")))
		doc_item(d,
			 "%s: the mean of a trial's runs has a standard error of %s (the "
			 "median over the front).",
			 name, short_text(fact_number(o, "standard_error"), a));
	else
		doc_item(d,
			 "%s: with one run a trial, nothing is known of its noise. "
			 "Several runs would tell (trainer.runs).",
			 name);
	if (json_is_object(by))
		doc_item(d,
			 "%s: the models put the points of the front %s worse than "
			 "observed on average, %s at most.",
			 name, short_text(fact_number(by, "mean"), a),
			 short_text(fact_number(by, "most"), b));
	if (json_is_object(holdout))
		doc_item(d,
			 "%s on records that the search never looked at differs from %s "
			 "by %s on average over the front.",
			 fact_text(holdout, "metric"), fact_text(holdout, "of"),
			 short_text(fact_number(holdout, "difference"), a));
	say_sampling(d, name, fact(o, "sampling"));
}

void write_optimism(struct doc *d, const json_t *facts)
{
	const json_t *optimism = fact(facts, "optimism"), *o;
	size_t i;

	if (json_array_size(fact(facts, "front")) == 0)
		return;
	doc_section(d, "trust", "How far to trust the utilities");
	doc_paragraph(d,
		      "The front is the best of %lld noisy observations, and the best of "
		      "many is optimistic: some of them are there by luck. A training "
		      "that repeats a point of the front will on average do worse.",
		      (long long)fact_count(optimism, "chosen_from"));
	json_array_foreach (fact(optimism, "objectives"), i, o)
		say_optimism(d, o);
}

/* ---- what is behind epsilon ---- */

static void say_keys(struct doc *d, const json_t *keys)
{
	const char *name;
	json_t *v;

	doc_table(d);
	doc_column(d, "key", false);
	doc_column(d, "value", false);
	json_object_foreach ((json_t *)keys, name, v) {
		doc_cell(d, "%s", name);
		if (json_is_object(v))
			doc_cell(d, "parameter %s", fact_text(v, "parameter"));
		else
			value_cell(d, v);
	}
	doc_table_end(d);
}

static void say_mechanism(struct doc *d, const json_t *m)
{
	double delta = fact_number(m, "delta"), records = fact_number(m, "records");
	char t[DP_NUM_LEN], s[SHORT_LEN];

	doc_field(d, "Mechanism", "%s. %s", fact_text(m, "mechanism"),
		  fact_text(m, "summary"));
	doc_field(d, "Unit of privacy",
		  "%s. A person with several records is protected "
		  "less than epsilon says.",
		  fact_text(m, "unit"));
	doc_field(d, "Neighbouring relation", "%s", fact_text(m, "relation"));
	if (!json_is_null(fact(m, "sampling")))
		doc_field(d, "Sampling",
			  "%s. Shuffled batches are something else; "
			  "epsilon is not proven for them.",
			  fact_text(m, "sampling"));
	if (!isnan(records))
		doc_field(d, "Training records", "%.0f", records);
	if (!isnan(delta) && !isnan(records))
		doc_field(d, "Delta",
			  "%s; delta x records = %s, which should be well below 1",
			  dp_num_text(delta, t),
			  short_text(fact_number(m, "delta_times_records"), s));
	else if (!isnan(delta))
		doc_field(d, "Delta", "%s%s", dp_num_text(delta, t),
			  delta == 0 ? ": pure differential privacy" : "");
	doc_field(d, "Accountant", "%s; every epsilon is an upper bound",
		  fact_text(m, "accountant_text"));
	doc_field(d, "Theorem", "%s", fact_text(m, "theorem"));
	doc_field(d, "Noise", "%s", fact_text(m, "noise"));
	if (!json_is_null(fact(m, "warning")))
		doc_note(d, "%s", fact_text(m, "warning"));
	say_keys(d, fact(m, "keys"));
}

static void check_table(struct doc *d, const json_t *facts, const char *objective)
{
	static const char *const columns[] = { "pld", "rdp_improved", "rdp_classic" };
	const json_t *point;
	char s[SHORT_LEN];
	size_t i;

	doc_table(d);
	doc_column(d, "trial", true);
	doc_column(d, "epsilon", true);
	doc_column(d, "pld", true);
	doc_column(d, "rdp, improved", true);
	doc_column(d, "rdp, classic", true);
	doc_column(d, "fits", false);
	json_array_foreach (fact(facts, "front"), i, point) {
		const json_t *check = fact(fact(point, "checks"), objective);

		doc_cell(d, "%lld", (long long)fact_count(point, "trial"));
		doc_cell(d, "%s",
			 up_text(fact_number(fact(point, "objectives"), objective), s));
		for (size_t k = 0; k < DP_COUNT(columns); k++)
			doc_cell(d, "%s", up_text(fact_number(check, columns[k]), s));
		doc_cell(d, "%s", dp_json_bool(check, "holds", false) ? "yes" : "NO");
	}
	doc_table_end(d);
}

static void say_checks(struct doc *d, const json_t *facts, const char *objective)
{
	const json_t *point;
	size_t i, held = 0, second = 0, n = json_array_size(fact(facts, "front"));

	if (n == 0)
		return;
	json_array_foreach (fact(facts, "front"), i, point) {
		const json_t *check = fact(fact(point, "checks"), objective);

		held += dp_json_bool(check, "holds", false);
		second += !json_is_null(fact(check, "rdp_improved"));
	}
	if (second == 0) {
		doc_paragraph(d,
			      "Each epsilon of the front was computed again from "
			      "its parameters: %zu of %zu agree. For pure "
			      "differential privacy there is no second accountant.",
			      held, n);
		return;
	}
	doc_paragraph(d,
		      "Each epsilon of the front was computed again, and by other "
		      "accountants: loss distributions give at most what Renyi "
		      "divergences with the improved conversion give, and these at most "
		      "what the classic conversion gives. That holds for %zu of %zu "
		      "points.",
		      held, n);
	check_table(d, facts, objective);
}

void write_assumptions(struct doc *d, const json_t *facts)
{
	const json_t *m;
	size_t i;

	if (json_array_size(fact(facts, "privacy")) == 0)
		return;
	doc_section(d, "assumptions", "What is behind epsilon");
	json_array_foreach (fact(facts, "privacy"), i, m) {
		doc_heading(d, fact_text(m, "objective"));
		say_mechanism(d, m);
		say_checks(d, facts, fact_text(m, "objective"));
	}
	doc_paragraph(d,
		      "Not covered: data-dependent choices outside the mechanism "
		      "(normalisation, clipping norms or stopping rules computed from "
		      "the data) and the difference between real-valued noise and that "
		      "of floating-point numbers.");
}

void write_statements(struct doc *d, const json_t *facts)
{
	const json_t *point;
	const char *objective;
	json_t *words;
	size_t i, n = json_array_size(fact(facts, "front"));

	if (n == 0 || json_array_size(fact(facts, "privacy")) == 0)
		return;
	doc_section(d, "statements", "Statements to copy");
	json_array_foreach (fact(facts, "front"), i, point) {
		if (i == STATEMENTS_MAX)
			break;
		json_object_foreach ((json_t *)fact(point, "statements"), objective,
				     words)
			if (json_is_string(words))
				doc_code(d, "text", json_string_value(words));
	}
	if (n > STATEMENTS_MAX)
		doc_paragraph(d, "The other %zu points have theirs in report.json.",
			      n - STATEMENTS_MAX);
}
