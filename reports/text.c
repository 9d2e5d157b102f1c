/* text.c - the facts of a report in words. */
#include "reports/words.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the beginning ---- */

static void say_state(struct doc *d, const json_t *facts)
{
	const char *state = fact_text(facts, "state"),
		   *reason = fact_text(facts, "reason");
	int64_t ended = fact_count(facts, "evaluations");
	size_t front = json_array_size(fact(facts, "front"));
	char s[SHORT_LEN];

	doc_paragraph(d,
		      "The study is %s%s%s: %lld of %lld evaluations made, %lld failed, "
		      "%lld diverged. The front has %zu point%s; it dominates a "
		      "hypervolume of %s below the anti-ideal point.",
		      state, *reason ? ": " : "", reason, (long long)ended,
		      (long long)fact_count(facts, "budget"),
		      (long long)fact_count(facts, "failed"),
		      (long long)fact_count(facts, "diverged"), front,
		      plural((int64_t)front),
		      short_text(fact_number(facts, "hypervolume"), s));
	if (strcmp(state, "running") == 0 || strcmp(state, "paused") == 0)
		doc_note(d, "The study has not ended: this is what was known at %s.",
			 fact_text(fact(facts, "reproduce"), "updated"));
}

/* "0.17 to 0.19", "-" of a single run */
static void spread_cell(struct doc *d, const json_t *runs)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (fact_count(runs, "runs") > 1 && !isnan(fact_number(runs, "least")))
		doc_cell(d, "%s to %s", short_text(fact_number(runs, "least"), a),
			 short_text(fact_number(runs, "most"), b));
	else
		doc_cell(d, "-");
}

static void headline_table(struct doc *d, const json_t *facts)
{
	const json_t *row;
	size_t i;

	doc_table(d);
	doc_column(d, "epsilon at most", true);
	doc_column(d, fact_text(facts, "utility_objective"), true);
	doc_column(d, "least to most of the runs", true);
	doc_column(d, "epsilon spent", true);
	doc_column(d, "trial", true);
	json_array_foreach (fact(facts, "headline"), i, row) {
		bool none = !json_is_integer(fact(row, "trial"));
		char s[SHORT_LEN];

		doc_cell(d, "%s", short_text(fact_number(row, "epsilon"), s));
		doc_cell(d, "%s",
			 none ? "none" : short_text(fact_number(row, "value"), s));
		spread_cell(d, fact(row, "runs"));
		doc_cell(d, "%s", up_text(fact_number(row, "spent"), s));
		if (none)
			doc_cell(d, "-");
		else
			doc_cell(d, "%lld", (long long)fact_count(row, "trial"));
	}
	doc_table_end(d);
}

/* What more epsilon buys, in one sentence. */
static void headline_sentence(struct doc *d, const json_t *facts)
{
	const json_t *row, *first = NULL, *last = NULL;
	char a[SHORT_LEN], b[SHORT_LEN], e[SHORT_LEN], f[SHORT_LEN];
	const char *name = fact_text(facts, "utility_objective");
	size_t i;

	json_array_foreach (fact(facts, "headline"), i, row) {
		if (!json_is_integer(fact(row, "trial")))
			continue;
		first = first ? first : row;
		last = row;
	}
	if (!first) {
		doc_paragraph(d, "No trial has an epsilon of 10 or less.");
		return;
	}
	if (fact_count(first, "trial") == fact_count(last, "trial")) {
		doc_paragraph(d, "The best %s with an epsilon of %s or less is %s.", name,
			      short_text(fact_number(last, "epsilon"), e),
			      short_text(fact_number(last, "value"), a));
		return;
	}
	doc_paragraph(d,
		      "With an epsilon of at most %s the best %s found is %s; allowing "
		      "%s it is %s. That difference is what privacy costs here.",
		      short_text(fact_number(first, "epsilon"), e), name,
		      short_text(fact_number(first, "value"), a),
		      short_text(fact_number(last, "epsilon"), f),
		      short_text(fact_number(last, "value"), b));
}

static void say_bests(struct doc *d, const json_t *facts)
{
	const json_t *row;
	char s[SHORT_LEN];
	size_t i;

	json_array_foreach (fact(facts, "bests"), i, row) {
		const char *name = fact_text(row, "objective");

		doc_field(d, name, "at best %s, in trial %lld",
			  short_text(fact_number(fact(row, "objectives"), name), s),
			  (long long)fact_count(row, "trial"));
	}
}

