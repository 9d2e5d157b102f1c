/* fake_asked.h - a daemon for the web server's tests that has the same answer to every
 * question: an object with all that any verb would have, of one study "s" whose trainer
 * writes markup. */
#ifndef DP_FAKE_ASKED_H
#define DP_FAKE_ASKED_H
#include "serve/routes.h"
#include "protocol/control/control_protocol.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAKE_MARKUP "</td></script><img src=x onerror=alert(1)>\\\"&'"

#define FAKE_POINT(number, epsilon, error, x)                                                      \
	"{\"trial\":" number ",\"at\":null,\"state\":\"ok\",\"source\":\"random\","                \
	"\"parameters\":{\"x\":" x ",\"kind\":\"" FAKE_MARKUP "\"},"                               \
	"\"objectives\":{\"epsilon\":" epsilon ",\"error\":" error "},"                            \
	"\"spread\":{\"error\":{\"runs\":3,\"sd\":0.1,\"low\":0.1,\"high\":0.9}},"                 \
	"\"feasible\":true,\"on_front\":true,\"remeasured\":null,\"attempts\":1,"                  \
	"\"started\":\"2026-01-01T00:00:00.000000Z\","                                             \
	"\"ended\":\"2026-01-01T00:00:0" number ".000000Z\",\"seconds\":1.5,"                      \
	"\"reason\":null}"

#define FAKE_POINTS                                                                                \
	"[" FAKE_POINT("0", "1", "0.5", "0.25") "," FAKE_POINT(                                    \
		"1", "2", "0.25", "0.5") "," FAKE_POINT("2", "0.5", "0.75", "0.125") "]"

#define FAKE_SUMMARY                                                                               \
	"{\"id\":1,\"name\":\"s\",\"state\":\"paused\",\"reason\":\"" FAKE_MARKUP "\","            \
	"\"evaluations\":10,\"ended\":3,\"ok\":3,\"diverged\":0,\"failed\":0,"                     \
	"\"running\":0,\"hypervolume\":5.25,\"anti_ideal\":{\"epsilon\":10,"                       \
	"\"error\":1},\"front\":3,\"objectives\":[\"epsilon\",\"error\"],"                         \
	"\"goals\":[\"minimize\",\"minimize\"],\"transforms\":[\"log\",\"none\"],"                 \
	"\"privacy\":[\"epsilon\"],\"metrics\":{},\"deltas\":{\"epsilon\":1e-5},"                  \
	"\"updated\":\"2026-01-01T00:00:10.000000Z\",\"version\":7,"                               \
	"\"waiting\":null,\"directory\":\"/nonexistent\",\"report\":null,"                         \
	"\"report_error\":null}"

#define FAKE_ANSWER                                                                                \
	"{\"v\":1,\"ok\":{\"study\":" FAKE_SUMMARY ",\"studies\":[" FAKE_SUMMARY                   \
	"],\"next\":null,\"running\":[],\"latest\":[],\"failures\":[],"                            \
	"\"state\":\"paused\",\"hypervolume\":5.25,\"anti_ideal\":{\"epsilon\":10,"                \
	"\"error\":1},\"front\":" FAKE_POINTS ",\"trials\":" FAKE_POINTS                           \
	",\"trial\":{\"trial\":0,\"at\":null,\"attempts\":[{\"attempt\":0,"                        \
	"\"run\":null,\"end\":\"ok\",\"directory\":\"/nonexistent\"}],\"runs\":[]},"               \
	"\"recommendations\":[],\"slots\":2,\"busy\":1,\"disk_free\":1000,"                        \
	"\"daemon\":{\"slots\":2,\"busy\":1,\"disk_free\":1000,\"journal\":"                       \
	"{\"silent\":0,\"commits\":{\"count\":4,\"seconds\":0.5,\"median\":0.1,"                   \
	"\"p90\":0.2,\"p99\":0.25}}}}}\n"

enum {
	FAKE_QUESTIONS = 4 /* that one connection is asked at most */
};

/* A connection on which the answers wait already. `arg`: the answer, NULL: none. */
static inline int fake_open(void *arg, struct dp_client **client, struct dp_err *err)
{
	const char *answer = arg;
	int pair[2];

	if (!answer)
		return dp_fail(err, DP_E_NO_DAEMON, "no daemon is running");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		abort();
	for (int i = 0; i < FAKE_QUESTIONS; i++)
		if (write(pair[1], answer, strlen(answer)) != (ssize_t)strlen(answer))
			abort();
	*client = dp_client_from_fd(pair[0]);
	if (!*client)
		abort();
	close(pair[1]); /* nobody reads the questions */
	return DP_OK;
}

#endif
