/* privacy_internal.h - what the files of this folder share: the mechanisms, the two
 * accountants and a little numerics. */
#ifndef DP_PRIVACY_INTERNAL_H
#define DP_PRIVACY_INTERNAL_H
#include "privacy/privacy.h"

extern const struct dp_mechanism dp__dp_sgd;
extern const struct dp_mechanism dp__gaussian;
extern const struct dp_mechanism dp__laplace;
extern const struct dp_mechanism dp__output_perturbation;
extern const struct dp_mechanism dp__svt;

/* Index of a key, or -1 (mechanism.c). */
int dp__key_index(const struct dp_mechanism *m, const char *name);

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

/* ---- numerics (numeric.c) ---- */

double dp__normal_cdf(double x);
double dp__mills(double t);
double dp__log_add(double a, double b); /* log(exp(a) + exp(b)) */
double dp__root(double (*f)(void *ctx, double x), void *ctx, double lo, double hi);
/* The least value seen on [lo, hi]; where it was in *at. */
double dp__minimum(double (*f)(void *ctx, double x), void *ctx, double lo, double hi,
		   double *at);

/* ---- the Gaussian mechanism (gaussian.c); mu = sensitivity / noise std ---- */

double dp__gaussian_delta(double mu, double epsilon);
/* Least epsilon with delta(epsilon) <= exp(log_delta); 0 if delta(0) is below. */
double dp__gaussian_epsilon(double mu, double log_delta);

/* ---- Renyi accounting (rdp.c, rdp_wor.c, rdp_poisson.c) ---- */

enum dp__conversion {
	DP__CLASSIC,
	DP__IMPROVED
};

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
double dp__curve_epsilon(const struct dp__curve *c, enum dp__conversion conversion,
			 double log_delta, double *order);

/* log of sum over j = 2..order of C(order, j) exp(j log_rho + log_c(j)), given that
 * log_c(j) <= log 2 + j (j - 1) slope. Skips what cannot change the last digit. */
double dp__binomial_sum(uint32_t order, double log_rho, double slope,
			double (*log_c)(void *ctx, uint32_t j), void *ctx);

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

struct dp__poisson {
	double q, sigma;
};
double dp__poisson_cgf(const struct dp__poisson *p, double order); /* of one step */

/* ---- privacy loss distributions (pld.c, pld_part.c) ---- */

enum dp__part_kind {
	DP__PART_WOR,     /* Gaussian on a lot without replacement, replace-one */
	DP__PART_POISSON, /* Gaussian on a Poisson lot, add or remove one */
	DP__PART_LAPLACE,
	DP__PART_PURE /* anything that is epsilon-differentially private */
};

/* One mechanism, `count` times. The plain Gaussian is DP__PART_WOR with q = 1. */
struct dp__part {
	enum dp__part_kind kind;
	double q;
	double mu; /* sensitivity / noise std (Gaussian) or / scale (Laplace); epsilon */
	double count;
};

enum {
	DP__PARTS_MAX = 64
};

/* DP-SGD as a part, from checked values (dp_sgd.c). */
DP_MUSTCHECK int dp__dp_sgd_part(const double *values, struct dp__part *part, bool *tight,
				 struct dp_err *err);
DP_MUSTCHECK int dp__dp_sgd_declared(const double *values,
				     const struct dp_privacy_declared *d,
				     char warning[DP_PRIVACY_WARNING_LEN],
				     struct dp_err *err);

struct dp__loss *dp__loss_new(void);
void dp__loss_free(struct dp__loss *w);

struct dp__loss_answer {
	double epsilon;
	double error; /* absolute */
	bool proved;
};
/* Upper bound of epsilon of the composition of all parts. DP_OK or DP_E_NOMEM. */
DP_MUSTCHECK int dp__loss_epsilon(struct dp__loss *w, const struct dp__part *parts,
				  size_t nparts, double delta,
				  struct dp__loss_answer *out, struct dp_err *err);
/* The saddle-point estimate: microseconds, no bound. */
double dp__loss_estimate(struct dp__loss *w, const struct dp__part *parts, size_t nparts,
			 double delta);

/* Losses are counted in cells of a grid. With so much loss there is no grid that holds
 * it, and Renyi curves answer. mu2: (sensitivity / noise std)^2. */
static inline bool dp__grid_holds(double mu2, double count)
{
	return mu2 < 1e6 && mu2 * count < 1e9;
}
/* Beyond this for mu2 x count squares would overflow, and epsilon is infinite. */
#define DP__NO_NOISE 1e290

#endif
