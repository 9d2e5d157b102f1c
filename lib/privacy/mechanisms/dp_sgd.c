/* dp_sgd.c - training by noisy gradients of sampled lots (DP-SGD, DP-Adam).
 *
 * Two samplers, each with its own neighbouring relation and noise multiplier:
 *   without-replacement  every step draws a fresh lot of exactly `lot` records; replace-one; noise
 *                        relative to 2L, the largest change of a sum of gradients clipped to L when
 *                        a record is replaced
 *   poisson              every step takes each record with probability lot / records; add or remove
 *                        one; noise relative to L
 * rdp_wor.c, rdp_poisson.c and component_gaussian.c name the theorems. */
#include "privacy/privacy_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	SAMPLING,
	RECORDS,
	LOT,
	SAMPLE_RATE,
	EPOCHS,
	STEPS,
	NOISE_MULTIPLIER,
	NOISE_VARIANCE,
	DELTA,
	ACCOUNTANT,
	BOUND,
	CONVERSION,
	ORDERS,
	GROUP
};
enum {
	WITHOUT_REPLACEMENT,
	POISSON
};
enum {
	TIGHT,
	GENERAL
};
enum {
	ALTERNATIVES_LENGTH = 1,
	ALTERNATIVES_NOISE = 2
};

static const char *const samplings[] = { "without-replacement", "poisson", NULL };
static const char *const bounds[] = { "tight", "general", NULL };
static const char *const orders[] = { "integer", "real", NULL };

static const struct dp_privacy_key keys[] = {
	[SAMPLING] = { .name = "sampling",
		       .kind = DP_PRIVACY_CHOICE,
		       DP__KEY_REQUIRED,
		       .choices = samplings,
		       .short_help = "how lots are drawn",
		       .help = "How a lot is drawn at every step." },
	[RECORDS] = { .name = "records",
		      DP__KEY_COUNT,
		      DP__KEY_REQUIRED,
		      .replaced_by = "sample_rate",
		      .short_help = "number of training records",
		      .help = "Number of training records. With poisson it is taken as "
			      "public." },
	[LOT] = { .name = "lot",
		  .kind = DP_PRIVACY_NUMBER,
		  DP__KEY_REQUIRED,
		  .lo = 0,
		  .lo_open = true,
		  .hi = 0x1p53,
		  .replaced_by = "sample_rate",
		  .can_solve_max = true,
		  .short_help = "records in a lot",
		  .help = "Records in a lot, a whole number; with poisson on average, "
			  "and it may be a fraction. At most records." },
	[SAMPLE_RATE] = { .name = "sample_rate",
			  .kind = DP_PRIVACY_NUMBER,
			  .default_value = NAN,
			  .lo = 0,
			  .lo_open = true,
			  .hi = 1,
			  .can_solve_max = true,
			  .short_help = "share of the records in a lot, with poisson",
			  .help = "With poisson, in place of records and lot: the "
				  "probability that a record is in a lot." },
	[EPOCHS] = { .name = "epochs",
		     .epsilon_trend = 1,
		     DP__KEY_COUNT,
		     .default_value = NAN,
		     .alternatives_group = ALTERNATIVES_LENGTH,
		     .can_solve_max = true,
		     .short_help = "passes over the data",
		     .help = "Passes over the data; each has records/lot steps (or "
			     "1/sample_rate), rounded half to even." },
	[STEPS] = { .name = "steps",
		    .epsilon_trend = 1,
		    DP__KEY_COUNT,
		    .default_value = NAN,
		    .alternatives_group = ALTERNATIVES_LENGTH,
		    .can_solve_max = true,
		    .short_help = "steps, in place of epochs",
		    .help = "Steps in all, in place of epochs." },
	[NOISE_MULTIPLIER] = { .name = "noise_multiplier",
			       .epsilon_trend = -1,
			       DP__KEY_POSITIVE,
			       .default_value = NAN,
			       .alternatives_group = ALTERNATIVES_NOISE,
			       .short_help = "noise over 2L (without-replacement) or L "
					     "(poisson)",
			       .help = "Standard deviation of the noise over 2L "
				       "(without-replacement) or L (poisson), L being "
				       "the clipping norm." },
	[NOISE_VARIANCE] = { .name = "noise_variance",
			     .epsilon_trend = -1,
			     DP__KEY_POSITIVE,
			     .default_value = NAN,
			     .alternatives_group = ALTERNATIVES_NOISE,
			     .short_help = "the square of noise-multiplier",
			     .help = "The square of noise_multiplier, in its place." },
	[DELTA] = DP__KEY_DELTA_REQUIRED,
	[ACCOUNTANT] = { .name = "accountant",
			 DP__KEY_CHOICE(dp_privacy_accountants, DP_PRIVACY_PLD),
			 .short_help = "how steps are added up",
			 .help = "Renyi divergences or privacy loss distributions; the "
				 "latter are tighter." },
	[BOUND] = { .name = "bound",
		    DP__KEY_CHOICE(bounds, TIGHT),
		    .only_accountant = "rdp",
		    .short_help = "which bound, with rdp without replacement",
		    .help = "With rdp without-replacement: the bound for Gaussian noise "
			    "or the one for any mechanism." },
	[CONVERSION] = { .name = "conversion",
			 DP__KEY_CHOICE(dp_privacy_conversions, DP_PRIVACY_CONVERSION_IMPROVED),
			 .only_accountant = "rdp",
			 .short_help = "from Renyi to epsilon, with rdp",
			 .help = "With rdp: from Renyi divergence to epsilon; classic is "
				 "what older publications used." },
	[ORDERS] = { .name = "orders",
		     DP__KEY_CHOICE(orders, NAN),
		     .only_accountant = "rdp",
		     .short_help = "orders that are tried, with rdp",
		     .help = "With rdp: orders tried; integer for without-replacement "
			     "and real for poisson unless said otherwise." },
	[GROUP] = DP__KEY_GROUP(DP__GROUP_MAX),
};

