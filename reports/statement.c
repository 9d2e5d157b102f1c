/* statement.c - what may be said of one training, to copy. */
#include "reports/facts.h"

#include "base/num.h"
#include "privacy/privacy.h"
#include "reports/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *facts_rounded_up(double x, int digits, char out[DP_NUM_LEN])
{
	double unit, rounded;

	if (!isfinite(x) || x <= 0)
		return dp_num_text(x, out);
	unit = pow(10, floor(log10(x)) - digits + 1);
	rounded = ceil(x / unit * (1 - 1e-12)) * unit;
	snprintf(out, DP_NUM_LEN, rounded >= 1000 && rounded < 1e7 ? "%.*f" : "%.*g",
		 rounded >= 1000 && rounded < 1e7 ? 0 : digits, rounded);
	return out;
}

void facts_round_up(double x, int digits, struct dp_buf *out)
{
	char text[DP_NUM_LEN];

	dp_buf_puts(out, facts_rounded_up(x, digits, text));
}

/* ---- what was done ---- */

/* "dp-sgd", "gaussian x 3 and dp-sgd", the program's name, of which a line has to do. */
static void say_what(struct dp_buf *out, const struct dp_oracle *o, const struct dp_uses *uses)
{
	if (o->kind == DP_ORACLE_PROGRAM)
		dp_buf_printf(out, "epsilon by the program %.*s", (int)strcspn(o->argv[0], "\n"),
			      o->argv[0]);
	for (size_t i = 0; i < uses->n; i++) {
		dp_buf_printf(out, "%s%s",
			      i == 0            ? ""
			      : i + 1 < uses->n ? ", "
						: " and ",
			      uses->item[i].mechanism->name);
		if (uses->item[i].times != 1)
			dp_buf_printf(out, " x %.15g", uses->item[i].times);
	}
}

/* How one mechanism drew its records and its noise. */
static void say_use(struct dp_buf *out, const struct dp_privacy_item *item, bool named)
{
	const struct dp_mechanism *m = item->mechanism;
	double records = dp_privacy_value(m, item->values, m->records);
	struct dp_privacy_words words;

	dp_privacy_words(m, item->values, &words);
	if (named)
		dp_buf_printf(out, "Part %s: %s.\n", m->name, words.theorem);
	if (*words.sampler)
		dp_buf_printf(out, "Sampler: %s\n", words.sampler);
	if (!isnan(records))
		dp_buf_printf(out, "Training records: %.0f.\n", records);
	if (*words.noise)
		dp_buf_printf(out, "Noise: %s\n", words.noise);
}

static void state_delta(struct dp_buf *out, const struct dp_uses *uses, double delta)
{
	double records = NAN;
	char text[DP_NUM_LEN];

	for (size_t i = 0; i < uses->n; i++) {
		const struct dp_mechanism *m = uses->item[i].mechanism;
		double n = dp_privacy_value(m, uses->values[i], m->records);

		records = n <= records ? records : isnan(n) ? records : n;
	}
	dp_buf_printf(out, "Delta: %s", dp_num_text(delta, text));
	if (!isnan(records) && delta > 0)
		dp_buf_printf(out, " (delta x records = %.3g)", delta * records);
	dp_buf_puts(out, ".\n");
}

const char *facts_unit(const struct dp_mechanism *m, const double *values,
		       struct facts_memory *memory)
{
	const struct dp_privacy_key *k = dp_privacy_key_find(m, "group");
	double group = k ? dp_privacy_value(m, values, k) : 1;
	char text[80];

	if (group <= 1)
		return "one training record";
	if (isnan(group))
		return "all training records of one person, up to as many as 'group' "
		       "says";
	snprintf(text, sizeof text, "all training records of one person, up to %.0f", group);
	return facts_text(memory, text);
}

const char *facts_relation(const struct dp_uses *uses)
{
	struct dp_privacy_words words = { .relation = NULL };

	for (size_t i = 0; i < uses->n; i++) {
		const struct dp_mechanism *m = uses->item[i].mechanism;

		if (i == 0 || m->records)
			dp_privacy_words(m, uses->values[i], &words);
	}
	return words.relation;
}

/* Both sums of pure epsilons and Gaussian mechanisms alone are closed forms. */
static const char *composed_by(const struct dp_uses *uses, const struct dp_epsilon *answer)
{
	if (strcmp(answer->accountant, "pld") == 0)
		return "privacy loss distributions of all parts";
	if (strcmp(answer->accountant, "rdp") == 0)
		return "Renyi divergences of all parts";
	return dp_privacy_composes(uses->item, uses->n, 0, NULL) == DP_OK
		       ? "the sum of the epsilons of all parts"
		       : FACTS_GAUSSIAN;
}

/* Who gave the number, which need not be who was asked. */
static void say_accountant(struct dp_buf *out, const struct dp_oracle *o,
			   const struct dp_uses *uses, const struct dp_epsilon *answer)
{
	struct dp_privacy_words words;

	if (o->kind == DP_ORACLE_PROGRAM) {
		dp_buf_puts(out, "Accountant: that program, whose number it is; DPareto "
				 "has not checked it.\n");
		return;
	}
	if (o->kind == DP_ORACLE_COMPOSED) {
		dp_buf_printf(out, "Accountant: %s, an upper bound.\n", composed_by(uses, answer));
		return;
	}
	dp_privacy_words_for(uses->item->mechanism, uses->values[0], answer, &words);
	dp_buf_printf(out, "Accountant: %s, an upper bound.\nTheorem: %s.\n", words.accountant,
		      words.theorem);
}

