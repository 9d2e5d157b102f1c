/* event_fields.c - the types of events and their fields: one table, from which writing, reading
 * and dumping all come. */
#include "journal/codec/event_internal.h"

#include <math.h>
#include <string.h>

#define ROW(s, member, text, k)                                                                    \
	.name = text, .kind = k, .name_len = sizeof(text) - 1, .offset = offsetof(struct s, member)
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
	DP_END_CLASSES(X)
#undef X
	NULL,
};

static const struct dp__field exit_fields[] = {
	{ ROW(dp_exit_record, kind, "kind", DP__FIELD_ENUM), .enum_names = exit_words },
	{ ROW(dp_exit_record, value, "value", DP__FIELD_I32) },
	{ ROW(dp_exit_record, exec_errno, "exec", DP__FIELD_CHARS), .aux = sizeof ((struct dp_exit_record *)0)->exec_errno },
	{ ROW(dp_exit_record, start_seconds, "start", DP__FIELD_F64) },
	{ ROW(dp_exit_record, end_seconds, "end", DP__FIELD_F64) },
	{ ROW(dp_exit_record, cpu_seconds, "cpu", DP__FIELD_F64) },
	{ ROW(dp_exit_record, peak_memory, "memory", DP__FIELD_U64) },
	{ ROW(dp_exit_record, stdout_bytes, "stdout", DP__FIELD_U64) },
	{ ROW(dp_exit_record, stderr_bytes, "stderr", DP__FIELD_U64) },
	{ 0 },
};

static const struct dp__field declared_fields[] = {
	{ ROW(dp_declaration, sampling, "sampling", DP__FIELD_STR) },
	{ ROW(dp_declaration, records, "records", DP__FIELD_F64), .absent_value = NAN },
	{ ROW(dp_declaration, lot, "lot", DP__FIELD_F64), .absent_value = NAN },
	{ ROW(dp_declaration, steps, "steps", DP__FIELD_F64), .absent_value = NAN },
	{ ROW(dp_declaration, noise_over_clip, "noise", DP__FIELD_F64), .absent_value = NAN },
	{ 0 },
};

