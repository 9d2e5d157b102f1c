/* test_trainer_protocol.c - the trainer protocol: requests, result files, ends and classes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "protocol/trainer/trainer_protocol.h"

static void assert_says(const char *sentence, const char *part)
{
	if (!sentence || !strstr(sentence, part))
		fail_msg("\"%s\" does not say \"%s\"", sentence ? sentence : "(nothing)", part);
}

/* ---- requests ---- */

#define REQUEST(version, study, trial, parameters, runs)                                           \
	"{\"version\":" version ",\"study\":" study ",\"trial\":" trial                            \
	",\"attempt\":0,\"parameters\":" parameters ",\"runs\":" runs "}"
#define ONE_RUN "[{\"run\":0,\"seed\":1}]"

/* The contract's own example, bytes as they must be written. */
static const char example[] = "{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
			      "\"parameters\":{\"lot_size\":64,\"clip\":0.5,\"kind\":\"a\"},"
			      "\"runs\":[{\"run\":0,\"seed\":123},"
			      "{\"run\":2,\"seed\":9007199254740991}]}\n";

static void test_request_round_trip(void **state)
{
	struct dp_buf text = DP_BUF_INIT;
	struct dp_trainer_request q;

	(void)state;
	assert_int_equal(dp_trainer_request_parse(example, strlen(example), &q, NULL), DP_OK);
	assert_string_equal(q.study, "s");
	assert_int_equal(q.trial, 7);
	assert_int_equal(q.attempt, 0);
	assert_int_equal(q.nruns, 2);
	assert_int_equal(q.runs[1], 2);
	assert_true(q.seeds[1] == 9007199254740991);
	assert_int_equal(dp_json_int(q.parameters, "lot_size", 0), 64);
	dp_trainer_request_format(&q, &text);
	assert_string_equal(dp_buf_text(&text), example);
	dp_buf_free(&text);
	dp_trainer_request_clear(&q);
	dp_trainer_request_clear(&q);
}

/* A path, also one on which nothing is asked. */
static void test_request_path(void **state)
{
	static const char *const texts[] = {
		"{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
		"\"parameters\":{\"epochs\":9007199254740992},"
		"\"runs\":[{\"run\":0,\"seed\":1}],"
		"\"path\":{\"parameter\":\"epochs\","
		"\"values\":[1,2,9007199254740991]}}\n",
		"{\"version\":1,\"study\":\"s\",\"trial\":7,\"attempt\":0,"
		"\"parameters\":{\"epochs\":1},\"runs\":[{\"run\":3,\"seed\":1}],"
		"\"path\":{\"parameter\":\"epochs\",\"values\":[]}}\n",
	};
	struct dp_buf text = DP_BUF_INIT;
	struct dp_trainer_request q;

	(void)state;
	for (size_t i = 0; i < DP_COUNT(texts); i++) {
		assert_int_equal(dp_trainer_request_parse(texts[i], strlen(texts[i]), &q, NULL),
				 DP_OK);
		assert_string_equal(q.path_parameter, "epochs");
		assert_int_equal(q.ncheckpoints, i == 0 ? 3 : 0);
		assert_true(i || q.checkpoints[2] == 9007199254740991);
		dp_buf_clear(&text);
		dp_trainer_request_format(&q, &text);
		assert_string_equal(dp_buf_text(&text), texts[i]);
		dp_trainer_request_clear(&q);
	}
	dp_buf_free(&text);
}

#define PATH(text)                                                                                 \
	"{\"version\":1,\"study\":\"s\",\"trial\":0,\"attempt\":0,"                                \
	"\"parameters\":{\"n\":5,\"x\":0.5},\"runs\":" ONE_RUN ",\"path\":" text "}"

static void test_request_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "cannot be read" },
		{ "[]", "not a JSON object" },
		{ "{\"version\":1,\"version\":1}", "duplicate" },
		{ REQUEST("2", "\"s\"", "0", "{}", ONE_RUN), "version 2" },
		{ REQUEST("\"1\"", "\"s\"", "0", "{}", ONE_RUN), "'version'" },
		{ REQUEST("1", "\"../s\"", "0", "{}", ONE_RUN), "'study'" },
		{ REQUEST("1", "5", "0", "{}", ONE_RUN), "'study'" },
		{ REQUEST("1", "\"s\"", "-1", "{}", ONE_RUN), "'trial'" },
		{ REQUEST("1", "\"s\"", "4294967296", "{}", ONE_RUN), "'trial'" },
		{ REQUEST("1", "\"s\"", "0.5", "{}", ONE_RUN), "'trial'" },
		{ REQUEST("1", "\"s\"", "0", "[]", ONE_RUN), "'parameters'" },
		{ REQUEST("1", "\"s\"", "0", "{\"a\":{}}", ONE_RUN), "'parameters'" },
		{ REQUEST("1", "\"s\"", "0", "{\"a b\":1}", ONE_RUN), "'parameters'" },
		{ REQUEST("1", "\"s\"", "0", "{}", "[]"), "'runs'" },
		{ REQUEST("1", "\"s\"", "0", "{}", "[1]"), "entry 0" },
		{ REQUEST("1", "\"s\"", "0", "{}", "[{\"run\":0}]"), "'seed'" },
		{ REQUEST("1", "\"s\"", "0", "{}", "[{\"run\":0,\"seed\":9007199254740992}]"),
		  "'seed'" },
		{ REQUEST("1", "\"s\"", "0", "{}",
			  "[{\"run\":3,\"seed\":1},{\"run\":0,\"seed\":2},"
			  "{\"run\":3,\"seed\":3}]"),
		  "run 3 twice" },
		{ PATH("null"), "'path' needs 'parameter'" },
		{ PATH("{\"parameter\":\"m\",\"values\":[1]}"), "'path' needs" },
		{ PATH("{\"parameter\":\"x\",\"values\":[1]}"), "'path' needs" },
		{ PATH("{\"parameter\":\"n\"}"), "'values', an array" },
		{ PATH("{\"parameter\":\"n\",\"values\":[2,2]}"), "ascend" },
		{ PATH("{\"parameter\":\"n\",\"values\":[3,2]}"), "ascend" },
		{ PATH("{\"parameter\":\"n\",\"values\":[1.5]}"), "whole numbers" },
		{ PATH("{\"parameter\":\"n\",\"values\":[1,5]}"), "below the value" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_trainer_request q;
		struct dp_err err;

		assert_int_not_equal(
			dp_trainer_request_parse(cases[i].text, strlen(cases[i].text), &q, &err),
			DP_OK);
		assert_says(err.msg, cases[i].says);
	}
}

