/* section_privacy.c - section: mechanisms, assumptions and accountant checks behind each
 * epsilon. */
#include "reports/text/sections.h"

#include <math.h>
#include <string.h>

enum {
	CHECK_ROWS_MAX = 30 /* rows, plus those that fail the check */
};

static void write_mechanism_keys(struct doc *d, json_t *keys)
{
	char s[FORMAT_LEN];
	const char *name;
	json_t *v;

	doc_table_begin(d, "Keys of the mechanism");
	doc_text_columns(d, "key", "value", NULL);
	json_object_foreach (keys, name, v) {
		doc_cell(d, "%s", name);
		if (json_is_object(v))
			doc_cell(d, "parameter %s", get_text(v, "parameter"));
		else if (json_is_string(v))
			doc_cell(d, "%s", json_string_value(v));
		else
			doc_cell(d, "%s", format_short(json_number_value(v), s));
	}
	doc_table_end(d);
}

static void write_delta_field(struct doc *d, const json_t *m)
{
	double delta = get_number(m, "delta");
	char t[DP_NUM_LEN], s[FORMAT_LEN];

	if (isnan(delta))
		return;
	dp_num_text(delta, t);
	if (!isnan(get_number(m, "records")))
		doc_labelled_item(d, "Delta",
				  "%s; delta x records = %s, which should be well below 1", t,
				  format_short(get_number(m, "delta_times_records"), s));
	else
		doc_labelled_item(d, "Delta", "%s%s", t,
				  delta == 0 ? ": pure differential privacy" : "");
}

static void write_component(struct doc *d, const json_t *part)
{
	const char *name = get_text(part, "mechanism"), *summary = get_text(part, "summary");
	const json_t *times = get_json(part, "times");

	if (json_is_object(times))
		doc_labelled_item(d, "Part", "%s, as often as parameter %s says. %s", name,
				  get_text(times, "parameter"), summary);
	else if (json_number_value(times) == 1)
		doc_labelled_item(d, "Part", "%s. %s", name, summary);
	else
		doc_labelled_item(d, "Part", "%s, %.15g times. %s", name, json_number_value(times),
				  summary);
	if (get_text(part, "sampling"))
		doc_labelled_item(d, "Sampling", "%s", get_text(part, "sampling"));
	doc_labelled_item(d, "Theorem", "%s", get_text(part, "theorem"));
	doc_labelled_item(d, "Noise", "%s", get_text(part, "noise"));
	write_mechanism_keys(d, get_json(part, "keys"));
}

/* A line with this field, if it is known. */
static void write_text_field(struct doc *d, const json_t *m, const char *key, const char *title)
{
	if (get_text(m, key))
		doc_labelled_item(d, title, "%s", get_text(m, key));
}

static void write_mechanism(struct doc *d, const json_t *m)
{
	const json_t *command = json_object_get(m, "command"), *part;
	json_t *keys = get_json(m, "keys");
	double records = get_number(m, "records");
	struct dp_buf words = DP_BUF_INIT;
	size_t i;

	doc_labelled_item(d, "Mechanism", "%s. %s", get_text(m, "mechanism"),
			  get_text(m, "summary"));
	json_array_foreach (command, i, part)
		dp_buf_printf(&words, "%s%s", i ? " " : "", json_string_value(part));
	if (command)
		doc_labelled_item(d, "Program", "%s", dp_buf_text(&words));
	else
		doc_labelled_item(d, "Unit of privacy",
				  "%s. A person with more records is protected less than "
				  "epsilon says.",
				  get_text(m, "unit"));
	write_text_field(d, m, "relation", "Neighbouring relation");
	if (get_text(m, "sampling"))
		doc_labelled_item(d, "Sampling",
				  "%s. Shuffled batches are something else; "
				  "epsilon is not proven for them.",
				  get_text(m, "sampling"));
	if (!isnan(records))
		doc_labelled_item(d, "Training records", "%.0f", records);
	write_delta_field(d, m);
	doc_labelled_item(d, "Accountant", "%s%s", get_text(m, "accountant_text"),
			  command ? "" : "; every epsilon is an upper bound");
	write_text_field(d, m, "theorem", "Theorem");
	write_text_field(d, m, "noise", "Noise");
	if (get_text(m, "warning"))
		doc_warning(d, "%s", get_text(m, "warning"));
	if (json_object_size(keys))
		write_mechanism_keys(d, keys);
	json_array_foreach (get_json(m, "parts"), i, part)
		write_component(d, part);
	dp_buf_free(&words);
}

static const json_t *point_check(const json_t *point, const char *objective)
{
	return get_json(get_json(point, "checks"), objective);
}

/* Shows every k-th of many points, and each one that fails the check. `classic`: include that
 * conversion. */
