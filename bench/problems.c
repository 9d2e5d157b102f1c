/* problems.c - known problems for bench/optimizer.
 *
 * dplike and svt are this project's own; the others are those of the literature: ZDT
 * (Zitzler, Deb, Thiele 2000), DTLZ (Deb et al. 2002), C2-DTLZ2 (Jain, Deb 2014),
 * VLMOP (Van Veldhuizen, Lamont 1999), Fonseca-Fleming (1995), Kursawe (1991), Poloni
 * (1997), OKA (Okabe et al. 2004), BNH (Binh, Korn 1997), Branin-Currin (Belakaria et
 * al. 2019). Best known values come from `optimizer -B`, or a closed form where there
 * is one. */
#include "bench/problems.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

/* ---- trainings with differential privacy, or what they look like ---- */

static double svt_compute_f1(double C, double b, int runs, struct dp_rng *rng)
{
	double b1 = b / (1 + cbrt(2 * C)), b2 = b - b1, sum = 0;

	for (int r = 0; r < runs; r++) {
		double level = 0.5 + b1 * dp_rng_laplace(rng);
		int ones = 10, left = 100, tp = 0, positive = 0;

		for (; left > 0 && positive < C; left--) {
			int q = dp_rng_below(rng, (uint64_t)left) < (uint64_t)ones;

			ones -= q;
			if (q + b2 * dp_rng_laplace(rng) < level)
				continue;
			positive++;
			tp += q;
		}
		sum += 2.0 * tp / (positive + 10);
	}
	return sum / runs;
}

static void svt(const double *x, struct dp_rng *rng, int runs, double *y)
{
	double C = x[0], b = x[1];

	y[0] = (1 + cbrt(2 * C)) * (1 + pow(2 * C, 2.0 / 3)) / b;
	y[1] = 1 - svt_compute_f1(C, b, runs, rng);
}

static void dplike(const double *x, double *y, double *metric)
{
	double e = x[0], m = x[1], lr = x[2], v = x[3], c = x[4];
	double q = m / 32561, T = e / q, mu = q * sqrt(T * expm1(1 / v));
	double U = 1 / (1 + lr * T * c / (1 + c) / 2);
	double r = lr * sqrt(v) * c * sqrt(T * 100) / m, W = r / (1 + r);
	double h = log10(lr) + 2 - 0.5 * log10(m / 64), V = 0.08 * h * h / (1 + h * h);

	(void)metric;
	y[0] = mu * mu / 2 + mu * sqrt(2 * log(1e6));
	y[1] = 0.15 + 0.35 * (1 - (1 - U) * (1 - W)) + V;
}

static void dplike2(const double *x, double *y, double *metric)
{
	double e = x[0], m = x[1], lr = x[2], z = x[3], c = x[4];
	double q = m / 60000, T = e / q, mu = q * sqrt(T * expm1(1 / (z * z)));
	double under = exp(-pow(lr * fmin(c, 1.3) * T / 40, 0.7));
	double r = 8 * lr * z * c * sqrt(T) / m, noise = r / (0.5 + r);
	double unstable = 1 / (1 + exp(-8 * (log10(lr * c) + 0.3)));

	(void)metric;
	y[0] = mu * mu / 2 + mu * sqrt(2 * log(1e5));
	y[1] = 0.03 + 0.87 * (1 - (1 - under) * (1 - noise) * (1 - 0.4 * unstable));
}

/* Few records, ten classes: where privacy is strong nothing is learned. */
static void dplike3(const double *x, double *y, double *metric)
{
	double e = x[0], m = x[1], lr = x[2], z = x[3], c = x[4];
	double q = m / 300, T = e / q, mu = q * sqrt(T * expm1(1 / (z * z)));
	double learned = 1 - exp(-pow(lr * c / (0.5 + c) * T / 12, 0.8));
	double r = 6 * lr * z * c * sqrt(T) / m;
	double bias = 0.12 / (1 + 4 * c), h = log10(lr / 0.05) - 0.4 * log10(m / 100);

	(void)metric;
	y[0] = mu * mu / 2 + mu * sqrt(2 * log(1e5));
	y[1] = 0.9 - (0.82 - bias) * learned / (1 + r * r) / (1 + 0.5 * h * h);
}

