/* notification.h - what people want to hear of, made in one place and handed to whoever
 * tells them: at present the hooks. */
#ifndef DP_DAEMON_NOTIFY_NOTIFICATION_H
#define DP_DAEMON_NOTIFY_NOTIFICATION_H
#include "daemon/core/daemon.h"
#include "daemon/core/config/config_hooks.h"

/* One of them. */
struct notification {
	enum hook_event event;
	uint32_t study_id, seq; /* its record; study 0: it has none */
	uint64_t ticket;        /* not to be told before this is durable */
	const char *name;       /* of the study, or "" */
	json_t *payload;        /* the object that hooks get; a borrowed reference */
};

/* A record of the study was made. */
void notification_on_record(struct study *study, const struct dp_event *e);
/* Does a hook want to hear of this record? */
bool notification_is_wanted(const struct study *study, const struct dp_event *e);
/* Queues it for hooks, which run once the ticket is durable. False without memory: then
 * some may have been queued and others not. */
DP_MUSTCHECK bool notification_enqueue(struct study *study, const struct dp_event *e,
				       uint64_t ticket);
/* The daemon is ready. */
void notification_daemon_started(struct daemon *d);
/* The disk fell below its watermark; `reason` is a sentence. */
void notification_disk_low(struct daemon *d, const char *reason);

#endif
