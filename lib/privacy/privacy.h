/* privacy.h - mechanisms and accountants: the epsilon of a private algorithm's parameters.
 *
 * Every number is an upper bound. A mechanism is a const table in one file, with its keys,
 * composition, cost and descriptions. Study files, `dparetoctl`, the search, reports and manuals
 * use these tables and no mechanism's name. */
#ifndef DP_PRIVACY_H
#define DP_PRIVACY_H
#include "base/base.h"
#include "privacy/declaration.h"
#include <jansson.h>

enum dp_privacy_key_kind {
	DP_PRIVACY_NUMBER,  /* a real, constant or the name of a parameter */
	DP_PRIVACY_INTEGER, /* an integer, likewise */
	DP_PRIVACY_CHOICE,  /* one of `words`, always constant */
};

/* One key of a mechanism. A value is a double; for a word, its index in `choices`. */
struct dp_privacy_key {
	const char *name;
	enum dp_privacy_key_kind kind;
	bool required;
	double default_value;        /* NaN: none */
	double lo, hi;               /* allowed range */
	bool lo_open, hi_open;       /* the bound itself is excluded */
	const char *const *choices;  /* ends with NULL; only for DP_PRIVACY_CHOICE */
	const char *help;            /* sentences */
	const char *short_help;      /* a few words, for an option's help */
	const char *only_accountant; /* applies only with this accountant; NULL: always */
	/* Keys of one group (from 1) are alternatives: exactly one must be given. 0: none. */
	unsigned alternatives_group;
	/* The sign with which epsilon follows this key, all else equal, at any Renyi order: 1 if a
	 * larger value is never more private, -1 if never less private, 0 if neither is known. */
	int epsilon_trend;
	bool can_solve_max; /* more costs more: dp_privacy_solve_max() accepts it */
	/* The key that replaces this one and excludes it. NULL: none. */
	const char *replaced_by;
};

enum {
	DP_PRIVACY_KEYS_MAX = 16
};

struct dp_epsilon {
	double epsilon; /* may be +inf: no privacy at all */
	double delta;
	double order;           /* of the Renyi bound; NaN: none */
	const char *accountant; /* that gave the bound: "rdp", "pld", "closed-form" */
	const char *theorem;    /* NULL: the accountant's own, dp_privacy_describe() */
	double error;           /* absolute; proved or estimated */
	bool error_is_proved;
};

/* The time of one evaluation: microseconds; microseconds with a cache; or milliseconds, for which a
 * search needs a surrogate. */
enum dp_privacy_cost {
	DP_PRIVACY_COST_CLOSED_FORM = 1,
	DP_PRIVACY_COST_CACHED,
	DP_PRIVACY_COST_EXPENSIVE
};

/* Indices of the words of the `accountant` and `conversion` keys. */
enum dp_privacy_accountant {
	DP_PRIVACY_RDP,
	DP_PRIVACY_PLD
};
enum dp_privacy_conversion {
	DP_PRIVACY_CONVERSION_CLASSIC,
	DP_PRIVACY_CONVERSION_IMPROVED
};
extern const char *const dp_privacy_accountants[]; /* both end with NULL */
extern const char *const dp_privacy_conversions[];

/* A mechanism with its values in words, for reports; see dp_privacy_describe(). */
enum {
	DP_PRIVACY_TEXT_LEN = 512
};
struct dp_privacy_description {
	const char *relation;              /* which datasets are neighbours */
	const char *accountant;            /* what is added up: "Renyi divergences" */
	const char *theorem;               /* of this accountant */
	const char *noise_unit;            /* what the noise is relative to, in sentences */
	const char *sampling;              /* how records are sampled; NULL: all are used */
	char sampler[DP_PRIVACY_TEXT_LEN]; /* the same with sizes; may be "" */
	char noise[DP_PRIVACY_TEXT_LEN];   /* how much noise; may be "" */
};

struct dp_privacy_workspace; /* opaque: tables and workspaces of caches */
struct dp_privacy_component; /* opaque: what accountants compose */

/* A mechanism. Unless noted, functions get values checked by dp_privacy_check_values(): values[i]
 * belongs to keys[i] and is in its range, or NaN if absent. */
