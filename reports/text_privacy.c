/* text_privacy.c - the chapters on what the numbers mean: the cost of the search, trust
 * in utilities, assumptions behind epsilon. */
#include "reports/words.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

enum {
	CHECKS_MAX = 30 /* rows, beside those that do not fit */
};

/* ---- what may be published ---- */

/* What the proof of a whole search's epsilon says, and what it does not. */
static const char *proof_words(enum dp_whole_proof proof, double delta)
{
	if (proof == DP_WHOLE_ODOMETER && delta == 0)
		return "a sum: pure epsilons of trainings add up, whatever was chosen "
		       "because of results";
	switch (proof) {
	case DP_WHOLE_FIXED:
		return "composition: all settings and their number were fixed before the "
		       "first training, and no result changed them";
	case DP_WHOLE_ODOMETER:
		return "odometer: with probability 1 - delta the privacy loss of "
		       "everything up to now is at most this, at this time and at all "
		       "times before together, whatever was chosen because of results "
		       "(Ville's inequality; orders and weights fixed beforehand)";
	case DP_WHOLE_FILTER:
		return "filter: a training started only if it fitted into this budget, "
		       "which was fixed before the first one; it holds whatever was "
		       "chosen and whenever the search stops (Feldman and Zrnic 2021)";
	case DP_WHOLE_SELECTION:
		return "private selection: only the best of a secret number of trainings "
		       "is published, and nothing of the others (Papernot and Steinke "
		       "2022)";
	case DP_WHOLE_UNKNOWN:
		break;
	}
	return "unknown";
}

static void say_one_training(struct doc *d, const struct facts *f, const struct fact_mechanism *m)
{
	double least = INFINITY, most = -INFINITY;
	char a[SHORT_LEN], b[SHORT_LEN];

	for (size_t i = 0; i < f->nfront; i++) {
		least = fmin(least, f->front[i].of[m->index].value);
		most = fmax(most, f->front[i].of[m->index].value);
	}
	doc_cell(d, "one training");
	if (least > most)
		doc_cell(d, "-");
	else if (least == most)
		doc_cell(d, "%s%s", up_text(least, a), no_guarantee(least));
	else
		doc_cell(d, "%s to %s along the front%s", up_text(least, a), up_text(most, b),
			 most > FACTS_MEANINGLESS ? "; beyond 20 there is no meaningful guarantee"
						  : "");
	doc_cell(d, "for a model with settings that were not chosen on these records");
}

static void say_whole(struct doc *d, const struct fact_composed *c)
{
	char a[SHORT_LEN], t[DP_NUM_LEN];

	doc_cell(d, c->kind == DP_WHOLE_SELECTION ? "the private selection" : "the whole search");
	if (isnan(c->epsilon)) {
		doc_cell(d, "unknown");
		doc_cell(d, "%s", c->why ? c->why : "nothing was trained");
		return;
	}
	doc_cell(d, "%s at delta %s%s", up_text(c->epsilon, a), dp_num_text(c->delta, t),
		 no_guarantee(c->epsilon));
	doc_cell(d, "%s", proof_words(c->kind, c->delta));
	if (c->kind == DP_WHOLE_FIXED || c->kind == DP_WHOLE_SELECTION || isnan(c->if_fixed) ||
	    c->delta == 0)
		return;
	doc_cell(d, "had all settings been fixed");
	doc_cell(d, "%s%s", up_text(c->if_fixed, a), no_guarantee(c->if_fixed));
	doc_cell(d, "no guarantee, for comparison: settings depended on results, and "
		    "composition with parameters fixed in advance does not cover that");
}

static void say_epsilons(struct doc *d, const struct facts *f, const struct fact_mechanism *m)
{
	doc_table(d);
	doc_caption(d, "What one training and the whole search cost");
	doc_column(d, "epsilon of", false);
	doc_column(d, m->objective, false);
	doc_column(d, "holds", false);
	say_one_training(d, f, m);
	say_whole(d, &m->composed);
	doc_table_end(d);
}

static void say_counted(struct doc *d, const struct fact_composed *c, bool walks)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (!isnan(c->limit))
		doc_paragraph(d,
			      "Of the budget %s of %s is spent, as Renyi divergence at "
			      "order %.15g. No smaller epsilon may be read off what is "
			      "left.",
			      short_text(c->spent, a), short_text(c->limit, b), c->order);
	if (c->kind == DP_WHOLE_ODOMETER && c->delta > 0 && !c->recorded)
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
		      c->measured_again ? ", those that measured points again" : "");
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

