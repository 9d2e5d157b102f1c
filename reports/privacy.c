/* privacy.c - what is behind each epsilon: mechanism, assumptions, other accountants'
 * numbers, the statement to copy, and the cost of the whole study. */
#include "reports/facts.h"

#include "base/num.h"
#include "privacy/privacy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAME       1e-6 /* relative: two ways to the same number */
#define PURE_DELTA 1e-6 /* a total delta for studies that have none of their own */
#define UNIT       "one training record"

/* ---- keys ---- */

/* The word that a key has, or NULL. */
static const char *word_of(const struct dp_mechanism *m, const double *values,
			   const struct dp_privacy_key *k)
{
	double v = dp_privacy_value(m, values, k);

	return isnan(v) ? NULL : k->words[(int)v];
}

static double delta_of(const struct dp_mechanism *m, const double *values)
{
	double delta = dp_privacy_value(m, values, m->delta);

	return isnan(delta) ? 0 : delta;
}

/* All values at a result's point, defaults filled in; at a trial's own they are those of
 * its whole training, whatever became of it. */
static int full_values(const struct subject *s, struct dp_point p, size_t objective,
		       double full[DP_PRIVACY_KEYS_MAX], struct dp_err *err)
{
	const struct dp_study *spec = s->s->spec;
	double values[DP_PRIVACY_KEYS_MAX];
	int code = dp_objective_values_at(spec, objective, s->s->trials[p.trial]->x,
					  dp_point_at(s->s, p), values, err);

	return code == DP_OK ? dp_privacy_check(spec->objectives[objective].mechanism,
						values, full, err)
			     : code;
}

/* The values that hold for every trial: NaN where a parameter sets them. */
static void fixed_values(const struct subject *s, size_t objective,
			 double values[DP_PRIVACY_KEYS_MAX])
{
	const struct dp_mechanism *m = s->s->spec->objectives[objective].mechanism;

	for (size_t i = 0; i < m->nkeys; i++)
		values[i] = subject_key(s, objective, m->keys[i].name);
}

void facts_round_up(double x, int digits, struct dp_buf *out)
{
	char text[64];
	double unit, rounded;

	if (!isfinite(x) || x <= 0) {
		dp_buf_puts(out, dp_num_text(x, text));
		return;
	}
	unit = pow(10, floor(log10(x)) - digits + 1);
	rounded = ceil(x / unit * (1 - 1e-12)) * unit;
	snprintf(text, sizeof text, rounded >= 1000 && rounded < 1e7 ? "%.*f" : "%.*g",
		 rounded >= 1000 && rounded < 1e7 ? 0 : digits, rounded);
	dp_buf_puts(out, text);
}

/* ---- other accountants ---- */

static bool about_equal(double a, double b)
{
	return a == b || fabs(a - b) <= SAME * fabs(b);
}

static bool at_most(double a, double b)
{
	return a <= b || a <= b * (1 + 1e-9);
}

static double ask_epsilon(const struct dp_mechanism *m, const double *values)
{
	struct dp_epsilon e;

	return dp_privacy_epsilon(m, values, &e, NULL) == DP_OK ? e.epsilon : NAN;
}

static double ask_rdp(const struct dp_mechanism *m, const double *full,
		      enum dp_privacy_conversion conversion)
{
	double values[DP_PRIVACY_KEYS_MAX];

	memcpy(values, full, m->nkeys * sizeof *values);
	values[dp_privacy_key_place(m, m->accountant)] = DP_PRIVACY_RDP;
	if (m->conversion)
		values[dp_privacy_key_place(m, m->conversion)] = conversion;
	return ask_epsilon(m, values);
}

/* `times` of it by either way of composing; the least that may be exact in *least. */
static double ask_composed(const struct dp_mechanism *m, const double *values,
			   double times, bool pld, double *least)
{
	struct dp_privacy_item item = { m, values, times };
	struct dp_epsilon e;

	if (dp_privacy_compose(&item, 1, delta_of(m, values), pld, &e, NULL) != DP_OK)
		return NAN;
	if (least)
		*least = e.epsilon - e.error;
	return e.epsilon;
}

/* pld <= improved <= classic, and the journal's number is the one its own accountant
 * gives. */
