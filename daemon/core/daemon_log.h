/* daemon_log.h - log lines with time, level and what they are about, on stderr or in a file.
 *
 * Owns nothing: the descriptor of a logger is its maker's. Called on the loop thread and
 * before the loop runs, never from worker threads: a reload changes the level. */
#ifndef DP_DAEMON_CORE_DAEMON_LOG_H
#define DP_DAEMON_CORE_DAEMON_LOG_H
#include "base/base.h"

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG
};

/* In the order of the enum; ends with NULL. */
extern const char *const log_level_words[];

struct logger {
	enum log_level level;
	int fd;
	bool journald; /* priorities instead of times */
};

/* `about` is "" or a study, "study/trial". */
void log_line(const struct logger *l, enum log_level level, const char *about, const char *fmt, ...)
	DP_PRINTF(4, 5);

#endif
