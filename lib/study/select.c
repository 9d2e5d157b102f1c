/* select.c - method select: its keys, and the conditions of its theorems, which the file
 * must meet. */
#include "study/study_internal.h"

#include <math.h>
#include <string.h>

/* ---- the law ---- */

struct law {
	const char *name;
	double mean; /* 0: not this one */
	double eta;  /* of the truncated negative binomial; NaN: Poisson */
};

enum {
	LAWS = 3
};

static void select_laws(const struct dp_study *s, struct law out[LAWS])
{
	const struct dp_rounds *rounds = &s->search.rounds;

	out[0] = (struct law){ "poisson", rounds->poisson, NAN };
	out[1] = (struct law){ "geometric", rounds->geometric, 1 };
	out[2] = (struct law){ "logarithmic", rounds->logarithmic, 0 };
}

static struct law select_named(const struct dp_study *s)
{
	struct law laws[LAWS];
	size_t i = 0;

	select_laws(s, laws);
	while (i + 1 < LAWS && laws[i].mean == 0)
		i++;
	return laws[i];
}

int dp_select_law(const struct dp_study *s, struct dp_selection *out, struct dp_err *err)
{
	struct law l = select_named(s);

	return isnan(l.eta) ? dp_selection_poisson(l.mean, out, err)
			    : dp_selection_negative_binomial(l.eta, l.mean, out, err);
}

/* ---- what it costs ---- */

static size_t select_objective(const struct dp_study *s, bool privacy)
{
	size_t i = 0;

	while (i + 1 < s->nobjectives && (s->objectives[i].privacy != NULL) != privacy)
		i++;
	return i;
}

size_t dp_select_privacy(const struct dp_study *s)
{
	return select_objective(s, true);
}

size_t dp_select_utility(const struct dp_study *s)
{
	return select_objective(s, false);
}

/* Of the best of many, where one has the curve k. */
static double select_epsilon(const struct dp_selection *law, const struct dp_odometer *o,
			     const double *k, double delta, double *order)
{
	double all[DP_RENYI_ORDERS_MAX];

	dp_selection_renyi(law, o->order, k, NULL, o->n, all);
	return dp_renyi_epsilon(o->order, all, o->n, delta, order);
}

int dp_select_cost(const struct dp_study *s, struct dp_select_cost *out, struct dp_err *err)
{
	const struct dp_release *release = &s->objectives[dp_select_utility(s)].release;
	const struct law named = select_named(s);
	double k[DP_RENYI_ORDERS_MAX], all[DP_RENYI_ORDERS_MAX];
	struct dp_selection law;
	struct dp_odometer o;
	int code = dp_select_law(s, &law, err);

	dp_odometer_standard(&o); /* for its orders */
	*out = (struct dp_select_cost){
		.law = named.name,
		.mean = named.mean,
		.delta = dp_oracle_delta(s->objectives[dp_select_privacy(s)].privacy),
		.theorem = isnan(named.eta) ? "Papernot and Steinke 2022, Theorem 6"
					    : "Papernot and Steinke 2022, Theorem 2",
	};
	if (code == DP_OK)
		code = dp_select_curve(s, o.order, o.n, k, &out->settings, err);
	if (code != DP_OK)
		return code;
	out->one = dp_renyi_epsilon(o.order, k, o.n, out->delta, NULL);
	out->trained = select_epsilon(&law, &o, k, out->delta, &out->order);
	for (size_t i = 0; i < o.n; i++)
		all[i] = ceil(named.mean) * k[i];
	out->composed = dp_renyi_epsilon(o.order, all, o.n, out->delta, NULL);
	dp_release_renyi(dp_release_records(release), release->sigma, o.order, o.n, k);
	out->measured = select_epsilon(&law, &o, k, out->delta, NULL);
	out->epsilon = fmax(out->trained, out->measured);
	return DP_OK;
}

/* ---- reading and checking ---- */

void dp__read_rounds(struct dp__read *r, const struct dp__key *k, const struct dp__node *v,
		     void *to)
{
	if (dp__is_map(r, v, k->name,
		       "a law and its mean: {geometric: 20}, {logarithmic: 20} or "
		       "{poisson: 20}",
		       SIZE_MAX))
		dp__read_section(r, DP__ROUNDS, v->key_pos, v, to);
}

