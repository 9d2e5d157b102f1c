/* study_text.h - study files for tests, and what their reader says. */
#ifndef DP_TEST_STUDY_TEXT_H
#define DP_TEST_STUDY_TEXT_H
#include "base/fs.h"
#include "base/json.h"
#include "study/diagnostics.h"
#include "study/study.h"
#include "study/study_file.h"

#include <math.h>
#include <string.h>

static const char base[] = "study: s\n"
			   "seed: 1\n"
			   "trainer:\n"
			   "  command: [prog, a]\n"
			   "  runs: 2\n"
			   "parameters:\n"
			   "  C: {type: int, range: [1, 30]}\n"
			   "  b: {type: float, range: [0.01, 100], scale: log}\n"
			   "objectives:\n"
			   "  epsilon: {privacy: {mechanism: svt, cutoff: C, scale: b}}\n"
			   "  error: {metric: f1, of: \"1 - f1\", transform: logit}\n"
			   "anti_ideal: {epsilon: 10, error: 1}\n"
			   "search: {method: random, evaluations: 80}\n";

struct result {
	struct dp_study *s; /* NULL: refused */
	struct dp_diagnostics problems;
	struct dp_err err;
};

static inline struct result parse(const char *text, size_t len)
{
	struct result x = { .s = NULL };
	int code = dp_study_parse(text, len, "t.yaml", "/dir", &x.s, &x.problems, &x.err);

	/* errors and success exclude each other */
	assert_true(code == DP_OK ? x.s && !x.problems.error_count
				  : code == DP_E_INVALID && !x.s && x.problems.error_count);
	return x;
}

static inline void done(struct result *x)
{
	dp_study_free(x->s);
	dp_diagnostics_free(&x->problems);
}

static inline struct dp_study *good(const char *text)
{
	struct result x = parse(text, strlen(text));
	struct dp_study *s = x.s;

	if (!s)
		fail_msg("%s", x.err.msg);
	dp_diagnostics_free(&x.problems);
	return s;
}

/* text with its first `from` replaced by `to`. */
static inline char *replace(const char *text, const char *from, const char *to)
{
	struct dp_buf out = DP_BUF_INIT;
	const char *at = strstr(text, from);

	assert_non_null(at);
	dp_buf_add(&out, text, (size_t)(at - text));
	dp_buf_puts(&out, to);
	dp_buf_puts(&out, at + strlen(from));
	return dp_buf_detach(&out);
}

static inline char *edit(const char *from, const char *to)
{
	return replace(base, from, to);
}

#endif
