/* compose.c - composition of several mechanisms on the same data.
 *
 * Renyi divergences add up (Mironov 2017, Proposition 1); privacy losses of dominating pairs
 * convolve (Zhu, Dong and Wang 2022, Theorem 10); pure epsilons add up (Dwork et al. 2006). All
 * three hold for adaptively chosen mechanisms. */
#include "privacy/privacy_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct composition {
	const struct dp_composition_item *items; /* (n) */
	struct dp_privacy_component *components; /* (n) */
	struct dp__rdp_wor **tables;             /* (n); NULL where not needed */
	size_t n;
	struct dp__work *work; /* NULL: not counted */
};

static double component_total_cgf(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
				  double order)
{
	return p->count * p->kind->cgf(p, tables, order);
}

static double composition_cgf(void *ctx, double order)
{
	const struct composition *m = ctx;
	double sum = 0;

	for (size_t i = 0; i < m->n; i++)
		sum += component_total_cgf(&m->components[i], m->tables[i], order);
	return sum;
}

/* ---- many components ----
 *
 * Tables of ten thousand components would take a hundred megabytes. So their curves are added one
 * after the other at fixed orders, a few orders at a time and only as far as the search needs.
 * Between two orders the chord is used: K is convex, so the chord bounds the sum from above. */

enum {
	BELOW_TWO = 30,        /* orders 1 + 2^-30 ... 1 + 2^-1 */
	INTEGER_ORDERS = 24,   /* then 2, 3, ... 24 */
	GEOMETRIC_ORDERS = 52, /* then each a tenth larger, to about 3,000 */
	BLOCK = 10,            /* orders added together */
	CGF_ORDERS = BELOW_TWO + INTEGER_ORDERS - 1 + GEOMETRIC_ORDERS
};

struct cgf_table {
	const struct composition *composition;
	struct dp__rdp_wor *tables;                /* of the component being added */
	double order[CGF_ORDERS], sum[CGF_ORDERS]; /* NaN: not computed yet */
};

static void cgf_table_fill_block(struct cgf_table *t, size_t i)
{
	size_t from = i - i % BLOCK;
	size_t to = from + BLOCK < CGF_ORDERS ? from + BLOCK : CGF_ORDERS;

	for (size_t k = from; k < to; k++)
		t->sum[k] = 0;
	for (size_t j = 0; j < t->composition->n; j++) {
		const struct dp_privacy_component *p = &t->composition->components[j];

		if (p->kind->prepare_tables)
			p->kind->prepare_tables(p, t->tables);
		for (size_t k = from; k < to; k++)
			t->sum[k] += component_total_cgf(p, t->tables, t->order[k]);
	}
}

static double cgf_table_at(struct cgf_table *t, size_t i)
{
	if (isnan(t->sum[i]))
		cgf_table_fill_block(t, i);
	return t->sum[i];
}

static double cgf_table_interpolate(void *ctx, double order)
{
	struct cgf_table *t = ctx;
	size_t i = 0;
	double lo, part;

	while (i < CGF_ORDERS && t->order[i] < order)
		i++;
	if (i == CGF_ORDERS)
		return INFINITY;
	if (t->order[i] == order)
		return cgf_table_at(t, i);
	lo = i ? t->order[i - 1] : 1;
	part = (order - lo) / (t->order[i] - lo);
	return part * cgf_table_at(t, i) +
	       (i ? (1 - part) * cgf_table_at(t, i - 1) : 0); /* K(1) = 0 */
}

static void cgf_table_init(struct cgf_table *t, const struct composition *composition)
{
	t->composition = composition;
	for (int i = 0; i < CGF_ORDERS; i++) {
		t->order[i] = i < BELOW_TWO                        ? 1 + ldexp(1, i - BELOW_TWO)
			      : i < BELOW_TWO + INTEGER_ORDERS - 1 ? i - BELOW_TWO + 2
								   : ceil(1.1 * t->order[i - 1]);
		t->sum[i] = NAN;
	}
}

/* ---- from items to components ---- */

static int check_component_composable(const struct dp_mechanism *m,
				      const struct dp_privacy_component *p, struct dp_err *err)
{
	if (p->kind && p->relation != DP__RELATION_UNKNOWN)
		return DP_OK;
	dp_fail(err, DP_E_INVALID, "no way to compose mechanism %s is known", m->name);
	dp_hint(err, "its epsilon holds for one use; report it separately");
	return DP_E_INVALID;
}

