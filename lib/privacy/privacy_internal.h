/* privacy_internal.h - what mechanisms, accountants and composition share inside lib/privacy. */
#ifndef DP_PRIVACY_INTERNAL_H
#define DP_PRIVACY_INTERNAL_H
#include "privacy/privacy.h"

#define MECHANISM(name) extern const struct dp_mechanism dp__##name;
#include "privacy/mechanisms/mechanisms.def"
#undef MECHANISM

/* cost() and the answer of mechanisms with a closed form (mechanism.c). */
enum dp_privacy_cost dp__cost_closed_form(const double *values);
struct dp_epsilon dp__closed_form(double epsilon, double delta, double error);

/* Parts of key rows, and rows that several mechanisms share. */
#define DP__KEY_REQUIRED .required = true, .default_value = NAN
#define DP__KEY_COUNT    .kind = DP_PRIVACY_INTEGER, .lo = 1, .hi = 0x1p53
#define DP__KEY_CHOICE(words, otherwise)                                                           \
	.kind = DP_PRIVACY_CHOICE, .choices = (words), .default_value = (otherwise)
#define DP__KEY_POSITIVE                                                                           \
	.kind = DP_PRIVACY_NUMBER, .lo = 0, .lo_open = true, .hi = INFINITY, .hi_open = true
#define DP__KEY_DELTA(limit)                                                                       \
	{                                                                                          \
		.name = "delta", .kind = DP_PRIVACY_NUMBER, .default_value = 0, .lo = 0, .hi = 1,  \
		.hi_open = true, .short_help = "the probability that the bound may fail with",     \
		.help = "0 for pure differential privacy, else the probability that "              \
			"epsilon may fail with" limit "."                                          \
	}
/* For mechanisms that are never purely private. */
#define DP__KEY_DELTA_REQUIRED                                                                     \
	{                                                                                          \
		.name = "delta", .kind = DP_PRIVACY_NUMBER, .required = true,                      \
		.default_value = NAN, .lo = 0, .lo_open = true, .hi = 1, .hi_open = true,          \
		.short_help = "the probability that the bound may fail with",                      \
		.help = "The probability that the bound epsilon may fail with."                    \
	}
/* A person with several records: the sensitivity is that many times as large, by the
 * triangle inequality along datasets that differ in one record each. */
#define DP__KEY_GROUP(most)                                                                        \
	{                                                                                          \
		.name = "group", .kind = DP_PRIVACY_INTEGER, .default_value = 1, .lo = 1,          \
		.hi = (most), .can_solve_max = true, .short_help = "records of one person",        \
		.help = "The most records that one person has: epsilon then holds for "            \
			"all of them together."                                                    \
	}

/* The workspace of a mechanism cache (mechanism_cache.c). */
struct dp__rdp_wor;
struct dp__pld;
struct dp_privacy_workspace {
	struct dp__rdp_wor *wor;
	struct dp__pld *pld;
};
void dp__workspace_init(struct dp_privacy_workspace *m);
void dp__workspace_free(struct dp_privacy_workspace *m);

/* Work of the accountants: counted, not timed, so that answers do not depend on the machine. One
 * unit is about 0.05 microseconds; a grid cell takes one or two. */
double dp__prepared_work(const struct dp_mechanism_cache *p);
/* Limits grids to this share of the cells of one evaluation. A coarser grid only raises epsilon. */
void dp__prepared_limit(struct dp_mechanism_cache *p, double share);
/* True if the limit made a grid coarser since it was set. */
bool dp__prepared_limited(const struct dp_mechanism_cache *p);
/* The work limit of one solve (calibrate.c). */
#define DP__WORK_MOST 25e6
/* dp_privacy_solve_max(), which adds its work to *work. Values between *value and *above were not
 * tried, because of the work limit. */
DP_MUSTCHECK int dp__most(const struct dp_mechanism *m, const double *values,
			  const struct dp_privacy_key *k, double target, double *value,
			  double *above, double *work, struct dp_epsilon *at, struct dp_err *err);
