/* section_study.c - section: settings, failures, resources and reproduction of the study. */
#include "reports/text/sections.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "0.1 to 100, log", a list of values, or the target of a calibrated parameter. */
static void format_parameter_values(const json_t *p, struct dp_buf *out)
{
	const json_t *calibrated = json_object_get(p, "calibrated");
	const json_t *values = json_object_get(p, "values"), *v;
	char a[FORMAT_LEN], b[FORMAT_LEN];
	size_t i;

	if (calibrated) {
		const char *epsilon_of = optional_text(calibrated, "epsilon_of");

		dp_buf_printf(out, "least %s of %s that keeps epsilon at most %s",
			      get_text(calibrated, "key"), get_text(calibrated, "mechanism"),
			      epsilon_of ? epsilon_of
					 : format_short(optional_number(calibrated, "epsilon"), a));
	} else if (json_object_get(p, "scale")) {
		dp_buf_printf(out, "%s to %s, %s", format_short(get_number(p, "low"), a),
			      format_short(get_number(p, "high"), b), get_text(p, "scale"));
	} else if (json_is_array(values)) {
		json_array_foreach (values, i, v) {
			dp_buf_puts(out, i ? ", " : "");
			dp_json_dump(out, v, 0);
		}
	} else if (values) {
		dp_json_dump(out, values, 0);
	}
}

void write_settings(struct doc *d, const struct report_model *report)
{
	const json_t *s = get_json(report->json, "settings"), *path = get_json(s, "path"), *o;
	const char *acquisition = get_text(s, "acquisition"), *cost = get_text(s, "cost");
	double max_cost = get_number(s, "max_cost");
	struct dp_buf values = DP_BUF_INIT;
	char t[FORMAT_LEN];
	size_t i;

	doc_folded_section(d, "settings", "Settings of the study", "Settings",
			   "search, objectives and parameters");
	doc_labelled_item(d, "Search", "%s%s%s, %lld evaluations, %lld at once",
			  get_text(s, "method"), acquisition ? " by " : "",
			  acquisition ? acquisition : "", (long long)get_count(s, "evaluations"),
			  (long long)get_count(s, "parallel"));
	if (strcmp(cost, "none") != 0)
		doc_labelled_item(d, "Cost of a training", "%s%s%s",
				  path && strcmp(cost, "path") == 0 ? get_text(path, "parameter")
								    : cost,
				  isnan(max_cost) ? "" : ", in all at most ",
				  isnan(max_cost) ? "" : format_short(max_cost, t));
	doc_labelled_item(d, "Front", "%s", get_text(s, "front"));
	if (get_text(s, "initial_from"))
		doc_labelled_item(d, "Starts from", "the results of study %s",
				  get_text(s, "initial_from"));
	doc_labelled_item(d, "Runs of each trial", "%lld", (long long)get_count(s, "runs"));
	if (path)
		doc_labelled_item(d, "Path",
				  "every training walks %s up, and is looked at on its way at up "
				  "to %lld values of it",
				  get_text(path, "parameter"),
				  (long long)get_count(path, "points"));
	json_array_foreach (get_json(report->json, "objectives"), i, o)
		doc_labelled_item(d, get_text(o, "label"), "%s; anti-ideal %s", get_text(o, "goal"),
				  format_short(get_number(o, "anti_ideal"), t));
	json_array_foreach (get_json(s, "constraints"), i, o)
		doc_labelled_item(d, "Constraint", "%s %s %s", get_text(o, "metric"),
				  get_text(o, "is"), format_short(get_number(o, "bound"), t));
	doc_table_begin(d, "Parameters");
	doc_text_columns(d, "parameter", "type", "values", NULL);
	json_array_foreach (get_json(s, "parameters"), i, o) {
		dp_buf_clear(&values);
		format_parameter_values(o, &values);
		doc_cell(d, "%s", get_text(o, "name"));
		doc_cell(d, "%s", get_text(o, "type"));
		doc_cell(d, "%s", dp_buf_text(&values));
	}
	doc_table_end(d);
	dp_buf_free(&values);
}

void write_failure_list(struct doc *d, const struct report_model *report)
{
	const json_t *all = get_json(report->json, "failures"), *group, *message;
	int64_t attempts = get_count(all, "attempts"), failed = get_count(all, "failed");
	int64_t kept = get_count(all, "waypoints_kept"), trials;
	size_t i, k;

	if (json_array_size(get_json(all, "groups")) == 0) {
		doc_paragraph(d, "None: every attempt ended well.");
		return;
	}
	doc_paragraph(d,
		      "%lld attempt%s did not end well; %lld trial%s failed for good and "
		      "%lld diverged.",
		      (long long)attempts, plural_suffix(attempts), (long long)failed,
		      plural_suffix(failed), (long long)get_count(all, "diverged"));
	if (kept > 0)
		doc_paragraph(d,
			      "What trainings had reached by then is kept: %lld "
			      "waypoint%s of them %s among the results.",
			      (long long)kept, plural_suffix(kept), kept == 1 ? "is" : "are");
	json_array_foreach (get_json(all, "groups"), i, group) {
		attempts = get_count(group, "attempts");
		trials = get_count(group, "trials");
		doc_labelled_item(d, get_text(group, "end"), "%lld attempt%s of %lld trial%s",
				  (long long)attempts, plural_suffix(attempts), (long long)trials,
				  plural_suffix(trials));
		json_array_foreach (get_json(group, "messages"), k, message)
			doc_item(d, "trial %lld: %s", (long long)get_count(message, "trial"),
				 get_text(message, "message"));
	}
	if (get_bool(all, "messages_left_out"))
		doc_paragraph(d, "Their messages are left out: a trainer may have printed "
				 "a seed or a record.");
}

