/* text_groups.c - a report of groups in words. */
#include "reports/group_facts.h"
#include "reports/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	TITLE_GROUPS = 4 /* that a title names */
};

void groups_title(const struct facts *f, struct dp_buf *out)
{
	const struct dp_contest *c = &f->groups->g->by[0];

	if (c->n > TITLE_GROUPS) {
		dp_buf_printf(out, "%zu groups of studies compared", c->n);
		return;
	}
	for (size_t i = 0; i < c->n; i++)
		dp_buf_printf(out, "%s%s",
			      i == 0         ? ""
			      : i + 1 < c->n ? ", "
					     : " and ",
			      c->group[i].name);
	dp_buf_puts(out, c->n > 1 ? " compared" : ": one group of studies");
}

static const char *name_of_group(const struct facts *f, size_t group)
{
	return f->groups->g->by[0].group[group].name;
}

/* ---- numbers ---- */

/* What is known of a mean or a difference goes by its interval. */
static const char *within_text(double x, double low, double high, char out[SHORT_LEN])
{
	return measured_text(x, (high - low) / 4, out);
}

static const char *p_words(double p, char out[SHORT_LEN])
{
	if (isnan(p))
		return "-";
	if (p < 1e-4)
		snprintf(out, SHORT_LEN, "< 0.0001");
	else
		snprintf(out, SHORT_LEN, "%.2g", p);
	return out;
}

static const char *test_words(enum dp_test_kind kind)
{
	return kind == DP_TEST_WELCH        ? "Welch's t-test"
	       : kind == DP_TEST_ONE_SAMPLE ? "t-test of one sample"
					    : "-";
}

static void interval_cell(struct doc *d, double low, double high)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (isnan(low) || isnan(high))
		doc_cell(d, "-");
	else
		doc_cell(d, "%s to %s", within_text(low, low, high, a),
			 within_text(high, low, high, b));
}

/* ---- the finding ---- */

/* "0.158 (95 %: 0.053 to 0.264, p = 0.006, Welch's t-test, 5 against 19)" */
static void say_sureness(struct dp_buf *out, const struct dp_test *t, size_t a, size_t b)
{
	bool turned = t->difference < 0;
	double low = turned ? -t->high : t->low, high = turned ? -t->low : t->high;
	char from[SHORT_LEN], to[SHORT_LEN], p[SHORT_LEN];

	p_words(t->p, p);
	dp_buf_printf(out, " (95 %%: %s to %s, p %s%s, %s, %zu against %zu)",
		      within_text(low, low, high, from), within_text(high, low, high, to),
		      *p == '<' ? "" : "= ", p, test_words(t->kind), a, b);
}

/* Whose is larger, by how much, and how sure that is. */
static void say_difference(struct dp_buf *out, const struct facts *f, const struct fact_pair *p,
			   enum groups_by by, bool inside)
{
	const struct dp_contest *c = &f->groups->g->by[by];
	const struct dp_rivals *a = &c->group[p->a], *b = &c->group[p->b];
	const struct dp_sample *samples = f->groups->volumes[by].samples;
	const struct dp_test *t = &p->test[by];
	char size[SHORT_LEN];

	if (t->kind == DP_TEST_NONE)
		snprintf(size, sizeof size, "%.3g", fabs(t->difference));
	else
		within_text(fabs(t->difference), t->low, t->high, size);
	if (t->kind == DP_TEST_NONE && isfinite(t->difference) && t->difference != 0)
		dp_buf_printf(out,
			      "%s's hypervolume is %s %s than %s's; whether that is more "
			      "than chance is not known: %s.",
			      a->name, size, t->difference > 0 ? "higher" : "lower", b->name,
			      dp_no_test(&samples[p->a], &samples[p->b]));
	else if (t->difference == 0)
		dp_buf_printf(out, "%s hypervolumes of %s and %s are equal.",
			      inside ? "the" : "The", a->name, b->name);
	else if (t->kind == DP_TEST_NONE)
		dp_buf_printf(out, "%s hypervolumes of %s and %s cannot be compared: %s.",
			      inside ? "the" : "The", a->name, b->name,
			      dp_no_test(&samples[p->a], &samples[p->b]));
	else if (t->low <= 0 && t->high >= 0) {
		dp_buf_printf(out,
			      "%s seeds do not show a difference between the "
			      "hypervolumes of %s and %s: %s's is %s %s",
			      inside ? "these" : "These", a->name, b->name, a->name, size,
			      t->difference < 0 ? "lower" : "higher");
		say_sureness(out, t, a->n, b->n);
		dp_buf_putc(out, '.');
	} else {
		dp_buf_printf(out, "%s's hypervolume is %s %s than %s's", a->name, size,
			      t->difference > 0 ? "higher" : "lower", b->name);
		say_sureness(out, t, a->n, b->n);
		dp_buf_putc(out, '.');
	}
}