/* Share and work of a composition. */
struct dp__work {
	double share; /* 0: unlimited */
	double done;  /* incremented */
	bool limited; /* set if the share made a grid coarser */
};
/* dp_privacy_compose() with a share; work may be NULL. */
DP_MUSTCHECK int dp__compose(const struct dp_composition_item *items, size_t n, double delta,
			     bool pld, struct dp__work *work, struct dp_epsilon *out,
			     struct dp_err *err);

/* ---- numerics (numeric.c) ---- */

double dp__normal_cdf(double x);
double dp__mills_ratio(double t);
double dp__log_add(double a, double b); /* log(exp(a) + exp(b)) */
/* The least doubles not below a b and a / b, for a, b > 0. */
double dp__multiply_up(double a, double b);
double dp__divide_up(double a, double b);
double dp__find_root(double (*f)(void *ctx, double x), void *ctx, double lo, double hi);
/* The least value found on [lo, hi], at *at. */
double dp__minimize(double (*f)(void *ctx, double x), void *ctx, double lo, double hi, double *at);

/* ---- the Gaussian mechanism (gaussian.c); mu = sensitivity / noise std ---- */

double dp__gaussian_delta(double mu, double epsilon);
/* Least epsilon with delta(epsilon) <= exp(log_delta); 0 if delta(0) is below. */
double dp__gaussian_epsilon(double mu, double log_delta);

/* ---- Renyi accounting (rdp.c, rdp_wor.c, rdp_poisson.c) ---- */

/* The largest order tried. An order above 2 sigma^2 log(records / lot) never helps, so this
 * suffices for noise up to 150 and sampling rates down to 1e-10. */
enum {
	DP__ORDER_MAX = 1 << 20
};

/* K(order) = (order - 1) x Renyi divergence of all uses, for real order > 1. */
struct dp__rdp_curve {
	double (*cgf)(void *ctx, double order);
	void *ctx;
	bool real_orders; /* also tries non-integers */
};
/* Least epsilon over all orders, at *order. +inf if every order overflows. */
double dp__rdp_curve_epsilon(const struct dp__rdp_curve *c, enum dp_privacy_conversion conversion,
			     double log_delta, double *order);

/* log of sum over j = 2..order of C(order, j) exp(j log_rho + log_c(j)), given log_c(j) <= log 2 +
 * j (j - 1) slope. Skips terms that cannot change the last digit. */
double dp__log_binomial_sum(uint32_t order, double log_rho, double slope,
			    double (*log_c)(void *ctx, uint32_t j), void *ctx);

/* A bound for Gaussian noise with any sampler: exp K is 1 + an f-divergence and so jointly convex
 * (Csiszar and Shields 2004, Lemma 4.1), and the record is in the lot with probability q. Best for
 * little noise and orders near 1. mu: sensitivity / noise std. */
double dp__rdp_sampled_cgf(double q, double mu, double order);

/* Sampling without replacement. Keeps what depends only on the noise. */
struct dp__rdp_wor *dp__rdp_wor_new(void);
void dp__rdp_wor_free(struct dp__rdp_wor *w);
/* Cheap if sigma and tight are unchanged. */
void dp__rdp_wor_set_noise(struct dp__rdp_wor *w, double sigma, bool tight);
/* K of one step. For large lots it may exceed the bound without sampling. Take the smaller epsilon,
 * but find the best order of each bound on its own: their minimum has two local minima. */
double dp__rdp_wor_cgf(struct dp__rdp_wor *w, double q, double order);
/* Adds the work of Renyi curves; w may be NULL. */
void dp__wor_worked(struct dp__rdp_wor *w, double work);
double dp__wor_work(const struct dp__rdp_wor *w);

