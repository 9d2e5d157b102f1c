/* json.h - what jansson leaves to us: shortest doubles, non-finite numbers as
 * strings, strict reading. */
#ifndef DP_JSON_H
#define DP_JSON_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

/* A number, or the strings "inf", "-inf", "nan" that the contract asks for. */
json_t *dp_json_real(double x);
/* The other way; false if `v` is neither. */
DP_MUSTCHECK bool dp_json_to_real(const json_t *v, double *x);

/* Parses one JSON text; duplicate keys are refused. The error names line, column
 * and reason. The caller owns *out. */
DP_MUSTCHECK int dp_json_parse(const char *text, size_t len, json_t **out, struct dp_err *err);

/* The same with a small file, which must be a plain one (fs.h) of at most max bytes. */
DP_MUSTCHECK int dp_json_read_file(const char *path, size_t max, json_t **out, struct dp_err *err);

/* Appends v as JSON. Objects keep their order; doubles read back bit for bit and
 * are as short as that allows (jansson 2.14 prints 17 digits, always).
 * indent 0: one line. */
void dp_json_dump(struct dp_buf *out, const json_t *v, int indent);

/* {"code":5,"kind":"not-found","message":"...","hint":...}; hint is null if there
 * is none. */
json_t *dp_json_from_error(const struct dp_err *err);
/* Reads such an object back. */
void dp_json_to_error(const json_t *v, struct dp_err *err);

/* Members with a default, for readers that ignore unknown fields. */
const char *dp_json_str(const json_t *object, const char *key, const char *default_value);
int64_t dp_json_int(const json_t *object, const char *key, int64_t default_value);
bool dp_json_bool(const json_t *object, const char *key, bool otherwise);

#endif