static struct fact_check check_accountants(const struct dp_mechanism *m,
					   const double *full, double ours)
{
	double least = NAN, pld = ask_composed(m, full, 1, true, &least);
	double improved = ask_rdp(m, full, DP_PRIVACY_IMPROVED);
	double classic = ask_rdp(m, full, DP_PRIVACY_CLASSIC), again;
	bool same;

	again = dp_privacy_value(m, full, m->conversion) == DP_PRIVACY_CLASSIC ? classic
									       : improved;
	if (dp_privacy_value(m, full, m->accountant) == DP_PRIVACY_PLD)
		again = fmin(again, pld); /* it takes the less of the two, too */
	same = about_equal(ours, again);
	return (struct fact_check){ pld, improved, classic, same,
				    same && at_most(least, improved) &&
					    at_most(improved, classic) };
}

struct fact_check facts_check(const struct subject *s, struct dp_point p,
			      size_t objective)
{
	const struct dp_mechanism *m = s->s->spec->objectives[objective].mechanism;
	double ours = dp_point_objectives(s->s, p)[objective], second;
	double full[DP_PRIVACY_KEYS_MAX];
	bool same;

	if (full_values(s, p, objective, full, NULL) != DP_OK)
		return (struct fact_check){ NAN, NAN, NAN, false, false };
	if (m->accountant)
		return check_accountants(m, full, ours);
	same = about_equal(ours, ask_epsilon(m, full));
	second = delta_of(m, full) > 0 ? ask_composed(m, full, 1, false, NULL) : NAN;
	return (struct fact_check){ NAN, second, NAN, same,
				    same && (isnan(second) || at_most(ours, second)) };
}

/* ---- the statement ---- */

static void say_settings(struct dp_buf *out, const struct dp_mechanism *m,
			 const double *v, const struct dp_privacy_words *words)
{
	double records = dp_privacy_value(m, v, m->records), delta = delta_of(m, v);
	char text[DP_NUM_LEN];

	dp_buf_printf(out, "Unit of privacy: " UNIT ".\nNeighbouring relation: %s.\n",
		      words->relation);
	if (*words->sampler)
		dp_buf_printf(out, "Sampler: %s\n", words->sampler);
	if (!isnan(records))
		dp_buf_printf(out, "Training records: %.0f.\n", records);
	if (*words->noise)
		dp_buf_printf(out, "Noise: %s\n", words->noise);
	dp_buf_printf(out, "Delta: %s", dp_num_text(delta, text));
	if (!isnan(records) && delta > 0)
		dp_buf_printf(out, " (delta x records = %.3g)", delta * records);
	dp_buf_puts(out, ".\n");
}

/* The runs that the utility is a mean of are all trainings on the same records. */
static void say_runs(struct dp_buf *out, const struct subject *s,
		     const struct dp_mechanism *m, const double *full)
{
	int runs = s->s->spec->trainer.runs;
	struct dp_privacy_item item = { m, full, runs };
	struct dp_epsilon e;
	struct dp_err err;

	if (runs <= 1)
		return;
	dp_buf_printf(out, "All %d runs of this point together: ", runs);
	if (dp_privacy_compose(&item, 1, delta_of(m, full), false, &e, &err) != DP_OK) {
		dp_buf_printf(out, "%s.\n", err.msg);
		return;
	}
	dp_buf_puts(out, "epsilon ");
	facts_round_up(e.epsilon, 4, out);
	dp_buf_puts(out, " at the same delta.\n");
}

/* What is published of a training that went on, and what going on cost. */
static void say_iterate(struct dp_buf *out, const struct subject *s, struct dp_point p,
			size_t objective)
{
	const struct dp_study *spec = s->s->spec;
	const char *walked = spec->params[spec->trainer.path.param].name;
	struct dp_point whole = { p.trial, DP_OWN };
	double full[DP_PRIVACY_KEYS_MAX], end;

	if (p.way == DP_OWN)
		return;
	dp_buf_printf(out,
		      "Published: the model at %s = %.0f of a training planned for "
		      "%s = %.0f. The accountant covers every iterate: all models up to "
		      "this one together have this epsilon",
		      walked, dp_point_at(s->s, p), walked,
		      dp_path_end(spec, s->s->trials[p.trial]->x));
	if (full_values(s, whole, objective, full, NULL) == DP_OK &&
	    !isnan(end = ask_epsilon(spec->objectives[objective].mechanism, full))) {
		dp_buf_puts(out, ", all of them to the planned end epsilon ");
		facts_round_up(end, 4, out);
		dp_buf_puts(out, " at the same delta");
	}
	dp_buf_puts(out, ".\n");
}

