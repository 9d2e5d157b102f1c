/* config_slot_env.h - the option `slot_env`: environment variables of trainers with one value
 * for each slot, {NAME: [VALUE...]}, read from JSON and held as JSON. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_SLOT_ENV_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_SLOT_ENV_H
#include "base/base.h"

#include <jansson.h>

/* Reads the option; *out is the caller's, and all of its values are texts. DP_E_USAGE
 * with a sentence that begins with the place of the mistake: "slot_env.NAME[1] ...". */
DP_MUSTCHECK int slot_env_parse(const char *text, json_t **out, struct dp_err *err);
/* Is there a value for each of so many slots? */
DP_MUSTCHECK int slot_env_check_count(const json_t *slot_env, unsigned slots, struct dp_err *err);

#endif
