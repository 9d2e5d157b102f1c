/* reconnect.h - lets commands that follow a study survive a restart of the daemon. */
#ifndef DP_CTL_CLIENT_RECONNECT_H
#define DP_CTL_CLIENT_RECONNECT_H
#include "ctl/ctl_command.h"

#define CTL_PATIENCE_OPTION                                                                        \
	{                                                                                          \
		"patience", 0, "DURATION",                                                         \
			"wait so long for a daemon that went away: 10m, or forever "               \
			"(the "                                                                    \
			"default); 0: not at all"                                                  \
	}

struct ctl_reconnect {
	double max_seconds; /* INFINITY: no limit */
	/* Called repeatedly while the daemon is away; may be NULL. A code other than DP_OK ends the
	 * wait. */
	int (*on_waiting)(void *arg, struct dp_err *err);
	void *on_waiting_arg;
};

DP_MUSTCHECK int ctl_reconnect_parse_option(struct ctl *ctl, struct ctl_reconnect *reconnect,
					    struct dp_err *err);
/* From now on, calls wait for a lost daemon and are repeated. Enable after the first answer.
 * *reconnect must outlive the calls. */
void ctl_reconnect_enable(struct ctl *ctl, struct ctl_reconnect *reconnect);

#endif