/* The same from the dominating pair (rdp_dominating_pair.c): smaller, at every real order. */
struct dp__rdp_dominating *dp__rdp_dominating_new(void);
void dp__rdp_dominating_free(struct dp__rdp_dominating *d);
/* Cheap if q (above 0) and sigma are unchanged. */
void dp__rdp_dominating_set(struct dp__rdp_dominating *d, double q, double sigma);
/* K of one step; +inf if it would take too long. */
double dp__rdp_dominating_cgf(struct dp__rdp_dominating *d, double order);
/* log(exp K - 1) without a cache; +inf if it would take too long. Adds its work to `tables`. */
double dp__rdp_dominating_log_excess(double q, double sigma, double order,
				     struct dp__rdp_wor *tables);

struct dp__rdp_poisson {
	double q, sigma;
};
double dp__rdp_poisson_cgf(const struct dp__rdp_poisson *p, double order); /* of one step */
/* log of (1+t)^order - 1 - order t, with `lw` = log(1+t) and order = 1 + gap. */
double dp__rdp_poisson_log_excess(double lw, double gap);

/* ---- components: what both accountants compose ---- */

/* Which of two neighbouring data sets is the reference. */
enum dp__direction {
	DP__DIRECTION_REMOVE,
	DP__DIRECTION_ADD
};

/* Neighbouring relations. Components with different ones do not compose. */
enum dp__relation {
	DP__RELATION_UNKNOWN, /* refused */
	DP__RELATION_REPLACE_ONE,
	DP__RELATION_ADD_REMOVE,
	DP__RELATION_ANY /* the relation of the caller's sensitivity */
};

enum {
	DP__GROUP_MAX = 32
};

/* One mechanism, used `count` times. */
struct dp_privacy_component {
	const struct dp__component_kind *kind; /* NULL: refused */
	double q;                              /* sampling rate; 1: all records */
	double mu; /* sensitivity / noise std (Gaussian) or / scale (Laplace); epsilon */
	double count;
	bool tight_bound; /* Renyi without replacement: the tight bound for Gaussian noise */
	enum dp__relation relation;
	bool doubles_on_replace; /* mu is for add or remove; replace-one doubles it */
	double shape;            /* an extra parameter of the kind; see its file */
	double *table;           /* made by the kind's table_open(); may be NULL */
	size_t ntable;
	double group_size; /* records per person that the numbers cover; 0: one */
	double weight[DP__GROUP_MAX + 1], log_weight[DP__GROUP_MAX + 1]; /* component_group.c */
};

/* The components of a composition's items (compose.c), after all checks: composition, values, times
 * and a common neighbouring relation. */
DP_MUSTCHECK int dp__components_from_items(const struct dp_composition_item *items, size_t n,
					   double delta, struct dp_privacy_component *components,
					   struct dp_err *err);

/* The privacy loss of one use, for both accountants, as a pair of distributions that dominates
 * every pair of neighbours. A new kind is such a table in its mechanism's file. Only members with a
 * note on NULL are optional. */
struct dp__loss_points;
struct dp__loss_grid;
struct dp__component_kind {
	/* Renyi: K(order) = (order - 1) x divergence, for real order > 1, with tables filled by
	 * prepare_tables(), which is NULL if none are needed. */
	void (*prepare_tables)(const struct dp_privacy_component *p, struct dp__rdp_wor *tables);
	double (*cgf)(const struct dp_privacy_component *p, struct dp__rdp_wor *tables,
		      double order);
	/* delta(x), x >= 0: the loss's mass beyond x. *slack bounds the rounding error. */
	double (*profile)(const struct dp_privacy_component *p, enum dp__direction d, double x,
			  double *slack);
	/* A loss with delta(x) <= exp(log_tail) beyond it. */
	double (*tail_cutoff)(const struct dp_privacy_component *p, enum dp__direction d,
			      double log_tail);
	/* Approximates the loss by points (dp__loss_points_add()), up to `end`. */
	void (*rough_points)(struct dp__loss_points *s, const struct dp_privacy_component *p,
			     enum dp__direction d, double end);
	/* The largest loss; +inf if unbounded. */
	double (*max_loss)(const struct dp_privacy_component *p, enum dp__direction d);
	/* A typical size of the loss. Sets the grid width and detects negligible noise. */
	double (*loss_scale)(const struct dp_privacy_component *p);
	/* Exact epsilon of all uses; NaN if that needs a grid. */
	double (*exact_epsilon)(const struct dp_privacy_component *p, double delta);
	/* The time of a profile relative to the usual one; NULL: 1. */
	double (*profile_cost)(const struct dp_privacy_component *p);
	/* Creates and frees a table that speeds up many profiles; NULL: none. */
	void (*table_open)(struct dp_privacy_component *p);
	void (*table_close)(struct dp_privacy_component *p);
	/* Probabilities on a grid, with slacks and infinite mass, where differences of the profile
	 * are too inexact; NULL: they suffice. */
	void (*discretise)(const struct dp_privacy_component *p, enum dp__direction d,
			   struct dp__loss_grid *g);
	bool is_asymmetric; /* the two directions differ */
	bool is_pure;       /* private at delta = 0, with epsilon max_loss() */
};

