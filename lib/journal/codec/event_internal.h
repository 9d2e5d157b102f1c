/* event_internal.h - the table of fields of events, from which writing, reading and
 * dumping all come (event_fields.c has the rows). */
#ifndef DP_JOURNAL_CODEC_EVENT_INTERNAL_H
#define DP_JOURNAL_CODEC_EVENT_INTERNAL_H
#include "journal/codec/event.h"

enum dp__field_kind {
	DP__FIELD_STR,        /* const char *; NULL: absent */
	DP__FIELD_CHARS,      /* char[room]; "": absent */
	DP__FIELD_U32,        /* uint32_t */
	DP__FIELD_I32,        /* int32_t */
	DP__FIELD_RUN,        /* int32_t, DP_RUN_ALL dumped as null */
	DP__FIELD_SLOT,       /* uint32_t, one more than what is stored; 0: absent */
	DP__FIELD_U64,        /* uint64_t */
	DP__FIELD_F64,        /* double */
	DP__FIELD_BOOL,       /* bool */
	DP__FIELD_ENUM,       /* an enum from 0 on, stored as a word */
	DP__FIELD_F64_ARRAY,  /* const double * with a length of its own */
	DP__FIELD_U32_ARRAY,  /* const uint32_t * likewise */
	DP__FIELD_STR_ARRAY,  /* const char *const * likewise */
	DP__FIELD_F64_MATRIX, /* const double *, runs x names */
	DP__FIELD_STRUCT,     /* a struct with a table of its own */
};

/* One field of an event (or of a struct inside one): its name in the record and where it lies. */
struct dp__field {
	const char *name;
	enum dp__field_kind kind;
	unsigned char name_len;
	unsigned short offset; /* offset in the struct */
	unsigned short aux;    /* arrays: offset of the length; DP__FIELD_CHARS: bytes of room */
	double absent_value;   /* DP__FIELD_F64: the value that is left out */
	bool is_hidden; /* DP__FIELD_STR: a dump says only that it is there; DP__FIELD_STR_ARRAY:
			 * dumped with the matrix */
	const char *const *enum_names;
	const struct dp__field *subfields; /* ends with a row without a name */
};

/* The fields of this type of event; ends with a row without a name. NULL: there is no such type. */
const struct dp__field *dp__event_fields(uint64_t type);

enum {
	DP__CRC_SIZE = 4, /* behind every record */
	DP__RECORD_MAX = 1 << 30,
};

/* ---- access to a field by its row; memcpy keeps the compiler's aliasing rules ---- */

void dp__field_load(const void *base, size_t at, void *to, size_t size);
void dp__field_store(void *base, size_t at, const void *from, size_t size);
uint32_t dp__field_load_u32(const void *base, size_t at);
double dp__field_load_f64(const void *base, size_t at);
const void *dp__field_load_ptr(const void *base, size_t at);
/* How many elements an array has. Only a whole event has arrays. */
uint64_t dp__field_array_length(const struct dp__field *f, const void *base);
/* Is a field what reading makes of an absent one? Such fields are not stored. */
bool dp__field_is_absent(const struct dp__field *f, const void *base);

#endif