/* One pair is a paragraph, several are a list. */
static void say_pairs(struct doc *d, const struct facts *f, enum groups_by by)
{
	static const char *const values[] = {
		[GROUPS_OBSERVED] = "",
		[GROUPS_DENOISED] = "Without the noise, by models of the results: ",
		[GROUPS_REMEASURED] = "By what was measured again: ",
	};
	const struct fact_groups *g = f->groups;
	bool one = g->npairs == 1;

	if (!one && *values[by])
		doc_paragraph(d, "%s", values[by]);
	for (size_t i = 0; i < g->npairs; i++) {
		struct dp_buf text = DP_BUF_INIT;

		dp_buf_puts(&text, one ? values[by] : "");
		say_difference(&text, f, &g->pairs[i], by, one && *values[by]);
		(one ? doc_paragraph : doc_item)(d, "%s", dp_buf_text(&text));
		dp_buf_free(&text);
	}
}

static void say_finding(struct doc *d, const struct facts *f)
{
	const struct fact_groups *g = f->groups;

	if (g->npairs == 0)
		doc_paragraph(d, "There is one group, and so nothing to compare it with.");
	for (int by = 0; g->npairs && by < GROUPS_BY; by++)
		if (g->g->known[by])
			say_pairs(d, f, by);
	for (size_t i = 0; i < g->nwarnings; i++)
		doc_note(d, "%s", g->warnings[i]);
}

/* ---- tables ---- */

static void groups_table(struct doc *d, const struct facts *f)
{
	static const char *const titles[] = {
		[GROUPS_OBSERVED] = "hypervolume as observed",
		[GROUPS_DENOISED] = "without the noise",
		[GROUPS_REMEASURED] = "measured again",
	};
	const struct fact_groups *g = f->groups;

	doc_table(d);
	doc_column(d, "group", false);
	doc_column(d, "members", true);
	for (int by = 0; by < GROUPS_BY; by++) {
		if (!g->g->known[by])
			continue;
		doc_column(d, titles[by], true);
		doc_column(d, "sd", true);
		doc_column(d, "95 %", true);
	}
	for (size_t i = 0; i < g->g->by[0].n; i++) {
		doc_cell(d, "%s", name_of_group(f, i));
		doc_cell(d, "%zu", g->g->by[0].group[i].n);
		for (int by = 0; by < GROUPS_BY; by++) {
			const struct dp_sample *s = g->volumes[by].samples + i;
			char mean[SHORT_LEN], sd[SHORT_LEN];

			if (!g->g->known[by])
				continue;
			doc_cell(d, "%s", within_text(s->mean, s->low, s->high, mean));
			doc_cell(d, "%s", error_text(s->sd, sd));
			interval_cell(d, s->low, s->high);
		}
	}
	doc_table_end(d);
}

static void test_cells(struct doc *d, const struct dp_test *t)
{
	char a[SHORT_LEN], b[SHORT_LEN], c[SHORT_LEN], p[SHORT_LEN];

	doc_cell(d, "%s", within_text(t->difference, t->low, t->high, a));
	interval_cell(d, t->low, t->high);
	doc_cell(d, "%s", p_words(t->p, p));
	doc_cell(d, "%s", error_text(t->t, b));
	doc_cell(d, "%s", error_text(t->freedom, c));
	doc_cell(d, "%s", test_words(t->kind));
}

static void test_columns(struct doc *d)
{
	doc_column(d, "difference", true);
	doc_column(d, "95 %", true);
	doc_column(d, "p", true);
	doc_column(d, "t", true);
	doc_column(d, "degrees of freedom", true);
	doc_column(d, "test", false);
}

/* Is every pair one of the first group against another? */
static bool pairs_are_tests(const struct fact_groups *g)
{
	for (size_t i = 0; i < g->npairs; i++)
		if (g->pairs[i].a != 0)
			return false;
	return g->npairs + 1 == g->g->by[0].n;
}

