/* words.c - numbers as words. */
#include "reports/words.h"

#include <math.h>
#include <stdio.h>

const char *short_text(double x, char out[SHORT_LEN])
{
	if (isnan(x))
		return "-";
	snprintf(out, SHORT_LEN, fabs(x) >= 1000 && fabs(x) < 1e7 ? "%.0f" : "%.4g", x);
	return out;
}

const char *measured_text(double x, double error, char out[SHORT_LEN])
{
	/* 0.0002 to 0.0019 leave four decimals, 0.002 to 0.019 three */
	double decimals = -floor(log10(error / 2));

	if (isnan(x) || !(error > 0) || !isfinite(error))
		return short_text(x, out);
	snprintf(out, SHORT_LEN, "%.*f", (int)fmin(fmax(decimals, 0), 9), x);
	return out;
}

const char *error_text(double x, char out[SHORT_LEN])
{
	if (isnan(x))
		return "-";
	snprintf(out, SHORT_LEN, fabs(x) >= 10 ? "%.0f" : "%.2g", x);
	return out;
}

const char *up_text(double x, char out[SHORT_LEN])
{
	struct dp_buf b = DP_BUF_INIT;

	facts_round_up(x, 4, &b);
	snprintf(out, SHORT_LEN, "%s", dp_buf_text(&b));
	dp_buf_free(&b);
	return isnan(x) ? "-" : out;
}

const char *plural_end(int64_t n)
{
	return n == 1 ? "" : "s";
}
