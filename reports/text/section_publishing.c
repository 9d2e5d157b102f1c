/* section_publishing.c - section: what may be published, and the total privacy loss. */
#include "reports/text/sections.h"

#include <math.h>
#include <string.h>

/* What the proof of the total privacy loss covers, and what it does not. */
static const char *proof_text(const char *proof, double delta)
{
	static const struct {
		const char *proof, *text;
	} texts[] = {
		{ "fixed", "composition: all settings and their number were fixed before the "
			   "first training, and no result changed them" },
		{ "odometer", "odometer: with probability 1 - delta the privacy loss of "
			      "everything up to now is at most this, at this time and at all "
			      "times before together, whatever was chosen because of results "
			      "(Ville's inequality; orders and weights fixed beforehand)" },
		{ "filter", "filter: a training started only if it fitted into this budget, "
			    "which was fixed before the first one; it holds whatever was "
			    "chosen and whenever the search stops (Feldman and Zrnic 2021)" },
		{ "selection", "private selection: only the best of a secret number of trainings "
			       "is published, and nothing of the others (Papernot and Steinke "
			       "2022)" },
	};

	if (strcmp(proof, "odometer") == 0 && delta == 0)
		return "a sum: pure epsilons of trainings add up, whatever was chosen "
		       "because of results";
	for (size_t i = 0; i < DP_COUNT(texts); i++)
		if (strcmp(texts[i].proof, proof) == 0)
			return texts[i].text;
	return "unknown";
}

static const char *unknown_reason(const json_t *cost)
{
	const char *why = optional_text(cost, "why");

	return why ? why : "nothing was trained";
}

static void write_single_run_row(struct doc *d, const struct report_model *report,
				 const char *objective)
{
	double least = INFINITY, most = -INFINITY;
	char a[FORMAT_LEN], b[FORMAT_LEN];
	const json_t *point;
	size_t i;

	json_array_foreach (get_json(report->json, "front"), i, point) {
		double epsilon = get_number(get_json(point, "objectives"), objective);

		least = fmin(least, epsilon);
		most = fmax(most, epsilon);
	}
	doc_cell(d, "one training");
	if (least > most)
		doc_cell(d, "-");
	else if (least == most)
		doc_cell(d, "%s%s", format_rounded_up(least, a), guarantee_note(least));
	else
		doc_cell(d, "%s to %s along the front%s", format_rounded_up(least, a),
			 format_rounded_up(most, b),
			 most > DP_MAX_MEANINGFUL_EPSILON
				 ? "; beyond 20 there is no meaningful guarantee"
				 : "");
	doc_cell(d, "for a model with settings that were not chosen on these records");
}

static void write_total_cost_row(struct doc *d, const json_t *cost)
{
	const char *proof = get_text(cost, "proof");
	bool selection = strcmp(proof, "selection") == 0;
	double epsilon = get_number(cost, "epsilon"), delta = get_number(cost, "delta");
	double if_fixed = get_number(cost, "if_fixed");
	char a[FORMAT_LEN], t[DP_NUM_LEN];

	doc_cell(d, selection ? "the private selection" : "the whole search");
	if (isnan(epsilon)) {
		doc_cell(d, "unknown");
		doc_cell(d, "%s", unknown_reason(cost));
		return;
	}
	doc_cell(d, "%s at delta %s%s", format_rounded_up(epsilon, a), dp_num_text(delta, t),
		 guarantee_note(epsilon));
	doc_cell(d, "%s", proof_text(proof, delta));
	if (strcmp(proof, "fixed") == 0 || selection || isnan(if_fixed) || delta == 0)
		return;
	doc_cell(d, "had all settings been fixed");
	doc_cell(d, "%s%s", format_rounded_up(if_fixed, a), guarantee_note(if_fixed));
	doc_cell(d, "no guarantee, for comparison: settings depended on results, and "
		    "composition with parameters fixed in advance does not cover that");
}

static void write_accounted_runs(struct doc *d, const struct report_model *report,
				 const json_t *cost)
{
	const struct dp_study_state *s = report->study->state;
	char a[FORMAT_LEN], b[FORMAT_LEN];
	bool reevaluated = false;

	for (uint32_t i = 0; i < s->reevals.ntrials; i++)
		reevaluated |= dp_trial_count_started_runs(s->reevals.trials[i]) > 0;
	if (!isnan(get_number(cost, "limit")))
		doc_paragraph(d,
			      "Of the budget %s of %s is spent, as Renyi divergence at order "
			      "%.15g. No smaller epsilon may be read off what is left.",
			      format_short(get_number(cost, "spent"), a),
			      format_short(get_number(cost, "limit"), b),
			      get_number(cost, "order"));
	if (strcmp(get_text(cost, "proof"), "odometer") == 0 && get_number(cost, "delta") > 0 &&
	    !s->accounting)
		doc_paragraph(d, "The odometer's orders and weights are those of this version. "
				 "They do not depend on data, but the journal of this study does "
				 "not have them: it was begun by an older version, or all of its "
				 "settings were to be fixed.");
	doc_paragraph(d,
		      "Counted are all %lld evaluations with every run of every attempt that may "
		      "have started, %lld trainings: failed and diverged ones, retries%s and "
		      "points off the front are among them. A retry counts as a training of its "
		      "own, although it has the same seed, because a trainer need not repeat "
		      "itself.",
		      (long long)get_count(cost, "evaluations"),
		      (long long)get_count(cost, "trainings"),
		      reevaluated ? ", those that measured points again" : "");
	if (study_data_has_checkpoints(report->study))
		doc_paragraph(d, "Each training counts in full. What it was on its way is in that "
				 "already and adds nothing: the accountant covers every iterate.");
	if (get_count(cost, "imported") > 0)
		doc_paragraph(d,
			      "%lld results were taken over from another study; what they "
			      "cost is not in this number.",
			      (long long)get_count(cost, "imported"));
}