static double sgd_noise_multiplier(const double *v)
{
	return isnan(v[NOISE_VARIANCE]) ? v[NOISE_MULTIPLIER] : sqrt(v[NOISE_VARIANCE]);
}

/* rint() rounds half to even, as the original experiments did. */
static double sgd_count_steps(const double *v)
{
	double lots = isnan(v[SAMPLE_RATE]) ? v[RECORDS] / v[LOT] : 1 / v[SAMPLE_RATE];

	return isnan(v[EPOCHS]) ? v[STEPS] : v[EPOCHS] * rint(lots);
}

/* The range of lots or rates with i + 1 steps per epoch. With fixed steps a larger value is never
 * more private, but with one step less it may be. */
static bool sgd_monotone_range(const double *v, const struct dp_privacy_key *k, size_t i,
			       double *lo, double *hi)
{
	double n = k == &keys[LOT] ? v[RECORDS] : 1, steps = (double)i + 1;

	if ((k != &keys[LOT] && k != &keys[SAMPLE_RATE]) || isnan(v[EPOCHS]) ||
	    !(steps <= n || k == &keys[SAMPLE_RATE]))
		return false;
	*lo = n / (steps + 0.5);
	while (rint(n / *lo) > steps)
		*lo = nextafter(*lo, INFINITY);
	*hi = steps == 1 ? n : n / (steps - 0.5);
	while (rint(n / *hi) < steps)
		*hi = nextafter(*hi, 0);
	if (dp_privacy_key_is_integer(&dp__dp_sgd, v, k)) {
		*lo = ceil(*lo);
		*hi = floor(*hi);
	}
	return true;
}

static double sgd_sampling_rate(const double *v)
{
	return isnan(v[SAMPLE_RATE]) ? v[LOT] / v[RECORDS] : v[SAMPLE_RATE];
}

/* A lot drawn without replacement has exactly this many records. */
static bool sgd_requires_integer(const double *v, const struct dp_privacy_key *k)
{
	return k == &keys[LOT] && v[SAMPLING] == WITHOUT_REPLACEMENT;
}

