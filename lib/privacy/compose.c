/* compose.c - several mechanisms on the same data.
 *
 * Renyi divergences add up (Mironov 2017, Proposition 1); privacy losses of dominating
 * pairs convolve (Zhu, Dong and Wang 2022, Theorem 10); pure epsilons add up (Dwork et
 * al. 2006). All three hold for mechanisms chosen adaptively. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mix {
	const struct dp_privacy_item *items; /* (n) */
	struct dp_privacy_part *parts;       /* (n) */
	struct dp__wor **tables;             /* (n) for parts that need them */
	size_t n;
	struct dp__work *work; /* NULL: not counted */
};

static double part_cgf(const struct dp_privacy_part *p, struct dp__wor *tables, double order)
{
	return p->count * p->kind->cgf(p, tables, order);
}

static double mix_cgf(void *ctx, double order)
{
	const struct mix *m = ctx;
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += part_cgf(&m->parts[i], m->tables[i], order);
	return sum;
}

/* ---- many parts ----
 *
 * The tables of ten thousand parts would take a hundred megabytes, so their curves are
 * added up one after the other at fixed orders, a few orders at a time and only as far
 * as the search goes. Between two orders the chord is used: K is convex, so that it
 * bounds the sum from above. */

enum {
	BELOW_TWO = 30, /* orders 1 + 2^-30 ... 1 + 2^-1 */
	EVERY = 24,     /* then 2, 3, ... 24 */
	ABOVE = 52,     /* then each larger by a tenth: up to about 3,000 */
	BLOCK = 10,     /* so many are added up together */
	TABLE = BELOW_TWO + EVERY - 1 + ABOVE
};

struct summed {
	const struct mix *mix;
	struct dp__wor *tables;          /* of the part that is being added */
	double order[TABLE], sum[TABLE]; /* NaN: not asked for yet */
	bool no_memory;
};

/* Fills the block that holds place i; without memory by what is no answer. */
static void fill_block(struct summed *t, size_t i)
{
	size_t from = i - i % BLOCK;
	size_t to = from + BLOCK < TABLE ? from + BLOCK : TABLE;

	for (size_t k = from; k < to; k++)
		t->sum[k] = 0;
	for (size_t j = 0; j < t->mix->n; j++) {
		const struct dp_privacy_part *p = &t->mix->parts[j];
		bool ok = !p->kind->set || p->kind->set(p, t->tables);

		t->no_memory |= !ok;
		for (size_t k = from; k < to; k++)
			t->sum[k] += ok ? part_cgf(p, t->tables, t->order[k]) : INFINITY;
	}
}

static double summed_at(struct summed *t, size_t i)
{
	if (isnan(t->sum[i]))
		fill_block(t, i);
	return t->sum[i];
}

static double summed_cgf(void *ctx, double order)
{
	struct summed *t = ctx;
	size_t i = 0;
	double lo, part;

	while (i < TABLE && t->order[i] < order)
		i++;
	if (i == TABLE)
		return INFINITY;
	if (t->order[i] == order)
		return summed_at(t, i);
	lo = i ? t->order[i - 1] : 1;
	part = (order - lo) / (t->order[i] - lo);
	return part * summed_at(t, i) + (i ? (1 - part) * summed_at(t, i - 1) : 0); /* K(1) = 0 */
}

static void summed_init(struct summed *t, const struct mix *mix)
{
	t->mix = mix;
	for (int i = 0; i < TABLE; i++) {
		t->order[i] = i < BELOW_TWO               ? 1 + ldexp(1, i - BELOW_TWO)
			      : i < BELOW_TWO + EVERY - 1 ? i - BELOW_TWO + 2
							  : ceil(1.1 * t->order[i - 1]);
		t->sum[i] = NAN;
	}
}

/* ---- from items to parts ---- */

/* Nothing is added up that does not say how. */
static int check_part(const struct dp_mechanism *m, const struct dp_privacy_part *p,
		      struct dp_err *err)
{
	if (p->kind && p->relation != DP__RELATION_UNSAID)
		return DP_OK;
	dp_fail(err, DP_E_INVALID, "no way to compose mechanism %s is known", m->name);
	dp_hint(err, "its epsilon holds for one use; report it separately");
	return DP_E_INVALID;
}

static int add_item(struct mix *mix, const struct dp_privacy_item *item, double delta,
		    struct dp_err *err)
{
	const struct dp_mechanism *m = item->mechanism;
	struct dp_privacy_part *p = &mix->parts[mix->n];
	double v[DP_PRIVACY_KEYS_MAX], full[DP_PRIVACY_KEYS_MAX];
	int code;

