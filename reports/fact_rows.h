/* fact_rows.h - structs as JSON by the names of their fields.
 *
 * A row takes its name and its kind from the field itself, so that neither can be
 * mistaken. Rows stand in the order of the file. */
#ifndef DP_FACT_ROWS_H
#define DP_FACT_ROWS_H
#include "base/base.h"
#include <jansson.h>
#include <stddef.h>

enum fact_kind {
	KIND_NUMBER, /* double */
	KIND_COUNT,  /* int64_t */
	KIND_FLAG,   /* bool */
	KIND_TEXT,   /* const char * */
	KIND_TEXTS,  /* const char *const *, ends with NULL */
	KIND_JSON,   /* json_t *, which stays the facts' own */
	KIND_PART,   /* a struct */
	KIND_MAYBE,  /* a pointer to one, or NULL */
	KIND_LIST,   /* a pointer to several */
	KIND_MADE,   /* by a function, from the whole part */
};

struct fact_row {
	const char *name;
	enum fact_kind kind;
	bool left_out; /* where it is unknown; else it is null then */
	size_t offset;
	size_t count; /* offset of a list's length */
	const struct fact_shape *shape;
	json_t *(*make)(const void *part);
};

struct fact_shape {
	const struct fact_row *rows;
	size_t n, size;
};

/* The shape of struct TAG is called TAG_shape; whether a field has the type that its row
 * says is checked by the compiler. */
#define FACT_SHAPE(tag, its_rows)                                                                  \
	static const struct fact_shape tag##_shape = { .rows = its_rows,                           \
						       .n = DP_COUNT(its_rows),                    \
						       .size = sizeof(struct tag) }

#define FACT_FIELD(tag, field) (((struct tag *)0)->field)
/* Where the field is, if it is of this type. */
#define FACT_AT(tag, field, type)                                                                  \
	_Generic(FACT_FIELD(tag, field), type : offsetof(struct tag, field))
#define FACT_KIND(tag, field)                                                                      \
	_Generic(FACT_FIELD(tag, field), double                                          \
		 : KIND_NUMBER, int64_t                                                  \
		 : KIND_COUNT, bool                                                      \
		 : KIND_FLAG, const char *                                               \
		 : KIND_TEXT, const char *const *                                        \
		 : KIND_TEXTS, json_t *                                                  \
		 : KIND_JSON)

#define FACT(tag, field)                                                                           \
	{                                                                                          \
		.name = #field, .kind = FACT_KIND(tag, field),                                     \
		.offset = offsetof(struct tag, field)                                              \
	}
#define FACT_IF_KNOWN(tag, field)                                                                  \
	{                                                                                          \
		.name = #field, .kind = FACT_KIND(tag, field), .left_out = true,                   \
		.offset = offsetof(struct tag, field)                                              \
	}
#define FACT_PART(tag, field, part)                                                                \
	{                                                                                          \
		.name = #field, .kind = KIND_PART, .shape = &part##_shape,                         \
		.offset = FACT_AT(tag, field, struct part)                                         \
	}
#define FACT_MAYBE(tag, field, part)                                                               \
	{                                                                                          \
		.name = #field, .kind = KIND_MAYBE, .shape = &part##_shape,                        \
		.offset = FACT_AT(tag, field, struct part *)                                       \
	}
#define FACT_MAYBE_LEFT_OUT(tag, field, part)                                                      \
	{                                                                                          \
		.name = #field, .kind = KIND_MAYBE, .left_out = true, .shape = &part##_shape,      \
		.offset = FACT_AT(tag, field, struct part *)                                       \
	}
#define FACT_LIST(tag, field, length, part)                                                        \
	{                                                                                          \
		.name = #field, .kind = KIND_LIST, .shape = &part##_shape,                         \
		.offset = FACT_AT(tag, field, struct part *),                                      \
		.count = FACT_AT(tag, length, size_t)                                              \
	}
#define FACT_MADE(its_name, function)                                                              \
	{                                                                                          \
		.name = its_name, .kind = KIND_MADE, .make = function                              \
	}

/* Each gives a new reference. A part that is NULL is null. */
json_t *fact_part_json(const struct fact_shape *shape, const void *part);
json_t *fact_list_json(const struct fact_shape *shape, const void *list, size_t n);
/* Adds a part's rows to an object. */
void fact_add_rows(json_t *to, const struct fact_shape *shape, const void *part);
/* A number, or null for NaN. */
json_t *fact_number_json(double x);
/* A text, or null for NULL. */
json_t *fact_text_json(const char *text);

#endif
