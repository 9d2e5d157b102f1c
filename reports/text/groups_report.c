/* groups_report.c - write the text of a group report. */
#include "reports/model/report_model.h"
#include "reports/text/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TITLE_GROUPS_MAX = 4 /* groups in a title */
};

void groups_report_title(const struct report_model *report, struct dp_buf *out)
{
	const struct dp_comparison *c = &report->groups->groups->contests[0];

	if (c->n > TITLE_GROUPS_MAX) {
		dp_buf_printf(out, "%zu groups of studies compared", c->n);
		return;
	}
	for (size_t i = 0; i < c->n; i++)
		dp_buf_printf(out, "%s%s",
			      i == 0         ? ""
			      : i + 1 < c->n ? ", "
					     : " and ",
			      c->groups[i].name);
	dp_buf_puts(out, c->n > 1 ? " compared" : ": one group of studies");
}

static const char *report_group_name(const struct report_model *report, size_t group)
{
	return report->groups->groups->contests[0].groups[group].name;
}

/* Formats a mean or a difference with the digits that its interval justifies. */
static const char *format_to_interval_precision(double x, double low, double high,
						char out[FORMAT_LEN])
{
	return format_with_error(x, (high - low) / 4, out);
}

static const char *format_group_p_value(double p, char out[FORMAT_LEN])
{
	if (isnan(p))
		return "-";
	if (p < 1e-4)
		snprintf(out, FORMAT_LEN, "< 0.0001");
	else
		snprintf(out, FORMAT_LEN, "%.2g", p);
	return out;
}

static const char *test_kind_name(enum dp_t_test_kind kind)
{
	return kind == DP_T_TEST_WELCH        ? "Welch's t-test"
	       : kind == DP_T_TEST_ONE_SAMPLE ? "t-test of one sample"
					      : "-";
}

static void interval_cell(struct doc *d, double low, double high)
{
	char a[FORMAT_LEN], b[FORMAT_LEN];

	if (isnan(low) || isnan(high))
		doc_cell(d, "-");
	else
		doc_cell(d, "%s to %s", format_to_interval_precision(low, low, high, a),
			 format_to_interval_precision(high, low, high, b));
}

/* "0.158 (95 %: 0.053 to 0.264, p = 0.006, Welch's t-test, 5 against 19)" */
static void append_test_result(struct dp_buf *out, const struct dp_t_test *t, size_t a, size_t b)
{
	bool turned = t->difference < 0;
	double low = turned ? -t->ci_high : t->ci_low, high = turned ? -t->ci_low : t->ci_high;
	char from[FORMAT_LEN], to[FORMAT_LEN], p[FORMAT_LEN];

	format_group_p_value(t->p, p);
	dp_buf_printf(out, " (95 %%: %s to %s, p %s%s, %s, %zu against %zu)",
		      format_to_interval_precision(low, low, high, from),
		      format_to_interval_precision(high, low, high, to), *p == '<' ? "" : "= ", p,
		      test_kind_name(t->kind), a, b);
}

/* Says which group is larger, by how much, and how sure that is. */
static void append_group_difference(struct dp_buf *out, const struct report_model *report,
				    const struct report_group_pair *p, enum comparison_basis by,
				    bool inside)
{
	const struct dp_comparison *c = &report->groups->groups->contests[by];
	const struct dp_compare_group *a = &c->groups[p->a], *b = &c->groups[p->b];
	const struct dp_sample_stats *samples = report->groups->hypervolumes[by].samples;
	const struct dp_t_test *t = &p->tests[by];
	char size[FORMAT_LEN];

	if (t->kind == DP_T_TEST_NONE)
		snprintf(size, sizeof size, "%.3g", fabs(t->difference));
	else
		format_to_interval_precision(fabs(t->difference), t->ci_low, t->ci_high, size);
	if (t->kind == DP_T_TEST_NONE && isfinite(t->difference) && t->difference != 0)
		dp_buf_printf(out,
			      "%s's hypervolume is %s %s than %s's; whether that is more "
			      "than chance is not known: %s.",
			      a->name, size, t->difference > 0 ? "higher" : "lower", b->name,
			      dp_compare_no_test_reason(&samples[p->a], &samples[p->b]));
	else if (t->difference == 0)
		dp_buf_printf(out, "%s hypervolumes of %s and %s are equal.",
			      inside ? "the" : "The", a->name, b->name);
	else if (t->kind == DP_T_TEST_NONE)
		dp_buf_printf(out, "%s hypervolumes of %s and %s cannot be compared: %s.",
			      inside ? "the" : "The", a->name, b->name,
			      dp_compare_no_test_reason(&samples[p->a], &samples[p->b]));
	else if (t->ci_low <= 0 && t->ci_high >= 0) {
		dp_buf_printf(out,
			      "%s seeds do not show a difference between the "
			      "hypervolumes of %s and %s: %s's is %s %s",
			      inside ? "these" : "These", a->name, b->name, a->name, size,
			      t->difference < 0 ? "lower" : "higher");
		append_test_result(out, t, a->n, b->n);
		dp_buf_putc(out, '.');
	} else {
		dp_buf_printf(out, "%s's hypervolume is %s %s than %s's", a->name, size,
			      t->difference > 0 ? "higher" : "lower", b->name);
		append_test_result(out, t, a->n, b->n);
		dp_buf_putc(out, '.');
	}
}

