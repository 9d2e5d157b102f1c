/* adaptive_composition.h - privacy odometer, filter and selection for adaptive searches.
 *
 * A search trains many times on the same data, with settings that may depend on earlier results.
 * All sums here are of K(a) = (a - 1) x Renyi divergence of order a > 1, the larger of both
 * directions. Divergences of adaptive mechanisms add up at one order if that order, and the limit
 * of the sum, are fixed before the first run. A sum whose order is chosen afterwards proves
 * nothing. Hence three ways, each with its theorem:
 *
 *   odometer   a reading after every run; with probability 1 - delta it holds for all of them
 *              together (Ville)
 *   filter     a budget of (epsilon, delta); a run starts only if it fits (Feldman and Zrnic)
 *   selection  a secret number of independent draws, only the best published (Papernot and Steinke)
 *
 * If all settings and their number are fixed before the first run (grid, random search),
 * dp_privacy_compose() holds, and so does dp_renyi_epsilon() of the sum.
 *
 * Every number is an upper bound: sums round up, budgets round down, NaN counts as +inf, and +inf
 * is never allowed. Only dp_privacy_renyi_curve() keeps state between calls. */
#ifndef DP_PRIVACY_COMPOSITION_ADAPTIVE_COMPOSITION_H
#define DP_PRIVACY_COMPOSITION_ADAPTIVE_COMPOSITION_H
#include "base/rng.h"
#include "privacy/privacy.h"

/* ---- Renyi curves (renyi_curve.c) ---- */

enum {
	DP_RENYI_ORDERS_MAX = 128 /* of an odometer, and candidates of a filter */
};

/* Tables that make a query similar to earlier ones cheap. One thread at a time. */
struct dp_renyi_cache;
struct dp_renyi_cache *dp_renyi_cache_new(void);
void dp_renyi_cache_free(struct dp_renyi_cache *m);

/* k[i] = K(orders[i]) of all items on the same data, each used `times` times. Orders are above 1;
 * integers are fastest. +inf where there is no bound. Refuses what dp_privacy_compose() refuses:
 * mechanisms without composition, different neighbouring relations, values out of range. On error
 * every k[i] is +inf. Lots without replacement have the curve of their dominating pair
 * (rdp_dominating_pair.c), about a third of what dp_privacy_compose() adds up; `bound` has no
 * effect. */
DP_MUSTCHECK int dp_privacy_renyi_curve(struct dp_renyi_cache *m,
					const struct dp_composition_item *items, size_t nitems,
					const double *orders, size_t n, double *k,
					struct dp_err *err);

/* sum + k, rounded up; +inf if either is NaN or negative. Compute all sums of K with it. */
double dp_renyi_add(double sum, double k);
/* K of `times` uses, rounded up. 0 if times is 0, for any k. */
double dp_renyi_multiply(double times, double k);

/* Epsilon at delta of a mechanism with this curve, by the improved conversion (Balle et al. 2020,
 * Theorem 21; Canonne, Kamath and Steinke 2020, Proposition 12):
 *     epsilon = min over a of K(a)/(a-1) + ln(1 - 1/a) - (ln delta + ln a)/(a-1).
 * Invalid for the sum of an adaptive search. *order (may be NULL) is where the minimum lies, NaN
 * with +inf. The answer is +inf unless 0 < delta < 1. */
double dp_renyi_epsilon(const double *orders, const double *k, size_t n, double delta,
			double *order);
/* The inverse: delta at epsilon, at most 1. */
double dp_renyi_delta(const double *orders, const double *k, size_t n, double epsilon);

/* ---- the odometer (odometer.c) ----
 *
 * For a data set D and a neighbour let L_t be the log-likelihood ratio of everything seen up to run
 * t. If K_s(a) is chosen before run s starts, exp((a-1) L_t - sum of K_s(a)) is a nonnegative
 * supermartingale that begins at 1, and so is its average over orders with weights w_a fixed before
 * the study. By Ville's inequality, with probability at least 1 - delta, for all t together,
 *     L_t <= min over a of [sum of K_s(a) + ln(1/(w_a delta))] / (a - 1).
 * So it may be read after every run, and the study may stop because of it. It states "with
 * probability 1 - delta the loss is at most ...". The improved conversion does not hold here.
 * Concurrent runs count from their start, in the order of their starts: the input of a run depends
 * only on runs that started before it, and a running one takes no input. So seeing fewer of them,
 * or later, or stopping them, changes nothing. */

/* Fixed before the first run, and stored with the study. */
struct dp_odometer {
	size_t n;
	double order[DP_RENYI_ORDERS_MAX]; /* above 1, ascending */
	double weight[DP_RENYI_ORDERS_MAX];
};

/* The odometer of new studies (see odometer.c). Studies store their own, as versions may differ. */
void dp_odometer_init_default(struct dp_odometer *o);
/* Checks orders and weights that were read from a file. */
DP_MUSTCHECK int dp_odometer_check(const struct dp_odometer *o, struct dp_err *err);
/* The reading for sum[i] = sum of K_s(o->order[i]) by dp_renyi_add(). 0 before the first run, +inf
 * where there is no bound. *order (may be NULL) as in dp_renyi_epsilon(). */
double dp_odometer_epsilon(const struct dp_odometer *o, const double *sum, double delta,
			   double *order);