static int sgd_check_values(const double *v, struct dp_err *err)
{
	if (v[LOT] > v[RECORDS])
		return dp_fail(err, DP_E_INVALID, "'lot' is %.10g, but there are only %.0f records",
			       v[LOT], v[RECORDS]);
	if (v[GROUP] > v[RECORDS])
		return dp_fail(err, DP_E_INVALID,
			       "'group' is %.0f, but there are only %.0f records", v[GROUP],
			       v[RECORDS]);
	if (!isnan(v[SAMPLE_RATE]) && v[SAMPLING] != POISSON) {
		dp_fail(err, DP_E_INVALID,
			"'sample_rate' belongs to sampling poisson: lots without "
			"replacement have a fixed size");
		return dp_hint(err, "give 'records' and 'lot'");
	}
	return DP_OK;
}

static int sgd_component(const double *v, struct dp_privacy_component *component,
			 struct dp_err *err)
{
	bool poisson = v[SAMPLING] == POISSON;
	int code = sgd_check_values(v, err);

	if (code != DP_OK)
		return code;
	*component = (struct dp_privacy_component){
		.kind = poisson ? &dp__component_poisson : &dp__component_wor,
		.q = sgd_sampling_rate(v),
		.mu = 1 / sgd_noise_multiplier(v),
		.count = sgd_count_steps(v),
		.tight_bound = v[BOUND] == TIGHT,
		.relation = poisson ? DP__RELATION_ADD_REMOVE : DP__RELATION_REPLACE_ONE,
		.group_size = v[GROUP],
	};
	if (v[GROUP] > 1)
		dp__component_set_group(component, v[RECORDS], v[LOT]);
	return DP_OK;
}

struct sgd_account {
	struct dp_privacy_component component;
	struct dp__rdp_wor *wor;
};

/* Not the component's own cgf(): this reproduces published numbers, not the tightest bound. */
static double sgd_published_cgf(void *ctx, double order)
{
	const struct sgd_account *a = ctx;
	struct dp__rdp_poisson p = { a->component.q, 1 / a->component.mu };

	return a->component.count * (a->component.kind == &dp__component_poisson
					     ? dp__rdp_poisson_cgf(&p, order)
					     : dp__rdp_wor_cgf(a->wor, a->component.q, order));
}

/* Without sampling: an upper bound of the curve with it. */
static double sgd_unsampled_cgf(void *ctx, double order)
{
	const struct sgd_account *a = ctx;

	return 0.5 * a->component.count * order * (order - 1) * a->component.mu * a->component.mu;
}

static void sgd_rdp_epsilon(struct dp_privacy_workspace *workspace, const double *v,
			    const struct dp_privacy_component *component, struct dp_epsilon *out)
{
	bool poisson = component->kind == &dp__component_poisson;
	struct sgd_account a = { *component, workspace->wor };
	struct dp__rdp_curve curve = { sgd_published_cgf, &a, poisson };
	enum dp_privacy_conversion conversion = (enum dp_privacy_conversion)v[CONVERSION];
	double epsilon, order;

	if (!isnan(v[ORDERS]))
		curve.real_orders = v[ORDERS] != 0;
	if (!poisson)
		dp__rdp_wor_set_noise(a.wor, 1 / component->mu, component->tight_bound);
	out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
	out->epsilon = dp__rdp_curve_epsilon(&curve, conversion, log(v[DELTA]), &out->order);
	if (!poisson && component->q > 0.01) {
		curve.cgf = sgd_unsampled_cgf;
		epsilon = dp__rdp_curve_epsilon(&curve, conversion, log(v[DELTA]), &order);
		if (epsilon < out->epsilon) {
			out->epsilon = epsilon;
			out->order = order;
			out->theorem = "Mironov 2017, Proposition 7: Gaussian noise on "
				       "all records, which sampling cannot make worse";
		}
	}
	out->error = 0;
	out->error_is_proved = true;
}

static double sgd_component_cgf(void *ctx, double order)
{
	const struct sgd_account *a = ctx;

	return a->component.count * a->component.kind->cgf(&a->component, a->wor, order);
}