const char *facts_statement(const struct subject *s, struct dp_point p, size_t objective,
			    struct facts_memory *memory)
{
	const struct dp_mechanism *m = s->s->spec->objectives[objective].mechanism;
	double full[DP_PRIVACY_KEYS_MAX];
	struct dp_buf out = DP_BUF_INIT;
	char point[POINT_TEXT_LEN];
	struct dp_privacy_words words;
	struct dp_epsilon answer;
	const char *text;

	if (full_values(s, p, objective, full, NULL) != DP_OK ||
	    dp_privacy_epsilon(m, full, &answer, NULL) != DP_OK)
		return NULL;
	dp_privacy_words_for(m, full, &answer, &words);
	dp_buf_printf(&out, "One training at trial %s of study %s (%s) is (",
		      point_text(p.trial, subject_point_at(s, p), point),
		      s->s->spec->name, m->name);
	facts_round_up(dp_point_objectives(s->s, p)[objective], 4, &out);
	dp_buf_printf(&out, ", %g)-differentially private.\n", delta_of(m, full));
	say_iterate(&out, s, p, objective);
	say_settings(&out, m, full, &words);
	dp_buf_printf(&out, "Accountant: %s, an upper bound.\nTheorem: %s.\n",
		      words.accountant, words.theorem);
	say_runs(&out, s, m, full);
	dp_buf_printf(&out,
		      "Not included: the search that led to these parameters, which "
		      "trained on the same records; test and holdout records, for which "
		      "there is no guarantee.\n");
	text = facts_text(memory, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}

/* ---- the whole study ---- */

double facts_trainings(const struct subject *s, const struct dp_trial *t)
{
	double count = 0;

	for (uint32_t i = 0; i < t->nattempts; i++)
		if (t->attempts[i].end != DP_END_NOT_STARTED)
			count += t->attempts[i].run == DP_RUN_ALL
					 ? s->s->spec->trainer.runs
					 : 1;
	return count;
}

struct whole {
	struct dp_privacy_item *items; /* (n) */
	double *values;                /* (n x DP_PRIVACY_KEYS_MAX) */
	size_t n;
	double trainings;
	uint32_t attempts, not_started;
};

static int collect_trainings(const struct subject *s, size_t objective, struct whole *w,
			     struct dp_err *err)
{
	const struct dp_study_state *st = s->s;

	w->items = calloc(st->ntrials + 1, sizeof *w->items);
	w->values = calloc(st->ntrials * DP_PRIVACY_KEYS_MAX + 1, sizeof *w->values);
	if (!w->items || !w->values)
		return dp_fail(err, DP_E_NOMEM, "no memory for the composition");
	for (uint32_t i = 0; i < st->ntrials; i++) {
		const struct dp_trial *t = st->trials[i];
		double times = facts_trainings(s, t);
		double *v = w->values + w->n * DP_PRIVACY_KEYS_MAX;
		int code;

		w->attempts += t->nattempts;
		for (uint32_t k = 0; k < t->nattempts; k++)
			w->not_started += t->attempts[k].end == DP_END_NOT_STARTED;
		if (times == 0)
			continue;
		/* each in full: what it was on its way is not added */
		code = full_values(s, (struct dp_point){ i, DP_OWN }, objective, v, err);
		if (code != DP_OK)
			return dp_err_prefix(err, "trial %u", i);
		w->items[w->n++] = (struct dp_privacy_item){
			st->spec->objectives[objective].mechanism, v, times
		};
		w->trainings += times;
	}
	return DP_OK;
}

/* What it costs at this total delta, or why that is unknown. */
static struct fact_total total_at(const struct whole *w, double delta,
				  struct facts_memory *m)
{
	struct dp_epsilon e;
	struct dp_err err;

