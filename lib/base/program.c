/* program.c - finds the executable file of a command and checks that it can start. */
#include "base/program.h"

#include "base/fs.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SHEBANG_LEN_MAX = 256, /* Linux reads no more */
	ELF_IDENT_LEN = 20     /* bytes up to e_machine */
};

char *dp_program_dir(void)
{
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return dp_strdup(path);
}

char *dp_program_relocated_dir(const char *folder, const char *bin, const char *other)
{
	size_t same = 0, n = strlen(folder), tail;
	char *path = NULL;

	for (size_t i = 0; bin[i] && bin[i] == other[i]; i++)
		if (bin[i] == '/')
			same = i;
	tail = strlen(bin + same);
	if (tail > n || strcmp(folder + n - tail, bin + same) != 0)
		return NULL;
	if (asprintf(&path, "%.*s%s", (int)(n - tail), folder, other + same) < 0)
		return NULL;
	return path;
}

const char *dp_program_path_env(char *const *env)
{
	const char *own = getenv("PATH");

	for (; env && *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			own = *env + 5;
	return own;
}

bool dp_env_name_ok(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return *name == '\0';
}

static bool can_execute(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* dir/name if it is executable. The caller frees it. */
static char *find_program_in_dir(const char *dir, const char *name)
{
	char *path = dp_path_join(dir, name);

	if (path && can_execute(path))
		return path;
	free(path);
	return NULL;
}

char *dp_program_find(const char *name, const struct dp_program_search *places)
{
	char *found = places->first_dir ? find_program_in_dir(places->first_dir, name) : NULL;
	char *copy = dp_strdup(places->path_env ? places->path_env : ""), *rest = copy, *dir;

	while (!found && copy && (dir = strsep(&rest, ":")) != NULL)
		if (*dir)
			found = find_program_in_dir(dir, name);
	free(copy);
	return found;
}

char *dp_program_helper_path(const char *folder, const char *name)
{
	char *helpers = dp_program_relocated_dir(folder, DP_BINDIR, DP_HELPERDIR);
	char *installed = helpers ? dp_path_join(helpers, name) : NULL;
	char *beside = dp_path_join(folder, name);
	bool here = beside && can_execute(beside);

	free(helpers);
	if (installed && (can_execute(installed) || !here)) {
		free(beside);
		return installed;
	}
	free(installed);
	return beside;
}

/* ---- the first line of a file ---- */

/* Returns how many bytes it read. */
static size_t read_first_bytes(const char *path, char out[SHEBANG_LEN_MAX])
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, SHEBANG_LEN_MAX - 1);

	if (fd >= 0)
		close(fd);
	n = n > 0 ? n : 0;
	out[n] = '\0';
	return (size_t)n;
}

static unsigned elf_machine(const char *first)
{
	return (unsigned char)first[18] | (unsigned)(unsigned char)first[19] << 8;
}

/* A machine runs its own format and often that of its 32-bit variant. */
static bool machine_can_run(unsigned own, unsigned other)
{
	return own == other || (own == EM_X86_64 && other == EM_386) ||
	       (own == EM_AARCH64 && other == EM_ARM);
}

/* Without #!: an ELF file must be for this machine; execvp() gives other files to /bin/sh. */
static int check_binary(const char *path, const char *first, size_t n, struct dp_err *err)
{
	char own[SHEBANG_LEN_MAX];
	size_t m = read_first_bytes("/proc/self/exe", own);

	if (n < 4 || memcmp(first, "\177ELF", 4) != 0) {
		dp_fail(err, DP_E_INVALID, "%s has no #! line: /bin/sh runs it", path);
		return dp_hint(err, "begin it with one, such as #!/usr/bin/env python3, or "
				    "name its interpreter first, as in [python3, "
				    "train.py]");
	}
	if (n >= ELF_IDENT_LEN && m >= ELF_IDENT_LEN &&
	    !machine_can_run(elf_machine(own), elf_machine(first))) {
		dp_fail(err, DP_E_INVALID, "%s is a program for another kind of machine", path);
		return dp_hint(err, "build it on this one");
	}
	return DP_OK;
}

/* Checks the program that env(1) would find. `rest` is the text after "env". */
static int check_env_interpreter(const char *path, char *rest, const char *search,
				 struct dp_err *err)
{
	bool split = strncmp(rest, "-S", 2) == 0 || strncmp(rest, "--split", 7) == 0;
	struct dp_program_search places = { NULL, search };
	char *word, *found = NULL;

