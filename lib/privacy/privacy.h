/* privacy.h - privacy oracles: what an algorithm's parameters cost in epsilon.
 *
 * Every number is an upper bound. A mechanism is a const table in one file that
 * names its keys, so that study files, `dparetoctl explain` and the manual all read
 * the same rows. */
#ifndef DP_PRIVACY_H
#define DP_PRIVACY_H
#include "base/base.h"
#include <jansson.h>

enum dp_privacy_key_kind {
	DP_PRIVACY_NUMBER,  /* a real, constant or the name of a parameter */
	DP_PRIVACY_INTEGER, /* a whole number, likewise */
	DP_PRIVACY_WORD,    /* one of `words`, always constant */
};

/* One key of a mechanism. A value is a double: for a word its index in `words`. */
struct dp_privacy_key {
	const char *name;
	enum dp_privacy_key_kind kind;
	bool needed;
	double otherwise;         /* the default; NaN: none */
	double lo, hi;            /* allowed range */
	bool lo_open, hi_open;    /* the end itself is not allowed */
	const char *const *words; /* ends with NULL; only for DP_PRIVACY_WORD */
	const char *help;
	/* Keys of one group, 1 and up, are alternatives: exactly one of them is given.
	 * 0: none. */
	unsigned group;
};

enum {
	DP_PRIVACY_KEYS_MAX = 16
};

struct dp_epsilon {
	double epsilon; /* may be +inf: no privacy at all */
	double delta;
	double order;           /* of the Renyi bound; NaN where there is none */
	const char *accountant; /* "rdp", "pld", "closed-form" */
	double error;           /* absolute; proved or estimated */
	bool error_proved;
};

struct dp_privacy_memory; /* opaque: tables and workspaces of prepared mechanisms */

struct dp_mechanism {
	const char *name;
	const char *summary;  /* one line */
	const char *relation; /* neighbouring relation the number holds for */
	const char *source;   /* paper and theorem */
	const struct dp_privacy_key *keys;
	size_t nkeys;
	/* values[i] belongs to keys[i], is within its range, NaN where absent.
	 * DP_OK, or DP_E_INVALID with a sentence that names the key. */
	int (*epsilon)(const double *values, struct dp_epsilon *out, struct dp_err *err);
	/* The same with memory kept between calls; `quick` asks for the stand-in that
	 * dp_privacy_quick() describes. NULL where epsilon() is fast enough. */
	int (*prepared)(struct dp_privacy_memory *memory, const double *values,
			bool quick, struct dp_epsilon *out, struct dp_err *err);
	const char *noise; /* the key that dp_privacy_noise() solves for */
};

/* All mechanisms; ends with NULL. */
extern const struct dp_mechanism *const dp_mechanisms[];
/* By name, or NULL. */
const struct dp_mechanism *dp_mechanism_find(const char *name);
/* Is v within the key's range, whole where it must be, and finite? */
bool dp_privacy_key_ok(const struct dp_privacy_key *k, double v);
/* What a key takes, for messages and manuals: "whole number >= 1", "poisson |
 * without-replacement". Returns `out`. */
enum {
	DP_PRIVACY_RULE_LEN = 160
};
char *dp_privacy_key_rule(const struct dp_privacy_key *k, char out[DP_PRIVACY_RULE_LEN]);
/* Checks every value against its key and fills in the defaults: full[i] is NaN only
 * where a key is absent and has no default. The sentence names the key. */
DP_MUSTCHECK int dp_privacy_check(const struct dp_mechanism *m, const double *values,
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

/* ---- many evaluations (prepare.c) ---- */

/* A mechanism prepared for many evaluations: what depends only on the noise is kept,
 * and memory is allocated only while it still grows. One thread at a time. */
struct dp_privacy_prepared;
/* NULL without memory. */
struct dp_privacy_prepared *dp_privacy_prepare(const struct dp_mechanism *m);
void dp_privacy_prepared_free(struct dp_privacy_prepared *p);
/* As dp_privacy_epsilon(), bit for bit. */
DP_MUSTCHECK int dp_privacy_eval(struct dp_privacy_prepared *p, const double *values,
				 struct dp_epsilon *out, struct dp_err *err);
/* A stand-in for proposers, never to be shown or journaled: the same as
 * dp_privacy_eval() except under accountant pld, where it is an estimate and no bound
 * (error_proved is false; out->error says how far off it may be). */
DP_MUSTCHECK int dp_privacy_quick(struct dp_privacy_prepared *p, const double *values,
				  struct dp_epsilon *out, struct dp_err *err);

/* ---- composition (compose.c) ---- */

enum {
	DP_PRIVACY_ITEMS_MAX = 64
};
struct dp_privacy_item {
	const struct dp_mechanism *mechanism;
	const double *values; /* delta, accountant, conversion and orders do not count */
	double times;         /* >= 1, whole */
};
/* Epsilon of doing all items on the same data, at delta. `pld` convolves loss
 * distributions, else Renyi curves are added and converted with the improved
 * conversion. Items under different neighbouring relations are refused. delta = 0 is
 * allowed if every item is laplace or svt. Any number of items, but with `pld` at most
 * DP_PRIVACY_ITEMS_MAX; Renyi curves of more than that are added at fixed orders, which
 * can only make epsilon a little larger. With hardly any noise `pld` gives way to Renyi,
 * and out->accountant says so. */
DP_MUSTCHECK int dp_privacy_compose(const struct dp_privacy_item *items, size_t n,
				    double delta, bool pld, struct dp_epsilon *out,
				    struct dp_err *err);

/* ---- calibration (calibrate.c) ---- */

/* The smallest noise (m->noise; its value in `values` is ignored) at which epsilon is
 * at most `target`, to a relative 1e-6, and the answer at that very noise. */
DP_MUSTCHECK int dp_privacy_noise(const struct dp_mechanism *m, const double *values,
				  double target, double *noise, struct dp_epsilon *at,
				  struct dp_err *err);
/* Epsilon at each of n deltas. */
DP_MUSTCHECK int dp_privacy_curve(const struct dp_mechanism *m, const double *values,
				  const double *deltas, size_t n, struct dp_epsilon *out,
				  struct dp_err *err);

/* ---- what a trainer declares ---- */

struct dp_privacy_declared {
	const char *sampling;                        /* NULL: not said */
	double records, lot, steps, noise_over_clip; /* NaN: not said */
};
/* Does it fit the mechanism with these values? DP_E_INVALID with a sentence that names
 * the first contradiction. `shuffle` is let through with a sentence in `warning`
 * (else ""). Mechanisms other than dp-sgd have nothing to contradict. */
DP_MUSTCHECK int dp_privacy_declared_check(const struct dp_mechanism *m,
					   const double *values,
					   const struct dp_privacy_declared *d,
					   char warning[DP_PRIVACY_WARNING_LEN],
					   struct dp_err *err);

/* ---- JSON (privacy_json.c) ---- */

/* Reads {"mechanism": ..., KEY: VALUE, ...}. Fields that are no key are ignored unless
 * they look like a misspelt one. */
DP_MUSTCHECK int dp_privacy_query(const json_t *query, const struct dp_mechanism **m,
				  double values[DP_PRIVACY_KEYS_MAX], struct dp_err *err);
/* {"epsilon":...,"delta":...,"order":...,"accountant":...,"error_bound":...}; NULL
 * without memory. */
json_t *dp_privacy_answer(const struct dp_epsilon *e);
/* One line of `dparetoctl epsilon --batch`: query in, answer out (a new reference). */
DP_MUSTCHECK int dp_privacy_json(const json_t *query, json_t **answer,
				 struct dp_err *err);

#endif
