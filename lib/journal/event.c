/* event.c - the stored form of events: one table of fields, from which writing,
 * reading and dumping all come. */
#include "journal/journal.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum kind {
	STR,    /* const char *; NULL: absent */
	TEXT,   /* char[room]; "": absent */
	U32,    /* uint32_t */
	I32,    /* int32_t */
	RUN,    /* int32_t, DP_RUN_ALL dumped as null */
	U64,    /* uint64_t */
	F64,    /* double */
	FLAG,   /* bool */
	WORD,   /* an enum from 0 on, stored as a word */
	F64S,   /* const double * with a length of its own */
	U32S,   /* const uint32_t * likewise */
	NAMES,  /* const char *const * likewise; dumped with the matrix */
	MATRIX, /* const double *, runs x names */
	MAP,    /* a struct with a table of its own */
};

/* One field of an event (or of a struct inside one): its name in the record, where
 * it lies, and the types of events that have it. */
struct field {
	const char *name;
	enum kind kind;
	unsigned char name_len;
	unsigned short at;  /* offset in the struct */
	unsigned short aux; /* arrays: offset of the length; TEXT: bytes of room */
	uint32_t types;     /* one bit per enum dp_event_type; 0 inside a MAP */
	double absent;      /* F64: the value that is left out */
	const char *const *words;
	const struct field *map; /* ends with a row without a name */
};

#define ROW(s, member, text, k)                                                          \
	.name = text, .kind = k, .name_len = sizeof(text) - 1,                           \
	.at = offsetof(struct s, member)
#define LENGTH(member) .aux = offsetof(struct dp_event, member)
#define ON(type)       (1u << DP_EV_##type)

/* clang-format off */
static const char *const exit_words[] = {
	[DP_EXIT_MISSING] = "missing", [DP_EXIT_CODE] = "code",
	[DP_EXIT_SIGNAL] = "signal", [DP_EXIT_TIMEOUT] = "timeout",
	[DP_EXIT_STALLED] = "stalled", [DP_EXIT_EXEC] = "exec", NULL,
};

static const char *const end_words[] = {
	"none",
#define X(name, text) text,
	DP_ENDS(X)
#undef X
	NULL,
};

static const struct field exit_fields[] = {
	{ ROW(dp_exit, kind, "kind", WORD), .words = exit_words },
	{ ROW(dp_exit, value, "value", I32) },
	{ ROW(dp_exit, exec, "exec", TEXT), .aux = sizeof ((struct dp_exit *)0)->exec },
	{ ROW(dp_exit, start, "start", F64) },
	{ ROW(dp_exit, end, "end", F64) },
	{ ROW(dp_exit, cpu, "cpu", F64) },
	{ ROW(dp_exit, peak_memory, "memory", U64) },
	{ ROW(dp_exit, stdout_bytes, "stdout", U64) },
	{ ROW(dp_exit, stderr_bytes, "stderr", U64) },
	{ 0 },
};

static const struct field declared_fields[] = {
	{ ROW(dp_declared, sampling, "sampling", STR) },
	{ ROW(dp_declared, records, "records", F64), .absent = NAN },
	{ ROW(dp_declared, lot, "lot", F64), .absent = NAN },
	{ ROW(dp_declared, steps, "steps", F64), .absent = NAN },
	{ ROW(dp_declared, noise_over_clip, "noise", F64), .absent = NAN },
	{ 0 },
};

#define ON_ATTEMPTS (ON(ATTEMPT_PLANNED) | ON(ATTEMPT_ADOPTED) | ON(ATTEMPT_ENDED))
#define ON_TRIALS                                                                        \
	(ON_ATTEMPTS | ON(TRIAL_PROPOSED) | ON(TRIAL_ENDED) | ON(TRIAL_CANCEL_ASKED) |   \
	 ON(TRIAL_RETRY_ASKED) | ON(RESULT_IMPORTED) | ON(TRIAL_ACCOUNTED))
#define ON_ALL                                                                           \
	(ON_TRIALS | ON(STUDY_CREATED) | ON(STUDY_AMENDED) | ON(STUDY_MOVED))

