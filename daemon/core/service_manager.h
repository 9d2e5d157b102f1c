/* service_manager.h - systemd, where it is. */
#ifndef DP_DAEMON_CORE_SERVICE_MANAGER_H
#define DP_DAEMON_CORE_SERVICE_MANAGER_H
#include <stdint.h>

void service_manager_notify(const char *state);
/* The socket systemd opened for us, or -1; clears the variables. */
int service_manager_socket(void);
/* Microseconds between watchdog pings, or 0. */
uint64_t service_manager_watchdog_us(void);

#endif
