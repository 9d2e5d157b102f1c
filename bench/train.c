/* train.c - speed of the linear trainers on one core.
 *
 *   train [-k KERNEL] [DATA]      data: adult if it is found, else census
 *
 * CPU time, the best of several repeats; microseconds a step and milliseconds an epoch,
 * with the draw of the lots and the noise, and what a whole evaluation takes. */
#include "bench/clock.h"
#include "trainers/learn/linear_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	REPEATS = 25,
	EPOCHS = 10,
	/* the whole evaluation */
	RUNS = 10,
	RUN_EPOCHS = 32,
	RUN_LOT = 128
};

static const uint32_t lots[] = { 8, 16, 64, 128, 512, 4000 };

static const struct kind {
	const char *name;
	enum linear_loss loss;
	enum optimizer optimizer;
} kinds[] = {
	{ "lr-sgd", LINEAR_LOGISTIC, OPTIMIZER_SGD },
	{ "lr-adam", LINEAR_LOGISTIC, OPTIMIZER_ADAM },
	{ "svm-sgd", LINEAR_HINGE, OPTIMIZER_SGD },
};

static void train_give_up(const struct dp_err *err)
{
	fprintf(stderr, "train: %s\n", err->msg);
	exit(1);
}

static void train_once(const char *kernel, const struct kind *kind, const struct sparse_rows *rows,
		       uint32_t epochs, uint32_t lot, uint64_t seed, float *w)
{
	const struct sgd how = { .optimizer = kind->optimizer,
				 .epochs = epochs,
				 .lot_size = lot,
				 .learning_rate = 0.01,
				 .clip = 1,
				 .noise_multiplier = 1 };
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	struct noise_stream order, noise;
	struct dp_err err;

	noise_stream_init_seeded(&order, seed, NOISE_LOTS);
	noise_stream_init_seeded(&noise, seed, NOISE_GRADIENT);
	if (linear_train_with_kernel(kernel, kind->loss, rows, &how, &order, &noise, &pulse, w,
				     &err) != DP_OK)
		train_give_up(&err);
}

/* Seconds of an epoch. */
static double time_epoch(const char *kernel, const struct kind *kind,
			 const struct sparse_rows *rows, uint32_t lot, float *w)
{
	double best = INFINITY;

	for (int i = 0; i < REPEATS; i++) {
		double began = bench_cpu();

		train_once(kernel, kind, rows, EPOCHS, lot, (uint64_t)i, w);
		best = fmin(best, bench_cpu() - began);
	}
	return best / EPOCHS;
}

static void train_table(const char *kernel, const struct sparse_rows *rows, float *w)
{
	printf("%-8s %6s %10s %10s\n", "model", "lot", "us/step", "ms/epoch");
	for (size_t k = 0; k < DP_COUNT(kinds); k++) {
		for (size_t l = 0; l < DP_COUNT(lots); l++) {
			double epoch = time_epoch(kernel, &kinds[k], rows, lots[l], w);

			printf("%-8s %6u %10.3f %10.3f\n", kinds[k].name, (unsigned)lots[l],
			       1e6 * epoch / rint((double)rows->n / lots[l]), 1e3 * epoch);
		}
	}
}

/* Opening the data, all runs, and their scores. */
static void whole_evaluation(const char *kernel, const struct data_options *o, float *w)
{
	for (size_t k = 0; k < DP_COUNT(kinds); k++) {
		double began = bench_cpu(), mean = 0;
		struct model_score score;
		struct data_splits data;
		struct dp_err err;

		if (data_splits_open(&data, o, &err) != DP_OK)
			train_give_up(&err);
		for (uint64_t run = 0; run < RUNS; run++) {
			train_once(kernel, &kinds[k], &data.train, RUN_EPOCHS, RUN_LOT, run, w);
			linear_score(kinds[k].loss, &data.test, w, &score);
			mean += score.accuracy / RUNS;
		}
		data_splits_close(&data);
		printf("%s, %d runs of %d epochs in lots of %d: %.3f s (accuracy %.3f)\n",
		       kinds[k].name, RUNS, RUN_EPOCHS, RUN_LOT, bench_cpu() - began, mean);
	}
}

/* Output perturbation, nanoseconds for a visit to a record. */
static void output_perturbation(const struct sparse_rows *rows, float *w)
{
	const struct output_perturbation how = { 0.01, 1, 2, 0.25 };
	struct training_progress pulse = { .fd = -1, .steps_total = 1 };
	double best = INFINITY;

	for (uint64_t i = 0; i < REPEATS; i++) {
		double began = bench_cpu();
		struct noise_stream order, noise;
		struct dp_err err;

		noise_stream_init_seeded(&order, i, NOISE_LOTS);
		noise_stream_init_seeded(&noise, i, NOISE_GRADIENT);
		if (output_perturbation_train(&how, rows, &order, &noise, &pulse, w, &err) != DP_OK)
			train_give_up(&err);
		best = fmin(best, bench_cpu() - began);
	}
	printf("output-perturbation: %.1f ns a record\n",
	       1e9 * best / ((double)how.passes * rows->n));
}

int main(int argc, char **argv)
{
	struct data_options o = { .name = "adult" };
	const char *kernel = NULL;
	struct data_splits data;
	struct dp_err err;
	float *w;
	int c;

	while ((c = getopt(argc, argv, "k:")) != -1) {
		if (c != 'k')
			return 2;
		kernel = optarg;
	}
	if (optind < argc)
		o.name = argv[optind];
	else if (data_splits_open(&data, &o, NULL) != DP_OK)
		o.name = "census";
	else
		data_splits_close(&data);
	if (data_splits_open(&data, &o, &err) != DP_OK)
		train_give_up(&err);
	w = aligned_alloc(64, linear_count_weights(data.train.nfeatures) * sizeof *w);
	if (!w)
		return 1;
	printf("%s: %u records, %u features; noise by %s\n", o.name, (unsigned)data.train.n,
	       (unsigned)data.train.nfeatures, noise_backend_name());
	train_table(kernel, &data.train, w);
	whole_evaluation(kernel, &o, w);
	output_perturbation(&data.train, w);
	data_splits_close(&data);
	free(w);
	return 0;
}