	if (!(item->times >= 1) || item->times != floor(item->times))
		return dp_fail(err, DP_E_INVALID, "'times' of %s must be a whole number, 1 or more",
			       m->name);
	memcpy(v, item->values, m->nkeys * sizeof *v);
	if (m->delta)
		v[dp_privacy_key_place(m, m->delta)] = m->delta->needed ? fmax(delta, 1e-300) : NAN;
	code = dp_privacy_check(m, v, full, err);
	if (code == DP_OK && m->part)
		code = m->part(full, p, err);
	if (code == DP_OK)
		code = check_part(m, p, err);
	p->count *= item->times;
	mix->n++;
	return code;
}

/* Numbers under different relations must not be added. */
static int check_relations(const struct mix *mix, struct dp_err *err)
{
	const char *replace = NULL, *add = NULL;

	for (size_t i = 0; i < mix->n; i++) {
		if (mix->parts[i].relation == DP__ADD_OR_REMOVE)
			add = mix->items[i].mechanism->name;
		if (mix->parts[i].relation == DP__REPLACE_ONE)
			replace = mix->items[i].mechanism->name;
	}
	if (!replace || !add)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"%s (add or remove one record) and %s (replace one record) hold for "
		"different neighbouring relations",
		add, replace);
	dp_hint(err, "state both under the same relation, or report them separately");
	return DP_E_INVALID;
}

/* Nor may numbers for a person with several records and for one record. */
static int check_groups(const struct mix *mix, struct dp_err *err)
{
	double first = fmax(mix->n ? mix->parts[0].group : 1, 1);

	for (size_t i = 1; i < mix->n; i++) {
		if (fmax(mix->parts[i].group, 1) == first)
			continue;
		dp_fail(err, DP_E_INVALID,
			"%s holds for groups of %.0f and %s for groups of %.0f records",
			mix->items[0].mechanism->name, first, mix->items[i].mechanism->name,
			fmax(mix->parts[i].group, 1));
		return dp_hint(err, "give all of them the same 'group'");
	}
	return DP_OK;
}

/* Scores that one record moves all up, or all down, when it is added or removed:
 * replacing it is both, and the losses of both together lie in a range of twice the
 * width. */
static void double_one_way(struct mix *mix)
{
	bool replace = false;

	for (size_t i = 0; i < mix->n; i++)
		replace |= mix->parts[i].relation == DP__REPLACE_ONE;
	for (size_t i = 0; replace && i < mix->n; i++)
		if (mix->parts[i].one_way)
			mix->parts[i].mu *= 2;
}

int dp__parts(const struct dp_privacy_item *items, size_t n, double delta,
	      struct dp_privacy_part *parts, struct dp_err *err)
{
	struct mix mix = { .items = items, .parts = parts };
	int code = DP_OK;

	memset(parts, 0, n * sizeof *parts);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		code = add_item(&mix, &items[i], delta, err);
	if (code == DP_OK)
		code = check_relations(&mix, err);
	double_one_way(&mix);
	return code == DP_OK ? check_groups(&mix, err) : code;
}

/* ---- Gaussian noise on all records ----
 *
 * The composition of such mechanisms is one of them, exactly, whose mu^2 is the sum of
 * theirs (Dong, Roth and Su 2022, Corollary 3.3), so no accountant needs to add them up.
 */

static bool plain_gaussian(const struct dp_privacy_part *p)
{
	return p->q >= 1 && (p->kind == &dp__part_wor || p->kind == &dp__part_poisson);
}

/* All of them become the first of them; its mu is rounded up. */
static void merge_gaussians(struct mix *mix)
{
	struct dp_privacy_part *first = NULL;
	double square = 0;
	size_t kept = 0, merged = 0;

	for (size_t i = 0; i < mix->n; i++) {
		struct dp_privacy_part *p = &mix->parts[i];

		if (!plain_gaussian(p)) {
			mix->parts[kept++] = *p;
			continue;
		}
		square += p->count * p->mu * p->mu;
		if (merged++ == 0) {
			mix->parts[kept] = *p;
			first = &mix->parts[kept++];
		}
	}
	mix->n = kept;
	if (merged < 2 && !(first && first->count > 1))
		return;
	first->mu = sqrt(square) * (1 + DBL_EPSILON * (4 + (double)merged));
	first->count = 1;
}

/* Is one Gaussian mechanism all there is? Then this is its epsilon. */
static bool exact_gaussian(const struct mix *mix, double delta, struct dp_epsilon *out)
{
	if (mix->n != 1 || !plain_gaussian(&mix->parts[0]))
		return false;
	out->epsilon = dp__gaussian_epsilon(mix->parts[0].mu, log(delta));
	out->accountant = "closed-form";
	return true;
}