/* Unknown fields are for later versions that old readers survive. */
static void test_request_unknown_fields(void **state)
{
	static const char text[] = "{\"version\":1,\"new\":[1],\"study\":\"s\",\"trial\":0,"
				   "\"attempt\":0,\"parameters\":{},"
				   "\"runs\":[{\"run\":4,\"seed\":0,\"new\":{}}]}";
	struct dp_trainer_request q;

	(void)state;
	assert_int_equal(dp_trainer_request_parse(text, strlen(text), &q, NULL), DP_OK);
	assert_int_equal(q.runs[0], 4);
	dp_trainer_request_clear(&q);
}

/* ---- result files ---- */

static struct dp_result_reader *read_result(const char *text, uint32_t nruns)
{
	const uint32_t asked[] = { 0, 1, 2, 3 };
	struct dp_result_reader *r = dp_result_reader_new(asked, nruns);

	assert_non_null(r);
	dp_result_reader_feed(r, text, strlen(text));
	dp_result_reader_finish(r);
	return r;
}

static double point_metric_value(const struct dp_result_reader *r, size_t run, const char *name)
{
	double x = -1;
	int metric = dp_result_reader_find_metric(r, name);

	assert_true(metric >= 0);
	assert_true(dp_result_reader_run_value(r, run, (size_t)metric, &x));
	return x;
}

static void test_result_good(void **state)
{
	struct dp_result_reader *r =
		read_result("{\"progress\":0}\n\n{\"progress\":0.4,\"note\":\"x\"}\r\n"
			    "{\"declare\":{\"sampling\":\"poisson\",\"records\":30956}}\n"
			    "{\"metrics\":{\"accuracy\":0.83,\"seconds\":2},\"run\":1}\n"
			    "{\"run\":0,\"metrics\":{\"seconds\":3,\"loss\":-1e-3}}\n"
			    "{\"declare\":{\"lot\":64,\"records\":30956,\"new\":0}}\n"
			    "  \t\n{\"done\":true}\n\n",
			    2);
	double x;

	(void)state;
	assert_null(dp_result_reader_problem(r));
	assert_true(dp_result_reader_progress(r) == 0.4);
	assert_true(dp_result_reader_is_done(r) && dp_result_reader_is_complete(r));
	assert_int_equal(dp_result_reader_count_metrics(r), 3);
	assert_string_equal(dp_result_reader_metric_name(r, 0), "accuracy");
	assert_string_equal(dp_result_reader_metric_name(r, 2), "loss");
	assert_null(dp_result_reader_metric_name(r, 3));
	assert_true(point_metric_value(r, 1, "accuracy") == 0.83);
	assert_true(point_metric_value(r, 0, "seconds") == 3);
	assert_true(point_metric_value(r, 0, "loss") == -1e-3);
	assert_false(dp_result_reader_run_value(r, 0, 0, &x));
	assert_false(dp_result_reader_run_value(r, 2, 0, &x));
	assert_string_equal(dp_result_reader_declaration(r)->sampling, "poisson");
	assert_true(dp_result_reader_declaration(r)->records == 30956);
	assert_true(dp_result_reader_declaration(r)->lot == 64);
	assert_true(isnan(dp_result_reader_declaration(r)->steps));
	dp_result_reader_free(r);
}

