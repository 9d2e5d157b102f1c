/* happened.h - what people want to hear of, made in one place and handed to whoever
 * tells them: at present the hooks. */
#ifndef DPARETOD_HAPPENED_H
#define DPARETOD_HAPPENED_H
#include "daemon/daemon.h"
#include "daemon/hook_option.h"

/* One of them. */
struct happened {
	enum happening what;
	uint32_t study, seq; /* its record; study 0: it has none */
	uint64_t ticket;     /* not to be told before this is durable */
	const char *name;    /* of the study, or "" */
	json_t *news;        /* the object that hooks get; a borrowed reference */
};

/* A record of the study was made. */
void happened_record(struct study *h, const struct dp_event *e);
/* Does a hook want to hear of this record? */
bool happened_concerns(const struct study *h, const struct dp_event *e);
/* Queues it for hooks, which run once the ticket is durable. False without memory: then
 * some may have been queued and others not. */
DP_MUSTCHECK bool happened_queue(struct study *h, const struct dp_event *e, uint64_t ticket);
/* The daemon is ready. */
void happened_start(struct dpd *d);
/* The disk fell below its watermark; `reason` is a sentence. */
void happened_disk_low(struct dpd *d, const char *reason);

#endif
