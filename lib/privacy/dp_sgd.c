/* dp_sgd.c - training by noisy gradients of sampled lots (DP-SGD, DP-Adam).
 *
 * Two samplers, each with its own neighbouring relation and its own meaning of the
 * noise multiplier:
 *   without-replacement  every step draws a fresh lot of exactly `lot` records;
 *                        replace-one; noise relative to 2L, the most that replacing a
 *                        record moves a sum of gradients clipped to L
 *   poisson              every step takes each record with probability lot / records;
 *                        add or remove one; noise relative to L
 * Theorems are named in rdp_wor.c, rdp_poisson.c and part_gaussian.c. */
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
	GROUP_LENGTH = 1,
	GROUP_NOISE = 2
};

static const char *const samplings[] = { "without-replacement", "poisson", NULL };
static const char *const bounds[] = { "tight", "general", NULL };
static const char *const orders[] = { "integer", "real", NULL };

static const struct dp_privacy_key keys[] = {
	[SAMPLING] = { .name = "sampling",
		       .kind = DP_PRIVACY_WORD,
		       .needed = true,
		       .otherwise = NAN,
		       .words = samplings,
		       .brief = "how lots are drawn",
		       .help = "How a lot is drawn at every step." },
	[RECORDS] = { .name = "records",
		      .kind = DP_PRIVACY_INTEGER,
		      .needed = true,
		      .otherwise = NAN,
		      .lo = 1,
		      .hi = 0x1p53,
		      .unless = "sample_rate",
		      .brief = "number of training records",
		      .help = "Number of training records. With poisson it is taken as "
			      "public." },
	[LOT] = { .name = "lot",
		  .kind = DP_PRIVACY_NUMBER,
		  .needed = true,
		  .otherwise = NAN,
		  .lo = 0,
		  .lo_open = true,
		  .hi = 0x1p53,
		  .unless = "sample_rate",
		  .costs = true,
		  .brief = "records in a lot",
		  .help = "Records in a lot, a whole number; with poisson on average, "
			  "and it may be a fraction. At most records." },
	[SAMPLE_RATE] = { .name = "sample_rate",
			  .kind = DP_PRIVACY_NUMBER,
			  .otherwise = NAN,
			  .lo = 0,
			  .lo_open = true,
			  .hi = 1,
			  .costs = true,
			  .brief = "share of the records in a lot, with poisson",
			  .help = "With poisson, in place of records and lot: the "
				  "probability that a record is in a lot." },
	[EPOCHS] = { .name = "epochs",
		     .worse = 1,
		     .kind = DP_PRIVACY_INTEGER,
		     .otherwise = NAN,
		     .lo = 1,
		     .hi = 0x1p53,
		     .group = GROUP_LENGTH,
		     .costs = true,
		     .brief = "passes over the data",
		     .help = "Passes over the data; each has records/lot steps (or "
			     "1/sample_rate), rounded half to even." },
	[STEPS] = { .name = "steps",
		    .worse = 1,
		    .kind = DP_PRIVACY_INTEGER,
		    .otherwise = NAN,
		    .lo = 1,
		    .hi = 0x1p53,
		    .group = GROUP_LENGTH,
		    .costs = true,
		    .brief = "steps, in place of epochs",
		    .help = "Steps in all, in place of epochs." },
	[NOISE_MULTIPLIER] = { .name = "noise_multiplier",
			       .worse = -1,
			       .kind = DP_PRIVACY_NUMBER,
			       .otherwise = NAN,
			       .lo = 0,
			       .lo_open = true,
			       .hi = INFINITY,
			       .hi_open = true,
			       .group = GROUP_NOISE,
			       .brief = "noise over 2L (without-replacement) or L "
					"(poisson)",
			       .help = "Standard deviation of the noise over 2L "
				       "(without-replacement) or L (poisson), L being "
				       "the clipping norm." },
	[NOISE_VARIANCE] = { .name = "noise_variance",
			     .worse = -1,
			     .kind = DP_PRIVACY_NUMBER,
			     .otherwise = NAN,
			     .lo = 0,
			     .lo_open = true,
			     .hi = INFINITY,
			     .hi_open = true,
			     .group = GROUP_NOISE,
			     .brief = "the square of noise-multiplier",
			     .help = "The square of noise_multiplier, in its place." },
	[DELTA] = DP__KEY_DELTA_ABOVE_0,
	[ACCOUNTANT] = { .name = "accountant",
			 .kind = DP_PRIVACY_WORD,
			 .otherwise = DP_PRIVACY_PLD,
			 .words = dp_privacy_accountants,
			 .brief = "how steps are added up",
			 .help = "Renyi divergences or privacy loss distributions; the "
				 "latter are tighter." },
	[BOUND] = { .name = "bound",
		    .kind = DP_PRIVACY_WORD,
		    .otherwise = TIGHT,
		    .words = bounds,
		    .only = "rdp",
		    .brief = "which bound, with rdp without replacement",
		    .help = "With rdp without-replacement: the bound for Gaussian noise "
			    "or the one for any mechanism." },
	[CONVERSION] = { .name = "conversion",
			 .kind = DP_PRIVACY_WORD,
			 .otherwise = DP_PRIVACY_IMPROVED,
			 .words = dp_privacy_conversions,
			 .only = "rdp",
			 .brief = "from Renyi to epsilon, with rdp",
			 .help = "With rdp: from Renyi divergence to epsilon; classic is "
				 "what older publications used." },
	[ORDERS] = { .name = "orders",
		     .kind = DP_PRIVACY_WORD,
		     .otherwise = NAN,
		     .words = orders,
		     .only = "rdp",
		     .brief = "orders that are tried, with rdp",
		     .help = "With rdp: orders tried; integer for without-replacement "
			     "and real for poisson unless said otherwise." },
	[GROUP] = DP__KEY_GROUP(DP__GROUP_MAX),
};

