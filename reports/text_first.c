/* text_first.c - the first screen of a report: what it is, what it recommends, and what
 * that rests on. */
#include "reports/words.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	BADGE_LEN = 200,
	REASON_LEN = 120, /* fits into one */
};

/* ---- badges ---- */

static struct doc_badge state_badge(const struct facts *f, char text[BADGE_LEN])
{
	const struct fact_study *s = &f->study;
	bool ended = strcmp(s->state, "finished") == 0;
	int n = snprintf(text, BADGE_LEN, "%s, %lld of %lld evaluations", s->state,
			 (long long)s->evaluations, (long long)f->budget);

	if (s->failed)
		n += snprintf(text + n, (size_t)(BADGE_LEN - n), ", %lld failed",
			      (long long)s->failed);
	if (s->diverged)
		snprintf(text + n, (size_t)(BADGE_LEN - n), ", %lld diverged",
			 (long long)s->diverged);
	return (struct doc_badge){ ended ? DOC_GOOD : DOC_BAD, text };
}

/* The model of what is recommended by; NULL: there is none. */
static const struct fact_model *utility_model(const struct facts *f)
{
	const char *name = f->objectives[f->recommendation->y].name;

	for (size_t i = 0; i < f->nmodels; i++)
		if (strcmp(f->models[i].objective, name) == 0)
			return &f->models[i];
	return NULL;
}

/* What fresh seeds gave at the point, with an interval; else NULL. */
static const struct dp_measured *measured_again(const struct fact_choice *c)
{
	const struct dp_measured *m = c->point->remeasured;

	return m && m->runs > 1 ? m : NULL;
}

/* Do fresh seeds agree with what is told? */
static bool agrees_again(const struct fact_choice *c, size_t y)
{
	const struct dp_measured *m = measured_again(c);

	return !(m->low[y] > c->high) && !(m->high[y] < c->low);
}

/* What the values rest on that were not measured again. */
static void trust_reason(const struct facts *f, char out[REASON_LEN])
{
	const struct fact_choice *taken = f->recommendation->taken;
	char runs[DP_COUNT_LEN];

	dp_count_text((size_t)f->optimism.runs, "run", runs);
	if (strcmp(taken->source, "models") == 0 && utility_model(f))
		snprintf(out, REASON_LEN, "%s per point, models that predict well", runs);
	else if (f->released)
		snprintf(out, REASON_LEN, "the noise on utilities is known");
	else
		snprintf(out, REASON_LEN, "%s per point, %s", runs,
			 f->optimism.no_models ? "no models" : "models do not predict well");
}

/* How far to trust the recommendation, and why. */
static struct doc_badge trust_badge(const struct facts *f, char text[BADGE_LEN])
{
	const struct fact_recommendation *r = f->recommendation;
	const struct fact_choice *taken = r->taken;
	enum doc_tone tone = DOC_PLAIN;
	char reason[REASON_LEN];

	if (measured_again(taken)) {
		bool agrees = agrees_again(taken, r->y);

		tone = agrees ? DOC_GOOD : DOC_BAD;
		snprintf(text, BADGE_LEN, "trust: %s with fresh seeds",
			 agrees ? "good, measured again"
				: "poor, measured again it is not the same");
	} else if (taken->source) {
		trust_reason(f, reason);
		snprintf(text, BADGE_LEN, "trust: fair, %s, not measured again", reason);
	} else if (taken->point->of[r->y].runs) {
		tone = DOC_BAD;
		snprintf(text, BADGE_LEN, "trust: poor, one run per point, noise unknown");
	} else {
		snprintf(text, BADGE_LEN, "computed, no noise");
	}
	return (struct doc_badge){ tone, text };
}

