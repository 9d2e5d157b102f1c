/* report_fields.h - read and write fields of the report model, a tree of JSON values.
 *
 * Unknown values (NaN, a negative count, a NULL text) become null. A text that is not UTF-8 is
 * replaced by a placeholder. Reading a field that an object does not have is a programming error
 * and aborts; use optional_...() for fields that may be missing. */
#ifndef DP_REPORTS_MODEL_REPORT_FIELDS_H
#define DP_REPORTS_MODEL_REPORT_FIELDS_H
#include "base/base.h"
#include "base/buf.h"
#include <jansson.h>

/* Returns a new reference; null for NaN. */
json_t *number_json(double x);

void put_number(json_t *o, const char *key, double x);
void put_count(json_t *o, const char *key, int64_t n);
void put_bool(json_t *o, const char *key, bool yes);
void put_text(json_t *o, const char *key, const char *text);
/* Adds the text and frees the buffer. */
void put_buf(json_t *o, const char *key, struct dp_buf *text);
/* `texts` ends with NULL; a NULL list becomes null. */
void put_texts(json_t *o, const char *key, char *const *texts);
/* Takes the reference; NULL becomes null. */
void put_json(json_t *o, const char *key, json_t *v);

double get_number(const json_t *o, const char *key);
int64_t get_count(const json_t *o, const char *key);
bool get_bool(const json_t *o, const char *key);
const char *get_text(const json_t *o, const char *key);
/* Returns a borrowed reference; NULL for null. */
json_t *get_json(const json_t *o, const char *key);

/* As get_number(), but the field may be missing. */
double optional_number(const json_t *o, const char *key);
const char *optional_text(const json_t *o, const char *key);

/* The first object of the list whose field `key` has this text, or NULL. */
json_t *find_by_text(const json_t *list, const char *key, const char *text);

#endif
