/* notification.h - turns records and events of the daemon into notifications for hooks. */
#ifndef DP_DAEMON_NOTIFY_NOTIFICATION_H
#define DP_DAEMON_NOTIFY_NOTIFICATION_H
#include "daemon/core/config/config_hooks.h"
#include "daemon/studies/study_object.h"

struct notification {
	enum hook_event event;
	uint32_t study_id, seq; /* of its record; study 0: no record */
	uint64_t ticket;        /* do not send before this is durable */
	const char *name;       /* of the study; "" */
	json_t *payload;        /* JSON for the hook; owned by the maker */
};

bool notification_is_wanted(const struct daemon *d, enum hook_event what);
bool notification_record_is_wanted(const struct study *study, const struct dp_event *e);
/* The notification of a wanted record. The caller owns the payload. */
struct notification notification_of_record(struct study *study, const struct dp_event *e,
					   uint64_t ticket);
/* The same for an event of the daemon. */
struct notification notification_of_daemon(const struct daemon *d, enum hook_event what,
					   const char *reason);

#endif