void write_search_cost(struct doc *d, const struct report_model *report)
{
	const json_t *mechanism = json_array_get(get_json(report->json, "privacy"), 0), *cost, *o;
	bool public = strcmp(get_text(report->json, "data"), "public") == 0;
	char e[FORMAT_LEN], t[DP_NUM_LEN];
	long long trainings;
	double epsilon;

	if (!mechanism) {
		doc_paragraph(d, "No objective of this study is a privacy mechanism: what "
				 "the search cost in privacy is not known.");
		return;
	}
	cost = get_json(mechanism, "composed");
	trainings = get_count(cost, "trainings");
	epsilon = get_number(cost, "epsilon");
	if (isnan(epsilon)) {
		doc_paragraph(d,
			      "What the whole search, %lld trainings, %s in privacy is "
			      "not known: %s.",
			      trainings, public ? "would cost" : "cost", unknown_reason(cost));
		return;
	}
	o = find_by_text(get_json(report->json, "objectives"), "name",
			 get_text(mechanism, "objective"));
	format_objective_number(o, epsilon, 0, e);
	dp_num_text(get_number(cost, "delta"), t);
	if (public)
		doc_paragraph(d,
			      "Epsilon is that of one training. The search made %lld on data that "
			      "is declared public, which cost nobody's privacy; on private data it "
			      "would cost epsilon %s at delta %s%s.",
			      trainings, e, t, guarantee_note(epsilon));
	else
		doc_paragraph(d,
			      "Epsilon is that of one training. The search made %lld on "
			      "the same records: whoever publishes its front, or a model "
			      "chosen by it, spends epsilon %s at delta %s%s.",
			      trainings, e, t, guarantee_note(epsilon));
}

/* What the noise on utilities covers. */
static void write_release_cost(struct doc *d, const json_t *released)
{
	char e[FORMAT_LEN], t[FORMAT_LEN], u[FORMAT_LEN];
	double most = get_number(released, "most");
	long long points = get_count(released, "points");
	const json_t *metric;
	size_t i;

	json_array_foreach (get_json(released, "metrics"), i, metric)
		doc_item(d,
			 "%s: Gaussian noise of standard deviation %s on metric '%s', a "
			 "share of %s records.",
			 get_text(metric, "objective"),
			 format_short(get_number(metric, "sigma"), t), get_text(metric, "metric"),
			 format_short(get_number(metric, "records"), u));
	format_rounded_up(get_number(released, "epsilon"), e);
	format_short(get_number(released, "delta"), t);
	if (!isnan(most))
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the "
			      "records that they are measured on are covered, too: all %.0f "
			      "releases that the study file allows, of which there were %lld, "
			      "are together epsilon %s at delta %s when one of these records "
			      "is replaced (Dong, Roth and Su 2022, Corollary 3.3).",
			      most, points, e, t);
	else
		doc_paragraph(d,
			      "Utilities were released with this noise only, so that the records "
			      "that they are measured on are covered, too: with probability 1 - %s "
			      "the loss of all %lld releases together is at most epsilon %s when "
			      "one of these records is replaced (odometer).",
			      t, points, e);
	doc_paragraph(d, "With a fixed split a record is either trained on or measured "
			 "on: what holds for it is the larger of both epsilons. A study "
			 "that is made again, or another one on the same records, "
			 "releases anew, and all of it counts together.");
}

void write_publishing_cost(struct doc *d, const struct report_model *report)
{
	const json_t *privacy = get_json(report->json, "privacy"), *mechanism;
	const json_t *released = get_json(report->json, "released");
	bool private = strcmp(get_text(report->json, "data"), "private") == 0;
	const char *warning = get_text(report->json, "seeds_warning");
	size_t i;

	doc_folded_section(d, "publish", "What may be published", "Publishing",
			   "what the search itself cost");
	if (warning)
		doc_warning(d, "%s", warning);
	if (private)
		doc_warning(d, "The epsilon of a point is that of one training. The search "
			       "trained many times on the same records, and chose by the "
			       "results: whoever publishes the front, this report or a model "
			       "chosen with it states the epsilon of the whole search.");
	else
		doc_paragraph(d, "The study file declares its data public, so that the search cost "
				 "nobody's privacy, and all of this may be published. Repeating "
				 "the search on private data would cost what stands here.");
	json_array_foreach (privacy, i, mechanism) {
		doc_table_begin(d, "What one training and the whole search cost");
		doc_text_columns(d, "epsilon of", get_text(mechanism, "objective"), "holds", NULL);
		write_single_run_row(d, report, get_text(mechanism, "objective"));
		write_total_cost_row(d, get_json(mechanism, "composed"));
		doc_table_end(d);
		write_accounted_runs(d, report, get_json(mechanism, "composed"));
	}
	if (json_array_size(privacy) == 0)
		doc_paragraph(d, "No objective of this study is a privacy mechanism, so "
				 "that nothing is known of what its trainings cost.");
	if (released)
		write_release_cost(d, released);
	else if (private)
		doc_paragraph(d, "Test and holdout records get no guarantee at all: "
				 "utilities are computed from them without noise.");
}
