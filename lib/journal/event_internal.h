/* event_internal.h - the table of fields of events, from which writing, reading and
 * dumping all come (event.c has the rows). */
#ifndef DP_EVENT_INTERNAL_H
#define DP_EVENT_INTERNAL_H
#include "journal/journal.h"

enum dp__kind {
	DP__STR,    /* const char *; NULL: absent */
	DP__TEXT,   /* char[room]; "": absent */
	DP__U32,    /* uint32_t */
	DP__I32,    /* int32_t */
	DP__RUN,    /* int32_t, DP_RUN_ALL dumped as null */
	DP__SLOT,   /* uint32_t, one more than what is stored; 0: absent */
	DP__U64,    /* uint64_t */
	DP__F64,    /* double */
	DP__FLAG,   /* bool */
	DP__WORD,   /* an enum from 0 on, stored as a word */
	DP__F64S,   /* const double * with a length of its own */
	DP__U32S,   /* const uint32_t * likewise */
	DP__NAMES,  /* const char *const * likewise */
	DP__MATRIX, /* const double *, runs x names */
	DP__MAP,    /* a struct with a table of its own */
};

/* One field of an event (or of a struct inside one): its name in the record, where
 * it lies, and the types of events that have it. */
struct dp__field {
	const char *name;
	enum dp__kind kind;
	unsigned char name_len;
	unsigned short at;  /* offset in the struct */
	unsigned short aux; /* arrays: offset of the length; DP__TEXT: bytes of room */
	uint32_t types;     /* one bit per enum dp_event_type; 0 inside a DP__MAP */
	double absent;      /* DP__F64: the value that is left out */
	bool hidden;        /* DP__STR: a dump says only that it is there; DP__NAMES: dumped with
			     * the matrix */
	const char *const *words;
	const struct dp__field *map; /* ends with a row without a name */
};

/* Ends with a row without a name. At most 32: event_read.c marks them in a word. */
extern const struct dp__field dp__event_fields[];

enum {
	DP__CRC_SIZE = 4, /* behind every record */
	DP__RECORD_MAX = 1 << 30,
};

/* Is there a type of event with this number? */
bool dp__event_known(uint64_t type);

/* ---- access to a field by its row; memcpy keeps the compiler's aliasing rules ---- */

void dp__field_load(const void *base, size_t at, void *to, size_t size);
void dp__field_store(void *base, size_t at, const void *from, size_t size);
uint32_t dp__field_u32(const void *base, size_t at);
double dp__field_f64(const void *base, size_t at);
const void *dp__field_ptr(const void *base, size_t at);
/* How many elements an array has. Only a whole event has arrays. */
uint64_t dp__field_length(const struct dp__field *f, const void *base);
/* Is a field what reading makes of an absent one? Such fields are not stored. */
bool dp__field_absent(const struct dp__field *f, const void *base);

#endif
