/* section_privacy.c - the chapters on what the numbers mean: the cost of the search, trust
 * in utilities, assumptions behind epsilon. */
#include "reports/text/report_format.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

enum {
	CHECK_ROWS_MAX = 30 /* rows, beside those that do not fit */
};

/* ---- what may be published ---- */

/* What the proof of a whole search's epsilon says, and what it does not. */
static const char *composition_proof_text(enum dp_total_privacy_proof proof, double delta)
{
	if (proof == DP_TOTAL_PRIVACY_ODOMETER && delta == 0)
		return "a sum: pure epsilons of trainings add up, whatever was chosen "
		       "because of results";
	switch (proof) {
	case DP_TOTAL_PRIVACY_FIXED:
		return "composition: all settings and their number were fixed before the "
		       "first training, and no result changed them";
	case DP_TOTAL_PRIVACY_ODOMETER:
		return "odometer: with probability 1 - delta the privacy loss of "
		       "everything up to now is at most this, at this time and at all "
		       "times before together, whatever was chosen because of results "
		       "(Ville's inequality; orders and weights fixed beforehand)";
	case DP_TOTAL_PRIVACY_FILTER:
		return "filter: a training started only if it fitted into this budget, "
		       "which was fixed before the first one; it holds whatever was "
		       "chosen and whenever the search stops (Feldman and Zrnic 2021)";
	case DP_TOTAL_PRIVACY_SELECTION:
		return "private selection: only the best of a secret number of trainings "
		       "is published, and nothing of the others (Papernot and Steinke "
		       "2022)";
	case DP_TOTAL_PRIVACY_UNKNOWN:
		break;
	}
	return "unknown";
}

static void write_single_run_row(struct doc *d, const struct report_model *report,
				 const struct report_mechanism *m)
{
	double least = INFINITY, most = -INFINITY;
	char a[FORMAT_LEN], b[FORMAT_LEN];

	for (size_t i = 0; i < report->nfront; i++) {
		least = fmin(least, report->front[i].objectives[m->objective_index].value);
		most = fmax(most, report->front[i].objectives[m->objective_index].value);
	}
	doc_cell(d, "one training");
	if (least > most)
		doc_cell(d, "-");
	else if (least == most)
		doc_cell(d, "%s%s", format_rounded_up(least, a), guarantee_note(least));
	else
		doc_cell(d, "%s to %s along the front%s", format_rounded_up(least, a),
			 format_rounded_up(most, b),
			 most > REPORT_MAX_MEANINGFUL_EPSILON
				 ? "; beyond 20 there is no meaningful guarantee"
				 : "");
	doc_cell(d, "for a model with settings that were not chosen on these records");
}

static void write_total_cost_row(struct doc *d, const struct report_total_cost *c)
{
	char a[FORMAT_LEN], t[DP_NUM_LEN];

	doc_cell(d, c->proof_kind == DP_TOTAL_PRIVACY_SELECTION ? "the private selection"
								: "the whole search");
	if (isnan(c->epsilon)) {
		doc_cell(d, "unknown");
		doc_cell(d, "%s", c->why ? c->why : "nothing was trained");
		return;
	}
	doc_cell(d, "%s at delta %s%s", format_rounded_up(c->epsilon, a), dp_num_text(c->delta, t),
		 guarantee_note(c->epsilon));
	doc_cell(d, "%s", composition_proof_text(c->proof_kind, c->delta));
	if (c->proof_kind == DP_TOTAL_PRIVACY_FIXED ||
	    c->proof_kind == DP_TOTAL_PRIVACY_SELECTION || isnan(c->if_fixed) || c->delta == 0)
		return;
	doc_cell(d, "had all settings been fixed");
	doc_cell(d, "%s%s", format_rounded_up(c->if_fixed, a), guarantee_note(c->if_fixed));
	doc_cell(d, "no guarantee, for comparison: settings depended on results, and "
		    "composition with parameters fixed in advance does not cover that");
}

