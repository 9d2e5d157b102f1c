/* event_dump.c - an event as a JSON object, for display. */
#include "journal/codec/event_internal.h"

#include "base/json.h"
#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text of any origin. If it is not UTF-8, '?' replaces all non-ASCII bytes. */
static json_t *dump_text(const char *s)
{
	json_t *v = json_string(s);
	char *copy;

	if (v)
		return v;
	copy = dp_strdup(s);
	for (char *p = copy; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	v = json_string(copy);
	free(copy);
	return v;
}

/* {"name":[value per run],...} */
static json_t *dump_metrics(const struct dp_ev_attempt_ended *e)
{
	json_t *all = json_object();

	for (uint32_t m = 0; m < e->nmetrics; m++) {
		json_t *values = json_array();

		for (uint32_t i = 0; i < e->nruns; i++)
			json_array_append_new(
				values, dp_json_real(e->metrics[(size_t)i * e->nmetrics + m]));
		json_object_set_new(all, e->metric_names[m], values);
	}
	return all;
}

static json_t *dump_array_item(const struct dp__field *f, const void *list, size_t i)
{
	if (f->kind == DP__FIELD_STR_ARRAY)
		return dump_text(((const char *const *)list)[i]);
	return f->kind == DP__FIELD_U32_ARRAY ? json_integer(((const uint32_t *)list)[i])
					      : dp_json_real(((const double *)list)[i]);
}

static json_t *dump_array(const struct dp__field *f, const void *base)
{
	const void *p = dp__field_load_ptr(base, f->offset);
	json_t *list = json_array();

	for (size_t i = 0; i < dp__field_array_length(f, base); i++)
		json_array_append_new(list, dump_array_item(f, p, i));
	return list;
}

static void dump_fields(json_t *into, const struct dp__field *f, const void *base);

/* NULL if the field is not shown. Numbers and flags are shown even if they are zero. */
static json_t *dump_field(const struct dp__field *f, const void *base)
{
	bool none = dp__field_is_absent(f, base), flag;
	const struct dp_ev_attempt_ended *ended;
	uint64_t wide;
	json_t *map;

	switch (f->kind) {
	case DP__FIELD_STR:
		return none           ? NULL
		       : f->is_hidden ? json_string("hidden")
				      : dump_text(dp__field_load_ptr(base, f->offset));
	case DP__FIELD_CHARS:
		return none ? NULL : dump_text((const char *)base + f->offset);
	case DP__FIELD_U32:
		return json_integer(dp__field_load_u32(base, f->offset));
	case DP__FIELD_I32:
		return json_integer((int32_t)dp__field_load_u32(base, f->offset));
	case DP__FIELD_RUN:
		if ((int32_t)dp__field_load_u32(base, f->offset) == DP_RUN_ALL)
			return json_null();
		return json_integer((int32_t)dp__field_load_u32(base, f->offset));
	case DP__FIELD_SLOT:
		if (dp__field_load_u32(base, f->offset) == 0)
			return json_null();
		return json_integer((json_int_t)dp__field_load_u32(base, f->offset) - 1);
	case DP__FIELD_U64:
		dp__field_load(base, f->offset, &wide, sizeof wide);
		return json_integer((json_int_t)wide);
	case DP__FIELD_F64:
		return none && isnan(f->absent_value)
			       ? NULL
			       : dp_json_real(dp__field_load_f64(base, f->offset));
	case DP__FIELD_BOOL:
		dp__field_load(base, f->offset, &flag, sizeof flag);
		return json_boolean(flag);
	case DP__FIELD_ENUM:
		return json_string(f->enum_names[dp__field_load_u32(base, f->offset)]);
	case DP__FIELD_F64_ARRAY:
	case DP__FIELD_U32_ARRAY:
	case DP__FIELD_STR_ARRAY:
		return none || f->is_hidden ? NULL : dump_array(f, base);
	case DP__FIELD_F64_MATRIX:
		ended = &((const struct dp_event *)base)->attempt_ended;
		return ended->nmetrics ? dump_metrics(ended) : NULL;
	case DP__FIELD_STRUCT:
		if (none)
			return NULL;
		map = json_object();
		dump_fields(map, f->subfields, (const char *)base + f->offset);
		return map;
	}
	return NULL;
}

static void dump_fields(json_t *into, const struct dp__field *f, const void *base)
{
	for (; f->name; f++) {
		json_t *v = dump_field(f, base);

		if (v)
			json_object_set_new(into, f->name, v);
	}
}

json_t *dp_event_to_json(const struct dp_event *e)
{
	char when[DP_NUM_LEN];
	const struct dp__field *fields = dp__event_fields(e->type);
	json_t *v = json_object();

	json_object_set_new(v, "study", json_integer(e->study));
	json_object_set_new(v, "seq", json_integer(e->seq));
	json_object_set_new(v, "type", json_string(dp_event_type_name(e->type)));
	json_object_set_new(v, "time", json_string(dp_time_text(e->time_us, when)));
	if (fields)
		dump_fields(v, fields, e);
	return v;
}