static void test_result_non_finite(void **state)
{
	struct dp_result_reader *r =
		read_result("{\"run\":0,\"metrics\":{\"a\":NaN,\"b\":Infinity , \"c\": -Infinity,"
			    "\"d\":null,\"e\":\"nan\",\"f\":\"-inf\",\"g\":\"Infinity\",\"h\":"
			    "\"inf\","
			    "\"i\":\"NaN\",\"NaN\":1,\"j\":\"-Infinity\",\"k\":NaN},"
			    "\"text\":\"NaN, \\\"Infinity} \\\\\",\"list\":[NaN,-Infinity]}",
			    1);

	(void)state;
	assert_null(dp_result_reader_problem(r));
	for (const char *p = "adeik"; *p; p++)
		assert_true(isnan(point_metric_value(r, 0, (char[]){ *p, '\0' })));
	assert_true(point_metric_value(r, 0, "b") == INFINITY);
	assert_true(point_metric_value(r, 0, "c") == -INFINITY);
	assert_true(point_metric_value(r, 0, "f") == -INFINITY);
	assert_true(point_metric_value(r, 0, "g") == INFINITY);
	assert_true(point_metric_value(r, 0, "h") == INFINITY);
	assert_true(point_metric_value(r, 0, "j") == -INFINITY);
	assert_true(point_metric_value(r, 0, "NaN") == 1);
	dp_result_reader_free(r);
}

static void test_result_numbers(void **state)
{
	struct dp_result_reader *r =
		read_result("{\"run\":0.0,\"metrics\":{\"big\":1180591620717411303424,"
			    "\"exact\":0.1,\"tiny\":1e-400}}",
			    1);

	(void)state;
	assert_null(dp_result_reader_problem(r));
	assert_true(point_metric_value(r, 0, "big") == 0x1p70);
	assert_true(point_metric_value(r, 0, "exact") == 0.1);
	assert_true(point_metric_value(r, 0, "tiny") == 0);
	dp_result_reader_free(r);
}

static void test_result_problems(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "hello\n", "line 1 of the result file: it is not JSON" },
		{ "\n{\"run\":0,\"metrics\":{\"a\":1}\n", "line 2 of the result file" },
		{ "{\"progress\":0.1}\n[1]\n", "line 2 of the result file: it must be a "
					       "JSON object, not an array" },
		{ "5\n", "not JSON" },
		{ "{}\n", "none of 'progress', 'run' with 'metrics'" },
		{ "{\"loss\":3}\n", "none of" },
		{ "{\"progress\":0.1,\"done\":true}\n", "more than one of" },
		{ "{\"progress\":0.1,\"metrics\":{}}\n", "more than one of" },
		{ "{\"run\":0}\n", "'run' needs 'metrics' beside it" },
		{ "{\"metrics\":{}}\n", "'metrics' needs 'run' beside it" },
		{ "{\"progress\":1.01}\n", "from 0 to 1, not 1.01" },
		{ "{\"progress\":-0.1}\n", "from 0 to 1" },
		{ "{\"progress\":NaN}\n", "'progress' must be a number from 0 to 1" },
		{ "{\"progress\":null}\n", "not null" },
		{ "{\"run\":2,\"metrics\":{}}\n", "run 2 was not asked" },
		{ "{\"run\":-1,\"metrics\":{}}\n", "'run' must be the number" },
		{ "{\"run\":0.5,\"metrics\":{}}\n", "'run' must be the number" },
		{ "{\"run\":\"0\",\"metrics\":{}}\n", "'run' must be the number" },
		{ "{\"run\":1e300,\"metrics\":{}}\n", "'run' must be the number" },
		{ "{\"run\":0,\"metrics\":{}}\n{\"run\":0,\"metrics\":{}}\n",
		  "line 2 of the result file: run 0 was reported before" },
		{ "{\"run\":0,\"metrics\":[1]}\n", "not an array" },
		{ "{\"run\":0,\"metrics\":{\"a\":true}}\n",
		  "metric 'a' of run 0 must be a number, not true or false" },
		{ "{\"run\":0,\"metrics\":{\"a\":\"0.5\"}}\n", "not a string" },
		{ "{\"run\":0,\"metrics\":{\"a\":{}}}\n", "not an object" },
		{ "{\"run\":0,\"metrics\":{\"a b\":1}}\n", "'a b' cannot name a metric" },
		{ "{\"run\":0,\"metrics\":{\"\":1}}\n", "cannot name a metric" },
		{ "{\"run\":0,\"metrics\":{\"caf\xc3\xa9\\u001b\":1}}\n", "cannot name a metric" },
		{ "{\"run\":0,\"metrics\":{NaN:1}}\n", "not JSON" },
		{ "{\"run\":0,\"metrics\":{\"a\":nan}}\n", "not JSON" },
		{ "{\"run\":0,\"metrics\":{\"a\":--Infinity}}\n", "not JSON" },
		{ "{\"run\":0,\"metrics\":{\"a\":1,\"a\":2}}\n", "duplicate" },
		{ "{\"run\":0,\"metrics\":{\"a\":1e999}}\n", "overflow" },
		{ "{\"run\":0,\"metrics\":{\"a\":1}} x\n", "not JSON" },
		{ "{\"x\":\"\xff\",\"progress\":0}\n", "not JSON" },
		{ "{\"done\":false}\n", "'done' must be true" },
		{ "{\"done\":1}\n", "'done' must be true" },
		{ "{\"done\":true}\n{\"progress\":1}\n", "line 2 of the result file: it "
							 "comes after" },
		{ "{\"declare\":1}\n", "'declare' must be an object, not a number" },
		{ "{\"declare\":{\"sampling\":\"fixed\"}}\n", "'sampling' must be" },
		{ "{\"declare\":{\"sampling\":3}}\n", "'sampling' must be" },
		{ "{\"declare\":{\"lot\":0}}\n", "'lot' in 'declare' must be" },
		{ "{\"declare\":{\"steps\":\"inf\"}}\n", "'steps' in 'declare' must be" },
		{ "{\"declare\":{\"records\":null}}\n", "'records' in 'declare' must be" },
		{ "{\"declare\":{\"lot\":64}}\n{\"declare\":{\"lot\":65}}\n",
		  "'lot' is declared as 65, but before as 64" },
		{ "{\"declare\":{\"sampling\":\"poisson\"}}\n"
		  "{\"declare\":{\"sampling\":\"shuffle\"}}\n",
		  "declared as shuffle, but before as poisson" },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_result_reader *r = read_result(cases[i].text, 2);
		const char *says = dp_result_reader_problem(r);

		assert_says(says, cases[i].says);
		for (const char *p = says; *p; p++)
			assert_true(*p >= 0x20 && *p < 0x7f);
		dp_result_reader_free(r);
	}
}

