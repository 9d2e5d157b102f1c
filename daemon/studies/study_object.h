/* study_object.h - a study in the daemon: its unjournaled fields, and how events are recorded. The
 * journaled part is in `state`, which only study_record_event() changes. A deleted study is freed
 * at the end of the turn (study_lifecycle.c), so that no callback loses it. */
#ifndef DP_DAEMON_STUDIES_STUDY_OBJECT_H
#define DP_DAEMON_STUDIES_STUDY_OBJECT_H
#include "daemon/core/change_feed.h"
#include "daemon/core/clock.h"
#include "daemon/core/commit_queue.h"
#include "daemon/core/daemon.h"
#include "daemon/studies/attempt_runner.h"
#include "policy/policy.h"
#include "state/public_view.h"

#include <stdatomic.h>

struct study {
	struct daemon *daemon;
	struct dp_study_state *state;
	struct executor *executor;

	struct study *next_changed, *next_visited;
	bool is_changed; /* in studies.changed */
	bool is_visited;
	struct dp_step next_step; /* as of the last study_apply_policy() */
	uint64_t last_served;

	struct change_entry change_entry;
	struct pending_reply *delete_requests; /* deleted once nothing uses it */

	/* NULL until needed */
	struct proposal_job *proposal_job;
	struct smoothed_front *smoothed_front;
	struct total_privacy *total_privacy;
	struct hypervolume_job *hypervolume_job;
	struct accountants *accountants;
	struct private_selection *private_selection;
	struct report_status *report_status;
	struct derived_results *derived;
	unsigned n_accounting_jobs, n_reevaluation_jobs;
	atomic_bool reevaluation_cancel;
};

/* All studies. */
struct studies {
	struct study **list; /* (n) by id */
	uint32_t n, capacity;
	uint32_t next_id;
	struct study *changed; /* to visit in this turn */
	struct change_feed change_feed;
	uint64_t n_launches; /* for fairness */
	/* hook of notify: called for each record */
	void (*on_record)(struct study *study, const struct dp_event *e);
	unsigned n_hypervolume_jobs;       /* at most one */
	unsigned n_accountant_users;       /* whose external accountants are in use for points */
	atomic_uint n_accountant_programs; /* running; counted by lib/privacy/external */
};

void studies_init(struct daemon *d);
/* Makes the object for a study of the state. */
struct study *study_new(struct daemon *d, struct dp_study_state *s);
void study_unlist(struct study *study);
struct study *study_by_id(const struct daemon *d, uint32_t id);
/* By name, number, or an unambiguous prefix of a name. */
DP_MUSTCHECK int study_find(const struct daemon *d, const char *selector, struct study **out,
			    struct dp_err *err);

struct dp_public_state study_public_view(const struct study *study);
/* Its directory; the caller frees it. */
char *study_folder(const struct study *study);

/* Fills in study, seq and time, journals and applies the event, and marks the study as changed. */
void study_record_event(struct study *study, struct dp_event *e);
/* Records the first event of a study and makes its object. Takes e->parsed_study. */
struct study *study_record_created(struct daemon *d, struct dp_event *e);
/* Journals the running time of every running study with a time limit. counted false: no daemon ran
 * since the newest record; a new daemon says so before all else. */
void studies_record_time(struct daemon *d, bool counted);

/* Marks the study, so that this turn of the loop visits it. */
void study_mark_changed(struct study *study);
/* Retries at the next tick what could not be started. */
void study_retry_next_tick(struct study *study);
/* Records everything that the policy decides, and sets next_step. */
void study_apply_policy(struct study *study);
/* DP_E_BUSY if the study is being deleted. */
DP_MUSTCHECK int study_check_not_deleted(const struct study *study, struct dp_err *err);
/* Records a transition's events. by, here and below: the requester; NULL: the daemon. */
void study_apply_orders(struct study *study, struct dp_transition_events *orders, const char *by);
/* Cancel one trial, or all that have not ended. */
void study_cancel_trial(struct study *study, struct dp_trial *t, const char *by);
void study_cancel_all(struct study *study, const char *by);
/* Cancels re-evaluations; running: including those whose trainers run. */
void study_cancel_reevaluations(struct study *study, bool running, const char *by);

#endif