static void write_epsilon_table(struct doc *d, const struct report_model *report,
				const struct report_mechanism *m)
{
	doc_table_begin(d);
	doc_caption(d, "What one training and the whole search cost");
	doc_column(d, "epsilon of", false);
	doc_column(d, m->objective, false);
	doc_column(d, "holds", false);
	write_single_run_row(d, report, m);
	write_total_cost_row(d, &m->composed);
	doc_table_end(d);
}

static void write_accounted_runs(struct doc *d, const struct report_total_cost *c, bool walks)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (!isnan(c->limit))
		doc_paragraph(d,
			      "Of the budget %s of %s is spent, as Renyi divergence at "
			      "order %.15g. No smaller epsilon may be read off what is "
			      "left.",
			      format_short(c->spent, a), format_short(c->limit, b), c->order);
	if (c->proof_kind == DP_TOTAL_PRIVACY_ODOMETER && c->delta > 0 && !c->odometer_recorded)
		doc_paragraph(d, "The odometer's orders and weights are those of this "
				 "version. They do not depend on data, but the journal "
				 "of this study does not have them: it was begun by an "
				 "older version, or all of its settings were to be "
				 "fixed.");
	doc_paragraph(d,
		      "Counted are all %lld evaluations with every run of every attempt that "
		      "may have started, %lld trainings: failed and diverged ones, retries%s "
		      "and points off the front are among them. A retry counts as a training "
		      "of "
		      "its own, although it has the same seed, because a trainer need not "
		      "repeat itself.",
		      (long long)c->evaluations, (long long)c->trainings,
		      c->has_reevaluations ? ", those that measured points again" : "");
	if (walks)
		doc_paragraph(d, "Each training counts in full. What it was on its way is "
				 "in that already and adds nothing: the accountant covers "
				 "every iterate.");
	if (c->imported > 0)
		doc_paragraph(d,
			      "%lld results were taken over from another study; what they "
			      "cost is not in this number.",
			      (long long)c->imported);
}

void write_search_cost(struct doc *d, const struct report_model *report)
{
	const struct report_total_cost *c = report->nprivacy ? &report->privacy[0].composed : NULL;
	const struct report_objective *epsilon =
		c ? &report->objectives[report->privacy[0].objective_index] : NULL;
	bool public = strcmp(report->data, "public") == 0;
	char e[FORMAT_LEN], t[DP_NUM_LEN];

	if (!c)
		doc_paragraph(d, "No objective of this study is a privacy mechanism: what "
				 "the search cost in privacy is not known.");
	else if (isnan(c->epsilon))
		doc_paragraph(d,
			      "What the whole search, %lld trainings, %s in privacy is "
			      "not known: %s.",
			      (long long)c->trainings, public ? "would cost" : "cost",
			      c->why ? c->why : "nothing was trained");
	else if (public)
		doc_paragraph(d,
			      "Epsilon is that of one training. The search made %lld on "
			      "data that is declared public, which cost nobody's "
			      "privacy; on private data it would cost epsilon %s at "
			      "delta %s%s.",
			      (long long)c->trainings,
			      format_objective_number(epsilon, c->epsilon, 0, e),
			      dp_num_text(c->delta, t), guarantee_note(c->epsilon));
	else
		doc_paragraph(d,
			      "Epsilon is that of one training. The search made %lld on "
			      "the same records: whoever publishes its front, or a model "
			      "chosen by it, spends epsilon %s at delta %s%s.",
			      (long long)c->trainings,
			      format_objective_number(epsilon, c->epsilon, 0, e),
			      dp_num_text(c->delta, t), guarantee_note(c->epsilon));
}