static void tests_table(struct doc *d, const struct facts *f, enum groups_by by)
{
	const struct fact_groups *g = f->groups;

	doc_table(d);
	doc_column(d, "a", false);
	doc_column(d, "b", false);
	test_columns(d);
	for (size_t i = 0; i < g->npairs; i++) {
		doc_cell(d, "%s", name_of_group(f, g->pairs[i].a));
		doc_cell(d, "%s", name_of_group(f, g->pairs[i].b));
		test_cells(d, &g->pairs[i].test[by]);
	}
	doc_table_end(d);
}

/* The tests of dparetoctl compare: the first group against each other one. */
static void first_table(struct doc *d, const struct facts *f)
{
	const struct fact_groups *g = f->groups;

	doc_heading(d, "The first group against each other one, as observed");
	doc_table(d);
	doc_column(d, "a", false);
	doc_column(d, "b", false);
	test_columns(d);
	for (size_t i = 1; i < g->g->by[0].n; i++) {
		doc_cell(d, "%s", name_of_group(f, 0));
		doc_cell(d, "%s", name_of_group(f, i));
		test_cells(d, &g->volumes[GROUPS_OBSERVED].tests[i]);
	}
	doc_table_end(d);
}

static void write_tests(struct doc *d, const struct facts *f)
{
	static const char *const titles[] = {
		[GROUPS_OBSERVED] = "Hypervolume as observed",
		[GROUPS_DENOISED] = "Hypervolume without the noise",
		[GROUPS_REMEASURED] = "Hypervolume as measured again",
	};
	const struct fact_groups *g = f->groups;

	if (g->npairs == 0)
		return;
	doc_section(d, "tests", "How sure the differences are");
	doc_paragraph(d, "The difference is a's mean less b's. p is how often chance alone "
			 "gives one at least as large, were there none. Tests are two-sided "
			 "and not corrected for their number. Two samples are tested by "
			 "Welch's t-test; a group of one study is taken as fixed, and the "
			 "test is that of the other sample's mean.");
	for (int by = 0; by < GROUPS_BY; by++)
		if (g->g->known[by]) {
			doc_heading(d, titles[by]);
			tests_table(d, f, by);
		}
	if (!pairs_are_tests(g))
		first_table(d, f);
}

/* A value of an objective; a bound on privacy is rounded up. */
static const char *value_words(const struct facts *f, size_t objective, double x, double low,
			       double high, char out[SHORT_LEN])
{
	const struct dp_study *spec = f->groups->g->list[0].of[0]->s->spec;

	return spec->objectives[objective].privacy ? up_text(x, out)
						   : within_text(x, low, high, out);
}

static void level_row(struct doc *d, const struct facts *f, const struct dp_answer *a, size_t group)
{
	const struct dp_contest *c = &f->groups->g->by[GROUPS_OBSERVED];
	const struct dp_sample *s = &a->samples[group];
	const struct dp_test *t = &a->tests[group];
	const double *values = dp_answer_values(c, a, group);
	char bound[SHORT_LEN], mean[SHORT_LEN], sd[SHORT_LEN], by[SHORT_LEN], p[SHORT_LEN];
	size_t have = 0;

	for (size_t i = 0; i < c->group[group].n; i++)
		have += !isnan(values[i]);
	doc_cell(d, "%s %s %s", c->objectives[a->asked.at],
		 c->sign[a->asked.at] < 0 ? ">=" : "<=", short_text(a->asked.bound, bound));
	doc_cell(d, "%s", c->objectives[a->asked.of]);
	doc_cell(d, "%s", c->group[group].name);
	doc_cell(d, "%zu of %zu", have, c->group[group].n);
	doc_cell(d, "%s", value_words(f, a->asked.of, s->mean, s->low, s->high, mean));
	doc_cell(d, "%s", error_text(s->sd, sd));
	interval_cell(d, s->low, s->high);
	doc_cell(d, "%s", group ? within_text(t->difference, t->low, t->high, by) : "-");
	doc_cell(d, "%s", group ? p_words(t->p, p) : "-");
}

