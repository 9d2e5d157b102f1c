/* privacy_statement.c - the privacy statement of one training run, ready to copy. */
#include "reports/model/report_model.h"

#include "base/units.h"
#include "privacy/privacy.h"
#include "study/accounting.h"
#include "study/learning_curve.h"
#include "study/metric_release.h"
#include "study/private_selection.h"
#include "study/seeds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "dp-sgd", "gaussian x 3 and dp-sgd", or the name of the external accountant. */
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

/* How one component samples records and adds noise. */
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

void append_privacy_unit(struct dp_buf *out, const struct dp_mechanism *m, const double *values)
{
	const struct dp_privacy_key *k = dp_privacy_key_find(m, "group");
	double group = k ? dp_privacy_value(m, values, k) : 1;

	if (group <= 1)
		dp_buf_puts(out, "one training record");
	else if (isnan(group))
		dp_buf_puts(out, "all training records of one person, up to as many as 'group' "
				 "says");
	else
		dp_buf_printf(out, "all training records of one person, up to %.0f", group);
}

/* The neighbouring relation of a composition is that of the components that have one. */
static const char *neighbouring_relation_text(const struct dp_composition_items *uses)
{
	struct dp_privacy_description words = { .relation = NULL };

	for (size_t i = 0; i < uses->n; i++) {
		const struct dp_mechanism *m = uses->items[i].mechanism;

		if (i == 0 || m->records)
			dp_privacy_describe(m, uses->values[i], &words);
	}
	return words.relation;
}

/* Names the accountant that computed the value, which may differ from the requested one. */
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
		/* sums of pure epsilons and Gaussian mechanisms alone have closed forms */
		dp_buf_printf(out, "Accountant: %s, an upper bound.\n",
			      strcmp(answer->accountant, "pld") == 0
				      ? "privacy loss distributions of all parts"
			      : strcmp(answer->accountant, "rdp") == 0
				      ? "Renyi divergences of all parts"
			      : dp_privacy_check_composable(uses->items, uses->n, 0, NULL) == DP_OK
				      ? "the sum of the epsilons of all parts"
				      : GAUSSIAN_ACCOUNTANT_TEXT);
		return;
	}
	dp_privacy_describe_answer(uses->items->mechanism, uses->values[0], answer, &words);
	dp_buf_printf(out, "Accountant: %s, an upper bound.\nTheorem: %s.\n", words.accountant,
		      words.theorem);
}

/* The utility is a mean over runs, and each run trains on the same records. */
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

/* What a checkpoint publishes of a longer run, and what the longer run costs. */
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

/* Warns if the noise can be recomputed from a seed. Does not print the seed: statements are
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
		dp_buf_puts(out, "Randomness: run seeds follow from 32 random bytes that only the "
				 "journal of the study has. This holds only as long as the journal "
				 "and the directories of the trainings stay secret.\n");
	else
		dp_buf_puts(out, "Randomness: run seeds follow from the study's seed. Its data is "
				 "declared public; on private data seeds must be secret.\n");
}

bool append_privacy_statement(const struct study_data *s, struct dp_result_id p, size_t objective,
			      struct dp_buf *out)
{
	const struct dp_accounting_spec *o = s->state->spec->objectives[objective].privacy;
	double epsilon = dp_result_get_objectives(s->state, p)[objective];
	double delta = study_data_delta_at(s, p.trial, objective);
	struct dp_composition_items uses = { .n = 0 };
	struct dp_epsilon answer;
	char point[RESULT_NAME_LEN];

	if (o->kind != DP_ACCOUNTING_EXTERNAL &&
	    (study_data_mechanisms_at(s, p, objective, &uses, NULL) != DP_OK ||
	     dp_objective_epsilon_at(s->state->spec, NULL, objective, s->state->trials[p.trial]->x,
				     dp_result_checkpoint_value(s->state, p), &answer,
				     NULL) != DP_OK))
		return false;
	dp_buf_printf(out, "One training at trial %s of study %s (",
		      result_format_name(p.trial, study_data_checkpoint_of(s, p), point),
		      s->state->spec->name);
	statement_add_mechanisms(out, o, &uses);
	dp_buf_puts(out, ") is (");
	number_append_rounded_up(epsilon, 4, out);
	dp_buf_printf(out, ", %g)-differentially private%s.\n", delta,
		      epsilon > DP_MAX_MEANINGFUL_EPSILON ? ", which is no meaningful guarantee"
							  : "");
	statement_add_checkpoint(out, s, p, objective);
	if (uses.n) {
		dp_buf_puts(out, "Unit of privacy: ");
		append_privacy_unit(out, uses.items->mechanism, uses.values[0]);
		dp_buf_printf(out, ".\nNeighbouring relation: %s.\n",
			      neighbouring_relation_text(&uses));
	}
	for (size_t i = 0; i < uses.n; i++)
		statement_add_component(out, &uses.items[i], o->kind == DP_ACCOUNTING_COMPOSED);
	statement_add_delta(out, &uses, delta);
	statement_add_accountant(out, o, &uses, &answer);
	statement_add_runs(out, s, &uses, delta);
	statement_add_randomness(out, s->state);
	dp_buf_printf(out,
		      "Not included: the search that led to these parameters, which "
		      "trained on the same records; test and holdout records, %s.\n",
		      dp_study_has_metric_release(s->state->spec)
			      ? "which the noise on utilities covers with an epsilon of its own"
			      : "for which there is no guarantee");
	return true;
}

bool append_selection_statement(const struct study_data *s, const struct dp_select_cost *c,
				struct dp_buf *out)
{
	const struct dp_study *spec = s->state->spec;
	struct dp_composition_items uses;
	char delta[DP_NUM_LEN], mean[DP_NUM_LEN];

	if (s->npoints == 0 ||
	    study_data_mechanisms_at(s, s->points[0], dp_select_privacy_objective(spec), &uses,
				     NULL) != DP_OK)
		return false;
	dp_buf_printf(out,
		      "The setting, its utility and its model, which are all that is "
		      "published of study %s, are together (",
		      spec->name);
	number_append_rounded_up(c->epsilon, 4, out);
	dp_buf_printf(out,
		      ", %s)-differentially private.\n"
		      "They are the best of a secret number of trainings (%s, %s on average), with "
		      "settings drawn independently of the data and of each other.\n"
		      "For records that are trained on: epsilon ",
		      dp_num_text(c->delta, delta), c->law, dp_num_text(c->mean_trainings, mean));
	number_append_rounded_up(c->train_data_epsilon, 4, out);
	dp_buf_puts(out, "; for records that the utility is measured on: epsilon ");
	number_append_rounded_up(c->eval_data_epsilon, 4, out);
	dp_buf_puts(out, ". A record is one or the other.\nUnit of privacy: ");
	append_privacy_unit(out, uses.items->mechanism, uses.values[0]);
	dp_buf_printf(out,
		      ", or one record that is measured on.\n"
		      "Neighbouring relation: %s.\n"
		      "Theorem: %s, with the Renyi divergences of the worst setting that "
		      "can be drawn.\n"
		      "It holds as long as nobody learns how many trainings there were, "
		      "anything of the others, or what the noise was drawn from.\n",
		      neighbouring_relation_text(&uses), c->theorem);
	return true;
}