static void check_law(struct dp__read *r)
{
	const struct dp__node *v = dp__get(r->search, "rounds");
	struct dp_selection law;
	struct dp_err err;

	if (!v) {
		dp__problem(r, r->search->key_pos, NULL,
			    "the key 'search.rounds' is missing, for example `rounds: "
			    "{geometric: 20}`");
		return;
	}
	if (v->kind != DP__MAP || r->problems->errors)
		return; /* what is wrong with it is told already */
	if (v->count != 1)
		dp__problem(r, v->pos, "poisson, geometric or logarithmic",
			    "'rounds' needs one law of the number of trainings, not %zu", v->count);
	else if (dp_select_law(r->s, &law, &err) != DP_OK)
		dp__problem(r, v->first->pos, v->first->key, "%s", err.msg);
}

static const char ban_time[] = "how long a training takes can tell of the data, and so "
			       "could what such a limit ends";

static const char ban_memory[] = "how much memory a training takes can tell of the "
				 "data, and so could what such a limit ends";

/* Keys that would break a condition, and why. What may end a search, or a training, by
 * something else than chance would let results tell of the data what no theorem covers.
 */
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

const char *dp__select_bans(const char *path)
{
	for (size_t i = 0; i < DP_COUNT(banned); i++)
		if (strcmp(banned[i].path, path) == 0)
			return banned[i].why;
	return strcmp(path, "trainer.retries") == 0 ? no_retries : NULL;
}

static void refuse_limits(struct dp__read *r)
{
	const struct dp__node *retries = dp__get(r->trainer, "retries");

	for (size_t i = 0; i < DP_COUNT(banned); i++) {
		const char *key = strchr(banned[i].path, '.') + 1;
		const struct dp__node *v =
			dp__get(banned[i].path[0] == 's' ? r->search : r->trainer, key);

		if (v)
			dp__problem(r, v->key_pos, NULL,
				    "'%s' is not possible with method select: %s", key,
				    banned[i].why);
	}
	if (retries && r->s->trainer.retries != 0)
		dp__problem(r, retries->pos, "0", "%s", no_retries);
	r->s->trainer.retries = 0;
}

static void check_select_objectives(struct dp__read *r, const struct dp__node *method)
{
	const struct dp_study *s = r->s;
	size_t privacy = 0;
	struct dp_err err;
	double delta;

	for (size_t i = 0; i < s->nobjectives; i++)
		privacy += s->objectives[i].privacy != NULL;
	if (privacy != 1 || s->nobjectives != 2) {
		dp__problem(r, method->pos, "an epsilon and the metric that chooses",
			    "method select needs one privacy objective and one metric, "
			    "not %zu and %zu",
			    privacy, s->nobjectives - privacy);
		return;
	}
	if (!dp_study_releases(s))
		dp__problem(r, r->objective[dp_select_utility(s)]->key_pos,
			    "release: {records: NUMBER, sigma: NUMBER}",
			    "method select needs 'release' on objective '%s': it "
			    "chooses what is published, and is published itself",
			    s->objectives[dp_select_utility(s)].name);
	delta = dp_oracle_delta(s->objectives[dp_select_privacy(s)].privacy);
	if (!(delta > 0))
		dp__problem(r, r->objective[dp_select_privacy(s)]->key_pos,
			    "a delta above 0, beside a mechanism or, for a pure one, "
			    "beside compose: [...]",
			    "method select states its epsilon at the objective's delta, "
			    "which %s",
			    isnan(delta) ? "must not be a parameter" : "is 0 here");
	if (dp_select_covers(s, &err) != DP_OK)
		dp__problem(r, r->objective[dp_select_privacy(s)]->key_pos,
			    err.hint[0] ? err.hint : NULL, "%s", err.msg);
}

void dp__check_select(struct dp__read *r)
{
	const struct dp__node *method = dp__get(r->search, "method");

	if (!method || r->s->search.method != DP_METHOD_SELECT)
		return;
	check_law(r);
	refuse_limits(r);
	if (r->s->seed != 0)
		dp__problem(r, method->pos, NULL,
			    "a 'seed' has no say with method select, whose draws are "
			    "secret: leave it out");
	if (r->s->seeds == DP_SEEDS_FIXED)
		dp__problem(r, method->pos, NULL,
			    "'seeds: fixed' is not possible with method select, whose "
			    "draws are secret");
	if (r->s->nconstraints)
		dp__problem(r, method->pos, NULL,
			    "'constraints' are not possible with method select: the "
			    "best by one metric is published, whatever the others say");
	if (r->problems->errors == 0)
		check_select_objectives(r, method);
}
