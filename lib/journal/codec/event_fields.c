/* event_fields.c - the table of event fields for encoding, decoding and dumping. */
#include "journal/codec/event_internal.h"
#include "privacy/composition/adaptive_composition.h"

#include <math.h>
#include <string.h>

#define ROW(s, member, text, k)                                                                    \
	.name = text, .kind = DP__FIELD_##k, .name_len = sizeof(text) - 1,                         \
	.offset = offsetof(struct s, member)
#define FIELD(member, text, kind) ROW(dp_event, member, text, kind)
#define LENGTH(member)            .aux = offsetof(struct dp_event, member)

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
	{ ROW(dp_exit_record, kind, "kind", ENUM), .enum_names = exit_words },
	{ ROW(dp_exit_record, value, "value", I32) },
	{ ROW(dp_exit_record, exec_errno, "exec", CHARS), .aux = sizeof ((struct dp_exit_record *)0)->exec_errno },
	{ ROW(dp_exit_record, start_seconds, "start", F64) },
	{ ROW(dp_exit_record, end_seconds, "end", F64) },
	{ ROW(dp_exit_record, cpu_seconds, "cpu", F64) },
	{ ROW(dp_exit_record, peak_memory, "memory", U64) },
	{ ROW(dp_exit_record, stdout_bytes, "stdout", U64) },
	{ ROW(dp_exit_record, stderr_bytes, "stderr", U64) },
	{ 0 },
};

static const struct dp__field declared_fields[] = {
	{ ROW(dp_declaration, sampling, "sampling", STR) },
	{ ROW(dp_declaration, records, "records", F64), .absent_value = NAN },
	{ ROW(dp_declaration, lot, "lot", F64), .absent_value = NAN },
	{ ROW(dp_declaration, steps, "steps", F64), .absent_value = NAN },
	{ ROW(dp_declaration, noise_over_clip, "noise", F64), .absent_value = NAN },
	{ 0 },
};

static const struct dp__field filter_fields[] = {
	{ ROW(dp_filter, epsilon, "epsilon", F64) },
	{ ROW(dp_filter, delta, "delta", F64) },
	{ ROW(dp_filter, order, "order", F64) },
	{ ROW(dp_filter, limit, "limit", F64) },
	{ 0 },
};

#define TRIAL   { FIELD(trial, "trial", U32) }
#define RUN     { FIELD(run, "run", RUN) }
#define ATTEMPT { FIELD(attempt, "attempt", U32) }
#define REASON  { FIELD(reason, "reason", STR) }
#define BY      { FIELD(requested_by, "by", STR) }
#define END     { 0 }

/* Records hold their fields in this order. Names are stored: never change a name or its kind. */

static const struct dp__field study_created[] = {
	{ FIELD(study_created.name, "name", STR) },
	{ FIELD(study_created.text, "text", STR) },
	{ FIELD(study_created.path, "path", STR) },
	{ FIELD(study_created.dir, "dir", STR) },
	{ FIELD(study_created.secret, "secret", STR), .is_hidden = true },
	{ FIELD(study_created.seeds, "seeds", STR) },
	{ FIELD(study_created.files, "files", STR_ARRAY), LENGTH(study_created.nfiles) },
	REASON, BY, END
};

static const struct dp__field study_amended[] = {
	{ FIELD(study_amended.text, "text", STR) },
	{ FIELD(study_amended.path, "path", STR) },
	{ FIELD(study_amended.dir, "dir", STR) },
	{ FIELD(study_amended.evaluations, "evaluations", F64), .absent_value = NAN },
	{ FIELD(study_amended.parallel, "parallel", F64), .absent_value = NAN },
	{ FIELD(study_amended.priority, "priority", F64), .absent_value = NAN },
	{ FIELD(study_amended.changes, "changes", STR_ARRAY), LENGTH(study_amended.nchanges) },
	REASON, BY, END
};

static const struct dp__field study_moved[] = {
	{ FIELD(study_moved.state, "state", STR) },
	{ FIELD(study_moved.by_failures, "counted", BOOL) },
	REASON, BY, END
};

static const struct dp__field trial_proposed[] = {
	TRIAL, REASON, BY,
	{ FIELD(trial_proposed.point.source, "source", STR) },
	{ FIELD(trial_proposed.conditioned_on, "basis", U32) },
	{ FIELD(trial_proposed.proposal_seconds, "sought", F64) },
	{ FIELD(trial_proposed.point.params, "params", F64_ARRAY), LENGTH(trial_proposed.point.nparams) },
	{ FIELD(trial_proposed.point.privacy, "objectives", F64_ARRAY), LENGTH(trial_proposed.point.nprivacy) },
	{ FIELD(trial_proposed.point.renyi, "renyi", F64_ARRAY), LENGTH(trial_proposed.point.nrenyi) },
	END
};

static const struct dp__field measure_asked[] = {
	TRIAL, REASON, BY,
	{ FIELD(measure_asked.point.source, "source", STR) },
	{ FIELD(measure_asked.point.params, "params", F64_ARRAY), LENGTH(measure_asked.point.nparams) },
	{ FIELD(measure_asked.result_trial, "of", F64), .absent_value = NAN },
	{ FIELD(measure_asked.result_checkpoint, "of_at", F64), .absent_value = NAN },
	{ FIELD(measure_asked.runs, "asked", U32) },
	{ FIELD(measure_asked.point.privacy, "objectives", F64_ARRAY), LENGTH(measure_asked.point.nprivacy) },
	{ FIELD(measure_asked.point.renyi, "renyi", F64_ARRAY), LENGTH(measure_asked.point.nrenyi) },
	END
};

