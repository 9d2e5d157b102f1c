/* event.c - the types of events and their fields: one table, from which writing, reading
 * and dumping all come. */
#include "journal/event_internal.h"

#include <math.h>
#include <string.h>

#define ROW(s, member, text, k)                                                                    \
	.name = text, .kind = k, .name_len = sizeof(text) - 1, .at = offsetof(struct s, member)
#define LENGTH(member) .aux = offsetof(struct dp_event, member)
#define ON(type)       (1u << DP_EV_##type)

/* clang-format off */
static const char *const exit_words[] = {
	[DP_EXIT_MISSING] = "missing", [DP_EXIT_CODE] = "code",
	[DP_EXIT_SIGNAL] = "signal", [DP_EXIT_TIMEOUT] = "timeout",
	[DP_EXIT_MEMORY] = "memory", [DP_EXIT_STALLED] = "stalled",
	[DP_EXIT_EXEC] = "exec", NULL,
};

static const char *const end_words[] = {
	"none",
#define X(name, text) text,
	DP_ENDS(X)
#undef X
	NULL,
};

static const struct dp__field exit_fields[] = {
	{ ROW(dp_exit, kind, "kind", DP__WORD), .words = exit_words },
	{ ROW(dp_exit, value, "value", DP__I32) },
	{ ROW(dp_exit, exec, "exec", DP__TEXT), .aux = sizeof ((struct dp_exit *)0)->exec },
	{ ROW(dp_exit, start, "start", DP__F64) },
	{ ROW(dp_exit, end, "end", DP__F64) },
	{ ROW(dp_exit, cpu, "cpu", DP__F64) },
	{ ROW(dp_exit, peak_memory, "memory", DP__U64) },
	{ ROW(dp_exit, stdout_bytes, "stdout", DP__U64) },
	{ ROW(dp_exit, stderr_bytes, "stderr", DP__U64) },
	{ 0 },
};

static const struct dp__field declared_fields[] = {
	{ ROW(dp_declared, sampling, "sampling", DP__STR) },
	{ ROW(dp_declared, records, "records", DP__F64), .absent = NAN },
	{ ROW(dp_declared, lot, "lot", DP__F64), .absent = NAN },
	{ ROW(dp_declared, steps, "steps", DP__F64), .absent = NAN },
	{ ROW(dp_declared, noise_over_clip, "noise", DP__F64), .absent = NAN },
	{ 0 },
};

static const struct dp__field filter_fields[] = {
	{ ROW(dp_filter, epsilon, "epsilon", DP__F64) },
	{ ROW(dp_filter, delta, "delta", DP__F64) },
	{ ROW(dp_filter, order, "order", DP__F64) },
	{ ROW(dp_filter, limit, "limit", DP__F64) },
	{ 0 },
};

#define ON_FILES    (ON(STUDY_CREATED) | ON(STUDY_AMENDED))
#define ON_ATTEMPTS                                                                      \
	(ON(ATTEMPT_PLANNED) | ON(ATTEMPT_PLACED) | ON(ATTEMPT_ADOPTED) |                \
	 ON(ATTEMPT_ENDED))
#define ON_TRIALS                                                                        \
	(ON_ATTEMPTS | ON(TRIAL_PROPOSED) | ON(TRIAL_ENDED) | ON(TRIAL_CANCEL_ASKED) |   \
	 ON(TRIAL_RETRY_ASKED) | ON(RESULT_IMPORTED) | ON(TRIAL_ACCOUNTED) |             \
	 ON(MEASURE_ASKED))
#define ON_ALL                                                                           \
	(ON_TRIALS | ON(STUDY_CREATED) | ON(STUDY_AMENDED) | ON(STUDY_MOVED) |           \
	 ON(TIME_NOTED) | ON(ACCOUNTING_FIXED) | ON(RECORD_LOST))
#define ON_ASKED                                                                         \
	(ON(STUDY_CREATED) | ON(STUDY_AMENDED) | ON(STUDY_MOVED) | ON(TRIAL_PROPOSED) |  \
	 ON(TRIAL_CANCEL_ASKED) | ON(TRIAL_RETRY_ASKED) | ON(RESULT_IMPORTED) |          \
	 ON(MEASURE_ASKED))

