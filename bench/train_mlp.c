/* train_mlp.c - what an epoch of private training of a network costs on one core,
 * against what the core could do.
 *
 *   train_mlp [-m mlp1|mlp2] [-l LOT] [-r ROUNDS] [-j]
 *
 * Models are 784-1000-10 and 784-128-64-10, data is MNIST where it is found, else
 * made-up images with as many zeros. The limit is the model's multiplications at the
 * core's peak and half a nanosecond of noise for each weight. Seconds an epoch, the
 * best of short blocks of steps in CPU time; dense, sparse and without privacy take
 * turns. -j: one JSON object a line. */
#include "bench/clock.h"
#include "trainers/learn/mlp_internal.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	BLOCK_US = 2500,
	PEAK_LOOPS = 20000,
	PEAK_SUMS = 24, /* enough for latency times throughput of any core */
};
#define NOISE_NS 0.51 /* a weight: what vectorised normals took on a core of 3.2 GHz */

/* ---- the peak ---- */

/* Multiplications and additions a microsecond of a loop with nothing else in it. */
#define PEAK(name, attribute, lanes)                                                               \
	attribute static double name(void)                                                         \
	{                                                                                          \
		typedef float vec __attribute__((vector_size(4 * (lanes))));                       \
		vec sum[PEAK_SUMS], x = (vec){ 0 } + 0.999f, y = (vec){ 0 } + 1e-3f;               \
		volatile float sink;                                                               \
		double start;                                                                      \
                                                                                                   \
		for (int j = 0; j < PEAK_SUMS; j++)                                                \
			sum[j] = x * (float)j;                                                     \
		start = 1e6 * bench_cpu();                                                         \
		for (int i = 0; i < PEAK_LOOPS; i++) {                                             \
			MLP_UNROLL                                                                 \
			for (int j = 0; j < PEAK_SUMS; j++)                                        \
				sum[j] = sum[j] * x + y;                                           \
		}                                                                                  \
		start = 1e6 * bench_cpu() - start;                                                 \
		for (int j = 0; j < PEAK_SUMS; j++)                                                \
			sink = sum[j][0];                                                          \
		(void)sink;                                                                        \
		return 2.0 * (lanes)*PEAK_LOOPS * PEAK_SUMS / start;                               \
	}

PEAK(peak_portable, , 4)
#if defined(__x86_64__)
PEAK(peak_avx2, __attribute__((target("avx2,fma"))), 8)
PEAK(peak_avx512, __attribute__((target("avx512f"))), 16)
#endif

static double peak_once(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return peak_avx512();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return peak_avx2();
#endif
	return peak_portable();
}

/* ---- data ---- */

/* Images whose pixels are the likelier not 0 the nearer the middle: 19 % in all. */
static struct sparse_rows made_up(void)
{
	enum {
		N = 20000,
		SIDE = 28,
		MOST = SIDE * SIDE
	};
	uint64_t *start = calloc(N + 1, sizeof *start);
	uint16_t *index = calloc((size_t)N * MOST, sizeof *index);
	float *value = calloc((size_t)N * MOST, sizeof *value);
	uint8_t *label = calloc(N, 1);
	struct dp_rng rng;
	uint64_t n = 0;

	if (!start || !index || !value || !label)
		exit(1);
	dp_rng_init(&rng, 1, DP_RNG_TEST, 0, 0);
	for (uint32_t i = 0; i < N; i++) {
		label[i] = (uint8_t)dp_rng_below(&rng, 10);
		for (uint16_t k = 0; k < MOST; k++) {
			double x = (k % SIDE - 13.5) / 14, y = (k / SIDE - 13.5) / 14;

			if (dp_rng_uniform(&rng) > 0.43 * (1 - x * x) * (1 - y * y))
				continue;
			index[n] = k;
			value[n++] = (float)dp_rng_uniform(&rng);
		}
		start[i + 1] = n;
	}
	return (struct sparse_rows){ .n = N,
				     .nfeatures = MOST,
				     .nclasses = 10,
				     .start = start,
				     .index = index,
				     .value = value,
				     .label = label,
				     .max_row_entries = MOST };
}

/* ---- steps ---- */

struct run {
	struct mlp_training training;
	struct training_progress progress;
	struct noise_stream noise;
	struct sgd sgd;
	double at, us[MLP_PHASES];   /* when the last phase ended; microseconds in each */
	double best[MLP_PHASES + 1]; /* microseconds a step; the last is all of it */
};

static void mlp_must(int code, const struct dp_err *err)
{
	if (code == DP_OK)
		return;
	fprintf(stderr, "train_mlp: %s\n", err->msg);
	exit(1);
}

static void on_phase(void *arg, int phase)
{
	struct run *r = arg;
	double now = 1e6 * bench_cpu();

	r->us[phase] += now - r->at;
	r->at = now;
}

static void start_run(struct run *r, const struct mlp_shape *m, const struct sparse_rows *rows,
		      uint32_t lot, enum mlp_input_mode path, bool private)
{
	struct noise_stream stream;
	struct dp_err err;

	*r = (struct run){ .sgd = { .lot_size = lot,
				    .learning_rate = 1e-3,
				    .clip = private ? 1 : INFINITY,
				    .noise_multiplier = private ? 0.5 : 0 },
			   .progress = { .fd = -1, .steps_total = 1 } };
	r->training = (struct mlp_training){ .train = rows,
					     .sgd = &r->sgd,
					     .noise = &r->noise,
					     .progress = &r->progress,
					     .on_phase = on_phase,
					     .phase_arg = r };
	noise_stream_init_seeded(&stream, 1, NOISE_LOTS);
	noise_stream_init_seeded(&r->noise, 1, NOISE_GRADIENT);
	mlp_must(
		mlp__training_init(&r->training, m, path, mlp__kernels_select(NULL), &stream, &err),
		&err);
	noise_add_normals(&r->noise, 0.03f, r->training.panel_weights, r->training.net.n_weights);
	for (int i = 0; i <= MLP_PHASES; i++)
		r->best[i] = INFINITY;
}

