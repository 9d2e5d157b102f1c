/* privacy_internal.h - what the files of this folder share: the mechanisms, the two
 * accountants and a little numerics. */
#ifndef DP_PRIVACY_INTERNAL_H
#define DP_PRIVACY_INTERNAL_H
#include "privacy/privacy.h"

#define MECHANISM(name) extern const struct dp_mechanism dp__##name;
#include "privacy/mechanisms.def"
#undef MECHANISM

/* The cost() of mechanisms that are a closed form (mechanism.c). */
enum dp_privacy_cost dp__closed_form(const double *values);

/* Rows of keys that several mechanisms have in the same words. */
#define DP__POSITIVE                                                                               \
	.kind = DP_PRIVACY_NUMBER, .lo = 0, .lo_open = true, .hi = INFINITY, .hi_open = true
#define DP__KEY_DELTA                                                                              \
	{                                                                                          \
		.name = "delta", .kind = DP_PRIVACY_NUMBER, .otherwise = 0, .lo = 0, .hi = 1,      \
		.hi_open = true, .brief = "the probability that the bound may fail with",          \
		.help = "0 for pure differential privacy, else the probability that "              \
			"epsilon may fail with."                                                   \
	}
/* Of mechanisms that are never purely private. */
#define DP__KEY_DELTA_ABOVE_0                                                                      \
	{                                                                                          \
		.name = "delta", .kind = DP_PRIVACY_NUMBER, .needed = true, .otherwise = NAN,      \
		.lo = 0, .lo_open = true, .hi = 1, .hi_open = true,                                \
		.brief = "the probability that the bound may fail with",                           \
		.help = "The probability that the bound epsilon may fail with."                    \
	}
/* A person with several records: the sensitivity is that many times as large, by the
 * triangle inequality along datasets that differ in one record each. */
#define DP__KEY_GROUP(most)                                                                        \
	{                                                                                          \
		.name = "group", .kind = DP_PRIVACY_INTEGER, .otherwise = 1, .lo = 1,              \
		.hi = (most), .costs = true, .brief = "records of one person",                     \
		.help = "The most records that one person has: epsilon then holds for "            \
			"all of them together."                                                    \
	}

/* What prepared mechanisms keep between calls (prepare.c). */
struct dp__wor;
struct dp__loss;
struct dp_privacy_memory {
	struct dp__wor *wor;
	struct dp__loss *loss;
};
/* False without memory; close it in either case. */
DP_MUSTCHECK bool dp__memory_open(struct dp_privacy_memory *m);
void dp__memory_close(struct dp_privacy_memory *m);

/* Work of the accountants, counted and not timed, so that answers do not depend on the
 * machine: one unit is about 0.05 microseconds, a cell of a grid is one or two of them.
 */
double dp__prepared_work(const struct dp_privacy_prepared *p);
/* Grids may take this share of the cells that a question has. A coarser grid gives a
 * larger epsilon, never a smaller one. */
void dp__prepared_limit(struct dp_privacy_prepared *p, double share);
/* Did the share make a grid coarser since it was set? */
bool dp__prepared_limited(const struct dp_privacy_prepared *p);
/* What one solve may take (calibrate.c). */
#define DP__WORK_MOST 25e6
/* dp_privacy_most(); values between *value and *above were not tried, since that would
 * take too much work, which is added to *work. */
DP_MUSTCHECK int dp__most(const struct dp_mechanism *m, const double *values,
			  const struct dp_privacy_key *k, double target, double *value,
			  double *above, double *work, struct dp_epsilon *at, struct dp_err *err);
/* The same for compositions: the share that is allowed, and what was done. */
struct dp__work {
	double share; /* 0: all */
	double done;  /* added to */
	bool limited; /* set where the share made a grid coarser */
};
/* dp_privacy_compose() with a share; work may be NULL. */
DP_MUSTCHECK int dp__compose(const struct dp_privacy_item *items, size_t n, double delta, bool pld,
			     struct dp__work *work, struct dp_epsilon *out, struct dp_err *err);

/* ---- numerics (numeric.c) ---- */

double dp__normal_cdf(double x);
double dp__mills(double t);
double dp__log_add(double a, double b); /* log(exp(a) + exp(b)) */
/* The least double that is not below a b, and a / b, for a, b > 0. */
double dp__product_up(double a, double b);
double dp__quotient_up(double a, double b);
double dp__root(double (*f)(void *ctx, double x), void *ctx, double lo, double hi);
/* The least value seen on [lo, hi]; where it was in *at. */
double dp__minimum(double (*f)(void *ctx, double x), void *ctx, double lo, double hi, double *at);

/* ---- the Gaussian mechanism (gaussian.c); mu = sensitivity / noise std ---- */

double dp__gaussian_delta(double mu, double epsilon);
/* Least epsilon with delta(epsilon) <= exp(log_delta); 0 if delta(0) is below. */
double dp__gaussian_epsilon(double mu, double log_delta);

/* ---- Renyi accounting (rdp.c, rdp_wor.c, rdp_poisson.c) ---- */