/* Names are stored: never change one, nor the kind of one. */
static const struct field event_fields[] = {
	{ ROW(dp_event, name, "name", STR), .types = ON(STUDY_CREATED) | ON(RESULT_IMPORTED) },
	{ ROW(dp_event, text, "text", STR), .types = ON(STUDY_CREATED) },
	{ ROW(dp_event, path, "path", STR), .types = ON(STUDY_CREATED) },
	{ ROW(dp_event, dir, "dir", STR), .types = ON(STUDY_CREATED) },
	{ ROW(dp_event, evaluations, "evaluations", F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, parallel, "parallel", F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, priority, "priority", F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, trial, "trial", U32), .types = ON_TRIALS },
	{ ROW(dp_event, run, "run", RUN), .types = ON_ATTEMPTS },
	{ ROW(dp_event, attempt, "attempt", U32), .types = ON_ATTEMPTS },
	{ ROW(dp_event, state, "state", STR), .types = ON(STUDY_MOVED) | ON(TRIAL_ENDED) },
	{ ROW(dp_event, end, "end", WORD), .types = ON(ATTEMPT_ENDED), .words = end_words },
	{ ROW(dp_event, counted, "counted", FLAG), .types = ON(STUDY_MOVED) | ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, reason, "reason", STR), .types = ON_ALL },
	{ ROW(dp_event, source, "source", STR), .types = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, basis, "basis", U32), .types = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, params, "params", F64S), .types = ON(TRIAL_PROPOSED) | ON(RESULT_IMPORTED), LENGTH(nparams) },
	{ ROW(dp_event, exit, "exit", MAP), .types = ON(ATTEMPT_ENDED), .map = exit_fields },
	{ ROW(dp_event, runs, "runs", U32S), .types = ON(ATTEMPT_ENDED), LENGTH(nruns) },
	{ ROW(dp_event, metric_names, "names", NAMES), .types = ON(ATTEMPT_ENDED), LENGTH(nmetrics) },
	{ ROW(dp_event, metrics, "metrics", MATRIX), .types = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, declared, "declared", MAP), .types = ON(ATTEMPT_ENDED), .map = declared_fields },
	{ ROW(dp_event, objectives, "objectives", F64S), .types = ON(TRIAL_PROPOSED) | ON(TRIAL_ENDED) | ON(RESULT_IMPORTED) | ON(TRIAL_ACCOUNTED), LENGTH(nobjectives) },
	{ 0 },
};
/* clang-format on */

enum {
	CRC_SIZE = 4,
	ARENA_CHUNK = 4096, /* holds an ordinary record: reuse then allocates nothing */
	RECORD_MAX = 1 << 30,
};

const char *dp_event_name(enum dp_event_type t)
{
	switch (t) {
#define X(name, number, text)                                                            \
	case DP_EV_##name:                                                               \
		return text;
		DP_EVENTS(X)
#undef X
	}
	return "unknown";
}

static bool type_known(uint64_t type)
{
	return type < 32 && (ON_ALL >> type & 1);
}

/* ---- access to a field by its row; memcpy keeps the compiler's aliasing rules ---- */

static void load(const void *base, size_t at, void *to, size_t size)
{
	memcpy(to, (const char *)base + at, size);
}

static void store(void *base, size_t at, const void *from, size_t size)
{
	memcpy((char *)base + at, from, size);
}

static uint32_t load_u32(const void *base, size_t at)
{
	uint32_t v;

	load(base, at, &v, sizeof v);
	return v;
}

static double load_f64(const void *base, size_t at)
{
	double v;

	load(base, at, &v, sizeof v);
	return v;
}

static const void *load_ptr(const void *base, size_t at)
{
	const void *v;

	load(base, at, &v, sizeof v);
	return v;
}

