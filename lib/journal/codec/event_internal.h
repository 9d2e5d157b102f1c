/* event_internal.h - the interface of the table of event fields (event_fields.c). */
#ifndef DP_JOURNAL_CODEC_EVENT_INTERNAL_H
#define DP_JOURNAL_CODEC_EVENT_INTERNAL_H
#include "journal/codec/event.h"

enum dp__field_kind {
	DP__FIELD_STR,   /* const char *; NULL: absent */
	DP__FIELD_CHARS, /* char[aux]; "": absent */
	DP__FIELD_U32,
	DP__FIELD_I32,
	DP__FIELD_RUN,  /* int32_t; DP_RUN_ALL is dumped as null */
	DP__FIELD_SLOT, /* uint32_t, stored minus one; 0: absent */
	DP__FIELD_U64,
	DP__FIELD_F64,
	DP__FIELD_BOOL,
	DP__FIELD_ENUM,       /* an enum from 0 on, stored as its name */
	DP__FIELD_F64_ARRAY,  /* const double *, with its own length */
	DP__FIELD_U32_ARRAY,  /* const uint32_t *, likewise */
	DP__FIELD_STR_ARRAY,  /* const char *const *, likewise */
	DP__FIELD_F64_MATRIX, /* const double *, runs x names */
	DP__FIELD_STRUCT,     /* a struct with its own table */
};

struct dp__field {
	const char *name;
	enum dp__field_kind kind;
	unsigned char name_len;
	unsigned short offset; /* in the struct */
	unsigned short aux;    /* arrays: offset of the length; DP__FIELD_CHARS: size in bytes */
	double absent_value;   /* DP__FIELD_F64: the value that is not stored */
	/* DP__FIELD_STR: dumps hide the value. DP__FIELD_STR_ARRAY: dumped with the matrix. */
	bool is_hidden;
	const char *const *enum_names;
	const struct dp__field *subfields; /* ends with a row without a name */
};

/* The fields of an event type, ending with a row without a name; NULL: no such type. */
const struct dp__field *dp__event_fields(uint64_t type);

enum {
	DP__CRC_SIZE = 4, /* after every record */
	DP__RECORD_MAX = 1 << 30,
};

/* ---- access to a field by its row; memcpy respects strict aliasing ---- */

void dp__field_load(const void *base, size_t at, void *to, size_t size);
void dp__field_store(void *base, size_t at, const void *from, size_t size);
uint32_t dp__field_load_u32(const void *base, size_t at);
double dp__field_load_f64(const void *base, size_t at);
const void *dp__field_load_ptr(const void *base, size_t at);
/* Length of an array. Only whole events have arrays. */
uint64_t dp__field_array_length(const struct dp__field *f, const void *base);
/* True if the field has the value that an absent one decodes to. Such fields are not stored. */
bool dp__field_is_absent(const struct dp__field *f, const void *base);

#endif
