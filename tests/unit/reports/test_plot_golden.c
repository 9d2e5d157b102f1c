/* test_plot_golden.c - pictures against those in tests/ref/plots.
 *
 * DPARETO_GOLDEN=write makes those pictures again: look at them before you commit. */
#include "tests/unit/support/made_plots.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- pictures that were looked at ---- */

static void save(const char *path, const struct dp_buf *b)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(b->data, 1, b->len, f), b->len);
	assert_int_equal(fclose(f), 0);
}

static gdImagePtr load(const char *path)
{
	FILE *f = fopen(path, "rb");
	gdImagePtr im;

	if (!f)
		return NULL;
	im = gdImageCreateFromPng(f);
	fclose(f);
	return im;
}

/* Fonts differ a little between machines, so some pixels may: at most 3 % of them
 * visibly, and all by less than 1.5 of 255 on the average. */
static bool alike(gdImagePtr a, gdImagePtr b, double *mean, double *share)
{
	double sum = 0, many = 0, n = (double)gdImageSX(a) * gdImageSY(a);

	*mean = *share = 255;
	if (gdImageSX(a) != gdImageSX(b) || gdImageSY(a) != gdImageSY(b))
		return false;
	for (int y = 0; y < gdImageSY(a); y++) {
		for (int x = 0; x < gdImageSX(a); x++) {
			int p = gdImageGetTrueColorPixel(a, x, y),
			    q = gdImageGetTrueColorPixel(b, x, y), most = 0;

			for (int shift = 0; shift <= 16; shift += 8) {
				int d = abs((p >> shift & 255) - (q >> shift & 255));

				most = d > most ? d : most;
			}
			sum += most;
			many += most > 40;
		}
	}
	*mean = sum / n;
	*share = many / n;
	return *mean < 1.5 && *share < 0.03;
}

static void compare(const char *name, struct plot *p)
{
	const char *srcdir = getenv("srcdir"), *tmp = getenv("TMPDIR"),
		   *mode = getenv("DPARETO_GOLDEN");
	struct dp_buf png = png_of(p);
	gdImagePtr now, then;
	char path[2048], other[2048];
	double mean = 255, share = 1;
	bool same;

	snprintf(path, sizeof path, "%s/tests/ref/plots/%s.png", srcdir ? srcdir : ".", name);
	snprintf(other, sizeof other, "%s/dpareto-%s.png", tmp ? tmp : "/tmp", name);
	if (mode && strcmp(mode, "write") == 0) {
		save(path, &png);
		dp_buf_free(&png);
		return;
	}
	now = picture(&png);
	then = load(path);
	same = then && alike(now, then, &mean, &share);
	if (!same)
		save(other, &png); /* kept, to be looked at */
	gdImageDestroy(now);
	if (then)
		gdImageDestroy(then);
	dp_buf_free(&png);
	if (!same)
		fail_msg("the picture %s differs from %s (by %.2f of 255 on the average, "
			 "%.1f %% of its pixels visibly)",
			 other, path, mean, 100 * share);
}

static void test_golden_front(void **state)
{
	(void)state;
	compare("front", front_figure());
}

static void test_golden_heat(void **state)
{
	(void)state;
	compare("heat", heat_figure());
}

static void test_golden_bands(void **state)
{
	(void)state;
	compare("bands", bands_figure());
}

static void test_golden_parallel(void **state)
{
	(void)state;
	compare("parallel", parallel_figure());
}

static void test_golden_words(void **state)
{
	(void)state;
	compare("words", words_figure());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden_front), cmocka_unit_test(test_golden_heat),
		cmocka_unit_test(test_golden_bands), cmocka_unit_test(test_golden_parallel),
		cmocka_unit_test(test_golden_words),
	};

	return cmocka_run_group_tests(tests, NULL, shutdown_fonts);
}