static int prepare_curves(struct mix *mix, struct dp_err *err)
{
	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_privacy_part *p = &mix->parts[i];

		if (!p->kind->set && !mix->work)
			continue;
		mix->tables[i] = dp__wor_new();
		if (!mix->tables[i] || (p->kind->set && !p->kind->set(p, mix->tables[i])))
			return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	}
	return DP_OK;
}

/* The tables that loss distributions of some kinds are read from. */
static int open_tables(struct mix *mix, struct dp_err *err)
{
	for (size_t i = 0; i < mix->n; i++)
		if (mix->parts[i].kind->open && !mix->parts[i].kind->open(&mix->parts[i]))
			return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	return DP_OK;
}

/* delta = 0: only sums of pure epsilons. */
static int pure_sum(const struct mix *mix, struct dp_epsilon *out, struct dp_err *err)
{
	long double sum = 0; /* then rounded up */

	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_privacy_part *p = &mix->parts[i];

		if (!p->kind->pure)
			return dp_fail(err, DP_E_INVALID,
				       "'delta' must be above 0: %s is never purely "
				       "private",
				       mix->items[i].mechanism->name);
		sum += (long double)p->count * p->kind->most(p, DP__REMOVE);
	}
	out->epsilon = (double)sum;
	if (out->epsilon < sum)
		out->epsilon = nextafter(out->epsilon, INFINITY);
	out->accountant = "closed-form";
	return DP_OK;
}

/* Basic composition (Dwork et al. 2006): a part of which epsilon at delta is known
 * exactly, most often the Gaussian that all of them were merged into, and pure epsilons
 * of the others. With small pure parts less than accountants give, since these do not
 * reach the exact epsilon of a Gaussian. */
static bool basic_sum(const struct mix *mix, double delta, struct dp_epsilon *out)
{
	const struct dp_privacy_part *other = NULL;
	long double sum = 0; /* then rounded up */
	double exact = 0;

	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_privacy_part *p = &mix->parts[i];

		if (p->kind->pure)
			sum += (long double)p->count * p->kind->most(p, DP__REMOVE);
		else if (other)
			return false;
		else
			other = p;
	}
	if (other)
		exact = other->kind->alone(other, delta);
	if (isnan(exact))
		return false;
	out->error = (double)sum; /* without the pure parts it is exact */
	sum += exact;
	out->epsilon = (double)sum;
	if (out->epsilon < sum || (other && sum > exact))
		out->epsilon = nextafter(out->epsilon, INFINITY);
	out->accountant = "closed-form";
	out->theorem = "basic composition, Dwork et al. 2006, of an exact epsilon and "
		       "pure ones";
	return true;
}

/* What was done for the curves of the parts. */
static void count_renyi(const struct mix *mix, const struct dp__wor *tables)
{
	if (!mix->work)
		return;
	mix->work->done += dp__wor_work(tables);
	for (size_t i = 0; i < mix->n; i++)
		mix->work->done += dp__wor_work(mix->tables[i]);
}

static int mix_by_renyi(struct mix *mix, double delta, struct dp_epsilon *out, struct dp_err *err)
{
	struct summed table = { .tables = dp__wor_new() };
	struct dp__curve curve = { summed_cgf, &table, true };
	int code = DP_OK;

	if (!table.tables)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	summed_init(&table, mix);
	if (mix->n <= DP_PRIVACY_ITEMS_MAX) {
		code = prepare_curves(mix, err);
		curve = (struct dp__curve){ mix_cgf, mix, true };
	}
	if (code == DP_OK) {
		out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
		out->epsilon =
			dp__curve_epsilon(&curve, DP_PRIVACY_IMPROVED, log(delta), &out->order);
	}
	for (size_t i = 0; i < mix->n && code == DP_OK; i++)
		if (mix->tables[i] && !dp__wor_whole(mix->tables[i]))
			code = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	if (code == DP_OK && (!dp__wor_whole(table.tables) || table.no_memory))
		code = dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	count_renyi(mix, table.tables);
	dp__wor_free(table.tables);
	return code;
}

static bool has_noise(const struct mix *mix)
{
	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_privacy_part *p = &mix->parts[i];

		if (!(p->kind->size(p) * p->count < DP__NO_NOISE))
			return false;
	}
	return true;
}

static bool grid_holds(const struct mix *mix)
{
	for (size_t i = 0; i < mix->n; i++) {
		const struct dp_privacy_part *p = &mix->parts[i];

		if (!dp__grid_holds(p->kind->size(p), p->count))
			return false;
	}
	return true;
}

/* *out holds the bound by Renyi curves: with the budget of cells spent or losses that
 * no grid holds well it may be the lesser. */
