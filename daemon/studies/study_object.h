/* study_object.h - a study in the daemon: what is not journaled, and the way of its records.
 *
 * What is journaled is in `state`, which only study_record_event() changes. A study object goes,
 * with all it holds, at the end of the turn in which the study was deleted (study_lifecycle.c): no
 * callback sees it freed under itself. */
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
	struct executor *executor; /* who runs its attempts: executors' */

	/* the scheduler's */
	struct study *next_changed, *next_visited;
	bool is_changed;          /* in studies.changed */
	bool is_visited;          /* in this turn already */
	struct dp_step next_step; /* as of the last study_apply_policy() */
	uint64_t last_served;

	struct change_entry change_entry;
	struct pending_reply *delete_requests; /* it goes once nothing of it is under way */

	/* NULL until they are needed */
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
	struct study *changed; /* those to look at in this turn */
	struct change_feed change_feed;
	uint64_t n_launches; /* counts launches, for fairness */
	/* A record was made: notify's. */
	void (*on_record)(struct study *study, const struct dp_event *e);
	unsigned n_hypervolume_jobs;       /* at most one */
	unsigned n_accountant_users;       /* whose external accountants are asked for points */
	atomic_uint n_accountant_programs; /* that run: lib/privacy/external counts them */
};

void studies_init(struct daemon *d);
/* Makes the object of a study of the state. */
struct study *study_new(struct daemon *d, struct dp_study_state *s);
/* Takes it out of the list. */
void study_unlist(struct study *study);
struct study *study_by_id(const struct daemon *d, uint32_t id);
/* By name, number, or an unambiguous beginning of a name. */
DP_MUSTCHECK int study_find(const struct daemon *d, const char *selector, struct study **out,
			    struct dp_err *err);

/* The study as it may be shown to people. */
struct dp_public_state study_public_view(const struct study *study);
/* Its directory; the caller frees it. */
char *study_folder(const struct study *study);

/* Fills in study, seq and time, journals and applies; the study is looked at in this turn. */
void study_record_event(struct study *study, struct dp_event *e);
/* The first record of a study, and its object. e->parsed_study is taken over. */
struct study *study_record_created(struct daemon *d, struct dp_event *e);
/* Journals the time of every study that has a limit and runs. Not `counted`: no daemon ran since
 * the study's newest record, as a new daemon has to say before all else. */
void studies_record_time(struct daemon *d, bool counted);

/* Something happened to the study, or to what is under way for it: it is looked at in this turn of
 * the loop. */
void study_mark_changed(struct study *study);
/* What is to be done next could not be begun: the next tick tries again. */
void study_retry_next_tick(struct study *study);
/* Records all that follows from what is known and sets next_step to what comes then. */
void study_apply_policy(struct study *study);
/* DP_E_BUSY: the study is being deleted. */
DP_MUSTCHECK int study_check_not_deleted(const struct study *study, struct dp_err *err);
/* Records what a function of policy.h ordered. by, here and below: who asked for it; NULL: the
 * daemon decided. */
void study_apply_orders(struct study *study, struct dp_transition_events *orders, const char *by);
/* Cancels a trial, or all that have not ended. */
void study_cancel_trial(struct study *study, struct dp_trial *t, const char *by);
void study_cancel_all(struct study *study, const char *by);
/* Those that re-evaluate points; running: also while their trainers run. */
void study_cancel_reevaluations(struct study *study, bool running, const char *by);

#endif
