/* trainers.h - the built-in trainers: one file each, with one const entry.
 *
 * They are ordinary trainer programs: they know the trainer protocol (lib/trial) and
 * nothing of the daemon. */
#ifndef DP_TRAINERS_H
#define DP_TRAINERS_H
#include "base/base.h"
#include "base/rng.h"
#include "trial/trial.h"

struct trainer {
	const char *name;
	const char *summary; /* one line */
	const char *help;    /* usage, options, parameters, metrics */
	/* Reads its options from argv (argv[0] is its name), then does what the
	 * request asks. */
	int (*run)(int argc, char **argv, struct dp_err *err);
};

extern const struct trainer svt_trainer;

/* ---- for the trainers (params.c) ---- */

/* A parameter of the request: a finite number of at least `lo`, or above it with
 * `open`; and a whole number. The error names the parameter. */
DP_MUSTCHECK int param_number(const struct dp_request *q, const char *name, double lo,
			      bool open, double *out, struct dp_err *err);
DP_MUSTCHECK int param_whole(const struct dp_request *q, const char *name, int64_t lo,
			     int64_t *out, struct dp_err *err);
/* The value of a command-line option as a whole number in lo..hi. */
DP_MUSTCHECK int option_whole(const char *option, const char *text, int64_t lo,
			      int64_t hi, int64_t *out, struct dp_err *err);

/* ---- svt.c, for its test ---- */

struct svt {
	size_t queries, ones;
	int64_t cutoff; /* C */
	double noise;   /* b */
};

/* One run: the F1 score of the sparse vector technique on queries in random order.
 * `answers` is scratch memory for s->queries bytes. */
double svt_f1(const struct svt *s, struct dp_rng *rng, unsigned char *answers);

#endif
