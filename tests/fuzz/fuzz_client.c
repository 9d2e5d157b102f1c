/* fuzz_client.c - a daemon that answers a client with any bytes, in one piece or in two,
 * and hangs up: the client has an answer or a sentence, and no memory is lost. */
#include "protocol/control/control_protocol.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	BYTES_MAX = 60000 /* that a socket takes without anybody reading */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static void call(struct dp_client *c)
{
	struct dp_err err = { 0 };
	json_t *ok = NULL;
	int code = dp_client_call(c, "hello", NULL, 1000, &ok, &err);

	demand(code == DP_OK ? ok != NULL : err.code == code && err.msg[0] != '\0');
	json_decref(ok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_client *c;
	int pair[2];

	if (size > BYTES_MAX)
		return 0;
	demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	demand(write(pair[1], data, size) == (ssize_t)size);
	demand(shutdown(pair[1], SHUT_WR) == 0);
	c = dp_client_from_fd(pair[0]);
	demand(c != NULL);
	call(c);
	call(c); /* what is left of the bytes, or of the connection */
	dp_client_close(c);
	close(pair[1]);
	return 0;
}
