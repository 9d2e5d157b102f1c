/* event_decode.c - decodes stored records strictly, because the bytes are untrusted. */
#include "journal/codec/event_internal.h"

#include "base/alloc.h"

#include <msgpack.h>
#include <string.h>
#include <zlib.h>

enum {
	ARENA_CHUNK = 4096 /* fits a typical record: reuse then allocates nothing */
};

struct event_decoder {
	msgpack_zone *arena;
	struct dp_err *err;
	uint32_t matrix_values; /* of the matrix; must be runs x names */
};

static int fail_event_field(struct event_decoder *r, const struct dp__field *f, const char *what)
{
	return dp_fail(r->err, DP_E_CORRUPT, "field '%s' of the record %s", f->name, what);
}

static void *decoder_alloc(struct event_decoder *r, size_t size)
{
	void *p = msgpack_zone_malloc(r->arena, size ? size : 1);

	if (!p)
		dp_out_of_memory();
	return p;
}

static bool event_read_number(const msgpack_object *o, double *x)
{
	switch (o->type) {
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64:
		*x = o->via.f64;
		return true;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
		*x = (double)o->via.u64;
		return true;
	case MSGPACK_OBJECT_NEGATIVE_INTEGER:
		*x = (double)o->via.i64;
		return true;
	default:
		return false;
	}
}

static bool event_read_uint(const msgpack_object *o, uint64_t max, uint64_t *v)
{
	*v = o->via.u64;
	return o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= max;
}

static bool event_read_int(const msgpack_object *o, int64_t min, int64_t max, int64_t *v)
{
	*v = o->via.i64;
	if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return o->via.u64 <= (uint64_t)max;
	return o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER && o->via.i64 >= min;
}

static int event_read_str(struct event_decoder *r, const struct dp__field *f,
			  const msgpack_object *o, const char **out)
{
	uint32_t n = o->via.str.size;
	char *copy;

	if (o->type != MSGPACK_OBJECT_STR)
		return fail_event_field(r, f, "is not a string");
	if (n && memchr(o->via.str.ptr, '\0', n))
		return fail_event_field(r, f, "holds a NUL byte");
	copy = decoder_alloc(r, (size_t)n + 1);
	if (n)
		memcpy(copy, o->via.str.ptr, n);
	copy[n] = '\0';
	*out = copy;
	return DP_OK;
}

static int event_read_array(struct event_decoder *r, const struct dp__field *f,
			    const msgpack_object *o, struct dp_event *e)
{
	uint32_t n = o->via.array.size;
	size_t width = f->kind == DP__FIELD_U32_ARRAY   ? sizeof(uint32_t)
		       : f->kind == DP__FIELD_STR_ARRAY ? sizeof(char *)
							: sizeof(double);
	void *p;
	uint64_t v;
	int code;

	if (o->type != MSGPACK_OBJECT_ARRAY)
		return fail_event_field(r, f, "is not an array");
	p = decoder_alloc(r, n * width);
	for (uint32_t i = 0; i < n; i++) {
		const msgpack_object *item = &o->via.array.ptr[i];

		if (f->kind == DP__FIELD_STR_ARRAY) {
			code = event_read_str(r, f, item, (const char **)p + i);
			if (code != DP_OK)
				return code;
		} else if (f->kind == DP__FIELD_U32_ARRAY) {
			if (!event_read_uint(item, UINT32_MAX, &v))
				return fail_event_field(r, f, "holds something else than counts");
			((uint32_t *)p)[i] = (uint32_t)v;
		} else if (!event_read_number(item, (double *)p + i)) {
			return fail_event_field(r, f, "holds something else than numbers");
		}
	}
	dp__field_store(e, f->offset, &p, sizeof p);
	if (f->kind == DP__FIELD_F64_MATRIX)
		r->matrix_values = n;
	else
		dp__field_store(e, f->aux, &n, sizeof n);
	return DP_OK;
}

static int decode_enum(struct event_decoder *r, const struct dp__field *f, const msgpack_object *o,
		       void *base)
{
	if (o->type != MSGPACK_OBJECT_STR)
		return fail_event_field(r, f, "is not a word");
	for (uint32_t i = 0; f->enum_names[i]; i++) {
		if (strlen(f->enum_names[i]) == o->via.str.size &&
		    memcmp(f->enum_names[i], o->via.str.ptr, o->via.str.size) == 0) {
			dp__field_store(base, f->offset, &i, sizeof i);
			return DP_OK;
		}
	}
	return dp_fail(r->err, DP_E_PROTOCOL,
		       "field '%s' of the record is a word of a newer version of this "
		       "program",
		       f->name);
}