static void write_badges(struct doc *d, const struct facts *f)
{
	char state[BADGE_LEN], data[BADGE_LEN], trust[BADGE_LEN];
	struct doc_badge list[3] = { state_badge(f, state), { DOC_PLAIN, data } };
	size_t n = 2;

	snprintf(data, sizeof data, "%s data%s", f->data, f->seeds_warning ? ", fixed seeds" : "");
	if (f->seeds_warning)
		list[1].tone = DOC_BAD;
	if (f->recommendation && f->recommendation->taken)
		list[n++] = trust_badge(f, trust);
	doc_badges(d, list, n);
}

/* ---- the recommendation ---- */

/* What digits go by: half of the interval, where there is one. */
static double choice_error(const struct fact_choice *c)
{
	double error = (c->high - c->low) / 2;

	return error > 0 ? error : 2 * c->error;
}

/* " (95 %: 15.5 to 16.0, by the models; observed 15.5 %)" */
static void say_interval(const struct fact_objective *y, const struct fact_choice *c,
			 double observed, struct dp_buf *out)
{
	double error = choice_error(c);
	char a[SHORT_LEN], b[SHORT_LEN];

	if (!c->source)
		return;
	dp_buf_printf(out, " (95 %%: %s to %s, by the %s", amount_text(y, c->low, error, a),
		      amount_text(y, c->high, error, b), c->source);
	if (strcmp(objective_text(y, observed, error, a), objective_text(y, c->value, error, b)) !=
	    0)
		dp_buf_printf(out, "; observed %s", a);
	dp_buf_putc(out, ')');
}

/* What a point costs: rounded up, or to the digits that its runs leave. */
static const char *price_text(const struct facts *f, const struct fact_choice *c,
			      char out[SHORT_LEN])
{
	size_t x = f->recommendation->x;
	const struct fact_spread *runs = c->point->of[x].runs;

	return objective_text(&f->objectives[x], c->price, runs ? 2 * runs->standard_error : 0,
			      out);
}

/* "At epsilon 0.42 the error is 15.5 % (...)." */
static void say_taken(const struct facts *f, const struct fact_recommendation *r,
		      struct dp_buf *out)
{
	const struct fact_objective *x = &f->objectives[r->x], *y = &f->objectives[r->y];
	const struct fact_choice *c = r->taken;
	const struct dp_measured *m = measured_again(c);
	char a[SHORT_LEN], b[SHORT_LEN], v[SHORT_LEN];

	dp_buf_printf(out, "At %s %s the %s is %s", x->name, price_text(f, c, a), y->name,
		      objective_text(y, c->value, choice_error(c), b));
	say_interval(y, c, c->point->of[r->y].value, out);
	dp_buf_printf(out, "%s%s.",
		      c->no_better ? ", no better than always guessing the commonest class" : "",
		      c->meaningless ? ", but such an epsilon is no meaningful guarantee" : "");
	if (m) {
		double error = (m->high[r->y] - m->low[r->y]) / 2;

		dp_buf_printf(out, " Measured again it is %s (%s to %s).",
			      objective_text(y, m->objectives[r->y], error, v),
			      amount_text(y, m->low[r->y], error, a),
			      amount_text(y, m->high[r->y], error, b));
	}
}

/* What cannot see so small a difference, if anything. */
static void say_blind(const struct facts *f, const struct fact_step *step, struct dp_buf *out)
{
	const struct fact_objective *y = &f->objectives[f->recommendation->y];
	bool runs = step->gain <= step->noise, test = step->gain <= step->sampling;
	double unit = y->share ? 100 : 1;
	char a[SHORT_LEN], b[SHORT_LEN];

	if (runs)
		dp_buf_printf(out, ", less than the %s can resolve (%s)",
			      f->optimism.runs == 1 ? "models" : "runs",
			      error_text(unit * step->noise, a));
	if (test)
		dp_buf_printf(out, "%s less than %.0f test records can (%s)", runs ? " and" : ",",
			      step->records, error_text(unit * step->sampling, b));
	if (!runs && !test)
		dp_buf_puts(out, isnan(step->noise) ? "; whether that is luck is not known"
						    : ", more than the noise");
}

