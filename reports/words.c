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
