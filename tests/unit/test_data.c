/* test_data.c - data sets for the trainers: formats, mistakes in files, where files are
 * looked for, caches, splits, the made-up set; and the real sets where DPARETO_DATA
 * names them. */
#include "base/base.h"
#include "base/fs.h"
#include "trainers/data/data.h"
#include "trainers/data/data_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

static const uint32_t census_sum = 0xd3d17320; /* of the made-up records */

/* ---- a folder for each test ---- */

struct place {
	char top[64], home[96];
	char path[256]; /* of the file last made */
	char *real;     /* DPARETO_DATA as the user set it; or NULL */
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	const char *real = getenv("DPARETO_DATA");

	snprintf(p->top, sizeof p->top, "%s/dpareto-data-XXXXXX",
		 getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 30 ? getenv("TMPDIR")
								   : "/tmp");
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

static int teardown(void **state)
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

static const char *path_of(struct place *p, const char *name)
{
	snprintf(p->path, sizeof p->path, "%s/%s", p->top, name);
	return p->path;
}

static const char *make_bytes(struct place *p, const char *name, const void *data,
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

static const char *make_file(struct place *p, const char *name, const char *text)
{
	return make_bytes(p, name, text, strlen(text));
}

static const char *make_packed(struct place *p, const char *name, const void *data,
			       size_t len)
{
	gzFile out = gzopen(path_of(p, name), "wb9");

	assert_int_equal(gzwrite(out, data, (unsigned)len), (int)len);
	assert_int_equal(gzclose(out), Z_OK);
	return p->path;
}

/* Names in a folder that end in `end`. */
static int count_files(const char *folder, const char *end)
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

static char *render(const struct set *s)
{
	const struct rows *r = &s->rows;
	struct dp_buf out = DP_BUF_INIT;

	dp_buf_printf(&out, "%ux%u:", r->n, r->nfeatures);
	for (uint32_t i = 0; i < r->n; i++) {
		dp_buf_printf(&out, " %s|", s->classes.name[r->label[i]]);
		for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
			dp_buf_printf(&out, "%s%u:%g", k > r->start[i] ? "," : "",
				      r->index[k], r->value ? (double)r->value[k] : 1.0);
	}
	return dp_buf_detach(&out);
}

static void assert_same_rows(const struct rows *a, const struct rows *b)
{
	size_t n = a->start[a->n];

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->nfeatures, b->nfeatures);
	assert_int_equal(a->nclasses, b->nclasses);
	assert_int_equal(a->row_max, b->row_max);
	assert_memory_equal(a->start, b->start, (a->n + 1) * sizeof *a->start);
	assert_memory_equal(a->index, b->index, n * sizeof *a->index);
	assert_memory_equal(a->label, b->label, a->n);
	assert_int_equal(!a->value, !b->value);
	if (a->value)
		assert_memory_equal(a->value, b->value, n * sizeof *a->value);
}

static struct set *load(const char *path, const struct data_options *o)
{
	struct set *s = calloc(1, sizeof *s);
	struct dp_err err = { 0 };

