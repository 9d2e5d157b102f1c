/* log.c - log lines: time, level, what it is about, one write each. */
#include "daemon/daemon.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	int priority; /* as syslog(3) and journald count */
} levels[] = {
	[LOG_ERROR] = { "error", 3 },
	[LOG_WARN] = { "warn", 4 },
	[LOG_INFO] = { "info", 6 },
	[LOG_DEBUG] = { "debug", 7 },
};

void log_line(const struct logger *l, enum log_level level, const char *about,
	      const char *fmt, ...)
{
	char line[1400], when[DP_NUM_LEN];
	va_list ap;
	size_t n;

	if (level > l->level)
		return;
	if (l->journald)
		n = (size_t)snprintf(line, sizeof line, "<%d>", levels[level].priority);
	else
		n = (size_t)snprintf(line, sizeof line, "%s %-5s ",
				     dp_time_text(dp_now_us(), when), levels[level].name);
	if (*about)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s: ", about);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
	va_end(ap);
	/* a message may quote foreign bytes: one line stays one line */
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = ' ';
	n = strlen(line);
	line[n++] = '\n';
	if (write(l->fd, line, n) < 0) {
		/* nobody left to tell */
	}
}
