/* event.h - one record of the journal in memory, and its stored form. */
#ifndef DP_JOURNAL_CODEC_EVENT_H
#define DP_JOURNAL_CODEC_EVENT_H
#include "base/base.h"
#include "base/buf.h"
#include "study/study.h"
#include "protocol/trainer/trainer_protocol.h"
#include "privacy/composition/adaptive_composition.h"

#include <jansson.h>

/* Every type of record: number as stored, name as dumped. Numbers are never
 * reused. */
#define DP_EVENTS(X)                                                                               \
	X(STUDY_CREATED, 1, "study-created")                                                       \
	X(STUDY_AMENDED, 2, "study-amended")                                                       \
	X(STUDY_MOVED, 3, "study-moved")                                                           \
	X(TRIAL_PROPOSED, 4, "trial-proposed")                                                     \
	X(ATTEMPT_PLANNED, 5, "attempt-planned")                                                   \
	X(ATTEMPT_ADOPTED, 6, "attempt-adopted")                                                   \
	X(ATTEMPT_ENDED, 7, "attempt-ended")                                                       \
	X(TRIAL_ENDED, 8, "trial-ended")                                                           \
	X(TRIAL_CANCEL_ASKED, 9, "trial-cancel-asked")                                             \
	X(TRIAL_RETRY_ASKED, 10, "trial-retry-asked")                                              \
	X(RESULT_IMPORTED, 11, "result-imported")                                                  \
	X(TRIAL_ACCOUNTED, 12, "trial-accounted")                                                  \
	X(TIME_NOTED, 13, "time-noted")                                                            \
	X(ACCOUNTING_FIXED, 14, "accounting-fixed")                                                \
	X(MEASURE_ASKED, 15, "measure-asked")                                                      \
	X(ATTEMPT_PLACED, 16, "attempt-placed")                                                    \
	X(RECORD_LOST, 31, "record-lost")

enum dp_event_type {
#define X(name, number, text) DP_EV_##name = number,
	DP_EVENTS(X)
#undef X
};

enum {
	DP_EVENT_VERSION = 1
}; /* of every record written today */
enum {
	DP_RUN_ALL = -1
}; /* an attempt that makes all runs of its trial */

/* What a trial is for. Records, requests and directories name trials of both kinds by one
 * number: those that re-evaluate a point count from DP_REEVAL_TRIAL_FIRST on. People see
 * m0, m1, ... */
enum dp_trial_kind {
	DP_TRIAL_SEARCH,
	DP_TRIAL_REEVAL
};
#define DP_REEVAL_TRIAL_FIRST UINT32_C(1000000000)

static inline enum dp_trial_kind dp_trial_number_kind(uint32_t number)
{
	return number < DP_REEVAL_TRIAL_FIRST ? DP_TRIAL_SEARCH : DP_TRIAL_REEVAL;
}

/* Its number among those of its kind, and the other way. */
static inline uint32_t dp_trial_number_index(uint32_t number)
{
	return number < DP_REEVAL_TRIAL_FIRST ? number : number - DP_REEVAL_TRIAL_FIRST;
}

static inline uint32_t dp_trial_number_join(enum dp_trial_kind kind, uint32_t index)
{
	return index + (kind == DP_TRIAL_REEVAL ? DP_REEVAL_TRIAL_FIRST : 0);
}

/* A point to be evaluated. Arrays: see struct dp_event. */
struct dp_event_point {
	const char *source; /* "random", "dpareto", ...; of a measure-asked: "verify", "end", ... */
	const double *params; /* (nparams) one per parameter of the study, see study.h */
	uint32_t nparams;
	/* (nprivacy) epsilons, NaN for objectives that are no epsilons; none if an accountant
	 * refused the point, which `reason` explains */
	const double *privacy;
	uint32_t nprivacy;
	/* with search.budget one number: the Renyi divergence of one run at the filter's order */
	const double *renyi;
	uint32_t nrenyi;
};

struct dp_ev_study_created {
	const char *name, *text, *path, *dir; /* dir: directory of the study file */
	const char *secret;                   /* base/secret.h; NULL: the study needs none */
	const char *seeds;                    /* "fixed", "secret"; NULL: before version 0.3 */
	const char *const *files;             /* (nfiles) as of dp_study_resolve_files() */
	uint32_t nfiles;
	/* Never stored: `text` as parsed already, which the reducer takes over. NULL: it parses
	 * the text itself, as it does in a replay. */
	struct dp_study *parsed_study;
};

struct dp_ev_study_amended {
	double evaluations, parallel, priority; /* NaN: unchanged */
	const char *const *changes;             /* (nchanges) other keys: "trainer.timeout=30s" */
	uint32_t nchanges;
	const char *text, *path, *dir; /* of an edited study file; NULL: unchanged */
};

struct dp_ev_study_moved {
	const char *state;
	bool by_failures;
};

struct dp_ev_trial_proposed {
	struct dp_event_point point;
	uint32_t conditioned_on; /* the proposal knew the study's records before this seq */
	double proposal_seconds; /* finding it took; 0: unknown */
};

