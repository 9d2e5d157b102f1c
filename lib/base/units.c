/* units.c - parses and prints numbers, durations, sizes and times. */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- the shortest decimal ----
 *
 * printf() and strtod() take a microsecond each, and long answers have many numbers. For x from
 * 1e-6 to 2^53 exact 128-bit integers give the same digits: x is m / 2^s, and its first 17 digits
 * are those of m 10^k / 2^s. */

enum {
	DOUBLE_DIGITS_MAX = 17
};

__extension__ typedef unsigned __int128 u128;

/* 10^k for k up to 22. */
static u128 pow10_u128(int k)
{
	static const uint64_t power[] = {
		UINT64_C(1),          UINT64_C(10),          UINT64_C(100),
		UINT64_C(1000),       UINT64_C(10000),       UINT64_C(100000),
		UINT64_C(1000000),    UINT64_C(10000000),    UINT64_C(100000000),
		UINT64_C(1000000000), UINT64_C(10000000000), UINT64_C(100000000000),
	};

	return k < 12 ? power[k] : (u128)power[11] * power[k - 11];
}

/* A double as m 10^k / 2^s, with the distance to its neighbours. */
struct scaled_double {
	u128 scaled;          /* m 10^k */
	u128 ulp;             /* 10^k: the value of m's last bit */
	int shift;            /* s */
	int exponent;         /* decimal exponent of the first digit */
	bool is_even;         /* both ends of the rounding interval read back as x */
	bool is_power_of_two; /* m is a power of two: the interval below is shorter */
};

/* False if x is outside the range of this method. */
static bool double_to_scaled(double x, struct scaled_double *n)
{
	int e, k;
	uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);

	if (!(x >= 1e-6 && x < 9007199254740992.0))
		return false;
	n->shift = 53 - e;
	n->is_even = m % 2 == 0;
	n->is_power_of_two = m == UINT64_C(1) << 52;
	n->exponent = (int)floor(log10(x));
	for (int tries = 0; tries < 3; tries++) { /* log10 may be off by rounding */
		u128 digits;

		if (n->exponent < -6) /* the double 1e-6 is below 10^-6 */
			return false;
		k = DOUBLE_DIGITS_MAX - 1 - n->exponent;
		n->ulp = pow10_u128(k);
		n->scaled = m * n->ulp;
		digits = n->scaled >> n->shift;
		if (digits >= pow10_u128(DOUBLE_DIGITS_MAX))
			n->exponent++;
		else if (digits < pow10_u128(DOUBLE_DIGITS_MAX - 1))
			n->exponent--;
		else
			return true;
	}
	return false;
}

/* Rounds to `digits` digits. True if they read back as x. */
static bool scaled_round_digits(const struct scaled_double *n, int digits, uint64_t *out)
{
	uint64_t all = (uint64_t)(n->scaled >> n->shift);
	uint64_t unit = (uint64_t)pow10_u128(DOUBLE_DIGITS_MAX - digits), floor_ = all / unit;
	u128 below = n->scaled - ((u128)(floor_ * unit) << n->shift);
	u128 above = ((u128)unit << n->shift) - below;
	bool up = below > above || (below == above && floor_ % 2 == 1);
	u128 off = 2 * (up ? above : below), room = n->ulp;

	*out = floor_ + up;
	if (!up && n->is_power_of_two)
		room /= 2; /* the next number below is half as far away */
	return off < room || (off == room && n->is_even);
}

/* As "%.*g" prints these digits. */
static void print_decimal_digits(uint64_t value, int digits, int exponent, bool negative, char *out)
{
	char room[DOUBLE_DIGITS_MAX + 2], *text = room + sizeof room;
	int n;

	for (uint64_t left = value; left; left /= 10)
		*--text = (char)('0' + left % 10);
	n = (int)(room + sizeof room - text);
	exponent += n - digits; /* 9.99 became 10.0 */
	while (n > 1 && text[n - 1] == '0')
		n--;
	if (negative)
		*out++ = '-';
	if (exponent < -4 || exponent >= digits) {
		*out++ = text[0];
		if (n > 1)
			*out++ = '.';
		memcpy(out, text + 1, (size_t)n - 1);
		snprintf(out + n - 1, 6, "e%+03d", exponent);
		return;
	}
	if (exponent < 0) {
		memcpy(out, "0.0000", 6);
		out += 1 - exponent;
		memcpy(out, text, (size_t)n);
		out[n] = '\0';
		return;
	}
	for (int i = 0; i < n || i <= exponent; i++) {
		if (i == exponent + 1)
			*out++ = '.';
		*out++ = i < n ? text[i] : '0';
	}
	*out = '\0';
}

static bool format_shortest_double(double x, char out[DP_NUM_LEN])
{
	struct scaled_double n;
	uint64_t value;
	int digits = 15;

	if (!double_to_scaled(fabs(x), &n))
		return false;
	while (!scaled_round_digits(&n, digits, &value) && digits < DOUBLE_DIGITS_MAX)
		digits++;
	print_decimal_digits(value, digits, n.exponent, x < 0, out);
	return true;
}

