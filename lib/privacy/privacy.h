/* privacy.h - privacy oracles: what an algorithm's parameters cost in epsilon.
 *
 * Every number is an upper bound. A mechanism is a const table in one file that says all
 * that anybody asks about it: its keys, how it composes, what it costs to ask, how it is
 * worded. Study files, `dparetoctl`, the search, reports and the manuals read these rows
 * and know no mechanism by name. */
#ifndef DP_PRIVACY_H
#define DP_PRIVACY_H
#include "base/base.h"
#include "privacy/declaration.h"
#include <jansson.h>

enum dp_privacy_key_kind {
	DP_PRIVACY_NUMBER,  /* a real, constant or the name of a parameter */
	DP_PRIVACY_INTEGER, /* a whole number, likewise */
	DP_PRIVACY_CHOICE,  /* one of `words`, always constant */
};

/* One key of a mechanism. A value is a double: for a word its index in `words`. */
struct dp_privacy_key {
	const char *name;
	enum dp_privacy_key_kind kind;
	bool required;
	double default_value;        /* the default; NaN: none */
	double lo, hi;               /* allowed range */
	bool lo_open, hi_open;       /* the end itself is not allowed */
	const char *const *choices;  /* ends with NULL; only for DP_PRIVACY_CHOICE */
	const char *help;            /* sentences */
	const char *short_help;      /* a few words, for an option's help */
	const char *only_accountant; /* counts with this accountant only; NULL: always */
	/* Keys of one group, 1 and up, are alternatives: exactly one of them is given.
	 * 0: none. */
	unsigned alternatives_group;
	/* All else equal, a larger value is never more private (1), or never less private
	 * (-1), at any Renyi order; 0: neither is known. */
	int epsilon_trend;
	bool can_solve_max; /* more of it costs more: dp_privacy_solve_max() solves for it */
	/* This key stands in its place, and excludes it. NULL: none does. */
	const char *replaced_by;
};

enum {
	DP_PRIVACY_KEYS_MAX = 16
};

struct dp_epsilon {
	double epsilon; /* may be +inf: no privacy at all */
	double delta;
	double order;           /* of the Renyi bound; NaN where there is none */
	const char *accountant; /* the one that gave it: "rdp", "pld", "closed-form" */
	const char *theorem;    /* behind it; NULL: the accountant's own, dp_privacy_describe() */
	double error;           /* absolute; proved or estimated */
	bool error_is_proved;
};

/* What one evaluation takes: as it is, microseconds; microseconds once it is prepared;
 * milliseconds, so that a search needs a model of it. */
enum dp_privacy_cost {
	DP_PRIVACY_COST_CLOSED_FORM = 1,
	DP_PRIVACY_COST_CACHED,
	DP_PRIVACY_COST_EXPENSIVE
};

/* The words of a key that chooses between accountants or conversions, in this order. */
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

/* A mechanism with certain values in words, for reports; see dp_privacy_describe(). */
enum {
	DP_PRIVACY_TEXT_LEN = 512
};
struct dp_privacy_description {
	const char *relation;              /* which datasets are neighbours */
	const char *accountant;            /* what adds up: "Renyi divergences" */
	const char *theorem;               /* behind this accountant's number */
	const char *noise_unit;            /* what the noise is relative to, as sentences */
	const char *sampling;              /* how records are drawn; NULL: all are used */
	char sampler[DP_PRIVACY_TEXT_LEN]; /* that with its sizes; "": nothing to say */
	char noise[DP_PRIVACY_TEXT_LEN];   /* how much of it; "": nothing to say */
};

struct dp_privacy_workspace; /* opaque: tables and workspaces of prepared mechanisms */
struct dp_privacy_component; /* opaque: what the accountants compose */

/* Every function gets values as dp_privacy_check_values() leaves them, except where it says so:
 * values[i] belongs to keys[i], is within its range, NaN where absent. */
