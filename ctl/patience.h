/* patience.h - followers live through a restart of the daemon: they wait for it, say so,
 * and ask again. */
#ifndef DP_CTL_PATIENCE_H
#define DP_CTL_PATIENCE_H
#include "ctl/command.h"

#define CTL_PATIENCE_OPTION                                                                        \
	{                                                                                          \
		"patience", 0, "DURATION",                                                         \
			"wait so long for a daemon that went away: 10m, or forever "               \
			"(the "                                                                    \
			"default); 0: not at all"                                                  \
	}

struct ctl_patience {
	double seconds; /* INFINITY: for ever */
	/* What can be done while the daemon is away, or NULL; ends the waiting with what
	 * is not DP_OK. */
	int (*meanwhile)(void *arg, struct dp_err *err);
	void *arg;
};

/* What --patience says. */
DP_MUSTCHECK int ctl_patience_read(struct ctl *ctl, struct ctl_patience *p, struct dp_err *err);
/* From here on every call waits for a daemon that is not there; for followers whose
 * first call was answered. *p must outlive them. */
void ctl_be_patient(struct ctl *ctl, struct ctl_patience *p);

#endif
