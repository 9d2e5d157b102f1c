/* program.h - which file a program's name means, and why it would not start. */
#ifndef DP_PROGRAM_H
#define DP_PROGRAM_H
#include "base/base.h"

/* Where a name without '/' is looked for. */
struct dp_program_search {
	const char *first_dir; /* this folder comes first; NULL: none does */
	const char *path_env;  /* then those of a PATH; NULL: none */
};

/* The folder of the program that runs. The caller frees it; NULL: it cannot be told. */
char *dp_program_dir(void);
/* Where an installation has its folder `other`, if it has its programs in `folder`: both
 * names were given when it was configured, `bin` for the programs, and all of it may
 * have been moved since. The caller frees it; NULL: `folder` is another kind of folder,
 * as that of a build. */
char *dp_program_relocated_dir(const char *folder, const char *bin, const char *other);
/* A program that only other programs start. Installed it lies in libexec, in a build
 * beside those of `folder`; libexec comes first, since older versions had it beside. The
 * caller frees it; NULL: no memory. There may be no such file. */
char *dp_program_helper_path(const char *folder, const char *name);
/* The value of PATH for a program that gets this environment ("K=V", ends with NULL, may
 * be NULL) on top of ours. */
const char *dp_program_path_env(char *const *env);
/* Can an environment variable have this name: letters, digits, '_', no digit first? */
bool dp_env_name_ok(const char *name);
/* The executable file that a name without '/' stands for. The caller frees it; NULL:
 * there is none. */
char *dp_program_find(const char *name, const struct dp_program_search *places);
/* Would starting `program` fail, or start something else than is meant? Looks at the file
 * and at the interpreter that its first line names. DP_OK, or DP_E_NOT_FOUND,
 * DP_E_DENIED or DP_E_INVALID with what is wrong as a sentence that begins with its path,
 * and what to do as the hint. */
DP_MUSTCHECK int dp_program_check(const char *program, const struct dp_program_search *places,
				  struct dp_err *err);

#endif