	if (load_set(path, o, s, &err) != DP_OK)
		fail_msg("%s", err.msg);
	return s;
}

static void unload(struct set *s)
{
	set_free(s);
	free(s);
}

static void expect_rows(const char *path, const char *label_column, const char *expected)
{
	struct data_options o = { .label_column = label_column, .no_cache = true };
	struct set *s = load(path, &o);
	char *text = render(s);

	assert_string_equal(text, expected);
	free(text);
	unload(s);
}

static void expect_failure(const struct data_options *o, int code, const char *words)
{
	struct dp_err err = { 0 };
	struct data d;

	if (data_open(&d, o, &err) == DP_OK)
		fail_msg("%s was opened; expected: %s", o->name, words);
	if (!strstr(err.msg, words))
		fail_msg("expected '%s' in: %s", words, err.msg);
	assert_int_equal(err.code, code);
	assert_null(d.memory);
}

#define ADULT_39                                                                         \
	"39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, "             \
	"Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K\n"

static void formats_are_read(void **state)
{
	static const struct {
		const char *text, *label, *rows;
	} files[] = {
		{ "-1 1:1 3:1 \n+1 2:1 5:1 \n", NULL, "2x5: -1|0:1,2:1 1|1:1,4:1" },
		{ "+1 1:0.5 2:-3e2\r\n0 4:1\r\n", NULL, "2x4: 1|0:0.5,1:-300 0|3:1" },
		{ "\n# note\n2\t7:1 # end\n10 1:0 2:2\n9.0 3:1", NULL,
		  "3x7: 2|6:1 10|1:2 9|2:1" },
		{ "1 1:12345678 2:1234567\n0\n", NULL,
		  "2x2: 1|0:1.23457e+07,1:1.23457e+06 0|" },
		{ "a,b,label\n1,0,yes\n0,2.5,no\n", NULL, "2x2: yes|0:1 no|1:2.5" },
		{ "a,b,label\n1,0,yes\n0,2.5,no\n", "label", "2x2: yes|0:1 no|1:2.5" },
		{ "y,a,b\n1,5,6\n0,0,7\n", "y", "2x2: 1|0:5,1:6 0|1:7" },
		{ "y,a,b\n1,5,6\n0,0,7\n", "1", "2x2: 1|0:5,1:6 0|1:7" },
		{ "3,4,1\n0,1,0", "-1", "2x2: 1|0:3,1:4 0|1:1" },
		{ "3,4,1\n0,1,0", "2", "2x2: 4|0:3,1:1 1|" },
		{ "\xef\xbb\xbf\"a \"\"q\"\", b\",c\r\n\"1\",\"x,\"\"y\"\"\"\r\n\r\n2, z "
		  "\r\n",
		  NULL, "2x1: x,\"y\"|0:1 z|0:2" },
		{ "\"two\nlines\",c\n1,0\n2,1\n", NULL, "2x1: 0|0:1 1|0:2" },
		{ "0,1,label\n7,8,a\n9,0,b\n", "label", "2x2: a|0:7,1:8 b|0:9" },
		{ ADULT_39, NULL,
		  "1x123: -1|2:1,10:1,13:1,18:1,38:1,41:1,54:1,63:1,66:1,72:1,74:1,75:1,"
		  "79:1,82:1" },
		{ "|1x3 Cross validator\n25, ?, 226802, 11th, 7, Never-married, ?, "
		  "Own-child, Black, Female, 0, 1, 48, ?, >50K.\n\n",
		  NULL,
		  "1x123: 1|0:1,16:1,20:1,34:1,41:1,61:1,70:1,71:1,73:1,76:1,81:1" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < DP_COUNT(files); i++) {
		size_t len = strlen(files[i].text);

		expect_rows(make_file(p, "plain", files[i].text), files[i].label,
			    files[i].rows);
		expect_rows(make_packed(p, "packed", files[i].text, len), files[i].label,
			    files[i].rows);
	}
}

static void classes_are_numbered_in_order(void **state)
{
	static const struct {
		const char *text, *order[4];
	} files[] = {
		{ "+1 1:1\n-1 1:1\n1.0 1:1\n", { "-1", "1" } },
		{ "10 1:1\n9 1:1\n-0 1:1\n", { "0", "9", "10" } },
		{ "1,b\n1,10\n1,9\n", { "10", "9", "b" } },
	};
	struct data_options o = { .no_cache = true };
	struct place *p = *state;

	for (size_t i = 0; i < DP_COUNT(files); i++) {
		struct set *s = load(make_file(p, "f", files[i].text), &o);
		uint32_t n = 0;

		for (; n < 4 && files[i].order[n]; n++)
			assert_string_equal(s->classes.name[n], files[i].order[n]);
		assert_int_equal(s->rows.nclasses, n);
		unload(s);
	}
}

/* ---- IDX ---- */

static const uint8_t idx_images[] = { 0, 0, 8, 3, 0, 0, 0, 2,   0,  0, 0,
				      1, 0, 0, 0, 3, 0, 0, 255, 51, 0, 102 };
static const uint8_t idx_labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 7, 3 };

static void images_are_read(void **state)
{
	struct place *p = *state;

	make_bytes(p, "x-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	expect_rows(make_bytes(p, "x-images-idx3-ubyte", idx_images, sizeof idx_images),
		    NULL, "2x3: 7|2:1 3|0:0.2,2:0.4");
	assert_int_equal(unlink(p->path), 0);
	make_packed(p, "x-labels-idx1-ubyte.gz", idx_labels, sizeof idx_labels);
	make_packed(p, "x-images-idx3-ubyte.gz", idx_images, sizeof idx_images);
	expect_rows(p->path, NULL, "2x3: 7|2:1 3|0:0.2,2:0.4");
}

static void bad_images_are_told(void **state)
{
	/* one byte changed, or a length */
	static const struct {
		size_t images, labels; /* lengths; 0: as they are */
		int at, value;         /* in the images; from 100 in the labels */
		int code;
		const char *words;
	} cases[] = {
		{ 21, 0, -1, 0, DP_E_CORRUPT, "promises 2 of 3 bytes, but 5" },
		{ 14, 0, -1, 0, DP_E_CORRUPT, "images end within their header (14" },
		{ 0, 9, -1, 0, DP_E_CORRUPT, "labels promises 2 of 1 bytes, but 1" },
		{ 0, 3, -1, 0, DP_E_CORRUPT, "labels end within their header (3" },
		{ 0, 0, 2, 13, DP_E_INVALID, "type 0x0d at offset 2" },
		{ 0, 0, 3, 1, DP_E_INVALID, "name the file of images" },
		{ 0, 0, 3, 9, DP_E_INVALID, "9 dimensions at offset 3" },
		{ 0, 0, 7, 3, DP_E_CORRUPT, "promises 3 of 3" },
		{ 0, 0, 13, 1, DP_E_INVALID, "more than 65535 pixels" },
		{ 0, 0, 15, 0, DP_E_INVALID, "0 or more than" },
		{ 0, 0, 100, 1, DP_E_INVALID, "labels have no IDX magic" },
		{ 0, 0, 103, 3, DP_E_INVALID, "3 dimensions at offset 3, not 1" },
		{ 0, 9, 107, 1, DP_E_INVALID, "2 images but 1 labels" },
		{ 8, 0, -2, 0, DP_E_INVALID, "no records" },
	};
	struct place *p = *state;
	struct data_options o = { .name = NULL };

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		uint8_t x[sizeof idx_images], y[sizeof idx_labels];
		size_t nx = cases[i].images ? cases[i].images : sizeof x;
		size_t ny = cases[i].labels ? cases[i].labels : sizeof y;

		memcpy(x, idx_images, sizeof x);
		memcpy(y, idx_labels, sizeof y);
		if (cases[i].at >= 100)
			y[cases[i].at - 100] = (uint8_t)cases[i].value;
		else if (cases[i].at >= 0)
			x[cases[i].at] = (uint8_t)cases[i].value;
		else if (cases[i].at == -2) { /* no images, no labels */
			x[7] = y[7] = 0;
			nx = 16;
			ny = 8;
		}
		make_bytes(p, "train-labels-idx1-ubyte", y, ny);
		o.name = make_bytes(p, "train-images-idx3-ubyte", x, nx);
		expect_failure(&o, cases[i].code, cases[i].words);
	}
	assert_int_equal(unlink(path_of(p, "train-labels-idx1-ubyte")), 0);
	o.name = make_bytes(p, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
	expect_failure(&o, DP_E_NOT_FOUND, "not beside it as train-labels-idx1-ubyte");
}

/* ---- mistakes in text files ---- */

static void mistakes_are_told_with_place_and_reason(void **state)
{
	static const struct {
		const char *text, *label;
		int code;
		const char *words;
	} cases[] = {
		{ "", NULL, DP_E_INVALID, "is empty" },
		{ "\n\n# only remarks\n", NULL, DP_E_INVALID, "format is not known" },
		{ "hello\n", NULL, DP_E_INVALID, "format is not known" },
		{ "1 1:1\n", NULL, DP_E_INVALID, "every record has the label '1'" },
		{ "1 1:1\n0 2\n", NULL, DP_E_INVALID,
		  "f: line 2: '2' is not index:value" },
		{ "1 1:1\n0 qid:2\n", NULL, DP_E_INVALID,
		  "line 2: 'qid:2' is not index" },
		{ "1 1:1\n0 -2:1\n", NULL, DP_E_INVALID, "'-2:1' is not index:value" },
		{ "1 1:1\n\n0 0:1\n", NULL, DP_E_INVALID,
		  "line 3: '0:1': indices count" },
		{ "1 1:1\n0 65536:1\n", NULL, DP_E_INVALID, "index is above 65535" },
		{ "1 1:1\n0 99999999999999:1\n", NULL, DP_E_INVALID,
		  "is not index:value" },
		{ "1 2:1\n0 5:1 5:1\n", NULL, DP_E_INVALID,
		  "after index 5: indices must" },
		{ "1 2:1\n0 5:1 4:1\n", NULL, DP_E_INVALID,
		  "after index 5: indices must" },
		{ "1 2:1\n0 5:nan\n", NULL, DP_E_INVALID,
		  "line 2: '5:nan': the value is" },
		{ "1 2:1\n0 5:inf\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:1e39\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:0x10\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\nyes 5:1\n", NULL, DP_E_INVALID,
		  "line 2: the label 'yes' is not" },
		{ "1 2:1\ninf 5:1\n", NULL, DP_E_INVALID,
		  "line 2: the label 'inf' is not" },
		{ "1\n0\n", NULL, DP_E_INVALID, "no record has a feature" },
		{ "1 1:1\n0 2:1\n", "y", DP_E_INVALID, "label column was given" },
		{ ADULT_39 "39, State-gov\n", NULL, DP_E_INVALID,
		  "line 2: 2 fields, not 15" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?\n", NULL, DP_E_INVALID,
		  "line 2: fewer than 15" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?,<=50K,3\n", NULL, DP_E_INVALID,
		  "line 2: more than 15" },
		{ ADULT_39 "x,?,1,?,1,?,?,?,?,?,0,0,1,?,<=50K\n", NULL, DP_E_INVALID,
		  "line 2: age 'x' is not a whole" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,Atlantis,<=50K\n", NULL,
		  DP_E_INVALID, "line 2: native-country 'Atlantis' is none" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?,50K\n", NULL, DP_E_INVALID,
		  "line 2: the label '50K' is neither" },
		{ "a,b,c\n1,2,0\n1,Private,1\n", NULL, DP_E_INVALID,
		  "line 3, column 2 (b): 'Private' is not a finite number" },
		{ "1,2,0\n1,,1\n", NULL, DP_E_INVALID,
		  "line 2, column 2: the field is empty" },
		{ "1,2,0\n1,nan,1\n", NULL, DP_E_INVALID, "column 2: 'nan' is not" },
		{ "1,2,0\n1,2\n", NULL, DP_E_INVALID, "line 2 has 2 columns, not 3" },
		{ "1,2,0\n1,2,3,4\n", NULL, DP_E_INVALID, "line 2 has 4 columns, not 3" },
		{ "1,2,0\n1,2,\n", NULL, DP_E_INVALID,
		  "line 2, column 3: the label is empty" },
		{ "1,2,0\n1,\"2\n,1\n", NULL, DP_E_CORRUPT, "line 2: a quote is opened" },
		{ "1,2,0\n1,2,\"", NULL, DP_E_CORRUPT, "line 2: a quote is opened" },
		{ "1,2,0\n1,\"2\"x,1\n", NULL, DP_E_INVALID,
		  "text after the closing quote" },
		{ "\"two\nlines\",c\n1,0\nx,1\n", NULL, DP_E_INVALID,
		  "line 4, column 1 (two?lines)" },
		{ "a,b\n", NULL, DP_E_INVALID, "no records" },
		{ "a,b\n1,0\n", "c", DP_E_INVALID,
		  "none of the 2 columns is called 'c'" },
		{ "a,b\n1,0\n", "3", DP_E_INVALID, "no column 3" },
		{ "a,b\n1,0\n", "0", DP_E_INVALID, "no column 0" },
		{ "1,a\x01z\n2,b\n", NULL, DP_E_INVALID,
		  "label 'a?z' has an unprintable" },
		{ "1,0\n1,"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		  NULL, DP_E_INVALID, "longer than 63 bytes" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct data_options o = { .label_column = cases[i].label };

		o.name = make_file(p, "f", cases[i].text);
		expect_failure(&o, cases[i].code, cases[i].words);
	}
	assert_int_equal(count_files(p->top, ".dpcache"), 1); /* of '1 1:1' */
}

static void too_much_is_told(void **state)
{
	struct dp_buf text = DP_BUF_INIT;
	struct place *p = *state;
	struct data_options o = { .name = NULL };

	for (int i = 0; i < 300; i++)
		dp_buf_printf(&text, "%d.5 1:1\n", i);
	o.name = make_file(p, "labels", text.data);
	expect_failure(&o, DP_E_INVALID, "line 257: '256.5' is one more than 256");
	dp_buf_clear(&text);
	for (int i = 0; i < 65537; i++)
		dp_buf_puts(&text, "1,");
	dp_buf_puts(&text, "1\n");
	o.name = make_file(p, "columns", text.data);
	expect_failure(&o, DP_E_INVALID, "line 1 has more than 65536 columns");
	dp_buf_free(&text);
}

static void broken_gzip_is_told(void **state)
{
	static char noise[20000];
	struct dp_buf packed = DP_BUF_INIT;
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	uint32_t x = 1;

	for (size_t i = 0; i + 8 < sizeof noise; i += 8) {
		char line[16];

		x = x * 1664525 + 1013904223;
		snprintf(line, sizeof line, "%u %03u:1\n", x >> 31, x % 900 + 1);
		memcpy(noise + i, line, 8);
	}
	make_packed(p, "whole.gz", noise, strlen(noise));
	assert_int_equal(dp_read_file(p->path, 1 << 20, &packed, NULL), DP_OK);
	o.name = make_bytes(p, "cut.gz", packed.data, packed.len / 2);
	expect_failure(&o, DP_E_CORRUPT, "cut.gz: the gzip data is cut off near offset");
	o.name = make_bytes(p, "short.gz", packed.data, packed.len - 3);
	expect_failure(&o, DP_E_CORRUPT, "cut off near offset");
	packed.data[packed.len - 6] ^= 1; /* its checksum */
	o.name = make_bytes(p, "wrong.gz", packed.data, packed.len);
	expect_failure(&o, DP_E_CORRUPT,
		       "wrong.gz: the gzip data is damaged near offset");
	dp_buf_free(&packed);
}

static void what_is_no_file_is_told(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = p->top };

	expect_failure(&o, DP_E_INVALID, "is not a file but a folder");
	assert_int_equal(mkfifo(path_of(p, "pipe"), 0600), 0);
	o.name = p->path;
	expect_failure(&o, DP_E_INVALID, "is not a file but something else");
}

/* ---- which files ---- */

static void open_sizes(const struct data_options *o, uint32_t train, uint32_t test)
{
	struct dp_err err = { 0 };
	struct data d;

	if (data_open(&d, o, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(d.train.n, train);
	assert_int_equal(d.test.n, test);
	data_close(&d);
	assert_null(d.memory);
}

#define ROWS_2 "1 1:1\n-1 3:1\n"
#define ROWS_3 ROWS_2 "1 2:1\n"
#define ROWS_4 ROWS_3 "1 2:1\n"

static void sets_are_looked_for_in_order(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = "adult" };
	char dir[96], env[96];

	snprintf(dir, sizeof dir, "%s/dir", p->top);
	snprintf(env, sizeof env, "%s/env", p->top);
	setenv("DPARETO_DATA", env, 1);
	expect_failure(&o, DP_E_NOT_FOUND, env);
	expect_failure(&o, DP_E_NOT_FOUND, ".local/share/dpareto/adult");
	make_file(p, "home/.local/share/dpareto/adult/a1a.t", ROWS_4);
	expect_failure(&o, DP_E_NOT_FOUND, "but the test file a1a or a1a.gz is not");
	make_file(p, "home/.local/share/dpareto/adult/a1a", ROWS_2);
	open_sizes(&o, 4, 2);
	make_file(p, "env/a1a.t", ROWS_3);
	make_packed(p, "env/a1a.gz", ROWS_3, strlen(ROWS_3));
	open_sizes(&o, 3, 3);
	o.dir = dir;
	open_sizes(&o, 3, 3);
	make_file(p, "dir/adult/a1a", ROWS_4);
	make_packed(p, "dir/adult/a1a.t.gz", ROWS_2, strlen(ROWS_2));
	open_sizes(&o, 2, 4);
}

static void names_and_hints(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = "mnist" };
	struct dp_err err = { 0 };
	struct data d;

	assert_int_equal(data_open(&d, &o, &err), DP_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "scripts/fetch-data mnist"));
	assert_non_null(strstr(err.hint, "--data census"));
	o.name = "mnits";
	assert_int_equal(data_open(&d, &o, &err), DP_E_NOT_FOUND);
	assert_non_null(strstr(err.hint, "'mnist'"));
	o.name = path_of(p, "nothing");
	expect_failure(&o, DP_E_NOT_FOUND, "there is no file");
	o.name = "census";
	o.test = "x";
	expect_failure(&o, DP_E_INVALID, "has a test set of its own");
	/* adult-a9a can also be made from the original files */
	make_file(p, "adult.data", ADULT_39 "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K\n");
	make_file(p, "adult.test", "|x\n25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K.\n");
	o = (struct data_options){ .name = "adult-a9a", .dir = p->top };
	open_sizes(&o, 2, 1);
	make_file(p, "a9a", ROWS_4);
	make_file(p, "a9a.t", ROWS_3);
	open_sizes(&o, 4, 3);
}