void write_failures(struct doc *d, const struct report_model *report)
{
	const json_t *all = get_json(report->json, "failures");
	int64_t attempts = get_count(all, "attempts");
	char about[FORMAT_LEN];

	snprintf(about, sizeof about, "%lld attempt%s", (long long)attempts,
		 plural_suffix(attempts));
	doc_folded_section(d, "failures", "Failures", "Failures",
			   json_array_size(get_json(all, "groups")) ? about : "none");
	write_failure_list(d, report);
}

void write_resources(struct doc *d, const struct report_model *report)
{
	const json_t *s = get_json(report->json, "spent");
	const json_t *path = get_json(get_json(report->json, "settings"), "path");
	double elapsed = get_number(s, "elapsed_seconds"), cpu = get_number(s, "cpu_seconds");
	char t[DP_NUM_LEN];

	doc_folded_section(d, "spent", "What was spent", "Spent",
			   "evaluations, trainings and time");
	doc_labelled_item(d, "Evaluations", "%lld, in %lld attempts and %lld trainings",
			  (long long)get_count(s, "evaluations"),
			  (long long)get_count(s, "attempts"),
			  (long long)get_count(s, "trainings"));
	if (path)
		doc_labelled_item(d, "Walked", "%.0f %s in all, every evaluation in full",
				  get_number(s, "walked"), get_text(path, "parameter"));
	if (isnan(elapsed)) {
		doc_paragraph(d, "How long it took, and what it used of the machine, is "
				 "left out: that depends on the data.");
		return;
	}
	doc_labelled_item(d, "From submission to the last record", "%s",
			  dp_duration_text(elapsed, t));
	doc_labelled_item(d, "Training", "%s in all",
			  dp_duration_text(get_number(s, "training_seconds"), t));
	if (isnan(cpu))
		return;
	doc_labelled_item(d, "Processor time of the trainers", "%s", dp_duration_text(cpu, t));
	doc_labelled_item(d, "Most memory of one trainer", "%s",
			  dp_size_text((uint64_t)get_count(s, "peak_memory"), t));
}

static void write_seed_field(struct doc *d, const struct report_model *report)
{
	const json_t *seed = get_json(get_json(report->json, "reproduce"), "seed");

	if (strcmp(get_text(report->json, "seeds"), "secret") == 0)
		doc_labelled_item(d, "Seeds",
				  "secret. Run seeds and drawn settings follow from 32 random "
				  "bytes that only the journal has. Keep the journal and the "
				  "directories of the trainings to yourself: with a run seed a "
				  "reader can compute the noise of that run.");
	else if (!seed)
		doc_warning(d, "The seed is left out of this public report. Run seeds follow from "
			       "it: a reader who knows it can compute all noise. Host, paths and "
			       "messages of failures are left out, too.");
	else
		doc_labelled_item(d, "Seed", "%lld%s", (long long)json_integer_value(seed),
				  get_text(report->json, "seeds_warning")
					  ? ". Keep it to yourself: run seeds follow from it, "
					    "and a known seed voids every epsilon."
					  : "");
}

/* What a second run of the study would reproduce. */
static void write_repeatability(struct doc *d, const struct report_model *report)
{
	bool released = get_json(report->json, "released") != NULL;

	if (strcmp(get_text(report->json, "seeds"), "secret") == 0)
		doc_paragraph(d,
			      "The study repeats bit for bit in its own state directory only. "
			      "dparetoctl run with the study file below makes it again with other "
			      "seeds: drawn settings, noise and results differ. %s",
			      released ? "What is released then counts together with "
					 "what was released here."
				       : "What that costs in privacy adds to what was spent here.");
	else if (released)
		doc_paragraph(d, "dparetoctl run with the study file below makes the study again, "
				 "but does not repeat it: the noise on utilities is drawn anew, "
				 "and so is everything that follows from them. What is released "
				 "then counts together with what was released here.");
	else
		doc_paragraph(d, "dparetoctl run with the study file below repeats the "
				 "study; the same seed gives the same proposals, and the "
				 "same results where the trainer repeats itself.");
}

void write_reproduce(struct doc *d, const struct report_model *report)
{
	static const struct {
		const char *key, *title;
	} fields[] = { { "path", "Study file" },
		       { "journal", "Journal" },
		       { "created", "Submitted" },
		       { "updated", "Last record" } };
	const json_t *r = get_json(report->json, "reproduce"), *host = get_json(r, "host");
	const json_t *versions = get_json(r, "versions");

	doc_folded_section(d, "reproduce", "How to do it again", "Again",
			   "the study file, versions and the seed");
	write_repeatability(d, report);
	doc_labelled_item(
		d, "Version", "DPareto %s, journal format %lld, %s", get_text(versions, "dpareto"),
		(long long)get_count(versions, "journal_format"), get_text(versions, "compiler"));
	if (host)
		doc_labelled_item(d, "Host of this report", "%s (%s %s, %s)",
				  get_text(host, "name"), get_text(host, "system"),
				  get_text(host, "release"), get_text(host, "machine"));
	for (size_t i = 0; i < DP_COUNT(fields); i++)
		if (get_text(r, fields[i].key))
			doc_labelled_item(d, fields[i].title, "%s", get_text(r, fields[i].key));
	write_seed_field(d, report);
	if (get_text(r, "study_file"))
		doc_code(d, "yaml", get_text(r, "study_file"));
	else
		doc_paragraph(d, "The study file is left out: the seed could not be taken "
				 "out of it for certain.");
}
