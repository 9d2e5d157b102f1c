/* test_program.c - which file a program's name means, and why it would not start. */
#include "base/program.h"

#include <setjmp.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/support/folder.h"

/* An executable file of this content. */
static const char *script(const char *name, const char *text)
{
	const char *path = file_of(name, text);

	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

/* What is wrong with a program, and what to do; "" if nothing is. */
static const char *wrong(const char *program, const char *path)
{
	static char text[sizeof(struct dp_err) + 8];
	struct dp_program_search places = { folder, path };
	struct dp_err err = { 0 };
	int code = dp_program_check(program, &places, &err);

	assert_int_equal(code, err.code);
	snprintf(text, sizeof text, "%s|%s", err.msg, err.hint);
	return code == DP_OK ? "" : text;
}

static void told(const char *program, const char *path, const char *part)
{
	const char *text = wrong(program, path);

	assert_non_null(part);
	if (!strstr(text, part))
		fail_msg("'%s' is not in '%s'", part, text);
}

static void test_found(void **state)
{
	struct dp_program_search places = { folder, "/nowhere::/bin" };
	char *found;

	(void)state;
	script("sh", "#!/bin/sh\n");
	found = dp_program_find("sh", &places);
	assert_string_equal(found, in_folder("sh")); /* that folder comes first */
	free(found);
	places.first_dir = "/nowhere";
	found = dp_program_find("sh", &places);
	assert_string_equal(found, "/bin/sh");
	free(found);
	file_of("plain", "no program");
	places = (struct dp_program_search){ folder, NULL };
	assert_null(dp_program_find("plain", &places));
	assert_null(dp_program_find("none", &places));
	assert_int_equal(mkdir(in_folder("dir"), 0755), 0);
	assert_null(dp_program_find("dir", &places));
}

static void moved(const char *folder_of_programs, const char *bin, const char *other,
		  const char *wanted)
{
	char *got = dp_program_relocated_dir(folder_of_programs, bin, other);

	if (wanted)
		assert_string_equal(got, wanted);
	else
		assert_null(got);
	free(got);
}

static void test_moved(void **state)
{
	static const char bin[] = "/usr/local/bin", own[] = "/usr/local/libexec/dpareto";

	(void)state;
	moved(bin, bin, own, own);
	moved("/x/bin", bin, own, "/x/libexec/dpareto");
	moved("/tmp/stage/usr/local/bin", bin, own, "/tmp/stage/usr/local/libexec/dpareto");
	moved("/bin", bin, own, "/libexec/dpareto");
	moved("/x/_b", bin, own, NULL);
	moved("/x/mybin", bin, own, NULL);
	moved("/usr", bin, own, NULL);
	moved("/x/opt/bin", "/opt/bin", "/libexec/dpareto", "/x/libexec/dpareto");
	moved("/x/bin", "/opt/bin", "/libexec/dpareto", NULL);
	moved("/x/opt/b", "/opt/b", "/opt/bin-helpers", "/x/opt/bin-helpers");
}

/* That of libexec, though an older version has left one beside the programs. */
static void test_helper(void **state)
{
	static char libexec[PATH_MAX];
	char *bin, *got;

	(void)state;
	script("shim", "#!/bin/sh\n");
	got = dp_program_helper_path(folder, "shim"); /* a build's folder */
	assert_string_equal(got, in_folder("shim"));
	free(got);
	assert_int_equal(mkdir(in_folder("bin"), 0755), 0);
	bin = strdup(in_folder("bin"));
	script("bin/shim", "#!/bin/sh\n");
	got = dp_program_helper_path(bin, "shim");
	assert_string_equal(got, in_folder("bin/shim"));
	free(got);
	assert_int_equal(mkdir(in_folder("libexec"), 0755), 0);
	assert_int_equal(mkdir(in_folder("libexec/dpareto"), 0755), 0);
	snprintf(libexec, sizeof libexec, "%s", script("libexec/dpareto/shim", "#!/bin/sh\n"));
	got = dp_program_helper_path(bin, "shim");
	assert_string_equal(got, libexec);
	free(got);
	got = dp_program_helper_path(bin, "none"); /* where it belongs */
	assert_string_equal(got, in_folder("libexec/dpareto/none"));
	free(got);
	free(bin);
}

static void test_path_of_an_environment(void **state)
{
	char *env[] = { "HOME=/", "PATH=/mine", NULL }, *none[] = { NULL };

	(void)state;
	assert_string_equal(dp_program_path_env(env), "/mine");
	assert_string_equal(dp_program_path_env(none), getenv("PATH"));
	assert_string_equal(dp_program_path_env(NULL), getenv("PATH"));
}

static void test_nothing_wrong(void **state)
{
	(void)state;
	assert_string_equal(wrong("/proc/self/exe", NULL), "");
	assert_string_equal(wrong(script("a", "#!/bin/sh\n"), NULL), "");
	assert_string_equal(wrong(script("b", "#! /bin/sh -e \n"), NULL), "");
	assert_string_equal(wrong(script("c", "#!/bin/sh"), NULL), "");
	assert_string_equal(wrong(script("d", "#!/usr/bin/env sh\n"), "/bin"), "");
	assert_string_equal(wrong(script("e", "#!/usr/bin/env -S A=1 sh -e\n"), "/bin"), "");
	assert_string_equal(wrong(script("f", "#!/usr/bin/env -Ssh -e\n"), "/bin"), "");
	script("g", "#!/bin/sh\n");
	assert_string_equal(wrong("g", NULL), ""); /* beside */
}

static void test_files(void **state)
{
	(void)state;
	told("nosuch", "/bin:/sbin", "'nosuch' is neither beside dparetod (");
	told("nosuch", "/bin:/sbin", ") nor in PATH (/bin:/sbin)|");
	told("nosuch", NULL, "nor in PATH (which is not set)");
	told(in_folder("none"), NULL, "/none does not exist|");
	told(in_folder("none/below"), NULL, "/none/below does not exist|");
	told("/tmp", NULL, "/tmp is a folder, not a program|");
	told("/dev/null", NULL, "/dev/null is not a plain file|");
	told(file_of("plain.py", "#!/bin/sh\n"), NULL, "/plain.py is not executable|chmod +x ");
}

static void test_first_line(void **state)
{
	(void)state;
	told(script("no", "#!/opt/none/python\n"), NULL,
	     "/no exists, but its interpreter /opt/none/python does not|");
	told(script("no", "#!/tmp\n"), NULL, "its interpreter /tmp cannot be executed|");
	told(script("no", "#!/usr/bin/env pyhton3\n"), "/bin",
	     "/no exists, but its interpreter 'pyhton3' is not in PATH (/bin)|");
	told(script("no", "#!/usr/bin/env -S pyhton3 -u\n"), "/bin", "'pyhton3' is not");
	told(script("no", "#!/usr/bin/env sh -e\n"), "/bin",
	     "makes env look for a program named 'sh -e'|write #!/usr/bin/env -S sh -e");
	told(script("no", "#!/bin/sh\r\necho\r\n"), NULL,
	     "/no: its first line ends with a carriage return (CRLF)|convert it: sed -i "
	     "'s/\\r$//' /");
	told(script("no", "#!/usr/bin/env sh\r\n"), "/bin", "(CRLF)");
	told(script("no", "import os\n"), NULL, "/no has no #! line: /bin/sh runs it|");
	told(script("no", ""), NULL, "/no has no #! line");
	/* machine number 0x6161 */
	told(script("no", "\177ELF\377aaaaaaaaaaaaaaaaaaaaaaaaaaaa"), NULL,
	     "/no is a program for another kind of machine|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),         cmocka_unit_test(test_moved),
		cmocka_unit_test(test_helper),        cmocka_unit_test(test_path_of_an_environment),
		cmocka_unit_test(test_nothing_wrong), cmocka_unit_test(test_files),
		cmocka_unit_test(test_first_line),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