struct dp_mechanism {
	const char *name;
	const char *summary;  /* one line */
	const char *relation; /* neighbouring relation */
	const char *source;   /* paper and theorem */
	const struct dp_privacy_key *keys;
	size_t nkeys;
	/* Keys with a common meaning, pointers into `keys`. NULL: the mechanism has none. */
	const struct dp_privacy_key *delta;
	const struct dp_privacy_key *noise;   /* solved for by dp_privacy_solve_noise() */
	const struct dp_privacy_key *records; /* number of training records */
	const struct dp_privacy_key *accountant, *conversion;

	/* DP_OK, or DP_E_INVALID with a message that names the key. */
	int (*epsilon)(const double *values, struct dp_epsilon *out, struct dp_err *err);
	/* The same bits, with memory kept between calls. NULL: epsilon() needs none. */
	int (*epsilon_cached)(struct dp_privacy_workspace *workspace, const double *values,
			      struct dp_epsilon *out, struct dp_err *err);
	/* Values may be NaN if they depend on the search point. */
	enum dp_privacy_cost (*cost)(const double *values);
	/* Its component in a composition, without delta. NULL: it does not compose, and
	 * compositions with it are refused. */
	int (*component)(const double *values, struct dp_privacy_component *out,
			 struct dp_err *err);
	/* True if this key must be an integer although its row allows fractions. Looks only at
	 * words; other values may be NaN. NULL: the rows decide. */
	bool (*requires_integer)(const double *values, const struct dp_privacy_key *k);
	/* If epsilon falls and rises again as a key grows: the i-th range from above, i >= 0, in
	 * which it never falls; empty if lo > hi. False: no more ranges, or epsilon never falls
	 * with these values. NULL: it never does. */
	bool (*monotone_range)(const double *values, const struct dp_privacy_key *k, size_t i,
			       double *lo, double *hi);
	/* Replaces derived keys by what a trainer needs, for example epochs by steps. Epsilon stays
	 * the same. NULL: nothing to do. */
	void (*resolve)(double *values);
	/* See dp_privacy_check_declaration(). NULL: no declaration can contradict it. */
	int (*check_declaration)(const double *values, const struct dp_declaration *d,
				 char *warning, struct dp_err *err);
	/* Refines *out. Values may be NaN as for cost(). NULL: nothing to refine. */
	void (*describe)(const double *values, struct dp_privacy_description *out);
};

/* All mechanisms (mechanisms.def), then NULL. */
enum {
	DP_MECHANISMS_MAX = 64
};
extern const struct dp_mechanism *const dp_mechanisms[];
const struct dp_mechanism *dp_mechanism_find(const char *name);
/* All names, then NULL; and as text: "dp-sgd, gaussian, svt". */
enum {
	DP_MECHANISMS_LEN = 1024
};
void dp_mechanism_names(const char *names[DP_MECHANISMS_MAX + 1]);
char *dp_mechanism_names_text(char out[DP_MECHANISMS_LEN]);
/* A key by name, or NULL; its index among the values; its value, NaN for NULL. */
const struct dp_privacy_key *dp_privacy_key_find(const struct dp_mechanism *m, const char *name);
size_t dp_privacy_key_index(const struct dp_mechanism *m, const struct dp_privacy_key *k);
double dp_privacy_value(const struct dp_mechanism *m, const double *values,
			const struct dp_privacy_key *k);
/* Describes a mechanism with these values. Omits NaN, which means unknown. */
void dp_privacy_describe(const struct dp_mechanism *m, const double *values,
			 struct dp_privacy_description *out);
/* Describes an answer, whose accountant and theorem may differ from those requested. */
void dp_privacy_describe_answer(const struct dp_mechanism *m, const double *values,
				const struct dp_epsilon *answer,
				struct dp_privacy_description *out);
/* NaN: unknown. */
enum dp_privacy_cost dp_mechanism_cost(const struct dp_mechanism *m, const double *values);
/* True if the key must be an integer with these values. NaN: unknown. */
bool dp_privacy_key_is_integer(const struct dp_mechanism *m, const double *values,
			       const struct dp_privacy_key *k);