struct dp_mechanism {
	const char *name;
	const char *summary;  /* one line */
	const char *relation; /* neighbouring relation the number holds for */
	const char *source;   /* paper and theorem */
	const struct dp_privacy_key *keys;
	size_t nkeys;
	/* The keys whose meaning others know, within `keys`; NULL: it has none. */
	const struct dp_privacy_key *delta;
	const struct dp_privacy_key *noise;   /* dp_privacy_solve_noise() solves for it */
	const struct dp_privacy_key *records; /* number of training records */
	const struct dp_privacy_key *accountant, *conversion;

	/* DP_OK, or DP_E_INVALID with a sentence that names the key. */
	int (*epsilon)(const double *values, struct dp_epsilon *out, struct dp_err *err);
	/* The same bits with memory kept between calls; NULL: epsilon() needs none. */
	int (*epsilon_cached)(struct dp_privacy_workspace *workspace, const double *values,
			      struct dp_epsilon *out, struct dp_err *err);
	/* Values may be NaN where only a point of the search will tell. */
	enum dp_privacy_cost (*cost)(const double *values);
	/* What is added up when it is composed; delta does not count. NULL: no way to
	 * compose it is known, and a composition with it is refused. */
	int (*component)(const double *values, struct dp_privacy_component *out,
			 struct dp_err *err);
	/* Must this key be a whole number, though its row allows fractions? Only words
	 * are looked at; the others may be NaN. NULL: rows say it all. */
	bool (*requires_integer)(const double *values, const struct dp_privacy_key *k);
	/* Where epsilon falls and rises again as a key grows: the i-th stretch of its
	 * values from above, i >= 0, within which it never falls; empty if lo > hi.
	 * False: none is left, or with these values it never falls at all. NULL: it
	 * never does. */
	bool (*monotone_range)(const double *values, const struct dp_privacy_key *k, size_t i,
			       double *lo, double *hi);
	/* Puts what whoever trains needs in the place of what it follows from, as steps
	 * in the place of epochs; epsilon is the same. NULL: there is nothing. */
	void (*resolve)(double *values);
	/* As dp_privacy_check_declaration(). NULL: nothing that a trainer can declare
	 * contradicts it. */
	int (*check_declaration)(const double *values, const struct dp_declaration *d,
				 char *warning, struct dp_err *err);
	/* Changes what the row alone cannot say; *out holds what it can. Values may be
	 * NaN as for cost(). NULL: nothing to change. */
	void (*describe)(const double *values, struct dp_privacy_description *out);
};

/* All mechanisms (mechanisms.def); ends with NULL. */
enum {
	DP_MECHANISMS_MAX = 64
};
extern const struct dp_mechanism *const dp_mechanisms[];
/* By name, or NULL. */
const struct dp_mechanism *dp_mechanism_find(const char *name);
/* All names, ended by NULL, and as a text: "dp-sgd, gaussian, svt". */
enum {
	DP_MECHANISMS_LEN = 1024
};
void dp_mechanism_names(const char *names[DP_MECHANISMS_MAX + 1]);
char *dp_mechanism_names_text(char out[DP_MECHANISMS_LEN]);
/* A key by name, or NULL; its place among the values; its value, NaN for NULL. */
const struct dp_privacy_key *dp_privacy_key_find(const struct dp_mechanism *m, const char *name);
size_t dp_privacy_key_index(const struct dp_mechanism *m, const struct dp_privacy_key *k);
double dp_privacy_value(const struct dp_mechanism *m, const double *values,
			const struct dp_privacy_key *k);
/* The words for a mechanism with these values; NaN: not known, left out. */
void dp_privacy_describe(const struct dp_mechanism *m, const double *values,
			 struct dp_privacy_description *out);
/* The words for an answer: accountant and theorem are those of the one that gave it,
 * which need not be the one that was asked. */
void dp_privacy_describe_answer(const struct dp_mechanism *m, const double *values,
				const struct dp_epsilon *answer,
				struct dp_privacy_description *out);
