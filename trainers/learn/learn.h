/* learn.h - training by private gradient descent: what the models share.
 *
 * Avent et al. 2020, Algorithms 3 (DP-SGD) and 4 (DP-Adam). One run is one model trained once, with
 * streams of its own. */
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

/* Where a training is looked at on its way: after so many epochs it is what a training that ends
 * there would be, to the bit. */
struct training_checkpoints {
	const uint32_t *epochs; /* ascending, from 1, below the training's own */
	size_t n;
	/* The weights are in the caller's w. Another code than DP_OK ends the training. */
	int (*on_checkpoint)(void *who, uint32_t epochs, struct dp_err *err);
	void *arg;
};

struct sgd {
	enum optimizer optimizer;
	uint32_t epochs;
	uint32_t lot_size; /* expected size with Poisson sampling */
	double learning_rate;
	double clip;             /* L; INFINITY: not clipped, but see sgd_clip_norm() */
	double noise_multiplier; /* sd of the noise on the sum of the lot's gradients, over the
				  * sensitivity 2L (L with Poisson sampling); 0: none */
	double noise_clip;       /* stands for L in the noise where clip is INFINITY */
	bool is_poisson;         /* each record joins a lot with probability lot / n */
	const struct training_checkpoints *checkpoints; /* NULL: only its end counts */
};

/* epochs x rint(n / lot), half to even, at least one an epoch. */
uint64_t sgd_total_steps(const struct sgd *s, uint32_t n);
/* Calls `leg` for the steps up to each waypoint and up to the end, and looks between. A leg must
 * leave the weights so far where s->walk finds them, and must not depend on how many there are. */
DP_MUSTCHECK int sgd_run_with_checkpoints(const struct sgd *s, uint32_t n,
					  int (*leg)(void *training, uint64_t steps,
						     struct dp_err *err),
					  void *training, struct dp_err *err);
/* sd of the noise on the sum of a lot's clipped gradients. */
double sgd_noise_sd(const struct sgd *s);
/* The bound on the norm of a record's gradient: L, or 2^40 without clipping, so that sums stay
 * finite. */
double sgd_clip_norm(const struct sgd *s);
/* Does single precision hold sums, noise and weights of every training with these settings,
 * whatever its records? It looks at the settings alone. */
bool sgd_in_range(const struct sgd *s);
/* In place of a training whose settings are not: all n weights are NaN at every checkpoint and at
 * the end. */
DP_MUSTCHECK int sgd_fill_diverged(const struct sgd *s, uint32_t records,
				   struct training_progress *progress, float *w, size_t n,
				   struct dp_err *err);
/* Clipping: the largest float, or nearly, that a vector may be multiplied by so that its length is
 * at most `clip`, always rounded down, because L is a bound. `squares` is the sum of the squares of
 * its elements, less by no more than the share `slack` than in exact arithmetic. 0 where `squares`
 * is not finite. */
float sgd_clip_factor(double clip, double squares, double slack);

/* The moments of Algorithm 4 for n weights. */
struct adam {
	size_t n;
	float *first_moment, *second_moment; /* mu and nu */
	double first_bias, second_bias;      /* beta1 and beta2 to the power of the steps */
};
void adam_init(struct adam *a, size_t n);
void adam_free(struct adam *a);
/* One step down the noisy gradient scale * g. */
void adam_step(struct adam *a, double rate, double scale, const float *g, float *w);

/* Are all weights finite, or has the training diverged? */
bool weights_are_finite(const float *w, size_t n);

/* ---- lot_sampler.c: which records make a step ---- */

struct lot_sampler {
	struct noise_stream stream;
	uint32_t n, lot_size;
	bool is_poisson;
	uint32_t *order; /* a permutation of 0..n-1 that every draw goes on shuffling;
			  * Poisson: the last lot */
	uint32_t words[1024], n_words_used;
};
DP_MUSTCHECK int lot_sampler_init(struct lot_sampler *l, const struct noise_stream *stream,
				  uint32_t n, const struct sgd *s, struct dp_err *err);
void lot_sampler_free(struct lot_sampler *l);
/* The next lot: `*count` record numbers, valid until the next call. Without replacement: `lot`
 * distinct records, every set equally likely, afresh each time. Poisson: any number, also none. */
