/* metrics.h - the daemon and its studies in Prometheus' text format. */
#ifndef DP_SERVE_METRICS_H
#define DP_SERVE_METRICS_H
#include "serve/data/command_runner.h"

/* A daemon that is away is no error: dpareto_up is 0 then, and there is little else. */
void metrics_write(struct command_runner *runner, struct dp_buf *out);

#endif
