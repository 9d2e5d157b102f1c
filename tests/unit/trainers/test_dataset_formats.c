/* test_dataset_formats.c - data sets for the trainers: formats, and mistakes in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/support/data_place.h"

static void formats_are_read(void **state)
{
	static const struct {
		const char *text, *label, *rows;
	} files[] = {
		{ "-1 1:1 3:1 \n+1 2:1 5:1 \n", NULL, "2x5: -1|0:1,2:1 1|1:1,4:1" },
		{ "+1 1:0.5 2:-3e2\r\n0 4:1\r\n", NULL, "2x4: 1|0:0.5,1:-300 0|3:1" },
		{ "\n# note\n2\t7:1 # end\n10 1:0 2:2\n9.0 3:1", NULL, "3x7: 2|6:1 10|1:2 9|2:1" },
		{ "1 1:12345678 2:1234567\n0\n", NULL, "2x2: 1|0:1.23457e+07,1:1.23457e+06 0|" },
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
		  NULL, "1x123: 1|0:1,16:1,20:1,34:1,41:1,61:1,70:1,71:1,73:1,76:1,81:1" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < DP_COUNT(files); i++) {
		size_t len = strlen(files[i].text);

		expect_rows(shim_create_file(p, "plain", files[i].text), files[i].label,
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
		struct dataset *s = load(shim_create_file(p, "f", files[i].text), &o);
		uint32_t n = 0;

		for (; n < 4 && files[i].order[n]; n++)
			assert_string_equal(s->classes.name[n], files[i].order[n]);
		assert_int_equal(s->rows.nclasses, n);
		unload(s);
	}
}

/* ---- IDX ---- */

