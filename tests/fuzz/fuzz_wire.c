/* fuzz_wire.c - arbitrary lines as requests and as replies. What is accepted must
 * survive being written and read again. */
#include "protocol/control/control_protocol.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_request(json_t *request, const char *verb)
{
	struct dp_buf out = DP_BUF_INIT;
	json_t *fields = json_copy(request), *again;
	const char *word;
	struct dp_err err;

	dp_control_format_request(&out, verb, fields);
	if (out.len) {
		if (memchr(out.data, '\n', out.len) != out.data + out.len - 1)
			abort(); /* a message is one line */
		if (dp_control_parse_request(out.data, out.len - 1, &again, &word, &err) != DP_OK)
			abort();
		if (strcmp(word, verb) != 0)
			abort();
		json_decref(again);
	}
	dp_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data, *verb;
	struct dp_buf out = DP_BUF_INIT;
	struct dp_err err;
	json_t *value;
	int code;

	if (dp_control_parse_request(line, size, &value, &verb, &err) == DP_OK) {
		check_request(value, verb);
		json_decref(value);
	}
	code = dp_control_parse_reply(line, size, &value, &err);
	if (code == DP_OK) {
		dp_control_format_ok(&out, value);
	} else {
		if (err.code != code || !err.msg[0])
			abort();
		dp_control_format_error(&out, &err);
		if (dp_control_parse_reply(out.data, out.len - 1, &value, &err) != code)
			abort();
	}
	dp_buf_free(&out);
	return 0;
}
