/* metrics.h - the daemon and its studies in Prometheus' text format. */
#ifndef DP_SERVE_METRICS_H
#define DP_SERVE_METRICS_H
#include "serve/data/daemon_client.h"

/* A daemon that is away is no error: dpareto_up is 0 then, and there is little else. */
void metrics_write(struct daemon_client *daemon, struct dp_buf *out);

#endif