/* How many elements an array has. Only a whole event has arrays. */
static uint64_t length(const struct field *f, const void *base)
{
	const struct dp_event *e = base;

	if (f->kind == MATRIX)
		return (uint64_t)e->nruns * e->nmetrics;
	return load_u32(base, f->aux);
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

/* Is a field what reading makes of an absent one? Such fields are not stored. */
static bool absent(const struct field *f, const void *base)
{
	uint64_t wide;
	bool flag;

	switch (f->kind) {
	case STR:
		return load_ptr(base, f->at) == NULL;
	case TEXT:
		return ((const char *)base)[f->at] == '\0';
	case U32:
	case I32:
	case RUN:
	case WORD:
		return load_u32(base, f->at) == 0;
	case U64:
		load(base, f->at, &wide, sizeof wide);
		return wide == 0;
	case F64:
		return same_bits(load_f64(base, f->at), f->absent);
	case FLAG:
		load(base, f->at, &flag, sizeof flag);
		return !flag;
	case F64S:
	case U32S:
	case NAMES:
	case MATRIX:
		return length(f, base) == 0;
	case MAP:
		for (const struct field *s = f->map; s->name; s++)
			if (!absent(s, (const char *)base + f->at))
				return false;
		return true;
	}
	return true;
}

/* Is a field of another type of event left alone: zero, or absent? */
static bool untouched(const struct field *f, const void *base)
{
	if (f->kind == F64 && load_f64(base, f->at) == 0)
		return true;
	if (f->kind != MAP)
		return absent(f, base);
	for (const struct field *s = f->map; s->name; s++)
		if (!untouched(s, (const char *)base + f->at))
			return false;
	return true;
}

/* ---- writing ---- */

static int pack_bytes(void *out, const char *bytes, size_t len)
{
	dp_buf_add(out, bytes, len);
	return ((struct dp_buf *)out)->failed ? -1 : 0;
}

static void pack_text(msgpack_packer *pk, const char *s)
{
	msgpack_pack_str_with_body(pk, s, strlen(s));
}

/* Whole numbers are stored as integers, which are shorter and just as exact; -0 is
 * not one of them. */
static void pack_number(msgpack_packer *pk, double x)
{
	if (fabs(x) <= 0x1p53 && (double)(int64_t)x == x && !(x == 0 && signbit(x)))
		msgpack_pack_int64(pk, (int64_t)x);
	else
		msgpack_pack_double(pk, x);
}

static void pack_array(msgpack_packer *pk, const struct field *f, const void *base)
{
	const void *p = load_ptr(base, f->at);
	size_t n = length(f, base);

	msgpack_pack_array(pk, n);
	for (size_t i = 0; i < n; i++) {
		if (f->kind == U32S)
			msgpack_pack_uint32(pk, ((const uint32_t *)p)[i]);
		else if (f->kind == NAMES)
			pack_text(pk, ((const char *const *)p)[i]);
		else
			pack_number(pk, ((const double *)p)[i]);
	}
}

static void pack_map(msgpack_packer *pk, const struct field *f, const void *base,
		     uint32_t types);

static void pack_field(msgpack_packer *pk, const struct field *f, const void *base)
{
	uint64_t wide;

	switch (f->kind) {
	case STR:
		pack_text(pk, load_ptr(base, f->at));
		break;
	case TEXT:
		msgpack_pack_str_with_body(pk, (const char *)base + f->at,
					   strnlen((const char *)base + f->at, f->aux));
		break;
	case U32:
		msgpack_pack_uint32(pk, load_u32(base, f->at));
		break;
	case I32:
	case RUN:
		msgpack_pack_int32(pk, (int32_t)load_u32(base, f->at));
		break;
	case U64:
		load(base, f->at, &wide, sizeof wide);
		msgpack_pack_uint64(pk, wide);
		break;
	case F64:
		pack_number(pk, load_f64(base, f->at));
		break;
	case FLAG:
		msgpack_pack_true(pk); /* false is absent */
		break;
	case WORD:
		pack_text(pk, f->words[load_u32(base, f->at)]);
		break;
	case F64S:
	case U32S:
	case NAMES:
	case MATRIX:
		pack_array(pk, f, base);
		break;
	case MAP:
		pack_map(pk, f->map, (const char *)base + f->at, 0);
		break;
	}
}

/* The present fields of a struct. types: the event's bit, or 0 inside a MAP. */
static void pack_map(msgpack_packer *pk, const struct field *f, const void *base,
		     uint32_t types)
{
	const struct field *first = f;
	size_t n = 0;

	for (; f->name; f++)
		n += (f->types & types) == types && !absent(f, base);
	msgpack_pack_map(pk, n);
	for (f = first; f->name; f++) {
		if ((f->types & types) != types || absent(f, base))
			continue;
		msgpack_pack_str_with_body(pk, f->name, f->name_len);
		pack_field(pk, f, base);
	}
}

static size_t count_words(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

/* Can this field be written? A mistake of the program is told, not stored. */
static int check_field(const struct field *f, const struct dp_event *e,
		       struct dp_err *err)
{
	const void *p;

	if (!(f->types & (1u << e->type))) {
		if (untouched(f, e))
			return DP_OK;
		return dp_fail(err, DP_E_INVALID, "a %s record has no field '%s'",
			       dp_event_name(e->type), f->name);
	}
	if (f->kind == WORD && load_u32(e, f->at) >= count_words(f->words))
		return dp_fail(err, DP_E_INVALID, "field '%s' has no word for %u",
			       f->name, load_u32(e, f->at));
	if (f->kind < F64S || f->kind == MAP || length(f, e) == 0)
		return DP_OK;
	p = load_ptr(e, f->at);
	for (size_t i = 0; p && f->kind == NAMES && i < e->nmetrics; i++)
		if (!e->metric_names[i])
			p = NULL;
	return p ? DP_OK
		 : dp_fail(err, DP_E_INVALID, "field '%s' has a length and no values",
			   f->name);
}

int dp_event_encode(const struct dp_event *e, struct dp_buf *out, struct dp_err *err)
{
	msgpack_packer pk;
	unsigned char crc[CRC_SIZE];
	uint32_t sum;
	int code;

	if (!type_known(e->type))
		return dp_fail(err, DP_E_INVALID, "there is no record of type %u",
			       (unsigned)e->type);
	if ((unsigned)e->exit.kind >= count_words(exit_words))
		return dp_fail(err, DP_E_INVALID, "there is no kind of exit %u",
			       (unsigned)e->exit.kind);
	for (const struct field *f = event_fields; f->name; f++) {
		code = check_field(f, e, err);
		if (code != DP_OK)
			return code;
	}
	dp_buf_clear(out);
	msgpack_packer_init(&pk, out, pack_bytes);
	msgpack_pack_array(&pk, 4);
	msgpack_pack_uint32(&pk, e->type);
	msgpack_pack_uint32(&pk, DP_EVENT_VERSION);
	msgpack_pack_int64(&pk, e->time);
	pack_map(&pk, event_fields, e, 1u << e->type);
	if (!out->failed && out->len > RECORD_MAX)
		return dp_fail(err, DP_E_LIMIT, "a record of %zu bytes is too large",
			       out->len);
	sum = (uint32_t)crc32(0, (const unsigned char *)dp_buf_text(out), (uInt)out->len);
	for (int i = 0; i < CRC_SIZE; i++)
		crc[i] = (unsigned char)(sum >> (8 * i));
	dp_buf_add(out, crc, sizeof crc);
	if (out->failed)
		return dp_fail(err, DP_E_NOMEM, "no memory for a %s record",
			       dp_event_name(e->type));
	return DP_OK;
}

/* ---- reading ---- */

struct reader {
	msgpack_zone *arena;
	struct dp_err *err;
	uint32_t nvalues; /* of the matrix, which must fit runs x names in the end */
};

static int wrong(struct reader *r, const struct field *f, const char *what)
{
	return dp_fail(r->err, DP_E_CORRUPT, "field '%s' of the record %s", f->name,
		       what);
}

static void *take(struct reader *r, size_t size)
{
	void *p = msgpack_zone_malloc(r->arena, size ? size : 1);

	if (!p)
		dp_fail(r->err, DP_E_NOMEM, "no memory to read a record");
	return p;
}

static bool read_number(const msgpack_object *o, double *x)
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

static bool read_uint(const msgpack_object *o, uint64_t max, uint64_t *v)
{
	*v = o->via.u64;
	return o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 <= max;
}

static bool read_int(const msgpack_object *o, int64_t min, int64_t max, int64_t *v)
{
	*v = o->via.i64;
	if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return o->via.u64 <= (uint64_t)max;
	return o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER && o->via.i64 >= min;
}

/* A string without a NUL inside, copied into the arena. */
static int read_str(struct reader *r, const struct field *f, const msgpack_object *o,
		    const char **out)
{
	uint32_t n = o->via.str.size;
	char *copy;

	if (o->type != MSGPACK_OBJECT_STR)
		return wrong(r, f, "is not a string");
	if (n && memchr(o->via.str.ptr, '\0', n))
		return wrong(r, f, "holds a NUL byte");
	copy = take(r, (size_t)n + 1);
	if (!copy)
		return DP_E_NOMEM;
	if (n)
		memcpy(copy, o->via.str.ptr, n);
	copy[n] = '\0';
	*out = copy;
	return DP_OK;
}

static int read_array(struct reader *r, const struct field *f, const msgpack_object *o,
		      struct dp_event *e)
{
	uint32_t n = o->via.array.size;
	size_t width = f->kind == U32S    ? sizeof(uint32_t)
		       : f->kind == NAMES ? sizeof(char *)
					  : sizeof(double);
	void *p;
	uint64_t v;
	int code;

	if (o->type != MSGPACK_OBJECT_ARRAY)
		return wrong(r, f, "is not an array");
	p = take(r, n * width);
	if (!p)
		return DP_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const msgpack_object *item = &o->via.array.ptr[i];

		if (f->kind == NAMES) {
			code = read_str(r, f, item, (const char **)p + i);
			if (code != DP_OK)
				return code;
		} else if (f->kind == U32S) {
			if (!read_uint(item, UINT32_MAX, &v))
				return wrong(r, f, "holds something else than counts");
			((uint32_t *)p)[i] = (uint32_t)v;
		} else if (!read_number(item, (double *)p + i)) {
			return wrong(r, f, "holds something else than numbers");
		}
	}
	store(e, f->at, &p, sizeof p);
	if (f->kind == MATRIX)
		r->nvalues = n;
	else
		store(e, f->aux, &n, sizeof n);
	return DP_OK;
}

static int read_word(struct reader *r, const struct field *f, const msgpack_object *o,
		     void *base)
{
	if (o->type != MSGPACK_OBJECT_STR)
		return wrong(r, f, "is not a word");
	for (uint32_t i = 0; f->words[i]; i++) {
		if (strlen(f->words[i]) == o->via.str.size &&
		    memcmp(f->words[i], o->via.str.ptr, o->via.str.size) == 0) {
			store(base, f->at, &i, sizeof i);
			return DP_OK;
		}
	}
	return wrong(r, f, "is a word of a newer version");
}

static int read_map(struct reader *r, const struct field *table, uint32_t types,
		    const msgpack_object *o, void *base);

static int read_field(struct reader *r, const struct field *f, const msgpack_object *o,
		      void *base)
{
	const char *s;
	uint64_t u;
	int64_t i;
	uint32_t v;
	double x;
	int code;

	switch (f->kind) {
	case STR:
		code = read_str(r, f, o, &s);
		if (code == DP_OK)
			store(base, f->at, &s, sizeof s);
		return code;
	case TEXT:
		code = read_str(r, f, o, &s);
		if (code != DP_OK)
			return code;
		if (o->via.str.size >= f->aux)
			return wrong(r, f, "is too long");
		store(base, f->at, s, (size_t)o->via.str.size + 1);
		return DP_OK;
	case U32:
		if (!read_uint(o, UINT32_MAX, &u))
			return wrong(r, f, "is not a count");
		v = (uint32_t)u;
		store(base, f->at, &v, sizeof v);
		return DP_OK;
	case I32:
	case RUN:
		if (!read_int(o, INT32_MIN, INT32_MAX, &i))
			return wrong(r, f, "is not a small integer");
		v = (uint32_t)i;
		store(base, f->at, &v, sizeof v);
		return DP_OK;
	case U64:
		if (!read_uint(o, UINT64_MAX, &u))
			return wrong(r, f, "is not a count");
		store(base, f->at, &u, sizeof u);
		return DP_OK;
	case F64:
		if (!read_number(o, &x))
			return wrong(r, f, "is not a number");
		store(base, f->at, &x, sizeof x);
		return DP_OK;
	case FLAG:
		if (o->type != MSGPACK_OBJECT_BOOLEAN)
			return wrong(r, f, "is not true or false");
		store(base, f->at, &o->via.boolean, sizeof(bool));
		return DP_OK;
	case WORD:
		return read_word(r, f, o, base);
	case F64S:
	case U32S:
	case NAMES:
	case MATRIX:
		return read_array(r, f, o, base);
	case MAP:
		return read_map(r, f->map, 0, o, (char *)base + f->at);
	}
	return DP_OK;
}

/* Gives every number whose absence means NaN that value. */
static void set_absent(const struct field *f, uint32_t types, void *base)
{
	for (; f->name; f++) {
		if ((f->types & types) != types)
			continue;
		if (f->kind == F64)
			store(base, f->at, &f->absent, sizeof f->absent);
		else if (f->kind == MAP)
			set_absent(f->map, 0, (char *)base + f->at);
	}
}

/* The row of this name, looked for from *hint on and around: records are written
 * in the table's order, so that it is nearly always the next one. */
static const struct field *find_row(const struct field *table, size_t rows, size_t *hint,
				    const msgpack_object *key)
{
	for (size_t tried = 0; tried < rows; tried++) {
		const struct field *f = &table[*hint];

		*hint = *hint + 1 < rows ? *hint + 1 : 0;
		if (f->name_len == key->via.str.size &&
		    f->name[0] == key->via.str.ptr[0] &&
		    memcmp(f->name, key->via.str.ptr, f->name_len) == 0)
			return f;
	}
	return NULL;
}

static int read_map(struct reader *r, const struct field *table, uint32_t types,
		    const msgpack_object *o, void *base)
{
	size_t rows = 0, hint = 0;
	uint32_t seen = 0;
	int code;

	if (o->type != MSGPACK_OBJECT_MAP)
		return dp_fail(r->err, DP_E_CORRUPT,
			       "a map of the record is something else");
	while (table[rows].name)
		rows++;
	for (uint32_t i = 0; i < o->via.map.size; i++) {
		const msgpack_object_kv *kv = &o->via.map.ptr[i];
		const struct field *f;

		if (kv->key.type != MSGPACK_OBJECT_STR)
			return dp_fail(r->err, DP_E_CORRUPT,
				       "a field of the record has no name");
		f = find_row(table, rows, &hint, &kv->key);
		if (!f || (f->types & types) != types)
			continue; /* of a later program of the same version */
		if (seen >> (f - table) & 1)
			return wrong(r, f, "is there twice");
		seen |= 1u << (f - table);
		code = read_field(r, f, &kv->val, base);
		if (code != DP_OK)
			return code;
	}
	return DP_OK;
}

_Static_assert(DP_COUNT(event_fields) <= 33, "read_map() marks fields in 32 bits");

static int read_event(struct reader *r, const msgpack_object *o, struct dp_event *e)
{
	const msgpack_object *part = o->via.array.ptr;
	uint64_t type, version;
	int code;

	if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size < 2 ||
	    !read_uint(&part[0], UINT32_MAX, &type) ||
	    !read_uint(&part[1], UINT32_MAX, &version) || type == 0 || version == 0)
		return dp_fail(r->err, DP_E_CORRUPT, "the bytes are no record");
	if (version != DP_EVENT_VERSION || !type_known(type))
		return dp_fail(r->err, DP_E_CORRUPT,
			       "the record (type %u, version %u) was written by a newer "
			       "version of this program",
			       (unsigned)type, (unsigned)version);
	if (o->via.array.size != 4 || !read_int(&part[2], INT64_MIN, INT64_MAX, &e->time))
		return dp_fail(r->err, DP_E_CORRUPT, "the record has no time or fields");
	e->type = (enum dp_event_type)type;
	set_absent(event_fields, 1u << type, e);
	code = read_map(r, event_fields, 1u << type, &part[3], e);
	if (code != DP_OK)
		return code;
	if (r->nvalues != (uint64_t)e->nruns * e->nmetrics)
		return dp_fail(r->err, DP_E_CORRUPT,
			       "the record has %u values for %u metrics of %u runs",
			       r->nvalues, e->nmetrics, e->nruns);
	return DP_OK;
}