static int composition_add_item(struct composition *composition,
				const struct dp_composition_item *item, double delta,
				struct dp_err *err)
{
	const struct dp_mechanism *m = item->mechanism;
	struct dp_privacy_component *p = &composition->components[composition->n];
	double v[DP_PRIVACY_KEYS_MAX], full[DP_PRIVACY_KEYS_MAX];
	int code;

	if (!(item->times >= 1) || item->times != floor(item->times))
		return dp_fail(err, DP_E_INVALID, "'times' of %s must be a whole number, 1 or more",
			       m->name);
	memcpy(v, item->values, m->nkeys * sizeof *v);
	if (m->delta)
		v[dp_privacy_key_index(m, m->delta)] =
			m->delta->required ? fmax(delta, 1e-300) : NAN;
	code = dp_privacy_check_values(m, v, full, err);
	if (code == DP_OK && m->component)
		code = m->component(full, p, err);
	if (code == DP_OK)
		code = check_component_composable(m, p, err);
	p->count *= item->times;
	composition->n++;
	return code;
}

/* Epsilons under different neighbouring relations must not be added. */
static int check_same_relation(const struct composition *composition, struct dp_err *err)
{
	const char *replace = NULL, *add = NULL;

	for (size_t i = 0; i < composition->n; i++) {
		if (composition->components[i].relation == DP__RELATION_ADD_REMOVE)
			add = composition->items[i].mechanism->name;
		if (composition->components[i].relation == DP__RELATION_REPLACE_ONE)
			replace = composition->items[i].mechanism->name;
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

/* Nor must epsilons for different group sizes. */
static int check_group_sizes(const struct composition *composition, struct dp_err *err)
{
	double first = fmax(composition->n ? composition->components[0].group_size : 1, 1);

	for (size_t i = 1; i < composition->n; i++) {
		if (fmax(composition->components[i].group_size, 1) == first)
			continue;
		dp_fail(err, DP_E_INVALID,
			"%s holds for groups of %.0f and %s for groups of %.0f records",
			composition->items[0].mechanism->name, first,
			composition->items[i].mechanism->name,
			fmax(composition->components[i].group_size, 1));
		return dp_hint(err, "give all of them the same 'group'");
	}
	return DP_OK;
}

/* Adding or removing a record moves all scores up, or all down. Replacing it does both, and the
 * losses of both together lie in a range of twice the width. */
static void double_for_replace_one(struct composition *composition)
{
	bool replace = false;

	for (size_t i = 0; i < composition->n; i++)
		replace |= composition->components[i].relation == DP__RELATION_REPLACE_ONE;
	for (size_t i = 0; replace && i < composition->n; i++)
		if (composition->components[i].doubles_on_replace)
			composition->components[i].mu *= 2;
}

int dp__components_from_items(const struct dp_composition_item *items, size_t n, double delta,
			      struct dp_privacy_component *components, struct dp_err *err)
{
	struct composition composition = { .items = items, .components = components };
	int code = DP_OK;

	memset(components, 0, n * sizeof *components);
	for (size_t i = 0; code == DP_OK && i < n; i++)
		code = composition_add_item(&composition, &items[i], delta, err);
	if (code == DP_OK)
		code = check_same_relation(&composition, err);
	double_for_replace_one(&composition);
	return code == DP_OK ? check_group_sizes(&composition, err) : code;
}

/* ---- Gaussian noise on all records ----
 *
 * Such mechanisms compose exactly to one of them, whose mu^2 is the sum of theirs (Dong, Roth and
 * Su 2022, Corollary 3.3). No accountant needs to add them up. */

static bool is_plain_gaussian(const struct dp_privacy_component *p)
{
	return p->q >= 1 && (p->kind == &dp__component_wor || p->kind == &dp__component_poisson);
}

/* Merges all of them into the first, with its mu rounded up. */
static void composition_merge_gaussians(struct composition *composition)
{
	struct dp_privacy_component *first = NULL;
	double square = 0;
	size_t kept = 0, merged = 0;

	for (size_t i = 0; i < composition->n; i++) {
		struct dp_privacy_component *p = &composition->components[i];

		if (!is_plain_gaussian(p)) {
			composition->components[kept++] = *p;
			continue;
		}
		square += p->count * p->mu * p->mu;
		if (merged++ == 0) {
			composition->components[kept] = *p;
			first = &composition->components[kept++];
		}
	}
	composition->n = kept;
	if (merged < 2 && !(first && first->count > 1))
		return;
	first->mu = sqrt(square) * (1 + DBL_EPSILON * (4 + (double)merged));
	first->count = 1;
}

/* Epsilon if one Gaussian mechanism is all there is. */
static bool composition_exact_gaussian(const struct composition *composition, double delta,
				       struct dp_epsilon *out)
{
	if (composition->n != 1 || !is_plain_gaussian(&composition->components[0]))
		return false;
	out->epsilon = dp__gaussian_epsilon(composition->components[0].mu, log(delta));
	out->accountant = "closed-form";
	return true;
}

static void composition_prepare_rdp(struct composition *composition)
{
	for (size_t i = 0; i < composition->n; i++) {
		const struct dp_privacy_component *p = &composition->components[i];

		if (!p->kind->prepare_tables && !composition->work)
			continue;
		composition->tables[i] = dp__rdp_wor_new();
		if (p->kind->prepare_tables)
			p->kind->prepare_tables(p, composition->tables[i]);
	}
}

static void composition_open_tables(struct composition *composition)
{
	for (size_t i = 0; i < composition->n; i++)
		if (composition->components[i].kind->table_open)
			composition->components[i].kind->table_open(&composition->components[i]);
}

/* delta = 0: only sums of pure epsilons. */
static int composition_sum_pure(const struct composition *composition, struct dp_epsilon *out,
				struct dp_err *err)
{
	long double sum = 0; /* rounded up below */

	for (size_t i = 0; i < composition->n; i++) {
		const struct dp_privacy_component *p = &composition->components[i];

		if (!p->kind->is_pure)
			return dp_fail(err, DP_E_INVALID,
				       "'delta' must be above 0: %s is never purely "
				       "private",
				       composition->items[i].mechanism->name);
		sum += (long double)p->count * p->kind->max_loss(p, DP__DIRECTION_REMOVE);
	}
	out->epsilon = (double)sum;
	if (out->epsilon < sum)
		out->epsilon = nextafter(out->epsilon, INFINITY);
	out->accountant = "closed-form";
	return DP_OK;
}

/* Basic composition (Dwork et al. 2006): one component with exact epsilon at delta, usually the
 * merged Gaussian, plus pure epsilons of the others. With small pure components this beats the
 * accountants, which do not reach a Gaussian's exact epsilon. */
static bool basic_sum(const struct composition *composition, double delta, struct dp_epsilon *out)
{
	const struct dp_privacy_component *other = NULL;
	long double sum = 0; /* rounded up below */
	double exact = 0;

	for (size_t i = 0; i < composition->n; i++) {
		const struct dp_privacy_component *p = &composition->components[i];

		if (p->kind->is_pure)
			sum += (long double)p->count * p->kind->max_loss(p, DP__DIRECTION_REMOVE);
		else if (other)
			return false;
		else
			other = p;
	}
	if (other)
		exact = other->kind->exact_epsilon(other, delta);
	if (isnan(exact))
		return false;
	out->error = (double)sum; /* exact without pure components */
	sum += exact;
	out->epsilon = (double)sum;
	if (out->epsilon < sum || (other && sum > exact))
		out->epsilon = nextafter(out->epsilon, INFINITY);
	out->accountant = "closed-form";
	out->theorem = "basic composition, Dwork et al. 2006, of an exact epsilon and "
		       "pure ones";
	return true;
}

static void composition_rdp_epsilon(struct composition *composition, double delta,
				    struct dp_epsilon *out)
{
	struct cgf_table table = { .tables = dp__rdp_wor_new() };
	struct dp__rdp_curve curve = { cgf_table_interpolate, &table, true };

	cgf_table_init(&table, composition);
	if (composition->n <= DP_PRIVACY_ITEMS_MAX) {
		composition_prepare_rdp(composition);
		curve = (struct dp__rdp_curve){ composition_cgf, composition, true };
	}
	out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
	out->epsilon = dp__rdp_curve_epsilon(&curve, DP_PRIVACY_CONVERSION_IMPROVED, log(delta),
					     &out->order);
	if (composition->work) {
		composition->work->done += dp__wor_work(table.tables);
		for (size_t i = 0; i < composition->n; i++)
			composition->work->done += dp__wor_work(composition->tables[i]);
	}
	dp__rdp_wor_free(table.tables);
}

static bool composition_has_noise(const struct composition *composition)
{
	for (size_t i = 0; i < composition->n; i++) {
		const struct dp_privacy_component *p = &composition->components[i];

		if (!(p->kind->loss_scale(p) * p->count < DP__MU2_MAX))
			return false;
	}
	return true;
}

static bool composition_fits_grid(const struct composition *composition)
{
	for (size_t i = 0; i < composition->n; i++) {
		const struct dp_privacy_component *p = &composition->components[i];

		if (!dp__pld_grid_holds(p->kind->loss_scale(p), p->count))
			return false;
	}
	return true;
}

/* *out holds the Renyi bound, which can beat a grid with few cells or very large losses. */
static void composition_pld_epsilon(const struct composition *composition, double delta,
				    struct dp_epsilon *out)
{
	struct dp__pld *loss = dp__pld_new();
	struct dp__pld_bound answer;

	if (composition->work)
		dp__loss_limit(loss, composition->work->share);
	answer = dp__pld_epsilon(loss, composition->components, composition->n, delta);
	if (composition->work) {
		composition->work->done += dp__loss_work(loss);
		composition->work->limited |= dp__loss_limited(loss);
	}
	dp__pld_free(loss);
	if (answer.epsilon <= out->epsilon)
		*out = dp__pld_bound_to_epsilon(&answer, delta);
}

static int composition_account(struct composition *composition, double delta, bool pld,
			       struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon plain = *out, basic = *out;

	if (delta == 0)
		return composition_sum_pure(composition, out, err);
	if (!composition_has_noise(composition)) {
		out->epsilon = INFINITY;
		out->accountant = dp_privacy_accountants[DP_PRIVACY_RDP];
		return DP_OK;
	}
	if (composition_exact_gaussian(composition, delta, out))
		return DP_OK;
	composition_rdp_epsilon(composition, delta, out);
	if (pld && composition_fits_grid(composition))
		composition_pld_epsilon(composition, delta, out);
	/* a grid may blur losses with few values; plain sums need none */
	if (pld && composition_sum_pure(composition, &plain, NULL) == DP_OK &&
	    plain.epsilon < out->epsilon)
		*out = plain;
	if (basic_sum(composition, delta, &basic) && basic.epsilon < out->epsilon)
		*out = basic;
	return DP_OK;
}

static void composition_free(struct composition *composition)
{
	for (size_t i = 0; composition->tables && i < composition->n; i++) {
		dp__rdp_wor_free(composition->tables[i]);
		if (composition->components[i].table)
			composition->components[i].kind->table_close(&composition->components[i]);
	}
	free(composition->components);
	free(composition->tables);
}

/* The components of all items. Free the composition even on error. */
static int composition_init(struct composition *composition, size_t n, double delta,
			    struct dp_err *err)
{
	if (n == 0)
		return dp_fail(err, DP_E_INVALID, "a composition of nothing");
	if (!(delta >= 0 && delta < 1))
		return dp_fail(err, DP_E_INVALID, "'delta' must be within [0, 1)");
	composition->components = dp_calloc(n, sizeof *composition->components);
	composition->tables = dp_calloc(n, sizeof *composition->tables);
	composition->n = n;
	return dp__components_from_items(composition->items, n, delta, composition->components,
					 err);
}

int dp_privacy_check_composable(const struct dp_composition_item *items, size_t n, double delta,
				struct dp_err *err)
{
	struct dp_epsilon plain;
	struct composition composition = { .items = items };
	int code = composition_init(&composition, n, delta, err);

	if (code == DP_OK && delta == 0)
		code = composition_sum_pure(&composition, &plain, err);
	composition_free(&composition);
	return code;
}

static int check_item_count(const struct composition *composition, double delta, struct dp_err *err)
{
	if (delta == 0 || composition->n <= DP_PRIVACY_ITEMS_MAX)
		return DP_OK;
	dp_fail(err, DP_E_INVALID,
		"loss distributions of at most %d mechanisms are convolved, not %zu",
		DP_PRIVACY_ITEMS_MAX, composition->n);
	dp_hint(err, "accountant rdp adds up any number of them");
	return DP_E_INVALID;
}

int dp_privacy_compose(const struct dp_composition_item *items, size_t n, double delta, bool pld,
		       struct dp_epsilon *out, struct dp_err *err)
{
	return dp__compose(items, n, delta, pld, NULL, out, err);
}

int dp__compose(const struct dp_composition_item *items, size_t n, double delta, bool pld,
		struct dp__work *work, struct dp_epsilon *out, struct dp_err *err)
{
	struct dp_epsilon e = { .delta = delta, .order = NAN, .error_is_proved = true };
	struct composition composition = { .items = items, .work = work };
	int code;

	code = composition_init(&composition, n, delta, err);
	if (code == DP_OK && delta > 0)
		composition_merge_gaussians(&composition);
	if (code == DP_OK && pld)
		code = check_item_count(&composition, delta, err);
	if (code == DP_OK && pld)
		composition_open_tables(&composition);
	if (code == DP_OK)
		code = composition_account(&composition, delta, pld, &e, err);
	if (code == DP_OK)
		*out = e;
	composition_free(&composition);
	return code;
}
