/* classify_end.c - assigns the end of an attempt to a class of the contract, and says why. */
#include "protocol/trainer/trainer_protocol_internal.h"

#include "base/units.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
	SUGGESTED_NAMES_MAX = 12, /* in one sentence */
	PARTIAL_NAME_MIN = 3      /* to match a part of a name */
};

struct reason_buffer {
	char *text;
	size_t capacity;
};

DP_PRINTF(3, 4)
static enum dp_end_class set_end_class(struct reason_buffer *s, enum dp_end_class class,
				       const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->text, s->capacity, fmt, ap);
	va_end(ap);
	return class;
}

/* A shell reports the signal that ended a command as exit code 128 + its number. Only signals whose
 * code programs rarely use themselves (some use 129 for usage errors); 0 for other codes. */
static int signal_from_shell_code(int code)
{
	static const int signals[] = { SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGTERM };

	for (size_t i = 0; i < DP_COUNT(signals); i++)
		if (code == 128 + signals[i])
			return signals[i];
	return 0;
}

/* SIGKILL most likely comes from the kernel when memory runs out. */
static void format_killed_advice(const struct dp_exit_record *exit, char *out, size_t room)
{
	char peak[DP_NUM_LEN], largest[80] = "";

	if (exit->peak_memory)
		snprintf(largest, sizeof largest, " (its largest process had %s)",
			 dp_size_text(exit->peak_memory, peak));
	snprintf(out, room, "; running out of memory is the usual reason%s%s",
		 exit->memory_limit ? "" : largest,
		 exit->memory_limit ? ""
				    : "; trainer.memory sets a limit that ends only the "
				      "trainer that passes it");
}

/* shell: the exit code of the shell that reported the signal; 0: the trainer itself received it. */
static enum dp_end_class classify_signal(struct reason_buffer *s, const struct dp_exit_record *exit,
					 int sig, int shell)
{
	const char *text = sigdescr_np(sig);
	char who[60] = "the trainer", advice[240] = "";

	if (shell)
		snprintf(who, sizeof who, "by its exit code %d a command of the trainer", shell);
	if (sig == SIGKILL)
		format_killed_advice(exit, advice, sizeof advice);
	return set_end_class(s, DP_END_SIGNAL, "%s was ended by signal %d (%s)%s", who, sig,
			     text ? text : "unknown", advice);
}

/* The peak exceeds the limit only if dpareto-shim enforced it; a kernel stops it at the limit. */
static enum dp_end_class classify_memory_limit(struct reason_buffer *s,
					       const struct dp_exit_record *exit)
{
	char peak[DP_NUM_LEN], limit[DP_NUM_LEN];

	dp_size_text(exit->memory_limit, limit);
	if (exit->peak_memory > exit->memory_limit)
		return set_end_class(s, DP_END_MEMORY,
				     "the trainer's processes used %s together, more than "
				     "trainer.memory (%s); raise it or train with a "
				     "smaller lot",
				     dp_size_text(exit->peak_memory, peak), limit);
	return set_end_class(s, DP_END_MEMORY,
			     "the trainer's processes together needed more than "
			     "trainer.memory (%s); raise it or train with a smaller lot",
			     limit);
}

static enum dp_end_class classify_exit_record(struct reason_buffer *s,
					      const struct dp_exit_record *exit)
{
	char time[DP_NUM_LEN];

	dp_duration_text(exit->end_seconds - exit->start_seconds, time);
	switch (exit->kind) {
	case DP_EXIT_TIMEOUT:
		return set_end_class(s, DP_END_TIMEOUT,
				     "the trainer was ended at its timeout, after %s", time);
	case DP_EXIT_MEMORY:
		return classify_memory_limit(s, exit);
	case DP_EXIT_STALLED:
		return set_end_class(s, DP_END_STALLED,
				     "the trainer was ended after %s, because it had reported "
				     "nothing for its stall time",
				     time);
	case DP_EXIT_EXEC:
		return set_end_class(s, DP_END_NOT_STARTED,
				     "the trainer could not be started: %s (%s)", exit->exec_errno,
				     dp_exit_errno_from_name(exit->exec_errno)
					     ? strerror(dp_exit_errno_from_name(exit->exec_errno))
					     : "unknown reason");
	case DP_EXIT_SIGNAL:
		return classify_signal(s, exit, exit->value, 0);
	case DP_EXIT_CODE:
		if (exit->value == 0)
			return DP_END_NONE;
		if (signal_from_shell_code(exit->value))
			return classify_signal(s, exit, signal_from_shell_code(exit->value),
					       exit->value);
		return set_end_class(s, DP_END_EXIT_CODE, "the trainer ended with exit code %d",
				     exit->value);
	case DP_EXIT_MISSING:
		break;
	}
	return DP_END_NONE;
}

/* The first missing metric and the run that lacks it, or NULL. */
static const char *find_missing_metric(const struct dp_result_reader *r, const char *const *needed,
				       size_t *run)
{
	double x;

	for (; *needed; needed++) {
		int metric = dp_result_reader_find_metric(r, *needed);

		for (*run = 0; *run < dp__result_reader_count_runs(r); ++*run)
			if (metric < 0 || !dp_result_reader_run_value(r, *run, (size_t)metric, &x))
				return *needed;
	}
	return NULL;
}