/* Half a line is no line until the process has ended; then it is. */
static void test_result_pieces(void **state)
{
	static const char text[] = "{\"progress\":0.5}\n{\"run\":0,\"metrics\":{\"a\":1}}";
	const uint32_t asked[] = { 0 };
	struct dp_result_reader *r = dp_result_reader_new(asked, 1);

	(void)state;
	for (size_t i = 0; i < strlen(text); i++) {
		assert_int_equal(isnan(dp_result_reader_progress(r)), i < 17);
		dp_result_reader_feed(r, text + i, 1);
	}
	assert_false(dp_result_reader_is_complete(r));
	dp_result_reader_finish(r);
	dp_result_reader_finish(r);
	assert_true(dp_result_reader_is_complete(r));
	assert_null(dp_result_reader_problem(r));
	dp_result_reader_free(r);
}

static void test_result_line_limit(void **state)
{
	static char line[DP_RESULT_LINE_MAX + 2];
	struct dp_result_reader *r;

	(void)state;
	memset(line, ' ', sizeof line);
	memcpy(line, "{\"progress\":1}", 14);
	line[DP_RESULT_LINE_MAX] = '\n';
	line[DP_RESULT_LINE_MAX + 1] = '\0';
	r = read_result(line, 1);
	assert_null(dp_result_reader_problem(r));
	dp_result_reader_free(r);
	line[DP_RESULT_LINE_MAX] = ' ';
	r = read_result(line, 1);
	assert_says(dp_result_reader_problem(r), "line 1 of the result file: it is longer than "
						 "65536 bytes");
	dp_result_reader_free(r);
}

static void test_result_file_limit(void **state)
{
	static char chunk[64 << 10];
	const uint32_t asked[] = { 0 };
	struct dp_result_reader *r = dp_result_reader_new(asked, 1);

	(void)state;
	memset(chunk, '\n', sizeof chunk);
	for (size_t i = 0; i < DP_RESULT_FILE_MAX / sizeof chunk; i++)
		dp_result_reader_feed(r, chunk, sizeof chunk);
	assert_null(dp_result_reader_problem(r));
	dp_result_reader_feed(r, chunk, 1);
	assert_says(dp_result_reader_problem(r), "longer than 16777216 bytes");
	dp_result_reader_feed(r, chunk, sizeof chunk);
	dp_result_reader_free(r);
}

static void test_result_metric_limit(void **state)
{
	struct dp_buf line = DP_BUF_INIT;
	struct dp_result_reader *r;

	(void)state;
	for (int extra = 0; extra < 2; extra++) {
		dp_buf_clear(&line);
		dp_buf_puts(&line, "{\"run\":0,\"metrics\":{\"m\":0");
		for (int i = 1; i < DP_METRICS_MAX + extra; i++)
			dp_buf_printf(&line, ",\"m%d\":%d", i, i);
		dp_buf_puts(&line, "}}\n");
		r = read_result(line.data, 1);
		if (extra)
			assert_says(dp_result_reader_problem(r), "more than 256");
		else
			assert_null(dp_result_reader_problem(r));
		dp_result_reader_free(r);
	}
	dp_buf_free(&line);
}

/* Runs with other numbers than their places: one run per process. */
static void test_result_sparse_runs(void **state)
{
	static const char text[] = "{\"run\":7,\"metrics\":{\"a\":1}}\n"
				   "{\"run\":1,\"metrics\":{\"b\":2,\"a\":3}}\n";
	const uint32_t asked[] = { 1, 4000000000, 7 };
	struct dp_result_reader *r = dp_result_reader_new(asked, 3);

	(void)state;
	dp_result_reader_feed(r, text, strlen(text));
	assert_null(dp_result_reader_problem(r));
	assert_true(point_metric_value(r, 2, "a") == 1);
	assert_true(point_metric_value(r, 0, "a") == 3);
	assert_false(dp_result_reader_is_complete(r));
	dp_result_reader_feed(r, "{\"run\":0,\"metrics\":{}}\n", 23);
	assert_says(dp_result_reader_problem(r), "run 0 was not asked");
	dp_result_reader_free(r);
}

/* ---- waypoints ---- */