/* The largest order ever tried. An order above 2 sigma^2 log(records / lot) never
 * helps, so this is out of reach for noise up to 150 and sampling down to 1e-10. */
enum {
	DP__ORDER_MAX = 1 << 20
};

/* K(order) = (order - 1) x Renyi divergence of everything done, for real order > 1. */
struct dp__curve {
	double (*cgf)(void *ctx, double order);
	void *ctx;
	bool real; /* look between the integers, too */
};
/* Least epsilon over all orders; *order is where. +inf if every order overflows. */
double dp__curve_epsilon(const struct dp__curve *c, enum dp_privacy_conversion conversion,
			 double log_delta, double *order);

/* log of sum over j = 2..order of C(order, j) exp(j log_rho + log_c(j)), given that
 * log_c(j) <= log 2 + j (j - 1) slope. Skips what cannot change the last digit. */
double dp__binomial_sum(uint32_t order, double log_rho, double slope,
			double (*log_c)(void *ctx, uint32_t j), void *ctx);

/* Gaussian noise on a lot, whatever the sampler: exp K is 1 + an f-divergence and so
 * jointly convex (Csiszar and Shields 2004, Lemma 4.1), and the record is in the lot with
 * probability q. Best for little noise and orders near 1. mu: sensitivity / noise std. */
double dp__sampled_cgf(double q, double mu, double order);

/* Without replacement: what depends only on the noise is kept between calls. */
struct dp__wor *dp__wor_new(void);
void dp__wor_free(struct dp__wor *w);
/* False without memory. Cheap if sigma and tight are what they were. */
DP_MUSTCHECK bool dp__wor_set(struct dp__wor *w, double sigma, bool tight);
/* Of one step. For large lots this may exceed what holds without sampling: take the
 * less of the two, but search each for its best order, since their minimum has two. */
double dp__wor_cgf(struct dp__wor *w, double q, double order);
/* Had all answers since the last call the memory they needed? Else some were looser
 * bounds, and must not be shown: a point has one epsilon. */
DP_MUSTCHECK bool dp__wor_whole(struct dp__wor *w);
/* Counts work that Renyi curves took; w may be NULL. */
void dp__wor_worked(struct dp__wor *w, double work);
double dp__wor_work(const struct dp__wor *w);

/* The same from the pair that dominates (rdp_dominated.c): less, at every real order; its
 * nodes are kept between calls. */
struct dp__dominated *dp__dominated_new(void);
void dp__dominated_free(struct dp__dominated *d);
/* Cheap if q, above 0, and sigma are what they were. */
void dp__dominated_set(struct dp__dominated *d, double q, double sigma);
/* Of one step; +inf where it would take too long. False without memory. */
DP_MUSTCHECK bool dp__dominated_cgf(struct dp__dominated *d, double order, double *k);
/* Log of exp K - 1, with nothing kept; +inf where it would take too long. `tables`
 * counts the work. */
double dp__dominated_log_excess(double q, double sigma, double order, struct dp__wor *tables);

struct dp__poisson {
	double q, sigma;
};
double dp__poisson_cgf(const struct dp__poisson *p, double order); /* of one step */
/* log of (1+t)^order - 1 - order t, where `lw` = log(1+t) and order = 1 + gap. */
double dp__poisson_log_excess(double lw, double gap);

/* ---- parts: what both accountants compose ---- */

/* A pair of data sets can be told apart in two directions. */
enum dp__direction {
	DP__REMOVE,
	DP__ADD
};

/* Numbers under different relations are not added up. */
enum dp__relation {
	DP__RELATION_UNSAID, /* refused */
	DP__REPLACE_ONE,
	DP__ADD_OR_REMOVE,
	DP__ANY_RELATION /* the one that the caller's numbers are meant for */
};

enum {
	DP__GROUP_MAX = 32
};

/* One mechanism, `count` times. */
struct dp_privacy_part {
	const struct dp__part_kind *kind; /* NULL: refused */
	double q;                         /* share of the records in a lot; 1: all */
	double mu; /* sensitivity / noise std (Gaussian) or / scale (Laplace); epsilon */
	double count;
	bool tight; /* Renyi without replacement: the bound for Gaussian noise */
	enum dp__relation relation;
	bool one_way;  /* mu is for add or remove; it is twice that where one is replaced
			*/
	double shape;  /* what a kind needs beside mu; its file says what */
	double *table; /* made by its kind's open(); NULL: none */
	size_t ntable;
	double group; /* records of one person that the numbers hold for; 0: one */
	double weight[DP__GROUP_MAX + 1], log_weight[DP__GROUP_MAX + 1]; /* part_group.c */
};

/* What each item is in a composition (compose.c), after all checks: that it composes, its
 * values, its times, and that the items hold for one neighbouring relation. */
DP_MUSTCHECK int dp__parts(const struct dp_privacy_item *items, size_t n, double delta,
			   struct dp_privacy_part *parts, struct dp_err *err);

/* The privacy loss of one use, for both accountants: that of a pair of distributions
 * that dominates every pair of neighbours. A new kind is a table in its mechanism's
 * file; all of it is needed but set() and cells(). */
