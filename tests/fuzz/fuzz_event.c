/* fuzz_event.c - journal records from arbitrary bytes: no crash, and whatever can be
 * read is written and read again without change. */
#include "journal/journal.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of an array comes before its elements: msgpack-c allocates what it
 * claims, and gets NULL for what is absurd. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

static void again(const struct dp_event *e)
{
	struct dp_buf one = DP_BUF_INIT, two = DP_BUF_INIT;
	struct dp_event back = { 0 };
	json_t *dump = dp_event_to_json(e);

	if (!dump || dp_event_encode(e, &one, NULL) != DP_OK ||
	    dp_event_decode(one.data, one.len, &back, NULL) != DP_OK ||
	    dp_event_encode(&back, &two, NULL) != DP_OK || one.len != two.len ||
	    memcmp(one.data, two.data, one.len) != 0)
		abort();
	json_decref(dump);
	dp_event_clear(&back);
	dp_buf_free(&one);
	dp_buf_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_event e = { 0 };
	struct dp_err err;
	uint8_t *record;
	uint32_t crc;

	if (dp_event_decode(data, size, &e, &err) == DP_OK)
		again(&e);
	/* with a right checksum, so that the reader behind it is reached */
	record = malloc(size + 4);
	if (record) {
		if (size)
			memcpy(record, data, size);
		crc = (uint32_t)crc32(0, data, (uInt)size);
		for (int i = 0; i < 4; i++)
			record[size + (size_t)i] = (uint8_t)(crc >> (8 * i));
		if (dp_event_decode(record, size + 4, &e, &err) == DP_OK)
			again(&e);
		free(record);
	}
	dp_event_clear(&e);
	return 0;
}
