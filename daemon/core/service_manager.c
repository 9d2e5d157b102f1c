/* service_manager.c - systemd notifications and sockets; empty without libsystemd. */
#include "config.h"
#include "daemon/core/service_manager.h"

#ifdef HAVE_SYSTEMD
#include <stddef.h>
#include <systemd/sd-daemon.h>

void service_manager_notify(const char *state)
{
	sd_notify(0, state);
}

int service_manager_socket(void)
{
	int n = sd_listen_fds(1);

	if (n < 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, 0, 1, NULL, 0) <= 0)
		return -1;
	return SD_LISTEN_FDS_START;
}

uint64_t service_manager_watchdog_us(void)
{
	uint64_t us;

	return sd_watchdog_enabled(0, &us) > 0 ? us / 2 : 0;
}

#else

void service_manager_notify(const char *state)
{
	(void)state;
}

int service_manager_socket(void)
{
	return -1;
}

uint64_t service_manager_watchdog_us(void)
{
	return 0;
}
#endif