const uint32_t *lot_sampler_next(struct lot_sampler *l, uint32_t *count);

/* ---- training_progress.c: progress out, TERM in ---- */

struct training_progress {
	int fd;                           /* of the result file; -1: nowhere */
	uint64_t steps_done, steps_total; /* steps, over all runs */
	int64_t last_report_us;           /* when progress was last told */
	sigset_t saved_signals;           /* signals blocked before training_progress_start() */
};
/* From here TERM waits for the next beat. */
void training_progress_start(struct training_progress *p, int fd, uint64_t total);
/* Call it every so many microseconds of work: counts steps, tells progress at most once a second.
 * False if the trainer was asked to stop (TERM): give up at once. */
bool training_progress_tick(struct training_progress *p, uint64_t steps);
/* TERM is itself again: one that came meanwhile ends the program here. */
void training_progress_end(struct training_progress *p);

/* ---- models: all parameters in one vector of floats ---- */

struct model_score {
	double accuracy;
	double loss; /* mean over the records */
};

enum linear_loss {
	LINEAR_LOGISTIC,
	LINEAR_HINGE,
};
/* Weights of a linear model for so many features: the bias is the last. A multiple of 16, the rest
 * stays 0. */
size_t linear_count_weights(uint32_t nfeatures);
/* Trains from zero weights, with `lots` and `noise` as this run's streams. DP_E_INTERRUPTED if the
 * pulse stopped. */
DP_MUSTCHECK int linear_train(enum linear_loss loss, const struct sparse_rows *train,
			      const struct sgd *sgd, const struct noise_stream *lots,
			      struct noise_stream *noise, struct training_progress *progress,
			      float *w, struct dp_err *err);
void linear_score(enum linear_loss loss, const struct sparse_rows *rows, const float *w,
		  struct model_score *out);

/* How far the accuracies of records that have the feature (it is not 0; numbered from
 * 0) and of those that have not are apart. Both kinds must be there. */
double linear_fairness_gap(const struct sparse_rows *rows, uint32_t feature, const float *w);

enum {
	MLP_LAYERS_MAX = 8 /* of weights */
};
struct mlp_shape {
	size_t nlayers;                     /* of weights, from 1 */
	uint32_t width[MLP_LAYERS_MAX + 1]; /* inputs, hidden..., classes: 1 to 65535 */
};
enum mlp_input_mode {
	MLP_INPUT_AUTO, /* sparse where it pays */
	MLP_INPUT_DENSE,
	MLP_INPUT_SPARSE, /* first layer skips zero inputs */
};
size_t mlp_count_weights(const struct mlp_shape *m);
/* Random start from `start`; see docs/trainers.md for which and why. */
DP_MUSTCHECK int mlp_train(const struct mlp_shape *m, enum mlp_input_mode path,
			   const struct sparse_rows *train, const struct sgd *sgd,
			   struct noise_stream *start, const struct noise_stream *lots,
			   struct noise_stream *noise, struct training_progress *progress, float *w,
			   struct dp_err *err);
/* Scores of weights, one after the other, on the same records, which must stay. It keeps
 * preprocessed records if they take no more than so many bytes. */
struct mlp_scorer;
#define MLP_SCORER_CACHE_BYTES ((size_t)256 << 20)
struct mlp_scorer *mlp_scorer_new(const struct mlp_shape *m, const struct sparse_rows *rows,
				  size_t bytes);
void mlp_scorer_score(struct mlp_scorer *s, const float *w, struct model_score *out);
void mlp_scorer_free(struct mlp_scorer *s);

/* One pass-based run of Wu et al. 2017, Alg. 2: see output.c. */
struct output_perturbation {
	double regularization; /* gamma */
	double sigma;          /* sd of the noise added to the weights at the end */
	uint32_t passes;       /* fixed in advance: its proof needs that */
	double row_scale;      /* rows are multiplied by this public constant */
};
/* `w` are linear_count_weights() weights for rows as they are, unscaled. */
DP_MUSTCHECK int
output_perturbation_train(const struct output_perturbation *o, const struct sparse_rows *train,
			  const struct noise_stream *order, struct noise_stream *noise,
			  struct training_progress *progress, float *w, struct dp_err *err);

#endif
