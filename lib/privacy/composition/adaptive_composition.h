/* adaptive_composition.h - what a whole search costs: many trainings on the same data, each with
 * settings that may depend on the results of those before it.
 *
 * Everything here is added up as K(a) = (a - 1) x Renyi divergence of order a > 1, the
 * greater of both directions. Divergences of adaptive mechanisms add up at one order as
 * long as that order, and what the sum may reach, are fixed before the first of them; a
 * sum that is read off afterwards, with the order chosen afterwards, proves nothing.
 * Hence three ways, each with its theorem:
 *
 *   odometer   a reading after every training; holds for all of them together with
 *              probability 1 - delta (Ville)
 *   filter     a budget of (epsilon, delta), and a training starts only if it fits
 *              (Feldman and Zrnic)
 *   selection  a secret number of independent draws, only the best published (Papernot
 *              and Steinke)
 *
 * Where all settings and their number are fixed before the first training (grid, random
 * search), dp_privacy_compose() holds, and so does dp_renyi_epsilon() of the sum.
 *
 * Every number is an upper bound: sums are rounded up, budgets down, NaN counts as +inf,
 * and +inf is never allowed. No function here keeps anything between calls but
 * dp_privacy_renyi_curve(). */
#ifndef DP_PRIVACY_COMPOSITION_ADAPTIVE_COMPOSITION_H
#define DP_PRIVACY_COMPOSITION_ADAPTIVE_COMPOSITION_H
#include "base/rng.h"
#include "privacy/privacy.h"

/* ---- Renyi curves (renyi_curve.c) ---- */

enum {
	DP_RENYI_ORDERS_MAX = 128 /* of an odometer, and that a filter chooses from */
};

/* Tables that make a question like the last ones cheap. One thread at a time. */
struct dp_renyi_cache;
struct dp_renyi_cache *dp_renyi_cache_new(void);
void dp_renyi_cache_free(struct dp_renyi_cache *m);

/* k[i] = K(orders[i]) of doing all items on the same data, each `times` over; orders are
 * above 1, and whole ones are the fastest. +inf where there is no bound. What
 * dp_privacy_compose() refuses is refused: mechanisms that do not say how they compose,
 * different neighbouring relations, values out of range. On error every k[i] is +inf.
 * Lots without replacement have the curve of the pair that dominates them
 * (rdp_dominating_pair.c), which is about a third of what dp_privacy_compose() adds up and
 * which `bound` does not change. */
DP_MUSTCHECK int dp_privacy_renyi_curve(struct dp_renyi_cache *m,
					const struct dp_composition_item *items, size_t nitems,
					const double *orders, size_t n, double *k,
					struct dp_err *err);

/* sum + k, rounded up; +inf if either is NaN or negative. All sums of K are made so. */
double dp_renyi_add(double sum, double k);
/* K of doing it so many times over, rounded up; 0 of nothing, whatever K is. */
double dp_renyi_multiply(double times, double k);

/* Epsilon at delta of a mechanism with this curve, by the improved conversion (Balle et
 * al. 2020, Theorem 21; Canonne, Kamath and Steinke 2020, Proposition 12):
 *     epsilon = min over a of K(a)/(a-1) + ln(1 - 1/a) - (ln delta + ln a)/(a-1).
 * Not for the sum of an adaptive search. *order (may be NULL) is where the minimum lies,
 * NaN with +inf. delta is within (0, 1), else the answer is +inf. */
double dp_renyi_epsilon(const double *orders, const double *k, size_t n, double delta,
			double *order);
/* The same the other way round: delta at epsilon, at most 1. */
double dp_renyi_delta(const double *orders, const double *k, size_t n, double epsilon);

/* ---- the odometer (odometer.c) ----
 *
 * For a data set D and a neighbour let L_t be the log-likelihood ratio of everything seen
 * up to training t. With K_s(a) chosen before training s starts, exp((a-1) L_t - sum of
 * K_s(a)) is a nonnegative supermartingale that begins at 1, and so is its average over
 * orders with weights w_a that were fixed before the study. Ville's inequality: with
 * probability at least 1 - delta, for all t together,
 *     L_t <= min over a of [sum of K_s(a) + ln(1/(w_a delta))] / (a - 1).
 * So it may be looked at after every training, and the study may stop because of it.
 * It says "with probability 1 - delta the loss is at most ...". The improved conversion
 * does not hold here. Trainings side by side count from their start, in the order of
 * their starts: what a training is given was known from those that started before it,
 * and once it runs it takes nothing from outside, so that seeing less of them, or later,
 * or stopping them, changes nothing. */

/* Fixed before the first training, and kept with the study. */
struct dp_odometer {
	size_t n;
	double order[DP_RENYI_ORDERS_MAX]; /* above 1, rising */
	double weight[DP_RENYI_ORDERS_MAX];
};

/* What new studies get; see odometer.c for why these. Another version may have others,
 * therefore a study keeps its own. */
void dp_odometer_init_default(struct dp_odometer *o);
/* Do these orders and weights prove anything? For those read from a file. */
DP_MUSTCHECK int dp_odometer_check(const struct dp_odometer *o, struct dp_err *err);
/* The reading for sum[i] = sum of K_s(o->order[i]) by dp_renyi_add(); 0 before the first
 * training, +inf where there is no bound. *order (may be NULL) as in
 * dp_renyi_epsilon(). */
double dp_odometer_epsilon(const struct dp_odometer *o, const double *sum, double delta,
			   double *order);