static enum dp_end_class classify_bad_output(struct reason_buffer *s,
					     const struct dp_result_reader *r,
					     const char *const *needed)
{
	const char *metric;
	size_t run;

	if (dp_result_reader_problem(r))
		return set_end_class(s, DP_END_BAD_OUTPUT, "%s", dp_result_reader_problem(r));
	for (size_t i = 0; i < dp__result_reader_count_runs(r); i++)
		if (!dp__result_reader_has_run(r, i))
			return set_end_class(s, DP_END_BAD_OUTPUT,
					     "run %u was asked but not reported",
					     (unsigned)dp__result_reader_run_number(r, i));
	metric = find_missing_metric(r, needed, &run);
	if (metric)
		return set_end_class(s, DP_END_BAD_OUTPUT,
				     "no metric '%s' in run %u, which an objective needs", metric,
				     (unsigned)dp__result_reader_run_number(r, run));
	return DP_END_NONE;
}

/* Call after classify_bad_output(): all needed metrics exist. */
static enum dp_end_class classify_diverged(struct reason_buffer *s,
					   const struct dp_result_reader *r,
					   const char *const *needed)
{
	char text[DP_NUM_LEN];
	double x;

	for (; *needed; needed++) {
		int metric = dp_result_reader_find_metric(r, *needed);

		for (size_t i = 0; i < dp__result_reader_count_runs(r); i++)
			if (dp_result_reader_run_value(r, i, (size_t)metric, &x) && !isfinite(x))
				return set_end_class(s, DP_END_DIVERGED,
						     "metric '%s' of run %u is %s", *needed,
						     (unsigned)dp__result_reader_run_number(r, i),
						     dp_num_text(x, text));
	}
	return DP_END_NONE;
}

enum dp_end_class dp_trainer_classify_end(const struct dp_exit_record *exit,
					  const struct dp_result_reader *result,
					  const char *const *needed, bool cancelled, char *why,
					  size_t room)
{
	struct reason_buffer s = { why, room };
	enum dp_end_class class;

	if (room > 0)
		why[0] = '\0';
	if (cancelled)
		return set_end_class(&s, DP_END_CANCELLED, "the trainer was cancelled");
	class = classify_exit_record(&s, exit);
	if (class != DP_END_NONE)
		return class;
	/* Without a record of the end, only a result that is complete and done counts. */
	if (exit->kind == DP_EXIT_MISSING &&
	    !(dp_result_reader_is_complete(result) && dp_result_reader_is_done(result)))
		return set_end_class(
			&s, DP_END_LOST,
			"the trainer disappeared without a record of its end; a reboot "
			"or a killed dpareto-shim does that");
	class = classify_bad_output(&s, result, needed);
	if (class == DP_END_NONE)
		class = classify_diverged(&s, result, needed);
	return class == DP_END_NONE ? DP_END_OK : class;
}

/* Guesses the intended name: a misspelling or a part of it. */
static const char *guess_metric_name(const char *metric, const char *const *names)
{
	const char *near = dp_nearest_word(metric, names);

	for (; !near && *names; names++)
		if (strlen(*names) >= PARTIAL_NAME_MIN && strlen(metric) >= PARTIAL_NAME_MIN &&
		    (strstr(metric, *names) || strstr(*names, metric)))
			near = *names;
	return near;
}

void dp_result_reader_suggest_metric(const struct dp_result_reader *result,
				     const char *const *needed, char *out, size_t room)
{
	const char *names[DP_METRICS_MAX + 1], *metric, *near;
	size_t run, told = 0;
	struct dp_buf text = DP_BUF_INIT;
	double x;

	out[0] = '\0';
	metric = find_missing_metric(result, needed, &run);
	if (!metric || !dp__result_reader_has_run(result, run))
		return;
	for (size_t i = 0; i < dp_result_reader_count_metrics(result); i++)
		if (dp_result_reader_run_value(result, run, i, &x))
			names[told++] = dp_result_reader_metric_name(result, i);
	names[told] = NULL;
	dp_buf_puts(&text, told ? "; reported were: " : "; it reported none");
	for (size_t i = 0; i < told && i < SUGGESTED_NAMES_MAX; i++)
		dp_buf_printf(&text, "%s%s", i ? ", " : "", names[i]);
	if (told > SUGGESTED_NAMES_MAX)
		dp_buf_printf(&text, " and %zu more", told - SUGGESTED_NAMES_MAX);
	near = guess_metric_name(metric, names);
	if (near)
		dp_buf_printf(&text, "; did you mean '%s'?", near);
	snprintf(out, room, "%s", dp_buf_text(&text));
	dp_buf_free(&text);
}

bool dp_end_class_keeps_checkpoints(enum dp_end_class e)
{
	return e == DP_END_OK || e == DP_END_DIVERGED || e == DP_END_CANCELLED ||
	       e == DP_END_TIMEOUT || e == DP_END_MEMORY || e == DP_END_STALLED;
}

bool dp_end_class_is_retryable(enum dp_end_class e)
{
	return e == DP_END_SIGNAL || e == DP_END_LOST;
}