/* The smallest Renyi bound, regardless of published numbers. */
static void sgd_best_rdp_epsilon(struct dp_privacy_workspace *workspace, const double *v,
				 const struct dp_privacy_component *component,
				 struct dp_epsilon *out)
{
	struct sgd_account a = { *component, workspace->wor };
	struct dp__rdp_curve curve = { sgd_component_cgf, &a, true };

	if (component->kind->prepare_tables)
		component->kind->prepare_tables(component, a.wor);
	*out = (struct dp_epsilon){
		.delta = v[DELTA],
		.accountant = dp_privacy_accountants[DP_PRIVACY_RDP],
		.error_is_proved = true,
	};
	out->epsilon = dp__rdp_curve_epsilon(&curve, DP_PRIVACY_CONVERSION_IMPROVED, log(v[DELTA]),
					     &out->order);
	if (component->kind == &dp__component_wor &&
	    component->kind->cgf(component, a.wor, out->order) <
		    dp__rdp_wor_cgf(a.wor, component->q, out->order))
		out->theorem = "joint convexity of f-divergences, Csiszar and Shields "
			       "2004, Lemma 4.1, over the lots with and without the "
			       "record";
	if (component->group_size > 1 && component->q < 1 &&
	    component->kind->cgf(component, a.wor, out->order) >=
		    dp__group_convex_cgf(component, out->order))
		out->theorem = "joint convexity of f-divergences, Csiszar and Shields "
			       "2004, Lemma 4.1, over the number of the person's records "
			       "in a lot";
}

/* With a small cell budget, or losses that no grid holds, the Renyi bound is the better one. */
static void sgd_pld_epsilon(struct dp_privacy_workspace *workspace, const double *v,
			    const struct dp_privacy_component *component, struct dp_epsilon *out)
{
	struct dp__pld_bound answer;

	sgd_best_rdp_epsilon(workspace, v, component, out);
	if (!dp__pld_grid_holds(component->mu * component->mu, component->count))
		return;
	answer = dp__pld_epsilon(workspace->pld, component, 1, v[DELTA]);
	if (answer.epsilon <= out->epsilon)
		*out = dp__pld_bound_to_epsilon(&answer, v[DELTA]);
}

static int sgd_epsilon_cached(struct dp_privacy_workspace *workspace, const double *v,
			      struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = { .delta = v[DELTA], .order = NAN };
	struct dp_privacy_component component;
	double mu2;
	int code = sgd_component(v, &component, err);

	if (code != DP_OK)
		return code;
	mu2 = component.mu * component.mu;
	if (!(mu2 * component.count < DP__MU2_MAX)) {
		e.epsilon = INFINITY;
		e.accountant = dp_privacy_accountants[(int)v[ACCOUNTANT]];
		e.error_is_proved = true;
	} else if (v[ACCOUNTANT] == DP_PRIVACY_PLD) {
		sgd_pld_epsilon(workspace, v, &component, &e);
	} else if (v[GROUP] > 1) { /* no published numbers */
		sgd_best_rdp_epsilon(workspace, v, &component, &e);
	} else {
		sgd_rdp_epsilon(workspace, v, &component, &e);
	}
	*out = e;
	return DP_OK;
}

static int sgd_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_privacy_workspace workspace;
	int code;

	dp__workspace_init(&workspace);
	code = sgd_epsilon_cached(&workspace, v, out, err);
	dp__workspace_free(&workspace);
	return code;
}

static enum dp_privacy_cost sgd_cost(const double *v)
{
	return v[ACCOUNTANT] == DP_PRIVACY_PLD || v[GROUP] > 1 ? DP_PRIVACY_COST_EXPENSIVE
							       : DP_PRIVACY_COST_CACHED;
}

/* ---- resolved values and declarations of a trainer ---- */

static void sgd_resolve_steps(double *v)
{
	v[STEPS] = sgd_count_steps(v);
	v[EPOCHS] = NAN;
	v[NOISE_MULTIPLIER] = sgd_noise_multiplier(v);
	v[NOISE_VARIANCE] = NAN;
	if (isnan(v[ORDERS]))
		v[ORDERS] = v[SAMPLING] == POISSON;
}

