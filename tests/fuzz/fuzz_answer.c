/* fuzz_answer.c - any bytes as the line of an oracle program: an epsilon that is one, a
 * refusal with words, or a sentence; never anything else. */
#include "privacy/external/external.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dp_err err = { 0 };
	double epsilon = NAN;
	char *line = malloc(size ? size : 1); /* of exact size: a read behind it is seen */
	int code;

	demand(line != NULL);
	if (size)
		memcpy(line, data, size);
	code = dp_external_answer_parse(line, size, 7, &epsilon, &err);
	demand(code == DP_OK || code == DP_E_INVALID || code == DP_E_ORACLE);
	demand((code == DP_OK) == (epsilon >= 0)); /* never NaN */
	demand((code == DP_OK) == (err.msg[0] == '\0'));
	for (const char *c = err.msg; *c; c++)
		demand(*c >= ' ' && *c <= '~');
	free(line);
	return 0;
}
