/* text.c - the facts of a report in words: its title, its order, and the chapters on the
 * study itself. */
#include "reports/text/report_format.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	TITLE_STUDIES_MAX = 3 /* that a title names beside the first */
};

/* ---- other studies ---- */

/* Which hypervolumes are known of one of the studies, beside those observed. */
struct known_hypervolumes {
	bool smoothed, reevaluated;
};

static void note_known_hypervolumes(const struct report_study *s, struct known_hypervolumes *known)
{
	known->smoothed |= !isnan(s->smoothed_hypervolume);
	known->reevaluated |= s->reevaluated_size > 0;
}

static void compared_row(struct doc *d, const struct report_study *s,
			 const struct known_hypervolumes *known)
{
	char number[FORMAT_LEN];

	doc_cell(d, "%s", s->name);
	doc_cell(d, "%s", s->state);
	doc_cell(d, "%lld", (long long)s->evaluations);
	doc_cell(d, "%zu", s->front_size);
	doc_cell(d, "%s", format_short(s->hypervolume, number));
	if (known->smoothed)
		doc_cell(d, "%s", format_short(s->smoothed_hypervolume, number));
	if (known->reevaluated)
		doc_cell(d, "%s",
			 s->reevaluated_size ? format_short(s->reevaluated_hypervolume, number)
					     : "-");
}

static void compared_table(struct doc *d, const struct report_model *report)
{
	struct known_hypervolumes known = { 0 };

	note_known_hypervolumes(&report->study, &known);
	for (size_t i = 0; i < report->ncompared; i++)
		note_known_hypervolumes(&report->compared[i], &known);
	doc_table_begin(d);
	doc_caption(d, "Studies compared");
	doc_column(d, "study", false);
	doc_column(d, "state", false);
	doc_column(d, "evaluations", true);
	doc_column(d, "points on the front", true);
	doc_column(d, "hypervolume as observed", true);
	if (known.smoothed)
		doc_column(d, "without the noise", true);
	if (known.reevaluated)
		doc_column(d, "measured again", true);
	compared_row(d, &report->study, &known);
	for (size_t i = 0; i < report->ncompared; i++)
		compared_row(d, &report->compared[i], &known);
	doc_table_end(d);
}

static void write_compared(struct doc *d, const struct report_model *report)
{
	if (report->ncompared == 0)
		return;
	doc_folded_section(d, "compared", "Studies compared with it", "Compared",
			   "states, fronts and hypervolumes");
	compared_table(d, report);
	doc_paragraph(d, "Hypervolumes compare only where objectives and anti-ideal "
			 "points are the same. As observed they are those of the best of "
			 "many noisy results: the noisier the trainings, the more of a "
			 "front is luck. Fronts that are measured again (dparetoctl "
			 "remeasure) compare without it.");
}

/* ---- the study ---- */

/* "0.1 to 100, log", a list of values, or what it is calibrated to. */
static void format_parameter_values(const struct report_parameter *p, struct dp_buf *out)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];
	const json_t *v;
	size_t i;

	if (p->calibrated)
		dp_buf_printf(out, "least %s of %s that keeps epsilon at most %s",
			      p->calibrated->key, p->calibrated->mechanism,
			      p->calibrated->epsilon_of ? p->calibrated->epsilon_of
							: format_short(p->calibrated->epsilon, a));
	else if (!isnan(p->low))
		dp_buf_printf(out, "%s to %s, %s", format_short(p->low, a),
			      format_short(p->high, b), p->scale);
	else if (json_is_array(p->values))
		json_array_foreach (p->values, i, v) {
			dp_buf_puts(out, i ? ", " : "");
			dp_json_dump(out, v, 0);
		}
	else if (p->values)
		dp_json_dump(out, p->values, 0);
}

static void parameters_table(struct doc *d, const struct report_settings *s)
{
	doc_table_begin(d);
	doc_caption(d, "Parameters");
	doc_column(d, "parameter", false);
	doc_column(d, "type", false);
	doc_column(d, "values", false);
	for (size_t i = 0; i < s->nparameters; i++) {
		struct dp_buf values = DP_BUF_INIT;

		doc_cell(d, "%s", s->parameters[i].name);
		doc_cell(d, "%s", s->parameters[i].type);
		format_parameter_values(&s->parameters[i], &values);
		doc_cell(d, "%s", dp_buf_text(&values));
		dp_buf_free(&values);
	}
	doc_table_end(d);
}