void write_publishing_cost(struct doc *d, const struct report_model *report)
{
	doc_folded_section(d, "publish", "What may be published", "Publishing",
			   "what the search itself cost");
	if (report->seeds_warning)
		doc_warning(d, "%s", report->seeds_warning);
	if (strcmp(report->data, "private") == 0)
		doc_warning(d, "The epsilon of a point is that of one training. The search "
			       "trained many times on the same records, and chose by the "
			       "results: whoever publishes the front, this report or a model "
			       "chosen with it states the epsilon of the whole search.");
	else
		doc_paragraph(d, "The study file declares its data public, so that the search "
				 "cost nobody's privacy, and all of this may be published. "
				 "Repeating the search on private data would cost what stands "
				 "here.");
	for (size_t i = 0; i < report->nprivacy; i++) {
		write_epsilon_table(d, report, &report->privacy[i]);
		write_accounted_runs(d, &report->privacy[i].composed,
				     report->settings.path != NULL);
	}
	if (report->nprivacy == 0)
		doc_paragraph(d, "No objective of this study is a privacy mechanism, so "
				 "that nothing is known of what its trainings cost.");
	if (report->released)
		write_release_cost(d, report->released);
	else if (strcmp(report->data, "private") == 0)
		doc_paragraph(d, "Test and holdout records get no guarantee at all: "
				 "utilities are computed from them without noise.");
}

/* ---- how far to trust the numbers ---- */

static void write_sampling_error(struct doc *d, const char *name,
				 const struct report_sampling_error *sampling)
{
	char p[FORMAT_LEN], e[FORMAT_LEN], f[FORMAT_LEN];

	if (!sampling)
		return;
	format_short(sampling->share, p);
	if (!isnan(sampling->error))
		doc_item(d,
			 "If %s is a share of test records: with %.0f of them, a share of "
			 "%s has a sampling error of %s (one standard deviation).",
			 name, sampling->records, p, format_short(sampling->error, e));
	else
		doc_item(d,
			 "If %s is a share of n test records, it has a sampling error of "
			 "its own, sqrt(p (1 - p) / n): at the front's middle, p = %s, "
			 "that is %s with 1,000 records and %s with 10,000 (one standard "
			 "deviation). The trainer does not report the number of its test "
			 "records (metric test_records).",
			 name, p, format_short(sampling->error_at_1000, e),
			 format_short(sampling->error_at_10000, f));
}

/* How far the values without the noise are from those observed. */
static void write_shrinkage(struct doc *d, const char *name, const struct report_shrinkage *worse)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (worse->mean == 0 && worse->most == 0)
		doc_item(d, "%s: the models see no noise in it; values are as observed.", name);
	else
		doc_item(d,
			 "%s: the models put the points of the front %s %s than observed "
			 "on average, %s%s.",
			 name, format_short(fabs(worse->mean), a),
			 worse->mean < 0 ? "better" : "worse",
			 worse->most > 0 ? format_short(worse->most, b) : "none",
			 worse->most > 0 ? " worse at most" : " worse");
}

/* "0.0004 worse" */
static void format_worse_by(double by, char out[FORMAT_LEN + 8])
{
	char text[FORMAT_LEN];

	snprintf(out, FORMAT_LEN + 8, "%s %s", format_short(fabs(by), text),
		 by < 0 ? "better" : "worse");
}

/* What fresh seeds said. */
static void write_reevaluation(struct doc *d, const char *name,
			       const struct report_reevaluation *again)
{
	char observed[FORMAT_LEN + 8], denoised[FORMAT_LEN + 8] = "";

	format_worse_by(again->than_observed, observed);
	if (!isnan(again->than_denoised))
		format_worse_by(again->than_denoised, denoised);
	doc_item(d,
		 "%s: measured again with fresh seeds, %lld point%s of the front %s %s "
		 "than "
		 "observed on average%s%s%s.",
		 name, (long long)again->points, plural_suffix(again->points),
		 again->points == 1 ? "is" : "are", observed, *denoised ? ", and " : "", denoised,
		 *denoised ? " than without the noise" : "");
}

