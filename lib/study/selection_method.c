/* selection_method.c - method select: its keys, its cost, and the conditions of its theorems. */
#include "study/parse/study_parse_internal.h"
#include "study/accounting.h"
#include "study/metric_release.h"
#include "study/private_selection.h"

#include <math.h>
#include <string.h>

/* ---- the distribution of the number of trials ---- */

struct rounds_law {
	const char *name;
	double mean; /* 0: another distribution */
	double eta;  /* of the truncated negative binomial; NaN: Poisson */
};

enum {
	ROUNDS_LAWS = 3
};

static void list_rounds_laws(const struct dp_study *s, struct rounds_law out[ROUNDS_LAWS])
{
	const struct dp_rounds *rounds = &s->search.rounds;

	out[0] = (struct rounds_law){ "poisson", rounds->poisson, NAN };
	out[1] = (struct rounds_law){ "geometric", rounds->geometric, 1 };
	out[2] = (struct rounds_law){ "logarithmic", rounds->logarithmic, 0 };
}

static struct rounds_law find_rounds_law(const struct dp_study *s)
{
	struct rounds_law laws[ROUNDS_LAWS];
	size_t i = 0;

	list_rounds_laws(s, laws);
	while (i + 1 < ROUNDS_LAWS && laws[i].mean == 0)
		i++;
	return laws[i];
}

int dp_select_rounds_law(const struct dp_study *s, struct dp_selection *out, struct dp_err *err)
{
	struct rounds_law l = find_rounds_law(s);

	return isnan(l.eta) ? dp_selection_init_poisson(l.mean, out, err)
			    : dp_selection_init_neg_binomial(l.eta, l.mean, out, err);
}

/* ---- its cost ---- */

static size_t find_objective_by_kind(const struct dp_study *s, bool privacy)
{
	size_t i = 0;

	while (i + 1 < s->nobjectives && (s->objectives[i].privacy != NULL) != privacy)
		i++;
	return i;
}

size_t dp_select_privacy_objective(const struct dp_study *s)
{
	return find_objective_by_kind(s, true);
}

size_t dp_select_utility_objective(const struct dp_study *s)
{
	return find_objective_by_kind(s, false);
}

/* Epsilon of the selection, if one trial has the curve k. */
static double selection_epsilon(const struct dp_selection *law, const struct dp_odometer *o,
				const double *k, double delta, double *order)
{
	double all[DP_RENYI_ORDERS_MAX];

	dp_selection_renyi(law, o->order, k, NULL, o->n, all);
	return dp_renyi_epsilon(o->order, all, o->n, delta, order);
}

int dp_select_compute_cost(const struct dp_study *s, struct dp_select_cost *out, struct dp_err *err)
{
	const struct dp_metric_release *release =
		&s->objectives[dp_select_utility_objective(s)].release;
	const struct rounds_law named = find_rounds_law(s);
	double k[DP_RENYI_ORDERS_MAX], all[DP_RENYI_ORDERS_MAX];
	struct dp_selection law;
	struct dp_odometer o;
	int code = dp_select_rounds_law(s, &law, err);

	dp_odometer_init_default(&o); /* for its orders */
	*out = (struct dp_select_cost){
		.law = named.name,
		.mean_trainings = named.mean,
		.delta = dp_accounting_delta(s->objectives[dp_select_privacy_objective(s)].privacy),
		.theorem = isnan(named.eta) ? "Papernot and Steinke 2022, Theorem 6"
					    : "Papernot and Steinke 2022, Theorem 2",
	};
	if (code == DP_OK)
		code = dp_select_worst_case_renyi(s, o.order, o.n, k, &out->n_settings, err);
	if (code != DP_OK)
		return code;
	out->training_epsilon = dp_renyi_epsilon(o.order, k, o.n, out->delta, NULL);
	out->train_data_epsilon = selection_epsilon(&law, &o, k, out->delta, &out->order);
	for (size_t i = 0; i < o.n; i++)
		all[i] = ceil(named.mean) * k[i];
	out->composed_epsilon = dp_renyi_epsilon(o.order, all, o.n, out->delta, NULL);
	dp_noisy_release_renyi(dp_metric_release_records(release), release->sigma, o.order, o.n, k);
	out->eval_data_epsilon = selection_epsilon(&law, &o, k, out->delta, NULL);
	out->epsilon = fmax(out->train_data_epsilon, out->eval_data_epsilon);
	return DP_OK;
}

/* ---- reading and checking ---- */

void dp__read_rounds(struct dp__study_parser *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	if (dp__expect_map(r, v, k->name,
			   "a law and its mean: {geometric: 20}, {logarithmic: 20} or "
			   "{poisson: 20}",
			   SIZE_MAX))
		dp__read_section(r, DP__ROUNDS, v->key_pos, v, to);
}

static void check_rounds_law(struct dp__study_parser *r)
{
	const struct dp__node *v = dp__map_get(r->search_node, "rounds");
	struct dp_selection law;
	struct dp_err err;

	if (!v) {
		dp__report_error(r, r->search_node->key_pos, NULL,
				 "the key 'search.rounds' is missing, for example `rounds: "
				 "{geometric: 20}`");
		return;
	}
	if (v->kind != DP__NODE_MAP || r->diagnostics->error_count)
		return; /* already reported */
	if (v->count != 1)
		dp__report_error(r, v->pos, "poisson, geometric or logarithmic",
				 "'rounds' needs one law of the number of trainings, not %zu",
				 v->count);
	else if (dp_select_rounds_law(r->study, &law, &err) != DP_OK)
		dp__report_error(r, v->first_child->pos, v->first_child->key, "%s", err.msg);
}

