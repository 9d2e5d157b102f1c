/* words.c - numbers as words. */
#include "reports/words.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

	/* beyond 1e15 digits are no longer those of the value */
	if (isnan(x) || !(error > 0) || !isfinite(error) || !(fabs(x) < 1e15))
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

static const char *rounded_up(double x, int digits, char out[SHORT_LEN])
{
	return isnan(x) ? "-" : facts_rounded_up(x, digits, out);
}

const char *up_text(double x, char out[SHORT_LEN])
{
	return rounded_up(x, 4, out);
}

const char *amount_text(const struct fact_objective *o, double x, double error, char out[SHORT_LEN])
{
	if (strcmp(o->kind, "privacy") == 0)
		return rounded_up(x, 3, out);
	if (!o->share)
		return measured_text(x, error, out);
	if (isnan(x))
		return "-";
	/* two decimals of a percent are all that anybody reads */
	if (error > 0 && isfinite(error))
		return measured_text(100 * x, fmax(100 * error, 0.02), out);
	snprintf(out, SHORT_LEN, "%.1f", 100 * x);
	return out;
}

const char *objective_text(const struct fact_objective *o, double x, double error,
			   char out[SHORT_LEN])
{
	char number[SHORT_LEN];

	if (!o->share || isnan(x))
		return amount_text(o, x, error, out);
	snprintf(out, SHORT_LEN, "%.40s %%", amount_text(o, x, error, number));
	return out;
}

const char *difference_text(const struct fact_objective *o, double x, double error,
			    char out[SHORT_LEN])
{
	char number[SHORT_LEN];

	if (!o->share || isnan(x))
		return error > 0 ? measured_text(x, error, out) : error_text(x, out);
	if (!(error > 0))
		error_text(100 * x, number);
	else
		measured_text(100 * x, 100 * error, number);
	snprintf(out, SHORT_LEN, "%.20s percentage point%s", number,
		 strcmp(number, "1") == 0 ? "" : "s");
	return out;
}

void value_column(struct doc *d, const struct fact_objective *o, const char *title)
{
	char text[200];

	snprintf(text, sizeof text, "%.190s%s", title, o->share ? ", %" : "");
	doc_column(d, text, true);
}

void settings_text(json_t *parameters, struct dp_buf *out)
{
	char number[SHORT_LEN];
	const char *name;
	json_t *v;
	double x;

	json_object_foreach (parameters, name, v) {
		dp_buf_printf(out, "%s%s ", out->len ? ", " : "", name);
		if (json_is_string(v))
			dp_buf_puts(out, json_string_value(v));
		else if (dp_json_to_real(v, &x))
			dp_buf_puts(out, short_text(x, number));
		else
			dp_json_dump(out, v, 0);
	}
}

const char *no_guarantee(double epsilon)
{
	return epsilon > FACTS_MEANINGLESS ? ": no meaningful guarantee" : "";
}

const char *plural_end(int64_t n)
{
	return n == 1 ? "" : "s";
}
