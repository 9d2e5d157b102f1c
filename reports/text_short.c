/* text_short.c - what each level of epsilon buys. */
#include "reports/words.h"

#include "base/num.h"

#include <math.h>
#include <string.h>

void spread_cell(struct doc *d, const struct fact_objective *o, const struct fact_spread *runs)
{
	char a[SHORT_LEN], b[SHORT_LEN];

	if (runs && runs->runs > 1 && !isnan(runs->least))
		doc_cell(d, "%s to %s", amount_text(o, runs->least, runs->standard_error, a),
			 amount_text(o, runs->most, runs->standard_error, b));
	else
		doc_cell(d, "-");
}

/* The objective that rows are of. */
static const struct fact_objective *headline_objective(const struct facts *f)
{
	for (size_t i = 0; i < f->nobjectives; i++)
		if (strcmp(f->objectives[i].name, f->utility_objective) == 0)
			return &f->objectives[i];
	return &f->objectives[0];
}

/* The standard error of a row's value by its runs; NaN: unknown. */
static double row_error(const struct fact_headline *row)
{
	return row->runs ? row->runs->standard_error : NAN;
}

static void headline_row(struct doc *d, const struct facts *f, const struct fact_headline *row)
{
	const struct fact_objective *o = headline_objective(f);
	bool none = row->trial < 0;
	char s[SHORT_LEN], point[POINT_TEXT_LEN];

	doc_cell(d, "%s", short_text(row->epsilon, s));
	doc_cell(d, "%s%s", none ? "none" : amount_text(o, row->value, row_error(row), s),
		 row->no_better ? " (as the commonest class)" : "");
	if (f->study.denoises)
		doc_cell(d, "%s",
			 amount_text(o, row->runs ? row->runs->mean : NAN, row_error(row), s));
	spread_cell(d, o, row->runs);
	doc_cell(d, "%s", up_text(row->spent, s));
	doc_cell(d, "%s", none ? "-" : point_text(row->trial, row->at, point));
}

static void headline_table(struct doc *d, const struct facts *f)
{
	doc_table(d);
	doc_caption(d, "The best utility with epsilon at most so much");
	doc_column(d, "epsilon at most", true);
	value_column(d, headline_objective(f), f->utility_objective);
	if (f->study.denoises)
		doc_column(d, "as observed", true);
	doc_column(d, "least to most of the runs", true);
	doc_column(d, "epsilon spent", true);
	doc_column(d, "trial", true);
	for (size_t i = 0; i < f->study.headline.n; i++)
		headline_row(d, f, &f->study.headline.list[i]);
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
static void say_resolved(struct dp_buf *out, const struct fact_objective *o,
			 const struct fact_headline *first, const struct fact_headline *enough,
			 const struct fact_headline *last)
{
	char by[SHORT_LEN], noise[SHORT_LEN], from[SHORT_LEN];

	dp_buf_printf(out, " They differ by %s",
		      difference_text(o, fabs(first->value - last->value),
				      resolution(first, last) / 2, by));
	if (isnan(resolution(first, last))) {
		dp_buf_puts(out, "; whether that is more than luck is not known, since "
				 "nothing is known of the noise of one run.");
		return;
	}
	dp_buf_printf(out, "; two standard errors of that by the runs are %s, so ",
		      difference_text(o, resolution(first, last), 0, noise));
	if (!resolved(first, last))
		dp_buf_puts(out, "these runs do not show that more epsilon buys anything.");
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
	const struct fact_objective *o = headline_objective(f);
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
			      objective_text(o, last->value, row_error(last), a));
		return;
	}
	for (enough = first; resolved(enough, last);)
		enough++;
	say_resolved(&noise, o, first, enough, last);
	doc_paragraph(d,
		      "With an epsilon of at most %s the best %s found is %s%s; "
		      "allowing %s it is %s.%s%s",
		      short_text(first->epsilon, from), f->utility_objective,
		      objective_text(o, first->value, row_error(first), a),
		      first->no_better ? ", no better than the commonest class" : "",
		      short_text(last->epsilon, to),
		      objective_text(o, last->value, row_error(last), b), dp_buf_text(&noise),
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
	objective_text(headline_objective(f), m->value, 0, s);
	if (m->no_better == 0)
		doc_paragraph(d,
			      "Always answering the commonest class gives %s; every "
			      "point of the front is better, by more than two standard "
			      "errors of its runs.",
			      s);
	else
		doc_paragraph(d,
			      "Always answering the commonest class gives %s. That is as "
			      "good as %lld of %s of the front: %s not better by more "
			      "than two standard errors of %s runs, and of no use as far "
			      "as %s goes.",
			      s, (long long)m->no_better, dp_count_text(f->nfront, "point", points),
			      m->no_better == 1 ? "it is" : "they are",
			      m->no_better == 1 ? "its" : "their", f->utility_objective);
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
	if (f->study.headline.n > 0) {
		headline_sentence(d, f);
		say_why_denoised(d, f);
		headline_table(d, f);
	} else {
		say_why_denoised(d, f);
		say_bests(d, f);
	}
	say_majority(d, f);
}
