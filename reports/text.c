/* text.c - the facts of a report in words: its title, its order, and the chapters on the
 * study itself. */
#include "reports/words.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	TITLE_STUDIES = 3 /* that a title names beside the first */
};

/* ---- other studies ---- */

/* Which hypervolumes are known of one of the studies, beside those observed. */
struct known_volumes {
	bool denoised, remeasured;
};

static void see_volumes(const struct fact_study *s, struct known_volumes *known)
{
	known->denoised |= !isnan(s->hypervolume_denoised);
	known->remeasured |= s->remeasured > 0;
}

static void compared_row(struct doc *d, const struct fact_study *s,
			 const struct known_volumes *known)
{
	char number[SHORT_LEN];

	doc_cell(d, "%s", s->name);
	doc_cell(d, "%s", s->state);
	doc_cell(d, "%lld", (long long)s->evaluations);
	doc_cell(d, "%zu", s->front);
	doc_cell(d, "%s", short_text(s->hypervolume, number));
	if (known->denoised)
		doc_cell(d, "%s", short_text(s->hypervolume_denoised, number));
	if (known->remeasured)
		doc_cell(d, "%s",
			 s->remeasured ? short_text(s->hypervolume_remeasured, number) : "-");
}

static void compared_table(struct doc *d, const struct facts *f)
{
	struct known_volumes known = { 0 };

	see_volumes(&f->study, &known);
	for (size_t i = 0; i < f->ncompared; i++)
		see_volumes(&f->compared[i], &known);
	doc_table(d);
	doc_caption(d, "Studies compared");
	doc_column(d, "study", false);
	doc_column(d, "state", false);
	doc_column(d, "evaluations", true);
	doc_column(d, "points on the front", true);
	doc_column(d, "hypervolume as observed", true);
	if (known.denoised)
		doc_column(d, "without the noise", true);
	if (known.remeasured)
		doc_column(d, "measured again", true);
	compared_row(d, &f->study, &known);
	for (size_t i = 0; i < f->ncompared; i++)
		compared_row(d, &f->compared[i], &known);
	doc_table_end(d);
}

static void write_compared(struct doc *d, const struct facts *f)
{
	if (f->ncompared == 0)
		return;
	doc_fold(d, "compared", "Studies compared with it", "Compared",
		 "states, fronts and hypervolumes");
	compared_table(d, f);
	doc_paragraph(d, "Hypervolumes compare only where objectives and anti-ideal "
			 "points are the same. As observed they are those of the best of "
			 "many noisy results: the noisier the trainings, the more of a "
			 "front is luck. Fronts that are measured again (dparetoctl "
			 "remeasure) compare without it.");
}

/* ---- the study ---- */

/* "0.1 to 100, log", a list of values, or what it is calibrated to. */
static void values_text(const struct fact_parameter *p, struct dp_buf *out)
{
	char a[SHORT_LEN], b[SHORT_LEN];
	const json_t *v;
	size_t i;

	if (p->calibrated)
		dp_buf_printf(out, "least %s of %s that keeps epsilon at most %s",
			      p->calibrated->key, p->calibrated->mechanism,
			      p->calibrated->epsilon_of ? p->calibrated->epsilon_of
							: short_text(p->calibrated->epsilon, a));
	else if (!isnan(p->low))
		dp_buf_printf(out, "%s to %s, %s", short_text(p->low, a), short_text(p->high, b),
			      p->scale);
	else if (json_is_array(p->values))
		json_array_foreach (p->values, i, v) {
			dp_buf_puts(out, i ? ", " : "");
			dp_json_dump(out, v, 0);
		}
	else if (p->values)
		dp_json_dump(out, p->values, 0);
}

static void parameters_table(struct doc *d, const struct fact_settings *s)
{
	doc_table(d);
	doc_caption(d, "Parameters");
	doc_column(d, "parameter", false);
	doc_column(d, "type", false);
	doc_column(d, "values", false);
	for (size_t i = 0; i < s->nparameters; i++) {
		struct dp_buf values = DP_BUF_INIT;

		doc_cell(d, "%s", s->parameters[i].name);
		doc_cell(d, "%s", s->parameters[i].type);
		values_text(&s->parameters[i], &values);
		doc_cell(d, "%s", dp_buf_text(&values));
		dp_buf_free(&values);
	}
	doc_table_end(d);
}

