/* notification.h - what people want to hear of: from records, and from the daemon's own life, to
 * the JSON objects that hooks get. */
#ifndef DP_DAEMON_NOTIFY_NOTIFICATION_H
#define DP_DAEMON_NOTIFY_NOTIFICATION_H
#include "daemon/core/config/config_hooks.h"
#include "daemon/studies/study_object.h"

struct notification {
	enum hook_event event;
	uint32_t study_id, seq; /* its record; study 0: it has none */
	uint64_t ticket;        /* not to be sent before this is durable */
	const char *name;       /* of the study, or "" */
	json_t *payload;        /* the object that hooks get; the maker's reference */
};

/* Does a hook want to hear of this? */
bool notification_is_wanted(const struct daemon *d, enum hook_event what);
/* Does one want to hear of this record? */
bool notification_record_is_wanted(const struct study *study, const struct dp_event *e);
/* Of a record that is wanted; json_decref() frees the payload. */
struct notification notification_of_record(struct study *study, const struct dp_event *e,
					   uint64_t ticket);
/* Of the daemon itself; likewise. */
struct notification notification_of_daemon(const struct daemon *d, enum hook_event what,
					   const char *reason);

#endif