/* True if v is finite and in the key's range, and an integer if it must be. */
bool dp_privacy_key_allows(const struct dp_privacy_key *k, double v);
/* The allowed values, for messages and manuals: "whole number >= 1", "poisson |
 * without-replacement". Returns `out`. */
enum {
	DP_PRIVACY_RANGE_TEXT_LEN = 160
};
char *dp_privacy_key_format_range(const struct dp_privacy_key *k,
				  char out[DP_PRIVACY_RANGE_TEXT_LEN]);
/* Checks every value against its key and fills in defaults: full[i] is NaN only if the key is
 * absent without a default. The message names the key. */
DP_MUSTCHECK int dp_privacy_check_values(const struct dp_mechanism *m, const double *values,
					 double full[DP_PRIVACY_KEYS_MAX], struct dp_err *err);
/* Checks the values (NaN: the default, refused if required) and computes epsilon. On error *out is
 * unchanged and the message names the key. Thread-safe. */
DP_MUSTCHECK int dp_privacy_epsilon(const struct dp_mechanism *m, const double *values,
				    struct dp_epsilon *out, struct dp_err *err);
/* A warning about a correct answer, as a sentence. False and "" if there is none. */
enum {
	DP_PRIVACY_WARNING_LEN = 256
};
bool dp_privacy_warning(const struct dp_mechanism *m, const double *values,
			char out[DP_PRIVACY_WARNING_LEN]);

/* ---- many evaluations (mechanism_cache.c) ---- */

/* A mechanism with a cache of what depends only on the noise. One thread at a time. */
struct dp_mechanism_cache;
struct dp_mechanism_cache *dp_mechanism_cache_new(const struct dp_mechanism *m);
void dp_mechanism_cache_free(struct dp_mechanism_cache *p);
/* Bit for bit as dp_privacy_epsilon(). */
DP_MUSTCHECK int dp_mechanism_cache_epsilon(struct dp_mechanism_cache *p, const double *values,
					    struct dp_epsilon *out, struct dp_err *err);

/* ---- composition (compose.c) ---- */

enum {
	DP_PRIVACY_ITEMS_MAX = 64
};
struct dp_composition_item {
	const struct dp_mechanism *mechanism;
	const double *values; /* delta, accountant, conversion and orders are ignored */
	double times;         /* >= 1, whole */
};
/* Epsilon of all items on the same data, at delta. With `pld`, convolves loss distributions; else
 * adds Renyi curves and uses the improved conversion. Refuses items with different neighbouring
 * relations and mechanisms without composition. delta = 0 needs items that are all purely private.
 * First merges plain Gaussian mechanisms into one, exactly; if nothing else is left, the answer is
 * a closed form. Any number of items, but `pld` takes at most DP_PRIVACY_ITEMS_MAX others. More
 * Renyi curves than that are added at fixed orders, which can raise epsilon a little. With hardly
 * any noise `pld` falls back to Renyi, and out->accountant says so. */
DP_MUSTCHECK int dp_privacy_compose(const struct dp_composition_item *items, size_t n, double delta,
				    bool pld, struct dp_epsilon *out, struct dp_err *err);
/* Checks that theorems cover all items together, at any values. DP_OK, or the reason. */
DP_MUSTCHECK int dp_privacy_check_composable(const struct dp_composition_item *items, size_t n,
					     double delta, struct dp_err *err);

/* ---- calibration (calibrate.c, calibrate_largest.c) ---- */

/* The smallest noise (m->noise, whose value in `values` is ignored) with epsilon at most `target`,
 * to a relative 1e-6, and the answer at exactly that noise. */
DP_MUSTCHECK int dp_privacy_solve_noise(const struct dp_mechanism *m, const double *values,
					double target, double *noise, struct dp_epsilon *at,
					struct dp_err *err);
/* Sets a value and clears its alternatives. */
void dp_privacy_set_value(const struct dp_mechanism *m, double *values,
			  const struct dp_privacy_key *k, double value);
/* The least delta with epsilon at most `epsilon`, to a relative 1e-6: at->delta, and the answer at
 * exactly that delta. Tries 0, but nothing else below 1e-100. */
DP_MUSTCHECK int dp_privacy_solve_delta(const struct dp_mechanism *m, const double *values,
					double epsilon, struct dp_epsilon *at, struct dp_err *err);