static void check_table(struct doc *d, const json_t *front, const char *objective, bool classic)
{
	size_t every = (json_array_size(front) + CHECK_ROWS_MAX - 1) / CHECK_ROWS_MAX, i;
	char s[FORMAT_LEN], name[RESULT_NAME_LEN];
	const json_t *point;

	doc_table_begin(d, "Each epsilon of the front by several accountants");
	doc_number_columns(d, "trial", "epsilon", "pld", "rdp, improved", NULL);
	if (classic)
		doc_column(d, "rdp, classic", true);
	doc_column(d, "fits", false);
	json_array_foreach (front, i, point) {
		const json_t *check = point_check(point, objective);
		bool holds = get_bool(check, "holds");

		if (i % every != 0 && holds)
			continue;
		doc_cell(d, "%s", point_name(point, name));
		doc_cell(
			d, "%s",
			format_rounded_up(get_number(get_json(point, "objectives"), objective), s));
		doc_cell(d, "%s", format_rounded_up(get_number(check, "pld"), s));
		doc_cell(d, "%s", format_rounded_up(get_number(check, "rdp_improved"), s));
		if (classic)
			doc_cell(d, "%s", format_rounded_up(get_number(check, "rdp_classic"), s));
		doc_cell(d, "%s", holds ? "yes" : "NO");
	}
	doc_table_end(d);
	if (every > 1)
		doc_paragraph(d, "Some of those that fit are left out; report.json has all.");
}

static void write_accountant_checks(struct doc *d, const json_t *front, const char *objective)
{
	size_t held = 0, second = 0, third = 0, n = json_array_size(front), i;
	char points[DP_PLURAL_LEN];
	const json_t *point;

	if (n == 0)
		return;
	json_array_foreach (front, i, point) {
		const json_t *check = point_check(point, objective);

		held += get_bool(check, "holds");
		second += !isnan(get_number(check, "rdp_improved"));
		third += !isnan(get_number(check, "rdp_classic"));
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
		      "Each epsilon of the front was computed again, and by other accountants: "
		      "loss distributions give at most what Renyi divergences with the improved "
		      "conversion give%s. That holds for %zu of %s.",
		      third ? ", and these at most what the classic conversion gives" : "", held,
		      dp_plural_text(n, "point", points));
	check_table(d, front, objective, third > 0);
}

/* Names of declared keys, or of those that were not declared. */
static void append_declared_names(struct dp_buf *out, const json_t *declared, bool told)
{
	static const char *const keys[] = { "sampling", "records", "lot", "steps",
					    "noise_over_clip" };
	int64_t attempts = get_count(declared, "attempts");

	for (size_t i = 0; i < DP_COUNT(keys); i++) {
		int64_t n = get_count(declared, keys[i]);

		if (told && i == 0)
			n -= get_count(declared, "shuffled");
		if ((n > 0) != told)
			continue;
		dp_buf_printf(out, "%s%s", out->len ? ", " : "", keys[i]);
		if (told && n < attempts)
			dp_buf_printf(out, " (in %lld of %lld attempts)", (long long)n,
				      (long long)attempts);
	}
}

/* Which declared values were compared with the accounting, and which were missing. */
static void write_declarations(struct doc *d, const json_t *declared)
{
	int64_t attempts = get_count(declared, "attempts");
	int64_t shuffled = get_count(declared, "shuffled");
	struct dp_buf told = DP_BUF_INIT, untold = DP_BUF_INIT;
	const char *title = "Declared by the trainer";

	append_declared_names(&told, declared, true);
	append_declared_names(&untold, declared, false);
	if (!get_bool(declared, "compared"))
		doc_paragraph(d, "No mechanism of this study knows a declaration of the "
				 "trainer to be compared with: nothing checks that it "
				 "does what is accounted for.");
	else if (!get_bool(declared, "kept"))
		doc_paragraph(d, "What the trainer declared was compared with what epsilon is "
				 "computed from, and not kept: utilities are released with noise.");
	else if (attempts > 0 && told.len && untold.len)
		doc_labelled_item(d, title,
				  "%s, which agree with what epsilon is computed from. Not "
				  "declared: %s; nothing checks that the trainer does these as "
				  "accounted for.",
				  dp_buf_text(&told), dp_buf_text(&untold));
	else if (attempts > 0 && told.len)
		doc_labelled_item(d, title, "%s, which agree with what epsilon is computed from.",
				  dp_buf_text(&told));
	else if (attempts > 0)
		doc_labelled_item(d, title,
				  "nothing (of %s): nothing checks that it samples and adds "
				  "noise as accounted for.",
				  dp_buf_text(&untold));
	if (shuffled > 0)
		doc_warning(d,
			    "In %lld of %lld attempts the trainer declared that it shuffles "
			    "the records. Epsilon is not proven for that.",
			    (long long)shuffled, (long long)attempts);
	dp_buf_free(&told);
	dp_buf_free(&untold);
}

void write_assumptions(struct doc *d, const struct report_model *report)
{
	const json_t *privacy = get_json(report->json, "privacy"), *m;
	size_t i;

	if (json_array_size(privacy) == 0)
		return;
	doc_folded_section(d, "assumptions", "What is behind epsilon", "Epsilon",
			   "mechanism, assumptions and a second accountant");
	json_array_foreach (privacy, i, m) {
		doc_heading(d, get_text(m, "objective"));
		write_mechanism(d, m);
		if (!json_object_get(m, "command"))
			write_accountant_checks(d, get_json(report->json, "front"),
						get_text(m, "objective"));
	}
	write_declarations(d, get_json(report->json, "declared"));
	doc_paragraph(d, "Not covered: data-dependent choices outside the mechanism "
			 "(normalisation, clipping norms or stopping rules computed from "
			 "the data) and the difference between real-valued noise and that "
			 "of floating-point numbers.");
}
