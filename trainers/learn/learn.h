/* learn.h - the interface of the training algorithms: DP-SGD, DP-Adam and output perturbation.
 *
 * Avent et al. 2020, Algorithms 3 (DP-SGD) and 4 (DP-Adam). A run trains one model once, with its
 * own random streams. */
#ifndef DP_LEARN_H
#define DP_LEARN_H
#include "base/base.h"
#include "trainers/data/data_splits.h"
#include "trainers/noise/noise.h"
#include <signal.h>

struct training_progress;

enum optimizer {
	OPTIMIZER_SGD,
	OPTIMIZER_ADAM, /* beta 0.9 and 0.999, kappa 1e-8 */
};

/* Checkpoints of a run, equal to the bit to the weights of a run that ends there. */
struct training_checkpoints {
	const uint32_t *epochs; /* ascending, from 1, below the epochs of the run */
	size_t n;
	/* The weights are in the caller's w. A code other than DP_OK ends the run. */
	int (*on_checkpoint)(void *who, uint32_t epochs, struct dp_err *err);
	void *arg;
};

struct sgd {
	enum optimizer optimizer;
	uint32_t epochs;
	uint32_t lot_size; /* expected size with Poisson sampling */
	double learning_rate;
	double clip;             /* L; INFINITY: no clipping, but see sgd_clip_norm() */
	double noise_multiplier; /* sd of the noise over 2L (Poisson: over L); 0: none */
	double noise_clip;       /* replaces L in the noise if clip is INFINITY */
	bool is_poisson;         /* each record joins a lot with probability lot / n */
	const struct training_checkpoints *checkpoints; /* NULL: none */
};

/* epochs times rint(n / lot), half to even, at least one step per epoch. */
uint64_t sgd_total_steps(const struct sgd *s, uint32_t n);
/* Calls `leg` for the steps up to each checkpoint and up to the end, and on_checkpoint() in
 * between. A leg stores its weights where on_checkpoint() reads them; the number of legs must not
 * change them. */
DP_MUSTCHECK int sgd_run_with_checkpoints(const struct sgd *s, uint32_t n,
					  int (*leg)(void *training, uint64_t steps,
						     struct dp_err *err),
					  void *training, struct dp_err *err);
/* Standard deviation of the noise on the sum of a lot's clipped gradients. */
double sgd_noise_sd(const struct sgd *s);
/* Bound on the norm of a record's gradient: L, or 2^40 without clipping to keep sums finite. */
double sgd_clip_norm(const struct sgd *s);
/* True if single precision can hold sums, noise and weights of any run with these settings. Depends
 * on the settings alone, not on the records. */
bool sgd_in_range(const struct sgd *s);
/* Replaces a run with settings out of range: all n weights are NaN at checkpoints and at the
 * end. */
DP_MUSTCHECK int sgd_fill_diverged(const struct sgd *s, uint32_t records,
				   struct training_progress *progress, float *w, size_t n,
				   struct dp_err *err);
/* Clipping: returns (nearly) the largest float factor that makes a vector no longer than `clip`.
 * Rounds down, because L is a bound. `squares` is the sum of squares of the elements, too small by
 * at most the share `slack`. Returns 0 if `squares` is not finite. */
float sgd_clip_factor(double clip, double squares, double slack);

struct adam {
	size_t n;
	float *first_moment, *second_moment; /* mu and nu */
	double first_bias, second_bias;      /* beta1 and beta2 to the power of the steps */
};
void adam_init(struct adam *a, size_t n);
void adam_free(struct adam *a);
/* One step along the noisy gradient scale * g. */
void adam_step(struct adam *a, double rate, double scale, const float *g, float *w);

/* False if the run diverged. */
bool weights_are_finite(const float *w, size_t n);

/* ---- lot_sampler.c ---- */

struct lot_sampler {
	struct noise_stream stream;
	uint32_t n, lot_size;
	bool is_poisson;
	uint32_t *order; /* a permutation of 0..n-1; Poisson: the last lot */
	uint32_t words[1024], n_words_used;
};
DP_MUSTCHECK int lot_sampler_init(struct lot_sampler *l, const struct noise_stream *stream,
				  uint32_t n, const struct sgd *s, struct dp_err *err);