static void the_test_file_goes_with_its_name(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	char test[256];

	make_file(p, "set.t", ROWS_2);
	o.name = make_file(p, "set", ROWS_4);
	open_sizes(&o, 4, 2);
	strcpy(test, make_file(p, "other", ROWS_3));
	o.test = test;
	o.name = path_of(p, "set");
	open_sizes(&o, 4, 3);
	o.test = NULL;
	make_packed(p, "zip.t.gz", ROWS_2, strlen(ROWS_2));
	make_packed(p, "zip.gz", ROWS_3, strlen(ROWS_3));
	o.name = path_of(p, "zip");
	open_sizes(&o, 3, 2);
	o.name = path_of(p, "zip.gz");
	open_sizes(&o, 3, 2);
	make_file(p, "adult.test", "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K.\n");
	o.name = make_file(p, "adult.data",
			   ADULT_39 "25,?,1,?,1,?,?,?,?,?,0,0,1,?,>50K\n");
	open_sizes(&o, 2, 1);
	make_bytes(p, "t10k-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	make_bytes(p, "t10k-images-idx3-ubyte", idx_images, sizeof idx_images);
	make_bytes(p, "train-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	o.name = make_bytes(p, "train-images-idx3-ubyte", idx_images, sizeof idx_images);
	open_sizes(&o, 2, 2);
}

static void test_sets_are_matched(void **state)
{
	struct place *p = *state;
	struct data_options o = { .no_cache = true };
	struct data d;
	char path[256];

	/* fewer classes and fewer features in a LIBSVM test file */
	make_file(p, "a.t", "3 1:1\n1 1:1\n3 1:1\n");
	strcpy(path, make_file(p, "a", "1 4:1\n2 1:1\n3 1:1\n"));
	o.name = path;
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.test.nclasses, 3);
	assert_int_equal(d.test.nfeatures, 4);
	assert_memory_equal(d.test.label, "\2\0\2", 3);
	assert_float_equal(d.majority, 2.0 / 3, 1e-15);
	data_close(&d);
	/* more features in it */
	make_file(p, "a.t", "3 6:1\n");
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.nfeatures, 6);
	data_close(&d);
	make_file(p, "a.t", "4 1:1\n");
	expect_failure(&o, DP_E_INVALID, "label '4', which the training set has not");
	strcpy(path, make_file(p, "b", "x,y,c\n1,2,0\n1,2,1\n"));
	make_file(p, "b.t", "x,z,c\n1,2,0\n");
	expect_failure(&o, DP_E_INVALID, "other names");
	make_file(p, "b.t", "1,2,0\n");
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	data_close(&d);
	make_file(p, "b.t", "1,2,3,0\n");
	expect_failure(&o, DP_E_INVALID, "3 features, the training set 2");
}

