/* daemon_log.c - writes each log line with one write(). */
#include "daemon/core/daemon_log.h"

#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const log_level_words[] = { "error", "warn", "info", "debug", NULL };

static const int log_priorities[] = { 3, 4, 6, 7 };

void log_line(const struct logger *l, enum log_level level, const char *about, const char *fmt, ...)
{
	char line[1400], when[DP_NUM_LEN];
	va_list ap;
	size_t n;

	if (level > l->level)
		return;
	if (l->journald)
		n = (size_t)snprintf(line, sizeof line, "<%d>", log_priorities[level]);
	else
		n = (size_t)snprintf(line, sizeof line, "%s %-5s ", dp_time_text(dp_now_us(), when),
				     log_level_words[level]);
	if (*about)
		n += (size_t)snprintf(line + n, sizeof line - n, "%s: ", about);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof line - n - 1, fmt, ap);
	va_end(ap);
	/* a message may quote foreign bytes; keep it on one line */
	for (char *p = line; *p; p++)
		if ((unsigned char)*p < 0x20)
			*p = ' ';
	n = strlen(line);
	line[n++] = '\n';
	if (write(l->fd, line, n) < 0) {
		/* there is nowhere else to log */
	}
}
