/* test_mlp.c - networks: gradients against finite differences and PyTorch's, clipping,
 * whole trainings against a plain one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/mlp_plain.h"

/* ---- gradients ---- */

/* A step on all records at rate 1 goes down the mean gradient. */
static void check_differences(const struct mlp_shape *m)
{
	struct sparse_rows r =
		class_rows(9, m->width[0], m->width[0] - 1, true, m->width[m->nlayers]);
	struct sgd how = { .epochs = 1, .lot_size = r.n, .learning_rate = 1, .clip = INFINITY };
	float *w = some_weights(m, 11);
	size_t n = mlp_count_weights(m);
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
	check_differences(&(struct mlp_shape){ 1, { 5, 3 } });
	check_differences(&(struct mlp_shape){ 2, { 13, 17, 4 } });
	check_differences(&(struct mlp_shape){ 3, { 7, 70, 5, 3 } });
	check_differences(&(struct mlp_shape){ 4, { 6, 5, 18, 4, 2 } });
}

/* What tests/ref/mlp_torch.py wrote. */
struct torch_case {
	struct mlp_shape m;
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
	static const char *const names[] = { "inputs", "labels", "before", "after", "norms" };
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

static struct sparse_rows torch_rows(const struct torch_case *t)
{
	uint32_t nfeatures = t->m.width[0];
	struct sparse_rows r = made_rows(t->records, nfeatures, nfeatures, true, 1);
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

/* All rows forward and back through a net with these weights; mlp__net_free() it. */
static void through_net(struct mlp_net *net, const struct mlp_shape *m, enum mlp_input_mode path,
			const char *name, const struct sparse_rows *rows, const float *w,
			double clip, double unit)
{
	uint32_t number[64];
	float *panels;

	for (uint32_t i = 0; i < rows->n; i++)
		number[i] = i;
	mlp__net_init(net, m, path, mlp__kernels_select(name), rows, rows->n);
	panels = mlp__alloc_floats(net->n_weights);
	mlp__net_pack(net, w, panels);
	mlp__net_transpose(net, panels);
	mlp__input_load(&net->input, rows, number, rows->n);
	mlp__net_forward(net, panels);
	mlp__net_backward(net, rows, number, clip, unit);
	free(panels);
}

/* The lengths of gradients that clipping goes by. */
static void check_norms(const struct torch_case *t, const struct sparse_rows *r,
			enum mlp_input_mode path, const float *w)
{
	struct mlp_net net;