static void say_baselines(struct doc *d, const json_t *facts)
{
	const json_t *row;
	char s[SHORT_LEN];
	size_t i;

	json_array_foreach (fact(facts, "baselines"), i, row)
		doc_field(d, fact_text(row, "label"), "%s %s, to compare with",
			  fact_text(facts, "utility_objective"),
			  short_text(fact_number(row, "value"), s));
}

static void write_headline(struct doc *d, const json_t *facts)
{
	doc_section(d, "short", "In short");
	say_state(d, facts);
	if (json_array_size(fact(facts, "front")) == 0) {
		doc_paragraph(d, "No trial has given a result, so there is no front.");
	} else if (json_array_size(fact(facts, "headline")) > 0) {
		headline_sentence(d, facts);
		headline_table(d, facts);
	} else {
		say_bests(d, facts);
	}
	say_baselines(d, facts);
}

/* ---- the front ---- */

static void front_columns(struct doc *d, const json_t *facts, const json_t *point)
{
	const json_t *o;
	const char *name;
	json_t *v;
	size_t i;

	doc_column(d, "trial", true);
	json_array_foreach (fact(facts, "objectives"), i, o) {
		doc_column(d, fact_text(o, "name"), true);
		if (strcmp(fact_text(o, "kind"), "metric") == 0) {
			doc_column(d, "least to most of the runs", true);
			doc_column(d, "sd", true);
			doc_column(d, "model says", true);
		}
	}
	json_object_foreach ((json_t *)fact(point, "parameters"), name, v)
		doc_column(d, name, !json_is_string(v));
}

static void front_row(struct doc *d, const json_t *facts, const json_t *point)
{
	char a[SHORT_LEN];
	const json_t *o;
	const char *name;
	json_t *v;
	size_t i;

	doc_cell(d, "%lld", (long long)fact_count(point, "trial"));
	json_array_foreach (fact(facts, "objectives"), i, o) {
		const json_t *runs = fact(fact(point, "runs"), fact_text(o, "name"));
		double value =
			fact_number(fact(point, "objectives"), fact_text(o, "name"));

		doc_cell(d, "%s", runs ? short_text(value, a) : up_text(value, a));
		if (!runs)
			continue;
		spread_cell(d, runs);
		doc_cell(d, "%s", short_text(fact_number(runs, "sd"), a));
		doc_cell(d, "%s",
			 short_text(fact_number(fact(fact(point, "denoised"),
						     fact_text(o, "name")),
						"value"),
				    a));
	}
	json_object_foreach ((json_t *)fact(point, "parameters"), name, v)
		value_cell(d, v);
}

static void write_front(struct doc *d, const json_t *facts)
{
	const json_t *front = fact(facts, "front"), *point;
	const char *why = fact_text(fact(facts, "optimism"), "no_models");
	size_t i;

	if (json_array_size(front) == 0)
		return;
	doc_section(d, "front", "The front");
	doc_paragraph(d,
		      "Every trial that no other one beats in all objectives. Values are "
		      "means over the runs of a trial%s; epsilon is rounded up.",
		      *why ? ""
			   : "; \"model says\" is what is left when the models take "
			     "the noise out");
	doc_table(d);
	front_columns(d, facts, json_array_get(front, 0));
	json_array_foreach (front, i, point)
		front_row(d, facts, point);
	doc_table_end(d);
	if (*why)
		doc_paragraph(d, "There are no models: %s.", why);
}

/* ---- figures ---- */

static void write_figures(struct doc *d, const json_t *facts,
			  const struct picture *pictures)
{
	const json_t *figure;
	size_t i;

	if (json_array_size(fact(facts, "figures")) == 0)
		return;
	doc_section(d, "figures", "Figures");
	json_array_foreach (fact(facts, "figures"), i, figure) {
		doc_heading(d, fact_text(figure, "title"));
		if (json_is_null(fact(figure, "file")))
			doc_paragraph(d, "This figure could not be drawn: %s.",
				      fact_text(figure, "why_not"));
		else
			doc_figure(d, fact_text(figure, "file"),
				   fact_text(figure, "title"),
				   fact_text(figure, "caption"), &pictures[i].png);
	}
}