struct dp__points;
struct dp__grid;
struct dp__part_kind {
	/* Renyi: K(order) = (order - 1) x divergence, for real order > 1; from tables
	 * that set() has filled, false without memory. set is NULL if it needs none. */
	bool (*set)(const struct dp_privacy_part *p, struct dp__wor *tables);
	double (*cgf)(const struct dp_privacy_part *p, struct dp__wor *tables, double order);
	/* delta(x) for x >= 0: how much probability the loss carries beyond x. *slack
	 * bounds the rounding error of the value. */
	double (*profile)(const struct dp_privacy_part *p, enum dp__direction d, double x,
			  double *slack);
	/* A loss beyond which delta(x) <= exp(log_tail). */
	double (*end)(const struct dp_privacy_part *p, enum dp__direction d, double log_tail);
	/* A rough picture of the loss by dp__points_add(), up to `end`. */
	void (*picture)(struct dp__points *s, const struct dp_privacy_part *p, enum dp__direction d,
			double end);
	/* The greatest loss; +inf: there is none. */
	double (*most)(const struct dp_privacy_part *p, enum dp__direction d);
	/* The size of a loss, by which grids and noise that is no noise are told. */
	double (*size)(const struct dp_privacy_part *p);
	/* Epsilon of all uses, exactly; NaN where that takes a grid. */
	double (*alone)(const struct dp_privacy_part *p, double delta);
	/* How many times as long as usual a profile takes; NULL: once. */
	double (*work)(const struct dp_privacy_part *p);
	/* Makes a table without which many profiles would take long, and frees it; NULL:
	 * there is none. False without memory. */
	bool (*open)(struct dp_privacy_part *p);
	void (*close)(struct dp_privacy_part *p);
	/* Probabilities on a grid, their slacks and what is infinite, where differences
	 * of the profile are not precise enough; NULL: they are. */
	void (*cells)(const struct dp_privacy_part *p, enum dp__direction d, struct dp__grid *g);
	bool sided; /* the two directions differ */
	bool pure;  /* private at delta = 0, with epsilon = most() */
};

/* Gaussian noise on lots (part_gaussian.c): without replacement, replace-one, the plain
 * Gaussian being that with q = 1; and Poisson lots, add or remove one. */
extern const struct dp__part_kind dp__part_wor;
extern const struct dp__part_kind dp__part_poisson;
/* The cells() of both (gaussian_cells.c). */
void dp__gaussian_cells(const struct dp_privacy_part *part, enum dp__direction d,
			struct dp__grid *g);
/* One of these two becomes that of a person with p->group records, at most DP__GROUP_MAX
 * and `records` (part_group.c); q, mu and the kind are those of one record. */
void dp__part_of_group(struct dp_privacy_part *p, double records, double lot);
/* K(order) of such a part by joint convexity alone: what its cgf() gives where an
 * integral would take too long. */
double dp__group_convex_cgf(const struct dp_privacy_part *p, double order);
/* Anything that is mu-differentially private (part_pure.c). */
extern const struct dp__part_kind dp__part_pure;
/* For other kinds whose losses are mu at most, either way. */
double dp__bounded_end(const struct dp_privacy_part *p, enum dp__direction d, double log_tail);
double dp__bounded_most(const struct dp_privacy_part *p, enum dp__direction d);
double dp__bounded_size(const struct dp_privacy_part *p);

/* Adds a point to a picture, unless it is beyond the end or hardly there (pld_part.c). */
void dp__points_add(struct dp__points *s, double x, double weight, double end);

/* ---- privacy loss distributions (pld.c, pld_part.c) ---- */

enum {
	DP__PARTS_MAX = 64
};

struct dp__loss *dp__loss_new(void);
void dp__loss_free(struct dp__loss *w);
/* See dp__prepared_limit() and dp__prepared_limited(). */
void dp__loss_limit(struct dp__loss *w, double share);
bool dp__loss_limited(const struct dp__loss *w);
double dp__loss_work(const struct dp__loss *w);

struct dp__loss_answer {
	double epsilon;
	double error; /* absolute */
	bool proved;
};
/* Upper bound of epsilon of the composition of all parts. DP_OK or DP_E_NOMEM. */
DP_MUSTCHECK int dp__loss_epsilon(struct dp__loss *w, const struct dp_privacy_part *parts,
				  size_t nparts, double delta, struct dp__loss_answer *out,
				  struct dp_err *err);
/* The answer in the words of the interface. */
struct dp_epsilon dp__loss_worded(const struct dp__loss_answer *a, double delta);
/* Losses are counted in cells of a grid. With so much loss there is no grid that holds
 * it, and Renyi curves answer. mu2: (sensitivity / noise std)^2. */
static inline bool dp__grid_holds(double mu2, double count)
{
	return mu2 < 1e6 && mu2 * count < 1e9;
}
/* Beyond this for mu2 x count squares would overflow, and epsilon is infinite. */
#define DP__NO_NOISE 1e290

#endif