static void write_objective_trust(struct doc *d, const struct report_utility_trust *o)
{
	char a[FORMAT_LEN];

	if (!isnan(o->standard_error))
		doc_item(d,
			 "%s: the mean of a trial's runs has a standard error of %s (the "
			 "median over the front).",
			 o->objective, format_short(o->standard_error, a));
	else
		doc_item(d,
			 "%s: with one run a trial, nothing is known of its noise. "
			 "Several runs would tell (trainer.runs).",
			 o->objective);
	if (o->too_good_by)
		write_shrinkage(d, o->objective, o->too_good_by);
	if (o->again)
		write_reevaluation(d, o->objective, o->again);
	if (o->holdout)
		doc_item(d,
			 "%s on records that the search never looked at differs from %s "
			 "by %s on average over the front.",
			 o->holdout->metric, o->holdout->of,
			 format_short(o->holdout->difference, a));
	write_sampling_error(d, o->objective, o->sampling);
}

void write_selection_bias(struct doc *d, const struct report_model *report)
{
	const struct report_selection_bias *optimism = &report->optimism;

	if (report->nfront == 0)
		return;
	doc_folded_section(d, "trust", "How far to trust the utilities", "Trust",
			   "luck, noise and test records");
	if (optimism->chosen_from > optimism->trials)
		doc_paragraph(d,
			      "There are %lld results of %lld trials. Those of one "
			      "training share its luck: they are not as many chances as "
			      "they are points.",
			      (long long)optimism->chosen_from, (long long)optimism->trials);
	if (report->study.uses_smoothed_front && !optimism->no_models)
		doc_paragraph(d,
			      "The best of %lld noisy observations would be there partly "
			      "by luck. So models of all of them chose the front, and what "
			      "they leave without the noise is what a training that "
			      "repeats a point should give on average. What was observed "
			      "at a point may be better or worse than that.",
			      (long long)optimism->chosen_from);
	else
		doc_paragraph(d,
			      "The front is the best of %lld noisy observations, and the "
			      "best of many is optimistic: some of them are there by luck. "
			      "A training that repeats a point of the front will on "
			      "average do worse.",
			      (long long)optimism->chosen_from);
	for (size_t i = 0; i < optimism->nobjectives; i++)
		write_objective_trust(d, &optimism->objectives[i]);
}

/* ---- what is behind epsilon ---- */

static void write_mechanism_keys(struct doc *d, const struct report_mechanism_key *keys, size_t n)
{
	char s[FORMAT_LEN];

	doc_table_begin(d);
	doc_caption(d, "Keys of the mechanism");
	doc_column(d, "key", false);
	doc_column(d, "value", false);
	for (size_t i = 0; i < n; i++) {
		const struct report_mechanism_key *k = &keys[i];

		doc_cell(d, "%s", k->name);
		if (k->parameter)
			doc_cell(d, "parameter %s", k->parameter);
		else
			doc_cell(d, "%s", k->word ? k->word : format_short(k->number, s));
	}
	doc_table_end(d);
}

static void write_delta_field(struct doc *d, const struct report_mechanism *m)
{
	char t[DP_NUM_LEN], s[FORMAT_LEN];

	if (!isnan(m->delta) && !isnan(m->records))
		doc_labelled_item(
			d, "Delta", "%s; delta x records = %s, which should be well below 1",
			dp_num_text(m->delta, t), format_short(m->delta_times_records, s));
	else if (!isnan(m->delta))
		doc_labelled_item(d, "Delta", "%s%s", dp_num_text(m->delta, t),
				  m->delta == 0 ? ": pure differential privacy" : "");
}

/* How records are drawn and noise is added. */
static void write_component(struct doc *d, const struct report_component *p)
{
	if (p->times_parameter)
		doc_labelled_item(d, "Part", "%s, as often as parameter %s says. %s", p->mechanism,
				  p->times_parameter, p->summary);
	else if (p->times == 1)
		doc_labelled_item(d, "Part", "%s. %s", p->mechanism, p->summary);
	else
		doc_labelled_item(d, "Part", "%s, %.15g times. %s", p->mechanism, p->times,
				  p->summary);
	if (p->sampling)
		doc_labelled_item(d, "Sampling", "%s", p->sampling);
	doc_labelled_item(d, "Theorem", "%s", p->theorem);
	doc_labelled_item(d, "Noise", "%s", p->noise);
	write_mechanism_keys(d, p->keys, p->nkeys);
}