/* A paragraph for one pair, a list for several. */
static void write_group_pairs(struct doc *d, const struct report_model *report,
			      enum comparison_basis by)
{
	static const char *const values[] = {
		[BASIS_OBSERVED] = "",
		[BASIS_SMOOTHED] = "Without the noise, by models of the results: ",
		[BASIS_REEVALUATED] = "By what was measured again: ",
	};
	const struct report_groups *g = report->groups;
	bool one = g->npairs == 1;

	if (!one && *values[by])
		doc_paragraph(d, "%s", values[by]);
	for (size_t i = 0; i < g->npairs; i++) {
		struct dp_buf text = DP_BUF_INIT;

		dp_buf_puts(&text, one ? values[by] : "");
		append_group_difference(&text, report, &g->pairs[i], by, one && *values[by]);
		(one ? doc_paragraph : doc_item)(d, "%s", dp_buf_text(&text));
		dp_buf_free(&text);
	}
}

static void groups_table(struct doc *d, const struct report_model *report)
{
	static const char *const titles[] = {
		[BASIS_OBSERVED] = "hypervolume as observed",
		[BASIS_SMOOTHED] = "without the noise",
		[BASIS_REEVALUATED] = "measured again",
	};
	const struct report_groups *g = report->groups;

	doc_table_begin(d, NULL);
	doc_column(d, "group", false);
	doc_column(d, "members", true);
	for (int by = 0; by < BASIS_COUNT; by++) {
		if (!g->groups->has_basis[by])
			continue;
		doc_column(d, titles[by], true);
		doc_number_columns(d, "sd", "95 %", NULL);
	}
	for (size_t i = 0; i < g->groups->contests[0].n; i++) {
		doc_cell(d, "%s", report_group_name(report, i));
		doc_cell(d, "%zu", g->groups->contests[0].groups[i].n);
		for (int by = 0; by < BASIS_COUNT; by++) {
			const struct dp_sample_stats *s = g->hypervolumes[by].samples + i;
			char mean[FORMAT_LEN], sd[FORMAT_LEN];

			if (!g->groups->has_basis[by])
				continue;
			doc_cell(
				d, "%s",
				format_to_interval_precision(s->mean, s->ci_low, s->ci_high, mean));
			doc_cell(d, "%s", format_error(s->sd, sd));
			interval_cell(d, s->ci_low, s->ci_high);
		}
	}
	doc_table_end(d);
}

/* Whether every pair compares the first group with another. */
static bool pairs_cover_all_tests(const struct report_groups *g)
{
	for (size_t i = 0; i < g->npairs; i++)
		if (g->pairs[i].a != 0)
			return false;
	return g->npairs + 1 == g->groups->contests[0].n;
}

static void begin_tests_table(struct doc *d)
{
	doc_table_begin(d, NULL);
	doc_text_columns(d, "a", "b", NULL);
	doc_number_columns(d, "difference", "95 %", "p", "t", "degrees of freedom", NULL);
	doc_column(d, "test", false);
}

static void test_row(struct doc *d, const struct report_model *report, size_t a, size_t b,
		     const struct dp_t_test *t)
{
	char difference[FORMAT_LEN], statistic[FORMAT_LEN], df[FORMAT_LEN], p[FORMAT_LEN];

	doc_cell(d, "%s", report_group_name(report, a));
	doc_cell(d, "%s", report_group_name(report, b));
	doc_cell(d, "%s",
		 format_to_interval_precision(t->difference, t->ci_low, t->ci_high, difference));
	interval_cell(d, t->ci_low, t->ci_high);
	doc_cell(d, "%s", format_group_p_value(t->p, p));
	doc_cell(d, "%s", format_error(t->t, statistic));
	doc_cell(d, "%s", format_error(t->df, df));
	doc_cell(d, "%s", test_kind_name(t->kind));
}