static const struct dp__field filter_fields[] = {
	{ ROW(dp_filter, epsilon, "epsilon", DP__FIELD_F64) },
	{ ROW(dp_filter, delta, "delta", DP__FIELD_F64) },
	{ ROW(dp_filter, order, "order", DP__FIELD_F64) },
	{ ROW(dp_filter, limit, "limit", DP__FIELD_F64) },
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
	{ ROW(dp_event, name, "name", DP__FIELD_STR), .type_mask = ON(STUDY_CREATED) | ON(RESULT_IMPORTED) },
	{ ROW(dp_event, text, "text", DP__FIELD_STR), .type_mask = ON_FILES },
	{ ROW(dp_event, path, "path", DP__FIELD_STR), .type_mask = ON_FILES },
	{ ROW(dp_event, dir, "dir", DP__FIELD_STR), .type_mask = ON_FILES },
	{ ROW(dp_event, secret, "secret", DP__FIELD_STR), .type_mask = ON(STUDY_CREATED), .is_hidden = true },
	{ ROW(dp_event, seeds, "seeds", DP__FIELD_STR), .type_mask = ON(STUDY_CREATED) },
	{ ROW(dp_event, files, "files", DP__FIELD_STR_ARRAY), .type_mask = ON(STUDY_CREATED), LENGTH(nfiles) },
	{ ROW(dp_event, evaluations, "evaluations", DP__FIELD_F64), .type_mask = ON(STUDY_AMENDED), .absent_value = NAN },
	{ ROW(dp_event, parallel, "parallel", DP__FIELD_F64), .type_mask = ON(STUDY_AMENDED), .absent_value = NAN },
	{ ROW(dp_event, priority, "priority", DP__FIELD_F64), .type_mask = ON(STUDY_AMENDED), .absent_value = NAN },
	{ ROW(dp_event, changes, "changes", DP__FIELD_STR_ARRAY), .type_mask = ON(STUDY_AMENDED), LENGTH(nchanges) },
	{ ROW(dp_event, trial, "trial", DP__FIELD_U32), .type_mask = ON_TRIALS },
	{ ROW(dp_event, run, "run", DP__FIELD_RUN), .type_mask = ON_ATTEMPTS },
	{ ROW(dp_event, attempt, "attempt", DP__FIELD_U32), .type_mask = ON_ATTEMPTS },
	{ ROW(dp_event, slot_plus_one, "slot", DP__FIELD_SLOT), .type_mask = ON(ATTEMPT_PLANNED) },
	{ ROW(dp_event, job_id, "place", DP__FIELD_STR), .type_mask = ON(ATTEMPT_PLACED) },
	{ ROW(dp_event, state, "state", DP__FIELD_STR), .type_mask = ON(STUDY_MOVED) | ON(TRIAL_ENDED) },
	{ ROW(dp_event, end_class, "end", DP__FIELD_ENUM), .type_mask = ON(ATTEMPT_ENDED), .enum_names = end_words },
	{ ROW(dp_event, charged, "counted", DP__FIELD_BOOL), .type_mask = ON(STUDY_MOVED) | ON(ATTEMPT_ENDED) | ON(TIME_NOTED) },
	{ ROW(dp_event, never_ran, "unbegun", DP__FIELD_BOOL), .type_mask = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, reason, "reason", DP__FIELD_STR), .type_mask = ON_ALL },
	{ ROW(dp_event, requested_by, "by", DP__FIELD_STR), .type_mask = ON_ASKED },
	{ ROW(dp_event, source, "source", DP__FIELD_STR), .type_mask = ON(TRIAL_PROPOSED) | ON(MEASURE_ASKED) },
	{ ROW(dp_event, conditioned_on, "basis", DP__FIELD_U32), .type_mask = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, proposal_seconds, "sought", DP__FIELD_F64), .type_mask = ON(TRIAL_PROPOSED) },
	{ ROW(dp_event, params, "params", DP__FIELD_F64_ARRAY), .type_mask = ON(TRIAL_PROPOSED) | ON(RESULT_IMPORTED) | ON(MEASURE_ASKED), LENGTH(nparams) },
	{ ROW(dp_event, reeval_trial, "of", DP__FIELD_F64), .type_mask = ON(MEASURE_ASKED), .absent_value = NAN },
	{ ROW(dp_event, reeval_checkpoint, "of_at", DP__FIELD_F64), .type_mask = ON(MEASURE_ASKED), .absent_value = NAN },
	{ ROW(dp_event, reeval_runs, "asked", DP__FIELD_U32), .type_mask = ON(MEASURE_ASKED) },
	{ ROW(dp_event, exit, "exit", DP__FIELD_STRUCT), .type_mask = ON(ATTEMPT_ENDED), .subfields = exit_fields },
	{ ROW(dp_event, runs, "runs", DP__FIELD_U32_ARRAY), .type_mask = ON(ATTEMPT_ENDED), LENGTH(nruns) },
	{ ROW(dp_event, metric_names, "names", DP__FIELD_STR_ARRAY), .type_mask = ON(ATTEMPT_ENDED), LENGTH(nmetrics), .is_hidden = true },
	{ ROW(dp_event, metrics, "metrics", DP__FIELD_F64_MATRIX), .type_mask = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, checkpoints, "at", DP__FIELD_F64_ARRAY), .type_mask = ON(ATTEMPT_ENDED), LENGTH(ncheckpoints) },
	{ ROW(dp_event, checkpoint_metrics, "ways", DP__FIELD_F64_ARRAY), .type_mask = ON(ATTEMPT_ENDED), LENGTH(ncheckpoint_metrics) },
	{ ROW(dp_event, checkpoint_epsilons, "epsilons", DP__FIELD_F64_ARRAY), .type_mask = ON(ATTEMPT_ENDED), LENGTH(ncheckpoint_epsilons) },
	{ ROW(dp_event, declaration, "declared", DP__FIELD_STRUCT), .type_mask = ON(ATTEMPT_ENDED), .subfields = declared_fields },
	{ ROW(dp_event, result_sha256, "sha256", DP__FIELD_STR), .type_mask = ON(ATTEMPT_ENDED) },
	{ ROW(dp_event, objectives, "objectives", DP__FIELD_F64_ARRAY), .type_mask = ON(TRIAL_PROPOSED) | ON(TRIAL_ENDED) | ON(RESULT_IMPORTED) | ON(TRIAL_ACCOUNTED) | ON(MEASURE_ASKED), LENGTH(nobjectives) },
	{ ROW(dp_event, renyi, "renyi", DP__FIELD_F64_ARRAY), .type_mask = ON(TRIAL_PROPOSED) | ON(MEASURE_ASKED), LENGTH(nrenyi) },
	{ ROW(dp_event, orders, "orders", DP__FIELD_F64_ARRAY), .type_mask = ON(ACCOUNTING_FIXED), LENGTH(norders) },
	{ ROW(dp_event, weights, "weights", DP__FIELD_F64_ARRAY), .type_mask = ON(ACCOUNTING_FIXED), LENGTH(nweights) },
	{ ROW(dp_event, filter, "filter", DP__FIELD_STRUCT), .type_mask = ON(ACCOUNTING_FIXED), .subfields = filter_fields },
	{ 0 },
};
/* clang-format on */