static bool costs_more(const struct fact_objective *x, const struct fact_choice *a,
		       const struct fact_choice *b)
{
	return strcmp(x->goal, "maximize") == 0 ? a->price < b->price : a->price > b->price;
}

/* "Going up to epsilon 10 buys 0.3 percentage points, less than ..." */
static void say_more(const struct facts *f, const struct fact_recommendation *r, struct dp_buf *out)
{
	const struct fact_objective *x = &f->objectives[r->x], *y = &f->objectives[r->y];
	const struct fact_choice *to = r->loose;
	char a[SHORT_LEN], b[SHORT_LEN];

	/* of three objectives the knee may cost more */
	if (costs_more(x, r->taken, to)) {
		dp_buf_printf(out, " At %s %s it is %s.", x->name, price_text(f, to, a),
			      objective_text(y, to->value, choice_error(to), b));
		return;
	}
	dp_buf_printf(out, " Going %sto %s %s buys ",
		      strcmp(x->goal, "maximize") == 0 ? "down " : "up ", x->name,
		      price_text(f, to, a));
	if (r->to_loose->gain <= 0) {
		dp_buf_puts(out, "nothing.");
		return;
	}
	dp_buf_puts(out, difference_text(y, r->to_loose->gain, 0, b));
	say_blind(f, r->to_loose, out);
	dp_buf_putc(out, '.');
}

/* What is recommended is the best: what does less cost? */
static void say_less(const struct facts *f, const struct fact_recommendation *r, struct dp_buf *out)
{
	const struct fact_objective *x = &f->objectives[r->x], *y = &f->objectives[r->y];
	const struct fact_choice *from = r->enough;
	char a[SHORT_LEN], b[SHORT_LEN], by[SHORT_LEN];

	if (strcmp(x->kind, "privacy") == 0)
		dp_buf_printf(out, " No larger %s%s%s that was tested is better.", x->name,
			      r->beyond ? " up to " : "",
			      r->beyond ? objective_text(x, r->limit, 0, a) : "");
	if (!from || !(r->from_enough->gain > 0))
		return;
	dp_buf_printf(out, " At %s %s it is %s already: %s apart", x->name, price_text(f, from, a),
		      objective_text(y, from->value, choice_error(from), b),
		      difference_text(y, r->from_enough->gain, 0, by));
	say_blind(f, r->from_enough, out);
	dp_buf_putc(out, '.');
}

/* Why what is better still is not recommended. */
static void say_better(const struct facts *f, const struct fact_recommendation *r,
		       struct dp_buf *out)
{
	const struct fact_objective *x = &f->objectives[r->x], *y = &f->objectives[r->y];
	const struct fact_choice *c = r->beyond;
	char a[SHORT_LEN], b[SHORT_LEN], limit[SHORT_LEN];

	dp_buf_printf(out, " Beyond %s %s%s the best is %s, at %s %s%s.", x->name,
		      objective_text(x, r->limit, 0, limit),
		      r->limit == x->anti_ideal ? ", the anti-ideal," : "",
		      objective_text(y, c->value, choice_error(c), a), x->name, price_text(f, c, b),
		      c->meaningless ? ": no meaningful guarantee" : "");
}

/* How much better than a line the best of the front is, by the values told; NaN: it is
 * not. */
static double beyond_line(const struct facts *f, const struct fact_recommendation *r, double line)
{
	bool up = strcmp(f->objectives[r->y].goal, "maximize") == 0;
	double most = NAN;

	for (size_t i = 0; i < r->nrows; i++) {
		double by = up ? r->rows[i].value - line : line - r->rows[i].value;

		if (by > 0)
			most = fmax(by, isnan(most) ? by : most);
	}
	return most;
}

