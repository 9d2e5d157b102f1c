/* test_mlp.c - networks: gradients against finite differences and PyTorch's, whole
 * trainings against a plain one in double precision, paths and kernels against each
 * other, the noise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_rows.h"
#include "trainers/learn/mlp_internal.h"

static const enum mlp_path paths[] = { MLP_DENSE, MLP_SPARSE };
static const char *const kernels[] = { "avx512", "avx2", "portable" };

/* ---- a plain implementation ---- */

struct plain {
	const struct mlp *m;
	double *w, *g; /* as learn.h has the weights, and one gradient */
	double *act[MLP_LAYERS_MAX + 1]; /* inputs, outputs of each layer */
	double *delta;
};

static void plain_init(struct plain *p, const struct mlp *m, const float *w)
{
	p->m = m;
	p->w = calloc(mlp_weights(m), sizeof *p->w);
	p->g = calloc(mlp_weights(m), sizeof *p->g);
	p->delta = calloc(mlp_weights(m), sizeof *p->delta);
	for (size_t l = 0; l <= m->nlayers; l++)
		p->act[l] = calloc(m->width[l] + 1, sizeof **p->act);
	for (size_t i = 0; i < mlp_weights(m); i++)
		p->w[i] = w[i];
}

static void plain_free(struct plain *p)
{
	free(p->w);
	free(p->g);
	free(p->delta);
	for (size_t l = 0; l <= p->m->nlayers; l++)
		free(p->act[l]);
}

static const double *layer_weights(const struct plain *p, size_t l)
{
	struct mlp before = *p->m;

	before.nlayers = l;
	return p->w + mlp_weights(&before);
}

/* The loss of record i; outputs are left in p->act. */
static double plain_loss(struct plain *p, const struct rows *r, uint32_t i)
{
	const struct mlp *m = p->m;
	double sum = 0, *logit = p->act[m->nlayers];

	dense_row(r, i, p->act[0]);
	for (size_t l = 0; l < m->nlayers; l++) {
		const double *w = layer_weights(p, l);

		p->act[l][m->width[l]] = 1;
		for (size_t o = 0; o < m->width[l + 1]; o++) {
			double x = 0;

			for (size_t k = 0; k <= m->width[l]; k++)
				x += p->act[l][k] * w[k * m->width[l + 1] + o];
			p->act[l + 1][o] = l + 1 < m->nlayers ? fmax(x, 0) : x;
		}
	}
	for (size_t o = 0; o < m->width[m->nlayers]; o++)
		sum += exp(logit[o]);
	return log(sum) - logit[r->label[i]];
}

/* The gradient of record i into p->g; its length. */
static double plain_gradient(struct plain *p, const struct rows *r, uint32_t i)
{
	const struct mlp *m = p->m;
	double loss = plain_loss(p, r, i), norm = 0, *delta = p->delta;
	size_t classes = m->width[m->nlayers];

	for (size_t o = 0; o < classes; o++)
		delta[o] = exp(p->act[m->nlayers][o] - loss -
			       p->act[m->nlayers][r->label[i]]) -
			   (o == r->label[i]);
	for (size_t l = m->nlayers; l-- > 0;) {
		const double *w = layer_weights(p, l);
		size_t in = m->width[l], out = m->width[l + 1];
		double *before = calloc(in, sizeof *before);

		for (size_t k = 0; k <= in; k++)
			for (size_t o = 0; o < out; o++) {
				double g = p->act[l][k] * delta[o];

				p->g[(size_t)(w - p->w) + k * out + o] = g;
				norm += g * g;
				if (k < in && p->act[l][k] > 0)
					before[k] += w[k * out + o] * delta[o];
			}
		memcpy(delta, before, in * sizeof *before);
		free(before);
	}
	return sqrt(norm);
}

