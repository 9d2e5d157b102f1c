/* event.h - one journal record in memory, and its stored form. */
#ifndef DP_JOURNAL_CODEC_EVENT_H
#define DP_JOURNAL_CODEC_EVENT_H
#include "base/base.h"
#include "base/buf.h"
#include "study/study.h"
#include "protocol/trainer/trainer_protocol.h"
#include "privacy/composition/adaptive_composition.h"

#include <jansson.h>

/* Every record type: stored number, dumped name. Numbers are never reused. */
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
}; /* of every record written by this version */
enum {
	DP_RUN_ALL = -1
}; /* an attempt with all runs of its trial */

/* The purpose of a trial. Records, requests and directories name both kinds by one number:
 * re-evaluations count from DP_REEVAL_TRIAL_FIRST on. They are displayed as m0, m1, ... */
enum dp_trial_kind {
	DP_TRIAL_SEARCH,
	DP_TRIAL_REEVAL
};
#define DP_REEVAL_TRIAL_FIRST UINT32_C(1000000000)

static inline enum dp_trial_kind dp_trial_number_kind(uint32_t number)
{
	return number < DP_REEVAL_TRIAL_FIRST ? DP_TRIAL_SEARCH : DP_TRIAL_REEVAL;
}

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
	const char *source;   /* "random", "dpareto", ...; measure-asked: "verify", "end", ... */
	const double *params; /* (nparams) one per parameter of the study, see study.h */
	uint32_t nparams;
	/* (nprivacy) epsilons, NaN for other objectives; empty with a `reason` if refused. */
	const double *privacy;
	uint32_t nprivacy;
	/* With search.budget one number: the Renyi divergence of one run at the filter's order. */
	const double *renyi;
	uint32_t nrenyi;
};

struct dp_ev_study_created {
	const char *name, *text, *path, *dir; /* dir: directory of the study file */
	const char *secret;                   /* base/secret.h; NULL: not needed */
	const char *seeds;                    /* "fixed", "secret"; NULL: before version 0.3 */
	const char *const *files;             /* (nfiles) from dp_study_resolve_files() */
	uint32_t nfiles;
	/* Never stored: `text` as parsed by the submitter; the reducer takes ownership. NULL, as in
	 * a replay: the reducer parses the text. */
	struct dp_study *parsed_study;
};

struct dp_ev_study_amended {
	double evaluations, parallel, priority; /* NaN: unchanged */
	const char *const *changes; /* (nchanges) other keys, such as "trainer.timeout=30s" */
	uint32_t nchanges;
	const char *text, *path, *dir; /* of an edited study file; NULL: unchanged */
};

struct dp_ev_study_moved {
	const char *state;
	bool by_failures;
};

struct dp_ev_trial_proposed {
	struct dp_event_point point;
	uint32_t conditioned_on; /* the study's records before this seq were known */
	double proposal_seconds; /* duration; 0: unknown */
};

/* The trial in the head is the first of the re-evaluation. Without runs: search.remeasure has
 * requested the whole front, or `reason` says which part it left out. */
struct dp_ev_measure_asked {
	struct dp_event_point point;
	double result_trial, result_checkpoint; /* NaN: no result, or a trial's final one */
	uint32_t runs;
};

struct dp_ev_attempt_planned {
	uint32_t slot_plus_one; /* DPARETO_SLOT + 1; 0: no slot */
};

struct dp_ev_attempt_placed {
	const char *job_id; /* from Slurm */
};

struct dp_ev_attempt_ended {
	enum dp_end_class end_class;
	bool charged;   /* false: no fault of the trial (daemon stopped), costs no retry */
	bool never_ran; /* it is certain that no trainer ran, so it cost no privacy */
	struct dp_exit_record exit;
	const uint32_t *runs; /* (nruns) numbers of the requested runs */
	uint32_t nruns;
	const char *const *metric_names; /* (nmetrics) */
	uint32_t nmetrics;
	const double *metrics; /* (nruns x nmetrics); NaN also for a run without a value */
	/* The checkpoints that the attempt reached, if they count: their path values, the metrics
	 * there (ncheckpoints x nruns x nmetrics; NaN as above), and the epsilons there
	 * (ncheckpoints x privacy objectives; none if another attempt has recorded them). */
	const double *checkpoints, *checkpoint_metrics, *checkpoint_epsilons;
	uint32_t ncheckpoints, ncheckpoint_metrics, ncheckpoint_epsilons;
	struct dp_declaration declaration;
	const char *result_sha256; /* of the result file as it was read, in hexadecimal */
};

struct dp_ev_trial_ended {
	const char *status;       /* "ok", "diverged", "failed", "cancelled" */
	const double *objectives; /* (nobjectives), natural units; NaN: unknown */
	uint32_t nobjectives;
};

struct dp_ev_result_imported {
	const char *study_name; /* origin; the head's trial is its number there */
	const double *params, *objectives;
	uint32_t nparams, nobjectives;
};

struct dp_ev_trial_accounted {
	const double *privacy; /* (nprivacy), as in struct dp_event_point */
	uint32_t nprivacy;
};

struct dp_ev_time_noted {
	bool daemon_ran; /* since the previous record */
};

struct dp_ev_accounting_fixed {
	const double *orders, *weights; /* of the odometer */
	uint32_t norders, nweights;
	struct dp_filter filter; /* of search.budget; all 0: none */
};

/* One record in memory: a head, and the fields of its type. The caller of dp_event_encode() owns
 * strings and arrays. A decoded event points into its own arena; free it with dp_event_clear(). */
struct dp_event {
	enum dp_event_type type;
	uint32_t study;  /* first part of the key, from 1 */
	uint32_t seq;    /* second part of the key, from 0 in each study */
	int64_t time_us; /* microseconds since 1970 */

	uint32_t trial; /* the subject */
	int32_t run;    /* attempt-*: DP_RUN_ALL or the only run of this process */
	uint32_t attempt;
	const char *reason;
	const char *requested_by; /* user and host; NULL: the daemon. For display only */

	union {
		/* First because it is the largest: an initialiser without a member clears all. */
		struct dp_ev_attempt_ended attempt_ended;
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
/* Encodes as MessagePack [type, version, time, {fields}] and a CRC-32; replaces the contents of
 * `out`. DP_E_INVALID signals a bug in the caller. */
DP_MUSTCHECK int dp_event_encode(const struct dp_event *e, struct dp_buf *out, struct dp_err *err);
/* Returns DP_E_CORRUPT with a reason if the bytes are damaged, truncated, or have a field of the
 * wrong type; DP_E_PROTOCOL if they are sound but of a newer type or version. study and seq are
 * part of the key: the caller sets them, decoding leaves them alone. `out` must be zeroed or an
 * earlier result, whose memory is reused; after an error it holds none. */
DP_MUSTCHECK int dp_event_decode(const void *bytes, size_t len, struct dp_event *out,
				 struct dp_err *err);
void dp_event_clear(struct dp_event *e);
json_t *dp_event_to_json(const struct dp_event *e);

#endif