_Static_assert(DP_COUNT(dp__event_fields) <= 65, "event_read.c marks fields in 64 bits");

const char *dp_event_type_name(enum dp_event_type t)
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

bool dp__event_type_is_known(uint64_t type)
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

uint32_t dp__field_load_u32(const void *base, size_t at)
{
	uint32_t v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

double dp__field_load_f64(const void *base, size_t at)
{
	double v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

const void *dp__field_load_ptr(const void *base, size_t at)
{
	const void *v;

	dp__field_load(base, at, &v, sizeof v);
	return v;
}

uint64_t dp__field_array_length(const struct dp__field *f, const void *base)
{
	const struct dp_event *e = base;

	if (f->kind == DP__FIELD_F64_MATRIX)
		return (uint64_t)e->nruns * e->nmetrics;
	return dp__field_load_u32(base, f->aux);
}

static bool has_same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

bool dp__field_is_absent(const struct dp__field *f, const void *base)
{
	uint64_t wide;
	bool flag;

	switch (f->kind) {
	case DP__FIELD_STR:
		return dp__field_load_ptr(base, f->offset) == NULL;
	case DP__FIELD_CHARS:
		return ((const char *)base)[f->offset] == '\0';
	case DP__FIELD_U32:
	case DP__FIELD_I32:
	case DP__FIELD_RUN:
	case DP__FIELD_SLOT:
	case DP__FIELD_ENUM:
		return dp__field_load_u32(base, f->offset) == 0;
	case DP__FIELD_U64:
		dp__field_load(base, f->offset, &wide, sizeof wide);
		return wide == 0;
	case DP__FIELD_F64:
		return has_same_bits(dp__field_load_f64(base, f->offset), f->absent_value);
	case DP__FIELD_BOOL:
		dp__field_load(base, f->offset, &flag, sizeof flag);
		return !flag;
	case DP__FIELD_F64_ARRAY:
	case DP__FIELD_U32_ARRAY:
	case DP__FIELD_STR_ARRAY:
	case DP__FIELD_F64_MATRIX:
		return dp__field_array_length(f, base) == 0;
	case DP__FIELD_STRUCT:
		for (const struct dp__field *s = f->subfields; s->name; s++)
			if (!dp__field_is_absent(s, (const char *)base + f->offset))
				return false;
		return true;
	}
	return true;
}
