/* hook_option.h - the option `hooks`: a list of {on: [EVENT...], command: [ARG...],
 * timeout: DURATION}, read from JSON and held as JSON. */
#ifndef DPARETOD_HOOK_OPTION_H
#define DPARETOD_HOOK_OPTION_H
#include "base/base.h"

#include <jansson.h>

/* What a hook can be told of; the words are those of the configuration. */
#define HAPPENINGS(X)                                                                              \
	X(FINISHED, "finished")                                                                    \
	X(FAILED, "failed")                                                                        \
	X(PAUSED, "paused")                                                                        \
	X(RESUMED, "resumed")                                                                      \
	X(TRIAL_FAILED, "trial-failed")                                                            \
	X(DISK_LOW, "disk-low")                                                                    \
	X(STARTED, "started")

enum happening {
#define X(name, text) HAPPENED_##name,
	HAPPENINGS(X)
#undef X
};
const char *happening_text(enum happening h);

/* Reads the option; *out is the caller's. DP_E_USAGE with a sentence that begins with
 * the place of the mistake: "hooks[1].on ...". */
DP_MUSTCHECK int hooks_parse(const char *text, json_t **out, struct dp_err *err);
/* Is this hook (an element of the option) to be told of it? */
bool hook_wants(const json_t *hook, enum happening what);
/* Seconds that it may take. */
double hook_timeout(const json_t *hook);

#endif