static int mix_by_loss(const struct mix *mix, double delta, struct dp_epsilon *out,
		       struct dp_err *err)
{
	struct dp__loss *loss = dp__loss_new();
	struct dp__loss_answer answer = { 0 };
	int code;

	if (loss && mix->work)
		dp__loss_limit(loss, mix->work->share);
	code = loss ? dp__loss_epsilon(loss, mix->parts, mix->n, delta, &answer, err)
		    : dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	if (loss && mix->work) {
		mix->work->done += dp__loss_work(loss);
		mix->work->limited |= dp__loss_limited(loss);
	}
	dp__loss_free(loss);
	if (code == DP_OK && answer.epsilon <= out->epsilon)
		*out = dp__loss_worded(&answer, delta);
	return code;
}

static int mix_account(struct mix *mix, double delta, bool pld, struct dp_epsilon *out,
		       struct dp_err *err)
{
	struct dp_epsilon plain = *out, basic = *out;
	int code;

	if (delta == 0)
		return pure_sum(mix, out, err);
	if (!has_noise(mix)) {
		out->epsilon = INFINITY;
		out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
		return DP_OK;
	}
	if (exact_gaussian(mix, delta, out))
		return DP_OK;
	code = mix_by_renyi(mix, delta, out, err);
	if (code == DP_OK && pld && grid_holds(mix))
		code = mix_by_loss(mix, delta, out, err);
	/* a grid may miss losses that come in few sizes; plain sums need none */
	if (code == DP_OK && pld && pure_sum(mix, &plain, NULL) == DP_OK &&
	    plain.epsilon < out->epsilon)
		*out = plain;
	if (code == DP_OK && basic_sum(mix, delta, &basic) && basic.epsilon < out->epsilon)
		*out = basic;
	return code;
}

static void mix_free(struct mix *mix)
{
	for (size_t i = 0; mix->tables && i < mix->n; i++) {
		dp__wor_free(mix->tables[i]);
		if (mix->parts[i].table)
			mix->parts[i].kind->close(&mix->parts[i]);
	}
	free(mix->parts);
	free(mix->tables);
}

/* The parts of all items, which may be added up; free the mix in either case. */
static int mix_open(struct mix *mix, size_t n, double delta, struct dp_err *err)
{
	if (n == 0)
		return dp_fail(err, DP_E_INVALID, "a composition of nothing");
	if (!(delta >= 0 && delta < 1))
		return dp_fail(err, DP_E_INVALID, "'delta' must be within [0, 1)");
	mix->parts = calloc(n, sizeof *mix->parts);
	mix->tables = calloc(n, sizeof *mix->tables);
	if (!mix->parts || !mix->tables)
		return dp_fail(err, DP_E_NOMEM, "no memory for the privacy accountant");
	mix->n = n;
	return dp__parts(mix->items, n, delta, mix->parts, err);
}

int dp_privacy_composes(const struct dp_privacy_item *items, size_t n, double delta,
			struct dp_err *err)
{
	struct dp_epsilon plain;
	struct mix mix = { .items = items };
	int code = mix_open(&mix, n, delta, err);

	if (code == DP_OK && delta == 0)
		code = pure_sum(&mix, &plain, err);
	mix_free(&mix);
	return code;
}

static int check_number(const struct mix *mix, double delta, struct dp_err *err)
{
	if (delta == 0 || mix->n <= DP_PRIVACY_ITEMS_MAX)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"loss distributions of at most %d mechanisms are convolved, not %zu",
		DP_PRIVACY_ITEMS_MAX, mix->n);
	dp_hint(err, "accountant rdp adds up any number of them");
	return DP_E_INVALID;
}

int dp_privacy_compose(const struct dp_privacy_item *items, size_t n, double delta, bool pld,
		       struct dp_epsilon *out, struct dp_err *err)
{
	return dp__compose(items, n, delta, pld, NULL, out, err);
}

int dp__compose(const struct dp_privacy_item *items, size_t n, double delta, bool pld,
		struct dp__work *work, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = { .delta = delta, .order = NAN, .error_proved = true };
	struct mix mix = { .items = items, .work = work };
	int code;

	code = mix_open(&mix, n, delta, err);
	if (code == DP_OK && delta > 0)
		merge_gaussians(&mix);
	if (code == DP_OK && pld)
		code = check_number(&mix, delta, err);
	if (code == DP_OK && pld)
		code = open_tables(&mix, err);
	if (code == DP_OK)
		code = mix_account(&mix, delta, pld, &e, err);
	if (code == DP_OK)
		*out = e;
	mix_free(&mix);
	return code;
}