/* ---- the filter (filter.c) ----
 *
 * Feldman and Zrnic, Individual Privacy Accounting via a Renyi Filter, NeurIPS 2021, the
 * composition theorem for adaptively chosen parameters: if training s starts only while
 * sum of K_s(a)/(a-1), itself included, is at most B, the whole transcript is
 * (a, B)-Renyi private, whatever made the choices and whenever it stopped. By the
 * improved conversion that is (epsilon, delta) with
 *     B = epsilon - ln(1 - 1/a) + (ln delta + ln a)/(a - 1).
 * Trainings side by side: each counts from its start until it is over, as spent
 * thereafter (Haney et al., Concurrent Composition for Interactive Differential Privacy
 * with Adaptive Privacy-Loss Parameters, CCS 2023).
 * What is proved is the budget. No smaller epsilon may be read off what was spent. */

struct dp_filter {
	double epsilon, delta; /* the budget, of all trainings together */
	double order;          /* fixed before the first of them */
	double limit;          /* of sum of K(order): (order - 1) B; above 0 */
};

/* B, rounded down; not above 0 (-inf at worst): nothing can be proved at this order. */
double dp_filter_bound(double epsilon, double delta, double order);
/* The filter of this very order. DP_E_INVALID if it would allow nothing. */
DP_MUSTCHECK int dp_filter_init(double epsilon, double delta, double order, struct dp_filter *out,
				struct dp_err *err);
/* Chooses the order from the budget and a sample of the space, which never depends on
 * data: k[s * n + i] = K(orders[i]) of the s-th setting, with all its runs. A setting can
 * be trained limit / K times at an order; the order is best that keeps, averaged over all
 * settings that any order affords once, the largest share of what the best order of each
 * setting would allow. Of equals the lowest. DP_E_LIMIT if no order affords any. */
DP_MUSTCHECK int dp_filter_choose_order(double epsilon, double delta, const double *orders,
					size_t n, const double *k, size_t nsettings,
					struct dp_filter *out, struct dp_err *err);
/* May a training of K(order) = `next` start, where `spent` is that of all that are over
 * and `pending` that of all that have started, with their worst-case retries? */
bool dp_filter_allows(const struct dp_filter *f, double spent, double pending, double next);
/* The greatest `next` that is allowed, rounded down; 0: none. */
double dp_filter_remaining(const struct dp_filter *f, double spent, double pending);

/* ---- noise on what is released (gaussian_release.c) ----
 *
 * The mean of a share (values within [0, 1]) over `records` records moves by at most
 * 1/records when one of them is replaced, and so does its mean over runs. Gaussian noise
 * of standard deviation sigma makes it a Gaussian mechanism with
 *     K(a) = a (a - 1) / (2 sigma^2 records^2)
 * (Mironov 2017, Proposition 7), mu = 1/(sigma records). */

/* mu of n releases together: sqrt(n) / (sigma records); NaN or out of range: +inf. */
double dp_noisy_release_mu(double records, double sigma, double n);
/* k[i] = K(orders[i]) of one release. */
void dp_noisy_release_renyi(double records, double sigma, const double *orders, size_t n,
			    double *k);
/* Epsilon at delta of at most n releases, exactly (Dong, Roth and Su 2022, Corollary 3.3:
 * n Gaussian mechanisms of one mu, chosen adaptively, are no worse than one of mu
 * sqrt(n)); stopping earlier costs no more. Where sigma differs from release to release
 * it takes an odometer or a filter. */
double dp_noisy_release_epsilon(double records, double sigma, double n, double delta);

/* ---- private selection (selection.c) ----
 *
 * Papernot and Steinke, Hyperparameter Tuning with Renyi Differential Privacy, ICLR 2022.
 * A number of trainings is drawn in secret, that many settings are drawn independently
 * from a fixed prior, each is trained once, and only the best by released utility is
 * published. Never for an adaptive search; not with a limit on time that results
 * influence; a failed run scores worst and counts. */

enum dp_selection_law {
	DP_SELECTION_NEGATIVE_BINOMIAL, /* truncated, at least 1: Theorem 2 */
	DP_SELECTION_POISSON            /* may be 0, then nothing is published: Theorem 6 */
};
struct dp_selection {
	enum dp_selection_law law;
	double mean;      /* of the number of trainings */
	double eta;       /* above -1; 1: geometric, 0: logarithmic */
	double log_gamma; /* ln gamma, below 0 */
};

/* The law with this mean: above 1 (negative binomial) or 0 (Poisson), at most
 * DP_SELECTION_MEAN_MAX. */
#define DP_SELECTION_MEAN_MAX 1e5
DP_MUSTCHECK int dp_selection_init_neg_binomial(double eta, double mean, struct dp_selection *out,
						struct dp_err *err);
DP_MUSTCHECK int dp_selection_init_poisson(double mean, struct dp_selection *out,
					   struct dp_err *err);
/* A number of trainings by inverting the law's distribution function, within mean x 1e-15
 * of it in total variation. The stream must be one that nobody can guess. */
uint64_t dp_selection_draw(const struct dp_selection *s, struct dp_rng *r);
/* out[i] = K(orders[i]) of the selection, where k[i] is that of one training, the largest
 * over all settings of the prior; out is not k.
 *   Theorem 2:  e'(a) = e(a) + (1 + eta) min over b of [(1 - 1/b) e(b) + ln(1/gamma)/b]
 *               + ln E[K] / (a - 1), with e(a) = K(a)/(a-1)
 *   Theorem 6:  e'(a) = e(a) + m d + ln m / (a - 1), where one training is
 *               (ln(1 + 1/(a - 1)), d)-private; and a little more, since there may be no
 *               training at all, which the theorem leaves out
 * delta[i] is d at orders[i] for Poisson; NULL: what the curve itself proves. */
void dp_selection_renyi(const struct dp_selection *s, const double *orders, const double *k,
			const double *delta, size_t n, double *out);

#endif