/* Algorithms 3 and 4 as they are printed, without noise; the number of empty lots. */
static int plain_train(struct plain *p, const struct rows *r, const struct sgd *how,
		       const struct noise *stream)
{
	size_t n = mlp_weights(p->m);
	double *g = calloc(n, sizeof *g), *mu = calloc(n, sizeof *mu),
	       *nu = calloc(n, sizeof *nu);
	int empty = 0, steps = (int)(how->epochs * nearbyint((double)r->n / how->lot));
	struct lots lots;

	assert_int_equal(lots_init(&lots, stream, r->n, how, NULL), DP_OK);
	for (int i = 1; i <= steps; i++) {
		uint32_t count;
		const uint32_t *ids = lots_next(&lots, &count);

		empty += count == 0;
		memset(g, 0, n * sizeof *g);
		for (uint32_t j = 0; j < count; j++) {
			double norm = plain_gradient(p, r, ids[j]);

			for (size_t k = 0; k < n; k++)
				g[k] += p->g[k] * fmin(1, how->clip / norm) / how->lot;
		}
		for (size_t k = 0; k < n; k++) {
			if (how->optimizer == OPTIMIZER_SGD) {
				p->w[k] -= how->rate * g[k];
				continue;
			}
			mu[k] = 0.9 * mu[k] + 0.1 * g[k];
			nu[k] = 0.999 * nu[k] + 0.001 * g[k] * g[k];
			p->w[k] -= how->rate * mu[k] / (1 - pow(0.9, i)) /
				   (sqrt(nu[k] / (1 - pow(0.999, i))) + 1e-8);
		}
	}
	lots_free(&lots);
	free(g);
	free(mu);
	free(nu);
	return empty;
}

/* ---- the code under test ---- */

/* Made-up records of several classes. */
static struct rows class_rows(uint32_t n, uint32_t nfeatures, uint32_t most, bool values,
			      uint32_t nclasses)
{
	struct rows r = made_rows(n, nfeatures, most, values, 5);
	uint8_t *label = (uint8_t *)r.label;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t sum = i % 2;

		for (uint64_t e = r.start[i]; e < r.start[i + 1]; e++)
			sum += r.index[e] < nfeatures / 2;
		label[i] = (uint8_t)(sum % nclasses);
	}
	r.nclasses = nclasses;
	return r;
}

static float *some_weights(const struct mlp *m, uint64_t seed)
{
	float *w = calloc(mlp_weights(m), sizeof *w);
	struct dp_rng rng;

	dp_rng_init(&rng, seed, DP_RNG_TEST, 1, 0);
	for (size_t i = 0; i < mlp_weights(m); i++)
		w[i] = (float)(0.4 * dp_rng_normal(&rng));
	return w;
}

