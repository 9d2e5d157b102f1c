/* report_fields.c - read and write fields of the report model. */
#include "reports/model/report_fields.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char not_utf8[] = "(a text that is not UTF-8)";

json_t *number_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

static json_t *text_json(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();

	return v ? v : json_string(not_utf8);
}

void put_number(json_t *o, const char *key, double x)
{
	json_object_set_new(o, key, number_json(x));
}

void put_count(json_t *o, const char *key, int64_t n)
{
	json_object_set_new(o, key, n < 0 ? json_null() : json_integer(n));
}

void put_bool(json_t *o, const char *key, bool yes)
{
	json_object_set_new(o, key, json_boolean(yes));
}

void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, text_json(text));
}

void put_buf(json_t *o, const char *key, struct dp_buf *text)
{
	put_text(o, key, dp_buf_text(text));
	dp_buf_free(text);
}

void put_texts(json_t *o, const char *key, char *const *texts)
{
	json_t *list = texts ? json_array() : json_null();

	for (size_t i = 0; texts && texts[i]; i++)
		json_array_append_new(list, text_json(texts[i]));
	json_object_set_new(o, key, list);
}

void put_json(json_t *o, const char *key, json_t *v)
{
	json_object_set_new(o, key, v ? v : json_null());
}

static json_t *get_field(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (v)
		return v;
	fprintf(stderr, "dpareto-report: the report model has no field '%s' here\n", key);
	abort();
}

double get_number(const json_t *o, const char *key)
{
	double x;

	return dp_json_to_real(get_field(o, key), &x) ? x : NAN;
}

int64_t get_count(const json_t *o, const char *key)
{
	const json_t *v = get_field(o, key);

	return json_is_integer(v) ? json_integer_value(v) : -1;
}

bool get_bool(const json_t *o, const char *key)
{
	return json_is_true(get_field(o, key));
}

const char *get_text(const json_t *o, const char *key)
{
	return json_string_value(get_field(o, key));
}

json_t *get_json(const json_t *o, const char *key)
{
	json_t *v = get_field(o, key);

	return json_is_null(v) ? NULL : v;
}

double optional_number(const json_t *o, const char *key)
{
	return json_object_get(o, key) ? get_number(o, key) : NAN;
}

const char *optional_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

json_t *find_by_text(const json_t *list, const char *key, const char *text)
{
	json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (strcmp(get_text(o, key), text) == 0)
			return o;
	return NULL;
}