/* The trial of the head is the first of the re-evaluation. Without runs: search.remeasure has
 * asked for the whole front, or `reason` says which part it left out. */
struct dp_ev_measure_asked {
	struct dp_event_point point;
	double result_trial, result_checkpoint; /* the result; NaN: none, or the trial's own */
	uint32_t runs;
};

struct dp_ev_attempt_planned {
	uint32_t slot_plus_one; /* of DPARETO_SLOT; 0: it has none */
};

struct dp_ev_attempt_placed {
	const char *job_id; /* of Slurm */
};

struct dp_ev_attempt_ended {
	enum dp_end_class end_class;
	bool charged;   /* false: says nothing about the trial (never started, daemon stopped),
			 * so it costs no retry */
	bool never_ran; /* certainly no trainer ran, so it cost no privacy */
	struct dp_exit_record exit;
	const uint32_t *runs; /* (nruns) run numbers that were asked for */
	uint32_t nruns;
	const char *const *metric_names; /* (nmetrics) */
	uint32_t nmetrics;
	const double *metrics; /* (nruns x nmetrics); NaN also where a run reported none */
	/* the checkpoints that it reached, where they count: their values, the metrics there
	 * (ncheckpoints x nruns x nmetrics; NaN as above), and the epsilons there (ncheckpoints x
	 * privacy objectives; none if another attempt has recorded them) */
	const double *checkpoints, *checkpoint_metrics, *checkpoint_epsilons;
	uint32_t ncheckpoints, ncheckpoint_metrics, ncheckpoint_epsilons;
	struct dp_declaration declaration;
	const char *result_sha256; /* of the result file as it was read, in hexadecimal */
};

struct dp_ev_trial_ended {
	const char *status;       /* "ok", "diverged", "failed", "cancelled" */
	const double *objectives; /* (nobjectives), natural units; NaN: not known */
	uint32_t nobjectives;
};

struct dp_ev_result_imported {
	const char *study_name; /* where it comes from; the trial of the head is its number there */
	const double *params, *objectives;
	uint32_t nparams, nobjectives;
};

struct dp_ev_trial_accounted {
	const double *privacy; /* (nprivacy) as in struct dp_event_point */
	uint32_t nprivacy;
};

struct dp_ev_time_noted {
	bool daemon_ran; /* since the record before */
};

struct dp_ev_accounting_fixed {
	const double *orders, *weights; /* of the odometer */
	uint32_t norders, nweights;
	struct dp_filter filter; /* of search.budget; all 0: none */
};

/* One record in memory: a head, and what its type adds. Strings and arrays belong to the caller
 * when encoding; a decoded event points into its own arena and lives until dp_event_clear(). */
struct dp_event {
	enum dp_event_type type;
	uint32_t study;  /* key, part one; from 1 */
	uint32_t seq;    /* key, part two; from 0 within the study */
	int64_t time_us; /* microseconds since 1970 */

	uint32_t trial;   /* that it is about */
	int32_t run;      /* attempt-*: DP_RUN_ALL or the one run of this process */
	uint32_t attempt; /* attempt-*: its number */
	const char *reason;
	const char
		*requested_by; /* who, and from where; NULL: the daemon decided. For people only */

	union {
		struct dp_ev_attempt_ended attempt_ended; /* first, since it is the largest: an
							   * initialiser without any clears all */
		struct dp_ev_study_created study_created;
		struct dp_ev_study_amended study_amended;
		struct dp_ev_study_moved study_moved;
		struct dp_ev_trial_proposed trial_proposed;
		struct dp_ev_measure_asked measure_asked;
		struct dp_ev_attempt_planned attempt_planned;
		struct dp_ev_attempt_placed attempt_placed;
		struct dp_ev_trial_ended trial_ended;
		struct dp_ev_result_imported result_imported;
		struct dp_ev_trial_accounted trial_accounted;
		struct dp_ev_time_noted time_noted;
		struct dp_ev_accounting_fixed accounting_fixed;
	};

	void *arena; /* of a decoded event */
};

const char *dp_event_type_name(enum dp_event_type t);
/* The stored form: MessagePack [type, version, time, {fields}] and a CRC-32, in place
 * of what `out` held. DP_E_INVALID for a mistake of the program. */
DP_MUSTCHECK int dp_event_encode(const struct dp_event *e, struct dp_buf *out, struct dp_err *err);
/* DP_E_CORRUPT with a reason if the bytes are damaged, cut short, or have a field of the
 * wrong type; DP_E_PROTOCOL if they are sound, but of a type or version from the future.
 * study and seq are the
 * key's business: the caller sets them and they are left alone. `out` must be zeroed
 * or a former result, whose memory is used again; after an error it holds none. */
DP_MUSTCHECK int dp_event_decode(const void *bytes, size_t len, struct dp_event *out,
				 struct dp_err *err);
void dp_event_clear(struct dp_event *e);
/* One JSON object, for dumps. */
json_t *dp_event_to_json(const struct dp_event *e);

#endif
