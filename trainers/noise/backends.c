/* backends.c - selects the fastest noise backend that the machine can run. */
#include "trainers/noise/noise_internal.h"

#include <stdatomic.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Best first. */
static const struct noise_backend *const backends[] = {
#ifdef __x86_64__
	&dp__path_vaes512,
	&dp__path_vaes256,
	&dp__path_aesni,
#endif
	&dp__path_portable,
};

/* The only mutable variable at file scope. All threads would choose the same backend, so that it
 * does not matter which one stores it first. */
static _Atomic(const struct noise_backend *) current_backend;

#ifdef __x86_64__
/* By cpuid, because clang 14 does not know "vaes" in __builtin_cpu_supports. The caller must check
 * that the operating system saves the wide registers. */
bool cpu_has_vaes(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES);
}
#endif

const struct noise_backend *noise_backend_find(const char *name)
{
	for (size_t i = 0; i < DP_COUNT(backends); i++)
		if (strcmp(backends[i]->name, name) == 0)
			return backends[i]->is_usable() ? backends[i] : NULL;
	return NULL;
}

const struct noise_backend *noise_backend_get(void)
{
	const struct noise_backend *path = atomic_load(&current_backend);
	size_t i = 0;

	if (path)
		return path;
	while (!backends[i]->is_usable()) /* the portable backend, the last, always is */
		i++;
	atomic_store(&current_backend, backends[i]);
	return backends[i];
}

const char *noise_backend_name(void)
{
	return noise_backend_get()->name;
}

bool noise_backend_use(const char *name)
{
	const struct noise_backend *path = noise_backend_find(name);

	if (path)
		atomic_store(&current_backend, path);
	return path != NULL;
}
