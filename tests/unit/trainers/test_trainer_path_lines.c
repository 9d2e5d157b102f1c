/* test_trainer_path_lines.c - the path of a request: which lines a trainer writes for it, and
 * which paths it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "tests/unit/support/place.h"
#include "trainers/trainers.h"

enum {
	RUNS = 2
};

/* Runs a trainer on the built-in data for so many epochs, with this field `path` ("":
 * none). */
static int run(const struct place *p, const struct trainer *t, const char *options, int epochs,
	       const char *path, struct dp_err *err)
{
	char text[1024];

	snprintf(text, sizeof text,
		 "{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
		 "\"parameters\":{\"epochs\":%d,\"lot_size\":500,\"learning_rate\":0.05,"
		 "\"clip\":1,\"noise_multiplier\":1,\"regularization\":0.1,\"sigma\":1,"
		 "\"C\":3,\"b\":1},\"runs\":[{\"run\":4,\"seed\":12},{\"run\":2,"
		 "\"seed\":34}]%s%s}",
		 epochs, *path ? ",\"path\":" : "", path);
	return place_run(p, t, options, text, err);
}

/* The lines with results, in order; the rest is left out. */
static json_t *lines_of(const struct place *p)
{
	struct dp_buf text = DP_BUF_INIT;
	json_t *lines = json_array();

	assert_int_equal(dp_read_file(p->result, 1 << 20, &text, NULL), DP_OK);
	for (char *l = strtok(text.data, "\n"); l; l = strtok(NULL, "\n")) {
		json_t *line;

		assert_int_equal(dp_json_parse(l, strlen(l), &line, NULL), DP_OK);
		if (json_object_get(line, "run"))
			json_array_append(lines, line);
		json_decref(line);
	}
	dp_buf_free(&text);
	return lines;
}

/* What a line says but for the seconds, which are never the same twice; taken out. */
static json_t *metrics_of(const json_t *lines, size_t i, double *seconds)
{
	json_t *m = json_object_get(json_array_get(lines, i), "metrics");

	assert_non_null(m);
	*seconds = json_number_value(json_object_get(m, "seconds"));
	json_object_del(m, "seconds");
	return m;
}

/* Each run's waypoints, rising, then its own line; the numbers are those of trainings
 * that end there. */
static void check_walk(const struct place *p, const struct trainer *t, const char *options)
{
	static const int at[] = { 1, 2, 4 }, runs[RUNS] = { 4, 2 };
	const size_t each = DP_COUNT(at) + 1;
	json_t *lines;

	assert_int_equal(
		run(p, t, options, 5, "{\"parameter\":\"epochs\",\"values\":[1,2,4]}", NULL),
		DP_OK);
	lines = lines_of(p);
	assert_int_equal(json_array_size(lines), RUNS * each);
	for (size_t k = 0; k < each; k++) {
		json_t *alone;

		assert_int_equal(run(p, t, options, k < DP_COUNT(at) ? at[k] : 5, "", NULL), DP_OK);
		alone = lines_of(p);
		assert_int_equal(json_array_size(alone), RUNS);
		for (size_t i = 0; i < RUNS; i++) {
			const json_t *line = json_array_get(lines, i * each + k);
			double seconds;

			assert_int_equal(dp_json_int(line, "run", -1), runs[i]);
			assert_int_equal(dp_json_int(line, "at", -1),
					 k < DP_COUNT(at) ? at[k] : -1);
			assert_true(json_equal(metrics_of(lines, i * each + k, &seconds),
					       metrics_of(alone, i, &seconds)));
		}
		json_decref(alone);
	}
	json_decref(lines);
}

static void test_walks(void **state)
{
	check_walk(*state, &linear_trainer, "--data census --optimizer adam");
	check_walk(*state, &linear_trainer, "--data census --model svm --holdout 0.2");
	check_walk(*state, &mlp_trainer, "--data census --hidden 8");
}