/* ---- the filter (filter.c) ----
 *
 * Feldman and Zrnic, Individual Privacy Accounting via a Renyi Filter, NeurIPS 2021, the
 * composition theorem for adaptively chosen parameters: if run s starts only while the sum of
 * K_s(a)/(a-1), its own included, is at most B, the whole transcript is (a, B)-Renyi private, for
 * any choices and any stopping time. By the improved conversion that is (epsilon, delta) with
 *     B = epsilon - ln(1 - 1/a) + (ln delta + ln a)/(a - 1).
 * A concurrent run counts as pending from its start and as spent after its end (Haney et al.,
 * Concurrent Composition for Interactive Differential Privacy with Adaptive Privacy-Loss
 * Parameters, CCS 2023). Only the budget is proved. No smaller epsilon follows from what was
 * spent. */

struct dp_filter {
	double epsilon, delta; /* the budget of all runs together */
	double order;          /* fixed before the first run */
	double limit;          /* of the sum of K(order): (order - 1) B; above 0 */
};

/* B, rounded down. If it is not above 0 (at worst -inf), this order proves nothing. */
double dp_filter_bound(double epsilon, double delta, double order);
/* The filter with exactly this order. DP_E_INVALID if it would allow nothing. */
DP_MUSTCHECK int dp_filter_init(double epsilon, double delta, double order, struct dp_filter *out,
				struct dp_err *err);
/* Chooses the order from the budget and a sample of the space that does not depend on data: k[s * n
 * + i] = K(orders[i]) of setting s, with all its runs. A setting can be trained limit / K times at
 * an order. The best order keeps the largest share of what each setting's own best order would
 * allow, averaged over all settings that any order affords once. Ties go to the lowest order.
 * DP_E_LIMIT if no order affords any. */
DP_MUSTCHECK int dp_filter_choose_order(double epsilon, double delta, const double *orders,
					size_t n, const double *k, size_t nsettings,
					struct dp_filter *out, struct dp_err *err);
/* True if a run of K(order) = `next` may start. `spent` is the sum of finished runs, `pending` that
 * of started ones with their worst-case retries. */
bool dp_filter_allows(const struct dp_filter *f, double spent, double pending, double next);
/* The largest `next` that is allowed, rounded down; 0: none. */
double dp_filter_remaining(const struct dp_filter *f, double spent, double pending);

/* ---- noisy releases (gaussian_release.c) ----
 *
 * The mean of values within [0, 1] over `records` records changes by at most 1/records when one
 * record is replaced, and so does its mean over runs. Gaussian noise of standard deviation sigma
 * makes it a Gaussian mechanism with
 *     K(a) = a (a - 1) / (2 sigma^2 records^2)
 * (Mironov 2017, Proposition 7), mu = 1/(sigma records). */

/* mu of n releases together: sqrt(n) / (sigma records). +inf for NaN and values out of range. */
double dp_noisy_release_mu(double records, double sigma, double n);
void dp_noisy_release_renyi(double records, double sigma, const double *orders, size_t n,
			    double *k);
/* Exact epsilon at delta of at most n releases (Dong, Roth and Su 2022, Corollary 3.3: n adaptive
 * Gaussian mechanisms of one mu are no worse than one of mu sqrt(n)). Stopping earlier costs no
 * more. If sigma differs between releases, use an odometer or a filter. */
double dp_noisy_release_epsilon(double records, double sigma, double n, double delta);

/* ---- private selection (selection.c) ----
 *
 * Papernot and Steinke, Hyperparameter Tuning with Renyi Differential Privacy, ICLR 2022. Draws a
 * secret number of runs, draws their settings independently from a fixed prior, trains each once,
 * and publishes only the best by released utility. Invalid for an adaptive search or a time limit
 * that results influence. A failed run scores worst and counts. */

enum dp_selection_law {
	DP_SELECTION_NEGATIVE_BINOMIAL, /* truncated, at least 1: Theorem 2 */
	DP_SELECTION_POISSON            /* may be 0: nothing is published; Theorem 6 */
};
struct dp_selection {
	enum dp_selection_law law;
	double mean;      /* of the number of runs */
	double eta;       /* above -1; 1: geometric, 0: logarithmic */
	double log_gamma; /* ln gamma, below 0 */
};

/* The distribution with this mean: above 1 (negative binomial) or 0 (Poisson), at most this. */
#define DP_SELECTION_MEAN_MAX 1e5
DP_MUSTCHECK int dp_selection_init_neg_binomial(double eta, double mean, struct dp_selection *out,
						struct dp_err *err);
DP_MUSTCHECK int dp_selection_init_poisson(double mean, struct dp_selection *out,
					   struct dp_err *err);
/* Draws the number of runs by inversion, within mean x 1e-15 in total variation. Keep r secret. */
uint64_t dp_selection_draw(const struct dp_selection *s, struct dp_rng *r);
/* out[i] = K(orders[i]) of the selection, where k[i] is that of one run, maximised over all
 * settings of the prior. out must not be k.
 *   Theorem 2:  e'(a) = e(a) + (1 + eta) min over b of [(1 - 1/b) e(b) + ln(1/gamma)/b]
 *               + ln E[K] / (a - 1), with e(a) = K(a)/(a-1)
 *   Theorem 6:  e'(a) = e(a) + m d + ln m / (a - 1), where one run is
 *               (ln(1 + 1/(a - 1)), d)-private; and a little more, because there may be no run
 *               at all, which the theorem omits
 * delta[i] is d at orders[i] for Poisson; NULL: what the curve itself proves. */
void dp_selection_renyi(const struct dp_selection *s, const double *orders, const double *k,
			const double *delta, size_t n, double *out);

#endif
