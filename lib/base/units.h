/* units.h - numbers, durations, sizes and times as text. */
#ifndef DP_BASE_UNITS_H
#define DP_BASE_UNITS_H
#include "base/base.h"

/* The shortest decimal that reads back as the same double; "inf", "-inf" and
 * "nan" for the rest. Returns `out`. */
enum {
	DP_NUM_LEN = 32
};
char *dp_num_text(double x, char out[DP_NUM_LEN]);

/* Reads a whole string as a double ("inf", "-inf", "nan" too; surrounding space
 * is not allowed; no locale, no hexadecimal). False if it is not one. */
DP_MUSTCHECK bool dp_num_parse(const char *s, double *x);
/* Reads a whole string as a decimal integer. */
DP_MUSTCHECK bool dp_int_parse(const char *s, int64_t *x);

/* Durations: "90", "1.5s", "250ms", "30m", "2h30m", "1d"; a bare number is
 * seconds. Always finite and >= 0. */
DP_MUSTCHECK bool dp_duration_parse(const char *s, double *seconds);
/* As people say it: "350ms", "42s", "2h05m", "3d4h". */
char *dp_duration_text(double seconds, char out[DP_NUM_LEN]);
/* Sizes: "512", "16M", "2GiB", "1.5G"; powers of 1024. */
DP_MUSTCHECK bool dp_size_parse(const char *s, uint64_t *bytes);
char *dp_size_text(uint64_t bytes, char out[DP_NUM_LEN]);

/* Microseconds since 1970, and that as ISO 8601 in UTC with microseconds. */
int64_t dp_now_us(void);
char *dp_time_text(int64_t us, char out[DP_NUM_LEN]);
/* A clock that never jumps, in microseconds, for measuring. */
int64_t dp_monotonic_us(void);
/* "1 trial", "3 trials", "2 studies". */
enum {
	DP_PLURAL_LEN = 64
};
char *dp_plural_text(uint64_t n, const char *thing, char out[DP_PLURAL_LEN]);
/* How long to wait before the next try: `first`, then twice the `last` wait, never more
 * than `most`. last: 0 before the first. Any unit. */
double dp_backoff_next(double last, double first, double most);

#endif
