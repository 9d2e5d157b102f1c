/* fuzz_result.c - a result file of any bytes, read whole and in pieces: both must
 * come to the same end, and every answer must be usable. */
#include "protocol/trainer/trainer_protocol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static void check_text(const char *s)
{
	for (; s && *s; s++)
		demand(*s >= 0x20 && *s < 0x7f);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void compare(const struct dp_result_reader *a, const struct dp_result_reader *b,
		    size_t nruns)
{
	const char *pa = dp_result_reader_problem(a), *pb = dp_result_reader_problem(b);

	demand(!pa == !pb && (!pa || strcmp(pa, pb) == 0));
	demand(dp_result_reader_count_metrics(a) == dp_result_reader_count_metrics(b));
	demand(dp_result_reader_is_done(a) == dp_result_reader_is_done(b));
	demand(dp_result_reader_is_complete(a) == dp_result_reader_is_complete(b));
	demand(same(dp_result_reader_progress(a), dp_result_reader_progress(b)));
	for (size_t m = 0; m < dp_result_reader_count_metrics(a); m++) {
		demand(dp_name_ok(dp_result_reader_metric_name(a, m)));
		demand(dp_result_reader_find_metric(b, dp_result_reader_metric_name(a, m)) ==
		       (int)m);
		for (size_t i = 0; i < nruns; i++) {
			double x = 0, y = 0;

			demand(dp_result_reader_run_value(a, i, m, &x) ==
			       dp_result_reader_run_value(b, i, m, &y));
			demand(same(x, y));
			for (size_t w = 0; w < 2; w++) {
				demand(dp_result_reader_checkpoint_value(a, i, w, m, &x) ==
				       dp_result_reader_checkpoint_value(b, i, w, m, &y));
				demand(same(x, y));
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t runs[] = { 0, 1, 7 };
	static const double waypoints[] = { 1, 4 };
	static const char *const needed[] = { "accuracy", "f1", NULL };
	struct dp_result_reader *whole = dp_result_reader_new(runs, 3),
				*pieces = dp_result_reader_new(runs, 3);
	struct dp_exit_record ends[2] = { { .kind = DP_EXIT_CODE }, { .kind = DP_EXIT_MISSING } };
	size_t step = size ? data[0] % 7 + 1 : 1;
	struct dp_exit_record read;
	char why[200];

	dp_result_reader_set_checkpoints(whole, waypoints, 2);
	dp_result_reader_set_checkpoints(pieces, waypoints, 2);
	dp_result_reader_feed(whole, data, size);
	for (size_t i = 0; i < size; i += step)
		dp_result_reader_feed(pieces, data + i, size - i < step ? size - i : step);
	dp_result_reader_finish(whole);
	dp_result_reader_finish(pieces);
	compare(whole, pieces, 3);
	check_text(dp_result_reader_problem(whole));
	for (int i = 0; i < 2; i++) {
		enum dp_end_class end =
			dp_trainer_classify_end(&ends[i], whole, needed, false, why, sizeof why);

		demand(end == DP_END_OK || end == DP_END_DIVERGED || end == DP_END_BAD_OUTPUT ||
		       (i == 1 && end == DP_END_LOST));
		demand((why[0] == '\0') == (end == DP_END_OK));
		check_text(why);
	}
	/* the same bytes as an exit.json */
	dp_exit_record_parse((const char *)data, size, &read);
	check_text(read.exec_errno);
	dp_result_reader_free(whole);
	dp_result_reader_free(pieces);
	return 0;
}