static void write_settings(struct doc *d, const struct report_model *report)
{
	const struct report_settings *s = &report->settings;
	char t[FORMAT_LEN];

	doc_folded_section(d, "settings", "Settings of the study", "Settings",
			   "search, objectives and parameters");
	doc_labelled_item(d, "Search", "%s%s%s, %lld evaluations, %lld at once", s->method,
			  s->acquisition ? " by " : "", s->acquisition ? s->acquisition : "",
			  (long long)s->evaluations, (long long)s->parallel);
	if (strcmp(s->cost, "none") != 0)
		doc_labelled_item(d, "Cost of a training", "%s%s%s",
				  s->path && strcmp(s->cost, "path") == 0 ? s->path->parameter
									  : s->cost,
				  isnan(s->max_cost) ? "" : ", in all at most ",
				  isnan(s->max_cost) ? "" : format_short(s->max_cost, t));
	doc_labelled_item(d, "Front", "%s", s->front);
	if (s->initial_from)
		doc_labelled_item(d, "Starts from", "the results of study %s", s->initial_from);
	doc_labelled_item(d, "Runs of each trial", "%lld", (long long)s->runs);
	if (s->path)
		doc_labelled_item(d, "Path",
				  "every training walks %s up, and is looked at on its way at up "
				  "to %lld values of it",
				  s->path->parameter, (long long)s->path->points);
	for (size_t i = 0; i < report->nobjectives; i++)
		doc_labelled_item(d, report->objectives[i].label, "%s; anti-ideal %s",
				  report->objectives[i].goal,
				  format_short(report->objectives[i].anti_ideal, t));
	for (size_t i = 0; i < s->nconstraints; i++)
		doc_labelled_item(d, "Constraint", "%s %s %s", s->constraints[i].metric,
				  s->constraints[i].is, format_short(s->constraints[i].bound, t));
	parameters_table(d, s);
}

static void write_failure_class(struct doc *d, const struct report_failure_class *group)
{
	doc_labelled_item(d, group->end, "%lld attempt%s of %lld trial%s",
			  (long long)group->attempts, plural_suffix(group->attempts),
			  (long long)group->trials, plural_suffix(group->trials));
	for (size_t i = 0; i < group->nmessages; i++)
		doc_item(d, "trial %lld: %s", (long long)group->messages[i].trial,
			 group->messages[i].message);
}

void write_failure_list(struct doc *d, const struct report_model *report)
{
	const struct report_failures *all = &report->failures;

	if (all->ngroups == 0) {
		doc_paragraph(d, "None: every attempt ended well.");
		return;
	}
	doc_paragraph(d,
		      "%lld attempt%s did not end well; %lld trial%s failed for good and "
		      "%lld diverged.",
		      (long long)all->attempts, plural_suffix(all->attempts),
		      (long long)all->failed, plural_suffix(all->failed), (long long)all->diverged);
	if (all->waypoints_kept > 0)
		doc_paragraph(d,
			      "What trainings had reached by then is kept: %lld "
			      "waypoint%s of them %s among the results.",
			      (long long)all->waypoints_kept, plural_suffix(all->waypoints_kept),
			      all->waypoints_kept == 1 ? "is" : "are");
	for (size_t i = 0; i < all->ngroups; i++)
		write_failure_class(d, &all->groups[i]);
	if (all->messages_left_out)
		doc_paragraph(d, "Their messages are left out: a trainer may have printed "
				 "a seed or a record.");
}

static void write_failures(struct doc *d, const struct report_model *report)
{
	char about[FORMAT_LEN];

	snprintf(about, sizeof about, "%lld attempt%s", (long long)report->failures.attempts,
		 plural_suffix(report->failures.attempts));
	doc_folded_section(d, "failures", "Failures", "Failures",
			   report->failures.ngroups ? about : "none");
	write_failure_list(d, report);
}

static void write_resources(struct doc *d, const struct report_model *report)
{
	const struct report_resources *s = &report->spent;
	char t[DP_NUM_LEN];

	doc_folded_section(d, "spent", "What was spent", "Spent",
			   "evaluations, trainings and time");
	doc_labelled_item(d, "Evaluations", "%lld, in %lld attempts and %lld trainings",
			  (long long)s->evaluations, (long long)s->attempts,
			  (long long)s->trainings);
	if (report->settings.path)
		doc_labelled_item(d, "Walked", "%.0f %s in all, every evaluation in full",
				  s->walked, report->settings.path->parameter);
	if (isnan(s->elapsed_seconds)) {
		doc_paragraph(d, "How long it took, and what it used of the machine, is "
				 "left out: that depends on the data.");
		return;
	}
	doc_labelled_item(d, "From submission to the last record", "%s",
			  dp_duration_text(s->elapsed_seconds, t));
	doc_labelled_item(d, "Training", "%s in all", dp_duration_text(s->training_seconds, t));
	if (isnan(s->cpu_seconds))
		return;
	doc_labelled_item(d, "Processor time of the trainers", "%s",
			  dp_duration_text(s->cpu_seconds, t));
	doc_labelled_item(d, "Most memory of one trainer", "%s",
			  dp_size_text((uint64_t)s->peak_memory, t));
}

