/* fuzz_replay.c - what a store may hand out as the records of a journal: each with a
 * right checksum, their contents anybody's. They are read and folded as at a daemon's
 * start, up to the first that is refused; whatever was taken in can be shown and dumped.
 *
 * An input is a list of records: the length in two bytes, then the bytes. */
#include "policy/policy.h"
#include "state/state_json.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As in fuzz_event.c: what an array claims to be is asked for at once. */
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=256";
}

static void demand(bool condition)
{
	if (!condition)
		abort();
}

static int decode_whole(const uint8_t *bytes, size_t len, struct dp_event *e)
{
	uint8_t *record = malloc(len + 4);
	uint32_t crc = (uint32_t)crc32(0, bytes, (uInt)len);
	int code;

	demand(record != NULL);
	memcpy(record, bytes, len);
	for (int i = 0; i < 4; i++)
		record[len + (size_t)i] = (uint8_t)(crc >> (8 * i));
	code = dp_event_decode(record, len + 4, e, NULL);
	free(record);
	return code;
}

static void show(struct dp_study_state *s)
{
	struct dp_step step;
	json_t *v = dp_state_summary_json(dp_state_public_view(s));

	json_decref(v);
	for (uint32_t i = 0; i < s->ntrials; i++)
		json_decref(dp_trial_json(dp_state_public_view(s), s->trials[i], true, "/f"));
	dp_policy_next_step(s, s->updated_us, &step);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_state state = { 0 };
	struct dp_event e = { 0 };
	uint32_t seq = 0;

	while (size > 2) {
		size_t len = (size_t)data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		if (decode_whole(data, len, &e) != DP_OK)
			break;
		e.study = 1;
		e.seq = seq++;
		if (dp_state_apply(&state, &e, NULL) != DP_OK)
			break;
		data += len;
		size -= len;
	}
	for (uint32_t i = 0; i < state.nstudies; i++)
		show(state.studies[i]);
	dp_event_clear(&e);
	dp_state_free(&state);
	return 0;
}
