/* json_reflection.h - structs as JSON by the names of their fields.
 *
 * A row takes its name and its kind from the field itself, so that neither can be
 * mistaken. Rows stand in the order of the file. */
#ifndef DP_REPORTS_TEXT_JSON_REFLECTION_H
#define DP_REPORTS_TEXT_JSON_REFLECTION_H
#include "base/base.h"
#include <jansson.h>
#include <stddef.h>

enum json_field_kind {
	JSON_FIELD_NUMBER,    /* double */
	JSON_FIELD_COUNT,     /* int64_t */
	JSON_FIELD_BOOL,      /* bool */
	JSON_FIELD_TEXT,      /* const char * */
	JSON_FIELD_TEXT_LIST, /* const char *const *, ends with NULL */
	JSON_FIELD_JSON,      /* json_t *, which stays the facts' own */
	JSON_FIELD_STRUCT,    /* a struct */
	JSON_FIELD_POINTER,   /* a pointer to one, or NULL */
	JSON_FIELD_ARRAY,     /* a pointer to several */
	JSON_FIELD_COMPUTED,  /* by a function, from the whole part */
};

struct json_field {
	const char *name;
	enum json_field_kind kind;
	bool omit_unknown; /* where it is unknown; else it is null then */
	size_t offset;
	size_t count_offset; /* offset of a list's length */
	const struct json_shape *shape;
	json_t *(*compute)(const void *part);
};

struct json_shape {
	const struct json_field *fields;
	size_t n, size;
};

/* The shape of struct TAG is called TAG_shape; whether a field has the type that its row
 * says is checked by the compiler. */
#define REFLECT_SHAPE(tag, its_rows)                                                               \
	static const struct json_shape tag##_shape = { .fields = its_rows,                         \
						       .n = DP_COUNT(its_rows),                    \
						       .size = sizeof(struct tag) }

#define REFLECT_MEMBER(tag, field) (((struct tag *)0)->field)
/* Where the field is, if it is of this type. */
#define REFLECT_OFFSET(tag, field, type)                                                           \
	_Generic(REFLECT_MEMBER(tag, field), type : offsetof(struct tag, field))
#define REFLECT_KIND(tag, field)                                                                   \
	_Generic(REFLECT_MEMBER(tag, field), double                                          \
		 : JSON_FIELD_NUMBER, int64_t                                                  \
		 : JSON_FIELD_COUNT, bool                                                      \
		 : JSON_FIELD_BOOL, const char *                                               \
		 : JSON_FIELD_TEXT, const char *const *                                        \
		 : JSON_FIELD_TEXT_LIST, json_t *                                                  \
		 : JSON_FIELD_JSON)

#define REFLECT(tag, field)                                                                        \
	{                                                                                          \
		.name = #field, .kind = REFLECT_KIND(tag, field),                                  \
		.offset = offsetof(struct tag, field)                                              \
	}
#define REFLECT_IF_KNOWN(tag, field)                                                               \
	{                                                                                          \
		.name = #field, .kind = REFLECT_KIND(tag, field), .omit_unknown = true,            \
		.offset = offsetof(struct tag, field)                                              \
	}
#define REFLECT_STRUCT(tag, field, part)                                                           \
	{                                                                                          \
		.name = #field, .kind = JSON_FIELD_STRUCT, .shape = &part##_shape,                 \
		.offset = REFLECT_OFFSET(tag, field, struct part)                                  \
	}
#define REFLECT_POINTER(tag, field, part)                                                          \
	{                                                                                          \
		.name = #field, .kind = JSON_FIELD_POINTER, .shape = &part##_shape,                \
		.offset = REFLECT_OFFSET(tag, field, struct part *)                                \
	}
#define REFLECT_POINTER_IF_SET(tag, field, part)                                                   \
	{                                                                                          \
		.name = #field, .kind = JSON_FIELD_POINTER, .omit_unknown = true,                  \
		.shape = &part##_shape, .offset = REFLECT_OFFSET(tag, field, struct part *)        \
	}
#define REFLECT_ARRAY(tag, field, length, part)                                                    \
	{                                                                                          \
		.name = #field, .kind = JSON_FIELD_ARRAY, .shape = &part##_shape,                  \
		.offset = REFLECT_OFFSET(tag, field, struct part *),                               \
		.count_offset = REFLECT_OFFSET(tag, length, size_t)                                \
	}
#define REFLECT_COMPUTED(its_name, function)                                                       \
	{                                                                                          \
		.name = its_name, .kind = JSON_FIELD_COMPUTED, .compute = function                 \
	}

/* Each gives a new reference. A part that is NULL is null. */
json_t *json_from_struct(const struct json_shape *shape, const void *part);
json_t *json_from_array(const struct json_shape *shape, const void *list, size_t n);
/* Adds a part's rows to an object. */
void json_add_struct_fields(json_t *to, const struct json_shape *shape, const void *part);
/* A number, or null for NaN. */
json_t *json_number_or_null(double x);
/* A text, or null for NULL. */
json_t *json_text_or_null(const char *text);

#endif
