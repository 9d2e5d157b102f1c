/* reconnect.h - followers live through a restart of the daemon: they wait for it, say so,
 * and ask again. */
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
	double max_seconds; /* INFINITY: for ever */
	/* What can be done while the daemon is away, or NULL; ends the waiting with what
	 * is not DP_OK. */
	int (*on_waiting)(void *arg, struct dp_err *err);
	void *on_waiting_arg;
};

/* What --patience says. */
DP_MUSTCHECK int ctl_reconnect_parse_option(struct ctl *ctl, struct ctl_reconnect *reconnect,
					    struct dp_err *err);
/* From here on every call waits for a daemon that is not there; for followers whose
 * first call was answered. *p must outlive them. */
void ctl_reconnect_enable(struct ctl *ctl, struct ctl_reconnect *reconnect);

#endif