static void write_compared(struct doc *d, const json_t *facts)
{
	const json_t *other;
	char s[SHORT_LEN];
	size_t i;

	if (json_array_size(fact(facts, "compared")) == 0)
		return;
	doc_section(d, "compared", "Studies compared with it");
	doc_table(d);
	doc_column(d, "study", false);
	doc_column(d, "state", false);
	doc_column(d, "evaluations", true);
	doc_column(d, "points on the front", true);
	doc_column(d, "hypervolume", true);
	for (i = 0; i <= json_array_size(fact(facts, "compared")); i++) {
		other = i ? json_array_get(fact(facts, "compared"), i - 1) : facts;
		doc_cell(d, "%s", fact_text(other, "study"));
		doc_cell(d, "%s", fact_text(other, "state"));
		doc_cell(d, "%lld", (long long)fact_count(other, "evaluations"));
		doc_cell(d, "%zu", json_array_size(fact(other, "front")));
		doc_cell(d, "%s", short_text(fact_number(other, "hypervolume"), s));
	}
	doc_table_end(d);
	doc_paragraph(d, "Hypervolumes compare only where objectives and anti-ideal "
			 "points are the same.");
}

/* ---- the study ---- */

static void parameters_table(struct doc *d, const json_t *list)
{
	char a[SHORT_LEN], b[SHORT_LEN];
	const json_t *p, *v;
	size_t i, k;

	doc_table(d);
	doc_column(d, "parameter", false);
	doc_column(d, "type", false);
	doc_column(d, "values", false);
	json_array_foreach (list, i, p) {
		struct dp_buf values = DP_BUF_INIT;

		doc_cell(d, "%s", fact_text(p, "name"));
		doc_cell(d, "%s", fact_text(p, "type"));
		if (fact(p, "low"))
			dp_buf_printf(&values, "%s to %s, %s",
				      short_text(fact_number(p, "low"), a),
				      short_text(fact_number(p, "high"), b),
				      fact_text(p, "scale"));
		else if (json_is_array(fact(p, "values")))
			json_array_foreach (fact(p, "values"), k, v) {
				dp_buf_puts(&values, k ? ", " : "");
				dp_json_dump(&values, v, 0);
			}
		else if (fact(p, "values"))
			dp_json_dump(&values, fact(p, "values"), 0);
		doc_cell(d, "%s", dp_buf_text(&values));
		dp_buf_free(&values);
	}
	doc_table_end(d);
}

static void write_settings(struct doc *d, const json_t *facts)
{
	const json_t *s = fact(facts, "settings"), *o;
	char t[SHORT_LEN];
	size_t i;

	doc_section(d, "settings", "Settings of the study");
	doc_field(d, "Search", "%s%s%s, %lld evaluations, %lld at once",
		  fact_text(s, "method"), *fact_text(s, "acquisition") ? " by " : "",
		  fact_text(s, "acquisition"), (long long)fact_count(s, "evaluations"),
		  (long long)fact_count(s, "parallel"));
	if (*fact_text(s, "initial_from"))
		doc_field(d, "Starts from", "the results of study %s",
			  fact_text(s, "initial_from"));
	doc_field(d, "Runs of each trial", "%lld", (long long)fact_count(s, "runs"));
	json_array_foreach (fact(facts, "objectives"), i, o)
		doc_field(d, fact_text(o, "label"), "%s; anti-ideal %s",
			  fact_text(o, "goal"),
			  short_text(fact_number(o, "anti_ideal"), t));
	json_array_foreach (fact(s, "constraints"), i, o)
		doc_field(d, "Constraint", "%s %s %s", fact_text(o, "metric"),
			  fact_text(o, "is"), short_text(fact_number(o, "bound"), t));
	parameters_table(d, fact(s, "parameters"));
}

static void write_failures(struct doc *d, const json_t *facts)
{
	const json_t *f = fact(facts, "failures"), *group, *m;
	size_t i, k;

	doc_section(d, "failures", "Failures");
	if (json_array_size(fact(f, "groups")) == 0) {
		doc_paragraph(d, "None: every attempt ended well.");
		return;
	}
	doc_paragraph(d,
		      "%lld attempt%s did not end well; %lld trial%s failed for good and "
		      "%lld diverged.",
		      (long long)fact_count(f, "attempts"),
		      plural(fact_count(f, "attempts")),
		      (long long)fact_count(f, "failed"), plural(fact_count(f, "failed")),
		      (long long)fact_count(f, "diverged"));
	json_array_foreach (fact(f, "groups"), i, group) {
		doc_field(d, fact_text(group, "end"), "%lld attempt%s of %lld trial%s",
			  (long long)fact_count(group, "attempts"),
			  plural(fact_count(group, "attempts")),
			  (long long)fact_count(group, "trials"),
			  plural(fact_count(group, "trials")));
		json_array_foreach (fact(group, "messages"), k, m)
			doc_item(d, "trial %lld: %s", (long long)fact_count(m, "trial"),
				 fact_text(m, "message"));
	}
	if (dp_json_bool(f, "messages_left_out", false))
		doc_paragraph(d,
			      "Their messages are left out: a trainer may have printed "
			      "a seed or a record.");
}