/* Forgets what the event held but keeps the memory for the next one. */
static int prepare(struct dp_event *e, struct dp_err *err)
{
	uint32_t study = e->study, seq = e->seq;
	void *arena = e->arena;

	if (arena)
		msgpack_zone_clear(arena);
	else
		arena = msgpack_zone_new(ARENA_CHUNK);
	memset(e, 0, sizeof *e);
	e->study = study;
	e->seq = seq;
	e->arena = arena;
	return e->arena ? DP_OK : dp_fail(err, DP_E_NOMEM, "no memory to read a record");
}

static uint32_t stored_crc(const unsigned char *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

int dp_event_decode(const void *bytes, size_t len, struct dp_event *out,
		    struct dp_err *err)
{
	struct reader r = { .err = err };
	msgpack_object root;
	size_t used = 0, body;
	int code = prepare(out, err);

	if (code != DP_OK)
		return code;
	r.arena = out->arena;
	body = len > CRC_SIZE ? len - CRC_SIZE : 0;
	if (body == 0 || body > RECORD_MAX)
		code = dp_fail(err, DP_E_CORRUPT, "a record cannot have %zu bytes", len);
	else if (crc32(0, bytes, (uInt)body) !=
		 stored_crc((const unsigned char *)bytes + body))
		code = dp_fail(err, DP_E_CORRUPT,
			       "the record is damaged: its checksum does not fit");
	else if (msgpack_unpack(bytes, body, &used, r.arena, &root) !=
		 MSGPACK_UNPACK_SUCCESS)
		code = dp_fail(err, DP_E_CORRUPT, "the record is not MessagePack");
	else
		code = read_event(&r, &root, out);
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

/* ---- dumping ---- */

/* Text of any origin: what is no UTF-8 is shown with its odd bytes as '?'. */
static json_t *json_text(const char *s)
{
	json_t *v = json_string(s);
	char *copy;

	if (v)
		return v;
	copy = strdup(s);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	v = copy ? json_string(copy) : NULL;
	free(copy);
	return v;
}

/* {"name":[value per run],...} */
static json_t *json_matrix(const struct dp_event *e)
{
	json_t *all = json_object();

	for (uint32_t m = 0; m < e->nmetrics; m++) {
		json_t *values = json_array();

		for (uint32_t i = 0; i < e->nruns; i++)
			json_array_append_new(
				values,
				dp_json_real(e->metrics[(size_t)i * e->nmetrics + m]));
		json_object_set_new(all, e->metric_names[m], values);
	}
	return all;
}

static json_t *json_list(const struct field *f, const void *base)
{
	const void *p = load_ptr(base, f->at);
	json_t *list = json_array();

	for (size_t i = 0; i < length(f, base); i++)
		json_array_append_new(
			list, f->kind == U32S ? json_integer(((const uint32_t *)p)[i])
					      : dp_json_real(((const double *)p)[i]));
	return list;
}

static void json_fields(json_t *into, const struct field *f, uint32_t types,
			const void *base);

/* NULL for what is not shown. Numbers and flags are shown at their zero, too. */
static json_t *json_field(const struct field *f, const void *base)
{
	bool none = absent(f, base), flag;
	uint64_t wide;
	json_t *map;

	switch (f->kind) {
	case STR:
		return none ? NULL : json_text(load_ptr(base, f->at));
	case TEXT:
		return none ? NULL : json_text((const char *)base + f->at);
	case U32:
		return json_integer(load_u32(base, f->at));
	case I32:
		return json_integer((int32_t)load_u32(base, f->at));
	case RUN:
		if ((int32_t)load_u32(base, f->at) == DP_RUN_ALL)
			return json_null();
		return json_integer((int32_t)load_u32(base, f->at));
	case U64:
		load(base, f->at, &wide, sizeof wide);
		return json_integer((json_int_t)wide);
	case F64:
		return none && isnan(f->absent) ? NULL
						: dp_json_real(load_f64(base, f->at));
	case FLAG:
		load(base, f->at, &flag, sizeof flag);
		return json_boolean(flag);
	case WORD:
		return json_string(f->words[load_u32(base, f->at)]);
	case F64S:
	case U32S:
		return none ? NULL : json_list(f, base);
	case NAMES:
		return NULL;
	case MATRIX:
		return ((const struct dp_event *)base)->nmetrics ? json_matrix(base)
								 : NULL;
	case MAP:
		if (none)
			return NULL;
		map = json_object();
		json_fields(map, f->map, 0, (const char *)base + f->at);
		return map;
	}
	return NULL;
}

static void json_fields(json_t *into, const struct field *f, uint32_t types,
			const void *base)
{
	for (; f->name; f++) {
		json_t *v = (f->types & types) == types ? json_field(f, base) : NULL;

		if (v)
			json_object_set_new(into, f->name, v);
	}
}

json_t *dp_event_json(const struct dp_event *e)
{
	char when[DP_NUM_LEN];
	json_t *v = json_object();

	json_object_set_new(v, "study", json_integer(e->study));
	json_object_set_new(v, "seq", json_integer(e->seq));
	json_object_set_new(v, "type", json_string(dp_event_name(e->type)));
	json_object_set_new(v, "time", json_string(dp_time_text(e->time, when)));
	json_fields(v, event_fields, type_known(e->type) ? 1u << e->type : ~0u, e);
	return v;
}