static void write_settings(struct doc *d, const struct facts *f)
{
	const struct fact_settings *s = &f->settings;
	char t[SHORT_LEN];

	doc_fold(d, "settings", "Settings of the study", "Settings",
		 "search, objectives and parameters");
	doc_field(d, "Search", "%s%s%s, %lld evaluations, %lld at once", s->method,
		  s->acquisition ? " by " : "", s->acquisition ? s->acquisition : "",
		  (long long)s->evaluations, (long long)s->parallel);
	if (strcmp(s->cost, "none") != 0)
		doc_field(d, "Cost of a training", "%s%s%s",
			  s->path && strcmp(s->cost, "path") == 0 ? s->path->parameter : s->cost,
			  isnan(s->max_cost) ? "" : ", in all at most ",
			  isnan(s->max_cost) ? "" : short_text(s->max_cost, t));
	doc_field(d, "Front", "%s", s->front);
	if (s->initial_from)
		doc_field(d, "Starts from", "the results of study %s", s->initial_from);
	doc_field(d, "Runs of each trial", "%lld", (long long)s->runs);
	if (s->path)
		doc_field(d, "Path",
			  "every training walks %s up, and is looked at on its way at up "
			  "to %lld values of it",
			  s->path->parameter, (long long)s->path->points);
	for (size_t i = 0; i < f->nobjectives; i++)
		doc_field(d, f->objectives[i].label, "%s; anti-ideal %s", f->objectives[i].goal,
			  short_text(f->objectives[i].anti_ideal, t));
	for (size_t i = 0; i < s->nconstraints; i++)
		doc_field(d, "Constraint", "%s %s %s", s->constraints[i].metric,
			  s->constraints[i].is, short_text(s->constraints[i].bound, t));
	parameters_table(d, s);
}

static void say_failure(struct doc *d, const struct fact_failure *group)
{
	doc_field(d, group->end, "%lld attempt%s of %lld trial%s", (long long)group->attempts,
		  plural_end(group->attempts), (long long)group->trials, plural_end(group->trials));
	for (size_t i = 0; i < group->nmessages; i++)
		doc_item(d, "trial %lld: %s", (long long)group->messages[i].trial,
			 group->messages[i].message);
}

void say_failures(struct doc *d, const struct facts *f)
{
	const struct fact_failures *all = &f->failures;

	if (all->ngroups == 0) {
		doc_paragraph(d, "None: every attempt ended well.");
		return;
	}
	doc_paragraph(d,
		      "%lld attempt%s did not end well; %lld trial%s failed for good and "
		      "%lld diverged.",
		      (long long)all->attempts, plural_end(all->attempts), (long long)all->failed,
		      plural_end(all->failed), (long long)all->diverged);
	if (all->waypoints_kept > 0)
		doc_paragraph(d,
			      "What trainings had reached by then is kept: %lld "
			      "waypoint%s of them %s among the results.",
			      (long long)all->waypoints_kept, plural_end(all->waypoints_kept),
			      all->waypoints_kept == 1 ? "is" : "are");
	for (size_t i = 0; i < all->ngroups; i++)
		say_failure(d, &all->groups[i]);
	if (all->messages_left_out)
		doc_paragraph(d, "Their messages are left out: a trainer may have printed "
				 "a seed or a record.");
}

static void write_failures(struct doc *d, const struct facts *f)
{
	char about[SHORT_LEN];

	snprintf(about, sizeof about, "%lld attempt%s", (long long)f->failures.attempts,
		 plural_end(f->failures.attempts));
	doc_fold(d, "failures", "Failures", "Failures", f->failures.ngroups ? about : "none");
	say_failures(d, f);
}

static void write_spent(struct doc *d, const struct facts *f)
{
	const struct fact_spent *s = &f->spent;
	char t[DP_NUM_LEN];

	doc_fold(d, "spent", "What was spent", "Spent", "evaluations, trainings and time");
	doc_field(d, "Evaluations", "%lld, in %lld attempts and %lld trainings",
		  (long long)s->evaluations, (long long)s->attempts, (long long)s->trainings);
	if (f->settings.path)
		doc_field(d, "Walked", "%.0f %s in all, every evaluation in full", s->walked,
			  f->settings.path->parameter);
	if (isnan(s->elapsed_seconds)) {
		doc_paragraph(d, "How long it took, and what it used of the machine, is "
				 "left out: that depends on the data.");
		return;
	}
	doc_field(d, "From submission to the last record", "%s",
		  dp_duration_text(s->elapsed_seconds, t));
	doc_field(d, "Training", "%s in all", dp_duration_text(s->training_seconds, t));
	if (isnan(s->cpu_seconds))
		return;
	doc_field(d, "Processor time of the trainers", "%s", dp_duration_text(s->cpu_seconds, t));
	doc_field(d, "Most memory of one trainer", "%s", dp_size_text((uint64_t)s->peak_memory, t));
}