static void write_levels(struct doc *d, const struct facts *f)
{
	const struct fact_groups *g = f->groups;

	if (g->at.n == 0)
		return;
	doc_section(d, "levels", "At some values of an objective");
	doc_paragraph(d,
		      "The best observed value among the results of each member that "
		      "keep the bound. Where a member has no such result, its group has "
		      "no mean. Differences and p are of %s against the group of the row.",
		      name_of_group(f, 0));
	doc_table(d);
	doc_column(d, "bound", false);
	doc_column(d, "best", false);
	doc_column(d, "group", false);
	doc_column(d, "members that keep it", true);
	doc_column(d, "mean", true);
	doc_column(d, "sd", true);
	doc_column(d, "95 %", true);
	doc_column(d, "difference", true);
	doc_column(d, "p", true);
	for (size_t i = 0; i < g->at.n; i++)
		for (size_t k = 0; k < g->g->by[0].n; k++)
			level_row(d, f, &g->at.list[i], k);
	doc_table_end(d);
}

/* ---- what is behind them ---- */

static void member_row(struct doc *d, const struct fact_groups *g, const struct fact_member *m)
{
	char v[SHORT_LEN];

	doc_cell(d, "%s", m->group);
	doc_cell(d, "%s", m->name);
	doc_cell(d, "%s", m->state);
	doc_cell(d, "%lld of %lld", (long long)m->evaluations, (long long)m->asked);
	for (int by = 0; by < GROUPS_BY; by++)
		if (g->g->known[by])
			doc_cell(d, "%s", short_text(m->volume[by], v));
}

static void write_behind(struct doc *d, const struct facts *f)
{
	const struct fact_groups *g = f->groups;

	doc_section(d, "members", "The studies behind these numbers");
	doc_table(d);
	doc_column(d, "group", false);
	doc_column(d, "member", false);
	doc_column(d, "state", false);
	doc_column(d, "evaluations", true);
	doc_column(d, "hypervolume as observed", true);
	if (g->g->known[GROUPS_DENOISED])
		doc_column(d, "without the noise", true);
	if (g->g->known[GROUPS_REMEASURED])
		doc_column(d, "measured again", true);
	for (size_t i = 0; i < g->nmembers; i++)
		member_row(d, g, &g->members[i]);
	doc_table_end(d);
	if (g->private)
		doc_paragraph(d, "What trainings cost in privacy stands in each study's own "
				 "report; those of several studies together cost more.");
	doc_paragraph(d, "The observed hypervolume is that of the best of many noisy "
			 "results: the more results and the noisier, the more of it is "
			 "luck.");
}

/* "dpareto in DPareto, A; random in Random": groups of one value together. */
static void say_setting(struct dp_buf *out, const struct facts *f, const struct fact_setting *s)
{
	size_t n = f->groups->g->by[0].n;

	for (size_t i = 0; i < n; i++) {
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= s->mixed[i] || s->mixed[k] || !s->of[i] != !s->of[k] ||
				 (s->of[i] && strcmp(s->of[i], s->of[k]) != 0);
		if (!first)
			continue;
		dp_buf_printf(out, "%s%s in %s", out->len ? "; " : "",
			      s->mixed[i] ? "not the same in all studies"
			      : s->of[i]  ? s->of[i]
					  : "not set",
			      name_of_group(f, i));
		for (size_t k = i + 1; k < n; k++)
			if (!s->mixed[i] && !s->mixed[k] && !s->of[i] == !s->of[k] &&
			    (!s->of[i] || strcmp(s->of[i], s->of[k]) == 0))
				dp_buf_printf(out, ", %s", name_of_group(f, k));
	}
}

static void write_differing(struct doc *d, const struct facts *f)
{
	const struct fact_groups *g = f->groups;

	doc_section(d, "settings", "Settings that differ");
	if (g->nsettings == 0)
		doc_paragraph(d, "None but names and seeds.");
	for (size_t i = 0; i < g->nsettings; i++) {
		struct dp_buf text = DP_BUF_INIT;

		say_setting(&text, f, &g->settings[i]);
		doc_field(d, g->settings[i].key, "%s", dp_buf_text(&text));
		dp_buf_free(&text);
	}
}

void write_groups(struct doc *d, const struct facts *f)
{
	doc_section(d, "short", "In short");
	say_finding(d, f);
	groups_table(d, f);
	write_all_figures(d, f);
	write_tests(d, f);
	write_levels(d, f);
	write_behind(d, f);
	write_differing(d, f);
	doc_section(d, "reproduce", "How to do it again");
	doc_paragraph(d, "The same numbers, bit for bit:");
	doc_code(d, "sh", f->groups->command);
}
