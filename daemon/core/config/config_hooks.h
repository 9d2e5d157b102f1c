/* config_hooks.h - reads the option `hooks`: a JSON list of {on: [EVENT...], command: [ARG...],
 * timeout: DURATION}. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_HOOKS_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_HOOKS_H
#include "base/base.h"

#include <jansson.h>

/* Events that run a hook, with their names in the configuration. */
#define HOOK_EVENTS(X)                                                                             \
	X(FINISHED, "finished")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(PAUSED, "paused")                                                                        \
	X(RESUMED, "resumed")                                                                      \
	X(TRIAL_FAILED, "trial-failed")                                                            \
	X(DISK_LOW, "disk-low")                                                                    \
	X(STARTED, "started")

enum hook_event {
#define X(name, text) HOOK_EVENT_##name,
	HOOK_EVENTS(X)
#undef X
};
const char *hook_event_text(enum hook_event h);

/* Parses the option. The caller owns *out. DP_E_USAGE begins with the place: "hooks[1].on". */
DP_MUSTCHECK int config_hooks_parse(const char *text, json_t **out, struct dp_err *err);
bool hook_wants_event(const json_t *hook, enum hook_event what);
double hook_timeout_seconds(const json_t *hook);

#endif