static const char ban_time[] = "how long a training takes can tell of the data, and so "
			       "could what such a limit ends";

static const char ban_memory[] = "how much memory a training takes can tell of the "
				 "data, and so could what such a limit ends";

/* Keys that would break a condition of the theorems, and why. A search or run that ends for another
 * reason than chance would leak information that no theorem covers. */
static const struct {
	const char *path, *why;
} banned[] = {
	{ "search.evaluations", "the number of trainings is drawn in secret, by "
				"'rounds'" },
	{ "search.max_time", ban_time },
	{ "search.cost", "settings are drawn, not chosen" },
	{ "search.max_cost", "the number of trainings is drawn in secret, by 'rounds'" },
	{ "search.budget", "what the selection costs is known beforehand" },
	{ "search.initial_from", "its settings are drawn whatever is known" },
	{ "search.front", "only one point is shown" },
	{ "trainer.timeout", ban_time },
	{ "trainer.stall", ban_time },
	{ "trainer.memory", ban_memory },
	{ "trainer.path", "only whole trainings are compared" },
	{ "trainer.max_failures", "a training that fails counts as the worst, and the "
				  "next begins" },
};

static const char no_retries[] = "method select tries no failed training again: it "
				 "counts as the worst";

const char *dp__selection_forbids(const char *path)
{
	for (size_t i = 0; i < DP_COUNT(banned); i++)
		if (strcmp(banned[i].path, path) == 0)
			return banned[i].why;
	return strcmp(path, "trainer.retries") == 0 ? no_retries : NULL;
}

static void refuse_forbidden_keys(struct dp__study_parser *r)
{
	const struct dp__node *retries = dp__map_get(r->trainer_node, "retries");

	for (size_t i = 0; i < DP_COUNT(banned); i++) {
		const char *key = strchr(banned[i].path, '.') + 1;
		const struct dp__node *v = dp__map_get(
			banned[i].path[0] == 's' ? r->search_node : r->trainer_node, key);

		if (v)
			dp__report_error(r, v->key_pos, NULL,
					 "'%s' is not possible with method select: %s", key,
					 banned[i].why);
	}
	if (retries && r->study->trainer.retries != 0)
		dp__report_error(r, retries->pos, "0", "%s", no_retries);
	r->study->trainer.retries = 0;
}

static void check_selection_objectives(struct dp__study_parser *r, const struct dp__node *method)
{
	const struct dp_study *s = r->study;
	size_t privacy = 0;
	struct dp_err err;
	double delta;

	for (size_t i = 0; i < s->nobjectives; i++)
		privacy += s->objectives[i].privacy != NULL;
	if (privacy != 1 || s->nobjectives != 2) {
		dp__report_error(r, method->pos, "an epsilon and the metric that chooses",
				 "method select needs one privacy objective and one metric, "
				 "not %zu and %zu",
				 privacy, s->nobjectives - privacy);
		return;
	}
	if (!dp_study_has_metric_release(s))
		dp__report_error(r, r->objective_nodes[dp_select_utility_objective(s)]->key_pos,
				 "release: {records: NUMBER, sigma: NUMBER}",
				 "method select needs 'release' on objective '%s': it "
				 "chooses what is published, and is published itself",
				 s->objectives[dp_select_utility_objective(s)].name);
	delta = dp_accounting_delta(s->objectives[dp_select_privacy_objective(s)].privacy);
	if (!(delta > 0))
		dp__report_error(r, r->objective_nodes[dp_select_privacy_objective(s)]->key_pos,
				 "a delta above 0, beside a mechanism or, for a pure one, "
				 "beside compose: [...]",
				 "method select states its epsilon at the objective's delta, "
				 "which %s",
				 isnan(delta) ? "must not be a parameter" : "is 0 here");
	if (dp_select_check_worst_case(s, &err) != DP_OK)
		dp__report_error(r, r->objective_nodes[dp_select_privacy_objective(s)]->key_pos,
				 err.hint[0] ? err.hint : NULL, "%s", err.msg);
}

void dp__check_selection(struct dp__study_parser *r)
{
	const struct dp__node *method = dp__map_get(r->search_node, "method");

	if (!method || r->study->search.method != DP_METHOD_SELECT)
		return;
	check_rounds_law(r);
	refuse_forbidden_keys(r);
	if (r->study->seed != 0)
		dp__report_error(r, method->pos, NULL,
				 "a 'seed' has no say with method select, whose draws are "
				 "secret: leave it out");
	if (r->study->seeds == DP_SEEDS_FIXED)
		dp__report_error(r, method->pos, NULL,
				 "'seeds: fixed' is not possible with method select, whose "
				 "draws are secret");
	if (r->study->nconstraints)
		dp__report_error(r, method->pos, NULL,
				 "'constraints' are not possible with method select: the "
				 "best by one metric is published, whatever the others say");
	if (r->diagnostics->error_count == 0)
		check_selection_objectives(r, method);
}