/* Names are stored: never change one, nor the kind of one. */
const struct dp__field dp__event_fields[] = {
	{ ROW(dp_event, name, "name", DP__STR), .types = ON(STUDY_CREATED) | ON(RESULT_IMPORTED) },
	{ ROW(dp_event, text, "text", DP__STR), .types = ON_FILES },
	{ ROW(dp_event, path, "path", DP__STR), .types = ON_FILES },
	{ ROW(dp_event, dir, "dir", DP__STR), .types = ON_FILES },
	{ ROW(dp_event, secret, "secret", DP__STR), .types = ON(STUDY_CREATED), .hidden = true },
	{ ROW(dp_event, seeds, "seeds", DP__STR), .types = ON(STUDY_CREATED) },
	{ ROW(dp_event, files, "files", DP__NAMES), .types = ON(STUDY_CREATED), LENGTH(nfiles) },
	{ ROW(dp_event, evaluations, "evaluations", DP__F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, parallel, "parallel", DP__F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, priority, "priority", DP__F64), .types = ON(STUDY_AMENDED), .absent = NAN },
	{ ROW(dp_event, changes, "changes", DP__NAMES), .types = ON(STUDY_AMENDED), LENGTH(nchanges) },
	{ ROW(dp_event, trial, "trial", DP__U32), .types = ON_TRIALS },
	{ ROW(dp_event, run, "run", DP__RUN), .types = ON_ATTEMPTS },
	{ ROW(dp_event, attempt, "attempt", DP__U32), .types = ON_ATTEMPTS },
	{ ROW(dp_event, slot, "slot", DP__SLOT), .types = ON(ATTEMPT_PLANNED) },
	{ ROW(dp_event, place, "place", DP__STR), .types = ON(ATTEMPT_PLACED) },
	{ ROW(dp_event, state, "state", DP__STR), .types = ON(STUDY_MOVED) | ON(TRIAL_ENDED) },
	{ ROW(dp_event, end, "end", DP__WORD), .types = ON(ATTEMPT_ENDED), .words = end_words },
	{ ROW(dp_event, counted, "counted", DP__FLAG), .types = ON(STUDY_MOVED) | ON(ATTEMPT_ENDED) | ON(TIME_NOTED) },
	{ ROW(dp_event, unbegun, "unbegun", DP__FLAG), .types = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, reason, "reason", DP__STR), .types = ON_ALL },
	{ ROW(dp_event, by, "by", DP__STR), .types = ON_ASKED },
	{ ROW(dp_event, source, "source", DP__STR), .types = ON(TRIAL_PROPOSED) | ON(MEASURE_ASKED) },
	{ ROW(dp_event, basis, "basis", DP__U32), .types = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, sought, "sought", DP__F64), .types = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, params, "params", DP__F64S), .types = ON(TRIAL_PROPOSED) | ON(RESULT_IMPORTED) | ON(MEASURE_ASKED), LENGTH(nparams) },
	{ ROW(dp_event, of, "of", DP__F64), .types = ON(MEASURE_ASKED), .absent = NAN },
	{ ROW(dp_event, of_at, "of_at", DP__F64), .types = ON(MEASURE_ASKED), .absent = NAN },
	{ ROW(dp_event, asked, "asked", DP__U32), .types = ON(MEASURE_ASKED) },
	{ ROW(dp_event, exit, "exit", DP__MAP), .types = ON(ATTEMPT_ENDED), .map = exit_fields },
	{ ROW(dp_event, runs, "runs", DP__U32S), .types = ON(ATTEMPT_ENDED), LENGTH(nruns) },
	{ ROW(dp_event, metric_names, "names", DP__NAMES), .types = ON(ATTEMPT_ENDED), LENGTH(nmetrics), .hidden = true },
	{ ROW(dp_event, metrics, "metrics", DP__MATRIX), .types = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, waypoints, "at", DP__F64S), .types = ON(ATTEMPT_ENDED), LENGTH(nwaypoints) },
	{ ROW(dp_event, ways, "ways", DP__F64S), .types = ON(ATTEMPT_ENDED), LENGTH(nways) },
	{ ROW(dp_event, way_privacy, "epsilons", DP__F64S), .types = ON(ATTEMPT_ENDED), LENGTH(nway_privacy) },
	{ ROW(dp_event, declared, "declared", DP__MAP), .types = ON(ATTEMPT_ENDED), .map = declared_fields },
	{ ROW(dp_event, sha256, "sha256", DP__STR), .types = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, objectives, "objectives", DP__F64S), .types = ON(TRIAL_PROPOSED) | ON(TRIAL_ENDED) | ON(RESULT_IMPORTED) | ON(TRIAL_ACCOUNTED) | ON(MEASURE_ASKED), LENGTH(nobjectives) },
	{ ROW(dp_event, renyi, "renyi", DP__F64S), .types = ON(TRIAL_PROPOSED) | ON(MEASURE_ASKED), LENGTH(nrenyi) },
	{ ROW(dp_event, orders, "orders", DP__F64S), .types = ON(ACCOUNTING_FIXED), LENGTH(norders) },
	{ ROW(dp_event, weights, "weights", DP__F64S), .types = ON(ACCOUNTING_FIXED), LENGTH(nweights) },
	{ ROW(dp_event, filter, "filter", DP__MAP), .types = ON(ACCOUNTING_FIXED), .map = filter_fields },
	{ 0 },
};
/* clang-format on */

