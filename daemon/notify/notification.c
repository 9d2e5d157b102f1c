/* notification.c - builds the JSON notifications for hooks. */
#include "daemon/notify/notification.h"

#include "state/state_json.h"

#include <string.h>

/* ---- which records are reported ---- */

static bool notification_classify(const struct dp_event *e, enum hook_event *what)
{
	static const struct {
		enum dp_study_status to;
		enum hook_event what;
	} moves[] = {
		{ DP_STUDY_FINISHED, HOOK_EVENT_FINISHED },
		{ DP_STUDY_FAILED, HOOK_EVENT_FAILED },
		{ DP_STUDY_PAUSED, HOOK_EVENT_PAUSED },
		{ DP_STUDY_RUNNING, HOOK_EVENT_RESUMED },
	};

	*what = e->type == DP_EV_STUDY_CREATED ? HOOK_EVENT_STARTED : HOOK_EVENT_TRIAL_FAILED;
	if (e->type == DP_EV_STUDY_CREATED)
		return true;
	if (e->type == DP_EV_TRIAL_ENDED)
		return strcmp(e->trial_ended.status, dp_trial_status_text(DP_TRIAL_FAILED)) == 0;
	for (size_t i = 0; e->type == DP_EV_STUDY_MOVED && i < DP_COUNT(moves); i++) {
		*what = moves[i].what;
		if (strcmp(e->study_moved.state, dp_study_status_text(moves[i].to)) == 0)
			return true;
	}
	return false;
}

/* ---- JSON ---- */

static json_t *notification_payload(struct study *study, const struct dp_event *e,
				    enum hook_event what)
{
	const struct dp_study_state *s = study->state;
	json_t *news = json_pack("{s:i, s:s}", "version", 1, "event", hook_event_text(what));
	struct dp_public_state view = study_public_view(study);
	json_t *result = dp_state_result_json(view);

	/* the state as recorded: the study may have changed since */
	if (e->type == DP_EV_STUDY_MOVED)
		json_object_set_new(result, "state", json_string(e->study_moved.state));
	json_object_set_new(result, "reason", dp_reason_json(e->reason, e->requested_by));
	json_object_del(result, "front");
	json_object_del(result, "anti_ideal");
	json_object_update_new(news, result);
	if (what == HOOK_EVENT_TRIAL_FAILED) {
		const struct dp_trial *t = dp_state_find_trial(s, e->trial);
		const char *class = NULL; /* of the last failed attempt */

		for (uint32_t i = t->nattempts; i-- > 0 && !class;)
			if (t->attempts[i].charged && t->attempts[i].end_class != DP_END_OK)
				class = dp_end_class_name(t->attempts[i].end_class);
		json_object_set_new(news, "trial", json_integer(e->trial));
		json_object_set_new(news, "at", json_null());
		json_object_set_new(news, "class", dp_text_json(class));
	}
	json_object_set_new(news, "time",
			    dp_time_json(dp_state_is_private_selection(s) ? 0 : e->time_us));
	return news;
}

bool notification_is_wanted(const struct daemon *d, enum hook_event what)
{
	const json_t *hook;
	size_t i;

	json_array_foreach (d->config.hooks, i, hook)
		if (hook_wants_event(hook, what))
			return true;
	return false;
}

bool notification_record_is_wanted(const struct study *study, const struct dp_event *e)
{
	enum hook_event what;

	return notification_classify(e, &what) &&
	       !(what == HOOK_EVENT_TRIAL_FAILED && dp_state_is_private_selection(study->state)) &&
	       notification_is_wanted(study->daemon, what);
}

struct notification notification_of_record(struct study *study, const struct dp_event *e,
					   uint64_t ticket)
{
	struct notification one = { .study_id = study->state->id,
				    .seq = e->seq,
				    .ticket = ticket,
				    .name = study->state->spec->name };

	notification_classify(e, &one.event);
	one.payload = notification_payload(study, e, one.event);
	return one;
}

struct notification notification_of_daemon(const struct daemon *d, enum hook_event what,
					   const char *reason)
{
	json_t *payload = json_pack("{s:i, s:s, s:n, s:n, s:o, s:n, s:n, s:n, s:n, s:o}", "version",
				    1, "event", hook_event_text(what), "study", "state", "reason",
				    dp_text_json(reason), "evaluations", "failed", "diverged",
				    "hypervolume", "time", dp_time_json(clock_now(d)));

	return (struct notification){ .event = what, .name = "", .payload = payload };
}
