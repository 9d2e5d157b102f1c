/* log.c - reads a part of a trainer's log. */
#include "serve/trial_log.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/utf8.h"
#include "ctl/ctl_output.h"
#include "ctl/ui/result_id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LOG_PART_MAX_BYTES = 64 << 10, /* bytes in one answer */
	LOG_TAIL_BYTES = 16 << 10,     /* of the end, where nothing else is asked for */
};

struct log_request {
	int64_t attempt, run, from; /* -1: the latest; the end */
	const char *stream_name;
};

static int log_request_parse(const struct http_request *q, struct log_request *w,
			     struct dp_err *err)
{
	const char *stream = http_query_get(q, "stream");
	int code = http_query_get_int(q, "attempt", 0, INT32_MAX, -1, &w->attempt, err);

	if (code == DP_OK)
		code = http_query_get_int(q, "run", 0, INT32_MAX, -1, &w->run, err);
	if (code == DP_OK)
		code = http_query_get_int(q, "from", 0, INT64_MAX, -1, &w->from, err);
	if (code != DP_OK)
		return code;
	w->stream_name = stream ? stream : "stderr";
	if (strcmp(w->stream_name, "stderr") == 0 || strcmp(w->stream_name, "stdout") == 0)
		return DP_OK;
	return dp_fail(err, DP_E_USAGE, "'stream' must be stderr or stdout");
}

static const json_t *find_requested_attempt(const json_t *trial, const struct log_request *w)
{
	const json_t *each, *best = NULL;
	size_t i;

	json_array_foreach (json_object_get(trial, "attempts"), i, each)
		if ((w->attempt < 0 || dp_json_int(each, "attempt", -1) == w->attempt) &&
		    (w->run < 0 || dp_json_int(each, "run", -1) == w->run))
			best = each;
	return best;
}

/* Bytes that are no text become the sign for that; a character that is not whole yet is
 * left for the next part, unless the log has ended. How many bytes were taken. */
static size_t append_log_text(const char *bytes, size_t n, bool ended, struct dp_buf *out)
{
	n -= ended ? 0 : ctl_utf8_partial_len(bytes, n);
	for (size_t i = 0; i < n;) {
		uint32_t number;
		size_t one = dp_utf8_decode(bytes + i, n - i, &number);

		if (one == 0 || number == 0)
			dp_buf_puts(out, "\xef\xbf\xbd");
		else
			dp_buf_add(out, bytes + i, one);
		i += one ? one : 1;
	}
	return n;
}

/* Where a tail begins: after the first end of a line in it. */
static size_t find_tail_start(const char *bytes, size_t n)
{
	const char *end = memchr(bytes, '\n', n);

	return end && (size_t)(end - bytes) + 1 < n ? (size_t)(end - bytes) + 1 : 0;
}

struct log_chunk {
	int64_t from, next, size;
	struct dp_buf text;
};

static int log_chunk_read_fd(int fd, const struct log_request *w, bool ended, struct log_chunk *r,
			     struct dp_err *err)
{
	char *bytes = dp_malloc(LOG_PART_MAX_BYTES);
	size_t skip = 0;
	struct stat st;
	ssize_t n;

	r->size = fstat(fd, &st) == 0 ? st.st_size : 0;
	r->from = w->from >= 0 ? w->from : r->size > LOG_TAIL_BYTES ? r->size - LOG_TAIL_BYTES : 0;
	if (r->from > r->size) /* it was begun anew */
		r->from = 0;
	n = pread(fd, bytes, LOG_PART_MAX_BYTES, r->from);
	if (n < 0) {
		free(bytes);
		return dp_fail_errno(err, errno, "cannot read the log");
	}
	if (w->from < 0 && r->from > 0)
		skip = find_tail_start(bytes, (size_t)n);
	r->from += (int64_t)skip;
	r->next = r->from + (int64_t)append_log_text(bytes + skip, (size_t)n - skip,
						     ended && r->from + n >= r->size, &r->text);
	free(bytes);
	return DP_OK;
}

/* A log that is not there yet is an empty one. */
static int log_chunk_read_file(const char *folder, const struct log_request *w, bool ended,
			       struct log_chunk *r, struct dp_err *err)
{
	char *path = dp_path_join(folder, w->stream_name);
	int fd = path ? dp_open_untrusted(path) : -1, errnum = path ? errno : ENOMEM;
	int code = DP_OK;

	free(path);
	if (fd >= 0) {
		code = log_chunk_read_fd(fd, w, ended, r, err);
		close(fd);
	} else if (errnum == EINVAL || errnum == ELOOP) {
		code = dp_fail(err, DP_E_FAILED,
			       "the trainer has put something else in the place of its "
			       "log %s, which is not opened",
			       w->stream_name);
	} else if (errnum != ENOENT) {
		code = dp_fail_errno(err, errnum, "cannot read the log %s", w->stream_name);
		dp_hint(err, "the user of dpareto-serve must be able to read the state "
			     "folder: docs/service.md");
	}
	return code;
}

static int fail_log_not_kept(struct dp_err *err)
{
	return dp_fail(err, DP_E_FAILED,
		       "this study releases noisy values only, so its logs are not kept");
}

static int runner_fetch_trial(struct command_runner *runner, const char *study, const char *trial,
			      json_t **ok, struct dp_err *err)
{
	struct ctl_result_id point;
	int code = ctl_result_id_parse(trial, &point, err);

	return code == DP_OK ? runner_call_verb(runner, "trial",
						json_pack("{s:s, s:I}", "study", study, "trial",
							  (json_int_t)point.trial),
						NULL, ok, err)
			     : code;
}

int trial_log_read_part(struct command_runner *runner, const char *study, const char *trial,
			const struct http_request *q, json_t **out, struct dp_err *err)
{
	struct log_chunk r = { .text = DP_BUF_INIT };
	const json_t *t, *a;
	struct log_request w;
	json_t *ok = NULL;
	int code = log_request_parse(q, &w, err);

	if (code == DP_OK)
		code = runner_fetch_trial(runner, study, trial, &ok, err);
	t = json_object_get(ok, "trial");
	if (code == DP_OK && json_object_get(t, "released"))
		code = fail_log_not_kept(err);
	a = find_requested_attempt(t, &w);
	if (code == DP_OK && !a)
		code = dp_fail(err, DP_E_NOT_FOUND,
			       "trial %.40s has no such attempt yet, so there is no log", trial);
	if (code == DP_OK)
		code = log_chunk_read_file(dp_json_str(a, "directory", ""), &w,
					   dp_json_str(a, "end", NULL) != NULL, &r, err);
	if (code == DP_OK)
		*out = json_pack("{s:O, s:O, s:O, s:s, s:I, s:I, s:I, s:b, s:O, s:s}", "trial",
				 json_object_get(t, "trial"), "attempt",
				 json_object_get(a, "attempt"), "run", json_object_get(a, "run"),
				 "stream", w.stream_name, "from", (json_int_t)r.from, "next",
				 (json_int_t)r.next, "size", (json_int_t)r.size, "ended",
				 dp_json_str(a, "end", NULL) != NULL, "end",
				 json_object_get(a, "end"), "text", dp_buf_text(&r.text));
	dp_buf_free(&r.text);
	json_decref(ok);
	return code;
}
