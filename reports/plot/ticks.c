/* ticks.c - choose round tick values and format their labels. */
#include "reports/plot/plot_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values closer than this fraction of a step are equal. */
static const double slack = 1e-6;

/* A step of mantissa x 10^exponent. */
struct tick_step {
	double mantissa;
	int exponent;
};

/* k x mantissa x 10^exponent, with a single rounding where possible. */
static double tick_step_multiple(double k, const struct tick_step *s)
{
	return s->exponent < 0 ? k * s->mantissa / pow(10, -s->exponent)
			       : k * s->mantissa * pow(10, s->exponent);
}

/* "10⁵", "2×10⁵", "2.5×10⁵". */
static void power_text(double mantissa, int decimals, int exponent, char out[TICK_LABEL_LEN])
{
	static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
	char text[16], high[64] = "";

	snprintf(text, sizeof text, "%d", exponent);
	for (const char *s = text; *s; s++)
		strcat(high, *s == '-' ? "⁻" : digits[*s - '0']);
	if (mantissa == 1 && !decimals)
		snprintf(out, TICK_LABEL_LEN, "10%s", high);
	else if (mantissa == -1 && !decimals)
		snprintf(out, TICK_LABEL_LEN, "−10%s", high);
	else
		snprintf(out, TICK_LABEL_LEN, "%s%.*f×10%s", mantissa < 0 ? "−" : "", decimals,
			 fabs(mantissa), high);
}

static void plain_text(double value, int decimals, char out[TICK_LABEL_LEN])
{
	snprintf(out, TICK_LABEL_LEN, "%s%.*f", value < 0 ? "−" : "", decimals, fabs(value));
}

/* Counts characters, not bytes. */
static size_t tick_length(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

/* All labels of an axis have the same form: powers of ten where plain digits would be longer. */
static void label_linear(struct ticks *t, const struct tick_step *step)
{
	int fine = step->exponent - (step->mantissa == 2.5), decimals = fine < 0 ? -fine : 0;
	double top = 0;
	int power;
	size_t plain = 0, powers = 0;
	char text[TICK_LABEL_LEN];

	for (size_t i = 0; i < t->n; i++)
		top = fmax(top, fabs(t->at[i]));
	power = top > 0 ? (int)floor(log10(top) + slack) : 0;
	for (size_t i = 0; i < t->n; i++) {
		if (decimals < 40) {
			plain_text(t->at[i], decimals, t->label[i]);
			plain += tick_length(t->label[i]);
		} else {
			plain += 1000;
		}
		power_text(t->at[i] / pow(10, power), power - fine > 0 ? power - fine : 0, power,
			   text);
		powers += tick_length(text);
	}
	/* long rows of zeros are hard to read, even if not longer */
	if ((top < 1e6 && decimals <= 4) || (plain <= powers && (decimals <= 5 || top >= 1e-3)))
		return;
	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i] == 0)
			strcpy(t->label[i], "0");
		else
			power_text(t->at[i] / pow(10, power), power - fine > 0 ? power - fine : 0,
				   power, t->label[i]);
	}
}

static double first_multiple(double lo, const struct tick_step *s)
{
	return ceil(lo / tick_step_multiple(1, s) - slack);
}

static size_t tick_count(double lo, double hi, const struct tick_step *s)
{
	double n = floor(hi / tick_step_multiple(1, s) + slack) - first_multiple(lo, s) + 1;

	return n < 0 ? 0 : n > TICKS_MAX ? TICKS_MAX + 1 : (size_t)n;
}

/* The finest round step with at most `most` ticks, or a finer one if that leaves fewer than two. */
static struct tick_step choose_step(double lo, double hi, size_t most, bool whole)
{
	static const double mantissas[] = { 1, 2, 2.5, 5 };
	struct tick_step step = { 1, 0 }, finer = { 0, 0 };
	int exponent = (int)floor(log10((hi - lo) / (double)most)) - 1;

	if (whole && exponent < 0)
		exponent = 0;
	for (;; exponent++) {
		for (size_t i = 0; i < DP_COUNT(mantissas); i++) {
			double size;
			size_t n;

			step = (struct tick_step){ mantissas[i], exponent };
			size = tick_step_multiple(1, &step);
			if (whole && (size < 1 || size != floor(size)))
				continue;
			n = tick_count(lo, hi, &step);
			if (n <= most)
				return n < 2 && finer.mantissa > 0 ? finer : step;
			if (n <= TICKS_MAX)
				finer = step;
		}
	}
}