static void write_tests(struct doc *d, const struct report_model *report)
{
	static const char *const titles[] = {
		[BASIS_OBSERVED] = "Hypervolume as observed",
		[BASIS_SMOOTHED] = "Hypervolume without the noise",
		[BASIS_REEVALUATED] = "Hypervolume as measured again",
	};
	const struct report_groups *g = report->groups;

	if (g->npairs == 0)
		return;
	doc_section(d, "tests", "How sure the differences are");
	doc_paragraph(d, "The difference is a's mean less b's. p is how often chance alone "
			 "gives one at least as large, were there none. Tests are two-sided "
			 "and not corrected for their number. Two samples are tested by "
			 "Welch's t-test; a group of one study is taken as fixed, and the "
			 "test is that of the other sample's mean.");
	for (int by = 0; by < BASIS_COUNT; by++)
		if (g->groups->has_basis[by]) {
			doc_heading(d, titles[by]);
			begin_tests_table(d);
			for (size_t i = 0; i < g->npairs; i++)
				test_row(d, report, g->pairs[i].a, g->pairs[i].b,
					 &g->pairs[i].tests[by]);
			doc_table_end(d);
		}
	if (pairs_cover_all_tests(g))
		return;
	/* the tests of dparetoctl compare */
	doc_heading(d, "The first group against each other one, as observed");
	begin_tests_table(d);
	for (size_t i = 1; i < g->groups->contests[0].n; i++)
		test_row(d, report, 0, i, &g->hypervolumes[BASIS_OBSERVED].tests[i]);
	doc_table_end(d);
}

static void level_row(struct doc *d, const struct report_model *report,
		      const struct dp_compare_answer *a, size_t group)
{
	const struct dp_comparison *c = &report->groups->groups->contests[BASIS_OBSERVED];
	const struct dp_study *spec = report->study->state->spec;
	size_t bounded = a->query.bounded_objective, target = a->query.target_objective;
	const struct dp_sample_stats *s = &a->samples[group];
	const struct dp_t_test *t = &a->tests[group];
	const double *values = dp_compare_group_values(c, a, group);
	char bound[FORMAT_LEN], mean[FORMAT_LEN], sd[FORMAT_LEN], by[FORMAT_LEN], p[FORMAT_LEN];
	size_t have = 0;

	for (size_t i = 0; i < c->groups[group].n; i++)
		have += !isnan(values[i]);
	doc_cell(d, "%s %s %s", c->objectives[bounded],
		 c->sign[bounded] < 0 ? ">=" : "<=", format_short(a->query.bound, bound));
	doc_cell(d, "%s", c->objectives[target]);
	doc_cell(d, "%s", c->groups[group].name);
	doc_cell(d, "%zu of %zu", have, c->groups[group].n);
	/* a privacy bound is rounded up */
	doc_cell(d, "%s",
		 spec->objectives[target].privacy
			 ? format_rounded_up(s->mean, mean)
			 : format_to_interval_precision(s->mean, s->ci_low, s->ci_high, mean));
	doc_cell(d, "%s", format_error(s->sd, sd));
	interval_cell(d, s->ci_low, s->ci_high);
	doc_cell(d, "%s",
		 group ? format_to_interval_precision(t->difference, t->ci_low, t->ci_high, by)
		       : "-");
	doc_cell(d, "%s", group ? format_group_p_value(t->p, p) : "-");
}

static void write_levels(struct doc *d, const struct report_model *report)
{
	const struct report_groups *g = report->groups;

	if (g->level_answers.n == 0)
		return;
	doc_section(d, "levels", "At some values of an objective");
	doc_paragraph(d,
		      "The best observed value among the results of each member that "
		      "keep the bound. Where a member has no such result, its group has "
		      "no mean. Differences and p are of %s against the group of the row.",
		      report_group_name(report, 0));
	doc_table_begin(d, NULL);
	doc_text_columns(d, "bound", "best", "group", NULL);
	doc_number_columns(d, "members that keep it", "mean", "sd", "95 %", "difference", "p",
			   NULL);
	for (size_t i = 0; i < g->level_answers.n; i++)
		for (size_t k = 0; k < g->groups->contests[0].n; k++)
			level_row(d, report, &g->level_answers.list[i], k);
	doc_table_end(d);
}