/* ---- splits ---- */

/* n records, each with a feature that is its own. */
static void make_numbered(struct place *p, const char *name, int n)
{
	struct dp_buf text = DP_BUF_INIT;

	for (int i = 0; i < n; i++)
		dp_buf_printf(&text, "%d %d:%d.5 %d:1\n", i % 3, i + 1, i % 7, n + 1);
	make_file(p, name, text.data);
	dp_buf_free(&text);
}

/* Marks the records of a part; each once, with what belongs to it. */
static void mark(const struct rows *r, uint8_t *seen)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t id = r->index[r->start[i]];

		assert_int_equal(r->start[i + 1] - r->start[i], 2);
		assert_float_equal(r->value[r->start[i]], (id % 7 + 0.5), 0);
		assert_int_equal(r->label[i], id % 3);
		assert_int_equal(seen[id], 0);
		assert_true(i == 0 || id > last);
		last = id;
		seen[id] = 1;
	}
}

static void parts_are_disjoint_and_complete(void **state)
{
	struct data_options o = { .holdout = 0.25, .split_seed = 7 };
	uint8_t first[500] = { 0 }, seen[500], other[500] = { 0 };
	struct place *p = *state;
	struct data d;

	make_numbered(p, "n", 500);
	o.name = path_of(p, "n");
	for (int round = 0; round < 2; round++) {
		memset(seen, 0, sizeof seen);
		assert_int_equal(data_open(&d, &o, NULL), DP_OK);
		assert_int_equal(d.test.n, 100);
		assert_int_equal(d.validation.n, 100);
		assert_int_equal(d.train.n, 300);
		assert_int_equal(d.train.row_max, 2);
		assert_int_equal(d.validation.nclasses, 3);
		mark(&d.validation, seen);
		/* the same in every opening */
		if (round)
			assert_memory_equal(first, seen, sizeof seen);
		memcpy(first, seen, sizeof seen);
		mark(&d.train, seen);
		mark(&d.test, seen);
		for (int i = 0; i < 500; i++)
			assert_int_equal(seen[i], 1);
		data_close(&d);
	}
	/* another seed: other records held out, but the same test set */
	o.split_seed = 8;
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	mark(&d.validation, other);
	assert_memory_not_equal(first, other, sizeof other);
	data_close(&d);
}