static double sgd_multiplier(const double *v)
{
	return isnan(v[NOISE_VARIANCE]) ? v[NOISE_MULTIPLIER] : sqrt(v[NOISE_VARIANCE]);
}

/* rint() rounds half to even, as the original experiments did. */
static double sgd_count_steps(const double *v)
{
	double lots = isnan(v[SAMPLE_RATE]) ? v[RECORDS] / v[LOT] : 1 / v[SAMPLE_RATE];

	return isnan(v[EPOCHS]) ? v[STEPS] : v[EPOCHS] * rint(lots);
}

/* Lots, or rates, that make i + 1 steps of an epoch: with the steps fixed a larger one is
 * never more private, but with one step less it may be. */
static bool sgd_stretch(const double *v, const struct dp_privacy_key *k, size_t i, double *lo,
			double *hi)
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
	if (dp_privacy_key_whole(&dp__dp_sgd, v, k)) {
		*lo = ceil(*lo);
		*hi = floor(*hi);
	}
	return true;
}

/* The share of the records that a lot has. */
static double sgd_rate(const double *v)
{
	return isnan(v[SAMPLE_RATE]) ? v[LOT] / v[RECORDS] : v[SAMPLE_RATE];
}

/* A lot that is drawn without replacement has so many records and no fewer. */
static bool sgd_whole(const double *v, const struct dp_privacy_key *k)
{
	return k == &keys[LOT] && v[SAMPLING] == WITHOUT_REPLACEMENT;
}

static int sgd_check(const double *v, struct dp_err *err)
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

static int sgd_part(const double *v, struct dp_privacy_part *part, struct dp_err *err)
{
	bool poisson = v[SAMPLING] == POISSON;
	int code = sgd_check(v, err);

	if (code != DP_OK)
		return code;
	*part = (struct dp_privacy_part){
		.kind = poisson ? &dp__part_poisson : &dp__part_wor,
		.q = sgd_rate(v),
		.mu = 1 / sgd_multiplier(v),
		.count = sgd_count_steps(v),
		.tight = v[BOUND] == TIGHT,
		.relation = poisson ? DP__ADD_OR_REMOVE : DP__REPLACE_ONE,
		.group = v[GROUP],
	};
	if (v[GROUP] > 1)
		dp__part_of_group(part, v[RECORDS], v[LOT]);
	return DP_OK;
}

struct accounted {
	struct dp_privacy_part part;
	struct dp__wor *wor;
};

/* Not the part's own cgf(): what publications compute is wanted here, no tighter. */
static double sgd_cgf(void *ctx, double order)
{
	const struct accounted *a = ctx;
	struct dp__poisson p = { a->part.q, 1 / a->part.mu };

	return a->part.count * (a->part.kind == &dp__part_poisson
					? dp__poisson_cgf(&p, order)
					: dp__wor_cgf(a->wor, a->part.q, order));
}

/* Without sampling: never less private than with it. */
static double unsampled_cgf(void *ctx, double order)
{
	const struct accounted *a = ctx;

	return 0.5 * a->part.count * order * (order - 1) * a->part.mu * a->part.mu;
}

static int sgd_by_renyi(struct dp_privacy_memory *memory, const double *v,
			const struct dp_privacy_part *part, struct dp_epsilon *out,
			struct dp_err *err)
{
	bool poisson = part->kind == &dp__part_poisson;
	struct accounted a = { *part, memory->wor };
	struct dp__curve curve = { sgd_cgf, &a, poisson };
	enum dp_privacy_conversion conversion = (enum dp_privacy_conversion)v[CONVERSION];
	double epsilon, order;