/* What one evaluation takes; NaN: not known yet. */
enum dp_privacy_cost dp_mechanism_cost(const struct dp_mechanism *m, const double *values);
/* Must the key be a whole number with these values? NaN: not known. */
bool dp_privacy_key_is_integer(const struct dp_mechanism *m, const double *values,
			       const struct dp_privacy_key *k);
/* Is v within the key's range, whole where it must be, and finite? */
bool dp_privacy_key_allows(const struct dp_privacy_key *k, double v);
/* What a key takes, for messages and manuals: "whole number >= 1", "poisson |
 * without-replacement". Returns `out`. */
enum {
	DP_PRIVACY_RANGE_TEXT_LEN = 160
};
char *dp_privacy_key_format_range(const struct dp_privacy_key *k,
				  char out[DP_PRIVACY_RANGE_TEXT_LEN]);
/* Checks every value against its key and fills in the defaults: full[i] is NaN only
 * where a key is absent and has no default. The sentence names the key. */
DP_MUSTCHECK int dp_privacy_check_values(const struct dp_mechanism *m, const double *values,
					 double full[DP_PRIVACY_KEYS_MAX], struct dp_err *err);
/* Checks (NaN is refused where a key is needed and read as the default elsewhere),
 * then asks the mechanism. On error *out is untouched and the sentence names the
 * key. Safe from any number of threads. */
DP_MUSTCHECK int dp_privacy_epsilon(const struct dp_mechanism *m, const double *values,
				    struct dp_epsilon *out, struct dp_err *err);
/* What a person should know about an answer that is right all the same, as a
 * sentence; false and "" if there is nothing. */
enum {
	DP_PRIVACY_WARNING_LEN = 256
};
bool dp_privacy_warning(const struct dp_mechanism *m, const double *values,
			char out[DP_PRIVACY_WARNING_LEN]);

/* ---- many evaluations (mechanism_cache.c) ---- */

/* A mechanism prepared for many evaluations: what depends only on the noise is kept,
 * and memory is allocated only while it still grows. One thread at a time. */
struct dp_mechanism_cache;
struct dp_mechanism_cache *dp_mechanism_cache_new(const struct dp_mechanism *m);
void dp_mechanism_cache_free(struct dp_mechanism_cache *p);
/* As dp_privacy_epsilon(), bit for bit. */
DP_MUSTCHECK int dp_mechanism_cache_epsilon(struct dp_mechanism_cache *p, const double *values,
					    struct dp_epsilon *out, struct dp_err *err);

/* ---- composition (compose.c) ---- */

enum {
	DP_PRIVACY_ITEMS_MAX = 64
};
struct dp_composition_item {
	const struct dp_mechanism *mechanism;
	const double *values; /* delta, accountant, conversion and orders do not count */
	double times;         /* >= 1, whole */
};
/* Epsilon of doing all items on the same data, at delta. `pld` convolves loss
 * distributions, else Renyi curves are added and converted with the improved
 * conversion. Items under different neighbouring relations are refused, and so are
 * mechanisms that do not say how they compose. delta = 0 is allowed if every item is
 * purely private. Plain Gaussian mechanisms are merged into one first, exactly; if
 * nothing else is left, the answer is a closed form. Any number of items, but with `pld`
 * at most DP_PRIVACY_ITEMS_MAX beside these; Renyi curves of more than that are added at
 * fixed orders, which can only make epsilon a little larger. With hardly any noise `pld`
 * gives way to Renyi, and out->accountant says so. */
DP_MUSTCHECK int dp_privacy_compose(const struct dp_composition_item *items, size_t n, double delta,
				    bool pld, struct dp_epsilon *out, struct dp_err *err);
/* Are there theorems for all of them together? DP_OK, or why not; how large their values
 * are has no say in it. */
DP_MUSTCHECK int dp_privacy_check_composable(const struct dp_composition_item *items, size_t n,
					     double delta, struct dp_err *err);

/* ---- calibration (calibrate.c, calibrate_largest.c) ---- */

/* The smallest noise (m->noise; its value in `values` is ignored) at which epsilon is
 * at most `target`, to a relative 1e-6, and the answer at that very noise. */
