/* trial_log.c - reads a part of a trainer's output log. */
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
	LOG_PART_MAX_BYTES = 64 << 10,
	LOG_TAIL_BYTES = 16 << 10,
};

struct log_request {
	int64_t attempt, run, from; /* -1: latest attempt and run; from -1: the end */
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

struct log_chunk {
	int64_t from, next, size;
	struct dp_buf text;
};

static int log_chunk_read_fd(int fd, const struct log_request *w, bool ended, struct log_chunk *r,
			     struct dp_err *err)
{
	char *bytes = dp_malloc(LOG_PART_MAX_BYTES), *end;
	size_t skip = 0, left;
	struct stat st;
	ssize_t n;

	r->size = fstat(fd, &st) == 0 ? st.st_size : 0;
	r->from = w->from >= 0 ? w->from : r->size > LOG_TAIL_BYTES ? r->size - LOG_TAIL_BYTES : 0;
	if (r->from > r->size) /* the log was truncated: start again */
		r->from = 0;
	n = pread(fd, bytes, LOG_PART_MAX_BYTES, r->from);
	if (n < 0) {
		free(bytes);
		return dp_fail_errno(err, errno, "cannot read the log");
	}
	/* a tail starts after its first newline */
	end = w->from < 0 && r->from > 0 ? memchr(bytes, '\n', (size_t)n) : NULL;
	if (end && end + 1 < bytes + n)
		skip = (size_t)(end + 1 - bytes);
	left = (size_t)n - skip;
	/* keep an incomplete character for the next part unless the log has ended */
	if (!ended || r->from + n < r->size)
		left -= ctl_utf8_partial_len(bytes + skip, left);
	r->from += (int64_t)skip;
	r->next = r->from + (int64_t)left;
	for (size_t i = skip; i < skip + left;) {
		uint32_t number;
		size_t one = dp_utf8_decode(bytes + i, skip + left - i, &number);

		if (one == 0 || number == 0) /* invalid UTF-8, or NUL */
			dp_buf_puts(&r->text, "\xef\xbf\xbd");
		else
			dp_buf_add(&r->text, bytes + i, one);
		i += one ? one : 1;
	}
	free(bytes);
	return DP_OK;
}

/* Reads a part of the log. A missing file counts as empty. */
static int log_chunk_read_file(const char *dir, const struct log_request *w, bool ended,
			       struct log_chunk *r, struct dp_err *err)
{
	char *path = dp_path_join(dir, w->stream_name);
	int fd = dp_open_untrusted(path), errnum = errno;
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

int trial_log_read_part(struct daemon_client *daemon, const char *study, const char *trial,
			const struct http_request *q, json_t **out, struct dp_err *err)
{
	struct log_chunk r = { .text = DP_BUF_INIT };
	const json_t *t, *a = NULL, *each;
	struct ctl_result_id id;
	size_t i;
	struct log_request w;
	json_t *ok = NULL;
	bool ended;
	int code = log_request_parse(q, &w, err);

	if (code == DP_OK)
		code = ctl_result_id_parse(trial, &id, err);
	if (code == DP_OK)
		code = daemon_call(
			daemon, "trial",
			json_pack("{s:s, s:I}", "study", study, "trial", (json_int_t)id.trial), &ok,
			err);
	if (code != DP_OK)
		return code;
	t = json_object_get(ok, "trial");
	json_array_foreach (json_object_get(t, "attempts"), i, each)
		if ((w.attempt < 0 || dp_json_int(each, "attempt", -1) == w.attempt) &&
		    (w.run < 0 || dp_json_int(each, "run", -1) == w.run))
			a = each; /* the last match is the latest attempt */
	ended = dp_json_str(a, "end", NULL) != NULL;
	if (json_object_get(t, "released"))
		code = dp_fail(err, DP_E_FAILED,
			       "this study releases noisy values only, so its logs are not kept");
	else if (!a)
		code = dp_fail(err, DP_E_NOT_FOUND,
			       "trial %.40s has no such attempt yet, so there is no log", trial);
	else
		code = log_chunk_read_file(dp_json_str(a, "directory", ""), &w, ended, &r, err);
	if (code == DP_OK)
		*out = json_pack("{s:O, s:O, s:O, s:s, s:I, s:I, s:I, s:b, s:O, s:s}", "trial",
				 json_object_get(t, "trial"), "attempt",
				 json_object_get(a, "attempt"), "run", json_object_get(a, "run"),
				 "stream", w.stream_name, "from", (json_int_t)r.from, "next",
				 (json_int_t)r.next, "size", (json_int_t)r.size, "ended", ended,
				 "end", json_object_get(a, "end"), "text", dp_buf_text(&r.text));
	dp_buf_free(&r.text);
	json_decref(ok);
	return code;
}
