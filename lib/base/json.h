/* json.h - JSON on top of jansson: shortest doubles, non-finite numbers, strict parsing. */
#ifndef DP_JSON_H
#define DP_JSON_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

/* A number, or "inf", "-inf" or "nan" for what JSON numbers cannot express. */
json_t *dp_json_real(double x);
/* The inverse of dp_json_real(). False if `v` is neither. */
DP_MUSTCHECK bool dp_json_to_real(const json_t *v, double *x);

/* Parses one JSON text; refuses duplicate keys. Errors name line and column. Caller owns *out. */
DP_MUSTCHECK int dp_json_parse(const char *text, size_t len, json_t **out, struct dp_err *err);

/* The same for a regular file (fs.h) of at most max bytes. */
DP_MUSTCHECK int dp_json_read_file(const char *path, size_t max, json_t **out, struct dp_err *err);

/* Appends v as JSON. Objects keep their order. Doubles have the fewest digits that read back bit
 * for bit (jansson 2.14 always prints 17). indent 0: one line. */
void dp_json_dump(struct dp_buf *out, const json_t *v, int indent);

/* {"code":5,"kind":"not-found","message":"...","hint":...}; hint may be null. */
json_t *dp_json_from_error(const struct dp_err *err);
/* The inverse of dp_json_from_error(). */
void dp_json_to_error(const json_t *v, struct dp_err *err);

/* A member, or the default if it is absent or of another type. */
const char *dp_json_str(const json_t *object, const char *key, const char *default_value);
int64_t dp_json_int(const json_t *object, const char *key, int64_t default_value);
bool dp_json_bool(const json_t *object, const char *key, bool otherwise);

#endif