#define RUN(n, metrics) "{\"run\":" #n ",\"metrics\":{" metrics "}}\n"

/* Read with runs 0 and 1, and the waypoints 1, 2 and 4. */
static struct dp_result_reader *read_walk(const char *text)
{
	static const uint32_t asked[] = { 0, 1 };
	static const double waypoints[] = { 1, 2, 4 };
	struct dp_result_reader *r = dp_result_reader_new(asked, 2);

	assert_non_null(r);
	dp_result_reader_set_checkpoints(r, waypoints, 3);
	dp_result_reader_feed(r, text, strlen(text));
	dp_result_reader_finish(r);
	return r;
}

#define AT(n, at, metrics) "{\"run\":" #n ",\"at\":" #at ",\"metrics\":{" metrics "}}\n"

/* In any order before the run's own line, of one run after the other or mixed; a value
 * that was left out or is not finite is a waypoint less, not a mistake. */
static void test_waypoints(void **state)
{
	static const char *const needed[] = { "a", NULL };
	const struct dp_exit_record ended = { .kind = DP_EXIT_CODE };
	struct dp_result_reader *r =
		read_walk(AT(0, 1, "\"a\":0.1,\"b\":7") AT(1, 4, "\"a\":0.6") AT(1, 1, "\"a\":NaN")
				  AT(0, 4.0, "\"a\":0.5") AT(0, 2, "\"c\":1") RUN(0, "\"a\":0.9")
					  RUN(1, "\"a\":0.8") "{\"done\":true}\n");
	char why[100];
	double x = -1;

	(void)state;
	assert_null(dp_result_reader_problem(r));
	assert_true(dp_result_reader_is_complete(r) && dp_result_reader_is_done(r) &&
		    dp_result_reader_is_usable(r));
	assert_true(point_metric_value(r, 0, "a") == 0.9);
	assert_true(dp_result_reader_checkpoint_value(r, 0, 0, 0, &x) && x == 0.1);
	assert_true(dp_result_reader_checkpoint_value(r, 0, 0, 1, &x) && x == 7);
	assert_true(dp_result_reader_checkpoint_value(r, 0, 2, 0, &x) && x == 0.5);
	assert_true(dp_result_reader_checkpoint_value(r, 1, 2, 0, &x) && x == 0.6);
	assert_true(dp_result_reader_checkpoint_value(r, 1, 0, 0, &x) && isnan(x));
	assert_false(dp_result_reader_checkpoint_value(r, 0, 1, 0, &x)); /* told c, but not a */
	assert_false(dp_result_reader_checkpoint_value(r, 1, 1, 0, &x));
	assert_false(dp_result_reader_checkpoint_value(r, 1, 2, 1, &x));
	assert_false(dp_result_reader_checkpoint_value(r, 0, 3, 0, &x));
	assert_false(dp_result_reader_checkpoint_value(r, 2, 0, 0, &x));
	assert_true(dp_result_reader_has_checkpoint(r, 0) && dp_result_reader_has_checkpoint(r, 2));
	assert_false(dp_result_reader_has_checkpoint(r, 1) ||
		     dp_result_reader_has_checkpoint(r, 3));
	assert_int_equal(dp_trainer_classify_end(&ended, r, needed, false, why, sizeof why),
			 DP_END_OK);
	dp_result_reader_free(r);
}

static void test_waypoints_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ AT(0, 3, ""), "line 1 of the result file: run 0 at 3 was not asked; "
				"'path' in the request lists what is" },
		{ AT(0, 1.5, ""), "run 0 at 1.5 was not asked" },
		{ AT(0, -1, ""), "run 0 at -1 was not asked" },
		{ AT(2, 1, ""), "run 2 was not asked" },
		{ AT(0, 1, "") AT(1, 1, "") AT(0, 1, ""),
		  "line 3 of the result file: run 0 at 1 was reported before" },
		{ AT(0, 1, "") RUN(0, "") AT(1, 2, "") AT(0, 2, ""),
		  "line 4 of the result file: run 0 at 2 comes after the run's own "
		  "line" },
		{ AT(0, null, ""), "'at' must be a value of the path, not null" },
		{ AT(0, "1", ""), "'at' must be a value of the path, not a string" },
		{ AT(0, 1, "\"a\":true"), "metric 'a' of run 0 must be a number" },
		{ "{\"at\":1}\n", "none of" },
		{ "{\"at\":1,\"metrics\":{}}\n", "'metrics' needs 'run'" },
		{ "{\"run\":0,\"at\":1}\n", "'run' needs 'metrics'" },
		{ "{\"run\":0,\"at\":1,\"metrics\":[]}\n", "not an array" },
	};
	static const char *const needed[] = { NULL };
	const struct dp_exit_record ended = { .kind = DP_EXIT_CODE };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++) {
		struct dp_result_reader *r = read_walk(cases[i].text);
		char why[320];

		assert_int_equal(dp_trainer_classify_end(&ended, r, needed, false, why, sizeof why),
				 DP_END_BAD_OUTPUT);
		assert_says(why, cases[i].says);
		assert_false(dp_result_reader_is_usable(r));
		dp_result_reader_free(r);
	}
}

