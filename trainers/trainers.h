/* trainers.h - the built-in trainers, one file and one const entry each, and what they share.
 *
 * They are ordinary trainer programs: they know the trainer protocol (lib/protocol/trainer) and
 * nothing of the daemon. */
#ifndef DP_TRAINERS_H
#define DP_TRAINERS_H
#include "base/base.h"
#include "base/rng.h"
#include "trainers/learn/learn.h"
#include "protocol/trainer/trainer_protocol.h"
#include <stdio.h>

struct trainer {
	const char *name;
	const char *summary;     /* one line */
	const char *about;       /* description, printed before the options in its help */
	const char *params_help; /* parameters and metrics, printed after the options */
	unsigned option_groups;  /* OPTIONS_* that it accepts */
	const char
		*no_checkpoints_reason; /* a clause for messages; NULL: it supports checkpoints */
	/* Parses options from argv (argv[0] is the trainer's name) and serves the request. */
	int (*run)(int argc, char **argv, struct dp_err *err);
};

extern const struct trainer linear_trainer, mlp_trainer, output_trainer, svt_trainer;

/* ---- trainer_options.c ---- */

enum {
	OPTIONS_DATA = 1,
	OPTIONS_SGD = 2,
	OPTIONS_LINEAR = 4,
	OPTIONS_MLP = 8,
	OPTIONS_OUTPUT = 16,
	OPTIONS_SVT = 32,
	OPTIONS_ALL = 64, /* accepted by every trainer */
};

/* Values of --optimizer and --model, in the order of their enums; NULL-terminated. */
extern const char *const optimizer_words[], *const model_words[];

struct trainer_options {
	struct data_options data;
	bool secure;
	int optimizer, model, sampling; /* indexes of the words */
	bool no_privacy, no_clip, no_noise;
	const char *hidden;
	const char *report; /* of --report, such as "gap:72", or NULL */
	double norm_bound;  /* NaN if not given */
	int64_t passes, queries, ones;
	/* for manual use: parameters, checkpoints and runs without a request */
	json_t *set_params; /* NULL if not given */
	const char *checkpoints;
	int64_t runs, seed;
};
/* Parses argv[1..]. The caller calls trainer_options_clear(), also after an error. */
DP_MUSTCHECK int trainer_options_parse(const struct trainer *t, int argc, char **argv,
				       struct trainer_options *o, struct dp_err *err);
void trainer_options_clear(struct trainer_options *o);
void trainer_options_print_help(const struct trainer *t, FILE *to);

/* ---- trainer_request.c ---- */

/* Opens the request of the protocol and the result file; with --set, the request is built from
 * options and results go to standard output. Close *fd and call dp_trainer_request_clear(). */
DP_MUSTCHECK int trainer_request_open(const struct trainer_options *o, struct dp_trainer_request *q,
				      int *fd, struct dp_err *err);

struct checkpoint_epochs {
	uint32_t *epochs; /* ascending, below the parameter `epochs` */
	size_t n;
};
/* Reads the requested checkpoints, if any. Fails if `t` does not support them. The caller frees
 * out->epochs, also after an error. */
DP_MUSTCHECK int checkpoint_epochs_read(const struct trainer *t, const struct dp_trainer_request *q,
					struct checkpoint_epochs *out, struct dp_err *err);
/* Parses "1,2,4" of --path into a request. The caller clears it, also after an error. */
DP_MUSTCHECK int checkpoint_epochs_parse(const char *text, struct dp_trainer_request *q,
					 struct dp_err *err);

/* Parameters of a request: a finite number of at least `lo` (above it with `open`), an integer of
 * at least `lo`, a count from 1. The error names the parameter. */
DP_MUSTCHECK int param_read_number(const struct dp_trainer_request *q, const char *name, double lo,
				   bool open, double *out, struct dp_err *err);
DP_MUSTCHECK int param_read_integer(const struct dp_trainer_request *q, const char *name,
				    int64_t lo, int64_t *out, struct dp_err *err);
DP_MUSTCHECK int param_read_count(const struct dp_trainer_request *q, const char *name,
				  uint32_t *out, struct dp_err *err);
/* Index of the parameter in a list of words; *out is unchanged without the parameter. */
DP_MUSTCHECK int param_read_word(const struct dp_trainer_request *q, const char *name,
				 const char *const *words, int *out, struct dp_err *err);
