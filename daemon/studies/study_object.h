/* study.h - a study's home in the daemon: everything about it that is not journaled.
 *
 * What is journaled is in `state`, the fold, which only study_record_event() changes. A home is
 * made with its study and goes, with all it holds, at the end of the turn in which the study was
 * forgotten: no callback sees it freed under itself. */
#ifndef DP_DAEMON_STUDIES_STUDY_OBJECT_H
#define DP_DAEMON_STUDIES_STUDY_OBJECT_H
#include "policy/policy.h"
#include "state/public_view.h"
#include "daemon/core/daemon.h"
#include "daemon/studies/report_writer.h"

#include <stdatomic.h>

/* Somebody who asked for the study's deletion. */
struct delete_request {
	struct delete_request *next;
	uint64_t client_id;
};

/* Notifications of a study that wait in the journal for a place in the hooks' queue. */
struct hook_backlog_entry {
	bool is_pending;
	bool is_quarantined; /* at its end: that the study is set apart, which has no record */
	uint32_t first_seq;  /* the first record that was not queued */
	int64_t time;        /* no record to report from there on is older */
};

struct study {
	struct daemon *daemon;
	struct dp_study_state *state;
	struct executor *executor; /* who runs its attempts */

	struct study *next_changed, *next_visited;
	bool is_changed;                  /* in d->changed */
	bool is_visited;                  /* in this turn already */
	struct dp_step next_step;         /* as of the last study_apply_policy() */
	uint64_t last_served;             /* when it was last served: the scheduler's */
	struct change_entry change_entry; /* change_feed.c's */

	struct proposal_job *proposal_job;     /* ask.c's; NULL while nothing was asked */
	struct smoothed_front *smoothed_front; /* ask.c's: the last that was found, or NULL */
	struct total_privacy *total_privacy;   /* whole.c's: what all trainings cost, or NULL */
	struct hypervolume_job
		*hypervolume_job;     /* smoothed_hypervolume.c's: without the noise, or NULL */
	unsigned n_accounting_jobs;   /* oracles asked off the loop: accounting_job.c's */
	unsigned n_reevaluation_jobs; /* points to measure being found: measure.c's */
	atomic_bool reevaluation_cancel;
	struct pending_reply *pending_replies; /* wait for whole and volume; or NULL */
	struct accountants
		*accountants; /* external_accountants.c's: its oracle programs, or NULL */
	struct private_selection *private_selection; /* selection.c's; NULL: nobody asked */
	struct report_status report_status;          /* report.c's */
	struct hook_backlog_entry hook_backlog;      /* hook_backlog.c's */
	struct delete_request
		*delete_requests; /* newest first: it goes once nothing of it is under way */
};

/* Makes a home for a study of the state; NULL without memory. */
struct study *study_new(struct daemon *d, struct dp_study_state *s);
struct study *study_by_id(const struct daemon *d, uint32_t id);
/* By name, number, or an unambiguous beginning of a name. */
DP_MUSTCHECK int study_find(const struct daemon *d, const char *selector, struct study **out,
			    struct dp_err *err);
void studies_free(struct daemon *d);

/* The study as it may be shown, to whoever asks. */
struct dp_public_state study_public_view(const struct study *study);

/* Something happened to the study, or to what is under way for it: it is looked at in
 * this turn of the loop. */
void study_mark_changed(struct study *study);
/* Records all that follows from what is known and sets h->next to what comes then. */
void study_apply_policy(struct study *study);
/* Records what a function of policy.h ordered. by, here and below: who asked for it; NULL: the
 * daemon decided. */
void study_apply_orders(struct study *study, struct dp_transition_events *orders, const char *by);
/* Cancels a trial, or all that have not ended. */
void study_cancel_trial(struct study *study, struct dp_trial *t, const char *by);
void study_cancel_all(struct study *study, const char *by);
/* Those that measure points again; running: also while their trainers run. */
void study_cancel_reevaluations(struct study *study, bool running, const char *by);

/* Has reckoned what all trainings cost, and the hypervolume without the noise, as far as
 * that is due, and answers the client once it is done; false: there is nothing to wait
 * for, and nothing was promised. */
bool study_refresh_derived(struct study *study, uint64_t client,
			   json_t *(*answer)(struct study *study));
/* One of both is done. */
void study_on_derived_done(struct study *study);

/* The study goes once its last trainer has ended; then the client is told. */
void study_request_deletion(struct study *study, uint64_t client, const char *by);
/* The end of a turn in which the study was looked at: frees its models if it does not
 * run, and the study itself if it is to go and nothing of it is under way. */
void study_end_turn(struct study *study);

/* Its folder; the caller frees it; NULL without memory. */
char *study_folder(const struct study *study);

#endif
