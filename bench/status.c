/* status.c - round trip of `status` over many connections from one process.
 *   status SOCKET STUDY CONNECTIONS SECONDS     prints count, p50, p99, max in ms
 *
 * Every connection always has one request under way; a turn sleeps 1 ms, so that the
 * load is that of many people looking, not of a flood. */
#include "bench/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int status_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int status_dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strncpy(a.sun_path, path, sizeof a.sun_path - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

enum {
	MOST = 1000000,
	WAIT_MS = 250
}; /* as long as `dparetoctl watch` waits */

int main(int argc, char **argv)
{
	static double seen[MOST], sent[1024], due[1024];
	static char reply[1 << 20];
	struct pollfd p[1024];
	char request[200];
	int n, count = 0;
	double until;

	if (argc != 5 || (n = atoi(argv[3])) < 1 || n > 1024)
		return 2;
	snprintf(request, sizeof request, "{\"v\":1,\"do\":\"status\",\"study\":\"%s\"}\n",
		 argv[2]);
	until = bench_wall() + atof(argv[4]);
	for (int i = 0; i < n; i++) {
		p[i] = (struct pollfd){ .fd = status_dial(argv[1]), .events = POLLIN };
		due[i] = bench_wall() + WAIT_MS * 1e-3 * i / n; /* spread over the period */
	}
	while (bench_wall() < until && count < MOST) {
		for (int i = 0; i < n; i++) {
			if (sent[i] == 0 && bench_wall() >= due[i]) {
				sent[i] = bench_wall();
				if (write(p[i].fd, request, strlen(request)) < 0)
					return 1;
			}
		}
		if (poll(p, (nfds_t)n, 1) <= 0)
			continue;
		for (int i = 0; i < n && count < MOST; i++) {
			ssize_t got;

			if (!(p[i].revents & POLLIN))
				continue;
			got = read(p[i].fd, reply, sizeof reply);
			if (got <= 0)
				return 1;
			if (reply[got - 1] != '\n')
				continue; /* the rest is on its way */
			seen[count++] = bench_wall() - sent[i];
			sent[i] = 0;
			due[i] = bench_wall() + WAIT_MS * 1e-3;
		}
	}
	if (count == 0)
		return 1;
	qsort(seen, (size_t)count, sizeof seen[0], status_ascending);
	printf("%d replies, p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", count, seen[count / 2] * 1e3,
	       seen[count * 99 / 100] * 1e3, seen[count - 1] * 1e3);
	return 0;
}