_Static_assert(DP_COUNT(dp__event_fields) <= 65, "event_read.c marks fields in 64 bits");

const char *dp_event_name(enum dp_event_type t)
{
	switch (t) {
#define X(name, number, text)                                                                      \
	case DP_EV_##name:                                                                         \
		return text;
		DP_EVENTS(X)
#undef X
	}
	return "unknown";
}

bool dp__event_known(uint64_t type)
{
	return type < 32 && (ON_ALL >> type & 1);
}

/* ---- access to a field by its row; memcpy keeps the compiler's aliasing rules ---- */

void dp__field_load(const void *base, size_t at, void *to, size_t size)
{
	memcpy(to, (const char *)base + at, size);
}

void dp__field_store(void *base, size_t at, const void *from, size_t size)
{
	memcpy((char *)base + at, from, size);
}

uint32_t dp__field_u32(const void *base, size_t at)
{
	uint32_t v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

double dp__field_f64(const void *base, size_t at)
{
	double v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

const void *dp__field_ptr(const void *base, size_t at)
{
	const void *v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

uint64_t dp__field_length(const struct dp__field *f, const void *base)
{
	const struct dp_event *e = base;

	if (f->kind == DP__MATRIX)
		return (uint64_t)e->nruns * e->nmetrics;
	return dp__field_u32(base, f->aux);
}

static bool field_same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

bool dp__field_absent(const struct dp__field *f, const void *base)
{
	uint64_t wide;
	bool flag;

	switch (f->kind) {
	case DP__STR:
		return dp__field_ptr(base, f->at) == NULL;
	case DP__TEXT:
		return ((const char *)base)[f->at] == '\0';
	case DP__U32:
	case DP__I32:
	case DP__RUN:
	case DP__SLOT:
	case DP__WORD:
		return dp__field_u32(base, f->at) == 0;
	case DP__U64:
		dp__field_load(base, f->at, &wide, sizeof wide);
		return wide == 0;
	case DP__F64:
		return field_same_bits(dp__field_f64(base, f->at), f->absent);
	case DP__FLAG:
		dp__field_load(base, f->at, &flag, sizeof flag);
		return !flag;
	case DP__F64S:
	case DP__U32S:
	case DP__NAMES:
	case DP__MATRIX:
		return dp__field_length(f, base) == 0;
	case DP__MAP:
		for (const struct dp__field *s = f->map; s->name; s++)
			if (!dp__field_absent(s, (const char *)base + f->at))
				return false;
		return true;
	}
	return true;
}
