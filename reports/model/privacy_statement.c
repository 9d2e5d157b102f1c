/* privacy_statement.c - what may be said of one training, to copy. */
#include "reports/model/report_model.h"

#include "base/units.h"
#include "privacy/privacy.h"
#include "reports/model/study_data.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *number_format_rounded_up(double x, int digits, char out[DP_NUM_LEN])
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

void number_append_rounded_up(double x, int digits, struct dp_buf *out)
{
	char text[DP_NUM_LEN];

	dp_buf_puts(out, number_format_rounded_up(x, digits, text));
}

/* ---- what was done ---- */

/* "dp-sgd", "gaussian x 3 and dp-sgd", the program's name, of which a line has to do. */
static void statement_add_mechanisms(struct dp_buf *out, const struct dp_accounting_spec *o,
				     const struct dp_composition_items *uses)
{
	if (o->kind == DP_ACCOUNTING_EXTERNAL)
		dp_buf_printf(out, "epsilon by the program %.*s", (int)strcspn(o->argv[0], "\n"),
			      o->argv[0]);
	for (size_t i = 0; i < uses->n; i++) {
		dp_buf_printf(out, "%s%s",
			      i == 0            ? ""
			      : i + 1 < uses->n ? ", "
						: " and ",
			      uses->items[i].mechanism->name);
		if (uses->items[i].times != 1)
			dp_buf_printf(out, " x %.15g", uses->items[i].times);
	}
}

/* How one mechanism drew its records and its noise. */
static void statement_add_component(struct dp_buf *out, const struct dp_composition_item *item,
				    bool named)
{
	const struct dp_mechanism *m = item->mechanism;
	double records = dp_privacy_value(m, item->values, m->records);
	struct dp_privacy_description words;

	dp_privacy_describe(m, item->values, &words);
	if (named)
		dp_buf_printf(out, "Part %s: %s.\n", m->name, words.theorem);
	if (*words.sampler)
		dp_buf_printf(out, "Sampler: %s\n", words.sampler);
	if (!isnan(records))
		dp_buf_printf(out, "Training records: %.0f.\n", records);
	if (*words.noise)
		dp_buf_printf(out, "Noise: %s\n", words.noise);
}

static void statement_add_delta(struct dp_buf *out, const struct dp_composition_items *uses,
				double delta)
{
	double records = NAN;
	char text[DP_NUM_LEN];

	for (size_t i = 0; i < uses->n; i++) {
		const struct dp_mechanism *m = uses->items[i].mechanism;
		double n = dp_privacy_value(m, uses->values[i], m->records);

		records = n <= records ? records : isnan(n) ? records : n;
	}
	dp_buf_printf(out, "Delta: %s", dp_num_text(delta, text));
	if (!isnan(records) && delta > 0)
		dp_buf_printf(out, " (delta x records = %.3g)", delta * records);
	dp_buf_puts(out, ".\n");
}

const char *privacy_unit_text(const struct dp_mechanism *m, const double *values,
			      struct report_arena *arena)
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
	return report_arena_strdup(arena, text);
}

const char *neighbouring_relation_text(const struct dp_composition_items *uses)
{
	struct dp_privacy_description words = { .relation = NULL };

	for (size_t i = 0; i < uses->n; i++) {
		const struct dp_mechanism *m = uses->items[i].mechanism;

		if (i == 0 || m->records)
			dp_privacy_describe(m, uses->values[i], &words);
	}
	return words.relation;
}

/* Both sums of pure epsilons and Gaussian mechanisms alone are closed forms. */
static const char *composition_accountant_text(const struct dp_composition_items *uses,
					       const struct dp_epsilon *answer)
{
	if (strcmp(answer->accountant, "pld") == 0)
		return "privacy loss distributions of all parts";
	if (strcmp(answer->accountant, "rdp") == 0)
		return "Renyi divergences of all parts";
	return dp_privacy_check_composable(uses->items, uses->n, 0, NULL) == DP_OK
		       ? "the sum of the epsilons of all parts"
		       : GAUSSIAN_ACCOUNTANT_TEXT;
}

/* Who gave the number, which need not be who was asked. */
static void statement_add_accountant(struct dp_buf *out, const struct dp_accounting_spec *o,
				     const struct dp_composition_items *uses,
				     const struct dp_epsilon *answer)
{
	struct dp_privacy_description words;

	if (o->kind == DP_ACCOUNTING_EXTERNAL) {
		dp_buf_puts(out, "Accountant: that program, whose number it is; DPareto "
				 "has not checked it.\n");
		return;
	}
	if (o->kind == DP_ACCOUNTING_COMPOSED) {
		dp_buf_printf(out, "Accountant: %s, an upper bound.\n",
			      composition_accountant_text(uses, answer));
		return;
	}
	dp_privacy_describe_answer(uses->items->mechanism, uses->values[0], answer, &words);
	dp_buf_printf(out, "Accountant: %s, an upper bound.\nTheorem: %s.\n", words.accountant,
		      words.theorem);
}

/* ---- what else was done to the same records ---- */

