/* text_short.c - the beginning of a report: what it says in short. */
#include "reports/words.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

/* What was measured again of the front, beside what was searched. */
static void say_remeasured(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;
	bool luck = !s->denoises && s->remeasured == f->nfront &&
		    s->hypervolume_remeasured < s->hypervolume;
	char again[SHORT_LEN], searched[SHORT_LEN];

	if (s->remeasured == 0)
		return;
	doc_paragraph(d,
		      "%zu of the front's %zu point%s measured again with fresh seeds. "
		      "By what came out %s a hypervolume of %s; by what was observed in "
		      "the search the front dominates %s.%s",
		      s->remeasured, f->nfront, f->nfront == 1 ? " was" : "s were",
		      s->remeasured == 1 ? "it dominates" : "they dominate",
		      short_text(s->hypervolume_remeasured, again),
		      short_text(s->hypervolume, searched),
		      luck ? " The difference is luck: the best of many noisy results is "
			     "an optimistic one."
			   : "");
}

/* How large the front is, as observed and without the noise. */
static void say_size(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;
	bool both = !isnan(s->hypervolume_denoised);
	double shown = s->denoises ? s->hypervolume_denoised : s->hypervolume,
	       other = s->denoises ? s->hypervolume : s->hypervolume_denoised;
	char volume[SHORT_LEN], second[SHORT_LEN];

	doc_paragraph(d,
		      "The front has %zu point%s; it dominates a hypervolume of %s below "
		      "the anti-ideal point%s%s%s.",
		      f->nfront, plural_end((int64_t)f->nfront),
		      short_text(shown, volume),
		      !both         ? ""
		      : s->denoises ? " without the noise (as observed: "
				    : " as observed (without the noise: ",
		      both ? short_text(other, second) : "", both ? ")" : "");
}

static void say_state(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;

	doc_paragraph(d,
		      "The study is %s: %lld of %lld evaluations made, %lld failed, "
		      "%lld diverged.",
		      s->state, (long long)s->evaluations, (long long)f->budget,
		      (long long)s->failed, (long long)s->diverged);
	if (*s->reason)
		doc_note(d, "Why it is %s: %s.", s->state, s->reason);
	if (f->nfront)
		say_size(d, f);
	say_remeasured(d, f);
	if (strcmp(s->state, "running") == 0 || strcmp(s->state, "paused") == 0)
		doc_note(d, "The study has not ended: this is what was known at %s.",
			 f->reproduce.updated ? f->reproduce.updated : "");
}

void spread_cell(struct doc *d, const struct fact_spread *runs)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (runs && runs->runs > 1 && !isnan(runs->least))
		doc_cell(d, "%s to %s",
			 measured_text(runs->least, runs->standard_error, a),
			 measured_text(runs->most, runs->standard_error, b));
	else
		doc_cell(d, "-");
}

/* The standard error of a row's value by its runs; NaN: unknown. */
static double row_error(const struct fact_headline *row)
{
	return row->runs ? row->runs->standard_error : NAN;
}

static void headline_table(struct doc *d, const struct facts *f)
{
	doc_table(d);
	doc_column(d, "epsilon at most", true);
	doc_column(d, f->utility_objective, true);
	if (f->study.denoises)
		doc_column(d, "as observed", true);
	doc_column(d, "least to most of the runs", true);
	if (f->settings.path)
		doc_column(d, "sd", true);
	doc_column(d, "epsilon spent", true);
	doc_column(d, "trial", true);
	for (size_t i = 0; i < f->study.headline.n; i++) {
		const struct fact_headline *row = &f->study.headline.list[i];
		bool none = row->trial < 0;
		char s[SHORT_LEN], point[POINT_TEXT_LEN];

		doc_cell(d, "%s", short_text(row->epsilon, s));
		doc_cell(d, "%s%s",
			 none ? "none" : measured_text(row->value, row_error(row), s),
			 row->no_better ? " (as the commonest class)" : "");
		if (f->study.denoises)
			doc_cell(d, "%s",
				 measured_text(row->runs ? row->runs->mean : NAN,
					       row_error(row), s));
		spread_cell(d, row->runs);
		if (f->settings.path)
			doc_cell(d, "%s", error_text(row->runs ? row->runs->sd : NAN, s));
		doc_cell(d, "%s", up_text(row->spent, s));
		doc_cell(d, "%s", none ? "-" : point_text(row->trial, row->at, point));
	}
	doc_table_end(d);
}

/* Twice the standard error of the difference of two rows by their runs; NaN: unknown. */
static double resolution(const struct fact_headline *a, const struct fact_headline *b)
{
	return 2 * hypot(row_error(a), row_error(b));
}

/* Is the difference more than the noise of the runs explains? */
static bool resolved(const struct fact_headline *a, const struct fact_headline *b)
{
	return fabs(a->value - b->value) > resolution(a, b);
}

static bool same_result(const struct fact_headline *a, const struct fact_headline *b)
{
	return a->trial == b->trial && a->at == b->at;
}

/* What the noise lets one see of the difference. `enough` is the first row that cannot be
 * told from the last. */
