/* program.h - finds the executable file of a command and checks that it can start. */
#ifndef DP_PROGRAM_H
#define DP_PROGRAM_H
#include "base/base.h"

/* Where to look for a name without '/'. */
struct dp_program_search {
	const char *first_dir; /* searched first; may be NULL */
	const char *path_env;  /* a PATH, searched next; may be NULL */
};

/* The directory of the running program. The caller frees it. NULL if it is unknown. */
char *dp_program_dir(void);
/* The installed directory `other`, derived from `folder`, the directory of the programs: configure
 * named both, `bin` for the programs, and the installation may have been moved since. The caller
 * frees it. NULL if `folder` is not an installed `bin`, for example in a build tree. */
char *dp_program_relocated_dir(const char *folder, const char *bin, const char *other);
/* The path of a program that only other programs start: in libexec if installed, else next to
 * `folder`, as in a build tree and in old versions. The caller frees it. The file may not exist. */
char *dp_program_helper_path(const char *folder, const char *name);
/* The PATH of a program that gets `env` ("K=V", ends with NULL, may be NULL) on top of ours. */
const char *dp_program_path_env(char *const *env);
/* Allows letters, digits and '_', no digit first. */
bool dp_env_name_ok(const char *name);
/* The executable file for a name without '/'. The caller frees it. NULL if there is none. */
char *dp_program_find(const char *name, const struct dp_program_search *places);
/* Checks that `program` can start: the file, and the interpreter in its #! line. DP_OK, or
 * DP_E_NOT_FOUND, DP_E_DENIED or DP_E_INVALID with a message that begins with the path, and a
 * hint. */
DP_MUSTCHECK int dp_program_check(const char *program, const struct dp_program_search *places,
				  struct dp_err *err);

#endif
