/* test_exit_advice.c - the advice for authors of a first trainer that is shown with the class of
 * its end. */
#include "protocol/trainer/trainer_protocol.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What a result of runs 0 and 1 has instead of `accuracy`. */
static void instead(const char *lines, const char *expected)
{
	static const uint32_t runs[] = { 0, 1 };
	const char *const needed[] = { "accuracy", NULL };
	struct dp_result_reader *r = dp_result_reader_new(runs, 2);
	char out[400];

	dp_result_reader_feed(r, lines, strlen(lines));
	dp_result_reader_finish(r);
	assert_null(dp_result_reader_problem(r));
	dp_result_reader_suggest_metric(r, needed, out, sizeof out);
	assert_string_equal(out, expected);
	dp_result_reader_free(r);
}

static void test_instead(void **state)
{
	(void)state;
	instead("{\"run\":0,\"metrics\":{\"acc\":1,\"loss\":2}}\n",
		"; reported were: acc, loss; did you mean 'acc'?");
	instead("{\"run\":0,\"metrics\":{\"loss\":2,\"acuracy\":1}}\n",
		"; reported were: loss, acuracy; did you mean 'acuracy'?");
	instead("{\"run\":0,\"metrics\":{\"test_accuracy\":1}}\n",
		"; reported were: test_accuracy; did you mean 'test_accuracy'?");
	instead("{\"run\":0,\"metrics\":{\"l\":2}}\n", "; reported were: l");
	instead("{\"run\":0,\"metrics\":{}}\n", "; it reported none");
	/* of the run that lacks it, not of the other */
	instead("{\"run\":0,\"metrics\":{\"accuracy\":1}}\n"
		"{\"run\":1,\"metrics\":{\"loss\":1}}\n",
		"; reported were: loss");
	instead("{\"run\":0,\"metrics\":{\"accuracy\":1}}\n"
		"{\"run\":1,\"metrics\":{\"accuracy\":1}}\n",
		"");
	instead("", ""); /* it has no run at all, which is another matter */
	instead("{\"run\":0,\"metrics\":{\"a\":0,\"b\":0,\"c\":0,\"d\":0,\"e\":0,\"f\":0,"
		"\"g\":0,\"h\":0,\"i\":0,\"j\":0,\"k\":0,\"l\":0,\"m\":0,\"n\":0}}\n",
		"; reported were: a, b, c, d, e, f, g, h, i, j, k, l and 2 more");
}

static void test_resembles(void **state)
{
	static const struct {
		const char *text;
		bool like;
	} cases[] = {
		{ "epoch 1\n{\"run\": 0, \"metrics\": {\"a\": 1}}\n", true },
		{ "{\"metrics\":{\"a\":1}}", true },
		{ "", false },
		{ "loss 0.5\n", false },
		{ "{\"metrics\":[1]}\n", false },
		{ "\"metrics\" {\n", false },
		{ "{\"run\":0,\"metr\nics\":{}}\n", false },
	};

	(void)state;
	for (size_t i = 0; i < DP_COUNT(cases); i++)
		assert_int_equal(dp_text_has_result_line(cases[i].text, strlen(cases[i].text)),
				 cases[i].like);
}

static void test_request_has_privacy(void **state)
{
	static const char text[] = "{\"version\":1,\"study\":\"s\",\"trial\":0,\"attempt\":0,"
				   "\"privacy\":{\"epsilon\":{\"steps\":7}},\"parameters\":{},"
				   "\"runs\":[{\"run\":0,\"seed\":1}]}\n";
	struct dp_buf again = DP_BUF_INIT;
	struct dp_trainer_request r;
	struct dp_err err;

	(void)state;
	assert_int_equal(dp_trainer_request_parse(text, strlen(text), &r, &err), DP_OK);
	dp_trainer_request_format(&r, &again);
	assert_string_equal(dp_buf_text(&again), text);
	dp_buf_free(&again);
	dp_trainer_request_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instead),
		cmocka_unit_test(test_resembles),
		cmocka_unit_test(test_request_has_privacy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
