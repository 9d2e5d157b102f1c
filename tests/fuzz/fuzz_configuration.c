/* fuzz_configuration.c - any bytes as the daemon's configuration: refused with a
 * sentence, or values within their bounds. */
#include "daemon/core/config/configuration.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct dp_err err = { 0 };
	struct config c, same;
	json_t *changed = json_array();
	char path[40];

	if (fd < 0)
		fd = memfd_create("configuration", MFD_CLOEXEC);
	demand(fd >= 0 && ftruncate(fd, 0) == 0);
	demand(pwrite(fd, data, size, 0) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	config_set_defaults(&c);
	config_set_defaults(&same);
	if (config_read_file(&c, path, &err) == DP_OK) {
		demand(c.slots >= 1 && c.retention >= 0 && c.report_interval >= 0);
		config_list_changes(&c, &same, changed);
	} else
		demand(err.code != DP_OK && err.msg[0] != '\0');
	config_clear(&c);
	config_clear(&same);
	json_decref(changed);
	return 0;
}
