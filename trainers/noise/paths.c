/* paths.c - which path this machine uses: the best that it can run. */
#include "trainers/noise/noise_internal.h"

#include <stdatomic.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Best first. */
static const struct dp__noise_path *const paths[] = {
#ifdef __x86_64__
	&dp__path_vaes512,
	&dp__path_vaes256,
	&dp__path_aesni,
#endif
	&dp__path_portable,
};

/* The one variable at file scope: a choice that every thread would make alike, so it
 * does not matter which of them stores it first. */
static _Atomic(const struct dp__noise_path *) chosen;

#ifdef __x86_64__
/* By cpuid, because clang 14 does not know "vaes" in __builtin_cpu_supports. That the
 * operating system keeps the wide registers is the caller's to ask, there. */
bool dp__cpu_has_vaes(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES);
}
#endif

const struct dp__noise_path *dp__noise_path_named(const char *name)
{
	for (size_t i = 0; i < DP_COUNT(paths); i++)
		if (strcmp(paths[i]->name, name) == 0)
			return paths[i]->usable() ? paths[i] : NULL;
	return NULL;
}

const struct dp__noise_path *dp__noise_path(void)
{
	const struct dp__noise_path *path = atomic_load(&chosen);
	size_t i = 0;

	if (path)
		return path;
	while (!paths[i]->usable()) /* the portable path, the last, always is */
		i++;
	atomic_store(&chosen, paths[i]);
	return paths[i];
}

const char *noise_path(void)
{
	return dp__noise_path()->name;
}

bool noise_use_path(const char *name)
{
	const struct dp__noise_path *path = dp__noise_path_named(name);

	if (path)
		atomic_store(&chosen, path);
	return path != NULL;
}