static int event_read_map(struct event_decoder *r, const struct dp__field *table,
			  const msgpack_object *o, void *base);

static int event_read_field(struct event_decoder *r, const struct dp__field *f,
			    const msgpack_object *o, void *base)
{
	const char *s;
	uint64_t u;
	int64_t i;
	uint32_t v;
	double x;
	int code;

	switch (f->kind) {
	case DP__FIELD_STR:
		code = event_read_str(r, f, o, &s);
		if (code == DP_OK)
			dp__field_store(base, f->offset, &s, sizeof s);
		return code;
	case DP__FIELD_CHARS:
		code = event_read_str(r, f, o, &s);
		if (code != DP_OK)
			return code;
		if (o->via.str.size >= f->aux)
			return fail_event_field(r, f, "is too long");
		dp__field_store(base, f->offset, s, (size_t)o->via.str.size + 1);
		return DP_OK;
	case DP__FIELD_U32:
		if (!event_read_uint(o, UINT32_MAX, &u))
			return fail_event_field(r, f, "is not a count");
		v = (uint32_t)u;
		dp__field_store(base, f->offset, &v, sizeof v);
		return DP_OK;
	case DP__FIELD_I32:
	case DP__FIELD_RUN:
		if (!event_read_int(o, INT32_MIN, INT32_MAX, &i))
			return fail_event_field(r, f, "is not a small integer");
		v = (uint32_t)i;
		dp__field_store(base, f->offset, &v, sizeof v);
		return DP_OK;
	case DP__FIELD_SLOT:
		if (!event_read_uint(o, INT32_MAX - 1, &u))
			return fail_event_field(r, f, "is not a small count");
		v = (uint32_t)u + 1;
		dp__field_store(base, f->offset, &v, sizeof v);
		return DP_OK;
	case DP__FIELD_U64:
		if (!event_read_uint(o, UINT64_MAX, &u))
			return fail_event_field(r, f, "is not a count");
		dp__field_store(base, f->offset, &u, sizeof u);
		return DP_OK;
	case DP__FIELD_F64:
		if (!event_read_number(o, &x))
			return fail_event_field(r, f, "is not a number");
		dp__field_store(base, f->offset, &x, sizeof x);
		return DP_OK;
	case DP__FIELD_BOOL:
		if (o->type != MSGPACK_OBJECT_BOOLEAN)
			return fail_event_field(r, f, "is not true or false");
		dp__field_store(base, f->offset, &o->via.boolean, sizeof(bool));
		return DP_OK;
	case DP__FIELD_ENUM:
		return decode_enum(r, f, o, base);
	case DP__FIELD_F64_ARRAY:
	case DP__FIELD_U32_ARRAY:
	case DP__FIELD_STR_ARRAY:
	case DP__FIELD_F64_MATRIX:
		return event_read_array(r, f, o, base);
	case DP__FIELD_STRUCT:
		return event_read_map(r, f->subfields, o, (char *)base + f->offset);
	}
	return DP_OK;
}

/* Sets every number to the value that stands for its absence. */
static void set_absent_values(const struct dp__field *f, void *base)
{
	for (; f->name; f++) {
		if (f->kind == DP__FIELD_F64)
			dp__field_store(base, f->offset, &f->absent_value, sizeof f->absent_value);
		else if (f->kind == DP__FIELD_STRUCT)
			set_absent_values(f->subfields, (char *)base + f->offset);
	}
}

/* The row with this name. Records are written in table order, so *hint nearly always matches. */
static const struct dp__field *event_find_row(const struct dp__field *table, size_t rows,
					      size_t *hint, const msgpack_object *key)
{
	for (size_t tried = 0; tried < rows; tried++) {
		const struct dp__field *f = &table[*hint];

		*hint = *hint + 1 < rows ? *hint + 1 : 0;
		if (f->name_len == key->via.str.size && f->name[0] == key->via.str.ptr[0] &&
		    memcmp(f->name, key->via.str.ptr, f->name_len) == 0)
			return f;
	}
	return NULL;
}

