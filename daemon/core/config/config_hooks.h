/* config_hooks.h - the option `hooks`: a list of {on: [EVENT...], command: [ARG...],
 * timeout: DURATION}, read from JSON and held as JSON. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_HOOKS_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_HOOKS_H
#include "base/base.h"

#include <jansson.h>

/* What a hook can be run for; the words are those of the configuration. */
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

/* Reads the option; *out is the caller's. DP_E_USAGE with a sentence that begins with
 * the place of the mistake: "hooks[1].on ...". */
DP_MUSTCHECK int config_hooks_parse(const char *text, json_t **out, struct dp_err *err);
/* Does this hook (an element of the option) want it? */
bool hook_wants_event(const json_t *hook, enum hook_event what);
/* Seconds that it may take. */
double hook_timeout_seconds(const json_t *hook);

#endif