static void write_accountant_command(struct doc *d, const char *const *command)
{
	struct dp_buf words = DP_BUF_INIT;

	for (size_t i = 0; command[i]; i++)
		dp_buf_printf(&words, "%s%s", i ? " " : "", command[i]);
	doc_labelled_item(d, "Program", "%s", dp_buf_text(&words));
	dp_buf_free(&words);
}

static void write_mechanism(struct doc *d, const struct report_mechanism *m)
{
	doc_labelled_item(d, "Mechanism", "%s. %s", m->mechanism, m->summary);
	if (m->command)
		write_accountant_command(d, m->command);
	else
		doc_labelled_item(d, "Unit of privacy",
				  "%s. A person with more records is protected less than "
				  "epsilon says.",
				  m->unit);
	if (m->relation)
		doc_labelled_item(d, "Neighbouring relation", "%s", m->relation);
	if (m->sampling)
		doc_labelled_item(d, "Sampling",
				  "%s. Shuffled batches are something else; "
				  "epsilon is not proven for them.",
				  m->sampling);
	if (!isnan(m->records))
		doc_labelled_item(d, "Training records", "%.0f", m->records);
	write_delta_field(d, m);
	doc_labelled_item(d, "Accountant", "%s%s", m->accountant_text,
			  m->command ? "" : "; every epsilon is an upper bound");
	if (m->theorem)
		doc_labelled_item(d, "Theorem", "%s", m->theorem);
	if (m->noise)
		doc_labelled_item(d, "Noise", "%s", m->noise);
	if (m->warning)
		doc_warning(d, "%s", m->warning);
	if (m->nkeys)
		write_mechanism_keys(d, m->keys, m->nkeys);
	for (size_t i = 0; i < m->nparts; i++)
		write_component(d, &m->parts[i]);
}

/* `classic`: that conversion has numbers, too. */
static void check_row(struct doc *d, const struct report_point *p, size_t objective, bool classic)
{
	const struct report_point_objective *o = &p->objectives[objective];
	char s[FORMAT_LEN], point[RESULT_NAME_LEN];

	doc_cell(d, "%s", result_format_name(p->trial, p->at, point));
	doc_cell(d, "%s", format_rounded_up(o->value, s));
	doc_cell(d, "%s", format_rounded_up(o->check->pld, s));
	doc_cell(d, "%s", format_rounded_up(o->check->rdp_improved, s));
	if (classic)
		doc_cell(d, "%s", format_rounded_up(o->check->rdp_classic, s));
	doc_cell(d, "%s", o->check->holds ? "yes" : "NO");
}

/* Of many points every k-th, and each that does not fit. */
static void check_table(struct doc *d, const struct report_model *report, size_t objective,
			bool classic)
{
	size_t every = (report->nfront + CHECK_ROWS_MAX - 1) / CHECK_ROWS_MAX;

	doc_table_begin(d);
	doc_caption(d, "Each epsilon of the front by several accountants");
	doc_column(d, "trial", true);
	doc_column(d, "epsilon", true);
	doc_column(d, "pld", true);
	doc_column(d, "rdp, improved", true);
	if (classic)
		doc_column(d, "rdp, classic", true);
	doc_column(d, "fits", false);
	for (size_t i = 0; i < report->nfront; i++)
		if (i % every == 0 || !report->front[i].objectives[objective].check->holds)
			check_row(d, &report->front[i], objective, classic);
	doc_table_end(d);
	if (every > 1)
		doc_paragraph(d, "Some of those that fit are left out; report.json has "
				 "all.");
}

