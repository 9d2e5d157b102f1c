/* query.h - questions to the privacy oracles, asked with options.
 *
 * Owns the options that `epsilon` and `noise` share. */
#ifndef DP_CTL_QUERY_H
#define DP_CTL_QUERY_H
#include "ctl/command.h"

struct dp_mechanism;
struct dp_epsilon;
/* An option for every key of every mechanism, with '-' for '_'. */
#define CTL_QUERY_OPTIONS                                                                \
	{ "mechanism", 0, "dp-sgd|gaussian|laplace|output-perturbation|svt",             \
	  "what is asked about" },                                                       \
		{ "sampling", 0, "without-replacement|poisson",                          \
		  "dp-sgd: how lots are drawn" },                                        \
		{ "records", 0, "N", "number of training records" },                     \
		{ "lot", 0, "N", "dp-sgd: records in a lot" },                           \
		{ "epochs", 0, "N", "dp-sgd: passes over the data" },                    \
		{ "steps", 0, "N", "dp-sgd: steps, in place of epochs" },                \
		{ "noise-multiplier", 0, "NUMBER",                                       \
		  "dp-sgd: noise over 2L (without-replacement) or L (poisson)" },        \
		{ "noise-variance", 0, "NUMBER", "dp-sgd: the square of that" },         \
		{ "delta", 0, "NUMBER",                                                  \
		  "the probability that the bound may fail with" },                      \
		{ "accountant", 0, "rdp|pld", "dp-sgd: how steps are added up" },        \
		{ "bound", 0, "tight|general",                                           \
		  "dp-sgd without replacement: which bound" },                           \
		{ "conversion", 0, "classic|improved", "rdp: from Renyi to epsilon" },   \
		{ "orders", 0, "integer|real", "rdp: orders that are tried" },           \
		{ "sigma", 0, "NUMBER", "gaussian, output-perturbation: noise" },        \
		{ "sensitivity", 0, "NUMBER", "gaussian, laplace: of the query" },       \
		{ "scale", 0, "NUMBER", "laplace, svt: scale of the noise" },            \
		{ "cutoff", 0, "N", "svt: answers above the threshold" },                \
	{                                                                                \
		"regularization", 0, "NUMBER", "output-perturbation: of the loss"        \
	}
/* The question that the options ask: the mechanism and its values (room for
 * DP_PRIVACY_KEYS_MAX), NaN where an option is absent. */
DP_MUSTCHECK int ctl_query(struct ctl *ctl, const struct dp_mechanism **m, double *values,
			   struct dp_err *err);
/* Prints what an answer holds for: relation, theorem, every key. */
void ctl_query_assumptions(struct ctl *ctl, const struct dp_mechanism *m,
			   const double *values, const struct dp_epsilon *e);

#endif