static int event_read_map(struct event_decoder *r, const struct dp__field *table,
			  const msgpack_object *o, void *base)
{
	size_t rows = 0, hint = 0;
	uint64_t seen = 0;
	int code;

	if (o->type != MSGPACK_OBJECT_MAP)
		return dp_fail(r->err, DP_E_CORRUPT, "a map of the record is something else");
	while (table[rows].name)
		rows++;
	for (uint32_t i = 0; i < o->via.map.size; i++) {
		const msgpack_object_kv *kv = &o->via.map.ptr[i];
		const struct dp__field *f;

		if (kv->key.type != MSGPACK_OBJECT_STR)
			return dp_fail(r->err, DP_E_CORRUPT, "a field of the record has no name");
		f = event_find_row(table, rows, &hint, &kv->key);
		if (!f)
			continue; /* a field of a later release with the same version */
		if (seen >> (f - table) & 1)
			return fail_event_field(r, f, "is there twice");
		seen |= UINT64_C(1) << (f - table);
		code = event_read_field(r, f, &kv->val, base);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

static int event_read(struct event_decoder *r, const msgpack_object *o, struct dp_event *e)
{
	const msgpack_object *part = o->via.array.ptr;
	const struct dp__field *fields;
	uint64_t type, version;
	int code;

	if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size < 2 ||
	    !event_read_uint(&part[0], UINT32_MAX, &type) ||
	    !event_read_uint(&part[1], UINT32_MAX, &version) || type == 0 || version == 0)
		return dp_fail(r->err, DP_E_CORRUPT, "the bytes are no record");
	fields = dp__event_fields(type);
	if (version != DP_EVENT_VERSION || !fields)
		return dp_fail(r->err, DP_E_PROTOCOL,
			       "the record (type %u, version %u) was written by a newer "
			       "version of this program",
			       (unsigned)type, (unsigned)version);
	if (o->via.array.size != 4 || !event_read_int(&part[2], INT64_MIN, INT64_MAX, &e->time_us))
		return dp_fail(r->err, DP_E_CORRUPT, "the record has no time or fields");
	e->type = (enum dp_event_type)type;
	set_absent_values(fields, e);
	code = event_read_map(r, fields, &part[3], e);
	if (code != DP_OK || e->type != DP_EV_ATTEMPT_ENDED)
		return code;
	if (r->matrix_values != (uint64_t)e->attempt_ended.nruns * e->attempt_ended.nmetrics)
		return dp_fail(r->err, DP_E_CORRUPT,
			       "the record has %u values for %u metrics of %u runs",
			       r->matrix_values, e->attempt_ended.nmetrics, e->attempt_ended.nruns);
	return DP_OK;
}

/* Clears the event but keeps its memory for the next one. */
static void reset_event(struct dp_event *e)
{
	struct dp_event empty = { .study = e->study, .seq = e->seq, .arena = e->arena };

	if (empty.arena)
		msgpack_zone_clear(empty.arena);
	else if ((empty.arena = msgpack_zone_new(ARENA_CHUNK)) == NULL)
		dp_out_of_memory();
	*e = empty;
}

int dp_event_decode(const void *bytes, size_t len, struct dp_event *out, struct dp_err *err)
{
	struct event_decoder r = { .err = err };
	size_t used = 0, body = len > DP__CRC_SIZE ? len - DP__CRC_SIZE : 0;
	const unsigned char *crc = (const unsigned char *)bytes + body;
	msgpack_object root;
	int code;

	reset_event(out);
	r.arena = out->arena;
	if (body == 0 || body > DP__RECORD_MAX)
		code = dp_fail(err, DP_E_CORRUPT, "a record cannot have %zu bytes", len);
	else if (crc32(0, bytes, (uInt)body) !=
		 (crc[0] | (uint32_t)crc[1] << 8 | (uint32_t)crc[2] << 16 | (uint32_t)crc[3] << 24))
		code = dp_fail(err, DP_E_CORRUPT,
			       "the record is damaged: its checksum does not fit");
	else if (msgpack_unpack(bytes, body, &used, r.arena, &root) != MSGPACK_UNPACK_SUCCESS)
		code = dp_fail(err, DP_E_CORRUPT, "the record is not MessagePack");
	else
		code = event_read(&r, &root, out);
	if (code != DP_OK)
		dp_event_clear(out);
	return code;
}

void dp_event_clear(struct dp_event *e)
{
	struct dp_event empty = { .study = e->study, .seq = e->seq };

	if (e->arena)
		msgpack_zone_free(e->arena);
	*e = empty;
}
