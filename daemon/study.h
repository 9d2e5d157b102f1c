/* study.h - a study's home in the daemon: everything about it that is not journaled.
 *
 * What is journaled is in `state`, the fold, which only record() changes. A home is made
 * with its study and goes, with all it holds, at the end of the turn in which the study
 * was forgotten: no callback sees it freed under itself. */
#ifndef DPARETOD_STUDY_H
#define DPARETOD_STUDY_H
#include "course/course.h"
#include "daemon/daemon.h"
#include "daemon/report.h"

#include <stdatomic.h>

/* Somebody who asked for the study's deletion. */
struct deleter {
	struct deleter *next;
	uint64_t client;
};

/* What comes next, as of the last look: the part of a step that outlives it. */
struct next {
	enum dp_step_kind kind;
	enum dp_wait wait;
	int64_t until;
	uint32_t trial, attempt; /* DP_STEP_ATTEMPT, DP_STEP_ACCOUNT, DP_WAIT_ORDER */
	int32_t run;
};

/* Notifications of a study that wait in the journal for a place in the hooks' queue. */
struct hook_wait {
	bool waits;
	bool apart;    /* at its end: that the study is set apart, which has no record */
	uint32_t from; /* the first record that was not queued */
	int64_t time;  /* no record to report from there on is older */
};

struct study {
	struct dpd *d;
	struct dp_study_state *state;
	struct backend *backend; /* who runs its attempts */

	struct study *next_changed, *next_looked;
	bool is_changed; /* in d->changed */
	bool is_looked;  /* in this turn already */
	struct next next;
	uint64_t turn;            /* when it was last served: the scheduler's */
	struct revision revision; /* revision.c's */

	struct asker *asker;       /* ask.c's; NULL while nothing was asked */
	struct asked_front *front; /* ask.c's: the last that was found, or NULL */
	struct whole *whole;       /* whole.c's: what all trainings cost, or NULL */
	struct volume *volume;     /* volume.c's: without the noise, or NULL */
	unsigned accounting;       /* oracles asked off the loop: account.c's */
	unsigned measuring;        /* points to measure being found: measure.c's */
	atomic_bool measure_cancel;
	struct waiter *lookers;      /* wait for whole and volume; or NULL */
	struct oracles *oracles;     /* oracles.c's: its oracle programs, or NULL */
	struct selection *selection; /* selection.c's; NULL: nobody asked */
	struct report_note note;     /* report.c's */
	struct hook_wait hook_wait;  /* hook_backlog.c's */
	struct deleter *deleters;    /* newest first: it goes once nothing of it is under way */
};

/* Makes a home for a study of the state; NULL without memory. */
struct study *study_new(struct dpd *d, struct dp_study_state *s);
struct study *study_by_id(const struct dpd *d, uint32_t id);
/* By name, number, or an unambiguous beginning of a name. */
DP_MUSTCHECK int study_find(const struct dpd *d, const char *selector, struct study **out,
			    struct dp_err *err);
void studies_free(struct dpd *d);

/* The study as it may be shown, to whoever asks. */
struct dp_study_state *study_shown(const struct study *h);

/* Something happened to the study, or to what is under way for it: it is looked at in
 * this turn of the loop. */
void study_changed(struct study *h);
/* Records all that follows from what is known and sets h->next to what comes then. */
void study_settle(struct study *h);
/* Records what dp_course_asked() ordered. by, here and below: who asked for it; NULL: the
 * daemon decided. */
void study_order(struct study *h, struct dp_orders *orders, const char *by);
/* Cancels a trial, or all that have not ended. */
void study_cancel_trial(struct study *h, struct dp_trial *t, const char *by);
void study_cancel_all(struct study *h, const char *by);
/* Those that measure points again; running: also while their trainers run. */
void study_cancel_measures(struct study *h, bool running, const char *by);

/* Has reckoned what all trainings cost, and the hypervolume without the noise, as far as
 * that is due, and answers the client once it is done; false: there is nothing to wait
 * for, and nothing was promised. */
bool study_reckon(struct study *h, uint64_t client, json_t *(*answer)(struct study *h));
/* One of both is done. */
void study_reckoned(struct study *h);

/* The study goes once its last trainer has ended; then the client is told. */
DP_MUSTCHECK int study_delete(struct study *h, uint64_t client, const char *by, struct dp_err *err);
/* The end of a turn in which the study was looked at: frees its models if it does not
 * run, and the study itself if it is to go and nothing of it is under way. */
void study_sweep(struct study *h);

/* Its folder; the caller frees it; NULL without memory. */
char *study_folder(const struct study *h);

#endif
