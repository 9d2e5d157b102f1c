/* notify.c - what systemd wants to hear, and the socket it hands over. Without
 * libsystemd all of it does nothing. */
#include "config.h"
#include "daemon/notify.h"

#ifdef HAVE_SYSTEMD
#include <stddef.h>
#include <systemd/sd-daemon.h>

void notify_state(const char *state)
{
	sd_notify(0, state);
}

int notify_socket(void)
{
	int n = sd_listen_fds(1);

	if (n < 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, 0, 1, NULL, 0) <= 0)
		return -1;
	return SD_LISTEN_FDS_START;
}

uint64_t notify_watchdog(void)
{
	uint64_t us;

	return sd_watchdog_enabled(0, &us) > 0 ? us / 2 : 0;
}

#else

void notify_state(const char *state)
{
	(void)state;
}

int notify_socket(void)
{
	return -1;
}

uint64_t notify_watchdog(void)
{
	return 0;
}
#endif
