/* fuzz_exit.c - any bytes as an exit.json: whatever is read can be journaled, shown and
 * classified. */
#include "journal/journal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static void check_class(const struct dp_exit_record *x)
{
	static const uint32_t runs[] = { 0 };
	static const char *const needed[] = { "f1", NULL };
	struct dp_result_reader *none = dp_result_reader_new(runs, 1);
	char why[200];
	enum dp_end_class end;

	demand(none != NULL);
	dp_result_reader_finish(none);
	end = dp_trainer_classify_end(x, none, needed, false, why, sizeof why);
	demand(end != DP_END_OK && end != DP_END_NONE && why[0] != '\0');
	dp_result_reader_free(none);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_event e = { .type = DP_EV_ATTEMPT_ENDED, .time_us = 1 }, back = { 0 };
	struct dp_buf bytes = DP_BUF_INIT;
	char *text = malloc(size ? size : 1); /* of exact size: a read behind it is seen */

	demand(text != NULL);
	if (size)
		memcpy(text, data, size);
	dp_exit_record_parse(text, size, &e.attempt_ended.exit);
	for (const char *c = e.attempt_ended.exit.exec_errno; *c; c++)
		demand(*c > ' ' && *c < 0x7f);
	demand((e.attempt_ended.exit.kind == DP_EXIT_EXEC) ==
	       (e.attempt_ended.exit.exec_errno[0] != '\0'));
	check_class(&e.attempt_ended.exit);
	demand(dp_event_encode(&e, &bytes, NULL) == DP_OK);
	demand(dp_event_decode(bytes.data, bytes.len, &back, NULL) == DP_OK);
	demand(back.attempt_ended.exit.kind == e.attempt_ended.exit.kind &&
	       back.attempt_ended.exit.value == e.attempt_ended.exit.value);
	dp_event_clear(&back);
	dp_buf_free(&bytes);
	free(text);
	return 0;
}