/* A study without a path asks for no waypoint at all. */
static void test_waypoint_not_asked(void **state)
{
	struct dp_result_reader *r = read_result(AT(0, 1, "\"a\":1"), 1);

	(void)state;
	assert_says(dp_result_reader_problem(r), "run 0 at 1 was not asked");
	dp_result_reader_free(r);
}

/* A trainer that was killed left half a line: what came before it is good. A line that is
 * wrong and whole is wrong, though. */
static void test_waypoints_cut(void **state)
{
	static const char half[] = AT(0, 1, "\"a\":1") "{\"run\":0,\"at\":2,\"met";
	static const char wrong[] = AT(0, 1, "\"a\":1") "{\"run\":0,\"at\":2,\"met\n";
	struct dp_result_reader *r = read_walk(half);
	double x;

	(void)state;
	assert_says(dp_result_reader_problem(r), "line 2");
	assert_true(dp_result_reader_is_usable(r));
	assert_true(dp_result_reader_checkpoint_value(r, 0, 0, 0, &x) && x == 1);
	assert_false(dp_result_reader_checkpoint_value(r, 0, 1, 0, &x));
	dp_result_reader_free(r);
	r = read_walk(wrong);
	assert_says(dp_result_reader_problem(r), "line 2");
	assert_false(dp_result_reader_is_usable(r));
	dp_result_reader_free(r);
}

/* ---- exit.json ---- */

static struct dp_exit_record read_exit(const char *text)
{
	struct dp_exit_record e;

	memset(&e, 0xff, sizeof e);
	dp_exit_record_parse(text, strlen(text), &e);
	return e;
}

static void test_exit(void **state)
{
	static const char *const missing[] = {
		"",
		"{\"code\":0",
		"[]",
		"{}",
		"null",
		"{\"code\":256}",
		"{\"code\":\"0\"}",
		"{\"signal\":0}",
		"{\"exec\":\"no\"}",
		"{\"exec\":\"E\"}",
		"{\"exec\":\"EXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX\"}",
	};
	struct dp_exit_record e;

	(void)state;
	e = read_exit("{\"code\":3,\"start\":1700000000.250000,\"end\":1700000001.5,"
		      "\"cpu_seconds\":0.75,\"peak_memory\":4096,\"stdout_bytes\":7,"
		      "\"stderr_bytes\":8}\n");
	assert_int_equal(e.kind, DP_EXIT_CODE);
	assert_int_equal(e.value, 3);
	assert_true(e.start_seconds == 1700000000.25 && e.end_seconds == 1700000001.5 &&
		    e.cpu_seconds == 0.75);
	assert_int_equal(e.peak_memory, 4096);
	assert_int_equal(e.stdout_bytes, 7);
	assert_int_equal(e.stderr_bytes, 8);
	e = read_exit("{\"signal\":11}");
	assert_true(e.kind == DP_EXIT_SIGNAL && e.value == 11 && e.end_seconds == 0);
	e = read_exit("{\"timeout\":true,\"signal\":9}");
	assert_true(e.kind == DP_EXIT_TIMEOUT && e.value == 9);
	e = read_exit("{\"timeout\":false,\"stalled\":true,\"code\":143}");
	assert_true(e.kind == DP_EXIT_STALLED && e.value == 143);
	e = read_exit("{\"memory\":true,\"stalled\":true,\"signal\":9,"
		      "\"memory_limit\":4096,\"peak_memory\":8192}");
	assert_true(e.kind == DP_EXIT_MEMORY && e.value == 9);
	assert_true(e.memory_limit == 4096 && e.peak_memory == 8192);
	e = read_exit("{\"timeout\":true,\"memory\":true,\"signal\":9}");
	assert_int_equal(e.kind, DP_EXIT_TIMEOUT);
	e = read_exit("{\"timeout\":true}");
	assert_true(e.kind == DP_EXIT_TIMEOUT && !e.cancelled);
	e = read_exit("{\"signal\":15,\"cancelled\":true}");
	assert_true(e.kind == DP_EXIT_SIGNAL && e.cancelled);
	e = read_exit("{\"exec\":\"ENOENT\"}");
	assert_int_equal(e.kind, DP_EXIT_EXEC);
	assert_string_equal(e.exec_errno, "ENOENT");
	for (size_t i = 0; i < DP_COUNT(missing); i++)
		assert_int_equal(read_exit(missing[i]).kind, DP_EXIT_MISSING);
}

static void test_end_names(void **state)
{
	(void)state;
	for (int e = DP_END_NONE + 1; e <= DP_END_LOST; e++) {
		/* every end has a name, and one of its own */
		for (int other = DP_END_NONE; other < e; other++)
			assert_string_not_equal(dp_end_class_name((enum dp_end_class)other),
						dp_end_class_name((enum dp_end_class)e));
		assert_int_equal(dp_end_class_is_retryable((enum dp_end_class)e),
				 e == DP_END_SIGNAL || e == DP_END_LOST);
		assert_int_equal(dp_end_class_keeps_checkpoints((enum dp_end_class)e),
				 e == DP_END_OK || e == DP_END_DIVERGED || e == DP_END_CANCELLED ||
					 e == DP_END_TIMEOUT || e == DP_END_MEMORY ||
					 e == DP_END_STALLED);
	}
	assert_string_equal(dp_end_class_name(DP_END_NOT_STARTED), "not-started");
}