	if (dp_privacy_compose(w->items, w->n, delta, false, &e, &err) == DP_OK)
		return (struct fact_total){ delta, e.epsilon, e.accountant, e.order,
					    NULL };
	return (struct fact_total){ delta, NAN, NULL, NAN, facts_text(m, err.msg) };
}

/* What all trainings of the study cost together, at one total delta. */
static void find_composed(const struct subject *s, size_t objective,
			  struct facts_memory *m, struct fact_composed *out)
{
	const struct dp_mechanism *mechanism =
		s->s->spec->objectives[objective].mechanism;
	double delta =
		mechanism->delta ? subject_key(s, objective, mechanism->delta->name) : 0;
	struct whole w = { 0 };
	struct dp_err err;
	int code = collect_trainings(s, objective, &w, &err);

	*out = (struct fact_composed){
		.evaluations = (int64_t)w.n,
		.trainings = (int64_t)w.trainings,
		.attempts = w.attempts,
		.not_started = w.not_started,
		.imported = s->s->nimported,
		.totals = facts_room(m, 2, sizeof *out->totals),
	};
	if (out->totals && code != DP_OK) {
		out->totals[out->ntotals++] =
			(struct fact_total){ delta, NAN, NULL, NAN,
					     facts_text(m, err.msg) };
	} else if (out->totals && w.n > 0) {
		if (!isnan(delta))
			out->totals[out->ntotals++] = total_at(&w, delta, m);
		if (!(delta > 0)) /* pure, or set by a parameter */
			out->totals[out->ntotals++] = total_at(&w, PURE_DELTA, m);
	}
	free(w.items);
	free(w.values);
}

/* ---- assumptions ---- */

/* The keys that a parameter sets or that have a value. */
static void find_keys(const struct dp_study *spec, const struct dp_objective *o,
		      const double *values, struct facts_memory *m,
		      struct fact_mechanism *out)
{
	const struct dp_mechanism *mechanism = o->mechanism;

	out->keys = facts_room(m, mechanism->nkeys, sizeof *out->keys);
	for (size_t i = 0; out->keys && i < mechanism->nkeys; i++) {
		const struct dp_privacy_key *k = &mechanism->keys[i];
		struct fact_key key = { .name = k->name, .number = NAN };

		if (o->param[i] >= 0)
			key.parameter = spec->params[o->param[i]].name;
		else if (isnan(values[i]))
			continue;
		else if (k->kind == DP_PRIVACY_WORD)
			key.word = k->words[(int)values[i]];
		else
			key.number = values[i];
		out->keys[out->nkeys++] = key;
	}
}

static void find_mechanism(const struct subject *s, size_t objective,
			   struct facts_memory *memory, struct fact_mechanism *out)
{
	const struct dp_objective *o = &s->s->spec->objectives[objective];
	const struct dp_mechanism *m = o->mechanism;
	double v[DP_PRIVACY_KEYS_MAX], delta, records;
	char warning[DP_PRIVACY_WARNING_LEN];
	struct dp_privacy_words words;
	const char *accountant;

	fixed_values(s, objective, v);
	dp_privacy_words(m, v, &words);
	delta = m->delta ? dp_privacy_value(m, v, m->delta) : 0;
	records = dp_privacy_value(m, v, m->records);
	accountant = word_of(m, v, m->accountant);
	*out = (struct fact_mechanism){
		.index = objective,
		.objective = o->name,
		.mechanism = m->name,
		.summary = m->summary,
		.unit = UNIT,
		.relation = words.relation,
		.sampling = words.sampling,
		.records = records,
		.delta = delta,
		.delta_times_records = delta * records,
		.accountant = accountant ? accountant : "closed-form",
		.accountant_text = words.accountant,
		.theorem = words.theorem,
		.source = m->source,
		.noise = words.measure,
		.warning = facts_text(memory,
				      dp_privacy_warning(m, v, warning) ? warning : NULL),
	};
	find_keys(s->s->spec, o, v, memory, out);
	find_composed(s, objective, memory, &out->composed);
}

void facts_privacy(const struct subject *s, struct facts *f)
{
	const struct dp_study *spec = s->s->spec;

	f->privacy = facts_room(&f->memory, spec->nobjectives, sizeof *f->privacy);
	for (size_t i = 0; f->privacy && i < spec->nobjectives; i++)
		if (spec->objectives[i].mechanism)
			find_mechanism(s, i, &f->memory, &f->privacy[f->nprivacy++]);
}
