/* test_dataset_cache.c - caches of data files: made, used, followed, damaged, forged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/support/data_place.h"

/* ---- caches ---- */

static void caches_are_made_and_used(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL }, none = { .no_cache = true };
	struct dataset *fresh, *first, *second;
	struct stat st;

	make_numbered(p, "n", 200);
	o.name = path_of(p, "n");
	assert_int_equal(chmod(o.name, 0640), 0);
	fresh = load(o.name, &none);
	assert_int_equal(count_files(p->top, ".dpcache"), 0);
	assert_null(fresh->map);
	first = load(o.name, &o);
	assert_non_null(first->map);
	second = load(o.name, &o);
	assert_non_null(second->map);
	assert_same_rows(&first->rows, &fresh->rows);
	assert_same_rows(&second->rows, &fresh->rows);
	assert_int_equal(first->classes.n, fresh->classes.n);
	assert_memory_equal(&first->classes, &fresh->classes, sizeof fresh->classes);
	assert_int_equal(first->can_widen, fresh->can_widen);
	/* as private as the file it was made of */
	assert_int_equal(stat(path_of(p, ".n.dpcache"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(count_files(p->top, ""), 5); /* ., .., home, n, cache */
	unload(fresh);
	unload(first);
	unload(second);
}

static void set_time(const char *path, long seconds, long nanoseconds)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW },
				     { .tv_sec = seconds, .tv_nsec = nanoseconds } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void caches_follow_their_file(void **state)
{
	/* the same length each time */
	static const struct {
		const char *text, *rows;
		long seconds, nanoseconds;
	} versions[] = {
		{ "1,2,0\n1,3,1\n", "2x2: 0|0:1,1:2 1|0:1,1:3", 1000, 5 },
		{ "4,2,0\n1,5,1\n", "2x2: 0|0:4,1:2 1|0:1,1:5", 1000, 6 },
		{ "4,2,0\n7,5,1\n", "2x2: 0|0:4,1:2 1|0:7,1:5", 999, 6 },
	};
	struct place *p = *state;
	struct data_options o = { .name = NULL };

	for (size_t i = 0; i < 2 * DP_COUNT(versions); i++) {
		struct dataset *s;
		char *text;

		shim_create_file(p, "f", versions[i / 2].text);
		set_time(p->path, versions[i / 2].seconds, versions[i / 2].nanoseconds);
		s = load(p->path, &o);
		text = render(s);
		assert_string_equal(text, versions[i / 2].rows);
		assert_non_null(s->map);
		free(text);
		unload(s);
	}
	/* another label column */
	o.label_column = "1";
	for (int round = 0; round < 2; round++) {
		struct dataset *s = load(p->path, &o);

		assert_string_equal(s->classes.name[1], "7");
		unload(s);
	}
	/* the labels of images count as well */
	o.label_column = NULL;
	make_bytes(p, "train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	make_bytes(p, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
	unload(load(p->path, &o));
	make_bytes(p, "train-labels-idx1-ubyte", "\0\0\10\1\0\0\0\2\5\6", 10);
	set_time(p->path, 1000, 0);
	for (int round = 0; round < 2; round++) {
		struct dataset *s = load(path_of(p, "train-images-idx3-ubyte"), &o);

		assert_string_equal(s->classes.name[0], "5");
		unload(s);
	}
}

static void damaged_caches_are_made_again(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	struct dp_buf good = DP_BUF_INIT;
	struct dataset *s, *fresh;
	char file[256];
	size_t step;

	make_numbered(p, "n", 40);
	strcpy(file, p->path);
	fresh = load(file, &(struct data_options){ .no_cache = true });
	unload(load(file, &o));
	assert_int_equal(dp_read_file(path_of(p, ".n.dpcache"), 1 << 20, &good, NULL), DP_OK);
	s = calloc(1, sizeof *s);
	/* any byte changed, any length: never taken for good */
	for (size_t i = 0; i < good.len; i++) {
		good.data[i] ^= 0x41;
		assert_false(dataset_cache_decode(good.data, good.len, s));
		good.data[i] ^= 0x41;
	}
	for (size_t len = 0; len < good.len; len += len < 20000 && len > 64 ? 101 : 1) {
		char *copy = malloc(len + 1);

		memcpy(copy, good.data, len);
		assert_false(dataset_cache_decode(copy, len, s));
		free(copy);
	}
	assert_true(dataset_cache_decode(good.data, good.len, s));
	memset(s, 0, sizeof *s); /* it points into `good` */
	free(s);
	step = good.len / 7;
	for (size_t i = 0; i < good.len; i += step) {
		good.data[i] ^= 1;
		make_bytes(p, ".n.dpcache", good.data, good.len);
		good.data[i] ^= 1;
		s = load(file, &o);
		assert_same_rows(&s->rows, &fresh->rows);
		assert_non_null(s->map);
		unload(s);
	}
	make_bytes(p, ".n.dpcache", "", 0);
	unload(load(file, &o));
	unload(fresh);
	dp_buf_free(&good);
}

/* What carries good checksums but would lead out of the arrays is refused. */
static void forged_caches_are_refused(void **state)
{
	static uint64_t start[] = { 0, 2, 4 };
	static uint16_t index[] = { 0, 2, 1, 2 };
	static uint8_t label[] = { 0, 1 };
	const struct sparse_rows good = { 2, 3, 2, start, index, NULL, label, 2 };
	struct place *p = *state;
	struct cache_source from = { .path = NULL };
	struct file_stamp stamps[2];
	struct dataset *s = calloc(1, sizeof *s), *back = calloc(1, sizeof *back);

	from.path = shim_create_file(p, "f", ROWS_2);
	assert_int_equal(file_stamp_read(from.path, stamps, NULL), DP_OK);
	s->classes.n = 2;
	strcpy(s->classes.name[0], "0");
	strcpy(s->classes.name[1], "1");
	for (int forgery = 0; forgery <= 7; forgery++) {
		s->rows = good;
		memcpy(index, (uint16_t[]){ 0, 2, 1, 2 }, sizeof index);
		memcpy(start, (uint64_t[]){ 0, 2, 4 }, sizeof start);
		label[1] = 1;
		switch (forgery) {
		case 1:
			index[3] = 3; /* no such feature */
			break;
		case 2:
			index[1] = 0; /* not rising */
			break;
		case 3:
			label[1] = 2; /* no such class */
			break;
		case 4:
			start[1] = UINT64_C(1) << 60; /* far behind the end */
			break;
		case 5:
			s->rows.max_row_entries = 1; /* rows are longer */
			break;
		case 6:
			start[0] = 1;
			break;
		case 7:
			index[0] = 9; /* hidden within a row */
			break;
		}
		assert_true(dataset_cache_write(&from, stamps, s));
		assert_int_equal(dataset_cache_open(from.path, NULL, back), forgery == 0);
		dataset_free(back);
	}
	free(s);
	free(back);
}

static void caches_move_where_they_may(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	char folder[128], file[256];
	struct dataset *s;

	shim_create_file(p, "data/f", ROWS_4);
	shim_create_file(p, "more/f", ROWS_3);
	snprintf(folder, sizeof folder, "%s/data", p->top);
	strcpy(file, path_of(p, "data/f"));
	assert_int_equal(chmod(folder, 0555), 0);
	for (int round = 0; round < 2; round++) {
		s = load(file, &o);
		assert_non_null(s->map);
		assert_int_equal(s->rows.n, 4);
		unload(s);
		assert_int_equal(count_files(folder, ".dpcache"), 0);
		assert_int_equal(count_files(path_of(p, "home/.cache/dpareto"), ""), 3);
	}
	/* XDG_CACHE_HOME comes before the home folder; a file of the same name in another
	 * folder has its own */
	setenv("XDG_CACHE_HOME", path_of(p, "xdg"), 1);
	unload(load(file, &o));
	assert_int_equal(count_files(path_of(p, "xdg/dpareto"), ".dpcache"), 1);
	assert_int_equal(chmod(path_of(p, "more"), 0555), 0);
	s = load(path_of(p, "more/f"), &o);
	assert_int_equal(s->rows.n, 3);
	unload(s);
	assert_int_equal(count_files(path_of(p, "xdg/dpareto"), ".dpcache"), 2);
	/* a folder in the way of the cache beside the file */
	assert_int_equal(mkdir(path_of(p, "free"), 0755), 0);
	assert_int_equal(mkdir(path_of(p, "free/.f.dpcache"), 0755), 0);
	shim_create_file(p, "free/f", ROWS_2);
	unload(load(p->path, &o));
	assert_int_equal(count_files(path_of(p, "xdg/dpareto"), ".dpcache"), 3);
	assert_int_equal(count_files(path_of(p, "free"), ""), 4); /* ., .., f, folder */
	/* nowhere: it works all the same */
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	s = load(file, &o);
	assert_null(s->map);
	assert_int_equal(s->rows.n, 4);
	unload(s);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(path_of(p, "more"), 0755), 0);
}

static void trainers_that_start_together(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	static struct dataset *fresh; /* which a child that ends has not lost */
	pid_t child[8];
	char file[256];

	make_numbered(p, "n", 3000);
	strcpy(file, p->path);
	fresh = load(file, &(struct data_options){ .no_cache = true });
	for (int i = 0; i < 8; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			struct dataset *s = calloc(1, sizeof *s);
			bool good = true;

			for (int round = 0; round < 5 && good; round++) {
				good = dataset_load(file, &o, s, NULL) == DP_OK &&
				       s->rows.n == 3000 &&
				       memcmp(s->rows.label, fresh->rows.label, 3000) == 0;
				unlink(i % 2 ? path_of(p, ".n.dpcache") : "");
				/* a mapped file that is gone can still be read */
				good = good && memcmp(s->rows.index, fresh->rows.index, 12000) == 0;
				dataset_free(s);
			}
			free(s);
			_exit(good ? 0 : 1);
		}
	}
	for (int i = 0; i < 8; i++) {
		int status = 1;

		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	unload(load(file, &o));
	assert_int_equal(count_files(p->top, ".dpcache"), 1);
	assert_int_equal(count_files(p->top, ""), 5); /* nothing left behind */
	unload(fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(caches_are_made_and_used),      TEST(caches_follow_their_file),
		TEST(damaged_caches_are_made_again), TEST(forged_caches_are_refused),
		TEST(caches_move_where_they_may),    TEST(trainers_that_start_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