void say_search_cost(struct doc *d, const struct facts *f)
{
	const struct fact_composed *c = f->nprivacy ? &f->privacy[0].composed : NULL;
	const struct fact_objective *epsilon = c ? &f->objectives[f->privacy[0].index] : NULL;
	bool public = strcmp(f->data, "public") == 0;
	char e[SHORT_LEN], t[DP_NUM_LEN];

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
			      (long long)c->trainings, amount_text(epsilon, c->epsilon, 0, e),
			      dp_num_text(c->delta, t), no_guarantee(c->epsilon));
	else
		doc_paragraph(d,
			      "Epsilon is that of one training. The search made %lld on "
			      "the same records: whoever publishes its front, or a model "
			      "chosen by it, spends epsilon %s at delta %s%s.",
			      (long long)c->trainings, amount_text(epsilon, c->epsilon, 0, e),
			      dp_num_text(c->delta, t), no_guarantee(c->epsilon));
}

void write_warning(struct doc *d, const struct facts *f)
{
	doc_fold(d, "publish", "What may be published", "Publishing",
		 "what the search itself cost");
	if (f->seeds_warning)
		doc_note(d, "%s", f->seeds_warning);
	if (strcmp(f->data, "private") == 0)
		doc_note(d, "The epsilon of a point is that of one training. The search "
			    "trained many times on the same records, and chose by the "
			    "results: whoever publishes the front, this report or a model "
			    "chosen with it states the epsilon of the whole search.");
	else
		doc_paragraph(d, "The study file declares its data public, so that the search "
				 "cost nobody's privacy, and all of this may be published. "
				 "Repeating the search on private data would cost what stands "
				 "here.");
	for (size_t i = 0; i < f->nprivacy; i++) {
		say_epsilons(d, f, &f->privacy[i]);
		say_counted(d, &f->privacy[i].composed, f->settings.path != NULL);
	}
	if (f->nprivacy == 0)
		doc_paragraph(d, "No objective of this study is a privacy mechanism, so "
				 "that nothing is known of what its trainings cost.");
	if (f->released)
		write_released(d, f->released);
	else if (strcmp(f->data, "private") == 0)
		doc_paragraph(d, "Test and holdout records get no guarantee at all: "
				 "utilities are computed from them without noise.");
}

/* ---- how far to trust the numbers ---- */

static void say_sampling(struct doc *d, const char *name, const struct fact_sampling *sampling)
{
	char p[SHORT_LEN], e[SHORT_LEN], f[SHORT_LEN];

	if (!sampling)
		return;
	short_text(sampling->share, p);
	if (!isnan(sampling->error))
		doc_item(d,
			 "If %s is a share of test records: with %.0f of them, a share of "
			 "%s has a sampling error of %s (one standard deviation).",
			 name, sampling->records, p, short_text(sampling->error, e));
	else
		doc_item(d,
			 "If %s is a share of n test records, it has a sampling error of "
			 "its own, sqrt(p (1 - p) / n): at the front's middle, p = %s, "
			 "that is %s with 1,000 records and %s with 10,000 (one standard "
			 "deviation). The trainer does not report the number of its test "
			 "records (metric test_records).",
			 name, p, short_text(sampling->error_at_1000, e),
			 short_text(sampling->error_at_10000, f));
}

/* How far the values without the noise are from those observed. */
static void say_shrinkage(struct doc *d, const char *name, const struct fact_shrinkage *worse)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (worse->mean == 0 && worse->most == 0)
		doc_item(d, "%s: the models see no noise in it; values are as observed.", name);
	else
		doc_item(d,
			 "%s: the models put the points of the front %s %s than observed "
			 "on average, %s%s.",
			 name, short_text(fabs(worse->mean), a),
			 worse->mean < 0 ? "better" : "worse",
			 worse->most > 0 ? short_text(worse->most, b) : "none",
			 worse->most > 0 ? " worse at most" : " worse");
}

/* "0.0004 worse" */
static void worse_words(double by, char out[SHORT_LEN + 8])
{
	char text[SHORT_LEN];

	snprintf(out, SHORT_LEN + 8, "%s %s", short_text(fabs(by), text),
		 by < 0 ? "better" : "worse");
}

/* What fresh seeds said. */
static void say_again(struct doc *d, const char *name, const struct fact_again *again)
{
	char observed[SHORT_LEN + 8], denoised[SHORT_LEN + 8] = "";

	worse_words(again->than_observed, observed);
	if (!isnan(again->than_denoised))
		worse_words(again->than_denoised, denoised);
	doc_item(d,
		 "%s: measured again with fresh seeds, %lld point%s of the front %s %s "
		 "than "
		 "observed on average%s%s%s.",
		 name, (long long)again->points, plural_end(again->points),
		 again->points == 1 ? "is" : "are", observed, *denoised ? ", and " : "", denoised,
		 *denoised ? " than without the noise" : "");
}