/* ---- what else was done to the same records ---- */

/* The runs that the utility is a mean of are all trainings on the same records. */
static void say_runs(struct dp_buf *out, const struct subject *s, const struct dp_uses *uses,
		     double delta)
{
	int runs = s->s->spec->trainer.runs;
	struct dp_privacy_item items[DP_PRIVACY_ITEMS_MAX];
	struct dp_epsilon e;
	struct dp_err err;

	if (runs <= 1 || uses->n == 0)
		return;
	memcpy(items, uses->item, uses->n * sizeof *items);
	for (size_t i = 0; i < uses->n; i++)
		items[i].times *= runs;
	dp_buf_printf(out, "All %d runs of this point together: ", runs);
	if (dp_privacy_compose(items, uses->n, delta, false, &e, &err) != DP_OK) {
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
	const double *x = s->s->trials[p.trial]->x;
	const char *walked = spec->params[spec->trainer.path.param].name;
	double before[DP_WAYPOINTS_MAX];
	struct dp_epsilon end;

	if (p.way == DP_OWN)
		return;
	dp_buf_printf(out, "Published: the model at %s = %.0f. %s\n", walked, dp_point_at(s->s, p),
		      dp_path_costlier(spec, objective, x, dp_point_at(s->s, p), before)
			      ? "Epsilon is the maximum over the models up to this one; "
				"all of them together may cost more."
			      : "The accountant covers every iterate: all models up to "
				"this one together have this epsilon.");
	dp_buf_printf(out, "Planned end: %s = %.0f", walked, dp_path_end(spec, x));
	if (dp_objective_privacy(spec, objective, x, &end, NULL) == DP_OK) {
		dp_buf_puts(out, ", epsilon ");
		facts_round_up(end.epsilon, 4, out);
		dp_buf_puts(out, " of all models together at the same delta");
	}
	dp_buf_puts(out, ".\n");
}

/* Noise that can be computed is no noise. The seed itself is left out: statements are
 * published. */
static void state_seed(struct dp_buf *out, const struct dp_study_state *s)
{
	const char *warning = dp_state_seeds_warning(s);

	if (warning)
		dp_buf_printf(out,
			      "Randomness: NOT SECRET. %s Train again with 'seeds: "
			      "secret' before publishing.\n",
			      warning);
	else if (dp_study_seeds(s->now) == DP_SEEDS_SECRET)
		dp_buf_puts(out, "Randomness: run seeds follow from 32 random bytes that "
				 "only the journal of the study has. This holds only as "
				 "long as the journal and the directories of the "
				 "trainings stay secret.\n");
	else
		dp_buf_puts(out, "Randomness: run seeds follow from the study's seed. "
				 "Its data is declared public; on private data seeds "
				 "must be secret.\n");
}

const char *facts_statement(const struct subject *s, struct dp_point p, size_t objective,
			    struct facts_memory *memory)
{
	const struct dp_oracle *o = s->s->spec->objectives[objective].privacy;
	double delta = facts_delta(s, p.trial, objective);
	struct dp_uses uses = { .n = 0 };
	struct dp_buf out = DP_BUF_INIT;
	struct dp_epsilon answer;
	char point[POINT_TEXT_LEN];
	const char *text;

	if (o->kind != DP_ORACLE_PROGRAM &&
	    (facts_uses(s, p, objective, &uses, NULL) != DP_OK ||
	     dp_objective_privacy_at(s->s->spec, NULL, objective, s->s->trials[p.trial]->x,
				     dp_point_at(s->s, p), &answer, NULL) != DP_OK))
		return NULL;
	dp_buf_printf(&out, "One training at trial %s of study %s (",
		      point_text(p.trial, subject_point_at(s, p), point), s->s->spec->name);
	say_what(&out, o, &uses);
	dp_buf_puts(&out, ") is (");
	facts_round_up(dp_point_objectives(s->s, p)[objective], 4, &out);
	dp_buf_printf(&out, ", %g)-differentially private%s.\n", delta,
		      dp_point_objectives(s->s, p)[objective] > FACTS_MEANINGLESS
			      ? ", which is no meaningful guarantee"
			      : "");
	say_iterate(&out, s, p, objective);
	if (uses.n)
		dp_buf_printf(&out, "Unit of privacy: %s.\nNeighbouring relation: %s.\n",
			      facts_unit(uses.item->mechanism, uses.values[0], memory),
			      facts_relation(&uses));
	for (size_t i = 0; i < uses.n; i++)
		say_use(&out, &uses.item[i], o->kind == DP_ORACLE_COMPOSED);
	state_delta(&out, &uses, delta);
	say_accountant(&out, o, &uses, &answer);
	say_runs(&out, s, &uses, delta);
	state_seed(&out, s->s);
	dp_buf_printf(&out,
		      "Not included: the search that led to these parameters, which "
		      "trained on the same records; test and holdout records, %s.\n",
		      dp_study_releases(s->s->spec)
			      ? "which the noise on utilities covers with an epsilon of "
				"its own"
			      : "for which there is no guarantee");
	text = facts_text(memory, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}
