/* units.h - parses and prints numbers, durations, sizes and times. */
#ifndef DP_BASE_UNITS_H
#define DP_BASE_UNITS_H
#include "base/base.h"

/* The shortest decimal that reads back as the same double; "inf", "-inf", "nan". Returns `out`. */
enum {
	DP_NUM_LEN = 32
};
char *dp_num_text(double x, char out[DP_NUM_LEN]);

/* Parses a whole string, also "inf", "-inf", "nan". No white space, locale or hexadecimal. */
DP_MUSTCHECK bool dp_num_parse(const char *s, double *x);
DP_MUSTCHECK bool dp_int_parse(const char *s, int64_t *x);

/* Durations: "90" (seconds), "1.5s", "250ms", "30m", "2h30m", "1d". Finite and >= 0. */
DP_MUSTCHECK bool dp_duration_parse(const char *s, double *seconds);
/* For people: "350ms", "42s", "2h05m", "3d4h". */
char *dp_duration_text(double seconds, char out[DP_NUM_LEN]);
/* Sizes: "512", "16M", "2GiB", "1.5G"; powers of 1024. */
DP_MUSTCHECK bool dp_size_parse(const char *s, uint64_t *bytes);
char *dp_size_text(uint64_t bytes, char out[DP_NUM_LEN]);

/* Microseconds since 1970, and the same as ISO 8601 in UTC. */
int64_t dp_now_us(void);
char *dp_time_text(int64_t us, char out[DP_NUM_LEN]);
/* The monotonic clock in microseconds. */
int64_t dp_monotonic_us(void);
/* "1 trial", "3 trials", "2 studies". */
enum {
	DP_PLURAL_LEN = 64
};
char *dp_plural_text(uint64_t n, const char *thing, char out[DP_PLURAL_LEN]);
/* Exponential backoff: `first`, then twice `last` (0 before the first wait), at most `most`. */
double dp_backoff_next(double last, double first, double most);

#endif