DP_MUSTCHECK int dp_privacy_solve_noise(const struct dp_mechanism *m, const double *values,
					double target, double *noise, struct dp_epsilon *at,
					struct dp_err *err);
/* Puts a value into `values`, and its alternatives out of them. */
void dp_privacy_set_value(const struct dp_mechanism *m, double *values,
			  const struct dp_privacy_key *k, double value);
/* The least delta, to a relative 1e-6, at which epsilon is at most `epsilon`: at->delta,
 * and the answer at that very delta. None below 1e-100 is tried but 0. */
DP_MUSTCHECK int dp_privacy_solve_delta(const struct dp_mechanism *m, const double *values,
					double epsilon, struct dp_epsilon *at, struct dp_err *err);
/* The most of a key that costs (k->costs: steps, epochs, lot), up to 1e12, at which
 * epsilon is at most `target`: a whole number where it must be one, else to a relative
 * 1e-6; and the answer at that very value. Its value in `values` is ignored. Where
 * rounding of steps makes epsilon fall and rise again, the next one up does not keep it,
 * but a larger one might. */
DP_MUSTCHECK int dp_privacy_solve_max(const struct dp_mechanism *m, const double *values,
				      const struct dp_privacy_key *k, double target, double *value,
				      struct dp_epsilon *at, struct dp_err *err);
/* The same, but larger values are tried as well where epsilon falls and rises again: the
 * first DP_PRIVACY_MONOTONE_RANGES_MAX stretches from above, one by one. *tried: every value from
 * here on was searched, so *value is the largest if that is not above it; else a value
 * between both might keep the target, too. *cut: the search ended before that because it
 * took too much work. */
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

/* Does it fit the mechanism with these values? DP_E_INVALID with a sentence that names
 * the first contradiction. `shuffle` is let through with a sentence in `warning`
 * (else ""). */
DP_MUSTCHECK int dp_privacy_check_declaration(const struct dp_mechanism *m, const double *values,
					      const struct dp_declaration *d,
					      char warning[DP_PRIVACY_WARNING_LEN],
					      struct dp_err *err);

/* ---- JSON (privacy_json.c) ---- */

/* Reads {"mechanism": ..., KEY: VALUE, ...}. Fields that are no key are ignored unless
 * they look like a misspelt one. */
DP_MUSTCHECK int dp_privacy_query_parse(const json_t *query, const struct dp_mechanism **m,
					double values[DP_PRIVACY_KEYS_MAX], struct dp_err *err);
/* {"epsilon":...,"delta":...,"order":...,"accountant":...,"error_bound":...} */
json_t *dp_epsilon_to_json(const struct dp_epsilon *e);
/* A mechanism with all that counts for its epsilon, for whoever trains: {"mechanism":
 * "dp-sgd","records":30956,"steps":1452,...}, defaults filled in, steps counted. It is a
 * query with the same answer. `composed`: without what is the composition's to say. */
json_t *dp_mechanism_accounting_json(const struct dp_mechanism *m, const double *values,
				     bool composed);
/* A composition as an object: {"compose":[{"mechanism":...,"times":2},...],"delta":...,
 * "accountant":"pld"}. A delta or accountant inside the list does not count. The
 * sentence names the member: "compose[1]: ...". */
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
/* dp_privacy_compose() of it. */
DP_MUSTCHECK int dp_privacy_composition_epsilon(const struct dp_privacy_composition *c,
						struct dp_epsilon *out, struct dp_err *err);
/* dp_privacy_solve_delta() of it; its own delta does not count (calibrate.c). */
DP_MUSTCHECK int dp_privacy_composition_delta(const struct dp_privacy_composition *c,
					      double epsilon, struct dp_epsilon *at,
					      struct dp_err *err);
/* One line of `dparetoctl epsilon --batch`, a mechanism or a composition: query in,
 * answer out (a new reference). */
DP_MUSTCHECK int dp_privacy_answer_query(const json_t *query, json_t **answer, struct dp_err *err);

#endif