static void mlp_step(struct run *r)
{
	r->at = 1e6 * bench_cpu();
	if (!mlp__training_step(&r->training))
		exit(1);
}

/* Steps for BLOCK_US; keeps the times of the best block. The first step brings the
 * weights back into the cache and does not count. */
static void mlp_block(struct run *r)
{
	double start, all;
	uint32_t n = 0;

	mlp_step(r);
	memset(r->us, 0, sizeof r->us);
	start = 1e6 * bench_cpu();
	do {
		mlp_step(r);
		n++;
		all = 1e6 * bench_cpu() - start;
	} while (all < BLOCK_US);
	if (all / n > r->best[MLP_PHASES])
		return;
	r->best[MLP_PHASES] = all / n;
	for (int i = 0; i < MLP_PHASES; i++)
		r->best[i] = r->us[i] / n;
}

/* ---- tables ---- */

static const struct {
	const char *name;
	struct mlp_shape m;
} models[] = {
	{ "mlp1", { 2, { 784, 1000, 10 } } },
	{ "mlp2", { 3, { 784, 128, 64, 10 } } },
};

/* Multiplications and additions a record: forward, gradient, and back through all
 * layers but the first. */
static double mlp_flops(const struct mlp_shape *m)
{
	double n = 0;

	for (size_t l = 0; l < m->nlayers; l++)
		n += (l == 0 ? 4.0 : 6.0) * m->width[l] * m->width[l + 1];
	return n;
}

static void mlp_measure(size_t model, const struct sparse_rows *rows, uint32_t lot, int rounds,
			bool json, double *peak)
{
	const struct mlp_shape *m = &models[model].m;
	double epoch = 60000.0 / lot * 1e-6, limit, s[3];
	struct run run[3];

	start_run(&run[0], m, rows, lot, MLP_INPUT_DENSE, true);
	start_run(&run[1], m, rows, lot, MLP_INPUT_SPARSE, true);
	start_run(&run[2], m, rows, lot, MLP_INPUT_DENSE, false);
	for (int i = 0; i < rounds; i++) {
		*peak = fmax(*peak, peak_once());
		for (int k = 0; k < 3; k++)
			mlp_block(&run[k]);
	}
	limit = epoch *
		(mlp_flops(m) * lot / *peak + NOISE_NS / 1e3 * (double)mlp_count_weights(m));
	for (int k = 0; k < 3; k++)
		s[k] = epoch * run[k].best[MLP_PHASES];
	if (json)
		printf("{\"model\": \"%s\", \"lot\": %u, \"dense\": %.6g, \"sparse\": "
		       "%.6g, \"open\": %.6g, \"limit\": %.6g}\n",
		       models[model].name, (unsigned)lot, s[0], s[1], s[2], limit);
	else
		printf("%s %5u %8.3f %8.3f %8.3f %8.3f %7.2f %7.2f  ", models[model].name,
		       (unsigned)lot, s[0], s[1], s[2], limit, s[0] / limit, s[0] / s[1]);
	for (int k = 0; !json && k < 2; k++)
		printf("%s%.0f/%.0f/%.0f/%.0f", k ? "  " : "", run[k].best[MLP_PHASE_LOAD],
		       run[k].best[MLP_PHASE_FORWARD], run[k].best[MLP_PHASE_BACKWARD],
		       run[k].best[MLP_PHASE_GRADIENT]);
	if (!json)
		printf("  %.0f\n", *peak / 1e3);
	fflush(stdout);
	for (int k = 0; k < 3; k++)
		mlp__training_free(&run[k].training);
}

int main(int argc, char **argv)
{
	static const uint32_t lots[] = { 16, 64, 128, 600, 4000 };
	const char *model = NULL;
	struct data_splits data = { 0 };
	struct sparse_rows rows;
	uint32_t lot = 0;
	int c, rounds = 40;
	bool json = false;
	double peak = 0; /* the best yet */
	struct dp_err err;

	while ((c = getopt(argc, argv, "m:l:r:j")) != -1) {
		if (c == 'm')
			model = optarg;
		else if (c == 'l')
			lot = (uint32_t)atoi(optarg);
		else if (c == 'r')
			rounds = atoi(optarg);
		else if (c == 'j')
			json = true;
		else
			return 2;
	}
	if (data_splits_open(&data, &(struct data_options){ .name = "mnist" }, &err) == DP_OK)
		rows = data.train;
	else
		rows = made_up();
	if (!json)
		printf("data: %s; kernels: %s; noise: %s\n"
		       "model   lot  dense    sparse   open     limit    d/limit "
		       "d/sparse  "
		       "load/forward/backward/gradient us a step: dense, sparse; GF/s\n",
		       data.memory ? "MNIST" : "made up", mlp__kernels_select(NULL)->name,
		       noise_backend_name());
	for (size_t i = 0; i < DP_COUNT(models); i++)
		for (size_t j = 0; j < DP_COUNT(lots); j++)
			if ((!model || strcmp(model, models[i].name) == 0) &&
			    (!lot || lot == lots[j]))
				mlp_measure(i, &rows, lots[j], rounds, json, &peak);
	data_splits_close(&data);
	return 0;
}