static const struct dp__field attempt_planned[] = {
	TRIAL, RUN, ATTEMPT,
	{ FIELD(attempt_planned.slot_plus_one, "slot", SLOT) },
	REASON, END
};

static const struct dp__field attempt_placed[] = {
	TRIAL, RUN, ATTEMPT,
	{ FIELD(attempt_placed.job_id, "place", STR) },
	REASON, END
};

static const struct dp__field attempt_adopted[] = { TRIAL, RUN, ATTEMPT, REASON, END };

static const struct dp__field attempt_ended[] = {
	TRIAL, RUN, ATTEMPT,
	{ FIELD(attempt_ended.end_class, "end", ENUM), .enum_names = end_words },
	{ FIELD(attempt_ended.charged, "counted", BOOL) },
	{ FIELD(attempt_ended.never_ran, "unbegun", BOOL) },
	REASON,
	{ FIELD(attempt_ended.exit, "exit", STRUCT), .subfields = exit_fields },
	{ FIELD(attempt_ended.runs, "runs", U32_ARRAY), LENGTH(attempt_ended.nruns) },
	{ FIELD(attempt_ended.metric_names, "names", STR_ARRAY), LENGTH(attempt_ended.nmetrics), .is_hidden = true },
	{ FIELD(attempt_ended.metrics, "metrics", F64_MATRIX) },
	{ FIELD(attempt_ended.checkpoints, "at", F64_ARRAY), LENGTH(attempt_ended.ncheckpoints) },
	{ FIELD(attempt_ended.checkpoint_metrics, "ways", F64_ARRAY), LENGTH(attempt_ended.ncheckpoint_metrics) },
	{ FIELD(attempt_ended.checkpoint_epsilons, "epsilons", F64_ARRAY), LENGTH(attempt_ended.ncheckpoint_epsilons) },
	{ FIELD(attempt_ended.declaration, "declared", STRUCT), .subfields = declared_fields },
	{ FIELD(attempt_ended.result_sha256, "sha256", STR) },
	END
};

static const struct dp__field trial_ended[] = {
	TRIAL,
	{ FIELD(trial_ended.status, "state", STR) },
	REASON,
	{ FIELD(trial_ended.objectives, "objectives", F64_ARRAY), LENGTH(trial_ended.nobjectives) },
	END
};

static const struct dp__field trial_requested[] = { TRIAL, REASON, BY, END };

static const struct dp__field result_imported[] = {
	{ FIELD(result_imported.study_name, "name", STR) },
	TRIAL, REASON, BY,
	{ FIELD(result_imported.params, "params", F64_ARRAY), LENGTH(result_imported.nparams) },
	{ FIELD(result_imported.objectives, "objectives", F64_ARRAY), LENGTH(result_imported.nobjectives) },
	END
};

static const struct dp__field trial_accounted[] = {
	TRIAL, REASON,
	{ FIELD(trial_accounted.privacy, "objectives", F64_ARRAY), LENGTH(trial_accounted.nprivacy) },
	END
};

static const struct dp__field time_noted[] = {
	{ FIELD(time_noted.daemon_ran, "counted", BOOL) },
	REASON, END
};

static const struct dp__field accounting_fixed[] = {
	REASON,
	{ FIELD(accounting_fixed.orders, "orders", F64_ARRAY), LENGTH(accounting_fixed.norders) },
	{ FIELD(accounting_fixed.weights, "weights", F64_ARRAY), LENGTH(accounting_fixed.nweights) },
	{ FIELD(accounting_fixed.filter, "filter", STRUCT), .subfields = filter_fields },
	END
};

static const struct dp__field record_lost[] = { REASON, END };

static const struct dp__field *const tables[] = {
	[DP_EV_STUDY_CREATED] = study_created,
	[DP_EV_STUDY_AMENDED] = study_amended,
	[DP_EV_STUDY_MOVED] = study_moved,
	[DP_EV_TRIAL_PROPOSED] = trial_proposed,
	[DP_EV_ATTEMPT_PLANNED] = attempt_planned,
	[DP_EV_ATTEMPT_ADOPTED] = attempt_adopted,
	[DP_EV_ATTEMPT_ENDED] = attempt_ended,
	[DP_EV_TRIAL_ENDED] = trial_ended,
	[DP_EV_TRIAL_CANCEL_ASKED] = trial_requested,
	[DP_EV_TRIAL_RETRY_ASKED] = trial_requested,
	[DP_EV_RESULT_IMPORTED] = result_imported,
	[DP_EV_TRIAL_ACCOUNTED] = trial_accounted,
	[DP_EV_TIME_NOTED] = time_noted,
	[DP_EV_ACCOUNTING_FIXED] = accounting_fixed,
	[DP_EV_MEASURE_ASKED] = measure_asked,
	[DP_EV_ATTEMPT_PLACED] = attempt_placed,
	[DP_EV_RECORD_LOST] = record_lost,
};
/* clang-format on */

_Static_assert(DP_COUNT(attempt_ended) <= 64, "event_decode.c marks fields in 64 bits");
_Static_assert(sizeof(struct dp_ev_attempt_ended) >= sizeof(struct dp_ev_measure_asked) &&
		       sizeof(struct dp_ev_attempt_ended) >= sizeof(struct dp_ev_study_created),
	       "the first member of the union in struct dp_event must be its largest");

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

const struct dp__field *dp__event_fields(uint64_t type)
{
	return type < DP_COUNT(tables) ? tables[type] : NULL;
}

/* ---- access to a field by its row; memcpy respects strict aliasing ---- */

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
	const struct dp_ev_attempt_ended *e = &((const struct dp_event *)base)->attempt_ended;

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