	through_net(&net, &t->m, path, NULL, r, w, 1e-3, 1);
	for (uint32_t i = 0; i < r->n; i++)
		assert_true(fabs(1e-3 / net.clip_factor[i] / t->value[4][i] - 1) < 2e-6);
	mlp__net_free(&net);
}

static void test_against_torch(void **state)
{
	struct torch_case *t = malloc(sizeof *t);
	FILE *f = torch_open();
	int cases = 0;

	(void)state;
	for (; torch_next(f, t); cases++) {
		struct sparse_rows r = torch_rows(t);
		struct sgd how = {
			.epochs = 1, .lot_size = r.n, .learning_rate = t->rate, .clip = t->clip
		};
		size_t n = mlp_count_weights(&t->m);
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
	const struct mlp_shape m = { 3, { 20, 33, 9, 5 } };
	struct sparse_rows all = class_rows(40, 20, 12, true, 5);
	int clipped = 0, whole = 0;

	(void)state;
	for (uint32_t i = 0; i < all.n * DP_COUNT(clips); i++) {
		struct sparse_rows one = all;
		float *w = some_weights(&m, i), *before = some_weights(&m, i);
		struct sgd how = { .epochs = 1,
				   .lot_size = 1,
				   .learning_rate = 0.5,
				   .clip = clips[i % DP_COUNT(clips)] };
		double moved = 0, norm;
		struct plain p;

		one.n = 1;
		one.start += i / DP_COUNT(clips);
		one.label += i / DP_COUNT(clips);
		plain_init(&p, &m, w);
		norm = plain_gradient(&p, &one, 0);
		descend(&m, paths[i % 2], NULL, &one, &how, w);
		for (size_t k = 0; k < mlp_count_weights(&m); k++)
			moved += pow((double)w[k] - before[k], 2);
		moved = sqrt(moved) / how.learning_rate;
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

/* The squared length of a record's gradient as the net has its parts, in arithmetic
 * that is exact beside that of the net. */
static long double exact_square(const struct mlp_net *net, uint32_t r,
				const struct sparse_rows *rows)
{
	long double sum = 0;

	for (size_t l = 0; l < net->n_layers; l++) {
		const struct mlp_layer *y = &net->layer[l], *x = y - 1;
		long double in = 1, out = 0;

		for (uint64_t k = rows->start[r]; l == 0 && k < rows->start[r + 1]; k++)
			in += (long double)rows->value[k] * rows->value[k];
		for (size_t i = 0; l > 0 && i < y->n_inputs; i++)
			in += (long double)x->activation[r * x->record_stride + i] *
			      x->activation[r * x->record_stride + i];
		for (size_t i = 0; i < y->n_outputs; i++)
			out += (long double)y->delta[r * y->record_stride + i] *
			       y->delta[r * y->record_stride + i];
		sum += in * out;
	}
	return sum;
}

static void check_bound(const struct mlp_shape *m, const struct sparse_rows *rows, const char *name,
			double clip, double unit)
{
	float *w = some_weights(m, 3);
	struct mlp_net net;
	uint32_t clipped = 0;

	through_net(&net, m, MLP_INPUT_DENSE, name, rows, w, clip, unit);
	for (uint32_t r = 0; r < rows->n; r++) {
		long double length = sqrtl(exact_square(&net, r, rows));
		long double after = fabsl((long double)net.clip_factor[r]) * length;
		long double bound = (long double)fabs(unit) * clip;

		assert_true(net.clip_factor[r] * unit > 0);
		assert_true(after <= bound);
		/* and hardly less where it was longer */
		if (length > clip)
			assert_true(after >= bound * (1 - 3e-6L));
		else
			assert_true(after >= fabs(unit) * length * (1 - 3e-6L));
		clipped += length > clip;
	}
	assert_true(clipped > 0);
	free(w);
	mlp__net_free(&net);
}

/* L is a bound, not a length that is nearly kept. */
static void test_clip_is_a_bound(void **state)
{
	static const double clips[] = { 1e-3, 0.1, 0.3, 1, 1.7 }, units[] = { 1, -0.37 };
	const struct mlp_shape m = { 3, { 200, 65, 9, 5 } };
	struct sparse_rows rows = class_rows(60, 200, 120, true, 6);

	(void)state;
	for (size_t k = 0; k < DP_COUNT(kernels); k++)
		for (size_t c = 0; mlp__kernels_select(kernels[k]) && c < DP_COUNT(clips); c++)
			for (size_t u = 0; u < DP_COUNT(units); u++)
				check_bound(&m, &rows, kernels[k], clips[c], units[u]);
	free_rows(&rows);
}

/* ---- trainings ---- */

struct training {
	struct mlp_shape m;
	uint32_t n;
	bool values;
	struct sgd how;
	double tolerance;
};

static const struct training trainings[] = {
	{ { 2, { 30, 70, 4 } },
	  60,
	  true,
	  { OPTIMIZER_SGD, 4, 7, 0.3, 0.8, 0, 0, false, NULL },
	  3e-6 },
	{ { 3, { 29, 18, 33, 5 } },
	  50,
	  false,
	  { OPTIMIZER_SGD, 3, 6, 0.2, 1, 0, 0, false, NULL },
	  3e-6 },
	{ { 1, { 16, 10 } },
	  50,
	  true,
	  { OPTIMIZER_SGD, 3, 5, 1, INFINITY, 0, 0, false, NULL },
	  3e-6 },
	/* more than a chunk */
	{ { 2, { 12, 20, 3 } },
	  700,
	  true,
	  { OPTIMIZER_SGD, 4, 300, 0.5, 0.5, 0, 0, false, NULL },
	  3e-6 },
	/* more than a block in a chunk */
	{ { 3, { 100, 300, 300, 3 } },
	  150,
	  true,
	  { OPTIMIZER_SGD, 1, 150, 0.5, 0.5, 0, 0, false, NULL },
	  3e-6 },
	/* Adam divides small numbers by small numbers */
	{ { 2, { 30, 70, 4 } },
	  60,
	  true,
	  { OPTIMIZER_ADAM, 3, 7, 0.01, 0.8, 0, 0, false, NULL },
	  1e-3 },
	{ { 2, { 12, 20, 3 } },
	  700,
	  false,
	  { OPTIMIZER_ADAM, 4, 300, 0.01, 0.5, 0, 0, false, NULL },
	  1e-3 },
	/* Poisson, with empty lots */
	{ { 2, { 11, 6, 3 } },
	  12,
	  true,
	  { OPTIMIZER_SGD, 5, 1, 0.3, 0.5, 0, 0, true, NULL },
	  3e-6 },
	{ { 2, { 11, 6, 3 } },
	  12,
	  true,
	  { OPTIMIZER_ADAM, 5, 1, 0.01, 0.5, 0, 0, true, NULL },
	  1e-3 },
	/* Poisson, lots of one chunk and of two */
	{ { 2, { 11, 6, 3 } },
	  700,
	  true,
	  { OPTIMIZER_SGD, 2, 128, 0.5, 0.5, 0, 0, true, NULL },
	  3e-6 },
};

static void test_against_plain(void **state)
{
	int empty = 0;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(trainings); i++) {
		const struct training *t = &trainings[i];
		const struct mlp_shape *m = &t->m;
		struct sparse_rows r = class_rows(t->n, m->width[0], m->width[0] / 3, t->values,
						  m->width[m->nlayers]);
		float *w = some_weights(m, i);
		struct noise_stream lots;
		struct plain p;

		noise_stream_init_seeded(&lots, 3, NOISE_LOTS);
		plain_init(&p, m, w);
		empty += plain_train(&p, &r, &t->how, &lots);
		for (size_t k = 0; k < DP_COUNT(kernels) * DP_COUNT(paths); k++) {
			float *x = some_weights(m, i);

			if (mlp__kernels_select(kernels[k / 2])) {
				descend(m, paths[k % 2], kernels[k / 2], &r, &t->how, x);
				assert_close(x, p.w, mlp_count_weights(m), t->tolerance);
			}
			free(x);
		}
		plain_free(&p);
		free(w);
		free_rows(&r);
	}
	assert_true(empty > 4);
}

/* ---- scores ---- */

static void score_once(const struct mlp_shape *m, const struct sparse_rows *rows, const float *w,
		       struct model_score *out)
{
	struct mlp_scorer *s = mlp_scorer_new(m, rows, MLP_SCORER_CACHE_BYTES);

	mlp_scorer_score(s, w, out);
	mlp_scorer_free(s);
}

static void test_score(void **state)
{
	const struct mlp_shape m = { 3, { 30, 70, 9, 4 } };
	struct sparse_rows r = class_rows(400, 29, 4, true, 4), wide;
	float *w = some_weights(&m, 2);
	double loss = 0;
	uint32_t right = 0;
	struct model_score s;
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
	score_once(&m, &r, w, &s);
	assert_float_equal(s.loss, loss / r.n, 1e-5);
	assert_float_equal(s.accuracy, (double)right / r.n, 1e-9);
	/* far out, where exp() alone would overflow */
	for (size_t i = 0; i < mlp_count_weights(&m); i++)
		w[i] *= 1000;
	score_once(&m, &r, w, &s);
	assert_true(isfinite(s.loss) && s.loss > 1e4);
	w[29 * 70] = INFINITY;
	score_once(&m, &r, w, &s);
	assert_false(isfinite(s.loss));
	plain_free(&p);
	free(w);
	free_rows(&r);
}

/* Records that stay ready and records that are made ready each time give the same bits,
 * whatever was scored in between; sparse, dense, and more than go forward at once. */
static void test_score_again(void **state)
{
	const struct mlp_shape m = { 2, { 90, 300, 4 } };
	const uint32_t entries[] = { 5, 80 };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(entries); i++) {
		struct sparse_rows r = class_rows(1203, 90, entries[i], true, 4);
		float *w = some_weights(&m, 2), *other = some_weights(&m, 3);
		struct model_score first, again, unkept, unlike;
		struct mlp_scorer *s = mlp_scorer_new(&m, &r, MLP_SCORER_CACHE_BYTES);
		struct mlp_scorer *forgets = mlp_scorer_new(&m, &r, 0);

		mlp_scorer_score(s, w, &first);
		mlp_scorer_score(s, other, &unlike);
		mlp_scorer_score(s, w, &again);
		mlp_scorer_score(forgets, other, &unkept);
		assert_true(unkept.loss == unlike.loss);
		mlp_scorer_score(forgets, w, &unkept);
		assert_true(again.loss == first.loss && unkept.loss == first.loss);
		assert_true(again.accuracy == first.accuracy);
		assert_true(unkept.accuracy == first.accuracy);
		assert_true(unlike.loss != first.loss);
		mlp_scorer_free(s);
		mlp_scorer_free(forgets);
		free(w);
		free(other);
		free_rows(&r);
	}
}

/* ---- the rest ---- */

static void test_learns(void **state)
{
	const struct mlp_shape m = { 3, { 20, 32, 16, 2 } };
	const struct sgd how = { .epochs = 30, .lot_size = 20, .learning_rate = 0.2, .clip = 4 };
	struct sparse_rows r = class_rows(1000, 20, 10, false, 2);
	float *w = calloc(mlp_count_weights(&m), sizeof *w);
	struct model_score s;

	(void)state;
	for (uint32_t i = 0; i < r.n; i++) {
		uint64_t left = 0;

		for (uint64_t e = r.start[i]; e < r.start[i + 1]; e++)
			left += r.index[e] < 10;
		((uint8_t *)r.label)[i] = 2 * left > r.start[i + 1] - r.start[i];
	}
	train(&m, MLP_INPUT_AUTO, &r, &how, 1, w);
	score_once(&m, &r, w, &s);
	assert_true(s.accuracy > 0.98);
	free(w);
	free_rows(&r);
}

static void test_interrupted(void **state)
{
	const struct mlp_shape m = { 2, { 20, 30, 3 } };
	const struct sgd how = { .epochs = 100, .lot_size = 20, .learning_rate = 0.1, .clip = 1 };
	struct sparse_rows r = class_rows(200, 20, 10, true, 3);
	float *w = calloc(mlp_count_weights(&m), sizeof *w);
	struct training_progress pulse;
	struct noise_stream s;
	sigset_t term;

	(void)state;
	noise_stream_init_seeded(&s, 1, NOISE_LOTS);
	training_progress_start(&pulse, -1, 1000);
	raise(SIGTERM);
	assert_int_equal(mlp__train_from(&m, MLP_INPUT_AUTO, mlp__kernels_select(NULL), &r, &how,
					 &s, &s, &pulse, w, NULL),
			 DP_E_INTERRUPTED);
	assert_true(pulse.steps_done < 1000);
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	assert_int_equal(sigwaitinfo(&term, NULL), SIGTERM);
	training_progress_end(&pulse);
	free(w);
	free_rows(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finite_differences), cmocka_unit_test(test_against_torch),
		cmocka_unit_test(test_clipping),           cmocka_unit_test(test_clip_is_a_bound),
		cmocka_unit_test(test_against_plain),      cmocka_unit_test(test_score),
		cmocka_unit_test(test_score_again),        cmocka_unit_test(test_learns),
		cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