	if (!isnan(v[ORDERS]))
		curve.real = v[ORDERS] != 0;
	if (!poisson && !dp__wor_set(a.wor, 1 / part->mu, part->tight))
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
	out->epsilon = dp__curve_epsilon(&curve, conversion, log(v[DELTA]), &out->order);
	if (!poisson && part->q > 0.01) {
		curve.cgf = unsampled_cgf;
		epsilon = dp__curve_epsilon(&curve, conversion, log(v[DELTA]), &order);
		if (epsilon < out->epsilon) {
			out->epsilon = epsilon;
			out->order = order;
			out->theorem = "Mironov 2017, Proposition 7: Gaussian noise on "
				       "all records, which sampling cannot make worse";
		}
	}
	out->error = 0;
	out->error_proved = true;
	if (!poisson && !dp__wor_whole(a.wor))
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	return DP_OK;
}

static double sgd_part_cgf(void *ctx, double order)
{
	const struct accounted *a = ctx;

	return a->part.count * a->part.kind->cgf(&a->part, a->wor, order);
}

/* The least that Renyi curves give, whatever publications computed. */
static int sgd_by_best_renyi(struct dp_privacy_memory *memory, const double *v,
			     const struct dp_privacy_part *part, struct dp_epsilon *out,
			     struct dp_err *err)
{
	struct accounted a = { *part, memory->wor };
	struct dp__curve curve = { sgd_part_cgf, &a, true };

	if (part->kind->set && !part->kind->set(part, a.wor))
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	*out = (struct dp_epsilon){
		.delta = v[DELTA],
		.accountant = dp_privacy_accountants[DP_PRIVACY_RDP],
		.error_proved = true,
	};
	out->epsilon = dp__curve_epsilon(&curve, DP_PRIVACY_IMPROVED, log(v[DELTA]), &out->order);
	if (part->kind == &dp__part_wor &&
	    part->kind->cgf(part, a.wor, out->order) < dp__wor_cgf(a.wor, part->q, out->order))
		out->theorem = "joint convexity of f-divergences, Csiszar and Shields "
			       "2004, Lemma 4.1, over the lots with and without the "
			       "record";
	if (part->group > 1 && part->q < 1 &&
	    part->kind->cgf(part, a.wor, out->order) >= dp__group_convex_cgf(part, out->order))
		out->theorem = "joint convexity of f-divergences, Csiszar and Shields "
			       "2004, Lemma 4.1, over the number of the person's records "
			       "in a lot";
	if (!dp__wor_whole(a.wor))
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	return DP_OK;
}

/* Where the budget of cells is too small for a tight grid, or no grid holds the losses,
 * the other accountant has the better bound. */
static int sgd_by_loss(struct dp_privacy_memory *memory, const double *v,
		       const struct dp_privacy_part *part, struct dp_epsilon *out,
		       struct dp_err *err)
{
	struct dp__loss_answer answer = { 0 };
	int code = sgd_by_best_renyi(memory, v, part, out, err);

	if (code != DP_OK || !dp__grid_holds(part->mu * part->mu, part->count))
		return code;
	code = dp__loss_epsilon(memory->loss, part, 1, v[DELTA], &answer, err);
	if (code == DP_OK && answer.epsilon <= out->epsilon)
		*out = dp__loss_worded(&answer, v[DELTA]);
	return code;
}

static int sgd_prepared(struct dp_privacy_memory *memory, const double *v, struct dp_epsilon *out,
			struct dp_err *err)
{
	struct dp_epsilon e = { .delta = v[DELTA], .order = NAN };
	struct dp_privacy_part part;
	double mu2;
	int code = sgd_part(v, &part, err);

	if (code != DP_OK)
		return code;
	mu2 = part.mu * part.mu;
	if (!(mu2 * part.count < DP__NO_NOISE)) {
		e.epsilon = INFINITY;
		e.accountant = dp_privacy_accountants[(int)v[ACCOUNTANT]];
		e.error_proved = true;
	} else if (v[ACCOUNTANT] == DP_PRIVACY_PLD) {
		code = sgd_by_loss(memory, v, &part, &e, err);
	} else if (v[GROUP] > 1) { /* nothing that publications computed */
		code = sgd_by_best_renyi(memory, v, &part, &e, err);
	} else {
		code = sgd_by_renyi(memory, v, &part, &e, err);
	}
	if (code == DP_OK)
		*out = e;
	return code;
}