	if (!split && strpbrk(rest, " \t")) {
		dp_fail(err, DP_E_INVALID,
			"%s: its first line makes env look for a program named '%s'", path, rest);
		return dp_hint(err, "write #!/usr/bin/env -S %s", rest);
	}
	if (split && rest[1] == 'S') /* -Spython3 is valid, too */
		rest += 2;
	do
		word = strsep(&rest, " \t");
	while (word && (!*word || *word == '-' || strchr(word, '=')));
	if (!word)
		return DP_OK;
	found = strchr(word, '/') ? dp_strdup(word) : dp_program_find(word, &places);
	if (!found || !can_execute(found)) {
		dp_fail(err, DP_E_NOT_FOUND,
			"%s exists, but its interpreter '%s' is not in PATH (%s)", path, word,
			search ? search : "which is not set");
		dp_hint(err, "install it, or mend the first line of %s", path);
		free(found);
		return DP_E_NOT_FOUND;
	}
	free(found);
	return DP_OK;
}

/* `line`: the text after #!, without the newline. */
static int check_interpreter(const char *path, char *line, const char *search, struct dp_err *err)
{
	size_t n = strlen(line);
	const char *base;
	char *rest;

	if (n > 0 && line[n - 1] == '\r') {
		dp_fail(err, DP_E_INVALID, "%s: its first line ends with a carriage return (CRLF)",
			path);
		return dp_hint(err, "convert it: sed -i 's/\\r$//' %s", path);
	}
	while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
		line[--n] = '\0';
	line += strspn(line, " \t");
	rest = line + strcspn(line, " \t");
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	if (!can_execute(line)) {
		dp_fail(err, DP_E_NOT_FOUND, "%s exists, but its interpreter %s %s", path, line,
			access(line, F_OK) == 0 ? "cannot be executed" : "does not");
		return dp_hint(err, "install it, or mend the first line of %s", path);
	}
	base = strrchr(line, '/');
	if (base && strcmp(base, "/env") == 0 && *rest)
		return check_env_interpreter(path, rest, search, err);
	return DP_OK;
}

static int check_executable_format(const char *path, const char *search, struct dp_err *err)
{
	char first[SHEBANG_LEN_MAX];
	size_t n = read_first_bytes(path, first);

	if (n == 0 && access(path, R_OK) != 0)
		return DP_OK; /* execute permission without read permission */
	if (n < 2 || memcmp(first, "#!", 2) != 0)
		return check_binary(path, first, n, err);
	first[strcspn(first, "\n")] = '\0';
	return check_interpreter(path, first + 2, search, err);
}

/* ---- the file itself ---- */

static int check_program_file(const char *path, const char *search, struct dp_err *err)
{
	struct stat st;

	if (stat(path, &st) != 0) {
		int errnum = errno;

		if (errnum == ENOENT || errnum == ENOTDIR)
			return dp_fail(err, DP_E_NOT_FOUND, "%s does not exist", path);
		return dp_fail(err, DP_E_DENIED, "%s: %s", path, strerror(errnum));
	}
	if (S_ISDIR(st.st_mode))
		return dp_fail(err, DP_E_INVALID, "%s is a folder, not a program", path);
	if (!S_ISREG(st.st_mode))
		return dp_fail(err, DP_E_INVALID, "%s is not a plain file", path);
	if (access(path, X_OK) != 0) {
		dp_fail(err, DP_E_DENIED, "%s is not executable", path);
		return dp_hint(err,
			       "chmod +x %s, or name its interpreter first, as in "
			       "[python3, train.py]",
			       path);
	}
	return check_executable_format(path, search, err);
}

int dp_program_check(const char *program, const struct dp_program_search *places,
		     struct dp_err *err)
{
	char *path;
	int code;

	if (strchr(program, '/'))
		return check_program_file(program, places->path_env, err);
	path = dp_program_find(program, places);
	if (!path)
		return dp_fail(err, DP_E_NOT_FOUND,
			       "'%s' is neither beside dparetod (%s) nor in PATH (%s)", program,
			       places->first_dir ? places->first_dir : "-",
			       places->path_env ? places->path_env : "which is not set");
	code = check_program_file(path, places->path_env, err);
	free(path);
	return code;
}