static void images_are_read(void **state)
{
	struct place *p = *state;

	make_bytes(p, "x-labels-idx1-ubyte", idx_labels, sizeof idx_labels);
	expect_rows(make_bytes(p, "x-images-idx3-ubyte", idx_images, sizeof idx_images), NULL,
		    "2x3: 7|2:1 3|0:0.2,2:0.4");
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

/* ---- extreme values ---- */

/* Values beyond 2^45 are 2^45 with their sign, also where no float or no double can hold
 * them: one record must not decide whether a file is read. */
static void extreme_values_are_bounded(void **state)
{
	struct place *p = *state;

	expect_rows(shim_create_file(p, "a",
				     "1 1:3e38 2:-1e39 3:1e999 4:-1e308 5:35184372088832\n"
				     "0 1:1e-45 2:1e-60 3:-1e-999 4:1e-310 5:3.5e13\n"),
		    NULL,
		    "2x5: 1|0:3.51844e+13,1:-3.51844e+13,2:3.51844e+13,3:-3.51844e+13,"
		    "4:3.51844e+13 0|0:1.4013e-45,4:3.5e+13");
	expect_rows(shim_create_file(p, "b.csv", "x,y,label\n-1e400,3.5e38,1\n1e300,-2e38,0\n"),
		    NULL, "2x2: 1|0:-3.51844e+13,1:3.51844e+13 0|0:3.51844e+13,1:-3.51844e+13");
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
		{ "1 1:1\n0 2\n", NULL, DP_E_INVALID, "f: line 2: '2' is not index:value" },
		{ "1 1:1\n0 qid:2\n", NULL, DP_E_INVALID, "line 2: 'qid:2' is not index" },
		{ "1 1:1\n0 -2:1\n", NULL, DP_E_INVALID, "'-2:1' is not index:value" },
		{ "1 1:1\n\n0 0:1\n", NULL, DP_E_INVALID, "line 3: '0:1': indices count" },
		{ "1 1:1\n0 65536:1\n", NULL, DP_E_INVALID, "index is above 65535" },
		{ "1 1:1\n0 99999999999999:1\n", NULL, DP_E_INVALID, "is not index:value" },
		{ "1 2:1\n0 5:1 5:1\n", NULL, DP_E_INVALID, "after index 5: indices must" },
		{ "1 2:1\n0 5:1 4:1\n", NULL, DP_E_INVALID, "after index 5: indices must" },
		{ "1 2:1\n0 5:nan\n", NULL, DP_E_INVALID, "line 2: '5:nan': the value is" },
		{ "1 2:1\n0 5:inf\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:1e39x\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:1e999-\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\n0 5:0x10\n", NULL, DP_E_INVALID, "not a finite number" },
		{ "1 2:1\nyes 5:1\n", NULL, DP_E_INVALID, "line 2: the label 'yes' is not" },
		{ "1 2:1\ninf 5:1\n", NULL, DP_E_INVALID, "line 2: the label 'inf' is not" },
		{ "1\n0\n", NULL, DP_E_INVALID, "no record has a feature" },
		{ "1 1:1\n0 2:1\n", "y", DP_E_INVALID, "label column was given" },
		{ ADULT_39 "39, State-gov\n", NULL, DP_E_INVALID, "line 2: 2 fields, not 15" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?\n", NULL, DP_E_INVALID,
		  "line 2: fewer than 15" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?,<=50K,3\n", NULL, DP_E_INVALID,
		  "line 2: more than 15" },
		{ ADULT_39 "x,?,1,?,1,?,?,?,?,?,0,0,1,?,<=50K\n", NULL, DP_E_INVALID,
		  "line 2: age 'x' is not a whole" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,Atlantis,<=50K\n", NULL, DP_E_INVALID,
		  "line 2: native-country 'Atlantis' is none" },
		{ ADULT_39 "1,?,1,?,1,?,?,?,?,?,0,0,1,?,50K\n", NULL, DP_E_INVALID,
		  "line 2: the label '50K' is neither" },
		{ "a,b,c\n1,2,0\n1,Private,1\n", NULL, DP_E_INVALID,
		  "line 3, column 2 (b): 'Private' is not a finite number" },
		{ "1,2,0\n1,,1\n", NULL, DP_E_INVALID, "line 2, column 2: the field is empty" },
		{ "1,2,0\n1,nan,1\n", NULL, DP_E_INVALID, "column 2: 'nan' is not" },
		{ "1,2,0\n1,2\n", NULL, DP_E_INVALID, "line 2 has 2 columns, not 3" },
		{ "1,2,0\n1,2,3,4\n", NULL, DP_E_INVALID, "line 2 has 4 columns, not 3" },
		{ "1,2,0\n1,2,\n", NULL, DP_E_INVALID, "line 2, column 3: the label is empty" },
		{ "1,2,0\n1,\"2\n,1\n", NULL, DP_E_CORRUPT, "line 2: a quote is opened" },
		{ "1,2,0\n1,2,\"", NULL, DP_E_CORRUPT, "line 2: a quote is opened" },
		{ "1,2,0\n1,\"2\"x,1\n", NULL, DP_E_INVALID, "text after the closing quote" },
		{ "\"two\nlines\",c\n1,0\nx,1\n", NULL, DP_E_INVALID,
		  "line 4, column 1 (two?lines)" },
		{ "a,b\n", NULL, DP_E_INVALID, "no records" },
		{ "a,b\n1,0\n", "c", DP_E_INVALID, "none of the 2 columns is called 'c'" },
		{ "a,b\n1,0\n", "3", DP_E_INVALID, "no column 3" },
		{ "a,b\n1,0\n", "0", DP_E_INVALID, "no column 0" },
		{ "1,a\x01z\n2,b\n", NULL, DP_E_INVALID, "label 'a?z' has an unprintable" },
		{ "1,0\n1,"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
		  NULL, DP_E_INVALID, "longer than 63 bytes" },
	};
	struct place *p = *state;

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct data_options o = { .label_column = cases[i].label };

		o.name = shim_create_file(p, "f", cases[i].text);
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
	o.name = shim_create_file(p, "labels", text.data);
	expect_failure(&o, DP_E_INVALID, "line 257: '256.5' is one more than 256");
	dp_buf_clear(&text);
	for (int i = 0; i < 65537; i++)
		dp_buf_puts(&text, "1,");
	dp_buf_puts(&text, "1\n");
	o.name = shim_create_file(p, "columns", text.data);
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
	expect_failure(&o, DP_E_CORRUPT, "wrong.gz: the gzip data is damaged near offset");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(formats_are_read),
		TEST(classes_are_numbered_in_order),
		TEST(images_are_read),
		TEST(bad_images_are_told),
		TEST(extreme_values_are_bounded),
		TEST(mistakes_are_told_with_place_and_reason),
		TEST(too_much_is_told),
		TEST(broken_gzip_is_told),
		TEST(what_is_no_file_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
