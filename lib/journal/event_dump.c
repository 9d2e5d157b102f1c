/* event_dump.c - an event as a JSON object, for people. */
#include "journal/event_internal.h"

#include "base/json.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
				values, dp_json_real(e->metrics[(size_t)i * e->nmetrics + m]));
		json_object_set_new(all, e->metric_names[m], values);
	}
	return all;
}

static json_t *json_item(const struct dp__field *f, const void *list, size_t i)
{
	if (f->kind == DP__NAMES)
		return json_text(((const char *const *)list)[i]);
	return f->kind == DP__U32S ? json_integer(((const uint32_t *)list)[i])
				   : dp_json_real(((const double *)list)[i]);
}

static json_t *json_list(const struct dp__field *f, const void *base)
{
	const void *p = dp__field_ptr(base, f->at);
	json_t *list = json_array();

	for (size_t i = 0; i < dp__field_length(f, base); i++)
		json_array_append_new(list, json_item(f, p, i));
	return list;
}

static void json_fields(json_t *into, const struct dp__field *f, uint32_t types, const void *base);

/* NULL for what is not shown. Numbers and flags are shown at their zero, too. */
static json_t *json_field(const struct dp__field *f, const void *base)
{
	bool none = dp__field_absent(f, base), flag;
	uint64_t wide;
	json_t *map;

	switch (f->kind) {
	case DP__STR:
		return none        ? NULL
		       : f->hidden ? json_string("hidden")
				   : json_text(dp__field_ptr(base, f->at));
	case DP__TEXT:
		return none ? NULL : json_text((const char *)base + f->at);
	case DP__U32:
		return json_integer(dp__field_u32(base, f->at));
	case DP__I32:
		return json_integer((int32_t)dp__field_u32(base, f->at));
	case DP__RUN:
		if ((int32_t)dp__field_u32(base, f->at) == DP_RUN_ALL)
			return json_null();
		return json_integer((int32_t)dp__field_u32(base, f->at));
	case DP__SLOT:
		if (dp__field_u32(base, f->at) == 0)
			return json_null();
		return json_integer((json_int_t)dp__field_u32(base, f->at) - 1);
	case DP__U64:
		dp__field_load(base, f->at, &wide, sizeof wide);
		return json_integer((json_int_t)wide);
	case DP__F64:
		return none && isnan(f->absent) ? NULL : dp_json_real(dp__field_f64(base, f->at));
	case DP__FLAG:
		dp__field_load(base, f->at, &flag, sizeof flag);
		return json_boolean(flag);
	case DP__WORD:
		return json_string(f->words[dp__field_u32(base, f->at)]);
	case DP__F64S:
	case DP__U32S:
	case DP__NAMES:
		return none || f->hidden ? NULL : json_list(f, base);
	case DP__MATRIX:
		return ((const struct dp_event *)base)->nmetrics ? json_matrix(base) : NULL;
	case DP__MAP:
		if (none)
			return NULL;
		map = json_object();
		json_fields(map, f->map, 0, (const char *)base + f->at);
		return map;
	}
	return NULL;
}

static void json_fields(json_t *into, const struct dp__field *f, uint32_t types, const void *base)
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
	json_fields(v, dp__event_fields, dp__event_known(e->type) ? 1u << e->type : ~0u, e);
	return v;
}