static void write_seed_field(struct doc *d, const struct report_model *report)
{
	if (strcmp(report->seeds, "secret") == 0)
		doc_labelled_item(d, "Seeds",
				  "secret. Run seeds and drawn settings follow from 32 random "
				  "bytes that only the journal has. Keep the journal and the "
				  "directories of the trainings to yourself: with a run seed a "
				  "reader can compute the noise of that run.");
	else if (!report->reproduce.seed)
		doc_warning(d, "The seed is left out of this public report. Run seeds "
			       "follow from it: a reader who knows it can compute all "
			       "noise. Host, paths and messages of failures are left out, "
			       "too.");
	else
		doc_labelled_item(d, "Seed", "%lld%s", (long long)*report->reproduce.seed,
				  report->seeds_warning
					  ? ". Keep it to yourself: run seeds follow from it, "
					    "and a known seed voids every epsilon."
					  : "");
}

/* What comes of making the study again. */
static void write_repeatability(struct doc *d, const struct report_model *report)
{
	if (strcmp(report->seeds, "secret") == 0)
		doc_paragraph(d,
			      "The study repeats bit for bit in its own state directory "
			      "only. dparetoctl run with the study file below makes it "
			      "again with other seeds: drawn settings, noise and results "
			      "differ. %s",
			      report->released ? "What is released then counts together with "
						 "what was released here."
					       : "What that costs in privacy adds to what was "
						 "spent here.");
	else if (report->released)
		doc_paragraph(d, "dparetoctl run with the study file below makes the "
				 "study again, but does not repeat it: the noise on "
				 "utilities is drawn anew, and so is everything that "
				 "follows from them. What is released then counts "
				 "together with what was released here.");
	else
		doc_paragraph(d, "dparetoctl run with the study file below repeats the "
				 "study; the same seed gives the same proposals, and the "
				 "same results where the trainer repeats itself.");
}

static void write_reproduce(struct doc *d, const struct report_model *report)
{
	const struct report_provenance *r = &report->reproduce;

	doc_folded_section(d, "reproduce", "How to do it again", "Again",
			   "the study file, versions and the seed");
	write_repeatability(d, report);
	doc_labelled_item(d, "Version", "DPareto %s, journal format %lld, %s", r->versions.dpareto,
			  (long long)r->versions.journal_format, r->versions.compiler);
	if (r->host)
		doc_labelled_item(d, "Host of this report", "%s (%s %s, %s)", r->host->name,
				  r->host->system, r->host->release, r->host->machine);
	if (r->path)
		doc_labelled_item(d, "Study file", "%s", r->path);
	if (r->journal)
		doc_labelled_item(d, "Journal", "%s", r->journal);
	if (r->created)
		doc_labelled_item(d, "Submitted", "%s", r->created);
	if (r->updated)
		doc_labelled_item(d, "Last record", "%s", r->updated);
	write_seed_field(d, report);
	if (r->study_file)
		doc_code(d, "yaml", r->study_file);
	else
		doc_paragraph(d, "The study file is left out: the seed could not be taken "
				 "out of it for certain.");
}

/* "Study a", "Study a beside b and 2 others", "DPareto and Random compared" */
void report_document_title(const struct report_model *report, struct dp_buf *out)
{
	if (report->groups) {
		groups_report_title(report, out);
		return;
	}
	dp_buf_printf(out, "Study %s", report->study.name);
	for (size_t i = 0; i < report->ncompared && report->ncompared <= TITLE_STUDIES_MAX; i++)
		dp_buf_printf(out, "%s%s",
			      i == 0                       ? " beside "
			      : i + 1 == report->ncompared ? " and "
							   : ", ",
			      report->compared[i].name);
	if (report->ncompared > TITLE_STUDIES_MAX)
		dp_buf_printf(out, " beside %zu others", report->ncompared);
}

void report_document_write(struct doc *d, const struct report_model *report)
{
	/* then the first screen has told why already */
	bool all_failed = report->nfront == 0 && report->failures.ngroups > 0;
	struct dp_buf title = DP_BUF_INIT;

	report_document_title(report, &title);
	doc_title(d, dp_buf_text(&title));
	dp_buf_free(&title);
	if (report->groups || report->selection) {
		(report->groups ? write_groups : write_selection)(d, report);
		return;
	}
	write_summary(d, report);
	write_front(d, report);
	write_figures(d, report);
	write_compared(d, report);
	write_publishing_cost(d, report);
	write_selection_bias(d, report);
	write_assumptions(d, report);
	write_statements(d, report);
	write_settings(d, report);
	if (!all_failed)
		write_failures(d, report);
	write_resources(d, report);
	write_reproduce(d, report);
}