static void shares_are_held_to(void **state)
{
	struct data_options o = { .holdout = 1 };
	struct place *p = *state;
	struct data d;

	make_numbered(p, "n.t", 3);
	make_numbered(p, "n", 10);
	o.name = path_of(p, "n");
	expect_failure(&o, DP_E_INVALID, "share held out is 1");
	o.holdout = -0.1;
	expect_failure(&o, DP_E_INVALID, "share held out is -0.1");
	o.holdout = NAN;
	expect_failure(&o, DP_E_INVALID, "share held out is");
	o.holdout = 1e-9;
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.validation.n, 1);
	data_close(&d);
	o.holdout = 0.999;
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.n, 1);
	data_close(&d);
}

/* Every record is held out equally often: 400 seeds, 10 records, 4 held out. */
static void records_are_held_out_equally_often(void **state)
{
	struct set rests[2] = { { .map = NULL } }, parts[2] = { { .map = NULL } };
	uint32_t count[10] = { 0 };
	double chi2 = 0;
	struct place *p = *state;
	struct data_options o = { .no_cache = true };
	struct set *all;

	make_numbered(p, "n", 10);
	all = load(path_of(p, "n"), &o);
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct set rest = { .map = NULL }, part = { .map = NULL };

		assert_int_equal(split_rows(&all->rows, 0.4, seed, SPLIT_HOLDOUT, &rest,
					    &part, NULL),
				 DP_OK);
		assert_int_equal(part.rows.n, 4);
		for (uint32_t i = 0; i < 4; i++)
			count[part.rows.index[part.rows.start[i]]]++;
		set_free(&rest);
		set_free(&part);
	}
	/* the test set's stream is another one */
	assert_int_equal(
		split_rows(&all->rows, 0.5, 1, SPLIT_HOLDOUT, &rests[0], &parts[0], NULL),
		DP_OK);
	assert_int_equal(
		split_rows(&all->rows, 0.5, 1, SPLIT_TEST, &rests[1], &parts[1], NULL),
		DP_OK);
	assert_memory_not_equal(parts[0].rows.index, parts[1].rows.index, 20);
	for (int i = 0; i < 2; i++) {
		set_free(&rests[i]);
		set_free(&parts[i]);
	}
	unload(all);
	for (int i = 0; i < 10; i++)
		chi2 += (count[i] - 160.0) * (count[i] - 160.0) / 160.0;
	/* without replacement the sum is 0.6 * 10/9 times a chi-squared of 9: 99.9 % is
	 * below 18.6 */
	assert_true(chi2 < 18.6);
	assert_true(chi2 > 0.3);
}

