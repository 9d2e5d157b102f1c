/* event_encode.c - encodes an event as MessagePack with a checksum. */
#include "journal/codec/event_internal.h"

#include <math.h>
#include <msgpack.h>
#include <string.h>
#include <zlib.h>

static int append_packed_bytes(void *out, const char *bytes, size_t len)
{
	dp_buf_add(out, bytes, len);
	return 0;
}

static void pack_text(msgpack_packer *pk, const char *s)
{
	msgpack_pack_str_with_body(pk, s, strlen(s));
}

/* Whole numbers are stored as integers: shorter and as exact. -0 is not one of them. */
static void pack_number(msgpack_packer *pk, double x)
{
	if (fabs(x) <= 0x1p53 && (double)(int64_t)x == x && !(x == 0 && signbit(x)))
		msgpack_pack_int64(pk, (int64_t)x);
	else
		msgpack_pack_double(pk, x);
}

static void pack_array(msgpack_packer *pk, const struct dp__field *f, const void *base)
{
	const void *p = dp__field_load_ptr(base, f->offset);
	size_t n = dp__field_array_length(f, base);

	msgpack_pack_array(pk, n);
	for (size_t i = 0; i < n; i++) {
		if (f->kind == DP__FIELD_U32_ARRAY)
			msgpack_pack_uint32(pk, ((const uint32_t *)p)[i]);
		else if (f->kind == DP__FIELD_STR_ARRAY)
			pack_text(pk, ((const char *const *)p)[i]);
		else
			pack_number(pk, ((const double *)p)[i]);
	}
}

static void pack_map(msgpack_packer *pk, const struct dp__field *f, const void *base);

static void pack_field(msgpack_packer *pk, const struct dp__field *f, const void *base)
{
	uint64_t wide;

	switch (f->kind) {
	case DP__FIELD_STR:
		pack_text(pk, dp__field_load_ptr(base, f->offset));
		break;
	case DP__FIELD_CHARS:
		msgpack_pack_str_with_body(pk, (const char *)base + f->offset,
					   strnlen((const char *)base + f->offset, f->aux));
		break;
	case DP__FIELD_U32:
		msgpack_pack_uint32(pk, dp__field_load_u32(base, f->offset));
		break;
	case DP__FIELD_I32:
	case DP__FIELD_RUN:
		msgpack_pack_int32(pk, (int32_t)dp__field_load_u32(base, f->offset));
		break;
	case DP__FIELD_SLOT:
		msgpack_pack_uint32(pk, dp__field_load_u32(base, f->offset) - 1);
		break;
	case DP__FIELD_U64:
		dp__field_load(base, f->offset, &wide, sizeof wide);
		msgpack_pack_uint64(pk, wide);
		break;
	case DP__FIELD_F64:
		pack_number(pk, dp__field_load_f64(base, f->offset));
		break;
	case DP__FIELD_BOOL:
		msgpack_pack_true(pk); /* false is absent */
		break;
	case DP__FIELD_ENUM:
		pack_text(pk, f->enum_names[dp__field_load_u32(base, f->offset)]);
		break;
	case DP__FIELD_F64_ARRAY:
	case DP__FIELD_U32_ARRAY:
	case DP__FIELD_STR_ARRAY:
	case DP__FIELD_F64_MATRIX:
		pack_array(pk, f, base);
		break;
	case DP__FIELD_STRUCT:
		pack_map(pk, f->subfields, (const char *)base + f->offset);
		break;
	}
}

static void pack_map(msgpack_packer *pk, const struct dp__field *f, const void *base)
{
	const struct dp__field *first = f;
	size_t n = 0;

	for (; f->name; f++)
		n += !dp__field_is_absent(f, base);
	msgpack_pack_map(pk, n);
	for (f = first; f->name; f++) {
		if (dp__field_is_absent(f, base))
			continue;
		msgpack_pack_str_with_body(pk, f->name, f->name_len);
		pack_field(pk, f, base);
	}
}

static int check_enum_field(const struct dp__field *f, const void *base, struct dp_err *err)
{
	uint32_t v = dp__field_load_u32(base, f->offset), n = 0;

	while (f->enum_names[n])
		n++;
	return v < n ? DP_OK
		     : dp_fail(err, DP_E_INVALID, "field '%s' has no word for %u", f->name, v);
}

static int event_check_array(const struct dp__field *f, const struct dp_event *e,
			     struct dp_err *err)
{
	bool texts = f->kind == DP__FIELD_STR_ARRAY;
	const void *p = dp__field_load_ptr(e, f->offset);

	for (size_t i = 0; p && texts && i < dp__field_array_length(f, e); i++)
		if (!((const char *const *)p)[i])
			p = NULL;
	return p ? DP_OK
		 : dp_fail(err, DP_E_INVALID, "field '%s' has a length and no values", f->name);
}

/* Checks that the field can be written. A bug in the caller is reported, not stored. */
static int event_check_field(const struct dp__field *f, const struct dp_event *e,
			     struct dp_err *err)
{
	if (f->kind == DP__FIELD_ENUM)
		return check_enum_field(f, e, err);
	if (f->kind == DP__FIELD_STRUCT) {
		for (const struct dp__field *m = f->subfields; m->name; m++)
			if (m->kind == DP__FIELD_ENUM &&
			    check_enum_field(m, (const char *)e + f->offset, err) != DP_OK)
				return DP_E_INVALID;
		return DP_OK;
	}
	return f->kind < DP__FIELD_F64_ARRAY || dp__field_array_length(f, e) == 0
		       ? DP_OK
		       : event_check_array(f, e, err);
}

int dp_event_encode(const struct dp_event *e, struct dp_buf *out, struct dp_err *err)
{
	const struct dp__field *fields = dp__event_fields(e->type);
	msgpack_packer pk;
	unsigned char crc[DP__CRC_SIZE];
	uint32_t sum;
	int code;

	if (!fields)
		return dp_fail(err, DP_E_INVALID, "there is no record of type %u",
			       (unsigned)e->type);
	for (const struct dp__field *f = fields; f->name; f++) {
		code = event_check_field(f, e, err);
		if (code != DP_OK)
			return code;
	}
	dp_buf_clear(out);
	msgpack_packer_init(&pk, out, append_packed_bytes);
	msgpack_pack_array(&pk, 4);
	msgpack_pack_uint32(&pk, e->type);
	msgpack_pack_uint32(&pk, DP_EVENT_VERSION);
	msgpack_pack_int64(&pk, e->time_us);
	pack_map(&pk, fields, e);
	if (out->len > DP__RECORD_MAX)
		return dp_fail(err, DP_E_LIMIT, "a record of %zu bytes is too large", out->len);
	sum = (uint32_t)crc32(0, (const unsigned char *)dp_buf_text(out), (uInt)out->len);
	for (int i = 0; i < DP__CRC_SIZE; i++)
		crc[i] = (unsigned char)(sum >> (8 * i));
	dp_buf_add(out, crc, sizeof crc);
	return DP_OK;
}
