/* service_manager.h - systemd notifications, socket activation and watchdog, where available. */
#ifndef DP_DAEMON_CORE_SERVICE_MANAGER_H
#define DP_DAEMON_CORE_SERVICE_MANAGER_H
#include <stdint.h>

void service_manager_notify(const char *state);
/* Returns the socket that systemd passed, or -1. Clears its environment variables. */
int service_manager_socket(void);
/* Microseconds between watchdog pings; 0: none. */
uint64_t service_manager_watchdog_us(void);

#endif