/* The largest value of a key with can_solve_max (steps, epochs, lot), up to 1e12, with epsilon at
 * most `target`: an integer where it must be, else to a relative 1e-6; and the answer at exactly
 * that value. Ignores its value in `values`. If rounding of steps makes epsilon fall and rise
 * again, the next larger value fails, but a still larger one may not. */
DP_MUSTCHECK int dp_privacy_solve_max(const struct dp_mechanism *m, const double *values,
				      const struct dp_privacy_key *k, double target, double *value,
				      struct dp_epsilon *at, struct dp_err *err);
/* The same, but also tries larger values where epsilon falls and rises again: the first
 * DP_PRIVACY_MONOTONE_RANGES_MAX ranges from above. *tried: all values from here on were covered,
 * so *value is the largest if *tried is not above it; else a value in between may also meet the
 * target. *cut: the search hit its work limit first. */
enum {
	DP_PRIVACY_MONOTONE_RANGES_MAX = 16
};
DP_MUSTCHECK int dp_privacy_solve_largest(const struct dp_mechanism *m, const double *values,
					  const struct dp_privacy_key *k, double target,
					  double *value, double *tried, bool *cut,
					  struct dp_epsilon *at, struct dp_err *err);
/* Epsilon at each of n deltas. */
DP_MUSTCHECK int dp_privacy_epsilon_curve(const struct dp_mechanism *m, const double *values,
					  const double *deltas, size_t n, struct dp_epsilon *out,
					  struct dp_err *err);

/* ---- what a trainer declares ---- */

/* Checks a declaration against the mechanism with these values. DP_E_INVALID with a message that
 * names the first contradiction. `shuffle` passes with a sentence in `warning` (else ""). */
DP_MUSTCHECK int dp_privacy_check_declaration(const struct dp_mechanism *m, const double *values,
					      const struct dp_declaration *d,
					      char warning[DP_PRIVACY_WARNING_LEN],
					      struct dp_err *err);

/* ---- JSON (privacy_json.c) ---- */

/* Parses {"mechanism": ..., KEY: VALUE, ...}. Ignores unknown fields that are no misspelt keys. */
DP_MUSTCHECK int dp_privacy_query_parse(const json_t *query, const struct dp_mechanism **m,
					double values[DP_PRIVACY_KEYS_MAX], struct dp_err *err);
/* {"epsilon":...,"delta":...,"order":...,"accountant":...,"error_bound":...} */
json_t *dp_epsilon_to_json(const struct dp_epsilon *e);
/* The values that determine a mechanism's epsilon, for the trainer: {"mechanism":"dp-sgd",
 * "records":30956,"steps":1452,...}, with defaults and the number of steps. It is a query with the
 * same answer. `composed`: omits what the composition decides. */
json_t *dp_mechanism_accounting_json(const struct dp_mechanism *m, const double *values,
				     bool composed);
/* A composition as an object: {"compose":[{"mechanism":...,"times":2},...],"delta":...,
 * "accountant":"pld"}. Ignores delta and accountant in the list. Messages name "compose[1]". */
enum {
	DP_PRIVACY_COMPOSED_MAX = 10000
};
struct dp_privacy_composition {
	struct dp_composition_item *items; /* (n) */
	double (*values)[DP_PRIVACY_KEYS_MAX];
	size_t n;
	double delta;
	bool pld;
};
DP_MUSTCHECK int dp_privacy_composition_parse(const json_t *query,
					      struct dp_privacy_composition *out,
					      struct dp_err *err);
void dp_privacy_composition_free(struct dp_privacy_composition *c);
DP_MUSTCHECK int dp_privacy_composition_epsilon(const struct dp_privacy_composition *c,
						struct dp_epsilon *out, struct dp_err *err);
/* As dp_privacy_solve_delta(). Ignores the composition's own delta (calibrate.c). */
DP_MUSTCHECK int dp_privacy_composition_delta(const struct dp_privacy_composition *c,
					      double epsilon, struct dp_epsilon *at,
					      struct dp_err *err);
/* Answers one line of `dparetoctl epsilon --batch`. *answer is a new reference. */
DP_MUSTCHECK int dp_privacy_answer_query(const json_t *query, json_t **answer, struct dp_err *err);

#endif
