/* shim_output.c - dpareto-shim: copies the trainer's output to files, up to a limit. */
#include "daemon/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DRAIN_SECONDS 1.0 /* time to empty a pipe that is still written to */

int open_outputs(struct shim *s, int *writers)
{
	static const char *const names[2] = { "stdout", "stderr" };
	int error = 0;

	for (int i = 0; i < 2; i++) {
		struct shim_output *o = &s->outputs[i];
		int ends[2];

		writers[i] = o->pipe_fd = -1;
		o->file_fd = open(names[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (o->file_fd < 0 || pipe2(ends, O_CLOEXEC) != 0) {
			error = errno;
			continue;
		}
		o->pipe_fd = ends[0];
		writers[i] = ends[1];
	}
	return error;
}

static void shim_write_output(struct shim_output *o, const char *p, size_t n)
{
	while (n > 0 && o->file_fd >= 0 && !o->write_errno) {
		ssize_t written = write(o->file_fd, p, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			o->write_errno = o->first_errno = errno;
			return;
		}
		p += written;
		n -= (size_t)written;
		o->bytes_kept += (uint64_t)written;
	}
}

/* Copies at most one buffer from the pipe. Reading continues on a full disk and beyond the limit,
 * because a trainer must not block on its output. */
void copy_output(struct shim_output *o, uint64_t limit)
{
	static char buffer[64 << 10];
	char note[80];
	uint64_t room;
	ssize_t n;

	n = read(o->pipe_fd, buffer, sizeof buffer);
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(o->pipe_fd);
		o->pipe_fd = -1;
		return;
	}
	room = limit > o->bytes_seen ? limit - o->bytes_seen : 0;
	o->bytes_seen += (uint64_t)n;
	shim_write_output(o, buffer, room < (uint64_t)n ? (size_t)room : (size_t)n);
	if ((uint64_t)n > room && !o->is_truncated) {
		o->is_truncated = true;
		snprintf(note, sizeof note, "\n[dpareto: output beyond %llu bytes was dropped]\n",
			 (unsigned long long)limit);
		shim_write_output(o, note, strlen(note));
	}
}

/* Empties the pipe but does not wait for its end: an escaped process may hold it forever. */
void shim_drain_output(struct shim_output *o, uint64_t limit)
{
	double give_up = shim_now() + DRAIN_SECONDS;
	char note[160];

	while (o->pipe_fd >= 0 && shim_now() < give_up) {
		struct pollfd p = { .fd = o->pipe_fd, .events = POLLIN };

		if (poll(&p, 1, 0) != 1)
			break;
		copy_output(o, limit);
	}
	if (o->write_errno) {
		snprintf(note, sizeof note, "\n[dpareto: output after %llu bytes was lost: %s]\n",
			 (unsigned long long)o->bytes_kept, strerror(o->write_errno));
		o->write_errno = 0; /* there may be space again */
		shim_write_output(o, note, strlen(note));
	}
}