static void write_group_members(struct doc *d, const struct report_model *report)
{
	static const struct {
		const char *key, *title;
	} volumes[] = {
		[BASIS_OBSERVED] = { "hypervolume", "hypervolume as observed" },
		[BASIS_SMOOTHED] = { "hypervolume_denoised", "without the noise" },
		[BASIS_REEVALUATED] = { "hypervolume_remeasured", "measured again" },
	};
	const bool *known = report->groups->groups->has_basis;
	bool has_private_data = false;
	const json_t *member;
	char v[FORMAT_LEN];
	size_t i;

	doc_section(d, "members", "The studies behind these numbers");
	doc_table_begin(d, NULL);
	doc_text_columns(d, "group", "member", "state", NULL);
	doc_column(d, "evaluations", true);
	for (int by = 0; by < BASIS_COUNT; by++)
		if (known[by])
			doc_column(d, volumes[by].title, true);
	json_array_foreach (get_json(report->json, "members"), i, member) {
		doc_cell(d, "%s", get_text(member, "group"));
		doc_cell(d, "%s", get_text(member, "name"));
		doc_cell(d, "%s", get_text(member, "state"));
		doc_cell(d, "%lld of %lld", (long long)get_count(member, "evaluations"),
			 (long long)get_count(member, "asked"));
		for (int by = 0; by < BASIS_COUNT; by++)
			if (known[by])
				doc_cell(d, "%s",
					 format_short(get_number(member, volumes[by].key), v));
	}
	doc_table_end(d);
	for (i = 0; i < report->data->nstudies; i++)
		has_private_data |= !report->data->studies[i].state->current_spec->public_data;
	if (has_private_data)
		doc_paragraph(d, "What trainings cost in privacy stands in each study's own "
				 "report; those of several studies together cost more.");
	doc_paragraph(d, "The observed hypervolume is that of the best of many noisy results: the "
			 "more results and the noisier, the more of it is luck.");
}

/* "dpareto in DPareto, A; random in Random": groups with the same value together. */
static void append_setting_by_group(struct dp_buf *out, const struct report_model *report,
				    const char *key)
{
	size_t n = report->groups->groups->contests[0].n;
	const char **values = dp_calloc(n + 1, sizeof *values);
	bool *told = dp_calloc(n + 1, sizeof *told), mixed;
	static const char differs[] = "not the same in all studies";

	for (size_t i = 0; i < n; i++) {
		values[i] = report_group_setting(report->groups, report->data, i, key, &mixed);
		values[i] = mixed       ? "not the same in all studies"
			    : values[i] ? values[i]
					: "not set";
	}
	for (size_t i = 0; i < n; i++) {
		if (told[i])
			continue;
		dp_buf_printf(out, "%s%s in %s", out->len ? "; " : "", values[i],
			      report_group_name(report, i));
		for (size_t k = i + 1; k < n; k++)
			if (values[k] != differs && strcmp(values[k], values[i]) == 0) {
				dp_buf_printf(out, ", %s", report_group_name(report, k));
				told[k] = true;
			}
	}
	free(values);
	free(told);
}

static void write_differing_settings(struct doc *d, const struct report_model *report)
{
	json_t *settings = get_json(report->json, "settings_that_differ"), *by_group;
	const char *key;

	doc_section(d, "settings", "Settings that differ");
	if (json_object_size(settings) == 0)
		doc_paragraph(d, "None but names and seeds.");
	json_object_foreach (settings, key, by_group) {
		struct dp_buf text = DP_BUF_INIT;

		append_setting_by_group(&text, report, key);
		doc_labelled_item(d, key, "%s", dp_buf_text(&text));
		dp_buf_free(&text);
	}
}

void write_groups(struct doc *d, const struct report_model *report)
{
	const struct report_groups *g = report->groups;
	const json_t *warning;
	size_t i;

	doc_section(d, "short", "In short");
	if (g->npairs == 0)
		doc_paragraph(d, "There is one group, and so nothing to compare it with.");
	for (int by = 0; g->npairs && by < BASIS_COUNT; by++)
		if (g->groups->has_basis[by])
			write_group_pairs(d, report, by);
	json_array_foreach (get_json(report->json, "warnings"), i, warning)
		doc_warning(d, "%s", json_string_value(warning));
	groups_table(d, report);
	write_all_figures(d, report);
	write_tests(d, report);
	write_levels(d, report);
	write_group_members(d, report);
	write_differing_settings(d, report);
	doc_section(d, "reproduce", "How to do it again");
	doc_paragraph(d, "The same numbers, bit for bit:");
	doc_code(d, "sh", get_text(report->json, "command"));
}
