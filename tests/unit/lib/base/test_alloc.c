/* test_alloc.c - a process that cannot allocate says so and ends with exit code 1. */
#include "base/alloc.h"
#include "base/base.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* An amount that no machine has: malloc() refuses it without trying. */
#define TOO_MUCH ((size_t)PTRDIFF_MAX - 4096)

static void allocate(void)
{
	free(dp_malloc(TOO_MUCH));
}

static void allocate_zeroed(void)
{
	free(dp_calloc(SIZE_MAX / 2, 4));
}

static void allocate_array(void)
{
	free(dp_reallocarray(dp_strdup("x"), SIZE_MAX / 2, 4));
}

static void allocate_aligned(void)
{
	free(dp_aligned_alloc(SIZE_MAX - 8));
}

/* Runs `fn` in a child and expects the one line and the exit code. */
static void expect_end(void (*fn)(void))
{
	char text[256] = "";
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(pipes[1]);
	n = read(pipes[0], text, sizeof text - 1);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(n > 0);
	assert_non_null(strstr(text, ": out of memory\n"));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}

static void test_failure_ends_the_process(void **state)
{
	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer ends the process with a report of its own */
#endif
	expect_end(allocate);
	expect_end(allocate_zeroed);
	expect_end(allocate_array);
	expect_end(allocate_aligned);
}

static void test_empty_requests(void **state)
{
	void *p = dp_malloc(0), *q = dp_calloc(0, 8), *r = dp_aligned_alloc(0);

	(void)state;
	assert_int_equal((uintptr_t)r % 64, 0);
	p = dp_realloc(p, 0);
	free(p);
	free(q);
	free(r);
	assert_null(dp_strdup_null(NULL));
}

static void test_copies(void **state)
{
	char *text = dp_asprintf("%d-%s", 7, "x"), *part = dp_strndup("abcdef", 3),
	     *bytes = dp_memdup("a\0b", 3);

	(void)state;
	assert_string_equal(text, "7-x");
	assert_string_equal(part, "abc");
	assert_memory_equal(bytes, "a\0b", 3);
	free(text);
	free(part);
	free(bytes);
}

static void test_jansson_uses_it(void **state)
{
	json_malloc_t allocator;
	json_free_t release;

	(void)state;
	dp_alloc_init();
	json_get_alloc_funcs(&allocator, &release);
	assert_ptr_equal(allocator, dp_malloc);
	assert_ptr_equal(release, free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failure_ends_the_process),
		cmocka_unit_test(test_empty_requests),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_jansson_uses_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