static void say_optimism(struct doc *d, const struct fact_trust *o)
{
	char a[SHORT_LEN];

	if (!isnan(o->standard_error))
		doc_item(d,
			 "%s: the mean of a trial's runs has a standard error of %s (the "
			 "median over the front).",
			 o->objective, short_text(o->standard_error, a));
	else
		doc_item(d,
			 "%s: with one run a trial, nothing is known of its noise. "
			 "Several runs would tell (trainer.runs).",
			 o->objective);
	if (o->too_good_by)
		say_shrinkage(d, o->objective, o->too_good_by);
	if (o->again)
		say_again(d, o->objective, o->again);
	if (o->holdout)
		doc_item(d,
			 "%s on records that the search never looked at differs from %s "
			 "by %s on average over the front.",
			 o->holdout->metric, o->holdout->of, short_text(o->holdout->difference, a));
	say_sampling(d, o->objective, o->sampling);
}

void write_optimism(struct doc *d, const struct facts *f)
{
	const struct fact_optimism *optimism = &f->optimism;

	if (f->nfront == 0)
		return;
	doc_fold(d, "trust", "How far to trust the utilities", "Trust",
		 "luck, noise and test records");
	if (optimism->chosen_from > optimism->trials)
		doc_paragraph(d,
			      "There are %lld results of %lld trials. Those of one "
			      "training share its luck: they are not as many chances as "
			      "they are points.",
			      (long long)optimism->chosen_from, (long long)optimism->trials);
	if (f->study.denoises && !optimism->no_models)
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
		say_optimism(d, &optimism->objectives[i]);
}

/* ---- what is behind epsilon ---- */

static void say_keys(struct doc *d, const struct fact_key *keys, size_t n)
{
	char s[SHORT_LEN];

	doc_table(d);
	doc_caption(d, "Keys of the mechanism");
	doc_column(d, "key", false);
	doc_column(d, "value", false);
	for (size_t i = 0; i < n; i++) {
		const struct fact_key *k = &keys[i];

		doc_cell(d, "%s", k->name);
		if (k->parameter)
			doc_cell(d, "parameter %s", k->parameter);
		else
			doc_cell(d, "%s", k->word ? k->word : short_text(k->number, s));
	}
	doc_table_end(d);
}

static void say_delta(struct doc *d, const struct fact_mechanism *m)
{
	char t[DP_NUM_LEN], s[SHORT_LEN];

	if (!isnan(m->delta) && !isnan(m->records))
		doc_field(d, "Delta", "%s; delta x records = %s, which should be well below 1",
			  dp_num_text(m->delta, t), short_text(m->delta_times_records, s));
	else if (!isnan(m->delta))
		doc_field(d, "Delta", "%s%s", dp_num_text(m->delta, t),
			  m->delta == 0 ? ": pure differential privacy" : "");
}

/* How records are drawn and noise is added. */
static void say_part(struct doc *d, const struct fact_part *p)
{
	if (p->times_parameter)
		doc_field(d, "Part", "%s, as often as parameter %s says. %s", p->mechanism,
			  p->times_parameter, p->summary);
	else if (p->times == 1)
		doc_field(d, "Part", "%s. %s", p->mechanism, p->summary);
	else
		doc_field(d, "Part", "%s, %.15g times. %s", p->mechanism, p->times, p->summary);
	if (p->sampling)
		doc_field(d, "Sampling", "%s", p->sampling);
	doc_field(d, "Theorem", "%s", p->theorem);
	doc_field(d, "Noise", "%s", p->noise);
	say_keys(d, p->keys, p->nkeys);
}

static void say_command(struct doc *d, const char *const *command)
{
	struct dp_buf words = DP_BUF_INIT;

	for (size_t i = 0; command[i]; i++)
		dp_buf_printf(&words, "%s%s", i ? " " : "", command[i]);
	doc_field(d, "Program", "%s", dp_buf_text(&words));
	dp_buf_free(&words);
}

static void say_mechanism(struct doc *d, const struct fact_mechanism *m)
{
	doc_field(d, "Mechanism", "%s. %s", m->mechanism, m->summary);
	if (m->command)
		say_command(d, m->command);
	else
		doc_field(d, "Unit of privacy",
			  "%s. A person with more records is protected less than "
			  "epsilon says.",
			  m->unit);
	if (m->relation)
		doc_field(d, "Neighbouring relation", "%s", m->relation);
	if (m->sampling)
		doc_field(d, "Sampling",
			  "%s. Shuffled batches are something else; "
			  "epsilon is not proven for them.",
			  m->sampling);
	if (!isnan(m->records))
		doc_field(d, "Training records", "%.0f", m->records);
	say_delta(d, m);
	doc_field(d, "Accountant", "%s%s", m->accountant_text,
		  m->command ? "" : "; every epsilon is an upper bound");
	if (m->theorem)
		doc_field(d, "Theorem", "%s", m->theorem);
	if (m->noise)
		doc_field(d, "Noise", "%s", m->noise);
	if (m->warning)
		doc_note(d, "%s", m->warning);
	if (m->nkeys)
		say_keys(d, m->keys, m->nkeys);
	for (size_t i = 0; i < m->nparts; i++)
		say_part(d, &m->parts[i]);
}