void lot_sampler_free(struct lot_sampler *l);
/* Draws the next lot: `*count` record numbers, valid until the next call. Without replacement:
 * lot_size distinct records, every set equally likely, independent of earlier lots. */
const uint32_t *lot_sampler_next(struct lot_sampler *l, uint32_t *count);

/* ---- training_progress.c ---- */

struct training_progress {
	int fd;                           /* of the result file; -1: none */
	uint64_t steps_done, steps_total; /* over all runs */
	int64_t last_report_us;           /* time of the last progress report */
	sigset_t saved_signals;           /* signal mask before training_progress_start() */
};
/* Blocks TERM until the end; training_progress_tick() checks for it. */
void training_progress_start(struct training_progress *p, int fd, uint64_t total);
/* Call about once per millisecond of work. Counts steps and reports progress at most once a second.
 * False if TERM was received: stop at once. */
bool training_progress_tick(struct training_progress *p, uint64_t steps);
/* Unblocks TERM: a pending one ends the program here. */
void training_progress_end(struct training_progress *p);

/* ---- models, with all weights in one vector of floats ---- */

struct model_score {
	double accuracy;
	double loss; /* mean over the records */
};

enum linear_loss {
	LINEAR_LOGISTIC,
	LINEAR_HINGE,
};
/* Number of weights of a linear model, padded to a multiple of 16: features, the bias, zeros. */
size_t linear_count_weights(uint32_t nfeatures);
/* Trains from zero weights with the run's streams `lots` and `noise`. DP_E_INTERRUPTED on TERM. */
DP_MUSTCHECK int linear_train(enum linear_loss loss, const struct sparse_rows *train,
			      const struct sgd *sgd, const struct noise_stream *lots,
			      struct noise_stream *noise, struct training_progress *progress,
			      float *w, struct dp_err *err);
void linear_score(enum linear_loss loss, const struct sparse_rows *rows, const float *w,
		  struct model_score *out);

/* Absolute difference of accuracies with and without the feature (from 0), if both exist. */
double linear_fairness_gap(const struct sparse_rows *rows, uint32_t feature, const float *w);

enum {
	MLP_LAYERS_MAX = 8 /* of weights */
};
struct mlp_shape {
	size_t nlayers;                     /* of weights, from 1 */
	uint32_t width[MLP_LAYERS_MAX + 1]; /* inputs, hidden..., classes: 1 to 65535 */
};
enum mlp_input_mode {
	MLP_INPUT_AUTO, /* sparse if that is faster */
	MLP_INPUT_DENSE,
	MLP_INPUT_SPARSE, /* the first layer skips zero inputs */
};
size_t mlp_count_weights(const struct mlp_shape *m);
/* Initial weights come from the stream `start`; docs/trainers.md explains which. */
DP_MUSTCHECK int mlp_train(const struct mlp_shape *m, enum mlp_input_mode path,
			   const struct sparse_rows *train, const struct sgd *sgd,
			   struct noise_stream *start, const struct noise_stream *lots,
			   struct noise_stream *noise, struct training_progress *progress, float *w,
			   struct dp_err *err);
/* Scores weights repeatedly on the same records, which must outlive the scorer. Keeps preprocessed
 * records if they take at most `bytes`. */
struct mlp_scorer;
#define MLP_SCORER_CACHE_BYTES ((size_t)256 << 20)
struct mlp_scorer *mlp_scorer_new(const struct mlp_shape *m, const struct sparse_rows *rows,
				  size_t bytes);
void mlp_scorer_score(struct mlp_scorer *s, const float *w, struct model_score *out);
void mlp_scorer_free(struct mlp_scorer *s);

/* Settings of Wu et al. 2017, Alg. 2: see output_perturb.c. */
struct output_perturbation {
	double regularization; /* gamma */
	double sigma;          /* sd of the noise on the final weights */
	uint32_t passes;       /* fixed in advance: the proof requires that */
	double row_scale;      /* public factor for all rows */
};
/* `w` are linear_count_weights() weights for unscaled rows. */
DP_MUSTCHECK int
output_perturbation_train(const struct output_perturbation *o, const struct sparse_rows *train,
			  const struct noise_stream *order, struct noise_stream *noise,
			  struct training_progress *progress, float *w, struct dp_err *err);

#endif