/* The runs that the utility is a mean of are all trainings on the same records. */
static void statement_add_runs(struct dp_buf *out, const struct study_data *s,
			       const struct dp_composition_items *uses, double delta)
{
	int runs = s->state->spec->trainer.runs;
	struct dp_composition_item items[DP_PRIVACY_ITEMS_MAX];
	struct dp_epsilon e;
	struct dp_err err;

	if (runs <= 1 || uses->n == 0)
		return;
	memcpy(items, uses->items, uses->n * sizeof *items);
	for (size_t i = 0; i < uses->n; i++)
		items[i].times *= runs;
	dp_buf_printf(out, "All %d runs of this point together: ", runs);
	if (dp_privacy_compose(items, uses->n, delta, false, &e, &err) != DP_OK) {
		dp_buf_printf(out, "%s.\n", err.msg);
		return;
	}
	dp_buf_puts(out, "epsilon ");
	number_append_rounded_up(e.epsilon, 4, out);
	dp_buf_puts(out, " at the same delta.\n");
}

/* What is published of a training that went on, and what going on cost. */
static void statement_add_checkpoint(struct dp_buf *out, const struct study_data *s,
				     struct dp_result_id p, size_t objective)
{
	const struct dp_study *spec = s->state->spec;
	const double *x = s->state->trials[p.trial]->x;
	const char *walked = spec->params[spec->trainer.learning_curve.param].name;
	double before[DP_CHECKPOINTS_MAX];
	struct dp_epsilon end;

	if (p.checkpoint == DP_CHECKPOINT_FINAL)
		return;
	dp_buf_printf(out, "Published: the model at %s = %.0f. %s\n", walked,
		      dp_result_checkpoint_value(s->state, p),
		      dp_learning_curve_costlier(spec, objective, x,
						 dp_result_checkpoint_value(s->state, p), before)
			      ? "Epsilon is the maximum over the models up to this one; "
				"all of them together may cost more."
			      : "The accountant covers every iterate: all models up to "
				"this one together have this epsilon.");
	dp_buf_printf(out, "Planned end: %s = %.0f", walked, dp_learning_curve_end(spec, x));
	if (dp_objective_epsilon(spec, objective, x, &end, NULL) == DP_OK) {
		dp_buf_puts(out, ", epsilon ");
		number_append_rounded_up(end.epsilon, 4, out);
		dp_buf_puts(out, " of all models together at the same delta");
	}
	dp_buf_puts(out, ".\n");
}

/* Noise that can be computed is no noise. The seed itself is left out: statements are
 * published. */
static void statement_add_randomness(struct dp_buf *out, const struct dp_study_state *s)
{
	const char *warning = dp_state_seeds_warning(s);

	if (warning)
		dp_buf_printf(out,
			      "Randomness: NOT SECRET. %s Train again with 'seeds: "
			      "secret' before publishing.\n",
			      warning);
	else if (dp_study_seed_mode(s->current_spec) == DP_SEEDS_SECRET)
		dp_buf_puts(out, "Randomness: run seeds follow from 32 random bytes that "
				 "only the journal of the study has. This holds only as "
				 "long as the journal and the directories of the "
				 "trainings stay secret.\n");
	else
		dp_buf_puts(out, "Randomness: run seeds follow from the study's seed. "
				 "Its data is declared public; on private data seeds "
				 "must be secret.\n");
}

const char *format_privacy_statement(const struct study_data *s, struct dp_result_id p,
				     size_t objective, struct report_arena *arena)
{
	const struct dp_accounting_spec *o = s->state->spec->objectives[objective].privacy;
	double delta = study_data_delta_at(s, p.trial, objective);
	struct dp_composition_items uses = { .n = 0 };
	struct dp_buf out = DP_BUF_INIT;
	struct dp_epsilon answer;
	char point[RESULT_NAME_LEN];
	const char *text;

	if (o->kind != DP_ACCOUNTING_EXTERNAL &&
	    (study_data_mechanisms_at(s, p, objective, &uses, NULL) != DP_OK ||
	     dp_objective_epsilon_at(s->state->spec, NULL, objective, s->state->trials[p.trial]->x,
				     dp_result_checkpoint_value(s->state, p), &answer,
				     NULL) != DP_OK))
		return NULL;
	dp_buf_printf(&out, "One training at trial %s of study %s (",
		      result_format_name(p.trial, study_data_checkpoint_of(s, p), point),
		      s->state->spec->name);
	statement_add_mechanisms(&out, o, &uses);
	dp_buf_puts(&out, ") is (");
	number_append_rounded_up(dp_result_get_objectives(s->state, p)[objective], 4, &out);
	dp_buf_printf(&out, ", %g)-differentially private%s.\n", delta,
		      dp_result_get_objectives(s->state, p)[objective] >
				      REPORT_MAX_MEANINGFUL_EPSILON
			      ? ", which is no meaningful guarantee"
			      : "");
	statement_add_checkpoint(&out, s, p, objective);
	if (uses.n)
		dp_buf_printf(&out, "Unit of privacy: %s.\nNeighbouring relation: %s.\n",
			      privacy_unit_text(uses.items->mechanism, uses.values[0], arena),
			      neighbouring_relation_text(&uses));
	for (size_t i = 0; i < uses.n; i++)
		statement_add_component(&out, &uses.items[i], o->kind == DP_ACCOUNTING_COMPOSED);
	statement_add_delta(&out, &uses, delta);
	statement_add_accountant(&out, o, &uses, &answer);
	statement_add_runs(&out, s, &uses, delta);
	statement_add_randomness(&out, s->state);
	dp_buf_printf(&out,
		      "Not included: the search that led to these parameters, which "
		      "trained on the same records; test and holdout records, %s.\n",
		      dp_study_has_metric_release(s->state->spec)
			      ? "which the noise on utilities covers with an epsilon of "
				"its own"
			      : "for which there is no guarantee");
	text = report_arena_strdup(arena, dp_buf_text(&out));
	dp_buf_free(&out);
	return text;
}
