/* number_format.c - format numbers for readers. */
#include "reports/model/number_format.h"

#include "base/json.h"
#include "reports/model/report_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *format_short(double x, char out[FORMAT_LEN])
{
	if (isnan(x))
		return "-";
	snprintf(out, FORMAT_LEN, fabs(x) >= 1000 && fabs(x) < 1e7 ? "%.0f" : "%.4g", x);
	return out;
}

const char *format_with_error(double x, double error, char out[FORMAT_LEN])
{
	/* errors of 0.0002 to 0.0019 give four decimals, 0.002 to 0.019 three */
	double decimals = -floor(log10(error / 2));

	/* beyond 1e15 a double has no exact decimal digits */
	if (isnan(x) || !(error > 0) || !isfinite(error) || !(fabs(x) < 1e15))
		return format_short(x, out);
	snprintf(out, FORMAT_LEN, "%.*f", (int)fmin(fmax(decimals, 0), 9), x);
	return out;
}

const char *format_error(double x, char out[FORMAT_LEN])
{
	if (isnan(x))
		return "-";
	snprintf(out, FORMAT_LEN, fabs(x) >= 10 ? "%.0f" : "%.2g", x);
	return out;
}

char *number_format_rounded_up(double x, int digits, char out[DP_NUM_LEN])
{
	double unit, rounded;

	if (!isfinite(x) || x <= 0)
		return dp_num_text(x, out);
	unit = pow(10, floor(log10(x)) - digits + 1);
	rounded = ceil(x / unit * (1 - 1e-12)) * unit;
	snprintf(out, DP_NUM_LEN, rounded >= 1000 && rounded < 1e7 ? "%.*f" : "%.*g",
		 rounded >= 1000 && rounded < 1e7 ? 0 : digits, rounded);
	return out;
}

void number_append_rounded_up(double x, int digits, struct dp_buf *out)
{
	char text[DP_NUM_LEN];

	dp_buf_puts(out, number_format_rounded_up(x, digits, text));
}

const char *format_rounded_up(double x, char out[FORMAT_LEN])
{
	return isnan(x) ? "-" : number_format_rounded_up(x, 4, out);
}

const char *format_objective_number(const json_t *o, double x, double error, char out[FORMAT_LEN])
{
	if (isnan(x))
		return "-";
	if (strcmp(get_text(o, "kind"), "privacy") == 0)
		return number_format_rounded_up(x, 3, out);
	if (!get_bool(o, "share"))
		return format_with_error(x, error, out);
	/* at most two decimals of a percent */
	if (error > 0 && isfinite(error))
		return format_with_error(100 * x, fmax(100 * error, 0.02), out);
	snprintf(out, FORMAT_LEN, "%.1f", 100 * x);
	return out;
}

const char *format_objective_value(const json_t *o, double x, double error, char out[FORMAT_LEN])
{
	char number[FORMAT_LEN];

	if (!get_bool(o, "share") || isnan(x))
		return format_objective_number(o, x, error, out);
	snprintf(out, FORMAT_LEN, "%.40s %%", format_objective_number(o, x, error, number));
	return out;
}

const char *format_objective_difference(const json_t *o, double x, double error,
					char out[FORMAT_LEN])
{
	char number[FORMAT_LEN];

	if (!get_bool(o, "share") || isnan(x))
		return error > 0 ? format_with_error(x, error, out) : format_error(x, out);
	if (!(error > 0))
		format_error(100 * x, number);
	else
		format_with_error(100 * x, 100 * error, number);
	snprintf(out, FORMAT_LEN, "%.20s percentage point%s", number,
		 strcmp(number, "1") == 0 ? "" : "s");
	return out;
}

void format_parameter_list(json_t *parameters, struct dp_buf *out)
{
	char number[FORMAT_LEN];
	const char *name;
	json_t *v;
	double x;

	json_object_foreach (parameters, name, v) {
		dp_buf_printf(out, "%s%s ", out->len ? ", " : "", name);
		if (json_is_string(v))
			dp_buf_puts(out, json_string_value(v));
		else if (dp_json_to_real(v, &x))
			dp_buf_puts(out, format_short(x, number));
		else
			dp_json_dump(out, v, 0);
	}
}

const char *guarantee_note(double epsilon)
{
	return epsilon > DP_MAX_MEANINGFUL_EPSILON ? ": no meaningful guarantee" : "";
}

const char *plural_suffix(int64_t n)
{
	return n == 1 ? "" : "s";
}