static void write_spent(struct doc *d, const json_t *facts)
{
	const json_t *s = fact(facts, "spent");
	char t[DP_NUM_LEN];

	doc_section(d, "spent", "What was spent");
	doc_field(d, "Evaluations", "%lld, in %lld attempts and %lld trainings",
		  (long long)fact_count(s, "evaluations"),
		  (long long)fact_count(s, "attempts"),
		  (long long)fact_count(s, "trainings"));
	doc_field(d, "From submission to the last record", "%s",
		  dp_duration_text(fact_number(s, "elapsed_seconds"), t));
	doc_field(d, "Training", "%s in all",
		  dp_duration_text(fact_number(s, "training_seconds"), t));
	doc_field(d, "Processor time of the trainers", "%s",
		  dp_duration_text(fact_number(s, "cpu_seconds"), t));
	doc_field(d, "Most memory of one trainer", "%s",
		  dp_size_text((uint64_t)fact_count(s, "peak_memory"), t));
}

static void say_seed(struct doc *d, const json_t *facts)
{
	if (dp_json_bool(facts, "public", false))
		doc_note(d, "The seed is left out of this public report. Trainers draw "
			    "their noise from it: who knows the seed can compute the "
			    "noise and take it away, and no epsilon holds any more. A "
			    "seed that can be guessed, such as 0 or 42, is as good as "
			    "published. Host, paths and messages of failures are left "
			    "out, too.");
	else
		doc_field(d, "Seed",
			  "%lld. Keep it to yourself: trainers draw their "
			  "noise from it, and a known seed voids every epsilon. "
			  "dpareto-report --public leaves it out.",
			  (long long)fact_count(fact(facts, "reproduce"), "seed"));
}

static void write_reproduce(struct doc *d, const json_t *facts)
{
	const json_t *r = fact(facts, "reproduce"), *v = fact(r, "versions"),
		     *h = fact(r, "host");

	doc_section(d, "reproduce", "How to do it again");
	doc_paragraph(d, "dparetoctl run with the study file below repeats the study; "
			 "the same seed gives the same proposals, and the same results "
			 "where the trainer repeats itself.");
	doc_field(d, "Version", "DPareto %s, journal format %lld, %s",
		  fact_text(v, "dpareto"), (long long)fact_count(v, "journal_format"),
		  fact_text(v, "compiler"));
	if (json_is_object(h))
		doc_field(d, "Host of this report", "%s (%s %s, %s)",
			  fact_text(h, "name"), fact_text(h, "system"),
			  fact_text(h, "release"), fact_text(h, "machine"));
	if (*fact_text(r, "path"))
		doc_field(d, "Study file", "%s", fact_text(r, "path"));
	if (*fact_text(r, "journal"))
		doc_field(d, "Journal", "%s", fact_text(r, "journal"));
	doc_field(d, "Submitted", "%s", fact_text(r, "created"));
	doc_field(d, "Last record", "%s", fact_text(r, "updated"));
	say_seed(d, facts);
	if (json_is_string(fact(r, "study_file")))
		doc_code(d, "yaml", fact_text(r, "study_file"));
	else
		doc_paragraph(d,
			      "The study file is left out: the seed could not be taken "
			      "out of it for certain.");
}

void report_text(struct doc *d, const json_t *facts, const struct picture *pictures)
{
	char title[DP_NAME_MAX + 32];

	snprintf(title, sizeof title, "Study %s", fact_text(facts, "study"));
	doc_title(d, title);
	write_headline(d, facts);
	write_warning(d, facts);
	write_front(d, facts);
	write_figures(d, facts, pictures);
	write_compared(d, facts);
	write_optimism(d, facts);
	write_assumptions(d, facts);
	write_statements(d, facts);
	write_settings(d, facts);
	write_failures(d, facts);
	write_spent(d, facts);
	write_reproduce(d, facts);
}
