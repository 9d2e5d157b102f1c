/* ask_internal.h - a study's asker: what ask*.c share.
 *
 * One question at a time. While `busy`, a worker thread has what is marked so below; all
 * else, and every function but ask_work(), is the loop's. */
#ifndef DPARETOD_ASK_INTERNAL_H
#define DPARETOD_ASK_INTERNAL_H
#include "daemon/ask.h"
#include "daemon/recommended.h"
#include "daemon/waiters.h"
#include "propose/propose.h"

#include <stdatomic.h>

enum ask_question {
	ASK_TRIAL,    /* the next point, to be recorded */
	ASK_AHEAD,    /* points of a method that needs no results, before they are due */
	ASK_SHOW,     /* the next point, for a client */
	ASK_FIX,      /* the filter of search.budget, to be recorded */
	ASK_DENOISED, /* the front of the models' values, for clients and to be kept */
	ASK_SETTINGS, /* recommendations, for clients */
};

/* A point with its epsilons, not recorded yet. */
struct ask_point {
	uint32_t trial;
	double x[DP_PARAMS_MAX];
	double privacy[DP_OBJECTIVES_MAX];
	const char *source; /* static text */
	char refused[ASK_REFUSED_LEN];
	double cost, pending; /* of dp_proposal */
	double renyi;         /* K at the filter's order; NaN without search.budget */
	double sought;        /* seconds that it took to find it, and its epsilons */
};

/* Who wants to see the next point, and who a front. */
enum ask_wish {
	WISH_FRONT,
	WISH_POINT,
	WISHES /* beside these: recommendations, each of which is another one */
};

/* The front of the models' values. */
struct asked_front {
	uint32_t version; /* of the results */
	double hypervolume;
	bool modelled; /* false: too little was known, it is the observed one */
	json_t *rows;
};

/* A study's proposer, with the question under way. */
struct asker {
	struct study *home;
	struct dp_proposer *proposer; /* keeps models from one question to the next */
	struct ask_point *ahead;      /* (nahead) found ahead, by trial */
	unsigned nahead;
	unsigned batch; /* so many were asked for last */

	bool busy;         /* a worker thread has what follows */
	unsigned reserved; /* places that what is asked for will want */
	bool programs;     /* counted in d->asking_programs */
	uv_work_t work;
	atomic_bool cancel;
	enum ask_question question;
	uint32_t trial, basis;
	double spent; /* dp_study_cost_spent() */
	/* search.budget: the filter's order, 0 without one; what a training may take of
	 * it as far as the proposal may know, and as soon as nothing is pending */
	double order, left, left_at_last;
	int64_t stuck; /* no point fits before there is a record after this one; -1 */
	struct dp_accounting accounting; /* ASK_FIX */
	struct dp_known *known;
	size_t nknown;
	struct dp_proposal answer;
	struct ask_point *found; /* (nfound of room) */
	unsigned nfound, room;
	/* ASK_DENOISED, ASK_SETTINGS: */
	struct dp_results results;
	bool some;                                       /* of more results that there are */
	struct recommended *recommend, *recommend_later; /* asked, and who came later */
	/* ASK_DENOISED: */
	struct asked_front front;
	json_t *shown;        /* what clients get, as of the snapshot; the front comes last */
	struct waiter *asked; /* who gets the answer */
	struct waiter *waiting[WISHES]; /* who came later */
	struct dp_err err;
	int code;
};

/* ask.c: begins a question, of which `points` are wanted from `trial` on. */
DP_MUSTCHECK int ask_start(struct study *h, enum ask_question question, uint32_t trial,
			   unsigned points, struct dp_err *err);
/* Nobody else gets these places while the points for them are looked for. */
void ask_reserve(struct study *h, unsigned places);
/* What trials took of search.max_cost. Counted only where there is one: it is a sum over
 * all trials. */
double ask_spent(const struct study *h);
/* Records the point, or that search.max_cost or search.budget leaves no room for it. One
 * that is refused will not be trained. */
void ask_record_point(struct study *h, const struct ask_point *p, double spent, uint32_t basis);
/* No point was found: a->err says why. */
void ask_failed(struct asker *a);

/* ask_work.c: the worker's part, for uv_queue_work(). */
void ask_work(uv_work_t *w);

/* ask_people.c: copies what a front, or settings, are found from; false without memory.
 */
DP_MUSTCHECK bool ask_snapshot_front(struct asker *a);
DP_MUSTCHECK bool ask_snapshot_settings(struct asker *a);
/* Tells them what was found, whose reference is taken, or a->err if a->code says so. */
void ask_tell(struct asker *a, struct waiter **list, json_t *ok);
/* The worker has answered: those who asked are told. */
void ask_point_shown(struct asker *a);
void ask_front_found(struct asker *a);
void ask_settings_found(struct asker *a);

/* ask_ahead.c: points were found. */
void ask_ahead_done(struct asker *a);
/* ask_next() of a method whose points are found ahead: one that is there already, or the
 * order to find some. */
bool ask_next_ahead(struct study *h);

#endif