static int sgd_fail_contradiction(struct dp_err *err, const char *what, double said, double ours)
{
	dp_fail(err, DP_E_INVALID,
		"the trainer declares %s %.10g, the study's mechanism "
		"says %.10g",
		what, said, ours);
	dp_hint(err, "epsilon would be wrong; make the trainer and the study agree");
	return DP_E_INVALID;
}

/* For Poisson, most trainers compute the mean lot from a rate and the records, with rounding.
 * Without replacement it is exact. */
static bool sgd_lot_differs(const double *v, double lot)
{
	return v[SAMPLING] == POISSON ? !(fabs(lot / v[LOT] - 1) < 1e-6) : lot != v[LOT];
}

static int sgd_check_declaration(const double *v, const struct dp_declaration *d, char *warning,
				 struct dp_err *err)
{
	const char *ours = samplings[(int)v[SAMPLING]];
	/* a multiplier relative to 2L is doubled to be relative to L */
	double noise = sgd_noise_multiplier(v) * (v[SAMPLING] == POISSON ? 1 : 2);

	if (d->sampling && strcmp(d->sampling, "shuffle") == 0) {
		snprintf(warning, DP_PRIVACY_WARNING_LEN,
			 "the trainer shuffles the records, and epsilon is computed as if "
			 "it sampled %s: the number is not proven for shuffling",
			 ours);
	} else if (d->sampling && strcmp(d->sampling, ours) != 0) {
		dp_fail(err, DP_E_INVALID,
			"the trainer declares sampling '%s', the study's mechanism says "
			"'%s'",
			d->sampling, ours);
		dp_hint(err, "epsilon would be wrong; make the trainer and the study agree");
		return DP_E_INVALID;
	}
	if (!isnan(d->records) && d->records != v[RECORDS] && !isnan(v[RECORDS]))
		return sgd_fail_contradiction(err, "records", d->records, v[RECORDS]);
	if (!isnan(d->lot) && !isnan(v[LOT]) && sgd_lot_differs(v, d->lot))
		return sgd_fail_contradiction(err, "lot", d->lot, v[LOT]);
	if (fabs(d->lot / d->records / sgd_sampling_rate(v) - 1) > 1e-6)
		return sgd_fail_contradiction(err, "lot / records", d->lot / d->records,
					      sgd_sampling_rate(v));
	if (!isnan(d->steps) && d->steps != sgd_count_steps(v))
		return sgd_fail_contradiction(err, "steps", d->steps, sgd_count_steps(v));
	if (!isnan(d->noise_over_clip) && !(fabs(d->noise_over_clip / noise - 1) < 1e-6))
		return sgd_fail_contradiction(err, "noise_over_clip", d->noise_over_clip, noise);
	return DP_OK;
}

/* ---- descriptions ---- */

static const char *sgd_theorem(const double *v)
{
	bool poisson = v[SAMPLING] == POISSON;

	if (v[GROUP] > 1)
		return poisson ? "Ganesh 2024 (mixtures of Gaussians), both directions, "
				 "composed as Zhu, Dong and Wang, AISTATS 2022"
			       : "Balle, Barthe and Gaboardi, NeurIPS 2018, Theorem 2, "
				 "over the number of the person's records in a lot, "
				 "composed as Zhu, Dong and Wang, AISTATS 2022";
	if (v[ACCOUNTANT] == DP_PRIVACY_PLD)
		return poisson ? "Zhu, Dong and Wang, AISTATS 2022 (composition of "
				 "dominating pairs, both directions)"
			       : "Zhu, Dong and Wang, AISTATS 2022, with the "
				 "amplification of Balle, Barthe and Gaboardi, NeurIPS "
				 "2018";
	if (poisson)
		return "Mironov, Talwar and Zhang 2019, Theorem 4";
	return v[BOUND] == GENERAL ? "Wang, Balle and Kasiviswanathan, AISTATS 2019, Theorem 9"
				   : "Wang, Balle and Kasiviswanathan, AISTATS 2019, Theorem 27";
}

