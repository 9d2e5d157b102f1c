/* metrics.h - exports the daemon and its studies in Prometheus text format. */
#ifndef DP_SERVE_METRICS_H
#define DP_SERVE_METRICS_H
#include "serve/data/daemon_client.h"

/* If the daemon is away, writes dpareto_up 0 and little else. */
void metrics_write(struct daemon_client *daemon, struct dp_buf *out);

#endif
