/* config_slot_env.h - reads the option `slot_env`: environment variables with one value per slot,
 * as JSON {NAME: [VALUE...]}. */
#ifndef DP_DAEMON_CORE_CONFIG_CONFIG_SLOT_ENV_H
#define DP_DAEMON_CORE_CONFIG_CONFIG_SLOT_ENV_H
#include "base/base.h"

#include <jansson.h>

/* Parses the option. The caller owns *out, whose values are strings. DP_E_USAGE begins with the
 * place of the mistake: "slot_env.NAME[1] ...". */
DP_MUSTCHECK int slot_env_parse(const char *text, json_t **out, struct dp_err *err);
/* Checks that each variable has a value for each slot. */
DP_MUSTCHECK int slot_env_check_count(const json_t *slot_env, unsigned slots, struct dp_err *err);

#endif
