/* noop.c - the least a trainer can do: one result line for each run asked, no more.
 * Static, so that what is measured is the daemon and not the dynamic linker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	static const char line[] = "{\"run\":0,\"metrics\":{\"a\":0.5,\"b\":0.5}}\n";
	const char *path = getenv("DPARETO_RESULT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0644) : -1;

	return fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : 1;
}
