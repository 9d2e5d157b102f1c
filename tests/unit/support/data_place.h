/* data_place.h - a folder of data files for each test. */
#ifndef DP_TEST_DATA_PLACE_H
#define DP_TEST_DATA_PLACE_H
#include "base/base.h"
#include "base/fs.h"
#include "trainers/data/data_splits.h"
#include "trainers/data/dataset_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* ---- a folder for each test ---- */

struct place {
	char top[64], home[96];
	char path[256]; /* of the file last made */
	char *real;     /* DPARETO_DATA as the user set it; or NULL */
};

static inline int setup(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	const char *real = getenv("DPARETO_DATA");

	snprintf(p->top, sizeof p->top, "%s/dpareto-data-XXXXXX",
		 getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 30 ? getenv("TMPDIR") : "/tmp");
	assert_non_null(mkdtemp(p->top));
	snprintf(p->home, sizeof p->home, "%s/home", p->top);
	assert_int_equal(mkdir(p->home, 0755), 0);
	p->real = real && *real ? strdup(real) : NULL;
	/* no test may find or leave something in the user's own folders */
	unsetenv("DPARETO_DATA");
	unsetenv("XDG_DATA_HOME");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", p->home, 1);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct place *p = *state;

	unsetenv("DPARETO_DATA");
	if (p->real)
		setenv("DPARETO_DATA", p->real, 1);
	assert_int_equal(dp_remove_tree(p->top, NULL), DP_OK);
	free(p->real);
	free(p);
	return 0;
}

static inline const char *path_of(struct place *p, const char *name)
{
	snprintf(p->path, sizeof p->path, "%s/%s", p->top, name);
	return p->path;
}

static inline const char *make_bytes(struct place *p, const char *name, const void *data,
				     size_t len)
{
	char *folder = dp_path_dir_absolute(path_of(p, name));

	if (!folder) {
		*strrchr(p->path, '/') = '\0';
		assert_int_equal(dp_mkdirs(p->path, 0755, NULL), DP_OK);
		path_of(p, name);
	}
	free(folder);
	assert_int_equal(dp_write_file(p->path, data, len, false, NULL), DP_OK);
	return p->path;
}

static inline const char *shim_create_file(struct place *p, const char *name, const char *text)
{
	return make_bytes(p, name, text, strlen(text));
}

static inline const char *make_packed(struct place *p, const char *name, const void *data,
				      size_t len)
{
	gzFile out = gzopen(path_of(p, name), "wb9");

	assert_int_equal(gzwrite(out, data, (unsigned)len), (int)len);
	assert_int_equal(gzclose(out), Z_OK);
	return p->path;
}

/* Names in a folder that end in `end`. */
static inline int count_files(const char *folder, const char *end)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)) != NULL) {
		size_t len = strlen(e->d_name), want = strlen(end);

		n += len >= want && strcmp(e->d_name + len - want, end) == 0;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* ---- sets as text: "class|index:value ...;" ---- */

static inline char *render(const struct dataset *s)
{
	const struct sparse_rows *r = &s->rows;
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_printf(&out, "%ux%u:", r->n, r->nfeatures);
	for (uint32_t i = 0; i < r->n; i++) {
		dp_buf_printf(&out, " %s|", s->classes.name[r->label[i]]);
		for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
			dp_buf_printf(&out, "%s%u:%g", k > r->start[i] ? "," : "", r->index[k],
				      r->value ? (double)r->value[k] : 1.0);
	}
	return dp_buf_detach(&out);
}

static inline void assert_same_rows(const struct sparse_rows *a, const struct sparse_rows *b)
{
	size_t n = a->start[a->n];

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->nfeatures, b->nfeatures);
	assert_int_equal(a->nclasses, b->nclasses);
	assert_int_equal(a->max_row_entries, b->max_row_entries);
	assert_memory_equal(a->start, b->start, (a->n + 1) * sizeof *a->start);
	assert_memory_equal(a->index, b->index, n * sizeof *a->index);
	assert_memory_equal(a->label, b->label, a->n);
	assert_int_equal(!a->value, !b->value);
	if (a->value)
		assert_memory_equal(a->value, b->value, n * sizeof *a->value);
}

static inline struct dataset *load(const char *path, const struct data_options *o)
{
	struct dataset *s = calloc(1, sizeof *s);
	struct dp_err err = { 0 };

	if (dataset_load(path, o, s, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return s;
}

static inline void unload(struct dataset *s)
{
	dataset_free(s);
	free(s);
}

static inline void expect_rows(const char *path, const char *label_column, const char *expected)
{
	struct data_options o = { .label_column = label_column, .no_cache = true };
	struct dataset *s = load(path, &o);
	char *text = render(s);

	assert_string_equal(text, expected);
	free(text);
	unload(s);
}

static inline void expect_failure(const struct data_options *o, int code, const char *words)
{
	struct dp_err err = { 0 };
	struct data_splits d;

	if (data_splits_open(&d, o, &err) == DP_OK)
		fail_msg("%s was opened; expected: %s", o->name, words);
	if (!strstr(err.msg, words))
		fail_msg("expected '%s' in: %s", words, err.msg);
	assert_int_equal(err.code, code);
	assert_null(d.memory);
}

/* ---- some records ---- */

#define ADULT_39                                                                                   \
	"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, "                       \
	"Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n"
#define ROWS_2 "1 1:1\n-1 3:1\n"
#define ROWS_3 ROWS_2 "1 2:1\n"
#define ROWS_4 ROWS_3 "1 2:1\n"

/* The label and the pixels of two images. */
static const uint8_t idx_images[] = { 0, 0, 8, 3, 0, 0, 0, 2,   0,  0, 0,
				      1, 0, 0, 0, 3, 0, 0, 255, 51, 0, 102 };
static const uint8_t idx_labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 7, 3 };

/* n records, each with a feature that is its own. */
static inline void make_numbered(struct place *p, const char *name, int n)
{
	struct dp_buf text = DP_BUF_INIT;

	for (int i = 0; i < n; i++)
		dp_buf_printf(&text, "%d %d:%d.5 %d:1\n", i % 3, i + 1, i % 7, n + 1);
	shim_create_file(p, name, text.data);
	dp_buf_free(&text);
}

#endif