/* `classic`: that conversion has numbers, too. */
static void check_row(struct doc *d, const struct fact_point *p, size_t objective, bool classic)
{
	const struct fact_point_objective *o = &p->of[objective];
	char s[SHORT_LEN], point[POINT_TEXT_LEN];

	doc_cell(d, "%s", point_text(p->trial, p->at, point));
	doc_cell(d, "%s", up_text(o->value, s));
	doc_cell(d, "%s", up_text(o->check->pld, s));
	doc_cell(d, "%s", up_text(o->check->rdp_improved, s));
	if (classic)
		doc_cell(d, "%s", up_text(o->check->rdp_classic, s));
	doc_cell(d, "%s", o->check->holds ? "yes" : "NO");
}

/* Of many points every k-th, and each that does not fit. */
static void check_table(struct doc *d, const struct facts *f, size_t objective, bool classic)
{
	size_t every = (f->nfront + CHECKS_MAX - 1) / CHECKS_MAX;

	doc_table(d);
	doc_caption(d, "Each epsilon of the front by several accountants");
	doc_column(d, "trial", true);
	doc_column(d, "epsilon", true);
	doc_column(d, "pld", true);
	doc_column(d, "rdp, improved", true);
	if (classic)
		doc_column(d, "rdp, classic", true);
	doc_column(d, "fits", false);
	for (size_t i = 0; i < f->nfront; i++)
		if (i % every == 0 || !f->front[i].of[objective].check->holds)
			check_row(d, &f->front[i], objective, classic);
	doc_table_end(d);
	if (every > 1)
		doc_paragraph(d, "Some of those that fit are left out; report.json has "
				 "all.");
}

static void say_checks(struct doc *d, const struct facts *f, size_t objective)
{
	size_t held = 0, second = 0, third = 0, n = f->nfront;
	char points[DP_COUNT_LEN];

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct fact_check *check = f->front[i].of[objective].check;

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
		      dp_count_text(n, "point", points));
	check_table(d, f, objective, third > 0);
}

/* Names of what was declared, or of what never was. */
static void list_declared(struct dp_buf *out, const struct fact_declared *f, bool told)
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

static void say_told(struct doc *d, const struct fact_declared *f)
{
	struct dp_buf told = DP_BUF_INIT, untold = DP_BUF_INIT;

	list_declared(&told, f, true);
	list_declared(&untold, f, false);
	if (told.len && untold.len)
		doc_field(d, "Declared by the trainer",
			  "%s, which agree with what epsilon is computed from. Not "
			  "declared: %s; nothing checks that the trainer does these as "
			  "accounted for.",
			  dp_buf_text(&told), dp_buf_text(&untold));
	else if (told.len)
		doc_field(d, "Declared by the trainer",
			  "%s, which agree with what epsilon is computed from.",
			  dp_buf_text(&told));
	else
		doc_field(d, "Declared by the trainer",
			  "nothing (of %s): nothing checks that it samples and adds "
			  "noise as accounted for.",
			  dp_buf_text(&untold));
	dp_buf_free(&told);
	dp_buf_free(&untold);
}

/* What of the training was compared with what is accounted for, and what was not. */
static void say_declared(struct doc *d, const struct fact_declared *f)
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
		say_told(d, f);
	if (f->shuffled > 0)
		doc_note(d,
			 "In %lld of %lld attempts the trainer declared that it shuffles "
			 "the records. Epsilon is not proven for that.",
			 (long long)f->shuffled, (long long)f->attempts);
}

void write_assumptions(struct doc *d, const struct facts *f)
{
	if (f->nprivacy == 0)
		return;
	doc_fold(d, "assumptions", "What is behind epsilon", "Epsilon",
		 "mechanism, assumptions and a second accountant");
	for (size_t i = 0; i < f->nprivacy; i++) {
		doc_heading(d, f->privacy[i].objective);
		say_mechanism(d, &f->privacy[i]);
		if (!f->privacy[i].command)
			say_checks(d, f, f->privacy[i].index);
	}
	say_declared(d, &f->declared);
	doc_paragraph(d, "Not covered: data-dependent choices outside the mechanism "
			 "(normalisation, clipping norms or stopping rules computed from "
			 "the data) and the difference between real-valued noise and that "
			 "of floating-point numbers.");
}