static void write_accountant_checks(struct doc *d, const struct report_model *report,
				    size_t objective)
{
	size_t held = 0, second = 0, third = 0, n = report->nfront;
	char points[DP_PLURAL_LEN];

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct report_accountant_check *check =
			report->front[i].objectives[objective].check;

		held += check->holds;
		second += !isnan(check->rdp_improved);
		third += !isnan(check->rdp_classic);
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
		      "divergences with the improved conversion give%s. That holds for "
		      "%zu of %s.",
		      third ? ", and these at most what the classic conversion gives" : "", held,
		      dp_plural_text(n, "point", points));
	check_table(d, report, objective, third > 0);
}

/* Names of what was declared, or of what never was. */
static void append_declared_names(struct dp_buf *out, const struct report_declarations *f,
				  bool told)
{
	const struct {
		const char *name;
		int64_t n;
	} each[] = { { "sampling", told ? f->sampling - f->shuffled : f->sampling },
		     { "records", f->records },
		     { "lot", f->lot },
		     { "steps", f->steps },
		     { "noise_over_clip", f->noise_over_clip } };

	for (size_t i = 0; i < DP_COUNT(each); i++) {
		if ((each[i].n > 0) != told)
			continue;
		dp_buf_printf(out, "%s%s", out->len ? ", " : "", each[i].name);
		if (told && each[i].n < f->attempts)
			dp_buf_printf(out, " (in %lld of %lld attempts)", (long long)each[i].n,
				      (long long)f->attempts);
	}
}

static void write_declared_fields(struct doc *d, const struct report_declarations *f)
{
	struct dp_buf told = DP_BUF_INIT, untold = DP_BUF_INIT;

	append_declared_names(&told, f, true);
	append_declared_names(&untold, f, false);
	if (told.len && untold.len)
		doc_labelled_item(d, "Declared by the trainer",
				  "%s, which agree with what epsilon is computed from. Not "
				  "declared: %s; nothing checks that the trainer does these as "
				  "accounted for.",
				  dp_buf_text(&told), dp_buf_text(&untold));
	else if (told.len)
		doc_labelled_item(d, "Declared by the trainer",
				  "%s, which agree with what epsilon is computed from.",
				  dp_buf_text(&told));
	else
		doc_labelled_item(d, "Declared by the trainer",
				  "nothing (of %s): nothing checks that it samples and adds "
				  "noise as accounted for.",
				  dp_buf_text(&untold));
	dp_buf_free(&told);
	dp_buf_free(&untold);
}

/* What of the training was compared with what is accounted for, and what was not. */
static void write_declarations(struct doc *d, const struct report_declarations *f)
{
	if (!f->compared)
		doc_paragraph(d, "No mechanism of this study knows a declaration of the "
				 "trainer to be compared with: nothing checks that it "
				 "does what is accounted for.");
	else if (!f->kept)
		doc_paragraph(d, "What the trainer declared was compared with what "
				 "epsilon is computed from, and not kept: utilities are "
				 "released with noise.");
	else if (f->attempts > 0)
		write_declared_fields(d, f);
	if (f->shuffled > 0)
		doc_warning(d,
			    "In %lld of %lld attempts the trainer declared that it shuffles "
			    "the records. Epsilon is not proven for that.",
			    (long long)f->shuffled, (long long)f->attempts);
}

void write_assumptions(struct doc *d, const struct report_model *report)
{
	if (report->nprivacy == 0)
		return;
	doc_folded_section(d, "assumptions", "What is behind epsilon", "Epsilon",
			   "mechanism, assumptions and a second accountant");
	for (size_t i = 0; i < report->nprivacy; i++) {
		doc_heading(d, report->privacy[i].objective);
		write_mechanism(d, &report->privacy[i]);
		if (!report->privacy[i].command)
			write_accountant_checks(d, report, report->privacy[i].objective_index);
	}
	write_declarations(d, &report->declared);
	doc_paragraph(d, "Not covered: data-dependent choices outside the mechanism "
			 "(normalisation, clipping norms or stopping rules computed from "
			 "the data) and the difference between real-valued noise and that "
			 "of floating-point numbers.");
}