bool param_is_given(const struct dp_trainer_request *q, const char *name);

/* ---- dpsgd_params.c: for linear and mlp ---- */

/* Reads epochs, lot_size, learning_rate, clip and noise, and the optimizer if it is a parameter. */
DP_MUSTCHECK int dpsgd_read_params(const struct trainer_options *o,
				   const struct dp_trainer_request *q, struct sgd *out,
				   struct dp_err *err);
/* The declaration of a training run on n records. New reference. */
json_t *dpsgd_declaration_json(const struct sgd *sgd, uint32_t n);
#define DPSGD_PARAMS_HELP                                                                          \
	"Parameters: epochs            passes over the records, on average\n"                      \
	"            lot_size          records of a step; the mean with poisson\n"                 \
	"            learning_rate     above 0\n"                                                  \
	"            clip              L, above 0\n"                                               \
	"            noise_multiplier  noise on the sum of a lot's gradients, over 2L\n"           \
	"                              (poisson: over L); or\n"                                    \
	"            noise_variance    its square\n"                                               \
	"            optimizer         sgd or adam, in the place of --optimizer\n"

/* ---- training_runs.c ---- */

struct run_streams {
	struct noise_stream lots, gradient, initial_weights;
};

/* Derived from a request by a model. */
struct training_plan {
	size_t n_weights;
	uint64_t n_steps;    /* of one run */
	json_t *declaration; /* new reference */
};

/* Operations of a model; `self` is its state. */
struct model_ops {
	int (*prepare)(void *self, const struct trainer_options *o,
		       const struct dp_trainer_request *q, const struct sparse_rows *train,
		       struct training_plan *out, struct dp_err *err);
	/* `checkpoints` may be NULL, and is if the trainer has a no_checkpoints_reason */
	int (*train)(const void *self, const struct sparse_rows *train, struct run_streams *streams,
		     const struct training_checkpoints *checkpoints,
		     struct training_progress *progress, float *w, struct dp_err *err);
	void (*score)(void *self, const struct sparse_rows *rows, const float *w,
		      struct model_score *out);
	/* absolute difference of accuracies with and without the feature; may be NULL */
	double (*fairness_gap)(const struct sparse_rows *rows, uint32_t feature, const float *w);
};

struct fairness_gap {
	bool is_requested;
	uint32_t feature;          /* from 0 */
	char metric_name[32];      /* such as "gap_72" */
	char test_metric_name[32]; /* such as "test_gap_72" */
};
/* Parses --report. NULL requests nothing. */
DP_MUSTCHECK int fairness_gap_parse(const char *report, uint32_t nfeatures,
				    struct fairness_gap *out, struct dp_err *err);
/* Fails unless there are records with and without the feature. */
DP_MUSTCHECK int fairness_gap_check(const struct fairness_gap *g, const struct sparse_rows *rows,
				    struct dp_err *err);

/* Fails unless the records have two classes. */
DP_MUSTCHECK int need_two_classes(const struct sparse_rows *rows, struct dp_err *err);

#define MODEL_METRICS_HELP                                                                         \
	"Metrics:    accuracy           on the test records; with --holdout on those\n"            \
	"                               held out, and then also:\n"                                \
	"            test_accuracy      on the test records\n"                                     \
	"            loss               mean loss, where accuracy is\n"                            \
	"            seconds            processor time of training\n"                              \
	"            majority_accuracy  of always naming the commonest class\n"                    \
	"            test_records       how many records accuracy is measured on\n"

/* Serves a request: parses options and request, opens the data, trains and reports every run. */
DP_MUSTCHECK int model_run_request(const struct trainer *t, const struct model_ops *model,
				   void *self, int argc, char **argv, struct dp_err *err);

/* ---- svt_trainer.c, for its test ---- */

struct svt_params {
	size_t n_queries, n_ones;
	int64_t cutoff;     /* C */
	double noise_scale; /* b */
};

/* One run: the F1 score of the sparse vector technique on queries in random order. `answers` is
 * scratch memory of s->n_queries bytes. */
double svt_compute_f1(const struct svt_params *s, struct dp_rng *rng, unsigned char *answers);

#endif
