/* num.c - numbers, durations, sizes and times as text. */
#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

char *dp_num_text(double x, char out[DP_NUM_LEN])
{
	if (isnan(x))
		return strcpy(out, "nan");
	if (isinf(x))
		return strcpy(out, x < 0 ? "-inf" : "inf");
	/* 17 digits always read back; fewer often do and are what a person typed. */
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
	/* strtod also takes "0x1p3", "infinity" and leading space: not ours. */
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

/* A non-negative plain decimal at *s; moves *s behind it. */
static bool num_decimal(const char **s, double *x)
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
		if (!num_decimal(&s, &x))
			return false;
		if (!*s) {
			/* a bare number means seconds, but only alone: "2h30" is not
			 * clear */
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
			snprintf(out, DP_NUM_LEN, "%ldd%02ldh", t / 86400,
				 t % 86400 / 3600);
	}
	return out;
}

bool dp_size_parse(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	const char *u;
	double x;

	if (!num_decimal(&s, &x))
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

int64_t dp_mono_us(void)
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

char *dp_count_text(uint64_t n, const char *thing, char out[DP_COUNT_LEN])
{
	size_t len = strlen(thing);
	bool y = n != 1 && len > 1 && thing[len - 1] == 'y' &&
		 !strchr("aeiou", thing[len - 2]);

	snprintf(out, DP_COUNT_LEN, "%" PRIu64 " %.*s%s", n, (int)(y ? len - 1 : len),
		 thing,
		 n == 1 ? ""
		 : y    ? "ies"
			: "s");
	return out;
}

double dp_next_wait(double last, double first, double most)
{
	double next = last > 0 ? 2 * last : first;

	return next < most ? next : most;
}