char *dp_num_text(double x, char out[DP_NUM_LEN])
{
	if (isnan(x))
		return strcpy(out, "nan");
	if (isinf(x))
		return strcpy(out, x < 0 ? "-inf" : "inf");
	if (format_shortest_double(x, out))
		return out;
	/* 17 digits always read back. Fewer often do, and look as a person typed them. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(out, DP_NUM_LEN, "%.*g", digits, x);
		if (strtod(out, NULL) == x)
			break;
	}
	return out;
}

bool dp_num_parse(const char *s, double *x)
{
	const char *digits = s + (*s == '-' || *s == '+');
	char *end;
	double v;

	if (strcmp(digits, "inf") == 0 || strcmp(digits, ".inf") == 0) {
		*x = *s == '-' ? -INFINITY : INFINITY;
		return true;
	}
	if (strcmp(s, "nan") == 0 || strcmp(s, ".nan") == 0) {
		*x = NAN;
		return true;
	}
	/* strtod() also accepts "0x1p3", "infinity" and leading space. */
	if (!isdigit((unsigned char)*digits) && *digits != '.')
		return false;
	if (strspn(digits, "0123456789.eE+-") != strlen(digits))
		return false;
	v = strtod(s, &end);
	if (*end != '\0' || end == s || !isfinite(v))
		return false;
	*x = v;
	return true;
}

bool dp_int_parse(const char *s, int64_t *x)
{
	const char *digits = s + (*s == '-' || *s == '+');
	long long v;
	char *end;

	if (!isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	v = strtoll(s, &end, 10);
	if (errno || *end != '\0')
		return false;
	*x = v;
	return true;
}

/* Parses a non-negative plain decimal and advances *s. */
static bool parse_plain_decimal(const char **s, double *x)
{
	char *end;
	size_t n = strspn(*s, "0123456789.");

	if (n == 0 || n > 30)
		return false;
	*x = strtod(*s, &end);
	if (end != *s + n)
		return false;
	*s = end;
	return true;
}

bool dp_duration_parse(const char *s, double *seconds)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "d", 86400 }, { "h", 3600 },
		      { "min", 60 },  { "m", 60 },    { "s", 1 } };
	double total = 0, x;
	size_t i;

	if (!*s)
		return false;
	while (*s) {
		if (!parse_plain_decimal(&s, &x))
			return false;
		if (!*s) {
			/* a bare number is seconds only alone: "2h30" is ambiguous */
			if (total > 0)
				return false;
			total = x;
			break;
		}
		for (i = 0; i < DP_COUNT(units); i++)
			if (strncmp(s, units[i].unit, strlen(units[i].unit)) == 0)
				break;
		if (i == DP_COUNT(units))
			return false;
		s += strlen(units[i].unit);
		total += x * units[i].seconds;
	}
	if (!(total <= 1e9)) /* thirty years */
		return false;
	*seconds = total;
	return true;
}

char *dp_duration_text(double s, char out[DP_NUM_LEN])
{
	long t;

	if (!(s >= 0) || s > 1e10)
		return strcpy(out, "-");
	if (s < 0.9995)
		snprintf(out, DP_NUM_LEN, "%.0fms", s * 1e3);
	else if (s < 9.95)
		snprintf(out, DP_NUM_LEN, "%.1fs", s);
	else {
		t = lround(s);
		if (t < 60)
			snprintf(out, DP_NUM_LEN, "%lds", t);
		else if (t < 3600)
			snprintf(out, DP_NUM_LEN, "%ldm%02lds", t / 60, t % 60);
		else if (t < 86400)
			snprintf(out, DP_NUM_LEN, "%ldh%02ldm", t / 3600, t % 3600 / 60);
		else
			snprintf(out, DP_NUM_LEN, "%ldd%02ldh", t / 86400, t % 86400 / 3600);
	}
	return out;
}

bool dp_size_parse(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *u;
	double x;

	if (!parse_plain_decimal(&s, &x))
		return false;
	if (*s && (u = strchr(units, toupper((unsigned char)*s))) != NULL) {
		for (const char *k = units; k <= u; k++)
			x *= 1024;
		s++;
		if (*s == 'i')
			s++;
	}
	if (*s == 'B')
		s++;
	if (*s || !(x < 9e18))
		return false;
	*bytes = (uint64_t)x;
	return true;
}

char *dp_size_text(uint64_t bytes, char out[DP_NUM_LEN])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double x = (double)bytes;
	size_t u = 0;

	while (x >= 1024 && u + 1 < DP_COUNT(units)) {
		x /= 1024;
		u++;
	}
	snprintf(out, DP_NUM_LEN, u && x < 10 ? "%.1f %s" : "%.0f %s", x, units[u]);
	return out;
}

static int64_t clock_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t dp_now_us(void)
{
	return clock_us(CLOCK_REALTIME);
}

int64_t dp_monotonic_us(void)
{
	return clock_us(CLOCK_MONOTONIC);
}

char *dp_time_text(int64_t us, char out[DP_NUM_LEN])
{
	time_t s = (time_t)(us / 1000000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(out, DP_NUM_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, DP_NUM_LEN - n, ".%06dZ", (int)(us % 1000000));
	return out;
}

char *dp_plural_text(uint64_t n, const char *thing, char out[DP_PLURAL_LEN])
{
	size_t len = strlen(thing);
	bool y = n != 1 && len > 1 && thing[len - 1] == 'y' && !strchr("aeiou", thing[len - 2]);

	snprintf(out, DP_PLURAL_LEN, "%" PRIu64 " %.*s%s", n, (int)(y ? len - 1 : len), thing,
		 n == 1 ? ""
		 : y    ? "ies"
			: "s");
	return out;
}

double dp_backoff_next(double last, double first, double most)
{
	double next = last > 0 ? 2 * last : first;

	return next < most ? next : most;
}