static void say_resolved(struct dp_buf *out, const struct fact_headline *first,
			 const struct fact_headline *enough,
			 const struct fact_headline *last)
{
	char by[SHORT_LEN], noise[SHORT_LEN], from[SHORT_LEN];

	dp_buf_printf(out, " They differ by %s",
		      measured_text(fabs(first->value - last->value),
				    resolution(first, last) / 2, by));
	if (isnan(resolution(first, last))) {
		dp_buf_puts(out, "; whether that is more than luck is not known, since "
				 "nothing is known of the noise of one run.");
		return;
	}
	dp_buf_printf(out, "; two standard errors of that by the runs are %s, so ",
		      error_text(resolution(first, last), noise));
	if (!resolved(first, last))
		dp_buf_puts(out,
			    "these runs do not show that more epsilon buys anything.");
	else
		dp_buf_puts(out, "it is more than their noise.");
	if (enough != first && !same_result(enough, last))
		dp_buf_printf(out,
			      " What is reached with at most %s cannot be told from what "
			      "is reached with more.",
			      short_text(enough->epsilon, from));
}

/* What more epsilon buys. */
static void headline_sentence(struct doc *d, const struct facts *f)
{
	const struct fact_headlines *all = &f->study.headline;
	const struct fact_headline *first = NULL, *enough = NULL, *last = NULL;
	char a[SHORT_LEN], b[SHORT_LEN], from[SHORT_LEN], to[SHORT_LEN];
	struct dp_buf noise = DP_BUF_INIT;

	for (size_t i = 0; i < all->n; i++) {
		if (all->list[i].trial < 0)
			continue;
		first = first ? first : &all->list[i];
		last = &all->list[i];
	}
	if (!first) {
		doc_paragraph(d, "No trial has an epsilon of 10 or less.");
		return;
	}
	if (same_result(first, last)) {
		doc_paragraph(d, "The best %s with an epsilon of %s or less is %s.",
			      f->utility_objective, short_text(last->epsilon, to),
			      measured_text(last->value, row_error(last), a));
		return;
	}
	for (enough = first; resolved(enough, last);)
		enough++;
	say_resolved(&noise, first, enough, last);
	doc_paragraph(d,
		      "With an epsilon of at most %s the best %s found is %s%s; "
		      "allowing %s it is %s.%s%s",
		      short_text(first->epsilon, from), f->utility_objective,
		      measured_text(first->value, row_error(first), a),
		      first->no_better ? ", no better than the commonest class" : "",
		      short_text(last->epsilon, to),
		      measured_text(last->value, row_error(last), b), dp_buf_text(&noise),
		      f->nbaselines ? ""
				    : " What a training without privacy reaches is not "
				      "known here (--baseline tells the report).");
	dp_buf_free(&noise);
}

static void say_bests(struct doc *d, const struct facts *f)
{
	char s[SHORT_LEN], point[POINT_TEXT_LEN];

	for (size_t i = 0; i < f->nbests; i++)
		doc_field(d, f->bests[i].objective, "at best %s, in trial %s",
			  f->bests[i].privacy ? up_text(f->bests[i].value, s)
					      : short_text(f->bests[i].value, s),
			  point_text(f->bests[i].trial, f->bests[i].at, point));
}

/* What guessing gives, and who does no better. */
static void say_majority(struct doc *d, const struct facts *f)
{
	const struct fact_majority *m = f->majority;
	char s[SHORT_LEN], points[DP_COUNT_LEN];

	if (!m)
		return;
	if (m->no_better == 0)
		doc_field(d, "Always answering the commonest class",
			  "%s %s; every point of the front is better, by more than two "
			  "standard errors of its runs",
			  f->utility_objective, short_text(m->value, s));
	else
		doc_field(d, "Always answering the commonest class",
			  "%s %s. That is as good as %lld of %s of the front: %s not "
			  "better by more than two standard errors of %s runs, and of "
			  "no use as far as %s goes",
			  f->utility_objective, short_text(m->value, s),
			  (long long)m->no_better,
			  dp_count_text(f->nfront, "point", points),
			  m->no_better == 1 ? "it is" : "they are",
			  m->no_better == 1 ? "its" : "their", f->utility_objective);
}

static void say_baselines(struct doc *d, const struct facts *f)
{
	char s[SHORT_LEN];

	for (size_t i = 0; i < f->nbaselines; i++)
		doc_field(d, f->baselines[i].label, "%s %s, to compare with",
			  f->utility_objective ? f->utility_objective : "",
			  short_text(f->baselines[i].value, s));
}

static void say_why_denoised(struct doc *d, const struct facts *f)
{
	if (f->study.denoises)
		doc_paragraph(d, "The front and these values are what models of all "
				 "results leave when the noise of the runs is taken out: "
				 "a front of observed means is a front of lucky runs.");
}

void write_headline(struct doc *d, const struct facts *f)
{
	doc_section(d, "short", "In short");
	say_state(d, f);
	if (f->nfront == 0) {
		doc_paragraph(d, "%s, so there is no front.",
			      f->optimism.chosen_from
				      ? "No result meets the constraints with finite "
					"values"
				      : "No trial has given a result");
	} else if (f->study.headline.n > 0) {
		headline_sentence(d, f);
		say_why_denoised(d, f);
		headline_table(d, f);
	} else {
		say_why_denoised(d, f);
		say_bests(d, f);
	}
	if (f->nfront)
		say_majority(d, f);
	say_baselines(d, f);
}