static void sgd_describe_poisson(struct dp_privacy_description *out)
{
	out->relation = "add or remove one: two datasets are neighbours when one of them "
			"has one record more";
	out->noise_unit = "The noise multiplier is the standard deviation of the noise over "
			  "L, the most that adding one record moves a sum of gradients "
			  "clipped to L. Relative to 2L, as replace-one counts it, the same "
			  "noise is half that number.";
}

static void sgd_describe_wor(struct dp_privacy_description *out)
{
	out->relation = "replace-one: two datasets of the same size are neighbours when "
			"one record differs";
	out->noise_unit = "The noise multiplier is the standard deviation of the noise over "
			  "2L, the most that replacing one record moves a sum of gradients "
			  "clipped to L. Relative to L, as Poisson sampling counts it, the "
			  "same noise is twice that number.";
}

static void sgd_describe_sampler(const double *v, struct dp_privacy_description *out)
{
	double steps = sgd_count_steps(v);

	if (!isnan(v[SAMPLE_RATE]) && !isnan(steps))
		snprintf(out->sampler, sizeof out->sampler,
			 "%s, each record in a lot with probability %.6g, %.0f steps.",
			 out->sampling, v[SAMPLE_RATE], steps);
	else if (!isnan(v[LOT]) && !isnan(steps))
		snprintf(out->sampler, sizeof out->sampler,
			 "%s, lots of %s%.10g records, %.0f steps.", out->sampling,
			 v[SAMPLING] == POISSON ? "on average " : "", v[LOT], steps);
}

static void sgd_describe(const double *v, struct dp_privacy_description *out)
{
	bool poisson = v[SAMPLING] == POISSON;
	double noise = sgd_noise_multiplier(v);

	if (isnan(v[SAMPLING]))
		return;
	(poisson ? sgd_describe_poisson : sgd_describe_wor)(out);
	if (v[GROUP] > 1)
		out->relation = poisson ? "add or remove a person: two datasets are "
					  "neighbours when one of them has all records of "
					  "one person more, up to 'group'"
					: "replace a person: two datasets of the same "
					  "size are neighbours when the records of one "
					  "person differ, up to 'group'";
	out->theorem = sgd_theorem(v);
	out->sampling = samplings[(int)v[SAMPLING]];
	sgd_describe_sampler(v, out);
	out->noise[0] = '\0';
	if (isnan(noise))
		return;
	if (poisson)
		snprintf(out->noise, sizeof out->noise,
			 "Gaussian, standard deviation %.6g times the clipping norm L.", noise);
	else
		snprintf(out->noise, sizeof out->noise,
			 "Gaussian, standard deviation %.6g times 2L, that is %.6g times "
			 "the clipping norm L.",
			 noise, 2 * noise);
}

const struct dp_mechanism dp__dp_sgd = {
	.name = "dp-sgd",
	.summary = "Training by noisy, clipped gradients of sampled lots (DP-SGD, DP-Adam).",
	.relation = "sampling without-replacement: two datasets of the same size are "
		    "neighbours when one record differs (replace-one); poisson: when one "
		    "has one record more (add or remove one)",
	.source = "rdp: Wang, Balle and Kasiviswanathan, AISTATS 2019, Theorems 9 and 27 "
		  "(without-replacement); Mironov, Talwar and Zhang, 2019, Theorem 4 "
		  "(poisson); pld: Zhu, Dong and Wang, AISTATS 2022, with the profile of "
		  "Balle, Barthe and Gaboardi, NeurIPS 2018",
	.keys = keys,
	.nkeys = DP_COUNT(keys),
	.delta = &keys[DELTA],
	.noise = &keys[NOISE_MULTIPLIER],
	.records = &keys[RECORDS],
	.accountant = &keys[ACCOUNTANT],
	.conversion = &keys[CONVERSION],
	.epsilon = sgd_epsilon,
	.epsilon_cached = sgd_epsilon_cached,
	.cost = sgd_cost,
	.component = sgd_component,
	.requires_integer = sgd_requires_integer,
	.monotone_range = sgd_monotone_range,
	.resolve = sgd_resolve_steps,
	.check_declaration = sgd_check_declaration,
	.describe = sgd_describe,
};