/* The seconds of a waypoint are those of its epochs, and grow along the way. */
static void test_seconds(void **state)
{
	double last = 0, seconds;
	json_t *lines;

	assert_int_equal(run(*state, &linear_trainer, "--data census", 5,
			     "{\"parameter\":\"epochs\",\"values\":[1,2,4]}", NULL),
			 DP_OK);
	lines = lines_of(*state);
	for (size_t i = 0; i < 4; i++) {
		metrics_of(lines, i, &seconds);
		assert_true(seconds > last);
		last = seconds;
	}
	json_decref(lines);
}

/* The lowest value of the parameter has no path to it. */
static void test_empty(void **state)
{
	json_t *lines;

	assert_int_equal(run(*state, &linear_trainer, "--data census", 1,
			     "{\"parameter\":\"epochs\",\"values\":[]}", NULL),
			 DP_OK);
	lines = lines_of(*state);
	assert_int_equal(json_array_size(lines), RUNS);
	json_decref(lines);
}

#define EPOCHS_AT(values) "{\"parameter\":\"epochs\",\"values\":" values "}"

static void test_refused(void **state)
{
	static const struct {
		const struct trainer *trainer;
		const char *options, *path, *says;
	} cases[] = {
		{ &linear_trainer, "--data census", "{\"parameter\":\"lot_size\",\"values\":[1]}",
		  "over 'epochs' only, not over 'lot_size'" },
		{ &mlp_trainer, "--data census", "{\"values\":[1]}", "'path' needs 'parameter'" },
		{ &mlp_trainer, "--data census", "7", "'path' needs 'parameter'" },
		{ &linear_trainer, "--data census", EPOCHS_AT("3"), "an array" },
		{ &linear_trainer, "--data census", EPOCHS_AT("[2,1]"), "whole numbers" },
		{ &linear_trainer, "--data census", EPOCHS_AT("[1,1]"), "whole numbers" },
		{ &linear_trainer, "--data census", EPOCHS_AT("[0,1]"), "numbers from 1" },
		{ &linear_trainer, "--data census", EPOCHS_AT("[1.5]"), "whole numbers" },
		{ &linear_trainer, "--data census", EPOCHS_AT("[1,5]"), "whole numbers" },
		{ &output_trainer, "--data census", EPOCHS_AT("[1]"),
		  "output-perturbation cannot walk a path: its noise is added once" },
		{ &svt_trainer, "", EPOCHS_AT("[1]"), "svt cannot walk a path" },
	};

	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_err err = { 0 };
		int code = run(*state, cases[i].trainer, cases[i].options, 5, cases[i].path, &err);

		if (code != DP_E_INVALID || !strstr(err.msg, cases[i].says))
			fail_msg("%s: code %d, '%s'", cases[i].says, code, err.msg);
	}
}

/* --path: read by hand, refused beside a request. */
static void test_by_hand(void **state)
{
	static const struct {
		const char *text;
		size_t n; /* 0: refused */
	} cases[] = { { "1", 1 },    { "1,2,4", 3 }, { "", 0 },    { "1,", 0 },
		      { "1,,2", 0 }, { "0", 0 },     { "-1", 0 },  { "2,1", 0 },
		      { "5", 0 },    { "1;2", 0 },   { "1.5", 0 }, { "99999999999", 0 } };
	struct dp_err err;

	assert_int_equal(run(*state, &linear_trainer, "--data census --path 1", 5, "", &err),
			 DP_E_USAGE);
	assert_non_null(strstr(err.msg, "--path is for trying by hand"));
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_trainer_request q = { .parameters = json_pack("{s:i}", "epochs", 5) };
		struct checkpoint_epochs w = { 0 };
		int code = checkpoint_epochs_parse(cases[i].text, &q, NULL);

		if (code == DP_OK)
			code = checkpoint_epochs_read(&linear_trainer, &q, &w, NULL);
		assert_int_equal(code == DP_OK, cases[i].n > 0);
		if (code == DP_OK)
			assert_int_equal(w.n, cases[i].n);
		if (w.n == 3)
			assert_int_equal(w.epochs[2], 4);
		free(w.epochs);
		dp_trainer_request_clear(&q);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),   cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_empty),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_by_hand),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
