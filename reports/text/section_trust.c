/* section_trust.c - section: how far the utilities of a front can be trusted. */
#include "reports/text/sections.h"

#include <math.h>
#include <stdio.h>

static void write_sampling_error(struct doc *d, const char *name, const json_t *sampling)
{
	char p[FORMAT_LEN], e[FORMAT_LEN], f[FORMAT_LEN];
	double error = get_number(sampling, "error");

	format_short(get_number(sampling, "share"), p);
	if (!isnan(error))
		doc_item(d,
			 "If %s is a share of test records: with %.0f of them, a share of "
			 "%s has a sampling error of %s (one standard deviation).",
			 name, get_number(sampling, "records"), p, format_short(error, e));
	else
		doc_item(d,
			 "If %s is a share of n test records, it has a sampling error of its own, "
			 "sqrt(p (1 - p) / n): at the front's middle, p = %s, that is %s with "
			 "1,000 records and %s with 10,000 (one standard deviation). The trainer "
			 "does not report the number of its test records (metric test_records).",
			 name, p, format_short(get_number(sampling, "error_at_1000"), e),
			 format_short(get_number(sampling, "error_at_10000"), f));
}

static void write_shrinkage(struct doc *d, const char *name, const json_t *worse)
{
	double mean = get_number(worse, "mean"), most = get_number(worse, "most");
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (mean == 0 && most == 0)
		doc_item(d, "%s: the models see no noise in it; values are as observed.", name);
	else
		doc_item(d,
			 "%s: the models put the points of the front %s %s than observed "
			 "on average, %s%s.",
			 name, format_short(fabs(mean), a), mean < 0 ? "better" : "worse",
			 most > 0 ? format_short(most, b) : "none",
			 most > 0 ? " worse at most" : " worse");
}

/* "0.0004 worse" */
static void format_worse_by(double by, char out[FORMAT_LEN + 8])
{
	char text[FORMAT_LEN];

	snprintf(out, FORMAT_LEN + 8, "%s %s", format_short(fabs(by), text),
		 by < 0 ? "better" : "worse");
}

static void write_reevaluation(struct doc *d, const char *name, const json_t *again)
{
	char observed[FORMAT_LEN + 8], smoothed[FORMAT_LEN + 8] = "";
	double than_smoothed = get_number(again, "than_denoised");
	int64_t points = get_count(again, "points");

	format_worse_by(get_number(again, "than_observed"), observed);
	if (!isnan(than_smoothed))
		format_worse_by(than_smoothed, smoothed);
	doc_item(d,
		 "%s: measured again with fresh seeds, %lld point%s of the front %s %s than "
		 "observed on average%s%s%s.",
		 name, (long long)points, plural_suffix(points), points == 1 ? "is" : "are",
		 observed, *smoothed ? ", and " : "", smoothed,
		 *smoothed ? " than without the noise" : "");
}

static void write_objective_trust(struct doc *d, const json_t *trust)
{
	const char *name = get_text(trust, "objective");
	const json_t *shrinkage = get_json(trust, "too_good_by");
	const json_t *again = get_json(trust, "again");
	const json_t *holdout = get_json(trust, "holdout");
	const json_t *sampling = get_json(trust, "sampling");
	double error = get_number(trust, "standard_error");
	char a[FORMAT_LEN];

	if (!isnan(error))
		doc_item(d,
			 "%s: the mean of a trial's runs has a standard error of %s (the "
			 "median over the front).",
			 name, format_short(error, a));
	else
		doc_item(d,
			 "%s: with one run a trial, nothing is known of its noise. "
			 "Several runs would tell (trainer.runs).",
			 name);
	if (shrinkage)
		write_shrinkage(d, name, shrinkage);
	if (again)
		write_reevaluation(d, name, again);
	if (holdout)
		doc_item(d,
			 "%s on records that the search never looked at differs from %s "
			 "by %s on average over the front.",
			 get_text(holdout, "metric"), get_text(holdout, "of"),
			 format_short(get_number(holdout, "difference"), a));
	if (sampling)
		write_sampling_error(d, name, sampling);
}

void write_selection_bias(struct doc *d, const struct report_model *report)
{
	const json_t *optimism = get_json(report->json, "optimism"), *trust;
	long long chosen_from = get_count(optimism, "chosen_from");
	long long trials = get_count(optimism, "trials");
	size_t i;

	if (json_array_size(get_json(report->json, "front")) == 0)
		return;
	doc_folded_section(d, "trust", "How far to trust the utilities", "Trust",
			   "luck, noise and test records");
	if (chosen_from > trials)
		doc_paragraph(d,
			      "There are %lld results of %lld trials. Those of one training share "
			      "its luck: they are not as many chances as they are points.",
			      chosen_from, trials);
	if (report->study->uses_smoothed_front && !get_text(optimism, "no_models"))
		doc_paragraph(d,
			      "The best of %lld noisy observations would be there partly "
			      "by luck. So models of all of them chose the front, and what "
			      "they leave without the noise is what a training that "
			      "repeats a point should give on average. What was observed "
			      "at a point may be better or worse than that.",
			      chosen_from);
	else
		doc_paragraph(d,
			      "The front is the best of %lld noisy observations, and the best of "
			      "many is optimistic: some of them are there by luck. A training that "
			      "repeats a point of the front will on average do worse.",
			      chosen_from);
	json_array_foreach (get_json(optimism, "objectives"), i, trust)
		write_objective_trust(d, trust);
}
