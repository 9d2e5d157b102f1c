/* report_fields.h - the fields of the report model, a tree of JSON values.
 *
 * What is unknown is null there: a NaN, a negative count, a NULL text. A text that is not
 * UTF-8 is replaced by a sentence. Reading a field that an object does not have is a mistake
 * in this program and ends it; fields that may be missing are read with optional_...(). */
#ifndef DP_REPORTS_MODEL_REPORT_FIELDS_H
#define DP_REPORTS_MODEL_REPORT_FIELDS_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

/* A number, or null for NaN; a new reference. */
json_t *number_json(double x);

void put_number(json_t *o, const char *key, double x);
void put_count(json_t *o, const char *key, int64_t n);
void put_bool(json_t *o, const char *key, bool yes);
void put_text(json_t *o, const char *key, const char *text);
/* The same, and frees the buffer. */
void put_buf(json_t *o, const char *key, struct dp_buf *text);
/* A list of texts that ends with NULL; NULL: null. */
void put_texts(json_t *o, const char *key, char *const *texts);
/* Takes the reference; NULL: null. */
void put_json(json_t *o, const char *key, json_t *v);

double get_number(const json_t *o, const char *key);
int64_t get_count(const json_t *o, const char *key);
bool get_bool(const json_t *o, const char *key);
const char *get_text(const json_t *o, const char *key);
/* Borrowed; NULL for null. */
json_t *get_json(const json_t *o, const char *key);

/* The same of a field that may be missing. */
double optional_number(const json_t *o, const char *key);
const char *optional_text(const json_t *o, const char *key);

/* The object of this list whose field `key` has this text, or NULL. */
json_t *find_by_text(const json_t *list, const char *key, const char *text);

#endif