static int sgd_epsilon(const double *v, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_privacy_memory memory;
	int code;

	if (!dp__memory_open(&memory))
		code = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	else
		code = sgd_prepared(&memory, v, out, err);
	dp__memory_close(&memory);
	return code;
}

static enum dp_privacy_cost sgd_cost(const double *v)
{
	return v[ACCOUNTANT] == DP_PRIVACY_PLD || v[GROUP] > 1 ? DP_PRIVACY_COSTLY
							       : DP_PRIVACY_PREPARED;
}

/* ---- what a trainer is told and declares ---- */

static void sgd_resolve(double *v)
{
	v[STEPS] = sgd_count_steps(v);
	v[EPOCHS] = NAN;
	v[NOISE_MULTIPLIER] = sgd_multiplier(v);
	v[NOISE_VARIANCE] = NAN;
	if (isnan(v[ORDERS]))
		v[ORDERS] = v[SAMPLING] == POISSON;
}

static int sgd_contradicts(struct dp_err *err, const char *what, double said, double ours)
{
	dp_fail(err, DP_E_INVALID,
		"the trainer declares %s %.10g, the study's mechanism "
		"says %.10g",
		what, said, ours);
	dp_hint(err, "epsilon would be wrong; make the trainer and the study agree");
	return DP_E_INVALID;
}

/* A mean lot is a rate times the records in most trainers, and rounded on its way; a lot
 * without replacement is counted. */
static bool sgd_other_lot(const double *v, double lot)
{
	return v[SAMPLING] == POISSON ? !(fabs(lot / v[LOT] - 1) < 1e-6) : lot != v[LOT];
}

static int sgd_declared(const double *v, const struct dp_privacy_declared *d, char *warning,
			struct dp_err *err)
{
	const char *ours = samplings[(int)v[SAMPLING]];
	/* noise relative to 2L is twice that relative to L */
	double noise = sgd_multiplier(v) * (v[SAMPLING] == POISSON ? 1 : 2);

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
		return sgd_contradicts(err, "records", d->records, v[RECORDS]);
	if (!isnan(d->lot) && !isnan(v[LOT]) && sgd_other_lot(v, d->lot))
		return sgd_contradicts(err, "lot", d->lot, v[LOT]);
	if (fabs(d->lot / d->records / sgd_rate(v) - 1) > 1e-6)
		return sgd_contradicts(err, "lot / records", d->lot / d->records, sgd_rate(v));
	if (!isnan(d->steps) && d->steps != sgd_count_steps(v))
		return sgd_contradicts(err, "steps", d->steps, sgd_count_steps(v));
	if (!isnan(d->noise_over_clip) && !(fabs(d->noise_over_clip / noise - 1) < 1e-6))
		return sgd_contradicts(err, "noise_over_clip", d->noise_over_clip, noise);
	return DP_OK;
}

/* ---- words ---- */

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

static void sgd_words_poisson(struct dp_privacy_words *out)
{
	out->relation = "add or remove one: two datasets are neighbours when one of them "
			"has one record more";
	out->measure = "The noise multiplier is the standard deviation of the noise over "
		       "L, the most that adding one record moves a sum of gradients "
		       "clipped to L. Relative to 2L, as replace-one counts it, the same "
		       "noise is half that number.";
}

static void sgd_words_wor(struct dp_privacy_words *out)
{
	out->relation = "replace-one: two datasets of the same size are neighbours when "
			"one record differs";
	out->measure = "The noise multiplier is the standard deviation of the noise over "
		       "2L, the most that replacing one record moves a sum of gradients "
		       "clipped to L. Relative to L, as Poisson sampling counts it, the "
		       "same noise is twice that number.";
}

static void sgd_words_lots(const double *v, struct dp_privacy_words *out)
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

static void sgd_words(const double *v, struct dp_privacy_words *out)
{
	bool poisson = v[SAMPLING] == POISSON;
	double noise = sgd_multiplier(v);

	if (isnan(v[SAMPLING]))
		return;
	(poisson ? sgd_words_poisson : sgd_words_wor)(out);
	if (v[GROUP] > 1)
		out->relation = poisson ? "add or remove a person: two datasets are "
					  "neighbours when one of them has all records of "
					  "one person more, up to 'group'"
					: "replace a person: two datasets of the same "
					  "size are neighbours when the records of one "
					  "person differ, up to 'group'";
	out->theorem = sgd_theorem(v);
	out->sampling = samplings[(int)v[SAMPLING]];
	sgd_words_lots(v, out);
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
	.prepared = sgd_prepared,
	.cost = sgd_cost,
	.part = sgd_part,
	.whole = sgd_whole,
	.stretch = sgd_stretch,
	.resolve = sgd_resolve,
	.declared = sgd_declared,
	.words = sgd_words,
};