static void descend(const struct mlp *m, enum mlp_path path, const char *kernel,
		    const struct rows *r, const struct sgd *how, float *w)
{
	struct pulse pulse = { .fd = -1, .total = 1 };
	struct noise lots, noise;
	struct dp_err err;

	noise_seeded(&lots, 3, NOISE_LOTS);
	noise_seeded(&noise, 3, NOISE_GRADIENT);
	if (mlp__descend(m, path, mlp__kernels(kernel), r, how, &lots, &noise, &pulse, w,
			 &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(pulse.done, sgd_steps(how, r->n));
}

/* All of a's elements are those of b, to `most` of the largest. */
static void assert_close(const float *a, const double *b, size_t n, double most)
{
	double top = 0;

	for (size_t i = 0; i < n; i++)
		top = fmax(top, fabs(b[i]));
	for (size_t i = 0; i < n; i++)
		if (!(fabs(a[i] - b[i]) <= most * top))
			fail_msg("element %zu is %.9g, not %.9g", i, (double)a[i], b[i]);
}

static double *doubles(const float *x, size_t n)
{
	double *d = calloc(n, sizeof *d);

	for (size_t i = 0; i < n; i++)
		d[i] = x[i];
	return d;
}

/* ---- kernels ---- */

enum {
	ROWS = 24,
	DEPTH = 37
};

struct product_case {
	float a[DEPTH][ROWS]; /* A' */
	float b[DEPTH * MLP_PANEL] __attribute__((aligned(64)));
	float c[ROWS * (MLP_PANEL + 16)] __attribute__((aligned(64)));
	double expected[ROWS * (MLP_PANEL + 16)];
};

static void make_product(struct product_case *t, size_t width, bool add)
{
	struct dp_rng rng;

	dp_rng_init(&rng, width, DP_RNG_TEST, add, 0);
	for (size_t k = 0; k < DEPTH; k++)
		for (size_t i = 0; i < ROWS; i++)
			t->a[k][i] = dp_rng_uniform(&rng) < 0.6
					     ? 0
					     : (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < DP_COUNT(t->b); i++)
		t->b[i] = (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < DP_COUNT(t->c); i++)
		t->expected[i] = t->c[i] = (float)dp_rng_normal(&rng);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < width; j++) {
			double *x = &t->expected[i * (MLP_PANEL + 16) + j];

			*x = add ? *x : 0;
			for (size_t k = 0; k < DEPTH; k++)
				*x += (double)t->a[k][i] * t->b[k * width + j];
		}
}

static void sparse_product(const struct mlp_kernels *k, const struct mlp_product *p,
			   const struct product_case *t)
{
	uint32_t from[ROWS / MLP_GROUP], to[ROWS / MLP_GROUP], n = 0;
	float value[ROWS * DEPTH];
	uint16_t index[ROWS * DEPTH];

	for (size_t g = 0; g < ROWS / MLP_GROUP; g++) {
		from[g] = n;
		for (uint16_t d = 0; d < DEPTH; d++) {
			const float *x = &t->a[d][g * MLP_GROUP];

			if (x[0] == 0 && x[1] == 0 && x[2] == 0 && x[3] == 0)
				continue;
			index[n] = d;
			memcpy(value + n++ * (size_t)MLP_GROUP, x, MLP_GROUP * sizeof *x);
		}
		to[g] = n;
	}
	k->sparse(p, &(struct mlp_sparse){ from, to, index, value });
}

static void check_products(const struct mlp_kernels *k, size_t width, bool add)
{
	struct product_case t;
	struct mlp_product p = { .b = t.b,
				 .c = t.c,
				 .rows = ROWS,
				 .width = width,
				 .c_row = MLP_PANEL + 16,
				 .add = add };

	make_product(&t, width, add);
	k->dense(&p, &(struct mlp_dense){ t.a[0], 1, ROWS, DEPTH });
	assert_close(t.c, t.expected, DP_COUNT(t.c), 1e-6);
	make_product(&t, width, add);
	sparse_product(k, &p, &t);
	assert_close(t.c, t.expected, DP_COUNT(t.c), 1e-6);
}

static void check_rows(const struct mlp_kernels *k)
{
	float x[32] __attribute__((aligned(64))), y[32] __attribute__((aligned(64)));
	double sum = 0;

	for (int i = 0; i < 32; i++)
		x[i] = y[i] = (float)(i % 2 ? i : -i);
	assert_float_equal(k->square(x + 1, 29), 29 * 30 * 59 / 6.0, 1e-2);
	for (int i = 1; i < 32; i += 2)
		sum += i * i;
	assert_float_equal(k->rectify(x, 32), sum, 1e-2);
	for (int i = 0; i < 32; i++)
		assert_true(x[i] == (i % 2 ? i : 0));
	assert_float_equal(k->gate(y, x, 32), sum, 1e-2);
	assert_memory_equal(x, y, sizeof x);
	x[3] = NAN;
	assert_true(isnan(k->rectify(x, 32)) && isnan(x[3]));
	k->scale(y, y, 2, 16);
	for (int i = 1; i < 32; i += 2)
		assert_true(y[i] == (i < 16 ? 2 * i : i));
}

static void test_kernels(void **state)
{
	(void)state;
	for (size_t i = 0; i < DP_COUNT(kernels); i++) {
		const struct mlp_kernels *k = mlp__kernels(kernels[i]);

		if (!k) {
			print_message("%s skipped: not on this machine\n", kernels[i]);
			continue;
		}
		for (size_t width = 16; width <= MLP_PANEL; width += 16) {
			check_products(k, width, false);
			check_products(k, width, true);
		}
		check_rows(k);
	}
	assert_null(mlp__kernels("mmx"));
	assert_non_null(mlp__kernels("portable"));
}

/* ---- gradients ---- */

/* A step on all records at rate 1 goes down the mean gradient. */
static void check_differences(const struct mlp *m)
{
	struct rows r =
		class_rows(9, m->width[0], m->width[0] - 1, true, m->width[m->nlayers]);
	struct sgd how = { .epochs = 1, .lot = r.n, .rate = 1, .clip = INFINITY };
	float *w = some_weights(m, 11);
	size_t n = mlp_weights(m);
	double *slope = calloc(n, sizeof *slope);
	struct plain p;

	plain_init(&p, m, w);
	for (size_t k = 0; k < n; k++) {
		const double h = 1e-5, at = p.w[k];

		for (uint32_t i = 0; i < r.n; i++) {
			p.w[k] = at + h;
			slope[k] += plain_loss(&p, &r, i) / (2 * h * r.n);
			p.w[k] = at - h;
			slope[k] -= plain_loss(&p, &r, i) / (2 * h * r.n);
		}
		p.w[k] = at;
	}
	for (size_t i = 0; i < DP_COUNT(paths); i++) {
		float *moved = some_weights(m, 11);

		descend(m, paths[i], NULL, &r, &how, moved);
		for (size_t k = 0; k < n; k++)
			moved[k] = w[k] - moved[k];
		assert_close(moved, slope, n, 1e-5);
		free(moved);
	}
	plain_free(&p);
	free(slope);
	free(w);
	free_rows(&r);
}

static void test_finite_differences(void **state)
{
	(void)state;
	check_differences(&(struct mlp){ 1, { 5, 3 } });
	check_differences(&(struct mlp){ 2, { 13, 17, 4 } });
	check_differences(&(struct mlp){ 3, { 7, 70, 5, 3 } });
	check_differences(&(struct mlp){ 4, { 6, 5, 18, 4, 2 } });
}

/* What tests/ref/mlp_torch.py wrote. */
struct torch_case {
	struct mlp m;
	uint32_t records;
	double clip, rate;
	size_t n[5];
	double value[5][1024]; /* inputs, labels, before, after, norms */
};

static FILE *torch_open(void)
{
	const char *dir = getenv("srcdir");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/ref/mlp_torch.tsv", dir ? dir : ".");
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	return f;
}

static bool torch_next(FILE *f, struct torch_case *t)
{
	static const char *const names[] = { "inputs", "labels", "before", "after",
					     "norms" };
	static char line[65536];
	double widths[MLP_LAYERS_MAX + 1] = { 0 };

	memset(t, 0, sizeof *t);
	while (fgets(line, sizeof line, f)) {
		char *at = line, *name = strsep(&at, "\t"), *field;
		double how[3] = { 0 }, *to = NULL;
		size_t *n = NULL, count = 0, which;

		for (which = 0; which < DP_COUNT(names); which++)
			if (strcmp(name, names[which]) == 0) {
				to = t->value[which];
				n = &t->n[which];
			}
		if (strcmp(name, "widths") == 0)
			to = widths;
		else if (strcmp(name, "how") == 0)
			to = how;
		else if (!to)
			continue;
		while ((field = strsep(&at, "\t\n")) && *field)
			to[count++] = strtod(field, NULL);
		if (n)
			*n = count;
		if (to == widths)
			t->m.nlayers = count - 1;
		for (size_t l = 0; to == widths && l < count; l++)
			t->m.width[l] = (uint32_t)widths[l];
		if (to == how) {
			t->records = (uint32_t)how[0];
			t->clip = how[1];
			t->rate = how[2];
		}
		if (strcmp(name, "norms") == 0)
			return true;
	}
	return false;
}

static struct rows torch_rows(const struct torch_case *t)
{
	uint32_t nfeatures = t->m.width[0];
	struct rows r = made_rows(t->records, nfeatures, nfeatures, true, 1);
	uint64_t k = 0;

	for (uint32_t i = 0; i < t->records; i++) {
		for (uint32_t f = 0; f < nfeatures; f++) {
			double x = t->value[0][i * nfeatures + f];

			if (x == 0)
				continue;
			((uint16_t *)r.index)[k] = (uint16_t)f;
			((float *)r.value)[k++] = (float)x;
		}
		((uint64_t *)r.start)[i + 1] = k;
		((uint8_t *)r.label)[i] = (uint8_t)t->value[1][i];
	}
	r.nclasses = t->m.width[t->m.nlayers];
	return r;
}

/* The lengths of gradients that clipping goes by. */
static void check_norms(const struct torch_case *t, const struct rows *r,
			enum mlp_path path, const float *w)
{
	uint32_t number[64];
	struct mlp_net net;
	float *panels;

	for (uint32_t i = 0; i < r->n; i++)
		number[i] = i;
	assert_int_equal(
		mlp__net_init(&net, &t->m, path, mlp__kernels(NULL), r, r->n, NULL),
		DP_OK);
	panels = mlp__floats(net.nweights);
	mlp__net_pack(&net, w, panels);
	mlp__net_turn(&net, panels);
	mlp__input_load(&net.input, r, number, r->n);
	mlp__net_forward(&net, panels);
	mlp__net_backward(&net, r, number, 1e-3, 1);
	for (uint32_t i = 0; i < r->n; i++)
		assert_true(fabs(1e-3 / net.factor[i] / t->value[4][i] - 1) < 2e-6);
	free(panels);
	mlp__net_free(&net);
}

static void test_against_torch(void **state)
{
	struct torch_case *t = malloc(sizeof *t);
	FILE *f = torch_open();
	int cases = 0;

	(void)state;
	for (; torch_next(f, t); cases++) {
		struct rows r = torch_rows(t);
		struct sgd how = {
			.epochs = 1, .lot = r.n, .rate = t->rate, .clip = t->clip
		};
		size_t n = mlp_weights(&t->m);
		float *w = calloc(n, sizeof *w);

		assert_int_equal(t->n[2], n);
		for (size_t i = 0; i < DP_COUNT(paths); i++) {
			for (size_t k = 0; k < n; k++)
				w[k] = (float)t->value[2][k];
			check_norms(t, &r, paths[i], w);
			descend(&t->m, paths[i], NULL, &r, &how, w);
			assert_close(w, t->value[3], n, 5e-7);
		}
		free(w);
		free_rows(&r);
	}
	assert_int_equal(cases, 4);
	fclose(f);
	free(t);
}

/* With one record in a lot, a step is as long as its clipped gradient. */
static void test_clipping(void **state)
{
	static const double clips[] = { 1e-3, 0.3, 1, 3, 100 };
	const struct mlp m = { 3, { 20, 33, 9, 5 } };
	struct rows all = class_rows(40, 20, 12, true, 5);
	int clipped = 0, whole = 0;

	(void)state;
	for (uint32_t i = 0; i < all.n * DP_COUNT(clips); i++) {
		struct rows one = all;
		float *w = some_weights(&m, i), *before = some_weights(&m, i);
		struct sgd how = { .epochs = 1,
				   .lot = 1,
				   .rate = 0.5,
				   .clip = clips[i % DP_COUNT(clips)] };
		double moved = 0, norm;
		struct plain p;

		one.n = 1;
		one.start += i / DP_COUNT(clips);
		one.label += i / DP_COUNT(clips);
		plain_init(&p, &m, w);
		norm = plain_gradient(&p, &one, 0);
		descend(&m, paths[i % 2], NULL, &one, &how, w);
		for (size_t k = 0; k < mlp_weights(&m); k++)
			moved += pow((double)w[k] - before[k], 2);
		moved = sqrt(moved) / how.rate;
		/* weights of size 1 are rounded */
		assert_true(moved <= how.clip * (1 + 1e-5) + 3e-7);
		assert_float_equal(moved, fmin(norm, how.clip), 1e-5 * norm + 3e-7);
		clipped += norm > how.clip;
		whole += norm <= how.clip;
		plain_free(&p);
		free(w);
		free(before);
	}
	assert_true(clipped > 30 && whole > 30);
	free_rows(&all);
}

/* ---- trainings ---- */

struct training {
	struct mlp m;
	uint32_t n;
	bool values;
	struct sgd how;
	double tolerance;
};

static const struct training trainings[] = {
	{ { 2, { 30, 70, 4 } },
	  60,
	  true,
	  { OPTIMIZER_SGD, 4, 7, 0.3, 0.8, 0, 0, false },
	  3e-6 },
	{ { 3, { 29, 18, 33, 5 } },
	  50,
	  false,
	  { OPTIMIZER_SGD, 3, 6, 0.2, 1, 0, 0, false },
	  3e-6 },
	{ { 1, { 16, 10 } },
	  50,
	  true,
	  { OPTIMIZER_SGD, 3, 5, 1, INFINITY, 0, 0, false },
	  3e-6 },
	/* more than a chunk */
	{ { 2, { 12, 20, 3 } },
	  700,
	  true,
	  { OPTIMIZER_SGD, 4, 300, 0.5, 0.5, 0, 0, false },
	  3e-6 },
	/* more than a block in a chunk */
	{ { 3, { 100, 300, 300, 3 } },
	  150,
	  true,
	  { OPTIMIZER_SGD, 1, 150, 0.5, 0.5, 0, 0, false },
	  3e-6 },
	/* Adam divides small numbers by small numbers */
	{ { 2, { 30, 70, 4 } },
	  60,
	  true,
	  { OPTIMIZER_ADAM, 3, 7, 0.01, 0.8, 0, 0, false },
	  1e-3 },
	{ { 2, { 12, 20, 3 } },
	  700,
	  false,
	  { OPTIMIZER_ADAM, 4, 300, 0.01, 0.5, 0, 0, false },
	  1e-3 },
	/* Poisson, with empty lots */
	{ { 2, { 11, 6, 3 } },
	  12,
	  true,
	  { OPTIMIZER_SGD, 5, 1, 0.3, 0.5, 0, 0, true },
	  3e-6 },
	{ { 2, { 11, 6, 3 } },
	  12,
	  true,
	  { OPTIMIZER_ADAM, 5, 1, 0.01, 0.5, 0, 0, true },
	  1e-3 },
	/* Poisson, lots of one chunk and of two */
	{ { 2, { 11, 6, 3 } },
	  700,
	  true,
	  { OPTIMIZER_SGD, 2, 128, 0.5, 0.5, 0, 0, true },
	  3e-6 },
};

static void test_against_plain(void **state)
{
	int empty = 0;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(trainings); i++) {
		const struct training *t = &trainings[i];
		const struct mlp *m = &t->m;
		struct rows r = class_rows(t->n, m->width[0], m->width[0] / 3, t->values,
					   m->width[m->nlayers]);
		float *w = some_weights(m, i);
		struct noise lots;
		struct plain p;

		noise_seeded(&lots, 3, NOISE_LOTS);
		plain_init(&p, m, w);
		empty += plain_train(&p, &r, &t->how, &lots);
		for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(paths); k++) {
			float *x = some_weights(m, i);

			if (mlp__kernels(kernels[k / 2])) {
				descend(m, paths[k % 2], kernels[k / 2], &r, &t->how, x);
				assert_close(x, p.w, mlp_weights(m), t->tolerance);
			}
			free(x);
		}
		plain_free(&p);
		free(w);
		free_rows(&r);
	}
	assert_true(empty > 4);
}