/* ---- caches ---- */

static void caches_are_made_and_used(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL }, none = { .no_cache = true };
	struct set *fresh, *first, *second;
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
	assert_int_equal(first->widens, fresh->widens);
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
		struct set *s;
		char *text;

		make_file(p, "f", versions[i / 2].text);
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
		struct set *s = load(p->path, &o);

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
		struct set *s = load(path_of(p, "train-images-idx3-ubyte"), &o);

		assert_string_equal(s->classes.name[0], "5");
		unload(s);
	}
}

static void damaged_caches_are_made_again(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	struct dp_buf good = DP_BUF_INIT;
	struct set *s, *fresh;
	char file[256];
	size_t step;

	make_numbered(p, "n", 40);
	strcpy(file, p->path);
	fresh = load(file, &(struct data_options){ .no_cache = true });
	unload(load(file, &o));
	assert_int_equal(dp_read_file(path_of(p, ".n.dpcache"), 1 << 20, &good, NULL),
			 DP_OK);
	s = calloc(1, sizeof *s);
	/* any byte changed, any length: never taken for good */
	for (size_t i = 0; i < good.len; i++) {
		good.data[i] ^= 0x41;
		assert_false(cache_decode(good.data, good.len, s));
		good.data[i] ^= 0x41;
	}
	for (size_t len = 0; len < good.len; len += len < 20000 && len > 64 ? 101 : 1) {
		char *copy = malloc(len + 1);

		memcpy(copy, good.data, len);
		assert_false(cache_decode(copy, len, s));
		free(copy);
	}
	assert_true(cache_decode(good.data, good.len, s));
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
	const struct rows good = { 2, 3, 2, start, index, NULL, label, 2 };
	struct place *p = *state;
	struct origin from = { .path = NULL };
	struct stamp stamps[2];
	struct set *s = calloc(1, sizeof *s), *back = calloc(1, sizeof *back);

	from.path = make_file(p, "f", ROWS_2);
	assert_int_equal(stamp_take(from.path, stamps, NULL), DP_OK);
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
			s->rows.row_max = 1; /* rows are longer */
			break;
		case 6:
			start[0] = 1;
			break;
		case 7:
			index[0] = 9; /* hidden within a row */
			break;
		}
		assert_true(cache_write(&from, stamps, s));
		assert_int_equal(cache_open(from.path, NULL, back), forgery == 0);
		set_free(back);
	}
	free(s);
	free(back);
}