/* What of a difference to a line may be noise, of runs and test records. */
static double line_noise(const struct facts *f, const struct fact_recommendation *r)
{
	double noise = isnan(r->taken->error) ? 0 : 2 * r->taken->error;

	for (size_t i = 0; i < f->optimism.nobjectives; i++) {
		const struct fact_trust *t = &f->optimism.objectives[i];

		if (strcmp(t->objective, f->objectives[r->y].name) == 0 && t->sampling &&
		    !isnan(t->sampling->error))
			noise = fmax(noise, 2 * t->sampling->error);
	}
	return noise;
}

/* The lines of the picture: what guessing gives, and what no privacy does. */
static void say_lines(const struct facts *f, const struct fact_recommendation *r,
		      struct dp_buf *out)
{
	const struct fact_objective *y = &f->objectives[r->y];
	bool utility = f->utility_objective && strcmp(f->utility_objective, y->name) == 0;
	char a[SHORT_LEN], b[SHORT_LEN];

	if (f->majority && utility)
		dp_buf_printf(out, " Always guessing the commonest class: %s.",
			      objective_text(y, f->majority->value, 0, a));
	for (size_t i = 0; i < f->nbaselines && utility; i++) {
		double line = f->baselines[i].value, beyond = beyond_line(f, r, line);
		double noise = line_noise(f, r);

		dp_buf_printf(out, " %s: %s", f->baselines[i].label, objective_text(y, line, 0, a));
		if (beyond > 0)
			dp_buf_printf(out, "; the front is better by %s, %s",
				      difference_text(y, beyond, 0, b),
				      beyond <= noise ? "within the noise of runs and test set"
						      : "more than its noise: was that measured on "
							"the same records, and trained as well?");
		dp_buf_putc(out, '.');
	}
	if (f->nbaselines == 0 && utility && f->privacy_objective)
		dp_buf_puts(out, " Without privacy: not measured.");
}

void say_recommendation(const struct facts *f, struct dp_buf *out)
{
	const struct fact_recommendation *r = f->recommendation;

	say_taken(f, r, out);
	if (r->to_loose)
		say_more(f, r, out);
	else
		say_less(f, r, out);
	if (r->beyond)
		say_better(f, r, out);
	say_lines(f, r, out);
	if (strcmp(r->rule, "knee") == 0)
		dp_buf_puts(out, " With one run per point the noise of the best is not "
				 "known, so this is the front's knee, where more begins "
				 "to buy less.");
	if (f->nobjectives > 2)
		dp_buf_printf(out, " Of %zu objectives this weighs %s and %s only.", f->nobjectives,
			      f->objectives[r->x].name, f->objectives[r->y].name);
}

/* ---- three points ---- */

/* "strict", "recommended and loose": what the row stands for that begins here; NULL: it
 * was told already. */
static const char *choice_row_name(const struct fact_recommendation *r, size_t i,
				   char out[BADGE_LEN])
{
	for (size_t k = 0; k < i; k++)
		if (r->rows[k].point == r->rows[i].point)
			return NULL;
	snprintf(out, BADGE_LEN, "%s", r->rows[i].name);
	for (size_t k = i + 1; k < r->nrows; k++)
		if (r->rows[k].point == r->rows[i].point)
			snprintf(out + strlen(out), BADGE_LEN - strlen(out), ", %s",
				 r->rows[k].name);
	return out;
}

static void choice_cells(struct doc *d, const struct facts *f, const struct fact_choice *c)
{
	const struct fact_recommendation *r = f->recommendation;
	struct dp_buf settings = DP_BUF_INIT;
	char a[SHORT_LEN], b[SHORT_LEN], point[POINT_TEXT_LEN];

	doc_cell(d, "%s", point_text(c->trial, c->at, point));
	for (size_t i = 0; i < f->nobjectives; i++) {
		const struct fact_objective *o = &f->objectives[i];
		bool shown = i == r->y;

		doc_cell(d, "%s%s%s",
			 amount_text(o, shown ? c->value : c->point->of[i].value,
				     shown ? choice_error(c) : 0, a),
			 i == r->x && c->meaningless ? " (no meaningful guarantee)" : "",
			 shown && c->no_better ? " (as guessing)" : "");
		if (!shown)
			continue;
		if (c->source)
			doc_cell(d, "%s to %s", amount_text(o, c->low, choice_error(c), a),
				 amount_text(o, c->high, choice_error(c), b));
		else
			doc_cell(d, "-");
	}
	settings_text(c->point->parameters, &settings);
	doc_cell(d, "%s", dp_buf_text(&settings));
	dp_buf_free(&settings);
}