/* ---- classification ---- */

#define DONE "{\"done\":true}\n"
#define GOOD RUN(0, "\"accuracy\":0.5") RUN(1, "\"accuracy\":0.6")

/* Each row differs from a good end in one thing, or tells which of two comes first. */
static const struct class_case {
	const char *exit, *result;
	bool cancelled;
	enum dp_end_class end;
	const char *says;
} class_cases[] = {
	{ "{\"code\":0}", GOOD DONE, false, DP_END_OK, "" },
	{ "{\"code\":0}", GOOD, false, DP_END_OK, "" },
	{ "{\"code\":0}", GOOD DONE, true, DP_END_CANCELLED, "cancelled" },
	{ "{\"exec\":\"ENOENT\"}", "", true, DP_END_CANCELLED, "cancelled" },
	{ "{\"timeout\":true,\"code\":0,\"start\":5,\"end\":125}", GOOD DONE, false, DP_END_TIMEOUT,
	  "timeout, after 2m00s" },
	{ "{\"timeout\":true,\"signal\":9,\"stalled\":true}", "", false, DP_END_TIMEOUT,
	  "timeout" },
	{ "{\"memory\":true,\"signal\":9,\"memory_limit\":2147483648,"
	  "\"peak_memory\":2254857830}",
	  GOOD DONE, false, DP_END_MEMORY,
	  "the trainer's processes used 2.1 GiB together, more than trainer.memory "
	  "(2.0 GiB); raise it or train with a smaller lot" },
	/* the kernel lets nothing pass its limit */
	{ "{\"memory\":true,\"signal\":9,\"memory_limit\":1048576,"
	  "\"peak_memory\":1048576,\"stalled\":true}",
	  "", false, DP_END_MEMORY,
	  "the trainer's processes together needed more than trainer.memory (1.0 MiB)" },
	{ "{\"timeout\":true,\"memory\":true,\"signal\":9}", "", false, DP_END_TIMEOUT, "timeout" },
	{ "{\"memory\":true,\"signal\":9}", "", true, DP_END_CANCELLED, "cancelled" },
	{ "{\"stalled\":true,\"signal\":15}", "garbage\n", false, DP_END_STALLED,
	  "reported nothing" },
	{ "{\"exec\":\"ENOENT\"}", "", false, DP_END_NOT_STARTED,
	  "the trainer could not be started: ENOENT (No such file or directory)" },
	{ "{\"exec\":\"EODD\"}", "", false, DP_END_NOT_STARTED, "EODD (unknown reason)" },
	{ "{\"signal\":11}", "garbage\n", false, DP_END_SIGNAL,
	  "the trainer was ended by signal 11 (Segmentation fault)" },
	{ "{\"signal\":9}", GOOD DONE, false, DP_END_SIGNAL,
	  "running out of memory is the usual reason; trainer.memory sets a limit" },
	{ "{\"signal\":9,\"peak_memory\":3221225472}", "", false, DP_END_SIGNAL,
	  "memory is the usual reason (its largest process had 3.0 GiB); "
	  "trainer.memory" },
	/* it had a limit, and did not pass it */
	{ "{\"signal\":9,\"peak_memory\":3221225472,\"memory_limit\":4294967296}", "", false,
	  DP_END_SIGNAL,
	  "ended by signal 9 (Killed); running out of memory is "
	  "the usual reason" },
	{ "{\"code\":3}", GOOD DONE, false, DP_END_EXIT_CODE,
	  "the trainer ended with exit code 3" },
	{ "{\"code\":1}", "garbage\n", false, DP_END_EXIT_CODE, "exit code 1" },
	/* a shell whose command was killed; but 129 is usage, and 130 a person's doing */
	{ "{\"code\":137}", GOOD DONE, false, DP_END_SIGNAL,
	  "by its exit code 137 a command of the trainer was ended by signal 9 "
	  "(Killed)" },
	{ "{\"code\":139}", "", false, DP_END_SIGNAL, "signal 11" },
	{ "{\"code\":143}", "", false, DP_END_SIGNAL, "signal 15" },
	{ "{\"code\":129}", "", false, DP_END_EXIT_CODE, "exit code 129" },
	{ "{\"code\":130}", "", false, DP_END_EXIT_CODE, "exit code 130" },
	{ "{\"code\":255}", "", false, DP_END_EXIT_CODE, "exit code 255" },
	{ "{\"code\":0}", GOOD "garbage\n", false, DP_END_BAD_OUTPUT, "line 3" },
	{ "{\"code\":0}", "", false, DP_END_BAD_OUTPUT, "run 0 was asked but not reported" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":NaN") DONE, false, DP_END_BAD_OUTPUT,
	  "run 1 was asked but not reported" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":1") RUN(1, "\"acc\":1"), false, DP_END_BAD_OUTPUT,
	  "no metric 'accuracy' in run 1, which an objective needs" },
	{ "{\"code\":0}", RUN(0, "\"acc\":1") RUN(1, "\"acc\":1"), false, DP_END_BAD_OUTPUT,
	  "no metric 'accuracy' in run 0" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":NaN") RUN(1, "\"x\":1"), false, DP_END_BAD_OUTPUT,
	  "no metric 'accuracy' in run 1" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":1") RUN(1, "\"accuracy\":NaN"), false,
	  DP_END_DIVERGED, "metric 'accuracy' of run 1 is nan" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":1") RUN(1, "\"accuracy\":\"-inf\""), false,
	  DP_END_DIVERGED, "metric 'accuracy' of run 1 is -inf" },
	{ "{\"code\":0}", RUN(0, "\"accuracy\":1,\"x\":NaN") RUN(1, "\"accuracy\":2,\"x\":1"),
	  false, DP_END_OK, "" },
	{ "", GOOD DONE, false, DP_END_OK, "" },
	{ "", GOOD, false, DP_END_LOST, "disappeared" },
	{ "", RUN(0, "\"accuracy\":1") DONE, false, DP_END_LOST, "disappeared" },
	{ "", "garbage\n", false, DP_END_LOST, "disappeared" },
	{ "", GOOD DONE "garbage\n", false, DP_END_BAD_OUTPUT, "line 4" },
	{ "", RUN(0, "\"accuracy\":NaN") RUN(1, "\"accuracy\":1") DONE, false, DP_END_DIVERGED,
	  "of run 0 is nan" },
	{ "", RUN(0, "\"acc\":1") RUN(1, "\"accuracy\":1") DONE, false, DP_END_BAD_OUTPUT,
	  "no metric 'accuracy' in run 0" },
};