/* dplike with two kinds of optimiser, one of which forgives a learning rate that does
 * not fit: whole numbers, floats and a category. */
static void mixed(const double *x, double *y, double *metric)
{
	bool adaptive = x[5] == 1;
	double other[5] = { x[0], x[1], adaptive ? 0.01 * sqrt(x[2] / 0.01) : x[2], x[3], x[4] };

	dplike(other, y, metric);
	y[1] += adaptive ? 0.01 : 0;
	y[1] += x[5] == 2 ? 0.05 : 0;
}

/* ---- of the literature ---- */

static double zdt_g(const double *x)
{
	return 1 + 9 * (x[1] + x[2] + x[3] + x[4] + x[5]) / 5;
}

static void zdt1(const double *x, double *y, double *metric)
{
	double g = zdt_g(x);

	(void)metric;
	y[0] = x[0];
	y[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt2(const double *x, double *y, double *metric)
{
	double g = zdt_g(x);

	(void)metric;
	y[0] = x[0];
	y[1] = g * (1 - (x[0] / g) * (x[0] / g));
}

static void zdt3(const double *x, double *y, double *metric)
{
	double g = zdt_g(x);

	(void)metric;
	y[0] = x[0];
	y[1] = g * (1 - sqrt(x[0] / g) - x[0] / g * sin(10 * M_PI * x[0]));
}

static void zdt4(const double *x, double *y, double *metric)
{
	double g = 31;

	(void)metric;
	for (int i = 1; i < 4; i++)
		g += x[i] * x[i] - 10 * cos(4 * M_PI * x[i]);
	y[0] = x[0];
	y[1] = g * (1 - sqrt(x[0] / g));
}

static void zdt6(const double *x, double *y, double *metric)
{
	double mean = (x[1] + x[2] + x[3] + x[4] + x[5]) / 5, g = 1 + 9 * pow(mean, 0.25);

	(void)metric;
	y[0] = 1 - exp(-4 * x[0]) * pow(sin(6 * M_PI * x[0]), 6);
	y[1] = g * (1 - (y[0] / g) * (y[0] / g));
}

static void dtlz2(const double *x, size_t d, size_t p, double *y)
{
	double g = 0;

	for (size_t i = p - 1; i < d; i++)
		g += (x[i] - 0.5) * (x[i] - 0.5);
	for (size_t i = 0; i < p; i++) {
		y[i] = 1 + g;
		for (size_t k = 0; k < p - 1 - i; k++)
			y[i] *= cos(x[k] * M_PI / 2);
		if (i)
			y[i] *= sin(x[p - 1 - i] * M_PI / 2);
	}
}

static void dtlz2_2(const double *x, double *y, double *metric)
{
	(void)metric;
	dtlz2(x, 6, 2, y);
}

static void dtlz2_3(const double *x, double *y, double *metric)
{
	(void)metric;
	dtlz2(x, 6, 3, y);
}

static void dtlz2_4(const double *x, double *y, double *metric)
{
	(void)metric;
	dtlz2(x, 6, 4, y);
}

static void dtlz2_d10(const double *x, double *y, double *metric)
{
	(void)metric;
	dtlz2(x, 10, 2, y);
}

/* Only within 0.2 of the front's corners and of its middle is feasible. */
static void c2dtlz2(const double *x, double *y, double *metric)
{
	double first, second, middle;

	dtlz2(x, 4, 2, y);
	first = (y[0] - 1) * (y[0] - 1) + y[1] * y[1];
	second = y[0] * y[0] + (y[1] - 1) * (y[1] - 1);
	middle = (y[0] - M_SQRT1_2) * (y[0] - M_SQRT1_2) + (y[1] - M_SQRT1_2) * (y[1] - M_SQRT1_2);
	metric[0] = fmin(fmin(first, second), middle);
}

static void dtlz7(const double *x, double *y, double *metric)
{
	double g = 1 + 9 * (x[1] + x[2] + x[3] + x[4]) / 4, f = x[0];

	(void)metric;
	y[0] = f;
	y[1] = (1 + g) * (2 - f / (1 + g) * (1 + sin(3 * M_PI * f)));
}

static void branincurrin(const double *x, double *y, double *metric)
{
	double a = 15 * x[0] - 5, b = 15 * x[1], s = x[0];
	double t = b - 5.1 / (4 * M_PI * M_PI) * a * a + 5 / M_PI * a - 6;
	double k = x[1] > 0 ? 1 - exp(-1 / (2 * x[1])) : 1;

	(void)metric;
	y[0] = t * t + 10 * (1 - 1 / (8 * M_PI)) * cos(a) + 10;
	y[1] = k * (2300 * s * s * s + 1900 * s * s + 2092 * s + 60) /
	       (100 * s * s * s + 500 * s * s + 4 * s + 20);
}

/* Two bells whose tops are the ideal points, flat everywhere else. */
static void bells(const double *x, size_t d, double *y)
{
	double k = 1 / sqrt((double)d), a = 0, b = 0;

	for (size_t i = 0; i < d; i++) {
		a += (x[i] - k) * (x[i] - k);
		b += (x[i] + k) * (x[i] + k);
	}
	y[0] = 1 - exp(-a);
	y[1] = 1 - exp(-b);
}

static void bells2(const double *x, double *y, double *metric)
{
	(void)metric;
	bells(x, 2, y);
}

static void bells3(const double *x, double *y, double *metric)
{
	(void)metric;
	bells(x, 3, y);
}

static void bells4(const double *x, double *y, double *metric)
{
	(void)metric;
	bells(x, 4, y);
}

static void vlmop3(const double *x, double *y, double *metric)
{
	double r = x[0] * x[0] + x[1] * x[1];
	double a = 3 * x[0] - 2 * x[1] + 4, b = x[0] - x[1] + 1;

	(void)metric;
	y[0] = 0.5 * r + sin(r);
	y[1] = a * a / 8 + b * b / 27 + 15;
	y[2] = 1 / (r + 1) - 1.1 * exp(-r);
}

static void kursawe(const double *x, double *y, double *metric)
{
	(void)metric;
	y[0] = y[1] = 0;
	for (int i = 0; i < 3; i++) {
		if (i < 2)
			y[0] -= 10 * exp(-0.2 * hypot(x[i], x[i + 1]));
		y[1] += pow(fabs(x[i]), 0.8) + 5 * sin(x[i] * x[i] * x[i]);
	}
}

/* Two bowls with ripples of a tenth of their depth. */
static void ripples(const double *x, double *y, double *metric)
{
	(void)metric;
	for (int j = 0; j < 2; j++) {
		y[j] = 0;
		for (int i = 0; i < 4; i++) {
			double t = x[i] - (j ? 0.7 : 0.3);

			y[j] += t * t + 0.02 * (1 - cos(6 * M_PI * t));
		}
	}
}

static void oka1(const double *x, double *y, double *metric)
{
	double s = sin(M_PI / 12), c = cos(M_PI / 12);
	double a = c * x[0] - s * x[1], b = s * x[0] + c * x[1];

	(void)metric;
	y[0] = a;
	y[1] = sqrt(2 * M_PI) - sqrt(fabs(a)) + 2 * cbrt(fabs(b - 3 * cos(a) - 3));
}

static void oka2(const double *x, double *y, double *metric)
{
	(void)metric;
	y[0] = x[0];
	y[1] = 1 - (x[0] + M_PI) * (x[0] + M_PI) / (4 * M_PI * M_PI) +
	       cbrt(fabs(x[1] - 5 * cos(x[0]))) + cbrt(fabs(x[2] - 5 * sin(x[0])));
}

static void poloni(const double *x, double *y, double *metric)
{
	double a1 = 0.5 * sin(1) - 2 * cos(1) + sin(2) - 1.5 * cos(2);
	double a2 = 1.5 * sin(1) - cos(1) + 2 * sin(2) - 0.5 * cos(2);
	double b1 = 0.5 * sin(x[0]) - 2 * cos(x[0]) + sin(x[1]) - 1.5 * cos(x[1]);
	double b2 = 1.5 * sin(x[0]) - cos(x[0]) + 2 * sin(x[1]) - 0.5 * cos(x[1]);

	(void)metric;
	y[0] = 1 + (a1 - b1) * (a1 - b1) + (a2 - b2) * (a2 - b2);
	y[1] = (x[0] + 3) * (x[0] + 3) + (x[1] + 1) * (x[1] + 1);
}

static void bnh(const double *x, double *y, double *metric)
{
	y[0] = 4 * x[0] * x[0] + 4 * x[1] * x[1];
	y[1] = (x[0] - 5) * (x[0] - 5) + (x[1] - 5) * (x[1] - 5);
	metric[0] = (x[0] - 5) * (x[0] - 5) + x[1] * x[1];
	metric[1] = (x[0] - 8) * (x[0] - 8) + (x[1] + 3) * (x[1] + 3);
}

/* ---- the table ---- */

#define FLOAT(name, lo, hi) "  " name ": {type: float, range: [" #lo ", " #hi "]}\n"
#define LOG(name, lo, hi)   "  " name ": {type: float, range: [" #lo ", " #hi "], scale: log}\n"
#define INT(name, lo, hi)   "  " name ": {type: int, range: [" #lo ", " #hi "]}\n"
#define BOX2(lo, hi)        FLOAT("x0", lo, hi) FLOAT("x1", lo, hi)
#define BOX3(lo, hi)        BOX2(lo, hi) FLOAT("x2", lo, hi)
#define BOX4(lo, hi)        BOX3(lo, hi) FLOAT("x3", lo, hi)
#define BOX5(lo, hi)        BOX4(lo, hi) FLOAT("x4", lo, hi)
#define BOX6(lo, hi)        BOX5(lo, hi) FLOAT("x5", lo, hi)
#define BOX10(lo, hi)                                                                              \
	BOX6(lo, hi)                                                                               \
	FLOAT("x6", lo, hi) FLOAT("x7", lo, hi) FLOAT("x8", lo, hi) FLOAT("x9", lo, hi)
#define DPLIKE                                                                                     \
	INT("epochs", 1, 64)                                                                       \
	INT("lot", 8, 512) LOG("lr", 5e-4, 5e-2) FLOAT("v", 0.1, 16) FLOAT("c", 0.1, 4)
#define DPLIKE2                                                                                    \
	INT("epochs", 1, 200)                                                                      \
	"  lot: {type: int, range: [16, 2000], scale: log}\n" LOG("lr", 1e-3, 0.5)                 \
		FLOAT("z", 0.3, 12) LOG("c", 0.05, 10)
#define DPLIKE3                                                                                    \
	INT("epochs", 1, 200)                                                                      \
	"  lot: {type: int, range: [4, 200], scale: log}\n" LOG("lr", 1e-3, 0.5)                   \
		FLOAT("z", 0.3, 20) LOG("c", 0.05, 10)
#define SVT           INT("C", 1, 30) LOG("b", 1e-2, 1e2)
#define DP_OBJECTIVES "  e: {metric: e, transform: log}\n  u: {metric: u, transform: logit}\n"
/* A real oracle in the place of dplike's formula. */
#define SGD_OBJECTIVES(accountant)                                                                 \
	"  e: {privacy: {mechanism: dp-sgd, sampling: without-replacement, records: "              \
	"32561, lot: lot, epochs: epochs, noise_variance: v, delta: 1e-6, "                        \
	"accountant: " accountant "}}\n  u: {metric: u, transform: logit}\n"
#define PLAIN2       "  a: {metric: a}\n  b: {metric: b}\n"
#define PLAIN3       PLAIN2 "  c: {metric: c}\n"
#define PLAIN4       PLAIN3 "  d: {metric: d}\n"
#define DP           "{e: 10, u: 1}"
#define AT2(x, y)    "{a: " #x ", b: " #y "}"
#define AT3(x, y, z) "{a: " #x ", b: " #y ", c: " #z "}"

/* clang-format off */
const struct bench_problem bench_problems[] = {
	{ "dplike", DPLIKE, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 8.198229, dplike, NULL, false, false },
	{ "dplike-exact", DPLIKE, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 8.198229, dplike, NULL, true, false },
	{ "dplike2", DPLIKE2, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 8.571668, dplike2, NULL, false, false },
	{ "dplike2-exact", DPLIKE2, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 8.571668, dplike2, NULL, true, false },
	{ "dplike3", DPLIKE3, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 6.077019, dplike3, NULL, false, false },
	{ "svt", SVT, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 1.547716, NULL, svt, false, false },
	{ "svt-exact", SVT, DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 1.547716, NULL, svt, true, false },
	{ "mixed", DPLIKE "  kind: {type: categorical, values: [plain, adaptive, worse]}\n", DP_OBJECTIVES, DP, NULL, 2, { 10, 1 }, 8.198229, mixed, NULL, false, false },
	{ "fonseca2", BOX2(-4, 4), PLAIN2, AT2(1, 1), NULL, 2, { 1, 1 }, 0.341909, bells2, NULL, false, false },
	{ "fonseca3", BOX3(-4, 4), PLAIN2, AT2(1, 1), NULL, 2, { 1, 1 }, 0.341894, bells3, NULL, false, false },
	{ "fonseca4", BOX4(-4, 4), PLAIN2, AT2(1, 1), NULL, 2, { 1, 1 }, 0.341880, bells4, NULL, false, false },
	{ "fonseca4-near", BOX4(-4, 4), PLAIN2, AT2(0.9, 0.9), NULL, 2, { 0.9, 0.9 }, 0.167820, bells4, NULL, false, false },
	{ "vlmop2", BOX4(-2, 2), PLAIN2, AT2(1, 1), NULL, 2, { 1, 1 }, 0.341880, bells4, NULL, false, false },
	{ "vlmop3", BOX2(-3, 3), PLAIN3, AT3(10, 60, 1), NULL, 3, { 10, 60, 1 }, 493.644129, vlmop3, NULL, false, false },
	{ "kursawe", BOX3(-5, 5), PLAIN2, AT2(-10, 2), NULL, 2, { -10, 2 }, 97.848170, kursawe, NULL, false, false },
	{ "dtlz7", BOX5(0, 1), PLAIN2, AT2(1.1, 6), NULL, 2, { 1.1, 6 }, 3.097990, dtlz7, NULL, false, false },
	{ "zdt1", BOX6(0, 1), PLAIN2, AT2(11, 11), NULL, 2, { 11, 11 }, 120.666667, zdt1, NULL, false, false },
	{ "zdt2", BOX6(0, 1), PLAIN2, AT2(11, 11), NULL, 2, { 11, 11 }, 120.333333, zdt2, NULL, false, false },
	{ "zdt3", BOX6(0, 1), PLAIN2, AT2(11, 11), NULL, 2, { 11, 11 }, 128.778116, zdt3, NULL, false, false },
	{ "zdt4", FLOAT("x0", 0, 1) FLOAT("x1", -5, 5) FLOAT("x2", -5, 5) FLOAT("x3", -5, 5), PLAIN2, AT2(1.1, 60), NULL, 2, { 1.1, 60 }, 65.666486, zdt4, NULL, false, false },
	{ "zdt6", BOX6(0, 1), PLAIN2, AT2(1.1, 11), NULL, 2, { 1.1, 11 }, 8.618075, zdt6, NULL, false, false },
	{ "dtlz2_2", BOX6(0, 1), PLAIN2, AT2(1.1, 1.1), NULL, 2, { 1.1, 1.1 }, 0.424602, dtlz2_2, NULL, false, false },
	{ "dtlz2_3", BOX6(0, 1), PLAIN3, AT3(1.1, 1.1, 1.1), NULL, 3, { 1.1, 1.1, 1.1 }, 0.807401, dtlz2_3, NULL, false, false },
	{ "dtlz2_4", BOX6(0, 1), PLAIN4, "{a: 1.1, b: 1.1, c: 1.1, d: 1.1}", NULL, 4, { 1.1, 1.1, 1.1, 1.1 }, 1.4641 - M_PI * M_PI / 32, dtlz2_4, NULL, false, false },
	{ "dtlz2_d10", BOX10(0, 1), PLAIN2, AT2(1.1, 1.1), NULL, 2, { 1.1, 1.1 }, 0.424602, dtlz2_d10, NULL, false, false },
	{ "c2dtlz2", BOX4(0, 1), PLAIN2, AT2(1.1, 1.1), "{g: \"<= 0.04\"}", 2, { 1.1, 1.1 }, 0.382294, c2dtlz2, NULL, false, false },
	{ "branincurrin", BOX2(0, 1), PLAIN2, AT2(18, 6), NULL, 2, { 18, 6 }, 59.360119, branincurrin, NULL, false, false },
	{ "ripples", BOX4(0, 1), PLAIN2, AT2(1, 1), NULL, 2, { 1, 1 }, 0.861242, ripples, NULL, false, false },
	{ "oka1", FLOAT("x0", 1.552914270615125, 7.347682021648405) FLOAT("x1", -1.62231, 5.79555), PLAIN2, AT2(8, 5), NULL, 2, { 8, 5 }, 34.086120, oka1, NULL, false, false },
	{ "oka2", FLOAT("x0", -3.14159265, 3.14159265) FLOAT("x1", -5, 5) FLOAT("x2", -5, 5), PLAIN2, AT2(4, 5), NULL, 2, { 4, 5 }, 30.958814, oka2, NULL, false, false },
	{ "poloni", BOX2(-3.14159265, 3.14159265), PLAIN2, AT2(30, 30), NULL, 2, { 30, 30 }, 836.074621, poloni, NULL, false, false },
	{ "bnh", FLOAT("x0", 0, 5) FLOAT("x1", 0, 3), PLAIN2, AT2(140, 50), "{g: \"<= 25\", h: \">= 7.7\"}", 2, { 140, 50 }, 5284.262545, bnh, NULL, false, false },
	{ "dpsgd-rdp", DPLIKE, SGD_OBJECTIVES("rdp"), DP, NULL, 2, { 10, 1 }, 8.1343, dplike, NULL, false, true },
	{ "dpsgd-pld", DPLIKE, SGD_OBJECTIVES("pld"), DP, NULL, 2, { 10, 1 }, 8.2033, dplike, NULL, false, true },
};
/* clang-format on */
const size_t bench_nproblems = DP_COUNT(bench_problems);

void bench_measure(const struct bench_noise *noise, double y, struct dp_rng *rng, double *mean,
		   double *variance)
{
	double sd = noise->growing ? noise->size * y : noise->size, sum = 0, square = 0;

	for (int r = 0; r < noise->runs; r++) {
		double v = fmin(fmax(y + sd * dp_rng_normal(rng), 0), 1);

		sum += v;
		square += v * v;
	}
	*mean = sum / noise->runs;
	*variance = noise->runs > 1
			    ? fmax(0, square / noise->runs - *mean * *mean) / (noise->runs - 1)
			    : NAN;
}

bool bench_is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
		if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
			return true;
	return false;
}