/* ---- streams ---- */

static void train(const struct mlp *m, enum mlp_path path, const struct rows *r,
		  const struct sgd *how, uint64_t seed, float *w)
{
	struct pulse pulse = { .fd = -1, .total = 1 };
	struct noise start, lots, noise;
	struct dp_err err;

	noise_seeded(&start, seed, NOISE_START);
	noise_seeded(&lots, seed, NOISE_LOTS);
	noise_seeded(&noise, seed, NOISE_GRADIENT);
	if (mlp_train(m, path, r, how, &start, &lots, &noise, &pulse, w, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static void test_start(void **state)
{
	const struct mlp m = { 3, { 100, 200, 150, 10 } };
	const struct sgd how = { .epochs = 1, .lot = 2, .rate = 0, .clip = 1 };
	struct rows r = class_rows(4, 100, 20, true, 10);
	float *w = calloc(mlp_weights(&m), sizeof *w), *at = w;

	(void)state;
	train(&m, MLP_AUTO, &r, &how, 1, w);
	for (size_t l = 0; l < m.nlayers; l++) {
		size_t n = m.width[l] * m.width[l + 1];
		double sum = 0, square = 0, variance = (l == 2 ? 1.0 : 2.0) / m.width[l];

		for (size_t i = 0; i < n; i++) {
			sum += at[i];
			square += at[i] * at[i];
		}
		/* 4 standard errors */
		assert_float_equal(sum / sqrt(n * variance), 0, 4);
		assert_float_equal((square / variance - n) / sqrt(2.0 * n), 0, 4);
		for (size_t i = 0; i < m.width[l + 1]; i++)
			assert_true(at[n + i] == 0);
		at += n + m.width[l + 1];
	}
	free(w);
	free_rows(&r);
}

static void test_repeats(void **state)
{
	const struct mlp m = { 3, { 40, 70, 20, 4 } };
	const struct sgd how = {
		.epochs = 3, .lot = 10, .rate = 0.1, .clip = 1, .noise = 1
	};
	struct rows r = class_rows(60, 40, 10, true, 4);
	size_t n = mlp_weights(&m);
	float *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
	double *sparse;

	(void)state;
	train(&m, MLP_SPARSE, &r, &how, 7, a);
	train(&m, MLP_SPARSE, &r, &how, 7, b);
	assert_memory_equal(a, b, n * sizeof *a);
	/* the same lots and the same noise */
	train(&m, MLP_DENSE, &r, &how, 7, b);
	sparse = doubles(a, n);
	assert_close(b, sparse, n, 1e-5);
	train(&m, MLP_SPARSE, &r, &how, 8, b);
	assert_true(memcmp(a, b, n * sizeof *a) != 0);
	free(a);
	free(b);
	free(sparse);
	free_rows(&r);
}

/* Zeros are skipped where there are many and the first layer is wide. */
static void test_automatic(void **state)
{
	static const struct {
		uint32_t most, width;
		bool sparse;
	} cases[] = { { 10, 1000, true }, { 10, 16, false }, { 30, 1000, false } };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		const struct mlp m = { 2, { 50, cases[i].width, 3 } };
		struct rows r = class_rows(40, 50, cases[i].most, true, 3);
		struct mlp_net net;

		assert_int_equal(mlp__net_init(&net, &m, MLP_AUTO, mlp__kernels(NULL), &r,
					       8, NULL),
				 DP_OK);
		assert_int_equal(net.input.sparse, cases[i].sparse);
		mlp__net_free(&net);
		free_rows(&r);
	}
}

/* Weights after one step with next to no gradient, less those before, in the standard
 * deviations that the noise should have. */
static double *noise_of_step(const struct mlp *m, const struct rows *r,
			     const struct sgd *how, enum mlp_path path)
{
	float *w = calloc(mlp_weights(m), sizeof *w);
	double *z, sd = how->rate * how->noise * how->clip * (how->poisson ? 1 : 2) /
			how->lot;

	descend(m, path, NULL, r, how, w);
	z = doubles(w, mlp_weights(m));
	for (size_t i = 0; i < mlp_weights(m); i++)
		z[i] /= sd;
	free(w);
	return z;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Mean, variance, neighbours and Kolmogorov and Smirnov's distance of n normals. */
static void check_normals(double *z, size_t n)
{
	double sum = 0, square = 0, next = 0, distance = 0;

	for (size_t i = 0; i < n; i++) {
		sum += z[i];
		square += z[i] * z[i];
		next += i > 0 ? z[i] * z[i - 1] : 0;
	}
	assert_float_equal(sum / sqrt((double)n), 0, 4);
	assert_float_equal((square - (double)n) / sqrt(2.0 * (double)n), 0, 4);
	assert_float_equal(next / sqrt((double)n), 0, 4);
	qsort(z, n, sizeof *z, by_size);
	for (size_t i = 0; i < n; i++) {
		double below = 0.5 * erfc(-z[i] / M_SQRT2);

		distance = fmax(distance,
				fmax((double)(i + 1) / n - below, below - (double)i / n));
	}
	assert_true(distance * sqrt((double)n) < 2.2); /* once in 8000 */
}

static void test_noise(void **state)
{
	const struct mlp m = { 3, { 60, 100, 40, 10 } };
	struct rows r = class_rows(600, 60, 9, true, 10);
	size_t n = mlp_weights(&m);

	(void)state;
	for (int i = 0; i < 8; i++) {
		/* the second half: lots of more than a chunk */
		struct sgd how = { .epochs = 1,
				   .lot = i < 4 ? 300 : 600,
				   .rate = 0.25,
				   .clip = 1e-4,
				   .noise = 1e4,
				   .poisson = i % 4 / 2 };
		double *z = noise_of_step(&m, &r, &how, paths[i % 2]), square = 0;

		if (i < 4) { /* two steps */
			for (size_t k = 0; k < n; k++)
				z[k] /= M_SQRT2;
		}
		/* biases of the first and of the last layer have their share */
		for (size_t k = 0; k < 100; k++)
			square += pow(z[60 * 100 + k], 2);
		for (size_t k = n - 10; k < n; k++)
			square += pow(z[k], 2);
		assert_float_equal((square - 110) / sqrt(220), 0, 4.5);
		check_normals(z, n);
		free(z);
	}
	free_rows(&r);
}

/* The first step of Adam is `rate` for every weight, up or down as its noise says. */
static void test_adam_noise(void **state)
{
	const struct mlp m = { 2, { 60, 100, 10 } };
	const struct sgd how = { .optimizer = OPTIMIZER_ADAM,
				 .epochs = 1,
				 .lot = 30,
				 .rate = 0.25,
				 .clip = 1e-3,
				 .noise = 1e3 };
	struct rows r = class_rows(30, 60, 9, true, 10);
	size_t n = mlp_weights(&m), up = 0;
	float *w = calloc(n, sizeof *w);

	(void)state;
	descend(&m, MLP_SPARSE, NULL, &r, &how, w);
	for (size_t i = 0; i < n; i++) {
		assert_float_equal(fabsf(w[i]), 0.25, 1e-4);
		up += w[i] > 0;
	}
	assert_float_equal(((double)up - n / 2.0) / sqrt(n / 4.0), 0, 4);
	free(w);
	free_rows(&r);
}

/* ---- the rest ---- */

static void test_score(void **state)
{
	const struct mlp m = { 3, { 30, 70, 9, 4 } };
	struct rows r = class_rows(400, 29, 4, true, 4), wide;
	float *w = some_weights(&m, 2);
	double loss = 0;
	uint32_t right = 0;
	struct score s;
	struct plain p;

	(void)state;
	wide = r;
	wide.nfeatures = 30; /* the last of which no record has */
	plain_init(&p, &m, w);
	for (uint32_t i = 0; i < r.n; i++) {
		const double *logit = p.act[m.nlayers];
		size_t top = 0;

		loss += plain_loss(&p, &wide, i);
		for (size_t o = 1; o < 4; o++)
			top = logit[o] > logit[top] ? o : top;
		right += top == r.label[i];
	}
	assert_int_equal(mlp_score(&m, &r, w, &s, NULL), DP_OK);
	assert_float_equal(s.loss, loss / r.n, 1e-5);
	assert_float_equal(s.accuracy, (double)right / r.n, 1e-9);
	/* far out, where exp() alone would overflow */
	for (size_t i = 0; i < mlp_weights(&m); i++)
		w[i] *= 1000;
	assert_int_equal(mlp_score(&m, &r, w, &s, NULL), DP_OK);
	assert_true(isfinite(s.loss) && s.loss > 1e4);
	w[29 * 70] = INFINITY;
	assert_int_equal(mlp_score(&m, &r, w, &s, NULL), DP_OK);
	assert_false(isfinite(s.loss));
	plain_free(&p);
	free(w);
	free_rows(&r);
}

static void test_learns(void **state)
{
	const struct mlp m = { 3, { 20, 32, 16, 2 } };
	const struct sgd how = { .epochs = 30, .lot = 20, .rate = 0.2, .clip = 4 };
	struct rows r = class_rows(1000, 20, 10, false, 2);
	float *w = calloc(mlp_weights(&m), sizeof *w);
	struct score s;

	(void)state;
	for (uint32_t i = 0; i < r.n; i++) {
		uint64_t left = 0;

		for (uint64_t e = r.start[i]; e < r.start[i + 1]; e++)
			left += r.index[e] < 10;
		((uint8_t *)r.label)[i] = 2 * left > r.start[i + 1] - r.start[i];
	}
	train(&m, MLP_AUTO, &r, &how, 1, w);
	assert_int_equal(mlp_score(&m, &r, w, &s, NULL), DP_OK);
	assert_true(s.accuracy > 0.98);
	free(w);
	free_rows(&r);
}

static void test_wrong_shapes(void **state)
{
	static const struct mlp shapes[] = {
		{ 0, { 20 } },
		{ MLP_LAYERS_MAX + 1, { 20, 3, 3, 3, 3, 3, 3, 3, 3 } },
		{ 2, { 20, 0, 3 } },
		{ 2, { 19, 5, 3 } },
		{ 2, { 20, 5, 2 } },
		{ 2, { 20, 70000, 3 } },
	};
	const struct sgd how = { .epochs = 1, .lot = 2, .rate = 1, .clip = 1 };
	struct rows r = class_rows(10, 20, 5, true, 3);
	struct pulse pulse = { .fd = -1, .total = 1 };
	struct noise s;
	struct dp_err err;
	struct score score;
	float w[1];

	(void)state;
	noise_seeded(&s, 1, NOISE_START);
	for (size_t i = 0; i < DP_COUNT(shapes); i++) {
		assert_int_equal(mlp_train(&shapes[i], MLP_AUTO, &r, &how, &s, &s, &s,
					   &pulse, w, &err),
				 DP_E_INVALID);
		assert_int_equal(mlp_score(&shapes[i], &r, w, &score, &err),
				 DP_E_INVALID);
	}
	free_rows(&r);
}

static void test_interrupted(void **state)
{
	const struct mlp m = { 2, { 20, 30, 3 } };
	const struct sgd how = { .epochs = 100, .lot = 20, .rate = 0.1, .clip = 1 };
	struct rows r = class_rows(200, 20, 10, true, 3);
	float *w = calloc(mlp_weights(&m), sizeof *w);
	struct pulse pulse;
	struct noise s;
	sigset_t term;

	(void)state;
	noise_seeded(&s, 1, NOISE_LOTS);
	pulse_start(&pulse, -1, 1000);
	raise(SIGTERM);
	assert_int_equal(mlp__descend(&m, MLP_AUTO, mlp__kernels(NULL), &r, &how, &s, &s,
				      &pulse, w, NULL),
			 DP_E_INTERRUPTED);
	assert_true(pulse.done < 1000);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigwaitinfo(&term, NULL), SIGTERM);
	pulse_end(&pulse);
	free(w);
	free_rows(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_finite_differences),
		cmocka_unit_test(test_against_torch),
		cmocka_unit_test(test_clipping),
		cmocka_unit_test(test_against_plain),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_automatic),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_adam_noise),
		cmocka_unit_test(test_score),
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_wrong_shapes),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