static void test_classify(void **state)
{
	static const char *const needed[] = { "accuracy", NULL };

	(void)state;
	for (size_t i = 0; i < DP_COUNT(class_cases); i++) {
		const struct class_case *c = &class_cases[i];
		struct dp_exit_record e = read_exit(c->exit);
		struct dp_result_reader *r = read_result(c->result, 2);
		char why[256] = "untouched";
		enum dp_end_class end =
			dp_trainer_classify_end(&e, r, needed, c->cancelled, why, sizeof why);

		if (end != c->end)
			fail_msg("case %zu: %s instead of %s: %s", i, dp_end_class_name(end),
				 dp_end_class_name(c->end), why);
		assert_says(why, c->says);
		assert_int_equal(why[0] == '\0', end == DP_END_OK);
		dp_result_reader_free(r);
	}
}

/* ---- the trainer's side ---- */

static void test_report(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = dp_path_join(tmp ? tmp : "/tmp", "trialXXXXXX"), *path;
	struct dp_buf text = DP_BUF_INIT;
	json_t *metrics = json_pack("{s:o, s:o}", "a", dp_json_real(0.1), "b", dp_json_real(NAN));
	json_t *declared = json_pack("{s:s, s:i}", "sampling", "poisson", "lot", 64);
	struct dp_result_reader *r;
	struct dp_err err;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	path = dp_path_join(dir, "result.jsonl");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	assert_int_equal(dp_trainer_report_declaration(fd, declared, &err), DP_OK);
	assert_int_equal(dp_trainer_report_progress(fd, NAN, &err), DP_OK);
	assert_int_equal(dp_trainer_report_progress(fd, 1 + 1e-9, &err), DP_OK);
	assert_int_equal(dp_trainer_report_run(fd, 0, metrics, &err), DP_OK);
	assert_int_equal(dp_trainer_report_done(fd, &err), DP_OK);
	close(fd);
	assert_int_equal(dp_trainer_report_done(fd, &err), DP_E_IO);
	assert_int_equal(dp_read_file(path, 1 << 16, &text, &err), DP_OK);
	assert_string_equal(text.data, "{\"declare\":{\"sampling\":\"poisson\",\"lot\":64}}\n"
				       "{\"progress\":0}\n{\"progress\":1}\n"
				       "{\"run\":0,\"metrics\":{\"a\":0.1,\"b\":\"nan\"}}\n"
				       "{\"done\":true}\n");
	r = read_result(text.data, 1);
	assert_null(dp_result_reader_problem(r));
	assert_true(dp_result_reader_is_complete(r) && dp_result_reader_is_done(r));
	dp_result_reader_free(r);
	dp_buf_free(&text);
	json_decref(metrics);
	json_decref(declared);
	free(path);
	assert_int_equal(dp_remove_tree(dir, NULL), DP_OK);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_round_trip),
		cmocka_unit_test(test_request_path),
		cmocka_unit_test(test_request_refused),
		cmocka_unit_test(test_request_unknown_fields),
		cmocka_unit_test(test_result_good),
		cmocka_unit_test(test_result_non_finite),
		cmocka_unit_test(test_result_numbers),
		cmocka_unit_test(test_result_problems),
		cmocka_unit_test(test_waypoints),
		cmocka_unit_test(test_waypoints_refused),
		cmocka_unit_test(test_waypoint_not_asked),
		cmocka_unit_test(test_waypoints_cut),
		cmocka_unit_test(test_result_pieces),
		cmocka_unit_test(test_result_line_limit),
		cmocka_unit_test(test_result_file_limit),
		cmocka_unit_test(test_result_metric_limit),
		cmocka_unit_test(test_result_sparse_runs),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_end_names),
		cmocka_unit_test(test_classify),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