static void choice_table(struct doc *d, const struct facts *f)
{
	const struct fact_recommendation *r = f->recommendation;
	char name[BADGE_LEN];

	doc_table(d);
	doc_caption(d, "Points to take");
	doc_column(d, "take", false);
	doc_column(d, "trial", true);
	for (size_t i = 0; i < f->nobjectives; i++) {
		value_column(d, &f->objectives[i], f->objectives[i].name);
		if (i == r->y)
			doc_column(d, "95 %", true);
	}
	doc_column(d, "settings", false);
	for (size_t i = 0; i < r->nrows; i++) {
		if (!choice_row_name(r, i, name))
			continue;
		doc_cell(d, "%s", name);
		choice_cells(d, f, &r->rows[i]);
	}
	doc_table_end(d);
}

/* One for each row, those that are not recommended in a fold. */
static void choice_commands(struct doc *d, const struct facts *f)
{
	const struct fact_recommendation *r = f->recommendation;
	struct dp_buf others = DP_BUF_INIT;
	char name[BADGE_LEN];

	doc_code(d, "sh", r->taken->command);
	for (size_t i = 0; i < r->nrows; i++)
		if (r->rows[i].point != r->taken->point && choice_row_name(r, i, name))
			dp_buf_printf(&others, "# %s\n%s\n", name, r->rows[i].command);
	if (others.len) {
		doc_small_fold(d, "Commands that train the others");
		doc_code(d, "sh", dp_buf_text(&others));
		doc_box_end(d);
	}
	dp_buf_free(&others);
}

/* ---- all of it ---- */

/* The picture that belongs here; NULL: it was not drawn. */
static const struct picture *leading_picture(const struct facts *f)
{
	for (size_t i = 0; i < f->npictures; i++)
		if (f->pictures[i].figure->leads && picture_drawn(&f->pictures[i]))
			return &f->pictures[i];
	return NULL;
}

static void say_unfinished(struct doc *d, const struct facts *f)
{
	const struct fact_study *s = &f->study;

	if (*s->reason)
		doc_note(d, "Why it is %s: %s.", s->state, s->reason);
	if (strcmp(s->state, "running") == 0 || strcmp(s->state, "paused") == 0)
		doc_note(d, "The study has not ended%s%.19s%s.",
			 f->reproduce.updated ? ": this is what was known at " : "",
			 f->reproduce.updated ? f->reproduce.updated : "",
			 f->reproduce.updated ? "Z" : "");
}

/* A study without a front: why, and nothing else. */
static void say_nothing_found(struct doc *d, const struct facts *f)
{
	doc_paragraph(d, "%s, so there is no front.",
		      f->optimism.chosen_from ? "No result meets the constraints with finite values"
					      : "No trial has given a result");
	if (f->failures.ngroups)
		say_failures(d, f);
}

void write_first(struct doc *d, const struct facts *f)
{
	const struct picture *front = leading_picture(f);

	doc_box(d, "first");
	write_badges(d, f);
	if (f->seeds_warning)
		doc_note(d, "%s", f->seeds_warning);
	say_unfinished(d, f);
	if (!f->recommendation || !f->recommendation->taken) {
		say_nothing_found(d, f);
		doc_box_end(d);
		return;
	}
	doc_box(d, "lead");
	doc_paragraph(d, "%s", f->recommendation->sentence);
	doc_box_end(d);
	if (front)
		write_figure(d, front);
	choice_table(d, f);
	say_search_cost(d, f);
	choice_commands(d, f);
	doc_box_end(d);
}
