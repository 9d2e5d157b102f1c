/* fact_rows.c - structs as JSON by the names of their fields. */
#include "reports/fact_rows.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

json_t *fact_number_json(double x)
{
	return isnan(x) ? json_null() : dp_json_real(x);
}

json_t *fact_text_json(const char *text)
{
	json_t *v = text ? json_string(text) : json_null();

	return v ? v : json_string("(a text that is not UTF-8)");
}

static json_t *texts_json(const char *const *texts)
{
	json_t *list = texts ? json_array() : json_null();

	for (size_t i = 0; texts && texts[i]; i++)
		json_array_append_new(list, fact_text_json(texts[i]));
	return list;
}

json_t *fact_part_json(const struct fact_shape *shape, const void *part)
{
	json_t *o = part ? json_object() : json_null();

	if (part)
		fact_add_rows(o, shape, part);
	return o;
}

json_t *fact_list_json(const struct fact_shape *shape, const void *list, size_t n)
{
	json_t *out = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(out,
				      fact_part_json(shape, (const char *)list + i * shape->size));
	return out;
}

/* The pointer that stands there, whatever it points to. */
static const void *pointer_at(const void *at)
{
	const void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

static json_t *row_json(const struct fact_row *row, const void *part)
{
	const void *at = (const char *)part + row->offset;
	int64_t count;

	switch (row->kind) {
	case KIND_NUMBER:
		return fact_number_json(*(const double *)at);
	case KIND_COUNT:
		count = *(const int64_t *)at;
		return count < 0 ? json_null() : json_integer(count);
	case KIND_FLAG:
		return json_boolean(*(const bool *)at);
	case KIND_TEXT:
		return fact_text_json(*(const char *const *)at);
	case KIND_TEXTS:
		return texts_json(*(const char *const *const *)at);
	case KIND_JSON:
		return *(json_t *const *)at ? json_incref(*(json_t *const *)at) : json_null();
	case KIND_PART:
		return fact_part_json(row->shape, at);
	case KIND_MAYBE:
		return fact_part_json(row->shape, pointer_at(at));
	case KIND_LIST:
		return fact_list_json(row->shape, pointer_at(at),
				      *(const size_t *)((const char *)part + row->count));
	case KIND_MADE:
		return row->make(part);
	}
	return NULL;
}

void fact_add_rows(json_t *to, const struct fact_shape *shape, const void *part)
{
	for (size_t i = 0; i < shape->n; i++) {
		json_t *v = row_json(&shape->rows[i], part);

		if (shape->rows[i].left_out && json_is_null(v))
			json_decref(v);
		else
			json_object_set_new(to, shape->rows[i].name, v);
	}
}
