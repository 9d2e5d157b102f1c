/* daemon_log.h - writes log lines with time, level and subject to stderr or a file. Does not own
 * the descriptor. Never called from worker threads, because a reload changes the level. */
#ifndef DP_DAEMON_CORE_DAEMON_LOG_H
#define DP_DAEMON_CORE_DAEMON_LOG_H
#include "base/base.h"

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

/* In the order of the enum; NULL-terminated. */
extern const char *const log_level_words[];

struct logger {
	enum log_level level;
	int fd;
	bool journald; /* write priorities instead of times */
};

/* `about` is "", "study" or "study/trial". */
void log_line(const struct logger *l, enum log_level level, const char *about, const char *fmt, ...)
	DP_PRINTF(4, 5);

#endif
