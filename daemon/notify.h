/* notify.h - systemd, where it is. */
#ifndef DPARETOD_NOTIFY_H
#define DPARETOD_NOTIFY_H
#include <stdint.h>

void notify_state(const char *state);
/* The socket systemd opened for us, or -1; clears the variables. */
int notify_socket(void);
/* Microseconds between watchdog pings, or 0. */
uint64_t notify_watchdog(void);

#endif