static void caches_move_where_they_may(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL };
	char folder[128], file[256];
	struct set *s;

	make_file(p, "data/f", ROWS_4);
	make_file(p, "more/f", ROWS_3);
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
	make_file(p, "free/f", ROWS_2);
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
	struct set *fresh;
	pid_t child[8];
	char file[256];

	make_numbered(p, "n", 3000);
	strcpy(file, p->path);
	fresh = load(file, &(struct data_options){ .no_cache = true });
	for (int i = 0; i < 8; i++) {
		child[i] = fork();
		if (child[i] == 0) {
			struct set *s = calloc(1, sizeof *s);
			bool good = true;

			for (int round = 0; round < 5 && good; round++) {
				good = load_set(file, &o, s, NULL) == DP_OK &&
				       s->rows.n == 3000 &&
				       memcmp(s->rows.label, fresh->rows.label, 3000) ==
					       0;
				unlink(i % 2 ? path_of(p, ".n.dpcache") : "");
				/* a mapped file that is gone can still be read */
				good = good && memcmp(s->rows.index, fresh->rows.index,
						      12000) == 0;
				set_free(s);
			}
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

/* ---- the made-up set ---- */

static void census_is_as_promised(void **state)
{
	static const uint32_t sizes[CENSUS_GROUPS] = { 5, 8, 5, 16, 5, 7, 14,
						       6, 5, 2, 2,  2, 5, 41 };
	struct data_options o = { .name = "census" };
	uint32_t group[CENSUS_FEATURES], used[CENSUS_FEATURES] = { 0 }, positive = 0,
					 n = 0;
	uLong sum = crc32(0, NULL, 0);
	struct data d;

	(void)state;
	for (uint32_t g = 0; g < CENSUS_GROUPS; g++)
		for (uint32_t c = 0; c < sizes[g]; c++)
			group[n++] = g;
	assert_int_equal(n, CENSUS_FEATURES);
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	assert_int_equal(d.train.n, 30956);
	assert_int_equal(d.test.n, 1605);
	assert_int_equal(d.train.nfeatures, 123);
	assert_int_equal(d.train.nclasses, 2);
	assert_null(d.train.value);
	for (uint32_t i = 0; i < d.train.n; i++) {
		assert_int_equal(d.train.start[i], 14 * i);
		for (uint32_t g = 0; g < CENSUS_GROUPS; g++) {
			uint16_t k = d.train.index[14 * i + g];

			assert_int_equal(group[k], g);
			used[k]++;
		}
		positive += d.train.label[i];
	}
	for (uint32_t k = 0; k < CENSUS_FEATURES; k++)
		assert_true(used[k] > 0);
	assert_float_equal(positive / 30956.0, 0.24, 0.01);
	assert_float_equal(d.majority, 0.76, 0.03);
	/* the same on every machine, for ever */
	sum = crc32(sum, (const Bytef *)d.train.index, 14 * 30956 * 2);
	sum = crc32(sum, (const Bytef *)d.train.label, 30956);
	sum = crc32(sum, (const Bytef *)d.test.index, 14 * 1605 * 2);
	sum = crc32(sum, (const Bytef *)d.test.label, 1605);
	assert_int_equal(sum, census_sum);
	data_close(&d);
}

/* Logistic regression by plain gradient steps learns it: between 0.84 and 0.87. */
static void census_can_be_learnt(void **state)
{
	struct data_options o = { .name = "census" };
	double w[CENSUS_FEATURES + 1] = { 0 };
	uint32_t right = 0;
	struct data d;

	(void)state;
	assert_int_equal(data_open(&d, &o, NULL), DP_OK);
	for (uint32_t step = 0; step < 5 * d.train.n; step++) {
		const struct rows *r = step < 4 * d.train.n ? &d.train : &d.test;
		uint32_t i = step % r->n;
		double score = w[CENSUS_FEATURES], change;

		for (int g = 0; g < 14; g++)
			score += w[r->index[14 * i + g]];
		if (r == &d.test) {
			right += step < 4 * d.train.n + r->n &&
				 (score > 0) == d.test.label[i];
			continue;
		}
		change = 0.02 * (r->label[i] - 1 / (1 + exp(-score)));
		for (int g = 0; g < 14; g++)
			w[r->index[14 * i + g]] += change;
		w[CENSUS_FEATURES] += change;
	}
	assert_float_equal(right / (double)d.test.n, 0.85, 0.015);
	data_close(&d);
}

/* ---- the real sets ---- */

static bool have_real(const struct place *p)
{
	if (!p->real) {
		print_message("skipped: DPARETO_DATA does not name the real sets\n");
		return false;
	}
	return true;
}

static uint32_t count_label(const struct rows *r, uint8_t label)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->label[i] == label;
	return n;
}

static void open_real(const struct place *p, const char *name, struct data *d)
{
	/* nothing may be written where the user's data is */
	struct data_options o = { .name = name, .dir = p->real, .no_cache = true };
	struct dp_err err = { 0 };

	if (data_open(d, &o, &err) != DP_OK)
		fail_msg("%s", err.msg);
}

static void real_adult(void **state)
{
	struct place *p = *state;
	struct data d;

	if (!have_real(p))
		skip();
	open_real(p, "adult", &d);
	assert_int_equal(d.train.n, 30956);
	assert_int_equal(d.test.n, 1605);
	assert_int_equal(d.train.nfeatures, 123);
	assert_int_equal(d.test.nfeatures, 123);
	assert_int_equal(d.train.row_max, 14);
	assert_null(d.train.value);
	assert_int_equal(count_label(&d.train, 1), 7446);
	assert_int_equal(count_label(&d.test, 1), 395);
	data_close(&d);
}

static void real_adult_is_encoded_as_a9a(void **state)
{
	struct place *p = *state;
	struct data_options o = { .name = NULL, .no_cache = true };
	struct dp_err err = { 0 };
	struct data libsvm, uci;
	char path[512];

	if (!have_real(p))
		skip();
	open_real(p, "adult-a9a", &libsvm);
	assert_int_equal(libsvm.train.n + libsvm.test.n, 48842);
	assert_int_equal(count_label(&libsvm.train, 1), 7841);
	assert_int_equal(count_label(&libsvm.test, 1), 3846);
	snprintf(path, sizeof path, "%s/adult/adult.data", p->real);
	o.name = path;
	if (data_open(&uci, &o, &err) != DP_OK)
		fail_msg("%s", err.msg);
	assert_same_rows(&uci.train, &libsvm.train);
	assert_same_rows(&uci.test, &libsvm.test);
	data_close(&uci);
	data_close(&libsvm);
}

static void real_mnist(void **state)
{
	static const uint32_t train[] = { 5923, 6742, 5958, 6131, 5842,
					  5421, 5918, 6265, 5851, 5949 };
	static const uint32_t test[] = { 980, 1135, 1032, 1010, 982,
					 892, 958,  1028, 974,  1009 };
	struct place *p = *state;
	double sum = 0;
	struct data d;

	if (!have_real(p))
		skip();
	open_real(p, "mnist", &d);
	assert_int_equal(d.train.n, 60000);
	assert_int_equal(d.test.n, 10000);
	assert_int_equal(d.train.nfeatures, 784);
	assert_int_equal(d.train.nclasses, 10);
	for (uint8_t c = 0; c < 10; c++) {
		assert_int_equal(count_label(&d.train, c), train[c]);
		assert_int_equal(count_label(&d.test, c), test[c]);
	}
	for (uint64_t k = 0; k < d.train.start[60000]; k++)
		sum += (double)d.train.value[k];
	assert_float_equal(sum / (60000.0 * 784), 0.1307, 5e-5);
	assert_float_equal(d.majority, 0.1135, 1e-12);
	data_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(formats_are_read),
		TEST(classes_are_numbered_in_order),
		TEST(images_are_read),
		TEST(bad_images_are_told),
		TEST(mistakes_are_told_with_place_and_reason),
		TEST(too_much_is_told),
		TEST(broken_gzip_is_told),
		TEST(what_is_no_file_is_told),
		TEST(sets_are_looked_for_in_order),
		TEST(names_and_hints),
		TEST(the_test_file_goes_with_its_name),
		TEST(test_sets_are_matched),
		TEST(parts_are_disjoint_and_complete),
		TEST(shares_are_held_to),
		TEST(records_are_held_out_equally_often),
		TEST(caches_are_made_and_used),
		TEST(caches_follow_their_file),
		TEST(damaged_caches_are_made_again),
		TEST(forged_caches_are_refused),
		TEST(caches_move_where_they_may),
		TEST(trainers_that_start_together),
		TEST(census_is_as_promised),
		TEST(census_can_be_learnt),
		TEST(real_adult),
		TEST(real_adult_is_encoded_as_a9a),
		TEST(real_mnist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
