/* exit_record.c - parses exit.json of dpareto-shim, and names the classes of ends. */
#include "protocol/trainer/trainer_protocol.h"

#include "base/json.h"

#include <string.h>

static const char *const end_names[] = { [DP_END_NONE] = "none",
#define X(name, text) [DP_END_##name] = text,
					 DP_END_CLASSES(X)
#undef X
};

const char *dp_end_class_name(enum dp_end_class e)
{
	return end_names[(size_t)e < DP_COUNT(end_names) ? e : DP_END_NONE];
}

/* Accepts only errno names, so that the text is safe to display. */
static bool errno_name_ok(const char *s)
{
	size_t n = strlen(s);

	return n > 1 && n < sizeof((struct dp_exit_record *)0)->exec_errno && s[0] == 'E' &&
	       strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n;
}

int dp_exit_errno_from_name(const char *name)
{
	enum {
		ERRNO_END = 256 /* above all errno values of Linux */
	};

	for (int e = 1; e < ERRNO_END; e++) {
		const char *known = strerrorname_np(e);

		if (known && strcmp(known, name) == 0)
			return e;
	}
	return 0;
}

static enum dp_exit_kind parse_exit_kind(const json_t *root, struct dp_exit_record *out)
{
	const char *exec = dp_json_str(root, "exec", NULL);
	int64_t code = dp_json_int(root, "code", -1);
	int64_t sig = dp_json_int(root, "signal", -1);
	enum dp_exit_kind kind;

	if (exec) {
		if (!errno_name_ok(exec))
			return DP_EXIT_MISSING;
		strcpy(out->exec_errno, exec);
		return DP_EXIT_EXEC;
	}
	if (sig > 0 && sig < 128) {
		kind = DP_EXIT_SIGNAL;
		out->value = (int)sig;
	} else if (code >= 0 && code < 256) {
		kind = DP_EXIT_CODE;
		out->value = (int)code;
	} else {
		kind = DP_EXIT_MISSING;
	}
	if (dp_json_bool(root, "timeout", false))
		return DP_EXIT_TIMEOUT;
	if (dp_json_bool(root, "memory", false))
		return DP_EXIT_MEMORY;
	if (dp_json_bool(root, "stalled", false))
		return DP_EXIT_STALLED;
	return kind;
}

static double real_or_0(const json_t *root, const char *key)
{
	return json_number_value(json_object_get(root, key));
}

static uint64_t count_or_0(const json_t *root, const char *key)
{
	int64_t x = dp_json_int(root, key, 0);

	return x > 0 ? (uint64_t)x : 0;
}

void dp_exit_record_parse(const char *text, size_t len, struct dp_exit_record *out)
{
	json_t *root = NULL;
	const char *lost;

	memset(out, 0, sizeof *out);
	if (dp_json_parse(text, len, &root, NULL) != DP_OK)
		return;
	out->kind = parse_exit_kind(root, out);
	if (out->kind != DP_EXIT_MISSING) {
		out->cancelled = dp_json_bool(root, "cancelled", false);
		out->has_leftovers = dp_json_bool(root, "left_behind", false);
		lost = dp_json_str(root, "output_lost", "");
		if (errno_name_ok(lost))
			strcpy(out->output_errno, lost);
		out->start_seconds = real_or_0(root, "start");
		out->end_seconds = real_or_0(root, "end");
		out->cpu_seconds = real_or_0(root, "cpu_seconds");
		out->peak_memory = count_or_0(root, "peak_memory");
		out->memory_limit = count_or_0(root, "memory_limit");
		out->stdout_bytes = count_or_0(root, "stdout_bytes");
		out->stderr_bytes = count_or_0(root, "stderr_bytes");
	}
	json_decref(root);
}
