/* log.h - what a trainer has printed, a part at a time, for who follows it. */
#ifndef DP_SERVE_LOG_H
#define DP_SERVE_LOG_H
#include "serve/ask.h"
#include "serve/http.h"

/* {"trial","attempt","run","stream","from","next","size","ended","end","text"}. */
DP_MUSTCHECK int log_part(struct asking *k, const char *study, const char *trial,
			  const struct http_request *q, json_t **out, struct dp_err *err);

#endif
