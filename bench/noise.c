/* noise.c - what a normal costs: nanoseconds of one core for every path of
 * trainers/noise that this machine has, and of the same transform one by one with
 * libm. */
#include "bench/clock.h"
#include "trainers/noise/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	BUFFER = 1024,        /* normals: 4 KiB */
	WEIGHTS = 800 * 1000, /* 3.2 MB, as a network of one hidden layer */
	REPEATS = 25,
	NORMALS = 2 * WEIGHTS,      /* of a repeat */
	SLOW_NORMALS = NORMALS / 8, /* of a repeat of the peer */
};

/* One repeat of something; gives how many normals it made. */
typedef size_t repeat_fn(struct noise_stream *n, float *w);

static size_t repeat_words(struct noise_stream *n, float *w)
{
	for (int i = 0; i < NORMALS; i += BUFFER)
		noise_fill_words(n, (uint32_t *)(void *)w, BUFFER);
	return NORMALS;
}

static size_t repeat_normals(struct noise_stream *n, float *w)
{
	for (int i = 0; i < NORMALS; i += BUFFER)
		noise_fill_normals(n, w, BUFFER);
	return NORMALS;
}

static size_t repeat_add(struct noise_stream *n, float *w)
{
	for (int i = 0; i < NORMALS; i += WEIGHTS)
		noise_add_normals(n, 1e-3f, w, WEIGHTS);
	return NORMALS;
}

/* Words of the path, logarithm, sine and cosine of libm. */
static size_t repeat_peer(struct noise_stream *n, float *w)
{
	uint32_t word[BUFFER];

	for (int i = 0; i < SLOW_NORMALS; i += BUFFER) {
		noise_fill_words(n, word, BUFFER);
		for (int j = 0; j < BUFFER; j += 2) {
			float u = ((float)word[j] + 0.5f) * 0x1p-32f;
			float angle = (float)word[j + 1] * (float)(2 * M_PI * 0x1p-32);
			float r = sqrtf(-2 * logf(u));

			w[j] = r * cosf(angle);
			w[j + 1] = r * sinf(angle);
		}
	}
	return SLOW_NORMALS;
}

struct work {
	const char *what;
	repeat_fn *repeat;
};

static double noise_once(const char *path, const struct work *work, float *w)
{
	struct noise_stream n;
	double start, made;

	if (!noise_backend_use(path))
		return 0;
	noise_stream_init_seeded(&n, 1, NOISE_GRADIENT);
	work->repeat(&n, w); /* wide registers are slow to wake up */
	start = 1e9 * bench_cpu();
	made = (double)work->repeat(&n, w);
	return (1e9 * bench_cpu() - start) / made;
}

static const char *const paths[] = { "vaes512", "vaes256", "aesni", "portable" };
static const struct work works[] = {
	{ "noise_words, 4 KiB", repeat_words },
	{ "noise_normals, 4 KiB", repeat_normals },
	{ "noise_add, 3.2 MB", repeat_add },
	{ "one by one with libm", repeat_peer },
};

static void noise_show(double best[DP_COUNT(works)][DP_COUNT(paths)])
{
	printf("%-24s", "");
	for (size_t p = 0; p < DP_COUNT(paths); p++)
		printf(" %9s", paths[p]);
	for (size_t i = 0; i < DP_COUNT(works); i++) {
		printf("\n%-24s", works[i].what);
		for (size_t p = 0; p < DP_COUNT(paths); p++)
			if (best[i][p] > 0)
				printf(" %9.3f", best[i][p]);
			else
				printf(" %9s", "-");
	}
	printf("\n");
}

int main(void)
{
	double best[DP_COUNT(works)][DP_COUNT(paths)] = { { 0 } };
	float *w = calloc(WEIGHTS, sizeof *w);

	if (!w)
		return 1;
	printf("ns a number, CPU time, best of %d; this machine's own path is %s\n", REPEATS,
	       noise_backend_name());
	for (int repeat = 0; repeat < REPEATS; repeat++)
		for (size_t i = 0; i < DP_COUNT(works); i++)
			for (size_t p = 0; p < DP_COUNT(paths); p++) {
				double ns = noise_once(paths[p], &works[i], w);

				if (repeat == 0 || ns < best[i][p])
					best[i][p] = ns;
			}
	noise_show(best);
	free(w);
	return 0;
}
