/* trial_log.h - reads a part of a trainer's output log. */
#ifndef DP_SERVE_TRIAL_LOG_H
#define DP_SERVE_TRIAL_LOG_H
#include "serve/data/daemon_client.h"
#include "serve/http/http_message.h"

/* {"trial","attempt","run","stream","from","next","size","ended","end","text"}. */
DP_MUSTCHECK int trial_log_read_part(struct daemon_client *daemon, const char *study,
				     const char *trial, const struct http_request *q, json_t **out,
				     struct dp_err *err);

#endif
