/* happened.c - from records and from the daemon's own life to the objects that people
 * are told. */
#include "daemon/happened.h"

#include "daemon/hook.h"
#include "daemon/study.h"
#include "journal/view.h"

#include <string.h>

/* ---- which records are worth a word ---- */

static bool moved_to(const struct dp_event *e, enum dp_study_status status)
{
	return strcmp(e->state, dp_study_status_text(status)) == 0;
}

static bool what_happened(const struct dp_event *e, enum happening *what)
{
	static const struct {
		enum dp_study_status to;
		enum happening what;
	} moves[] = {
		{ DP_STUDY_FINISHED, HAPPENED_FINISHED },
		{ DP_STUDY_FAILED, HAPPENED_FAILED },
		{ DP_STUDY_PAUSED, HAPPENED_PAUSED },
		{ DP_STUDY_RUNNING, HAPPENED_RESUMED },
	};

	*what = e->type == DP_EV_STUDY_CREATED ? HAPPENED_STARTED : HAPPENED_TRIAL_FAILED;
	if (e->type == DP_EV_STUDY_CREATED)
		return true;
	if (e->type == DP_EV_TRIAL_ENDED)
		return strcmp(e->state, dp_trial_status_text(DP_TRIAL_FAILED)) == 0;
	for (size_t i = 0; e->type == DP_EV_STUDY_MOVED && i < DP_COUNT(moves); i++) {
		*what = moves[i].what;
		if (moved_to(e, moves[i].to))
			return true;
	}
	return false;
}

/* ---- the objects ---- */

/* How the attempt that ended a trial ended; NULL if none did. */
static const char *failure_class(const struct dp_trial *t)
{
	for (uint32_t i = t->nattempts; i-- > 0;)
		if (t->attempts[i].counted && t->attempts[i].end != DP_END_OK)
			return dp_end_text(t->attempts[i].end);
	return NULL;
}

static json_t *study_news(struct study *h, const struct dp_event *e, enum happening what)
{
	json_t *news = json_pack("{s:i, s:s}", "version", 1, "event", happening_text(what));
	json_t *result = dp_view_result(study_shown(h));

	if (!news || !result) { /* no memory */
		json_decref(news);
		json_decref(result);
		return NULL;
	}
	/* the state as it was recorded: a study may have gone on since */
	if (e->type == DP_EV_STUDY_MOVED)
		json_object_set_new(result, "state", json_string(e->state));
	json_object_set_new(result, "reason", dp_view_reason(e->reason, e->by));
	json_object_del(result, "front");
	json_object_del(result, "anti_ideal");
	json_object_update(news, result);
	json_decref(result);
	if (what == HAPPENED_TRIAL_FAILED) {
		const struct dp_trial *t = dp_study_trial(h->state, e->trial);

		json_object_set_new(news, "trial", json_integer(e->trial));
		json_object_set_new(news, "at", json_null());
		json_object_set_new(news, "class", dp_view_text(failure_class(t)));
	}
	json_object_set_new(news, "time", dp_view_time(dp_study_hides(h->state) ? 0 : e->time));
	return news;
}

bool happened_concerns(const struct study *h, const struct dp_event *e)
{
	enum happening what;

	return what_happened(e, &what) &&
	       !(what == HAPPENED_TRIAL_FAILED && dp_study_hides(h->state)) &&
	       hooks_want(h->d, what);
}

bool happened_queue(struct study *h, const struct dp_event *e, uint64_t ticket)
{
	struct happened one = {
		.study = h->state->id, .seq = e->seq, .ticket = ticket, .name = h->state->spec->name
	};
	bool queued;

	if (!what_happened(e, &one.what))
		return true;
	one.news = study_news(h, e, one.what);
	queued = hooks_tell(h->d, &one);
	json_decref(one.news);
	return queued;
}

void happened_record(struct study *h, const struct dp_event *e)
{
	if (!happened_concerns(h, e))
		return;
	/* behind those that wait, so that the order stays */
	if (!hooks_may_queue(h->d) || !happened_queue(h, e, h->d->last_ticket))
		hooks_put_off(h, e);
}

static void happened_here(struct dpd *d, enum happening what, const char *reason)
{
	struct happened one = { .what = what, .name = "" };

	if (!hooks_want(d, what))
		return;
	if (!hooks_have_room(d)) { /* it has no record that could wait */
		log_line(&d->log, LOG_WARN, "",
			 "'%s' is not reported: too many hooks wait to be run",
			 happening_text(what));
		return;
	}
	one.news = json_pack("{s:i, s:s, s:n, s:n, s:o, s:n, s:n, s:n, s:n, s:o}", "version", 1,
			     "event", happening_text(what), "study", "state", "reason",
			     dp_view_text(reason), "evaluations", "failed", "diverged",
			     "hypervolume", "time", dp_view_time(clock_now(d)));
	if (!hooks_tell(d, &one))
		log_line(&d->log, LOG_WARN, "", "no memory to run a hook");
	json_decref(one.news);
}

void happened_start(struct dpd *d)
{
	happened_here(d, HAPPENED_STARTED, NULL);
}

void happened_disk_low(struct dpd *d, const char *reason)
{
	happened_here(d, HAPPENED_DISK_LOW, reason);
}