void ticks_linear(struct ticks *t, double lo, double hi, size_t most, bool whole)
{
	struct tick_step step;
	double k;

	t->n = t->nminor = 0;
	if (!(hi > lo) || most < 1)
		return;
	step = choose_step(lo, hi, most, whole);
	k = first_multiple(lo, &step);
	for (size_t n = tick_count(lo, hi, &step); t->n < n && t->n < TICKS_MAX; k++)
		t->at[t->n++] = tick_step_multiple(k, &step);
	label_linear(t, &step);
}

/* Ticks m x 10^e in [lo, hi], for these mantissas and exponents that are multiples of `stride`. */
static void log_ticks(struct ticks *t, double lo, double hi, const int *mantissas,
		      size_t nmantissas, int stride)
{
	int from = (int)floor(log10(lo)) - 1, to = (int)ceil(log10(hi)) + 1;
	bool plain = true;
	int power[TICKS_MAX], mantissa[TICKS_MAX];

	t->n = 0;
	for (int e = from; e <= to; e++) {
		if (e % stride)
			continue;
		for (size_t i = 0; i < nmantissas; i++) {
			double x = tick_step_multiple(mantissas[i], &(struct tick_step){ 1, e });

			if (x < lo * (1 - slack) || x > hi * (1 + slack) || t->n == TICKS_MAX)
				continue;
			power[t->n] = e;
			mantissa[t->n] = mantissas[i];
			t->at[t->n++] = x;
			plain = plain && e >= -4 && e <= 4;
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		if (plain || power[i] == 0 || power[i] == 1)
			plain_text(t->at[i], power[i] < 0 ? -power[i] : 0, t->label[i]);
		else
			power_text(mantissa[i], 0, power[i], t->label[i]);
	}
}

static bool is_tick(const struct ticks *t, double x)
{
	for (size_t i = 0; i < t->n; i++) {
		if (fabs(t->at[i] - x) <= slack * x)
			return true;
	}
	return false;
}

/* Minor ticks: 2 to 9 times every power, or only powers if those are too many. */
static void log_minor(struct ticks *t, double lo, double hi)
{
	int from = (int)floor(log10(lo)), to = (int)ceil(log10(hi)), last = to - from > 10 ? 1 : 9;

	t->nminor = 0;
	for (int e = from; e <= to; e++) {
		for (int m = 1; m <= last; m++) {
			double x = tick_step_multiple(m, &(struct tick_step){ 1, e });

			if (x >= lo && x <= hi && !is_tick(t, x) && t->nminor < MINOR_TICKS_MAX)
				t->minor[t->nminor++] = x;
		}
	}
}

/* The stride in powers of ten that gives at most `most` ticks, but at least two. */
static int choose_stride(double lo, double hi, size_t most)
{
	static const int strides[] = { 1, 2, 3, 4, 5, 10, 20, 50, 100 };
	double from = log10(lo) - slack, to = log10(hi) + slack;
	int best = 1;

	for (size_t i = 0; i < DP_COUNT(strides); i++) {
		double n = floor(to / strides[i]) - ceil(from / strides[i]) + 1;

		if (n < 2)
			break;
		best = strides[i];
		if (n <= (double)most)
			break;
	}
	return best;
}

void ticks_log(struct ticks *t, double lo, double hi, size_t most)
{
	static const int one_two_five[] = { 1, 2, 5 }, one_three[] = { 1, 3 };
	double span = log10(hi) - log10(lo);

	t->n = t->nminor = 0;
	if (!(lo > 0) || !(hi > lo))
		return;
	if (span < 0.7) {
		ticks_linear(t, lo, hi, most, false);
		return;
	}
	if (span < 2.1) {
		log_ticks(t, lo, hi, one_two_five, 3, 1);
		if (t->n > most)
			log_ticks(t, lo, hi, one_three, 2, 1);
	}
	if (span >= 2.1 || t->n > most)
		log_ticks(t, lo, hi, one_two_five, 1, choose_stride(lo, hi, most));
	if (t->n < 2) /* any 0.7 decades contain two of these */
		log_ticks(t, lo, hi, one_two_five, 3, 1);
	log_minor(t, lo, hi);
}
