/* json_reflection.c - structs as JSON by the names of their fields. */
#include "reports/text/json_reflection.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

json_t *json_number_or_null(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *json_text_or_null(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();

	return v ? v : json_string("(a text that is not UTF-8)");
}

static json_t *json_text_list(const char *const *texts)
{
	json_t *list = texts ? json_array() : json_null();

	for (size_t i = 0; texts && texts[i]; i++)
		json_array_append_new(list, json_text_or_null(texts[i]));
	return list;
}

json_t *json_from_struct(const struct json_shape *shape, const void *part)
{
	json_t *o = part ? json_object() : json_null();

	if (part)
		json_add_struct_fields(o, shape, part);
	return o;
}

json_t *json_from_array(const struct json_shape *shape, const void *list, size_t n)
{
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			out, json_from_struct(shape, (const char *)list + i * shape->size));
	return out;
}

/* The pointer that stands there, whatever it points to. */
static const void *load_pointer(const void *at)
{
	const void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

static json_t *json_from_field(const struct json_field *row, const void *part)
{
	const void *at = (const char *)part + row->offset;
	int64_t count;

	switch (row->kind) {
	case JSON_FIELD_NUMBER:
		return json_number_or_null(*(const double *)at);
	case JSON_FIELD_COUNT:
		count = *(const int64_t *)at;
		return count < 0 ? json_null() : json_integer(count);
	case JSON_FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case JSON_FIELD_TEXT:
		return json_text_or_null(*(const char *const *)at);
	case JSON_FIELD_TEXT_LIST:
		return json_text_list(*(const char *const *const *)at);
	case JSON_FIELD_JSON:
		return *(json_t *const *)at ? json_incref(*(json_t *const *)at) : json_null();
	case JSON_FIELD_STRUCT:
		return json_from_struct(row->shape, at);
	case JSON_FIELD_POINTER:
		return json_from_struct(row->shape, load_pointer(at));
	case JSON_FIELD_ARRAY:
		return json_from_array(row->shape, load_pointer(at),
				       *(const size_t *)((const char *)part + row->count_offset));
	case JSON_FIELD_COMPUTED:
		return row->compute(part);
	}
	return NULL;
}

void json_add_struct_fields(json_t *to, const struct json_shape *shape, const void *part)
{
	for (size_t i = 0; i < shape->n; i++) {
		json_t *v = json_from_field(&shape->fields[i], part);

		if (shape->fields[i].omit_unknown && json_is_null(v))
			json_decref(v);
		else
			json_object_set_new(to, shape->fields[i].name, v);
	}
}
