/* privacy.h - privacy oracles: what an algorithm's parameters cost in epsilon.
 *
 * Every number is an upper bound. A mechanism is a const table in one file that
 * names its keys, so that study files, `dparetoctl explain` and the manual all read
 * the same rows. */
#ifndef DP_PRIVACY_H
#define DP_PRIVACY_H
#include "base/base.h"

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
/* Checks every value against its key (NaN is refused where a key is needed and
 * read as the default elsewhere), then asks the mechanism. On error *out is
 * untouched and the sentence names the key. */
DP_MUSTCHECK int dp_privacy_epsilon(const struct dp_mechanism *m, const double *values,
				    struct dp_epsilon *out, struct dp_err *err);

#endif