/* Gaussian noise on lots (component_gaussian.c): without replacement under replace-one, where q = 1
 * is the plain Gaussian; and Poisson lots under add or remove one. */
extern const struct dp__component_kind dp__component_wor;
extern const struct dp__component_kind dp__component_poisson;
/* discretise() of both (pld_gaussian_grid.c). */
void dp__gaussian_discretise(const struct dp_privacy_component *component, enum dp__direction d,
			     struct dp__loss_grid *g);
/* Turns one of these two, given for one record, into that of a person with p->group_size records,
 * at most DP__GROUP_MAX and `records` (component_group.c). */
void dp__component_set_group(struct dp_privacy_component *p, double records, double lot);
/* K(order) of such a component by joint convexity alone, where an integral would take too long. */
double dp__group_convex_cgf(const struct dp_privacy_component *p, double order);
/* Any mu-differentially private mechanism (component_pure.c). */
extern const struct dp__component_kind dp__component_pure;
/* For other kinds whose losses are at most mu in both directions. */
double dp__bounded_tail_cutoff(const struct dp_privacy_component *p, enum dp__direction d,
			       double log_tail);
double dp__bounded_max_loss(const struct dp_privacy_component *p, enum dp__direction d);
double dp__bounded_loss_scale(const struct dp_privacy_component *p);

/* Adds a point unless it is beyond the end or negligible (pld_grid.c). */
void dp__loss_points_add(struct dp__loss_points *s, double x, double weight, double end);

/* ---- privacy loss distributions (pld.c, pld_grid.c) ---- */

enum {
	DP__COMPONENTS_MAX = 64
};

struct dp__pld *dp__pld_new(void);
void dp__pld_free(struct dp__pld *w);
/* See dp__prepared_limit() and dp__prepared_limited(). */
void dp__loss_limit(struct dp__pld *w, double share);
bool dp__loss_limited(const struct dp__pld *w);
double dp__loss_work(const struct dp__pld *w);

struct dp__pld_bound {
	double epsilon;
	double error; /* absolute */
	bool error_is_proved;
};
/* Upper bound of epsilon of the composition of all components. */
struct dp__pld_bound dp__pld_epsilon(struct dp__pld *w,
				     const struct dp_privacy_component *components,
				     size_t n_components, double delta);
/* Converts the bound to the public struct. */
struct dp_epsilon dp__pld_bound_to_epsilon(const struct dp__pld_bound *a, double delta);
/* Losses are counted in grid cells. Beyond this limit no grid holds them, and the Renyi accountant
 * answers. mu2: (sensitivity / noise std)^2. */
static inline bool dp__pld_grid_holds(double mu2, double count)
{
	return mu2 < 1e6 && mu2 * count < 1e9;
}
/* If mu2 x count exceeds this, squares would overflow, and epsilon is infinite. */
#define DP__MU2_MAX 1e290

#endif