static void say_seed(struct doc *d, const struct facts *f)
{
	if (strcmp(f->seeds, "secret") == 0)
		doc_field(d, "Seeds",
			  "secret. Run seeds and drawn settings follow from 32 random "
			  "bytes that only the journal has. Keep the journal and the "
			  "directories of the trainings to yourself: with a run seed a "
			  "reader can compute the noise of that run.");
	else if (!f->reproduce.seed)
		doc_note(d, "The seed is left out of this public report. Run seeds "
			    "follow from it: a reader who knows it can compute all "
			    "noise. Host, paths and messages of failures are left out, "
			    "too.");
	else
		doc_field(d, "Seed", "%lld%s", (long long)*f->reproduce.seed,
			  f->seeds_warning ? ". Keep it to yourself: run seeds follow from it, "
					     "and a known seed voids every epsilon."
					   : "");
}

/* What comes of making the study again. */
static void say_again_made(struct doc *d, const struct facts *f)
{
	if (strcmp(f->seeds, "secret") == 0)
		doc_paragraph(d,
			      "The study repeats bit for bit in its own state directory "
			      "only. dparetoctl run with the study file below makes it "
			      "again with other seeds: drawn settings, noise and results "
			      "differ. %s",
			      f->released ? "What is released then counts together with "
					    "what was released here."
					  : "What that costs in privacy adds to what was "
					    "spent here.");
	else if (f->released)
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

static void write_reproduce(struct doc *d, const struct facts *f)
{
	const struct fact_reproduce *r = &f->reproduce;

	doc_fold(d, "reproduce", "How to do it again", "Again",
		 "the study file, versions and the seed");
	say_again_made(d, f);
	doc_field(d, "Version", "DPareto %s, journal format %lld, %s", r->versions.dpareto,
		  (long long)r->versions.journal_format, r->versions.compiler);
	if (r->host)
		doc_field(d, "Host of this report", "%s (%s %s, %s)", r->host->name,
			  r->host->system, r->host->release, r->host->machine);
	if (r->path)
		doc_field(d, "Study file", "%s", r->path);
	if (r->journal)
		doc_field(d, "Journal", "%s", r->journal);
	if (r->created)
		doc_field(d, "Submitted", "%s", r->created);
	if (r->updated)
		doc_field(d, "Last record", "%s", r->updated);
	say_seed(d, f);
	if (r->study_file)
		doc_code(d, "yaml", r->study_file);
	else
		doc_paragraph(d, "The study file is left out: the seed could not be taken "
				 "out of it for certain.");
}

/* "Study a", "Study a beside b and 2 others", "DPareto and Random compared" */
void report_title(const struct facts *f, struct dp_buf *out)
{
	if (f->groups) {
		groups_title(f, out);
		return;
	}
	dp_buf_printf(out, "Study %s", f->study.name);
	for (size_t i = 0; i < f->ncompared && f->ncompared <= TITLE_STUDIES; i++)
		dp_buf_printf(out, "%s%s",
			      i == 0                  ? " beside "
			      : i + 1 == f->ncompared ? " and "
						      : ", ",
			      f->compared[i].name);
	if (f->ncompared > TITLE_STUDIES)
		dp_buf_printf(out, " beside %zu others", f->ncompared);
}

void report_text(struct doc *d, const struct facts *f)
{
	/* then the first screen has told why already */
	bool all_failed = f->nfront == 0 && f->failures.ngroups > 0;
	struct dp_buf title = DP_BUF_INIT;

	report_title(f, &title);
	doc_title(d, dp_buf_text(&title));
	dp_buf_free(&title);
	if (f->groups || f->selection) {
		(f->groups ? write_groups : write_selection)(d, f);
		return;
	}
	write_first(d, f);
	write_front(d, f);
	write_figures(d, f);
	write_compared(d, f);
	write_warning(d, f);
	write_optimism(d, f);
	write_assumptions(d, f);
	write_statements(d, f);
	write_settings(d, f);
	if (!all_failed)
		write_failures(d, f);
	write_spent(d, f);
	write_reproduce(d, f);
}
