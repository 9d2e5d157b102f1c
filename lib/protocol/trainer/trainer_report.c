/* trainer_report.c - the trainer side: opens the request, appends lines to the result. */
#include "protocol/trainer/trainer_protocol.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	REQUEST_MAX = 16 << 20 /* bytes; ten thousand runs take half a megabyte */
};

/* Appends a line: the formatted text, then `object` and "}" unless it is NULL. A single write(), so
 * that readers and signals cannot split a line. */
DP_PRINTF(4, 5)
static int append_line(int fd, struct dp_err *err, const json_t *object, const char *fmt, ...)
{
	struct dp_buf line = DP_BUF_INIT;
	int code = DP_OK;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = dp_vasprintf(fmt, ap);
	va_end(ap);
	dp_buf_puts(&line, text);
	if (object) {
		dp_json_dump(&line, object, 0);
		dp_buf_putc(&line, '}');
	}
	dp_buf_putc(&line, '\n');
	if (dp_write_all(fd, line.data, line.len) != 0)
		code = dp_fail_errno(err, errno, "cannot write the result file");
	free(text);
	dp_buf_free(&line);
	return code == DP_OK ? DP_OK : DP_E_IO;
}

int dp_trainer_report_progress(int fd, double progress, struct dp_err *err)
{
	char text[DP_NUM_LEN];

	/* for display only: a wrong value must not fail the run */
	progress = progress >= 0 ? progress < 1 ? progress : 1 : 0;
	return append_line(fd, err, NULL, "{\"progress\":%s}", dp_num_text(progress, text));
}

int dp_trainer_report_run(int fd, uint32_t run, const json_t *metrics, struct dp_err *err)
{
	return append_line(fd, err, metrics, "{\"run\":%u,\"metrics\":", (unsigned)run);
}

int dp_trainer_report_checkpoint(int fd, uint32_t run, uint32_t at, const json_t *metrics,
				 struct dp_err *err)
{
	return append_line(fd, err, metrics, "{\"run\":%u,\"at\":%u,\"metrics\":", (unsigned)run,
			   (unsigned)at);
}

int dp_trainer_report_declaration(int fd, const json_t *declared, struct dp_err *err)
{
	return append_line(fd, err, declared, "{\"declare\":");
}

int dp_trainer_report_done(int fd, struct dp_err *err)
{
	return append_line(fd, err, NULL, "{\"done\":true}");
}

static int get_trainer_variable(const char *name, const char **value, struct dp_err *err)
{
	*value = getenv(name);
	if (*value && **value)
		return DP_OK;
	dp_fail(err, DP_E_USAGE, "%s is not set: a trainer is started by a study", name);
	return dp_hint(err, "to try it by hand, write a request.json and run it with "
			    "DPARETO_REQUEST=request.json DPARETO_RESULT=result.jsonl; see "
			    "docs/trainer-protocol.md");
}

int dp_trainer_open(struct dp_trainer_request *request, int *result_fd, struct dp_err *err)
{
	const char *request_path, *result_path;
	struct dp_buf text = DP_BUF_INIT;
	struct dp_trainer_request r;
	int code, fd;

	if ((code = get_trainer_variable("DPARETO_REQUEST", &request_path, err)) != DP_OK ||
	    (code = get_trainer_variable("DPARETO_RESULT", &result_path, err)) != DP_OK)
		return code;
	code = dp_read_file(request_path, REQUEST_MAX, &text, err);
	if (code == DP_OK &&
	    (code = dp_trainer_request_parse(dp_buf_text(&text), text.len, &r, err)) != DP_OK)
		dp_err_prefix(err, "%s", request_path);
	dp_buf_free(&text);
	if (code != DP_OK)
		return code;
	fd = open(result_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0) {
		dp_trainer_request_clear(&r);
		return dp_fail_errno(err, errno, "cannot open %s", result_path);
	}
	*request = r;
	*result_fd = fd;
	return DP_OK;
}
